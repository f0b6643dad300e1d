"""The small languages of options: the input is a byte that chooses one, and the text."""

from collections.abc import Callable
from pathlib import Path

from fuzz.written import check_time_grid, check_universe

from pathveil.analysis.timed_queries import read_step
from pathveil.core.budget import Budget, parse_delta
from pathveil.core.parameters import Parameters
from pathveil.ledger.locating import check_name, check_period, check_reason
from pathveil.times.time_grid import TimeGrid
from pathveil.times.time_windows import slots_in
from pathveil.times.trip_rules import TripRules
from pathveil.universe.universe import Universe

GRID = TimeGrid.parse("weekday-hour", "America/Montreal")
DATES = TimeGrid.of(["2024-02-29", "2024-03-01"])
UNIVERSE = Universe(["S1", "A@B", "S2"])
LARGEST = 10_000  # a range of codes or a grid may be far larger, and then takes its time


def _universe(text: str, folder: Path) -> None:
    # Described in the text alone; files have targets of their own.
    if text.startswith(("grid:", "codes:1..", "h3:2:")) and len(text) < 60:
        universe = Universe.read(text)
        if len(universe) < LARGEST:
            check_universe(universe, folder)


def _parameters(text: str, _folder: Path) -> None:
    epsilon, height, threshold, *_ = [*text.split(" "), "", "", ""]
    Parameters.choose(
        method="full", epsilon=epsilon, height=height, universe_size=5, threshold=threshold
    )


def _time_grid(text: str, folder: Path) -> None:
    check_time_grid(TimeGrid.parse("1h", text), folder)
    check_time_grid(TimeGrid.parse(text), folder)


def _trips(text: str, _folder: Path) -> None:
    TripRules.choose(split=text, time_zone="UTC", repeats="auto", by_point=False).sentences()


LANGUAGES: tuple[Callable[[str, Path], object], ...] = (
    _universe,
    _parameters,
    _time_grid,
    _trips,
    lambda text, _: Budget.parse(text),
    lambda text, _: parse_delta(text),
    lambda text, _: slots_in(GRID, text),
    lambda text, _: slots_in(DATES, text),
    lambda text, _: read_step(text, UNIVERSE),
    lambda text, _: check_name("dataset", text),
    lambda text, _: check_period(text),
    lambda text, _: check_reason(text),
)


def read(data: bytes, folder: Path) -> None:
    """Parse the text; bytes that are not UTF-8 become what a command line makes of them."""
    language = LANGUAGES[(data[:1] or b"\0")[0] % len(LANGUAGES)]
    language(data[1:].decode("utf-8", errors="surrogateescape"), folder)


def seeds() -> dict[str, bytes]:
    """A few words of each language."""
    words = {
        0: (b"grid:3x4:45.4,-73.9,45.7,-73.5", b"codes:1..20", b"h3:2:45.4,-73.9,45.7,-73.5"),
        1: (b"1 5 auto", b"1/3 4 7", b"0.25 2 paper"),
        2: (b"15min", b"UTC"),
        3: (b"gap:30min", b"week", b"none"),
        4: (b"1/3", b"0.125"),
        5: (b"1e-9", b"1/1000000"),
        6: (b"07:00-10:00", b"Mon 07:00-Tue 10:00", b"22:00-02:00"),
        7: ("2024-02-29–2024-03-01".encode(),),
        8: (b"S1@07:00-10:00", b"A@B"),
        9: (b"taps-2024",),
        10: (b"year",),
        11: (b"the board, 12 March",),
    }
    return {
        f"{language}-{number}": bytes((language,)) + word
        for language, all_of_it in words.items()
        for number, word in enumerate(all_of_it)
    }
