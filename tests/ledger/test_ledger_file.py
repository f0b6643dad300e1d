"""The ledger's file and table: one set of locks by whatever path, nothing in it but entries, and a
charge that looks at as much of a long ledger as of a short one."""

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from tests.ledgers import Clock, run_sql

import pathveil as pv
from pathveil.errors import LedgerError
from pathveil.ledger import postgresql_store, sqlite_store, standing
from pathveil.ledger.books import MOST_UNUSED, Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.charges import Account
from pathveil.ledger.entries import Charged, Defined, Opened, Row
from pathveil.ledger.ledger import Ledger
from pathveil.ledger.standing import Standing

ONE = pv.Budget.parse("1")


def journal_mode(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA journal_mode").fetchone()[0]


# One file, two paths

# Reads the balance, waits until the other has read it too, charges; prints what became of it.
RACE = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    from pathveil.errors import LedgerError
    from pathveil.ledger.ledger import Ledger
    from pathveil.core.budget import Budget

    here, ready, other = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    account = Ledger.open(here).dataset("taps")
    ready.touch()
    patience = time.monotonic() + 60
    while not other.exists() and time.monotonic() < patience:
        time.sleep(0.0005)
    granted = 0
    for _ in range(20):
        try:
            account.charge(Budget.parse("1/10"))
            granted += 1
        except LedgerError as error:
            assert "Nothing was charged" in str(error), error
    print(granted)
""")


def race(one, other, folder, prefix=()):
    """How much two processes were granted in all, in tenths, that charge by two paths at once."""
    flags = [str(folder / "one"), str(folder / "other")]
    arguments = ([str(one), *flags], [str(other), *reversed(flags)])
    children = [
        subprocess.Popen(
            [*prefix, sys.executable, "-c", RACE, *each], stdout=subprocess.PIPE, text=True
        )
        for each in arguments
    ]
    return sum(int(child.communicate(timeout=120)[0]) for child in children)


def test_two_hard_links_to_a_ledger_have_one_limit(tmp_path):
    """By two names, a write-ahead log would have two sets of locks."""
    (tmp_path / "elsewhere").mkdir()
    ledger = pv.Ledger.open(tmp_path / "ledger.db")
    ledger.init("taps", "1")
    os.link(tmp_path / "ledger.db", tmp_path / "elsewhere" / "other.db")
    assert race(tmp_path / "ledger.db", tmp_path / "elsewhere" / "other.db", tmp_path) == 10
    assert ledger.books().dataset("taps").spent_ever() == 1


IN_A_NAMESPACE = """
import subprocess, sys
for place in sys.argv[2:4]:
    subprocess.run(["mount", "--bind", sys.argv[1], place], check=True)
print(subprocess.run(sys.argv[4:], check=True, capture_output=True, text=True).stdout, end="")
"""


@pytest.fixture
def private_mounts():
    """A command's beginning that runs the rest with mounts of its own; a skip if it can't."""
    prefix = ["unshare", "--mount", "--propagation", "private"]
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("only root can mount")
    probe = "mount -t tmpfs none /mnt && umount /mnt"
    done = subprocess.run([*prefix, "sh", "-c", probe], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("this machine does not allow mounts")
    return prefix


def test_two_bind_mounts_of_a_ledger_have_one_limit(private_mounts, tmp_path):
    """Only the file is mounted, as containers do: what lies beside it differs."""
    ledger = pv.Ledger.open(tmp_path / "ledger.db")
    ledger.init("taps", "1")
    places = [tmp_path / name / "ledger.db" for name in ("one", "two")]
    for place in places:
        place.parent.mkdir()
        place.touch()
    script = (
        "import sys; sys.path[:0] = sys.argv[1:2]; from tests.ledger.test_ledger_file import *; "
    )
    script += "print(race(sys.argv[2], sys.argv[3], Path(sys.argv[4])))"
    flags = tmp_path / "flags"
    flags.mkdir()
    root = str(Path(__file__).parents[2])
    inside = [sys.executable, "-c", script, root, *map(str, places), str(flags)]
    command = [*private_mounts, sys.executable, "-c", IN_A_NAMESPACE, str(tmp_path / "ledger.db")]
    done = subprocess.run([*command, *map(str, places), *inside], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) == 10
    assert ledger.books().dataset("taps").spent_ever() == 1


class KilledError(Exception):
    pass


def killed_while_it_writes(path, more_rows):
    """What kill -9 leaves: the journal, synced if many rows are written, and the first page or not.

    Returns the file's first page as it would be if the disk had got that, too.
    """
    journal = path.with_name("ledger.db-journal")
    rows = [(number, "z" * 3000) for number in range(100, 100 + more_rows)]
    with suppress(KilledError), sqlite_store.SqliteStore(path).exclusive() as turn:
        turn._connection.execute("PRAGMA cache_size = 2")
        turn.append(Row(99, "entry", "hash"), None)
        turn._connection.executemany("INSERT INTO pathveil_totals VALUES (?, ?)", rows)
        shutil.copy(journal, path.parent / "kept")
        first_page = path.read_bytes()[:4096]
        raise KilledError  # what was written of other pages is undone
    (path.parent / "kept").rename(journal)
    return first_page


@pytest.mark.parametrize("wrote", ["nobody", "this path", "the other path"])
@pytest.mark.parametrize("has_first_page", [True, False])
@pytest.mark.parametrize("more_rows", [0, 300])
def test_a_journal_that_a_killed_run_left_undoes_no_charge_of_others(
    tmp_path, wrote, has_first_page, more_rows
):
    """Beside the one path lies a journal of which the other knows nothing."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    here, there = (tmp_path / name / "ledger.db" for name in ("one", "other"))
    pv.Ledger.open(here).init("taps", "2")
    os.link(here, there)
    pv.Ledger.open(here if wrote == "this path" else there).dataset("taps").charge(ONE)
    first_page = killed_while_it_writes(here, more_rows)
    if has_first_page:
        with here.open("r+b") as file:
            file.write(first_page)
    one, other = pv.Ledger.open(here), pv.Ledger.open(there)
    if wrote == "the other path":
        other.dataset("taps").charge(ONE)
        if more_rows:  # else it was not synced, and SQLite takes no notice of it
            for act in (one.chain, lambda: one.dataset("taps").charge(ONE)):
                with pytest.raises(LedgerError, match="The journal would undo that"):
                    act()
            (tmp_path / "one" / "ledger.db-journal").unlink()
    else:
        one.dataset("taps").charge(ONE)
    assert one.books().dataset("taps").spent_ever() == 2
    for ledger in (one, other):
        with pytest.raises(LedgerError, match="Nothing was charged"):
            ledger.dataset("taps").charge(ONE)


def test_a_ledger_has_a_rollback_journal_and_nothing_beside_it(tmp_path):
    ledger = pv.Ledger.open(tmp_path / "ledger.db")
    ledger.init("taps", "2")
    ledger.dataset("taps").charge(ONE)
    assert journal_mode(tmp_path / "ledger.db") == "delete"
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]
    assert sqlite_store._SETTINGS[0] == "PRAGMA synchronous = EXTRA"


