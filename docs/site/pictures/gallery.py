"""Charts of the gallery, from the results that its script wrote."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pictures.drawing import BLUE, ORANGE, Drawing
from vwlite.reporting.charts import DASHED, DIAGONAL, wide_axis
from vwlite.reporting.svg import COLOURS, GREY, Axis, Chart, axis

BAR = 44  # height of a bar with its name
RESULTS = Path(__file__).resolve().parent.parent / "gallery.json"


@cache
def results() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def charts(name: str) -> Iterator[str]:
    """The figures as bars, and a chart of the run."""
    one = results()[name]
    told = "; ".join(f"{label}: {value:.4g}" for label, value, *_ in one["rows"])
    yield bars(one["metric"], [(label, value) for label, value, *_ in one["rows"]], f"{one['metric']} as bars. {told}.")
    yield with_alt(chart(one["chart"]), f"{one['chart']['title']}: {', '.join(map(ends, one['chart']['lines']))}.")


def bars(metric: str, values: list[tuple[str, float]], alt: str) -> str:
    """One for each tool, below its name; those of vwlite are of another colour."""
    drawn = Drawing(540, 28 + BAR * len(values), alt)
    drawn.text(0, 12, metric, "start", 16, bold=True)
    room = 540 - 90
    most = max(value for _, value in values)
    for place, (name, value) in enumerate(values):
        y = 28 + BAR * place
        drawn.text(0, y + 8, name, "start", 15)
        drawn.box(0, y + 19, room * value / most, 14, colour=BLUE if name.startswith("vwlite") else ORANGE, solid=0.85)
        drawn.text(room * value / most + 8, y + 26, f"{value:.4g}", "start", 15, bold=True)
    return drawn.svg()


def ends(line: dict) -> str:
    points = line["points"]
    return f"{line['name']} goes from {points[0][1]:.3g} to {points[-1][1]:.3g}" if points else line["name"]


def with_alt(svg: str, alt: str) -> str:
    escaped = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg ", f'<svg aria-label="{escaped}" ', 1)


def chart(spec: dict) -> str:
    xs, ys = zip(*[point for line in spec["lines"] for point in line["points"]], strict=True)
    logarithmic = spec["x"] == "examples" or spec.get("logarithmic", False)
    if logarithmic:
        last = max(xs)
        ys = [y for x, y in zip(xs, ys, strict=True) if x >= last / 100] or ys
        xs = [x for x in xs if x >= last / 1000]
    across = axis(spec["x"], xs, logarithmic, whole=True)
    if spec.get("diagonal"):
        whole = wide_axis("", [*xs, *ys])
        across, up = Axis(spec["x"], whole.low, whole.high), Axis(spec["y"], whole.low, whole.high)
    else:
        up = wide_axis(spec["y"], list(ys))
    drawn = Chart(spec["title"], across, up)
    if spec.get("diagonal"):
        drawn.line([(up.low, up.low), (up.high, up.high)], GREY, **DIAGONAL)
    for place, line in enumerate(spec["lines"]):
        colour = COLOURS[place % len(COLOURS)]
        drawn.line(line["points"], colour, line["name"], **(DASHED if place == 3 else {}))
        drawn.hover(line["points"], line["name"])
    return drawn.text()
