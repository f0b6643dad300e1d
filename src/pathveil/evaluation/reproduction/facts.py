"""The dataset in four numbers, beside the paper's."""

from dataclasses import dataclass

import numpy as np

from pathveil.evaluation.reproduction import paper_numbers
from pathveil.raw.database import TrajectoryDatabase


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """Exact numbers of the raw data. Private.

    Attributes:
        rows: (what, ours, the paper's STM data).
    """

    rows: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, database: TrajectoryDatabase) -> "DatasetFacts":
        """Count."""
        lengths = np.diff(database.offsets)
        return cls(
            (
                ("Trajectories |D|", f"{len(database):,}", f"{paper_numbers.TRAJECTORIES:,}"),
                ("Locations |L|", f"{len(database.universe):,}", f"{paper_numbers.LOCATIONS:,}"),
                ("Mean length", f"{lengths.mean():.1f}", f"{paper_numbers.MEAN_LENGTH}"),
                ("Longest", f"{lengths.max():,}", f"{paper_numbers.LONGEST}"),
            )
        )
