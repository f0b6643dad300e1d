"""The server: one loopback socket, until Ctrl-C."""

import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn

from pathveil.errors import ParameterError
from pathveil.explorer.connections import WAITING, BoundedConnection
from pathveil.explorer.routes import Releases
from pathveil.explorer.web import application

ADDRESS = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """A socket on the loopback address; no other computer can reach it.

    Args:
        port: 0 for any that is free.

    Raises:
        ParameterError: if the port is taken or not allowed.
    """
    # With the protocol named, asyncio sends small replies at once (TCP_NODELAY); else each waits
    # 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # Else a port would stay taken for a minute after the last explorer ended.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
        listener.listen(WAITING)
    except OSError as error:
        listener.close()
        raise ParameterError(
            f"Can't listen on port {port}: {error.strerror}. Choose another --port, or 0 for any "
            "that is free."
        ) from None
    return listener


def address_of(listener: socket.socket) -> str:
    """The address to open in a browser."""
    return f"http://{ADDRESS}:{listener.getsockname()[1]}/"


def serve(releases: Releases, listener: socket.socket, started: Callable[[], None]) -> None:
    """Answer until Ctrl-C; then return.

    Args:
        releases: one release, or two to compare.
        listener: from `listen`; closed at the end.
        started: called once it answers.
    """
    app = application(releases, listener.getsockname()[1])
    config = uvicorn.Config(
        app,
        log_config=None,  # what one asks is not logged
        access_log=False,
        server_header=False,
        http=BoundedConnection,
        backlog=WAITING,
        ws="none",
        loop="asyncio",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    try:
        _UntilCtrlC(config, started).run(sockets=[listener])
    finally:
        listener.close()
        for indexed in releases:
            indexed.mining.stop()


class _UntilCtrlC(uvicorn.Server):
    """Ends quietly on Ctrl-C; other signals are left to the command line."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn, then tell."""
        await super().startup(sockets)
        self._tell()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Only Ctrl-C: to end a server is what it is for, so it is no failure."""
        before = signal.signal(signal.SIGINT, self._stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.should_exit = True
