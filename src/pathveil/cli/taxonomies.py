"""A taxonomy from the command line."""

from typing import TYPE_CHECKING

from pathveil.errors import ParameterError

if TYPE_CHECKING:
    from pathveil.model.taxonomy import Taxonomy
    from pathveil.model.universe import Universe


def zones_for(taxonomy: str | None, locations: "Universe | str") -> "Taxonomy | None":
    """The zones that --taxonomy names, of the universe that --universe names.

    Raises:
        ParameterError: if the universe is to be discovered.
        UniverseError: if the taxonomy can't be used.
    """
    from pathveil.model.taxonomy_spec import read_taxonomy

    if taxonomy is None:
        return None
    if isinstance(locations, str):
        raise ParameterError("A taxonomy needs a public universe; it can't be discovered.")
    return read_taxonomy(taxonomy, locations)
