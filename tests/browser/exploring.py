"""A page of the explorer in the browser; it fails on what a developer's console would show."""

import json
from contextlib import contextmanager

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1200, "height": 900}
SERIOUS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


class Page:
    """A page at the explorer's address.

    Attributes:
        page: playwright's page.
        complaints: console errors, failed scripts, violations of the content-security-policy, and
            requests to anywhere else.
    """

    def __init__(self, page, address):
        self.page = page
        self.address = address
        self.complaints = []
        page.set_default_timeout(20_000)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        page.on("request", self._request)
        self._open = set()
        page.on("requestfinished", self._answered)
        page.on("requestfailed", self._answered)

    def _console(self, message):
        # A refused question is an answer of ours, and shown on the page.
        refused = message.type == "error" and "status of 4" in message.text
        if message.type in {"error", "warning"} and not refused:
            self.complaints.append(message.text)

    def _request(self, request):
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.complaints.append(f"asked for {request.url}")
        if request.resource_type == "fetch":
            self._open.add(request)

    def _answered(self, request):
        self._open.discard(request)

    def open(self, view="overview", query=""):
        """Go to a view and wait until it is drawn."""
        self.page.goto(f"{self.address}#/{view}{query}")
        self.drawn(view)
        return self.page

    def drawn(self, view):
        """Wait until a view is there and all its questions are answered."""
        self.page.wait_for_selector(f"nav#views a[aria-current=page][href^='#/{view}']")
        self.settled()

    def settled(self):
        """Wait until every question is answered and the answers are drawn."""
        quiet = 0
        while quiet < 3:  # an answer may lead to the next question
            self.page.wait_for_timeout(25)
            quiet = 0 if self._open else quiet + 1

    def problems(self, axe):
        """What axe finds wrong with the page as it is now."""
        self.page.evaluate(axe)  # not a script tag: the policy forbids those, rightly
        rules = json.dumps({"runOnly": {"type": "tag", "values": SERIOUS}})
        found = self.page.evaluate(f"async () => (await axe.run(document, {rules})).violations")
        return [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]

    def is_wide(self):
        """Whether the page scrolls sideways."""
        return self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )


@contextmanager
def exploring(browser, address, viewport=None, **settings):
    """A new window; at its end nothing may have been complained about."""
    context = browser.new_context(viewport=viewport or DESK, **settings)
    try:
        page = Page(context.new_page(), address)
        yield page
        assert page.complaints == []
    finally:
        context.close()
