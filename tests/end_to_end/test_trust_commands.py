"""explain, audit, keygen, sign and registry through the command line."""

import json
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from tests.commands import publish_arguments
from tests.privacy import mutants

from pathveil.gate import measure as gate

DOCS = Path(__file__).parents[2] / "docs"
PLAN = ["--plan", "--universe-size", "1012", "--epsilon", "1", "--height", "12"]


# Explain


def test_a_release_and_its_plan_are_explained_alike(pathveil, release):
    told = pathveil("explain", release)
    assert told.code == 0
    for words in ("73.106%", "88.080%", "several", "What is outside the guarantee", "universe"):
        assert words in pathveil("explain", *PLAN).out
    plan = [
        "--plan",
        "--universe",
        "stops.csv",
        "--epsilon",
        "4",
        "--height",
        "4",
        "--method",
        "full",
    ]
    shutil.copy(release / "locations.csv", "stops.csv")
    assert pathveil("explain", *plan).out == told.out
    assert pathveil("explain", release, "--json").json()["epsilon"] == "4"


@pytest.mark.parametrize("method", ["basic", "full", "calibrated"])
def test_a_plan_is_explained_for_every_method(pathveil, method):
    facts = pathveil("explain", *PLAN, "--method", method, "--json").json()
    choices = next(p for p in facts["passages"] if p["title"] == "The public choices")
    assert ["method", method] in choices["table"]["rows"]


@pytest.mark.parametrize("word", ["shapes", "actions", "reach"])
def test_a_word_for_a_table_is_explained_where_it_stands(pathveil, word):
    facts = pathveil("explain", *PLAN, "--json").json()
    tables = [p["table"]["rows"] for p in facts["passages"] if p["table"]]
    (row,) = [row for rows in tables for row in rows if row[0].startswith(word)]
    assert re.match(rf"{word}: \w+( \w+)+", row[0])


def test_an_injected_release_is_explained_as_not_private(pathveil, not_private):
    assert pathveil("explain", not_private).out.startswith("NOT PRIVATE")


def test_a_question_that_is_not_one_is_refused(refuses, release):
    refuses("explain", says="either a release or --plan")
    refuses("explain", release, *PLAN, says="either a release or --plan")
    refuses("explain", release, "--epsilon", "1", says="its own parameters")
    refuses("explain", "--plan", "--universe-size", "9", says="--epsilon")
    refuses(
        "explain",
        *PLAN[:1],
        "--epsilon",
        "1",
        "--universe-size",
        "9",
        "--method",
        "full",
        says="height",
    )
    refuses("explain", *PLAN, "--universe", "x.csv", says="either --universe")
    refuses("explain", "nowhere", says="not a release")
    (release / "report.html").write_text("changed")
    refuses("explain", release, says="changed")


# Audit


def test_the_audit_passes_and_says_what_it_did(pathveil):
    result = pathveil("audit", "--runs", 64, "--json")
    assert result.code == 0, result
    facts = result.json()
    assert facts["passed"] is True
    assert facts["false_alarm_probability"] == 1e-6
    assert facts["versions"]["pathveil"]
    assert len(facts["parts"]) == 8
    assert facts["tests"] == sum(part["tests"] for part in facts["parts"]) > 2000
    for part in facts["parts"]:
        assert all(line["lower_bound"] <= 8 for line in part["lines"])
    assert any("not a proof" in limit for limit in facts["what_an_audit_can_not_show"])


def test_the_audit_of_one_method_at_one_height(pathveil):
    result = pathveil("audit", "--runs", 64, "--method", "full", "--height", 2, "--epsilon", "1/2")
    assert result.code == 0
    assert "height 2" in result.out
    assert "1/2" in result.out
    assert "No alarm" in result.out
    assert "calibrated" not in result.out.split("An audit can't show")[0]


