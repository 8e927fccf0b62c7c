"""A report as one HTML file, which needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from vwlite.reporting import charts
from vwlite.reporting.charts import Tested
from vwlite.reporting.runs import Run, differing, number, shown
from vwlite.reporting.svg import STYLE_OF_CHARTS, printable, rows, shortened
from vwlite.version import __version__

MOST_CLASSES = 24  # of a confusion matrix
LONGEST = 300  # characters of a cell
STYLE = f"""
body {{font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1180px; margin: 2em auto; padding: 0 1em}}
h1 {{font-size: 1.5em}} h2 {{font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid #ccc}}
.charts {{display: flex; flex-wrap: wrap; gap: 1em}}
svg {{max-width: 100%; height: auto}}
{STYLE_OF_CHARTS}
.wide {{overflow-x: auto}}
table {{border-collapse: collapse; margin: .5em 0}}
td {{max-width: 40em}}
th, td {{padding: .2em .7em; text-align: right; border-bottom: 1px solid #eee; vertical-align: top}}
th:first-child, td:first-child {{text-align: left}}
th {{font-weight: 600}} td {{font-variant-numeric: tabular-nums; overflow-wrap: anywhere}}
code {{overflow-wrap: anywhere; display: block; min-width: 20em; text-align: left}} .nowrap {{white-space: nowrap}}
.left {{display: block; text-align: left}}
.dot {{display: inline-block; width: .8em; height: .8em; border-radius: 50%}}
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
<p><small>vwlite {version}</small></p>
</body>
</html>
"""


def page(runs: Sequence[Run], tested: Tested | None = None, of: Sequence[str] = ()) -> str:
    """The report; ``of``: the model that was ``tested``, and the data."""
    parts = [section("Runs", overview(runs))]
    if found := charts.of_runs(runs):
        parts.append(section("Learning", drawn(found)))
    parts += [
        section("Options that differ", differences(runs)),
        section("Figures", figures(runs)),
        *(section(f"Confusion: {run.name}", matrix(run.result)) for run in runs if matrix(run.result)),
    ]
    if tested:
        model, *data = of
        parts.append(section(f"{model} on {', '.join(data)}", of_test(tested)))
    parts += [section("Data", data_table(runs)), "".join(map(options, runs))]
    title = "Report: " + ", ".join(run.name for run in runs)
    return PAGE.format(title=text(title), style=STYLE, body="\n".join(parts), version=__version__)


def text(value: str) -> str:
    return escape(printable(value))


def section(heading: str, body: str) -> str:
    return f"<h2>{text(heading)}</h2>\n{body}" if body else ""


def drawn(svgs: Iterable[str]) -> str:
    return f'<div class="charts">{"".join(svgs)}</div>'


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Cells are HTML."""
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in body]
    if not lines:
        return ""
    heading = "".join(f"<th>{cell}</th>" for cell in head)
    return f'<div class="wide"><table><tr>{heading}</tr><tr>{"</tr><tr>".join(lines)}</tr></table></div>'


def cell(value: Any) -> str:
    return text(shortened(shown(value), LONGEST))


def heads(runs: Sequence[Run]) -> list[str]:
    """The runs' names, each with the colour of its lines."""
    dot = '<span class="dot" style="background:{}"></span>'
    return [
        f'<span class="nowrap">{dot.format(charts.colour(place))} {text(shortened(run.name, 60))}</span>'
        for place, run in enumerate(runs)
    ]


def overview(runs: Sequence[Run]) -> str:
    head = ["run", '<span class="left">command</span>', "started", "seconds", "CPU seconds", "peak MiB", "vwlite"]
    lines = []
    for name, run in zip(heads(runs), runs, strict=True):
        command = f"<code>{text(shortened(' '.join(run.command), LONGEST))}</code>"
        names = ("started", "seconds", "cpu_seconds", "peak_mib", "vwlite")
        lines.append([name, command, *(f'<span class="nowrap">{cell(run.about[one])}</span>' for one in names)])
    return table(head, lines)


def differences(runs: Sequence[Run]) -> str:
    if len(runs) < 2:
        return ""
    found = [[text(name), *map(cell, values)] for name, values in differing(list(runs))]
    return table(["option", *heads(runs)], found) or "<p>none</p>"


def figures(runs: Sequence[Run]) -> str:
    names = dict.fromkeys(name for run in runs for name in run.figures)
    lines = [[text(name), *(cell(run.figures[name]) if name in run.figures else "" for run in runs)] for name in names]
    return table(["figure", *heads(runs)], lines)


def of_test(tested: Tested) -> str:
    strongest = rows("Strongest features", tested.strongest) if tested.strongest else ""
    plain = {name: value for name, value in tested.figures.items() if not isinstance(value, list | dict)}
    measured = table(["metric", "value"], [[text(name), cell(value)] for name, value in plain.items()])
    return drawn([*charts.of_test(tested), *([strongest] if strongest else [])]) + matrix(tested.figures) + measured


def matrix(result: dict[str, Any]) -> str:
    """The confusion matrix of a report, where it has one: the classes of most weight, shaded by shares of a label."""
    found = result.get("confusion_matrix")
    try:
        names = [str(name) for name in found["classes"]]
        weights = [[number(value) or 0.0 for value in row] for row in found["weight"]]
    except (TypeError, KeyError):
        return ""
    if len(weights) != len(names) or any(len(row) != len(names) for row in weights):
        return ""
    order = sorted(range(len(names)), key=lambda place: -sum(weights[place]))[:MOST_CLASSES]
    kept = sorted(order)
    lines = []
    for place in kept:
        whole = sum(weights[place]) or 1.0
        shades = [(weights[place][answer], weights[place][answer] / whole) for answer in kept]
        cells = (f'<span style="background:rgba(0,114,178,{share:.2f});{ink(share)}padding:0 .4em">{cell(value)}</span>'
                 for value, share in shades)
        lines.append([f"<b>{text(shortened(names[place], 40))}</b>", *cells])
    left = len(names) - len(kept)
    rest = f"; {left} classes of less weight are left out" if left else ""
    head = ["label \\ answer", *(text(shortened(names[place], 40)) for place in kept)]
    return f"{table(head, lines)}<p>A row a label, a column an answer{rest}.</p>"


def ink(share: float) -> str:
    """Of what stands on a shade."""
    return "color:white;" if share > 0.55 else ""


def data_table(runs: Sequence[Run]) -> str:
    head = ["run", "file", "bytes", "lines", "malformed", "digest"]
    names = ("path", "size", "lines", "bad", "digest")
    return table(head, ([text(run.name), *(cell(one.get(name)) for name in names)] for run in runs for one in run.data))


def options(run: Run) -> str:
    lines = [[text(name), cell(value)] for name, value in run.options.items()]
    listed = table(["option", "value"], lines)
    return f"<details><summary>All options of {text(run.name)}</summary>{listed}</details>" if listed else ""
