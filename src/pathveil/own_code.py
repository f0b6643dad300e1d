"""Only installed code runs: what lies in the folder in which somebody starts us never does.

A release is downloaded, unpacked, and looked at in its own folder, so that folder is the work of
somebody else. Python takes modules from it for ``python -m`` and ``-c``, and where PYTHONPATH has
an entry that is empty or relative; the shell and `webbrowser` take programs from it where PATH has
one; numba takes settings from it, among them where compiled code is kept, which is loaded without
a question.
"""

import os
import sys
from pathlib import Path

from pathveil.errors import ParameterError

_NUMBA_FILE = ".numba_config.yaml"


def leave_out_current_folder() -> None:
    """No module and no program is taken from the current folder, here or in a child process.

    For the process of a command: it changes `sys.path` and the environment.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    relative: set[str] = set()  # the current folder, or one in it
    for name in ("PATH", "PYTHONPATH"):
        if name in os.environ:
            entries = os.environ[name].split(os.pathsep)
            absolute = [one for one in entries if Path(one).is_absolute()]
            os.environ[name] = os.pathsep.join(absolute)
            relative |= set(entries) - set(absolute)
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was removed, and holds nothing
        return
    installed = [Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix)]
    left_out = {(here / one).resolve() for one in (".", *relative)}
    if not any(here.is_relative_to(prefix) for prefix in installed):
        sys.path[:] = [one for one in sys.path if one and Path(one).resolve() not in left_out]


def check_settings() -> None:
    """Refuse settings by which the current folder would choose the code that runs.

    Raises:
        ParameterError: if there are such.
    """
    if os.path.lexists(_NUMBA_FILE):
        raise ParameterError(
            f"This folder holds {_NUMBA_FILE}, which decides what code the compiler loads. Start "
            "pathveil in another folder, or remove the file if you do not know it."
        )
    cache = os.environ.get("NUMBA_CACHE_DIR", "")
    if cache and not Path(cache).is_absolute():
        raise ParameterError(
            "NUMBA_CACHE_DIR is not an absolute path, so that the current folder would decide what "
            "compiled code is loaded. Write the whole path, or unset it."
        )


def python_module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours in a child process; start it in ``/``.

    ``-P`` leaves the current folder out; numba still looks there for its settings.
    """
    return [sys.executable, "-P", "-m", name, *arguments]
