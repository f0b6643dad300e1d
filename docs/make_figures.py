"""Draw the figures of docs/method-explained.md: ``python docs/make_figures.py``.

The numbers are those of the real mechanism on sixty made-up riders. The noise is injected, so that
the figures stay as they are; a real release draws it from the operating system.
"""

import math
from collections import Counter
from pathlib import Path

import numpy as np
from drawing import Drawing

import pathveil as pv

PICTURES = Path(__file__).with_name("pictures")
STOPS = "ABC"
RIDERS = {"ABC": 14, "AB": 12, "AC": 9, "BA": 11, "B": 8, "BCA": 2, "A": 4}
EPSILON, HEIGHT, THRESHOLD, SEED = "1.5", 3, 4, 9
NODE, GAP, LEVEL = 54, 8, 74


def true_counts() -> dict[str, int]:
    """How many riders begin with each prefix."""
    counts: Counter[str] = Counter()
    for path, riders in RIDERS.items():
        counts.update({path[:end]: riders for end in range(1, len(path) + 1)})
    return dict(counts)


def noisy_release() -> pv.Release:
    """The paper's method on the sixty riders."""
    database = pv.TrajectoryDatabase.from_sequences(
        [list(path) for path, riders in RIDERS.items() for _ in range(riders)],
        pv.Universe(list(STOPS)),
    )
    return pv.publish(
        database,
        epsilon=EPSILON,
        height=HEIGHT,
        method="full",
        threshold=THRESHOLD,
        generator=np.random.default_rng(SEED),  # noqa: TID251  (riders who do not exist)
    )


def nodes_of(release: pv.Release) -> dict[str, tuple[int, float]]:
    """The noisy count and the estimate of each prefix that was kept."""
    tree = release.tree
    prefixes: list[str] = []
    for parent, location in zip(tree.parent, tree.location, strict=True):
        prefixes.append((prefixes[parent] if parent >= 0 else "") + STOPS[location])
    counts = zip(tree.noisy_count, tree.estimate, strict=True)
    return {p: (int(noisy), float(e)) for p, (noisy, e) in zip(prefixes, counts, strict=True)}


def places_of(prefixes: list[str]) -> dict[str, tuple[float, float]]:
    """Where each node of a tree is drawn: leaves side by side, parents above their middle."""
    places: dict[str, tuple[float, float]] = {}
    free = [0.0]

    def place(prefix: str) -> float:
        children = [p for p in prefixes if p[:-1] == prefix and p]
        if children:
            middles = [place(child) for child in children]
            x = (middles[0] + middles[-1]) / 2
        else:
            x, free[0] = free[0], free[0] + NODE + GAP
        places[prefix] = (x, len(prefix) * LEVEL)
        return x

    place("")
    return places


def draw_tree(name: str, title: str, labels: dict[str, str], gone: tuple[str, ...] = ()) -> None:
    """A tree of prefixes with a label in each node; those in ``gone`` were dropped."""
    places = places_of(sorted([*labels, *gone]))
    width = max(x for x, _ in places.values()) + NODE + 40
    picture = Drawing(round(width), LEVEL * 3 + 80, title)
    for prefix, (left, top) in places.items():
        x, y, middle = left + 20, top + 20, left + 20 + NODE / 2
        if prefix:
            above, over = places[prefix[:-1]]
            picture.line([(above + 20 + NODE / 2, over + 60), (middle, y)])
        picture.box(x, y, NODE, 40, "plain" if not prefix else "gone" if prefix in gone else "box")
        picture.text(middle, y + 17, prefix[-1:] or "start")
        kind = "small warn" if prefix in gone else "small ink"
        picture.text(middle, y + 33, "dropped" if prefix in gone else labels.get(prefix, ""), kind)
    picture.save(PICTURES / name)


def draw_noise() -> None:
    """The noisy count of a node with 9 riders, and with one rider more."""
    alpha = math.exp(-0.5)
    picture = Drawing(640, 280, "How likely each noisy count is, with and without one rider")
    scale, left, base, step = 560.0, 40, 220, 28
    for count in range(20):
        x = left + step * count
        for true, kind, shift in ((9, "main", 0), (10, "other", 12)):
            chance = (1 - alpha) / (1 + alpha) * alpha ** abs(count - true)
            picture.bar(x + shift, base - scale * chance, 11, scale * chance, kind)
        picture.text(x + 12, base + 18, str(count), "small soft")
    picture.line([(left - 6, base), (left + step * 20, base)], "axis")
    picture.text(left + step * 10, base + 42, "noisy count", "soft")
    for y, kind, words in ((40, "main", "9 riders pass"), (62, "other", "10 riders pass")):
        picture.bar(410, y - 11, 12, 12, kind)
        picture.text(430, y, words, "ink", "start")
    picture.text(40, 40, "No bar is more than e^0.5 = 1.65", "ink", "start")
    picture.text(40, 58, "times as high as its neighbour.", "ink", "start")
    picture.save(PICTURES / "method-noise.svg")