def with_a_write_ahead_log(path):
    """A ledger as earlier versions made it; what is open keeps its last entries in the log."""
    ledger = pv.Ledger.open(path)
    ledger.init("taps", "2")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("DROP TABLE pathveil_totals")
    return ledger, connection


def test_a_ledger_with_a_write_ahead_log_is_brought_over_with_all_that_is_in_the_log(tmp_path):
    path = tmp_path / "ledger.db"
    ledger, connection = with_a_write_ahead_log(path)
    before = ledger.chain()
    assert Path(f"{path}-wal").stat().st_size > 0
    # As kill -9 leaves it: the log is on the disk, and nobody holds a lock.
    (tmp_path / "killed").mkdir()
    for name in ("ledger.db", "ledger.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "killed" / name)
    connection.close()
    left = pv.Ledger.open(tmp_path / "killed" / "ledger.db")
    assert left.chain() == before
    left.dataset("taps").charge(ONE)
    assert left.chain().hashes[:2] == before.hashes
    assert journal_mode(tmp_path / "killed" / "ledger.db") == "delete"
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["ledger.db"]


def test_a_log_that_an_earlier_version_still_uses_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "_WAIT_SECONDS", 0.2)
    ledger, connection = with_a_write_ahead_log(tmp_path / "ledger.db")
    with closing(connection), pytest.raises(LedgerError, match="busy"):
        ledger.dataset("taps").charge(ONE)
    ledger.dataset("taps").charge(ONE)
    assert len(ledger.chain()) == 3


