"""report.html: one offline page that says what was published and under which promise."""

from typing import Any

from pathveil.analysis.flows import length_distribution, visits
from pathveil.model.certificate import Certificate
from pathveil.model.paths import WeightedPaths
from pathveil.report.explanation import explain
from pathveil.report.map import draw_map

REPORT = "report.html"
MOST_VISITED = 20


def render_report(release: WeightedPaths, certificate: Certificate) -> str:
    """The page, self-contained: no scripts, no network, labels escaped."""
    return render(
        "report.html",
        certificate=certificate,
        explanation=explain(certificate),
        trajectories=int(release.paths().weights.sum()),
        distinct=len(release.paths()),
        most_visited=_most_visited(release),
        lengths=_lengths(release),
        map=draw_map(release),
    )


def render(template: str, **values: Any) -> str:
    """A template of this package, filled in; every value is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pathveil.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def _most_visited(release: WeightedPaths) -> list[dict[str, Any]]:
    universe = release.universe
    rows = visits(release).to_rows(universe, limit=MOST_VISITED)
    most = max((count for _, count in rows), default=1)
    return [
        {
            "label": label,
            "name": universe.names[universe.code(label)] if universe.names else "",
            "count": count,
            "share": round(100 * count / most, 1),
        }
        for label, count in rows
    ]


def _lengths(release: WeightedPaths) -> list[dict[str, Any]]:
    rows = length_distribution(release).to_rows()
    most = max((count for _, count in rows), default=1)
    return [
        {"length": length, "count": count, "share": round(100 * count / most, 1)}
        for length, count in rows
    ]
