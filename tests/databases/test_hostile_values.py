"""One row's value in a database, whatever its column's type allows, spoils that row only."""

import duckdb
import pytest
from tests.privacy.test_rows import trajectories

from pathveil.raw.reading import read_trajectories
from pathveil.times.time_grid import TimeGrid
from pathveil.universe.universe import Universe

UNIVERSE = Universe(["A", "B"])
ROLES = {"unit": "who", "order": "tick", "location": "place", "table": "taps"}
# An order column of each type, what the others have in it, and what one row may have.
ORDERS = {
    "timestamp": (
        "'2024-03-05 07:{:02d}'",
        ["infinity", "-infinity", "4713-01-01 BC", "290000-01-01"],
    ),
    "timestamptz": ("'2024-03-05 07:{:02d}+01'", ["infinity", "-infinity", "4713-01-01 BC"]),
    "date": ("'2024-03-{:02d}'", ["infinity", "-infinity", "4713-01-01 BC", "5000000-01-01"]),
    "numeric": ("{}", ["NaN", "Infinity", "1e100", "-1e-100"]),
    "double precision": ("{}", ["NaN", "Infinity", "1e300", "-0.0"]),
    "bigint": ("{}", ["-9223372036854775808", "9223372036854775807"]),
    "text": ("'{}'", ["", "x", "1e99999", " "]),
}
IDS = {
    "uuid": ["00000000-0000-0000-0000-000000000007"],
    "numeric": ["NaN", "Infinity", "7.000"],
    "date": ["infinity", "4713-01-01 BC"],
    "timestamp": ["infinity", "-infinity"],
    "bigint": ["-9223372036854775808"],
    "text": ["", " ", "7"],
}  # fmt: skip
OF_OTHERS = {
    "uuid": "'10000000-0000-0000-0000-00000000000{}'", "numeric": "10{}.5", "date": "'2024-03-1{}'",
    "timestamp": "'2024-03-1{}'", "bigint": "10{}", "text": "'u{}'",
}  # fmt: skip


def statements(kind, others, values, *, column):
    """Ten rows of five units, and before and after them a row with each value."""
    types = {"who": "text", "tick": "integer"} | {column: kind}
    yield "DROP TABLE IF EXISTS taps"
    yield f"CREATE TABLE taps (who {types['who']}, tick {types['tick']}, place text)"
    plain = {"who": "'x'", "tick": "1"}

    def hostile():
        for value in values:
            cells = plain | {column: f"'{value}'"}
            yield f"INSERT INTO taps VALUES ({cells['who']}, {cells['tick']}, 'A')"

    yield from hostile()
    for unit in range(5):
        for step, place in enumerate("BA", start=1):
            who = others.format(unit) if column == "who" else f"'u{unit}'"
            at = others.format(step) if column == "tick" else step
            yield f"INSERT INTO taps VALUES ({who}, {at}, '{place}')"
    yield from hostile()


CASES = [
    *((kind, *given, "tick") for kind, given in ORDERS.items()),
    *((kind, OF_OTHERS[kind], values, "who") for kind, values in IDS.items()),
]


@pytest.mark.parametrize(("kind", "others", "values", "column"), CASES)
def test_a_value_in_postgresql_spoils_its_own_row(server, kind, others, values, column):
    server.run(*statements(kind, others, values, column=column))
    found = trajectories(read_trajectories(server.owner, UNIVERSE, **ROLES))
    assert found[("B", "A")] == 5
    if kind.startswith("timestamp") and column == "tick":
        grid = TimeGrid.parse("1h")
        timed = {**ROLES, "order": None, "time": "tick", "time_grid": grid}
        found = trajectories(read_trajectories(server.owner, UNIVERSE, **timed))
        assert sum(found.values()) >= 5


@pytest.mark.parametrize(("kind", "others", "values", "column"), CASES)
def test_a_value_in_duckdb_spoils_its_own_row(tmp_path, kind, others, values, column):
    if (kind, column) == ("numeric", "who"):
        values = ["7.000"]  # its decimals are finite
    if (kind, column) == ("numeric", "tick"):
        values = ["99999999999", "-0.001"]
    values = [value.replace("4713-01-01 BC", "0044-01-01 (BC)") for value in values]
    with duckdb.connect(tmp_path / "taps.duckdb") as connection:
        for statement in statements(kind, others, values, column=column):
            connection.execute(statement)
    found = trajectories(read_trajectories(tmp_path / "taps.duckdb", UNIVERSE, **ROLES))
    assert found[("B", "A")] == 5
