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
