"""Raw data and a release at the level at which they can be compared."""

from pathveil.model.paths import WeightedPaths
from pathveil.raw.database import TrajectoryDatabase
from pathveil.release.release import Release
from pathveil.release.zone_view import ZoneView


def at_one_level(
    database: TrajectoryDatabase, release: Release
) -> tuple[WeightedPaths, WeightedPaths]:
    """Both as they are; if the release has zones, both with every visit as its zone.

    Some visits of such a release are told by their zone only. Nothing but zones is common to all.
    """
    taxonomy = release.parameters.taxonomy
    if taxonomy is None:
        return database, release
    return ZoneView.of(release.universe, database.paths(), taxonomy), release.at_zone_level()
