"""People with many trips, a height to be chosen and an unknown universe, from the command line."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from pathveil.gate import randomness
from pathveil.release.bundle import read_release

PEOPLE, TRIPS = 400, 6
COLUMNS = [
    *("--unit-column", "card", "--trajectory-column", "trip"),
    *("--order-column", "seq", "--location-column", "stop"),
]
PUBLISH = ["publish", "taps.csv", *COLUMNS, "--out", "out"]
STOPS = ["--universe", "stops.csv"]
SECRET = "zq7place9953"


@pytest.fixture
def taps(folder):
    """Everybody makes six trips of three visits; the first trip goes from A, the others from B."""
    (folder / "stops.csv").write_text("location\nA\nB\nC\n")
    rows = [
        f"c{card},{trip},{seq},{stop}"
        for card in range(PEOPLE)
        for trip in range(TRIPS)
        for seq, stop in enumerate(("A" if trip == 0 else "B", "C", "C"))
    ]
    rows.append(f"c1,0,9,{SECRET}")
    (folder / "taps.csv").write_text("\n".join(["card,trip,seq,stop", *rows]) + "\n")
    return folder


@pytest.mark.usefixtures("taps")
def test_a_sample_is_published_and_said(pathveil):
    choices = ["--epsilon", "8", "--height", "3", "--keep", "sample", "--method", "full"]
    assert pathveil(*PUBLISH, *STOPS, *choices).code == 0
    release = read_release("out")
    # The first trips alone would never be at B. 5 in 6 of a sample are: 333, deviation 7.5, and
    # noise of deviation below 1.
    assert 250 < release.count(["B"]) < PEOPLE
    assert any("sample" in rule for rule in release.rules)
    assert "a random sample is used" in pathveil("explain", "out", "--json").out
    page = pathveil("evaluate", "taps.csv", "out", *COLUMNS, "--keep", "sample", "--queries", "40")
    assert page.code == 0


@pytest.mark.usefixtures("taps")
def test_epsilon_per_trip_is_c_times_as_much_for_a_person(pathveil):
    choices = ["--epsilon-per-trip", "0.7", "-c", "6", "--height", "3"]
    result = pathveil(*PUBLISH, *STOPS, *choices, "--json")
    assert result.code == 0, result
    assert result.json()["epsilon"] == "21/5"
    certificate = read_release("out").certificate
    assert certificate.privacy_loss.privacy_parameters.epsilon == "21/5"
    assert "ε/6 = 7/10" in certificate.privacy_loss.privacy_unit_description
    told = " ".join(pathveil("explain", "out").out.split())
    assert "at most 6 trajectories, one of them by itself" in told
    assert "is protected with ε/6 = 7/10, because" in told
    assert "If a unit has more, one of them is protected with ε/3 = 7/5:" in told
    assert "Here ε is 21/5" in told


@pytest.mark.usefixtures("taps")
def test_a_budget_is_given_exactly_once(refuses):
    height = ["--height", "3"]
    both = ["--epsilon", "1", "--epsilon-per-trip", "0.1"]
    refuses(*PUBLISH, *STOPS, *height, says="exactly one of them")
    refuses(*PUBLISH, *STOPS, *height, *both, says="exactly one of them")
    refuses("plan", "--universe-size", "9", *height, *both, says="exactly one of them")
    refuses("plan", "--universe-size", "9", *height, says="exactly one of them")
    refuses(
        *PUBLISH, *STOPS, *height, "--epsilon-per-trip", "2", "-c", "100", says="fewer trajectories"
    )
    refuses(*PUBLISH, *STOPS, *height, "--epsilon-per-trip", "1", "-c", "0", says="trajectories")
    refuses(*PUBLISH, *STOPS, *height, "--epsilon", "1", "--keep", "last", says="'sample'")


def test_a_plan_shows_what_other_bounds_would_cost(pathveil):
    asked = ["plan", "--universe-size", "100", "--epsilon", "1", "--height", "10"]
    for method in ("full", "calibrated"):
        choices = pathveil(*asked, "--method", method, "--json").json()["choices_of_c"]
        assert [one["max_trajectories_per_unit"] for one in choices] == [1, 2, 5, 10, 20, 50]
        assert [one["epsilon_per_trip"] for one in choices[:3]] == ["1", "1/2", "1/5"]
        # Noise and what survives it grow in proportion.
        for one in choices[1:]:
            factor = one["max_trajectories_per_unit"]
            assert one["noise"] == pytest.approx(factor * choices[0]["noise"], rel=0.02)
            key = "smallest_count_likely_to_survive"
            assert one[key] == pytest.approx(factor * choices[0][key], rel=0.05)
    text = pathveil(*asked, "-c", "7").out
    assert "7 (this plan)" in text
    assert "nearly every unit reaches" in text


def test_a_plan_says_whose_trips_weigh_less(pathveil):
    asked = ["plan", "--universe-size", "100"]
    for budget, c, is_told in (
        (("--epsilon", "1", "--delta", "1e-9"), "5", True),
        (("--rho", "0.02", "--delta", "1e-9"), "5", True),
        (("--epsilon", "1", "--delta", "1e-9"), "1", False),
        (("--epsilon", "1"), "5", False),
    ):
        told = " ".join(pathveil(*asked, *budget, "-c", c).out.split())
        assert ("trips repeat weigh less" in told) == is_told, (budget, c)
        assert ("c^(p/2)" in told) == is_told, (budget, c)


@pytest.mark.usefixtures("taps")
def test_the_height_is_chosen_and_paid_for(pathveil):
    least = 6
    choices = ["--epsilon", "8", "--height", "auto", "--method", "full"]
    result = pathveil(*PUBLISH, *STOPS, *choices, "--json")
    assert result.code == 0, result
    assert result.json()["height"] == least  # all are of length 3
    certificate = read_release("out").certificate
    assert certificate.adds_up()
    (choice,) = certificate.accounting.choices
    assert (choice.epsilon, choice.sensitivity, choice.delta) == ("2/5", 1, "0")
    assert certificate.dp_flavor.name == "Pure DP"
    assert pathveil("verify", "out").code == 0
    told = " ".join(pathveil("explain", "out").out.split())
    assert f"the height is the smallest number from {least} to 20" in told
    assert "There is no exception" in told


@pytest.mark.usefixtures("taps")
def test_an_unknown_universe_is_discovered(pathveil):
    choices = ["--universe", "discover", "--delta", "1e-9", "--epsilon", "8", "--height", "auto"]
    result = pathveil(*PUBLISH, *choices, "-c", "2", "--csv", "--json")
    assert result.code == 0, result
    assert result.json()["delta"] == "1/1000000000"
    assert result.json()["universe_size"] == 3
    assert SECRET not in result.out + result.err
    release = read_release("out")
    assert release.universe.labels == ("A", "B", "C")
    certificate = release.certificate
    assert certificate.dp_flavor.name == "Approximate DP"
    assert certificate.privacy_loss.privacy_parameters.delta == "1/1000000000"
    assert [line.epsilon for line in certificate.accounting.choices] == ["8/5"]
    assert certificate.adds_up()
    assert "discovered" in certificate.implementation.universe_origin
    assert not any("universe" in line for line in certificate.dp_flavor.unprotected_quantities)
    assert "nothing is claimed" in certificate.privacy_loss.privacy_unit_description
    assert pathveil("verify", "out").code == 0
    assert "PRIVATE: ε = 8, δ = 1e-9, " in pathveil("verify", "out").out
    assert pathveil("verify", "out", "--json").json()["delta"] == "1/1000000000"
    told = " ".join(pathveil("explain", "out").out.split())
    for words in ("1e-9", "only one unit ever went", "δ add up", "a label is named if"):
        assert words in told
    assert "locations that the publisher gave" not in told
    facts = pathveil("explain", "out", "--json").json()
    assert (facts["epsilon"], facts["delta"]) == ("8", "1/1000000000")
    for path in ("out/privacy-certificate.json", "out/datapackage.json", "out/report.html"):
        text = Path(path).read_text(encoding="utf-8")
        assert "public universe" not in text, path
        assert "public list" not in text, path
    # What was discovered is published: the raw data is compared over it.
    for more in ([], ["--universe", "discover"]):
        evaluated = pathveil("evaluate", "taps.csv", "out", *COLUMNS, "--queries", "40", *more)
        assert evaluated.code == 0, evaluated


@pytest.mark.usefixtures("taps")
def test_a_tree_that_does_not_fit_what_was_discovered_has_spent_the_budget(pathveil):
    """Three labels are found, and two nodes are allowed: nobody could know that before."""
    ledger = ["--ledger", "ledger.db"]
    limits = ["--limit", "9", "--delta-limit", "1e-9"]
    assert pathveil("ledger", "init", "taps", *limits, *ledger).code == 0
    choices = ["--universe", "discover", "--delta", "1e-9", "--epsilon", "8", "--height", "3"]
    tight = ["--max-nodes", "2", "--method", "full", "--dataset", "taps", *ledger]
    result = pathveil(*PUBLISH, *choices, *tight)
    assert result.code == 2
    assert "more than max_nodes = 2" in result.err
    assert "the budget is spent" in result.err
    assert "Nothing was" not in result.err
    assert "stays charged to 'taps'" in result.err


@pytest.mark.usefixtures("taps")
def test_the_certificate_does_not_say_that_nobody_looked_at_the_data(pathveil):
    """The dry run shows exact figures, and the software can't know what came of them."""
    choices = [*STOPS, "--epsilon", "8", "--height", "3"]
    assert pathveil(*PUBLISH, *choices, "--dry-run").code == 0
    assert pathveil(*PUBLISH, *choices).code == 0
    said = read_release("out").certificate.implementation.pre_processing_eda_hyperparameter_tuning
    assert said.startswith("by the software: from noisy tables: the caps and shares")
    assert "can't know whether the publisher had looked at the data" in said


