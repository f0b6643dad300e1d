"""Universes that people have: GTFS feeds, grids, H3 cells and code lists."""

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil import read_trajectories
from pathveil.errors import ParameterError, UniverseError
from pathveil.universe import coordinates as limits
from pathveil.universe.coordinates import Box
from pathveil.universe.lat_lon_grid import LatLonGrid
from pathveil.universe.universe import LISTED, Universe

STOPS = Path(__file__).parents[3] / "shared" / "data" / "stm_gtfs" / "stops.txt"
MONTREAL = "45.40,-73.98,45.70,-73.47"

FEED = """\
\ufeffstop_id,stop_name,stop_lat,stop_lon,location_type,parent_station
S,"Station, S",45.5,-73.5,1,
S1,Platform 1,45.5001,-73.5001,0,S
S2,Platform 2,45.5002,-73.5002,,S
B,Boarding area,,,4,S1
E,Entrance,45.5003,-73.5003,2,S
N,Node,,,3,S

X,Bus stop,45.6,-73.6,0,
Y,No place,,,,
"""


def feed(tmp_path, text=FEED, name="stops.txt"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def zipped(tmp_path, files, name="feed.zip"):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner, text in files.items():
            archive.writestr(inner, text)
    return path


# GTFS


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [
        ("gtfs", ("S", "S1", "S2", "X", "Y")),
        ("gtfs-stations", ("S",)),
        ("gtfs-merged", ("S", "X", "Y")),
    ],
)
def test_the_levels_of_a_feed(tmp_path, scheme, labels):
    text = Universe.read(f"{scheme}:{feed(tmp_path)}")
    inside = Universe.read(f"{scheme}:{zipped(tmp_path, {'a.txt': 'x', 'stops.txt': FEED})}")
    assert text.labels == inside.labels == labels
    assert text.origin == f"{scheme}:stops.txt"
    assert inside.origin == f"{scheme}:feed.zip"
    assert text.names[0] == "Station, S"
    assert text.latitude[0] == 45.5


def test_everything_below_a_station_stands_for_it(tmp_path):
    below = {"S1": "S", "S2": "S", "B": "S", "E": "S", "N": "S"}
    names = {"Station, S": "S", "Bus stop": "X", "No place": "Y"}
    stations = Universe.from_gtfs(feed(tmp_path), level="stations").aliases
    assert stations == below | {"Station, S": "S"}
    assert Universe.from_gtfs(feed(tmp_path), level="merged").aliases == below | names
    assert not below.keys() & Universe.from_gtfs(feed(tmp_path)).aliases.keys()


def test_taps_by_the_name_of_a_stop_are_visits_to_it_if_no_other_has_the_name(tmp_path):
    text = FEED.replace("Bus stop", "No place", 1)
    found = Universe.read(f"gtfs-merged:{feed(tmp_path, text)}")
    assert "No place" not in found.aliases
    taps = tmp_path / "taps.csv"
    taps.write_text('u,stop\n1,"Station, S"\n1,X\n1,No place\n', encoding="utf-8")
    read = read_trajectories(taps, found, unit="u", location="stop")
    assert [found.labels[code] for code in read.codes] == ["S", "X"]


def test_a_level_that_no_feed_has_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="one of stops, stations, merged"):
        Universe.from_gtfs(feed(tmp_path), level="platforms")


def test_a_stop_without_a_place_keeps_the_others_on_the_map(tmp_path):
    universe = Universe.from_gtfs(feed(tmp_path))
    assert np.isnan(universe.latitude).tolist() == [False, False, False, False, True]
    assert universe.has_coordinates


def test_a_zipped_folder_is_a_feed_too(tmp_path):
    files = {"gtfs/stops.txt": FEED, "__MACOSX/gtfs/stops.txt": "junk"}
    assert len(Universe.from_gtfs(zipped(tmp_path, files))) == 5


