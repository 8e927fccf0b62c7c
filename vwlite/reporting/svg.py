"""Charts as SVG elements: axes, lines, bars, a legend below; their colours, light and dark."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from xml.etree import ElementTree

# Okabe and Ito's, darker where a light page needs it for 3:1; as they are drawn, and on dark pages.
DARK = {
    "#0072b2": "#56b4e9",
    "#c95800": "#ff9a4d",
    "#008560": "#3fcf9f",
    "#b0568a": "#e39cc4",
    "#9a6700": "#f0c04a",
    "#2480b5": "#9bd3f5",
    "#7f3c8d": "#c99ad6",
    "#4d4d4d": "#c9c9c9",
    "#767676": "#9a9a9a",
}
*COLOURS, GREY = DARK
TEXT, GRID, FRAME = ("#333333", "#d8dadd"), ("#e4e4e4", "#2f3337"), ("#666666", "#9aa0a6")  # light and dark
UNPRINTABLE = re.compile("[^\t\n -\ud7ff\ue000-\U0010ffff]")  # what XML 1.0 does not take, and carriage returns
PLAIN = f"""\
svg text {{font: 11px system-ui, sans-serif; fill: {TEXT[0]}}} svg .title {{font-size: 13px; font-weight: 600}}
svg .grid {{stroke: {GRID[0]}}} svg .axis {{stroke: {FRAME[0]}; fill: none}}
svg .hover {{stroke: transparent; stroke-width: 13px; stroke-linecap: round; fill: none}}
svg .hover:hover {{stroke: {TEXT[0]}; stroke-width: 7px}} svg rect:hover {{fill-opacity: 1}}"""


def dark_rules(scope: str = "") -> str:
    """Rules of a dark page, for what is within ``scope``, a selector; they stand behind those of a light one."""
    rules = {
        "svg text": f"fill: {TEXT[1]}",
        "svg .grid": f"stroke: {GRID[1]}",
        "svg .axis": f"stroke: {FRAME[1]}",
        "svg .hover:hover": f"stroke: {TEXT[1]}",
    }
    for light, dark in DARK.items():
        rules[f'svg [stroke="{light}"]'] = f"stroke: {dark}"
        rules[f'svg [fill="{light}"]'] = f"fill: {dark}"
    return "\n".join(f"{scope} {selector} {{{rule}}}".lstrip() for selector, rule in rules.items())


STYLE_OF_CHARTS = f"{PLAIN}\n@media (prefers-color-scheme: dark) {{\n{dark_rules()}\n}}"


STEPS = (1, 2, 5, 10)
TINY = 1e-250  # below it a number is 0
NARROW = 1e-9  # difference of numbers, as a share of them, that an axis does not show
LARGEST = 1e15  # from it on numbers have exponents
SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Axis:
    """An axis from ``low`` to ``high``, which differ; on a logarithmic one both are positive."""

    label: str
    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False  # has marks at whole numbers only

    def place(self, value: float) -> float:
        """0 at ``low``, 1 at ``high``; a logarithmic axis has no place below every positive value."""
        low, high, value = (self.scaled(number) for number in (self.low, self.high, value))
        return (value - low) / (high - low)

    def scaled(self, value: float) -> float:
        if not self.logarithmic:
            return value
        return math.log10(value) if value > 0 else math.log10(self.low) - 1

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the axis, ascending."""
        values = self.decades(most) if self.logarithmic else round_values(self.low, self.high, most, self.whole)
        return [value for value in values if -1e-9 <= self.place(value) <= 1 + 1e-9]

    def describe(self, value: float) -> str:
        return f"{self.label} {short_number(value, 5)}"

    def decades(self, most: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        if last - first <= 2:
            return [step * 10.0**power for power in range(first, last + 1) for step in STEPS[:3]]
        every = math.ceil((last - first) / most)
        return [10.0**power for power in range(first, last + 1, every)]

    def marks(self, values: Iterable[float]) -> list[str]:
        """Texts of values with as many digits as make them different; 0 for rounding errors."""
        size = max(abs(self.low), abs(self.high))
        rounded = [value if self.logarithmic or abs(value) > NARROW * size else 0.0 for value in values]
        marks = [short_number(value) for value in rounded]
        for digits in range(5, 17):
            if len({*marks}) == len({*rounded}):
                break
            marks = [short_number(value, digits) for value in rounded]
        return marks


@dataclass(frozen=True)
class NamedAxis(Axis):
    """An axis of ``names``, which are at 0, 1, ..."""

    names: tuple[str, ...] = ()

    def ticks(self, most: int = 6) -> list[float]:
        return [float(place) for place in range(len(self.names))]

    def marks(self, values: Iterable[float]) -> list[str]:
        return [shorten(self.names[int(value)], 20) for value in values]

    def describe(self, value: float) -> str:
        return self.names[int(value)]


def axis(label: str, values: Iterable[float], logarithmic: bool = False, whole: bool = False) -> Axis:
    """Make an axis that shows all ``values``; of none, from 0 to 1, and of equal ones, a little around them."""
    finite = [value for value in values if math.isfinite(value) and (value > TINY or not logarithmic)]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0) if logarithmic else (0.0, 1.0)
    size = max(abs(low), abs(high))
    if high - low <= NARROW * size or size <= TINY:
        margin = size / 10 if size > TINY else 0.1
        low, high = (low / 2, high * 2) if logarithmic else (low - margin, high + margin)
    return Axis(label, low, high, logarithmic, whole)


