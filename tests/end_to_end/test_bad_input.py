"""Bad input: one clear message, exit code 2, no traceback, no partial bundle."""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.commands import edit_certificate, environment, finish, publish_arguments, rehash, spawn

import pathveil as pv

TAPS = b"card_id,seq,stop_id\nc1,1,S0001\nc1,2,S0002\nc2,1,S0001\n"
STOPS = b"location\nS0001\nS0002\nS0003\n"


@pytest.fixture
def small(folder):
    (folder / "taps.csv").write_bytes(TAPS)
    (folder / "stops.csv").write_bytes(STOPS)
    return folder


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)


# Public parameters

PARAMETERS = [
    *(("epsilon", value, "psilon") for value in ("-1", "0", "1e400", "1e400000000", "nan", "inf")),
    *(("epsilon", value, "psilon") for value in ("1/0", "one", "1,5", "0x1", "", "101", "1e-30")),
    *(("height", value, "height") for value in ("0", "-1", "1000000000", "2.5", "tall", "")),
    *(("max-trajectories-per-unit", value, "") for value in ("0", "-3", "10000000", "few")),
    *(("threshold", value, "threshold") for value in ("0", "-5", "junk", "1e30", "9" * 30, "1.5")),
    *(("method", value, "basic, full") for value in ("magic", "")),
    *(("max-nodes", value, "max") for value in ("0", "-1", "x")),
    ("max-nodes", "1", "max_nodes = 1"),
]


@pytest.mark.parametrize(("option", "value", "says"), PARAMETERS)
@pytest.mark.usefixtures("small")
def test_a_parameter_that_can_not_be_used_is_refused(refuses, option, value, says):
    refuses(*publish_arguments(**{option: value}), says=says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--universe-size", "0"], "size of the universe"),
        (["--universe-size", "9" * 400], "size of the universe"),
        (["--universe-size", "10000000000"], "size of the universe"),
        ([], "--universe FILE or --universe-size"),
        (["--universe-size", "5", "--universe", "stops.csv"], "--universe FILE or --universe-size"),
        (["--universe-size", "5", "-c", "1000000", "--epsilon", "1e-9"], "larger epsilon"),
        (["--universe-size", "1012", "--threshold", "paper"], "method 'full'"),
        (
            ["--universe-size", "1012", "--threshold", "paper", "--method", "full"],
            "threshold 'auto'",
        ),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_plan_that_can_not_be_is_refused(refuses, arguments, says):
    refuses("plan", "--epsilon", "1", "--height", "12", *arguments, says=says)


def test_the_papers_threshold_on_the_papers_universe_is_refused_before_the_data_is_read(
    folder, refuses
):
    labels = "\n".join(f"S{i}" for i in range(1012))
    (folder / "stops.csv").write_text(f"location\n{labels}\n")
    # There is no input at all: the refusal comes first.
    arguments = publish_arguments("nowhere.csv", threshold="paper", epsilon="1", height="12")
    message = refuses(*arguments, says="Nothing was spent")
    assert "threshold 'auto' (here" in message


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["publsh"], "Did you mean 'publish'"),
        (["verfy"], "Did you mean 'verify'"),
        (["publish"], "Missing argument 'INPUT'"),
        (["count", "release"], "Missing argument"),
        (["plan", "--epsilon", "1", "--height", "2", "--universe-sise", "5"], "--universe-size"),
        (["patterns", "release", "-k", "many"], "-k"),
        (["simulate", "--riders", "0", "--out", "week"], "riders"),
        (["simulate", "--stops", "-1", "--out", "week"], "stops"),
        (["simulate", "--seed", "-1", "--out", "week"], "--seed"),
        (["simulate", "--riders", "5", "--out", "taps.csv"], "taps.csv"),
        (["demo", "--riders", "0"], "riders"),
        (["demo", "--stops", "0"], "universe"),
        (["demo", "--epsilon", "0"], "psilon"),
        (["demo", "--out", "x" * 300], "too long"),
        (["demo", "--out", "."], "never overwritten"),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_command_line_that_can_not_be_run_says_what_to_type(refuses, arguments, says):
    refuses(*arguments, says=says)


# The universe

