"""The public rules by which a unit's visits become trajectories.

They are choices of the publisher, made without looking at the data, and stand on the certificate.
Each looks at one unit's own visits only, so the bound on a unit's contribution holds as before.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pathveil.errors import ParameterError
from pathveil.times.protected_units import PERSON, TRIP, Protect, check_protect, period_of, sentence
from pathveil.times.time_grid import check_time_zone

SplitKind = Literal["none", "whole", "gap", "day", "week"]
Keep = Literal["first", "sample"]

# What is used of a unit that has more trajectories than are used, as the certificate tells it.
_KEPT: dict[Keep, str] = {
    "first": "of a unit with more trajectories than are used, the first ones are used",
    "sample": "of a unit with more trajectories than are used, a random sample is used",
}

_ONE_EACH = "all visits of a unit are one trajectory"

_GAP = re.compile(r"gap:([1-9]\d{0,5}) ?(s|min|h|d)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class Split:
    """How a unit's stream of visits is cut into trajectories.

    Attributes:
        kind: "none" (the data's own trajectories), "whole" (all visits of a unit are one, whatever
            trajectories the data has), "gap" (a new one after a long pause), "day" or
            "week" (one for each day, or each week from Monday to Sunday, of the wall clock).
        seconds: for "gap": the longest pause within a trajectory. A pause of exactly so long does
            not end one.
        written: as it was asked for.
    """

    kind: SplitKind = "none"
    seconds: int = 0
    written: str = "none"

    @classmethod
    def parse(cls, text: str) -> "Split":
        """Read ``none``, ``whole``, ``day``, ``week`` or ``gap:30min`` (units: s, min, h, d).

        Raises:
            ParameterError: if it is none of these.
        """
        if text == "none":
            return cls()
        if text == "whole":
            return cls("whole", written=text)
        if text == "day":
            return cls("day", written=text)
        if text == "week":
            return cls("week", written=text)
        gap = _GAP.fullmatch(text) if isinstance(text, str) else None
        if gap is None:
            raise ParameterError(
                "Visits are split by 'day', 'week', or 'gap:30min' (s, min, h or d), or 'none'; "
                "'whole' makes one trajectory of all visits of a unit."
            )
        return cls("gap", int(gap[1]) * _SECONDS[gap[2]], f"gap:{gap[1]}{gap[2]}")


@dataclass(frozen=True, slots=True)
class TripRules:
    """All rules between a row and a trajectory, apart from the universe and the bound c.

    Attributes:
        split: how visits are cut into trajectories.
        time_zone: IANA name of the zone whose wall clock decides what a day or a week is.
        collapse_repeats: whether consecutive visits to one location count as one.
        by_point: whether rows give coordinates, which are placed in cells.
        keep: which trajectories of a unit with more than c are used: its "first" ones, or a
            random "sample" (`pathveil.raw.sampling`).
        exact_units: whether units are told apart by every byte of their ids; else forms such as
            ``7`` and ``07`` are one unit (`pathveil.raw.sources.unit_text`).
        protect: who is protected as one (`pathveil.times.protected_units`).
        one_each: whether nothing tells a unit's trajectories apart, so that it has one.
    """

    split: Split = Split()
    time_zone: str = "UTC"
    collapse_repeats: bool = False
    by_point: bool = False
    keep: Keep = "first"
    exact_units: bool = False
    protect: Protect = PERSON
    one_each: bool = False

    @classmethod
    def choose(
        cls,
        *,
        split: str,
        time_zone: str,
        repeats: str,
        by_point: bool,
        keep: str = "first",
        unit_text: str = "normal",
        protect: str = PERSON,
    ) -> "TripRules":
        """Check the rules and settle what is left open.

        Args:
            split: see `Split.parse`.
            time_zone: IANA name.
            repeats: "keep", "collapse", or "auto": collapse for points, which are recorded by
                the second, and keep for locations, where each row is a visit.
            by_point: whether rows give coordinates.
            keep: "first" or "sample".
            unit_text: "normal" or "exact".
            protect: one of `PROTECTS`.

        Raises:
            ParameterError: if a rule can't be used.
        """
        if repeats not in ("auto", "keep", "collapse"):
            raise ParameterError("Repeats are 'keep' or 'collapse' (or 'auto').")
        if keep not in ("first", "sample"):
            raise ParameterError("Keep the 'first' trajectories of a unit, or a 'sample' of them.")
        if unit_text not in ("normal", "exact"):
            raise ParameterError("The text of units is read as 'normal' or as 'exact'.")
        unit, cut = check_protect(protect), Split.parse(split)
        _check_together(unit, cut)
        collapse = by_point if repeats == "auto" else repeats == "collapse"
        return cls(
            cut,
            check_time_zone(time_zone),
            collapse,
            by_point,
            keep,  # type: ignore[arg-type]  # checked above
            unit_text == "exact",
            unit,
        )

    @property
    def needs_times(self) -> bool:
        """Whether visits are told apart by their times, of the order column."""
        return self.split.kind != "none" or period_of(self.protect) is not None

    def sentences(self) -> list[str]:
        """The rules in words, for the certificate."""
        unit = sentence(self.protect, self.time_zone)
        said = [] if unit is None else [unit]
        if self.by_point:
            said.append("every point is placed in the cell of the universe in which it lies")
        if self.split.kind == "gap":
            said.append(
                "a unit's visits are split into trajectories by time: a new one starts after a "
                f"pause of more than {self.split.written.removeprefix('gap:')}"
            )
        elif self.split.kind == "whole":
            said.append(f"{_ONE_EACH}, in the order of time")
        elif self.split.kind != "none":
            said.append(
                f"a unit's visits are split into trajectories by the {self.split.kind}"
                f"{' (Monday to Sunday)' if self.split.kind == 'week' else ''} in the time zone "
                f"{self.time_zone}"
            )
        if self.one_each and self.split.kind != "whole":
            said.append(_ONE_EACH)
        if self.collapse_repeats:
            said.append("consecutive visits of a trajectory to one location count as one")
        if not self.one_each and self.split.kind != "whole" and self.protect != TRIP:
            said.append(_KEPT[self.keep])
        if self.exact_units:
            said.append("units are told apart by every character of their ids as they are written")
        return said


def kept_by(rules: Iterable[str]) -> Keep | None:
    """Which trajectories of a unit are used, by rules that the certificate tells; None: unsaid."""
    said = set(rules)
    return next((keep for keep, words in _KEPT.items() if words in said), None)


def is_one_each(rules: Iterable[str]) -> bool:
    """Whether all visits of a unit are one trajectory, by rules that the certificate tells."""
    return any(rule.startswith(_ONE_EACH) for rule in rules)


def are_cut_alike(first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether two releases count the same kind of thing, by the rules that their certificates tell.

    Which trajectories of a unit are used is left out, and that a unit has one: older ones leave it
    unsaid.
    """
    unsaid = set(_KEPT.values())
    one, other = (
        {rule for rule in rules if rule not in unsaid and not rule.startswith(_ONE_EACH)}
        for rules in (first, second)
    )
    return one == other


def _check_together(protect: Protect, split: Split) -> None:
    """Refuse a unit that the split contradicts.

    Raises:
        ParameterError: if so.
    """
    if protect == TRIP and split.kind == "whole":
        raise ParameterError(
            "Split by 'whole', all that a person does is one trajectory: protect a 'person', or "
            "name the column that tells trips apart."
        )
    if protect == "person-day" and split.kind == "week":
        raise ParameterError(
            "If a day of a person is protected, a trajectory can't be a week: split by 'day', by "
            "'gap:30min' or by a trajectory column, or protect a 'person-week'."
        )