@pytest.mark.usefixtures("taps")
def test_what_discovery_asks_for_is_refused_before_reading(refuses):
    asked = [*PUBLISH, "--universe", "discover", "--epsilon", "1", "--height", "3"]
    refuses(*asked, says="needs a delta")
    refuses(*asked, "--delta", "0.1", says="between 1e-30 and 1e-5")
    refuses(*asked, "--delta", "1e-9", "--threshold", "paper", says="'auto'")
    full = ("--epsilon", "1", "--height", "3", "--method", "full")
    refuses(*PUBLISH, *STOPS, *full, "--delta", "1e-9", says="leave delta")
    refuses(*PUBLISH, *STOPS, "--rho", "0.01", says="A budget in rho needs a delta")
    both = ("--epsilon", "1", "--rho", "0.01", "--delta", "1e-9")
    refuses(*PUBLISH, *STOPS, *both, says="exactly one of them")
    refuses(*asked[:-4], "--rho", "0.01", "--delta", "1e-9", says="spends its delta on naming")


@pytest.mark.usefixtures("taps")
def test_that_nothing_stands_out_is_said_and_leaves_nothing(pathveil, folder):
    asked = [*PUBLISH, "--universe", "discover", "--delta", "1e-9", "--epsilon", "0.01"]
    result = pathveil(*asked, "--height", "3")
    assert result.code == 2
    assert "No label's noisy count reached" in result.err
    assert SECRET not in result.err
    assert not (folder / "out").exists()