UNIVERSES = {
    "empty file": (b"", "is empty"),
    "only a line break": (b"\n", "is empty"),
    "only a header": (b"location\n", "no locations"),
    "half of UTF-16": ("location\nS1\n".encode("utf-16")[:-1], "neither UTF-8"),
    "neither encoding": (b"location\nCaf\xe9 \x81\n", "neither UTF-8 nor Windows-1252"),
    "NUL in a label": (b"location\nS1\nS\x002\n", "location 2 holds a control character"),
    "escape in a label": (b"location\n\x1b[31mS1\n", "location 1 holds a control character"),
    "10 MB cell": (b"location\n" + b"x" * 10_000_000 + b"\n", "well-formed CSV"),
    "label of 501 characters": (b"location\n" + b"x" * 501, "longer than 500"),
    "repeated label": (b"location\nS1\nS2\nS1\n", "Location 3 has the same label as location 1"),
    "empty label": (b"location,name\nS1,a\n,b\n", "location 2 is empty"),
    "blank label": (b"location\nS1\n   \n", "location 2 is empty"),
    "row too short": (b"location,name\nS1,a\nS2\n", "Row 2"),
    "row too long": (b"location\nS1\nS2,b\n", "Row 2"),
    "open quote": (b'location\n"S1\nS2\n', "well-formed CSV"),
    "latitude of 91": (b"location,lat,lon\nS1,91,0\n", "latitude of location 1"),
    "longitude of text": (b"location,lat,lon\nS1,9,east\n", "longitude of location 1"),
    "Parquet cut short": (b"PAR1" + b"\x00" * 20, "readable Parquet"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "neither UTF-8"),
}


@pytest.mark.parametrize("name", UNIVERSES)
def test_a_universe_that_can_not_be_used_is_refused(small, refuses, name):
    content, says = UNIVERSES[name]
    (small / "stops.csv").write_bytes(content)
    refuses(*publish_arguments(), says=says)
    refuses("plan", "--epsilon", "1", "--height", "2", "--universe", "stops.csv", says=says)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nowhere.csv", "No such file"),
        (".", "is a folder"),
        ("taps.csv/stops.csv", "Not a directory"),
        ("x" * 300, "too long"),
        ("a\0b", "NUL"),
        ("/proc/self/mem", "Can't read the universe"),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_universe_that_is_not_there_is_refused(refuses, path, says):
    refuses(*publish_arguments(universe=path), says=says)


def test_a_parquet_universe_without_a_usable_column_is_refused(small, refuses):
    parquet(small / "lists.parquet", location=[["S1"], ["S2"]])
    refuses(*publish_arguments(universe="lists.parquet"), says="no column")
    table = pa.table([["S1"], ["S2"]], names=["location", "location"])
    pq.write_table(table, small / "twice.parquet")
    refuses(*publish_arguments(universe="twice.parquet"), says="readable Parquet")


# The data

INPUTS = {
    "empty file": (b"", "empty"),
    "UTF-16 without a mark": (TAPS.decode().encode("utf-16-le"), "--encoding utf-16"),
    "Latin-1 header": (b"card_id,seq,stop_id,caf\xe9\n", "--encoding windows-1252"),
    "header without end": (b"x" * 2_000_000, "header"),
    "no such columns": (b"alpha,beta\n1,2\n", "no column 'card_id'"),
    "a typing error": (b"card_ids,seq,stop_id\nc1,1,S0001\n", "Did you mean 'card_ids'"),
    "a column twice": (b"card_id,card_id,seq,stop_id\nc1,c1,1,S0001\n", "2 columns named"),
    "Parquet cut short": (b"PAR1" + b"\x00" * 20, "Parquet"),
    "gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", "damaged"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_data_that_can_not_be_read_is_refused(small, refuses, name):
    content, says = INPUTS[name]
    (small / "taps.csv").write_bytes(content)
    refuses(*publish_arguments(), says=says)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nowhere.csv", "No such file"),
        (".", "folder"),
        ("stops.csv/taps.csv", "Not a directory"),
        ("x" * 300, "too long"),
        ("a\0b", "path"),
        ("/proc/self/mem", "Can't read"),
    ],
)
@pytest.mark.usefixtures("small")
def test_data_that_is_not_there_is_refused(refuses, path, says):
    refuses(*publish_arguments(path), says=says)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"unit-column": None}, "unit column"),
        ({"unit-column": "stop_id"}, "two roles"),
        ({"unit-column": ""}, "no column ''"),
        ({"order-column": "sequence"}, "no column 'sequence'"),
        ({"location-column": "Stop_ID"}, "Did you mean 'stop_id'"),
        ({"trajectory-column": "week"}, "no column 'week'"),
    ],
)
@pytest.mark.usefixtures("small")
def test_columns_that_are_not_there_are_refused(refuses, changes, says):
    refuses(*publish_arguments(**changes), says=says)


