"""RFC 3161 time stamps: an authority confirms when it saw the signature of a witness's record.

What is stamped is the SHA-512 of the record's signature, which stands for all that it says. The
authority learns that hash and nothing else. The answer is kept in the record; whoever has the
authority's root certificate can check it, years later and without a network.
"""

import base64
from datetime import datetime, timedelta
from pathlib import Path

from pathveil.errors import LedgerError, ParameterError
from pathveil.ledger.entries import written_at
from pathveil.ledger.witness import Record
from pathveil.ledger.witness_keepers import HttpKeeper
from pathveil.plain_files import open_named

# Between the clock of who witnesses and the authority's.
_SAME_TIME = timedelta(days=1)


def require_client() -> None:
    """Say what to install if time stamps can't be asked for or checked here.

    Raises:
        ParameterError: if the package is missing.
    """
    try:
        import rfc3161_client  # noqa: F401
    except ImportError:
        raise ParameterError(
            "Time stamps need the package 'rfc3161-client': install pathveil[timestamps]."
        ) from None


def stamped(record: Record, authorities: list[str]) -> Record:
    """The record with a time stamp of each of these addresses.

    Raises:
        LedgerError: if one can't be reached or gives none.
        ParameterError: if the package is missing.
    """
    if not authorities:
        return record
    require_client()
    tokens = tuple(_token(record, address) for address in authorities)
    return record.model_copy(update={"timestamps": tokens})


def checked_times(record: Record, roots: list[Path]) -> list[datetime]:
    """When authorities saw a record, as far as these root certificates vouch for them.

    Raises:
        LedgerError: if it has no time stamp, or one that is not of this record or its time, or of
            none of these authorities.
        ParameterError: if a certificate can't be read, or the package is missing.
    """
    require_client()
    from cryptography.x509 import load_pem_x509_certificates

    certificates = []
    for path in roots:
        try:
            with open_named(path) as file:
                certificates += load_pem_x509_certificates(file.read())
        except (OSError, ValueError):
            raise ParameterError(f"{path} is not a certificate in PEM form.") from None
    if not record.timestamps:
        raise LedgerError(
            f"The witness of entry {record.entry} has no time stamp, so that its date could be "
            "made up. Check records that were never stamped without --timestamp-root."
        )
    return [_checked_time(record, token, certificates) for token in record.timestamps]


def _token(record: Record, address: str) -> str:
    from rfc3161_client import PKIStatus, TimestampRequestBuilder, decode_timestamp_response

    if not address.startswith(("http://", "https://")):
        raise LedgerError("A time-stamp authority is an address that begins with http(s)://.")
    request = TimestampRequestBuilder().data(_stamped_bytes(record)).build()
    authority = HttpKeeper(address)
    authority.label = "the time-stamp authority"
    answer = authority.exchange(request.as_bytes(), "application/timestamp-query")
    try:
        response = decode_timestamp_response(answer)
        granted = PKIStatus(response.status) == PKIStatus.GRANTED
        imprint = response.tst_info.message_imprint.message if granted else None
    except ValueError:
        granted, imprint = False, None
    if not granted or imprint != request.message_imprint.message:
        raise LedgerError("The time-stamp authority gave no time stamp of this record.")
    return base64.b64encode(answer).decode()


def _checked_time(record: Record, token: str, roots: list) -> datetime:  # type: ignore[type-arg]
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    try:
        response = decode_timestamp_response(base64.b64decode(token, validate=True))
        verifier = VerifierBuilder(roots=roots).build()
        verifier.verify_message(response, _stamped_bytes(record))
    except (VerificationError, ValueError):
        raise LedgerError(
            f"A time stamp of the witness of entry {record.entry} does not hold: it is of another "
            "record, or of an authority whose root certificate was not given."
        ) from None
    seen = response.tst_info.gen_time
    if abs(seen - datetime.fromisoformat(record.at)) > _SAME_TIME:
        raise LedgerError(
            f"The witness of entry {record.entry} says that it was made on {record.at}, and was "
            f"time-stamped on {written_at(seen)}: its date is made up, or a clock was wrong."
        )
    return seen


def _stamped_bytes(record: Record) -> bytes:
    return bytes.fromhex(record.signature)
