"""What reading should give, in plain Python: one row at a time, then one unit at a time."""

import csv
import re
import unicodedata
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from pathveil.raw.database import TrajectoryDatabase

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE]([+-]?\d+))?", re.ASCII)
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?"
    r"(?:[Zz]|([+-])(\d\d):?(\d\d)?)?)?",
    re.ASCII,
)


def read(rows, labels, cap=1, *, has_order=True):
    """The multiset of trajectories of (unit, trajectory, order, location) rows of text or None."""
    units = defaultdict(lambda: defaultdict(list))
    for position, (written, trajectory, order, location) in enumerate(rows):
        unit = unit_of(written)
        key = order_key(order) if has_order else ()
        well_formed = all(map(is_text, (unit, trajectory, location))) and key is not None
        if well_formed and location in labels:
            code = labels.index(location)
            units[unit][trajectory].append((key, code if has_order else position, code))
    kept = [sorted(own, key=id_key)[:cap] for own in units.values()]
    return Counter(
        tuple(code for *_, code in sorted(own[trajectory]))
        for own, chosen in zip(units.values(), kept, strict=True)
        for trajectory in chosen
    )


def trajectories(db: TrajectoryDatabase):
    """The multiset of trajectories of a database."""
    bounds = zip(db.offsets[:-1], db.offsets[1:], strict=True)
    return Counter(tuple(db.codes[start:stop].tolist()) for start, stop in bounds)


def unit_of(written):
    """The unit that a text names: NFKC, trimmed, a whole number without what is not needed."""
    if written is None or "\0" in written:
        return written
    text = unicodedata.normalize("NFKC", written)
    while text and is_invisible(text[0]):
        text = text[1:]
    while text and is_invisible(text[-1]):
        text = text[:-1]
    match = re.fullmatch(r"([+-]?\d+)(\.0*)?", text, re.ASCII)
    return str(int(match[1])) if match else text


def is_invisible(character):
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf"}


def is_text(value):
    return value is not None and value != "" and "\0" not in value


def id_key(trajectory):
    if re.fullmatch(r"-?[0-9]{1,18}", trajectory):
        return (0, int(trajectory), trajectory.encode())
    return (1, 0, trajectory.encode())


def order_key(text):
    """(kind, floor, 10¹⁸ times the fraction), or None if the text is not an order value."""
    text = (text or "").strip(" \t")
    if match := _NUMBER.fullmatch(text):
        return _number_key(text, int(match[3] or 0))
    if match := _TIME.fullmatch(text):
        return _time_key(match)
    return None


def _number_key(text, exponent):
    if abs(exponent) > 9999:
        return None
    sign, digits, shift = Decimal(text).as_tuple()
    units = int("".join(map(str, digits)))  # exact, unlike Decimal arithmetic
    shift += 18
    units = units * 10**shift if shift >= 0 else units // 10**-shift
    if units // 10**18 > 2**63 - 1:
        return None
    return (0, *divmod(-units if sign else units, 10**18))


def _time_key(match):
    date, hour, minute, second, fraction, sign, zone_hour, zone_minute = match.groups()
    try:
        instant = datetime.fromisoformat(date).replace(tzinfo=UTC)
    except ValueError:
        return None
    numbers = [int(part or 0) for part in (hour, minute, second, zone_hour, zone_minute)]
    if any(n > most for n, most in zip(numbers, (23, 59, 60, 23, 59), strict=True)):
        return None
    seconds = (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    seconds += numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    seconds -= (numbers[3] * 3600 + numbers[4] * 60) * (-1 if sign == "-" else 1)
    return (1, seconds, int(((fraction or "") + "0" * 18)[:18]))


def cells_of_line(line: bytes, delimiter=","):
    """The cells of a CSV line by Python's csv module, or None if it leaves a quote open."""
    text = line.decode("latin-1")  # one character per byte, so that nothing is refused here
    rows = list(csv.reader([text + "\n", "end"], delimiter=delimiter))
    return rows[0] if rows[-1] == ["end"] and len(rows) == 2 else None


def text_of_cell(cell):
    """A latin-1 cell as UTF-8 text, or None if it is not UTF-8."""
    try:
        return cell.encode("latin-1").decode()
    except UnicodeDecodeError:
        return None
