"""The two steps from rows to trajectories, for every engine alike.

An engine brings the visits of a unit together in its own way: in buckets in memory, by sorting out
of core, by a shuffle across a cluster. What becomes of a row before that, and of a unit's visits
after it, is decided here and nowhere else; so every engine counts the same trajectories, and the
argument for the sensitivity (`bounding`) is one argument.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pathveil.raw.bounding import BoundedTrajectories, Visits, bound_contributions
from pathveil.raw.discretize import Locator, locator_of
from pathveil.raw.observed import is_observed
from pathveil.raw.protecting import by_period, by_trip
from pathveil.raw.reading_plan import ReadingPlan
from pathveil.raw.sampling import fresh_seed, in_random_order
from pathveil.raw.sources.encoding import EncodedPiece, encode
from pathveil.raw.sources.raw_rows import RawRows
from pathveil.raw.splitting import at_instants, collapse_repeats, split_visits
from pathveil.raw.visit_times import TimedLocator, VisitTimes
from pathveil.times.trip_rules import TripRules
from pathveil.universe.universe import Universe

if TYPE_CHECKING:
    from pathveil.raw.inspection import Inspection


@dataclass(frozen=True, slots=True, repr=False)
class VisitSteps:
    """A plan, ready to be carried out. Used by several threads, and sent to a cluster's workers.

    Attributes:
        locator: how rows name their locations; None if the universe is yet to be discovered.
        times: the time grid and its clock; None if the visits have no times.
        rules: how a unit's visits become trajectories.
        max_trajectories_per_unit: c.
        seed: of the sample of a unit's trajectories.
        inspection: who looks on, in a rehearsal; else None.
        is_open: whether the universe is yet to be discovered, so that even its size is private.
        trips_are_open: whether c is yet to be chosen with privacy.
    """

    locator: Locator | None
    times: VisitTimes | None
    rules: TripRules
    max_trajectories_per_unit: int
    seed: int
    inspection: "Inspection | None" = None
    is_open: bool = False
    trips_are_open: bool = False

    @classmethod
    def of(cls, plan: ReadingPlan) -> "VisitSteps":
        """The steps of a plan; draws the seed if the plan has none."""
        times = None if plan.time_grid is None else VisitTimes(plan.time_grid)
        locator: Locator | None = None
        if isinstance(plan.universe, Universe):
            locator = locator_of(plan.universe, by_point=plan.rules.by_point)
            locator = locator if times is None else TimedLocator(locator, times)
        seed = fresh_seed() if plan.seed is None else plan.seed
        cap = plan.max_trajectories_per_unit
        is_open = isinstance(plan.universe, str) or is_observed(plan.universe)
        looks_on = plan.inspection
        return cls(locator, times, plan.rules, cap, seed, looks_on, is_open, plan.trips_are_open)

    @property
    def is_sample(self) -> bool:
        """Whether a unit's trajectories are sampled, which takes the units' hashes."""
        return self.rules.keep == "sample"

    def with_instants(self, rows: RawRows) -> RawRows:
        """The same rows, their order as instants where the rules need instants."""
        if self.times is not None:
            rows = self.times.at_instants(rows)
        elif self.rules.needs_times:
            rows = at_instants(rows, self.rules.time_zone)
        if self.inspection is not None:
            self.inspection.look(rows, self.locator, exact_units=self.rules.exact_units)
        return rows

    def encode(self, rows: RawRows) -> EncodedPiece:
        """Rows `with_instants` into coded visits; what becomes of a row depends on it alone."""
        if self.locator is None:
            raise ValueError("the universe is yet to be discovered")
        return encode(rows, self.locator, exact_units=self.rules.exact_units)

    def bound(self, visits: Visits, universe_size: int) -> BoundedTrajectories:
        """All visits of some persons into at most c trajectories of each unit of theirs.

        Args:
            visits: all visits of each of these persons: of all rows with one value of the unit
                column.
            universe_size: |L|.
        """
        # A unit is what is protected from here on: nothing below looks beyond one.
        visits = by_period(visits, self.rules)
        visits = by_trip(split_visits(visits, self.rules), self.rules)
        bounded = self._bound(visits, universe_size)
        if self.inspection is not None:
            self.inspection.look_at_units(visits, bounded)
        return bounded

    def _bound(self, visits: Visits, universe_size: int) -> BoundedTrajectories:
        if self.is_sample:
            visits = in_random_order(visits, self.seed)
        bounded = bound_contributions(
            visits,
            self.max_trajectories_per_unit,
            timed=self.times is not None,
            is_open=self.trips_are_open,
        )
        if self.rules.collapse_repeats:
            bounded = collapse_repeats(bounded)
        if self.times is None:
            return bounded
        if self.is_open:  # a private number of labels: any number of pairs must do
            bounded = replace(bounded, codes=bounded.codes.astype(np.int64))
        return self.times.on_grid(bounded, universe_size)
