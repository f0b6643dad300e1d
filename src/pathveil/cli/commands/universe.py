"""``pathveil universe``: look at a universe before it is used, and save it as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options import shared

if TYPE_CHECKING:
    from pathveil.universe.universe import Universe


def universe(
    where: Annotated[
        str,
        typer.Argument(
            metavar="UNIVERSE",
            help="A file, or a description such as gtfs:feed.zip: see `pathveil publish --help`.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write it as a CSV file, which --universe takes too; the file must not exist yet.",
            rich_help_panel="The output",
        ),
    ] = None,
    json: shared.Json = False,
) -> None:
    """Show a public universe: how many locations, where they are, how it was made.

    Reads no private data and spends nothing.

    Example: `pathveil universe grid:36x28:37.70,-122.52,37.82,-122.35 --out cells.csv`
    """
    from pathveil.cli.console import print_json, print_table, stdout_console

    found = read_universe(where)
    if out is not None:
        _write(found, out)
    facts = _facts(found)
    if json:
        print_json(facts | {"file": None if out is None else str(out)})
        return
    shown = [(what.replace("_", " "), _shown(value)) for what, value in facts.items()]
    print_table("The universe", ["", ""], shown, numbers=set())
    if out is not None:
        stdout_console().print(f"Written to {out}.", markup=False, highlight=False)


def read_universe(where: str) -> "Universe":
    """`Universe.read`; says if two labels can't be told apart by looking at them."""
    from pathveil.cli.console import stderr_console
    from pathveil.universe.universe import Universe

    found = Universe.read(where)
    twins = found.same_in_unicode()
    if twins is not None:
        stderr_console().print(
            f"warning: The labels of locations {twins[0]:,} and {twins[1]:,} are one text in two "
            "spellings of Unicode (NFC and NFD). They count as two locations; if they are one, "
            "write the list, and the data, in one spelling.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
    _say_if_unplaced(found, where)
    return found


def _say_if_unplaced(found: "Universe", where: str) -> None:
    """A map that stays empty should surprise nobody."""
    from pathveil.cli.console import stderr_console
    from pathveil.universe.universe_file import unused_columns

    path = Path(where)
    if found.has_coordinates or found.cells is not None or not path.is_file():
        return
    unused = unused_columns(path)
    if len(unused) > 1:
        stderr_console().print(
            f"warning: The universe has no coordinates, so there will be no map: none of its "
            f"columns {', '.join(repr(name[:40]) for name in unused[:8])} is a latitude or a "
            "longitude by its name. Name them 'latitude' and 'longitude'.",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def _facts(found: "Universe") -> dict[str, object]:
    import numpy as np

    box, placed = None, 0
    if found.latitude is not None and found.longitude is not None:
        placed = int(np.count_nonzero(~np.isnan(found.latitude)))
        box = [
            float(np.nanmin(found.latitude)),
            float(np.nanmin(found.longitude)),
            float(np.nanmax(found.latitude)),
            float(np.nanmax(found.longitude)),
        ]
    return {
        "made_from": found.origin,
        "locations": len(found),
        "with_coordinates": placed,
        "south_west_north_east": box,
        "takes_points": found.cells is not None,
        "further_labels_it_reads": len(found.aliases),
    }


def _shown(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _write(found: "Universe", out: Path) -> None:
    from pathveil.errors import UniverseError
    from pathveil.release.bundle_tables import locations_csv

    try:
        with out.open("x", encoding="utf-8", newline="\n") as file:
            file.write(locations_csv(found))
    except FileExistsError:
        raise UniverseError(f"{out} exists already; choose another name.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a path"
        raise UniverseError(f"Can't write {out}: {reason}.") from None
