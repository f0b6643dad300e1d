"""requirements.txt: exact versions, each with the hashes of all its files."""

import re
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
HEADER = """\
# Pinned versions of everything that pathveil, its tests and its linters need, with the hashes of
# all files of each version, for every platform; no download addresses. To add or change one, write
# name==version on a line of its own and run `make pin`.
"""
_PIN = re.compile(r"([A-Za-z0-9][\w.-]*)==([\w.!+-]+)((?:\s+--hash=sha256:[0-9a-f]{64})*)")


@dataclass(frozen=True)
class Pin:
    """One line.

    Attributes:
        name: as its authors spell it.
        version: exact.
        hashes: SHA-256 in hexadecimal, sorted.
    """

    name: str
    version: str
    hashes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name as an index spells it."""
        return normal(self.name)


def normal(name: str) -> str:
    """The one spelling of a project's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(path: Path = REQUIREMENTS) -> list[Pin]:
    """The pins of a requirements file, with or without hashes.

    Raises:
        ValueError: if a line is anything else.
    """
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    pins = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        found = _PIN.fullmatch(line.strip())
        if not found:
            raise ValueError(f"Not a pin (name==version): {line.strip()[:80]!r}")
        name, version, hashes = found.groups()
        pins.append(Pin(name, version, tuple(sorted(re.findall(r"[0-9a-f]{64}", hashes)))))
    return pins


def as_text(pins: list[Pin]) -> str:
    """The file, in alphabetical order."""
    lines = [HEADER.rstrip("\n")]
    for pin in sorted(pins, key=lambda pin: pin.key):
        hashes = [f"    --hash=sha256:{digest}" for digest in pin.hashes]
        lines.append(" \\\n".join([f"{pin.name}=={pin.version}", *hashes]))
    return "\n".join(lines) + "\n"
