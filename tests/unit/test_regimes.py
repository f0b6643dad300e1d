"""The grid of regimes: its simulators, its single tables, and what counts as a loss."""

import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from bench import regimes
from bench.regime_simulators import KEPT_BACK, OPEN, SIMULATORS, World
from bench.regimes import Cell, chosen, compare, grid, is_as_good
from bench.scoreboard import own_queries
from bench.single_tables import CAPS, SingleTables

from pathveil.core.noise import Laplace
from pathveil.trials.evaluation.compared import Figures
from pathveil.trials.evaluation.measures import Measure

LOWER = Measure("error", "Error", "", "lower", lambda _raw, _it: 0.0)
HIGHER = Measure("hits", "Hits", "", "higher", lambda _raw, _it: 0.0)
NEAR_1 = Measure("size", "Size", "", "near 1", lambda _raw, _it: 0.0)


def steps(database):
    """(from, to) of every step."""
    inside = np.ones(len(database.codes), dtype=bool)
    inside[database.offsets[1:] - 1] = False
    here = np.flatnonzero(inside)
    return database.codes[here], database.codes[here + 1]


@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("length", ["2", "6.7"])
def test_simulated_people_are_as_many_and_walk_as_far_as_the_cell_says(simulator, length):
    world = World(simulator, 3_000, 50, length)
    one, other = (world.database(with_map=has_map) for has_map in (False, True))
    lengths = np.diff(one.offsets)
    assert len(one) == 3_000
    assert set(lengths.tolist()) == {2} if length == "2" else abs(lengths.mean() - 6.7) < 0.7
    assert one.codes.tolist() == other.codes.tolist()  # the map changes nobody's way
    assert not one.universe.has_coordinates
    assert other.universe.has_coordinates
    assert len(np.unique(one.codes)) > 25


