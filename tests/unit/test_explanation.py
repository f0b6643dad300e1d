"""The certificate in plain words: complete, true, and without a word that nobody explained."""

import re
from fractions import Fraction
from math import ceil

import pytest

import pathveil as pv
from pathveil.gate.add_noise import discrete_laplace
from pathveil.gate.randomness import Randomness
from pathveil.pages.report import render_report
from pathveil.promise import plain_words
from pathveil.promise.certificate import Certificate, LedgerRecord
from pathveil.promise.explanation import explain
from pathveil.times.time_grid import TimeGrid

EPSILONS = ["0.01", "1/3", "1", "4", "20", "100"]
METHODS = ["basic", "full", "calibrated"]


def certificate(*, is_private=True, ledger=None, **choices):
    choices = {"epsilon": "1", "height": 12, "universe_size": 1012, "method": "full"} | choices
    parameters = pv.Parameters.choose(**choices)
    return Certificate.of(parameters, is_private=is_private, ledger=ledger)


def text_of(explanation):
    """Every sentence and cell."""
    parts = []
    for passage in explanation.passages:
        parts += [passage.title, *passage.paragraphs, *passage.items]
        if passage.table:
            parts += [*passage.table.columns, *(cell for row in passage.table.rows for cell in row)]
    return "\n".join(parts)


def passage(explanation, start):
    return next(p for p in explanation.passages if p.title.startswith(start))


def test_epsilon_1_as_odds():
    explanation = explain(certificate())
    table = passage(explanation, "How much").table
    rows = {before: (presence, journey) for before, presence, journey in table.rows}
    assert rows["50%"] == ("26.894% to 73.106%", "11.920% to 88.080%")
    assert rows["1%"][0] == "0.370% to 2.673%"
    assert "e^ε = 2.719 times" in text_of(explanation)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("method", METHODS)
def test_it_reads_well_for_every_epsilon_and_method(epsilon, method):
    text = text_of(explain(certificate(epsilon=epsilon, method=method)))
    assert not re.search(r"\dE[-+]?\d|None|nan|\{|\}", text)
    assert "  " not in text


def test_a_large_epsilon_is_called_weak_and_a_small_one_is_not():
    assert plain_words.WEAK in text_of(explain(certificate(epsilon="5")))
    assert plain_words.WEAK not in text_of(explain(certificate(epsilon="4")))


def test_the_passages_follow_the_outline():
    titles = [p.title for p in explain(certificate()).passages]
    outline = ["promise", "unit", "loss", "bounds", "noise", "choices", "accuracy", "trust"]
    outline += ["other releases", "outside", "words"]
    assert len(titles) == len(outline)
    assert all(word in title for word, title in zip(outline, titles, strict=True))


def test_cards_trajectories_and_releases_are_spoken_of():
    explanation = explain(certificate(max_trajectories_per_unit=5))
    unit = " ".join(passage(explanation, "Who is protected").paragraphs)
    assert "At most 5 trajectories of a unit are used" in unit
    assert "several cards" in unit
    situations = passage(explanation, "What bounds").table.rows
    assert ("a person with 2 cards, each a unit", "2", "88.080%") in situations
    assert "ε = 12" in " ".join(passage(explanation, "Who may use").paragraphs)


@pytest.mark.parametrize("method", METHODS)
def test_every_measurement_and_public_choice_is_named(method):
    paper = certificate(method=method, epsilon="1/3", max_trajectories_per_unit=3)
    explanation = explain(paper)
    shares = passage(explanation, "How it is done").table.rows
    named = " ".join(row[0] for row in shares)
    lines = paper.accounting.budget
    for line in (lines[0], lines[-1]) if method != "calibrated" else lines:
        assert line.measurement.removeprefix("noisy counts: ") in named
    choices = dict(passage(explanation, "The public choices").table.rows)
    assert choices["ε, the privacy budget"] == "1/3"
    assert choices["locations in the universe"] == "1,012"
    assert choices["method"] == method
    assert choices["trajectories used per unit, at most"] == "3"


