"""The files of two agencies as they come: every trouble that a real export has, at once.

``python -m tests.messy FOLDER`` writes them. What is in them is made up, and the same every time:

- A German agency: Windows-1252, semicolons, ``02.03.2026 07:58``, decimal commas, columns
  ``Breite`` and ``Länge``, card numbers in several forms, rows that occur twice.
- An American agency: a byte-order mark, quotes, ``3/2/2026 7:58:10 AM``, blanks around cells,
  Spanish names of stops.

Both have lines with a cell too few or too many, times that are none, and stops that no list has.
"""

import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

MONDAY = datetime.fromisoformat("2026-03-02T05:30:00")
GERMAN_STOPS = (
    ("Hauptbahnhof", 50.1071, 8.6638), ("Südbahnhof", 50.0994, 8.6861), ("Messe", 50.1119, 8.6434),
    ("Höchst", 50.1030, 8.5420), ("Bornheim-Mitte", 50.1275, 8.7111),
    ("Schäfflestraße", 50.13, 8.73), ("Römer", 50.1104, 8.6823), ("Flughafen", 50.0512, 8.5706),
)  # fmt: skip
AMERICAN_STOPS = (
    ("Union Station", 39.7527, -105.0002), ("Peña Station", 39.8036, -104.8113),
    ("38th & Blake", 39.7706, -104.9729), ("Central Park", 39.7565, -104.8917),
    ("Airport", 39.8476, -104.6740), ("Cañon City", 38.4409, -105.2424),
)  # fmt: skip
TROUBLES = {11: "unknown", 23: "times", 37: "cells", 53: "twice"}  # of 97 visits
MANY_FORMS = 3  # the last digit of people whose ids are written in several forms
UNKNOWN = {"german": "Betriebshof Süd", "american": "Depot"}


@dataclass(frozen=True)
class Truth:
    """What is in a file, as it was made.

    Attributes:
        rows: lines after the header.
        units: people with a row that can be read.
        cells: lines with a cell too few or too many.
        times: rows whose time is none.
        unknown: rows at a stop that no list has.
        twice: rows that occur a second time.
        forms: forms of units' ids beyond the first of each.
        accented: rows at a stop whose name is not ASCII, which can be read but for that.
    """

    rows: int
    units: int
    cells: int
    times: int
    unknown: int
    twice: int
    forms: int
    accented: int


def visits(people, stops):
    """(person, number of the visit, instant, stop): a way there and mostly back, on three days."""
    for person in range(people):
        home, work = person % len(stops), (person * 3 + 1) % len(stops)
        for day in range(3):
            leave = MONDAY + timedelta(days=day, minutes=(person * 37) % 600)
            yield person, 2 * day, leave, home
            if (person + day) % 5:
                back = leave + timedelta(hours=8, minutes=person % 50)
                yield person, 2 * day + 1, back, work


def german_agency(folder: Path, people: int = 300) -> Truth:
    """Write ``fahrten.csv`` and ``haltestellen.csv``."""
    forms = ("{}", "0{}", " {} ", "{}.0")  # spreadsheets and databases, by turns

    def line(person, turn, when, stop):
        name, latitude, longitude = stop
        card = forms[turn % len(forms) if person % 10 == MANY_FORMS else 0].format(1000 + person)
        degrees = ";".join(f"{value:.4f}".replace(".", ",") for value in (latitude, longitude))
        return f"{card};{when};{name};{degrees};2,75"

    lines, truth = _messy(
        people, GERMAN_STOPS, line, lambda moment: moment.strftime("%d.%m.%Y %H:%M"),
        unknown=(UNKNOWN["german"], 50.0, 8.6), forms=len(forms), delimiter=";",
    )  # fmt: skip
    header = "Kartennummer;Zeitpunkt;Haltestelle;Breite;Länge;Preis"
    (folder / "fahrten.csv").write_bytes("\r\n".join([header, *lines, ""]).encode("cp1252"))
    stops = [f"{name};{lat:.4f};{lon:.4f}".replace(".", ",") for name, lat, lon in GERMAN_STOPS]
    listed = "\r\n".join(["Haltestelle;Breite;Länge", *stops, ""])
    (folder / "haltestellen.csv").write_bytes(listed.encode("cp1252"))
    return truth


def american_agency(folder: Path, people: int = 300) -> Truth:
    """Write ``taps.csv`` and ``stops.csv``."""
    forms = ("{}", "{} ", "+{}")

    def when(moment):
        hour = moment.hour % 12 or 12
        clock = f"{hour}:{moment:%M:%S} {('AM', 'PM')[moment.hour // 12]}"
        return f"{moment.month}/{moment.day}/{moment.year} {clock}"

    def line(person, turn, moment, stop):
        card = forms[turn % len(forms) if person % 10 == MANY_FORMS else 0].format(1000 + person)
        return f'{card},"{moment}","{stop[0]}",{stop[1]:.4f},{stop[2]:.4f}'

    lines, truth = _messy(
        people, AMERICAN_STOPS, line, when,
        unknown=(UNKNOWN["american"], 39.7, -105.0), forms=len(forms), delimiter=",",
    )  # fmt: skip
    header = "Card ID,Tapped At,Stop,Lat,Lon"
    (folder / "taps.csv").write_text("\ufeff" + "\n".join([header, *lines, ""]), encoding="utf-8")
    stops = [f'"{name}",{lat:.4f},{lon:.4f}' for name, lat, lon in AMERICAN_STOPS]
    (folder / "stops.csv").write_text("\n".join(["Stop,Lat,Lon", *stops, ""]), encoding="utf-8")
    return truth


def _messy(people, stops, line, when, *, unknown, forms, delimiter):
    """Lines, with a trouble in some of them, and what is in them."""
    lines, counts, seen = [], dict.fromkeys(("cells", "times", "unknown", "twice"), 0), {}
    accented = 0
    for number, (person, turn, moment, stop) in enumerate(visits(people, stops)):
        trouble = TROUBLES.get(number % 97)
        written = "?" if trouble == "times" else when(moment)
        place = unknown if trouble == "unknown" else stops[stop]
        made = line(person, turn, written, place)
        lines += {"cells": [made + delimiter], "twice": [made, made]}.get(trouble, [made])
        if trouble is not None:
            counts[trouble] += 1
        if trouble in (None, "twice"):
            form = turn % forms if person % 10 == MANY_FORMS else 0
            seen.setdefault(person, set()).add(form)
            accented += (not place[0].isascii()) * (1 + (trouble == "twice"))
    merged = sum(len(used) - 1 for used in seen.values())
    return lines, Truth(len(lines), len(seen), **counts, forms=merged, accented=accented)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    german_agency(place)
    american_agency(place)
