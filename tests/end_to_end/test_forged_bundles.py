"""What a recipient opens: bundles of which every byte, link and number may be a trap."""

import json
import os
import shutil
import signal
import unicodedata
import webbrowser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import edit_certificate, rehash

import pathveil as pv
from pathveil.core.noisy_tree import EstimatedTree
from pathveil.errors import ReleaseError, UnknownVersionWarning
from pathveil.release import bundle_tables, parquet_tables
from pathveil.release.bundle import verify_bundle
from pathveil.release.parquet_tables import read_parquet

LABELS = ("S1", "S2", "S3")
LIE = "nothing at all can go wrong"
REGISTRY = (
    *("--name", "Taps", "--curator", "City", "--intended-use", "Planning", "--region", "Here"),
    *("--date", "2026-03-01", "--author", "Me"),
)
COMMANDS = {
    "count": ["count", "out", "S1"],
    "patterns": ["patterns", "out"],
    "explain": ["explain", "out"],
    "export": ["export", "out", "--out", "visits.csv"],
    "report": ["report", "out", "--out", "page.html"],
}


def published(method="full"):
    offsets = np.arange(0, 601, 2)
    database = pv.TrajectoryDatabase.from_arrays(
        offsets, np.tile(np.array([0, 1, 1, 2, 0, 2], np.int32), 100), pv.Universe(LABELS)
    )
    return pv.publish(database, epsilon="20", height=2, method=method)


@pytest.fixture(scope="module", params=["full", "calibrated"])
def whole(request, tmp_path_factory):
    return published(request.param).write(tmp_path_factory.mktemp("whole") / "out", csv=True)


@pytest.fixture
def out(whole, folder):
    return Path(shutil.copytree(whole, folder / "out"))