def test_all_that_the_certificate_does_not_protect_is_listed():
    paper = certificate()
    listed = " ".join(passage(explain(paper), "What is outside").items).lower()
    for line in paper.dp_flavor.unprotected_quantities:
        assert line.lower() in listed
    for word in ("group", "people in general", "running time", "list of locations", "exists"):
        assert word in listed


JARGON = [
    *("unit", "trajectory", "universe", "height", "prefix tree", "noise", "threshold", "method"),
    *("ε (epsilon)", "privacy budget", "privacy loss", "belief", "odds", "release", "certificate"),
    "δ (delta)",
]
UNEXPLAINED = [
    *("mechanism", "sensitivity", "l1", "composition", "post-processing", "adjacent"),
    *("neighbour", "bayes", "prior", "posterior", "divergence", "hyperparameter", "dataset"),
]


@pytest.mark.parametrize("method", METHODS)
def test_no_technical_word_goes_unexplained(method):
    explained = " ".join(plain_words.WORDS).lower()
    assert [word for word in JARGON if word not in explained] == []
    text = text_of(explain(certificate(method=method))).lower()
    assert [word for word in UNEXPLAINED if re.search(rf"\b{word}\b", text)] == []


def test_the_typical_noise_is_exceeded_by_fewer_than_4_counts_in_10():
    """Of 4,000 draws at least 2,300 lie within, but for a chance below 10⁻⁴ (5 deviations)."""
    for epsilon in (Fraction(1, 12), Fraction(101, 100), Fraction(3)):
        noise = discrete_laplace(4000, epsilon, Randomness())
        assert (abs(noise) <= ceil(1 / epsilon)).sum() > 2300


def test_an_injected_release_is_not_explained_as_if_it_protected_anybody():
    explanation = explain(certificate(is_private=False))
    assert explanation.status == "NOT PRIVATE"
    assert explanation.passages[0].paragraphs[0].startswith("NOT PRIVATE")


def test_choices_from_data_and_their_exception_are_spoken_of():
    chosen = certificate(universe_size=None, delta="1e-6", height="auto")
    explanation = explain(chosen)
    assert "δ (delta) for each unit, here 1e-6" in text_of(explanation)
    choices = passage(explanation, "The public choices")
    assert plain_words.FROM_DATA in choices.paragraphs
    assert len(choices.items) == len(chosen.accounting.choices) == 2
    assert plain_words.NONE_FROM_DATA in text_of(explain(certificate()))


def test_whatever_the_certificate_lists_among_the_choices_is_told():
    grid = TimeGrid.parse("1h")
    paper = certificate(time_grid=grid, universe_size=5)
    choices = dict(passage(explain(paper), "The public choices").table.rows)
    assert "slots 24" in choices["time grid"]
    told = len(choices)
    assert told >= len(type(paper.implementation).model_fields) - 5


def test_a_ledger_is_named_if_there_is_one():
    record = LedgerRecord(dataset="taps", population=None, entry=3, entry_sha256="0" * 64)
    assert "for the data set 'taps'" in text_of(explain(certificate(ledger=record)))
    assert "names no ledger" in text_of(explain(certificate()))


def test_the_report_holds_the_same_text_escaped_and_offline():
    from markupsafe import escape

    universe = pv.Universe(["a", "b"])
    database = pv.TrajectoryDatabase.from_sequences([["a", "b"]] * 50, universe)
    release = pv.publish(database, epsilon="1", height=2)
    page = render_report(release, release.certificate)
    for part in text_of(explain(release.certificate)).splitlines()[1:]:
        assert str(escape(part)) in page
    assert "<script" not in page
    assert "src=" not in page


def test_json_keeps_exact_numbers_as_text():
    facts = explain(certificate(epsilon="1/3")).to_json()
    assert facts["epsilon"] == "1/3"
    half = next(odds for odds in facts["odds"] if odds["belief_before"] == "1/2")
    assert half["was_this_unit_in_the_data"] == {
        "loss": "1/3",
        "at_least_percent": "41.742",
        "at_most_percent": "58.258",
    }
    assert half["this_journey_or_that_one"]["loss"] == "2/3"
