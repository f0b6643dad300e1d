"""signature.json of a signed bundle: the input is a bit (replace or patch) and the file."""

from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fuzz.bundles import bundles, lay_out
from fuzz.patching import change, patched

from pathveil.release.file_records import SIGNATURE
from pathveil.release.signature import Signer, check_signature

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))  # signs nothing but this


@cache
def signature() -> bytes:
    """The signature of the plain bundle."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        directory = lay_out(bundles()[0], Path(folder))
        return Signer("City Transit", KEY).sign(directory).encode()


def read(data: bytes, folder: Path) -> None:
    """Check it, with and without a key that the reader knows."""
    directory = lay_out(bundles()[0], folder)
    whole, rest = (data[:1] or b"\0")[0] & 1, data[1:]
    (directory / SIGNATURE).write_bytes(rest if whole else patched(signature(), rest))
    check_signature(directory)
    check_signature(directory, KEY.public_key())


def seeds() -> dict[str, bytes]:
    """The signature as it is, whole and as a patch; a changed key, name and file."""
    whole = signature()
    return {
        "unchanged": b"\0",
        "whole": b"\1" + whole,
        "key": b"\0" + change(whole.index(b"public_key") + 15, 1, b"f"),
        "name": b"\0" + change(whole.index(b"City"), 4, b"\\ud800"),
        "file": b"\0" + change(whole.index(b"report"), 1, b"R"),
    }
