"""How the command line tells intervals and marks: in words, in JSON, and in tables of rows."""

from collections.abc import Sequence
from typing import TypeVar

from pathveil.core.error_table import MARKS, NOISE, RULE, Estimate, as_estimate

Row = TypeVar("Row")
HEADINGS = ("about", "90% interval", "mark")


def interval_fields(answer: int) -> dict[str, object]:
    """The interval of an answer for JSON; null where it has none."""
    known = as_estimate(answer)
    return {
        "low": known.low,
        "high": known.high,
        "level": known.level,
        "best": known.best,
        "mark": known.mark,
        "bound_only": known.is_bound,
    }


def in_words(answer: int) -> str:
    """An answer with its interval and mark."""
    if not isinstance(answer, Estimate) or answer.level is None:
        return f"{answer:,}"
    why = ", a bound: nothing was measured that tells more" if answer.is_bound else ""
    return f"{answer} {_MARK_WORDS[answer.mark or NOISE]}{why}"


_MARK_WORDS = dict(zip(MARKS, ("reliable", "rough", "can't be told from noise"), strict=True))


def cells(answer: int) -> tuple[str, str, str]:
    """The cells of an answer in a table under `HEADINGS`."""
    known = as_estimate(answer)
    if known.low is None or known.high is None:
        return f"{known.shown:,}", "–", "–"
    return f"{known.shown:,}", f"{known.low:,} to {known.high:,}", known.mark or "–"


def told(rows: Sequence[tuple[Row, int]], *, everything: bool) -> tuple[list[Row], int]:
    """The rows whose answers can be told from noise, and how many were left out.

    Args:
        rows: each with its answer; one without an interval is never left out.
        everything: leave none out.
    """
    kept = [
        row
        for row, answer in rows
        if everything or not isinstance(answer, Estimate) or answer.mark != NOISE
    ]
    return kept, len(rows) - len(kept)


def rule_words(left_out: int, answers: Sequence[int], purpose: str, made_for: str) -> str:
    """What stands below a table.

    Args:
        left_out: how many of its rows can't be told from noise and are not shown.
        answers: of all rows. If none is shown, it is told what is known of them: the most that the
            first may be.
        purpose: the value of `--for` with which a release may tell more of them.
        made_for: the one that this release was made for.
    """
    of = len(answers)
    noise = left_out_words(left_out, of, "; --all shows them")
    if left_out and left_out == of:
        noise = (
            f"None of {of:,} can be told from noise, so none is shown: too few people do each, or "
            "nothing was measured that tells how far such counts are off. --all shows them with "
            "their intervals. `pathveil count` tells single stops already. "
            f"{_what_may_help(purpose, made_for)}"
            f"{_at_most(answers[0])}"
        )
    return f"{noise}Marks: {RULE}."


def left_out_words(left_out: int, of: int, how_to_see: str = "") -> str:
    """How many rows of a table are not there, and why; nothing if all are."""
    if not left_out:
        return ""
    return (
        f"{left_out:,} of {of:,} were left out because they can't be told from noise{how_to_see}. "
    )


def _what_may_help(purpose: str, made_for: str) -> str:
    """Without a promise: in a small city none of it may be enough, and the plan says so."""
    made = "" if made_for == purpose else f", or one made for this (`publish --for {purpose}`),"
    already = f"This one was made for {purpose} already. " if made_for == purpose else ""
    return (
        f"{already}A release of more people, of wider areas or with a larger ε{made} may tell "
        "more, or still nothing: `pathveil plan --trajectories N` forecasts which, for nothing. "
    )


def _at_most(first: int) -> str:
    known = as_estimate(first)
    if known.high is None or known.low is None:
        return ""
    least = f"at least {known.low:,} and " if known.low else ""
    return f"What is known of the first: {least}at most {known.high:,}. "
