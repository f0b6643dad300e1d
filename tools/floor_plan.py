"""How the house is laid out, in figures: sizes of files, arguments, names used twice, a walk.

    python tools/floor_plan.py [--walk]

The walk publishes one small CSV file and lists every function of ours in the order in which it is
first called: what a reader opens who follows a row from the file to the bundle. A switch is a step
of this list that leads into another package.
"""

import ast
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "pathveil"
SMALL = 30  # lines
METHODS = ("full", "calibrated")

WALK = """
import sys
from inspect import CO_OPTIMIZED
from pathlib import Path
import pathveil.cli
package = str(Path(pathveil.cli.__file__).parents[1])
seen = {}
def note(frame, event, _):
    code = frame.f_code
    ours = event == "call" and code.co_filename.startswith(package)
    if ours and code.co_flags & CO_OPTIMIZED and "<" not in code.co_name:  # no class or module
        seen.setdefault((code.co_filename, code.co_qualname), len(seen))
out, sys.argv = Path(sys.argv[1]), ["pathveil", *sys.argv[2:]]
sys.setprofile(note)
try:
    pathveil.cli.main()
except SystemExit as stopped:
    code = stopped.code
finally:
    sys.setprofile(None)
folders = [Path(name).relative_to(package).parts[0] for name, _ in seen]
out.write_text("\\n".join(folders), encoding="utf-8")
sys.exit(code)
"""


def arguments(tree: ast.AST) -> int:
    """The most arguments that a function of a module takes."""
    return max(
        (
            len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ),
        default=0,
    )


def used_twice(files: list[Path]) -> list[str]:
    """The names that more than one module has."""
    names = Counter(path.stem for path in files if not path.stem.startswith("__"))
    return sorted(name for name, times in names.items() if times > 1)


def sizes() -> None:
    """Print what can be counted without running anything."""
    files = sorted(PACKAGE.rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    lines = [len(text.splitlines()) for text in texts.values()]
    modules = [len(texts[path].splitlines()) for path in files if path.name != "__init__.py"]
    most = max(texts, key=lambda path: arguments(ast.parse(texts[path])))
    twice = used_twice(files)
    # A command is named after what it does: `cli/commands/report.py` calls `pages/report.py`.
    besides = used_twice([path for path in files if path.relative_to(PACKAGE).parts[0] != "cli"])
    print(f"files: {len(files)}; packages: {sum(path.name == '__init__.py' for path in files)}")
    print(f"median lines of a file: {statistics.median(lines):.0f}")
    print(f"median lines of a module: {statistics.median(modules):.0f}; longest: {max(modules)}")
    print(f"files under {SMALL} lines: {sum(n < SMALL for n in lines)}")
    print(f"modules under {SMALL} lines: {sum(n < SMALL for n in modules)}")
    print(
        f"most arguments of a function: {arguments(ast.parse(texts[most]))} "
        f"({most.relative_to(PACKAGE).as_posix()})"
    )
    print(f"module names used more than once: {len(twice)} ({', '.join(twice)})")
    print(f"besides those of the command line: {len(besides)}")


def walk(method: str) -> list[str]:
    """The packages of all functions of ours that one publish calls, by their first call."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        visits = "".join(f"u{i},{j},{'abc'[(i + j) % 3]}\n" for i in range(300) for j in range(4))
        (here / "visits.csv").write_text(f"unit,order,stop\n{visits}", encoding="utf-8")
        (here / "stops.csv").write_text("location\na\nb\nc\n", encoding="utf-8")
        command = [
            *("publish", "visits.csv", "--universe", "stops.csv", "--unit-column", "unit"),
            *("--order-column", "order", "--location-column", "stop", "--epsilon", "1"),
            *("--height", "4", "--method", method, "--out", "release"),
        ]
        subprocess.run(
            [sys.executable, "-c", WALK, "walk.txt", *command],
            cwd=here,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return (here / "walk.txt").read_text(encoding="utf-8").split("\n")


def main() -> None:
    """Print all figures."""
    sizes()
    if "--walk" not in sys.argv:
        return
    for method in METHODS:
        packages = walk(method)
        switches = sum(here != there for here, there in pairwise(packages))
        print(f"walk of a row, {method}: {len(packages)} functions, {switches} package switches")


if __name__ == "__main__":
    main()
