"""Ed25519 keys on disk: a private key for its owner's eyes only, and the public half beside it.

`cryptography` is needed only here and is imported only when a key is used. No message ever holds
any part of a private key.
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import ParameterError
from pathveil.plain_files import open_named
from pathveil.promise.certificate import CERTIFICATE_FILE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

PASSPHRASE = "PATHVEIL_KEY_PASSPHRASE"  # noqa: S105  (the variable's name, not a secret)
PUBLIC_SUFFIX = ".pub"
LARGEST_FILE = 1 << 16
_FIELD = 2**255 - 19
# The y of the points of order 1, 2, 4 and (two of them) 8 on the curve of Ed25519.
_EIGHTH = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_LOW_ORDER = frozenset({0, 1, _FIELD - 1, _EIGHTH, _FIELD - _EIGHTH})


def require_cryptography() -> None:
    """Say what to install if signatures can't be made or checked here.

    Raises:
        ParameterError: if the package is missing.
    """
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise ParameterError(
            "Signatures need the package 'cryptography': install pathveil[signing]."
        ) from None


def make_keys(path: Path) -> "Ed25519PublicKey":
    """Write a new private key (mode 0600) and, beside it, its public half.

    The private key is encrypted if the variable PATHVEIL_KEY_PASSPHRASE is set.

    Raises:
        ParameterError: if a file is there already or can't be written.
    """
    require_cryptography()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not path.name:
        raise ParameterError("The key needs the name of a file, such as city-transit.key.")
    public_path = path.with_name(path.name + PUBLIC_SUFFIX)
    if os.path.lexists(path) or os.path.lexists(public_path):
        raise ParameterError(f"{path} or {public_path} exists already; a key is never overwritten.")
    if (path.parent / CERTIFICATE_FILE).exists():
        raise ParameterError("A key must not lie inside a release. Choose another folder.")
    phrase = _passphrase()
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(phrase) if phrase else serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    try:
        write_new(path, private, 0o600)
        try:
            write_new(public_path, public, 0o644)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise ParameterError(f"Can't write the key {path}: {reason}.") from None
    return key.public_key()


def read_private_key(path: Path) -> "Ed25519PrivateKey":
    """Read a private key that nobody else can read.

    Raises:
        ParameterError: if it is no Ed25519 key, is open to others, or needs a passphrase.
    """
    require_cryptography()
    from cryptography.exceptions import InternalError, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content, mode = _read(path)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ParameterError(f"Others may read the private key {path}: run chmod 600 on it.")
    try:
        key = load_pem_private_key(content, _passphrase())
    except TypeError:
        raise ParameterError(
            f"The private key {path} is encrypted and {PASSPHRASE} is not set, or the other way "
            "round."
        ) from None
    except (ValueError, UnsupportedAlgorithm, InternalError):
        raise ParameterError(
            f"{path} is not a private key in PEM form, or the passphrase in {PASSPHRASE} is wrong."
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ParameterError(f"{path} is not an Ed25519 key; make one with pathveil keygen.")
    return key


def read_public_key(path: Path) -> "Ed25519PublicKey":
    """Read a public key.

    Raises:
        ParameterError: if it is none, or is a private key.
    """
    require_cryptography()
    from cryptography.exceptions import InternalError, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    content, _ = _read(path)
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm, InternalError):
        raise ParameterError(f"{path} is not a public key in PEM form.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ParameterError(f"{path} is not an Ed25519 key.")
    if is_low_order(raw(key)):
        raise ParameterError(f"{path} is no key: anybody can sign anything in its name.")
    return key


def raw(key: "Ed25519PublicKey") -> bytes:
    """The 32 bytes of a public key."""
    from cryptography.hazmat.primitives import serialization

    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def is_low_order(public_key: bytes) -> bool:
    """Whether a public key is one of the eight points of low order, in any spelling.

    No private key belongs to them: for the neutral point, R = 0 and S = 0 sign every message, and
    for the others about every eighth. OpenSSL lets them pass.
    """
    height = int.from_bytes(public_key, "little") & ((1 << 255) - 1)  # the top bit is a sign
    return height % _FIELD in _LOW_ORDER


def fingerprint(public_key: bytes) -> str:
    """The SHA-256 of a public key in groups of four, to be read out over a telephone."""
    digest = hashlib.sha256(public_key).hexdigest()
    return " ".join(digest[i : i + 4] for i in range(0, len(digest), 4))


def _passphrase() -> bytes | None:
    return os.environ.get(PASSPHRASE, "").encode() or None


def _read(path: Path) -> tuple[bytes, int]:
    if "\0" in str(path):
        raise ParameterError("The path of a key can't hold a NUL character.")
    try:
        with open_named(path) as file:
            return file.read(LARGEST_FILE), stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except OSError as error:
        raise ParameterError(f"Can't read the key {path}: {error.strerror}.") from None


def write_new(path: Path, content: bytes, mode: int) -> None:
    """Create a file with this mode from its first byte on, whole and on the disk, or not at all.

    Raises:
        FileExistsError: if there is one already; it is left alone.
        OSError: if it can't be written; nothing is left then.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)  # ours: we made it
        raise
