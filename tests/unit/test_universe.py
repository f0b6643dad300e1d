"""The universe: a public, ordered list of labels, from Python, CSV or Parquet."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.errors import UniverseError
from pathveil.universe.universe import MAX_LABEL_LENGTH, Universe

DATA = Path(__file__).parents[3] / "shared" / "data"


def csv_file(tmp_path, content):
    path = tmp_path / "universe.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_code_of_a_label_is_its_position():
    universe = Universe(["b", "a", "c"])
    assert [universe.code(label) for label in "abc"] == [1, 0, 2]
    assert universe.codes(["c", "c"]) == [2, 2]
    assert "a" in universe
    assert "d" not in universe
    assert len(universe) == 3


def test_an_unknown_label_names_its_nearest_neighbour():
    with pytest.raises(UniverseError, match="Did you mean 'Angrignon'"):
        Universe(["Angrignon", "Monk"]).code("Angrignom")
    with pytest.raises(UniverseError, match=r"no location 'zzz'\.$"):
        Universe(["a"]).code("zzz")


def test_order_is_part_of_it_and_names_are_not():
    assert Universe(["a", "b"]) != Universe(["b", "a"])
    assert Universe(["a", "b"]) == Universe(["a", "b"], names=["A", "B"])
    assert hash(Universe(["a"])) == hash(Universe(iter(["a"])))
    assert Universe(["a"]) != ["a"]


def test_its_repr_is_short():
    assert repr(Universe(["a", "b"])) == "Universe(2 locations: 'a', 'b')"
    assert repr(Universe(map(str, range(1000)))) == "Universe(1000 locations: '0', '1', '2', …)"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "no locations"),
        (["a", ""], "location 2 is empty"),
        (["a", "  "], "location 2 is empty"),
        (["a", "b", "a"], "Location 3 has the same label as location 1"),
        (["a", 7], "location 2 is a int, not text"),
        (["a", None], "location 2 is a NoneType"),
        (["a", b"b"], "location 2 is a bytes"),
        (["a\nb"], "control character"),
        (["a\0"], "control character"),
        (["a\x1b[31m"], "control character"),
        (["a\u2028b"], "control character"),
        (["\ud800"], "control character"),
        (["x" * (MAX_LABEL_LENGTH + 1)], "longer than"),
    ],
)
def test_labels_that_are_refused(labels, message):
    with pytest.raises(UniverseError, match=message):
        Universe(labels)


def test_a_refusal_quotes_no_label():
    """Somebody may pass raw data as the universe."""
    with pytest.raises(UniverseError) as error:
        Universe(["canary", "canary"])
    assert "canary" not in str(error.value)


def test_formulas_and_markup_are_labels_as_given():
    labels = ["=1+1", "+x", "-17", "@a", "<script>", "a&b", '"q"', "é", " x", "a\u00a0b", "駅"]
    assert Universe(labels).labels == tuple(labels)


def test_coordinates():
    universe = Universe(["a", "b"], latitude=[45.5, -90], longitude=np.array([-73.6, 180.0]))
    assert universe.has_coordinates
    assert universe.latitude.tolist() == [45.5, -90.0]
    assert not Universe(["a"]).has_coordinates


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"latitude": [1.0, 2.0]}, "both latitude and longitude"),
        ({"latitude": [1.0], "longitude": [1.0, 2.0]}, "1 values of latitude for 2 labels"),
        ({"latitude": [1.0, 91.0], "longitude": [1.0, 2.0]}, "latitude of location 2"),
        ({"latitude": [1.0, 2.0], "longitude": [float("nan"), 2.0]}, "Location 1 .* without the"),
        ({"latitude": [1.0, 2.0], "longitude": [float("inf"), 2.0]}, "longitude of location 1"),
        ({"names": ["A"]}, "1 names for 2 labels"),
    ],
)
def test_names_and_coordinates_that_are_refused(options, message):
    with pytest.raises(UniverseError, match=message):
        Universe(["a", "b"], **options)


def test_reading_csv(tmp_path):
    content = (
        '\ufeffcode,location,name,lat,lon\n1,"a, b",Home,45.5,-73.5\n2,=x,"The ""X""",46,-74\n\n'
    )
    universe = Universe.read(csv_file(tmp_path, content))
    assert universe.labels == ("a, b", "=x")
    assert universe.names == ("Home", 'The "X"')
    assert universe.longitude.tolist() == [-73.5, -74.0]


@pytest.mark.parametrize("column", ["location", "stop_id", "location_id", "label"])
def test_the_label_column(column, tmp_path):
    path = csv_file(tmp_path, f"other,{column}\nx,a\ny,b\n")
    assert Universe.read(path).labels == ("a", "b")
    assert Universe.read(csv_file(tmp_path, "other,more\nx,a\ny,b\n")).labels == ("x", "y")


def test_reading_gtfs_stops(tmp_path):
    content = "stop_id,stop_code,stop_name,stop_lat,stop_lon\r\n7,A,Berri,45.5,-73.5\r\n"
    universe = Universe.read(csv_file(tmp_path, content))
    assert (universe.labels, universe.names, universe.has_coordinates) == (("7",), ("Berri",), True)


def test_a_location_without_coordinates_leaves_the_others_on_the_map(tmp_path):
    universe = Universe.read(csv_file(tmp_path, "location,lat,lon\na,45.5,-73.5\nb,, \n"))
    assert universe.labels == ("a", "b")
    assert universe.has_coordinates
    assert np.isnan(universe.latitude).tolist() == [False, True]
    assert np.isnan(universe.longitude).tolist() == [False, True]
    with pytest.raises(UniverseError, match="latitude of location 2"):
        Universe.read(csv_file(tmp_path, "location,lat,lon\na,45.5,-73.5\nb,north,1\n"))
    with pytest.raises(UniverseError, match="Location 2 has a latitude or a longitude without"):
        Universe.read(csv_file(tmp_path, "location,lat,lon\na,45.5,-73.5\nb,45.5,\n"))


