"""Let `pathveil explore` end by itself: ask for everything, then press Ctrl-C."""

import os
import signal
from threading import Thread
from urllib.error import HTTPError
from urllib.request import urlopen

from pathveil.explorer import server
from pathveil.explorer.routes import ROUTES


def look_and_stop(monkeypatch):
    """Whoever explores in this process is interrupted once all was seen; gives what was seen."""
    seen = []
    serve = server.serve

    def look(address):
        try:
            seen.extend(_everything(address))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    def serve_for_a_moment(releases, listener, started):
        def then_look():
            started()
            Thread(target=look, args=(server.address_of(listener),), daemon=True).start()

        serve(releases, listener, then_look)

    monkeypatch.setattr(server, "serve", serve_for_a_moment)
    return seen


def _everything(address):
    for path in ["", "api", *(f"api{route.path}" for route in ROUTES)]:
        try:
            with urlopen(address + path) as reply:
                yield f"{reply.headers} {reply.read().decode()}"
        except HTTPError as refused:
            with refused:
                yield refused.read().decode()
