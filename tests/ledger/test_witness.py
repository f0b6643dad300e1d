"""A witnessed ledger: what its disk's owner can undo, a record kept elsewhere finds."""

import json
import os
import shutil
import sqlite3
import subprocess
import threading
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from tests.commands import Result

import pathveil as pv
from pathveil.cli.run import run
from pathveil.ledger import timestamps, witness_keepers
from pathveil.ledger.witness import LONGEST_LINE, witnessed
from pathveil.promise.signing_keys import make_keys, read_private_key

ONE = pv.Budget.parse("1")
LEDGER = ("--ledger", "ledger.db")


@pytest.fixture
def pathveil(tmp_path, monkeypatch, capfd):
    """Run a command in a folder with keys and a ledger of three entries."""
    monkeypatch.chdir(tmp_path)
    make_keys(tmp_path / "key")
    make_keys(tmp_path / "other")
    ledger = pv.Ledger.open("ledger.db")
    ledger.init("taps", "9")
    ledger.dataset("taps").charge(ONE)

    def call(*arguments):
        capfd.readouterr()
        code = run([*arguments])
        return Result(code, *capfd.readouterr())

    return call


def witness(pathveil, *places, key="key", more=()):
    to = [word for place in places for word in ("--to", place)]
    return pathveil("ledger", "witness", "--key", key, *to, *more, *LEDGER)


def verify(pathveil, place, *more, key="key.pub"):
    return pathveil("ledger", "verify", "--witness", place, "--public-key", key, *more, *LEDGER)


def charge(amount="1"):
    pv.Ledger.open("ledger.db").dataset("taps").charge(pv.Budget.parse(amount))


class Keeper(BaseHTTPRequestHandler):
    """An address that keeps what is posted and gives it back."""

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.kept += self.rfile.read(length)
        self._answer(b"")

    def do_GET(self):
        self._answer(self.server.kept)

    def _answer(self, content):
        self.send_response(self.server.code)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments):
        pass


