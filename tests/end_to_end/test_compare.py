"""``pathveil compare``: two releases from the command line, and what it refuses."""

import pytest

import pathveil as pv


@pytest.fixture
def two(folder):
    """A week before and after a stop was moved."""
    universe = pv.Universe(["A", "B", "C"])
    for name, many in (("before", 4000), ("after", 1000)):
        paths = [["A", "B"]] * 3000 + [["A", "C"]] * many
        database = pv.TrajectoryDatabase.from_sequences(paths, universe)
        pv.publish(database, epsilon="4").write(folder / name)
    return folder


@pytest.mark.usefixtures("two")
def test_stops_that_differ_and_those_that_noise_may_explain(pathveil):
    found = pathveil("compare", "before", "after", "--json").json()
    rows = {row["locations"]: row for row in found["differences"]}
    assert rows["C"]["low"] <= rows["C"]["difference"] <= rows["C"]["high"] < 0
    assert rows["C"]["certain"]
    everything = pathveil("compare", "before", "after", "--all", "--json").json()
    assert len(everything["differences"]) == len(rows) + found["left_out"] == 3
    assert all(row["certain"] for row in rows.values())
    words = " ".join(pathveil("compare", "before", "after").out.split())
    assert ("noise may explain the difference" in words) == (found["left_out"] > 0)


@pytest.mark.usefixtures("two")
def test_one_question_asked_of_both(pathveil):
    found = pathveil("compare", "before", "after", "A", "C", "--ordered", "--json").json()
    (row,) = found["differences"]
    assert row["difference"] == row["second"] - row["first"]
    assert row["low"] <= row["difference"] <= row["high"]
    assert row["level"] == 0.9


@pytest.mark.usefixtures("two")
def test_what_is_refused(refuses):
    refuses("compare", "before", "nowhere", says="is not a release")
    refuses("compare", "before", "after", "--ordered", says="name some")
    refuses("compare", "before", "after", "A", "--ordered", "--prefix", says="Choose one")
    refuses("compare", "before", "after", "Nowhere", says="Nowhere")


@pytest.mark.usefixtures("two")
def test_a_share_stands_beside_a_count(pathveil):
    part = pathveil("count", "before", "B", "--json").json()["share"]
    assert part["low"] <= part["value"] <= part["high"]
    assert part["value"] == pytest.approx(3 / 7, abs=0.1)
    assert part["level"] == 0.9
