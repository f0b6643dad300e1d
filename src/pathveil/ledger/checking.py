"""Bundle ↔ certificate ↔ ledger: does the ledger hold the charge that a certificate names?"""

from fractions import Fraction

from pathveil.errors import LedgerError
from pathveil.ledger.books import Books
from pathveil.ledger.chain import Chain
from pathveil.ledger.charges import NO_DELTA
from pathveil.model.certificate import LedgerRecord


def check_record(
    chain: Chain,
    record: LedgerRecord | None,
    epsilon: Fraction,
    certificate_sha256: str,
    delta: Fraction = NO_DELTA,
) -> bool:
    """Check what a bundle's certificate says about its charge against the ledger.

    Args:
        chain: the ledger's entries, whose hashes were checked.
        record: the certificate's words about the ledger.
        epsilon: the certificate's ε.
        certificate_sha256: the hash of the certificate's file.
        delta: the certificate's δ.

    Returns:
        Whether the ledger also records that this very certificate was published. False: the run
        was stopped after the bundle was written and before that was recorded; it is paid for all
        the same.

    Raises:
        LedgerError: if the ledger and the certificate contradict each other.
    """
    if record is None:
        raise LedgerError("The release was not charged to any ledger: its certificate names none.")
    books = Books.of(chain)
    payment = books.charges.get(record.entry)
    if payment is None or payment.hash != record.entry_sha256:
        raise LedgerError(
            f"The ledger's entry {record.entry} is not the charge that the certificate names: it "
            "is another ledger, or entries were removed or rewritten."
        )
    paid = books.datasets.get(record.dataset)
    if paid is None or payment not in paid.payments or payment.population != record.population:
        raise LedgerError("The ledger and the certificate name different datasets or populations.")
    if (payment.epsilon, payment.delta) != (epsilon, delta):
        raise LedgerError(
            f"The ledger was charged ε = {payment.epsilon}, δ = {payment.delta}, and the "
            f"certificate says ε = {epsilon}, δ = {delta}."
        )
    if payment.certificates and certificate_sha256 not in payment.certificates:
        raise LedgerError(
            f"Entry {record.entry} of the ledger paid for a release with another certificate."
        )
    return bool(payment.certificates)
