"""What is settled before a row is read: columns, rules and bounds, all of them public.

`Reading` is what a publisher chooses, as it was asked for; `ReadingPlan` is what that means for a
source that is open. Every engine reads by such a plan, and `steps` carries it out for every engine
alike.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from operator import index
from typing import TYPE_CHECKING, Any

from pathveil.core.preparations import AUTO, DISCOVER
from pathveil.errors import ParameterError, did_you_mean
from pathveil.raw.database import most_trajectories
from pathveil.raw.sources.columns import Columns, check_points, choose_columns, proposed
from pathveil.raw.sources.lake_tables import check_snapshot
from pathveil.raw.sources.notation import Writing
from pathveil.raw.sources.raw_rows import RawRows, Source
from pathveil.raw.sources.text_file import DEFAULT_ENCODING, check_encoding
from pathveil.raw.sources.time_formats import ISO, TimeFormat
from pathveil.times.protected_units import PERSON, TRIP, Protect, check_protect, period_of
from pathveil.times.time_grid import TimeGrid
from pathveil.times.trip_rules import TripRules, is_one_each
from pathveil.universe.universe import Universe

if TYPE_CHECKING:
    from pathveil.raw.inspection import Inspection


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How rows become trajectories: every choice that is made before a source is opened.

    What contradicts itself is refused when the value is made, so before anything is charged.

    Attributes:
        unit: the column that says whose row it is: the unit of privacy. None looks for the
            well-known names of scikit-mobility, TIDES and trackintel.
        trajectory: the column that tells a unit's trajectories apart. Without one, a unit's
            rows are one trajectory (in list form: each row is one).
        order: the column that orders a trajectory's visits: numbers or ISO 8601 times. Without
            one, the order of the rows. In list form the list has its own order.
        location: the column of locations, or of lists of them.
        latitude: the column of degrees north, instead of ``location``: each point is placed in
            the cell of the universe (`Universe.from_grid`, `Universe.from_h3`) in which it lies.
            A row whose coordinates can't be read is dropped, and a point outside all cells.
        longitude: the column of degrees east.
        split: how a unit's visits are cut into trajectories, by the times of the order column:
            "day", "week", "gap:30min", "whole" (not at all) or "none": see
            `pathveil.times.trip_rules`.
        time_zone: IANA name of the zone whose wall clock says what a day or a week is, and in
            which times without an offset are read when visits are split.
        repeats: what becomes of a visit to the location before: "keep", "collapse" or "auto"
            (collapse for points).
        time: the column of times, if the visits are to have times: ISO 8601 dates and times. It
            is the order column too. `pathveil.raw.visit_times` says what becomes of each.
        time_grid: the public slots that times are put into; its time zone is the one that holds.
        max_trajectories_per_unit: c, the number of trajectories that a unit may contribute; or
            "auto": chosen from a noisy histogram, with a share of ε (`core.preparations`).
        keep: which trajectories of a unit with more than c are used: its "first", or a random
            "sample" (`pathveil.raw.sampling`).
        keep_seed: fixes that sample, 64 bits, if it is to be drawn again; None takes a fresh one
            from the operating system. It must not be chosen by looking at the data.
        unit_text: whether units' ids that differ only in how they are written (``7``, ``07``,
            ``7.0``, spaces, full-width digits) are one unit: "normal", or "exact" if every
            difference makes another unit. `pathveil.raw.sources.unit_text` has the rule.
        protect: who is protected as one: a "person" (all rows of one value of the unit column), a
            "person-week" or "person-day" (those of a week or a day), or a "trip" (one
            trajectory); see `pathveil.times.protected_units`. c is the number of trajectories
            that *such a unit* may contribute.
        encoding: of a CSV file's text: "utf-8" (which a byte-order mark of UTF-16 overrules),
            "utf-16", "windows-1252", "latin-1" or another of one byte per character. It is not
            guessed: see `pathveil.raw.sources.text_file`.
        time_format: how times are written: "iso" (and plain numbers), "de" (``02.03.2026 07:58``),
            "us" (``3/2/2026 7:58 AM``), "uk" (``02/03/2026 07:58``), or a format in the letters of
            strptime: see `pathveil.raw.sources.time_formats`.
        decimal_comma: whether numbers, coordinates among them, have a comma before their decimals.
        query: the rows of a database, a single SELECT. It must choose rows by their own values
            and public ones, never by other units' rows; an order column is required.
        table: a database's table, instead of a query; or the sheet of a workbook.
        snapshot: an old state of a table that keeps its history: the number of a Delta table's
            version; the id, a tag or a branch of an Iceberg snapshot. None takes the newest.
    """

    unit: str | None
    trajectory: str | None = None
    order: str | None = None
    location: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    split: str = "none"
    time_zone: str = "UTC"
    repeats: str = "auto"
    time: str | None = None
    time_grid: TimeGrid | None = None
    max_trajectories_per_unit: int | str = 1
    keep: str = "first"
    keep_seed: int | None = None
    unit_text: str = "normal"
    protect: str = PERSON
    encoding: str = DEFAULT_ENCODING
    time_format: str = ISO
    decimal_comma: bool = False
    query: str | None = None
    table: str | None = None
    snapshot: int | str | None = None

    def __post_init__(self) -> None:
        """Refuse what can't be used, whatever the source turns out to be."""
        self._check_times()
        object.__setattr__(self, "encoding", check_encoding(self.encoding))
        TimeFormat.parse(self.time_format)
        _check_seed(self.keep_seed)
        check_snapshot(self.snapshot)
        most_trajectories(self.max_trajectories_per_unit)
        self.rules(by_point=False)
        if self.protect == TRIP and self.max_trajectories_per_unit != 1:
            raise ParameterError(
                "If a trip is protected, each trip is a unit of its own and all are used: leave "
                "the number of trajectories per unit at 1."
            )
        check_points(self.latitude, self.longitude, self.location)
        if self.is_split and self.trajectory is not None:
            raise ParameterError(
                "Visits are split into trajectories by time or by a trajectory column; choose one."
            )

    @classmethod
    def of(cls, choices: dict[str, Any]) -> "Reading":
        """By keyword arguments, such as ``unit="card_id", order="seq"``.

        Raises:
            ParameterError: if there is no such choice, or one can't be used, or the unit column
                (whose privacy is protected) is not among them.
        """
        known = [field.name for field in fields(cls)]
        for name in choices:
            if name not in known:
                raise ParameterError(
                    f"There is no choice {name[:80]!r} for how trajectories are read."
                    f"{did_you_mean(name, known)} There are {', '.join(known)}."
                )
        if "unit" not in choices:
            raise ParameterError(
                "Name the unit column, whose privacy is protected: unit=…; or unit=None, to take "
                "one that has a well-known name."
            )
        return cls(**choices)

    @property
    def whereabouts(self) -> dict[str, Any]:
        """What opening a source needs to know, by the names of `open_source`."""
        names = ("query", "table", "encoding", "snapshot")
        return {name: getattr(self, name) for name in names}

    @property
    def is_split(self) -> bool:
        """Whether visits are cut into trajectories by time, or joined."""
        return self.split != "none"

    @property
    def has_one_each(self) -> bool:
        """Whether no time cuts a unit's visits into several trajectories: only ids could.

        What is cut by the day, if a day is a unit, is not cut within a unit.
        """
        return self.split in ("none", "whole", period_of(check_protect(self.protect)))

    @property
    def columns(self) -> dict[str, str | None]:
        """The column that is named for each role. That of times orders the visits too."""
        return {
            "unit": self.unit,
            "trajectory": self.trajectory,
            "order": self.order if self.time is None else self.time,
            "location": self.location,
            "latitude": self.latitude,
            "longitude": self.longitude,
        }

    @property
    def written(self) -> Writing:
        """How times and numbers are written."""
        return Writing(TimeFormat.parse(self.time_format), bool(self.decimal_comma))

    def rules(self, *, by_point: bool) -> TripRules:
        """The rules of trajectories, for rows that give coordinates or labels."""
        return TripRules.choose(
            split=self.split,
            time_zone=self.time_zone if self.time_grid is None else self.time_grid.time_zone,
            repeats=self.repeats,
            by_point=by_point,
            keep=self.keep,
            unit_text=self.unit_text,
            protect=self.protect,
        )

    def _check_times(self) -> None:
        grid = self.time_grid
        if (self.time is None) != (grid is None):
            raise ParameterError(
                "Times need both a time column and a time grid; give both or none."
            )
        if grid is None:
            return
        if not isinstance(grid, TimeGrid):
            raise ParameterError("The time grid must be a TimeGrid; make one with TimeGrid.parse.")
        if self.order not in (None, self.time):
            raise ParameterError("The time column orders the visits; leave the order column out.")
        if self.time_zone not in ("UTC", grid.time_zone):
            raise ParameterError("The time zone is that of the time grid; leave it out.")


