"""A series of releases on the command line: opened once, published month by month, ended."""

import hashlib
import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from tests.commands import edit_certificate, environment, publish_arguments
from tests.warm_processes import WarmParent

import pathveil as pv
from pathveil.core.told_numbers import told
from pathveil.core.zcdp import Concentrated
from pathveil.errors import ParameterError

LEDGER = ("--ledger", "ledger.db")


def monthly(out, period, **changes):
    """A release of a series: it brings no budget of its own."""
    changes = {"epsilon": None, "height": None, "method": None, "series": "monthly"} | changes
    return [*publish_arguments(out=out, period=period, **changes), *LEDGER]


def opened(pathveil, *budget):
    pathveil("ledger", "init", "taps", "--limit", "4", "--delta-limit", "1e-8", *LEDGER)
    options = ("--dataset", "taps", "--releases", "2", *budget)
    result = pathveil("ledger", "series", "monthly", *options, *LEDGER)
    assert result.code == 0, result
    return result


def certificate(bundle):
    return json.loads((Path(bundle) / "privacy-certificate.json").read_text(encoding="utf-8"))


@pytest.mark.usefixtures("week")
def test_a_series_is_opened_published_and_spent(pathveil, refuses):
    assert "together have ε = 2, δ = 1/1000000000" in " ".join(
        opened(pathveil, "--epsilon", "2", "--delta", "1e-9").out.split()
    )
    rho = Concentrated.within(Fraction(2), Fraction(1, 10**9)).rho
    first = pathveil(*monthly("january", "2026-01"))
    assert first.code == 0, first
    assert f"Release 1 of 2 of series 'monthly', 2026-01, took ρ = {told(rho / 2)}" in first.err
    # Nothing is charged to the dataset anew.
    taking = f"Taking ρ = {told(rho / 2)} of series 'monthly', which 'taps' was charged for. If not"
    assert taking in first.err
    assert "Charg" not in first.err

    january = certificate("january")
    lines = [Fraction(line["rho"]) for line in january["accounting"]["budget"]]
    assert sum(lines) == rho / 2  # all of it in ρ, and no more than the share
    assert january["ledger"]["series"] == {
        "series": "monthly",
        "release": 1,
        "period": "2026-01",
        "epsilon": "2",
        "delta": "1/1000000000",
        "rho": str(rho),
        "previous": None,
    }
    assert january["model"]["is_many_release"] is True
    assert "of the series 'monthly'" in pathveil("explain", "january").out.replace("\n", " ")
    assert "The ledger agrees" in pathveil("verify", "january", *LEDGER).out

    says = "The data of 2026-01 was charged to series 'monthly' already, by entry 3"
    refuses(*monthly("again", "2026-01"), says=says)
    assert pathveil(*monthly("february", "2026-02", previous="january")).code == 0
    february = certificate("february")
    digest = hashlib.sha256(Path("january/privacy-certificate.json").read_bytes()).hexdigest()
    assert february["ledger"]["series"]["previous"] == digest
    assert "lean on those of an earlier release" in february["accounting"]["post_processing"]
    assert pathveil("verify", "february", *LEDGER).code == 0
    drawn = pathveil("report", "february", "--previous", "january", "--out", "page.html")
    assert drawn.code == 0, drawn
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Visits against the release in january" in page
    assert page.count("may be noise") > 0  # the same week twice: nothing has changed
    assert 'id="changes"' not in Path("february/report.html").read_text(encoding="utf-8")
    refuses(*monthly("march", "2026-03"), says="Series 'monthly' is spent: 2 of 2 releases")
    shown = pathveil("ledger", "show", "--json", *LEDGER).json()
    assert shown["datasets"][0]["spent"] == "2"
    (series,) = shown["series"]
    assert (series["taken"], series["remaining"], series["next_share"]) == (2, "0", None)
    assert [row["state"] for row in series["all_releases"]] == ["published", "published"]
    assert "share" in pathveil("ledger", "history", *LEDGER).out


