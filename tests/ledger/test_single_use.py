"""A charge pays for one release: whatever is done with the object that stands for it."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from dataclasses import replace

import pytest

import pathveil as pv
from pathveil.core.parameters import Parameters
from pathveil.errors import LedgerError, ParameterError
from pathveil.gate import randomness
from pathveil.gate.randomness import Randomness
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import Begun
from pathveil.publishing import publish_with

ONE = pv.Budget.parse("1")
PARAMETERS = Parameters.choose(epsilon="1", height=2, universe_size=2, method="full")
PAID_ALREADY = "paid for a release already"


@pytest.fixture
def ledger(place):
    opened = pv.Ledger.open(place)
    opened.init("taps", "9")
    return opened


@pytest.fixture
def charge(ledger):
    return ledger.dataset("taps").charge(ONE)


@pytest.fixture
def drawn(monkeypatch):
    """How many times noise was drawn."""
    calls = []
    draw = randomness.Randomness.words

    def watched(self, number):
        calls.append(number)
        return draw(self, number)

    monkeypatch.setattr(randomness.Randomness, "words", watched)
    return calls


def release_on(charge, randomness=None):
    universe = pv.Universe(["a", "b"])
    database = pv.TrajectoryDatabase.from_sequences([["a", "b"]] * 200, universe)
    return publish_with(database, PARAMETERS, randomness or Randomness(), charge=charge)


def kinds(ledger):
    return [entry.event.kind for entry in ledger.chain().entries]


def test_a_second_release_on_one_charge_is_refused_and_draws_nothing(ledger, charge, drawn):
    release_on(charge)
    before = len(drawn)
    with pytest.raises(LedgerError, match=PAID_ALREADY):
        release_on(charge)
    assert len(drawn) == before > 0
    assert kinds(ledger) == ["opened", "defined", "charged", "begun"]


@pytest.mark.parametrize(
    "again",
    [copy, deepcopy, replace, lambda charge: pickle.loads(pickle.dumps(charge))],
    ids=["copy", "deepcopy", "replace", "pickle"],
)
def test_a_copy_of_a_charge_is_that_charge(charge, again, drawn):
    kept = again(charge)
    release_on(charge)
    before = len(drawn)
    with pytest.raises(LedgerError, match=PAID_ALREADY):
        release_on(kept)
    assert len(drawn) == before


def test_of_many_threads_one_publishes(ledger, charge):
    def attempt(_number):
        try:
            return release_on(charge)
        except LedgerError as error:
            assert PAID_ALREADY in str(error)  # noqa: PT017
            return None

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(attempt, range(4)))
    assert sum(release is not None for release in made) == 1
    assert kinds(ledger).count("begun") == 1


def test_of_a_process_and_its_fork_one_publishes(charge):
    """The child begins first; the parent, whose object never heard of it, is refused."""
    child = os.fork()
    if child == 0:
        try:
            charge.begin()
        except BaseException:  # noqa: BLE001
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(LedgerError, match=PAID_ALREADY):
        release_on(charge)


def test_a_run_that_failed_after_it_began_has_used_its_charge(charge, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr("pathveil.publishing.grow", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            release_on(charge)
    with pytest.raises(LedgerError, match=PAID_ALREADY):
        release_on(charge)


def test_a_charge_whose_release_was_published_is_used_though_no_entry_says_begun(charge):
    charge.published("a" * 64)  # as ledgers were written before
    with pytest.raises(LedgerError, match=PAID_ALREADY):
        release_on(charge)


def test_a_charge_made_by_hand_pays_for_nothing(ledger, charge, tmp_path, drawn):
    other = pv.Ledger.open(tmp_path / "other.db")
    other.init("taps", "9")
    other.init("bikes", "9")
    tenth = pv.Budget.parse("1/10")
    cheap = ledger.dataset("taps").charge(tenth)
    stranger = other.dataset("taps").charge(ONE)
    for made in (
        replace(cheap, budget=ONE),
        replace(charge, account=other.dataset("taps")),
        replace(charge, account=other.dataset("bikes")),
        replace(charge, entry=stranger.entry),
        replace(charge, entry=charge.entry.model_copy(update={"number": 77})),
    ):
        with pytest.raises(LedgerError, match="is not this charge"):
            release_on(made)
    assert not drawn
    release_on(charge)


class Zeros:
    """Noise that everybody knows."""

    def bytes(self, length):
        return bytes(length)


def test_injected_noise_uses_up_no_charge(ledger, charge):
    with pytest.raises(ParameterError, match="protects nobody"):
        release_on(charge, Randomness(Zeros()))
    assert "begun" not in kinds(ledger)


def test_a_ledger_in_which_a_charge_was_begun_twice_was_rewritten(ledger, charge):
    charge.begin()
    chain = ledger.chain()
    twice = chain.following(Begun(charge=charge.entry.number), ledger.now())
    rows = [entry.row() for entry in (*chain.entries, twice)]
    with pytest.raises(LedgerError, match="Entry 4 of the ledger breaks its rules"):
        Books.of(Chain.of(rows))