def _check_seed(seed: int | None) -> None:
    if seed is not None and (isinstance(seed, bool) or not 0 <= index(seed) < 2**64):
        raise ParameterError("The seed of a sample must be a whole number of 64 bits.")


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """How a source becomes trajectories.

    Attributes:
        columns: the columns in use, named or recognised.
        is_list: whether a row is a whole trajectory, its location column a list.
        universe: the public universe, or "discover".
        rules: how a unit's visits become trajectories.
        time_grid: the public slots of time; None if the visits have no times.
        max_trajectories_per_unit: c, or the most that it can be.
        seed: of the sample of a unit's trajectories; None for a fresh one.
        inspection: who looks on, in a rehearsal; else None.
        trips_are_open: whether c is yet to be chosen with privacy.
    """

    columns: Columns
    is_list: bool
    universe: Universe | str
    rules: TripRules
    time_grid: TimeGrid | None
    max_trajectories_per_unit: int
    seed: int | None
    inspection: "Inspection | None" = None
    trips_are_open: bool = False

    def pieces(self, source: Source) -> Iterator[Callable[[], RawRows]]:
        """The rows of a source, piece by piece."""
        pieces = source.pieces(self.columns)
        return pieces if self.inspection is None else self.inspection.numbered(pieces)

    def inspected(self) -> "ReadingPlan":
        """The same plan, with somebody who looks on."""
        from pathveil.raw.inspection import Inspection

        return replace(self, inspection=Inspection(self.columns))

    @classmethod
    def of(cls, source: Source, universe: Universe | str, reading: Reading) -> "ReadingPlan":
        """Settle how an open source is read. Looks at the names and types of its columns only.

        Raises:
            ParameterError: if a column is unknown or ambiguous, or no unit column is given.
        """
        columns = replace(_choose(source, universe, reading), written=reading.written)
        is_list = columns.location is not None and source.is_list(columns.location)
        one_each = not is_list and columns.trajectory is None and reading.has_one_each
        rules = reading.rules(by_point=columns.latitude is not None)
        return cls(
            columns=columns,
            is_list=is_list,
            universe=universe,
            rules=replace(rules, one_each=one_each),
            time_grid=reading.time_grid,
            max_trajectories_per_unit=most_trajectories(reading.max_trajectories_per_unit),
            seed=reading.keep_seed,
            trips_are_open=reading.max_trajectories_per_unit == AUTO,
        )