def round_values(low: float, high: float, most: int, whole: bool = False) -> list[float]:
    """About ``most`` multiples of 1, 2 or 5 times a power of ten from ``low`` to ``high``; ``whole``: integers only."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(step * power for step in STEPS if (high - low) / (step * power) <= most)
    step = max(step, 1.0) if whole else step
    return [count * step for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def short_number(value: float, digits: int = 4) -> str:
    """Shorten a number for a mark: 20k, 1.5M, 0.25, 1e+16."""
    for unit, suffix in SUFFIXES if abs(value) < LARGEST else ():
        if abs(value) >= unit:
            return f"{value / unit:.{digits}g}{suffix}"
    return f"{value:.{digits}g}" if abs(value) >= TINY else "0"


WIDTH, HEIGHT = 560, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 30, 46
CHARACTER = 6.3  # width of one, more or less
LEGEND = 18  # height of a line
NAME, LINE = 42, 12  # of names beside bars: characters on a line, height of one more
BREAKS = "*^= "  # behind which a name may be broken
HOVERS = 48  # of a line, at most: points that tell their values
NUMBERS = count(1)  # of clips, whose names must differ within a page

Point = tuple[float, float]


class Chart:
    """Draw, then ask for ``text``. What lies outside of the axes is cut off."""

    def __init__(self, title: str, x: Axis, y: Axis, height: int = HEIGHT) -> None:
        self.x, self.y, self.height = x, y, height
        self.root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
        element(self.root, "title", text=title)
        label(self.root, (LEFT + WIDTH - RIGHT) / 2, 18, title, "middle", **{"class": "title"})
        self.clip = f"clip{next(NUMBERS)}"
        area = {"x": LEFT, "y": TOP, "width": WIDTH - LEFT - RIGHT, "height": height - TOP - BOTTOM}
        element(element(self.root, "clipPath", id=self.clip), "rect", **area)
        self.draw_axes()
        self.marks = element(self.root, "g", **{"clip-path": f"url(#{self.clip})"})
        self.legend: list[tuple[str, dict[str, str]]] = []

    def at(self, point: Point) -> Point:
        across, up = self.x.place(point[0]), self.y.place(point[1])
        return LEFT + across * (WIDTH - LEFT - RIGHT), self.height - BOTTOM - up * (self.height - TOP - BOTTOM)

    def draw_axes(self) -> None:
        bottom, right = self.height - BOTTOM, WIDTH - RIGHT
        for value, mark in zip(ticks := self.x.ticks(), self.x.marks(ticks), strict=True):
            at = self.at((value, self.y.low))[0]
            element(self.root, "line", x1=at, y1=TOP, x2=at, y2=bottom, **{"class": "grid"})
            label(self.root, at, bottom + 16, mark, "middle")
        for value, mark in zip(ticks := self.y.ticks(), self.y.marks(ticks), strict=True):
            at = self.at((self.x.low, value))[1]
            element(self.root, "line", x1=LEFT, y1=at, x2=right, y2=at, **{"class": "grid"})
            label(self.root, LEFT - 6, at + 4, mark, "end")
        element(self.root, "path", d=f"M{LEFT} {TOP}V{bottom}H{right}", **{"class": "axis"})
        label(self.root, (LEFT + right) / 2, self.height - 10, self.x.label, "middle")
        middle = (TOP + bottom) / 2
        label(self.root, 14, middle, self.y.label, "middle", transform=f"rotate(-90 14 {middle:g})")

    def line(self, points: Iterable[Point], colour: str, name: str = "", **style: str) -> None:
        """``style``: attributes of SVG; ``name`` stands in the legend."""
        placed = [self.at(point) for point in points if all(map(math.isfinite, point))]
        how = {"stroke": colour, "stroke-width": "1.8", **{key.replace("_", "-"): text for key, text in style.items()}}
        if len(placed) == 1:  # no line has but one point
            self.dots(placed, how["stroke"])
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        element(self.marks, "polyline", points=text, fill="none", **how)
        if name:
            self.legend.append((name, how))

    def hover(self, points: Iterable[Point], name: str = "") -> None:
        """Values that are shown where the pointer is, of some points of a line; ``name``: of the line."""
        sound = [point for point in points if all(map(math.isfinite, point))]
        every = max(1, math.ceil(len(sound) / HOVERS))
        for point in sound[:: -every][::-1]:
            self.tell(element(self.marks, "path", d="M{:.1f} {:.1f}h.1".format(*self.at(point))), point, name)

    def tell(self, mark: ElementTree.Element, point: Point, name: str, note: str = "") -> None:
        if mark.tag == "path":
            mark.set("class", "hover")
        values = (axis.describe(value) for axis, value in zip((self.x, self.y), point, strict=True))
        element(mark, "title", "\n".join(filter(None, (name, *values, note))))

    def band(self, low: Iterable[Point], high: Iterable[Point], colour: str, name: str = "") -> None:
        """Fill the area between two lines, from left to right."""
        placed = [self.at(point) for point in (*low, *reversed([*high])) if all(map(math.isfinite, point))]
        how = {"fill": colour, "fill-opacity": "0.18"}
        element(self.marks, "polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in placed), **how)
        if name:
            self.legend.append((name, how))

    def spans(self, ends: Iterable[tuple[float, float, float]], colour: str) -> None:
        """Upright lines: where, from, to."""
        for x, low, high in ends:
            (across, bottom), (_, top) = self.at((x, low)), self.at((x, high))
            element(self.marks, "line", x1=across, y1=bottom, x2=across, y2=top, stroke=colour)

    def dots(self, placed: Sequence[Point], colour: str) -> None:
        for x, y in placed:
            element(self.marks, "circle", cx=x, cy=y, r=3, fill=colour)

    def marked(self, points: Iterable[Point], colour: str, name: str = "", notes: Sequence[str] = ()) -> None:
        """Dots that tell their values."""
        for place, point in enumerate(points):
            x, y = self.at(point)
            mark = element(self.marks, "circle", cx=x, cy=y, r=3.5, fill=colour)
            self.tell(mark, point, name, notes[place] if notes else "")

    def bars(self, edges: Sequence[float], heights: Sequence[float], colour: str, name: str = "") -> None:
        """Draw bars from the bottom, between two ``edges`` each."""
        how = {"fill": colour, "fill-opacity": "0.45", "stroke": colour, "stroke-width": "0.8"}
        for low, high, up in zip(edges, edges[1:], heights, strict=False):
            (left, top), (right, bottom) = self.at((low, up)), self.at((high, self.y.low))
            bar = element(self.marks, "rect", x=left, y=top, width=right - left, height=bottom - top, **how)
            span = f"{short_number(low)} to {short_number(high)}"
            element(bar, "title", "\n".join(filter(None, (name, span, short_number(up)))))
        if name:
            self.legend.append((name, how))

    def text(self) -> str:
        set_size(self.root, self.height + self.draw_legend())
        return ElementTree.tostring(self.root, encoding="unicode")

    def draw_legend(self) -> int:
        """Draw the legend below the chart; return its height."""
        across, down = LEFT, self.height + 8
        for name, how in self.legend:
            shown = shorten(name, 60)
            needed = 30 + CHARACTER * len(shown) + 14
            if across > LEFT and across + needed > WIDTH:
                across, down = LEFT, down + LEGEND
            if "fill" in how:
                element(self.root, "rect", x=across, y=down - 6, width=22, height=10, **how)
            else:
                element(self.root, "line", x1=across, y1=down, x2=across + 22, y2=down, **how)
            label(self.root, across + 28, down + 4, shown, "start")
            across += needed
        return down + LEGEND - self.height if self.legend else 0


def drawing(charts: Iterable[Chart]) -> str:
    """The text of a file: charts, one below the other."""
    root, top = element(None, "svg", xmlns="http://www.w3.org/2000/svg"), 0
    element(root, "style", STYLE_OF_CHARTS)
    for chart in charts:
        below = top + chart.height + chart.draw_legend()
        set_size(chart.root, below - top)
        chart.root.set("y", str(top))
        root.append(chart.root)
        top = below
    set_size(root, top)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def set_size(root: ElementTree.Element, height: int) -> None:
    root.attrib.update({"viewBox": f"0 0 {WIDTH} {height}", "width": str(WIDTH), "height": str(height)})


def bar_rows(title: str, values: Sequence[tuple[str, float]], height: int = 19) -> str:
    """Bars to the right of 0, or to the left, one below the other with their names, which may take several lines."""
    texts = [lines_of(name, NAME, 3) for name, _ in values]
    names = max(80.0, 14 + 1.08 * CHARACTER * max((len(line) for lines in texts for line in lines), default=0))
    sides = len({value < 0 for _, value in values}) or 1
    largest = max((abs(value) for _, value in values), default=0.0) or 1.0
    room = (WIDTH - 10 - names) / sides
    middle = names + room * (sides == 2 or any(value < 0 for _, value in values))
    total = TOP + sum(height + LINE * (len(lines) - 1) for lines in texts) + 10
    shape = {"viewBox": f"0 0 {WIDTH} {total}", "width": WIDTH, "height": total}
    root = element(None, "svg", xmlns="http://www.w3.org/2000/svg", role="img", **shape)
    element(root, "title", text=title)
    label(root, WIDTH / 2, 18, title, "middle", **{"class": "title"})
    element(root, "line", x1=middle, y1=TOP, x2=middle, y2=total - 6, **{"class": "axis"})
    top = TOP
    for (name, value), lines in zip(values, texts, strict=True):
        width = (room - 58) * abs(value) / largest
        left, colour = (middle, COLOURS[0]) if value >= 0 else (middle - width, COLOURS[1])
        bar = element(root, "rect", x=left, y=top + 3, width=width, height=height - 6, fill=colour)
        element(bar, "title", text=f"{name}\n{value:.6g}")
        for number, line in enumerate(lines):
            element(label(root, names - 6, top + height - 6 + LINE * number, line, "end"), "title", text=name)
        outside = middle + width + 5 if value >= 0 else middle - width - 5
        label(root, outside, top + height - 6, f"{value:.4g}", "start" if value >= 0 else "end")
        top += height + LINE * (len(lines) - 1)
    return ElementTree.tostring(root, encoding="unicode")


def lines_of(text: str, most: int, count: int) -> list[str]:
    """A text on lines of ``most`` characters, ``count`` at most; its middle is left out where they do not hold it."""
    whole = shorten(printable(text), most * count)
    lines = []
    while len(whole) > most:
        cut = max((whole.rfind(mark, most // 2, most) + 1 for mark in BREAKS), default=0) or most
        cut = max(cut, len(whole) - most * (count - len(lines) - 1))  # the lines that are left hold the rest
        lines.append(whole[:cut])
        whole = whole[cut:]
    return [*lines, whole]


def element(parent: ElementTree.Element | None, tag: str, text: str = "", **attributes: object) -> ElementTree.Element:
    plain = {key: f"{value:.1f}" if isinstance(value, float) else str(value) for key, value in attributes.items()}
    node = ElementTree.Element(tag, plain) if parent is None else ElementTree.SubElement(parent, tag, plain)
    node.text = printable(text) or None
    return node


def label(
    parent: ElementTree.Element, x: float, y: float, text: str, anchor: str, **attributes: object
) -> ElementTree.Element:
    return element(parent, "text", text, x=x, y=y, **{"text-anchor": anchor, **attributes})


def shorten(text: str, most: int) -> str:
    """The begin and the end of a long text."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"


def printable(text: str) -> str:
    """Replaces what XML does not take: most control characters, and halves of characters."""
    return UNPRINTABLE.sub("�", text)
