"""The maps of `promise.stability` hold of what the reader makes of files, whatever is in them."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.promise.certificate import Certificate, unit_description
from pathveil.promise.stability import BOUNDING, CANDIDATES, trip_promises, unit_promise
from pathveil.statistics.measurement_plan import MeasurementPlan
from pathveil.times.trip_rules import TripRules, kept_by

UNIVERSE = pv.Universe(["a", "b", "c"])
trips = st.lists(st.lists(st.sampled_from("abcz"), min_size=1, max_size=3), min_size=1, max_size=7)
# A trip of the data, one of a day, or one before a pause: what comes between two of them.
SPLITS = {"none": 10**5, "day": 86_400, "week": 7 * 86_400, "gap:30min": 7200}


def parameters(most, **choices):
    choices = {"epsilon": "1", "height": 3, "universe_size": 3, "method": "full"} | choices
    return pv.Parameters.choose(max_trajectories_per_unit=most, **choices)


def rules(keep):
    chosen = TripRules.choose(
        split="none", time_zone="UTC", repeats="keep", by_point=False, keep=keep
    )
    return chosen.sentences()


def used(path, units, most, keep, split, seed):
    """The trajectories that are counted, as a multiset, of units with these numbered trips."""
    rows = [
        f"{unit},{number},{number * SPLITS[split] + visit},{place}"
        for unit, numbered in units.items()
        for number, trip in numbered
        for visit, place in enumerate(trip)
    ]
    path.write_text("\n".join(["unit,trip,time,place", *rows]), encoding="utf-8")
    columns = {"trajectory": "trip"} if split == "none" else {"split": split}
    database = pv.read_trajectories(
        path,
        UNIVERSE,
        unit="unit",
        order="time",
        location="place",
        max_trajectories_per_unit=most,
        keep=keep,
        keep_seed=seed,
        **columns,
    )
    ends = zip(database.offsets, database.offsets[1:], strict=False)
    return Counter(tuple(database.codes[start:end].tolist()) for start, end in ends), database


def differ(one, other):
    return (one - other).total() + (other - one).total()


@pytest.mark.parametrize("keep", ["first", "sample"])
@settings(max_examples=40)
@given(data=st.data())
def test_as_many_trajectories_differ_as_the_maps_say_and_no_more(tmp_path_factory, keep, data):
    folder = tmp_path_factory.mktemp("maps")
    mine, others = data.draw(trips), data.draw(trips)
    most, split = data.draw(st.integers(1, 4)), data.draw(st.sampled_from(list(SPLITS)))
    seed, gone = data.draw(st.integers(0, 99)), data.draw(st.integers(0, len(mine) - 1))
    numbered = list(enumerate(mine))
    units = {"u": numbered, "v": list(enumerate(others))}
    how = (most, keep, split, seed)
    whole, database = used(folder / "whole.csv", units, *how)
    less, _ = used(folder / "less.csv", units | {"u": [t for t in numbered if t[0] != gone]}, *how)
    without, _ = used(folder / "without.csv", {"v": units["v"]}, *how)

    unit = unit_promise(parameters(most))
    within, over = trip_promises(unit, kept_by(database.rules))
    has = sum(any(place != "z" for place in trip) for trip in mine)
    assert differ(whole, without) <= unit.distance
    assert differ(whole, less) <= (within if has <= most else over).distance


@pytest.mark.parametrize("keep", ["first", "sample"])
def test_the_maps_are_reached(tmp_path, keep):
    """So none of them is larger than it need be."""
    trips = list(enumerate({"first": "aabaabaab", "sample": "ababababa"}[keep]))
    most, reached = 2, Counter()
    for seed in range(40):
        how = (most, keep, "none", seed)
        whole, database = used(tmp_path / "whole.csv", {"u": trips}, *how)
        less, _ = used(tmp_path / "less.csv", {"u": trips[1:]}, *how)
        reached[differ(whole, less)] += 1
    over = trip_promises(unit_promise(parameters(most)), kept_by(database.rules))[1]
    assert max(reached) == over.distance


# What the tables see


def noisy_tables(trips):
    """Every table of the calibrated method by the name of its measurement, with the same noise."""
    grid = pv.TimeGrid.parse("12h", "UTC")
    size, offsets = 4, np.cumsum([0, *map(len, trips)])
    codes = [place + size * (visit > 0) for trip in trips for visit, place in enumerate(trip)]
    universe = pv.Universe(["a", "b", "y", "z"])
    database = pv.TrajectoryDatabase.from_arrays(offsets, codes, universe, time_grid=grid)
    chosen = parameters(1, universe_size=size, method="calibrated", time_grid=grid)
    plan = MeasurementPlan.of(chosen)
    noise = Randomness(np.random.default_rng(7))  # noqa: TID251
    found = measure(database, plan, lambda _popularity: np.array([0, 1]), noise)
    told = {
        statistic.name: (table.keys.tolist(), table.counts.tolist())
        for statistic, table in found.tables.items()
    }
    assert list(told) == [line.name for line in plan.lines()]
    return told, unit_promise(chosen)


def test_tables_of_candidates_do_not_see_where_else_people_go():
    """a and b are candidates; y and z are not, and one who stays at y goes on to z instead."""
    bulk = [[0, 1], [1, 0], [0], [1, 1]] * 500
    one, unit = noisy_tables([*bulk, *[[2, 2, 0]] * 300])
    other, _ = noisy_tables([*bulk, *[[2, 3, 0]] * 300])
    same = {name for name in one if one[name] == other[name]}
    of_candidates = {table.name for table in unit.tables if table.depends_on == CANDIDATES}
    assert {"moves", "pairs", "prefix tree, level 1", "visit slots"} <= of_candidates <= same
    assert {"visits", "actions", "shapes"}.isdisjoint(same)


# The sentences follow from the maps


def test_one_map_changed_changes_every_sentence_that_rests_on_it():
    unit = unit_promise(parameters(5))
    said = unit_description(unit, "first")
    assert unit.epsilon == 1
    assert "has ε/5 = 1/5, and" in said
    assert "has 2ε/5 = 2/5" in said
    assert "has 2ε = 2." in unit_description(unit, "sample")
    assert "nothing is claimed" in unit_description(unit, None)
    wider = replace(
        unit,
        steps=tuple(
            replace(step, stability=7) if step.name == BOUNDING else step for step in unit.steps
        ),
    )
    assert wider.epsilon == Fraction(7, 5)
    assert "At most 7 trajectories" in unit_description(wider, "first")
    assert "has ε/7 = 1/5, and" in unit_description(wider, "first")
    assert unit.map(3) == 3
    louder = replace(unit, tables=(replace(unit.tables[0], l1=2), *unit.tables[1:]))
    assert louder.epsilon == Fraction(4, 3)
    assert "= 4/15, and" in unit_description(louder, "first")


@pytest.mark.parametrize("broken", ["bounding", "a table"])
def test_a_certificate_says_what_the_maps_say(monkeypatch, broken):
    """A mistake in a map shows: the bound is no longer the ε that was asked for."""

    def of(chosen):
        promise = unit_promise(chosen)
        if broken == "bounding":
            steps = (*promise.steps[:-1], replace(promise.steps[-1], stability=3))
            return replace(promise, steps=steps)
        return replace(promise, tables=(replace(promise.tables[0], l1=4), *promise.tables[1:]))

    chosen = parameters(2)
    right = Certificate.of(chosen, is_private=True)
    assert right.adds_up()
    assert right.dp_flavor.bound_on_output_distance == "1"
    monkeypatch.setattr("pathveil.promise.certificate.unit_promise", of)
    wrong = Certificate.of(chosen, is_private=True)
    expected = {"bounding": Fraction(3, 2), "a table": Fraction(2)}[broken]
    assert Fraction(wrong.dp_flavor.bound_on_output_distance) == expected
    assert wrong.accounting.budget != right.accounting.budget


@pytest.mark.parametrize(
    "choices",
    [
        {"method": "basic"},
        {"method": "calibrated"},
        {"method": "calibrated", "height": "auto"},
        {"method": "calibrated", "time_grid": pv.TimeGrid.parse("1h", "UTC")},
        {"method": "full", "universe_size": None, "delta": "1e-9"},
    ],
    ids=str,
)
@pytest.mark.parametrize("most", [1, 3])
def test_the_tables_of_every_method_cost_what_was_asked_for(most, choices):
    chosen = parameters(most, **choices)
    unit = unit_promise(chosen)
    assert (unit.epsilon, unit.delta) == (chosen.budget.epsilon, chosen.delta)
    for keep in ("first", "sample", None):
        paper = Certificate.of(
            chosen, is_private=True, trajectory_rules=rules(keep) if keep else ()
        )
        assert paper.adds_up()
        assert paper.promise() == unit
        assert all(line.squared_l2 <= line.sensitivity**2 for line in paper.accounting.budget)
        over = trip_promises(unit, keep)[1:]
        # With a δ nothing is proved for an exchange, and so nothing is said.
        assert bool(over) == (keep is not None and not chosen.delta)
