"""Who is protected as one, from the command line: units, what a year comes to, the ledger."""

import pathveil as pv

LEDGER = ("--ledger", "ledger.db")
PUBLISH = (
    *("publish", "taps.csv", "--universe", "stops.csv", "--unit-column", "card"),
    *("--trajectory-column", "trip", "--order-column", "at", "--location-column", "stop"),
    *("--method", "full", "--height", "2", "--epsilon", "1"),
)


def taps(folder):
    """Ten people, two trips on each of three days in two weeks."""
    (folder / "stops.csv").write_text("location\nA\nB\n")
    rows = [
        f"c{card},{day}-{trip},2026-03-{day:02d}T{9 * trip:02d}:{visit:02d},{'AB'[card % 2]}"
        for card in range(10)
        for day in (7, 8, 9)  # a Saturday, a Sunday and a Monday
        for trip in range(2)
        for visit in range(2)
    ]
    (folder / "taps.csv").write_text("\n".join(["card,trip,at,stop", *rows]) + "\n")


def test_units_of_time_are_told_and_not_mixed_in_a_ledger(folder, pathveil, refuses):
    taps(folder)
    assert pathveil("ledger", "init", "taps", "--limit", "4", *LEDGER).code == 0
    charge = ("--dataset", "taps", *LEDGER)

    rehearsed = pathveil(*PUBLISH, "--protect", "person-week", "-c", "2", "--dry-run")
    assert rehearsed.code == 0
    told = " ".join(rehearsed.err.split())
    assert "Protected as one is a week of a person, with ε = 1." in told
    assert "is 52 units, and has up to 52ε = 52 in total." in told
    assert "used │ 20 │ units" in told  # ten people in two weeks
    assert "used │ 40 │ trajectories" in told

    # With a bound of more than one trip and a ledger, too.
    done = pathveil(*PUBLISH, "--protect", "person-week", "-c", "2", *charge, "--out", "weeks")
    assert done.code == 0, done.err
    assert pv.read_release("weeks").certificate.protect == "person-week"
    # Wherever an ε is told, it is told whose it is.
    assert "protected as one │ a week of a person" in " ".join(done.out.split())
    assert "ε = 1 for a week of a person" in pathveil("verify", "weeks").out
    page = (folder / "weeks" / "report.html").read_text()
    assert "data of one unit (one week of one person) as without it" in page
    assert "for a week of a person</small>" in page
    explained = " ".join(pathveil("explain", "weeks").out.split())
    assert "any one unit (one week of one person) is in the data" in explained
    for told in (page, explained):
        assert "a person, a card) " not in told
    assert "not a person, but one week" in " ".join(pathveil("explain", "weeks").out.split())
    assert pathveil("verify", "weeks", *LEDGER).code == 0

    message = refuses(*PUBLISH, "--protect", "person", *charge, "--out", "no", says="do not add up")
    assert "Nothing was charged or read." in message
    shown = pathveil("ledger", "show", "taps", "--json", *LEDGER).json()["datasets"][0]
    assert (shown["protects"], shown["spent"], shown["charges"]) == (["person-week"], "1", 1)
    assert "has up to 52 times as much" in pathveil("ledger", "show", *LEDGER).out

    allowed = ("ledger", "amend", "taps", "--protect", "person", "--reason", "the board", *LEDGER)
    assert pathveil(*allowed).code == 0
    assert pathveil(*PUBLISH, *charge, "--out", "persons").code == 0
    history = pathveil("ledger", "history", "--json", *LEDGER).json()["entries"]
    events = [entry["event"] for entry in history]
    assert [event.get("protect") for event in events if event["kind"] == "defined"] == [
        None,
        ["person"],
    ]
    said = " ".join(pathveil("ledger", "show", *LEDGER).out.split())
    assert "about none of them" in said
    assert "a person who is in the data for a whole year has no more, however often" in said
    assert pathveil("ledger", "verify", *LEDGER).code == 0


def test_a_plan_says_what_a_year_comes_to(pathveil, refuses):
    asked = ("plan", "--universe-size", "50", "--protect", "person-day")
    told = " ".join(pathveil(*asked, "--epsilon", "1").out.split())
    assert "a person who is in the data on 365 days" in told.lower()
    assert "365ε = 365 in total" in told
    facts = pathveil(*asked, "--rho", "0.015", "--delta", "1e-9", "--json").json()
    year = facts["a_person_for_a_year"]
    assert (facts["protect"], year["units"]) == ("person-day", 365)
    assert year["rho_in_one_release"] == str(pv.Budget.parse("15/1000").epsilon * 365**2)
    refuses(*asked[:-1], "household", "--epsilon", "1", says="one of person, person-week")
