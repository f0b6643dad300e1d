"""What a ledger allows and refuses, and what it finds when somebody edits it. Over both stores."""

import json
import os
import stat
from fractions import Fraction

import pytest
from tests.ledgers import Clock, open_at, run_sql

import pathveil as pv
from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.books import Books, totals_hash
from pathveil.ledger.chain import Chain
from pathveil.ledger.charges import Account
from pathveil.ledger.entries import Charged, Entry, Row
from pathveil.ledger.export import exported, read_export, recorded
from pathveil.ledger.ledger import Ledger
from pathveil.ledger.standing import Standing


def budget(epsilon):
    return pv.Budget.parse(epsilon)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ledger(place, clock):
    return open_at(place, clock)


def remaining(ledger, name="taps", population=None):
    return ledger.books().dataset(name).remaining(ledger.now(), population)


# The limit


def test_releases_add_up_and_the_limit_is_reached_exactly(ledger):
    ledger.init("taps", "1")
    for _ in range(3):
        ledger.dataset("taps").charge(budget("1/3"))
    assert remaining(ledger) == 0
    with pytest.raises(LedgerError, match=r"has spent ε = 1 of its limit 1; this run asks for 1e?"):
        ledger.dataset("taps").charge(budget("1/1000000000"))
    assert len(ledger.books().datasets["taps"].payments) == 3


def test_tenths_add_up_to_one(ledger):
    """Ten floats of 0.1 do not."""
    ledger.init("taps", "1")
    for _ in range(10):
        ledger.dataset("taps").charge(budget("0.1"))
    assert ledger.books().dataset("taps").spent(ledger.now()) == Fraction(1)
    assert sum([0.1] * 10) != 1


def test_a_refused_charge_leaves_no_entry(ledger):
    ledger.init("taps", "1")
    head = ledger.chain().head
    with pytest.raises(LedgerError, match="Nothing was charged or read"):
        ledger.dataset("taps").charge(budget("2"))
    assert ledger.chain().head == head


def test_two_datasets_have_two_limits(ledger):
    ledger.init("taps", "1")
    ledger.init("bikes", "2")
    ledger.dataset("taps").charge(budget("1"))
    assert (remaining(ledger), remaining(ledger, "bikes")) == (0, 2)


def test_a_dataset_is_set_up_once(ledger):
    ledger.init("taps", "1")
    with pytest.raises(LedgerError, match="already"):
        ledger.init("taps", "9")
    assert remaining(ledger) == 1


def test_a_limit_is_changed_in_the_open(ledger):
    ledger.init("taps", "1")
    ledger.dataset("taps").charge(budget("1"))
    ledger.amend("taps", limit="3/2", reason="board, 12 March")
    assert remaining(ledger) == Fraction(1, 2)
    ledger.amend("taps", limit="1/2")  # below what is spent: nothing more, and nothing breaks
    assert remaining(ledger) == 0
    reasons = [getattr(entry.event, "reason", None) for entry in ledger.chain().entries]
    assert "board, 12 March" in reasons


@pytest.mark.parametrize("limit", [0.5, "0", "-1", "x", "1e400", True, None, "101"])
def test_a_limit_is_exact_and_positive(ledger, limit):
    with pytest.raises(ParameterError):
        ledger.init("taps", limit)


@pytest.mark.parametrize("name", ["", " ", "a b", "ä", "../x", "-x", "a" * 65, "x\n", 7, None])
def test_names_are_plain(ledger, name):
    with pytest.raises(ParameterError, match="name of a"):
        ledger.init(name, "1")
    with pytest.raises(ParameterError, match="name of a"):
        ledger.init("taps", "1", populations=[name])


def test_what_is_not_there_is_named_with_what_is(ledger):
    ledger.init("taps", "1", populations=["north"])
    with pytest.raises(LedgerError, match="no dataset 'tap'; it has: 'taps'"):
        ledger.dataset("tap")
    with pytest.raises(LedgerError, match="no population 'nroth'; declared: 'north'"):
        ledger.dataset("taps", "nroth")


def test_a_ledger_that_is_not_there_is_not_made_by_looking(ledger, place):
    for use in (ledger.chain, lambda: ledger.dataset("taps"), lambda: ledger.amend("taps")):
        with pytest.raises(LedgerError, match="There is no ledger"):
            use()
    assert not os.path.lexists(place)


# δ