def test_another_programs_log_is_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE customers (name TEXT)")
    with pytest.raises(LedgerError, match="something else"):
        pv.Ledger.open(tmp_path / "other.db").init("taps", "1")
    assert journal_mode(tmp_path / "other.db") == "wal"


# A disk that can't be written

READ_ONLY = """
import subprocess, sys
folder = sys.argv[1]
subprocess.run(["mount", "--bind", folder, folder], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
sys.exit(subprocess.run(sys.argv[2:], check=False).returncode)
"""


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_ledger_on_a_read_only_mount_can_be_read(private_mounts, tmp_path, journal):
    path = tmp_path / "ledger.db"
    ledger = pv.Ledger.open(path)
    ledger.init("taps", "2")
    ledger.dataset("taps").charge(ONE)
    with closing(sqlite3.connect(path)) as connection:  # closed in order: nothing stays in a log
        connection.execute(f"PRAGMA journal_mode = {journal}")
    command = [*private_mounts, sys.executable, "-c", READ_ONLY, str(tmp_path)]
    where = ["--ledger", str(path)]
    for name in ("show", "history", "verify", "export"):
        call = [*command, sys.executable, "-m", "pathveil", "ledger", name, *where]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    amend = ["ledger", "amend", "taps", "--limit", "3"]
    call = [*command, sys.executable, "-m", "pathveil", *amend, *where]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No entry was added" in done.stderr
    assert len(ledger.chain()) == 3


# Nothing in it but entries

SQLITE_ADDITIONS = {
    "a trigger that ignores inserts": (
        "CREATE TRIGGER x BEFORE INSERT ON pathveil_ledger WHEN NEW.number > 1 "
        "BEGIN SELECT RAISE(IGNORE); END"
    ),
    "a trigger that deletes": (
        "CREATE TRIGGER x AFTER INSERT ON pathveil_ledger "
        "BEGIN DELETE FROM pathveil_ledger WHERE number = NEW.number; END"
    ),
    "a trigger on the totals": (
        "CREATE TRIGGER x BEFORE INSERT ON pathveil_totals BEGIN SELECT RAISE(IGNORE); END"
    ),
    "a view": "CREATE VIEW x AS SELECT 1",
    "a table": "CREATE TABLE x (y TEXT)",
    "an index": "CREATE INDEX x ON pathveil_ledger (hash)",
}
POSTGRESQL_ADDITIONS = {
    "a trigger that ignores inserts": (
        "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER x BEFORE INSERT ON pathveil_ledger FOR EACH ROW EXECUTE FUNCTION nothing()",
    ),
    "a rule": ("CREATE RULE x AS ON INSERT TO pathveil_ledger DO INSTEAD NOTHING",),
    "a row policy": ("ALTER TABLE pathveil_ledger ENABLE ROW LEVEL SECURITY",),
    "a constraint": ("ALTER TABLE pathveil_ledger ADD CHECK (number < 3)",),
    "a child": ("CREATE TABLE x () INHERITS (pathveil_ledger)",),
    "a default": ("ALTER TABLE pathveil_ledger ALTER hash SET DEFAULT 'x'",),
    "no log": ("ALTER TABLE pathveil_ledger SET UNLOGGED",),
    "a trigger on the totals": (
        "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "CREATE TRIGGER x BEFORE INSERT ON pathveil_totals FOR EACH ROW EXECUTE FUNCTION nothing()",
    ),
}