def with_line(row):
    return FEED.replace("X,Bus stop,45.6,-73.6,0,", row)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("stop_code\n1\n", r"stops.txt, line 1: no column 'stop_id'"),
        ("stop_id,stop_id\n1,2\n", r"line 1: two columns"),
        (with_line("X,Bus"), r"stops.txt, line 9: 2 cells, but the header has 6"),
        (with_line(",Bus,45,-73,0,"), r"line 9: the stop_id is empty"),
        (with_line("S1,Bus,45,-73,0,"), r"line 9: the stop_id 'S1' is already used .*line 3"),
        (with_line("X,Bus,91,-73,0,"), r"line 9: the stop_lat '91' is not a number between"),
        (with_line("X,Bus,45,west,0,"), r"line 9: the stop_lon 'west'"),
        (with_line("X,Bus,nan,-73,0,"), r"line 9: the stop_lat 'nan'"),
        (with_line("X,Bus,45,,0,"), r"line 9: a latitude or a longitude is there without"),
        (with_line("X,Bus,45,-73,5,"), r"line 9: the location_type '5' is not one of 0 to 4"),
        (with_line("X,Bus,45,-73,0,Q"), r"line 9: the parent_station 'Q' is not a station"),
        (with_line("X,Bus,45,-73,0,S1"), r"line 9: the parent_station 'S1' is not a station"),
        (with_line("X,Area,45,-73,4,S"), r"line 9: the parent_station 'S' is not a platform"),
        (with_line("X,Other,45,-73,1,S"), r"line 9: a station can't have a parent_station"),
        (with_line('X,"Bus"stop",45,-73,0,'), r"line 9: not well-formed CSV"),
        (FEED.encode().replace(b"Bus", b"B\xffs"), r"line 9: not UTF-8"),
        ("stop_id,location_type\nE,2\n", "has no stops"),
    ],
)
def test_a_malformed_feed_is_refused_with_the_file_and_the_line(tmp_path, text, message):
    with pytest.raises(UniverseError, match=message):
        Universe.from_gtfs(feed(tmp_path, text))
    if isinstance(text, str):
        with pytest.raises(UniverseError, match="zip"):
            Universe.from_gtfs(zipped(tmp_path, {"stops.txt": text}))


def test_lines_are_counted_through_quoted_line_breaks(tmp_path):
    text = FEED.replace('"Station, S"', '"Station\nS"').replace("X,Bus stop", ",Bus stop")
    with pytest.raises(UniverseError, match="line 10: the stop_id is empty"):
        Universe.from_gtfs(feed(tmp_path, text))


def test_files_that_are_no_feed(tmp_path):
    with pytest.raises(UniverseError, match="0 files stops"):
        Universe.from_gtfs(zipped(tmp_path, {"routes.txt": "x"}))
    with pytest.raises(UniverseError, match="2 files stops"):
        Universe.from_gtfs(zipped(tmp_path, {"stops.txt": FEED, "a/stops.txt": FEED}))
    with pytest.raises(UniverseError, match="not a readable zip"):
        Universe.from_gtfs(feed(tmp_path, b"PK\x03\x04 nonsense", "feed.zip"))
    damaged = bytearray(zipped(tmp_path, {"stops.txt": FEED * 50}).read_bytes())
    damaged[60:80] = bytes(20)
    with pytest.raises(UniverseError, match=r"zip|CSV|UTF-8"):
        Universe.from_gtfs(feed(tmp_path, bytes(damaged), "feed.zip"))
    with pytest.raises(UniverseError, match="No such file"):
        Universe.from_gtfs(tmp_path / "nowhere.zip")
    with pytest.raises(UniverseError, match="folder"):
        Universe.from_gtfs(tmp_path)
    with pytest.raises(UniverseError, match="NUL"):
        Universe.from_gtfs("a\0b")