def test_a_plan_says_what_can_be_said_of_an_unknown_universe(pathveil, refuses):
    asked = ["plan", "--universe", "discover", "--delta", "1e-9", "--epsilon", "1"]
    asked += ["--method", "full"]
    facts = pathveil(*asked, "--height", "12", "--json").json()
    assert facts["discovery"]["budget"] == "1/5"
    assert facts["discovery"]["threshold"] == 430
    survives = [
        one["smallest_count_likely_to_survive"] for one in facts["if_the_universe_has"].values()
    ]
    assert survives == sorted(survives)
    text = pathveil(*asked, "--height", "auto").out
    assert "A label needs about" in text
    assert "The height is not chosen yet" in text
    whole = pathveil(*asked, "--height", "12", "--universe-size", "1000", "--json").json()
    assert whole["universe_size"] == 1000
    assert whole["delta"] == "1/1000000000"
    key = "smallest_count_likely_to_survive"
    assert whole[key] == facts["if_the_universe_has"]["1000"][key]
    plan = ["explain", "--plan", *asked[1:], "--height", "auto"]
    refuses(*plan, says="how many you expect")
    told = " ".join(pathveil(*plan, "--universe-size", "1000").out.split())
    assert "only one unit ever went" in told
    assert "The height is not chosen yet" in told


