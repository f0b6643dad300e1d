"""The error model: draws true counts that the measurements allow, and tabulates their quantiles.

What an answer may be off by has four sources, and each is read from what was measured:

- **Noise** of the measured tables: their posteriors (`popularity_prior`, pairs by Bayes' rule).
- **Misfit** of the movement model where nothing corrected it (`misfit`).
- **Caps**: visits beyond the first h, and pairs beyond the first d locations, were never counted.
  For single locations two extrapolations are at hand: the released one, and that everybody's
  visits go on like the measured ones. They differ, and by how much says how little is known.
- **Long trajectories** that the noise on the shapes hides: they visit nearly everything, which
  matters where the universe is small.

Released counts are themselves drawn, so small ones are uncertain by their square root.
"""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from pathveil.model.paths import Paths
from pathveil.statistics.registry import TOTAL
from pathveil.uncertainty.conjunctions import conjunction_rows
from pathveil.uncertainty.error_table import ErrorTable
from pathveil.uncertainty.quantiles import TableRows, tabulate
from pathveil.uncertainty.sample import Evidence
from pathveil.uncertainty.single_locations import single_location_rows

DRAWS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class ErrorModel:
    """What is needed to tabulate the errors of a release, when somebody asks.

    Attributes:
        evidence: noisy measurements, and a sample of what was synthesized from them.
        draw: randomness; it is copied, so the table is always the same.
    """

    evidence: Evidence
    draw: np.random.Generator

    def table(self, released: Paths) -> ErrorTable:
        """The error table. Takes a fraction of a second; ask once.

        Args:
            released: the released trajectories, over location codes.
        """
        draw = deepcopy(self.draw)
        return tabulate(
            [
                self._all_trajectories(released, draw),
                *single_location_rows(self.evidence, released, draw),
                *conjunction_rows(self.evidence, released, draw),
            ]
        )

    def _all_trajectories(self, released: Paths, draw: np.random.Generator) -> TableRows:
        """The empty query: how many trajectories there are."""
        total = self.evidence.measurements[TOTAL]
        true = np.round(total.counts[0] + draw.laplace(0.0, total.scale, DRAWS))
        return TableRows.of(0, [(int(released.weights.sum()), np.maximum(true, 0.0))])
