"""Boxes, arrows and lines. Colours are those of charts, which a style sheet replaces on dark pages."""

import math
from collections.abc import Iterable
from xml.etree import ElementTree

from vwlite.reporting.svg import COLOURS, GREY

BLUE, ORANGE, GREEN, PINK, *_ = COLOURS
INK = COLOURS[7]
LINE = 17  # height of a line of text

__all__ = ["BLUE", "GREEN", "GREY", "INK", "ORANGE", "PINK", "Drawing"]


class Drawing:
    def __init__(self, width: int, height: int, alt: str) -> None:
        self.root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "role": "img",
                "aria-label": alt,
                "viewBox": f"0 0 {width} {height}",
            },
        )

    def add(self, tag: str, text: str = "", **attributes: object) -> ElementTree.Element:
        plain = {
            key.replace("_", "-"): f"{value:.1f}" if isinstance(value, float) else str(value)
            for key, value in attributes.items()
        }
        made = ElementTree.SubElement(self.root, tag, plain)
        made.text = text or None
        return made

    def text(
        self, x: float, y: float, text: str, anchor: str = "middle", size: int = 14, bold: bool = False, **how: object
    ) -> None:
        """Several lines, where ``text`` has them, centred on ``y``."""
        lines = text.split("\n")
        style = f"font-size: {size}px" + "; font-weight: 600" * bold  # as an attribute it would yield to the sheet's
        for place, line in enumerate(lines):
            at = y + 4.5 + LINE * (place - (len(lines) - 1) / 2)
            self.add("text", line, x=float(x), y=at, text_anchor=anchor, style=style, **how)

    def box(
        self, x: float, y: float, width: float, height: float, text: str = "", colour: str = BLUE, solid: float = 0.12
    ) -> None:
        self.add("rect", x=x, y=y, width=width, height=height, rx=3, fill=colour, stroke=colour, fill_opacity=solid)
        if text:
            self.text(x + width / 2, y + height / 2, text)

    def line(self, points: Iterable[tuple[float, float]], colour: str = INK, **how: object) -> None:
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add("polyline", points=text, fill="none", stroke=colour, **{"stroke-width": "1.6", **how})

    def arrow(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK, **how: object) -> None:
        self.line([(x1, y1), (x2, y2)], colour, **how)
        self.head(x1, y1, x2, y2, colour)

    def head(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK) -> None:
        """The point of an arrow at the second place, which it comes to from the first one."""
        way, size, wide = math.atan2(y2 - y1, x2 - x1), 9, 0.42
        ends = [(x2 - size * math.cos(way + side), y2 - size * math.sin(way + side)) for side in (wide, -wide)]
        self.add("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in [(x2, y2), *ends]), fill=colour)

    def dot(self, x: float, y: float, colour: str = INK, r: float = 4, **how: object) -> None:
        self.add("circle", cx=float(x), cy=float(y), r=r, fill=colour, **how)

    def svg(self) -> str:
        return ElementTree.tostring(self.root, encoding="unicode")
