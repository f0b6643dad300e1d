"""Processes of this machine (Linux): what they descend from, their processor time, their memory."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """A process of this machine, and the seconds that it and its ended children used."""

    number: int
    parent: int
    command: str
    seconds: float


def processes() -> Iterator[Process]:
    """All there are."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text(errors="replace")
            seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
            yield Process(int(folder.name), int(fields[1]), command, seconds)


def descendants(first: int, others: list[Process]) -> list[Process]:
    """A process, some others, and all that they started."""
    everything = list(processes())
    wanted = {first, *(process.number for process in others)}
    while more := {p.number for p in everything if p.parent in wanted} - wanted:
        wanted |= more
    return [process for process in everything if process.number in wanted]


def together(first: int) -> int:
    """Peak resident bytes of a process and its children, as if all peaked at one moment."""
    return sum(peak(str(process.number)) for process in descendants(first, []))


def resident(first: int) -> list[int]:
    """What a process and its children have resident together now; and the peak of each."""
    numbers = [str(process.number) for process in descendants(first, [])]
    return [sum(_bytes(number, "VmRSS") for number in numbers), *map(peak, numbers)]


def peak(process: str) -> int:
    """Peak resident bytes; ``ru_maxrss`` would count our parent's from before we began."""
    return _bytes(process, "VmHWM")


def _bytes(process: str, what: str) -> int:
    with suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text()
        if found := re.search(rf"{what}:\s+(\d+) kB", status):
            return 1024 * int(found[1])
    return 0  # it has ended
