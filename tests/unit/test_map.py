"""The map of the report: bounded, escaped, true to the released counts, and always the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.paths import Paths
from pathveil.pages.map import HEIGHTS, MOST_SPOTS, SHADES, WIDTH, draw_map
from pathveil.universe.universe import Universe


class Release:
    def __init__(self, universe, counts):
        self.universe = universe
        codes = np.flatnonzero(counts).astype(np.int32)
        self._paths = Paths(np.arange(len(codes) + 1), codes, np.asarray(counts)[codes])

    def paths(self):
        return self._paths


def placed(latitude, longitude):
    labels = [f"L{i}" for i in range(len(latitude))]
    return Universe(labels, latitude=latitude, longitude=longitude)


def spots(drawn):
    """(x, y) of all spots, and the layer of each."""
    return {
        tuple(map(int, spot.removesuffix("h0").split())): number
        for number, layer in enumerate(drawn.layers)
        for spot in layer.path.split("M")[1:]
    }


def test_north_is_up_east_is_right_and_more_visits_are_larger():
    universe = placed([45.0, 46.0, 45.0], [-73.0, -73.0, -72.0])
    drawn = draw_map(Release(universe, [1, 0, 100]))
    found = spots(drawn)
    assert len(found) == 3
    (origin,) = [spot for spot in found if spot[0] == min(x for x, _ in found) and found[spot] == 1]
    (north,) = [spot for spot in found if found[spot] == 0]
    (east,) = [spot for spot in found if found[spot] == 2]
    assert north[1] < origin[1]
    assert east[0] > origin[0]
    diameters = [layer.diameter for layer in drawn.layers]
    assert diameters == sorted(diameters)
    assert [layer.says for layer in drawn.layers] == ["no released visits", "1 to 2", "47 to 100"]
    # A degree of longitude is shorter than one of latitude, by the cosine.
    assert (east[0] - origin[0]) / (origin[1] - north[1]) == pytest.approx(0.70, abs=0.01)


def test_without_coordinates_there_is_no_map():
    assert draw_map(Release(Universe(["a"]), [3])) is None


def test_locations_without_coordinates_are_left_out_and_counted():
    drawn = draw_map(Release(placed([45, np.nan, 46], [-73, np.nan, -74]), [1, 900, 2]))
    assert len(spots(drawn)) == 2
    assert "1 locations have no coordinates" in drawn.description
    assert "at most 2" in drawn.description


def test_one_location_and_none_visited():
    drawn = draw_map(Release(placed([45], [-73]), [0]))
    assert list(spots(drawn).values()) == [0]
    assert drawn.layers[0].says == "no released visits"


@pytest.mark.parametrize("size", [8_760, 300_000])
def test_the_map_of_a_large_universe_is_small(size):
    generator = np.random.default_rng(1)  # noqa: TID251  (places)
    universe = placed(generator.uniform(45, 46, size), generator.uniform(-74, -73, size))
    drawn = draw_map(Release(universe, generator.integers(0, 1000, size)))
    assert len(drawn.layers) <= SHADES + 1
    assert len(spots(drawn)) <= 1.1 * MOST_SPOTS
    assert sum(len(layer.path) for layer in drawn.layers) < 12 * 1.1 * MOST_SPOTS


@given(
    st.lists(
        st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.integers(0, 10**9)),
        min_size=1, max_size=30,
    )
)  # fmt: skip
def test_every_place_is_inside_the_picture_and_every_visit_is_counted(places):
    latitude, longitude, counts = zip(*places, strict=True)
    drawn = draw_map(Release(placed(latitude, longitude), counts))
    assert drawn == draw_map(Release(placed(latitude, longitude), counts))
    assert HEIGHTS[0] <= drawn.height <= HEIGHTS[1]
    assert all(0 <= x <= WIDTH and 0 <= y <= drawn.height for x, y in spots(drawn))
    assert 1 <= len(spots(drawn)) <= len(places)
    visited = [layer for layer in drawn.layers if layer.says != "no released visits"]
    assert bool(visited) == (max(counts) > 0)