def assert_refused_everywhere(place):
    ledger = pv.Ledger.open(place)
    account = Account(ledger, "taps")
    for use in (
        ledger.chain,
        ledger.standing,
        lambda: account.charge(ONE),
        lambda: ledger.init("bikes", "1"),
        lambda: ledger.amend("taps", limit="3"),
    ):
        with pytest.raises(LedgerError, match="somebody added"):
            use()


@pytest.mark.parametrize("name", SQLITE_ADDITIONS)
def test_a_file_that_holds_more_than_a_ledger_is_refused(tmp_path, name):
    place = str(tmp_path / "ledger.db")
    pv.Ledger.open(place).init("taps", "1")
    run_sql(place, SQLITE_ADDITIONS[name])
    assert_refused_everywhere(place)


@pytest.mark.parametrize("name", POSTGRESQL_ADDITIONS)
def test_a_table_that_does_more_than_keep_entries_is_refused(postgresql, name):
    pv.Ledger.open(postgresql).init("taps", "1")
    run_sql(postgresql, *POSTGRESQL_ADDITIONS[name])
    assert_refused_everywhere(postgresql)


@pytest.mark.parametrize(
    "column", ["hash TEXT NOT NULL ON CONFLICT IGNORE", "hash TEXT NOT NULL CHECK (number < 3)"]
)
def test_a_table_of_our_name_and_columns_with_other_rules_is_refused(tmp_path, column):
    place = str(tmp_path / "ledger.db")
    ledger = pv.Ledger.open(place)
    ledger.init("taps", "1")
    run_sql(
        place,
        "ALTER TABLE pathveil_ledger RENAME TO old",
        f"CREATE TABLE pathveil_ledger (number INTEGER PRIMARY KEY, entry TEXT NOT NULL, {column})",
        "INSERT INTO pathveil_ledger SELECT * FROM old",
        "DROP TABLE old",
    )
    assert_refused_everywhere(place)


class Forgetful:
    """A store that says yes and keeps nothing: a disk that lies, a table with a trigger."""

    def __init__(self, store, forgets):
        self.store = store
        self.forgets = forgets

    def __getattr__(self, name):
        return getattr(self.store, name)

    def row(self, number):
        return None if self.forgets == "later" else self.store.row(number)

    def exclusive(self, *, create=False):
        return self._turn(create) if self.forgets == "at once" else self.store.exclusive()

    @contextmanager
    def _turn(self, create):
        with self.store.exclusive(create=create) as turn:
            turn.append = lambda _row, _totals: None
            yield turn


@pytest.mark.parametrize("forgets", ["at once", "later"])
def test_a_charge_that_can_not_be_read_back_is_none(place, forgets):
    good = pv.Ledger.open(place)
    good.init("taps", "1")
    ledger = Ledger(Forgetful(good._store, forgets))
    with pytest.raises(LedgerError, match="did not keep the entry"):
        ledger.dataset("taps").charge(ONE)


@pytest.mark.parametrize("failing", [1, 2])
def test_no_memory_for_the_look_after_a_charge_still_tells_that_it_is_charged(
    place, monkeypatch, failing
):
    """It said only that ε may be charged: four of 12,118 allocations that failed."""
    ledger = pv.Ledger.open(place)
    ledger.init("taps", "1")
    right, looks = ledger._store.row, []

    def row(number):
        looks.append(number)
        if len(looks) <= failing:
            raise MemoryError
        return right(number)

    monkeypatch.setattr(ledger._store, "row", row)
    with pytest.raises(LedgerError, match=r"MemoryError.*was added.*stays charged.*entry 2"):
        ledger.dataset("taps").charge(ONE)
    assert len(ledger.books().dataset("taps").payments) == 1


# As quick in a long ledger as in a short one


def long_chain(charges, clock):
    """A ledger of so many charges, made without a disk."""
    defined = Defined(
        dataset="taps",
        limit="100",
        delta_limit="0",
        period="year",
        populations=("north",),
        declaration=None,
        reason="",
    )
    charged = Charged(dataset="taps", population="north", epsilon="1/1000", delta="0")
    where, rows = Standing(None, Books()), []
    for event in (Opened(identity="ab" * 32), defined, *[charged] * charges):
        where, _ = where.followed_by(event, clock())
        rows.append(where.last.row())
    return Chain.of(rows)


