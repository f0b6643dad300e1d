"""The plot of `bench.scale`: seconds and peak memory against |D|, on logarithmic axes.

``python -m bench.scale_plot OUT.svg RESULTS.json…`` draws what ``--results`` kept.
"""

import json
import sys
from pathlib import Path

import altair as alt

from bench.scale_fit import merged


def points(results: list[dict]) -> list[dict]:
    """A point for each run, and for each np.sort."""
    found, sorts = merged(results)
    runs = [
        {
            "trajectories": size,
            "engine": engine,
            "wall": run["seconds"],
            "processor": run["processor"],
            "memory": (run["peak"] + run.get("jvm", 0)) / 1e9,
        }
        for engine, sizes in found.items()
        for size, run in sizes.items()
    ]
    return runs + [
        {
            "trajectories": size,
            "engine": "np.sort",
            "wall": sort["seconds"],
            "processor": sort["processor"],
        }
        for size, sort in sorts.items()
    ]


def panel(values: list[dict], field: str, title: str) -> alt.Chart:
    engines = ["memory", "duckdb", "spark", "np.sort"]
    color = alt.Color("engine:N").scale(
        domain=engines, range=["#0072b2", "#d55e00", "#009e73", "#777777"]
    )
    log = alt.Scale(type="log")
    return (
        alt.Chart(alt.Data(values=[v for v in values if field in v]), width=230, height=230)
        .mark_line(point=True)
        .encode(
            x=alt.X("trajectories:Q", scale=log, axis=alt.Axis(format="~s", tickCount=3)),
            y=alt.Y(f"{field}:Q", scale=log, title=title, axis=alt.Axis(format="~g", tickCount=5)),
            color=color,
        )
    )


def main() -> None:
    out, *files = map(Path, sys.argv[1:])
    values = points([json.loads(file.read_text()) for file in files])
    panels = [
        panel(values, "processor", "processor seconds"),
        panel(values, "wall", "wall seconds"),
        panel(values, "memory", "peak memory, GB (Spark: the driver)"),
    ]
    alt.hconcat(*panels).save(out)


if __name__ == "__main__":
    main()