def test_a_zip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("pathveil.universe.gtfs.MOST_BYTES", 1000)
    with pytest.raises(UniverseError, match="larger than 1,000 bytes"):
        Universe.from_gtfs(zipped(tmp_path, {"stops.txt": "stop_id\n" + "\n" * 2000}))


@pytest.mark.skipif(not STOPS.exists(), reason="the shared data is not here")
def test_the_real_stop_list():
    stops = Universe.read(f"gtfs:{STOPS}")
    stations = Universe.read(f"gtfs-stations:{STOPS}")
    assert (len(stops), len(stations)) == (8_760, 68)
    assert not np.isnan(stops.latitude).any()
    assert stations.aliases["43"] == stations.aliases["43-01"] == "STATION_M118"
    assert stations.names[0] == "STATION ANGRIGNON"
    shared = Universe.read(STOPS.parent / "universe.csv")
    assert stops == shared


# A grid


def test_a_grid_is_read_from_its_description():
    universe = Universe.read("grid:2x11:10,20,12,42")
    assert universe.labels[0] == "r1c01"
    assert universe.labels[-1] == "r2c11"
    assert universe.latitude.tolist() == [10.5] * 11 + [11.5] * 11
    assert universe.longitude[:2].tolist() == [21.0, 23.0]
    assert universe.origin == "grid:2x11:10.0,20.0,12.0,42.0"
    assert universe == Universe.from_grid(2, 11, "10,20,12,42")


def test_lines_belong_to_the_cell_in_the_north_and_east_and_the_edge_to_the_box():
    grid = LatLonGrid(2, 2, Box(0, 0, 2, 2))
    points = {
        (0.5, 0.5): 0, (0.5, 1.5): 1, (1.5, 0.5): 2, (1.5, 1.5): 3, (1, 1): 3, (0, 0): 0,
        (2, 2): 3, (2, 0): 2, (0, 2): 1, (-1e-9, 1): -1, (1, 2.0000001): -1, (90, 180): -1,
    }  # fmt: skip
    latitude, longitude = np.array(list(points), dtype=float).T
    codes = grid.codes(latitude, longitude)
    assert codes.tolist() == list(points.values())
    assert codes.dtype == np.int32


@given(
    st.integers(1, 40), st.integers(1, 40),
    st.lists(st.tuples(st.floats(-91, 91), st.floats(-181, 181)), min_size=1, max_size=30),
)  # fmt: skip
def test_a_point_lies_in_the_cell_that_it_is_given(rows, columns, points):
    box = Box(-60.25, -120.5, 61.75, 121.0)
    grid = LatLonGrid(rows, columns, box)
    latitude, longitude = np.array(points).T
    codes = grid.codes(latitude, longitude)
    tall, wide = (box.north - box.south) / rows, (box.east - box.west) / columns
    for (north, east), code in zip(points, codes.tolist(), strict=True):
        inside = box.south <= north <= box.north and box.west <= east <= box.east
        assert inside == (code >= 0)
        if inside:
            row, column = divmod(code, columns)
            assert -1e-9 <= north - (box.south + row * tall) <= tall + 1e-9
            assert -1e-9 <= east - (box.west + column * wide) <= wide + 1e-9
    alone = [
        int(grid.codes(latitude[i : i + 1], longitude[i : i + 1])[0]) for i in range(len(codes))
    ]
    assert alone == codes.tolist()


def test_the_centre_of_a_cell_lies_in_it():
    universe = Universe.read(f"grid:36x28:{MONTREAL}")
    codes = universe.cells.codes(universe.latitude, universe.longitude)
    assert codes.tolist() == list(range(len(universe)))


# H3


@pytest.fixture(scope="module")
def h3():
    return pytest.importorskip("h3", reason="the extra 'grid' is not installed")


def random_points(size, south, west, north, east):
    generator = np.random.default_rng(5)  # noqa: TID251  (points on a map)
    return generator.uniform(south, north, size), generator.uniform(west, east, size)