def test_a_dataset_accepts_only_pure_differential_privacy_unless_it_says_otherwise(ledger):
    tiny = Fraction(1, 10**9)
    ledger.init("taps", "4")
    with pytest.raises(LedgerError, match="allows δ = 0 in all, of which 0 remains"):
        ledger.dataset("taps").charge(budget("1"), tiny)
    ledger.amend("taps", delta_limit="2e-9")
    charge = ledger.dataset("taps").charge(budget("1"), tiny)
    assert str(charge) == "ε = 1 (δ = 1/1000000000) stays charged to 'taps', entry 3."
    ledger.dataset("taps").charge(budget("1"), tiny)
    with pytest.raises(LedgerError, match="of which 0 remains"):
        ledger.dataset("taps").charge(budget("1"), tiny)
    ledger.dataset("taps").charge(budget("1"))
    assert not recorded(ledger.chain(), charge.record, Fraction(1), "a" * 64, tiny).certificates
    with pytest.raises(LedgerError, match="certificate says ε = 1, δ = 0"):
        recorded(ledger.chain(), charge.record, Fraction(1), "a" * 64)


@pytest.mark.parametrize("delta", [1e-9, "0.5", "-1", "x"])
def test_a_limit_of_delta_is_exact_and_small(ledger, delta):
    with pytest.raises(ParameterError, match="Delta"):
        ledger.init("taps", "4", delta_limit=delta)


# Periods


@pytest.mark.parametrize(
    ("per", "last", "first"),
    [
        ("year", "2026-12-31T23:59:59", "2027-01-01T00:00:00"),
        ("quarter", "2026-03-31T23:59:59", "2026-04-01T00:00:00"),
        ("month", "2028-02-29T23:59:59", "2028-03-01T00:00:00"),
        ("week", "2026-03-08T23:59:59", "2026-03-09T00:00:00"),
        ("day", "2026-03-01T23:59:59", "2026-03-02T00:00:00"),
    ],
)
def test_a_period_begins_anew_at_midnight_utc(ledger, clock, per, last, first):
    ledger.init("taps", "1", per=per)
    clock.set(last)
    ledger.dataset("taps").charge(budget("1"))
    assert remaining(ledger) == 0
    with pytest.raises(LedgerError, match=rf"remains until {first[:10]} \(UTC\)"):
        ledger.dataset("taps").charge(budget("1"))
    clock.set(first)
    ledger.dataset("taps").charge(budget("1"))
    dataset = ledger.books().dataset("taps")
    assert (dataset.spent(ledger.now()), dataset.spent_ever()) == (1, 2)


def test_a_clock_that_is_set_back_does_not_reopen_a_period(ledger, clock):
    ledger.init("taps", "1", per="month")
    clock.set("2026-04-02T00:00:00")
    ledger.dataset("taps").charge(budget("1"))
    clock.set("2026-03-02T00:00:00")  # March has all its budget left
    with pytest.raises(LedgerError, match="0 remains until 2026-05-01"):
        ledger.dataset("taps").charge(budget("1"))


@pytest.mark.parametrize("year", [9001, 9500, 9999])
@pytest.mark.parametrize("per", [None, "year", "week"])
def test_a_clock_that_can_not_be_right_is_a_message(ledger, clock, year, per):
    """At the end of the calendar a period has no end; and what is written stays."""
    ledger.init("taps", "1", per=per)
    clock.set(f"{year}-12-31T23:00:00")
    for use in (
        ledger.now,
        lambda: ledger.dataset("taps").charge(budget("1")),
        lambda: ledger.init("bikes", "1"),
    ):
        with pytest.raises(LedgerError, match=f"says that it is the year {year}"):
            use()
    clock.set("9000-12-31T23:00:00")
    ledger.dataset("taps").charge(budget("1"))
    assert len(ledger.chain()) == 3


def test_there_is_no_period_of_a_fortnight(ledger):
    with pytest.raises(ParameterError, match="year, quarter, month, week, day"):
        ledger.init("taps", "1", per="fortnight")


# Populations


def test_disjoint_populations_do_not_add_up_and_everybody_does(ledger):
    ledger.init("taps", "2", populations=["north", "south"])
    ledger.dataset("taps", "north").charge(budget("1"))
    ledger.dataset("taps", "south").charge(budget("3/2"))
    assert ledger.books().dataset("taps").spent(ledger.now()) == Fraction(3, 2)
    assert remaining(ledger, population="north") == 1
    assert remaining(ledger, population="south") == Fraction(1, 2)
    assert remaining(ledger) == Fraction(1, 2)
    ledger.dataset("taps").charge(budget("1/2"))
    assert remaining(ledger, population="north") == Fraction(1, 2)
    assert remaining(ledger, population="south") == 0


