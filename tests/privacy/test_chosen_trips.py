"""c chosen with privacy: it keeps its share of ε, and what is counted is bounded by that very c.

From files to the choice, and to the trajectories that are counted. The attacker sees c, at an edge
of the rule, and guesses whether one unit is there; bounds as in the other audits.
"""

from fractions import Fraction

import numpy as np
import pytest

from pathveil import Universe, publish, read_trajectories
from pathveil.audit.attacking import FALSE_ALARM, epsilon_lower_bound
from pathveil.core.noise import Gaussian
from pathveil.core.parameters import Parameters
from pathveil.core.preparations import (
    EDGES,
    MOST_TRIPS,
    TRIP_BINS,
    TRIP_EDGES,
    TRIPS_PER_UNIT,
    TRIPS_SHARE,
    Preparation,
    bin_of_trips,
    trips_for,
)
from pathveil.core.trips_per_unit import units_by_trips
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError
from pathveil.gate import prepare
from pathveil.gate.randomness import Randomness
from pathveil.raw.engines import batches
from pathveil.raw.engines.engine import Engine
from pathveil.raw.reading_plan import Reading
from pathveil.statistics import measurement_plan
from pathveil.statistics.measurement_plan import begins_in_rho

UNIVERSE = Universe(["A", "B"])
RUNS = 1500
# With the share of a half, a bin is taken as it is from 21 on. 30 units of one trip, 42 of two: c 1
# (72³ is more than 114³/4); with one more of two trips it is 2.
PREPARATION = Preparation(TRIPS_PER_UNIT, Fraction(1, 2), 1, "")
IN_RHO = Preparation(TRIPS_PER_UNIT, Fraction(1, 8), 1, "", in_rho=True)  # σ² = 4: from 15 on
# The ε that an attack may show: of a budget in ρ that at a δ which so few runs can't tell.
CLAIMED = {
    PREPARATION: Fraction(1, 2),
    IN_RHO: Concentrated(IN_RHO.budget, Fraction(1, 1000)).epsilon,
}
EDGE = [1] * 30 + [2] * 42


def written(path, trips, *, outside=0):
    """A file in which the i-th unit makes so many trips of two visits; some rows are nowhere."""
    rows = [
        f"u{unit},{trip},{visit},{'AB'[visit]}"
        for unit, number in enumerate(trips)
        for trip in range(number)
        for visit in range(2)
    ]
    rows += [f"u0,{100 + trip},0,nowhere" for trip in range(outside)]
    path.write_text("\n".join(["unit,trip,seq,stop", *rows]) + "\n")
    return path


def reading(**choices):
    own = {"unit": "unit", "trajectory": "trip", "order": "seq", "location": "stop"}
    return own | {"max_trajectories_per_unit": "auto"} | choices


def bound(tmp_path, choose):
    """What c proves about one unit with two trips."""
    without = read_trajectories(written(tmp_path / "a.csv", EDGE), UNIVERSE, **reading())
    with_unit = read_trajectories(written(tmp_path / "b.csv", [*EDGE, 2]), UNIVERSE, **reading())
    randomness = Randomness()
    coins = randomness.words(2 * RUNS) % 2 == 1
    chosen = np.array([choose(with_unit if coin else without, randomness) for coin in coins])
    says_with = chosen > 1
    right = np.array([np.count_nonzero(says_with & coins), np.count_nonzero(~says_with & ~coins)])
    guesses = np.array([np.count_nonzero(says_with), np.count_nonzero(~says_with)])
    return float(epsilon_lower_bound(right, guesses, FALSE_ALARM / 2).max())


@pytest.mark.parametrize("preparation", CLAIMED, ids=["epsilon", "rho"])
def test_the_choice_keeps_its_share(tmp_path, preparation):
    choose = lambda db, randomness: prepare.choose_trips(db, preparation, randomness)[0]
    assert bound(tmp_path, choose) <= CLAIMED[preparation]


@pytest.mark.parametrize("preparation", CLAIMED, ids=["epsilon", "rho"])
def test_a_choice_from_exact_numbers_is_caught(tmp_path, preparation):
    def mutant(db, _randomness):
        exact = np.bincount(bin_of_trips(db.trips[db.trips > 0]), minlength=TRIP_BINS)
        return trips_for(exact, preparation.squared_scale)[0]

    assert bound(tmp_path, mutant) > CLAIMED[preparation]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_unit_changes_the_histogram_by_one_whatever_it_does(tmp_path, monkeypatch, engine):
    """What the noise is put on, from files: trips outside the universe are none."""
    counted, right = [], prepare.dense_table

    def watched(counts, *rest):
        counted.append(counts)
        return right(counts, *rest)

    monkeypatch.setattr(prepare, "dense_table", watched)
    heavy = [EDGE, [*EDGE, 1], [*EDGE, 7], [*EDGE, 3 * MOST_TRIPS]]
    for number, trips in enumerate([*heavy, EDGE]):
        path = written(tmp_path / f"{number}.csv", trips, outside=9 if number == len(heavy) else 0)
        chosen = Engine.choose(engine, str(path), memory="500MB")
        with chosen.open(str(path), UNIVERSE, None, Reading(**reading())) as opened:
            prepare.choose_trips(opened, PREPARATION, Randomness())
    without, *others, with_nowhere = counted
    assert without.tolist()[:3] == [30, 42, 0]
    assert [int(np.abs(one - without).sum()) for one in others] == [1, 1, 1]
    assert others[-1][bin_of_trips(np.array([3 * MOST_TRIPS]))[0]] == 1
    assert (with_nowhere == without).all()


