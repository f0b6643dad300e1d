"""What the package index that pip is configured with says about the files of a version.

The addresses are pip's own, asked for when this runs and never written down. Both forms of the
simple index are read, HTML and JSON.
"""

import json
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

# pip's own copy: this must run before anything is installed.
from pip._vendor.packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import InvalidVersion, Version

ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
TIMEOUT = 60


@dataclass(frozen=True)
class IndexedFile:
    """A wheel or source archive.

    Attributes:
        name: of the file.
        version: that it holds.
        sha256: in hexadecimal; None if the index does not say.
        is_yanked: whether its authors took it back.
    """

    name: str
    version: Version
    sha256: str | None
    is_yanked: bool


def files_of(key: str, version: str) -> list[IndexedFile]:
    """All files of one version, from all indexes that pip looks at.

    Raises:
        LookupError: if no index has the project.
        ValueError: if two indexes have different files of one name.
    """
    found: dict[str, IndexedFile] = {}
    for index in addresses():
        for file in _listed(index, key):
            if file.version != Version(version):
                continue
            other = found.setdefault(file.name, file)
            if file.sha256 and other.sha256 and file.sha256 != other.sha256:
                raise ValueError(f"Two indexes have different files called {file.name}.")
    if not found:
        raise LookupError(f"No index that pip looks at has {key} {version}.")
    return list(found.values())


@cache
def settings() -> dict[str, str]:
    """Settings of pip by their bare name; the environment wins, as in pip."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    found = {}
    for line in sorted(listed.stdout.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        found[name.rpartition(".")[2]] = value.strip("'\"")
    return found


@cache
def addresses() -> tuple[str, ...]:
    """The indexes that pip looks at."""
    from pip._internal.models.index import PyPI

    asked = settings()
    main = [] if "no-index" in asked else [asked.get("index-url", PyPI.simple_url)]
    return tuple(
        address.rstrip("/") for address in (*main, *asked.get("extra-index-url", "").split())
    )


def _listed(index: str, key: str) -> list[IndexedFile]:
    page = f"{index}/{key}/"
    if page.startswith("file:"):
        page += "index.html"
    request = urllib.request.Request(page, headers={"Accept": ACCEPT})
    context = ssl.create_default_context(cafile=settings().get("cert"))
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT, context=context) as answer:
            content, kind = answer.read().decode("utf-8"), answer.headers.get_content_type()
    except urllib.error.HTTPError as error:
        if error.code == 404:  # noqa: PLR2004  (not found: another index may have it)
            return []
        raise
    except urllib.error.URLError as error:
        if isinstance(error.reason, FileNotFoundError) or page.startswith("file:"):
            return []
        raise
    return _from_json(content) if kind.endswith("json") else _from_html(content, page)


def _from_json(content: str) -> list[IndexedFile]:
    files = (
        _file(each["filename"], each["hashes"].get("sha256"), is_yanked=bool(each.get("yanked")))
        for each in json.loads(content)["files"]
    )
    return [file for file in files if file]


def _from_html(content: str, page: str) -> list[IndexedFile]:
    reader = _Links()
    reader.feed(content)
    files = []
    for attributes in reader.links:
        address, fragment = urldefrag(urljoin(page, attributes.get("href") or ""))
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        name = address.rpartition("/")[2]
        files.append(_file(name, digest, is_yanked="data-yanked" in attributes))
    return [file for file in files if file]


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links.append(dict(attrs))


def _file(name: str, sha256: str | None, *, is_yanked: bool) -> IndexedFile | None:
    """None for what is neither a wheel nor a source archive of today's spelling."""
    try:
        if name.endswith(".whl"):
            version = parse_wheel_filename(name)[1]
        else:
            version = parse_sdist_filename(name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return IndexedFile(name, version, sha256, is_yanked)
