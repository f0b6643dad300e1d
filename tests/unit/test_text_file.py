"""Encodings and packed files: a public choice, never a guess; a damaged cell spoils its own row."""

import encodings
import gzip
import io
import pkgutil
import zipfile

import pytest

from pathveil import Universe, read_trajectories
from pathveil.errors import InputError, ParameterError
from pathveil.raw.sources import excel_sheet, text_file
from pathveil.raw.sources.text_file import TextFile, check_encoding

TEXT = "card;seq;stop\r\n1;1;Köln\r\n1;2;Straße\r\n2;1;Orléans\r\n3;1;Rennes\r\n"
STOPS = Universe(["Köln", "Straße", "Orléans", "Rennes"])


def read(path, **reading):
    """How many trajectories, rows and malformed rows."""
    told = []
    found = read_trajectories(
        path, STOPS, unit="card", order="seq", location="stop", report=told.append, **reading
    )
    return len(found), told[0].rows, told[0].malformed_rows


@pytest.fixture
def write(tmp_path):
    def written(content, name="taps.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return written


def zipped(*members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("utf-8", "utf-8"), ("utf-8-sig", "UTF8"), ("utf-16", "utf-8"), ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16"), ("utf-16-be", "utf-16-be"), ("cp1252", "windows-1252"),
        ("latin-1", "latin-1"), ("latin-1", "ISO-8859-15"), ("cp850", "cp850"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda text: zipped(("a/x.csv", text))])
def test_text_of_every_encoding_is_read_packed_or_not(write, written, said, pack):
    assert read(write(pack(TEXT.encode(written))), encoding=said) == (3, 4, 0)


def test_an_encoding_is_not_guessed_from_rows(write):
    # Only the rows that are no UTF-8 are dropped; the header is, so nothing is refused.
    assert read(write(TEXT.encode("cp1252"))) == (1, 4, 3)


def test_a_header_that_is_no_text_names_the_encoding_to_try(write):
    path = write("card;Länge\n1;2\n".encode("cp1252"))
    with pytest.raises(InputError, match="--encoding windows-1252"):
        read(path)
    with pytest.raises(InputError, match="--encoding utf-16"):
        read(write(TEXT.encode("utf-16-le")))


def test_a_byte_without_a_character_spoils_its_own_row(write):
    rows = TEXT.encode("cp1252").replace(b"Rennes", b"Ren\x81es")
    assert read(write(rows), encoding="cp1252") == (2, 4, 1)


@pytest.mark.parametrize("rest", [b"x", b"\x00\xd8", b"9\x004\x00\x00"])
def test_half_a_character_at_the_end_of_utf_16_spoils_its_own_row(write, rest):
    assert read(write(TEXT.encode("utf-16") + rest)) == (3, 5, 1)


def test_characters_that_straddle_blocks_are_whole(write):
    path = write(("🚋é\n" * 5000).encode("utf-16"))
    with TextFile(path).opened() as (text, _):
        pieces = [text.read(7) for _ in range(100)] + [text.read()]
    assert b"".join(pieces).decode() == "🚋é\n" * 5000


@pytest.mark.parametrize(
    "name",
    [
        "shift_jis", "utf-7", "utf-32", "hex", "no such", "", None, "iso2022_jp", "iso2022_jp_2",
        "iso2022_jp_ext", "iso2022_kr", "hz", "unicode_escape", "raw_unicode_escape",
    ],
)  # fmt: skip
def test_encodings_in_which_a_character_can_take_a_delimiter_with_it_are_refused(name):
    with pytest.raises(ParameterError, match="There is no encoding"):
        check_encoding(name)


_HOSTILE = (b"\x1b$B", b"\x1b(J", b"\x0e", b"~{", b"\\u00", b"\\", b"\\x", b"+", b"\x81", b"\xff")


def test_of_every_encoding_that_python_knows_a_row_is_read_on_its_own_or_it_is_refused(write):
    """Some have a memory: a few bytes of one row change what all others mean, or end the run."""
    everybody = b"".join(b"%d;1;Rennes\n" % card for card in range(1, 6))
    tried = set()
    for module in pkgutil.iter_modules(encodings.__path__):
        try:
            name = check_encoding(module.name)
        except ParameterError:
            continue
        if name in tried or name.startswith("utf"):
            continue
        tried.add(name)
        hostile = b"".join(b"9%s;1;Rennes\n" % row for row in _HOSTILE)
        rows = read(write(b"card;seq;stop\n" + hostile + everybody), encoding=name)
        found, told = rows[0], rows[1:]
        assert 5 <= found <= 5 + len(_HOSTILE), name
        assert told[0] == 5 + len(_HOSTILE), name
    assert {"cp1252", "iso8859-1", "koi8-r", "cp437"} < tried


def test_an_encoding_is_for_csv_only():
    import pyarrow as pa

    with pytest.raises(ParameterError, match="for CSV files only"):
        read(pa.table({"card": ["1"], "seq": [1], "stop": ["Köln"]}), encoding="latin-1")


def test_an_archive_holds_one_table(write):
    two = zipped(("a.csv", TEXT), ("b.csv", TEXT))
    with pytest.raises(InputError, match="holds 2 files"):
        read(write(two, "taps.zip"))
    beside = zipped(("a.csv", TEXT), ("__MACOSX/._a.csv", "x"))
    assert read(write(beside, "taps.zip")) == (3, 4, 0)


@pytest.mark.parametrize(
    "content",
    [gzip.compress(TEXT.encode())[:-9], zipped(("a.csv", TEXT))[:60]],
    ids=["gzip", "zip"],  # a packed file tells the time, and workers must agree on names
)
def test_a_packed_file_that_was_cut_off_is_refused(write, content):
    with pytest.raises(InputError, match=r"damaged|not a zip archive"):
        read(write(content))


@pytest.mark.parametrize("pack", [gzip.compress, lambda text: zipped(("a.csv", text))])
def test_a_bomb_is_not_unpacked(write, pack, monkeypatch):
    monkeypatch.setattr(text_file, "LARGEST_UNPACKED", 2**16)
    many = pack(TEXT.encode() + b"1;1;K\n" * 200_000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read(write(many))


# Excel workbooks.


@pytest.fixture
def sheet(tmp_path):
    """Write rows to sheets of a workbook."""

    def written(*sheets, far=None):
        import xlsxwriter

        path = tmp_path / "taps.xlsx"
        with xlsxwriter.Workbook(path, {"default_date_format": "dd.mm.yyyy hh:mm"}) as book:
            for name, rows in sheets:
                page = book.add_worksheet(name)
                for number, row in enumerate(rows):
                    page.write_row(number, 0, row)
                if far is not None:
                    page.write(*far, "x")
        return path

    return written


HEADER = ("card", "seq", "stop")


def test_a_sheet_is_read_cell_by_cell(sheet):
    rows = [HEADER, (1, 1, "Köln"), ("01", 2, "Straße"), ("", "", ""), (2, "x", "Köln"),
            (3, 1, "Rennes", "beside")]  # fmt: skip
    assert read(sheet(("Taps", rows))) == (2, 4, 1)


@pytest.mark.parametrize("days", [1e300, -1e300, 1e9], ids=str)  # the second is a panic of Rust's
def test_a_duration_that_python_can_not_hold_spoils_its_own_row(tmp_path, days):
    import xlsxwriter

    path = tmp_path / "taps.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("Taps")
        rows = [HEADER, (1, 1, "Köln"), (2, 1, "Köln"), (3, 1, "Rennes")]
        for number, row in enumerate(rows):
            page.write_row(number, 0, row)
        page.write_number(2, 1, days, book.add_format({"num_format": "[hh]:mm:ss"}))
    assert read(path) == (2, 3, 1)


def test_a_workbook_of_several_sheets_needs_the_name_of_one(sheet):
    path = sheet(("Taps", [HEADER, (1, 1, "Köln")]), ("Notes", [["hello"]]))
    with pytest.raises(ParameterError, match="has 2 sheets; say which one with"):
        read(path)
    with pytest.raises(ParameterError, match=r"no sheet 'taps'. Did you mean 'Taps'"):
        read(path, table="taps")
    assert read(path, table="Taps") == (1, 1, 0)


def test_numbers_of_a_sheet_are_numbers_whatever_its_texts_are_written_with(sheet):
    """With a comma before decimals, every cell 1.5 was unreadable."""
    rows = [HEADER, (1, 1.5, "Köln"), (1, "2,5", "Köln"), (1, 3, "Köln"), (1, "4.5", "Köln")]
    path = sheet(("Taps", rows))
    assert read(path) == (1, 4, 1)  # all but "2,5"
    assert read(path, decimal_comma=True) == (1, 4, 1)  # a text with a point is none, as in CSV


def test_degrees_of_a_sheet_may_be_numbers_and_texts_with_a_comma(sheet):
    grid = Universe.read("grid:2x2:0,0,2,2")
    rows = [("card", "lat", "lon"), (1, 0.5, "1,5"), (2, "1,5", 0.5), (3, "0.5", 1.5)]
    database = read_trajectories(
        sheet(("Taps", rows)), grid, unit="card", latitude="lat", longitude="lon",
        decimal_comma=True,
    )  # fmt: skip
    assert len(database) == 2


def test_dates_of_a_sheet_need_no_format_and_its_texts_do(sheet):
    from datetime import datetime

    rows = [HEADER, (1, datetime.fromisoformat("2026-03-02T08:00"), "Köln"),
            (1, "02.03.2026 07:00", "Straße")]  # fmt: skip
    path = sheet(("Taps", rows))
    assert read(path) == (1, 2, 1)
    assert read(path, time_format="de") == (1, 2, 0)
    found = read_trajectories(path, STOPS, unit="card", order="seq", location="stop",
                              time_format="de")  # fmt: skip
    assert found.codes.tolist() == [1, 0]


def test_a_workbook_that_would_fill_the_memory_is_refused(sheet, monkeypatch):
    rows = [HEADER, (1, 1, "Köln")]
    with pytest.raises(InputError, match="too large"):
        read(sheet(("Taps", rows), far=(1_048_575, 16_383)))
    path = sheet(("Taps", rows + [("x" * 100, 1, "Köln")] * 3000))
    monkeypatch.setattr(excel_sheet, "LARGEST_UNPACKED", 2**10)
    monkeypatch.setattr(excel_sheet, "LARGEST_RATIO", 2)
    with pytest.raises(InputError, match="too large"):
        read(path)


def test_an_old_workbook_and_a_damaged_one_are_refused(write, sheet):
    with pytest.raises(InputError, match="old Excel; save it as"):
        read(write(b"\xd0\xcf\x11\xe0" + b"\0" * 600, "taps.xls"))
    whole = sheet(("Taps", [HEADER, (1, 1, "Köln")])).read_bytes()
    damaged = whole.replace(b"PK\x03\x04", b"PK\x03\x05", 9).replace(
        b"PK\x03\x05", b"PK\x03\x04", 1
    )
    with pytest.raises(InputError, match=r"damaged|can be read"):
        read(write(damaged, "taps.xlsx"))