def test_each_month_chooses_how_many_trips_within_its_share(folder):
    """c is chosen anew, from noisy numbers; the ρ of the series is spent exactly."""
    ledger = pv.Ledger.open(folder / "ledger.db")
    ledger.init("taps", "20", delta_limit="1e-9")
    ledger.open_series("monthly", dataset="taps", releases=2, rho="1", delta="1e-9")
    universe, file, previous, chosen = pv.Universe(["A", "B"]), folder / "taps.csv", None, []
    for month, trips in (("2026-01", 8), ("2026-02", 3)):
        rows = [f"u{unit},{trip},{unit % 2},A" for unit in range(500) for trip in range(trips)]
        file.write_text("\n".join(["unit,trip,seq,stop", *rows]) + "\n")
        release = pv.publish(
            file, universe=universe, ledger=ledger.series("monthly", month), previous=previous,
            unit="unit", trajectory="trip", order="seq", location="stop",
            max_trajectories_per_unit="auto",
        )  # fmt: skip
        assert release.certificate.adds_up()
        assert release.certificate.rho == Fraction(1, 2)
        chosen.append(release.parameters.max_trajectories_per_unit)
        previous = release.write(folder / month)
    assert chosen == [8, 3]
    series = ledger.books().one_series("monthly")
    assert (series.spent, series.left) == (1, 0)


@pytest.mark.usefixtures("week")
def test_a_month_is_not_corrected_by_another(pathveil, refuses):
    opened(pathveil, "--epsilon", "2")
    for folder, month in (("feb", "2026-02"), ("mar", "2026-03")):
        assert pathveil(*monthly(folder, month, method="full", height="2")).code == 0
    said = "a release is replaced by one of the same period"
    refuses("ledger", "correct", "feb", "--by", "mar", "--reason", "x", *LEDGER, says=said)
    states = [row["state"] for row in series_of(pathveil)["all_releases"]]
    assert states[:2] == ["published", "published"]


@pytest.mark.usefixtures("week")
def test_a_release_is_withdrawn_and_replaced(pathveil, refuses):
    opened(pathveil, "--epsilon", "2")
    assert pathveil(*monthly("one", "2026-01", method="full", height="2")).code == 0
    refuses("ledger", "withdraw", "one", "--reason", "", *LEDGER, says="Say why")
    assert pathveil("ledger", "withdraw", "one", "--reason", "wrong stops", *LEDGER).code == 0
    assert pathveil(*monthly("two", "2026-01", method="full", height="2")).code == 0
    corrected = ("ledger", "correct", "one", "--by", "two", "--reason", "wrong stops", *LEDGER)
    assert pathveil(*corrected).code == 0
    states = [row["state"] for row in series_of(pathveil)["all_releases"]]
    assert states == ["replaced by entry 7", "published"]
    verified = pathveil("verify", "one", *LEDGER)
    assert "WITHDRAWN: wrong stops" in verified.out.replace("\n", " ")
    assert "REPLACED by the release of entry 7" in verified.out.replace("\n", " ")
    facts = pathveil("verify", "one", "--json", *LEDGER).json()["ledger"]
    assert (facts["withdrawn"], facts["replaced_by"]) == ("wrong stops", 7)
    assert "WITHDRAWN" not in pathveil("verify", "two", *LEDGER).out
    said = ("--name", "Taps", "--curator", "City", "--intended-use", "Planning", "--region", "Here")
    said += ("--date", "2026-03-01", "--author", "Me")
    entry = pathveil("registry", "one", *said, *LEDGER, "--json").json()
    model = entry["deployment"]["deployment_model"]
    assert model["release_type"] == "Many releases"
    assert "release 1 (2026-01) of the series 'monthly'" in model["release_type_details"]
    assert "It was WITHDRAWN: wrong stops." in model["release_type_details"]
    assert "WITHDRAWN" not in pathveil("registry", "two", *said, *LEDGER).out
    history = " ".join(pathveil("ledger", "history", *LEDGER).out.split())
    assert "withdrawn" in history
    assert "entry 3 by 7" in history


def series_of(pathveil):
    return pathveil("ledger", "series", "monthly", "--json", *LEDGER).json()["series"][0]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"period": None}, "say when its data is from"),
        ({"epsilon": "1"}, "gives each release its budget, in rho"),
        ({"delta": "1e-9"}, "gives each release its budget, in rho"),
        ({"dataset": "taps"}, "knows its dataset"),
        ({"series": "montly"}, "no series 'montly'; it has: 'monthly'. Did you mean"),
        ({"method": "full", "height": "4"}, "use method 'calibrated'"),
        ({"rho": "1"}, "left; this run asks for 1"),
    ],
)
@pytest.mark.usefixtures("week")
def test_a_mistake_costs_nothing(pathveil, changes, says):
    opened(pathveil, "--epsilon", "2", "--delta", "1e-9")
    result = pathveil(*monthly("out", **({"period": "2026-01"} | changes)))
    assert result.code == 2
    assert says in result.err.replace("says when", "say when")
    assert not Path("out").exists()
    assert series_of(pathveil)["taken"] == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--releases", "3"], "no series 'yearly'"),
        (["--dataset", "taps", "--epsilon", "1"], "--releases 12"),
        (["--epsilon", "1"], "To open a series"),
        (["--dataset", "taps", "--releases", "0", "--epsilon", "1"], "1 to 1,000 releases"),
        (["--dataset", "taps", "--releases", "2"], "budget of the series"),
        (["--dataset", "tabs", "--releases", "2", "--epsilon", "1"], "no dataset 'tabs'"),
    ],
)
def test_a_series_that_can_not_be_is_refused(pathveil, options, says):
    opened(pathveil, "--epsilon", "2")
    result = pathveil("ledger", "series", "yearly", *options, *LEDGER)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert "yearly" not in pathveil("ledger", "series", *LEDGER).out


