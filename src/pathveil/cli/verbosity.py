"""How much a command says on stderr: errors only, what matters, or every step.

Steps are told in constant words and public parameters; never anything that was read.
"""

import functools
import inspect
import logging
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeAlias

import typer

_PANEL = "How much it says"


class Verbosity(Enum):
    """From errors only to every step."""

    QUIET = "quiet"
    NORMAL = "normal"
    VERBOSE = "verbose"


Quiet: TypeAlias = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Nothing on stderr but errors.", rich_help_panel=_PANEL),
]
Verbose: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Say every step on stderr. No step tells anything of the data.",
        rich_help_panel=_PANEL,
    ),
]
EVERYWHERE = {"quiet": Quiet, "verbose": Verbose}

_chosen = Verbosity.NORMAL


def verbosity() -> Verbosity:
    """What was chosen for this run."""
    return _chosen


def begin() -> None:
    """A run begins as if nothing was chosen."""
    _set(Verbosity.NORMAL)


def choose(*, quiet: bool, verbose: bool) -> None:
    """Take a choice, made before or after the command's name; the last one counts.

    Raises:
        ParameterError: if it is both.
    """
    from pathveil.errors import ParameterError

    if quiet and verbose:
        raise ParameterError("Choose one of --quiet and --verbose.")
    if quiet or verbose:
        _set(Verbosity.QUIET if quiet else Verbosity.VERBOSE)


def with_verbosity(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with --quiet and --verbose, so that they may follow its name too."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        choose(quiet=given.pop("quiet"), verbose=given.pop("verbose"))
        command(**given)

    signature = inspect.signature(command)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in EVERYWHERE.items()
    ]
    shown: Any = run
    shown.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])
    shown.__annotations__ = command.__annotations__ | EVERYWHERE
    return run


def _set(choice: Verbosity) -> None:
    global _chosen  # noqa: PLW0603  (one process runs one command)
    _chosen = choice
    quiet = choice is Verbosity.QUIET
    logging.getLogger("pathveil").setLevel(logging.ERROR if quiet else logging.NOTSET)
