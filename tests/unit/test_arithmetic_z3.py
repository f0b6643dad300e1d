"""The interval arithmetic, run with symbols in place of numbers: z3 proves every bound.

Nothing is written down again: the methods of `Interval` themselves are called with `Whole` numbers,
which record what is done to them, and every path through the code is taken. z3 is then asked for
values that contradict the claim, and must answer that there are none. Any number of bits is proved
in Coq (`proofs/`, on a transcription); here it is the Python code, at some numbers of bits.
"""

import operator
from functools import partial

import pytest
import z3

from pathveil.core.intervals import Interval

BITS = [1, 8, 32, 160]
MILLISECONDS = 60_000


class Truth:
    """A condition between symbols; asking for its truth chooses a path."""

    def __init__(self, paths, condition):
        self._paths, self._condition = paths, condition

    def __bool__(self):
        return self._paths.choose(self._condition)


class Whole:
    """A symbolic integer with the operators that the arithmetic uses."""

    def __init__(self, paths, value):
        self.paths, self.value = paths, value

    def _apply(self, operation, other):
        right = other.value if isinstance(other, Whole) else z3.IntVal(other)
        return Whole(self.paths, operation(self.value, right))

    def _compare(self, operation, other):
        return Truth(self.paths, self._apply(operation, other).value)

    def __neg__(self):
        return Whole(self.paths, -self.value)

    def __add__(self, other):
        return self._apply(operator.add, other)

    def __radd__(self, other):
        return self._apply(operator.add, other)

    def __sub__(self, other):
        return self._apply(operator.sub, other)

    def __rsub__(self, other):
        return -self._apply(operator.sub, other)

    def __mul__(self, other):
        return self._apply(operator.mul, other)

    def __rmul__(self, other):
        return self._apply(operator.mul, other)

    def __floordiv__(self, other):
        # z3's division rounds down when the divisor is positive, as Python's does always.
        self.paths.require(other.value > 0 if isinstance(other, Whole) else z3.BoolVal(other > 0))
        return self._apply(operator.truediv, other)

    def __rshift__(self, bits):
        return self // 2**bits

    def __lshift__(self, bits):
        return self * 2**bits

    def __eq__(self, other):
        return self._compare(operator.eq, other)

    def __gt__(self, other):
        return self._compare(operator.gt, other)

    def __lt__(self, other):
        return self._compare(operator.lt, other)

    __hash__ = None


class Paths:
    """All paths through a function of symbols: each choice is taken both ways."""

    def __init__(self):
        self.conditions, self.obligations, self._script, self._taken = [], [], [], []

    def choose(self, condition):
        at = len(self._taken)
        taken = self._script[at] if at < len(self._script) else True
        self._taken.append(taken)
        self.conditions.append(condition if taken else z3.Not(condition))
        return taken

    def require(self, condition):
        """What must hold on this path for an operator to mean what Python means."""
        self.obligations.append(z3.Implies(z3.And(self.conditions), condition))

    def through(self, function):
        """The result of every path; `conditions` are its own while it is given."""
        scripts = [[]]
        while scripts:
            self._script = scripts.pop()
            self.conditions, self.obligations, self._taken = [], [], []
            result = function()
            new = range(len(self._script), len(self._taken))
            scripts += [[*self._taken[:at], False] for at in new]
            yield result


def whole(paths, name):
    return Whole(paths, z3.Int(name))


def enclosed(paths, names, bits):
    """An interval of symbols, the scaled real number inside it, and the assumption that it is."""
    low, high, real = whole(paths, names + "_low"), whole(paths, names + "_high"), z3.Real(names)
    inside = z3.And(low.value >= 0, z3.ToReal(low.value) <= real, real <= z3.ToReal(high.value))
    return Interval(low, high, bits), real, inside


def prove(paths, assumptions, claim):
    """The claim holds on this path for all values, and so does all that the operators require."""
    for goal in (claim, *paths.obligations):
        solver = z3.Solver()
        solver.set("timeout", MILLISECONDS)
        solver.add(*assumptions, *paths.conditions, z3.Not(goal))
        assert solver.check() == z3.unsat, solver


def holds(interval, scaled):
    """The claim that a scaled real number lies in an interval."""
    low, high = (
        z3.ToReal(bound.value if isinstance(bound, Whole) else z3.IntVal(bound))
        for bound in (interval.low, interval.high)
    )
    return z3.And(low <= scaled, scaled <= high)


@pytest.mark.parametrize("bits", BITS)
def test_a_sum_encloses(bits):
    paths = Paths()
    a, x, in_a = enclosed(paths, "x", bits)
    b, y, in_b = enclosed(paths, "y", bits)
    for total in paths.through(lambda: a + b):
        prove(paths, [in_a, in_b], holds(total, x + y))


@pytest.mark.parametrize("bits", BITS)
def test_a_product_encloses(bits):
    paths = Paths()
    a, x, in_a = enclosed(paths, "x", bits)
    b, y, in_b = enclosed(paths, "y", bits)
    for product in paths.through(lambda: a * b):
        prove(paths, [in_a, in_b], holds(product, x * y / 2**bits))


@pytest.mark.parametrize("bits", BITS)
def test_a_quotient_encloses(bits):
    paths = Paths()
    a, x, in_a = enclosed(paths, "x", bits)
    b, y, in_b = enclosed(paths, "y", bits)
    quotient_value = z3.Real("q")
    assumptions = [in_a, in_b, y > 0, quotient_value * y == x * 2**bits, b.low.value > 0]
    for quotient in paths.through(lambda: a / b):
        prove(paths, assumptions, holds(quotient, quotient_value))


@pytest.mark.parametrize("bits", BITS)
def test_a_complement_encloses(bits):
    paths = Paths()
    a, x, in_a = enclosed(paths, "x", bits)
    taken = 0
    for rest in paths.through(a.complement):
        taken += 1
        prove(paths, [in_a, x <= 2**bits], holds(rest, 2**bits - x))
    assert taken == 4


@pytest.mark.parametrize(("bits", "words"), [(1, 1), (8, 3), (160, 32), (192, 64)])
def test_a_scaled_floor_is_the_floor(bits, words):
    paths = Paths()
    a, x, in_a = enclosed(paths, "x", bits)
    seen = set()
    for floor in paths.through(partial(a.scaled_floor, words)):
        seen.add(floor is None)
        if floor is not None:
            value, scaled = z3.ToReal(floor.value), x / 2 ** (bits - words)
            prove(paths, [in_a], z3.And(value <= scaled, scaled < value + 1))
    assert seen == {True, False}


def rounded_in(self, other):
    low = (self.low * other.low) >> self.bits
    return Interval(low, (self.high * other.high) >> self.bits, self.bits)


def crossed(self, other):
    """The quotient with the bounds of the divisor the wrong way round."""
    low = (self.low << self.bits) // other.low
    return Interval(low, -((-self.high << self.bits) // other.high), self.bits)


@pytest.mark.parametrize(
    ("method", "wrong", "claim"),
    [
        ("__mul__", rounded_in, test_a_product_encloses),
        ("__truediv__", crossed, test_a_quotient_encloses),
        ("complement", lambda self: self, test_a_complement_encloses),
    ],
)
def test_z3_finds_values_that_a_wrong_rounding_loses(method, wrong, claim, monkeypatch):
    monkeypatch.setattr(Interval, method, wrong)
    with pytest.raises(AssertionError):
        claim(8)
