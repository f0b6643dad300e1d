"""A release: what was published, in memory, the questions one can ask it and what it can become."""

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from pathveil.analysis.count_queries import count_ordered, count_prefix
from pathveil.analysis.patterns import Pattern, top_patterns
from pathveil.analysis.timed_queries import Step, TimedPaths, has_windows
from pathveil.analysis.visit_index import VisitIndex, codes_of
from pathveil.core.about import About
from pathveil.core.acceptance import Acceptance
from pathveil.core.error_table import (
    ANY,
    HOURS,
    ORDERED,
    PREFIX,
    USUAL_LEVEL,
    ErrorTable,
    Estimate,
)
from pathveil.core.html_card import html_card
from pathveil.core.methods import method_words
from pathveil.core.noisy_tree import EstimatedTree
from pathveil.core.parameters import Parameters
from pathveil.core.paths import Paths
from pathveil.errors import ParameterError, QueryError
from pathveil.ledger.charges import Charge
from pathveil.methods.paper.generate import distinct_paths
from pathveil.promise.certificate import Certificate, LedgerRecord
from pathveil.promise.over_time import counted_words
from pathveil.release.accepting import check_accepted
from pathveil.release.answering import FLOW_KINDS, Answering, Flow
from pathveil.release.differences import Difference, Share, difference, share
from pathveil.release.exports.flow_lines import FLOWS
from pathveil.release.exports.published import check_number_of_visits
from pathveil.release.views import TimeView, WithZones, ZoneView, one_granularity
from pathveil.times.protected_units import TRIP, protected_by
from pathveil.times.time_grid import TimeGrid
from pathveil.times.time_windows import slots_between, slots_in
from pathveil.times.trip_rules import is_one_each
from pathveil.universe.background import Background
from pathveil.universe.universe import Universe

if TYPE_CHECKING:
    from pathveil.folders import Reserved
    from pathveil.methods.calibrated.uncertainty.error_model import ErrorModel
    from pathveil.pages.plots import Plots
    from pathveil.release.signature import Signer


