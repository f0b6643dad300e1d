"""`make pin`: versions keep their place, hashes are all that the index has, addresses stay out."""

import json

import pytest
from tools import package_index
from tools.audit_dependencies import is_allowed
from tools.pins import Pin, as_text, read_pins

A, B, C = ("a" * 64, "b" * 64, "c" * 64)


def written(tmp_path, text):
    path = tmp_path / "requirements.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_pins_are_read_back_as_they_were_written(tmp_path):
    pins = [Pin("zlib_ng", "1.0", (A,)), Pin("Jinja2", "3.1.6", (A, B)), Pin("new", "2.0.post1")]
    text = as_text(pins)
    assert sorted(read_pins(written(tmp_path, text)), key=str) == sorted(pins, key=str)
    names = [line.split("==")[0] for line in text.splitlines() if "==" in line and line[0] != "#"]
    assert names == ["Jinja2", "new", "zlib_ng"]


@pytest.mark.parametrize("line", ["numpy>=2", "numpy", "numpy @ x/y.whl", "-r other.txt", "a==1 b"])
def test_what_is_no_exact_pin_is_refused(tmp_path, line):
    with pytest.raises(ValueError, match="Not a pin"):
        read_pins(written(tmp_path, f"{line}\n"))


HTML = f"""<html><body>
<a href="../../files/demo_pkg-1.0-py3-none-any.whl#sha256={A}">demo_pkg-1.0-py3-none-any.whl</a>
<a href="../../files/demo_pkg-1.0.tar.gz#sha256={B}" data-yanked="oops">demo_pkg-1.0.tar.gz</a>
<a href="../../files/demo_pkg-2.0.tar.gz#sha256={C}">demo_pkg-2.0.tar.gz</a>
<a href="../../files/demo_pkg-1.0-py2.7.egg">demo_pkg-1.0-py2.7.egg</a>
</body></html>"""
JSON = json.dumps(
    {
        "files": [
            {"filename": "demo_pkg-1.0-py3-none-any.whl", "hashes": {"sha256": A}},
            {"filename": "demo_pkg-1.0.tar.gz", "hashes": {"sha256": B}, "yanked": "oops"},
            {"filename": "demo_pkg-2.0.tar.gz", "hashes": {"sha256": C}, "yanked": False},
        ]
    }
)


def test_both_forms_of_an_index_say_the_same():
    from_html = package_index._from_html(HTML, "file:index/demo-pkg/index.html")
    from_json = package_index._from_json(JSON)
    assert from_html == from_json
    assert [(file.sha256, file.is_yanked) for file in from_html] == [
        (A, False),
        (B, True),
        (C, False),
    ]


def index(tmp_path, name, page):
    folder = tmp_path / name / "demo-pkg"
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(page, encoding="utf-8")
    return (tmp_path / name).as_uri()


def test_all_files_of_the_version_from_all_indexes(tmp_path, monkeypatch):
    more = f'<a href="demo_pkg-1.0-cp313-cp313-manylinux_2_28_aarch64.whl#sha256={C}">x</a>'
    indexes = (index(tmp_path, "one", HTML), index(tmp_path, "two", more))
    monkeypatch.setattr(package_index, "addresses", lambda: indexes)
    assert {file.sha256 for file in package_index.files_of("demo-pkg", "1.0")} == {A, B, C}
    with pytest.raises(LookupError):
        package_index.files_of("demo-pkg", "3.0")
    with pytest.raises(LookupError):
        package_index.files_of("no-such", "1.0")


def test_two_different_files_of_one_name_are_an_alarm(tmp_path, monkeypatch):
    other = HTML.replace(A, C)
    indexes = (index(tmp_path, "one", HTML), index(tmp_path, "two", other))
    monkeypatch.setattr(package_index, "addresses", lambda: indexes)
    with pytest.raises(ValueError, match="different files"):
        package_index.files_of("demo-pkg", "1.0")


@pytest.mark.parametrize(
    "licence",
    [
        *("MIT", "Apache-2.0", "BSD-3-Clause AND MIT", "LGPL-3.0-only", "MIT OR GPL-2.0-only"),
        "License :: OSI Approved :: Python Software Foundation License",
        "License :: OSI Approved :: GNU Lesser General Public License v3 (LGPLv3)",
    ],
)
def test_licences_that_are_allowed(licence):
    assert is_allowed(licence)


@pytest.mark.parametrize(
    "licence",
    [
        *("GPL-3.0-only", "AGPL-3.0", "GPL-2.0 AND MIT", "", "Proprietary", "see LICENSE"),
        "License :: OSI Approved :: GNU General Public License v3 (GPLv3)",
    ],
)
def test_licences_that_are_not(licence):
    assert not is_allowed(licence)
