"""A real browser for the tests of pages: Debian's chromium, driven by playwright."""

import shutil

import pytest

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def browser():
    """The browser; a test opens contexts of its own.

    Not for the whole session: while playwright runs, this thread has an event loop, and tests of
    other modules (the explorer's command, notebooks) could not start theirs.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: see `make browser`")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core, which finds what people with other senses can't use."""
    package = pytest.importorskip("axe_core_python")
    from pathlib import Path

    return next(Path(package.__path__[0]).rglob("axe.min.js")).read_text(encoding="utf-8")
