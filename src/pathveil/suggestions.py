"""A word that was mistyped, and the one that was perhaps meant. Of public words only."""

from collections.abc import Iterable
from itertools import islice

MOST_LOOKED_AT = 20_000
LONGEST = 80


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """A sentence that follows a message, such as " Did you mean 'full'?"; empty if none is near.

    Args:
        word: what was typed; what is not text resembles nothing.
        known: what could have been typed: public names, never labels of private data. Of more
            than 20,000 only the first are looked at.
    """
    from difflib import get_close_matches

    if not isinstance(word, str):
        return ""
    by_small_letters = {name.casefold(): name for name in islice(known, MOST_LOOKED_AT)}
    near = get_close_matches(word[:LONGEST].casefold(), by_small_letters, n=1)
    return f" Did you mean {by_small_letters[near[0]][:LONGEST]!r}?" if near else ""
