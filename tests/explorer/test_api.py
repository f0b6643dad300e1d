"""The API: each route is described, each answer fits its description, and says what Python says."""

import csv
import io
from dataclasses import replace
from itertools import product

import jsonschema
import numpy as np
import pytest
from tests.explorer import releases
from tests.explorer.releases import STRANGE, Caller

import pathveil as pv
from pathveil.core.error_table import ANY, HOURS, KINDS, MARKS, SLOT, ErrorTable
from pathveil.core.texts import unescape
from pathveil.explorer.openapi import describe
from pathveil.explorer.routes import ROUTES
from pathveil.explorer.web import HEADERS
from pathveil.release.answering import Answering

MADE = {
    "calibrated": (releases.week,),
    "times": (releases.timed,),
    "calibrated times": (lambda: releases.timed("calibrated"),),
    "strange labels": (releases.strange,),
    "zones": (releases.zoned,),
    "calibrated zones": (lambda: releases.zoned("calibrated"),),
    "nothing": (releases.empty,),
    "two": (releases.week, lambda: releases.week(seed=8)),
    "two unlike": (releases.week, releases.strange),
}
_callers = {}


def caller_of(name):
    """Made once for all tests."""
    if name not in _callers:
        _callers[name] = Caller(*(make() for make in MADE[name]))
    return _callers[name]


@pytest.fixture(params=MADE)
def caller(request):
    return caller_of(request.param)


def questions(caller, path):
    """Parameters with which a route must answer."""
    labels = list(caller.indexed[0].release.universe.labels)
    if "two unlike" in _callers and caller is _callers["two unlike"]:
        labels = []  # the two have no location in common
    if path in {"/count", "/compare/count"}:
        return [{"location": labels[:n], "order": o} for n in (1, 2) for o in ("any", "given")][
            : 4 * bool(labels)
        ]
    return [{}]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_every_answer_fits_its_description(caller, route):
    described = describe()
    operation = described["paths"][f"/api{route.path}"]["get"]
    for asked in questions(caller, route.path):
        reply = caller.get(f"/api{route.path}", **asked)
        if route.path.startswith("/compare") and len(caller.indexed) < 2:
            assert reply.status == 404
        else:
            assert reply.status == 200, reply
        schema = operation["responses"][str(reply.status)]["content"]["application/json"]["schema"]
        whole = schema | {"components": described["components"]}
        jsonschema.Draft202012Validator(whole).validate(reply.json())


