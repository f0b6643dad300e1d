"""The tests' own noise: by name, the same in every run, and never the gate's by default."""

import subprocess
import sys

from tests.noise import Noise

from pathveil.gate.randomness import Randomness


def drawn(noise, name):
    with noise.of(name):
        return noise.draw(64)


def test_a_name_has_its_stream_and_a_seed_its_own():
    first, again, other = Noise("1"), Noise("1"), Noise("2")
    assert drawn(first, "a") == drawn(first, "a") == drawn(again, "a")
    assert drawn(first, "b") != drawn(first, "a") != drawn(other, "a")


def test_a_fixture_within_a_test_leaves_the_test_its_stream():
    noise = Noise("1")
    with noise.of("test"):
        begun = noise.draw(64)
        drawn(noise, "fixture")
        went_on = noise.draw(64)
    with noise.of("test"):
        assert begun + went_on == noise.draw(64) + noise.draw(64)


def test_within_a_test_words_do_not_repeat():
    assert Randomness().words(8).tolist() != Randomness().words(8).tolist()


def test_other_processes_draw_the_operating_systems_noise():
    code = "from pathveil.gate.randomness import Randomness; print(Randomness().words(8))"
    said = [subprocess.check_output([sys.executable, "-c", code]) for _ in range(2)]
    assert said[0] != said[1]