@pytest.mark.parametrize("resolution", [5, 7, 8])
def test_every_point_of_the_box_lies_in_a_cell_and_it_is_h3s(h3, resolution):
    universe = Universe.read(f"h3:{resolution}:{MONTREAL}")
    latitude, longitude = random_points(3000, 45.40, -73.98, 45.70, -73.47)
    codes = universe.cells.codes(latitude, longitude)
    assert codes.min() >= 0
    expected = [
        h3.latlng_to_cell(north, east, resolution)
        for north, east in zip(latitude, longitude, strict=True)
    ]
    assert [universe.labels[code] for code in codes] == expected
    far = universe.cells.codes(np.array([0.0, 45.5, 45.5]), np.array([0.0, -73.6, -73.6]))
    assert far[0] == -1
    assert far[1] == far[2] >= 0


@pytest.mark.parametrize(
    ("resolution", "box"),
    [
        (9, (45.45, -73.70, 45.55, -73.50)),
        (5, (-35.0, 140.0, -25.0, 155.0)),  # across edges of the icosahedron
        (3, (30.0, -60.0, 75.0, 20.0)),  # with a pentagon
        (15, (48.85, 2.34, 48.8501, 2.3402)),
        (4, (81.0, 0.0, 89.0, 40.0)),  # too near to the pole for a raster
        (4, (10.0, 170.0, 15.0, 180.0)),  # cells across the antimeridian: no raster
    ],
)
def test_many_points_get_the_cells_that_h3_gives_to_each(h3, resolution, box):
    universe = Universe.read(f"h3:{resolution}:{','.join(map(str, box))}")
    south, west, north, east = box
    rim = (north - south) / 10
    around = (max(south - rim, -90), max(west - rim, -180), min(north + rim, 90), east + rim)
    latitude, longitude = random_points(30_000, *around)
    longitude = np.minimum(longitude, 180.0)
    codes = universe.cells.codes(latitude, longitude)
    place = {label: code for code, label in enumerate(universe.labels)}
    expected = [
        place.get(h3.latlng_to_cell(north, east, resolution), -1)
        for north, east in zip(latitude, longitude, strict=True)
    ]
    assert codes.tolist() == expected
    assert -1 in expected
    assert len(set(expected)) > 10


def test_points_on_corners_and_edges_get_the_cells_that_h3_gives(h3):
    universe = Universe.read("h3:8:45.45,-73.70,45.55,-73.50")
    corners = np.array([c for label in universe.labels for c in h3.cell_to_boundary(label)])
    corners = np.concatenate([corners, (corners[1:] + corners[:-1]) / 2] * 20)
    assert len(corners) > 20_000
    codes = universe.cells.codes(corners[:, 0].copy(), corners[:, 1].copy())
    place = {label: code for code, label in enumerate(universe.labels)}
    once = len(corners) // 20
    expected = [place.get(h3.latlng_to_cell(*corner, 8), -1) for corner in corners[:once]]
    assert codes[:once].tolist() == expected


def test_the_cells_of_a_box_touch_it(h3):
    universe = Universe.read(f"h3:6:{MONTREAL}")
    box = Box.parse(MONTREAL)
    for label in universe.labels:
        corners = h3.cell_to_boundary(label)
        assert min(north for north, _ in corners) <= box.north
        assert max(north for north, _ in corners) >= box.south
        assert min(east for _, east in corners) <= box.east
        assert max(east for _, east in corners) >= box.west
    assert universe.labels == tuple(sorted(universe.labels))
    assert universe.origin == "h3:6:45.4,-73.98,45.7,-73.47"


def square(west=-73.7, south=45.4, size=0.2, hole=0.0):
    def ring(x, y, side):
        return [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]

    rings = [ring(west, south, size)]
    if hole:
        rings.append(ring(west + (size - hole) / 2, south + (size - hole) / 2, hole))
    return rings


