"""The documentation builds as a site without a warning, and loads nothing from elsewhere."""

import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from tests.docs.blocks import ROOT, read

import pathveil as pv

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
ELSEWHERE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
LARGEST_PICTURE = 200_000  # bytes


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as ``make docs`` does."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


class Loads(HTMLParser):
    """What a page loads by itself, without a click."""

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        address = dict(attrs).get(LOADED.get(tag, ""))
        if address:
            self.addresses.append(address)


def loaded_from_elsewhere(path):
    """The addresses of other machines that a page or a style sheet loads."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        styles = " ".join(re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL))
        addresses = Loads(text).addresses
    else:
        styles, addresses = text, []
    addresses += re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]+)", styles)
    return [address for address in addresses if ELSEWHERE.match(address)]


def test_nothing_is_loaded_from_the_network(site):
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    assert len(files) > 30
    found = {path.name: loaded_from_elsewhere(path) for path in files}
    assert {name: addresses for name, addresses in found.items() if addresses} == {}


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://example.org/a.js"></script>',
        '<img src="//example.org/a.png">',
        '<link rel="stylesheet" href="http://example.org/a.css">',
        "<style>@import 'https://example.org/a.css';</style>",
        "<style>a{background:url(https://example.org/a.png)}</style>",
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(page, tmp_path):
    (tmp_path / "page.html").write_text(page + '<a href="https://example.org">a link</a>')
    assert len(loaded_from_elsewhere(tmp_path / "page.html")) == 1


def test_every_page_is_in_the_navigation():
    """MkDocs warns of one that is not; this says which, without building."""
    listed = set(re.findall(r": (\S+\.md)$", read("mkdocs.yml"), re.MULTILINE))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert pages == listed


def test_the_reference_has_every_public_name():
    homes = {f"{home}.{name}" for name, home in pv._HOMES.items()} | {"pathveil.errors"}
    assert set(re.findall(r"^::: (\S+)$", read("docs/reference.md"), re.MULTILINE)) == homes


def test_every_name_of_the_reference_is_on_its_page(site):
    page = (site / "reference.html").read_text(encoding="utf-8")
    missing = [name for name in pv.__all__ if not re.search(rf'id="pathveil\.[\w.]*{name}"', page)]
    assert missing == []


def test_pictures_are_small_and_used():
    used = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    pictures = list((ROOT / "docs" / "pictures").iterdir())
    assert [p.name for p in pictures if p.stat().st_size > LARGEST_PICTURE] == []
    assert [p.name for p in pictures if f"pictures/{p.name}" not in used] == []


@pytest.mark.parametrize(
    "script", ["make_figures", pytest.param("make_pictures", marks=pytest.mark.long)]
)
def test_pictures_are_what_their_script_draws(script, tmp_path, monkeypatch):
    """If this fails, run the script."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = runpy.run_path(str(ROOT / "docs" / f"{script}.py"))
    monkeypatch.setitem(made["main"].__globals__, "PICTURES", tmp_path)
    made["main"]()
    drawn = list(tmp_path.iterdir())
    kept = ROOT / "docs" / "pictures"
    assert len(drawn) >= 4
    assert [p.name for p in drawn if p.read_bytes() != (kept / p.name).read_bytes()] == []


def test_every_picture_has_words_for_who_does_not_see_it():
    for path in (ROOT / "docs").rglob("*.md"):
        for words in re.findall(r"!\[([^\]]*)\]\(", path.read_text(encoding="utf-8")):
            assert len(words) > 10, path.name