def test_the_declaration_is_recorded(ledger):
    ledger.init("taps", "2", populations=["north"])
    ledger.amend("taps", populations=["south", "north"])
    declared = [entry.event for entry in ledger.chain().entries[1:]]
    assert [event.populations for event in declared] == [("north",), ("north", "south")]
    assert all("no unit is in two populations" in event.declaration for event in declared)
    charge = ledger.dataset("taps", "south").charge(budget("1"))
    assert charge.record.population == charge.entry.event.population == "south"


# Tampering


@pytest.fixture
def used(ledger):
    """Entries 0 opened, 1 limit, 2 charge, 3 published, 4 charge, 5 charge."""
    ledger.init("taps", "9")
    ledger.dataset("taps").charge(budget("1")).published("a" * 64)
    ledger.dataset("taps").charge(budget("2"))
    ledger.dataset("taps").charge(budget("3"))
    return ledger


EDITS = {
    "a changed epsilon": ["UPDATE pathveil_ledger SET entry = replace(entry, '\"2\"', '\"1\"')"],
    "a changed last entry": [
        "UPDATE pathveil_ledger SET entry = replace(entry, '\"3\"', '\"1\"') WHERE number = 5"
    ],
    "a changed hash": [
        "UPDATE pathveil_ledger SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE number = 4"
    ],
    "a removed entry": ["DELETE FROM pathveil_ledger WHERE number = 3"],
    "a removed first entry": ["DELETE FROM pathveil_ledger WHERE number = 0"],
    "a removed entry with the rest moved up": [
        "DELETE FROM pathveil_ledger WHERE number = 4",
        "UPDATE pathveil_ledger SET number = 4 WHERE number = 5",
    ],
    "two entries that changed places": [
        "UPDATE pathveil_ledger SET number = 99 WHERE number = 2",
        "UPDATE pathveil_ledger SET number = 2 WHERE number = 4",
        "UPDATE pathveil_ledger SET number = 4 WHERE number = 99",
    ],
    "an entry twice": [
        "INSERT INTO pathveil_ledger SELECT 6, entry, hash FROM pathveil_ledger WHERE number = 5"
    ],
    "an entry that is none": ["INSERT INTO pathveil_ledger VALUES (6, 'hello', 'world')"],
    "a space": ["UPDATE pathveil_ledger SET entry = entry || ' ' WHERE number = 1"],
    "a negative number": ["INSERT INTO pathveil_ledger VALUES (-1, 'hello', 'world')"],
}


AT_AN_END = (
    "a changed last entry",
    "a removed first entry",
    "a removed entry with the rest moved up",
    "an entry twice",
    "an entry that is none",
    "a negative number",
)


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_found_and_frees_no_budget(used, place, name):
    """A charge sees both ends; what is between them can't give anything back."""
    assert len(used.chain()) == 6
    run_sql(place, *EDITS[name])
    for use in (used.chain, lambda: used.amend("taps", limit="100")):
        with pytest.raises(LedgerError, match=r"Entry -?\d of the ledger"):
            use()
    says = r"Entry -?\d of the ledger" if name in AT_AN_END else "has spent ε = 6 of its limit 9"
    account = used.dataset("taps") if name not in AT_AN_END else Account(used, "taps")
    with pytest.raises(LedgerError, match=says):
        account.charge(budget("4"))


TOTALS_EDITS = {
    "less": "UPDATE pathveil_totals SET totals = replace(totals, '\"6\"', '\"1\"')",
    "nothing": "DELETE FROM pathveil_totals",
    "no totals": "UPDATE pathveil_totals SET totals = 'hello'",
    "another row": "UPDATE pathveil_totals SET id = 7",
}


@pytest.mark.parametrize("name", TOTALS_EDITS)
def test_totals_that_the_last_entry_does_not_vouch_for_are_not_believed(used, place, name):
    run_sql(place, TOTALS_EDITS[name])
    with pytest.raises(LedgerError, match="has spent ε = 6 of its limit 9"):
        used.dataset("taps").charge(budget("4"))
    used.dataset("taps").charge(budget("3"))
    assert used.standing().books.text() == used.books().text()


def forged_end(used):
    """What somebody who knows the code can do to the last entry: make it vouch for less."""
    chain = used.chain()
    books = Books.of(Chain.of([entry.row() for entry in chain.entries[:4]]))
    totals = books.text()
    last = chain.entries[5].model_copy(update={"totals": totals_hash(totals)})
    assert "'" not in last.text() + totals
    changes = f"entry = '{last.text()}', hash = '{last.hash}'"
    return [
        f"UPDATE pathveil_ledger SET {changes} WHERE number = 5",
        f"UPDATE pathveil_totals SET totals = '{totals}'",
    ]


