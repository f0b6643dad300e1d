"""A charge of a run that died can be resumed if, and only if, no noise was drawn on it."""

import os
import signal

import pytest
from tests.ledgers import Clock, open_at

import pathveil as pv
from pathveil import publishing
from pathveil.errors import LedgerError
from pathveil.gate import randomness
from pathveil.ledger.charges import Charge

ONE = pv.Budget.parse("1")
PAID_ALREADY = "paid for a release already"
REFUSED, FAILED = 3, 4


@pytest.fixture
def ledger(place):
    opened = pv.Ledger.open(place)
    opened.init("taps", "1")
    opened.init("others", "1", populations=["north", "south"])
    return opened


@pytest.fixture
def ledger_file(tmp_path):
    opened = pv.Ledger.open(tmp_path / "ledger.db")
    opened.init("taps", "1")
    return opened


@pytest.fixture
def file(tmp_path):
    """A file of taps."""
    rows = [f"{who},{turn},{'ab'[who % 2]}" for who in range(200) for turn in range(2)]
    path = tmp_path / "taps.csv"
    path.write_text("\n".join(["who,when,where", *rows]), encoding="utf-8")
    return path


def released(file, account):
    """The file, published."""
    return pv.publish(
        str(file), epsilon="1", height=2, method="full", ledger=account, universe=pv.Universe("ab"),
        unit="who", order="when", location="where",
    )  # fmt: skip


def kinds(ledger):
    return [entry.event.kind for entry in ledger.chain().entries]


def child(work):
    """A process of its own, which does some work: its number."""
    number = os.fork()
    if number == 0:
        code = FAILED
        try:
            work()
            code = 0
        except LedgerError as error:
            code = REFUSED if PAID_ALREADY in str(error) else FAILED
        finally:
            os._exit(code)
    return number


def ended(number):
    """How a process ended: its exit code, or the negative number of the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def die(*_arguments, **_options):
    os.kill(os.getpid(), signal.SIGKILL)


def dies_at_the_first_noise(patch):
    """Of people's data: a rehearsal is noise that protects nobody, and goes on."""
    draw = randomness.Randomness.words
    patch.setattr(
        randomness.Randomness,
        "words",
        lambda self, number: die() if self.is_private else draw(self, number),
    )


def dies_while_it_reads(patch):
    right = publishing._read_and_publish
    patch.setattr(
        publishing,
        "_read_and_publish",
        lambda request, noise, watch, charge: (
            right(request, noise, watch, charge) if charge is None else die()
        ),
    )


def marks_after_the_noise(patch):
    """The mutant: that noise is drawn is written when it was drawn."""
    begin, draw = Charge.begin, publishing._publish
    held = []
    patch.setattr(Charge, "begin", lambda charge: held.insert(0, charge))

    def drawn(*arguments):
        release = draw(*arguments)
        for charge in held:
            begin(charge)
        return release

    patch.setattr(publishing, "_publish", drawn)


def killed(file, ledger, *patches):
    """A run that is killed; the entry of its charge."""
    with pytest.MonkeyPatch.context() as patch:
        for broken in patches:
            broken(patch)
        number = child(lambda: released(file, ledger.dataset("taps")))
        assert ended(number) == -signal.SIGKILL
    (payment,) = ledger.books().dataset("taps").payments
    return payment.entry


def test_a_run_that_was_killed_before_any_noise_needs_no_second_charge(file, ledger_file):
    entry = killed(file, ledger_file, dies_while_it_reads)
    release = released(file, ledger_file.dataset("taps").resume(entry))
    assert release.certificate.ledger.entry == entry
    assert kinds(ledger_file)[-2:] == ["charged", "begun"]
    assert ledger_file.books().dataset("taps").spent_ever() == 1


def resumes_after_noise(file, ledger, *mutants):
    """Whether a run that was killed with noise in its hands can be resumed."""
    entry = killed(file, ledger, dies_at_the_first_noise, *mutants)
    try:
        released(file, ledger.dataset("taps").resume(entry))
    except LedgerError as error:
        said = f"{PAID_ALREADY} (its run began to draw noise, and recorded none)"
        assert said in str(error)  # noqa: PT017
        return False
    return True


def test_a_run_that_was_killed_at_its_first_noise_is_not_resumed(file, ledger_file):
    assert not resumes_after_noise(file, ledger_file)
    assert kinds(ledger_file)[-2:] == ["charged", "begun"]


def test_a_mark_that_is_written_after_the_noise_is_caught(file, ledger_file):
    assert resumes_after_noise(file, ledger_file, marks_after_the_noise)


def test_of_three_processes_that_resume_at_once_one_publishes(file, ledger):
    entry = ledger.dataset("taps").charge(ONE).entry.number
    account = ledger.dataset("taps").resume(entry)
    codes = [ended(number) for number in [child(lambda: released(file, account)) for _ in "abc"]]
    assert sorted(codes) == [0, REFUSED, REFUSED]
    assert kinds(ledger).count("begun") == 1


def test_the_first_run_is_refused_if_it_is_not_dead_after_all(ledger):
    first = ledger.dataset("taps").charge(ONE)
    ledger.dataset("taps").resume(first.entry.number).charge(ONE).begin()
    with pytest.raises(LedgerError, match=PAID_ALREADY):
        first.begin()


@pytest.mark.parametrize(
    ("account", "budget", "said"),
    [
        (("taps", None), "1/2", "only the same"),
        (("taps", None), "2", "only the same"),
        (("others", None), "1", "only the same"),
        (("others", "north"), "1", "only the same"),
    ],
)
def test_only_the_same_charge_is_resumed(ledger, account, budget, said):
    entry = ledger.dataset("taps").charge(ONE).entry.number
    asked = ledger.dataset(*account).resume(entry)
    for ask in (asked.check_affords, asked.charge):
        with pytest.raises(LedgerError, match=said):
            ask(pv.Budget.parse(budget))
    with pytest.raises(LedgerError, match="unit, ε and δ"):
        ledger.dataset("taps").resume(entry).charge(ONE, protect="trip")
    with pytest.raises(LedgerError, match="is no charge"):
        ledger.dataset("taps").resume(1).charge(ONE)
    with pytest.raises(LedgerError, match="is no charge"):
        ledger.dataset("taps").resume(99).charge(ONE)
    assert kinds(ledger)[-1] == "charged"


def test_a_charge_of_a_period_that_is_over_is_not_resumed(place):
    clock = Clock("2026-03-31T23:00:00+00:00")
    ledger = open_at(place, clock)
    ledger.init("taps", "1", per="month")
    entry = ledger.dataset("taps").charge(ONE).entry.number
    ledger.dataset("taps").resume(entry).check_affords(ONE)
    clock.set("2026-04-01T00:00:00+00:00")
    with pytest.raises(LedgerError, match="a period that is over"):
        ledger.dataset("taps").resume(entry).charge(ONE)
