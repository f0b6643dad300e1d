"""Fuzz one target until it fails or its time is over: ``python -m fuzz.one TARGET SECONDS``.

Pure Python code of pathveil is instrumented: atheris sees which branches an input takes. Files with
compiled kernels (numba) are not, nor are the libraries in C, C++ and Rust (pyarrow, pydantic,
SQLite, h3, cryptography): there an input is tried blindly, and only crashes are seen.
"""

import contextlib
import hashlib
import importlib
import io
import sys
import tempfile
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pathveil"
# Zones that hold parsers; what computes on accepted values would only drown them.
ZONES = ("core", "universe", "times", "raw", "release", "promise", "ledger", "analysis")
HANG_SECONDS = 5
MOST_MEGABYTES = 4096
LONGEST = 8192


def modules() -> tuple[list[str], list[str]]:
    """The modules to instrument, and all others: those outside the zones, and numba's.

    What numba compiles can't be instrumented. All others are named, because atheris takes whole
    packages: it leaves a module alone only if it is told to.
    """
    plain, others = [], []
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        name = ".".join(("pathveil", *inside.with_suffix("").parts)).removesuffix(".__init__")
        is_compiled = "njit" in path.read_text(encoding="utf-8")
        (plain if inside.parts[0] in ZONES and not is_compiled else others).append(name)
    return plain, others


def import_instrumented() -> None:
    """Import all of the parsers now: later imports would not be instrumented."""
    plain, others = modules()
    told = io.StringIO()  # a line for each module
    with (
        contextlib.redirect_stderr(told),
        atheris.instrument_imports(include=["pathveil"], exclude=others),
    ):
        for name in plain:
            importlib.import_module(name)


def main() -> None:
    """Run libFuzzer; it ends the process, with a code other than 0 if it found something."""
    name, seconds = sys.argv[1], int(sys.argv[2])
    import_instrumented()
    from fuzz.harness import HERE, Harness, target

    checked = target(name)
    harness = Harness(checked)
    found = HERE / "findings" / name
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-corpus-") as grown:
        for seed, content in checked.seeds().items():
            (Path(grown) / seed).write_bytes(content)
            harness.run(content)  # warm: what is compiled on first use must not look like a hang
        kept = [folder for folder in (HERE / "corpus" / name, found) if any(folder.glob("*"))]
        options = [
            f"-max_total_time={seconds}",
            f"-timeout={HANG_SECONDS}",
            f"-rss_limit_mb={MOST_MEGABYTES}",
            f"-max_len={LONGEST}",
            f"-artifact_prefix={found}/",
            "-print_final_stats=1",
            "-len_control=0",
        ]
        # The first folder is where libFuzzer puts what it learns: never the repository's.
        folders = [grown, *map(str, kept)]

        def run(data: bytes) -> None:
            try:
                harness.run(data)
            except BaseException:
                # libFuzzer writes it too, unless its own alarm strikes while it ends.
                (found / f"crash-{hashlib.sha1(data).hexdigest()}").write_bytes(data)
                raise

        atheris.Setup([sys.argv[0], *options, *folders], run)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
