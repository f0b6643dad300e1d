"""``pathveil report``: the page goes where one says, and never into a bundle."""

import shutil
import webbrowser
from pathlib import Path

import pytest
from tests.commands import tree_of_files


def test_the_page_is_the_one_in_the_bundle_and_the_bundle_stays_whole(pathveil, release, folder):
    result = pathveil("report", release, "--out", "pages/page.html")
    assert result.code == 0
    assert result.out == "Wrote pages/page.html.\n"
    page = (folder / "pages/page.html").read_bytes()
    assert page == (release / "report.html").read_bytes()
    assert pathveil("verify", release).code == 0


def test_json_says_where_it_is(pathveil, release):
    result = pathveil("report", release, "--out", "page.html", "--json")
    assert result.json() == {"file": "page.html", "opened": False, "status": "PRIVATE"}


def test_open_shows_a_page_that_is_drawn_anew_and_never_the_one_in_the_bundle(
    pathveil, release, folder, monkeypatch
):
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not shown.append(address))
    before = tree_of_files(folder)
    assert pathveil("report", release, "--open").code == 0
    page = Path(shown[0].removeprefix("file://"))
    assert page.is_relative_to(folder.parent / "temporary")
    assert page.parent.stat().st_mode & 0o777 == 0o700
    assert page.read_bytes() == (release / "report.html").read_bytes()
    assert tree_of_files(folder) == before


def test_without_a_browser_the_command_says_what_to_do(refuses, release, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda _address: False)
    refuses("report", release.name, "--open", says="write the page with --out FILE")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--out FILE"),
        (["--out", "release/report.html", "--force"], "is a release bundle"),
        (["--out", "release/page.html"], "is a release bundle"),
        (["--out", "taken.html"], "exists already"),
        (["--out", "."], "is a folder"),
        (["--out", "taken.html/page.html"], "Could not write"),
    ],
)
def test_what_can_not_be_written_is_refused(refuses, release, folder, arguments, says):
    (folder / "taken.html").write_text("mine")
    refuses("report", release.name, *arguments, says=says)
    assert (folder / "taken.html").read_text() == "mine"


def test_force_replaces_a_file(pathveil, release, folder):
    (folder / "taken.html").write_text("mine")
    assert pathveil("report", release, "--out", "taken.html", "--force").code == 0
    assert "<!doctype html>" in (folder / "taken.html").read_text(encoding="utf-8")


def test_a_damaged_bundle_has_no_page(refuses, release):
    with (release / "report.html").open("a", encoding="utf-8") as page:
        page.write("<p>more</p>")
    refuses("report", release, "--out", "page.html", says="report.html")
    shutil.rmtree(release)
    refuses("report", release, "--out", "page.html", says="is not a release")


def test_a_release_that_is_not_private_says_so(pathveil, not_private, folder):
    result = pathveil("report", not_private, "--out", "page.html")
    assert result.out.startswith("NOT PRIVATE")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("NOT PRIVATE") >= 3
