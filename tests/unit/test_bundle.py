"""The bundle on disk: whole or not at all, canonical to the byte, and silent about the input."""

import csv
import json
import os
import re
import resource
import stat
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.core.paths import Paths
from pathveil.core.texts import escape, unescape
from pathveil.release import bundle, bundle_tables

UNIVERSE = pv.Universe(
    ["=cmd()", "-b", "<script>alert(1)</script>", "'quoted", "plain"],
    names=["=formula", "", "<b>&", "+n", "é"],
    latitude=[45.5, 45.25, 0.1, -1.0, 0.0],
    longitude=[-73.5, 0.1, 180.0, -180.0, 1e-7],
)
FILES = {
    *("trajectories.parquet", "prefix_tree.parquet", "locations.csv"),
    *("privacy-certificate.json", "datapackage.json", "report.html"),
}


@pytest.fixture(scope="module")
def database():
    rows = [["=cmd()", "-b"]] * 100 + [["<script>alert(1)</script>", "'quoted", "-b"]] * 100
    return pv.TrajectoryDatabase.from_sequences(rows, UNIVERSE)


@pytest.fixture(scope="module")
def release(database):
    return pv.publish(database, epsilon="90", height=3, method="full")


def seeded(database, number=1):
    generator = np.random.default_rng(number)  # noqa: TID251
    return pv.publish(
        database, epsilon="1", height=3, method="full", threshold=1, generator=generator
    )


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_bundle_has_the_files_that_are_promised_and_no_other(release, tmp_path):
    assert contents(release.write(tmp_path / "a")).keys() == FILES
    assert contents(release.write(tmp_path / "b", csv=True)).keys() == FILES | {"trajectories.csv"}


def test_the_same_release_gives_the_same_bytes_whenever_and_wherever(database, tmp_path):
    first = contents(seeded(database).write(tmp_path / "first", csv=True))
    os.environ["TZ"] = "Pacific/Kiritimati"
    try:
        second = contents(seeded(database).write(tmp_path / "else" / "where", csv=True))
    finally:
        del os.environ["TZ"]
    assert first == second
    assert first != contents(seeded(database, 2).write(tmp_path / "other", csv=True))


def test_not_private_is_written_on_every_file_that_a_person_or_program_opens(database, tmp_path):
    directory = seeded(database).write(tmp_path / "release", csv=True)
    files = contents(directory)
    for name in ("NOT-PRIVATE.txt", "report.html", "datapackage.json", "privacy-certificate.json"):
        assert b"NOT PRIVATE" in files[name], name
    for name in ("trajectories.parquet", "prefix_tree.parquet"):
        assert pq.read_schema(directory / name).metadata[b"pathveil"] == b"NOT PRIVATE"
    assert "NOT PRIVATE" in repr(pv.read_release(directory))


def test_a_private_release_does_not_carry_the_stamp(release, tmp_path):
    files = contents(release.write(tmp_path / "release", csv=True))
    assert not any(b"NOT PRIVATE" in content for content in files.values())


def test_the_certificate_lists_the_hashes_of_the_other_files(release, tmp_path):
    directory = release.write(tmp_path / "release")
    listed = json.loads((directory / "privacy-certificate.json").read_bytes())["files"]
    assert listed.keys() == FILES - {"privacy-certificate.json"}
    for name, record in listed.items():
        assert record["bytes"] == (directory / name).stat().st_size


def test_labels_that_act_as_formulas_are_escaped_in_csv_and_read_back_exactly(release, tmp_path):
    directory = release.write(tmp_path / "release", csv=True)
    for name in ("locations.csv", "trajectories.csv"):
        with (directory / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        numbers = {"-73.5", "-1.0", "-180.0"}
        assert not [c for c in cells if c.startswith(("=", "+", "-", "@")) and c not in numbers]
    back = pv.read_release(directory)
    assert back.universe.labels == UNIVERSE.labels
    assert back.universe.names == UNIVERSE.names
    assert back.universe.latitude.tolist() == UNIVERSE.latitude.tolist()
    assert back.universe.longitude.tolist() == UNIVERSE.longitude.tolist()


@pytest.mark.parametrize("label", ["=1", "+1", "-1", "@a", "'", "''", "'=1", "a", "", "\t"])
def test_escaping_is_undone_exactly(label):
    assert unescape(escape(label)) == label
    assert not escape(label).startswith(("=", "+", "-", "@", "\t"))


@given(st.text(alphabet="a;|\t ='\"+＝", max_size=8))
def test_where_semicolons_cut_rows_no_cell_is_a_formula_either(label):
    """`x;=1+1;y` is three cells there, wherever in a row it stands and however it is quoted."""
    assert unescape(escape(label)) == label
    cells = [cell.lstrip(' "') for cell in re.split(r"[;|\t]", escape(label))]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "＝"))]


