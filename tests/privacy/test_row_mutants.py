"""Each way in which one unit's rows once changed others', put back: the tests must notice it."""

import numpy as np
import pyarrow as pa
import pytest
from tests.privacy import test_rows, test_typed_rows
from tests.unit import test_unit_text

from pathveil.errors import InputError
from pathveil.raw import observed
from pathveil.raw.sources import encoding, pandas_frame, text_values, unit_text
from pathveil.raw.sources.databases import sqlite_file
from pathveil.times.time_grid import MAX_PAIRS


def numbered_by_first_appearance(monkeypatch):
    """Codes of discovered labels are the numbers that they got while rows were read."""
    monkeypatch.setattr(
        observed.LabelCollector, "codes", lambda self: np.arange(len(self._codes), dtype=np.int32)
    )


def labels_before_bounding(monkeypatch):
    """All labels of a unit's rows are known, not only those of its bounded trajectories."""

    def introduced(self, bounded):
        labels = self._codes.values
        order = observed.order_of_bytes(labels)
        return bounded, observed.ObservedUniverse(observed._strings(labels.take(order)))

    monkeypatch.setattr(observed.LabelCollector, "introduced", introduced)


def pairs_of_private_labels_are_limited(monkeypatch):
    """How many labels there are decides, without noise, whether there is a release."""
    whole = observed.LabelCollector.introduced

    def introduced(self, bounded):
        if self._times is not None and len(self._codes) * self._times.slots > MAX_PAIRS // 2**17:
            raise InputError("There are too many different labels.")
        return whole(self, bounded)

    monkeypatch.setattr(observed.LabelCollector, "introduced", introduced)


def arrow_types_a_column(monkeypatch):
    """The type of an object column is chosen by looking at all of its cells."""
    monkeypatch.setattr(pandas_frame, "_texts", lambda values: pa.chunked_array([pa.array(values)]))


def floats_have_a_text(monkeypatch):
    """Columns of floats name units."""
    checked = text_values.check_has_text
    monkeypatch.setattr(
        text_values,
        "check_has_text",
        lambda kind, *names: pa.types.is_floating(kind) or checked(kind, *names),
    )


def sqlite_types_a_piece(monkeypatch):
    """Numbers that stand among numbers only are converted as such."""
    monkeypatch.setattr(
        sqlite_file,
        "_column",
        lambda values: (
            pa.array(values, pa.float64())
            if {type(value) for value in values} <= {float, type(None)}
            else sqlite_file._mixed(values)
        ),
    )


def units_are_what_is_written(monkeypatch):
    """``7`` and ``07`` are two units."""
    monkeypatch.setattr(
        encoding.UnitTexts,
        "of",
        classmethod(lambda _, written: unit_text.UnitTexts(written, None)),
    )


MUTANTS = {
    numbered_by_first_appearance: lambda folder: (
        test_rows.test_a_tie_is_broken_by_the_labels_and_not_by_who_named_one_first(folder, "B")
    ),
    labels_before_bounding: lambda folder: test_rows.test_what_a_unit_introduces_is_bounded_first(
        folder, 3
    ),
    pairs_of_private_labels_are_limited: lambda folder: test_rows.check_junk_labels_stop_nothing(
        folder, 200
    ),
    arrow_types_a_column: lambda _: (
        test_typed_rows.test_a_cell_of_a_pandas_object_column_is_read_by_itself(
            "where", "decimals", test_typed_rows.UNIVERSE
        )
    ),
    floats_have_a_text: lambda _: (
        test_typed_rows.test_a_missing_number_needs_a_type_that_has_missing_numbers()
    ),
    sqlite_types_a_piece: lambda folder: test_typed_rows.test_sqlite_reads_every_value_by_itself(
        folder, 7
    ),
    units_are_what_is_written: lambda folder: (
        test_unit_text.test_every_source_and_engine_takes_the_forms_of_an_id_for_one_unit(
            folder, "memory", "normal"
        )
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_breach_that_is_put_back_is_noticed(tmp_path, monkeypatch, mutant):
    test = MUTANTS[mutant]
    (tmp_path / "right").mkdir()
    test(tmp_path / "right")
    mutant(monkeypatch)
    (tmp_path / "wrong").mkdir()
    with pytest.raises((AssertionError, InputError, pytest.fail.Exception)):
        test(tmp_path / "wrong")
