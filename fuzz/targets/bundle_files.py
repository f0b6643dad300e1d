"""What lies in a bundle's folder: some of its files become links, pipes, folders or sparse files.

Each two bytes choose a file and what becomes of it. Links to devices and out of the bundle, rings
of links, pipes that nobody writes to: none is opened, none is waited for.
"""

import os
from pathlib import Path

from fuzz.bundles import bundles, lay_out
from fuzz.harness import Finding

from pathveil.release.bundle import read_release, verify_bundle
from pathveil.release.signature import check_signature

MOST_CHANGES = 8


def read(data: bytes, folder: Path) -> None:
    """Read and verify it; whatever was put in the place of a file must not be accepted."""
    which, rest = (data[:1] or b"\0")[0], data[1 : 1 + 2 * MOST_CHANGES]
    bundle = bundles()[which % len(bundles())]
    directory = lay_out(bundle, folder)
    names = [*sorted(bundle), "signature.json", "more.txt"]
    for at in range(0, len(rest) - 1, 2):
        _become(rest[at + 1], directory / names[rest[at] % len(names)], folder)
    changed = any(
        not path.is_file() or path.is_symlink() or path.name not in bundle
        for path in directory.iterdir()
    ) or len(list(directory.iterdir())) != len(bundle)
    read_release(directory)
    verify_bundle(directory)
    check_signature(directory)
    if changed:
        raise Finding("something that is no plain file of the bundle was accepted")


def _become(kind: int, path: Path, folder: Path) -> None:
    targets = ("/dev/zero", "/dev/stdin", "/proc/self/mem", path.name, "..", str(folder / "out"))
    elsewhere = folder / f"elsewhere-{path.name}"
    if path.is_dir() and not path.is_symlink():
        return
    if kind % 16 == 0 and path.is_file() and not path.is_symlink():
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
        return
    if kind % 16 == 1:
        return
    path.unlink(missing_ok=True)
    if kind % 16 == 2:
        os.mkfifo(path)
    elif kind % 16 == 3:
        path.mkdir()
    elif kind % 16 == 4:
        with path.open("wb") as file:
            file.truncate(1 << (30 + kind // 16))
    elif kind % 16 < 11:
        path.symlink_to(targets[kind % 16 - 5])


def seeds() -> dict[str, bytes]:
    """Nothing changed, and each kind of trap in the place of one file."""
    made = {f"unchanged-{which}": bytes((which,)) for which in range(len(bundles()))}
    return made | {f"trap-{kind}": bytes((0, kind % 9, kind)) for kind in range(12)}
