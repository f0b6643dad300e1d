"""The first view: what was published, and under which promise."""

from pydantic import Field

from pathveil.core.error_table import USUAL_LEVEL
from pathveil.explorer.answers import Answer, Record
from pathveil.explorer.asking import Asked
from pathveil.explorer.indexed_release import IndexedRelease


class Passage(Record):
    """A part of the promise, in plain words."""

    title: str
    paragraphs: list[str]


class Overview(Answer):
    """What was published."""

    name: str = Field(description="The name of the release's folder.")
    title: str | None = Field(description="What its publisher calls it; null: nothing was said.")
    status: str = Field(description="PRIVATE, or NOT PRIVATE if the noise was injected.")
    epsilon: str = Field(description="Total ε of a unit, exact.")
    delta: str = Field(description="δ, exact; 0 for pure ε.")
    flavor: str = Field(description="The definition of differential privacy.")
    method: str = Field(description="calibrated, full or basic.")
    height: int | None = Field(
        description="How many locations of a trajectory were looked at; null: each table has a cap."
    )
    most_per_unit: int = Field(description="Trajectories of a unit that were used, at most.")
    universe_origin: str = Field(description="How the universe was made.")
    universe_size: int = Field(description="Locations of the universe, zones included.")
    visited: int = Field(description="Locations that released trajectories visit.")
    zones: int = Field(description="Zones of the universe; 0 without a taxonomy.")
    trajectories: int = Field(description="Released trajectories; a noisy number.")
    distinct: int = Field(description="Distinct ones among them.")
    mean_length: float = Field(description="Visits of a trajectory, on average.")
    dataset: str | None = Field(description="The dataset in the publisher's ledger; null: none.")
    has_map: bool = Field(description="Whether locations have coordinates.")
    has_intervals: bool = Field(description="Whether counts come with intervals.")
    level: float = Field(description="How often such intervals hold the truth.")
    slots: list[str] = Field(description="The starts of the time slots; empty without times.")
    slot_ends: list[str] = Field(description="Their ends.")
    time_zone: str | None = Field(description="Whose wall clock decides; null without times.")
    longest_pattern: int = Field(description="Locations of the longest patterns that are listed.")
    promise: list[Passage] = Field(description="The promise in short.")
    other: str | None = Field(description="The name of the second release; null: there is none.")


def overview(indexed: IndexedRelease, _asked: Asked, other: str | None) -> Overview:
    """The answer of ``/api/overview``."""
    release, certificate = indexed.release, indexed.release.certificate
    grid, taxonomy = release.time_grid, release.parameters.taxonomy
    choices = certificate.implementation
    return Overview(
        name=indexed.name,
        title=release.about.title,
        status=certificate.status,
        epsilon=certificate.privacy_loss.privacy_parameters.epsilon,
        delta=certificate.privacy_loss.privacy_parameters.delta,
        flavor=certificate.dp_flavor.name,
        method=choices.method,
        height=None if release.parameters.how.has_tables else choices.height,
        most_per_unit=choices.max_trajectories_per_unit,
        universe_origin=choices.universe_origin,
        universe_size=len(release.universe),
        visited=int((indexed.visits > 0).sum()),
        zones=len(taxonomy) if taxonomy else 0,
        trajectories=len(release),
        distinct=len(release.paths()),
        mean_length=round(indexed.mean_length, 2),
        dataset=certificate.ledger.dataset if certificate.ledger else None,
        has_map=release.universe.has_coordinates,
        has_intervals=release.error_table is not None,
        level=USUAL_LEVEL,
        slots=list(grid.labels) if grid else [],
        slot_ends=grid.ends_as_texts() if grid else [],
        time_zone=grid.time_zone if grid else None,
        longest_pattern=indexed.patterns.longest,
        promise=[
            Passage(title=passage.title, paragraphs=list(passage.paragraphs))
            for passage in indexed.explanation.passages[:2]
        ],
        other=other,
    )
