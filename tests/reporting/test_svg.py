"""Axes, charts and curves of dots."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vwlite.reporting import curves, svg
from vwlite.reporting.svg import BOTTOM, HEIGHT, LEFT, RIGHT, TINY, TOP, WIDTH, Axis, Chart, axis, short_number

NUMBERS = st.floats(-1e12, 1e12)


@pytest.mark.parametrize(
    ("low", "high", "logarithmic", "whole", "ticks"),
    [
        (0, 1, False, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.53, 0.72, False, False, [0.55, 0.6, 0.65, 0.7]),
        (1, 3, False, True, [1, 2, 3]),
        (1, 2000, True, False, [1, 10, 100, 1000]),
        (20, 300, True, False, [20, 50, 100, 200]),
        (1, 1e12, True, False, [1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12]),
    ],
)
def test_ticks_of_axes_are_round_numbers(low, high, logarithmic, whole, ticks):
    assert Axis("", low, high, logarithmic, whole).ticks() == pytest.approx(ticks)


@example([0.0, 5e-324], False)
@example([5e-324], True)
@example([1.0, 1.0 + 2**-52], True)
@given(st.lists(NUMBERS), st.booleans())
def test_any_values_have_an_axis(values, logarithmic):
    actual = axis("", values, logarithmic)
    shown = [value for value in values if value > TINY or not logarithmic]
    assert actual.low < actual.high and all(-1e-9 <= actual.place(value) <= 1 + 1e-9 for value in shown)
    assert len(actual.ticks()) <= 14


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (1e-300, "0"), (2.5e-17, "2.5e-17"), (0.25, "0.25"), (1500, "1.5k"), (-2e6, "-2M"), (3e9, "3G"),
        (2e16, "2e+16"),
    ],
)  # fmt: skip
def test_numbers_are_shortened(value, text):
    assert short_number(value) == text


@pytest.mark.parametrize(
    ("low", "high", "logarithmic", "values", "marks"),
    [
        (-1, 1, False, (-1, 1e-17, 1), ["-1", "0", "1"]),
        (9.8e-15, 1.4e-14, False, (1e-14, 1.2e-14), ["1e-14", "1.2e-14"]),
        (1e-14, 1, True, (1e-14, 1e-7, 1), ["1e-14", "1e-07", "1"]),
        (1000100, 1000300, False, (1000100, 1000200, 1000300), ["1.0001M", "1.0002M", "1.0003M"]),
        (0, 2, False, (0, 1, 2), ["0", "1", "2"]),
    ],
)
def test_marks_differ_where_values_do(low, high, logarithmic, values, marks):
    assert Axis("", low, high, logarithmic).marks(values) == marks


def parts(text, tag):
    return list(ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}" + tag))


def test_points_are_where_they_belong():
    chart = Chart("title", Axis("x", 0, 10), Axis("y", 0, 1))
    chart.line([(0, 0), (5, 0.5), (float("nan"), 1), (10, 1)], "red", "a line")
    (line,) = parts(chart.text(), "polyline")
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    expected = [(LEFT, bottom), ((LEFT + right) / 2, (TOP + bottom) / 2), (right, TOP)]
    actual = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert actual == [pytest.approx(point) for point in expected]


def test_bars_stand_on_the_axis():
    chart = Chart("title", Axis("x", 0, 2), Axis("y", 0, 1))
    chart.bars([0, 1, 2], [0.5, 1], "blue")
    bars = [shape for shape in parts(chart.text(), "rect") if shape.get("fill") == "blue"]
    bottoms = [float(bar.get("y")) + float(bar.get("height")) for bar in bars]
    assert bottoms == [HEIGHT - BOTTOM] * 2
    assert float(bars[0].get("height")) * 2 == pytest.approx(float(bars[1].get("height")))


def test_a_legend_takes_as_many_lines_as_it_needs():
    heights = []
    for count in (0, 1, 12):
        chart = Chart("title", Axis("x", 0, 1), Axis("y", 0, 1))
        for place in range(count):
            chart.line([(0, 0), (1, 1)], "red", f"a run with a long name {place}")
        text = chart.text()
        heights.append(int(re.search(r'height="(\d+)"', text)[1]))
        for label in parts(text, "text"):
            width = svg.CHARACTER * len(label.text)
            assert float(label.get("y")) < heights[-1]
            assert label.get("text-anchor") != "start" or float(label.get("x")) + width <= WIDTH
    assert heights[0] < heights[1] < heights[2]


@given(st.text(), st.text(max_size=20))
def test_any_text_is_xml(title, name):
    chart = Chart(title, Axis(name, 0, 1), Axis("<&>\"'", 0, 1))
    chart.line([(0.5, 0.5)], "red", name)
    assert len(parts(chart.text(), "circle")) == 1
    assert parts(svg.bar_rows(title, [(name, 1.0), ("b", -2.0), ("c", 0.0)]), "rect")


def test_long_names_are_cut_in_the_middle():
    assert svg.shorten("abcdefghij", 10) == "abcdefghij"
    assert svg.shorten("abcdefghijk", 7) == "abc…ijk"


def test_a_curve_of_dots_follows_its_points():
    lines = curves.draw_curve([(0, 0), (1, 1)], Axis("x", 0, 1), Axis("y", 0, 1))
    assert len(lines) == curves.HEIGHT + 2
    drawn = [line.partition("┤")[2] for line in lines[: curves.HEIGHT]]
    assert {len(line) for line in drawn} == {curves.WIDTH}
    dots = [
        (2 * x + column, 4 * y + row)
        for y, line in enumerate(drawn)
        for x, character in enumerate(line)
        for column in (0, 1)
        for row in range(4)
        if ord(character) & curves.DOTS[column][row]
    ]
    assert len(dots) == 2 * curves.WIDTH
    slope = (4 * curves.HEIGHT - 1) / (2 * curves.WIDTH - 1)
    assert all(abs(4 * curves.HEIGHT - 1 - slope * x - y) <= 0.5 + slope for x, y in dots)
    assert [line.partition("┤")[0].strip() for line in lines[:12]] == ["1", *[""] * 5, "0.4574", *[""] * 4, "0"]


@given(st.lists(st.tuples(st.text("ab^*_ ", min_size=1, max_size=150), st.floats(-9, 9)), min_size=1, max_size=5))
def test_names_beside_bars_fit(values):
    text = svg.bar_rows("Strongest features", values)
    height = float(re.search(r'height="(\d+)"', text)[1])
    names = [label for label in parts(text, "text") if label.find("{*}title") is not None]
    for label in names:
        assert float(label.get("x")) - svg.CHARACTER * len(label.text or "") >= 0 and float(label.get("y")) < height
    message = "".join(label.text or "" for label in names)
    if all(len(name) <= 3 * svg.NAME for name, _ in values):
        assert message == "".join(name for name, _ in values)
    else:
        assert "…" in message
    for bar in parts(text, "rect"):
        left, width = float(bar.get("x")), float(bar.get("width"))
        assert left >= max(float(label.get("x")) for label in names) and left + width <= WIDTH


def test_charts_of_a_file_stand_one_below_the_other():
    charts = [Chart(title, Axis("x", 0, 1), Axis("y", 0, 1)) for title in ("one", "other")]
    for place, chart in enumerate(charts):
        chart.line([(0, 0), (1, 1)], svg.COLOURS[0], "name" * place)
    root = ElementTree.fromstring(svg.drawing(charts))
    first, second = root.findall("{*}svg")
    assert (first.get("y"), second.get("y")) == ("0", first.get("height")) and first.get("height") == str(HEIGHT)
    assert int(root.get("height")) == int(first.get("height")) + int(second.get("height"))
    assert root.find("{*}style").text == svg.STYLE_OF_CHARTS


@example("^^^^^aaa^^^^^^^^^^^^^^", 8)
@given(st.text("ab*^ ", max_size=200), st.integers(8, 40))
def test_a_name_is_cut_into_lines_that_fit(text, most):
    lines = svg.lines_of(text, most, 3)
    assert len(lines) <= 3 and all(len(line) <= most for line in lines)
    assert "".join(lines) == svg.shorten(text, 3 * most)
