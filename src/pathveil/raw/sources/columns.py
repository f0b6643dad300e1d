"""Which column is the unit, the trajectory, the order and the location.

Decided from column names alone: they are the schema, which is public; the rows are not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pathveil.errors import ParameterError, did_you_mean
from pathveil.raw.sources.notation import PLAIN, Writing
from pathveil.universe.coordinates import (
    LATITUDE_ELSEWHERE,
    LATITUDE_NAMES,
    LONGITUDE_ELSEWHERE,
    LONGITUDE_NAMES,
    named_like,
)

ROLES = ("unit", "trajectory", "order", "location")

_WELL_KNOWN = {
    # ours and trackintel, scikit-mobility, TIDES fare_transactions
    "unit": ("user_id", "uid", "token_id"),
    "trajectory": ("trajectory_id", "tid"),
    # ours, scikit-mobility, TIDES, trackintel (staypoints and triplegs, position fixes)
    "order": ("seq", "datetime", "event_timestamp", "started_at", "tracked_at"),
    # ours, TIDES, trackintel, a scikit-mobility tessellation
    "location": ("location", "stop_id", "location_id", "tile_ID"),
}

_COORDINATES = {"latitude": LATITUDE_NAMES, "longitude": LONGITUDE_NAMES}

# What agencies call them; looked for only where none of the names above is there. No unit and no
# trajectory: what is protected, and how much of it, is for the publisher to say.
_ELSEWHERE: dict[str, tuple[str, ...]] = {
    "order": (
        "timestamp", "tapped_at", "zeitstempel", "zeitpunkt", "horodatage", "date_heure",
        "fecha_hora", "data_ora",
    ),
    "location": (
        "stop", "haltestelle", "haltestellen_id", "station", "arrêt", "arret", "parada", "fermata",
    ),
    "latitude": LATITUDE_ELSEWHERE,
    "longitude": LONGITUDE_ELSEWHERE,
}  # fmt: skip

# What a guided run proposes besides, for somebody who sees the header and says yes or no.
_PROPOSED: dict[str, tuple[str, ...]] = {
    "unit": (
        "user", "user_id", "uid", "card", "card_id", "card_no", "card_number", "person",
        "person_id", "rider", "rider_id", "token", "token_id", "pseudonym", "karte", "karten_id",
        "kartennr", "kartennummer", "fahrkarte", "chipkarte", "kunde", "kunden_id",
        "kundennummer", "fahrgast", "carte", "carte_id", "numero_carte", "usager", "tarjeta",
        "id_tarjeta", "numero_tarjeta", "usuario", "tessera", "utente", "kaart", "kaartnummer",
    ),
    "order": (
        "time", "date", "date_time", "when", "tap_time", "transaction_time", "zeit", "datum",
        "uhrzeit", "datum_uhrzeit", "datum_zeit", "heure", "date_et_heure", "hora", "fecha",
        "fecha_y_hora", "ora", "data", "tijd", "tijdstip",
    ),
    "location": (
        "stop_name", "stop_code", "station_id", "station_name", "place", "where",
        "haltestellenname", "haltestellennummer", "haltestellen_nr", "bahnhof", "ort", "nom_arrêt",
        "nom_arret", "gare", "estación", "estacion", "nombre_parada", "stazione", "halte",
    ),
}  # fmt: skip

_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Columns:
    """The name of the column that plays each role; None where no column does.

    Attributes:
        unit: who the row is about: the unit of privacy.
        trajectory: which of the unit's trajectories; without it the unit has a single one.
        order: the position in the trajectory; without it the order of the unit's rows.
        location: the location, or in list form the list of locations. None if rows say where
            they were by coordinates.
        latitude: degrees north, together with ``longitude``.
        longitude: degrees east.
        written: how their times and numbers are written.
    """

    unit: str
    trajectory: str | None
    order: str | None
    location: str | None
    latitude: str | None = None
    longitude: str | None = None
    written: Writing = PLAIN

    @property
    def used(self) -> tuple[str, ...]:
        """The names in use, each once, in the order of `ROLES`."""
        names = (
            self.unit, self.trajectory, self.order, self.location, self.latitude, self.longitude,
        )  # fmt: skip
        return tuple(name for name in names if name is not None)

    @property
    def numeric(self) -> tuple[str, ...]:
        """Those of them whose cells are read as numbers, or as times."""
        names = (self.order, self.latitude, self.longitude)
        return tuple(name for name in names if name is not None)


def choose_columns(
    available: Sequence[str],
    *,
    has_cells: bool = False,
    showable: bool = True,
    **names: str | None,
) -> Columns:
    """Settle the roles: explicit names win, then the well-known names of common formats.

    Args:
        available: the names of the source's columns.
        has_cells: whether the universe has cells, so that points can be used.
        showable: whether an error may list ``available``. False if the names may be a first
            row of data, in a CSV file that has lost its header.
        **names: the column for each role of `Columns`; None looks for a well-known name.

    Raises:
        ParameterError: if a name is unknown, repeated or ambiguous, or there is no unit or
            location column.
    """
    named = dict.fromkeys((*ROLES, *_COORDINATES)) | names
    latitude, location = named["latitude"], named["location"]
    check_points(latitude, named["longitude"], location)
    if latitude is not None and not has_cells:
        raise ParameterError(
            "Points can't be found in this universe: it has no cells. Use a universe such as "
            "grid:36x28:37.70,-122.52,37.82,-122.35 or h3:8:45.40,-73.98,45.70,-73.47."
        )
    explicit = [name for name in named.values() if name is not None]
    for role, name in named.items():
        if name is not None:
            _check_named(role, name, available, showable=showable)
    if len(set(explicit)) != len(explicit):
        raise ParameterError(
            "One column can't play two roles; name a different column for each of the unit, the "
            "trajectory, the order and the location, or leave the optional ones out."
        )
    for role in ROLES:
        if named[role] is None and not (role == "location" and latitude is not None):
            named[role] = _detect(role, available, taken=explicit)
    if has_cells and latitude is None and location is None:
        named |= _detect_points(available, named["location"], taken=explicit)
    if named["unit"] is None or (named["location"] is None and named["latitude"] is None):
        role = "unit" if named["unit"] is None else "location"
        why = " (whose privacy is protected)" if role == "unit" else ""
        has_points = role == "location" and _detect_points(available, None, taken=explicit)
        points = " Points are placed in the cells of a grid: or h3: universe." if has_points else ""
        raise ParameterError(
            f"A {role} column{why} is required and none was named or recognised; name it with "
            f"{role}=… or --{role}-column.{points} {_listing(available, showable=showable)}"
        )
    return Columns(
        unit=named["unit"],
        trajectory=named["trajectory"],
        order=named["order"],
        location=named["location"],
        latitude=named["latitude"],
        longitude=named["longitude"],
    )


def check_points(latitude: str | None, longitude: str | None, location: str | None) -> None:
    """Refuse half a point, or a point beside a location.

    Raises:
        ParameterError: if so.
    """
    if (latitude is None) != (longitude is None):
        raise ParameterError(
            "Points need both columns, --latitude-column and --longitude-column; name both or none."
        )
    if latitude is not None and location is not None:
        raise ParameterError(
            "A row says where it was by a location or by coordinates; name the location column or "
            "the columns of latitude and longitude."
        )


def _detect_points(
    available: Sequence[str], location: str | None, *, taken: Sequence[str]
) -> dict[str, str | None]:
    """Well-known columns of coordinates, both or none of them."""
    found = {role: _detect(role, available, taken=taken) for role in _COORDINATES}
    if None in found.values():
        return {}
    if location is not None:
        raise ParameterError(
            f"The location could be the column {location[:80]!r} or the point in "
            f"{' and '.join(repr(name) for name in found.values())}; name one of them."
        )
    return found


def resembles_columns(names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether one of the names is, or nearly is, a column that was asked for or is well known."""
    known = [
        *wanted,
        *(n for names in (_WELL_KNOWN, _ELSEWHERE) for g in names.values() for n in g),
    ]
    return any(did_you_mean(name, names) for name in known)


