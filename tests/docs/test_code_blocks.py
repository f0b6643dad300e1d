"""Every code block of the pages runs, page by page, as its reader would run it."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.docs.blocks import (
    NOT_CODE,
    ROOT,
    RUN,
    Block,
    blocks_of,
    indented_commands,
    pages,
    parts_of,
    read,
)
from tests.docs.files import FILES, NAMES
from tests.docs.server import Database
from tests.docs.shell import Command, Shell, commands_of, missing_lines
from tests.engines.cluster import Cluster, environment, find_java

import pathveil as pv

LONG = {"spark", "shared data"}  # what takes minutes, or is not everywhere
PARTS = [(page, part) for page in pages() for part in parts_of(read(page), page)]
SHARED = ROOT.parent / "shared" / "data"
NOT_RUN = [block for page in pages() for block in blocks_of(read(page), page) if block.not_run]


@pytest.fixture
def shell(folder, monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "200")
    return Shell(folder, monkeypatch, capfd)


def with_marks(page, part):
    """A page's part; what is long runs with `make test-all` only."""
    wishes = {name for step in part if not isinstance(step, Block) for name in step.names}
    marks = [pytest.mark.long] if wishes & LONG else []
    if "spark" in wishes:  # it warns of itself
        marks.append(pytest.mark.filterwarnings("ignore"))
    return pytest.param((page, part), marks=marks, id=f"{page}:{part[0].line}")


@pytest.fixture
def spark(tmp_path, monkeypatch):
    """A cluster of one worker, whose Python is ours."""
    if (problem := find_java()) is not None:
        pytest.skip(problem)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    with Cluster(tmp_path, workers=1, has_session=False) as running:
        yield running


@pytest.fixture
def database(server):
    made = Database(server)
    yield made
    made.close()


@pytest.mark.parametrize("part", [with_marks(*part) for part in PARTS])
def test_the_blocks_of_a_page_run(part, shell, request):
    reader = Reader(shell, request)
    for step in part[1]:
        if isinstance(step, Block):
            reader.run(step)
        elif step.kind == "files":
            reader.begin(step.names)
        else:
            reader.know(step.names)


class Reader:
    """Somebody who follows a page: in a folder, with a shell and a Python session."""

    def __init__(self, shell, request):
        self._shell = shell
        self._request = request
        self._replace = {}
        self._server = self._cluster = None
        self.known = {"pv": pv}

    def begin(self, files):
        """Begin in a new folder with these files."""
        self._shell.begin()
        self._replace = {}
        if "server" in files:
            self._server = self._request.getfixturevalue("database")
            self._replace |= self._server.addresses
        if "spark" in files:
            self._cluster = self._request.getfixturevalue("spark")
            self._replace |= {
                "spark://host:7077": self._cluster.master,
                "/shared/taps": str(Path.cwd() / "taps"),
            }
        if "shared data" in files and not SHARED.exists():
            pytest.skip("the shared data is not here")
        for name in files:
            if name not in LONG | {"server"}:
                self._replace |= FILES[name]() or {}

    def know(self, names):
        """Have these names at hand in Python."""
        self.known |= {name: NAMES[name]() for name in names if name != "spark_df"}
        if "spark_df" in names:
            self._cluster.session = self._cluster._start_session()
            self.known["spark_df"] = self._cluster.session.read.parquet("taps")

    def run(self, block):
        text = block.text
        for shown, real in self._replace.items():
            text = text.replace(shown, real)
        if block.language == "python":
            exec(compile(text, str(block), "exec"), self.known)
        elif block.language == "sql":
            self._server.run(text)
        else:
            run_commands(replace(block, text=text), self._shell)


def run_commands(block, shell):
    for command in commands_of(block):
        result = shell.run(command)
        said = result.out + result.err
        assert result.code == command.expected_code, f"{block}: $ {command.text}\n{said}"
        assert missing_lines(command.shown, said) == [], f"{block}: $ {command.text}\n{said}"
        if command.text.startswith("ls ") and command.shown:  # a list of files is a whole one
            assert said.split() == list(command.shown), f"{block}: $ {command.text}\n{said}"


@pytest.mark.parametrize("page", pages())
def test_every_block_says_what_it_is(page):
    text = read(page)
    unknown = [
        f"{block}: {block.language!r}"
        for block in blocks_of(text, page)
        if block.language not in RUN | NOT_CODE
    ]
    assert unknown == []
    assert indented_commands(text) == []


def test_every_block_is_run():
    assert NOT_RUN == []


def block(language, text):
    return Block("a page", 1, language, text, None)


def test_blocks_are_found_with_their_languages_and_reasons():
    text = "a\n\n<!-- not run: too long -->\n```sh\nx\n```\n\n- b\n\n  ```python\n  y\n  ```\n"
    first, second = blocks_of(text)
    assert (first.language, first.text, first.not_run, first.line) == ("sh", "x\n", "too long", 4)
    assert (second.language, second.text, second.not_run) == ("python", "y\n", None)


def test_a_page_is_taken_apart_where_it_wishes_for_files():
    text = (
        "<!-- files: a, b -->\n```sh\nx\n```\n<!-- files: c -->\n<!-- names: d -->\n```sh\ny\n```\n"
    )
    first, second = parts_of(text)
    assert [step.names for step in (first[0], *second[:2])] == [["a", "b"], ["c"], ["d"]]
    assert [step.text for step in (first[1], second[2])] == ["x\n", "y\n"]
    assert parts_of("<!-- files: a -->\n```text\nx\n```\n") == []


def test_an_indented_command_is_found():
    assert indented_commands("text\n\n    pathveil demo\n") == ["pathveil demo"]
    assert indented_commands("text\n\n```sh\na\n\n    pathveil demo\n```\n") == []


def test_a_console_block_is_commands_and_what_they_print():
    text = "$ one \\\n    two\n  line\n\n$ three\nerror: no\n"
    first, second = commands_of(block("console", text))
    assert (first.text.split(), first.shown, first.expected_code) == (
        ["one", "two"],
        ("  line",),
        0,
    )
    assert second == Command("three", ("error: no",))
    assert second.expected_code == 2


def test_lines_are_compared_in_order_with_dots_for_anything():
    assert missing_lines(["a …", "c"], "a   1\nb\nc") == []
    assert missing_lines(["c", "a …"], "a 1\nb\nc") == ["a …"]
    assert missing_lines(["│ x │ … │"], "│ x │    12 │") == []


@pytest.mark.parametrize(
    "text",
    [
        "$ pathveil verify nothing-here",
        "$ pathveil universe codes:1..9\nnine million",
        "$ false",
        "$ mkdir march && touch march/one march/two\n$ ls march\none",
    ],
)
def test_a_wrong_block_fails(shell, text):
    with pytest.raises(AssertionError):
        run_commands(block("console", text), shell)


@pytest.mark.parametrize("text", ["pip install 'pathveil[nothing]'", "pip install pathveil"])
def test_an_extra_that_we_do_not_have_fails(shell, text):
    with pytest.raises(AssertionError):
        run_commands(block("sh", text), shell)
