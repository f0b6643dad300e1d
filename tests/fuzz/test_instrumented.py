"""What the fuzzer instruments: every zone that it names is there, and no kernel is among it."""

import importlib
import sys
from types import ModuleType

from numba.core.dispatcher import Dispatcher


def test_kernels_are_left_alone_and_every_zone_is_there(monkeypatch):
    """An instrumented kernel does not compile, and then no target that publishes runs at all."""
    monkeypatch.setitem(sys.modules, "atheris", ModuleType("atheris"))  # not needed to choose
    one = importlib.import_module("fuzz.one")
    plain, others = one.modules()
    for zone in one.ZONES:
        assert f"pathveil.{zone}" in plain, zone
    for name in plain:
        kernels = [
            value
            for value in vars(importlib.import_module(name)).values()
            if isinstance(value, Dispatcher) and value.py_func.__module__ == name
        ]
        assert kernels == [], name
    assert {"pathveil", "pathveil.raw.bounding", "pathveil.statistics.shapes"} <= set(others)
