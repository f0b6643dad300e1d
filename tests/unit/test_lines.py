"""The timetable of a GTFS feed: what it says, and what a release gains by it."""

import io
import zipfile

import numpy as np
import pytest

from pathveil import TrajectoryDatabase, Universe, publish
from pathveil.errors import UniverseError
from pathveil.statistics.distances import DISTANCES, UNKNOWN
from pathveil.statistics.statistic import Rows, Scope, Visit
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.scores import jensen_shannon
from pathveil.universe.lines import LINE_STEPS, Lines

LINES, STOPS = 24, 12  # that cross one another all over the town
seeded = np.random.default_rng  # noqa: TID251  (made-up riders)


def feed(folder, calls=None):
    """Lines of which the stops lie anywhere: how far they are says nothing."""
    draw = seeded(8)
    size = LINES * STOPS
    stops = "stop_id,stop_lat,stop_lon\n" + "".join(
        f"s{i:03},{45 + draw.random() / 10:.5f},{-73 - draw.random() / 10:.5f}\n"
        for i in range(size)
    )
    rows = [
        f"{line}-{ride},s{line * STOPS + turn:03},{turn}"
        for line in range(LINES)
        for ride in range(2)
        for turn in range(STOPS)
    ]
    if calls is None:
        calls = "trip_id,stop_id,stop_sequence\n" + "\n".join(rows)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("stops.txt", stops)
        if calls:
            file.writestr("stop_times.txt", calls)
    path = folder / "feed.zip"
    path.write_bytes(packed.getvalue())
    return path


def riders(universe, count=20_000):
    """They board anywhere and get off some stops on; a few change to another line."""
    draw = seeded(9)
    line = draw.integers(0, LINES, count)
    board = draw.integers(0, STOPS - 1, count)
    ahead = np.minimum(board + 1 + draw.geometric(0.4, count), STOPS - 1)
    codes = np.column_stack((line * STOPS + board, line * STOPS + ahead))
    changed = draw.random(count) < 0.1
    codes[changed, 1] = draw.integers(0, LINES * STOPS, int(changed.sum()))
    offsets = np.arange(count + 1) * 2
    return TrajectoryDatabase.from_arrays(offsets, codes.ravel().astype(np.int32), universe)


def test_a_timetable_tells_which_stops_are_on_one_line(tmp_path):
    lines = Universe.from_gtfs(feed(tmp_path)).lines
    assert len(lines.first) == LINES * STOPS * (STOPS - 1) // 2
    assert (lines.first // STOPS == lines.second // STOPS).all()
    apart = lines.second - lines.first
    assert lines.step.tolist() == np.searchsorted([1, 2, 4, 8, 16], apart).tolist()


def test_stops_of_a_station_are_the_station(tmp_path):
    """And a line that calls there twice in a row calls once; the shortest way counts."""
    path = tmp_path / "feed.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "stops.txt",
            "stop_id,stop_lat,stop_lon,location_type,parent_station\n"
            "S,1,1,1,\np1,1,1,0,S\np2,1,1,0,S\nA,2,2,0,\nB,3,3,0,\nnobody,4,4,0,\n",
        )
        file.writestr(
            "stop_times.txt",
            "stop_sequence,trip_id,stop_id\n30,t,B\n1,t,p1\n2,t,p2\n5,t,A\n1,u,p2\n2,u,B\n1,w,?\n",
        )
    universe = Universe.from_gtfs(path, level="merged")
    lines, labels = universe.lines, universe.labels
    found = {
        (labels[one], labels[other]): int(step)
        for one, other, step in zip(lines.first, lines.second, lines.step, strict=True)
    }
    assert found == {("S", "A"): 0, ("A", "B"): 0, ("S", "B"): 0}


@pytest.mark.parametrize("calls", ["a,b\n1,2\n", "trip_id,stop_id,stop_sequence\nx,s001,soon\n"])
def test_a_broken_timetable_is_refused(tmp_path, calls):
    with pytest.raises(UniverseError, match=r"stop_times\.txt"):
        Universe.from_gtfs(feed(tmp_path, calls))


def test_without_a_timetable_there_are_no_lines(tmp_path):
    assert Universe.from_gtfs(feed(tmp_path, "")).lines is None
    assert Universe.from_gtfs(feed(tmp_path, "trip_id,stop_id,stop_sequence\n")).lines is None


def test_cells_are_the_oracle_s_and_as_many_as_without_lines():
    draw, size = seeded(3), 30
    candidates = np.arange(0, size, 2)
    lines = Lines.of([np.array([0, 2, 4, 6, 8]), np.array([8, 20, 3, 4, 0])])
    scope = Scope(size, 0, candidates, points=draw.normal(size=(size, 3)), lines=lines)
    lengths = draw.integers(0, 12, 300)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    codes = draw.integers(0, size, offsets[-1]).astype(np.int32)
    rows = Rows(offsets, codes, size).among(candidates)
    for cap in (2, 5):
        row, cell = DISTANCES.row_cells(rows, scope, cap)
        assert cell.max() < DISTANCES.size(scope) == UNKNOWN + 1 + LINE_STEPS
        assert (cell > UNKNOWN).any()
        for i in range(len(lengths)):
            own = [Visit(int(code)) for code in codes[offsets[i] : offsets[i + 1]]]
            expected = sorted(DISTANCES.oracle(own, scope, cap))
            assert sorted(cell[row == i].tolist()) == expected
            assert len(expected) <= DISTANCES.bound(cap).l1


def test_moves_that_a_line_serves_come_first(tmp_path):
    """Where hardly a single move stands out of the noise the timetable tells where people go."""
    universe = Universe.from_gtfs(feed(tmp_path))
    people = riders(universe)
    plain = Universe.from_gtfs(feed(tmp_path, ""))
    true = Figures(people).transitions
    with_lines, without = (
        jensen_shannon(true, Figures(publish(database, epsilon="1")).transitions)
        for database in (people, riders(plain))
    )
    assert with_lines < 0.8 * without
