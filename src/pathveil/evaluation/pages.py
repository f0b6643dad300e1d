"""HTML pages from the templates: one file each, no scripts, no network, labels escaped."""

from dataclasses import dataclass
from typing import Any

from pathveil.evaluation.internal import NOTICE


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
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader(  # the style is that of the report
            [PackageLoader(f"pathveil.{home}", "templates") for home in ("evaluation", "report")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment.get_template(template).render(notice=NOTICE, **values)


def number(value: float) -> str:
    """A figure for people: whole numbers whole, others with three significant places."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.3f}" if abs(value) >= 0.01 else f"{value:.2g}"  # noqa: PLR2004