@pytest.mark.usefixtures("week")
def test_a_certificate_that_names_another_series_is_found(pathveil):
    opened(pathveil, "--epsilon", "2")
    pathveil(*monthly("one", "2026-01", method="full", height="2"))
    for key, value in (("release", 2), ("epsilon", "1"), ("period", "2026-02")):
        edit_certificate(Path("one"), lambda told: told["ledger"]["series"].update({key: value}))  # noqa: B023
        result = pathveil("verify", "one", *LEDGER)
        assert result.code == 2
    edit_certificate(Path("one"), lambda told: told["ledger"].pop("series"))
    assert pathveil("verify", "one", *LEDGER).code == 2


@pytest.mark.usefixtures("week", "release", "not_private")
def test_only_a_published_release_of_the_series_is_leaned_on(pathveil, refuses):
    opened(pathveil, "--epsilon", "2")
    assert pathveil(*monthly("one", "2026-01", method="full", height="2")).code == 0
    shutil.copytree("one", "changed")
    with Path("changed/trajectories.parquet").open("ab") as file:
        file.write(b"x")
    lines = {
        "changed": "changed/trajectories.parquet",
        "nowhere": "is not a release",
        "not-private": "NOT PRIVATE",
        "release": "is no release of the series 'monthly'",
    }
    for previous, says in lines.items():
        assert says in refuses(*monthly("two", "2026-02", previous=previous), says="")
    changes = {"method": "full", "height": "2", "previous": "one"}
    refuses(*monthly("two", "2026-02", **changes), says="serves the method 'calibrated'")
    alone = {"series": None, "period": None, "epsilon": "1", "previous": "one", "dataset": "taps"}
    refuses(*monthly("two", **alone), says="name the series, too")
    assert pathveil("ledger", "withdraw", "one", "--reason", "wrong", *LEDGER).code == 0
    refuses(*monthly("two", "2026-02", previous="one"), says="was withdrawn or replaced")
    assert series_of(pathveil)["taken"] == 1


def test_of_four_that_publish_one_month_at_once_one_does(week):
    """Real processes: the others are refused, and have spent nothing."""
    ledger = pv.Ledger.open(week / "ledger.db")
    ledger.init("taps", "4")
    ledger.open_series("monthly", dataset="taps", releases=12, epsilon="4")
    variables = environment(week.parent / "home", TMPDIR=str(week.parent / "temporary"))
    with WarmParent(week, variables) as warm:
        children = [
            warm.start(*monthly(f"out{i}", "2026-01", method="full", height="2")) for i in range(4)
        ]
        codes = [child.wait() for child in children]
        said = [child.said() for child in children]
    assert sorted(codes) == [0, 2, 2, 2], said
    assert sum("The data of 2026-01 was charged" in text for text in said) == 3
    series = ledger.books().one_series("monthly")
    assert (series.taken, series.spent) == (1, Fraction(1, 3))
    assert [(week / f"out{i}").is_dir() for i in range(4)] == [code == 0 for code in codes]


def test_python_has_its_budget_from_the_series(folder):
    ledger = pv.Ledger.open(folder / "ledger.db")
    ledger.init("taps", "4", delta_limit="1e-9")
    ledger.open_series("monthly", dataset="taps", releases=12, rho="0.12", delta="1e-9")
    universe = pv.Universe(["A", "B", "C"])
    people = [["A", "B"], ["B", "C"], ["C"]] * 200
    database = pv.TrajectoryDatabase.from_sequences(people, universe)
    release = pv.publish(database, ledger=ledger.series("monthly", "2026-01"))
    assert release.certificate.rho == Fraction(1, 100)
    assert release.ledger.series.release == 1
    release.write(folder / "january")
    assert pv.read_release(folder / "january").ledger == release.ledger
    with pytest.raises(ParameterError, match="gives each release its budget"):
        pv.publish(database, epsilon="1", ledger=ledger.series("monthly", "2026-02"))
