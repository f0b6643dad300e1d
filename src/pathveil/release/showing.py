"""How a release shows itself in a notebook: a few facts, and charts."""

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from pathveil.model.html_card import html_card
from pathveil.model.parameters import Parameters
from pathveil.report.released import Released

if TYPE_CHECKING:
    from pathveil.plot.plots import Plots


class _Release(Released, Protocol):
    """What the facts are taken from."""

    @property
    def parameters(self) -> Parameters: ...

    def __len__(self) -> int: ...


class Shown:
    """What notebooks ask of a release."""

    @cached_property
    def plot(self) -> "Plots":
        """Charts of the release: ``release.plot.visits()`` and others; see docs/python.md."""
        from pathveil.plot.plots import Plots

        return Plots(self)  # type: ignore[arg-type]  # only a release is one

    def _repr_html_(self: _Release) -> str:
        parameters, grid = self.parameters, self.time_grid
        facts = {
            "trajectories": f"{len(self):,} on {len(self.paths()):,} distinct paths",
            "locations": f"{parameters.universe_size:,}",
            "ε": parameters.budget,
            "method": f"{parameters.method}, height {parameters.height}",
        }
        if grid is not None:
            facts["times"] = f"{len(grid):,} slots of {grid.name}, {grid.time_zone}"
        return html_card(
            "Private release of trajectories" if self.is_private else "Release of trajectories",
            facts,
            alarm="" if self.is_private else "NOT PRIVATE: for tests only; never publish it.",
        )
