"""The audit as something to file: JSON, Markdown or one offline HTML page."""

from pathlib import Path
from typing import Any

from pathveil.audit.software import SoftwareAudit
from pathveil.errors import ParameterError
from pathveil.pages.report import render
from pathveil.promise.certificate import CERTIFICATE_FILE

HTML, MARKDOWN = (".html", ".htm"), (".md", ".markdown")
COLUMNS = ("pair or table", "claimed ε", "lower bound found", "tests", "runs", "verdict")
PASSED = "No alarm: no attack proved that more than the claimed ε is spent."
ALARM = "ALARM: an attack proved that more than the claimed ε is spent. Do not publish with this."
HOW = (
    "Each run tosses a coin, runs the real mechanism on one of two made-up databases that differ "
    "in one unit, and lets an attacker guess the coin from what came out. Too many right guesses "
    "prove that more than ε is spent: the lower bound is a Clopper-Pearson bound, corrected for "
    "all tests and for looking several times (Bonferroni)."
)
LIMITS = (
    (
        "No alarm is not a proof of privacy. The proof is on paper (docs/method.md); the audit "
        "catches code that strays from it."
    ),
    (
        "It tries the databases, events and parameters that are listed here, and no others. A flaw "
        "that shows only elsewhere is not found."
    ),
    "A small excess needs many runs: noise that is 10% too small takes some 30,000 runs.",
    (
        "It looks at what the gate gives away. Files, messages, running time and memory are not "
        "looked at; the tests named in docs/threat-model.md are about those."
    ),
    (
        "Parameters that are chosen from data with a share of ε (an automatic height, a discovered "
        "universe) are not attacked here; tests/privacy/test_preparations.py does."
    ),
    "It runs on made-up data, and says nothing about how somebody chose parameters or a unit.",
)


def to_json(result: SoftwareAudit) -> dict[str, Any]:
    """For scripts; ε is exact text, bounds are floats."""
    return {
        "passed": result.passed,
        "verdict": PASSED if result.passed else ALARM,
        "date": result.date,
        "versions": result.versions,
        "runs_per_database": result.runs,
        "false_alarm_probability": result.false_alarm,
        "tests": sum(part.events for part in result.parts),
        "parts": [
            {
                "part": part.part,
                "claimed_epsilon": str(part.claimed_epsilon),
                "largest_lower_bound": part.strongest.lower_bound,
                "tests": part.events,
                "alarms": len(part.alarms),
                "lines": [
                    {
                        "name": line.name,
                        "claimed_epsilon": str(line.claim),
                        "lower_bound": line.strongest.lower_bound,
                        "event": line.strongest.event,
                        "guess": line.strongest.guess,
                        "tests": line.tests,
                        "runs_per_database": line.strongest.runs,
                        "alarm": line.is_alarm,
                    }
                    for line in part.lines
                ],
            }
            for part in result.parts
        ],
        "what_an_audit_can_not_show": list(LIMITS),
    }


def rows(part: dict[str, Any]) -> list[tuple[str, str, str, str, str, str]]:
    """The lines of a part of the JSON, as text under `COLUMNS`."""
    return [
        (
            line["name"],
            line["claimed_epsilon"],
            f"{line['lower_bound']:.3f}",
            f"{line['tests']:,}",
            f"{line['runs_per_database']:,}",
            "ALARM" if line["alarm"] else "no alarm",
        )
        for line in part["lines"]
    ]


def to_markdown(result: SoftwareAudit) -> str:
    """A page for a ticket or a repository."""
    facts = to_json(result)
    lines = ["# Privacy audit of pathveil", "", f"**{facts['verdict']}**", "", *_facts(facts)]
    for part in facts["parts"]:
        lines += ["", f"## {part['part'].capitalize()}", "", _row(COLUMNS)]
        lines += [_row(("---",) * len(COLUMNS)), *map(_row, rows(part))]
        lines += ["", *(_attack(line) for line in part["lines"] if line["alarm"])]
    lines += ["## How it works", "", HOW, "", "## What an audit can't show", ""]
    return "\n".join([*lines, *(f"- {limit}" for limit in LIMITS)]) + "\n"


def to_html(result: SoftwareAudit) -> str:
    """The same as a page that works offline."""
    facts = to_json(result)
    parts = [(part["part"], rows(part)) for part in facts["parts"]]
    return render(
        "audit.html", facts=facts, parts=parts, columns=COLUMNS, how=HOW, lines=_facts(facts)
    )


def check_folder(path: Path) -> None:
    """Refuse a place for the report before the audit runs.

    Raises:
        ParameterError: if its name says neither HTML nor Markdown, or it is taken.
    """
    if path.suffix.lower() not in (*HTML, *MARKDOWN):
        raise ParameterError("The report must be a file that ends in .html or .md.")
    if path.exists():
        raise ParameterError(f"{path} exists already; an audit is never overwritten.")
    if not path.parent.is_dir():
        raise ParameterError(f"There is no folder {path.parent} for the report.")
    if (path.parent / CERTIFICATE_FILE).exists():
        raise ParameterError("The report must not lie inside a release, which lists its files.")


def write(result: SoftwareAudit, path: Path) -> None:
    """Write the report as its name says.

    Raises:
        ParameterError: if it can't be written.
    """
    text = to_html(result) if path.suffix.lower() in HTML else to_markdown(result)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ParameterError(f"Can't write {path}: {error.strerror}.") from None


def _facts(facts: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    return [
        f"- Date: {facts['date']}",
        f"- Versions: {versions}",
        f"- Tests: {facts['tests']:,}; runs per database: {facts['runs_per_database']:,}",
        f"- Probability of a false alarm, all tests together: {facts['false_alarm_probability']:g}",
    ]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _attack(line: dict[str, Any]) -> str:
    return f"- **{line['name']}**: {line['event']}; the attacker {line['guess']}."
