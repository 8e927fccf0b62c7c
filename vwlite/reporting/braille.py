"""A curve in the dots of braille characters, for terminals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from vwlite.reporting.axes import Axis

WIDTH, HEIGHT = 60, 12  # characters, of 2 by 4 dots
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # bits of a character's dots, by column and row
EMPTY = 0x2800  # the character without dots


def curve(points: Sequence[tuple[float, float]], x: Axis, y: Axis) -> list[str]:
    """``HEIGHT`` lines of ``WIDTH`` characters behind the marks of ``y``, and one below with those of ``x``."""
    cells = [[EMPTY] * WIDTH for _ in range(HEIGHT)]
    places = [(x.place(left) * (2 * WIDTH - 1), (1 - y.place(up)) * (4 * HEIGHT - 1)) for left, up in points]
    for across, down in joined(places):
        if 0 <= across < 2 * WIDTH and 0 <= down < 4 * HEIGHT:
            cells[down // 4][across // 2] |= DOTS[across % 2][down % 4]
    beside = dict(zip((0, HEIGHT // 2, HEIGHT - 1), y.marks((y.high, middle(y), y.low)), strict=True))
    width = max(map(len, beside.values()))
    lines = [f"{beside.get(place, ''):>{width}} ┤{''.join(map(chr, row))}" for place, row in enumerate(cells)]
    left, right = x.marks((x.low, x.high))
    ends = f"{left}{right:>{WIDTH - len(left)}}"
    return [*lines, f"{'':>{width}}  {ends}", f"{'':>{width}}  {x.label:^{WIDTH}}".rstrip()]


def middle(axis: Axis) -> float:
    """The value of the line below the middle of ``HEIGHT`` lines."""
    return axis.high - (axis.high - axis.low) * (4 * (HEIGHT // 2) + 1.5) / (4 * HEIGHT - 1)


def joined(places: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """The dots of the lines from place to place."""
    found = [(round(across), round(down)) for across, down in places[:1]]
    for (left, top), (right, bottom) in pairwise(places):
        steps = max(1, math.ceil(max(abs(right - left), abs(bottom - top))))
        for step in range(1, min(steps, 4096) + 1):
            share = step / min(steps, 4096)
            found.append((round(left + share * (right - left)), round(top + share * (bottom - top))))
    return found
