"""The first screen of the page: four sentences and three figures that say what a release is."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pathveil.core.error_table import NOISE, Estimate
from pathveil.core.told_numbers import told
from pathveil.pages.listings import Location, isolated
from pathveil.promise.certificate import Certificate
from pathveil.promise.odds import odds_against_one
from pathveil.times.protected_units import PERSON, UNITS, Protect


@dataclass(frozen=True, slots=True)
class Visited:
    """A location and how many released trajectories visit it.

    Attributes:
        location: which.
        count: how many, with an interval if the release tells any.
    """

    location: Location
    count: Estimate


@dataclass(frozen=True, slots=True)
class FirstScreen:
    """What everybody should know.

    Attributes:
        sentences: four of them.
        figures: three: what it is, the figure, and a remark.
    """

    sentences: tuple[str, ...]
    figures: tuple[tuple[str, str, str], ...]


def first_screen(
    certificate: Certificate,
    trajectories: int,
    total: tuple[int, int] | None,
    visited: Sequence[Visited],
    moves: Sequence[tuple[Location, Location, Estimate]],
) -> FirstScreen:
    """The sentences and figures of a release.

    Args:
        certificate: its promise.
        trajectories: how many were released.
        total: where their true number lies (90%); None if that is not known.
        visited: the most visited locations, the first first.
        moves: the strongest moves, likewise.
    """
    loss = certificate.privacy_loss.privacy_parameters
    return FirstScreen(
        sentences=(
            _what(certificate, trajectories),
            _busiest(visited, moves),
            _noisy(visited),
            _promised(loss.epsilon, loss.delta, certificate.protect),
        ),
        figures=(
            ("Trajectories", f"{trajectories:,}", _range(total)),
            (
                "Privacy budget",
                f"ε = {told(Fraction(loss.epsilon))}",
                _beside(loss.delta, certificate.protect),
            ),
            _third(certificate, visited),
        ),
    )


def _what(certificate: Certificate, trajectories: int) -> str:
    about, size = certificate.about, certificate.implementation.universe_size
    where = f" in {isolated(about.city)}" if about and about.city else ""
    when = f", {about.period}" if about and about.period else ""
    return (
        f"This release holds {trajectories:,} synthetic trajectories over {size:,} "
        f"locations{where}{when}."
    )


def _busiest(
    visited: Sequence[Visited], moves: Sequence[tuple[Location, Location, Estimate]]
) -> str:
    if not visited:
        return "It is empty: no count passed the threshold."
    first = visited[0]
    busiest = f"The most visited location is {_called(first.location)} ({first.count:,})"
    if not moves:
        return f"{busiest}; none leads from one location to another."
    start, end, made = moves[0]
    if made.mark == NOISE:
        return f"{busiest}; which move is the strongest can't be told from noise."
    return (
        f"{busiest}, and the strongest move leads from {_called(start)} to {_called(end)} "
        f"({made:,})."
    )


def _called(location: Location) -> str:
    return isolated(location.name or location.label)


def _beside(delta: str, protect: Protect) -> str:
    """What must stand beside an ε: δ, and whose it is if it is not that of a person."""
    whose = () if protect == PERSON else (f"for {UNITS[protect].one}",)
    return "; ".join((*(() if delta == "0" else (f"δ = {told(Fraction(delta))}",)), *whose))


def _promised(epsilon: str, delta: str, protect: Protect) -> str:
    factor = odds_against_one(Fraction(epsilon))
    exception = "" if delta == "0" else f", except with probability δ = {told(Fraction(delta))}"
    return (
        f"Whatever anybody sees here is at most {factor:,f} times as probable with the data of "
        f"one unit ({UNITS[protect].such_as}) as without it{exception}."
    )


def _noisy(visited: Sequence[Visited]) -> str:
    said = "No row belongs to a person: all counts are noisy, and some paths were visited by nobody"
    if not visited or visited[0].count.low is None:
        return f"{said}."
    count = visited[0].count
    return f"{said}; where {count:,} stands, the truth is {count.low:,} to {count.high:,} (90%)."


def _third(certificate: Certificate, visited: Sequence[Visited]) -> tuple[str, str, str]:
    """How accurate it is; if that is not known, how large the universe is."""
    count = visited[0].count if visited else Estimate(0)
    if count and count.low is not None and count.high is not None:
        off = max(count.high - count, count - count.low)
        share = f"± {100 * off / count:.1f}%"
        return "Error of the largest count", share, "at most, in 90% of cases"
    return "Locations", f"{certificate.implementation.universe_size:,}", ""


def _range(total: tuple[int, int] | None) -> str:
    return "" if total is None else f"{total[0]:,} to {total[1]:,} in truth (90%)"
