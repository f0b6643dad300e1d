"""A promise of (ε, δ) by Gaussian noise: what is told follows from the noise, and mutants do not.

From a file to a bundle and its certificate: the noise that is drawn is the noise that is told, the
ρ that is told is that noise's, and (ε, δ) follows from ρ. Each of these is broken once.
"""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.chi_square import ERROR, goodness_of_fit

import pathveil as pv
from pathveil import Parameters
from pathveil.audit.noisy_tables import (
    GRID,
    TOGETHER,
    audit_tables,
    table_claims,
    without_noise,
)
from pathveil.core.budget import Budget
from pathveil.core.noise import Gaussian
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError, ReleaseError
from pathveil.gate import add_noise
from pathveil.gate import measure as gate
from pathveil.gate.gaussian import gaussian_noise
from pathveil.gate.randomness import Randomness
from pathveil.promise.stability import unit_promise
from pathveil.statistics.actions import ACTIONS
from pathveil.statistics.measurement_plan import Line, MeasurementPlan
from pathveil.statistics.pairs import PAIRS
from pathveil.statistics.total import TOTAL
from pathveil.statistics.visits import VISITS

RHO, DELTA = "0.015", "1e-9"
SIZE = 20_000
UNIVERSE = pv.Universe([f"s{code:05}" for code in range(SIZE)])


def parameters(rho=RHO, size=SIZE, **choices):
    budget = Budget.choose(None, rho=rho, delta=DELTA)
    return Parameters.choose(epsilon=budget, rho=rho, delta=DELTA, universe_size=size, **choices)


@pytest.fixture
def files(tmp_path):
    """A small town."""
    rows = [
        f"u{unit},{hour},{'abcdefgh'[(unit * 3 + hour) % 8]}"
        for unit in range(400)
        for hour in range(3)
    ]
    (tmp_path / "taps.csv").write_text("unit,when,stop\n" + "\n".join(rows), encoding="utf-8")
    return tmp_path


def published(files, **budget):
    universe = pv.Universe("abcdefgh")
    release = pv.publish(
        files / "taps.csv", universe=universe, unit="unit", order="when", location="stop", **budget
    )
    release.write(files / "release")
    return release


def noise_of_visits():
    """The noisy visits of 20,000 locations where nobody was, and the noise that is told."""
    given = parameters()
    nobody = pv.TrajectoryDatabase.from_arrays(
        np.zeros(1, np.int64), np.zeros(0, np.int32), UNIVERSE
    )
    seen = gate.measure_visits(nobody, MeasurementPlan.usual(given), Randomness())
    promise = unit_promise(given)
    told = next(table.noise for table in promise.tables if table.name == VISITS.name)
    return seen[VISITS].counts, told


def fit(drawn, told):
    cuts = np.round(np.linspace(-3, 3, 25) * told.deviation)
    chances = np.diff(told.below(cuts + 0.5), prepend=0, append=1)
    return goodness_of_fit(np.bincount(np.searchsorted(cuts, drawn), minlength=26), chances)


def test_the_noise_that_is_drawn_is_the_noise_that_is_told():
    drawn, told = noise_of_visits()
    assert isinstance(told, Gaussian)
    assert fit(drawn, told) > ERROR


def test_a_sigma_ten_percent_too_small_is_caught(monkeypatch):
    small = lambda variance: gaussian_noise(variance * Fraction(81, 100))
    monkeypatch.setattr(add_noise, "gaussian_noise", small)
    assert fit(*noise_of_visits()) < ERROR


def test_the_rho_that_is_told_is_that_of_the_noise(files):
    """ρ = Δ²/(2σ²) with the Δ of every table in L2, and all of them sum to ρ."""
    release = published(files, rho=RHO, delta=DELTA)
    certificate = pv.read_release(files / "release").certificate
    lines = MeasurementPlan.of(release.parameters).lines()
    assert all(isinstance(line.noise, Gaussian) for line in lines)
    spent = [line.squared_l2 / (2 * line.noise.variance) for line in lines]
    assert sum(spent) == certificate.rho == Fraction(RHO)
    assert Concentrated(sum(spent), Fraction(DELTA)).keeps(release.parameters.budget.epsilon)
    assert certificate.adds_up()


def test_a_bound_in_l1_taken_for_one_in_l2_is_caught(monkeypatch):
    """Noise for √L1 in L2, where one trajectory may add all of it to one cell."""
    plan = MeasurementPlan.usual(parameters(size=50))
    before, after = walk_home(0), walk_home(1)

    def spent():
        """The ρ that a walker who stays in one place really costs in the table of actions."""
        line = plan[ACTIONS]
        exact = without_noise(plan)
        old, new = (gate.measure(db, exact, everywhere, Randomness()) for db in (before, after))
        change = new[ACTIONS].counts - old[ACTIONS].counts
        return (change**2).sum() / (2 * line.noise.variance), line.budget

    cost, budget = spent()
    assert cost <= budget
    monkeypatch.setattr(Line, "squared_l2", property(lambda line: line.sensitivity))
    cost, budget = spent()
    assert cost > budget


def everywhere(_seen):
    return np.arange(50)


def walk_home(walkers):
    """Fifty who go one step, and so many who stay for thirteen visits."""
    rows = [[code, (code + 1) % 50] for code in range(50)] + [[7] * 13] * walkers
    return pv.TrajectoryDatabase.from_arrays(
        np.cumsum([0, *map(len, rows)]),
        np.concatenate(rows).astype(np.int32),
        pv.Universe([f"s{code}" for code in range(50)]),
    )


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("delta", "1/1000000000000"),  # δ reported too small
        ("epsilon", "9/10"),
        ("rho", "7/500"),
        ("rho", None),
    ],
)
def test_a_certificate_that_tells_less_than_follows_is_refused(files, change, value):
    published(files, rho=RHO, delta=DELTA)
    path = files / "release" / "privacy-certificate.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    if value is None:
        del told["privacy_loss"]["privacy_parameters"][change]
    else:
        told["privacy_loss"]["privacy_parameters"][change] = value
    if change == "epsilon":
        told["dp_flavor"]["bound_on_output_distance"] = value
    path.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with pytest.raises(ReleaseError):
        pv.read_release(files / "release")