def test_the_description_lists_every_route_and_nothing_else():
    caller = caller_of("calibrated")
    described = caller.get("/api/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    served = {route.path for route in caller.app._inner.routes if route.path.startswith("/api/")}
    assert set(described["paths"]) == served
    for path, item in described["paths"].items():
        assert set(item) == {"get"}, path
        assert item["get"]["summary"].endswith(".")
        for parameter in item["get"].get("parameters", ()):
            jsonschema.Draft202012Validator.check_schema(parameter["schema"])
            assert parameter["description"].endswith(".")
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("route", [r for r in ROUTES if r.has_csv], ids=lambda route: route.path)
def test_a_table_says_the_same_as_csv(caller, route):
    if route.path.startswith("/compare") and len(caller.indexed) < 2:
        assert caller.get(f"/api{route.path}", format="csv").status == 404
        return
    for asked in questions(caller, route.path):
        answer = caller.ask(route.path, **asked)
        reply = caller.get(f"/api{route.path}", **asked, format="csv")
        assert reply.status == 200
        assert reply.headers["content-type"] == "text/csv; charset=utf-8"
        assert "attachment" in reply.headers["content-disposition"]
        rows = list(csv.DictReader(io.StringIO(reply.text(), newline="")))
        expected = answer.get("rows", [answer])
        if route.path == "/compare/count":
            expected = [answer["first"], answer["second"]]
        if route.path == "/flows/matrix":
            expected = cells_of(answer)
        assert [{k: as_text(v) for k, v in row.items()} for row in expected] == [
            {k: unescape(v) for k, v in row.items()} for row in rows
        ]


def cells_of(matrix):
    places = matrix["locations"]
    return [
        {
            "origin": a["label"],
            "origin_name": a["name"],
            "destination": b["label"],
            "destination_name": b["name"],
            "count": matrix["counts"][i][j],
        }
        for i, a in enumerate(places)
        for j, b in enumerate(places)
    ]


def as_text(value):
    if isinstance(value, list):
        value = " → ".join(map(str, value))
    return "" if value is None else str(value)


def test_cells_are_not_formulas():
    text = caller_of("strange labels").get("/api/visits", format="csv").text()
    assert "'=1+1" in text
    assert ",=1+1" not in text
    assert "\n=1+1" not in text


# What is said


def test_counts_are_those_of_the_release():
    caller = caller_of("calibrated")
    release = caller.indexed[0].release
    for labels in (["S0001"], ["S0001", "S0002"], ["S0001", "S0002", "S0003"]):
        answer = caller.ask("/count", location=labels)
        known = release.count(labels)
        assert (answer["count"], answer["low"], answer["high"]) == (known, known.low, known.high)
        assert answer["level"] == 0.9
        assert (answer["best"], answer["mark"]) == (known.best, known.mark)
        between = "at most" if known.is_bound else f"{known.low:,} and"
        assert f"{between} {known.high:,}" in answer["says"][1]
        ordered, truth = (
            caller.ask("/count", location=labels, order="given"),
            release.count_ordered(labels),
        )
        assert ordered["count"] == truth
        assert (ordered["low"], ordered["high"]) == (truth.low, truth.high)
        assert ordered["at_most"] == (truth.high if truth.is_bound else None)


@pytest.mark.parametrize("kind", ["steps", "ends"])
def test_flows_have_intervals_and_marks(kind):
    caller = caller_of("calibrated")
    found = caller.ask("/flows", kind=kind, limit=5)
    table = {"steps": "transitions", "ends": "origin-destination"}[kind]
    known = caller.indexed[0].release.flows(table, limit=5)
    assert [(row["low"], row["best"], row["high"], row["mark"]) for row in found["rows"]] == [
        (flow.count.low, flow.count.best, flow.count.high, flow.count.mark) for flow in known
    ]
    assert "reliable" in found["rule"]


def test_counts_without_intervals_say_so():
    answer = caller_of("strange labels").ask("/count", location=STRANGE[:2])
    assert answer["low"] is answer["at_most"] is None
    assert "no interval" in answer["says"][1]


def test_counts_in_hours_are_those_of_the_release():
    for name in ("times", "calibrated times"):
        caller = caller_of(name)
        release = caller.indexed[0].release
        for window in ("06:00-12:00", "00:00-12:00", "18:00-06:00"):
            view = release.within(window)
            for labels in (["Park"], ["Park", "Mall"], ["a@b", "Park"]):
                answer = caller.ask("/count", location=labels, during=window)
                assert answer["count"] == view.count(labels)
                ordered = caller.ask("/count", location=labels, during=window, order="given")
                assert ordered["count"] == view.count_ordered(labels)
        steps = ["Park@06:00-12:00", "Mall"]
        answer = caller.ask("/count", location=steps, order="given")
        assert answer["count"] == release.count_ordered([("Park", "06:00-12:00"), "Mall"])


@pytest.mark.parametrize("made", ["zones", "calibrated zones"])
def test_zones_are_counted_as_the_release_does(made):
    caller = caller_of(made)
    release = caller.indexed[0].release
    for labels in (["a"], ["zone:X"], ["a", "zone:Z"]):
        assert caller.ask("/count", location=labels)["count"] == release.count(labels)
    ordered = caller.ask("/count", location=["zone:X", "zone:Z"], order="given")
    assert ordered["count"] == release.count_ordered(["zone:X", "zone:Z"])
    mixed = caller.get("/api/count", location=["a", "zone:Z"], order="given")
    assert mixed.status == 400
    visits = {row["label"]: row["count"] for row in caller.ask("/visits", limit=1000)["rows"]}
    known = {label: release.count([label]) for label in release.universe.labels}
    assert visits == {label: count for label, count in known.items() if count}


def test_zones_are_found_where_they_can_be_asked_for():
    caller = caller_of("calibrated zones")
    found = caller.ask("/locations", q="zone", zones="yes")["rows"]
    assert [row["label"] for row in found] == ["zone:X", "zone:Y", "zone:Z"]
    release = caller.indexed[0].release
    assert [row["count"] for row in found] == [release.count([row["label"]]) for row in found]
    assert not caller.ask("/locations", q="zone")["rows"]  # a map, hours and flows have none


def test_the_tree_is_that_of_the_release(caller):
    """Down to the third level: every child has the count of its prefix."""
    indexed = caller.indexed[0]
    release, grid = indexed.release, indexed.release.time_grid
    has_zones = release.parameters.sub_levels is not None
    published = {}
    tree = release.tree
    for node in range(len(tree)):
        before = published[int(tree.parent[node])][0] if tree.parent[node] >= 0 else ()
        published[node] = ((*before, int(tree.location[node])), int(tree.noisy_count[node]))
    # Nodes of a tree with zones are not visits: no noisy count is told.
    noisy = {} if has_zones else dict(published.values())

    def step(label, slot):
        return label if grid is None else (label, f"{slot}-{ends[slot]}")

    ends = dict(zip(grid.labels, grid.ends_as_texts(), strict=True)) if grid else {}

    def check(labels, slots, depth):
        node = caller.ask("/tree", location=labels, slot=slots, limit=1000)
        steps = [step(*pair) for pair in zip(labels, slots or labels, strict=True)]
        if not has_zones:  # count_prefix does not mix granularities
            assert node["count"] == (release.count_prefix(steps) if steps else len(release))
        assert node["ended"] + sum(row["count"] for row in node["rows"]) == node["count"]
        assert [r["count"] for r in node["rows"]] == sorted(
            (r["count"] for r in node["rows"]), reverse=True
        )
        codes = tuple(
            release.universe.code(label) + (grid.labels.index(slot) * 3 if grid else 0)
            for label, slot in zip(labels, slots or labels, strict=True)
        )
        assert node["noisy_count"] == noisy.get(codes)
        for row in node["rows"][:3] if depth < 2 else ():
            check([*labels, row["label"]], [*slots, row["slot"]] if grid else [], depth + 1)

    check([], [], 0)


def test_patterns_are_those_of_the_release(caller):
    release, longest = caller.indexed[0].release, caller.indexed[0].patterns.longest
    for least, most in ((1, 1), (1, longest), (min(2, longest), longest)):
        for gaps, repeats in product(("yes", "no"), ({}, {"repeats": "yes"})):
            lengths = {"min_length": least, "max_length": most}
            answer = caller.ask("/patterns", k=25, **lengths, gaps=gaps, **repeats)
            expected = release.top_patterns(
                25, **lengths, contiguous=gaps == "no", different=not repeats
            )
            assert [(tuple(r["locations"]), r["count"]) for r in answer["rows"]] == [
                (p.locations, p.support) for p in expected
            ]
            assert answer["complete_from"] == 0


def test_patterns_with_a_location_are_complete_where_they_say_so():
    caller = caller_of("calibrated")
    release = caller.indexed[0].release
    answer = caller.ask("/patterns", contains="S0003", k=40, max_length=3)
    every = release.top_patterns(100_000, max_length=3, different=True)
    expected = [p for p in every if "S0003" in p.locations and p.support > answer["complete_from"]]
    found = [r for r in answer["rows"] if r["count"] > answer["complete_from"]]
    assert [tuple(row["locations"]) for row in found] == [p.locations for p in expected][:40]
    assert len(found) > 3


def test_patterns_that_are_being_mined_are_waited_for():
    caller = Caller(releases.strange())
    tables = caller.indexed[0].patterns
    mined = dict(tables._tables)
    schemas = describe()
    waiting = {"$ref": "#/components/schemas/Waiting", "components": schemas["components"]}
    tables._tables = {key: table for key, table in mined.items() if key[0] == 1}
    reply = caller.get("/api/patterns")
    assert reply.status == 202
    jsonschema.Draft202012Validator(waiting).validate(reply.json())
    assert 0 < reply.json()["progress"] < 1
    assert caller.get("/api/patterns", max_length=1).status == 200  # these are there already
    tables.has_failed = True
    reply = caller.get("/api/patterns")
    assert reply.status == 400
    assert "could not be mined" in reply.json()["error"]


def test_flows_add_up():
    caller = caller_of("calibrated")
    release = caller.indexed[0].release
    for kind, total in (("ends", len(release)), ("steps", None)):
        flows = caller.ask("/flows", kind=kind, limit=1000)
        matrix = caller.ask("/flows/matrix", kind=kind, n=100)
        assert matrix["total"] == (total or matrix["total"])
        assert matrix["inside"] == sum(map(sum, matrix["counts"])) == matrix["total"]
        labels = [place["label"] for place in matrix["locations"]]
        for row in flows["rows"]:
            i, j = labels.index(row["origin"]), labels.index(row["destination"])
            assert matrix["counts"][i][j] == row["count"]
        moving = caller.ask("/flows", kind=kind, staying="no", limit=1000)["rows"]
        assert [r["count"] for r in moving] == [
            r["count"] for r in flows["rows"] if r["origin"] != r["destination"]
        ]


def test_two_releases_are_compared():
    caller = caller_of("two")
    one, other = (indexed.release for indexed in caller.indexed)
    answer = caller.ask("/compare/count", location=["S0001", "S0002"])
    first, second = (r.count(["S0001", "S0002"], level=0.95) for r in (one, other))
    assert answer["difference"] == second - first
    assert (answer["low"], answer["high"]) == (second.low - first.high, second.high - first.low)
    assert answer["low"] <= answer["difference"] <= answer["high"]
    visits = caller.ask("/compare/visits", limit=1000)
    assert visits["counted_otherwise"] is None
    for row in visits["rows"]:
        assert row["first"] == one.count([row["label"]])
        assert row["second"] == other.count([row["label"]])
        assert row["low"] <= row["difference"] <= row["high"]
    lengths = caller.ask("/compare/lengths")["rows"]
    assert sum(row["first"] for row in lengths) == len(one)
    assert sum(row["second"] for row in lengths) == len(other)
    assert caller.ask("/overview", release=2)["name"] == "release 2"
    facts = caller.ask("/overview")
    assert facts["title"] is None  # its publisher said nothing
    assert (facts["method"], facts["height"]) == ("calibrated", None)  # each table has its cap


def test_locations_that_only_one_release_has_are_compared():
    rows = caller_of("two unlike").ask("/compare/visits", limit=1000)["rows"]
    assert {row["label"] for row in rows} > set(STRANGE[:3])
    assert all((row["first"] is None) != (row["second"] is None) for row in rows)
    assert all(row["difference"] is None for row in rows)


# What is refused


@pytest.mark.parametrize(
    ("path", "asked", "says"),
    [
        ("/count", {}, "Name at least one"),
        ("/count", {"location": "nowhere"}, "no location"),
        ("/count", {"location": ["S0001"] * 51}, "at most 50"),
        ("/count", {"location": "S0001", "order": "backwards"}, "one of any, given"),
        ("/count", {"location": "S0001", "during": "07:00-10:00"}, "no times"),
        ("/count", {"location": "S0001", "during": "soon"}, "not a time window"),
        ("/count", {"location": "x" * 501}, "longer than"),
        ("/visits", {"limit": "0"}, "from 1 to 1000"),
        ("/visits", {"limit": "1_0"}, "from 1 to 1000"),
        ("/visits", {"limit": "9" * 5000}, "from 1 to 1000"),
        ("/visits", {"limit": ["1", "2"]}, "once"),
        ("/visits", {"of": "me"}, "no parameter"),
        ("/patterns", {"min_length": "3", "max_length": "2"}, "at least"),
        ("/patterns", {"contains": "nowhere"}, "no location"),
        ("/tree", {"location": "nowhere"}, "no location"),
        ("/tree", {"location": "S0001", "slot": "07:00"}, "no times"),
    ],
)
def test_bad_questions_are_refused_with_a_message(path, asked, says):
    reply = caller_of("calibrated").get(f"/api{path}", **asked)
    assert reply.status == 400
    assert says in reply.json()["error"]


def test_slots_of_a_prefix_must_fit():
    caller = caller_of("times")
    for slots in ([], ["06:00", "12:00"], ["07:00"]):
        assert caller.get("/api/tree", location="Park", slot=slots).status == 400


def test_what_is_not_there_is_not_found():
    caller = caller_of("calibrated")
    paths = (
        "/api/nothing",
        "/static/../web.py",
        "/static/%2e%2e/web.py",
        "/static/",
        "/etc/passwd",
    )
    for path in paths:
        assert caller.get(path).status == 404, path
    assert caller.get("/api/overview", release=2).status == 404
    assert caller.get("/api/compare/lengths").status == 404


@pytest.mark.parametrize("path", ["/", "/api", "/api/overview", "/static/main.js", "/nowhere"])
def test_every_reply_carries_the_security_headers(path):
    reply = caller_of("calibrated").get(path)
    for name, value in HEADERS.items():
        assert reply.headers[name.lower()] == value
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    "host",
    [None, "", "evil.example", "evil.example:8321", "127.0.0.1", "127.0.0.1:80", "localhost:9"],
)
def test_other_names_for_this_computer_are_refused(host):
    reply = caller_of("calibrated").get("/api/overview", host=host)
    assert reply.status == 421
    assert "content-security-policy" in reply.headers


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "localhost:8321", "LOCALHOST:8321"])
def test_its_own_names_are_answered(host):
    assert caller_of("calibrated").get("/api/overview", host=host).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_only_get_is_answered(method):
    assert caller_of("calibrated").get("/api/overview", method=method).status == 405


