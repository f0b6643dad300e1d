"""How to cite a release: what its certificate says, and room for what only the publisher knows.

A certificate has no date and no address, and a publisher only if one was named, so none is made
up; and the page can't tell the certificate's hash, for the certificate holds the page's.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from pathveil.core.about import About
from pathveil.core.methods import method_words
from pathveil.core.told_numbers import told
from pathveil.promise.certificate import PRIVATE, Certificate
from pathveil.times.protected_units import PERSON, UNITS

PAPER = (
    "Chen, R., Fung, B. C. M., & Desai, B. C. Differentially private trajectory data publication."
)
_FILL_IN = "[publisher]"
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
} | {sign: f"\\{sign}" for sign in "_&%$#"}


@dataclass(frozen=True, slots=True)
class Citation:
    """A release as a source.

    Attributes:
        line: on one line, after the manner of the APA.
        bibtex: as an entry of BibTeX.
        missing: what is left to fill in, as it stands there.
        paper: the method's paper.
    """

    line: str
    bibtex: str
    missing: tuple[str, ...]
    paper: str = PAPER


def cite(certificate: Certificate) -> Citation:
    """How to cite the release with this certificate."""
    choices = certificate.implementation
    about = certificate.about or About()
    title, loss = _title(certificate, about), loss_words(certificate)
    who = about.publisher or _FILL_IN
    licence = f"; licence {about.licence}" if about.licence else ""
    made = f"{choices.software} {choices.software_version}"
    method = method_words(choices.method, choices.height, choices.purpose)
    facts = f"{choices.universe_size:,} locations, method {method}"
    return Citation(
        line=(
            f"{who}. ([year]). {title} ({loss}; {facts}{licence}) [Data set]. Made with {made}. "
            "[URL]"
        ),
        bibtex="\n".join(
            (
                "@misc{trajectory-release,",
                f"  title = {{{_braced(title)}}},",
                f"  author = {{{{{_braced(who)}}}}},",
                "  year = {[year]},",
                "  url = {[URL]},",
                f"  note = {{{_braced(f'Data set; {loss}; {facts}{licence}; made with {made}')}}},",
                "}",
            )
        ),
        missing=(*([] if about.publisher else [_FILL_IN]), "[year]", "[URL]"),
    )


def _title(certificate: Certificate, about: About) -> str:
    ledger = certificate.ledger
    stamp = "" if certificate.status == PRIVATE else "NOT PRIVATE, for tests only: "
    if about.title is None:
        dataset = f": {ledger.dataset}" if ledger else ""
        return f"{stamp}Trajectories released under differential privacy{dataset}"
    scope = ", ".join(text for text in (about.city, about.period) if text)
    return f"{stamp}{about.title}{f' ({scope})' if scope else ''}"


def loss_words(certificate: Certificate) -> str:
    """ε, and δ if it is not 0; and whose they are, if not a person's."""
    parameters = certificate.privacy_loss.privacy_parameters
    delta = "" if parameters.delta == "0" else f", δ = {told(Fraction(parameters.delta))}"
    whose = "" if certificate.protect == PERSON else f" for {UNITS[certificate.protect].one}"
    return f"ε = {told(Fraction(parameters.epsilon))}{delta}{whose}"


def _braced(text: str) -> str:
    """Text for BibTeX: the Greek letters as TeX knows them, and no sign that TeX would obey.

    Braces are left out: BibTeX counts them before it looks at a backslash.
    """
    return re.sub(r"[\\~^εδ_&%$#{}]", lambda found: _TEX.get(found[0], ""), text)
