"""Run a command and turn whatever goes wrong into one clear message and an exit code.

`pathveil.cli.exit_codes` lists them. No traceback: it could quote people's data. Set
PATHVEIL_DEBUG=1 to see it on your own terminal.
"""

import io
import os
import re
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from pathveil.cli import verbosity
from pathveil.cli.exit_codes import BUG, OK, SIGNALLED, UNUSABLE
from pathveil.errors import PathveilError

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_NOTHING_LEFT = "No half-written release was left behind."
_ADDRESS = re.compile(
    r"\b(?:[a-z][\w+.-]*:/++(?!user@host)\S*@|postgres(?:ql)?:/++(?!user@host|…))\S*", re.IGNORECASE
)


class Stopped(BaseException):
    """Somebody wants the process to end; as an exception, so that temporary folders go too."""


def run(arguments: list[str]) -> int:
    """Run ``pathveil`` with these arguments; the exit code."""
    verbosity.begin()
    for number in _STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _stop)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that can't show ε shows ? instead.
        sys.stdout.reconfigure(errors="replace")
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except PathveilError as error:
        return _fail(str(error), UNUSABLE)
    except Stopped as stopped:
        return _interrupted(stopped.args[0])
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is wrong.
        _drop_output()
        return OK
    except OSError as error:
        _drop_output()
        reason = os.strerror(error.errno) if error.errno else "input or output failed"
        return _fail(f"The operating system refused: {reason}. {_NOTHING_LEFT}", UNUSABLE)
    except MemoryError:
        return _fail(f"Out of memory. {_NOTHING_LEFT}", UNUSABLE)
    except Exception as error:  # noqa: BLE001  (the last line of defence against a traceback)
        return _fail(_bug(error), BUG)
    return code


def _invoke(arguments: list[str]) -> int:
    """Parse the arguments and run the command. Typer's own runner has its own exit codes."""
    import typer

    from pathveil.cli.app import app
    from pathveil.own_code import check_settings

    if "_PATHVEIL_COMPLETE" in os.environ:  # a shell asks how a half-typed command goes on
        app(prog_name="pathveil")
    check_settings()
    command = typer.main.get_command(app)
    try:
        with command.make_context("pathveil", arguments or ["--help"]) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except typer.TyperException as error:
        asked = getattr(error, "ctx", None)
        where = asked.command_path if asked else "pathveil"
        message = _with_suggestion(error)
        stop = "" if message.endswith((".", "?", ")")) else "."
        return _fail(f"{message}{stop} Try '{where} --help'.", UNUSABLE)
    return OK


def _with_suggestion(error: Any) -> str:
    """The message, an option that was perhaps meant said as it is for all other words."""
    meant = getattr(error, "possibilities", None)
    if not meant:
        return str(error.format_message())
    return f"{error.message}. Did you mean {' or '.join(sorted(meant))}?"


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    for other in _STOPPING:  # a second Ctrl-C must not stop the cleaning up
        signal.signal(other, lambda _number, _frame: None)
    raise Stopped(number)


def _interrupted(number: int) -> int:
    code = _fail(f"Interrupted. {_NOTHING_LEFT}", SIGNALLED + number)
    # Python takes its handlers away before it ends: one more signal in that moment would kill it
    # with another exit code. Ignored ones stay ignored.
    for other in _STOPPING:
        signal.signal(other, signal.SIG_IGN)
    return code


def _drop_output() -> None:
    """Send what is left of stdout nowhere, so that Python's own flush at the end is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def without_addresses(message: str) -> str:
    """A message without addresses of servers, which may hold a password, but for our examples."""
    return _ADDRESS.sub("…", message)


def _fail(message: str, code: int) -> int:
    if os.environ.get("PATHVEIL_DEBUG"):
        import traceback

        traceback.print_exc()
    from pathveil.cli.console import error_console

    console = error_console()
    console.print("error:", style="bold red", end=" ")
    console.print(without_addresses(message), markup=False, highlight=False, soft_wrap=True)
    return code


def _bug(error: Exception) -> str:
    """Where it happened and what kind, but never the exception's text, which may quote data."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else "unknown place"
    return (
        f"pathveil failed unexpectedly ({type(error).__name__} in {where}). {_NOTHING_LEFT} "
        "Please report this; PATHVEIL_DEBUG=1 shows the details on your terminal, which may "
        "include private data."
    )
