"""Key files: the input is a byte that chooses the reader, and the file."""

from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization as forms
from cryptography.hazmat.primitives.asymmetric import ec
from fuzz.targets.signature import KEY

from pathveil.promise.signing_keys import fingerprint, raw, read_private_key, read_public_key


def read(data: bytes, folder: Path) -> None:
    """Read it as ``--public-key`` or ``--sign-key`` does."""
    path = folder / "city.key"
    path.write_bytes(data[1:])
    path.chmod(0o600)
    if (data[:1] or b"\0")[0] & 1:
        read_private_key(path)
    else:
        fingerprint(raw(read_public_key(path)))


@cache
def seeds() -> dict[str, bytes]:
    """Our own kind of key, both halves; another kind; text around a key."""
    pem, public_form = forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo
    private = KEY.private_bytes(pem, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    public = KEY.public_key().public_bytes(pem, public_form)
    other = ec.derive_private_key(4711, ec.SECP256R1()).public_key()
    return {
        "public": b"\0" + public,
        "private": b"\1" + private,
        "swapped": b"\0" + private,
        "other-kind": b"\0" + other.public_bytes(pem, public_form),
        "text-around": b"\0# our key\n" + public + b"\n",
    }
