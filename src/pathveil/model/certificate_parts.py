"""Parts of the certificate that are records of something else: public inputs, files."""

from pydantic import BaseModel, ConfigDict, Field

from pathveil.model.moments import Kind
from pathveil.model.sub_levels import SubLevels
from pathveil.model.taxonomy import Taxonomy
from pathveil.model.time_grid import TimeGrid
from pathveil.model.universe import MAX_LABEL_LENGTH

EXACT = r"^[0-9]{1,100}(/[1-9][0-9]{0,99})?$"
POSITIVE = r"^[1-9][0-9]{0,99}(/[1-9][0-9]{0,99})?$"


class Part(BaseModel):
    """A part of the certificate: nothing is missing, unknown or changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeGridRecord(Part):
    """The public time grid; its slots are listed in the bundle."""

    name: str = Field(max_length=20, description='"1h" …, "weekday-hour" or "file".')
    kind: Kind = Field(description="What the slots are slots of.")
    slots: int = Field(ge=1)
    time_zone: str = Field(max_length=80, description="The zone whose wall clock decides.")

    @classmethod
    def of(cls, grid: TimeGrid) -> "TimeGridRecord":
        """The record of a grid."""
        return cls(name=grid.name, kind=grid.kind, slots=len(grid), time_zone=grid.time_zone)


class TaxonomyRecord(Part):
    """The public taxonomy; each location's zone is listed in the bundle."""

    origin: str = Field(max_length=MAX_LABEL_LENGTH, description="How the taxonomy was made.")
    zones: int = Field(ge=1)
    zone_share: str = Field(pattern=EXACT, description="The zones' share of a level's ε.")
    zone_threshold: int = Field(ge=0, description="The smallest noisy count of a kept zone.")

    @classmethod
    def of(cls, taxonomy: Taxonomy, both: SubLevels) -> "TaxonomyRecord":
        """The record of a taxonomy and of how its levels are measured."""
        return cls(
            origin=taxonomy.origin,
            zones=len(taxonomy),
            zone_share=str(both.zone_share),
            zone_threshold=both.zone_threshold,
        )


class FileRecord(Part):
    """A file of the bundle."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)
