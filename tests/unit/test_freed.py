"""Freed memory goes back to the system where the C library can do that, and nothing fails else."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from pathveil import freed


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="not glibc")
def test_what_was_freed_is_given_back():
    held = [np.ones(12_000) for _ in range(2_000)]  # 192 MB in pieces that the library keeps
    last = held.pop()
    del held
    before = resident()
    freed.give_back()
    assert before - resident() > 20_000  # pages of 4 kB: most of it
    assert last.sum() == 12_000


def test_a_library_that_can_not_do_it_is_left_alone(monkeypatch):
    def other(_name):
        raise OSError

    monkeypatch.setattr(freed.ctypes, "CDLL", other)
    freed._trim.cache_clear()
    freed.give_back()
    freed._trim.cache_clear()
