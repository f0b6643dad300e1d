"""A certificate: the input is the file, alone in its folder."""

from pathlib import Path

from fuzz.bundles import bundles

from pathveil.promise.certificate import CERTIFICATE_FILE
from pathveil.promise.explanation import explain
from pathveil.release.bundle import read_certificate


def read(data: bytes, folder: Path) -> None:
    """Read it, add up its budget and explain it, as `explain` does."""
    (folder / CERTIFICATE_FILE).write_bytes(data)
    certificate = read_certificate(folder)
    certificate.adds_up()
    explain(certificate)


def seeds() -> dict[str, bytes]:
    """The certificates of three methods."""
    return {f"bundle-{number}": bundle[CERTIFICATE_FILE] for number, bundle in enumerate(bundles())}
