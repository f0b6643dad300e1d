"""Charts of a release, for notebooks: each carries the few rows that it shows, and tooltips."""

from typing import Any

from pathveil.analysis.flows import visits
from pathveil.errors import QueryError
from pathveil.plot.drawing import BLUE, HEIGHT, ROW, WIDTH, altair, chart, check_most, titled
from pathveil.plot.flow_charts import flow_lines, flow_matrix
from pathveil.plot.icicle_chart import icicle_chart
from pathveil.report.clock import count_hours
from pathveil.report.lengths import MOST_LENGTHS, length_rows
from pathveil.report.moves import strongest_moves
from pathveil.report.places import Place
from pathveil.report.released import Released


class Plots:
    """The charts of one release, as ``release.plot``. They are Altair's; asking costs no budget.

    Args:
        release: the release.
    """

    def __init__(self, release: Released) -> None:
        self._release = release

    def __repr__(self) -> str:
        return "Plots: visits(), flows(), tree(), lengths(), hours()"

    def visits(self, most: int = 20) -> Any:
        """The most visited locations, as bars.

        Args:
            most: how many locations.

        Raises:
            ParameterError: if that is not a number, or altair is not installed.
        """
        alt, universe = altair(), self._release.universe
        rows = [
            {"location": label, "name": Place.of(universe, universe.code(label)).name, "count": n}
            for label, n in visits(self._release).to_rows(universe, limit=check_most(most))
        ]
        bars = (
            chart(rows, width=WIDTH, height=alt.Step(ROW))
            .mark_bar(color=BLUE)
            .encode(
                x=alt.X("count:Q", title="trajectories"),
                y=alt.Y("location:N", sort=None, title=None),
                tooltip=["location:N", "name:N", alt.Tooltip("count:Q", format=",")],
            )
        )
        return self._titled(bars, "Most visited locations", "trajectories that visit a location")

    def flows(self, most: int = 60) -> Any:
        """The strongest moves from one location straight to another.

        Lines on a map if the universe has coordinates; otherwise a matrix.

        Args:
            most: how many moves.

        Raises:
            ParameterError: if that is not a number, or altair is not installed.
        """
        moves = strongest_moves(self._release, check_most(most))
        if self._release.universe.has_coordinates:
            drawn = flow_lines(self._release, moves)
            how = "wider lines, more moves; a location has the size of its visits"
        else:
            drawn = flow_matrix(self._release, moves)
            how = "stronger cells, more moves (the universe has no coordinates for a map)"
        return self._titled(drawn, "Strongest moves", how)

    def tree(self) -> Any:
        """The top of the prefix tree as an icicle: how trajectories begin.

        Raises:
            ParameterError: if altair is not installed.
        """
        return self._titled(
            icicle_chart(self._release),
            "The top of the prefix tree",
            "a cell is as tall as its trajectories are many; the last strip of others is not",
        )

    def lengths(self, most: int = MOST_LENGTHS) -> Any:
        """How many trajectories have each length, as bars.

        Args:
            most: bars; what is longer is one more.

        Raises:
            ParameterError: if that is not a number, or altair is not installed.
        """
        alt = altair()
        rows = [
            {"length": length, "count": count}
            for length, count in length_rows(self._release, check_most(most))
        ]
        bars = (
            chart(rows, width=WIDTH, height=HEIGHT)
            .mark_bar(color=BLUE)
            .encode(
                x=alt.X("length:O", sort=None, title="locations"),
                y=alt.Y("count:Q", title="trajectories"),
                tooltip=["length:O", alt.Tooltip("count:Q", format=",")],
            )
        )
        return self._titled(bars, "Lengths", "locations of a trajectory, visits counted")

    def hours(self, most: int = 20) -> Any:
        """When visits happen, as a heat map; what its rows are depends on the time grid.

        Args:
            most: how many locations, if the rows are locations.

        Raises:
            QueryError: if the release has no times.
            ParameterError: if ``most`` is not a number, or altair is not installed.
        """
        hours = count_hours(self._release, locations=check_most(most))
        if hours is None:
            raise QueryError("The release has no times; publish with a time grid to see hours.")
        alt = altair()
        rows = [
            {"row": place.label, "name": place.name, "time": time, "count": count}
            for place, counts in zip(hours.rows, hours.counts.tolist(), strict=True)
            for time, count in zip(hours.columns, counts, strict=True)
        ]
        cells = (
            chart(rows, width=WIDTH, height=alt.Step(ROW))
            .mark_rect()
            .encode(
                x=alt.X("time:O", sort=None, title="time of the day"),
                y=alt.Y("row:N", sort=None, title=None),
                color=alt.Color("count:Q", title="visits", scale=alt.Scale(scheme="blues")),
                tooltip=["row:N", "name:N", "time:O", alt.Tooltip("count:Q", format=",")],
            )
        )
        return self._titled(cells, "When", hours.title)

    def _titled(self, drawn: Any, title: str, subtitle: str) -> Any:
        return titled(drawn, title, subtitle, is_private=self._release.is_private)
