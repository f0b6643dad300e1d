"""report.html: one offline page that says what was published and under which promise.

A function of the release and its certificate alone, and always the same text for the same
release: `pathveil verify` writes it again and compares.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.analysis.flows import visits
from pathveil.core.error_table import ANY, RULE
from pathveil.core.methods import method_detail
from pathveil.pages.changes import changes
from pathveil.pages.clock import HeatMap, count_hours
from pathveil.pages.expected_error import ExpectedError, expected_error
from pathveil.pages.first_screen import Visited, first_screen
from pathveil.pages.icicle import draw_icicle
from pathveil.pages.listings import (
    Location,
    Released,
    estimated,
    isolated,
    length_rows,
    noise_words,
    shortened,
    top_journeys,
)
from pathveil.pages.map import draw_map
from pathveil.pages.strongest_moves import (
    MOST_LINES,
    draw_moves,
    known_moves,
    moves_table,
    strongest_moves,
)
from pathveil.progress_reports import portion, report_progress
from pathveil.promise.certificate import Certificate
from pathveil.promise.citation import cite
from pathveil.promise.explanation import explain

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT = "report.html"
MOST_VISITED = 20
_SECTIONS = {
    "promise": "The promise",
    "map": "Map",
    "visited": "Locations",
    "changes": "Changes",
    "moves": "Moves",
    "lengths": "Lengths",
    "patterns": "Patterns",
    "tree": "Prefix tree",
    "hours": "When",
    "errors": "Errors",
    "certificate": "Certificate",
    "cite": "How to cite",
}
_LETTERS, _HEADINGS = 24, 12  # of the heat map: left of a row, and above the columns


def render_report(
    release: Released,
    certificate: Certificate,
    earlier: tuple[str, Released] | None = None,
    *,
    otherwise: str | None = None,
) -> str:
    """The page, self-contained: no scripts, no network, labels escaped.

    Args:
        release: what was published.
        certificate: its certificate.
        earlier: what an earlier release is called, and itself: what has changed since is told. The
            page of a bundle has no such section: it tells of the bundle alone.
        otherwise: that the two count other trips, in words.
    """
    paths, choices = release.paths(), certificate.implementation
    trajectories = int(paths.weights.sum())
    moves = strongest_moves(release, MOST_LINES)
    listed_moves = moves_table(release, moves)
    most_visited = _most_visited(release)
    errors = _errors(release, trajectories, most_visited)
    lengths = length_rows(release)
    report_progress(1, 4)
    drawn = {
        "map": draw_map(release, release.background),
        "moves_map": draw_moves(release, known_moves(release, moves)),
        "icicle": draw_icicle(release),
        "hours": count_hours(release),
    }
    with portion(1 / 2, 1):
        journeys = top_journeys(release)
    left_out = {
        section
        for section, name in {"map": "map", "tree": "icicle", "hours": "hours"}.items()
        if drawn[name] is None
    }
    left_out |= set() if earlier else {"changes"}
    return render(
        "report.html",
        certificate=certificate,
        method_detail=method_detail(choices.method, choices.height, choices.purpose),
        explanation=explain(certificate),
        citation=cite(certificate),
        contents=[(id_, title) for id_, title in _SECTIONS.items() if id_ not in left_out],
        distinct=len(paths),
        has_names=any(one.location.is_named for one in most_visited),
        most_visited=most_visited,
        moves=listed_moves,
        moves_noise=noise_words(count for *_, count in listed_moves),
        changes=None if earlier is None else changes(release, earlier[1]),
        earlier=None if earlier is None else earlier[0],
        otherwise=otherwise,
        first=first_screen(
            certificate, trajectories, errors.total if errors else None, most_visited, listed_moves
        ),
        lengths=lengths,
        longest_bar=max((count for _, count in lengths), default=1),
        journeys=journeys,
        journeys_noise=noise_words(one.support for one in journeys or ()),
        errors=errors,
        has_intervals=release.answering is not None,
        rule=RULE,
        **drawn,
        **_headings(drawn["hours"]),
    )


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in; every value is escaped."""
    return _environment().get_template(template).render(**values)


def templates(*homes: str) -> "Environment":
    """The templates of these packages of pathveil; the first that has a template gives it.

    Every value is escaped, and one that is missing is an error.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(f"pathveil.{home}", "templates") for home in homes]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    environment = templates("pages")
    environment.globals["isolated"] = isolated
    return environment


def _most_visited(release: Released) -> list[Visited]:
    universe = release.universe
    rows = visits(release).to_rows(universe, limit=MOST_VISITED)
    codes = [universe.code(label) for label, _ in rows]
    counts: Iterable[int] = [count for _, count in rows]
    if release.answering is not None and rows:
        known = np.array([count for _, count in rows], dtype=np.int64)
        counts = release.answering.asked(ANY, [[code] for code in codes], known).estimates()
    return [
        Visited(Location.of(universe, code), estimated(count))
        for code, count in zip(codes, counts, strict=True)
    ]


def _errors(
    release: Released, trajectories: int, most_visited: list[Visited]
) -> ExpectedError | None:
    table = release.error_table
    if table is None or not most_visited:
        return None
    return expected_error(table, trajectories, most_visited[0].count)


def _headings(hours: Any) -> dict[str, Any]:
    """What stands left of the rows of the heat map, and above how many columns a text fits."""
    if not isinstance(hours, HeatMap):
        return {}
    return {
        "row_texts": [shortened(row.name or row.label, _LETTERS) for row in hours.rows],
        "every": math.ceil(len(hours.columns) / _HEADINGS),
    }
