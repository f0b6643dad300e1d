"""How likely noisy answers are, for many ways in which the true ones may be off.

The true answer lies between two edges, anywhere alike, with some chance; the noisy one is it plus
noise. So its density is the noise's between these edges, on average: (P[noise < y − low] −
P[noise < y − high]) / (high − low). Not at some points between them: of a large answer these lie
further apart than noise reaches, and all but lucky errors would look impossible.
"""

from fractions import Fraction
from math import erfc, exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from pathveil.compiled import compiled
from pathveil.core.noise import Gaussian, Laplace, Noise

_SAME = 1e-4  # edges are at least so much of the noise's scale apart
_UNLIKELY = 1e-9  # one question in a thousand millions may have any answer


def likely_between(
    edges: NDArray[np.float64], noisy: NDArray[np.float64], noise: Noise
) -> NDArray[np.float64]:
    """How likely noisy counts are if the true ones lie anywhere between two edges; 1 at best.

    Args:
        edges: ascending along the last axis.
        noisy: one for each row of edges.
        noise: its law.
    """
    apart = edges + _SAME * noise.scale * np.arange(edges.shape[-1])
    between = np.diff(noise.below(noisy - apart), axis=-1) / np.diff(apart, axis=-1)
    result: NDArray[np.float64] = _UNLIKELY - noise.mass * between
    return result


def log_likelihoods(
    left: NDArray[np.float64],
    noisy: NDArray[np.float64],
    factors: NDArray[np.float64],
    masses: NDArray[np.float64],
    noise: Noise,
) -> NDArray[np.float64]:
    """Of each noisy answer under each law of factors; shape (answers, lefts, laws).

    Args:
        left: float64, shape (answers, lefts); what the true answer is if it is not off.
        noisy: float64, shape (answers,).
        factors: float64, shape (laws, edges), ascending; by so much it may be off.
        masses: float64, shape (edges − 1,); how likely it is between two of them.
        noise: its law.
    """
    is_gaussian = isinstance(noise, Gaussian)
    scale = noise.deviation if is_gaussian else noise.scale
    step = _SAME * noise.scale
    parts = masses * noise.mass
    return _summed(left, noisy, factors, parts, float(scale), float(step), is_gaussian)


def compile_likelihoods() -> None:
    """Find how likely one made-up answer is: for a rehearsal, whose questions may be too few."""
    one = np.ones((1, 1))
    for noise in (Laplace(Fraction(1)), Gaussian(Fraction(1))):
        log_likelihoods(one, one[0], np.array([[0.0, 1.0]]), one[0], noise)


@compiled
def _summed(
    left: NDArray[np.float64],
    noisy: NDArray[np.float64],
    factors: NDArray[np.float64],
    masses: NDArray[np.float64],
    scale: float,
    step: float,
    is_gaussian: bool,
) -> NDArray[np.float64]:
    answers, lefts = left.shape
    laws, edges = factors.shape
    result = np.empty((answers, lefts, laws))
    for answer in range(answers):
        for i in range(lefts):
            for law in range(laws):
                likely, edge, reached = 0.0, 0.0, 0.0
                for k in range(edges):
                    before, reached_before = edge, reached
                    edge = left[answer, i] * factors[law, k] + step * k
                    gap = (noisy[answer] - edge) / scale
                    if is_gaussian:
                        reached = 0.5 * erfc(-gap / sqrt(2.0))
                    elif gap > 0:
                        reached = 1.0 - 0.5 * exp(-gap)
                    else:
                        reached = 0.5 * exp(gap)
                    if k > 0:
                        likely += masses[k - 1] * (reached_before - reached) / (edge - before)
                result[answer, i, law] = log(likely + _UNLIKELY)
    return result