def geojson(tmp_path, document, name="city.geojson"):
    path = tmp_path / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


@pytest.mark.usefixtures("h3")
def test_polygons_of_every_kind(tmp_path):
    plain = {"type": "Polygon", "coordinates": square()}
    kinds = {
        "polygon": plain,
        "feature": {"type": "Feature", "properties": {"a": 1}, "geometry": plain},
        "several": {"type": "MultiPolygon", "coordinates": [square(), square(size=0.1)]},
        "collection": {
            "type": "FeatureCollection",
            "features": [{"type": "Feature", "geometry": plain}],
        },
    }
    found = {
        name: Universe.from_h3(7, geojson(tmp_path, document)) for name, document in kinds.items()
    }
    assert len(set(found.values())) == 1
    assert found["polygon"].origin == "h3:7:city.geojson"
    assert found["polygon"] == Universe.read("h3:7:45.4,-73.7,45.6,-73.5")
    ring = {"type": "Polygon", "coordinates": square(hole=0.15)}
    assert len(Universe.from_h3(7, geojson(tmp_path, ring))) < len(found["polygon"])


@pytest.mark.usefixtures("h3")
@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("nonsense", "not a JSON file"),
        ([], "not GeoJSON"),
        ({"type": "Point", "coordinates": [0, 0]}, "holds a 'Point'"),
        ({"type": "FeatureCollection", "features": []}, "no polygon"),
        ({"type": "FeatureCollection", "features": {}}, "not well-formed"),
        ({"type": "Feature", "geometry": None}, "not GeoJSON"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [0, 0]]]}, "not closed"),
        ({"type": "Polygon", "coordinates": []}, "not closed"),
        ({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]]}, "not closed"),
        ({"type": "Polygon", "coordinates": [[["a", 0]]]}, "longitude, latitude"),
        ({"type": "Polygon", "coordinates": [[[0, 95]]]}, "longitude, latitude"),
        ({"type": "Polygon", "coordinates": square(-100, -10, 185)}, "longitude, latitude"),
    ],
)
def test_polygons_that_are_refused(tmp_path, document, message):
    with pytest.raises(UniverseError, match=message):
        Universe.from_h3(3, geojson(tmp_path, document))


@pytest.mark.usefixtures("h3")
def test_a_polygon_across_the_antimeridian_is_refused(tmp_path):
    wide = [[[-170, 0], [170, 0], [170, 10], [-170, 10], [-170, 0]]]
    with pytest.raises(UniverseError, match="antimeridian"):
        Universe.from_h3(2, geojson(tmp_path, {"type": "Polygon", "coordinates": wide}))


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h3.api.basic_int", None)
    with pytest.raises(UniverseError, match="extra 'grid'"):
        Universe.read(f"h3:7:{MONTREAL}")


# Codes


def test_code_lists(tmp_path):
    assert Universe.read("codes:8..11").labels == ("8", "9", "10", "11")
    assert Universe.read("codes:008..011").labels == ("008", "009", "010", "011")
    assert Universe.read("codes:0..2").labels == ("0", "1", "2")
    path = tmp_path / "codes.txt"
    path.write_bytes("\ufeffA1\r\n B 2 \r\n\r\né\n".encode())
    universe = Universe.read(f"codes:{path}")
    assert universe.labels == ("A1", "B 2", "é")
    assert universe.origin == "codes:codes.txt"
    assert Universe.from_codes("1..500").origin == "codes:1..500"
    path.write_bytes(b"\xff")
    with pytest.raises(UniverseError, match="UTF-8"):
        Universe.from_codes(path)


