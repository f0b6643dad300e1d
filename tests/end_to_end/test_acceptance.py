"""Rules that a release must keep to go out: refused before the charge, or not written."""

import json
from pathlib import Path

import pytest
from tests.commands import edit_certificate, publish_arguments, rehash

import pathveil as pv
from pathveil.core.acceptance import Acceptance
from pathveil.errors import ParameterError, ReleaseError

LEDGER = ("--ledger", "ledger.db")
FULL = "suppress_below = 40\n"


def publish(rules, out="out", **changes):
    Path("rules.toml").write_text(rules, encoding="utf-8")
    return [*publish_arguments(out=out, accept="rules.toml", dataset="taps", **changes), *LEDGER]


@pytest.fixture
def taps(week, pathveil):
    assert pathveil("ledger", "init", "taps", "--limit", "20", *LEDGER).code == 0
    return week


def spent(pathveil):
    return pathveil("ledger", "show", "--json", *LEDGER).json()["datasets"][0]["spent"]


CALIBRATED = {"method": "calibrated", "height": None}


@pytest.mark.usefixtures("taps")
def test_what_no_plan_can_keep_costs_nothing(pathveil, refuses):
    message = refuses(
        *publish("[noise]\nvisits = 0.1\n", **CALIBRATED), says="would have a deviation of"
    )
    assert "Nothing was charged" in message
    assert spent(pathveil) == "0"


def test_a_c_that_is_to_be_chosen_may_be_small():
    """Nobody knows before the charge how much noise there will be: it may be that of one trip."""
    given = {"epsilon": "1", "universe_size": 8, "method": "calibrated"}
    rules = Acceptance(noise={"visits": 5.0})
    rules.check_forecast(pv.Parameters.choose(**given, max_trajectories_per_unit="auto"))
    with pytest.raises(ParameterError, match="would have a deviation of 141"):
        rules.check_forecast(pv.Parameters.choose(**given, max_trajectories_per_unit=100))


@pytest.mark.usefixtures("taps")
def test_a_release_that_breaks_a_rule_is_not_written_and_stays_spent(pathveil):
    result = pathveil(*publish("suppress_below = 100000\nmost_suppressed = 0.1\n"))
    assert result.code == 2
    said = result.err.replace("\n", " ")
    assert "100.0% of visits are at locations below 100000, more than 10.0%" in said
    assert "It was not written" in said
    assert "stays charged to 'taps', entry 2" in said
    assert not Path("out").exists()
    assert spent(pathveil) == "4"


@pytest.mark.usefixtures("taps")
def test_what_is_below_the_rule_is_left_out_of_every_table(pathveil):
    assert pathveil(*publish(FULL)).code == 0
    assert pathveil(*publish_arguments(out="plain")).code == 0
    told = json.loads(Path("out/privacy-certificate.json").read_text(encoding="utf-8"))
    assert "counts below 40 are left" in pathveil("explain", "out").out
    assert told["acceptance"]["suppress_below"] == 40
    package = json.loads(Path("out/datapackage.json").read_text(encoding="utf-8"))
    assert package["suppression"] == {"counts_below": 40}
    assert "acceptance" not in Path("plain/privacy-certificate.json").read_text(encoding="utf-8")

    release = pv.read_release("out")
    flows = release.flows()
    assert flows
    assert min(flow.count for flow in flows) >= 40
    assert min(one.support for one in release.top_patterns(500)) >= 40
    for table in ("visits", "transitions"):
        assert pathveil("export", "out", "--out", f"{table}.csv", "--flows", table).code == 0
        _, *rows = Path(f"{table}.csv").read_text(encoding="utf-8").splitlines()
        assert rows
        assert min(int(row.split(",")[-1]) for row in rows) >= 40
    rare = min(pv.read_release("plain").universe.labels, key=lambda one: release.count({one}))
    assert release.count({rare}) < 40
    assert "suppressed: below 40" in pathveil("count", "out", rare).out
    answer = pathveil("count", "out", rare, "--json").json()
    assert (answer["count"], answer["high"], answer["suppressed"]) == (None, None, True)


@pytest.mark.usefixtures("taps")
def test_a_bundle_that_breaks_its_own_rules_is_refused(pathveil):
    assert pathveil(*publish("suppress_below = 1\nmost_suppressed = 0.5\n")).code == 0
    change = lambda told: told["acceptance"].update(suppress_below=100000)
    edit_certificate(Path("out"), change)
    rehash(Path("out"))
    result = pathveil("verify", "out")
    assert result.code == 2
    assert "does not keep the rules" in result.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("supress_below = 3", "no acceptance rule 'supress_below'"),
        ("suppress_below = 0", "between 1 and"),
        ("suppress_below = 2.5", "whole number"),
        ("most_suppressed = 0.1", "needs suppress_below"),
        ("suppress_below = 2\nmost_suppressed = 2", "from 0 to 1"),
        ("noise = 3", "are a table"),
        ("[noise]\nvisit = 3", "no 'visit'"),
        ("[error]\nvisits = 0", "above 0"),
        ("[error]\nflows = 1", "no 'flows'"),
        ("suppress_below: 3", "no TOML file"),
        ("[error]\nvisits = 1", "for the method 'calibrated'"),
    ],
)
@pytest.mark.usefixtures("taps")
def test_rules_that_can_not_be_used_cost_nothing(pathveil, refuses, rules, says):
    Path("rules.toml").write_text(rules, encoding="utf-8")
    refuses(*publish(rules), says=says)
    assert spent(pathveil) == "0"


def people(times):
    universe = pv.Universe([f"s{code}" for code in range(12)])
    rows = [[f"s{i % 12}", f"s{(i + 1) % 12}"] for i in range(12 * times)]
    return pv.TrajectoryDatabase.from_sequences(rows, universe)


def test_intervals_decide_and_nothing_exact_does(folder):
    """A release that is too rough is refused by its own intervals; with more people it goes out."""
    rules = {"error": {"visits": 0.2}, "noise": {"visits": 30.0}}
    with pytest.raises(ReleaseError, match="the intervals of visits are ±"):
        pv.publish(people(20), epsilon="1", accept=rules)
    release = pv.publish(people(2000), epsilon="1", accept=rules)
    release.write(folder / "out")
    assert pv.read_release(folder / "out").acceptance == Acceptance.of(rules)
    with pytest.raises(ParameterError, match="by name, or a TOML file"):
        pv.publish(people(2000), epsilon="1", accept=3)
