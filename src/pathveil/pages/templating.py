"""Templates of pages: every value is escaped, and one that is missing is an error."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def templates(*homes: str) -> "Environment":
    """The templates of these packages of pathveil; the first that has a template gives it."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(f"pathveil.{home}", "templates") for home in homes]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
