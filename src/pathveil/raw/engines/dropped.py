"""What was dropped on the way from rows to trajectories, added up by whoever reads and bounds."""

from dataclasses import astuple, dataclass

import numpy as np

from pathveil.raw.bounding import BoundedTrajectories
from pathveil.raw.reading import ReadingReport
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sources.encoding import EncodedPiece


@dataclass(slots=True, repr=False)
class Dropped:
    """Exact numbers: for the curator's terminal only. See `ReadingReport`."""

    rows: int = 0
    malformed: int = 0
    unordered: int = 0
    outside: int = 0
    over_the_cap: int = 0
    repeats: int = 0
    past_the_grid: int = 0
    merged_forms: int = 0

    def read(self, piece: EncodedPiece) -> None:
        """Add those of a piece of the source."""
        self.rows += piece.rows
        self.malformed += piece.malformed
        self.unordered += piece.unordered
        self.outside += piece.outside

    def bound(self, bounded: BoundedTrajectories) -> None:
        """Add those of some units."""
        self.over_the_cap += bounded.over_the_cap
        self.repeats += bounded.repeats
        self.past_the_grid += bounded.past_the_grid
        self.merged_forms += bounded.merged_forms

    def packed(self) -> bytes:
        """For a row of a cluster's table."""
        return np.array(astuple(self), dtype="<i8").tobytes()

    def add(self, packed: bytes) -> None:
        """Add what another one packed."""
        told = np.frombuffer(packed, dtype="<i8").tolist()
        for name, number in zip(self.__slots__, told, strict=True):
            setattr(self, name, getattr(self, name) + number)

    def as_report(self, plan: ReadingPlan) -> ReadingReport:
        """In the words of all engines."""
        return ReadingReport(
            columns=plan.columns,
            rows=self.rows,
            malformed_rows=self.malformed,
            visits_outside_universe=self.outside,
            trajectories_over_the_cap=self.over_the_cap,
            repeats_collapsed=self.repeats,
            visits_past_the_grid=self.past_the_grid,
            unreadable_orders=self.unordered,
            unit_forms_merged=self.merged_forms,
            findings=None if plan.inspection is None else plan.inspection.findings(),
        )

    def __repr__(self) -> str:
        return "Dropped(<private>)"