def _check_named(role: str, name: str, available: Sequence[str], *, showable: bool) -> None:
    if not isinstance(name, str):
        raise ParameterError(f"The {role} column must be given by its name, as text.")
    times = list(available).count(name)
    if times > 1:
        raise ParameterError(
            f"There are {times} columns named {name[:80]!r}; rename all but the {role} column."
        )
    if times == 0:
        hint = did_you_mean(name, available) if showable else ""
        raise ParameterError(
            f"There is no column {name[:80]!r} for the {role}.{hint} "
            f"{_listing(available, showable=showable)}"
        )


def proposed(role: str, available: Sequence[str]) -> str | None:
    """The one column whose name says that it plays a role; None if none does, or several.

    Only to be proposed: more names count than where nobody is asked, in any case and with blanks,
    hyphens or points between their words.
    """
    try:
        found = _detect(role, available, taken=())
    except ParameterError:
        return None
    names = (*_PROPOSED.get(role, ()), *_ELSEWHERE.get(role, ()))
    alike = [name for name in available if _words_of(name) in names]
    return alike[0] if found is None and len(alike) == 1 else found


def _words_of(name: str) -> str:
    return "_".join(re.split(r"[\W_]+", name.casefold())).strip("_")


def _detect(role: str, available: Sequence[str], *, taken: Sequence[str]) -> str | None:
    free = [name for name in available if name not in taken]
    elsewhere = _ELSEWHERE.get(role)
    usual = (_WELL_KNOWN | _COORDINATES)[role]
    found = [name for name in free if name in usual]
    if elsewhere is not None:
        found = named_like(free, usual, elsewhere)
    if len(found) > 1:
        # Guessing wrong would protect the wrong thing, so we do not guess.
        raise ParameterError(
            f"Several columns could be the {role}: {', '.join(map(repr, found))}; name one with "
            f"{role}=… or --{role}-column."
        )
    return found[0] if found else None


def _listing(available: Sequence[str], *, showable: bool) -> str:
    if not showable:
        return (
            "The first line of the file does not look like a header, so it is not shown: "
            "the file must begin with a line of column names."
        )
    if not available:
        return "The source has no columns."
    shown = ", ".join(repr(name[:80]) for name in available[:_SHOWN])
    return f"Columns: {shown}{', …' if len(available) > _SHOWN else ''}."
