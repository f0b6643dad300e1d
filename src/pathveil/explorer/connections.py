"""Connections to the explorer: not many at once, and none that makes it wait for ever.

Any program on this computer, and any page in its browser, can open connections and say nothing on
them, or a letter a minute. Each takes a file descriptor, and without those nobody is answered.
"""

import asyncio
import resource
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 10.0
# A browser opens six; the rest is for scripts that ask the API.
MOST_CONNECTIONS = 64
WAITING = 16  # connections that the operating system accepts before we look at them


def most_connections() -> int:
    """How many are held open: well below the number of files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files < 0 else max(8, min(MOST_CONNECTIONS, files // 4))


class BoundedConnection(H11Protocol):
    """One connection, which is closed if it has no whole question or takes no answer in time.

    One timer looks at it as long as it lives, so that no order of events can leave it without one.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._waited_for_since = 0.0  # the loop's clock

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a question, unless there are too many who wait."""
        super().connection_made(transport)
        if len(self.connections) > most_connections():
            transport.abort()
        else:
            self._begin_to_wait()
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next question, and that this answer is taken; a letter is not enough."""
        self._begin_to_wait()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The other side does not take what we send."""
        super().pause_writing()
        self._begin_to_wait()

    def _begin_to_wait(self) -> None:
        self._waited_for_since = self.loop.time()

    def _is_ours_to_answer(self) -> bool:
        """A whole question is answered however long that takes, if the answers are taken."""
        is_asked = self.cycle is not None and not self.cycle.response_complete
        return is_asked and not self.flow.write_paused and not self.transport.is_closing()

    def _look(self) -> None:
        if self._is_ours_to_answer():
            self._begin_to_wait()
        until = self._waited_for_since + PATIENCE_SECONDS
        if self.loop.time() < until:
            self._timer = self.loop.call_at(until, self._look)
        else:
            self._let_go()

    def _let_go(self) -> None:
        """Reset it: else the operating system would hold what is not taken for minutes more."""
        connected = self.transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
