"""A release as an XES event log (IEEE 1849) for process mining: one trace per trajectory."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

from pathveil.progress_reports import report_progress
from pathveil.promise.certificate import NOT_PRIVATE
from pathveil.release.exports.published import Published, check_number_of_visits
from pathveil.release.exports.visit_rows import slot_datetimes

_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
"""
_TIME = '<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>\n'
_GLOBALS = """\
<global scope="trace"><string key="concept:name" value=""/></global>
<global scope="event"><string key="concept:name" value=""/></global>
<classifier name="Location" keys="concept:name"/>
"""
_REPORTED_EVERY = 1 << 14  # trajectories between two reports of progress


def write_xes(release: Published, path: Path) -> None:
    """Write the log, trace by trace."""
    check_number_of_visits(release)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(_HEAD + (_TIME if release.time_grid else "") + _GLOBALS)
        if not release.is_private:
            file.write(f'<string key="status" value={quoteattr(NOT_PRIVATE)}/>\n')
        file.writelines(_traces(release))
        file.write("</log>\n")


def _traces(release: Published) -> Iterator[str]:
    """Equal trajectories share their events' text; no more than one path's is made at a time."""
    paths, number = release.timed_paths(), 0
    event = _Events(release)
    codes, offsets = paths.codes, paths.offsets.tolist()
    for start, stop, weight in zip(offsets[:-1], offsets[1:], paths.weights.tolist(), strict=True):
        if number % _REPORTED_EVERY < weight:
            report_progress(stop, len(codes))
        events = "".join(map(event.__getitem__, codes[start:stop].tolist()))
        for _ in range(weight):
            number += 1
            yield f'<trace><string key="concept:name" value="{number}"/>{events}</trace>\n'
    report_progress(len(codes), len(codes))


class _Events(dict[int, str]):
    """The element of a visit by its code; made when first needed, for pairs are many."""

    def __init__(self, release: Published) -> None:
        super().__init__()
        self._names = [
            f'<event><string key="concept:name" value={quoteattr(label)}/>'
            for label in release.universe.labels
        ]
        grid = release.time_grid
        self._times = [
            f'<date key="time:timestamp" value="{time}"/>'
            for time in ([] if grid is None else slot_datetimes(grid))
        ]

    def __missing__(self, code: int) -> str:
        slot, location = divmod(code, len(self._names))
        time = self._times[slot] if self._times else ""
        self[code] = f"{self._names[location]}{time}</event>"
        return self[code]