@pytest.fixture(autouse=True)
def no_hang():
    """A command that waits for a pipe must fail a test, not stop it."""

    def stop(_number, _frame):
        raise TimeoutError("a command hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(600)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


# Versions


def scripted(out):
    page = (out / "report.html").read_text(encoding="utf-8")
    (out / "report.html").write_text(page.replace("<body>", "<body><script>alert(1)</script>"))


def path_that_leads_out(out):
    described = json.loads((out / "datapackage.json").read_text(encoding="utf-8"))
    described["resources"][0]["path"] = "../../../.ssh/id_ed25519"
    (out / "datapackage.json").write_text(json.dumps(described, indent=2) + "\n")


def false_promise(out):
    edit_certificate(out, lambda c: c["dp_flavor"].update(unprotected_quantities=[LIE]))


FORGERIES = (scripted, path_that_leads_out, false_promise)


def forge(out, forgery, version=None):
    forgery(out)
    if version:
        edit_certificate(out, lambda c: c["implementation"].update(software_version=version))
    rehash(out)


@pytest.mark.parametrize("version", [None, "9.9.9", "0.0.1", "0.1.0\u202e"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_verify_and_the_registry_pass_no_forgery_whatever_version_it_names(
    pathveil, out, forgery, version
):
    forge(out, forgery, version)
    for command in (["verify", "out"], ["registry", "out", *REGISTRY]):
        result = pathveil(*command)
        assert result.code == 2, result
        assert ("verify it with that version" in result.err) == (version is not None)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("forgery", FORGERIES)
def test_of_another_version_commands_say_so_and_show_nothing_of_its_texts(
    pathveil, out, folder, forgery, command
):
    forge(out, forgery, "9.9.9")
    result = pathveil(*COMMANDS[command], "--quiet")
    assert result.code == 0, result
    assert "WARNING: out says that 'pathveil 9.9.9' wrote it" in result.err.replace("\n", " ")
    shown = result.out + (folder / "page.html").read_text() if command == "report" else result.out
    assert LIE not in shown
    assert "<script" not in shown


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("forgery", [path_that_leads_out, false_promise])
def test_commands_go_through_the_checks_of_verify(pathveil, out, forgery, command):
    forge(out, forgery)
    assert pathveil(*COMMANDS[command]).code == 2


@pytest.mark.parametrize("spelled", ['"2"', "2.0", " 2", "2e0"])
def test_a_certificate_in_another_spelling_is_refused(pathveil, out, spelled):
    """Other programs that read it may see another number, or none."""
    path = out / "privacy-certificate.json"
    text = path.read_text(encoding="utf-8")
    assert '"height": 2,' in text
    path.write_text(text.replace('"height": 2,', f'"height": {spelled},'), encoding="utf-8")
    refused = pathveil("verify", "out")
    assert refused.code == 2
    assert "does not follow" in refused.err


def test_a_library_is_warned_too(out):
    forge(out, false_promise, "9.9.9")
    with pytest.warns(UnknownVersionWarning, match=r"9\.9\.9"):
        assert LIE not in str(pv.read_release(out).certificate)


def test_open_draws_the_page_anew(pathveil, out, monkeypatch):
    forge(out, scripted)
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not shown.append(address))
    assert pathveil("report", "out", "--open").code == 0
    page = Path(shown[0].removeprefix("file://"))
    assert out not in page.parents
    assert "<script" not in page.read_text(encoding="utf-8")


# Files that are none


def to_a_device(path, _folder):
    path.unlink()
    path.symlink_to("/dev/zero")


def to_elsewhere(path, folder):
    shutil.move(path, folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")


def to_itself(path, _folder):
    path.unlink()
    path.symlink_to(path.name)


def to_a_pipe(path, _folder):
    path.unlink()
    os.mkfifo(path)


def to_a_folder(path, _folder):
    path.unlink()
    path.mkdir()


def to_a_terabyte(path, _folder):
    with path.open("r+b") as file:
        file.truncate(1 << 40)


TRAPS = (to_a_device, to_elsewhere, to_itself, to_a_pipe, to_a_folder, to_a_terabyte)


@pytest.mark.parametrize("trap", TRAPS)
def test_only_plain_files_of_a_fair_size_are_opened(whole, tmp_path, trap):
    names = sorted(path.name for path in whole.iterdir())
    for name in names:
        out = Path(shutil.copytree(whole, tmp_path / f"{name}-"))
        trap(out / name, tmp_path)
        for check in (pv.read_release, verify_bundle):
            with pytest.raises(ReleaseError):
                check(out)


@pytest.mark.parametrize("trap", TRAPS)
def test_a_signature_that_is_no_plain_file_is_refused(pathveil, out, folder, trap):
    (out / "signature.json").write_text("{}")
    trap(out / "signature.json", folder)
    assert pathveil("verify", "out").code == 2


# Numbers


def with_counts(out, change):
    """Rewrite the counts of the tree and of the trajectories."""
    path = out / bundle_tables.TREE
    table = pq.read_table(path)
    columns = {name: table[name].to_numpy() for name in ("noisy_count", "estimate")}
    for name, values in change(columns["estimate"], table["parent"].to_numpy()).items():
        where = table.schema.get_field_index(name)
        table = table.set_column(where, table.schema.field(name), pa.array(values))
    pq.write_table(table, path)
    rehash(out)


COUNTS = {
    "children of 2^62": lambda e, parent: {"estimate": np.where(parent >= 0, 2**62, e)},
    "roots of 2^63 - 1": lambda e, parent: {"estimate": np.where(parent < 0, 2**63 - 1, e)},
    "the least number": lambda e, parent: {"estimate": np.where(parent < 0, -(2**63), e)},
    "10^15": lambda e, parent: {"estimate": np.where(parent < 0, 10**15, e)},
    "noise of 10^15": lambda e, _parent: {"noisy_count": e + 10**15},
    "noise of 2^63 - 1": lambda e, _parent: {"noisy_count": np.full_like(e, 2**63 - 1)},
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_that_no_release_can_have_are_refused(pathveil, folder, name):
    out = published().write(folder / "out")
    with_counts(out, COUNTS[name])
    result = pathveil("count", "out", "S1")
    assert result.code == 2, result
    assert "larger than any release can have" in result.err


def test_weights_that_no_release_can_have_are_refused(tmp_path):
    out = published("calibrated").write(tmp_path / "out")
    path = out / bundle_tables.TRAJECTORIES
    table = pq.read_table(path)
    for weight in (2**63 - 1, 10**15):
        counts = pa.array(np.full(len(table), weight))
        pq.write_table(table.set_column(1, table.schema.field(1), counts), path)
        rehash(out)
        with pytest.raises(ReleaseError, match="no release can have"):
            pv.read_release(out)


def test_a_small_file_of_many_rows_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    out = published().write(tmp_path / "out")
    path = out / bundle_tables.TREE
    table = pq.read_table(path)
    rows = table.take(pa.array(np.zeros(1 << 20, np.int64)))
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(5):
            writer.write_table(rows)
    rehash(out)
    assert path.stat().st_size < 1 << 20
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    with pytest.raises(ReleaseError, match="would unpack to"):
        pv.read_release(out)


def varint(number, length=1):
    """A number as Thrift writes it, in at least so many bytes."""
    number, written = 2 * number, []
    while number or len(written) < length:
        written.append(number & 127 | 128)
        number >>= 7
    return bytes([*written[:-1], written[-1] & 127])


def lie_at_the_end(path, wrong):
    """Change what a Parquet file says at its end, and nothing else."""
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    end = content[-8 - size : -8]
    for true, false in wrong.items():
        end = end.replace(varint(true), varint(false, len(varint(true))))
    path.write_bytes(content[: -8 - size] + end + content[-8:])


@pytest.mark.parametrize("name", [bundle_tables.TREE, bundle_tables.TRAJECTORIES])
def test_what_a_table_unpacks_to_is_not_believed_from_its_end(tmp_path, monkeypatch, name):
    """What is allocated stands before the pages, of which the end knows nothing."""
    out = published().write(tmp_path / "out")
    path, many = out / name, 1 << 20
    rows = pq.read_table(path).take(pa.array(np.zeros(many, np.int64)))
    one_page = {"data_page_size": 1 << 30, "write_batch_size": many, "max_rows_per_page": many}
    pq.write_table(rows, path, compression="zstd", use_dictionary=False, **one_page)
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    sizes = {column.total_uncompressed_size: 100 for column in columns}
    lie_at_the_end(path, {many: 3, **{column.num_values: 3 for column in columns}, **sizes})
    rehash(out)
    assert path.stat().st_size < 1 << 20
    believed = pq.ParquetFile(path).metadata
    assert believed.num_rows == 3
    assert all(believed.row_group(0).column(n).num_values == 3 for n in range(len(columns)))
    assert believed.row_group(0).column(0).total_uncompressed_size == 100
    monkeypatch.setattr(parquet_tables, "UNPACKED_FREE", 1 << 20)
    monkeypatch.setattr(parquet_tables, "UNPACKED_TIMES", 1)
    with pytest.raises(ReleaseError, match="would unpack to"):
        verify_bundle(out)


def test_a_label_that_occurs_often_is_unpacked_once(tmp_path):
    """A label of 2,000 bytes in each of a million rows would take two gigabytes."""
    universe = pv.Universe(["\U0001f68b" * 500, "B"])
    database = pv.TrajectoryDatabase.from_arrays([0, 1], [0], universe)
    out = pv.publish(database, epsilon="20", height=1, method="full").write(tmp_path / "out")
    schema = pq.read_schema(out / bundle_tables.TREE)
    tree = read_parquet(out / bundle_tables.TREE, schema.remove_metadata())
    assert pa.types.is_dictionary(tree.schema.field("location").type)


@pytest.mark.parametrize("kind", ["csv", "parquet", "xes"])
def test_an_export_is_bounded(pathveil, folder, kind):
    """A bundle of some lines may say that it has a trillion trajectories."""
    release = published()
    tree = replace(release.tree, estimate=release.tree.estimate * 10**9)
    assert isinstance(tree, EstimatedTree)
    pv.Release(release.universe, tree).write(folder / "out")
    result = pathveil("export", "out", "--out", f"visits.{kind}")
    assert result.code == 2, result
    assert "are written one by one" in result.err
    assert not (folder / f"visits.{kind}").exists()
    with pytest.raises(ReleaseError, match="one by one"):
        pv.read_release(folder / "out").to_sequences()


# Terminals

# Some are letters or marks for Unicode, and show nothing all the same.
EMPTY = "\u3164\u034f\ufe0f\U000e0100"
DECEIVING = f"A\u202eB\u200bC\U000e0041D\u2066\u00ad{EMPTY}E"


def test_no_character_that_deceives_reaches_a_terminal(pathveil, folder):
    """Controls, directions, zero-width ones and tags: in a label, a name of a file, a version."""
    (folder / f"{DECEIVING}.csv").write_text(f"location\n{DECEIVING}\nB\n", encoding="utf-8")
    universe = pv.Universe.read(folder / f"{DECEIVING}.csv")
    database = pv.TrajectoryDatabase.from_arrays([0, 2], [0, 1], universe)
    out = pv.publish(database, epsilon="90", height=2, method="full").write(folder / "out")
    commands = (
        ["universe", f"{DECEIVING}.csv"],
        ["patterns", "out"],
        ["patterns", "out", "--json"],
        ["explain", "out"],
        ["verify", "out"],
        ["count", "out", DECEIVING],
        ["count", "out", f"{DECEIVING}x"],
        ["count", DECEIVING, "B"],
        [DECEIVING],
    )
    for command in commands:
        result = pathveil(*command)
        found = {one for one in result.out + result.err if is_unseen(one)}
        assert found == set(), command
    assert "<U+202E>" in pathveil("patterns", "out").out
    found = pathveil("patterns", "out", "--json").json()["patterns"]
    assert [DECEIVING] in [one["locations"] for one in found]
    assert (out / "report.html").exists()


def is_unseen(character):
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Co", "Zl", "Zp"}
    return character != "\n" and (hidden or character in EMPTY)


def test_a_bundle_of_0_1_0_is_one_of_another_version(pathveil, folder):
    """It was written by that version, whose certificates had other words: nothing is forged."""
    shutil.copytree(Path(__file__).parent / "bundle_of_0_1_0", folder / "out")
    refused = pathveil("verify", "out")
    assert refused.code == 2
    assert "'pathveil 0.1.0' wrote it" in refused.err
    assert "Its figures agree" in refused.err
    counted = pathveil("count", "out", "a", "b")
    assert counted.code == 0
    assert "WARNING: out says that 'pathveil 0.1.0' wrote it" in counted.err.replace("\n", " ")
