"""Charts can be read on light and on dark pages: contrasts as WCAG 2 has them."""

import re

import pytest

from vwlite.reporting import page, svg


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(foreground, background):
    low, high = sorted((luminance(foreground), luminance(background)))
    return (high + 0.05) / (low + 0.05)


LIGHT, DARK = "#ffffff", re.findall(r"--back: (#\w{6})", page.STYLE)[0]


@pytest.mark.parametrize(("colours", "back"), [([*svg.DARK], LIGHT), ([*svg.DARK.values()], DARK)])
def test_lines_stand_out(colours, back):
    assert [colour for colour in colours if contrast(colour, back) < 3] == []


@pytest.mark.parametrize("side", [0, 1])
def test_text_can_be_read(side):
    back = (LIGHT, DARK)[side]
    assert contrast(svg.TEXT[side], back) >= 4.5
    inks = re.findall(r"--(?:ink|link): (#\w{3,6})", page.STYLE)
    whole = [ink if len(ink) == 7 else "#" + "".join(2 * digit for digit in ink[1:]) for ink in inks]
    assert [ink for ink in whole[2 * side : 2 * side + 2] if contrast(ink, back) < 4.5] == []


def test_every_colour_has_one_for_dark_pages():
    rules = svg.dark_rules()
    assert all(f'[stroke="{colour}"] {{stroke: ' in rules for colour in (*svg.COLOURS, svg.GREY))
    scoped = svg.dark_rules("body .picture").splitlines()
    assert all(rule.startswith("body .picture svg ") for rule in scoped)