def test_a_universe_without_a_single_place_has_no_coordinates(tmp_path):
    universe = Universe.read(csv_file(tmp_path, "location,lat,lon\na,,\nb,,\n"))
    assert not universe.has_coordinates
    assert universe.latitude is universe.longitude is None


def test_reading_parquet(tmp_path):
    path = tmp_path / "universe"  # by its first bytes, not by its name
    labels = pa.array([7, 8], pa.int16())
    pq.write_table(pa.table({"shape": [[1], [2]], "location": labels, "name": ["A", None]}), path)
    universe = Universe.read(path)
    assert universe.labels == ("7", "8")
    assert universe.names == ("A", "")
    pq.write_table(pa.table({"stop": pa.array(["x", "y"]).dictionary_encode()}), path)
    assert Universe.read(str(path)).labels == ("x", "y")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"location\n", "no locations"),
        (b"location\na,b\n", "Row 1 .* has 2 cells, not 1"),
        (b"location,name\na\n", "Row 1 .* has 1 cells, not 2"),
        (b'location\n"a\n', "not a well-formed CSV"),
        (b'location\n"a"b\n', "not a well-formed CSV"),
        (b"location\na\0b\n", "control character|well-formed"),
        (b"location\ncaf\xe9\x81\n", "neither UTF-8 nor Windows-1252"),
        ("location\na\n".encode("utf-16")[:-1], "neither UTF-8"),
        (b"location,Breite\na,50\n", "the column 'Breite' for the latitude and none for"),
        (b"location\n" + b"x" * 10_000_000, "well-formed|longer"),
        (b"location\na\na\n", "same label"),
        (b"PAR1", "not a readable Parquet"),
        (b"PAR1" + b"\xff" * 1000 + b"PAR1", "not a readable Parquet"),
        (b"\x89PNG\r\n\x1a\n", "control character"),
    ],
)
def test_files_that_are_refused(content, message, tmp_path):
    with pytest.raises(UniverseError, match=message):
        Universe.read(csv_file(tmp_path, content))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_list_of_a_german_agency_is_read_as_it_is(encoding, tmp_path):
    text = "Haltestelle;BREITE;Länge\nSüd;50,1;8,68\nMesse;50.2;8\n"
    found = Universe.read(csv_file(tmp_path, text.encode(encoding)))
    assert found.labels == ("Süd", "Messe")
    assert found.latitude.tolist() == [50.1, 50.2]
    assert found.longitude.tolist() == [8.68, 8.0]


def test_paths_that_are_refused(tmp_path):
    with pytest.raises(UniverseError, match="No such file"):
        Universe.read(tmp_path / "nowhere.csv")
    with pytest.raises(UniverseError, match="folder"):
        Universe.read(tmp_path)
    with pytest.raises(UniverseError, match=r"NUL|path"):
        Universe.read("a\0b")


def test_parquet_without_a_column_for_labels(tmp_path):
    path = tmp_path / "universe.parquet"
    pq.write_table(pa.table({"nested": [[1]]}), path)
    with pytest.raises(UniverseError, match="no column that could hold labels"):
        Universe.read(path)
    pq.write_table(pa.table({"location": pa.array([b"\xff"])}), path)
    with pytest.raises(UniverseError):
        Universe.read(path)


def test_duplicate_columns_are_refused(tmp_path):
    with pytest.raises(UniverseError, match="two columns of one name"):
        Universe.read(csv_file(tmp_path, "location,location\na,b\n"))
    path = tmp_path / "universe.parquet"
    pq.write_table(pa.table([["a"], ["b"]], names=["location", "location"]), path)
    with pytest.raises(UniverseError):
        Universe.read(path)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8)
        .filter(str.strip),
        min_size=1, max_size=10, unique=True,
    )
)  # fmt: skip
def test_any_printable_labels_survive_csv_and_parquet(tmp_path_factory, labels):
    import csv

    folder = tmp_path_factory.mktemp("universe")
    with (folder / "u.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["location", "name"], *[[label, ""] for label in labels]])
    pq.write_table(pa.table({"location": labels}), folder / "u.parquet")
    assert Universe.read(folder / "u.csv") == Universe(labels)
    assert Universe.read(folder / "u.parquet") == Universe(labels)


@pytest.mark.parametrize(
    ("folder", "size"),
    [
        ("msnbc", 17),
        ("cabspotting", 1_008),
        ("mibici", 313),
        ("nycflights13", 1_462),
        ("stm_gtfs", 8_760),
    ],
)
def test_the_shared_universes(folder, size):
    path = DATA / folder / "universe.csv"
    if not path.exists():
        pytest.skip("the shared data is not here")
    assert len(Universe.read(path)) == size


def test_cells_lie_in_the_middle_of_their_bounds(tmp_path):
    file = tmp_path / "cells.csv"
    file.write_text("location,lat_min,lat_max,lon_min,lon_max\na,1,2,-4,-3\nb,,,,\n")
    universe = Universe.read(file)
    assert universe.latitude[0] == 1.5
    assert universe.longitude[0] == -3.5
    assert np.isnan(universe.latitude[1])
    file.write_text("location,lat_min,lat_max\na,1,2\n")
    assert not Universe.read(file).has_coordinates
    file.write_text("location,lat_min,lat_max,lon_min,lon_max\na,1,x,-4,-3\n")
    with pytest.raises(UniverseError, match="latitude of location 1"):
        Universe.read(file)
