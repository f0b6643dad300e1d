"""How a value shows itself in a notebook: a heading and a few facts, as HTML without a style sheet.

Colours are the notebook's own, so it is read in a light and in a dark one. Everything is escaped.
"""

from collections.abc import Mapping
from html import escape


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
