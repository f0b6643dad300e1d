"""``pathveil publish`` without arguments: a conversation on a real terminal, with bounded waits."""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.commands import environment, finish, spawn, tree_of_files
from tests.messy import german_agency

from pathveil.raw.proposals import proposed_encoding, proposed_format, readable_times
from pathveil.raw.sources.csv_file import CsvFile

WAIT = 240  # seconds for one answer, at most; on an idle machine all take ten together
QUESTIONS = (
    ("Which file holds the visits?", "none.csv"),
    ("not a file that you may read", None),
    ("Which file holds the visits?", "fahrten.csv"),
    ("mostly write windows-1252", None),
    ("In which encoding is it? [windows-1252]", "haltestellen.csv"),
    ("There is no encoding 'haltestellen.csv'", None),
    ("In which encoding is it? [windows-1252]", ""),
    ("Which one?", "haltestellen.csv"),
    ("It has 8 locations.", None),
    ("1  Kartennummer", None),
    ("Which?", "1"),
    ("Which column says where?", None),
    ("Which? [Haltestelle]", ""),
    ("Which column says when?", None),
    ("Which? [Zeitpunkt]", ""),
    ("02.03.2026 07:58", None),
    ("Which is it? [de]", ""),
    ("What is one trajectory of a person?", None),
    ("Which? [all]", "month"),
    ("Say a number from 1 to 3, or the word.", None),
    ("Which? [all]", ""),
    ("What is the release for?", None),
    ("Which? [everything]", "flows"),
    ("budget", "four"),
    ("budget", "4"),
    ("A title for it", "Fahrten im März"),
    ("Who publishes it", ""),
)


class Conversation:
    """A guided run on a terminal of its own."""

    def __init__(self, folder):
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pathveil", "publish"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment(folder, TERM="xterm-256color", COLUMNS="200"),
        )
        os.close(theirs)
        self.shown, self._seen = "", 0

    def hear(self, words):
        """Wait until it has said these words, after all that was waited for before."""
        until = time.monotonic() + WAIT
        while (at := self.shown.find(words, self._seen)) < 0:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._ours], [], [], left)[0]:
                raise AssertionError(f"never said {words!r}: {self.shown[self._seen :]}")
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # how a terminal says that the other side is gone
                piece = b""
            if not piece:
                raise AssertionError(f"ended before {words!r}: {self.shown[self._seen :]}")
            self.shown += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", piece.decode()).replace("\r", "")
        self._seen = at + len(words)

    def answer(self, text):
        os.write(self._ours, f"{text}\n".encode())

    def end(self):
        """The rest of what it says, and its exit code."""
        try:
            while piece := os.read(self._ours, 4096):
                self.shown += piece.decode(errors="replace").replace("\r", "")
        except OSError:
            pass
        return self.process.wait(WAIT)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@pytest.fixture
def conversation(folder):
    german_agency(folder, people=60)
    begun = Conversation(folder)
    yield begun
    begun.close()


def ask(conversation, questions):
    for words, answer in questions:
        conversation.hear(words)
        if answer is not None:
            conversation.answer(answer)


