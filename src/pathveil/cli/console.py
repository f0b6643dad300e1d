"""Open a release for a command."""

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from pathveil.cli.streams import drop, say_on_stdout
from pathveil.cli.verbosity import Verbosity, verbosity

if TYPE_CHECKING:
    from pathveil.cli.progress_bar import Tell
    from pathveil.release.release import Release


def open_release(directory: Path, read: "Callable[[Path], Release] | None" = None) -> "Release":
    """`read_release` with a progress bar; what it warns of is said even with --quiet.

    Args:
        directory: the bundle.
        read: reads it, with further checks; None for `read_release` itself.

    Raises:
        ReleaseError: if it is not a bundle, is damaged, or was changed after it was written.
    """
    from pathveil.errors import UnknownVersionWarning
    from pathveil.release.bundle import read_release

    with warnings.catch_warnings(record=True) as caught, reported_progress("Reading the release"):
        warnings.simplefilter("always", UnknownVersionWarning)
        release = (read or read_release)(directory)
    for one in caught:
        error_console().print(
            f"WARNING: {one.message}",
            style="bold red",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    return release


# Consoles, progress bars and tables. Results go to stdout, everything else to stderr.
#
# Rich turns colours off when the output is not a terminal or NO_COLOR is set.


# Invisible characters that change what one reads: controls, directions, joiners, tags; and those
# that Unicode calls letters or marks, and that show nothing (fillers, variation selectors).
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_EMPTY = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def visible(text: str) -> str:
    """A text for a terminal: what would not show, or would change the rest, as ``<U+202E>``."""
    return _shown(text, lambda one: f"<U+{ord(one):04X}>")


def _shown(text: str, instead: Callable[[str], str]) -> str:
    if text.isprintable() and not _EMPTY.search(text):  # most texts
        return text
    return "".join(instead(one) if one != "\n" and _is_unseen(one) else one for one in text)


def _is_unseen(one: str) -> bool:
    return category(one) in _UNSEEN or _EMPTY.match(one) is not None


class Copied(str):
    """A text to be copied, such as a command line: a terminal may break it, we never do."""

    __slots__ = ()


class _SafeConsole(Console):
    """A console on which no label and no message can act."""

    def print(self, *objects: Any, **how: Any) -> None:
        """As Rich; on a terminal sentences break between words, not where its last column is."""
        if self.is_terminal and all(type(one) is str for one in objects):
            how["soft_wrap"] = False
        super().print(*objects, **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich, but for the characters of `visible`; Rich's own controls stay."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


class _ResultConsole(_SafeConsole):
    def on_broken_pipe(self) -> None:
        """Leave the exit code to `run`; Rich's own answer is to exit with 1."""
        raise BrokenPipeError


class _MessageConsole(_SafeConsole):
    """What can't be said on stderr is said on stdout: a message is never why a run fails."""

    def on_broken_pipe(self) -> None:
        """Rich's own answer is to exit with 1."""
        raise BrokenPipeError

    def print(self, *objects: Any, **how: Any) -> None:
        """As Rich, which keeps what it could not write."""
        try:
            super().print(*objects, **how)
        except OSError:
            say_on_stdout()
            try:
                super().print(end="")
            except OSError:
                drop(sys.stderr)


def stdout_console() -> Console:
    """For results."""
    return _ResultConsole(soft_wrap=True)


def stderr_console() -> Console:
    """For messages and progress; silent with --quiet."""
    return _MessageConsole(stderr=True, quiet=verbosity() is Verbosity.QUIET)


def error_console() -> Console:
    """For errors and what belongs to them: said even with --quiet."""
    return _MessageConsole(stderr=True)


def say_step(words: str) -> None:
    """With --verbose, one line on stderr: constant words and public parameters only."""
    if verbosity() is Verbosity.VERBOSE:
        stderr_console().print(words, markup=False, highlight=False, soft_wrap=True, style="dim")


def warn_if_injected(release: "Release") -> None:
    """Say so beside every result of a release that protects nobody."""
    if not release.is_private:
        stdout_console().print("NOT PRIVATE: the noise was injected.", style="bold red")


def print_json(value: object) -> None:
    """A result for scripts: JSON on stdout, without colours or wrapping.

    Characters that a terminal would not show are written as JSON's own escapes: the same values.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    print(_shown(text, _json_escape))  # noqa: T201  (scripts read stdout)


def _json_escape(one: str) -> str:
    return "\\u007f" if one == "\x7f" else json.dumps(one)[1:-1]


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, numbers: set[int]
) -> None:
    """A table on stdout; the columns in ``numbers`` are aligned to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i in numbers else "left", overflow="fold")
    for row in rows:
        # Labels are data, not markup.
        table.add_row(*(_plain(value) for value in row))
    console = stdout_console()
    console.print(table)


def called(release: "Release", labels: Sequence[str]) -> list[str]:
    """Locations as people know them: by name, with the label beside it if that is another text."""
    names = release.universe.names
    if not names:
        return list(labels)
    pairs = zip(labels, release.universe.codes(labels), strict=True)
    return [
        label if names[code] in ("", label) else f"{names[code]} ({label})" for label, code in pairs
    ]


def print_note(words: str) -> None:
    """What has to be known about a table, below it."""
    stdout_console().print(words, markup=False, highlight=False, style="dim")


def _plain(value: Any) -> Any:
    from rich.text import Text

    return Text(f"{value:,}" if isinstance(value, int) else str(value))


@contextmanager
def reported_progress(description: str) -> Iterator[None]:
    """The same for a step that reports by itself how far it is (`pathveil.progress_reports`)."""
    from pathveil.progress_reports import reported_to

    with progress(description, total=1) as done, reported_to(done):
        yield


@contextmanager
def progress(description: str, total: float | None = None) -> "Iterator[Tell]":
    """A progress bar with the time left, on stderr; gives a function to set how much is done.

    It takes the stage as well, of a step that has some. Until something is done, the bar
    only moves to and fro beside the time that has passed.

    Args:
        description: the step, in constant words and public parameters.
        total: what "all done" is; None if that is not known, and then no time left is either.
    """
    say_step(f"{description} …")
    console = stderr_console()
    if console.quiet or not console.is_terminal:
        yield lambda _done, _stage="": None
        return
    from pathveil.cli.progress_bar import shown_bar

    with shown_bar(console, description, total) as tell:
        yield tell
