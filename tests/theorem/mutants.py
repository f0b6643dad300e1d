"""The breaches that were found, each as a small change to the real code that brings it back.

A mutant is a function that patches the code (pytest undoes it); the property test must catch it on
the combination that is named beside it, and the audit of raw rows on its pair, if it has one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import count

import numpy as np
import pyarrow as pa
import pytest

from pathveil.errors import InputError
from pathveil.raw import observed, steps
from pathveil.raw.sources import (
    arrow_table,
    encoding,
    excel_sheet,
    notation,
    order_values,
    pandas_frame,
    parquet_file,
    text_file,
    text_values,
    time_formats,
)
from pathveil.raw.sources.databases import sqlite_file
from pathveil.raw.sources.text_columns import UNREADABLE, OrderKeys
from pathveil.raw.sources.unit_text import UnitTexts


@dataclass(frozen=True)
class Mutant:
    """A breach.

    Attributes:
        name: what goes wrong.
        make: brings it back.
        source: the name of a kind of source on which it shows.
        universe: and a kind of universe.
        split: and a rule.
        timed: and whether with a time grid.
        pair: the pair of the audit of raw rows that it shows on, if any.
        shows: what the property test says.
    """

    name: str
    make: Callable[[pytest.MonkeyPatch], None]
    source: str
    universe: str = "given"
    split: str = "none"
    timed: bool = False
    pair: str | None = None
    shows: str = "changes others"


def codes_by_first_appearance(patch):
    """Ties are broken by codes, and codes are numbered as labels come."""
    patch.setattr(observed, "order_of_bytes", lambda texts: np.arange(len(texts)))


def codes_by_who_was_first(patch):
    """Which thread is first decides: another order in every read."""
    reads = count()

    def race(texts):
        return np.roll(np.arange(len(texts)), next(reads) // 2)

    patch.setattr(observed, "order_of_bytes", race)


def one_type_for_all_objects(patch):
    """Arrow looks at all cells of a pandas column and chooses one type for them."""
    patch.setattr(pandas_frame, "_converted", lambda series: pa.table(series.to_frame()).column(0))


def decimals_for_all(patch):
    """One fraction among whole numbers gives all of them a point: 7 becomes 7.0."""
    right = pandas_frame._texts

    def texts(values):
        if any(isinstance(value, float | Decimal) and value == Decimal("1.5") for value in values):
            values = [f"{value}.0" if type(value) is int else value for value in values]
        return right(values)

    patch.setattr(pandas_frame, "_texts", texts)


def floats_as_ids(patch):
    """Columns of floats are taken for ids, whose last digits are lost."""
    patch.setattr(text_values, "check_has_text", lambda *_: None)


def typed_by_the_first_row(patch):
    """If the first order value of a piece is a date, all of them have to be."""
    right = order_values.text_order_keys

    def keys(texts, *written):
        found = right(texts, *written)
        if found.rest is None or not len(found.rest) or found.rest[0] == UNREADABLE:
            return found
        kind = found.rest[0] >> np.uint64(62)
        rest = np.where(found.rest >> np.uint64(62) == kind, found.rest, UNREADABLE)
        return OrderKeys(found.integer, rest, found.zoneless)

    patch.setattr(order_values, "text_order_keys", keys)


def encoding_by_the_rows(patch):
    """A file with bytes that are not UTF-8, in whomever's row, is taken for Windows-1252."""
    right = text_file.TextFile.__init__

    def guess(self, path, encoding="utf-8"):
        try:
            path.read_bytes().decode()
        except UnicodeDecodeError:
            encoding = "cp1252"
        right(self, path, encoding)

    patch.setattr(text_file.TextFile, "__init__", guess)


def a_byte_spoils_its_block(patch):
    """An encoding that is decoded a block at a time fails for the whole block."""

    def more(self, size):
        data = self._inner.read(size)
        self._ended = not data
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:
            return "\ud800"

    patch.setattr(text_file._Recoded, "_more", more)


def a_cell_stops_the_sheet(patch):
    """A cell that can't be brought to a type of Python's is an error and not a row less."""
    patch.setattr(excel_sheet.ExcelSheet, "_rows", lambda self: iter(self._sheet.iter_rows()))


def format_by_the_values(patch):
    """A day past 12 where the month should stand makes everybody's months days."""
    right = time_formats.TimeFormat.order_keys
    british = time_formats.TimeFormat.parse("uk")

    def keys(self, texts):
        found, other = right(self, texts), right(british, texts)
        only = (found.rest == UNREADABLE) & (other.rest != UNREADABLE)
        return other if only.any() else found

    patch.setattr(time_formats.TimeFormat, "order_keys", keys)


def comma_by_the_values(patch):
    """One number with a point, and the comma of all the others is no decimal comma."""
    right = notation.Writing.with_points

    def points(self, texts):
        first = [bytes(texts.data[a:b]) for a, b in zip(texts.starts, texts.stops, strict=True)]
        return texts if any(text == b"1.5" for text in first) else right(self, texts)

    patch.setattr(notation.Writing, "with_points", points)