# All of them


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gtfs:", "write gtfs:FEED.zip or gtfs:stops.txt"),
        ("grid:36:1,2,3,4", "not a number of rows and columns"),
        ("grid:0x4:1,2,3,4", "at least one row"),
        ("grid:4x4", "four numbers"),
        ("grid:4x4:1,2,3", "four numbers"),
        ("grid:4x4:1,2,3,x", "four numbers"),
        ("grid:4x4:1,2,3,inf", "four numbers"),
        ("grid:4x4:3,2,1,4", "south must be less than its north"),
        ("grid:4x4:-91,2,1,4", "between -90 and 90"),
        ("grid:4x4:1,170,2,-170", "antimeridian"),
        ("grid:9999x9999:1,2,3,4", "99,980,001 locations, more than the 1,000,000"),
        ("h3:8", "not a resolution and an area"),
        ("h3:x:1,2,3,4", "not a resolution and an area"),
        ("h3:16:1,2,3,4", "0 to 15"),
        ("h3:8:1,2,3,x", "four numbers"),
        ("h3:15:1,2,3,4", "more than the 1,000,000 that a universe may have; use resolution 9"),
        ("h3:8:nowhere.geojson", "No such file"),
        ("codes:9..1", "run backwards"),
        ("codes:1..9999999999", "use a shorter range"),
        ("codes:nowhere", "No such file"),
    ],
)
def test_descriptions_that_are_refused(text, message):
    if text.startswith("h3"):
        pytest.importorskip("h3", reason="the extra 'grid' is not installed")
    with pytest.raises(UniverseError, match=message):
        Universe.read(text)


def test_a_cover_that_is_too_large_is_never_made(monkeypatch):
    def made(*_arguments, **_options):
        raise AssertionError

    pytest.importorskip("h3", reason="the extra 'grid' is not installed")
    monkeypatch.setattr("h3.api.basic_int.h3shape_to_cells_experimental", made)
    with pytest.raises(UniverseError, match="use resolution"):
        Universe.read("h3:12:40,-80,50,-70")
    monkeypatch.setattr(limits, "MOST_CELLS", 10)
    with pytest.raises(UniverseError, match="use a shorter range"):
        Universe.read("codes:1..11")


def test_a_path_that_looks_like_a_description_is_a_file(tmp_path):
    path = tmp_path / "codes:1..3"
    path.write_text("location\na\n")
    assert Universe.read(path).labels == ("a",)
    assert Universe.read(str(path)).labels == ("a",)
    assert Universe.read(path).origin == "file:codes:1..3"


def test_an_origin_has_no_folder_and_can_be_printed(tmp_path):
    path = tmp_path / "sto\nps.csv"
    path.write_text("location\na\n")
    assert Universe.read(path).origin == "file:sto?ps.csv"
    assert Universe(["a"]).origin == LISTED
    with pytest.raises(UniverseError, match="origin"):
        Universe(["a"], origin="a\nb")


def test_an_alias_stands_for_a_location():
    with pytest.raises(UniverseError, match="alias"):
        Universe(["a"], aliases={"x": "b"})


def test_universes_can_be_sent_to_other_processes(tmp_path):
    for universe in (
        Universe.from_grid(3, 3, MONTREAL),
        Universe.from_gtfs(feed(tmp_path), level="stations"),
    ):
        copy = pickle.loads(pickle.dumps(universe))
        assert (copy, copy.origin, copy.aliases) == (universe, universe.origin, universe.aliases)
        assert copy.cells == universe.cells


@given(st.binary(max_size=300))
def test_no_bytes_make_a_feed_fail_otherwise_than_with_our_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("feed") / "stops.txt"
    for head in (b"", b"stop_id,stop_lat,stop_lon,location_type,parent_station\n", b"PK\x03\x04"):
        path.write_bytes(head + content)
        try:
            universe = Universe.from_gtfs(path)
        except UniverseError:
            continue
        assert len(universe) > 0


def test_a_truncated_zip_fails_with_our_error(tmp_path):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("stops.txt", FEED)
    for cut in range(4, len(whole.getvalue()), 37):
        with pytest.raises(UniverseError):
            Universe.from_gtfs(feed(tmp_path, whole.getvalue()[:cut], "feed.zip"))
