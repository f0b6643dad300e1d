"""What a run leaves behind, for the message that says how it failed: so that nobody pays twice.

A release appears whole or not at all, so a look at its place tells which of the two it was.
"""

from pathlib import Path

_NOTHING = "No half-written release was left behind."

_awaited: Path | None = None
_is_paid = False


def begin() -> None:
    """A run begins; it promises nothing yet."""
    _set(None, is_paid=False)


def await_release(out: Path) -> None:
    """A release will appear at this place, where there is none yet."""
    import pathveil.promise.certificate  # noqa: F401  (now: a message about memory must not need it)

    _set(out, is_paid=False)


def paid() -> None:
    """From now on ε is charged, and every failure has to tell what became of it."""
    _set(_awaited, is_paid=True)


def left_behind() -> str:
    """A sentence about the release."""
    if _awaited is None:
        return _NOTHING
    from pathveil.promise.certificate import CERTIFICATE_FILE

    if not (_awaited / CERTIFICATE_FILE).is_file():
        return _NOTHING
    return f"The release in {_awaited} is whole{' and paid for' if _is_paid else ''}."


def completed(message: str) -> str:
    """A message about a failure; if ε is charged, with the sentence, unless it says as much."""
    if not _is_paid or "whole" in message or "left behind" in message:
        return message
    return f"{message} {left_behind()}"


def _set(out: Path | None, *, is_paid: bool) -> None:
    global _awaited, _is_paid
    _awaited, _is_paid = out, is_paid
