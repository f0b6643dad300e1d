"""The Coq proofs of the interval arithmetic: they check, and they are about what Python does.

`proofs/` holds a transcription of `core.intervals`. Here coqc checks the proofs, says what they
assume, and computes the transcribed functions on the values of the Python ones.
"""

import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.core.intervals import Interval, exp_minus

SOURCES = Path(__file__).parents[2] / "proofs"
MODULES = ["intervals", "exponential", "inversion"]
# What Coq's own real numbers rest on; a proof that was left open would show here by its name.
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
THEOREMS = [
    "add_encloses",
    "mul_encloses",
    "div_encloses",
    "complement_encloses",
    "scaled_floor_is_the_floor",
    "exp_minus_encloses",
    "a_word_decides",
    "more_words_refine",
]

pytestmark = [
    pytest.mark.skipif(not shutil.which("coqc"), reason="coqc is not installed (Debian: coq)"),
]


def coqc(folder, name):
    command = ["coqc", "-Q", ".", "", f"{name}.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """A folder in which the proofs have been checked."""
    folder = tmp_path_factory.mktemp("proofs")
    for name in MODULES:
        shutil.copy(SOURCES / f"{name}.v", folder)
        coqc(folder, name)
    return folder


def ask(folder, lines):
    text = [f"Require Import {name}." for name in MODULES] + ["Require Import ZArith.", *lines]
    (folder / "asked.v").write_text("\n".join(text), encoding="utf-8")
    return coqc(folder, "asked")


def test_every_theorem_is_proved_and_assumes_only_the_real_numbers(checked):
    together = f"Definition together := ({', '.join(THEOREMS)})."
    said = ask(checked, [together, "Print Assumptions together."])
    assumed = {line.split(" : ")[0] for line in said.splitlines() if line[:1].isalpha()}
    assert assumed == {"Axioms:", *AXIOMS}


def equal(term, value):
    return f"Goal ({term} = {value})%Z. Proof. vm_compute. reflexivity. Qed."


bounds = st.integers(0, 2**70)


@settings(max_examples=60, database=None)
@given(st.data())
def cases(collected, data):
    low, high = sorted((data.draw(bounds), data.draw(bounds)))
    other_low, other_high = sorted((data.draw(bounds) + 1, data.draw(bounds) + 1))
    bits = data.draw(st.integers(0, 64))
    words = data.draw(st.integers(0, bits))
    a, b = Interval(low, high, bits), Interval(other_low, other_high, bits)
    product, quotient, rest = a * b, a / b, a.complement()
    floor = a.scaled_floor(words)
    collected += [
        equal(f"mul_low {low} {other_low} {bits}", product.low),
        equal(f"mul_high {high} {other_high} {bits}", product.high),
        equal(f"div_low {low} {other_high} {bits}", quotient.low),
        equal(f"div_high {high} {other_low} {bits}", quotient.high),
        equal(f"complement_low {high} {bits}", rest.low),
        equal(f"complement_high {low} {bits}", rest.high),
        equal(
            f"scaled_floor {low} {high} {bits} {words}",
            "None" if floor is None else f"Some {floor}",
        ),
    ]


def test_coq_computes_what_python_computes(checked):
    lines = []
    cases(lines)
    ask(checked, lines)
    assert len(lines) >= 7 * 20


def test_coq_computes_the_same_exponential(checked):
    lines = []
    for numerator, denominator in [(0, 1), (1, 12), (1, 2), (1, 1), (355, 113), (60, 1)]:
        for bits in (4, 32, 160):
            found = exp_minus(Fraction(numerator, denominator), bits)
            term = f"exp_minus {numerator} {denominator} {bits} 100"
            lines.append(equal(term, f"Some ({found.low}, {found.high})"))
    ask(checked, lines)


def test_a_wrong_transcription_is_noticed(checked):
    product = Interval(5, 7, 3) * Interval(6, 9, 3)
    with pytest.raises(AssertionError):
        ask(checked, [equal("mul_high 7 9 3", product.high - 1)])
