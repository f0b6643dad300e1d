"""How a value shows itself in a notebook: a heading and a few facts, as HTML without a style sheet.

Colours are the notebook's own, so it is read in a light and in a dark one. Everything is escaped.
"""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.model.certificate import Certificate
    from pathveil.model.universe import Universe

_FEW = 5


def html_card(title: str, facts: Mapping[str, object], *, alarm: str = "") -> str:
    """A small table.

    Args:
        title: what it is.
        facts: names and values, in their order; values are shown as text.
        alarm: said above all else, if it is not empty.
    """
    warning = f"<p><strong>{escape(alarm)}</strong></p>" if alarm else ""
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left"><bdi>{escape(str(value))}</bdi></td></tr>'
        for name, value in facts.items()
    )
    return (
        f'<div class="pathveil">{warning}<table><caption style="text-align:left">'
        f"<strong>{escape(title)}</strong></caption><tbody>{rows}</tbody></table></div>"
    )


def universe_card(universe: "Universe") -> str:
    """A universe: how many locations, and the first few."""
    shown = [
        f"{label} ({name})" if name else label
        for label, name in zip(
            universe.labels[:_FEW], (universe.names or [""] * _FEW)[:_FEW], strict=False
        )
    ]
    return html_card(
        f"Universe of {len(universe):,} locations",
        {
            "first": ", ".join(shown) + (", …" if len(universe) > _FEW else ""),
            "coordinates": "yes" if universe.has_coordinates else "no",
            "made from": universe.origin,
        },
    )


def certificate_card(certificate: "Certificate") -> str:
    """A certificate: the promise in figures."""
    loss, choices = certificate.privacy_loss, certificate.implementation
    is_private = certificate.status == "PRIVATE"
    return html_card(
        "Privacy certificate",
        {
            "status": certificate.status,
            "definition": certificate.dp_flavor.name,
            "ε": loss.privacy_parameters.epsilon,
            "δ": loss.privacy_parameters.delta,
            "unit": loss.privacy_unit,
            "neighbours": certificate.dp_flavor.input_metric,
            "method": f"{choices.method}, height {choices.height}",
            "software": f"{choices.software} {choices.software_version}",
        },
        alarm="" if is_private else "NOT PRIVATE: for tests only; never publish it.",
    )
