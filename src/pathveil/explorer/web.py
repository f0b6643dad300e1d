"""The web application of the explorer: the API as JSON or CSV, and the pages."""

import csv
import io
import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pathveil.core.texts import escape
from pathveil.errors import PathveilError
from pathveil.explorer.answers import Answer, Error, Waiting
from pathveil.explorer.asking import Asked, NotThereError
from pathveil.explorer.openapi import DESCRIPTION, describe
from pathveil.explorer.routes import ROUTES, Releases, Route

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
_PAGES = {"/": "index.html", "/api": "api.html"}


# An answer as CSV: a row for each of its rows, with cells that no spreadsheet executes.


def csv_text(answer: Answer) -> str:
    """The table, with a header; lists are joined by ``→``, and what is not there is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    rows = [dict(row) for row in answer.csv_rows()]
    columns = list(rows[0]) if rows else []
    writer.writerow(columns)
    writer.writerows([_field(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def _field(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list):
        value = " → ".join(map(str, value))
    return escape(value) if isinstance(value, str) else value


# The web application: the API and the pages, for this computer's own browser only.


Handler = Callable[[Request], Awaitable[Response]]


def application(releases: Releases, port: int) -> ASGIApp:
    """The application.

    Args:
        releases: one release, or two to compare.
        port: where it listens; requests that name another host or port are refused.
    """
    routes = [
        *(_get(f"/api{route.path}", _handler(route, releases)) for route in ROUTES),
        _get(DESCRIPTION, _constant(json.dumps(describe()).encode(), "application/json")),
        *(_get(path, _file(name)) for path, name in _static_files().items()),
    ]
    return OnlyHere(Starlette(routes=routes, exception_handlers={HTTPException: _refused}), port)


class OnlyHere:
    """Refuses what was not meant for this computer, and sends the security headers.

    A page on another site can make a browser call us under that site's name (DNS rebinding); the
    Host header shows it.
    """

    def __init__(self, inner: ASGIApp, port: int) -> None:
        self._inner = inner
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        hosts = [value for name, value in scope["headers"] if name == b"host"]
        inner = self._inner
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            inner = _error("This server answers to 127.0.0.1 and localhost only.", 421)
        elif scope["method"] != "GET":
            inner = _error("Only GET is answered here.", 405)
        await inner(scope, receive, send_with_headers)


def _get(path: str, handler: Handler) -> WebRoute:
    return WebRoute(path, handler, methods=["GET"])


def _handler(route: Route, releases: Releases) -> Handler:
    async def handle(request: Request) -> Response:
        # In a thread, so that one long answer does not hold up the others.
        return await run_in_threadpool(_answer, route, releases, request)

    return handle


def _answer(route: Route, releases: Releases, request: Request) -> Response:
    try:
        asked = Asked.read(route.every_parameter(), request.query_params.multi_items())
        answer = route.answer(releases, asked)
    except NotThereError as error:
        return _error(str(error), 404)
    except PathveilError as error:
        return _error(str(error), 400)
    except Exception as error:  # noqa: BLE001  (a traceback on the terminal helps nobody)
        # The kind only: its text is nobody's business.
        return _error(f"pathveil failed unexpectedly ({type(error).__name__}).", 500)
    if isinstance(answer, Waiting):
        return Response(answer.model_dump_json(), 202, media_type="application/json")
    if route.has_csv and asked.text("format") == "csv":
        name = f"pathveil-{route.path.strip('/').replace('/', '-')}.csv"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(csv_text(answer), 200, disposition, "text/csv")
    return Response(answer.model_dump_json(), media_type="application/json")


def _static_files() -> dict[str, str]:
    """Addresses of the page's own files: a fixed list, so no path can lead elsewhere."""
    folder = files("pathveil.explorer") / "static"
    scripts = {f"/static/{path.name}": path.name for path in folder.iterdir() if path.is_file()}
    return {**_PAGES, **scripts}


def _file(name: str) -> Handler:
    content = (files("pathveil.explorer") / "static" / name).read_bytes()
    return _constant(content, _TYPES[name.rpartition(".")[2]])


def _constant(content: bytes, media_type: str) -> Handler:
    async def handle(_request: Request) -> Response:
        return Response(content, media_type=media_type)

    return handle


def _error(message: str, status: int) -> JSONResponse:
    return JSONResponse(Error(error=message).model_dump(), status)


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _error("There is nothing at this address; see /api for what there is.", status)
