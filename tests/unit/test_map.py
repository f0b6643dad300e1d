"""The map of the report: bounded, escaped, true to the released counts, and always the same."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.core.paths import Paths
from pathveil.errors import UniverseError
from pathveil.pages.map import HEIGHTS, MOST_NAMED, MOST_SPOTS, SIZES, WIDTH, draw_map
from pathveil.universe.background import MOST_POINTS, Background
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
    assert drawn.legend[0][1] == "no released visits"


@pytest.mark.parametrize("size", [8_760, 300_000])
def test_the_map_of_a_large_universe_is_small(size):
    generator = np.random.default_rng(1)  # noqa: TID251  (places)
    universe = placed(generator.uniform(45, 46, size), generator.uniform(-74, -73, size))
    drawn = draw_map(Release(universe, generator.integers(0, 1000, size)))
    assert len(drawn.layers) <= SIZES + 1
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
    assert (drawn.layers[-1].opacity > drawn.layers[0].opacity) <= (max(counts) > 0)
    assert (drawn.legend[0][1] == "no released visits") == (max(counts) == 0)


def test_the_area_of_a_spot_is_in_proportion_to_its_visits():
    counts = [100, 225, 400, 1600]
    drawn = draw_map(
        Release(placed([45.0, 45.5, 46.0, 46.5], [-73.0, -72.0, -71.0, -70.0]), counts)
    )
    areas = [layer.diameter**2 for layer in drawn.layers]
    assert [area / areas[-1] for area in areas] == pytest.approx(
        [count / 1600 for count in counts], rel=0.02
    )
    for diameter, says in drawn.legend:
        visits = int(says.replace(",", ""))
        assert diameter**2 / areas[-1] == pytest.approx(visits / 1600, rel=0.02)


def test_the_most_visited_are_named_where_there_is_room():
    side = np.linspace(0, 1, 30)
    universe = Universe(
        [f"L{i}" for i in range(30)],
        names=[f"Stop {i}" for i in range(30)],
        latitude=45 + side,
        longitude=-73 + side**2,
    )
    drawn = draw_map(Release(universe, np.arange(1, 31)))
    letters, names = drawn.names["wide"]
    assert names[0].text.strip("\u2068\u2069") == "Stop 29"
    assert 5 < len(names) <= MOST_NAMED
    boxes = [(one.y // letters, one.x) for one in names]
    assert len(set(boxes)) == len(boxes)
    assert all(0 <= one.x <= WIDTH and 0 <= one.y <= drawn.height for one in names)
    assert 1 <= len(drawn.names["narrow"][1]) <= 5
    nobody = draw_map(Release(universe, [0] * 30))
    assert nobody.names["wide"][1] == ()


def test_public_lines_lie_where_the_locations_are():
    universe = placed([45.0, 46.0], [-73.0, -72.0])
    drawn = draw_map(Release(universe, [1, 1]), Background((((-73.0, 45.0), (-72.0, 46.0)),)))
    (low, high) = sorted(spots(drawn), key=lambda spot: -spot[1])
    assert drawn.background == f"M{low[0]} {low[1]}L{high[0]} {high[1]}"
    far = Background((((10.0, 10.0), (11.0, 11.0)),))
    assert draw_map(Release(universe, [1, 1]), far).background == ""


@given(
    st.lists(
        st.lists(st.tuples(st.floats(-180, 180), st.floats(-90, 90)), min_size=2, max_size=9),
        max_size=9,
    )
)
def test_lines_come_back_from_their_text(lines):
    made = Background(tuple(tuple((round(a, 5), round(b, 5)) for a, b in line) for line in lines))
    assert Background.from_text(made.to_text().encode()) == made


def test_many_lines_are_thinned(tmp_path):
    path = tmp_path / "city.geojson"
    across = [[i / 1000, (i * i % 997) / 1000] for i in range(1000)]
    rows = [[[x, y + n] for x, y in across] for n in range(30)]
    path.write_text(json.dumps({"type": "MultiLineString", "coordinates": rows}), encoding="utf-8")
    read = Background.read(path)
    assert 0 < sum(map(len, read.lines)) <= MOST_POINTS
    ends = [[[i / 1e4, 0.0], [i / 1e4, 1.0]] for i in range(5000)]
    path.write_text(json.dumps({"type": "MultiLineString", "coordinates": ends}), encoding="utf-8")
    assert sum(map(len, Background.read(path).lines)) <= MOST_POINTS


@pytest.mark.parametrize(
    "said",
    [
        "not json",
        "[]",
        '{"type": "LineString"}',
        '{"type": "LineString", "coordinates": [[0, 0]]}',
        '{"type": "LineString", "coordinates": [[0, 0], [0, 91]]}',
        '{"type": "LineString", "coordinates": [[0, 0], ["1", 1]]}',
        '{"type": "LineString", "coordinates": [[0, 0], [true, 1]]}',
        '{"type": "Point", "coordinates": [0, 0]}',
        '{"type": "Circle", "coordinates": []}',
        '{"type": "FeatureCollection", "features": 7}',
    ],
)
def test_what_is_no_background_is_refused_in_words(tmp_path, said):
    path = tmp_path / "city.geojson"
    path.write_text(said, encoding="utf-8")
    with pytest.raises(UniverseError, match="background"):
        Background.read(path)


def feed(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.txt", text)
    return path


def test_the_shapes_of_a_feed_are_lines(tmp_path):
    shapes = (
        "shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence\n"
        "A,45.0,-73.0,1\nA,45.5,-72.5,10\nA,45.2,-72.8,2\nB,45.0,-73.0,1\n"
    )
    path = feed(tmp_path / "feed.zip", shapes=shapes)
    assert Background.read(path).lines == (((-73.0, 45.0), (-72.8, 45.2), (-72.5, 45.5)),)
    assert not Background.of_feed(feed(tmp_path / "none.zip", stops="stop_id\n1\n"))
    with pytest.raises(UniverseError, match=r"shapes\.txt"):
        Background.read(feed(tmp_path / "none.zip", stops="stop_id\n1\n"))
    with pytest.raises(UniverseError, match=r"shapes\.txt"):
        Background.read(feed(tmp_path / "odd.zip", shapes="shape_id\n1\n"))


STOPS = (
    "stop_id,stop_name,stop_lat,stop_lon,parent_station,location_type\n"
    "a,A,45.0,-73.0,,\nb,B,45.1,-73.0,,\nc,C,45.2,-73.0,,\nd,D,45.1,-72.8,,\nx,X,,,st,3\nst,S,45,-73,,1\n"
)


def test_a_feed_without_shapes_has_straight_lines_from_stop_to_stop(tmp_path):
    calls = (
        "trip_id,arrival_time,stop_id,stop_sequence\n"
        "1,,b,20\n1,,a,3\n1,,c,100\n"  # a, b, c: numbers need not follow one another
        "2,,c,1\n2,,b,2\n2,,a,3\n"  # the way back, drawn already
        "3,,a,1\n3,,b,2\n3,,b,3\n3,,x,4\n3,,zone,5\n3,,d,6\n"  # leaves it after b
    )
    path = feed(tmp_path / "feed.zip", stops=STOPS, stop_times=calls)
    trunk = ((-73.0, 45.0), (-73.0, 45.1), (-73.0, 45.2))
    assert Background.of_feed(path).lines == (trunk, ((-73.0, 45.1), (-72.8, 45.1)))
    assert Background.read(path) == Background.of_feed(path)
    header_alone = feed(tmp_path / "h.zip", shapes="shape_id\n", stops=STOPS, stop_times=calls)
    assert Background.of_feed(header_alone).lines[0] == trunk


@pytest.mark.parametrize(
    "calls", ["", "trip_id,stop_id\n", "trip_id,stop_id,stop_sequence\n1,a,?\n"]
)
def test_rides_that_are_not_as_gtfs_has_them_are_refused_in_words(tmp_path, calls):
    with pytest.raises(UniverseError, match=r"stop_times\.txt of .* is not as GTFS has it"):
        Background.of_feed(feed(tmp_path / "feed.zip", stops=STOPS, stop_times=calls))
