"""What the publisher says of a release: the input is the TOML file."""

from pathlib import Path

from fuzz.harness import Finding

from pathveil.core.about import About


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--about FILE`` does; what is accepted is one line of plain text each."""
    path = folder / "about.toml"
    path.write_bytes(data)
    for _, text in About.of(path):
        if not text.strip() or "\n" in text or "\x1b" in text or "\u202e" in text:
            raise Finding("a text was accepted that could act on a terminal")


def seeds() -> dict[str, bytes]:
    """All fields, and one with quotes and other letters."""
    return {
        "all": b'title = "Taps"\npublisher = "City"\nlicence = "CC-BY-4.0"\n'
        b'contact = "a@b.example"\nperiod = "2026-03/2026-04"\ncity = "Our city"\n',
        "odd": "title = '\"K\u00f6ln\" <b>'\nlicence = 'https://city.example/l'\n".encode(),
    }
