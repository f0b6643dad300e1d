"""signature.json: who vouches for every byte of a bundle.

A detached Ed25519 signature over the name, size and SHA-256 of every other file, the certificate
included, and over the name that the signer gives. The file has exactly one spelling (canonical
JSON), so no byte of it can be changed unseen either.

What a signature can't say: that the signer is who they say. The name is their own; the key is
what counts, and a reader must have got it from the signer by another way.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pathveil.errors import ParameterError, ReleaseError
from pathveil.plain_files import read_plain
from pathveil.promise.accounting import FileRecord
from pathveil.promise.signing_keys import (
    fingerprint,
    is_low_order,
    raw,
    require_cryptography,
    write_new,
)
from pathveil.release.file_records import SIGNATURE, file_records

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

LONGEST_NAME = 200
_PURPOSE = (
    b"pathveil release signature 1\n"  # so that it can't pass for a signature of another kind
)


class SignatureFile(BaseModel):
    """What signature.json holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    signature_version: Literal["1"] = "1"
    algorithm: Literal["Ed25519"] = "Ed25519"
    signer: str = Field(min_length=1, max_length=LONGEST_NAME, description="Self-declared.")
    public_key: str = Field(pattern=r"^[0-9a-f]{64}$", description="32 bytes in hexadecimal.")
    files: dict[str, FileRecord] = Field(description="Every other file of the bundle.")
    signature: str = Field(pattern=r"^[0-9a-f]{128}$", description="64 bytes in hexadecimal.")

    def message(self) -> bytes:
        """What is signed: everything but the signature itself."""
        return _PURPOSE + _canonical(self.model_dump(exclude={"signature"}))

    def text(self) -> str:
        """The one spelling of the file."""
        return json.dumps(self.model_dump(), indent=2, sort_keys=True, ensure_ascii=True) + "\n"


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key and the name that goes with it; the repr shows neither key nor path.

    Attributes:
        name: self-declared, printable.
        key: never shown.
    """

    name: str
    key: "Ed25519PrivateKey"

    def __post_init__(self) -> None:
        if not 0 < len(self.name.strip()) <= len(self.name) <= LONGEST_NAME:
            raise ParameterError(f"The signer needs a name of 1 to {LONGEST_NAME} characters.")
        if not self.name.isprintable():
            raise ParameterError("The signer's name can't hold control characters.")

    def __repr__(self) -> str:
        return f"Signer({self.name!r})"

    def sign(self, folder: Path) -> str:
        """The text of signature.json for the files of a folder."""
        unsigned = SignatureFile(
            signer=self.name,
            public_key=raw(self.key.public_key()).hex(),
            files=file_records(folder),
            signature="0" * 128,
        )
        signature = self.key.sign(unsigned.message()).hex()
        return unsigned.model_copy(update={"signature": signature}).text()


@dataclass(frozen=True, slots=True)
class SignedBy:
    """A signature that holds.

    Attributes:
        signer: the name that the signer gave; not an identity.
        fingerprint: of the key.
        is_known: whether the reader gave this very key.
    """

    signer: str
    fingerprint: str
    is_known: bool


def sign_bundle(directory: Path, signer: Signer, check: Callable[[Path], object]) -> None:
    """Add signature.json to a bundle that passes ``check``; never replaces one.

    Raises:
        ReleaseError: if the bundle is damaged, signed already, or can't be written.
    """
    path = directory / SIGNATURE
    if path.exists() or path.is_symlink():
        raise ReleaseError(f"{directory} is signed already; remove {SIGNATURE} to sign it anew.")
    check(directory)
    text = signer.sign(directory)
    try:
        write_new(path, text.encode(), 0o644)
    except FileExistsError:  # another `sign` was quicker: what stands there is theirs
        raise ReleaseError(f"{directory} was signed by another run at the same time.") from None
    except OSError as error:
        raise ReleaseError(f"Can't write {path}: {error.strerror}.") from None


def check_signature(directory: Path, known: "Ed25519PublicKey | None" = None) -> SignedBy | None:
    """Check the signature of a bundle against every byte of its files.

    Args:
        directory: the bundle.
        known: the key that the reader trusts; then there must be a signature, by this key.

    Returns:
        Who signed, or None if nobody did.

    Raises:
        ReleaseError: if the signature does not hold, or is not the one asked for.
    """
    path = directory / SIGNATURE
    if not path.is_symlink() and not path.exists():
        if known is not None:
            raise ReleaseError(f"{directory} is not signed, but a public key was given.")
        return None
    require_cryptography()
    found = _read(path)
    key = bytes.fromhex(found.public_key)
    if is_low_order(key) or not _holds(found, key):
        raise ReleaseError(f"The signature in {path} does not hold: it was changed or forged.")
    present = file_records(directory)
    present.pop(SIGNATURE, None)
    if present != found.files:
        changed = [name for name in present if present[name] != found.files.get(name)]
        names = ", ".join(map(repr, sorted({*changed, *(found.files.keys() - present.keys())})))
        raise ReleaseError(f"The signature does not cover the files as they are: see {names}.")
    if known is not None and raw(known) != key:
        raise ReleaseError(
            f"{directory} is signed with another key than the one given: {fingerprint(key)}."
        )
    return SignedBy(found.signer, fingerprint(key), is_known=known is not None)


def _read(path: Path) -> SignatureFile:
    try:
        content = read_plain(path)
        found = SignatureFile.model_validate_json(content)
    except OSError as error:
        raise ReleaseError(f"Can't read {path}: {error.strerror}.") from None
    except ValidationError:
        raise ReleaseError(f"{path} is not a signature: it was changed or damaged.") from None
    if found.text().encode() != content or not found.signer.isprintable():
        raise ReleaseError(f"{path} was changed: it is not spelled as signatures are.")
    return found


def _holds(found: SignatureFile, key: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            bytes.fromhex(found.signature), found.message()
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
