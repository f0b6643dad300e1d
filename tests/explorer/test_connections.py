"""Connections that say nothing, or a letter a minute, do not keep the explorer from answering."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.explorer import releases
from uvicorn import Config
from uvicorn.server import ServerState

from pathveil.explorer import connections
from pathveil.explorer.connections import BoundedConnection

FILES = 96  # as few file descriptors as would still do
IMPATIENT = """
import resource, sys
import time
from pathveil.cli.run import run
from pathveil.explorer import connections
connections.PATIENCE_SECONDS = {patience}
resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))
run(["explore", sys.argv[1], "--port", "0", "--no-open", "--json"])
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return releases.strange().write(tmp_path_factory.mktemp("one") / "bundle")


@contextmanager
def served(bundle, patience):
    process = subprocess.Popen(
        [sys.executable, "-c", IMPATIENT.format(patience=patience, files=FILES), str(bundle)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        yield json.loads("".join(lines))["address"], process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def address(bundle):
    """Of an explorer that waits for a second only."""
    with served(bundle, patience=1) as (address, _):
        yield address


def where(address):
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    return host, int(port)


def connect(address):
    connection = socket.create_connection(where(address), timeout=60)
    connection.settimeout(60)
    return connection


def ends(connection):
    """Whether the other side closes it; a timeout if it does not."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def request(address):
    host = address.removeprefix("http://").rstrip("/")
    return f"GET /api/overview HTTP/1.1\r\nHost: {host}\r\n".encode()


def test_who_asks_nothing_or_never_ends_a_question_is_let_go(address):
    whole = request(address) + b"\r\n"
    for sent in (
        b"",
        b"G",
        request(address),
        whole + b"G",
        whole[:-2] + b"Content-Length: 9\r\n\r\n",
    ):
        with connect(address) as connection:
            connection.sendall(sent)
            assert ends(connection), sent
    with urlopen(address) as page:
        assert page.status == 200


def held(ports):
    """Bytes that wait at the server's end of a connection to be taken; None if it is let go."""
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = row.split()
        if [int(end.split(":")[1], 16) for end in (local, remote)] == ports:
            return int(queues.split(":")[0], 16)
    return None


def test_who_does_not_take_the_answer_is_let_go(address):
    """By the operating system too: what the client is told of it, and when, is not asked here."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)  # before a larger one is told
        client.settimeout(60)
        client.connect(where(address))
        asked = request(address).replace(b"/api/overview", b"/api/openapi.json") + b"\r\n"
        client.sendall(asked)
        ports = [client.getpeername()[1], client.getsockname()[1]]
        until = time.monotonic() + 60
        while not held(ports):  # an answer that is not taken
            assert time.monotonic() < until, "all answers were taken"
        client.setblocking(False)
        while held(ports) is not None:
            assert time.monotonic() < until, "it is held for ever"
            with suppress(OSError):  # more questions; a part of one will do
                client.send(asked)
            time.sleep(0.002)


async def answer(send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"an answer"})


async def until_it_ends(patience, monkeypatch, app, sent, *, takes):
    """Whether the explorer's end is closed in time, and what came before that."""
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", patience)
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ours.setblocking(False)
    if not takes:
        with suppress(BlockingIOError):
            while True:
                ours.send(bytes(65536))
    config = Config(app, http=BoundedConnection, log_config=None, lifespan="off")
    _, connection = await loop.connect_accepted_socket(
        lambda: BoundedConnection(config, ServerState(), {}), ours
    )
    came = b""
    with theirs:
        await loop.sock_sendall(theirs, sent)
        for _ in range(1000):
            came += await taken(loop, theirs) if takes else b""
            if not connection.connections:
                return True, came
            await asyncio.sleep(0.01)
    return False, came


async def taken(loop, theirs):
    with suppress(TimeoutError, ConnectionResetError):
        return await asyncio.wait_for(loop.sock_recv(theirs, 65536), 0.01)
    return b""


WHOLE = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
CHUNKED = b"GET / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("takes", [True, False])
@pytest.mark.parametrize(
    "sent",
    [b"", WHOLE[:20], WHOLE, WHOLE * 2000, WHOLE + b"?", b"?\r\n\r\n", CHUNKED, CHUNKED + b"?\r\n"],
    ids=["nothing", "half", "one", "many", "next", "nonsense", "body", "nonsense-in-body"],
)
def test_nobody_is_held_whatever_came_first(monkeypatch, sent, takes):
    """Whoever sends many questions goes on to be answered as long as the answers are taken."""

    async def app(_scope, _receive, send):
        await answer(send)

    ended, _ = asyncio.run(until_it_ends(0.1, monkeypatch, app, sent, takes=takes))
    assert ended


def test_a_question_that_takes_long_is_answered(monkeypatch):
    async def app(_scope, _receive, send):
        await asyncio.sleep(0.5)  # five times as long as a client may
        await answer(send)

    ended, came = asyncio.run(until_it_ends(0.1, monkeypatch, app, WHOLE, takes=True))
    assert ended
    assert b"an answer" in came


def test_many_connections_do_not_take_all_file_descriptors(bundle):
    with served(bundle, patience=3) as (address, process), ExitStack() as stack:
        for _ in range(FILES + 16):
            stack.enter_context(connect(address))
        held = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
        assert held < FILES - 16
        opened = stack.enter_context(connect(address))
        assert ends(opened)  # at once, or when it has waited long enough
        for _ in range(60):
            try:
                with urlopen(address, timeout=5) as page:
                    assert page.status == 200
                    return
            except OSError:
                time.sleep(0.2)  # until those who ask nothing are let go
        pytest.fail("nobody is answered any more")