FORMS = ["{}", "{} ", " {}", "0{}", "{}.0", "+{}", "{}\u00a0"]
VISITS = ["--unit-column", "card", "--order-column", "seq", "--location-column", "stop"]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_person_whose_id_is_written_in_seven_ways_contributes_once(folder, pathveil, engine):
    """300 people at one stop. As seven units each they would be counted seven times."""
    (folder / "stops.csv").write_text("location\nA\nB\n")
    rows = [f"{form.format(card)},1,A\n" for card in range(1, 301) for form in FORMS]
    (folder / "taps.csv").write_text("card,seq,stop\n" + "".join(rows))
    choices = ["--epsilon", "8", "--height", "1", "--method", "full", "--engine", engine]
    told = pathveil("publish", "taps.csv", *VISITS, *STOPS, *choices, "--out", "one")
    assert told.code == 0, told
    assert abs(read_release("one").count(["A"]) - 300) < 20  # noise of scale 1/8
    assert "1,800 forms too many" in told.err
    assert "1,800" not in told.out
    exact = [*choices, "--unit-text", "exact", "--out", "seven"]
    told = pathveil("publish", "taps.csv", *VISITS, *STOPS, *exact)
    assert abs(read_release("seven").count(["A"]) - 2100) < 20
    assert "forms too many" not in told.err
    said = [" ".join(read_release(name).rules) for name in ("one", "seven")]
    assert ["every character" in rules for rules in said] == [False, True]


@pytest.mark.parametrize("method", ["full", "calibrated"])
def test_how_many_forms_were_merged_stays_out_of_the_bundle(folder, pathveil, monkeypatch, method):
    """Two files in which the same people do the same; in one of them, ids have several forms.

    With the same noise every byte of the two bundles, and all of stdout, is the same: the number is
    told to the curator, on stderr, and nowhere else.
    """
    (folder / "stops.csv").write_text("location\nA\nB\n")
    people = range(1, 61)
    rows = [(card, seq, stop) for card in people for seq, stop in enumerate("ABAB")]
    choices = ["--epsilon", "8", "--height", "2", "--method", method]
    bundles, told = [], []
    for forms in (["{}"], FORMS):
        written = [
            f"{forms[seq % len(forms)].format(card)},{seq},{stop}" for card, seq, stop in rows
        ]
        (folder / "taps.csv").write_text("\n".join(["card,seq,stop", *written]) + "\n")
        noise = np.random.default_rng(5)  # noqa: TID251
        monkeypatch.setattr(randomness, "os", SimpleNamespace(urandom=noise.bytes))
        result = pathveil("publish", "taps.csv", *VISITS, *STOPS, *choices, "--out", "out")
        assert result.code == 0, result
        bundles.append({path.name: path.read_bytes() for path in Path("out").iterdir()})
        told.append(result)
        shutil.rmtree("out")
    assert bundles[0] == bundles[1]
    assert told[0].out == told[1].out
    assert "forms too many" not in told[0].err
    assert f"{3 * len(people)} forms too many" in told[1].err


def test_the_text_of_units_is_checked_before_anything_is_read(refuses, folder):
    (folder / "stops.csv").write_text("location\nA\n")
    (folder / "taps.csv").write_text("card,seq,stop\n1,1,A\n")
    command = ["publish", "taps.csv", *VISITS, *STOPS, "--epsilon", "1", "--height", "1"]
    refuses(*command, "--out", "out", "--unit-text", "loose", says="'normal' or as 'exact'")


