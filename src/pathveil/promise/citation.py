"""How to cite a release: what its certificate says, and room for what only the publisher knows.

A certificate has no author, no date and no address, so none is made up; and the page can't tell
the certificate's hash, for the certificate holds the page's.
"""

from dataclasses import dataclass

from pathveil.core.methods import method_words
from pathveil.promise.certificate import PRIVATE, Certificate

PAPER = (
    "Chen, R., Fung, B. C. M., & Desai, B. C. Differentially private trajectory data publication."
)
_FILL_IN = "[publisher]"


@dataclass(frozen=True, slots=True)
class Citation:
    """A release as a source.

    Attributes:
        line: on one line, after the manner of the APA.
        bibtex: as an entry of BibTeX.
        paper: the method's paper.
    """

    line: str
    bibtex: str
    paper: str = PAPER


def cite(certificate: Certificate) -> Citation:
    """How to cite the release with this certificate."""
    choices = certificate.implementation
    title, loss = _title(certificate), _loss(certificate)
    made = f"{choices.software} {choices.software_version}"
    method = method_words(choices.method, choices.height, choices.purpose)
    facts = f"{choices.universe_size:,} locations, method {method}"
    return Citation(
        line=f"{_FILL_IN}. ([year]). {title} ({loss}; {facts}) [Data set]. Made with {made}. [URL]",
        bibtex="\n".join(
            (
                "@misc{trajectory-release,",
                f"  title = {{{_braced(title)}}},",
                f"  author = {{{{{_FILL_IN}}}}},",
                "  year = {[year]},",
                "  url = {[URL]},",
                f"  note = {{{_braced(f'Data set; {loss}; {facts}; made with {made}')}}},",
                "}",
            )
        ),
    )


def _title(certificate: Certificate) -> str:
    ledger = certificate.ledger
    about = f": {ledger.dataset}" if ledger else ""
    stamp = "" if certificate.status == PRIVATE else "NOT PRIVATE, for tests only: "
    return f"{stamp}Trajectories released under differential privacy{about}"


def _loss(certificate: Certificate) -> str:
    parameters = certificate.privacy_loss.privacy_parameters
    delta = "" if parameters.delta == "0" else f", δ = {parameters.delta}"
    return f"ε = {parameters.epsilon}{delta}"


def _braced(text: str) -> str:
    """Text for BibTeX: the Greek letters as TeX knows them, and no underscore as an operator."""
    return text.replace("ε", r"$\varepsilon$").replace("δ", r"$\delta$").replace("_", r"\_")
