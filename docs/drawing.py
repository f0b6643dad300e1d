"""A few shapes as SVG, for the figures of the documentation: light and dark, no scripts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

STYLE = """
.card{fill:#fff;stroke:#d0d7de}.ink{fill:#1f2933}.soft{fill:#5b6770}.line{stroke:#8a97a0;fill:none}
.axis{stroke:#8a97a0}.box{fill:#e6f2f1;stroke:#00796b}.plain{fill:#f3f5f7;stroke:#8a97a0}
.gone{fill:#fff;stroke:#b3541e;stroke-dasharray:4 3}.warn{fill:#b3541e}.main{fill:#00796b}
.other{fill:#d9822b}.trend{stroke:#00796b;fill:none;stroke-width:2.5}
.trend2{stroke:#d9822b;fill:none;stroke-width:2.5}
@media (prefers-color-scheme:dark){.card{fill:#1b2228;stroke:#3a444c}.ink{fill:#e7ecef}
.soft{fill:#a9b4bc}.line,.axis{stroke:#7d8a93}.box{fill:#12403b;stroke:#4db6ac}
.plain{fill:#273038;stroke:#7d8a93}.gone{fill:#1b2228;stroke:#f0a070}.warn{fill:#f0a070}
.main{fill:#4db6ac}.other{fill:#f0b060}.trend{stroke:#4db6ac}.trend2{stroke:#f0b060}}
text{font:13px system-ui,sans-serif}.small{font-size:11px}.big{font-size:15px;font-weight:600}
"""


@dataclass
class Drawing:
    """A picture, so many units wide and high, with a title for those who don't see it."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: str, kind: str = "ink", anchor: str = "middle"
    ) -> None:
        """Words with their base line at y."""
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
            f"{escape(words)}</text>"
        )

    def box(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        """A rectangle with round corners, from its upper left corner."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" rx="5"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, kind: str = "main") -> None:
        """A bar that stands on y + height."""
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], kind: str = "line") -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline class="{kind}" points="{path}"/>')

    def arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A straight arrow."""
        (x, y), (to_x, to_y) = start, end
        self.parts.append(
            f'<line class="line" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" '
            'marker-end="url(#head)"/>'
        )

    def dot(self, x: float, y: float, radius: float, kind: str = "main") -> None:
        """A disc, half transparent, so that those below it show."""
        self.parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.2f}" opacity=".6"/>'
        )

    def save(self, path: Path) -> None:
        """Write the picture."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" role="img"><title>{escape(self.title)}</title>'
            f"<style>{STYLE}</style>"
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto"><path class="soft" d="M0 0L8 4L0 8z"/></marker></defs>'
            f'<rect class="card" x=".5" y=".5" width="{self.width - 1}" '
            f'height="{self.height - 1}" rx="8"/>'
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([head, *self.parts, "</svg>\n"]), encoding="utf-8")