def test_a_bug_of_ours_is_told_without_its_text(monkeypatch):
    caller = caller_of("calibrated")

    def broken(_self, _counts):
        raise LookupError("a secret")

    monkeypatch.setattr(type(caller.indexed[0].release.answering), "lengths", broken)
    sent = caller.get("/api/lengths")
    assert sent.status == 500
    assert "a secret" not in sent.text()


# By hours, by location, by zones of the map


def test_slots_add_up_to_all_visits():
    caller = caller_of("calibrated times")
    release = caller.indexed[0].release
    paths = release.timed_paths()
    rows = caller.ask("/slots")["rows"]
    assert [row["start"] for row in rows] == list(release.time_grid.labels)
    assert sum(row["count"] for row in rows) == int(paths.weights @ paths.lengths)
    some = release.universe.labels[0]
    of_one = caller.ask("/slots", location=some)["rows"]
    assert sum(row["count"] for row in of_one) == int(pv.visit_counts(release).counts[0])
    assert caller_of("calibrated").ask("/slots")["rows"] == []
    # Intervals only where something was measured that tells them: a bound would be everybody.
    tells = release.answering.table.tells
    assert {row["mark"] is not None for row in rows} == {tells(SLOT)}
    assert {row["mark"] is not None for row in of_one} == {tells(HOURS)}