def sqlite_typed_by_the_piece(patch):
    """A float among a piece's whole numbers makes floats of them."""
    right = sqlite_file._column

    def column(values):
        if any(isinstance(value, float) for value in values):
            values = [float(v) if isinstance(v, int) else v for v in values]
            values = [repr(v).encode() if isinstance(v, float) else v for v in values]
        return right(values)

    patch.setattr(sqlite_file, "_column", column)


def sqlite_floats_as_they_are(patch):
    """Floats alone stay floats, and beside a text they become text: the last bit differs."""
    right = sqlite_file._column

    def column(values):
        alone = {type(value) for value in values} <= {float, type(None)}
        return pa.array(values, pa.float64()) if alone else right(values)

    patch.setattr(sqlite_file, "_column", column)


def a_folder_has_to_be_text(patch):
    """A folder of a partition whose name is not UTF-8, anybody's, is an error."""
    right = parquet_file.partitions_of

    def partitions(path):
        found = right(path)
        if any(b"\xff" in value for value in found.values()):
            raise InputError("The name of a folder can't be read.")
        return found

    patch.setattr(parquet_file, "partitions_of", partitions)


def labels_that_stop_a_run(patch):
    """Labels are counted before anybody is bounded, and too many of them are an error."""
    right = observed.LabelCollector.codes

    def codes(self):
        if len(self._codes) > 100:
            raise InputError("There are too many different labels.")
        return right(self)

    patch.setattr(observed.LabelCollector, "codes", codes)


def unit_text_as_it_is(patch):
    """Seven spellings of one unit are seven units."""
    patch.setattr(UnitTexts, "of", classmethod(lambda cls, written: cls(written, None)))


def chunks_joined(patch):
    """The chunks of a dictionary are joined before they are read."""
    right = arrow_table.table_pieces
    patch.setattr(
        pandas_frame, "table_pieces", lambda table, columns: right(table.combine_chunks(), columns)
    )


def cap_forgotten(patch):
    """All trajectories of a unit are used."""
    right = steps.bound_contributions

    def bound(visits, cap, **more):
        return right(visits, cap * 1_000, **more)

    patch.setattr(steps, "bound_contributions", bound)


def a_row_stops_the_run(patch):
    """A row that can't be read is an error and not a row less."""
    right = encoding._well_formed_rows

    def well_formed(*given):
        good = right(*given)
        if not good.all():
            raise InputError("A row can't be read.")
        return good

    patch.setattr(encoding, "_well_formed_rows", well_formed)


MUTANTS = (
    Mutant("codes by first appearance", codes_by_first_appearance, "csv:plain", "discovered",
           pair="ties"),
    Mutant("codes by the thread that was first", codes_by_who_was_first, "parquet:string",
           "discovered"),
    Mutant("one type for a column of objects", one_type_for_all_objects, "pandas:object, of times",
           shows="stops the run"),
    Mutant("7 becomes 7.0", decimals_for_all, "pandas:object, of numbers"),
    Mutant("floats taken for ids", floats_as_ids, "pandas:float ids", shows="DID NOT RAISE"),
    Mutant("the first row decides the type", typed_by_the_first_row, "csv:plain",
           pair="mixed types"),
    Mutant("the rows decide the encoding", encoding_by_the_rows, "csv:plain"),
    Mutant("a byte without a character spoils its block", a_byte_spoils_its_block,
           "csv:German, Windows-1252", shows="stops the run"),
    Mutant("a cell stops the sheet", a_cell_stops_the_sheet, "excel:a sheet",
           shows="stops the run"),
    Mutant("the values decide the time format", format_by_the_values, "csv:American, zip"),
    Mutant("one number decides the decimal comma", comma_by_the_values, "csv:German, Windows-1252",
           "grid"),
    Mutant("SQLite typed by the piece", sqlite_typed_by_the_piece, "sqlite:without types",
           pair="mixed types in SQLite"),
    Mutant("floats alone are read otherwise", sqlite_floats_as_they_are, "sqlite:real", "grid"),
    Mutant("a folder's name stops the run", a_folder_has_to_be_text,
           "parquet:binary, Hive's folders", shows="stops the run"),
    Mutant("labels before bounding stop a run", labels_that_stop_a_run, "csv:plain", "discovered",
           timed=True, pair="discovery", shows="stops the run"),
    Mutant("unit text as it is", unit_text_as_it_is, "csv:plain",
           pair="one unit in seven spellings", shows="has more than 1"),
    Mutant("chunks of a dictionary joined", chunks_joined,
           "pandas:ArrowDtype dictionary of int8, in chunks", shows="stops the run"),
    Mutant("the cap forgotten", cap_forgotten, "arrow:string", pair="over the cap",
           shows="has more than 1"),
    Mutant("a malformed row stops the run", a_row_stops_the_run, "polars:string", split="day",
           shows="stops the run"),
)  # fmt: skip