def test_a_forged_end_is_found_by_the_full_check(used, place):
    run_sql(place, *forged_end(used))
    used.dataset("taps").charge(budget("4"))  # nobody sees it but:
    with pytest.raises(LedgerError, match=r"Entry 5 of the ledger breaks its rules.*totals"):
        used.books()


def test_every_entry_vouches_for_the_totals_after_it(used):
    chain = used.chain()
    for length in range(1, len(chain) + 1):
        books = Books.of(Chain.of([entry.row() for entry in chain.entries[:length]]))
        assert totals_hash(books.text()) == chain.entries[length - 1].totals
    assert Books.read(books.text()).text() == books.text()

    def without(entries):
        return [*entries[:5], entries[5].model_copy(update={"totals": None})]

    with pytest.raises(LedgerError, match=r"Entry 5 .* says no totals"):
        Books.of(rehashed(chain, without))


def as_an_earlier_version_wrote_it(ledger):
    """The same events in entries that say nothing about totals."""
    return rehashed(
        ledger.chain(),
        lambda entries: [entry.model_copy(update={"totals": None}) for entry in entries],
    )


def test_a_ledger_of_an_earlier_version_is_replayed_once_and_then_goes_on(used, tmp_path):
    old = as_an_earlier_version_wrote_it(used)
    assert '"totals"' not in "".join(entry.text() for entry in old.entries)
    ledger = Ledger.open(tmp_path / "old.db")
    ledger.restore(old)
    run_sql(str(tmp_path / "old.db"), "DROP TABLE pathveil_totals")
    with pytest.raises(LedgerError, match="has spent ε = 6 of its limit 9"):
        ledger.dataset("taps").charge(budget("4"))
    ledger.dataset("taps").charge(budget("1"))
    assert [entry.totals is None for entry in ledger.chain().entries] == [True] * 6 + [False]
    assert ledger.standing().books.text() == ledger.books().text()
    assert ledger.chain().hashes[:6] == old.hashes


def rehashed(chain, change):
    """What an attacker who knows the code can do: change an entry, and all hashes after it."""
    rows, previous = [], "0" * 64
    for entry in change(list(chain.entries)):
        again = entry.model_copy(update={"previous": previous, "number": len(rows)})
        rows.append(again.row())
        previous = again.hash
    return Chain.of(rows)


def rewritten_as(events, clock):
    """A whole ledger that says that these events happened, totals and all."""
    standing, rows = Standing(None, Books()), []
    for event in events:
        standing, _ = standing.followed_by(event, clock())
        rows.append(standing.last.row())
    return Chain.of(rows)


def test_a_whole_rewrite_is_found_by_a_hash_that_was_kept_elsewhere(used, clock):
    """The chain alone can't see it, and the docs say so."""
    chain = used.chain()
    events = [entry.event for entry in chain.entries]
    rewritten = rewritten_as(events[:4] + events[5:], clock)
    assert Books.of(rewritten).dataset("taps").spent_ever() == 4
    with pytest.raises(LedgerError, match="does not hold the entry with the hash you kept"):
        rewritten.check_holds(chain.head)
    assert rewritten.check_holds(chain.hashes[3]) == 3


def test_a_cut_end_is_found_by_a_hash_that_was_kept_elsewhere(used, place):
    head = used.chain().head
    run_sql(place, "DELETE FROM pathveil_ledger WHERE number = 5")
    with pytest.raises(LedgerError, match="removed at its end"):
        used.chain().check_holds(head)


def test_a_rewrite_that_breaks_a_limit_is_found_though_its_hashes_fit(used):
    def overspend(entries):
        event = Charged(dataset="taps", population=None, epsilon="8", delta="0")
        return [*entries[:5], entries[5].model_copy(update={"event": event})]

    with pytest.raises(LedgerError, match="Entry 5 of the ledger breaks its rules"):
        Books.of(rehashed(used.chain(), overspend))


def test_a_rewrite_that_goes_back_in_time_is_found(used):
    with pytest.raises(LedgerError, match="older than the one before"):
        rehashed(
            used.chain(),
            lambda entries: [
                *entries[:5],
                entries[5].model_copy(update={"at": "2020-01-01T00:00:00Z"}),
            ],
        )


# The certificate's record


