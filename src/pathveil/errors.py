"""One exception tree: every error that pathveil raises on purpose.

```text
PathveilError
├── ParameterError       a public parameter is missing, malformed or out of range
│   └── TreeTooLargeError    the forecast tree does not fit
├── UniverseError        the public universe of locations can't be used
├── InputError           the raw data can't be used (never says what a row holds)
├── ReleaseError         a release bundle can't be read, written or trusted
├── LedgerError          the ledger can't be used or trusted, or the budget is spent
└── QueryError           a question about a release can't be answered
```

A message says what is wrong, where, and what to do. It never quotes a value of the raw data:
rows are named by their number at most, and only where that number is the curator's to see.
The command line prints the message and exits with code 2.
"""

from collections.abc import Iterable
from itertools import islice


class PathveilError(Exception):
    """The root of every error we raise."""


class ParameterError(PathveilError, ValueError):
    """A public parameter (ε, height, threshold, a column name …) can't be used."""


class TreeTooLargeError(ParameterError):
    """The expected tree, a function of public parameters only, exceeds ``max_nodes``."""


class UniverseError(PathveilError, ValueError):
    """The public universe of locations is empty, malformed or ambiguous."""


class InputError(PathveilError, ValueError):
    """The raw data can't be read as trajectories."""


class ReleaseError(PathveilError, ValueError):
    """A release bundle is missing, damaged, or would be overwritten."""


class UnknownVersionWarning(UserWarning):
    """A release bundle says that a version of the software wrote it that this one can't check."""


class LedgerError(PathveilError, ValueError):
    """The ledger can't be opened, was tampered with, or refuses a charge over its limit."""


class QueryError(PathveilError, ValueError):
    """A question names a location that the release's universe does not have, or is malformed."""


# A word that was mistyped, and the one that was perhaps meant. Of public words only.


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
