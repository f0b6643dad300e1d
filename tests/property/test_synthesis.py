"""Arbitrary small databases, measured with real noise and synthesized: always valid paths."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil import Parameters, TrajectoryDatabase, Universe
from pathveil.gate.measure import measure
from pathveil.gate.randomness import Randomness
from pathveil.methods.calibrated.synthesis.estimates import choose_candidates
from pathveil.methods.calibrated.synthesis.synthesize import synthesize
from pathveil.statistics.measurement_plan import MeasurementPlan

sizes = st.sampled_from([1, 2, 5, 65, 1000])


@st.composite
def databases(draw):
    """Few kinds of trajectories, each repeated: so that some of them stand out of the noise."""
    size = draw(sizes)
    codes = st.integers(0, min(size, 6) - 1)
    kinds = draw(st.lists(st.tuples(st.lists(codes, max_size=9), st.integers(1, 400)), max_size=6))
    rows = [row for row, times in kinds for _ in range(times)]
    return size, rows


@settings(max_examples=60)
@given(
    databases(),
    st.sampled_from(["0.01", "0.3", "2", "50"]),
    st.integers(1, 14),
    st.integers(0, 2**32),
)
def test_measured_and_synthesized(data, epsilon, height, seed):
    size, rows = data
    draw = np.random.default_rng(seed)  # noqa: TID251  (reproducible; nothing is published)
    database = TrajectoryDatabase.from_arrays(
        np.cumsum([0, *map(len, rows)]),
        np.array([code for row in rows for code in row], dtype=np.int32),
        Universe([str(i) for i in range(size)]),
    )
    plan = MeasurementPlan.of(
        Parameters.choose(epsilon=epsilon, height=height, universe_size=size, method="calibrated")
    )
    measurements = measure(database, plan, choose_candidates, Randomness(draw))
    paths = synthesize(measurements, plan, draw)

    assert paths.offsets[0] == 0
    assert paths.offsets[-1] == len(paths.codes)
    assert len(paths.offsets) == len(paths.weights) + 1
    assert (paths.lengths > 0).all()
    assert (paths.weights > 0).all()
    released = [tuple(row) for row in np.split(paths.codes, paths.offsets[1:-1])][: len(paths)]
    # What is no candidate stands alone: it is all that is left of a trajectory.
    others = ~np.isin(paths.codes, measurements.candidates)
    assert (np.add.reduceat(others, paths.offsets[:-1])[paths.lengths > 1] == 0).all()
    assert released == sorted(set(released))