def test_walks_go_from_block_to_block():
    here, there = steps(World("grid", 500, 100, "6.7").database(with_map=False))
    far = np.abs(here // 10 - there // 10) + np.abs(here % 10 - there % 10)
    assert set(far.tolist()) == {1}


def test_gravity_prefers_what_is_near():
    here, there = steps(World("gravity", 2_000, 400, "6.7").database(with_map=False))
    far = np.maximum(np.abs(here // 20 - there // 20), np.abs(here % 20 - there % 20))
    assert np.median(far) <= 2
    assert far.max() > 6


def test_classes_and_parts_share_locations_that_a_crowd_would_not():
    """Two visits of one person agree in part of town, or in class, more than of two people."""
    parts = World("parts", 4_000, 120, "2").database(with_map=False)
    first, second = parts.codes[::2] // 10, parts.codes[1::2] // 10
    assert (first == second).mean() > 0.6 > 2 * (first == np.roll(second, 1)).mean()
    classes = World("classes", 40_000, 120, "2").database(with_map=False)
    pairs = Counter(zip(classes.codes[::2].tolist(), classes.codes[1::2].tolist(), strict=True))
    alone = np.bincount(classes.codes, minlength=120) / len(classes.codes)
    expected = 40_000 * alone[:, None] * alone
    assert max(count / expected[pair] for pair, count in pairs.items() if count > 50) > 2


def test_hub_commuters_pass_their_hub_on_both_ways():
    hubs = World("hubs", 1_000, 100, "6.7").database(with_map=False)
    long = np.flatnonzero(np.diff(hubs.offsets) >= 4)
    first = hubs.offsets[long]
    assert (hubs.codes[first + 1] == hubs.codes[first + 3]).mean() > 0.7


def test_half_of_the_simulators_are_kept_back():
    assert len(OPEN) == len(KEPT_BACK)
    assert not set(OPEN) & set(KEPT_BACK)
    named = {cell.world.simulator for cell in grid(OPEN)}
    assert named == set(OPEN)


def test_cells_are_chosen_by_patterns_of_their_names():
    names = [cell.name for cell in grid(OPEN)]
    assert len(set(names)) == len(names) == 3 * 5 * 5 * 4 * 3 * 2
    one = chosen(grid(OPEN), ["commuters:n=20000:l=1000:len=6.7:map:e=1"])
    assert one == [Cell(World("commuters", 20_000, 1_000, "6.7"), "map", "1")]
    assert len(chosen(grid(OPEN), list(regimes.QUICK))) == 3 * len(regimes.QUICK)
    assert not chosen(grid(OPEN), ["gravity:*"])


@pytest.mark.parametrize(
    ("measure", "ours", "theirs", "as_good"),
    [
        (LOWER, 0.104, 0.100, True),
        (LOWER, 0.106, 0.100, False),
        (LOWER, 0.0015, 0.0001, True),  # nobody sees that
        (HIGHER, 96.0, 100.0, True),
        (HIGHER, 94.0, 100.0, False),
        (NEAR_1, 0.98, 1.0, True),
        (NEAR_1, 1.2, 0.9, False),
        (NEAR_1, 1.2, 0.7, True),
    ],
)
def test_within_five_in_a_hundred_is_as_good(measure, ours, theirs, as_good):
    assert is_as_good(measure, ours, theirs) is as_good


def test_a_single_table_with_hardly_any_noise_knows_its_answer():
    database = World("commuters", 400, 20, "2").database(with_map=False)
    own = own_queries(database, 1, 50), own_queries(database, 2, 50)
    tables = SingleTables(Figures(database), database, Fraction(1000), own)
    found = {}
    for key, figure in tables.figures():
        found.setdefault(key, []).append(figure)
    assert all(len(found[key]) == len(CAPS) for key in ("own1", "divergence_transitions"))
    for key in ("query_error_single", "own1", "own2", "divergence_visits"):
        assert min(found[key]) == pytest.approx(0, abs=1e-9)
    for key in ("divergence_trips", "divergence_lengths", "divergence_transitions"):
        assert min(found[key]) == pytest.approx(0, abs=1e-9)
    assert found["size_ratio"] == [1.0]
    assert max(found["location_tau"]) == max(found["hotspot_ndcg"]) == 1.0
    assert found["own1"][0] > 0.1  # a cap of 1 loses every second visit


def test_a_single_table_spends_what_its_cap_asks_for(monkeypatch):
    """The noise of a table grows with its cap: ε is shared out over what a trajectory adds."""
    asked = []
    monkeypatch.setattr(
        "bench.single_tables.dense_table",
        lambda counts, noise, _randomness: (
            asked.append((len(counts), noise.epsilon)) or _exact(counts)
        ),
    )
    database = World("commuters", 100, 20, "6.7").database(with_map=False)
    own = own_queries(database, 1, 5), own_queries(database, 2, 5)
    list(SingleTables(Figures(database), database, Fraction(1), own).figures())
    presence_and_visits = {epsilon for cells, epsilon in asked if cells == 20}
    assert presence_and_visits == {Fraction(1, cap) for cap in CAPS}
    pairs_and_steps = {epsilon for cells, epsilon in asked if cells == 400}
    assert {Fraction(1, cap * (cap - 1) // 2) for cap in CAPS[1:]} <= pairs_and_steps


def _exact(counts):
    from pathveil.statistics.noisy_table import NoisyTable

    return NoisyTable(np.arange(len(counts)), counts, len(counts), Laplace(Fraction(1)))


def test_a_cell_meets_every_opponent_on_every_measure(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(regimes, "HEIGHTS", (2,))
    monkeypatch.setattr(regimes, "PATTERNS", 10)
    cell = Cell(World("commuters", 200, 20, "2"), "map", "4")
    examined = regimes.Examined(cell.world, queries=80)
    met = [(measure.key, to) for measure, to, *_ in compare(cell, examined, 1)]
    assert {to for _, to in met} == {"nothing", "ngram", "markov", "full", "one table"}
    assert ("own2", "one table") in met
    assert ("own3", "full") not in met  # nobody visits three locations
    assert ("invented_share", "nothing") not in met
    monkeypatch.setattr(regimes, "Examined", lambda _world: examined)
    monkeypatch.setattr(regimes, "PEOPLE", (200,))
    file = tmp_path / "figures.csv"
    arguments = ["--cells", "commuters:n=200:l=20:len=2:map:e=4", "--runs", "1"]
    monkeypatch.setattr(sys, "argv", ["regimes", *arguments, "--figures", str(file)])
    regimes.main()
    out = capsys.readouterr().out
    assert f"of {len(met)} comparisons lost." in out
    assert len(file.read_text().splitlines()) == len(met) + 1