def counted_by(tmp_path, monkeypatch, engine, trips, chosen):
    """The lengths of the trajectories that are counted after c came out so."""
    monkeypatch.setattr(prepare, "choose_trips", lambda *_: (chosen, None))
    path = written(tmp_path / f"{engine}-{len(trips)}.csv", trips)
    parameters = Parameters.choose(
        epsilon="1", universe_size=2, max_trajectories_per_unit="auto", method="calibrated"
    )
    opening = Engine.choose(engine, str(path), memory="500MB")
    with opening.open(str(path), UNIVERSE, None, Reading(**reading(keep="sample"))) as opened:
        database, settled = prepare.prepare(opened, parameters, Randomness())
        assert settled.max_trajectories_per_unit == database.max_trajectories_per_unit == chosen
        (cells,) = prepare.table_counter(database).count_tables(prepare.LengthTable())
        return int(prepare.gathered(cells, prepare.MOST).sum())


def added_by_a_heavy_unit(tmp_path, monkeypatch, engine, chosen):
    crowd = [1, 2, 5, 9]
    before, after = (
        counted_by(tmp_path, monkeypatch, engine, trips, chosen) for trips in (crowd, [*crowd, 40])
    )
    assert before == sum(min(number, chosen) for number in crowd)
    return after - before


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("chosen", [1, 2, 12])
def test_what_is_counted_is_bounded_by_the_c_that_came_out(tmp_path, monkeypatch, engine, chosen):
    assert added_by_a_heavy_unit(tmp_path, monkeypatch, engine, chosen) == chosen


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_stale_truncation_is_caught(tmp_path, monkeypatch, engine):
    """Bounded as it was read, by the largest c that could come out; noise for the one that did."""
    from pathveil.raw import database

    stale = lambda offsets, codes, trips, *_: (offsets, codes, trips)
    monkeypatch.setattr(database if engine == "memory" else batches, "first_trips", stale)
    with pytest.raises(AssertionError):
        added_by_a_heavy_unit(tmp_path, monkeypatch, engine, 2)


def test_the_trips_that_stay_are_those_of_a_bound_that_was_given(tmp_path):
    path = written(tmp_path / "a.csv", [1, 2, 5, 9, 40])
    for keep in ("first", "sample"):
        how = reading(keep=keep, keep_seed=5)
        chosen = read_trajectories(path, UNIVERSE, **how).bounded_to(3)
        given = read_trajectories(path, UNIVERSE, **how | {"max_trajectories_per_unit": 3})
        assert (chosen.offsets == given.offsets).all()
        assert (chosen.codes == given.codes).all()


def test_the_certificate_lists_it_and_adds_up(tmp_path):
    path = written(tmp_path / "a.csv", [8] * 3000)
    release = publish(path, universe=UNIVERSE, epsilon="1", delta="1e-9", **reading())
    certificate = release.certificate
    assert certificate.adds_up()
    (choice,) = certificate.accounting.choices
    assert Fraction(choice.epsilon) == TRIPS_SHARE
    assert choice.sensitivity == 1
    assert release.parameters.max_trajectories_per_unit == 8
    line = certificate.accounting.budget[0]
    assert (line.epsilon, line.sensitivity) == ("1/25", 1)
    assert certificate.promise().epsilon == 1
    # One trip more or less moves its unit to another bin, and is one of eight.
    assert release.parameters.expansion == 1
    release.write(tmp_path / "out")
    from pathveil.release.bundle import verify_bundle

    assert verify_bundle(tmp_path / "out").parameters.expansion == 1


@pytest.mark.parametrize(
    ("noisy", "chosen"),
    [
        ({}, 1),  # nothing stands out
        ({0: 1000}, 1),
        ({0: 1000, 1: 1000}, 1),
        ({0: 1000, 1: 2000}, 2),
        ({9: 500}, 50),  # everybody makes 51 to 100
        ({TRIP_BINS - 1: 500}, MOST_TRIPS),
        ({0: 5000, 9: 40}, 1),  # a few who make many
        ({12: 50, 13: 55, 14: 55}, MOST_TRIPS),  # no bin stands out, all of them together do
        ({0: -60, 12: 40, 13: -30, 14: 45}, 1),  # nor do they all together
    ],
)
def test_the_rule(noisy, chosen):
    bins = np.zeros(TRIP_BINS, dtype=np.int64)
    for place, number in noisy.items():
        bins[place] = number
    assert trips_for(bins, Fraction(100))[0] == chosen


def test_the_expansion_undoes_the_thinning():
    bins = np.zeros(TRIP_BINS, dtype=np.int64)
    bins[0], bins[2] = 3000, 300
    chosen, expansion = trips_for(bins, Fraction(1))
    assert chosen == 1
    assert expansion == pytest.approx(3900 / 3300, rel=0.01)