@contextmanager
def serving(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.kept, server.code = b"", 200
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server, f"http://127.0.0.1:{server.server_port}/ledger"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(params=["file", "git", "http"])
def place(request, pathveil, tmp_path):
    """Everything runs over every place; and the folder of commands is ready."""
    assert pathveil
    if request.param == "http":
        with serving(Keeper) as (_, address):
            yield address
    elif request.param == "git":
        if shutil.which("git") is None:
            pytest.skip("there is no git here")
        subprocess.run(["git", "init", "-q", str(tmp_path / "repository")], check=True)
        yield f"git:{tmp_path / 'repository'}"
    else:
        yield str(tmp_path / "elsewhere.jsonl")


def test_a_witnessed_ledger_that_went_on_is_fine(pathveil, place):
    for _ in range(2):
        done = witness(pathveil, place)
        assert done.code == 0, done.err
        charge()
    seen = verify(pathveil, place, "--json").json()
    assert seen["valid"]
    assert seen["entries"] == 5
    assert seen["witnesses"][0]["records"] == 2
    assert seen["witnesses"][0]["entry"] == 3
    assert "Witnessed 2 times, last entry 3" in verify(pathveil, place).out


def test_a_ledger_that_was_rolled_back_is_found(pathveil, place):
    """The old copy is whole: nothing in it speaks against it."""
    shutil.copy("ledger.db", "old.db")
    charge()
    assert witness(pathveil, place).code == 0
    shutil.copy("old.db", "ledger.db")
    assert pathveil("ledger", "verify", *LEDGER).code == 0
    found = verify(pathveil, place)
    assert found.code == 2
    assert "was rolled back: a witness saw its entry 3" in found.err


def test_a_ledger_that_was_forked_is_found(pathveil, place):
    """Rolled back, and then charged less than before, so that it is as long as it was."""
    shutil.copy("ledger.db", "old.db")
    charge("2")
    assert witness(pathveil, place).code == 0
    shutil.copy("old.db", "ledger.db")
    charge("1/10")
    charge("1/10")
    assert pathveil("ledger", "verify", *LEDGER).code == 0
    found = verify(pathveil, place)
    assert found.code == 2
    assert "forked or rewritten: its entry 3 is not the one" in found.err


def test_a_ledger_that_was_made_anew_is_found(pathveil, place, tmp_path):
    assert witness(pathveil, place).code == 0
    (tmp_path / "ledger.db").unlink()
    pv.Ledger.open("ledger.db").init("taps", "9")
    found = verify(pathveil, place)
    assert found.code == 2
    assert "saw another ledger" in found.err


def test_a_planted_record_is_found(pathveil, place):
    """Somebody who may write to the place, and has no key, can't make a true ledger look false."""
    assert witness(pathveil, place, key="other").code == 0
    found = verify(pathveil, place)
    assert found.code == 2
    assert "signed with another key" in found.err
    assert verify(pathveil, place, key="other.pub").code == 0


def record():
    chain = pv.Ledger.open("ledger.db").chain()
    return witnessed(chain, read_private_key(Path("key")), datetime.now(UTC))


CHANGES = {
    "another entry": lambda text: text.replace('"entry":2', '"entry":1'),
    "another time": lambda text: text.replace('"at":"2', '"at":"1'),
    "another head": lambda text: text.replace('"head":"', '"head":"0', 1)[:-1] + "}",
    "an entry twice": lambda text: text.replace('"entry":2', '"entry":2,"entry":2'),
    "no JSON": lambda text: text[:-1],
    "something else": lambda _text: '{"hello": 1}',
    "too long": lambda text: text.replace("{", "{" + " " * LONGEST_LINE, 1),
    "nothing": lambda _text: "",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_witness_that_was_changed_is_found(pathveil, tmp_path, name):
    assert witness(pathveil, "kept.jsonl").code == 0
    path = tmp_path / "kept.jsonl"
    changed = CHANGES[name](path.read_text().strip())
    path.write_text(f"{changed}\n")
    found = verify(pathveil, "kept.jsonl")
    assert found.code == 2
    assert "Traceback" not in found.err
    assert "witness" in found.err


def test_an_export_is_checked_against_a_witness_too(pathveil):
    pathveil("ledger", "export", "--out", "old.json", *LEDGER)
    charge()
    assert witness(pathveil, "kept.jsonl").code == 0
    command = ["ledger", "verify", "--export", "old.json", "--witness", "kept.jsonl"]
    found = pathveil(*command, "--public-key", "key.pub")
    assert found.code == 2
    assert "rolled back" in found.err


def test_a_place_that_fails_is_told_and_the_others_keep_the_record(pathveil, tmp_path):
    done = witness(pathveil, "nowhere/kept.jsonl", "kept.jsonl", "git:nowhere")
    assert done.code == 2
    assert "1 of 3 witnesses keep the head" in done.err
    assert (tmp_path / "kept.jsonl").read_text().count("\n") == 1
    assert verify(pathveil, "kept.jsonl").code == 0


@pytest.mark.parametrize("code", [302, 404, 500])
def test_an_address_that_does_not_say_yes_is_no_witness(pathveil, code):
    with serving(Keeper) as (server, address):
        server.code = code
        done = witness(pathveil, address)
    assert done.code == 2
    assert f"The HTTP address answered {code}" in done.err
    assert address not in done.err


def test_an_address_that_nobody_serves(pathveil):
    done = witness(pathveil, "http://user:zq7secret@127.0.0.1:9/ledger")
    assert done.code == 2
    assert "can't be reached" in done.err
    assert "zq7secret" not in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["verify", "--witness", "kept.jsonl"], "whose witness you trust"),
        (["verify", "--public-key", "key.pub"], "where the witness is"),
        (["verify", "--witness", "kept.jsonl", "--public-key", "key.pub"], "No such file"),
        (["verify", "--witness", "git:.", "--public-key", "key.pub"], "git could not use"),
        (["witness", "--key", "key.pub", "--to", "x"], "private key"),
        (["witness", "--key", "key", "--to", "ftp://host/x"], "A witness is a file"),
        (["witness", "--key", "key", "--to", ""], "can't be empty"),
        (["witness", "--key", "key", "--to", "x", "--timestamp", "host"], "time-stamp authority"),
    ],
)
def test_a_request_that_can_not_be_met(pathveil, tmp_path, arguments, says):
    done = pathveil("ledger", *arguments, *LEDGER)
    assert done.code == 2
    assert says in done.err
    assert not (tmp_path / "x").exists()


# What a place answers that does not keep to what was agreed; the last one never ends

