"""Taxonomies: what is read, what is refused, and the parameters that follow."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.hierarchies import TAXONOMY, UNIVERSE, database_of

from pathveil import TrajectoryDatabase, publish
from pathveil.core.parameters import Parameters
from pathveil.core.thresholds import ZONE_SHARE
from pathveil.errors import ParameterError, TreeTooLargeError, UniverseError
from pathveil.gate.grow_hierarchy import grow_hierarchy
from pathveil.gate.randomness import Randomness
from pathveil.raw.engines.memory_counter import MemoryCounter
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.taxonomy import Taxonomy
from pathveil.universe.taxonomy_spec import read_taxonomy
from pathveil.universe.universe import Universe

BOX = "45.4,-73.8,45.6,-73.4"


def choose(**changes):
    usual = {
        "epsilon": "1",
        "height": 3,
        "universe_size": 6,
        "taxonomy": TAXONOMY,
        "method": "full",
    }
    return Parameters.choose(**usual | changes)


def test_the_arrays_of_a_taxonomy():
    assert TAXONOMY.names == ("X", "Y", "Z")
    assert TAXONOMY.labels == ("zone:X", "zone:Y", "zone:Z")
    assert TAXONOMY.zone_of.tolist() == [0, 1, 0, 2, 2, 2]
    assert TAXONOMY.sizes.tolist() == [2, 1, 3]
    assert TAXONOMY.members.tolist() == [0, 2, 1, 3, 4, 5]
    assert TAXONOMY.rank.tolist() == [0, 0, 1, 0, 1, 2]
    assert TAXONOMY.zones_at(np.array([0, 5, 6, 8])).tolist() == [0, 2, 0, 2]
    assert Taxonomy.of(UNIVERSE, list("XYXZZZ")) == TAXONOMY
    assert hash(Taxonomy.of(UNIVERSE, list("XYXZZZ"))) == hash(TAXONOMY)
    assert Taxonomy.of(UNIVERSE, list("XYXZZX")) != TAXONOMY
    assert repr(TAXONOMY) == "Taxonomy(3 zones of 6 locations)"


def test_a_zone_lies_in_the_middle_of_its_locations():
    universe = Universe(
        "abcd",
        names=["A", "", "C", "D"],
        latitude=[1.0, 3.0, np.nan, np.nan],
        longitude=[10.0, 20.0, np.nan, np.nan],
        origin="somewhere",
    )
    extended = Taxonomy.of(universe, ["x", "x", "x", "y"]).extend(universe)
    assert extended.labels == ("a", "b", "c", "d", "zone:x", "zone:y")
    assert extended.names == ("A", "", "C", "D", "x", "y")
    assert extended.latitude[4:5].tolist() == [2.0]
    assert extended.longitude[4:5].tolist() == [15.0]
    assert np.isnan(extended.latitude[5])
    assert extended.origin == "somewhere"


@pytest.mark.parametrize(
    ("universe", "zones", "says"),
    [
        ("ab", ["x"], "1 zones for 2 locations"),
        ("ab", ["x", ""], "zone is empty"),
        ("ab", ["x", " "], "zone is empty"),
        ("ab", ["x", "y\n"], "control character"),
        ("ab", ["x", "y" * 497], "too long"),
        (["a", "zone:x"], ["x", "x"], "is a location of the universe"),
    ],
)
def test_what_can_not_be_a_taxonomy_is_refused(universe, zones, says):
    with pytest.raises(UniverseError, match=says):
        Taxonomy.of(Universe(universe), zones)


def test_a_file(tmp_path):
    path = tmp_path / "zones.csv"
    path.write_text("zone,location\nY,b\nX,a\nX,a\nX,c\nZ,d\nZ,e\nZ,f\n")
    assert read_taxonomy(str(path), UNIVERSE) == TAXONOMY
    assert read_taxonomy(path, UNIVERSE).origin == "file:zones.csv"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("location,area\na,X\n", "columns 'location' and 'zone'"),
        ("location,zone\na,X\nq,X\n", "'q', which the universe does not have"),
        ("location,zone\na,X\nb,\n", "'b' an empty zone"),
        ("location,zone\na,X\na,Y\n", "'a' two zones"),
        ("location,zone\na,X\n", "no zone for 1 locations"),
        ("", "empty"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, rows, says):
    path = tmp_path / "zones.csv"
    path.write_text(rows)
    with pytest.raises(UniverseError, match=says):
        read_taxonomy(path, Universe("ab"))


def test_parents_of_a_grid_are_square_blocks():
    universe = Universe.from_grid(5, 3, BOX)
    taxonomy = read_taxonomy("parent:1", universe)
    row, column = np.divmod(np.arange(15), 3)
    assert np.array_equal(taxonomy.zone_of, (row // 2) * 2 + column // 2)
    assert taxonomy.names == ("r1c1", "r1c2", "r2c1", "r2c2", "r3c1", "r3c2")
    assert taxonomy.origin == "parent:1"
    assert len(read_taxonomy("parent:20", universe)) == 1


def test_parents_of_h3_cells_are_coarser_cells():
    h3 = pytest.importorskip("h3", reason="the extra 'grid' is not installed")
    universe = Universe.from_h3(7, BOX)
    taxonomy = read_taxonomy("parent:2", universe)
    zones = [taxonomy.names[zone] for zone in taxonomy.zone_of]
    assert zones == [h3.cell_to_parent(label, 5) for label in universe.labels]
    with pytest.raises(UniverseError, match="no parents 8 steps up"):
        read_taxonomy("parent:8", universe)


def test_zones_by_coordinates():
    universe = Universe("abc", latitude=[45.41, 45.59, 45.42], longitude=[-73.7, -73.5, -73.71])
    taxonomy = read_taxonomy(f"grid:2x2:{BOX}", universe)
    assert taxonomy.names == ("r1c1", "r2c2")
    assert taxonomy.zone_of.tolist() == [0, 1, 0]
    with pytest.raises(UniverseError, match="need a universe with coordinates"):
        read_taxonomy(f"grid:2x2:{BOX}", UNIVERSE)
    far = Universe("ab", latitude=[45.41, np.nan], longitude=[-73.7, np.nan])
    with pytest.raises(UniverseError, match=r"1 locations .* the first is 'b'"):
        read_taxonomy(f"grid:2x2:{BOX}", far)


def test_the_stations_of_a_feed(tmp_path):
    feed = tmp_path / "stops.txt"
    feed.write_text(
        "stop_id,stop_lat,stop_lon,location_type,parent_station\n"
        "S,45.5,-73.6,1,\nP1,45.5,-73.6,0,S\nP2,45.5,-73.6,0,S\nX,45.5,-73.5,0,\n"
    )
    taxonomy = read_taxonomy(f"gtfs:{feed}", Universe.from_gtfs(feed))
    assert taxonomy.names == ("S", "X")
    assert taxonomy.zone_of.tolist() == [0, 0, 0, 1]
    with pytest.raises(UniverseError, match="no stop 'a'"):
        read_taxonomy(f"gtfs:{feed}", UNIVERSE)


def test_only_cells_have_parents():
    with pytest.raises(UniverseError, match="Only the cells"):
        read_taxonomy("parent:1", UNIVERSE)
    with pytest.raises(UniverseError, match="1 step away or more"):
        read_taxonomy("parent:0", Universe.from_grid(2, 2, BOX))


def test_the_shares_of_a_level_add_up_to_it():
    parameters = choose(max_trajectories_per_unit=2)
    both = parameters.sub_levels
    assert both.zone_epsilon + both.location_epsilon == parameters.level_epsilon == Fraction(1, 6)
    assert both.zone_epsilon == ZONE_SHARE * parameters.level_epsilon
    assert choose(taxonomy=None).sub_levels is None


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"time_grid": TimeGrid.parse("8h")}, "zones and a time grid"),
        ({"universe_size": 7}, "of another universe"),
        ({"universe_size": None, "delta": "1e-9"}, "of another universe"),
        ({"taxonomy": "zones.csv"}, "must be a Taxonomy"),
    ],
)
def test_what_does_not_go_with_a_taxonomy_is_refused_before_anything_is_spent(changes, says):
    with pytest.raises(ParameterError, match=says):
        choose(**changes)


def test_a_tree_with_zones_and_times_charges_nothing():
    class Account:
        def budget(self, **asked):
            return asked

        def charge(self, *_):
            pytest.fail("It was charged.")

    with pytest.raises(ParameterError, match="zones and a time grid"):
        publish(
            "taps.csv",
            universe=database_of(["ab"]).universe,
            unit="who",
            location="where",
            time="when",
            time_grid=TimeGrid.parse("8h"),
            epsilon="1",
            height=2,
            method="full",
            taxonomy=TAXONOMY,
            ledger=Account(),
        )


def test_without_a_map_a_zone_is_one_place_and_zones_are_apart():
    points = TAXONOMY.points
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    alike = TAXONOMY.zone_of[:, None] == TAXONOMY.zone_of[None]
    assert (apart[alike] == 0).all()
    assert (apart[~alike] > 1).all()


def test_a_tree_without_a_taxonomy_is_not_grown_with_zones():
    database = database_of(["ab"])
    with pytest.raises(ParameterError, match="needs a taxonomy"):
        grow_hierarchy(MemoryCounter(database), choose(taxonomy=None), Randomness())


def test_a_tree_that_can_not_fit_is_refused_or_stops():
    many = Universe(map(str, range(4000)))
    taxonomy = Taxonomy.of(many, [str(code % 2) for code in range(4000)])
    choices = {
        "epsilon": "1",
        "height": 6,
        "universe_size": 4000,
        "taxonomy": taxonomy,
        "method": "full",
    }
    with pytest.raises(TreeTooLargeError):
        Parameters.choose(**choices, max_nodes=4001)
    database = TrajectoryDatabase.from_sequences([["1", "2", "3"]] * 5000, many)
    parameters = replace(Parameters.choose(**choices), threshold=1, max_nodes=1000)
    tree = grow_hierarchy(MemoryCounter(database, taxonomy), parameters, Randomness())
    # The locations of one zone are expected to invent 900 nodes, those of two do not fit.
    assert len(tree) < 1100
    assert tree.depth < 12


def test_an_empty_database_has_zones_that_nobody_visited_at_most():
    parameters = choose(threshold=1)
    for _ in range(20):
        tree = grow_hierarchy(MemoryCounter(database_of([]), TAXONOMY), parameters, Randomness())
        assert np.all(tree.noisy_count >= 1)
