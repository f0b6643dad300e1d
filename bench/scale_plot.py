"""The plot of `bench.scale`: seconds and peak memory against |D|, both on logarithmic axes."""

from pathlib import Path

import altair as alt


def draw(found: dict[str, dict[int, dict]], sorts: dict[int, float], path: Path) -> None:
    """Write an SVG.

    Args:
        found: engine → |D| → what `bench.scale_run` measured.
        sorts: |D| → seconds of one np.sort of as many keys.
        path: the file.
    """
    points = [
        {"|D|": size, "engine": engine, "seconds": run["seconds"], "GB": run["peak"] / 1e9}
        for engine, runs in found.items()
        for size, run in runs.items()
    ]
    times = points + [
        {"|D|": size, "engine": "np.sort", "seconds": seconds} for size, seconds in sorts.items()
    ]
    charts = [_lines(times, "seconds", "wall seconds"), _lines(points, "GB", "peak memory, GB")]
    alt.hconcat(*charts).save(path)


def _lines(points: list[dict], field: str, title: str) -> alt.Chart:
    log = alt.Scale(type="log")
    engines = alt.Color("engine:N").scale(
        domain=["memory", "duckdb", "spark", "np.sort"],
        range=["#0072b2", "#d55e00", "#009e73", "#777777"],
    )
    return (
        alt.Chart(alt.Data(values=points), width=320, height=260)
        .mark_line(point=True)
        .encode(
            x=alt.X("|D|:Q", scale=log, title="trajectories", axis=alt.Axis(format="~s")),
            y=alt.Y(f"{field}:Q", scale=log, title=title),
            color=engines,
            shape="engine:N",
        )
    )