@pytest.mark.parametrize(("kind", "asked"), [(SLOT, {}), (HOURS, {"location": "Market"})])
def test_hours_have_intervals_where_the_release_tells_their_errors(monkeypatch, kind, asked):
    caller = caller_of("calibrated times")
    release = caller.indexed[0].release
    asked = dict.fromkeys(asked, release.universe.labels[0])
    before = caller.ask("/slots", **asked)["rows"]
    table = release.answering.table
    known = np.flatnonzero((table.kind == KINDS.index(ANY)) & (table.locations == 1))
    rows = np.concatenate([np.flatnonzero(table.kind < KINDS.index(kind)), known])
    of_kind = np.full(len(known), KINDS.index(kind))
    telling = ErrorTable(
        table.locations[rows], table.estimate[rows], table.bounds[rows],
        np.concatenate([table.kind[rows[: -len(known)]], of_kind]), table.best[rows],
    )  # fmt: skip
    assert telling.problem() is None
    monkeypatch.setitem(vars(release), "answering", Answering(telling, release.answering.paths))
    told = caller.ask("/slots", **asked)["rows"]
    assert [row["count"] for row in told] == [row["count"] for row in before]
    assert all(row["low"] <= row["count"] <= row["high"] for row in told)
    assert {row["mark"] for row in told} <= set(MARKS)


