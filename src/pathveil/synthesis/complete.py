"""Continue prefixes from the movement model: all synthetic trajectories, on all cores.

The work is cut into chunks of trajectories, each with a seed of its own, so the result depends on
the seeds only and not on how many threads share the work.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.model.paths import Paths
from pathveil.synthesis.canonical import concatenate_paths
from pathveil.synthesis.movement_model import MovementModel
from pathveil.synthesis.threads import in_threads
from pathveil.synthesis.tree_estimates import Continuations
from pathveil.synthesis.walk import walk
from pathveil.synthesis.whole import whole_weights

CHUNK = 1 << 14  # trajectories: enough to keep the threads busy, few enough to share out evenly


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A chunk of trajectories to make.

    Attributes:
        jobs: int64; which of the continuations each begins with.
        seed: of its random numbers.
    """

    jobs: NDArray[np.int64]
    seed: int


def complete(
    work: Continuations, model: MovementModel, rows: float, draw: np.random.Generator
) -> Paths:
    """About ``rows`` trajectories in proportion to the masses, over positions of candidates."""
    tasks = cut_tasks(work, rows, draw)
    chunks = list(in_threads(lambda task: complete_chunk(task, work, model), tasks))
    return concatenate_paths(chunks)


def cut_tasks(work: Continuations, rows: float, draw: np.random.Generator) -> list[Task]:
    """Share ``rows`` trajectories out among the continuations, and cut them into chunks."""
    counts = whole_weights(work.masses * (rows / work.masses.sum()), draw.random())
    jobs = np.repeat(np.arange(len(counts)), counts)
    starts = range(0, len(jobs), CHUNK)
    seeds = draw.integers(2**63, size=len(starts))
    return [
        Task(jobs[start : start + CHUNK], int(seed))
        for start, seed in zip(starts, seeds, strict=True)
    ]


def complete_chunk(task: Task, work: Continuations, model: MovementModel) -> Paths:
    """The trajectories of one chunk."""
    offsets, codes = walk(task.jobs, task.seed, work, model)
    return Paths(offsets, codes, np.ones(len(task.jobs), dtype=np.int64))