COLUMNS = {
    "a struct for the location": ({"stop_id": [{"x": 1}]}, "stop_id"),
    "a list of structs": ({"stop_id": [[{"x": 1}]]}, "stop_id"),
    "a list of lists": ({"stop_id": [[["S0001"]]]}, "stop_id"),
    "lists and an order": ({"stop_id": [["S0001", "S0002"]]}, "order"),
    "a list for the unit": ({"card_id": [["c1"]]}, "card_id"),
    "truth for the order": ({"seq": [True]}, "seq"),
    "a struct for the order": ({"seq": [{"x": 1}]}, "seq"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_a_wrong_type_are_refused(small, refuses, name):
    wrong, says = COLUMNS[name]
    parquet(small / "taps.parquet", **{"card_id": ["c1"], "seq": [1], "stop_id": ["S0001"]} | wrong)
    refuses(*publish_arguments("taps.parquet"), says=says)


@pytest.mark.parametrize("kept", [0.02, 0.5, 0.99])
def test_a_truncated_parquet_file_is_refused(week, refuses, kept):
    whole = (week / "taps.parquet").read_bytes()
    (week / "taps.parquet").write_bytes(whole[: int(kept * len(whole))])
    refuses(*publish_arguments("taps.parquet"), says="not a readable Parquet file")


def test_a_damaged_parquet_page_is_refused(week, refuses):
    damaged = bytearray((week / "taps.parquet").read_bytes())
    damaged[100:2000] = bytes(1900)
    (week / "taps.parquet").write_bytes(damaged)
    refuses(*publish_arguments("taps.parquet"), says="taps.parquet")


ROWS = {
    "no rows": b"",
    "NULs": b"c3,\x00,S0001\nc\x004,1,S0001\nc5,1,S\x00\n",
    "a 10 MB cell": b"c3,1," + b"x" * 10_000_000 + b"\n",
    "Latin-1": b"caf\xe9,1,S0001\nc3,1,S000\xe9\n",
    "too few cells": b"c3\nc3,1\n",
    "too many cells": b"c3,1,S0001,more,more\n",
    "an open quote": b'c3,1,"S0001\n"c4,1,S0001\n',
    "an order that is none": b"c3,tomorrow,S0001\nc3,,S0001\nc3,1e999999999,S0001\n",
    "no line break at the end": b"c3,1,S0001",
    "locations outside the universe": b"c3,1,nowhere\nc3,2,=cmd()\n",
}


@pytest.mark.parametrize("name", ROWS)
def test_a_bad_row_is_dropped_on_its_own_and_never_stops_a_run(small, pathveil, name):
    """A crash that one record can cause would tell that the record is there."""
    (small / "taps.csv").write_bytes(TAPS + ROWS[name])
    result = pathveil(*publish_arguments())
    assert result.code == 0, result
    assert pathveil("verify", "out").code == 0


def test_a_file_with_only_a_header_is_an_empty_database_and_is_published(small, pathveil):
    (small / "taps.csv").write_bytes(TAPS.splitlines(keepends=True)[0])
    assert pathveil(*publish_arguments()).code == 0
    assert pathveil("verify", "out").code == 0


# The output


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("taken", "never overwritten"),
        ("stops.csv", "never overwritten"),
        ("dangling", "never overwritten"),
        ("stops.csv/release", "Not a directory"),
        ("x" * 300, "too long"),
        ("a\0b", "null byte"),
        ("/proc/release", "Can't write"),
    ],
)
def test_a_place_that_can_not_be_written_is_refused_before_the_data_is_read(
    small, refuses, out, says
):
    (small / "taken").mkdir()
    (small / "taken" / "file").touch()
    (small / "dangling").symlink_to("nowhere")
    refuses(*publish_arguments("nowhere.csv", out=out), says=says)


@pytest.mark.usefixtures("small")
def test_a_refused_run_does_not_leave_the_parents_of_its_output(refuses):
    refuses(*publish_arguments("nowhere.csv", out="new/and/nested"), says="No such file")


def without_room(_limit=2000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (_limit, _limit))


