"""JSON from others: read in one way only."""

import json
from typing import Any


class RepeatedNameError(ValueError):
    """An object names something twice: readers of JSON disagree about which of the two counts."""


def read_json(content: bytes | str) -> Any:
    """What a JSON text says, if no object in it names anything twice.

    Raises:
        RepeatedNameError: if one does.
        ValueError: if it is no JSON, or nested too deeply.
    """
    try:
        return json.loads(content, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedNameError
    return found
