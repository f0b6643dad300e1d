"""What people may write into a ledger: names, periods and reasons."""

import re

from pathveil.errors import ParameterError
from pathveil.ledger.entries import NAME
from pathveil.ledger.periods import PERIODS, Period
from pathveil.suggestions import did_you_mean

_LONGEST_REASON = 500


def check_name(what: str, name: object) -> str:
    """A dataset's or a population's name.

    Raises:
        ParameterError: if it is not made of letters, digits, dots, dashes and underscores.
    """
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise ParameterError(
            f"The name of a {what} must be 1 to 64 letters (a-z), digits, dots, dashes or "
            "underscores, and begin with a letter or digit."
        )
    return name


def check_period(period: object) -> Period | None:
    """A calendar period, or None for ever.

    Raises:
        ParameterError: if there is no such period.
    """
    if period is None:
        return None
    if period not in PERIODS:
        raise ParameterError(
            f"The period must be one of {', '.join(PERIODS)}.{did_you_mean(period, PERIODS)}"
        )
    return period  # type: ignore[return-value]  # checked above


def check_reason(reason: object) -> str:
    """A sentence for the ledger.

    Raises:
        ParameterError: if it is too long, or not printable.
    """
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON or not reason.isprintable():
        raise ParameterError(
            f"A reason is one line of at most {_LONGEST_REASON} printable characters."
        )
    return reason
