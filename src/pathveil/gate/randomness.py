"""Random words: from the operating system's secure generator, or injected by a test.

Nothing else in the gate draws randomness. There is no seed in production: who knows the seed
can subtract the noise. `os.urandom` is asked anew for every batch rather than a stream keyed
once, because a key that is copied by a fork gives two releases the same noise.
"""

import os
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class ByteGenerator(Protocol):
    """What a test may inject: `numpy.random.Generator` is one."""

    def bytes(self, length: int, /) -> bytes:
        """The next ``length`` bytes."""
        ...


class Randomness:
    """A source of uniform 32-bit words.

    Args:
        generator: None for the operating system's secure generator. Anything else makes the
            result predictable, so what it produces is stamped NOT PRIVATE.
    """

    __slots__ = ("_generator",)

    def __init__(self, generator: ByteGenerator | None = None) -> None:
        self._generator = generator

    @property
    def is_private(self) -> bool:
        """Whether the words are unpredictable to everybody."""
        return self._generator is None

    def words(self, count: int) -> NDArray[np.uint32]:
        """``count`` independent words, uniform on 0 … 2³² − 1."""
        size = 4 * count
        data = os.urandom(size) if self._generator is None else self._generator.bytes(size)
        return np.frombuffer(data, dtype="<u4")

    def fraction(self) -> float:
        """A uniform number in [0, 1), for rounding after the gate; no privacy rests on it."""
        return int(self.words(1)[0]) / 2**32