@pytest.mark.parametrize("kind", ["html", "md"])
def test_the_report_is_a_file_for_the_reviewer(pathveil, refuses, kind):
    file = Path(f"audit.{kind}")
    assert pathveil("audit", "--runs", 64, "--method", "basic", "--out", file).code == 0
    text = file.read_text(encoding="utf-8")
    for words in ("No alarm", "short-on-long", "false alarm", "1e-06", "numba", "an audit can"):
        assert words in text.replace("&#39;", "'"), words
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    refuses("audit", "--out", file, says="never overwritten")


def test_a_broken_gate_raises_an_alarm_and_exits_with_1(pathveil, monkeypatch):
    mutants.threshold_on_the_true_count(monkeypatch)
    result = pathveil("audit", "--runs", 512, "--method", "full", "--out", "alarm.html")
    assert result.code == 1, result
    assert "ALARM" in result.out
    assert result.err == ""
    assert "ALARM" in Path("alarm.html").read_text(encoding="utf-8")
    facts = pathveil("audit", "--runs", 512, "--method", "full", "--height", 1, "--json")
    assert facts.code == 1
    assert facts.json()["passed"] is False


@pytest.mark.long
def test_empties_that_are_never_sampled_raise_an_alarm(pathveil, monkeypatch):
    mutants.empties_never_sampled(monkeypatch)
    assert pathveil("audit", "--runs", 4096, "--method", "full", "--height", 1).code == 1


def test_a_table_without_noise_raises_an_alarm(pathveil, monkeypatch):
    exact = lambda counts, epsilon, _randomness: gate.NoisyTable(
        gate.np.arange(len(counts)), counts, len(counts), epsilon
    )
    monkeypatch.setattr(gate, "dense_table", exact)
    result = pathveil("audit", "--runs", 256, "--method", "calibrated", "--out", "alarm.md")
    assert result.code == 1
    assert "| total |" in Path("alarm.md").read_text(encoding="utf-8")


def test_an_audit_that_can_not_run_is_refused(refuses, release):
    refuses("audit", "--method", "best", says="one of all")
    refuses("audit", "--runs", 3, says="64")
    refuses("audit", "--epsilon", "many", says="Epsilon")
    refuses("audit", "--out", "audit.pdf", says=".html or .md")
    refuses("audit", "--out", "nowhere/audit.md", says="no folder")
    refuses("audit", "--out", release / "audit.md", says="inside a release")


# Signatures


@pytest.fixture
def key(pathveil):
    assert pathveil("keygen", "city.key").code == 0
    return "city.key"


def test_a_signed_release_names_who_signed(pathveil, release, key):
    assert stat.S_IMODE(Path(key).stat().st_mode) == 0o600
    signed = pathveil("sign", release, "--key", key, "--signer", "City Transit")
    assert signed.code == 0
    told = pathveil("verify", release).out
    assert "calls themselves 'City Transit', with a key unknown to you" in told
    assert "The name proves nothing" in told
    told = pathveil("verify", release, "--public-key", "city.key.pub")
    assert "Signed with the public key that you gave, as 'City Transit'." in told.out
    facts = pathveil("verify", release, "--public-key", "city.key.pub", "--json").json()
    assert facts["signature"]["key_is_known"] is True
    for command in (["count", release, "S0001"], ["patterns", release], ["explain", release]):
        assert pathveil(*command).code == 0


def test_an_unsigned_release_is_said_to_be_unsigned(pathveil, refuses, release, key):
    assert "Not signed" in pathveil("verify", release).out
    assert pathveil("verify", release, "--json").json()["signature"] is None
    refuses("verify", release, "--public-key", f"{key}.pub", says="is not signed")


def test_another_key_and_a_changed_byte_are_found(pathveil, refuses, release, key):
    pathveil("keygen", "other.key")
    pathveil("sign", release, "--key", key, "--signer", "City Transit")
    refuses("verify", release, "--public-key", "other.key.pub", says="another key")
    certificate = release / "privacy-certificate.json"
    certificate.write_bytes(certificate.read_bytes() + b"\n")
    refuses("verify", release, says="privacy-certificate.json")


