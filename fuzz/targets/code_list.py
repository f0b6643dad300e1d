"""A list of codes: the input is the file."""

from pathlib import Path

from fuzz.written import check_universe

from pathveil.universe.universe import Universe


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--universe codes:FILE`` does."""
    path = folder / "codes.txt"
    path.write_bytes(data)
    check_universe(Universe.from_codes(path), folder)


def seeds() -> dict[str, bytes]:
    """Plain codes, and lines with spaces around them."""
    return {"plain": b"001\n002\n", "spaces": b"\xef\xbb\xbf A \r\n\r\n=B\n\tC"}