@pytest.mark.usefixtures("taps")
def test_the_number_of_trips_is_chosen_and_counts_are_read_as_all_trips(pathveil, refuses):
    choices = ["--epsilon", "8", "--trips", "auto", "--keep", "sample"]
    result = pathveil(*PUBLISH, *STOPS, *choices, "--json")
    assert result.code == 0, result
    # Six trips of everybody are in the bin of 6 to 8, and all of them are used.
    assert result.json()["max_trajectories_per_unit"] == 8
    assert result.json()["of_all_trips"] == result.json()["released_trajectories"]
    release = read_release("out")
    assert release.certificate.adds_up()
    assert release.certificate.accounting.choices[0].epsilon == "8/25"
    told = " ".join(pathveil("explain", "out").out.split())
    assert "Counts are of at most 8 trips of each unit. By noisy counts there are 1 trips" in told
    counted = pathveil("count", "out", "C", "--json").json()
    assert counted["of_all_trips"] == counted["count"]
    assert "of at most 8 trips" in " ".join(pathveil("count", "out", "C").err.split())
    assert "of at most 8 trips" in " ".join(pathveil("flows", "out", "--all").out.split())
    asked = ["evaluate", "taps.csv", "out", *COLUMNS, "--queries", "40", "--all-trips", "--json"]
    assert pathveil(*asked).json()["all_trips"] is True
    five = ["publish", "taps.csv", *COLUMNS, *STOPS, "--epsilon", "8", "--trips", "5"]
    assert pathveil(*five, "--out", "five").code == 0
    said = " ".join(pathveil("compare", "out", "five").out.split())
    assert "At most 8 trajectories of a unit are counted in the first and 5 in the second" in said
    assert pathveil("compare", "five", "five", "--json").json()["counted_otherwise"] is None
    assert pathveil("report", "five", "--previous", "out", "--out", "page.html").code == 0
    words = "At most 8 trajectories of a unit are counted in the first and 5 in the second"
    assert words in Path("page.html").read_text(encoding="utf-8")
    assert pathveil(*five, "--repeats", "collapse", "--out", "once").code == 0
    said = " ".join(pathveil("compare", "five", "once").out.split())
    assert "The two count other things" in said
    shutil.rmtree("once")
    shutil.rmtree("five")
    planned = pathveil("plan", "--universe-size", "9", "--epsilon", "1", "--trips", "auto").out
    assert "is not chosen yet" in " ".join(planned.split())
    shutil.rmtree("out")
    refuses(*PUBLISH, *STOPS, "--epsilon-per-trip", "1", "--trips", "auto", says="needs a number")
    refuses(*PUBLISH, *STOPS, "--epsilon", "1", "--trips", "most", says="or 'auto'")


def test_a_bound_of_several_is_refused_if_nothing_tells_trips_apart(folder, pathveil, refuses):
    """It would only multiply the noise, or cost a part of ε, and nobody would be told."""
    (folder / "stops.csv").write_text("location\nA\nB\n")
    rows = (f"c{card},2026-03-0{day}T08:00,{'AB'[card % 2]}" for card in range(9) for day in (1, 2))
    (folder / "taps.csv").write_text("\n".join(["card,at,stop", *rows]) + "\n")
    asked = (
        *("publish", "taps.csv", "--universe", "stops.csv", "--unit-column", "card"),
        *("--order-column", "at", "--location-column", "stop", "--epsilon", "4"),
    )
    assert pathveil("ledger", "init", "taps", "--limit", "9", "--ledger", "l.db").code == 0
    charged = ("--dataset", "taps", "--ledger", "l.db", "--out", "out")
    for bound in (("-c", "5"), ("--trips", "auto"), ("--split", "whole", "-c", "2")):
        for more in (charged, ("--out", "out"), ("--dry-run",)):
            refuses(*asked, *bound, *more, says="leave the bound at 1")
    whose = ("Protected", "A")  # always said first
    days = ("--protect", "person-day", "--split", "day")
    refuses(*asked, *days, "-c", "2", *charged, says="leave the bound at 1", after=whose)
    refuses(*asked, "--protect", "trip", *charged, says="or protect a person", after=whose)
    shown = pathveil("ledger", "show", "--json", "--ledger", "l.db").json()["datasets"][0]
    assert (shown["charges"], (folder / "out").exists()) == (0, False)
    # What tells them apart may be days, or a column of a well-known name.
    allowed = (*asked, "-c", "2", "--method", "full", "--height", "2", *charged[:-1])
    assert pathveil(*allowed, "days", "--split", "day").code == 0
    taps = (folder / "taps.csv").read_text().replace("card,at", "card,tid,at").replace(",2", ",1,2")
    (folder / "taps.csv").write_text(taps)
    assert pathveil(*allowed, "ids").code == 0


def test_counts_of_whole_histories_are_told_as_such(folder, pathveil):
    (folder / "stops.csv").write_text("location\nA\nB\n")
    rows = (f"c{card},{card},{'AB'[card % 2]}" for card in range(60))
    (folder / "taps.csv").write_text("\n".join(["card,at,stop", *rows]) + "\n")
    for out, split in (("none", ()), ("whole", ("--split", "whole"))):
        done = pathveil(
            *("publish", "taps.csv", "--universe", "stops.csv", "--unit-column", "card"),
            *("--order-column", "at", "--location-column", "stop", "--epsilon", "9", *split),
            *("--method", "full", "--height", "2", "--out", out),
        )
        assert done.code == 0, done.err
        words = "Counts are of units: all visits of a unit are one trajectory."
        assert words in pathveil("count", out, "A").err
        explained = " ".join(pathveil("explain", out).out.split())
        assert words in explained
        assert "not of all trips" not in explained
