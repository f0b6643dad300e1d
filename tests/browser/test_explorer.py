"""The explorer in a real browser: each view and each interaction."""

import csv
import re
import time
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
import pytest
from tests.browser.exploring import DESK, PHONE, exploring
from tests.explorer import releases

import pathveil as pv

VIEWS = ("overview", "count", "patterns", "tree", "flows", "when", "compare")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Folders of releases, by name; made when first asked for."""
    home, made = tmp_path_factory.mktemp("explored"), {}
    makers = {
        "week": lambda: releases.week(riders=800, stops=13),
        "later": lambda: releases.week(riders=1200, stops=13, seed=9),
        "strange": releases.strange,
        "timed": releases.timed,
        "stops": releases.stops,
        "city": releases.city,
    }

    def bundle(name):
        if name not in made:
            made[name] = makers[name]().write(home / name)
        return made[name]

    return bundle


@pytest.fixture(scope="module")
def address(bundles):
    """The address of an explorer of some releases; one process for each combination."""
    with ExitStack() as stack:
        started = {}

        def of(*names):
            if names not in started:
                folders = map(bundles, names)
                started[names], _ = stack.enter_context(releases.served(*folders))
            return started[names]

        yield of


@pytest.fixture
def two(browser, address):
    with exploring(browser, address("week", "later")) as page:
        yield page


@pytest.fixture
def strange(browser, address):
    with exploring(browser, address("strange")) as page:
        yield page


@pytest.fixture
def timed(browser, address):
    with exploring(browser, address("timed")) as page:
        yield page


@pytest.fixture(scope="module")
def week(bundles):
    return pv.read_release(bundles("week"))


def estimate(page):
    return int(page.locator(".answer .estimate").first.inner_text().replace(",", ""))


def says(page, text):
    """Wait until the page says something."""
    page.get_by_text(text).first.wait_for()


def listed(page):
    """Wait until patterns are listed: on a busy computer mining takes its time."""
    page.locator("tbody tr").first.wait_for(timeout=120_000)


# Each view


def test_the_overview_says_what_was_published(two, week):
    page = two.open()
    assert page.title() == "Overview: week"
    badges = page.locator(".badges").inner_text()
    assert "PRIVATE" in badges
    assert "ε = 4" in badges
    figures = page.locator(".figures").inner_text()
    assert f"{len(week):,}" in figures
    rows = page.locator("#visits tbody tr")
    best = week.count([rows.first.locator("small").inner_text()])
    assert f"{best:,}" in rows.first.inner_text()
    interval = f"{best.low:,} to {best.high:,}"
    assert interval in re.sub(r"\s+", " ", rows.first.inner_text())
    assert page.locator("#map canvas").is_visible()
    page.locator("summary").click()
    assert page.locator("details p").first.is_visible()


def test_a_table_is_sorted_by_its_headings(two):
    page = two.open()
    heading = page.locator("#visits th", has_text="Trajectories")
    cells = page.locator("#visits tbody td:nth-child(3)")

    def numbers():
        return [int(text.replace(",", "")) for text in cells.all_inner_texts()]

    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert numbers() == sorted(numbers(), reverse=True)
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert numbers() == sorted(numbers())


def test_a_table_downloads_as_csv(two, week, tmp_path):
    page = two.open()
    with page.expect_download() as download:
        page.locator("#visits").get_by_text("Download as CSV").click()
    assert download.value.suggested_filename == "pathveil-visits.csv"
    download.value.save_as(tmp_path / "visits.csv")
    with (tmp_path / "visits.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["label"]: int(row["count"]) for row in rows} == {
        label: week.count([label]) for label in week.universe.labels if week.count([label])
    }


def test_locations_are_counted_by_name_and_on_the_map(two, week):
    page = two.open("count")
    says(page, "Choose one or more locations")
    search = page.locator("input[role=combobox]")
    search.fill("street 2")
    page.locator("[role=option]").first.click()
    says(page, "The true number is probably between")
    assert page.locator(".chosen li").count() == 1
    label = page.locator(".chosen small").inner_text()
    assert estimate(page) == week.count([label])
    # The map: every other stop lies somewhere on it.
    box = page.locator(".map canvas").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(".chosen li").nth(1).wait_for()
    two.settled()
    chosen = page.locator(".chosen small").all_inner_texts()
    assert estimate(page) == week.count(chosen)
    assert page.url.endswith("?" + "&".join(f"location={label}" for label in chosen))


def test_an_order_can_be_asked_for_and_changed(two, week):
    page = two.open("count", "?location=S0001&location=S0000")
    named = dict(zip(week.universe.labels, week.universe.names, strict=True))
    chosen = page.locator(".chosen").inner_text()
    assert named["S0001"] in chosen  # names come with labels
    assert named["S0000"] in chosen
    page.get_by_label("in this order").check()
    page.wait_for_url("**order=given")
    two.settled()
    found = week.count_ordered(["S0001", "S0000"])
    assert estimate(page) == found
    assert f"{found.low:,} to {found.high:,}" in page.locator(".answer .ends").inner_text()
    page.get_by_label("Move S0000 before the one above").click()
    page.wait_for_url("**/#/count?location=S0000&location=S0001&order=given")
    two.settled()
    assert estimate(page) == week.count_ordered(["S0000", "S0001"])
    page.get_by_label("Remove S0000").click()
    two.settled()
    assert estimate(page) == week.count_ordered(["S0001"])
    page.go_back()
    page.wait_for_url("**location=S0000**")
    assert page.locator(".chosen li").count() == 2
    page.get_by_role("button", name="Clear").click()
    says(page, "Choose one or more locations")


def test_the_map_zooms_and_moves(two):
    page = two.open("count")
    canvas = page.locator(".map canvas")
    before = canvas.screenshot()
    page.get_by_label("Zoom in").click()
    page.wait_for_timeout(100)
    nearer = canvas.screenshot()
    assert nearer != before
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 140, steps=4)
    page.mouse.up()
    page.wait_for_timeout(100)
    assert canvas.screenshot() != nearer
    assert page.locator(".chosen li").count() == 0  # a drag is no click
    page.get_by_label("Show everything").click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(100)
    assert canvas.screenshot() == before


def test_hours_can_be_asked_for(timed, bundles):
    release = pv.read_release(bundles("timed"))
    page = timed.open("count", "?location=Park")
    assert estimate(page) == release.count(["Park"])
    page.get_by_label("From").select_option("06:00")
    page.get_by_label("Until").select_option("12:00")
    page.wait_for_url("**during=06%3A00-12%3A00")
    says(page, "all between 06:00 and 12:00")
    timed.settled()
    assert estimate(page) == release.within("06:00-12:00").count(["Park"])
    page.get_by_label("From").select_option("12:00")  # now it ends where it starts
    says(page, "must end after it starts")


def test_patterns_are_filtered(two, week):
    page = two.open("patterns")
    listed(page)

    def first():
        two.settled()
        row = page.locator("tbody tr").first
        return tuple(row.locator("small").all_inner_texts())

    def best(**choices):
        return week.top_patterns(1, different=True, **choices)[0].locations

    assert first() == best(min_length=2)
    page.get_by_label("Fewest locations").fill("3")
    page.get_by_label("Fewest locations").press("Tab")
    page.wait_for_url("**min_length=3**")
    assert first() == best(min_length=3)
    page.get_by_label("one right after another").check()
    page.wait_for_url("**gaps=no**")
    assert first() == best(min_length=3, contiguous=True)
    page.locator("input[role=combobox]").fill("S0005")
    page.locator("[role=option]").first.click()
    page.wait_for_url("**contains=S0005**")
    two.settled()
    assert page.locator("tbody tr").count() > 1
    for row in page.locator("tbody tr").all()[:5]:
        assert "S0005" in row.inner_text()


def test_patterns_that_are_being_mined_show_how_far_they_are(two):
    waiting = iter([0.25, 0.5])

    def answer(route):
        progress = next(waiting, None)
        if progress is None:
            route.continue_()
        else:
            route.fulfill(status=202, json={"waiting": "Patterns are mined.", "progress": progress})

    two.page.route("**/api/patterns**", answer)
    page = two.open("patterns")
    assert page.locator("progress").get_attribute("value") in {"0.25", "0.5"}
    listed(page)
    assert page.locator("progress").count() == 0


def test_a_release_that_is_not_private_is_marked_on_every_view(two, axe):
    def answer(route):
        facts = route.fetch().json()
        route.fulfill(json=facts | {"status": "NOT PRIVATE"})

    two.page.route("**/api/overview**", answer)
    for view in VIEWS:
        page = two.open(view)
        assert "must never be published" in page.locator("#warning").inner_text()
    page = two.open("overview")
    assert page.locator(".badges .bad").inner_text() == "NOT PRIVATE"
    assert two.problems(axe) == []


def test_an_explorer_that_was_ended_says_so(two):
    page = two.open("count")
    page.route("**/api/count**", lambda route: route.abort())
    page.locator("input[role=combobox]").fill("S0001")
    page.locator("[role=option]").first.click()
    says(page, "start it again")
    two.complaints.clear()  # the browser itself reports the failed request


def test_the_tree_is_walked_by_clicking(two, week):
    page = two.open("tree")
    assert f"{len(week):,} trajectories were released" in page.locator("#content").inner_text()
    walked = []
    for _ in range(2):
        child = page.locator(".children a").first
        walked.append(child.locator("small").first.inner_text())
        child.click()
        page.wait_for_url("**" + "&".join(f"location={label}" for label in walked))
        two.settled()
        count = week.count_prefix(walked)
        assert f"{count:,} trajectories begin like this" in page.locator("#content").inner_text()
    page.locator(".crumbs a").nth(1).click()
    page.wait_for_url(f"**location={walked[0]}")
    page.locator(".crumbs a", has_text="all trajectories").click()
    page.wait_for_url("**#/tree")


class Drawn(NamedTuple):
    """The map of flows, and whether the page says that any can be told from noise."""

    picture: bytes
    told: bool


def drawn(page):
    page.wait_for_timeout(100)
    told = "none of them can be told" not in page.locator("p[role=status]").inner_text()
    return Drawn(page.locator(".map canvas").screenshot(), told)


def test_flows_are_a_map_and_a_matrix(two, week):
    page = two.open("flows")
    matrix = page.locator("table.matrix")
    assert matrix.locator("tbody tr").count() == 13
    total = sum(
        int(text.replace(",", "").replace("·", "0"))
        for text in matrix.locator("td").all_inner_texts()
        if text
    )
    assert total == len(week)
    trips = matrix.inner_text()
    page.get_by_label("Flows from").select_option("steps")
    page.wait_for_url("**kind=steps**")
    says(page, "Steps")
    two.settled()
    assert matrix.inner_text() != trips
    steps = drawn(page)  # of 785 trajectories: some may be told from noise, or none
    page.get_by_label("Flows from").select_option("ends")
    page.wait_for_url("**kind=ends**")
    two.settled()
    ends = drawn(page)
    assert (steps.picture != ends.picture) == (steps.told or ends.told)
    page.get_by_label("Busiest locations").select_option("10")
    page.wait_for_url("**n=10**")
    two.settled()
    assert matrix.locator("tbody tr").count() == 10


def test_flows_need_no_coordinates(strange):
    page = strange.open("flows")
    assert page.locator("canvas").count() == 0
    assert page.locator("table.matrix tbody tr").count() > 2


def test_two_releases_are_compared(two, week, bundles):
    later = pv.read_release(bundles("later"))
    page = two.open("compare")
    page.locator("input[role=combobox]").fill("S0001")
    page.locator("[role=option]").first.click()
    says(page, "The true difference is probably between")
    shown = [
        int(text.replace(",", "")) for text in page.locator(".answer .estimate").all_inner_texts()
    ]
    assert shown == [week.count(["S0001"]), later.count(["S0001"])]
    assert page.locator("table").count() == 2
    page.get_by_role("link", name="Overview").click()
    two.drawn("overview")
    page.get_by_label("Release").select_option("2")
    page.wait_for_url("**release=2")
    two.settled()
    assert f"{len(later):,}" in page.locator(".figures").inner_text()
    page.get_by_role("link", name="Count").click()
    page.wait_for_url("**#/count?release=2")


def test_a_release_that_comes_late_does_not_answer_for_the_one_that_is_shown(two, week):
    """Choose release 2, go back before its overview arrives: the page is about release 1."""
    page, held = two.open("count"), []
    page.route("**/api/overview?release=2", lambda route: held.append(route))  # noqa: PLW0108
    page.get_by_label("Release").select_option("2")
    page.wait_for_url("**release=2")
    while not held:
        page.wait_for_timeout(25)
    page.go_back()
    page.locator("#release-name", has_text="week").wait_for()
    with page.expect_response("**/api/overview?release=2"):
        held[0].continue_()
    two.settled()
    assert page.locator("#release-name").inner_text() == "week"
    page.locator("input[role=combobox]").fill("S0001")
    page.locator("[role=option]").first.click()
    page.locator(".answer .estimate").first.wait_for()
    assert estimate(page) == week.count(["S0001"])
    assert "release=2" not in page.get_by_text("Download as CSV").get_attribute("href")


def test_one_release_says_how_to_compare(strange):
    page = strange.open("compare")
    assert "pathveil explore ONE OTHER" in page.locator("#content").inner_text()


def test_a_question_that_can_not_be_answered_says_why(two):
    page = two.open("count", "?location=nowhere")
    assert "no location" in page.locator(".error").inner_text()


def test_an_unknown_view_is_the_overview(two):
    page = two.open("overview")
    page.goto(f"{two.address}#/nonsense")
    page.wait_for_selector("h1:has-text('Overview')")


def test_the_api_has_a_readable_page(two, axe):
    page = two.page
    page.goto(f"{two.address}api")
    page.locator(".route").first.wait_for()
    assert page.locator(".route").count() == 17
    assert two.problems(axe) == []


# By keyboard alone


def test_a_question_is_asked_by_keyboard_alone(two, week):
    page = two.open("overview")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Count":
            break
    page.keyboard.press("Enter")
    two.drawn("count")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "combobox":
            break
    search = page.locator("input[role=combobox]")
    page.keyboard.type("S000")
    page.locator("[role=option]").first.wait_for()
    assert search.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    active = search.get_attribute("aria-activedescendant")
    option = page.locator(f"#{active}")
    assert option.get_attribute("aria-selected") == "true"
    label = option.locator("small").inner_text()
    page.keyboard.press("Enter")
    says(page, "The true number is probably between")
    assert page.locator(".chosen small").inner_text() == label
    assert estimate(page) == week.count([label])
    page.keyboard.type("S00")
    page.locator("[role=option]").first.wait_for()
    page.keyboard.press("Escape")
    assert search.get_attribute("aria-expanded") == "false"
    assert page.locator(".chosen li").count() == 1
    for _ in range(6):
        page.keyboard.press("Tab")
        if "Remove" in (page.evaluate("document.activeElement.getAttribute('aria-label')") or ""):
            break
    page.keyboard.press("Enter")
    says(page, "Choose one or more locations")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "combobox"


def test_the_tree_is_walked_by_keyboard_alone(two):
    page = two.open("tree")
    links = page.locator(".children a")
    links.first.focus()
    page.keyboard.press("ArrowDown")
    second = links.nth(1).locator("small").first.inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**location={second}")
    two.settled()
    links.first.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**#/tree")


# For everybody, everywhere


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_accessible(browser, address, axe, view, scheme):
    with exploring(
        browser, address("week", "later"), color_scheme=scheme, reduced_motion="reduce"
    ) as page:
        query = {"patterns": "?k=20", "overview": "", "flows": ""}.get(view, "?location=S0001")
        opened = page.open(view, query)
        if view == "patterns":
            listed(opened)
        assert page.problems(axe) == []


@pytest.mark.parametrize("names", [("week", "later"), ("strange",), ("timed",)])
def test_every_view_fits_a_phone(browser, address, axe, names):
    with exploring(browser, address(*names), PHONE, has_touch=True, is_mobile=True) as page:
        for view in VIEWS:
            page.open(view)
            assert not page.is_wide(), view
        assert page.problems(axe) == []


def test_enter_means_what_is_typed_and_not_what_was_suggested_before(two):
    page = two.open("count")
    box = page.locator("input[role=combobox]")
    box.fill("S0003")
    page.locator("[role=option]", has_text="S0003").wait_for()
    page.route("**/api/locations*", lambda route: (time.sleep(0.3), route.continue_()))
    box.fill("S0005")
    page.keyboard.press("Enter")
    page.locator(".chosen li").wait_for()
    assert "S0005" in page.locator(".chosen li").inner_text()


def test_suggestions_on_their_way_do_not_open_a_list_that_was_closed(two):
    page = two.open("count")
    box = page.locator("input[role=combobox]")
    box.fill("S000")
    page.locator("[role=option]").first.wait_for()
    held = []
    page.route("**/api/locations*", lambda route: held.append(route))  # noqa: PLW0108
    with page.expect_request("**/api/locations*"):
        box.press("1")
    box.press("Escape")
    assert len(held) == 1
    held[0].continue_()
    page.wait_for_timeout(300)
    assert box.get_attribute("aria-expanded") == "false"
    assert page.locator("[role=listbox]").is_hidden()


def test_suggestions_are_accessible(two, axe):
    page = two.open("count")
    page.locator("input[role=combobox]").fill("a")
    page.locator("[role=option]").first.wait_for()
    page.keyboard.press("ArrowDown")
    assert two.problems(axe) == []


def test_labels_are_never_markup(strange, axe):
    for view in VIEWS:
        page = strange.open(view)
        page.wait_for_timeout(50)
        assert page.locator("main img, main b").count() == 0
    page = strange.open("overview")
    shown = page.locator("#visits bdi").all_inner_texts()
    assert set(shown) == set(releases.STRANGE)
    assert all(
        element.get_attribute("dir") == "auto" for element in page.locator("#visits bdi").all()
    )
    for label in releases.STRANGE:
        page = strange.open("count")
        page.locator("input[role=combobox]").fill(label)
        page.locator("[role=option]").first.click()
        page.locator(".answer").wait_for()
        assert page.locator(".chosen bdi").inner_text() == label
    assert strange.problems(axe) == []


def test_the_direction_of_a_name_follows_its_letters(strange):
    page = strange.open("overview")
    hebrew = page.locator("#visits bdi", has_text="תחנה")
    assert hebrew.evaluate("element => getComputedStyle(element).direction") == "rtl"
    latin = page.locator("#visits bdi", has_text="Crémazie")
    assert latin.evaluate("element => getComputedStyle(element).direction") == "ltr"


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_8760_stops_are_drawn_and_found(browser, address, bundles, viewport):
    release = pv.read_release(bundles("stops"))
    with exploring(browser, address("stops"), viewport) as page:
        opened = page.open("count")
        canvas = opened.locator(".map canvas")
        assert "8,760 locations" in canvas.get_attribute("aria-label")
        opened.locator("input[role=combobox]").fill("cremazie")
        opened.locator("[role=option]").first.wait_for()
        assert opened.locator("[role=option]").count() == 12
        opened.locator("input[role=combobox]").fill("50004")
        opened.locator("[role=option]", has_text="50004").click()
        opened.locator(".answer").wait_for()
        assert estimate(opened) == release.count(["50004"])
        box = canvas.bounding_box()
        opened.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        opened.locator(".chosen li").nth(1).wait_for()
        assert not page.is_wide()
        page.open("flows")
        page.open("tree")
        assert not page.is_wide()


# The map, flows, hours and differences, on a desk and on a phone


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def city(browser, address, request):
    with exploring(browser, address("city"), request.param) as page:
        yield page


def middle(page):
    """The middle of the map, where the market is."""
    canvas = page.locator(".map canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def clipped(page):
    """Tables that are wider than what is shown of them; a matrix may scroll."""
    return page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(one => !one.querySelector('.matrix') "
        "&& one.scrollWidth > one.clientWidth + 1).map(one => one.getAttribute('aria-label'))"
    )


PINCH = """([x, y]) => {
  const canvas = document.querySelector(".map canvas");
  const send = (kind, id, dx) => canvas.dispatchEvent(new PointerEvent(kind, {
    pointerId: id, pointerType: "touch", clientX: x + dx, clientY: y, buttons: 1, bubbles: true }));
  send("pointerdown", 1, -20); send("pointerdown", 2, 20);
  send("pointermove", 1, -60); send("pointermove", 2, 60);
  send("pointerup", 1, -60); send("pointerup", 2, 60);
}"""


def test_the_map_has_names_text_at_the_pointer_and_zooms_by_wheel_and_fingers(city, bundles):
    page = city.open()
    canvas = page.locator(".map canvas")
    # As many as are named at all: those at the right edge have their names to the left. The map is
    # drawn in a frame of its own, which on a busy machine comes after the page has settled.
    page.wait_for_selector(".map canvas[data-named]")
    assert canvas.get_attribute("data-named") == "12"
    x, y = middle(page)
    page.mouse.move(x + 4, y + 4)
    tip = page.locator(".map-tip")
    visits = pv.visits(pv.read_release(bundles("city"))).counts[0]
    assert tip.inner_text() == f"Market (M): {visits:,} trajectories"
    box = tip.bounding_box()
    assert abs(box["x"] - x) < 200
    assert abs(box["y"] - y) < 90
    page.mouse.move(0, 0)
    page.wait_for_timeout(100)
    assert not tip.is_visible()
    page.mouse.move(*middle(page))
    page.mouse.wheel(0, -300)
    page.wait_for_function("document.querySelector('.map canvas').dataset.zoom > 1")
    by_wheel = float(canvas.get_attribute("data-zoom"))
    page.evaluate(PINCH, middle(page))
    assert float(canvas.get_attribute("data-zoom")) == pytest.approx(3 * by_wheel)
    page.get_by_label("Show everything").click()
    assert canvas.get_attribute("data-zoom") == "1"
    page.mouse.move(*middle(page))
    page.mouse.wheel(0, 300)  # there is no more to see: the page may scroll
    assert canvas.get_attribute("data-zoom") == "1"
    assert not city.is_wide()


def test_flows_have_zones_catchments_names_and_hours(city, bundles, axe):
    release = pv.read_release(bundles("city"))
    page = city.open("flows", "?kind=steps&draw=zones")
    status = page.locator("[aria-label='Flow map'] [role=status]")
    assert "zones of the map" in status.inner_text()
    # Of zones only a bound is known: nothing is drawn, and it is said.
    canvas = page.locator(".map canvas")
    assert int(canvas.get_attribute("data-lines")) == 0
    assert "none of them can be told from noise" in status.inner_text()
    page.get_by_label("Lines on the map").select_option("stops")
    page.wait_for_url("**draw=stops**")
    city.settled()
    assert "between different locations" in status.inner_text()
    # What noise explains is not drawn, has no colour in the matrix, and is said to be left out.
    listed = [f for f in release.flows("transitions") if f.origin != f.destination][:60]
    drawn = sum(flow.count.mark != "noise" for flow in listed)
    assert int(canvas.get_attribute("data-lines")) == drawn
    assert ("can't be told from noise" in status.inner_text() or "none of them" in
            status.inner_text()) == (drawn < len(listed))  # fmt: skip
    shares = page.locator(".matrix td.noise").evaluate_all(
        "cells => cells.map(cell => Number(cell.style.getPropertyValue('--share')))"
    )
    assert not any(shares)
    names = page.locator(".matrix thead .upright").all_inner_texts()
    assert names[0] == "Market"
    assert len(names) == len(set(names)) == 13
    assert clipped(page) == []
    assert city.problems(axe) == []
    # A stop's catchment, in and out.
    page.mouse.click(*middle(page))
    page.wait_for_url("**of=M**")
    city.settled()
    assert "Catchment of Market" in page.locator("h2").all_inner_texts()[1]
    came = sum(n for a, b, n in pv.transitions(release).to_rows(release.universe) if b == "M" != a)
    assert f"{came:,} come here" in page.locator("#content").inner_text()
    assert "Market" in status.inner_text()
    assert clipped(page) == []
    page.get_by_role("button", name="All flows").click()
    city.settled()
    assert page.get_by_role("heading", name="Largest flows").count() == 1
    # By the hour.
    page.get_by_label("Hours").fill("8")
    page.wait_for_url("**during=07%3A00-08%3A00**")
    city.settled()
    expected = pv.transitions(release.within("07:00-08:00")).to_rows(release.universe, limit=1)
    row = page.locator("section:has(h2:text('Largest flows')) tbody tr").first
    assert row.locator("td").last.inner_text() == f"{expected[0][2]:,}"
    assert not city.is_wide()


def test_when_has_a_map_and_a_slider(city, bundles, axe):
    release = pv.read_release(bundles("city"))
    page = city.open("when")
    assert page.locator("tbody tr").count() == 24
    canvas = page.locator(".map canvas")
    page.wait_for_timeout(100)
    before = canvas.screenshot()
    slider = page.get_by_label("Hours")
    slider.fill("17")
    page.wait_for_url("**during=16%3A00-17%3A00**")
    city.settled()
    page.wait_for_timeout(150)
    assert page.locator("output").inner_text() == "16:00-17:00"
    assert slider.get_attribute("aria-valuetext") == "16:00-17:00"
    assert canvas.screenshot() != before
    page.mouse.click(*middle(page))
    page.wait_for_url("**location=M**")
    city.settled()
    shown = [int(t.replace(",", "")) for t in page.locator("td.number").all_inner_texts()]
    assert sum(shown) == pv.visit_counts(release).counts[0]
    assert clipped(page) == []
    assert city.problems(axe) == []
    assert not city.is_wide()


def test_patterns_are_told_by_the_hour(city, bundles):
    page = city.open("patterns")
    page.get_by_label("Hours").fill("8")
    page.wait_for_url("**during=07%3A00-08%3A00**")
    listed(page)
    city.settled()
    view = pv.read_release(bundles("city")).within("07:00-08:00")
    (best,) = view.top_patterns(1, min_length=2, different=True)
    row = page.locator("tbody tr").first
    assert tuple(row.locator("small").all_inner_texts()) == best.locations
    assert clipped(page) == []


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_differences_are_on_the_map_and_noise_is_faint(browser, address, bundles, viewport, axe):
    # By chance of the noise, some of the 13 stops may have as many visits in both.
    visited = [pv.visits(pv.read_release(bundles(name))).counts for name in ("week", "later")]
    with exploring(browser, address("week", "later"), viewport) as two:
        page = two.open("compare")
        assert "Differences on the map" in page.locator("h2").all_inner_texts()
        told = page.locator("[aria-label='Map of differences'] > p").inner_text()
        sure, every = map(int, re.search(r"(\d+) of (\d+) differences", told).groups())
        assert 0 <= sure <= every == np.count_nonzero(visited[0] != visited[1])
        assert page.locator(".map canvas").is_visible()
        assert clipped(page) == []
        assert two.problems(axe) == []


def test_no_word_is_broken_inside(city):
    page = city.open("flows")
    assert page.evaluate("getComputedStyle(document.body).overflowWrap") == "break-word"
    cell = page.locator("td:has(.place)").first
    assert cell.evaluate("one => getComputedStyle(one).overflowWrap") == "break-word"
    # A name of two words has two lines at most, and a label below it one.
    lines = cell.locator("bdi").first.evaluate("one => one.getClientRects().length")
    assert lines <= 2
