"""The noise of tests: the same in every run, so that one that passes once passes always.

A release of 200 riders is now and then empty, and what a test says of it is then wrong. Seeding
each publish by its parameter would stamp it NOT PRIVATE, which is not what users see; so the
operating system's generator is replaced, for the gate alone and in the tests' process alone.
Commands that tests start as processes draw real noise, and so does everything with --noise real.
"""

import hashlib
import os
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from pathveil.gate import randomness


class Noise:
    """A stream for each test and each fixture, by its name.

    Args:
        seed: text; "real" for the operating system's noise.
    """

    def __init__(self, seed):
        self._seed = seed
        self._streams = []

    def inject(self):
        """From now on, the gate of this process draws here."""
        randomness.os = SimpleNamespace(urandom=self.draw)

    @contextmanager
    def of(self, name):
        """While this runs, bytes come from the stream of this name."""
        digest = hashlib.sha256(f"{self._seed}:{name}".encode()).digest()
        self._streams.append(np.random.default_rng(list(digest)))  # noqa: TID251
        try:
            yield
        finally:
            self._streams.pop()

    def draw(self, size):
        """As `os.urandom`."""
        is_real = self._seed == "real" or not self._streams
        return os.urandom(size) if is_real else self._streams[-1].bytes(size)
