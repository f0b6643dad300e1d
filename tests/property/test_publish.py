"""Publish arbitrary small databases with arbitrary parameters: every invariant of a release."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.core.methods import METHODS
from pathveil.release.bundle import verify_bundle

# The first call compiles, so no example has a deadline.
thorough = settings(deadline=None, max_examples=60)

# What spreadsheets, browsers and CSV readers stumble over, and anything else that can be read.
awkward = st.sampled_from(
    [
        "=1+1",
        "-2",
        "@x",
        "'",
        "''=",
        "a,b",
        'a"b',
        " a ",
        "<b>&",
        "[red]",
        "NULL",
        "é",
        "𝓛",
        "0",
        "a;b",
    ]
)
readable = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=6)
labels = awkward | readable.filter(str.strip)


@dataclass(frozen=True)
class Case:
    """One call of publish, kept together so that a failure prints all of it."""

    universe: pv.Universe
    rows: list[list[int]]
    epsilon: str
    height: int
    method: str
    threshold: object
    bound: int
    seed: int

    def publish(self):
        return pv.publish(
            pv.TrajectoryDatabase.from_arrays(
                np.cumsum([0, *map(len, self.rows)]),
                np.array([code for row in self.rows for code in row], dtype=np.int32),
                self.universe,
                max_trajectories_per_unit=self.bound,
            ),
            epsilon=self.epsilon,
            height=self.height,
            method=self.method,
            threshold=self.threshold,
            generator=np.random.default_rng(self.seed),  # noqa: TID251
        )


@st.composite
def cases(draw, methods=("basic", "full")):
    universe = pv.Universe(draw(st.lists(labels, min_size=1, max_size=5, unique=True)))
    height = draw(st.integers(1, 4))
    rows = st.lists(st.integers(0, len(universe) - 1), max_size=6)
    popular = draw(st.lists(st.tuples(rows, st.integers(1, 80)), max_size=5))
    method = draw(st.sampled_from(methods))
    thresholds = ["auto"] if method == "calibrated" else ["auto", "paper", 1, 2]
    return Case(
        universe,
        [row for row, times in popular for _ in range(times)],
        epsilon=str(draw(st.fractions(Fraction(1, 4), 20, max_denominator=100))),
        height=height,
        method=method,
        threshold=draw(st.sampled_from(thresholds)),
        bound=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, 2**32)),
    )


@thorough
@given(cases())
def test_every_release_is_a_tree_of_whole_counts_that_add_up(case):
    release = case.publish()
    tree = release.tree
    children = np.zeros(len(tree), dtype=np.int64)
    for node, parent in enumerate(tree.parent):
        assert -1 <= parent < node
        assert tree.level[node] == (1 if parent < 0 else tree.level[parent] + 1)
        if parent >= 0:
            children[parent] += tree.estimate[node]
    assert tree.estimate.dtype == np.int64
    assert np.all(tree.estimate >= children)
    assert np.all(children >= 0)
    assert np.all(tree.noisy_count >= release.parameters.threshold)
    assert np.all(tree.level <= case.height)
    assert np.all((tree.location >= 0) & (tree.location < len(case.universe)))
    keys = list(zip(tree.level, tree.parent, tree.location, strict=True))
    assert keys == sorted(set(keys))


@thorough
@given(cases())
def test_the_released_rows_are_what_ends_at_each_node(case):
    release = case.publish()
    sequences = release.to_sequences()
    terminal = release.tree.terminal()
    assert len(sequences) == terminal.sum() == len(release)
    assert all(1 <= len(row) <= case.height for row in sequences)
    assert {label for row in sequences for label in row} <= set(case.universe.labels)
    codes = [release.universe.codes(row) for row in sequences]
    assert codes == sorted(codes)
    first = Counter(row[0] for row in codes)
    top = release.tree.level == 1
    for location, estimate in zip(
        release.tree.location[top], release.tree.estimate[top], strict=True
    ):
        assert first[location] == estimate


@thorough
@given(cases())
def test_the_certificate_promises_exactly_what_was_asked(case):
    release = case.publish()
    certificate = release.certificate
    assert Fraction(certificate.privacy_loss.privacy_parameters.epsilon) == Fraction(case.epsilon)
    shares = [Fraction(line.epsilon) for line in certificate.accounting.budget]
    assert len(shares) == case.height
    assert sum(shares) == Fraction(case.epsilon)
    assert {line.sensitivity for line in certificate.accounting.budget} == {case.bound}
    assert certificate.status == "NOT PRIVATE"


@settings(deadline=None, max_examples=25)
@given(cases(METHODS), st.booleans())
def test_a_bundle_reads_back_as_the_release_that_was_written(case, csv):
    release = case.publish()
    with tempfile.TemporaryDirectory() as folder:
        directory = release.write(Path(folder) / "release", csv=csv)
        back = verify_bundle(directory)
    assert back.universe == release.universe
    assert back.parameters == release.parameters
    assert back.is_private == release.is_private
    for column in ("parent", "location", "level", "noisy_count", "estimate"):
        ours, theirs = getattr(release.tree, column), getattr(back.tree, column)
        assert theirs.dtype == ours.dtype
        assert theirs.tolist() == ours.tolist()
    assert back.to_sequences() == release.to_sequences()
    assert len(back.to_sequences()) == len(back)
    assert release.certificate.adds_up()
    assert repr(back) == repr(release)


@settings(deadline=None, max_examples=20)
@given(cases(METHODS))
def test_the_same_injected_noise_gives_the_same_release(case):
    first, second = case.publish(), case.publish()
    assert first.tree.noisy_count.tolist() == second.tree.noisy_count.tolist()
    assert first.to_sequences() == second.to_sequences()