class Release:
    """A differentially private release of a trajectory database.

    Everything here derives from the noisy tree and public parameters; asking costs no budget.

    Attributes:
        universe: the public universe; of a tree with a taxonomy the locations, then the zones.
        tree: the noisy prefix tree with the released counts.
        ledger: the charge that paid for it, as the certificate tells it; None if none did.
        rules: the public rules by which rows became trajectories, in words.
        about: what the publisher says of it: its title, its licence …
        acceptance: the rules that were fixed for it beforehand, and that it keeps.
        background: public lines under its maps.

    Args:
        universe: the public universe.
        tree: the tree.
        paths: the released trajectories, distinct and in canonical order (with a time grid as
            pair codes); None if they are those that the tree implies.
        ledger: what its certificate says about a ledger.
        errors: what its answers may be off by, or how to find out; None if that can't be known.
    """

    def __init__(
        self,
        universe: Universe,
        tree: EstimatedTree,
        paths: Paths | None = None,
        ledger: LedgerRecord | None = None,
        *,
        errors: "ErrorModel | ErrorTable | None" = None,
    ) -> None:
        self.universe = universe
        self.tree = tree
        self.ledger = ledger
        self.rules: tuple[str, ...] = ()
        self.about = About()
        self.acceptance = Acceptance()
        self.background = Background()
        self._charge: Charge | None = None
        self._errors = errors
        released = _released(tree) if paths is None else paths
        public = tree.parameters
        zones = public.taxonomy if public.how.has_tables else None  # those of a tree are nodes
        self._timed = TimedPaths(released, universe, public.time_grid, zones)
        self._paths = self._timed.locations()

    @property
    def parameters(self) -> Parameters:
        """The public parameters of the release."""
        return self.tree.parameters

    @property
    def is_private(self) -> bool:
        """False if the noise came from an injected generator: then it protects nobody."""
        return self.tree.is_private

    @property
    def locations(self) -> Universe:
        """The universe that the data was read with: `universe` without zones."""
        taxonomy = self.parameters.taxonomy
        if taxonomy is None or self.parameters.how.has_tables:
            return self.universe
        return taxonomy.universe_of_locations(self.universe)

    @cached_property
    def askable(self) -> Universe:
        """What questions may name: the locations, and with a taxonomy the zones."""
        taxonomy = self.parameters.taxonomy
        return self.universe if taxonomy is None else taxonomy.extend(self.locations)

    @property
    def certificate(self) -> Certificate:
        """What is promised, and what is not."""
        return Certificate.of(
            self.parameters,
            is_private=self.is_private,
            ledger=self.ledger,
            universe_origin=self.universe.origin,
            trajectory_rules=self.rules,
            about=self.about,
            acceptance=self.acceptance,
        )

    @property
    def suppress_below(self) -> int:
        """Counts below it are left out of tables and exports, by the publisher's rule; 0: none."""
        return self.acceptance.suppress_below or 0

    def accepted(self, rules: Acceptance | None) -> "Release":
        """A copy that says which rules it keeps.

        Raises:
            ReleaseError: if it does not.
        """
        kept = copy(self)
        kept.acceptance = Acceptance() if rules is None else rules
        check_accepted(kept, kept.acceptance)
        return kept

    @property
    def counted(self) -> str:
        """Of which trips the counts are, in words."""
        chosen = self.parameters
        return counted_words(
            chosen.max_trajectories_per_unit,
            protected_by(self.rules),
            chosen.expansion,
            one_each=is_one_each(self.rules),
        )

    def of_all_trips(self, count: int) -> int | None:
        """A count as one of all trips, estimated from noisy counts; None if that is not known.

        At most c trips of a unit are used. How many more there are is known if c was chosen with
        privacy (``max_trajectories_per_unit="auto"``): the noisy histogram says it. All counts are
        multiplied alike, so who makes many trips still weighs less than they should.
        """
        if protected_by(self.rules) == TRIP:
            return int(count)
        expansion = self.parameters.expansion
        return None if expansion is None else round(int(count) * expansion)

    def read_by(self, rules: Sequence[str]) -> "Release":
        """A copy that says by which public rules its trajectories were read."""
        read = copy(self)
        read.rules = tuple(rules)
        return read

    def described(self, about: About | None) -> "Release":
        """A copy with what the publisher says of it."""
        told = copy(self)
        told.about = About() if about is None else about
        return told

    def on(self, background: Background) -> "Release":
        """A copy whose maps have these public lines underneath."""
        drawn = copy(self)
        drawn.background = background
        return drawn

    def paid_by(self, charge: Charge | None) -> "Release":
        """A copy with the charge that paid for it, which is told when it is written."""
        paid = copy(self)
        paid.ledger = charge.record if charge else None
        paid._charge = charge  # noqa: SLF001  (a copy of this very class)
        return paid

    def __len__(self) -> int:
        return int(self.paths().weights.sum())

    def __repr__(self) -> str:
        stamp = "" if self.is_private else ", NOT PRIVATE"
        return (
            f"Release({len(self):,} trajectories on {len(self.paths()):,} distinct paths, "
            f"epsilon={self.parameters.budget}, method={self.parameters.method}{stamp})"
        )

    def _repr_html_(self) -> str:
        parameters, grid = self.parameters, self.time_grid
        facts = {
            **dict(self.about),
            "trajectories": f"{len(self):,} on {len(self.paths()):,} distinct paths",
            "locations": f"{parameters.universe_size:,}",
            "ε": parameters.budget,
            "method": method_words(parameters.method, parameters.height, parameters.purpose),
        }
        if grid is not None:
            facts["times"] = f"{len(grid):,} slots of {grid.name}, {grid.time_zone}"
        return html_card(
            "Private release of trajectories" if self.is_private else "Release of trajectories",
            facts,
            alarm="" if self.is_private else "NOT PRIVATE: for tests only; never publish it.",
        )

    def paths(self) -> Paths:
        """The distinct released trajectories with their multiplicities, in canonical order.

        With times they are distinct as `timed_paths`; here they have locations only.
        """
        return self._paths

    def timed_paths(self) -> Paths:
        """The same as pair codes, slot · |L| + location; without times, as `paths`."""
        return self._timed.paths

    @property
    def time_grid(self) -> TimeGrid | None:
        """The public time grid; None if the trajectories have no times."""
        return self.parameters.time_grid

    def at_zone_level(self) -> ZoneView:
        """The release with every visit told by its zone, whether more is known or not.

        Raises:
            QueryError: if the release has no taxonomy.
        """
        return ZoneView.of(self.askable, self.paths(), self.parameters.taxonomy)

    def during(self, start: str, end: str) -> TimeView:
        """What happens in a time window, start included and end not.

        Args:
            start: ``HH:MM`` (every day), ``Mon HH:MM`` or an ISO 8601 date and time: where a
                slot of the `time_grid` starts.
            end: likewise; ``24:00`` is the end of the day.

        Raises:
            QueryError: if the release has no times, or the window cuts a slot.
        """
        window = slots_between(self.time_grid, start, end)
        return TimeView(self.universe, f"{start}-{end}", self._timed.during(window))

    def within(self, window: str) -> TimeView:
        """`during` for a window in one text, such as ``07:00-10:00``."""
        return TimeView(self.universe, window, self._timed.during(slots_in(self.time_grid, window)))

    @property
    def longest(self) -> int:
        """The number of locations of the longest trajectory that could be, or was, released."""
        return max(self.parameters.height, int(self._paths.lengths.max(initial=0)))

    @cached_property
    def _index(self) -> VisitIndex:
        if self.parameters.taxonomy is None:
            return VisitIndex.build(self)
        return VisitIndex.build(WithZones(self.askable, self.paths(), self.parameters.taxonomy))

    @cached_property
    def error_table(self) -> ErrorTable | None:
        """What answers may be off by; None for "basic" and "full".

        Worked out when it is first needed, from noisy measurements only. The trees of "basic" and
        "full" are cut where counts fall under the threshold, and nothing in them tells how much
        was cut: an honest interval can't be had from such a release.
        """
        if self._errors is None or isinstance(self._errors, ErrorTable):
            return self._errors
        return self._errors.table(self._paths)

    @cached_property
    def answering(self) -> Answering | None:
        """Intervals for many answers at once; None if the release has none."""
        if self.error_table is None:
            return None
        return Answering(self.error_table, self, self.parameters.taxonomy)

    def to_sequences(self) -> list[list[str]]:
        """Every released trajectory as a list of labels."""
        check_number_of_visits(self)
        paths, labels = self.paths(), self.universe.labels
        distinct = [
            [labels[code] for code in paths.codes[start:stop]]
            for start, stop in zip(paths.offsets[:-1], paths.offsets[1:], strict=True)
        ]
        return [
            list(path)
            for path, weight in zip(distinct, paths.weights, strict=True)
            for _ in range(weight)
        ]

    def to_timed_sequences(self) -> list[list[tuple[str, str]]]:
        """Every released trajectory as a list of pairs (location label, slot label).

        Raises:
            QueryError: if the release has no times.
        """
        check_number_of_visits(self)
        return self._timed.to_sequences()

    def count(self, locations: Collection[Step], *, level: float = USUAL_LEVEL) -> Estimate:
        """How many released trajectories visit all of these locations, in any order.

        The answer is a whole number with an interval for the true count: ``low`` and ``high``
        (None if the release has no `error_table`).

        With a taxonomy "zone:Z" is visited by whoever visits Z or any of its locations; a location
        by those of whom that much is known. The interval of a zone is a bound.

        Args:
            locations: labels; one that is repeated counts once. A pair of a label and a time
                window, ``("A", "07:00-10:00")``, asks for a visit then (the interval is a bound).
            level: of the interval: 0.5, 0.6, 0.7, 0.8, 0.9 or 0.95.

        Raises:
            QueryError: if a label is not of the universe, or there is no such level.
        """
        if has_windows(locations):
            return self._within_bound(locations, self._timed.count(locations), level)
        labels = cast("Collection[str]", locations)
        return self._estimate(ANY, labels, int(self.count_many([labels])[0]), level)

    def _estimate(self, kind: str, labels: Collection[str], answer: int, level: float) -> Estimate:
        """An answer with its interval, if there is any."""
        if self.answering is None:
            return Estimate(answer)
        codes = codes_of(self.askable, labels)
        asked = self.answering.asked(kind, [codes], np.array([answer], np.int64), level)
        return next(asked.estimates())

    def _within_bound(self, steps: Collection[Step], answer: int, level: float) -> Estimate:
        """An answer about hours: nothing measured tells more than who visits at all."""
        labels = [step if isinstance(step, str) else step[0] for step in steps]
        return self._estimate(HOURS, labels, answer, level)

    def count_many(self, queries: Sequence[Collection[str]]) -> NDArray[np.int64]:
        """The answers to many count queries at once, int64."""
        return self._index.count_many(queries)

    def intervals_many(
        self, queries: Sequence[Collection[str]], *, level: float = USUAL_LEVEL
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The intervals of the answers of `count_many`: low and high, both int64.

        Raises:
            QueryError: if a label is not of the universe, there is no such level, or the release
                has no intervals: only calibrated ones do.
        """
        if self.answering is None:
            raise QueryError(
                f"A release by the method {self.parameters.method!r} can't tell how far its "
                "answers are off: what its threshold cut is not in it. Calibrated ones can."
            )
        coded = [codes_of(self.askable, query) for query in queries]
        answers = self.answering.asked(ANY, coded, self.count_many(queries), level)
        return answers.low, answers.high

    def count_ordered(self, locations: Sequence[Step], *, level: float = USUAL_LEVEL) -> Estimate:
        """How many released trajectories visit these locations in this order, gaps allowed.

        "A in the morning, then B" is ``[("A", "07:00-10:00"), "B"]``. With a taxonomy the labels
        are locations only, or zones only. Intervals as in `count`.
        """
        if has_windows(locations):
            return self._within_bound(locations, self._timed.count_ordered(locations), level)
        labels = cast("Sequence[str]", locations)
        asked = one_granularity(self, self.askable, labels, self.parameters.taxonomy)
        kind = ANY if len(labels) <= 1 else ORDERED
        return self._estimate(kind, labels, count_ordered(asked, labels), level)

    def count_prefix(self, locations: Sequence[Step], *, level: float = USUAL_LEVEL) -> Estimate:
        """How many released trajectories start with exactly these locations.

        For prefixes of the tree, its noisy counts are published beside. Intervals as in `count`.
        """
        if has_windows(locations):
            return self._within_bound(locations, self._timed.count_prefix(locations), level)
        labels = cast("Sequence[str]", locations)
        asked = one_granularity(self, self.askable, labels, self.parameters.taxonomy)
        kind = PREFIX if labels else ANY
        return self._estimate(kind, labels, count_prefix(asked, labels), level)

    def share(self, locations: Sequence[Step], *, how: str = "any") -> Share:
        """What share of all trajectories visits these locations, with an interval of 90%.

        Args:
            locations: as in `count`.
            how: "any" order, "ordered" or "prefix".
        """
        return share(self, locations, how)

    def difference(
        self, other: "Release", locations: Sequence[Step], *, how: str = "any"
    ) -> Difference:
        """How many more trajectories of another release do this, with an interval of 90%.

        The interval holds whatever the two releases have to do with each other: it spans what their
        95% intervals allow.

        Args:
            other: the second release: the difference is its answer less this one's.
            locations: as in `count`.
            how: "any" order, "ordered" or "prefix".

        Raises:
            QueryError: if a label is not of both universes.
        """
        return difference(self, other, locations, how)

    def flows(self, flows: str = "transitions", *, limit: int | None = None) -> list[Flow]:
        """Flows between locations with intervals, the largest first.

        Args:
            flows: "transitions" (what directly follows what) or "origin-destination".
            limit: how many; None for all.

        Raises:
            ParameterError: if there are no such flows.
        """
        if flows not in FLOWS:
            raise ParameterError(f"Flows are {' or '.join(FLOWS)}; choose one of these.")
        pairs, labels = FLOWS[flows](self).largest(limit), self.universe.labels
        counts: Iterable[Estimate] = (Estimate(count) for count in pairs.counts.tolist())
        if self.answering is not None:
            counts = self.answering.pairs(FLOW_KINDS[flows], pairs).estimates()
        ends = zip(pairs.first.tolist(), pairs.second.tolist(), counts, strict=True)
        return [
            Flow(labels[first], labels[second], count)
            for first, second, count in ends
            if count >= self.suppress_below
        ]

    def top_patterns(
        self,
        k: int,
        *,
        contiguous: bool = False,
        min_length: int = 1,
        max_length: int | None = None,
        different: bool = False,
    ) -> list[Pattern]:
        """The k most frequent sequential patterns: see `pathveil.top_patterns`.

        Supports of a calibrated release are `Estimate`s, with intervals and marks.
        """
        found = top_patterns(
            self,
            k,
            contiguous=contiguous,
            min_length=min_length,
            max_length=max_length,
            different=different,
        )
        found = [one for one in found if one.support >= self.suppress_below]
        if self.answering is None:
            return found
        return self.answering.of_patterns(found, contiguous=contiguous)

    @cached_property
    def plot(self) -> "Plots":
        """Charts of the release: ``release.plot.visits()`` and others; see docs/python.md."""
        from pathveil.pages.plots import Plots

        return Plots(self)

    def to_arrow(self, names: str = "pathveil") -> Any:
        """Every visit of every released trajectory as a pyarrow table, one row each.

        Args:
            names: whose column names: "pathveil", "scikit-mobility", "movingpandas" or "gtfs".

        Raises:
            ParameterError: if we do not know these names.
        """
        from pathveil.release.exports.writing import to_arrow

        return to_arrow(self, names)

    def to_pandas(self, names: str = "pathveil") -> Any:
        """The same as a pandas frame; see `to_arrow`."""
        from pathveil.release.exports.writing import to_pandas

        return to_pandas(self, names)

    def to_polars(self, names: str = "pathveil") -> Any:
        """The same as a polars frame; see `to_arrow`."""
        from pathveil.release.exports.writing import to_polars

        return to_polars(self, names)

    def flows_geojson(self, flows: str = "transitions") -> dict[str, Any]:
        """Flows between locations as a GeoJSON FeatureCollection of lines, for ``json.dump``.

        Args:
            flows: "transitions" (what directly follows what) or "origin-destination".

        Raises:
            ReleaseError: if the universe has no coordinates.
        """
        from pathveil.release.exports.flow_lines import flows_geojson

        return flows_geojson(self, flows)

    def export(
        self,
        path: str | Path,
        *,
        format: str | None = None,  # noqa: A002  (as on the command line)
        names: str = "pathveil",
        flows: str | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write one file of another format, whole or not at all.

        Args:
            path: the file.
            format: "csv" or "parquet" (a row per visit, or with ``flows`` a table of these),
                "xlsx" (such a table), "geojson" or "geoparquet" (flows as lines), or "xes" (an
                event log). None goes by the file's ending.
            names: whose column names the tables have; see `to_arrow`. Tables of flows: "pathveil",
                "kepler" (kepler.gl) or "flowmap" (flowmap.blue).
            flows: "transitions", "origin-destination", "visits" (by location, with intervals) or
                "visits-by-time" (by location and time slot).
            overwrite: whether a file that is there may be replaced.

        Raises:
            ReleaseError: if the file exists, lies in a bundle or can't be written.
            ParameterError: if we do not know the format, the names or the flows.
        """
        from pathveil.release.exports.writing import export

        return export(self, Path(path), kind=format, names=names, flows=flows, overwrite=overwrite)

    def write(
        self,
        directory: "str | Path | Reserved",
        *,
        csv: bool = False,
        signer: "Signer | None" = None,
    ) -> Path:
        """Write the release bundle; it appears whole or not at all.

        If a charge paid for the release, the ledger then records that it was published.

        Args:
            directory: a folder that does not exist yet, or is empty; or one that was reserved
                (`pathveil.folders.reserve`).
            csv: also write the trajectories as CSV.
            signer: who signs it; see `pathveil.release.signature`.

        Raises:
            ReleaseError: if the folder is taken or can't be written.
            LedgerError: if the ledger can't be told. The bundle is whole and paid for then.
        """
        from pathveil.release.bundle import certificate_sha256, write_bundle

        target = Path(directory) if isinstance(directory, str) else directory
        written = write_bundle(self, target, csv=csv, signer=signer)
        if self._charge is not None:
            self._charge.published(certificate_sha256(written))
        return written


def extended(universe: Universe, parameters: Parameters) -> Universe:
    """The universe of a tree with these parameters: with a taxonomy, the zones come on top."""
    return universe if parameters.taxonomy is None else parameters.taxonomy.extend(universe)


def _released(tree: EstimatedTree) -> Paths:
    """The trajectories that a tree implies."""
    paths, taxonomy = distinct_paths(tree, tree.terminal()), tree.parameters.taxonomy
    return paths if taxonomy is None else taxonomy.merged(paths)
