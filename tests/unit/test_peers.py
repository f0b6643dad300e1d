"""Other programs' releases: read from a file of lines, and scored by the measures of ours."""

import gzip
import sys

import numpy as np
import pytest
from bench import peers, scoreboard
from bench.peers import Ngrams, read_release
from bench.scoreboard import Scoreboard, own_queries

from pathveil import Universe
from pathveil.errors import InputError
from pathveil.raw.database import TrajectoryDatabase
from pathveil.trials.evaluation.compared import EmptyRelease
from pathveil.trials.evaluation.random_queries import queries_from_trajectories

LABELS = "location,name\n1,one\n2,two\n3,three\n4,four\n"
RAW = "1 2\n" * 6 + "2 3\n" * 3 + "4\n"
RANDOM_3, OWN_1, OWN_2, OWN_3, TP_50, SIZE, TRANSITIONS = 0, 2, 3, 4, 5, 8, 9


@pytest.fixture
def files(tmp_path):
    """Raw data of ten trajectories, and its universe."""
    (tmp_path / "raw.txt").write_text(RAW)
    (tmp_path / "universe.csv").write_text(LABELS)
    return tmp_path


def board(folder, queries=400):
    universe = Universe.read(folder / "universe.csv")
    return Scoreboard(read_release(folder / "raw.txt", universe), queries)


def test_the_raw_data_itself_is_without_fault(files):
    it = board(files)
    score = it.score(it.database)
    assert score[:4].tolist() == [0.0] * 4
    # 1, 2, 1→2, 3, 2→3, 4: the patterns that there are.
    assert score[TP_50 : SIZE + 2].tolist() == [6, 6, 6, 1.0, 0.0]
    assert np.isnan(score[OWN_3])  # nobody visits three locations


def test_a_release_is_scored_against_answers_counted_by_hand(files):
    it = board(files)
    (files / "release.txt").write_text("1 2\n" * 3 + "3 2\n" * 3 + "\n")  # an empty one counts
    score = it.score(read_release(files / "release.txt", it.database.universe))
    # {1, 2}: 3 for 6 (an error of 1/2); {2, 3}: 3 for 3. A trajectory of two locations is 1 → 2 in
    # six of nine cases.
    error, share = 1 / 2, 6 / 9
    assert abs(score[OWN_2] - error * share) < 5 * np.sqrt(share * (1 - share) / 400) * error
    assert score[SIZE] == 0.7
    # Found: 1, 2, 3, 1→2; not 2→3 and 4; 3→2 is invented.
    assert score[TP_50] == 4
    # Of transitions ½ is shared out wrongly: p = (2/3, 1/3, 0), q = (1/2, 0, 1/2).
    p, q = np.array([2 / 3, 1 / 3, 0]), np.array([1 / 2, 0, 1 / 2])
    mixture = (p + q) / 2
    divergence = sum(
        0.5 * side[side > 0] @ np.log2(side[side > 0] / mixture[side > 0]) for side in (p, q)
    )
    assert score[TRANSITIONS] == pytest.approx(divergence)


def test_nothing_at_all_is_wrong_wherever_somebody_was(files):
    it = board(files)
    score = it.score(EmptyRelease(it.database.universe))
    assert score[OWN_1] == score[OWN_2] == score[TRANSITIONS] == 1.0
    assert 0 < score[RANDOM_3] < 1  # most random questions have the answer 0
    assert score[TP_50] == score[SIZE] == 0


def test_own_questions_are_of_exactly_so_many_locations():
    universe = Universe("ABCD")
    database = TrajectoryDatabase.from_sequences([["A"], ["A", "B"], list("ABABCD")], universe)
    three = own_queries(database, 3, 50)
    assert set(np.diff(three.offsets).tolist()) == {3}
    assert own_queries(database, 5, 50) is None
    with pytest.raises(InputError, match="visits 5 locations"):
        queries_from_trajectories(database, shortest=5, longest=5, queries=1)
    between = queries_from_trajectories(database, shortest=2, longest=3, queries=200)
    assert set(np.diff(between.offsets).tolist()) == {2, 3}


