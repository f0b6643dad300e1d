"""Words that a test writes, so that every sequence of them can be tried."""

from collections import Counter
from fractions import Fraction
from math import floor

import numpy as np

from pathveil.core.intervals import Interval
from pathveil.gate.randomness import Randomness


class OutOfWordsError(Exception):
    """The number needs one word more."""


class Script:
    """A generator that gives the words it was told and no more."""

    def __init__(self, words, word_bits):
        self._words = [word << (32 - word_bits) for word in words]

    def bytes(self, length):
        if 4 * len(self._words) < length:
            raise OutOfWordsError
        taken, self._words = self._words[: length // 4], self._words[length // 4 :]
        return np.array(taken, dtype="<u4").tobytes()


def decided_law(sampler, word_bits, most_words):
    """The mass that up to ``most_words`` words decide for each value, and the undecided mass."""
    law, undecided = Counter(), Fraction(0)
    sequences = [()]
    while sequences:
        words = sequences.pop()
        mass = Fraction(1, 2 ** (word_bits * len(words)))
        try:
            value = int(sampler.draw(1, Randomness(Script(words, word_bits)))[0])
        except OutOfWordsError:
            if len(words) < most_words:
                sequences += [(*words, word) for word in range(2**word_bits)]
            else:
                undecided += mass
        else:
            law[value] += mass
    assert sum(law.values()) + undecided == 1
    return law, undecided


def rational(value):
    """A rational number as a certified real."""

    def enclose(bits):
        scaled = value * 2**bits
        return Interval(floor(scaled), -floor(-scaled), bits)

    return enclose
