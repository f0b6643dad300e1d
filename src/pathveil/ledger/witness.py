"""What a witness keeps: that a ledger had this head, signed with its keeper's key.

A chain of hashes can't tell that its end was cut off, or that it was rewritten from some entry on:
who owns the disk can compute hashes too. A record of its head, kept where the owner of the disk
can't reach it, can: a ledger that does not hold the entry of a record any more was rolled back,
and one that holds another in its place was forked. The signature keeps others from planting a
record that makes a true ledger look false.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pathveil.core.texts import RepeatedNameError, read_json
from pathveil.errors import LedgerError
from pathveil.ledger.chain import Chain
from pathveil.ledger.entries import Hash, Opened, Time, check_clock, written_at

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

LONGEST_LINE = 1_000_000
_PURPOSE = b"pathveil ledger witness 1\n"  # so that it can't pass for a signature of another kind

Token = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]{4,65536}={0,2}$")]


class Record(BaseModel):
    """One line of a witness.

    Attributes:
        ledger: the identity of the ledger, from its first entry.
        entry: the number of its last entry.
        head: that entry's hash.
        at: when the record was made, by the clock of who made it.
        public_key: of the key that signed it.
        signature: over all of these.
        timestamps: RFC 3161 time stamps of the signature, in base64.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal["pathveil-ledger-witness"] = "pathveil-ledger-witness"
    version: Literal[1] = 1
    ledger: Hash
    entry: int = Field(ge=0)
    head: Hash
    at: Time
    public_key: Hash
    signature: str = Field(pattern=r"^[0-9a-f]{128}$")
    timestamps: tuple[Token, ...] = ()

    def message(self) -> bytes:
        """What is signed."""
        said = self.model_dump(mode="json", exclude={"signature", "timestamps"})
        return _PURPOSE + json.dumps(said, sort_keys=True, separators=(",", ":")).encode()

    def line(self) -> str:
        """The one line that a witness keeps."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))


def witnessed(chain: Chain, key: "Ed25519PrivateKey", clock: datetime) -> Record:
    """The record of a ledger's head.

    Raises:
        LedgerError: if the clock can't be right.
    """
    check_clock(clock)
    unsigned = Record(
        ledger=_identity(chain),
        entry=len(chain) - 1,
        head=chain.head,
        at=written_at(clock),
        public_key=key.public_key().public_bytes_raw().hex(),
        signature="0" * 128,
    )
    signature = key.sign(unsigned.message()).hex()
    return unsigned.model_copy(update={"signature": signature})


def read_records(content: bytes, known: "Ed25519PublicKey") -> list[Record]:
    """The records that a witness kept, each signed with the key that the reader knows.

    Raises:
        LedgerError: if there is none, or a line is none, or was changed or signed by another.
    """
    lines = [line for line in content.split(b"\n") if line.strip()]
    if not lines:
        raise LedgerError("The witness has kept no record.")
    return [_read(number, line, known) for number, line in enumerate(lines, start=1)]


def check_witnessed(chain: Chain, records: Iterable[Record]) -> int:
    """Check that a ledger still holds everything that a witness saw.

    Returns:
        The number of the last entry that was witnessed.

    Raises:
        LedgerError: if the ledger was rolled back, forked or rewritten, or is another one.
    """
    latest = -1
    for record in records:
        if record.ledger != _identity(chain):
            raise LedgerError(
                f"The witness of {record.at} saw another ledger: this one was made anew, or it is "
                "the wrong witness."
            )
        if record.entry >= len(chain):
            raise LedgerError(
                f"The ledger was rolled back: a witness saw its entry {record.entry} on "
                f"{record.at}, and it ends with entry {len(chain) - 1}. Charges are forgotten; "
                "restore a later copy."
            )
        if chain.hashes[record.entry] != record.head:
            raise LedgerError(
                f"The ledger was forked or rewritten: its entry {record.entry} is not the one that "
                f"a witness saw on {record.at}."
            )
        latest = max(latest, record.entry)
    return latest


def _identity(chain: Chain) -> str:
    first = chain.entries[0].event
    if not isinstance(first, Opened):
        raise LedgerError("The ledger does not begin with the entry that opened it.")
    return first.identity


def _read(number: int, line: bytes, known: "Ed25519PublicKey") -> Record:
    from cryptography.exceptions import InvalidSignature

    try:
        read_json(line[:LONGEST_LINE])  # cut, a longer one is no JSON
        record = Record.model_validate_json(line)
    except (ValidationError, RepeatedNameError, ValueError):
        raise LedgerError(f"Line {number} of the witness is not a record of a ledger.") from None
    if bytes.fromhex(record.public_key) != known.public_bytes_raw():
        raise LedgerError(f"Line {number} of the witness is signed with another key than yours.")
    try:
        known.verify(bytes.fromhex(record.signature), record.message())
    except InvalidSignature:
        raise LedgerError(f"Line {number} of the witness was changed or forged.") from None
    return record