def test_a_release_may_be_compressed(files):
    universe = Universe.read(files / "universe.csv")
    (files / "raw.txt.gz").write_bytes(gzip.compress(RAW.encode()))
    one, other = (read_release(files / name, universe) for name in ("raw.txt", "raw.txt.gz"))
    assert one.codes.tolist() == other.codes.tolist()
    assert one.offsets.tolist() == other.offsets.tolist()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1 2\n7\n", "1 labels are not in the universe, such as '7'"),
        (b"\xff\xfe", "Can't read the release"),
        (b"\x1f\x8bbroken", "Can't read the release"),
    ],
)
def test_a_release_that_can_not_be_scored_says_why(files, content, words):
    (files / "release.txt").write_bytes(content)
    with pytest.raises(SystemExit, match=words):
        read_release(files / "release.txt", Universe.read(files / "universe.csv"))


def test_ngrams_follow_each_other_directly():
    universe = Universe("ABC")
    raw = TrajectoryDatabase.from_sequences([list("ABC")] * 3 + [list("AC")], universe)
    ngrams = Ngrams(raw, 6)  # A, B, C, AB, BC, ABC; AC has fewer
    assert ngrams.found_by(raw) == 1.0
    assert ngrams.listed_in({("A",), ("A", "C"), ("A", "B", "C")}) == pytest.approx(2 / 6)
    skipping = TrajectoryDatabase.from_sequences([list("AC")], universe)
    assert ngrams.found_by(skipping) == pytest.approx(2 / 6)


def test_the_command_scores_a_release_of_anybody(files, monkeypatch, capsys):
    (files / "theirs.txt").write_text("1 2\n" * 10)
    arguments = ["--raw", files / "raw.txt", "--universe", files / "universe.csv"]
    arguments += ["--releases", files / "theirs.txt", "--methods", "empty"]
    monkeypatch.setattr(sys, "argv", ["peers", *map(str, arguments)])
    peers.main()
    header, _, theirs, empty = capsys.readouterr().out.splitlines()
    assert all(column in header for column in scoreboard.HEADER)
    assert theirs.startswith("| raw.txt | theirs.txt | 1 | ")
    assert empty.startswith("| raw.txt | nothing at all | 1 | ")


def test_each_program_has_its_line_and_its_caveat(files, monkeypatch, capsys):
    """A folder as the shared one: two runs of one program are averaged, n-grams are a set."""
    monkeypatch.setattr(peers, "PEERS", files)
    monkeypatch.setattr(peers, "NGRAMS_ON", ("tiny",))
    (files / "universe.csv").rename(files / "tiny-universe.csv")
    for name, text in {
        "raw": RAW,
        "adatrace-eps1-run1": RAW,
        "adatrace-eps1-run2": "",
        "dpne-eps1-run1.ngrams": "1\n1 2\n",
    }.items():
        (files / f"tiny-{name}.txt.gz").write_bytes(gzip.compress(text.encode()))
    monkeypatch.setattr(sys, "argv", ["peers", "tiny", "--methods", "empty"])
    peers.main()
    out = capsys.readouterr().out
    rows = {row.split(" | ")[1]: row for row in out.splitlines() if row.startswith("| tiny")}
    assert list(rows) == ["AdaTrace", "DPNE", "nothing at all"]
    assert " | 2 | " in rows["AdaTrace"]
    assert "| 0.50 | 0.500 | 0.50 |" in rows["AdaTrace"]  # the mean of all and nothing
    assert rows["DPNE"].endswith("| – | – | – | – | – | 0.33 |")  # 2 of the 6 that there are
    assert "second-level densities have no noise" in out
    monkeypatch.setattr(sys, "argv", ["peers", "other"])
    with pytest.raises(SystemExit, match="There is no subset other"):
        peers.main()
    monkeypatch.setattr(peers, "PEERS", files / "gone")
    with pytest.raises(SystemExit, match="not on this machine"):
        peers.main()
