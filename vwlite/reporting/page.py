"""A report as one HTML file, which needs nothing from elsewhere; nights among its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from vwlite.config_check import JsonObject
from vwlite.reporting import charts
from vwlite.reporting.charts import DASHED, Tested, equal_rows, interval_text, wide_axis
from vwlite.reporting.curves import auc_interval, wilson
from vwlite.reporting.runs import Run, cell_text, differing, number
from vwlite.reporting.svg import COLOURS, DARK, GREY, STYLE_OF_CHARTS, Axis, Chart, bar_rows, printable, shorten
from vwlite.version import __version__

FEWEST = 2
FIGURES = ("value", "average_loss", "log_loss", "auc", "accuracy", "rmse", "mae", "ndcg@10", "map", "f1", "nmi")
BESIDE = {  # a figure that another is to be below, and what it is called
    "average_loss": ("best_constant_loss", "best constant"),
    "log_loss": ("best_constant_log_loss", "best constant"),
    "value": ("logged", "logged"),
}
MOST = 4  # charts


def runs_by_time(runs: Sequence[Run]) -> list[Run]:
    """Return runs in the order of time, where all are runs of one command, each on other data; else none."""
    dated = sorted(((str(run.about.get("started") or ""), run) for run in runs), key=lambda pair: pair[0])
    commands = {run.command[1:2] for run in runs}
    data = {tuple(str(file.get("path")) for file in run.data) for run in runs}
    one_job = len(runs) >= FEWEST and len(commands) == 1 and len(data) == len(runs)
    return [run for _, run in dated] if one_job and all(when for when, _ in dated) else []


def of_nights(runs: Sequence[Run]) -> list[str]:
    """A chart of each of the first few figures that all nights have."""
    ordered = runs_by_time(runs)
    shared = [name for name in FIGURES if ordered and all(number(run.figures.get(name)) is not None for run in ordered)]
    return [by_night(ordered, name) for name in shared[:MOST]]


OF_FILES = ("loss", "accuracy", "auc", "rmse")
BESIDE_LOSS = (("progressive", "while it was learned"), ("best_constant_loss", "best constant"))
File = Mapping[str, Any]  # the figures of one


def of_files(runs: Sequence[Run]) -> list[str]:
    """Charts of the files that runs measured before they learned them, in the order in which these were learned."""
    known = [(run, files) for run in runs_by_time(runs) or runs if (files := files_of(run))]
    if known and runs_by_time(runs):
        known = [(known[0][0], [entry for _, files in known for entry in files])]
    charts = [by_file(files, name) for _, files in known for name in OF_FILES if len(files) >= FEWEST]
    return [chart for chart in charts if chart]


def files_of(run: Run) -> list[File]:
    files = run.result.get("files")
    return [entry for entry in files if isinstance(entry, dict)] if isinstance(files, list) else []


def by_file(files: Sequence[File], name: str) -> str:
    """A chart of one figure; empty where fewer than two files have it."""
    named = [(name, "before it was learned"), *(BESIDE_LOSS if name == "loss" else ())]
    lines = [(title, points) for key, title in named if len(points := points_of(files, key)) >= FEWEST]
    if not lines or lines[0][0] != named[0][1]:
        return ""
    x = Axis("file, in the order of learning", 0.5, len(files) + 0.5, whole=True)
    chart = Chart(f"{name} by file", x, wide_axis(name, [y for _, points in lines for _, y in points]))
    for place, (title, points) in enumerate(lines[1:], 1):
        chart.line(points, GREY if title == "best constant" else COLOURS[place], title, **DASHED)
    points = lines[0][1]
    chart.line(points, COLOURS[0], lines[0][0])
    chart.marked(points, COLOURS[0], lines[0][0], [str(files[int(x) - 1].get("file")) for x, _ in points])
    return chart.text()


def points_of(files: Sequence[File], name: str) -> list[tuple[float, float]]:
    values = [(float(place), number(entry.get(name))) for place, entry in enumerate(files, 1)]
    return [(place, value) for place, value in values if value is not None]


def by_night(runs: Sequence[Run], name: str) -> str:
    values = [number(run.figures[name]) or 0.0 for run in runs]
    ends = [interval(run, name) for run in runs]
    beside, called = BESIDE.get(name, ("", ""))
    constants = [number(run.figures.get(beside)) for run in runs]
    drawn = [*values, *(end for both in ends if both for end in both)]
    drawn += [constant for constant in constants if constant is not None]
    x = Axis("run, in the order of time", 0.5, len(runs) + 0.5, whole=True)
    chart = Chart(f"{name} by run", x, wide_axis(name, drawn))
    banded = [(place, *both) for place, both in enumerate(ends, 1) if both]
    if len(banded) == len(runs):
        sides = ([(place, end[side]) for place, *end in banded] for side in (0, 1))
        chart.band(*sides, COLOURS[0], "95%")
    if all(constant is not None for constant in constants):
        chart.line([(place, constant or 0.0) for place, constant in enumerate(constants, 1)], GREY, called, **DASHED)
    points = [(float(place), value) for place, value in enumerate(values, 1)]
    chart.line(points, COLOURS[0], name)
    notes = ["\n".join([f"{run.name}, {run.about['started']}", *([interval_text(*both)] if both else [])])
             for run, both in zip(runs, ends, strict=True)]
    chart.marked(points, COLOURS[0], name, notes)
    return chart.text()


def interval(run: Run, name: str) -> tuple[float, float] | None:
    """The 95% interval of a figure, where the others tell enough."""
    figures = run.figures
    low, high = (number(figures.get(end)) for end in ("low", "high"))
    if name == "value":
        return None if low is None or high is None else (low, high)
    value, weight, rate = (number(figures.get(figure)) for figure in (name, "weight", "mean_label"))
    count = (weight or 0.0) * equal_rows(figures)
    if value is None or not count or not 0 <= value <= 1:
        return None
    if name == "accuracy":
        return wilson(value, count)
    if name == "auc" and rate is not None and 0 < rate < 1:
        return auc_interval(value, rate * count, (1 - rate) * count)
    return None


MOST_CLASSES = 24  # of a confusion matrix
LONGEST = 300  # characters of a cell
DOTS = "\n".join(f".dot{place} {{background: {light}}}" for place, light in enumerate(COLOURS))
DARK_DOTS = "\n".join(f".dot{place} {{background: {DARK[light]}}}" for place, light in enumerate(COLOURS))
STYLE = f"""
:root {{color-scheme: light dark; --ink: #222; --back: #fff; --rule: #d4d7da; --link: #0059a8; --shade: 0 114 178}}
@media (prefers-color-scheme: dark) {{
:root {{--ink: #e4e6e8; --back: #16181a; --rule: #3a3f44; --link: #7cc0f7; --shade: 48 120 176}}
}}
body {{font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back)}}
body {{max-width: 1760px; margin: 2em auto; padding: 0 1em}}
a {{color: var(--link)}}
h1 {{font-size: 1.5em; overflow-wrap: anywhere}}
h2 {{font-size: 1.15em; margin-top: 2em; border-bottom: 1px solid var(--rule)}}
.charts {{display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 1em}}
svg {{width: 100%; max-width: 640px; height: auto}}
{STYLE_OF_CHARTS}
.wide {{overflow-x: auto}}
table {{border-collapse: collapse; margin: .5em 0}}
td {{max-width: 40em}}
th, td {{padding: .2em .7em; text-align: right; border-bottom: 1px solid var(--rule); vertical-align: top}}
th:first-child, td:first-child {{text-align: left}}
th {{font-weight: 600}} td {{font-variant-numeric: tabular-nums; overflow-wrap: break-word}}
code {{overflow-wrap: anywhere; display: block; min-width: 20em; text-align: left}} .nowrap {{white-space: nowrap}}
.left {{display: block; text-align: left}}
.dot {{display: inline-block; width: .8em; height: .8em; border-radius: 50%; vertical-align: baseline}}
@media (max-width: 600px) {{svg text {{font-size: 13px}} svg .title {{font-size: 16px}}}}
{DOTS}
@media (prefers-color-scheme: dark) {{
{DARK_DOTS}
}}
summary {{cursor: pointer; padding: .3em 0}}
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
    if drawings := charts.of_runs(runs):
        parts.append(section("Learning" if any(run.history for run in runs) else "Calibration", figure_list(drawings)))
    if drawings := charts.of_values(runs):
        doubts = (f"{run.name}: {warning}" for run in runs if run.series for warning in doubts_of(run.result))
        parts.append(section("Value of the policy", figure_list(drawings) + paragraphs(doubts)))
    if drawings := of_nights(runs):
        parts.append(section("In the order of time", figure_list(drawings)))
    if drawings := of_files(runs):
        parts.append(section("File by file", figure_list(drawings)))
    parts += [
        section("Options that differ", differences(runs)),
        section("Figures", figures(runs)),
        *(section(f"Confusion: {run.name}", matrix(run.result)) for run in runs if matrix(run.result)),
    ]
    if tested:
        model, *data = of
        parts.append(section(f"{model} on {', '.join(data)}", of_test(tested)))
    parts += [section("Data", data_table(runs)), "".join(map(options, runs, link_options(runs)))]
    title = "Report: " + ", ".join(run.name for run in runs)
    return PAGE.format(title=text(title), style=STYLE, body="\n".join(parts), version=__version__)


def text(value: str) -> str:
    return escape(printable(value))


def section(heading: str, body: str) -> str:
    return f"<h2>{text(heading)}</h2>\n{body}" if body else ""


def figure_list(svgs: Iterable[str]) -> str:
    return f'<div class="charts">{"".join(svgs)}</div>'


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Cells are HTML."""
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in body]
    if not lines:
        return ""
    heading = "".join(f"<th>{cell}</th>" for cell in head)
    return f'<div class="wide"><table><tr>{heading}</tr><tr>{"</tr><tr>".join(lines)}</tr></table></div>'


def cell(value: Any) -> str:
    return text(shorten(cell_text(value), LONGEST))


def headings(runs: Sequence[Run]) -> list[str]:
    """The runs' names, each with the colour of its lines, which lead to the options."""
    dot = '<span class="dot dot{}"></span>'
    heads = []
    for place, (run, where) in enumerate(zip(runs, link_options(runs), strict=True)):
        name = text(shorten(run.name, 60))
        linked = f'<a href="#{where}">{name}</a>' if run.options else name
        heads.append(f'<span class="nowrap">{dot.format(place % len(COLOURS))} {linked}</span>')
    return heads


def link_options(runs: Sequence[Run]) -> list[str]:
    """Link to where a run's options stand; browsers open what holds them."""
    return [f"options-{place}" for place in range(1, len(runs) + 1)]


def overview(runs: Sequence[Run]) -> str:
    head = ["run", '<span class="left">command</span>', "started", "seconds", "CPU seconds", "peak MiB", "vwlite"]
    lines = []
    for name, run in zip(headings(runs), runs, strict=True):
        command = f"<code>{text(shorten(' '.join(run.command), LONGEST))}</code>"
        names = ("started", "seconds", "cpu_seconds", "peak_mib", "vwlite")
        lines.append([name, command, *(f'<span class="nowrap">{cell(run.about[key])}</span>' for key in names)])
    return table(head, lines)


def differences(runs: Sequence[Run]) -> str:
    if len(runs) < 2:
        return ""
    rows = [[text(name), *map(cell, values)] for name, values in differing(list(runs))]
    return table(["option", *headings(runs)], rows) or "<p>none</p>"


def figures(runs: Sequence[Run]) -> str:
    names = dict.fromkeys(name for run in runs for name in run.figures)
    lines = [[text(name), *(cell(run.figures[name]) if name in run.figures else "" for run in runs)] for name in names]
    return table(["figure", *headings(runs)], lines)


def of_test(tested: Tested) -> str:
    strongest = bar_rows("Strongest features", tested.strongest) if tested.strongest else ""
    plain = {name: value for name, value in tested.figures.items() if not isinstance(value, list | dict)}
    measured = table(["metric", "value"], [[text(name), cell(value)] for name, value in plain.items()])
    drawings = figure_list([*charts.of_test(tested), *([strongest] if strongest else [])])
    return drawings + paragraphs(doubts_of(tested.figures)) + matrix(tested.figures) + measured


def doubts_of(result: Mapping[str, Any]) -> list[str]:
    """The warnings of ``vwlite evaluate``."""
    warnings = result.get("warnings")
    rows = [row for row in warnings if isinstance(row, dict)] if isinstance(warnings, list) else []
    return [f"warning: {row['warning']}" for row in rows if "warning" in row]


def paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{text(sentence)}</p>" for sentence in sentences)


def matrix(result: JsonObject) -> str:
    """The confusion matrix of a report, where it has one: the classes of most weight, shaded by shares of a label."""
    confusion = result.get("confusion_matrix")
    try:
        names = [str(name) for name in confusion["classes"]]
        weights = [[number(value) or 0.0 for value in row] for row in confusion["weight"]]
    except (TypeError, KeyError):
        return ""
    if len(weights) != len(names) or any(len(row) != len(names) for row in weights):
        return ""
    order = sorted(range(len(names)), key=lambda place: -sum(weights[place]))[:MOST_CLASSES]
    shown_classes = sorted(order)
    lines = []
    for place in shown_classes:
        whole = sum(weights[place]) or 1.0
        shades = [(weights[place][answer], weights[place][answer] / whole) for answer in shown_classes]
        cells = (f'<span style="background:rgb(var(--shade) / {0.6 * share:.2f});padding:0 .4em">{cell(value)}</span>'
                 for value, share in shades)
        lines.append([f"<b>{text(shorten(names[place], 40))}</b>", *cells])
    left = len(names) - len(shown_classes)
    rest = f"; {left} classes of less weight are left out" if left else ""
    head = ["label \\ answer", *(text(shorten(names[place], 40)) for place in shown_classes)]
    return f"{table(head, lines)}<p>A row a label, a column an answer{rest}.</p>"


def data_table(runs: Sequence[Run]) -> str:
    head = ["run", "file", "bytes", "lines", "malformed", "digest"]
    names = ("path", "size", "lines", "bad", "digest")
    files = ((run, file) for run in runs for file in run.data)
    return table(head, ([text(run.name), *(cell(file.get(name)) for name in names)] for run, file in files))


def options(run: Run, where: str) -> str:
    lines = [[text(name), cell(value)] for name, value in run.options.items()]
    listed = table(["option", "value"], lines)
    summary = f"<summary>All options of {text(run.name)}</summary>"
    return f'<details>{summary}<div id="{where}">{listed}</div></details>' if listed else ""
