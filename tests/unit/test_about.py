"""What the publisher says of a release: checked, repeated everywhere, and never markup."""

import json
import shutil

import pytest
from tests.commands import edit_certificate

import pathveil as pv
from pathveil.errors import ParameterError, ReleaseError
from pathveil.promise.certificate import Certificate
from pathveil.promise.citation import cite
from pathveil.release.bundle import verify_bundle

SAID = {
    "title": 'Taps <of> March & "more"',
    "publisher": "Stadtwerke {100% Öko}_\\x",
    "licence": "CC-BY-4.0",
    "contact": "data@city.example",
    "period": "2026-03-02/2026-03-08",
    "city": "Köln",
}
UNIVERSE = pv.Universe(["a", "b", "c"])


def release(**choices):
    database = pv.TrajectoryDatabase.from_sequences([["a", "b"], ["c"]] * 60, UNIVERSE)
    return pv.publish(database, epsilon="1", height=2, method="full", **choices)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return release(about=SAID).write(tmp_path_factory.mktemp("about") / "release")


def test_all_of_it_stands_on_certificate_data_package_and_page(bundle):
    certificate = json.loads((bundle / "privacy-certificate.json").read_text(encoding="utf-8"))
    assert certificate["about"] == SAID
    package = json.loads((bundle / "datapackage.json").read_text(encoding="utf-8"))
    assert package["title"] == SAID["title"]
    assert package["licenses"] == [{"name": "CC-BY-4.0"}]
    assert package["contributors"] == [
        {"title": SAID["publisher"], "role": "publisher", "email": "data@city.example"}
    ]
    assert (package["period"], package["city"]) == (SAID["period"], "Köln")
    page = (bundle / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>Taps &lt;of&gt; March &amp; &#34;more&#34;</bdi></h1>" in page
    assert "<of>" not in page
    for text in ("Stadtwerke {100% Öko}_\\x", "CC-BY-4.0", "data@city.example", "Köln"):
        assert f"<dd><bdi>{text}</bdi></dd>" in page
    assert verify_bundle(bundle).about == pv.About(**SAID)
    assert pv.read_release(bundle).about == pv.About(**SAID)


def test_a_citation_has_what_was_said_and_nothing_that_tex_obeys():
    told = cite(release(about=SAID).certificate)
    assert told.line.startswith('Stadtwerke {100% Öko}_\\x. ([year]). Taps <of> March & "more" (')
    assert "(Köln, 2026-03-02/2026-03-08)" in told.line
    assert "licence CC-BY-4.0" in told.line
    assert r"{{Stadtwerke 100\% Öko\_\textbackslash{}x}}" in told.bibtex
    assert told.missing == ("[year]", "[URL]")
    assert told.bibtex.count("{") == told.bibtex.count("}")


def test_nothing_said_is_nothing_on_the_page_or_the_package(tmp_path):
    bundle = release().write(tmp_path / "release")
    package = json.loads((bundle / "datapackage.json").read_text(encoding="utf-8"))
    assert package.keys() == {"profile", "name", "title", "description", "resources"}
    assert (
        json.loads((bundle / "privacy-certificate.json").read_text(encoding="utf-8"))["about"]
        is None
    )
    assert 'class="about"' not in (bundle / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("title", "Another title"),
        ("title", "two\nlines"),
        ("contact", "javascript:alert(1)"),
        ("publisher", "x" * 201),
        ("mayor", "somebody"),
    ],
)
def test_a_bundle_whose_certificate_says_something_else_is_refused(bundle, tmp_path, name, text):
    bundle = shutil.copytree(bundle, tmp_path / "release")
    edit_certificate(bundle, lambda certificate: certificate["about"].update({name: text}))
    with pytest.raises(ReleaseError, match=r"does not (follow|match)"):
        verify_bundle(bundle)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"title": "a\nb"}, "control character"),
        ({"title": "a\u202eb"}, "turns the direction"),
        ({"city": "\x1b[31mred"}, "control character"),
        ({"title": ""}, "empty"),
        ({"title": " a"}, "space"),
        ({"publisher": "x" * 201}, "longer than 200"),
        ({"publisher": 7}, "text, not a int"),
        ({"licence": "our own, see below"}, "SPDX"),
        ({"licence": "javascript:alert(1)"}, "SPDX"),
        ({"contact": "me"}, "e-mail"),
        ({"contact": "https://a b"}, "e-mail"),
        ({"period": "March 2026"}, "2026-03"),
        ({"period": "2026-02-30"}, "2026-03"),
        ({"period": "2026-03/2026-02"}, "ends before"),
        ({"period": "2026/2027/2028"}, "2026-03"),
        ({"mayor": "x"}, "title, publisher, licence"),
        (7, "TOML"),
    ],
)  # fmt: skip
def test_what_can_not_be_said_is_refused_in_words(said, message):
    with pytest.raises(ParameterError, match=message):
        pv.About.of(said)


def test_a_file_is_read_and_a_wrong_one_refused(tmp_path):
    file = tmp_path / "about.toml"
    file.write_text(
        '\ufefftitle = "Taps"\nlicence = "https://city.example/licence"\n', encoding="utf-8"
    )
    assert dict(pv.About.of(file)) == {"title": "Taps", "licence": "https://city.example/licence"}
    for content in (b"title = Taps", b'title = "\xff"', b"title = 7"):
        file.write_bytes(content)
        with pytest.raises(ParameterError):
            pv.About.of(file)
    with pytest.raises(ParameterError, match="Can't read"):
        pv.About.of(tmp_path / "none.toml")


def test_what_is_said_changes_no_word_of_the_promise():
    plain, told = release().certificate, release(about=SAID).certificate
    assert told.model_copy(update={"about": None}) == plain
    assert Certificate.model_validate_json(told.model_dump_json()) == told
