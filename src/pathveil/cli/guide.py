"""``pathveil publish`` without arguments, on a terminal: questions, and then the usual commands.

The guide asks, and writes a command line. All that is done is done by that line: the rehearsal is
it with ``--dry-run``, the forecast is ``pathveil plan`` with its public choices, and the run is the
line itself, after it was shown. So nothing is charged before the last answer, and what a guided run
does can be done again without one.

What is proposed comes from the header, or from figures that are shown (`raw.proposals`); nothing
holds before the curator has said so.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pathveil.errors import ParameterError, PathveilError

if TYPE_CHECKING:
    from pathveil.raw.sources.raw_rows import Source
    from pathveil.universe.universe import Universe

_YES: Final = ("y", "yes", "j", "ja")
_PURPOSES: Final = {
    "everything": "a bit of each",
    "stops": "how many visit each stop",
    "flows": "who goes from where to where",
    "patterns": "frequent journeys",
    "hours": "when, by the hour",
}
_UNITS: Final = {
    "all": "all that the file has of a person is one trajectory: for some days of taps",
    "day": "each day is one: for weeks or months",
    "week": "each week, Monday to Sunday, is one: for months",
}
_FORMATS: Final = {
    "iso": "2026-03-02T07:58:10, or plain numbers",
    "de": "02.03.2026 07:58",
    "us": "3/2/2026 7:58 AM, the month first",
    "uk": "02/03/2026 07:58, the day first",
}


def is_asked_for(arguments: Sequence[str]) -> bool:
    """Whether a command line is for the guide: nothing but the command, and somebody to ask."""
    return list(arguments) == ["publish"] and sys.stdin.isatty() and sys.stderr.isatty()


def guide(run: Callable[[list[str]], int]) -> int:
    """Ask, rehearse, forecast, show the command line, and run it if that is wanted.

    Args:
        run: runs a command line; its exit code.

    Raises:
        PathveilError: if a step refuses, or the answers end. Nothing was charged then.
    """
    _say(
        "A few questions, then a rehearsal and a forecast, for nothing. Enter takes what stands in"
    )
    _say("[brackets]; Ctrl-C ends it. Nothing is published or charged before the last answer.")
    line = _asked_line()
    _say("\nA rehearsal: what a run would read. The figures are exact, and for you alone.")
    if code := run(["publish", *line.arguments(), "--dry-run"]):
        return code
    if not _agrees("Is this what you expected of the file?", default=False):
        return _stopped(line)
    _say("\nThe forecast, from your public choices alone:")
    if code := run(["plan", *line.planned()]):
        return code
    _say("\nThe command line that does the same:\n")
    _say_command(line)
    charge = f" and charge it to {line.dataset!r}" if line.dataset else "; no ledger is charged"
    if not _agrees(f"Publish with ε = {line.epsilon}{charge}?", default=False):
        return _stopped(line)
    return run(["publish", *line.arguments(), "--yes"])


@dataclass(slots=True)
class _Line:
    """A command line, option by option.

    Attributes:
        source: the file.
        given: the options and their values, in the order of asking; "" for a flag.
        dataset: what is charged; None if nothing is.
    """

    source: str
    given: dict[str, str] = field(default_factory=dict)
    dataset: str | None = None

    @property
    def epsilon(self) -> str:
        return self.given["--epsilon"]

    def arguments(self) -> list[str]:
        """What `pathveil publish` is given."""
        return [self.source, *self._options(self.given)]

    def planned(self) -> list[str]:
        """Those of them that `pathveil plan` knows, which are public and need no data."""
        known = ("--universe", "--epsilon", "--for", "-c", "--time-grid")
        return self._options({name: self.given[name] for name in known if name in self.given})

    def shown(self) -> str:
        """For a shell, an option a line."""
        parts = [shlex.join(self._options({name: text})) for name, text in self.given.items()]
        return " \\\n      ".join([shlex.join(["pathveil", "publish", self.source]), *parts])

    @staticmethod
    def _options(given: dict[str, str]) -> list[str]:
        return [word for name, text in given.items() for word in (name, text) if word]


def _asked_line() -> _Line:
    from pathveil.times.time_grid import TimeGrid, check_time_zone

    path, encoding, source = _asked_file()
    line = _Line(str(path))
    if encoding is not None:
        line.given["--encoding"] = encoding
    universe = _asked_universe(line)
    line.given["--unit-column"] = _asked_column(
        "Whose privacy is protected: which column says whose row it is (a person, a card)?",
        source,
        _proposed("unit", source),
    )
    _ask_location(line, source, universe)
    order = _asked_column("Which column says when?", source, _proposed("order", source))
    _ask_format(line, source, order)
    _ask_trips(line)
    purpose = _asked_choice("What is the release for?", _PURPOSES, "everything")
    line.given["--for"] = purpose
    if purpose == "hours":
        line.given["--time-column"] = order
        line.given["--time-grid"] = _asked_valid("Which slots of time?", "1h", TimeGrid.parse)
        line.given["--time-zone"] = _asked_valid(
            "In which time zone (such as America/Montreal)?", "UTC", check_time_zone
        )
    else:
        line.given["--order-column"] = order
    line.given["--epsilon"] = _asked_valid(
        "The privacy budget ε of a person (smaller protects more)", "1", _check_epsilon
    )
    for name, question in (("--title", "A title for it"), ("--publisher", "Who publishes it")):
        if text := _asked_valid(f"{question} (public; Enter for none)", "", _check_about(name)):
            line.given[name] = text
    _ask_dataset(line)
    line.given["--out"] = _asked_valid("A new folder for the release", "release", _check_out)
    return line


def _asked_file() -> tuple[Path, str | None, "Source"]:
    """The file, its encoding if that is not the usual one, and the file opened by it."""
    from pathveil.cli.options.reading import check_there
    from pathveil.raw.proposals import proposed_encoding
    from pathveil.raw.sources.csv_file import CsvFile
    from pathveil.raw.sources.databases.addresses import file_of
    from pathveil.raw.sources.opening import open_source
    from pathveil.raw.sources.text_file import check_encoding

    def check(text: str) -> None:
        if file_of(text) is None:
            raise ParameterError(
                "The guide reads files; for a database see `pathveil publish --help`."
            )
        check_there(text)

    path = Path(_asked_valid("Which file holds the visits?", None, check))
    try:
        source = open_source(path)
    except PathveilError:  # a header that is no UTF-8, or no table at all
        source = None
    if source is not None and not isinstance(source, CsvFile):
        return path, None, source
    proposed = proposed_encoding(path)
    if proposed == "windows-1252":
        _say("Its text is not UTF-8. Windows and Excel mostly write windows-1252.")
    opened: list[Source] = []
    encoding = _asked_valid(
        "In which encoding is it?",
        proposed,
        lambda text: opened.append(open_source(path, encoding=check_encoding(text))),
    )
    return path, None if encoding == "utf-8" else encoding, opened[-1]


def _asked_universe(line: _Line) -> "Universe":
    from pathveil.cli.commands.universe import read_universe

    found = []
    _say("The universe is the public list of all locations, never taken from the visits: a file of")
    _say("stops, gtfs:feed.zip, grid:… or h3:… (`pathveil publish --help` has examples).")
    line.given["--universe"] = _asked_valid(
        "Which one?", None, lambda text: found.append(read_universe(text))
    )
    _say(f"It has {len(found[-1]):,} locations.")
    return found[-1]


def _proposed(role: str, source: "Source") -> str | None:
    """The column that the header proposes for a role; None if none does, or several."""
    from pathveil.raw.sources.columns import proposed

    return proposed(role, source.names)


def _asked_column(question: str, source: "Source", proposed: str | None) -> str:
    return _asked_choice(question, dict.fromkeys(source.names, ""), proposed)


def _ask_location(line: _Line, source: "Source", universe: "Universe") -> None:
    latitude, longitude = _proposed("latitude", source), _proposed("longitude", source)
    if (
        universe.cells is not None
        and latitude is not None
        and longitude is not None
        and _agrees(f"Are visits points, in {latitude!r} and {longitude!r}?", default=True)
    ):
        line.given |= {"--latitude-column": latitude, "--longitude-column": longitude}
        if _agrees("Are degrees written with a comma (52,52)?", default=False):
            line.given["--decimal-comma"] = ""
        return
    line.given["--location-column"] = _asked_column(
        "Which column says where?", source, _proposed("location", source)
    )


def _ask_format(line: _Line, source: "Source", order: str) -> None:
    """How times are written, if they are text: shown by how many of the first rows fit."""
    from pathveil.raw.proposals import LOOKED_AT, proposed_format, readable_times
    from pathveil.raw.sources.csv_file import CsvFile
    from pathveil.raw.sources.time_formats import TimeFormat

    if not isinstance(source, CsvFile):
        return
    readable = readable_times(source, order)
    proposed = proposed_format(readable)
    _say(f"How times are written, and how many of the first {LOOKED_AT:,} rows fit:")
    for name, rows in readable.items():
        _say(f"  {name:4} {rows:6,}  {_FORMATS[name]}")
    if proposed is None:
        _say("No format fits best: you must know which it is. Others: '%d-%b-%y %H.%M'.")
    form = _asked_valid("Which is it?", proposed, TimeFormat.parse)
    if form != "iso":
        line.given["--time-format"] = form


def _ask_trips(line: _Line) -> None:
    how = _asked_choice("What is one trajectory of a person?", _UNITS, "all")
    if how == "all":
        return
    line.given["--split"] = how
    _say(f"Of each person at most c {how}s are used, and the noise grows with c. Choose it by what")
    _say("you know, not by looking (docs/people.md).")
    line.given["-c"] = _asked_valid("How many, c?", "5", _check_number)


def _ask_dataset(line: _Line) -> None:
    """What is charged, if there is a ledger."""
    import os

    from pathveil.ledger.ledger import Ledger
    from pathveil.ledger.locating import VARIABLE, default_file

    if not os.environ.get(VARIABLE) and not default_file().expanduser().exists():
        _say("There is no ledger, so nothing adds up what is spent on these people: see")
        _say("`pathveil ledger init`.")
        return
    books = Ledger.open(None).standing().books
    choices = dict.fromkeys(books.datasets, "") | ({} if books.required else {"none": "no charge"})
    chosen = _asked_choice("Which dataset of the ledger is charged?", choices, None)
    if chosen != "none":
        line.dataset = line.given["--dataset"] = chosen


def _check_epsilon(text: str) -> None:
    from pathveil.core.budget import Budget

    Budget.choose(text, None, 1)


def _check_number(text: str) -> None:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:  # noqa: PLR2004
        raise ParameterError("It is a whole number from 1 on.")


def _check_about(option: str) -> Callable[[str], object]:
    from pathveil.core.about import About

    return lambda text: About.of({option.removeprefix("--"): text} if text else None)


def _check_out(text: str) -> None:
    from pathveil.folders import check_free

    check_free(Path(text))


def _stopped(line: _Line) -> int:
    _say("Nothing was published, and nothing was charged. The command line so far, to change:")
    _say("")
    _say_command(line)
    return 0


# Questions and answers


def _say_command(line: _Line) -> None:
    from pathveil.cli.console import Copied

    _say(Copied(f"  {line.shown()}\n"))


def _say(text: str) -> None:
    from pathveil.cli.console import stderr_console

    stderr_console().print(text, markup=False, highlight=False, soft_wrap=True)


def _asked(question: str, proposed: str | None) -> str:
    """An answer that is not empty, unless nothing is what was proposed.

    Raises:
        ParameterError: if the input ends.
    """
    hint = f" [{proposed}]" if proposed else ""
    while True:
        sys.stderr.write(f"{question}{hint} ")
        sys.stderr.flush()
        answer = sys.stdin.readline()
        if not answer:
            raise ParameterError("The answers ended. Nothing was published or charged.")
        answer = answer.strip()
        if answer or proposed is not None:
            return answer or proposed or ""


def _asked_valid(question: str, proposed: str | None, check: Callable[[str], object]) -> str:
    """Ask until an answer can be used; say why one can't."""
    while True:
        answer = _asked(question, proposed)
        try:
            check(answer)
        except PathveilError as error:
            _say(str(error))
        else:
            return answer


def _asked_choice(question: str, choices: dict[str, str], proposed: str | None) -> str:
    """One of some words, by itself or by its number."""
    _say(question)
    words = list(choices)
    for number, word in enumerate(words, start=1):
        _say(f"  {number}  {word}{f': {choices[word]}' if choices[word] else ''}")

    def check(answer: str) -> None:
        if answer not in words and not (answer.isdecimal() and 1 <= int(answer) <= len(words)):
            raise ParameterError(f"Say a number from 1 to {len(words)}, or the word.")

    answer = _asked_valid("Which?", proposed, check)
    return answer if answer in words else words[int(answer) - 1]


def _agrees(question: str, *, default: bool) -> bool:
    answer = _asked(f"{question} {'[Y/n]' if default else '[y/N]'}", "")
    return default if not answer else answer.casefold() in _YES