def check_worth(rules: Sequence[str], most: int, protect: Protect) -> None:
    """Refuse to publish what adds noise, or costs ε, for nothing.

    Args:
        rules: by which rows become trajectories, as the certificate tells them.
        most: c.
        protect: who is protected as one.

    Raises:
        ParameterError: if several trajectories of a unit are meant, and nothing tells them apart.
    """
    if not is_one_each(rules) or (most == 1 and protect != TRIP):
        return
    vain = "" if protect == TRIP else ", and a bound of more would only add noise, or cost ε"
    instead = "protect a person" if protect == TRIP else "leave the bound at 1"
    raise ParameterError(
        f"Nothing tells the trajectories of a unit apart, so all its visits are one{vain}. Name "
        "the column that tells them apart (trajectory=… or --trajectory-column), split them by "
        f"time (split=… or --split day), or {instead}."
    )


def check_universe(universe: object) -> None:
    """Refuse what is neither a universe nor "discover".

    Raises:
        ParameterError: if so.
    """
    if universe != DISCOVER and not isinstance(universe, Universe):
        raise ParameterError("The universe must be a Universe; make one with Universe(labels).")


def _choose(source: Source, universe: Universe | str, reading: Reading) -> Columns:
    named = reading.columns
    showable = source.showable(
        None if isinstance(universe, str) else universe, [n for n in named.values() if n]
    )
    columns = choose_columns(
        source.names,
        **named,
        has_cells=isinstance(universe, Universe) and universe.cells is not None,
        showable=showable,
    )
    is_list = columns.location is not None and source.is_list(columns.location)
    if reading.is_split:
        columns = _without_trajectories(columns, is_list=is_list)
    elif reading.rules(by_point=False).needs_times and (is_list or columns.order is None):
        raise ParameterError(
            f"To protect a {reading.protect}, visits are put into weeks or days by the times of an "
            "order column, one row per visit; name it with order=… or --order-column."
        )
    if not is_list or columns.location is None:
        _check_format(columns, source.names, reading.time_format, showable=showable)
        return columns
    if named["order"] is not None:
        raise ParameterError(
            f"The location column {columns.location[:80]!r} holds lists, which have an order of "
            "their own; leave the order column out."
        )
    return replace(columns, order=None)


def _check_format(
    columns: Columns, names: Sequence[str], time_format: str, *, showable: bool
) -> None:
    """Refuse a format of times that no column has: it would be ignored in silence."""
    if columns.order is not None or time_format == ISO:
        return
    likely = proposed("order", names) if showable else None
    hint = "" if likely is None else f" Did you mean {likely[:80]!r}?"
    raise ParameterError(
        "The time format is about the column of times that orders the visits, and none was named "
        f"or recognised: name it with order=… or --order-column.{hint}"
    )


def _without_trajectories(columns: Columns, *, is_list: bool) -> Columns:
    """The columns for visits that are yet to be split into trajectories."""
    if is_list or columns.order is None:
        raise ParameterError(
            "Visits are split by the times of an order column, one row per visit; name it with "
            "order=… or --order-column."
        )
    return replace(columns, trajectory=None)