def test_labels_that_act_as_markup_are_escaped_in_the_report(release, tmp_path):
    page = (release.write(tmp_path / "release") / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "default-src 'none'" in page
    assert "http:" not in page.replace("http-equiv", "")
    assert "https:" not in page


def test_the_csv_says_the_same_as_the_parquet_file(release, tmp_path):
    directory = release.write(tmp_path / "release", csv=True)
    with (directory / "trajectories.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["count", "location_1", "location_2", "location_3"]
    from_csv = [
        {"locations": [unescape(cell) for cell in cells if cell], "count": int(count)}
        for count, *cells in rows
    ]
    assert from_csv == pq.read_table(directory / "trajectories.parquet").to_pylist()


def test_the_data_package_describes_every_table(release, tmp_path):
    directory = release.write(tmp_path / "release", csv=True)
    package = json.loads((directory / "datapackage.json").read_bytes())
    described = {
        r["path"]: [f["name"] for f in r["schema"]["fields"]] for r in package["resources"]
    }
    for name in ("trajectories.parquet", "prefix_tree.parquet"):
        assert described[name] == pq.read_schema(directory / name).names
    for name in ("trajectories.csv", "locations.csv"):
        first_line = (directory / name).read_text(encoding="utf-8").splitlines()[0]
        assert described[name] == first_line.split(",")


def test_rows_stand_in_canonical_order_whatever_the_order_of_the_input(tmp_path):
    universe = pv.Universe(["c", "a", "b"])
    rows = [["a", "b"], ["c"], ["b", "c", "a"], ["a"]] * 50
    for name, order in (("forwards", rows), ("backwards", rows[::-1])):
        database = pv.TrajectoryDatabase.from_sequences(order, universe)
        pv.publish(database, epsilon="90", height=3, method="full").write(tmp_path / name, csv=True)
    # At ε̄ = 30 the noise is 0 but once in 10¹¹ runs, so only the order of the rows differed.
    assert contents(tmp_path / "forwards") == contents(tmp_path / "backwards")


# Whole or not at all


def leftovers(folder):
    return [path.name for path in folder.rglob("*") if path.name.startswith(".pathveil-")]


def test_the_bundle_is_staged_in_a_private_folder_and_appears_at_once(
    release, tmp_path, monkeypatch
):
    seen = []

    def watch(*arguments):
        (staging,) = tmp_path.glob(".pathveil-*")
        seen.append((stat.S_IMODE(staging.stat().st_mode), (tmp_path / "release").exists()))
        return bundle_report(*arguments)

    bundle_report = bundle.render_report
    monkeypatch.setattr(bundle, "render_report", watch)
    release.write(tmp_path / "release")
    assert seen == [(0o700, False)]
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["render_report", "file_records", "describe", "_write_text"])
def test_a_failure_at_any_step_leaves_nothing_behind(release, tmp_path, monkeypatch, step, failure):
    def fail(*_arguments, **_options):
        raise failure

    monkeypatch.setattr(bundle, step, fail)
    with pytest.raises((pv.errors.ReleaseError, KeyboardInterrupt)):
        release.write(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_clear_error_and_leaves_nothing_behind(release, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # no file may grow beyond
    try:
        with pytest.raises(pv.errors.ReleaseError, match=r"File too large\. No part"):
            release.write(tmp_path / "release")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_never_overwritten(release, tmp_path):
    directory = release.write(tmp_path / "release")
    before = contents(directory)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for taken in ("release", "file", "dangling", "link"):
        with pytest.raises(pv.errors.ReleaseError, match="never overwritten"):
            release.write(tmp_path / taken)
    assert contents(directory) == before
    assert (tmp_path / "file").read_text() == "mine"


def test_an_empty_or_a_new_nested_folder_will_do(release, tmp_path):
    (tmp_path / "empty").mkdir()
    release.write(tmp_path / "empty")
    release.write(str(tmp_path / "new" / "and" / "nested"))
    assert pv.read_release(tmp_path / "empty").to_sequences() == release.to_sequences()
    assert pv.read_release(tmp_path / "new/and/nested").to_sequences() == release.to_sequences()


@pytest.mark.parametrize("where", ["file/release", "a\0b", "x" * 300, "x" * 300 + "/release"])
def test_a_place_that_can_not_be_written_is_refused_before_anything_is_spent(
    release, tmp_path, where
):
    (tmp_path / "file").touch()
    for use in (bundle.check_free, release.write):
        with pytest.raises(pv.errors.ReleaseError):
            use(tmp_path / where)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_checking_a_place_creates_nothing(tmp_path):
    bundle.check_free(tmp_path / "new" / "and" / "nested")
    assert list(tmp_path.iterdir()) == []


def test_a_relative_path_is_relative_to_the_current_folder(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert release.write("release") == Path("release")
    assert pv.read_release("release").to_sequences() == release.to_sequences()


@pytest.mark.parametrize("rows", [0, 1, 12, 13, 24, 25])
def test_trajectories_are_written_in_parts_as_they_would_be_at_once(rows, tmp_path, monkeypatch):
    """Row group by row group, which is how Parquet would cut them."""
    universe = pv.Universe("abc")
    paths = Paths(2 * np.arange(rows + 1), np.arange(2 * rows, dtype=np.int32) % 3, np.arange(rows))
    at_once = bundle_tables._trajectories(paths, universe, None)
    pq.write_table(at_once, tmp_path / "at once", compression="zstd", row_group_size=12)
    monkeypatch.setattr(bundle_tables, "ROWS_AT_ONCE", 12)
    bundle_tables.write_trajectories(tmp_path / "parts", paths, universe, None, is_private=True)
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "at once").read_bytes()


def test_trajectories_of_several_parts_are_read_back(tmp_path, monkeypatch):
    """Each part has its own labels, in a dictionary of its own."""
    universe = pv.Universe([f"stop {number}" for number in range(40)])
    codes = np.repeat(np.arange(40, dtype=np.int32), 2)
    paths = Paths(2 * np.arange(41), codes, np.arange(1, 41))
    parameters = pv.Parameters.choose(epsilon="1", height=2, universe_size=40, method="full")
    monkeypatch.setattr(bundle_tables, "ROWS_AT_ONCE", 12)
    bundle_tables.write_trajectories(tmp_path / "parts", paths, universe, None, is_private=True)
    assert pq.ParquetFile(tmp_path / "parts").num_row_groups == 4
    found = bundle_tables.read_trajectories(tmp_path / "parts", universe, parameters)
    assert found.codes.tolist() == codes.tolist()
    assert found.weights.tolist() == paths.weights.tolist()