def test_a_record_is_checked_against_the_ledger(used):
    charge = used.dataset("taps").charge(budget("1/2"))
    record, half = charge.record, Fraction(1, 2)
    assert not recorded(used.chain(), record, half, "b" * 64).certificates
    charge.published("b" * 64)
    assert recorded(used.chain(), record, half, "b" * 64).certificates == ["b" * 64]
    for changes, epsilon, digest, says in (
        ({}, half, "c" * 64, "another certificate"),
        ({}, Fraction(1, 3), "b" * 64, "certificate says ε = 1/3"),
        ({"dataset": "bikes"}, half, "b" * 64, "different datasets"),
        ({"population": "north"}, half, "b" * 64, "different datasets or populations"),
        ({"entry": 2}, half, "b" * 64, "is not the charge"),
        ({"entry": 77}, half, "b" * 64, "is not the charge"),
        ({"entry_sha256": "d" * 64}, half, "b" * 64, "is not the charge"),
    ):
        with pytest.raises(LedgerError, match=says):
            recorded(used.chain(), record.model_copy(update=changes), epsilon, digest)
    with pytest.raises(LedgerError, match="not charged to any ledger"):
        recorded(used.chain(), None, half, "b" * 64)


# Exports


def test_an_export_is_the_ledger_and_can_be_restored(used, tmp_path):
    chain = used.chain()
    content = json.dumps(exported(chain)).encode()
    assert read_export(content) == chain
    other = Ledger.open(tmp_path / "other.db")
    other.restore(read_export(content))
    assert other.chain() == chain
    other.dataset("taps").charge(budget("3"))
    with pytest.raises(LedgerError, match="empty ledger only"):
        used.restore(chain)


def document(used):
    return exported(used.chain())


def drop_last(content):
    content["entries"].pop()


def change_amount(content):
    content["entries"][4]["entry"]["event"]["epsilon"] = "1"


def set_to(key, value):
    return lambda content: content.__setitem__(key, value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (drop_last, "does not end with its own head"),
        (change_amount, "Entry 4 of the ledger was changed"),
        (set_to("format", "x"), "not an exported ledger"),
        (set_to("version", 2), "newer version"),
        (set_to("entries", None), "no list of entries"),
        (set_to("entries", []), "entries are missing"),
        (set_to("entries", [7]), "not an entry"),
        (set_to("entries", [{"entry": {"number": "0"}, "sha256": "0"}]), "not an entry"),
    ],
)
def test_an_export_that_was_changed_is_refused(used, change, says):
    content = document(used)
    change(content)
    with pytest.raises(LedgerError, match=says):
        read_export(json.dumps(content).encode())


def test_an_export_that_says_something_twice_is_refused(used):
    text = json.dumps(document(used)).replace('"head":', '"head": "0", "head":', 1)
    with pytest.raises(LedgerError, match="says something twice"):
        read_export(text.encode())


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"1e999"])
def test_what_is_no_export_is_refused(content):
    with pytest.raises(LedgerError, match="not an exported ledger"):
        read_export(content)


# Entries


def test_the_hash_is_that_of_canonical_json_and_never_changes():
    """Another implementation can check it: sorted keys, no spaces, ASCII, SHA-256."""
    entry = Entry(
        number=2,
        at="2026-03-01T12:00:00Z",
        previous="0" * 64,
        event=Charged(dataset="taps", population=None, epsilon="1/3", delta="0"),
    )
    assert entry.text() == (
        '{"at":"2026-03-01T12:00:00Z","event":{"dataset":"taps","delta":"0","epsilon":"1/3",'
        '"kind":"charged","population":null},"number":2,"previous":"' + "0" * 64 + '"}'
    )
    assert entry.hash == "db0c2ade78eba21f7904f6012cffc94871675c989b9c93d9c5f904e513c96a29"


def test_a_newer_ledger_is_not_touched(ledger, place):
    ledger.init("taps", "1")
    run_sql(
        place,
        "UPDATE pathveil_ledger SET entry = replace(entry, '\"version\":1', '\"version\":2')",
    )
    for use in (ledger.chain, lambda: ledger.init("other", "1")):
        with pytest.raises(LedgerError, match="newer version of pathveil"):
            use()


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 100_000, "{}", "null", "\ud800"])
def test_a_row_that_is_no_entry_is_refused(text):
    with pytest.raises(LedgerError, match="Entry 0 of the ledger was changed"):
        Chain.of([Row(0, text, "0" * 64)])


def test_a_ledger_file_is_its_owners(tmp_path):
    path = tmp_path / "new" / "ledger.db"
    Ledger.open(path).init("taps", "1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_ledger_does_not_show_where_it_is(ledger, place):
    ledger.init("taps", "1")
    account = ledger.dataset("taps")
    assert place not in repr(account) + repr(account.charge(budget("1"))) + repr(ledger)
