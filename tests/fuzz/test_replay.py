"""The fuzzers' corpus, and all that they ever found, without atheris: see docs/fuzzing.md."""

import signal

import pytest
from fuzz.harness import MARKER, Finding, Harness, Target, names, target

HANG_SECONDS = 60  # far above what any input takes, also on a busy machine


@pytest.fixture
def no_hang():
    """An input that never ends must fail a test, not stop it."""

    def stop(_number, _frame):
        raise TimeoutError("an input hangs")

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.alarm(HANG_SECONDS)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", names())
def test_the_corpus_and_past_findings_break_no_promise(name, no_hang):
    checked = target(name)
    harness = Harness(checked)
    inputs = list(checked.inputs())
    assert inputs, "a target needs a corpus: python -m fuzz.make_corpus"
    for path in inputs:
        no_hang()
        harness.run(path.read_bytes())


@pytest.mark.parametrize("name", names())
def test_seeds_get_past_the_first_check(name, no_hang):
    """Else a target would only test that garbage is refused."""
    checked = target(name)
    harness = Harness(checked)
    no_hang()
    accepted = [harness.run(data) for data in checked.seeds().values()]
    assert any(accepted)


def reading(read):
    return Harness(Target("mutant", read, dict))


def fail(_data, _folder):
    raise KeyError("a bug")


def quote(_data, _folder):
    from pathveil.errors import InputError

    try:
        int(MARKER)
    except ValueError as error:
        raise InputError("The file can't be read.") from error


def stray(_data, folder):
    (folder.parent / "fuzz-stray").touch()
    (folder.parent / "fuzz-stray").unlink()


def warn(_data, _folder):
    import warnings

    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


@pytest.mark.parametrize(
    ("broken", "noticed"),
    [(fail, KeyError), (quote, Finding), (stray, Finding), (warn, RuntimeWarning)],
)
def test_the_harness_notices_a_broken_promise(broken, noticed):
    with pytest.raises(noticed):
        reading(broken).run(b"")


def test_the_harness_lets_a_parser_work_in_its_folder():
    assert reading(lambda data, folder: (folder / "file").write_bytes(data)).run(b"x")