class Watched:
    """Counts what a charge does: SQLite's steps, statements, and entries looked at."""

    def __init__(self, monkeypatch):
        self.steps = self.entries = 0
        connect, read = sqlite_store.SqliteStore._connect, standing.read_row

        def connected(store, *how):
            connection = connect(store, *how)
            connection.set_progress_handler(self.step, 1)
            return connection

        def looked(row):
            self.entries += 1
            return read(row)

        def chained(_rows):
            raise AssertionError("all entries were read")

        monkeypatch.setattr(sqlite_store.SqliteStore, "_connect", connected)
        monkeypatch.setattr(standing, "read_row", looked)
        monkeypatch.setattr(standing.Chain, "of", chained)

    def step(self):
        self.steps += 1


@pytest.mark.parametrize("action", ["charge", "check", "begin", "published"])
def test_a_charge_looks_at_as_much_of_a_long_ledger_as_of_a_short_one(
    tmp_path, monkeypatch, action
):
    seen = []
    for charges in (MOST_UNUSED + 10, 2000):
        clock = Clock()
        ledger = Ledger(sqlite_store.SqliteStore(tmp_path / f"{charges}.db"), clock)
        ledger.restore(long_chain(charges, clock))
        account = ledger.dataset("taps", "north")
        charge = account.charge(ONE)
        acts = {
            "charge": lambda account=account: account.charge(ONE),
            "check": account.check,
            "begin": charge.begin,
            "published": lambda charge=charge: charge.published("a" * 64),
        }
        with monkeypatch.context() as patch:
            watched = Watched(patch)
            acts[action]()
            seen.append((watched.steps, watched.entries))
        ledger.books()
    assert seen[0] == seen[1]
    assert 0 < seen[0][1] <= 2


def test_postgresql_finds_both_ends_by_the_key(postgresql, monkeypatch):
    clock = Clock()
    ledger = Ledger(postgresql_store.PostgresqlStore(postgresql), clock)
    ledger.restore(long_chain(300, clock))
    with monkeypatch.context() as patch:
        watched = Watched(patch)
        ledger.dataset("taps", "north").charge(ONE)
    assert watched.entries <= 4
    assert ledger.books().dataset("taps").spent_ever() == pv.Budget.parse("1.3").epsilon


def test_totals_say_what_a_replay_says_whatever_happens(place):
    clock = Clock()
    ledger = Ledger(pv.Ledger.open(place)._store, clock)
    ledger.init("taps", "2", per="month", populations=["north", "south"], delta_limit="1e-6")
    ledger.init("bikes", "1")
    tenth = pv.Budget.parse("1/10")
    for population in (None, "north", "south"):
        charge = ledger.dataset("taps", population).charge(tenth)
        clock.move(days=20)
        charge.begin()
        charge.published("a" * 64)
        ledger.dataset("bikes").charge(tenth)
        whole, quick = ledger.books(), ledger.standing().books
        assert quick.text() == whole.text()
        for name in ("taps", "bikes"):
            assert quick.dataset(name).spent(ledger.now()) == whole.dataset(name).spent(
                ledger.now()
            )
    assert list(quick.unused) == [entry for entry in whole.charges if entry in whole.unused]


def test_a_charge_that_many_left_ones_overtook_is_forfeited(tmp_path):
    clock = Clock()
    ledger = Ledger(sqlite_store.SqliteStore(tmp_path / "ledger.db"), clock)
    ledger.restore(long_chain(MOST_UNUSED - 1, clock))
    first = ledger.dataset("taps", "north").charge(ONE)
    assert next(iter(ledger.books().unused)) == 2
    for _ in range(2):
        ledger.dataset("taps", "north").charge(ONE)
    assert next(iter(ledger.books().unused)) == 4
    first.begin()
    ledger.books()