def test_a_full_disk_is_one_clear_message_and_no_partial_bundle(week):
    """No file may grow beyond 2,000 bytes: the room for the bundle can't be kept."""
    settings = {"cwd": week, "env": environment(week)}
    assert finish(spawn(*publish_arguments(out="warm"), **settings)).code == 0  # compiled
    before = sorted(week.iterdir())
    result = finish(spawn(*publish_arguments(), preexec_fn=without_room, **settings))
    assert result.code == 2, result
    assert result.err.startswith("error: Can't write to out: File too large.")
    assert sorted(week.iterdir()) == before


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_full_disk_behind_stdout_is_one_clear_message(release, options):
    with Path("/dev/full").open("w") as full:
        process = subprocess.Popen(
            [sys.executable, "-m", "pathveil", "count", release, "S0001", *options],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
        result = finish(process)
    assert result.code == 2
    assert result.err.startswith("error: The operating system refused: No space left on device.")
    assert len(result.err.splitlines()) == 1


NOBODY = 65534


@pytest.fixture
def place():
    """A folder that others may enter (pytest's own are closed to them), with one to write to."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "taps.csv").write_bytes(TAPS)
        (place / "stops.csv").write_bytes(STOPS)
        (place / "open").mkdir()
        (place / "open").chmod(0o777)
        place.chmod(0o555)
        yield place
        place.chmod(0o755)


@pytest.mark.parametrize(
    ("closed", "out"), [("stops.csv", "open/out"), ("taps.csv", "open/out"), (None, "out")]
)
def test_no_permission_is_one_clear_message(place, pathveil, closed, out):
    def arguments(out):
        return publish_arguments(place / "taps.csv", place / "stops.csv", place / out)

    # All that is needed is imported and compiled before we give up our rights.
    assert pathveil(*arguments("open/first")).code == 0
    if closed:
        (place / closed).chmod(0)
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)  # root may do anything
    try:
        result = pathveil(*arguments(out))
    finally:
        os.seteuid(before)
    assert (result.code, result.out) == (2, "")
    (message,) = result.err.splitlines()
    assert message.startswith("error: Can't ")
    assert message.endswith(f"{closed or out}: Permission denied.")
    assert [path.name for path in (place / "open").iterdir()] == ["first"]


# Bundles that are not what they say

FILES = [
    *("trajectories.parquet", "prefix_tree.parquet", "locations.csv", "trajectories.csv"),
    *("datapackage.json", "report.html"),
]
COMMANDS = {
    "verify": ["verify"],
    "count": ["count", "S0001"],
    "patterns": ["patterns"],
}


@pytest.fixture(params=COMMANDS)
def every_reader_refuses(request, refuses):
    """Each command that reads a bundle must refuse this one."""
    name, *more = COMMANDS[request.param]
    return lambda bundle, says: refuses(name, bundle, *more, says=says)


@pytest.mark.parametrize("file", [*FILES, "privacy-certificate.json"])
def test_a_bundle_with_a_changed_file_is_refused(release, every_reader_refuses, file):
    content = (release / file).read_bytes()
    (release / file).write_bytes(content[:-3] + b"?" + content[-3:])
    says = "schema" if file.endswith("certificate.json") else f"{file} was changed"
    every_reader_refuses(release, says)


@pytest.mark.parametrize("file", FILES)
def test_a_bundle_with_a_missing_file_is_refused(release, refuses, file):
    (release / file).unlink()
    refuses("verify", release, says=file)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nowhere", "not a release"),
        (".", "not a release"),
        ("taps.csv", "taps.csv is a file; a release is a folder"),
        ("x" * 300, "too long"),
        ("a\0b", "null byte"),
    ],
)
@pytest.mark.usefixtures("small")
def test_what_is_not_a_bundle_is_refused(every_reader_refuses, path, says):
    every_reader_refuses(path, says)


@pytest.mark.parametrize("name", ["extra.txt", "raw.csv", ".hidden"])
def test_a_file_that_was_added_is_refused(release, refuses, name):
    (release / name).write_text("hello")
    refuses("verify", release, says=name)

    def list_it(certificate):
        certificate["files"][name] = {"sha256": "0" * 64, "bytes": 5}

    edit_certificate(release, list_it)
    rehash(release)
    refuses("verify", release, says=name)


def test_internal_figures_inside_a_bundle_are_refused(release, every_reader_refuses):
    (release / "INTERNAL-evaluation.json").write_text("{}")
    every_reader_refuses(release, "must not be published")


def test_a_folder_where_a_file_should_be_is_refused(release, refuses):
    (release / "report.html").unlink()
    (release / "report.html").mkdir()
    refuses("verify", release, says="report.html")


def set_at(certificate, path, value):
    *parents, last = path.split(".")
    for name in parents:
        certificate = certificate[name]
    certificate[last] = value


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("status", "VERY PRIVATE", "at status"),
        ("certificate_version", "2", "at certificate_version"),
        ("seed", 7, "at seed"),
        ("privacy_loss.privacy_parameters.epsilon", 0.5, "at privacy_loss"),
        ("privacy_loss.privacy_parameters.epsilon", "1/0", "at privacy_loss"),
        ("privacy_loss.privacy_parameters.epsilon", "1", "does not add up"),
        ("dp_flavor.bound_on_output_distance", "1", "does not add up"),
        ("accounting.budget", [], "does not add up"),
        ("implementation.height", 5, "does not add up"),
        ("implementation.height", 1, "higher than the certificate says"),
        ("implementation.height", 10**15, "height"),
        ("implementation.threshold", 10**6, "threshold"),
        ("implementation.threshold", 0, "threshold"),
        ("implementation.max_trajectories_per_unit", 2, "words"),
        ("implementation.method", "basic", "not follow"),
        ("implementation.universe_size", 31, "disagree about |L|"),
        ("implementation.max_nodes", 1, "parameters"),
        ("dp_flavor.unprotected_quantities", [], "words"),
        ("status", "NOT PRIVATE", "NOT-PRIVATE.txt"),
        ("files", {}, "does not list"),
        ("files.report\\.html", None, "at files"),
    ],
)
def test_an_edited_certificate_is_refused(release, refuses, path, value, says):
    edit_certificate(release, lambda c: set_at(c, path.replace("\\.html", ""), value))
    refuses("verify", release, says=says)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", '{"files": ' + "[" * 100_000])
def test_a_certificate_that_is_not_json_is_refused(release, refuses, text):
    (release / "privacy-certificate.json").write_text(text)
    refuses("verify", release, says="schema")


def test_an_injected_release_can_not_be_passed_off_as_private(not_private, refuses):
    (not_private / "NOT-PRIVATE.txt").unlink()

    def claim(certificate):
        certificate["status"] = "PRIVATE"
        del certificate["files"]["NOT-PRIVATE.txt"]

    edit_certificate(not_private, claim)
    refuses("verify", not_private, says="disagree on whether it is private")


# Bundles whose hashes fit, so that only the meaning of their files can give them away


def rewrite_tree(bundle, change):
    path = bundle / "prefix_tree.parquet"
    columns = pq.read_table(path).to_pydict()
    change(columns)
    schema = pq.read_schema(path)
    pq.write_table(pa.table(columns, schema=schema), path)
    rehash(bundle)


def child_above_parent(columns):
    child = columns["level"].index(2)
    columns["estimate"][child] = columns["estimate"][columns["parent"][child]] + 1


def swap_first_two(columns):
    for values in columns.values():
        values[0], values[1] = values[1], values[0]


def set_first(column, value):
    return lambda columns: columns[column].__setitem__(0, value)


def set_last(column, value):
    return lambda columns: columns[column].__setitem__(-1, value)


TREES = {
    "children above their parent": (child_above_parent, "below the sum of its children"),
    "a negative estimate": (set_last("estimate", -1), "negative"),
    "not in canonical order": (swap_first_two, "canonical order"),
    "a noisy count below the threshold": (set_first("noisy_count", 0), "below the threshold"),
    "a parent after its child": (set_first("parent", 5), "does not come before"),
    "a parent out of range": (set_last("parent", 10**9), "does not come before"),
    "a parent of -2": (set_first("parent", -2), "does not come before"),
    "a level too many": (set_last("level", 9), "level"),
    "a location nobody knows": (set_first("location", "S9999"), "do not have"),
    "a location twice": (lambda c: set_first("location", c["location"][1])(c), "canonical order"),
    "an estimate that changes the rows": (
        lambda c: set_first("estimate", c["estimate"][0] + 1)(c),
        "trajectories are not those",
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_that_is_none_is_refused_though_its_hash_fits(release, refuses, name):
    change, says = TREES[name]
    rewrite_tree(release, change)
    refuses("verify", release, says=says)


OTHER_TABLES = {
    "a column is missing": {"parent": [-1]},
    "numbers for labels": {
        "parent": [-1],
        "level": pa.array([1], pa.int32()),
        "location": [1],
        "noisy_count": [50],
        "estimate": [50],
    },
    "a missing value": {
        "parent": [-1],
        "level": pa.array([1], pa.int32()),
        "location": ["S0001"],
        "noisy_count": pa.array([None], pa.int64()),
        "estimate": [50],
    },
}


@pytest.mark.parametrize("file", ["prefix_tree.parquet", "trajectories.parquet"])
@pytest.mark.parametrize("name", OTHER_TABLES)
def test_a_table_with_other_columns_is_refused_though_its_hash_fits(release, refuses, file, name):
    parquet(release / file, **OTHER_TABLES[name])
    rehash(release)
    refuses("verify", release, says="does not have the columns of a release")


@pytest.mark.parametrize("file", ["prefix_tree.parquet", "trajectories.parquet"])
def test_a_table_that_is_no_parquet_file_is_refused_though_its_hash_fits(release, refuses, file):
    (release / file).write_bytes(b"PAR1 and then nothing")
    rehash(release)
    refuses("verify", release, says="not a readable Parquet file")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("report.html", "differential privacy", "great privacy", "does not follow"),
        ("datapackage.json", "Every count is noisy", "Every count is exact", "does not follow"),
        ("trajectories.csv", "count,location_1", "number,location_1", "does not follow"),
        ("locations.csv", "Avenue 1", "Avenue 99", "does not follow"),
        ("locations.csv", "S0000", "S9999", "location"),
        ("locations.csv", "location,", "place,", "not a list of locations"),
        ("locations.csv", "S0001", "S0000", "not a list of locations"),
    ],
)
def test_a_text_that_tells_another_story_is_refused_though_its_hash_fits(
    release, refuses, file, old, new, says
):
    text = (release / file).read_text(encoding="utf-8")
    assert old in text
    (release / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    rehash(release)
    refuses("verify", release, says=says)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'location\n"', b"location\n"])
def test_a_list_of_locations_that_is_none_is_refused(release, refuses, content):
    (release / "locations.csv").write_bytes(content)
    rehash(release)
    refuses("verify", release, says="not a list of locations")


# Questions that can't be answered


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["count", "S001"], "Did you mean"),
        (["count", ""], "no location ''"),
        (["count", "S0001", "--ordered", "--prefix"], "Choose one"),
        (["patterns", "-k", "0"], "k must be"),
        (["patterns", "-k", "-1"], "k must be"),
        (["patterns", "--min-length", "0"], "min_length"),
        (["patterns", "--min-length", "3", "--max-length", "2"], "max_length"),
    ],
)
def test_a_question_that_can_not_be_answered_is_refused(release, refuses, arguments, says):
    command, *more = arguments
    refuses(command, release, *more, says=says)


@pytest.mark.usefixtures("small")
def test_a_failure_of_ours_names_its_place_and_not_its_message(pathveil, monkeypatch):
    def broken(*_arguments, **_options):
        raise RuntimeError("what a person's row says")

    monkeypatch.setattr(pv.Universe, "read", broken)
    result = pathveil(*publish_arguments())
    assert result.code == 70
    assert "RuntimeError in broken" in result.err
    assert "person" not in result.err
    assert "Traceback" not in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.usefixtures("small")
def test_out_of_memory_is_one_clear_message(pathveil, monkeypatch):
    def hungry(*_arguments, **_options):
        raise MemoryError

    monkeypatch.setattr(pv.Universe, "read", hungry)
    result = pathveil(*publish_arguments())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: Out of memory.")


@pytest.mark.usefixtures("small")
def test_json_output_is_not_mixed_with_errors(pathveil):
    result = pathveil(*publish_arguments("nowhere.csv"), "--json")
    assert (result.code, result.out) == (2, "")
    good = pathveil(*publish_arguments(), "--json")
    assert json.loads(good.out)["status"] == "PRIVATE"


@pytest.mark.usefixtures("small")
def test_only_a_rehearsal_does_without_a_place_for_the_release(refuses, pathveil):
    refuses(*publish_arguments(out=None), says="Missing option '--out' / '-o'")
    assert pathveil(*publish_arguments(out=None), "--dry-run").code == 0
    refuses(*publish_arguments(out="taps.csv"), "--dry-run", says="exists already")