def draw_release(release: pv.Release) -> None:
    """The riders and what was released, path by path."""
    released = Counter("".join(path) for path in release.to_sequences())
    paths = sorted({*RIDERS, *released}, key=lambda path: (-RIDERS.get(path, 0), path))
    picture = Drawing(640, 74 + 34 * len(paths), "Riders and released trajectories by path")
    picture.bar(150, 18, 12, 12, "other")
    picture.text(168, 29, "riders (private)", "ink", "start")
    picture.bar(300, 18, 12, 12, "main")
    picture.text(318, 29, "released (public)", "ink", "start")
    for row, path in enumerate(paths):
        y = 50 + 34 * row
        picture.text(130, y + 18, " → ".join(path), "ink", "end")
        for shift, kind, count in (
            (0, "other", RIDERS.get(path, 0)),
            (13, "main", released.get(path, 0)),
        ):
            picture.bar(150, y + shift, 22 * count, 11, kind)
            picture.text(156 + 22 * count, y + shift + 10, str(count), "small soft", "start")
    picture.save(PICTURES / "method-release.svg")


def draw_steps(name: str, title: str, boxes: list[tuple[str, str, list[str]]]) -> None:
    """Boxes from left to right with arrows between; (kind, heading, lines) each."""
    width, gap = 178, 30
    total = len(boxes) * (width + gap) - gap + 40
    picture = Drawing(total, 84 + 18 * max(len(lines) for *_, lines in boxes), title)
    for number, (kind, heading, lines) in enumerate(boxes):
        x = 20 + number * (width + gap)
        picture.box(x, 20, width, picture.height - 40, kind)
        picture.text(x + width / 2, 44, heading, "big ink")
        for row, line in enumerate(lines):
            picture.text(x + width / 2, 68 + 18 * row, line, "small ink")
        if number:
            picture.arrow((x - gap + 3, picture.height / 2), (x - 3, picture.height / 2))
    picture.save(PICTURES / name)


AREAS = [  # rows from the top; what is in a row may import what is below it
    [("plain", "cli", "commands, options"), ("gone", "trials", "evaluation, forecasts"),
     ("gone", "audit", "attacks"), ("box", "explorer", "local page, API")],
    [("gone", "publishing", "the story on one screen")],
    [("gone", "raw", "sources, engines, bounding"), ("plain", "gate", "spends ε: noise"),
     ("box", "methods", "paper, calibrated"), ("box", "release", "bundle, exports")],
    [("box", "analysis", "counts, patterns, flows"), ("box", "pages", "report, plots"),
     ("box", "promise", "certificate, words"), ("box", "ledger", "what was spent")],
    [("box", "core", "budget, parameters"), ("box", "statistics", "tables and their plan"),
     ("box", "universe", "public locations"), ("box", "times", "grids, trip rules")],
]  # fmt: skip


def draw_areas() -> None:
    """The packages: where raw data is (dashed), where it gets its noise (grey), and the rest."""
    inner, gap, height = 760, 16, 52
    picture = Drawing(inner + 40, 20 + len(AREAS) * (height + 22) + 26, "The areas of pathveil")
    for row, areas in enumerate(AREAS):
        y, width = 20 + row * (height + 22), (inner + gap) / len(areas) - gap
        for number, (kind, name, holds) in enumerate(areas):
            x = 20 + number * (width + gap)
            picture.box(x, y, width, height, kind)
            picture.text(x + width / 2, y + 22, name, "big ink")
            picture.text(x + width / 2, y + 41, holds, "small ink")
            if len(areas) > 1 and areas[0][1] == "raw" and number:
                picture.arrow((x - gap + 1, y + height / 2), (x - 1, y + height / 2))
    says = "dashed: sees raw data; grey: spends ε, or calls what does; green: noisy or public only"
    picture.text(20 + inner / 2, picture.height - 14, says, "small soft")
    picture.save(PICTURES / "architecture-areas.svg")


def main() -> None:
    """Draw all of them."""
    draw_areas()
    truth, release = true_counts(), noisy_release()
    nodes = nodes_of(release)
    candidates = {p + stop for p in ["", *nodes] if len(p) < HEIGHT for stop in STOPS}
    draw_tree(
        "method-tree.svg",
        "The prefix tree of sixty riders, with true counts",
        {prefix: str(count) for prefix, count in truth.items()} | {"": "60"},
    )
    draw_noise()
    draw_tree(
        "method-noisy-tree.svg",
        "The noisy tree: every possible child was tried, those under the threshold were dropped",
        {prefix: str(noisy) for prefix, (noisy, _) in nodes.items()},
        tuple(sorted(candidates - set(nodes))),
    )
    draw_tree(
        "method-consistent.svg",
        "The repaired tree: children add up to no more than their parent",
        {
            prefix: f"{noisy}" if noisy == estimate else f"{noisy} → {estimate:g}"
            for prefix, (noisy, estimate) in nodes.items()
        },
    )
    draw_release(release)
    draw_steps(
        "method-zones.svg",
        "Raw data, the gate, and what follows it",
        [
            ("gone", "Raw", ["files, databases", "at most c trips a person", "exact counts"]),
            ("plain", "Gate", ["spends ε, once", "noise on every count", "public threshold"]),
            ("box", "After", ["repair, complete", "calibrate, round", "sees noisy counts only"]),
            ("box", "Release", ["count, mine, map", "report, explorer", "costs no more ε"]),
        ],
    )
    draw_steps(
        "method-calibrated.svg",
        "The calibrated method: measure, model, rake",
        [
            ("plain", "Measure", ["a tree, small tables,", "each with noise", "and a share of ε"]),
            ("box", "Model", ["how people move on,", "return, and stop,", "fitted to the tables"]),
            ("box", "Complete", ["prefixes of the tree", "are continued", "by the model"]),
            ("box", "Calibrate", ["weights are moved", "until the tables", "of both agree"]),
        ],
    )


if __name__ == "__main__":
    main()