@pytest.mark.usefixtures("week")
def test_a_release_is_signed_as_it_is_published(pathveil, key):
    sign = ["--sign-key", key, "--signer", "City Transit"]
    assert pathveil(*publish_arguments(), *sign).code == 0
    facts = pathveil("verify", "out", "--public-key", f"{key}.pub", "--json").json()
    assert facts["signature"]["signer"] == "City Transit"


@pytest.mark.usefixtures("week")
def test_a_bad_key_is_refused_before_anything_is_read(refuses, key):
    Path("no.key").write_text("hello")
    Path("no.key").chmod(0o600)
    for sign, says in (
        (["--sign-key", "nowhere", "--signer", "x"], "Can't read the key"),
        (["--sign-key", "no.key", "--signer", "x"], "not a private key"),
        (["--sign-key", f"{key}.pub", "--signer", "x"], "chmod 600"),
        (["--sign-key", key], "--signer"),
        (["--signer", "x"], "--signer"),
        (["--sign-key", key, "--signer", "a\nb"], "control characters"),
    ):
        refuses(*publish_arguments(taps="not-there.csv"), *sign, says=says)


def test_a_release_that_is_not_private_is_not_signed(refuses, not_private, key):
    refuses("sign", not_private, "--key", key, "--signer", "x", says="NOT PRIVATE")


def test_keys_are_not_overwritten_and_never_shown(pathveil, refuses, key):
    refuses("keygen", key, says="never overwritten")
    refuses("keygen", "nowhere/key", says="Can't write the key")
    secret = "".join(Path(key).read_text().splitlines()[1:-1])
    shown = pathveil("keygen", "second.key", "--json")
    assert shown.json()["public_key"] == "second.key.pub"
    assert secret not in shown.out + shown.err


def test_without_cryptography_only_signatures_are_missing(release):
    """Reading, counting and verifying an unsigned bundle need no such package."""
    code = f"""
import sys
sys.modules["cryptography"] = None
from pathveil.cli.run import run
print("codes", run(["verify", {str(release)!r}]), run(["keygen", "some.key"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "codes 0 2"
    assert "pathveil[signing]" in done.stderr


# Registry

FACTS = [
    *("--name", "City taps", "--curator", "City Transit", "--intended-use", "Planning"),
    *("--region", "Our city", "--date", "2026-03-01", "--author", "A. Curator"),
]


def test_an_entry_for_the_registry_validates(pathveil, release):
    schema = json.loads((DOCS / "registry-entry.schema.json").read_text(encoding="utf-8"))
    entry = pathveil("registry", release, *FACTS, "--json").json()
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(entry)
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 4}
    text = pathveil("registry", release, *FACTS).out
    assert text.startswith('url_slug: "city-taps-city-transit-2026"\n')


def test_an_entry_that_can_not_be_made_is_refused(refuses, release, not_private):
    refuses("registry", release, *FACTS, "--date", "soon", says="YYYY-MM-DD")
    refuses("registry", release, *FACTS, "--sector", "Transport", says="Technology")
    refuses("registry", not_private, *FACTS, says="NOT PRIVATE")
    (release / "report.html").write_text("changed")
    refuses("registry", release, *FACTS, says="changed")


@pytest.mark.usefixtures("week")
def test_what_the_publisher_says_is_published_and_told_by_verify(pathveil, refuses):
    Path("about.toml").write_text('title = "Taps"\ncity = "Our city"\n', encoding="utf-8")
    line = [
        *publish_arguments(out="release"),
        "--about",
        "about.toml",
        "--title",
        "Taps of March",
    ]
    refuses(*line, "--period", "March", says="2026-03-02/2026-03-08")
    refuses(*line, "--licence", "\x1b[2J", says="control character")
    assert pathveil(*line).code == 0
    told = pathveil("verify", "release")
    assert "Title: Taps of March\nCity: Our city\n" in told.out
    assert pathveil("verify", "release", "--json").json()["about"] == {
        "title": "Taps of March",
        "city": "Our city",
    }