def test_epsilon_with_a_delta_is_kept_whatever_is_planned(files):
    """E in ε and R in ρ: the ε that follows from both is never above what was asked for."""
    release = published(files, epsilon="1", delta=DELTA)
    plan = release.parameters.planned
    assert release.certificate.privacy_loss.privacy_parameters.delta == "1/1000000000"
    rest = 1 - plan.budget
    assert rest == 0 if not plan.rho else Concentrated(plan.rho, Fraction(DELTA)).keeps(rest)
    again = pv.read_release(files / "release")
    assert again.certificate == release.certificate.model_copy(
        update={"files": again.certificate.files}
    )


def mixed(plan, rho):
    """The first three lines as they are, the rest in ρ."""
    rest = plan.measurements[3:]
    lines = [Line.of(line.statistic, line.cap, rho / len(rest), 1, in_rho=True) for line in rest]
    return replace(plan, measurements=(*plan.measurements[:3], *lines))


def test_a_plan_may_go_over_to_rho_only_within_what_is_left():
    given = Parameters.choose(epsilon="1", delta=DELTA, universe_size=50)
    plan = MeasurementPlan.usual(given)
    spent = plan.lines()[:3]
    left = 1 - sum(line.budget for line in spent)
    most = Concentrated.within(left, Fraction(DELTA)).rho
    assert plan.adapted(mixed(plan, most), spent).rho == most
    with pytest.raises(ValueError, match="must spend"):
        plan.adapted(mixed(plan, most * Fraction(1001, 1000)), spent)
    once = plan.adapted(mixed(plan, most), spent)
    with pytest.raises(ValueError, match="must spend"):
        once.adapted(plan, spent)  # and never back
    pure = MeasurementPlan.usual(Parameters.choose(epsilon="1", universe_size=50))
    with pytest.raises(ValueError, match="must spend"):
        pure.adapted(mixed(pure, most), pure.lines()[:3])


@pytest.mark.parametrize(
    ("choices", "says"),
    [
        ({"rho": RHO}, "needs a delta|Delta must"),
        ({"rho": 0.015, "delta": DELTA}, "float is not exact"),
        ({"rho": "51", "delta": DELTA}, "out of range"),
        ({"rho": RHO, "delta": "0.1"}, "between"),
        ({"epsilon": "1", "rho": RHO, "delta": DELTA}, "exactly one"),
        ({"epsilon": "1", "delta": DELTA, "method": "full", "height": 6}, "leave delta"),
    ],
)
def test_what_can_not_be_asked_for(files, choices, says):
    with pytest.raises(ParameterError, match=says):
        published(files, **choices)


def test_the_right_code_raises_no_alarm():
    report = audit_tables(rho="5", runs=256)
    assert report.alarms == ()
    assert {line.name: line.claim for line in report.lines}[TOGETHER] == 5
    assert report.strongest.lower_bound > 0.2  # the attack is not blind


@pytest.mark.parametrize("table", [TOTAL, PAIRS], ids=lambda one: one.name)
def test_a_table_that_spends_more_than_its_share_is_caught(monkeypatch, table):
    right = MeasurementPlan.of(parameters("5", size=12, height=8, time_grid=GRID))
    greedy = right.with_line(replace(right[table], budget=Fraction(20)))
    monkeypatch.setattr("pathveil.audit.noisy_tables.table_claims", lambda _plan: claims)
    claims = table_claims(right)
    monkeypatch.setattr(MeasurementPlan, "of", lambda _parameters: greedy)
    alarms = {alarm.pair for alarm in audit_tables(rho="5", runs=256).alarms}
    assert alarms - {TOGETHER} == {table.name}


def costs(folder, used):
    """What one unit with five equal trips really costs, of files with and without it, by table."""
    given = parameters(size=8, max_trajectories_per_unit=2)
    plan = MeasurementPlan.usual(given)
    crowd = [(f"u{unit}", 0, "abcdefgh"[unit % 8]) for unit in range(80)]
    frequent = [("frequent", trip, stop) for trip in range(5) for stop in "abc"]
    tables = []
    for name, rows in (("without.csv", crowd), ("with.csv", crowd + frequent)):
        lines = [f"{unit},{trip},{at},{stop}" for at, (unit, trip, stop) in enumerate(rows)]
        (folder / name).write_text("\n".join(["unit,trip,when,stop", *lines]), encoding="utf-8")
        database = pv.read_trajectories(
            folder / name, pv.Universe("abcdefgh"), unit="unit", trajectory="trip", order="when",
            location="stop", max_trajectories_per_unit=used,
        )  # fmt: skip
        seen = gate.measure(database, without_noise(plan), lambda _: np.arange(8), Randomness())
        tables.append(seen)
    old, new = tables
    for statistic in (TOTAL, VISITS):
        change = new[statistic].counts - old[statistic].counts
        line = plan[statistic]
        yield (change**2).sum() / (2 * line.noise.variance) <= line.budget


def test_trips_that_are_dropped_after_they_are_counted_are_caught(tmp_path):
    """Noise for c = 2 in L2; all five trips, counted before they are cut to two, cost more."""
    assert all(costs(tmp_path, 2))
    assert not any(costs(tmp_path, 5))
