"""Run a command and turn whatever goes wrong into one clear message and an exit code.

0 done · 2 the request or the data can't be used · 70 a bug of ours · 130 interrupted (Ctrl-C) ·
143 terminated. No traceback: it could quote people's data. Set PATHVEIL_DEBUG=1 to see it on
your own terminal.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

OK, UNUSABLE, BUG, INTERRUPTED, TERMINATED = 0, 2, 70, 130, 143


def run(arguments: list[str]) -> int:
    """Run ``pathveil`` with these arguments; the exit code."""
    import click

    from pathveil.cli.app import app
    from pathveil.errors import PathveilError

    signal.signal(signal.SIGTERM, _terminate)
    try:
        result = app(arguments, prog_name="pathveil", standalone_mode=False)
    except PathveilError as error:
        return _fail(str(error), UNUSABLE)
    except click.ClickException as error:
        error.show()
        return UNUSABLE
    except (KeyboardInterrupt, click.Abort):
        return _fail("Interrupted. No release was written.", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except MemoryError:
        return _fail("Out of memory. No release was written.", UNUSABLE)
    except Exception as error:  # noqa: BLE001  (the last line of defence against a traceback)
        return _fail(_bug(error), BUG)
    return result if isinstance(result, int) else OK


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    # As an exception, so that temporary folders are removed on the way out.
    raise SystemExit(TERMINATED)


def _fail(message: str, code: int) -> int:
    if os.environ.get("PATHVEIL_DEBUG"):
        import traceback

        traceback.print_exc()
    from pathveil.cli.console import stderr_console

    console = stderr_console()
    console.print("error:", style="bold red", end=" ")
    console.print(message, markup=False, highlight=False, soft_wrap=True)
    return code


def _bug(error: Exception) -> str:
    """Where it happened and what kind, but never the exception's text, which may quote data."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else "unknown place"
    return (
        f"pathveil failed unexpectedly ({type(error).__name__} in {where}). No release was "
        "written. Please report this; PATHVEIL_DEBUG=1 shows the details on your terminal, which "
        "may include private data."
    )
