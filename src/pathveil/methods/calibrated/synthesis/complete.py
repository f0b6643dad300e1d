"""From real-valued weights to whole ones (systematic rounding, as in `methods.paper.generate`)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.core.paths import Paths
from pathveil.methods.calibrated.synthesis.canonical import SmallPaths
from pathveil.methods.calibrated.synthesis.movement_model import MovementModel
from pathveil.methods.calibrated.synthesis.tree_estimates import Continuations
from pathveil.methods.calibrated.synthesis.walk import walk
from pathveil.threads import in_threads

BLOCK = 1 << 18  # weights
CHUNK = 1 << 14  # trajectories: enough to keep the threads busy, few enough to share out evenly


def rounded_weights(weights: NDArray[np.float64], offset: float) -> NDArray[np.int64]:
    """Whole numbers whose sum over any run of consecutive rows is off by less than 1.

    Args:
        weights: float64, ≥ 0.
        offset: U in [0, 1). If it is uniform, the mean of every result is its weight.
    """
    whole = np.empty(len(weights), dtype=np.int64)
    summed, before = np.zeros(1), np.int64(0)
    for start in range(0, len(weights), BLOCK):  # they are many: the sums are not held for all
        block = slice(start, start + BLOCK)
        summed = np.cumsum(np.concatenate((summed[-1:], weights[block])))[1:]
        reached = np.floor(summed + offset).astype(np.int64)
        whole[block] = np.diff(reached, prepend=before)
        before = reached[-1]
    return whole


# Continue prefixes from the movement model: all synthetic trajectories, on all cores.
#
# The work is cut into chunks of trajectories, each with a seed of its own, so the result depends on
# the seeds only and not on how many threads share the work.


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A chunk of trajectories to make.

    Attributes:
        jobs: int32; which of the continuations each begins with.
        seed: of its random numbers.
    """

    jobs: NDArray[np.int32]
    seed: int


def complete(
    work: Continuations, model: MovementModel, rows: float, draw: np.random.Generator
) -> SmallPaths:
    """About ``rows`` trajectories in proportion to the masses, over positions of candidates."""
    chunks = in_threads(lambda task: complete_chunk(task, work, model), cut_tasks(work, rows, draw))
    return SmallPaths.joined(chunks, len(model.sums))


def cut_tasks(work: Continuations, rows: float, draw: np.random.Generator) -> list[Task]:
    """Share ``rows`` trajectories out among the continuations, and cut them into chunks."""
    counts = rounded_weights(work.masses * (rows / work.masses.sum()), draw.random())
    jobs = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    starts = range(0, len(jobs), CHUNK)
    seeds = draw.integers(2**63, size=len(starts))
    return [
        Task(jobs[start : start + CHUNK], int(seed))
        for start, seed in zip(starts, seeds, strict=True)
    ]


def complete_chunk(task: Task, work: Continuations, model: MovementModel) -> Paths:
    """The trajectories of one chunk."""
    offsets, codes = walk(task.jobs.astype(np.int64), task.seed, work, model)
    return Paths(offsets, codes, np.ones(len(task.jobs), dtype=np.int64))
