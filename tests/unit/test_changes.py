"""What has changed between two releases, and what noise may explain."""

import numpy as np

import pathveil as pv
from pathveil.pages.changes import MOST_CHANGES, changes
from pathveil.pages.report import render_report

UNIVERSE = pv.Universe([f"s{code:02}" for code in range(30)])


def release(more, seed):
    """3,000 people over 30 stops, and some more of them at the first one."""
    people = [[f"s{i % 30:02}"] for i in range(3000)] + [["s00"]] * more
    database = pv.TrajectoryDatabase.from_sequences(people, UNIVERSE)
    generator = np.random.default_rng(seed)  # noqa: TID251
    return pv.publish(database, epsilon="2", generator=generator)


def test_a_change_is_told_from_noise():
    before, now = release(0, 1), release(2000, 2)
    found = changes(now, before)
    assert found[0].location.label == "s00"
    assert not found[0].may_be_noise
    assert found[0].low <= 2000 <= found[0].high
    assert len(found) <= MOST_CHANGES
    assert all(one.may_be_noise for one in found[1:])  # nothing else has changed
    assert [one.difference for one in found] == [one.now - one.before for one in found]
    page = render_report(now, now.certificate, ("March", before))
    assert 'id="changes"' in page
    assert '<tr class="muted">' in page
    assert 'id="changes"' not in render_report(now, now.certificate)


def test_another_universe_is_compared_where_it_is_the_same():
    other = pv.Universe(["s00", "new"])
    database = pv.TrajectoryDatabase.from_sequences([["s00"], ["new"]] * 500, other)
    now = pv.publish(database, epsilon="8", height=2, method="basic")
    found = changes(now, release(0, 1))
    assert [one.location.label for one in found] == ["s00"]
    assert found[0].low is None
    assert found[0].may_be_noise