def test_flows_and_maps_and_patterns_of_some_hours_are_those_of_the_view():
    caller = caller_of("calibrated times")
    release = caller.indexed[0].release
    grid = release.time_grid
    window = f"{grid.labels[0]}-{grid.ends_as_texts()[len(grid) // 2]}"
    view = release.within(window)
    for kind, counted in (("steps", pv.transitions), ("ends", pv.origin_destination)):
        rows = caller.ask("/flows", kind=kind, during=window, limit=1000)["rows"]
        expected = counted(view).to_rows(release.universe, limit=1000)
        assert [(r["origin"], r["destination"], r["count"]) for r in rows] == expected
        # Of some hours only a bound is known: no figure is shown without a mark.
        assert all(r["low"] == 0 and r["count"] <= r["high"] for r in rows)
        assert {r["mark"] for r in rows} == {"noise"}
        matrix = caller.ask("/flows/matrix", kind=kind, during=window, n=100)
        assert {mark for row in matrix["marks"] for mark in row} == {"noise"}
        assert matrix["total"] == sum(count for *_, count in expected)
    found = caller.ask("/patterns", during=window, k=10, min_length=2)["rows"]
    expected = view.top_patterns(10, min_length=2, max_length=4, different=True)
    assert [(tuple(r["locations"]), r["count"]) for r in found] == [
        (p.locations, p.support) for p in expected
    ]
    assert {r["mark"] for r in found} == {"noise"}


