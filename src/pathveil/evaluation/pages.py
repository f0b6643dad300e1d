"""HTML pages from the templates: one file each, no scripts, no network, labels escaped."""

from dataclasses import dataclass
from typing import Any

from pathveil.evaluation.internal import NOTICE
from pathveil.report.templating import templates


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawn chart.

    Attributes:
        svg: the drawing.
        caption: what it shows, for those who can't see it too.
    """

    svg: str
    caption: str


def render(template: str, **values: Any) -> str:
    """Fill a template; the INTERNAL banner is always there."""
    environment = templates("evaluation", "report")  # the style is that of the report
    environment.filters["number"] = number
    return environment.get_template(template).render(notice=NOTICE, **values)


def number(value: float) -> str:
    """A figure for people: whole numbers whole, others with three significant places."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.3f}" if abs(value) >= 0.01 else f"{value:.2g}"  # noqa: PLR2004
