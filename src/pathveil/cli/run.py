"""The exit codes of every command, as the code uses them and as people read them."""

import io
import os
import re
import resource
import sys
from typing import Any

from pathveil.cli import aftermath, guide, panics, stopping, streams, verbosity
from pathveil.cli.stopping import Stopped
from pathveil.errors import PathveilError

OK, ALARM, UNUSABLE, BUG, SIGNALLED = 0, 1, 2, 70, 128

MEANINGS = {
    "0": "done",
    "1": "only `audit`: it raised an alarm",
    "2": "the request or the data can't be used; one message on stderr says why and what to do",
    "70": "a bug of ours; please report it",
    "129, 130, 143": "stopped by a closed terminal, by Ctrl-C, by `kill`",
}
IN_ONE_LINE = ", ".join(
    f"{code} {meaning.partition(';')[0]}" for code, meaning in MEANINGS.items()
).replace("129, 130, 143", "129/130/143")


# Run a command and turn whatever goes wrong into one clear message and an exit code.
#
# `pathveil.cli.run` lists them. No traceback: it could quote people's data. Set
# PATHVEIL_DEBUG=1 to see it on your own terminal.


_ADDRESS = re.compile(
    r"\b(?:[a-z][\w+.-]*:/++(?!user@host)\S*@|postgres(?:ql)?:/++(?!user@host|…))\S*", re.IGNORECASE
)


def run(arguments: list[str]) -> int:
    """Run ``pathveil`` with these arguments; the exit code."""
    _leave_no_memory_on_disk()
    verbosity.begin()
    aftermath.begin()
    streams.open_all()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that can't show ε shows ? instead.
        sys.stdout.reconfigure(errors="replace")
    code, number = OK, None
    try:
        try:
            stopping.begin()
            panics.begin()
            code = _answer(arguments)
        finally:
            panics.end()
            number = stopping.end()
    except Stopped:
        number = stopping.end() or number
    # A signal that was lost in a callback is known here all the same.
    return code if number is None else _interrupted(number)


def _leave_no_memory_on_disk() -> None:
    """A library may abort the process (no memory, for one): its core file would hold the rows."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _answer(arguments: list[str]) -> int:
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except (Stopped, KeyboardInterrupt, SystemExit):
        raise
    except PathveilError as error:
        return _fail(aftermath.completed(str(error)), UNUSABLE)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is wrong.
        streams.drop(sys.stdout)
        return OK
    except OSError as error:
        streams.drop(sys.stdout)
        reason = os.strerror(error.errno) if error.errno else "input or output failed"
        message = f"The operating system refused: {reason}. {aftermath.left_behind()}"
        return _fail(message, UNUSABLE)
    except BaseException as error:  # noqa: BLE001  (the last line of defence against a traceback)
        # A library in Rust that panics raises what is no Exception.
        if isinstance(error, MemoryError) or panics.lacked_memory():
            return _fail(f"Out of memory. {aftermath.left_behind()}", UNUSABLE)
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
    if guide.is_asked_for(arguments):
        return guide.guide(_invoke)
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


def _interrupted(number: int) -> int:
    return _fail(f"Interrupted. {aftermath.left_behind()}", SIGNALLED + number)


def without_addresses(message: str) -> str:
    """A message without addresses of servers, which may hold a password, but for our examples."""
    return _ADDRESS.sub("…", message)


def _fail(message: str, code: int) -> int:
    if os.environ.get("PATHVEIL_DEBUG") and sys.exc_info()[0]:
        import traceback

        traceback.print_exc()
    try:
        from rich.text import Text

        from pathveil.cli.console import error_console

        words = Text.assemble(("error:", "bold red"), f" {without_addresses(message)}")
        error_console().print(words, soft_wrap=True)
    except (MemoryError, OSError):  # not even memory to import what paints it
        sys.stderr.write(f"error: {without_addresses(message)}\n")
    return code


def _bug(error: BaseException) -> str:
    """Where it happened and what kind, but never the exception's text, which may quote data."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else "unknown place"
    return (
        f"pathveil failed unexpectedly ({type(error).__name__} in {where}). "
        f"{aftermath.left_behind()} Please report this; PATHVEIL_DEBUG=1 shows the details on "
        "your terminal, which may include private data."
    )
