"""Minimise a smooth convex function in a box: L-BFGS with a diagonal to begin with.

The inverse Hessian is pieced together from the last few steps (Nocedal and Wright, algorithm 7.4),
starting from a diagonal that the function supplies. Coordinates that press against the box are left
out of a step, and steps are cut off at the box. Each step costs one evaluation, rarely more.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pathveil.statistics.constants import (
    FIRST_STEP,
    REMEMBERED_STEPS,
    SHORTENING,
    SHORTEST_STEP,
    SUFFICIENT_DECREASE,
)

ALONE = 10_000  # numbers that OpenBLAS multiplies in one thread


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """The function at one position.

    Attributes:
        position: float64.
        value: the function.
        gradient: float64.
        curvature: float64, > 0; the diagonal of the Hessian.
    """

    position: NDArray[np.float64]
    value: float
    gradient: NDArray[np.float64]
    curvature: NDArray[np.float64]

    def slope(self, bound: float) -> NDArray[np.float64]:
        """The gradient, without the coordinates that it presses against the box."""
        pressed = (self.position >= bound) & (self.gradient < 0)
        pressed |= (self.position <= -bound) & (self.gradient > 0)
        return np.where(pressed, 0.0, self.gradient)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A step, what it did to the gradient, and their product, which is > 0."""

    move: NDArray[np.float64]
    change: NDArray[np.float64]
    product: float


def dot(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """The product of two vectors; the same whatever the number of cores.

    A linear algebra library shares long ones out among threads, which wait for one another at full
    speed, and adds up what each of them found: another sum with another number of cores.
    """
    parts = range(0, len(left), ALONE)
    return float(sum(left[i : i + ALONE] @ right[i : i + ALONE] for i in parts))


def minimise(
    function: Callable[[NDArray[np.float64]], Point],
    start: Point,
    bound: float,
    enough: Callable[[Point], bool],
    most_steps: int,
) -> Point:
    """The best point found.

    Args:
        function: evaluates a position.
        start: where to begin.
        bound: every coordinate stays within ±bound.
        enough: the rule by which to stop.
        most_steps: stop after so many, whatever the rule says.
    """
    point = start
    steps: deque[_Step] = deque(maxlen=REMEMBERED_STEPS)
    for _ in range(most_steps):
        if enough(point):
            break
        following = _descend(function, point, steps, bound)
        if following is None:
            break
        move, change = following.position - point.position, following.gradient - point.gradient
        if (product := dot(move, change)) > 0:  # it always is, but for rounding
            steps.append(_Step(move, change, product))
        point = following
    return point


def _descend(
    function: Callable[[NDArray[np.float64]], Point],
    point: Point,
    steps: deque[_Step],
    bound: float,
) -> Point | None:
    """A lower point, or None if none is found."""
    slope = point.slope(bound)
    direction = np.where(slope == 0, 0.0, -_newton_step(slope, point.curvature, steps))
    length = 1.0 if steps else FIRST_STEP
    while length > SHORTEST_STEP:
        position = np.clip(point.position + length * direction, -bound, bound)
        following = function(position)
        promised = dot(slope, position - point.position)
        if following.value <= point.value + SUFFICIENT_DECREASE * promised:
            return following
        length *= SHORTENING
    return None


def _newton_step(
    slope: NDArray[np.float64], curvature: NDArray[np.float64], steps: Iterable[_Step]
) -> NDArray[np.float64]:
    """The inverse Hessian, as far as it is known, times the slope."""
    known = list(steps)
    result = slope.copy()
    shares = []
    for step in reversed(known):
        share = dot(step.move, result) / step.product
        result -= share * step.change
        shares.append(share)
    if known:
        last = known[-1]
        result *= last.product / dot(last.change, last.change / curvature)
    result /= curvature
    for step, share in zip(known, reversed(shares), strict=True):
        result += (share - dot(step.change, result) / step.product) * step.move
    return result