OK = b"HTTP/1.1 200 OK\r\n"
LIES = {
    "nothing": (b"", b""),
    "no HTTP": (b"What?\r\n\r\n", b""),
    "less than it says": (OK + b"Content-Length: 900\r\n\r\n{", b""),
    "less than nothing": (OK + b"Content-Length: -9\r\n\r\n", b""),
    "no record": (OK + b"Content-Length: 6\r\n\r\n<html>", b""),
    "nonsense in chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b""),
    "headers for ever": (OK, b"X-More: 1\r\n"),
    "more than a witness ever would": (OK + b"\r\n", b"{}\n" * 1000),
    "a letter now and then": (OK + b"\r\n", b"{"),
    "go on, go on": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("name", LIES)
def test_an_address_that_lies_is_found_and_not_waited_for(pathveil, monkeypatch, name):
    first, again = LIES[name]

    class Liar(BaseHTTPRequestHandler):
        def do_GET(self):
            with suppress(OSError):
                self.wfile.write(first)
                while again and not stopped.wait(0.001):
                    self.wfile.write(again)
            self.close_connection = True

        def log_message(self, *_arguments):
            pass

    stopped = threading.Event()
    monkeypatch.setattr(witness_keepers, "_SECONDS", 1)
    monkeypatch.setattr(witness_keepers, "LARGEST", 5_000)
    with serving(Liar) as (_, address):
        found = verify(pathveil, address)
        stopped.set()
    assert found.code == 2
    assert "Traceback" not in found.err
    assert "The HTTP address" in found.err or "witness" in found.err


def test_of_two_witnesses_the_one_that_keeps_nothing_back_finds_it(pathveil):
    """Whoever owns a place can remove lines there, and nothing in those that stay tells."""
    assert witness(pathveil, "one.jsonl", "two.jsonl").code == 0
    shutil.copy("ledger.db", "old.db")
    shutil.copy("one.jsonl", "early.jsonl")
    charge()
    assert witness(pathveil, "one.jsonl", "two.jsonl").code == 0
    shutil.copy("old.db", "ledger.db")
    shutil.copy("early.jsonl", "one.jsonl")
    assert verify(pathveil, "one.jsonl").code == 0
    found = verify(pathveil, "one.jsonl", "--witness", "two.jsonl")
    assert found.code == 2
    assert "was rolled back" in found.err


def test_a_line_that_was_cut_in_half_does_not_take_the_next_one_with_it(pathveil, tmp_path):
    assert witness(pathveil, "kept.jsonl").code == 0
    whole = (tmp_path / "kept.jsonl").read_bytes()
    (tmp_path / "kept.jsonl").write_bytes(whole[: len(whole) // 2])
    assert witness(pathveil, "kept.jsonl").code == 0
    assert (tmp_path / "kept.jsonl").read_bytes().count(b"\n") == 2
    found = verify(pathveil, "kept.jsonl")
    assert found.code == 2
    assert "Line 1 of the witness is not a record" in found.err


def test_a_ledger_that_is_not_whole_is_not_witnessed(pathveil, tmp_path):
    with closing(sqlite3.connect("ledger.db")) as connection, connection:
        connection.execute("DELETE FROM pathveil_ledger WHERE number = 1")
    assert witness(pathveil, "kept.jsonl").code == 2
    assert not (tmp_path / "kept.jsonl").exists()


@pytest.fixture
def repository(tmp_path):
    """A folder in a repository whose maker wrote a program wherever git takes one."""
    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    folder = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    program = f"touch {tmp_path}/ran; cat"
    for name in ("pre-commit", "post-commit", "commit-msg", "reference-transaction"):
        hook = folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{program}\n")
        hook.chmod(0o755)
    (folder / "theirs").write_text("something")
    later = datetime.now(UTC).timestamp() + 999  # so that git compares what the file holds
    os.utime(folder / "theirs", (later, later))
    subprocess.run(["git", "-C", str(folder), "add", "theirs"], check=True)
    settings = {
        "core.fsmonitor": program,
        "filter.a.b=c.clean": program,
        "filter.a.b=c.process": program,
        "remote.origin.url": str(folder),
        "remote.origin.uploadpack": f"touch {tmp_path}/ran;",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
        "core.repositoryFormatVersion": "1",
    }
    for name, value in settings.items():
        subprocess.run(["git", "-C", str(folder), "config", name, value], check=True)
    (folder / ".gitattributes").write_text("* filter=a.b=c\n")
    (folder / "inside").mkdir()
    return folder


def test_no_program_of_a_repository_runs(pathveil, tmp_path, repository):
    place = f"git:{repository / 'inside'}"
    for _ in range(2):
        done = witness(pathveil, place)
        assert done.code == 0, done.err
    assert verify(pathveil, place).code == 0
    assert not (tmp_path / "ran").exists()
    command = ["git", "-C", str(repository), "show", "--format=", "--name-only", "HEAD"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert shown == "inside/pathveil-ledger-witness.jsonl\n"  # and not what others have staged

    for blob in (repository / ".git" / "objects").glob("??/*"):
        blob.unlink()
    assert verify(pathveil, place).code == 2
    assert not (tmp_path / "ran").exists()


def test_a_link_in_a_repository_is_not_followed(pathveil, tmp_path, repository):
    (tmp_path / "mine").write_text("mine")
    (repository / "pathveil-ledger-witness.jsonl").symlink_to(tmp_path / "mine")
    done = witness(pathveil, f"git:{repository}")
    assert done.code == 2
    assert "is a link" in done.err
    assert (tmp_path / "mine").read_text() == "mine"


# Time stamps, by a real authority of OpenSSL's


def certificate(name, key, issuer=None, issuer_key=None):
    now = datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if issuer is not None:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        built = built.add_extension(usage, critical=True)
    return built.sign(issuer_key or key, hashes.SHA256())


def pem(thing):
    if isinstance(thing, x509.Certificate):
        return thing.public_bytes(serialization.Encoding.PEM)
    return thing.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


TSA = """
[tsa]
default_tsa = authority
[authority]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
accuracy = secs:1
"""


@pytest.fixture
def authority(tmp_path):
    """The address of a time-stamp authority on this machine, and the folder with its root."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here")
    folder = tmp_path / "authority"
    folder.mkdir()
    keys = [rsa.generate_private_key(65537, 2048) for _ in range(2)]
    root = certificate("Root", keys[0])
    signer = certificate("Authority", keys[1], root, keys[0])
    (folder / "root.pem").write_bytes(pem(root))
    (folder / "tsa.pem").write_bytes(pem(signer))
    (folder / "tsa.key").write_bytes(pem(keys[1]))
    (folder / "serial").write_text("01\n")
    (folder / "tsa.cnf").write_text(TSA.format(folder=folder))

    class Authority(BaseHTTPRequestHandler):
        def do_POST(self):
            question = self.rfile.read(int(self.headers["Content-Length"]))
            (folder / "question").write_bytes(question)
            command = ["openssl", "ts", "-reply", "-config", str(folder / "tsa.cnf")]
            files = ["-queryfile", str(folder / "question"), "-out", str(folder / "answer")]
            subprocess.run([*command, *files], check=True, capture_output=True)
            content = (folder / "answer").read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments):
            pass

    with serving(Authority) as (_, address):
        yield address, folder


def test_an_authority_confirms_when_it_saw_the_record(pathveil, authority, tmp_path):
    address, folder = authority
    done = witness(pathveil, "kept.jsonl", more=["--timestamp", address])
    assert done.code == 0, done.err
    root = ["--timestamp-root", str(folder / "root.pem")]
    (time,) = verify(pathveil, "kept.jsonl", *root, "--json").json()["witnesses"][0]["timestamps"]
    assert abs(datetime.fromisoformat(time) - datetime.now(UTC)) < timedelta(minutes=5)
    assert "time-stamped" in verify(pathveil, "kept.jsonl", *root).out

    other = certificate("Root", rsa.generate_private_key(65537, 2048))
    (tmp_path / "other.pem").write_bytes(pem(other))
    refused = verify(pathveil, "kept.jsonl", "--timestamp-root", "other.pem")
    assert refused.code == 2
    assert "does not hold" in refused.err

    kept = json.loads((tmp_path / "kept.jsonl").read_text())
    charge()
    later = json.loads(record().line()) | {"timestamps": kept["timestamps"]}  # of an earlier one
    (tmp_path / "kept.jsonl").write_text(json.dumps(later) + "\n")
    refused = verify(pathveil, "kept.jsonl", *root)
    assert refused.code == 2
    assert "of another record" in refused.err


@pytest.mark.parametrize("stamped", [True, False])
def test_a_second_history_can_not_be_dated_back(pathveil, authority, stamped):
    """By the holder of the key: the date is false, and the time stamp true or left out."""
    address, folder = authority
    last_year = datetime.now(UTC) - timedelta(days=365)
    chain = pv.Ledger.open("ledger.db").chain()
    made_up = witnessed(chain, read_private_key(Path("key")), last_year)
    kept = timestamps.stamped(made_up, [address] if stamped else [])
    Path("kept.jsonl").write_text(kept.line() + "\n")
    refused = verify(pathveil, "kept.jsonl", "--timestamp-root", str(folder / "root.pem"))
    assert refused.code == 2
    assert ("its date is made up" if stamped else "has no time stamp") in refused.err


def test_an_address_that_is_no_authority_gives_no_time_stamp(pathveil, tmp_path):
    with serving(Keeper) as (_, address):
        done = witness(pathveil, "kept.jsonl", more=["--timestamp", address])
    assert done.code == 2
    assert "gave no time stamp" in done.err
    assert not (tmp_path / "kept.jsonl").exists()