def test_a_long_tail_of_small_bins_is_not_lost():
    """Seven of ten trips are of people in bins that do not stand out of their noise."""
    bins = np.array([290, 223, 199, 242, 209, 147, 123, 55, 15, 4, 1] + [0] * (TRIP_BINS - 11))
    chosen, expansion = trips_for(bins, Fraction(625))
    assert chosen in {3, 5}
    used = {3: 3800, 5: 5300}[chosen]
    assert 0.85 * 9624 < float(expansion) * used < 1.2 * 9624


def test_noise_among_those_with_thousands_of_trips_makes_up_no_trips():
    """A bin of 6,401 and more that is six scales above 0 by chance alone."""
    bins = np.array([2000, 1500, 800, 400] + [0] * (TRIP_BINS - 4))
    without = trips_for(bins, Fraction(625))
    bins[-1] = 150
    assert trips_for(bins, Fraction(625)) == without


def test_no_more_is_filled_in_than_the_noise_of_a_bin_allows():
    """Nobody makes two trips, which no smooth law would say."""
    bins = np.zeros(TRIP_BINS, dtype=np.int64)
    bins[0], bins[2] = 3000, 300
    assert units_by_trips(bins, Fraction(1), EDGES)[1] <= 5


def with_many_trips(folder):
    """400 people with 120 trips each at (1, 10⁻⁹), c chosen."""
    file = written(folder / "many.csv", [120] * 400)
    return publish(file, universe=UNIVERSE, epsilon="1", delta="1e-9", **reading())


def test_a_large_c_begins_in_rho_with_what_choosing_it_left(tmp_path):
    release = with_many_trips(tmp_path)
    plan = release.parameters.planned
    assert release.parameters.max_trajectories_per_unit == MOST_TRIPS
    assert plan.budget == 0
    assert Concentrated(plan.rho, Fraction(1, 10**9)).keeps(1 - TRIPS_SHARE)
    assert release.certificate.adds_up()
    assert release.certificate.promise().epsilon <= 1
    release.write(tmp_path / "out")
    from pathveil.release.bundle import verify_bundle

    assert verify_bundle(tmp_path / "out").parameters.planned == plan


def test_a_run_in_rho_that_forgets_what_choosing_c_cost_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(
        measurement_plan.Parameters, "main_budget", property(lambda given: given.budget.epsilon)
    )
    assert not with_many_trips(tmp_path).certificate.adds_up()


def of_a_month(folder):
    """400 people with 8 trips each; ρ = 1/2, as a month of a series has it; c chosen."""
    file = written(folder / "month.csv", [8] * 400)
    return publish(file, universe=UNIVERSE, rho="1/2", delta="1e-9", **reading())


def test_a_choice_in_rho_is_a_part_of_the_rho_that_was_given(tmp_path):
    release = of_a_month(tmp_path)
    certificate, parameters = release.certificate, release.parameters
    (choice,) = certificate.accounting.choices
    assert (choice.epsilon, Fraction(choice.rho)) == (None, TRIPS_SHARE / 2)
    assert parameters.preparations[0].noise == Gaussian(1 / TRIPS_SHARE)  # σ² = 1/(2·4% of 1/2)
    assert parameters.max_trajectories_per_unit == 8
    assert parameters.whole_rho == certificate.rho == Fraction(1, 2)
    assert parameters.planned.rho == (1 - TRIPS_SHARE) / 2
    assert certificate.adds_up()
    release.write(tmp_path / "out")
    from pathveil.release.bundle import verify_bundle

    assert verify_bundle(tmp_path / "out").parameters == parameters


def test_a_month_that_forgets_what_choosing_c_cost_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(
        measurement_plan.Parameters, "main_budget", property(lambda given: given.concentrated.rho)
    )
    assert not of_a_month(tmp_path).certificate.adds_up()


def test_what_begins_in_rho():
    given = {"universe_size": 300, "method": "calibrated"}
    chosen = Parameters.choose(epsilon="1", delta="1e-9", max_trajectories_per_unit="auto", **given)
    in_rho = [most for most in TRIP_EDGES if begins_in_rho(chosen.with_trips(most, None))]
    assert in_rho == [50, 100]
    pure = Parameters.choose(epsilon="1", max_trajectories_per_unit="auto", **given)
    assert not begins_in_rho(pure.with_trips(MOST_TRIPS, None))
    told = Parameters.choose(epsilon="1", delta="1e-9", max_trajectories_per_unit=100, **given)
    assert not begins_in_rho(told)  # who knows whether anybody has so many


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"epsilon_per_trip": "0.1"}, "needs a number"),
        ({"epsilon": "1", "method": "full", "height": 3, "threshold": 50}, "'auto'"),
    ],
)
def test_what_does_not_go_with_it_is_refused(tmp_path, choices, says):
    path = written(tmp_path / "a.csv", [1])
    with pytest.raises(ParameterError, match=says):
        publish(path, universe=UNIVERSE, **choices, **reading())