def test_a_catchment_is_made_of_the_flows():
    caller = caller_of("calibrated")
    label = caller.ask("/visits", limit=1)["rows"][0]["label"]
    every = caller.ask("/flows", kind="steps", limit=1000)["rows"]
    told = caller.ask("/flows/of", location=label, kind="steps", limit=1000)
    came = {r["origin"]: r["count"] for r in every if r["destination"] == label != r["origin"]}
    went = {r["destination"]: r["count"] for r in every if r["origin"] == label != r["destination"]}
    assert {r["label"]: r["came"] for r in told["rows"] if r["came"]} == came
    assert {r["label"]: r["went"] for r in told["rows"] if r["went"]} == went
    assert (told["came"], told["went"]) == (sum(came.values()), sum(went.values()))
    # With the intervals of the same flows.
    fields = ("low", "high", "best", "mark")
    known = {(r["origin"], r["destination"]): [r[key] for key in fields] for r in every}
    for row in told["rows"]:
        for way, pair in (("came", (row["label"], label)), ("went", (label, row["label"]))):
            shown = [row[f"{way}_{key}"] for key in fields]
            assert shown[0] <= row[way] <= shown[1]
            assert pair not in known or shown == known[pair]
    matrix = caller.ask("/flows/matrix", kind="steps", n=100)
    labels = [place["label"] for place in matrix["locations"]]
    marks = {
        (a, b): matrix["marks"][i][j] for i, a in enumerate(labels) for j, b in enumerate(labels)
    }
    assert {pair: marks[pair] for pair in known} == {pair: of[3] for pair, of in known.items()}


@pytest.mark.parametrize("across", [1, 3, 30])
def test_flows_between_zones_add_up(across):
    caller = caller_of("calibrated")
    told = caller.ask("/flows/zones", kind="steps", across=across, limit=1000)
    assert told["total"] == told["inside"] + told["left_out"] + sum(
        flow["count"] for flow in told["rows"]
    )
    labels = [zone["label"] for zone in told["zones"]]
    assert len(set(labels)) == len(labels)
    assert sum(zone["locations"] for zone in told["zones"]) > 1
    assert all(flow["origin"] != flow["destination"] for flow in told["rows"])
    assert {flow["origin"] for flow in told["rows"]} <= set(labels)
    assert len(labels) == 1 or across > 1
    # Of sums only a bound is known, and that is told.
    for flow in told["rows"]:
        assert (flow["mark"], flow["low"]) == ("noise", 0)
        assert flow["count"] <= flow["high"]


def test_two_releases_that_count_other_trips_are_told_so():
    """Or the map would show as changes in the city what another bound makes."""
    several = pv.TrajectoryDatabase.from_arrays(
        np.arange(0, 101, 2), np.tile([0, 1], 50), pv.Universe(["a", "b"]),
        max_trajectories_per_unit=3,
    )  # fmt: skip
    by_day = replace(several, rules=("a unit's visits are split into trajectories by the day",))
    once = replace(by_day, max_trajectories_per_unit=1)
    how = {"epsilon": "8", "method": "full", "height": 2}
    by_ids, daily, single = (pv.publish(one, **how) for one in (several, by_day, once))
    for one, other, says in ((by_ids, daily, "other rules"), (daily, single, "At most 3 traj")):
        assert says in Caller(one, other).ask("/compare/visits")["counted_otherwise"]