def test_a_guided_run_asks_rehearses_forecasts_and_charges_last(folder, conversation, pathveil):
    """The command line that it shows does the same, and nothing is there before the last yes."""
    ledger = ("--ledger", folder / ".local" / "share" / "pathveil" / "ledger.db")
    assert pathveil("ledger", "init", "fahrten", "--limit", "9", *ledger).code == 0
    ask(conversation, QUESTIONS)
    ask(
        conversation,
        (
            ("Which dataset of the ledger is charged?", None),
            ("Which?", "fahrten"),
            ("A new folder for the release [release]", "."),
            ("A new folder for the release [release]", ""),
            ("What a run would read: exact numbers, for you alone", None),
            ("not in the universe: 'Betriebshof Süd'", None),
            ("Is this what you expected of the file? [y/N]", "y"),
            ("Forecast for ε = 4, |L| = 8", None),
            ("The command line that does the same:", None),
            ("Publish with ε = 4 and charge it to 'fahrten'? [y/N]", None),
        ),
    )
    assert not (folder / "release").exists()
    assert pathveil("ledger", "show", *ledger, "--json").json()["datasets"][0]["spent"] == "0"
    shown = conversation.shown.rpartition("does the same:")[2].partition("Publish with")[0]
    words = shlex.split(shown.replace("\\\n", " "))
    assert words[:3] == ["pathveil", "publish", "fahrten.csv"]
    assert words[3:] == [
        "--encoding", "windows-1252", "--universe", "haltestellen.csv",
        "--unit-column", "Kartennummer", "--location-column", "Haltestelle",
        "--time-format", "de", "--for", "flows", "--order-column", "Zeitpunkt",
        "--epsilon", "4", "--title", "Fahrten im März", "--dataset", "fahrten",
        "--out", "release",
    ]  # fmt: skip
    conversation.answer("y")
    conversation.hear("The bundle is in release")
    assert conversation.end() == 0
    assert pathveil("ledger", "show", *ledger, "--json").json()["datasets"][0]["spent"] == "4"
    certificate = (folder / "release" / "privacy-certificate.json").read_text(encoding="utf-8")
    assert '"title": "Fahrten im März"' in certificate
    assert '"purpose": "flows"' in certificate


def test_whoever_says_no_has_spent_nothing_and_keeps_the_line(folder, conversation):
    """Hours are asked for here: a wrong answer is asked again, and costs no other answer."""
    before = tree_of_files(folder)
    at = QUESTIONS.index(("Which? [everything]", "flows"))
    hours = (
        ("Which? [everything]", "hours"),
        ("Which slots of time? [1h]", "7h"),
        ("Which slots of time? [1h]", ""),
        ("In which time zone", "Europe/Berln"),
        ("Did you mean 'Europe/Berlin'?", None),
        ("In which time zone", "Europe/Berlin"),
    )
    ask(
        conversation,
        (
            *QUESTIONS[:at],
            *hours,
            *QUESTIONS[at + 1 :],
            ("There is no ledger", None),
            ("A new folder", ""),
            ("Is this what you expected", "n"),
        ),
    )
    assert conversation.end() == 0
    assert "Nothing was published, and nothing was charged." in conversation.shown
    assert "pathveil publish fahrten.csv" in conversation.shown
    assert tree_of_files(folder) == before


def test_an_end_of_the_answers_ends_it(conversation):
    conversation.hear("Which file holds the visits?")
    os.write(conversation._ours, b"\x04")  # Ctrl-D
    assert conversation.end() == 2
    assert "The answers ended. Nothing was published or charged." in conversation.shown


def test_without_a_terminal_it_is_the_usual_message(folder):
    result = finish(spawn("publish", stdin=subprocess.DEVNULL, env=environment(folder)))
    assert result.code == 2
    assert "Missing argument 'INPUT'" in result.err


# What is proposed


def written(folder, *times):
    path = folder / "taps.csv"
    path.write_text(
        "\n".join(["card,when", *(f"1,{time}" for time in times), ""]), encoding="utf-8"
    )
    return readable_times(CsvFile(path), "when")


def test_a_format_is_proposed_only_if_no_other_reads_as_many_rows(tmp_path):
    assert proposed_format(written(tmp_path, "02.03.2026 07:58", "?")) == "de"
    both = written(tmp_path, "03/04/2026 07:58", "05/06/2026 09:00")
    assert both["us"] == both["uk"] == 2
    assert proposed_format(both) is None
    assert proposed_format(written(tmp_path, "2026-03-02T07:58:00")) == "iso"
    assert proposed_format(written(tmp_path, "yesterday")) is None
    assert proposed_format(written(tmp_path)) is None


@pytest.mark.parametrize(
    ("text", "encoding", "proposed"),
    [
        ("a,b\nKöln,1\n", "utf-8", "utf-8"),
        ("a,b\nKöln,1\n", "cp1252", "windows-1252"),
        ("a,b\nKöln,1\n", "utf-16", "utf-16"),
        ("a,b\n", "ascii", "utf-8"),
    ],
)
def test_an_encoding_is_proposed(tmp_path, text, encoding, proposed):
    path = Path(tmp_path / "taps.csv")
    path.write_bytes(text.encode(encoding))
    assert proposed_encoding(path) == proposed
