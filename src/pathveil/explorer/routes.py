"""The API: every route once, with its parameters, its answer, and what it does."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from pathveil.explorer import by_hours, comparing, counting, listing, locations
from pathveil.explorer.answers import Answer
from pathveil.explorer.asking import Asked, NotThereError, Parameter, choice, integer
from pathveil.explorer.indexed_release import MOST_ROWS, IndexedRelease
from pathveil.explorer.overview import Overview, overview
from pathveil.explorer.pattern_tables import MOST_LENGTH, PER_TABLE

Releases = tuple[IndexedRelease, ...]
"""What is being explored: one release, or two."""
FORMAT = choice("format", "How to send the answer.", "json", "csv")
WHICH = choice("release", "The first or the second release of the command line.", "1", "2")
LOCATION = Parameter("location", "A location's label. Repeat it for each.", many=True)
KIND = choice(
    "kind", "ends: from the first location of a trajectory to its last; steps: to the next.",
    "ends", "steps",
)  # fmt: skip
DURING = Parameter("during", "Only visits in these hours, such as 07:00-10:00.")
QUESTION = (
    Parameter(
        "location",
        "A location's label, or LABEL@07:00-10:00 for a visit in these hours. Repeat it for each.",
        many=True,
    ),
    choice("order", "In any order, or in the order given, others between allowed.", "any", "given"),
    Parameter("during", "Hours in which all visits lie, such as 07:00-10:00."),
)


@dataclass(frozen=True, slots=True)
class Route:
    """One address of the API.

    Attributes:
        path: below ``/api``.
        says: what it answers.
        answers: the shape of the answer.
        answer: how to get it.
        parameters: what may be asked for, but for those that every route has.
        has_csv: whether ``format=csv`` gives a table.
        may_wait: whether it may answer that it is still working (status 202).
    """

    path: str
    says: str
    answers: type[Answer]
    answer: Callable[[Releases, Asked], Answer]
    parameters: tuple[Parameter, ...] = ()
    has_csv: bool = True
    may_wait: bool = False

    def every_parameter(self) -> tuple[Parameter, ...]:
        """The parameters, with those that several routes share."""
        return (*self.parameters, *((FORMAT,) if self.has_csv else ()))


def _rows(default: int, most: int = MOST_ROWS) -> Parameter:
    return integer("limit", "Most rows.", default=default, least=1, most=most)


def _of_one(
    answer: Callable[[IndexedRelease, Asked], Answer], all_: Releases, asked: Asked
) -> Answer:
    """The answer of one of the releases."""
    number = 1 if asked.text("release") == "2" else 0
    if number >= len(all_):
        raise NotThereError("There is only one release here; name two on the command line.")
    return answer(all_[number], asked)


def _compared(
    answer: Callable[[IndexedRelease, IndexedRelease, Asked], Answer], all_: Releases, asked: Asked
) -> Answer:
    if len(all_) != 2:  # noqa: PLR2004  (two to compare)
        raise NotThereError("To compare, name two releases: pathveil explore ONE OTHER.")
    return answer(all_[0], all_[1], asked)


def _overview(all_: Releases, asked: Asked) -> Overview:
    other = all_[1].name if len(all_) > 1 else None

    def of_one(indexed: IndexedRelease, asked: Asked) -> Overview:
        return overview(indexed, asked, other)

    found = _of_one(of_one, all_, asked)
    if not isinstance(found, Overview):
        raise NotThereError("There is no overview.")
    return found


def _one(
    path: str,
    says: str,
    answers: type[Answer],
    answer: Callable[[IndexedRelease, Asked], Answer],
    *parameters: Parameter,
    has_csv: bool = True,
    may_wait: bool = False,
) -> Route:
    """A route that is about one release."""
    return Route(
        path, says, answers, partial(_of_one, answer), (*parameters, WHICH), has_csv, may_wait
    )


def _comparison(
    path: str,
    says: str,
    answers: type[Answer],
    answer: Callable[[IndexedRelease, IndexedRelease, Asked], Answer],
    *parameters: Parameter,
) -> Route:
    """A route that compares two."""
    return Route(path, says, answers, partial(_compared, answer), parameters)


def _all() -> Iterable[Route]:
    yield Route(
        "/overview", "What was published, and under which promise.", Overview, _overview, (WHICH,),
        has_csv=False,
    )  # fmt: skip
    yield _one(
        "/locations", "Locations whose label or name fits a half-typed text.", locations.Matches,
        locations.matches,
        Parameter("q", "What was typed; without it the most visited."), _rows(20),
        Parameter(
            "zones", "Whether zones fit, too: only counts know them.",
            {"type": "string", "enum": ["no", "yes"]}, "no",
        ),
    )  # fmt: skip
    yield _one(
        "/map", "Every location that can be placed on a map.", locations.Map, locations.drawn,
        DURING, has_csv=False,
    )  # fmt: skip
    yield _one(
        "/visits",
        "The most visited locations.",
        locations.VisitedTable,
        locations.visited,
        _rows(20),
    )
    yield _one(
        "/lengths",
        "How long the released trajectories are.",
        locations.Lengths,
        locations.lengths,
    )
    yield _one(
        "/count", "How many released trajectories visit all of these locations.", counting.Counted,
        counting.counted, *QUESTION,
    )  # fmt: skip
    yield _one(
        "/patterns", "Sequences of locations that many trajectories follow.",
        listing.PatternTable, listing.patterns,
        integer("k", "How many.", default=50, least=1, most=PER_TABLE),
        integer("min_length", "Fewest locations.", default=1, least=1, most=MOST_LENGTH),
        integer("max_length", "Most locations.", default=MOST_LENGTH, least=1, most=MOST_LENGTH),
        Parameter("contains", "The label of a location that they visit."),
        choice("gaps", "Whether others may lie between a pattern's locations.", "yes", "no"),
        choice("repeats", "Whether a pattern may visit a location twice.", "no", "yes"),
        DURING,
        may_wait=True,
    )  # fmt: skip
    yield _one(
        "/tree", "A node of the prefix tree and what follows it.", listing.Node,
        listing.node, LOCATION,
        Parameter("slot", "With times: the slot of each location, by its start.", many=True),
        _rows(50),
    )  # fmt: skip
    yield _one(
        "/flows", "The largest flows from location to location.", listing.Flows,
        listing.flows, KIND,
        choice("staying", "Whether flows from a location to itself are listed.", "yes", "no"),
        DURING, _rows(100),
    )  # fmt: skip
    yield _one(
        "/flows/matrix", "Flows between the busiest locations.", listing.Matrix,
        listing.matrix, KIND,
        integer("n", "How many locations.", default=15, least=1, most=100), DURING,
    )  # fmt: skip
    yield _one(
        "/flows/of", "The flows into and out of one location.", by_hours.Catchment,
        by_hours.catchment,
        Parameter("location", "Its label; without it the most visited one."), KIND, DURING,
        _rows(20),
    )  # fmt: skip
    yield _one(
        "/flows/zones", "The largest flows between cells of the map.", by_hours.ZoneFlows,
        by_hours.zone_flows, KIND, DURING,
        integer("across", "How many cells the longer side has.", default=7, least=1, most=30),
        _rows(40),
    )  # fmt: skip
    yield _one(
        "/slots", "Visits by time slot; none without times.", by_hours.Slots, by_hours.slots,
        Parameter("location", "Only visits to this location, by its label."),
    )  # fmt: skip
    yield _comparison(
        "/compare/visits", "Visits in both releases, the largest differences first.",
        comparing.VisitsCompared, comparing.compared_visits, _rows(20),
    )  # fmt: skip
    yield _comparison(
        "/compare/lengths", "Lengths in both releases.", comparing.LengthsCompared,
        comparing.compared_lengths,
    )  # fmt: skip
    yield _comparison(
        "/compare/count", "One question, asked of both releases.", comparing.CountsCompared,
        comparing.compared_counts, *QUESTION,
    )  # fmt: skip


ROUTES = tuple(_all())
