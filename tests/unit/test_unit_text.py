"""One person, one unit, however the id is written; against the oracle, and on every engine."""

import csv
import sqlite3
import unicodedata
from itertools import pairwise

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import reading_oracle as oracle
from tests.theorem.product import held

from pathveil.errors import ParameterError
from pathveil.raw.engines.engine import Engine
from pathveil.raw.reading import read_trajectories
from pathveil.raw.reading_plan import Reading
from pathveil.raw.sources.text_values import text_buffers
from pathveil.raw.sources.unit_text import UnitTexts
from pathveil.universe.universe import Universe

SEVEN = [
    "7",
    "7 ",
    " 7",
    "07",
    "7.0",
    "+7",
    "7\u00a0",
    "\u00a0 7\t",
    "7.",
    "007.00",
    "\uff17",
    "\ufeff7",
]
OTHERS = ["1e3", "1000", "7.5", "-7", "8", "u7", "U7", "\u0667", "7 7", ".0", "+", "9" * 40, "7e0"]
UNIVERSE = Universe(["A", "B"])
ROLES = {"unit": "who", "order": "when", "location": "where"}


def normal_forms(written):
    texts = UnitTexts.of(text_buffers(pa.array(written, pa.large_string()))).texts
    data = texts.data.tobytes()
    return [data[a:b].decode() for a, b in zip(texts.starts, texts.stops, strict=True)]


digits = st.text("0123456789", min_size=1, max_size=45)
numbers = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "+", "-"]),
    digits,
    st.sampled_from(["", ".", ".0", ".000", ".5"]),
)
edges = st.text(" \t\u00a0\u3000\u200b\ufeff\u2028\u1680\x7f\x85", max_size=2)
written = st.builds(
    "{}{}{}".format,
    edges,
    numbers | st.text(max_size=6) | st.text("07.+-e\uff17\u00a0é", max_size=6),
    edges,
)


@given(st.lists(written, max_size=20))
@settings(deadline=None, max_examples=200)
def test_the_normal_form_is_that_of_the_oracle_and_its_own_normal_form(texts):
    texts = [text for text in texts if all(map(is_settled, text))]
    normal = normal_forms(texts)
    assert normal == [oracle.unit_of(text) for text in texts]
    assert normal_forms(normal) == normal


def is_settled(character):
    """Characters on which the oracle's longer list of invisible ones and ours agree."""
    if "\ud800" <= character <= "\udfff":
        return False
    is_sign = unicodedata.category(character) == "Cf"  # some of them can be seen
    return not is_sign or character in "\u00ad\u200b\u200e\u200f\u2060\ufeff"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("-0", "0"), ("-00.0", "0"), ("+0", "0"), ("-007", "-7"), ("-\uff10\uff17", "-7"),
        (str(2**70), str(2**70)), ("0" * 30 + str(2**70) + ".0", str(2**70)),
        ("1e3", "1e3"), ("7.50", "7.50"), ("\ufb01", "fi"), ("e\u0301", "é"), ("\u0667", "\u0667"),
    ],
)  # fmt: skip
def test_what_is_decided(text, normal):
    assert normal_forms([text]) == [normal]


ROWS = [(form, 1 + i, "A" if i % 2 else "B") for i, form in enumerate(SEVEN)]
ROWS += [(form, 1, "A") for form in OTHERS]


def sources(folder):
    """The rows in every kind of source that holds text."""
    columns = dict(zip(ROLES.values(), map(list, zip(*ROWS, strict=True)), strict=True))
    table = pa.table(columns)
    pq.write_table(table, folder / "rows.parquet")
    with (folder / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([ROLES.values(), *ROWS])
    with sqlite3.connect(folder / "rows.sqlite") as lite:
        lite.execute("CREATE TABLE visits (who, 'when', 'where')")
        lite.executemany("INSERT INTO visits VALUES (?, ?, ?)", ROWS)
    lite.close()
    with duckdb.connect(folder / "rows.duckdb") as duck:
        duck.register("given", table)
        duck.execute("CREATE TABLE visits AS SELECT * FROM given")
    frame = pd.DataFrame(columns)
    return {
        "arrow": table,
        "dictionary": table.set_column(0, "who", table["who"].dictionary_encode()),
        "polars": pl.DataFrame(columns),
        "pandas": frame,
        "pandas objects": frame.astype(object),
        "csv": folder / "rows.csv",
        "parquet": folder / "rows.parquet",
        "sqlite": folder / "rows.sqlite",
        "duckdb": folder / "rows.duckdb",
    }


def counted(opened):
    """All trajectories that an engine holds, as a sorted list."""
    parts = [(opened.offsets, opened.codes)] if hasattr(opened, "offsets") else held(opened)
    return sorted(
        tuple(codes[start:stop].tolist())
        for offsets, codes in parts
        for start, stop in pairwise(offsets.tolist())
    )


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("unit_text", ["normal", "exact"])
def test_every_source_and_engine_takes_the_forms_of_an_id_for_one_unit(tmp_path, engine, unit_text):
    alike = {}
    for kind, source in sources(tmp_path).items():
        told = []
        place = {"table": "visits"} if kind in ("sqlite", "duckdb") else {}
        reading = Reading(**ROLES, **place, unit_text=unit_text)
        chosen = Engine.choose(engine, "rows.parquet")
        with chosen.open(source, UNIVERSE, 12, reading, told.append) as opened:
            alike[kind] = counted(opened), told[0].unit_forms_merged
    one = tuple(1 - i % 2 for i in range(12))
    alone = [(0,)] * len(OTHERS)
    expected = (sorted([one, *alone]), len(SEVEN) - 1)
    if unit_text == "exact":
        expected = (sorted([*[(0,)] * 6, *[(1,)] * 6, *alone]), 0)
    assert alike == dict.fromkeys(alike, expected)


def test_the_number_of_merged_forms_is_that_of_distinct_forms():
    """Not of rows; and ids that are all padded with zeros are merged with nothing."""
    told = []
    for who in (["07", "7", "07", "7", "7.0"], ["007", "008", "007"], ["7", "8"], ["07", "7.0"]):
        table = pa.table({"who": who, "when": range(len(who)), "where": ["A"] * len(who)})
        read_trajectories(table, UNIVERSE, **ROLES, report=told.append)
    assert [report.unit_forms_merged for report in told] == [2, 0, 0, 1]


def test_the_text_of_units_is_normal_or_exact():
    table = pa.table({"who": ["u"], "when": [1], "where": ["A"]})
    with pytest.raises(ParameterError, match="'normal' or as 'exact'"):
        read_trajectories(table, UNIVERSE, **ROLES, unit_text="loose")
