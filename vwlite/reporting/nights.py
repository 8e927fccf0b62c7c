"""Charts of one job that ran on several days: its figures, run by run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vwlite.reporting.charts import DASHED, equal_rows, interval_text, widened
from vwlite.reporting.curves import auc_interval, wilson
from vwlite.reporting.runs import Run, number
from vwlite.reporting.style import COLOURS, GREY
from vwlite.reporting.svg import Axis, Chart

FEWEST = 2
FIGURES = ("value", "average_loss", "log_loss", "auc", "accuracy", "rmse", "mae", "ndcg@10", "map", "f1", "nmi")
BESIDE = {  # a figure that another is to be below, and what it is called
    "average_loss": ("best_constant_loss", "best constant"),
    "log_loss": ("best_constant_log_loss", "best constant"),
    "value": ("logged", "logged"),
}
MOST = 4  # charts
Night = tuple[str, Run]  # when it began


def nights(runs: Sequence[Run]) -> list[Run]:
    """In the order of time, where all are runs of one command, each on other data; else none."""
    dated = sorted(((str(run.about.get("started") or ""), run) for run in runs), key=lambda pair: pair[0])
    commands = {run.command[1:2] for run in runs}
    data = {tuple(str(one.get("path")) for one in run.data) for run in runs}
    one_job = len(runs) >= FEWEST and len(commands) == 1 and len(data) == len(runs)
    return [run for _, run in dated] if one_job and all(when for when, _ in dated) else []


def of_nights(runs: Sequence[Run]) -> list[str]:
    """A chart of each of the first few figures that all nights have."""
    ordered = nights(runs)
    shared = [name for name in FIGURES if ordered and all(number(run.figures.get(name)) is not None for run in ordered)]
    return [by_night(ordered, name) for name in shared[:MOST]]


OF_FILES = ("loss", "accuracy", "auc", "rmse")
BESIDE_LOSS = (("progressive", "while it was learned"), ("best_constant_loss", "best constant"))
File = Mapping[str, Any]  # the figures of one


def of_files(runs: Sequence[Run]) -> list[str]:
    """Charts of the files that runs measured before they learned them, in the order in which these were learned."""
    known = [(run, files) for run in nights(runs) or runs if (files := files_of(run))]
    if known and nights(runs):
        known = [(known[0][0], [entry for _, files in known for entry in files])]
    charts = [by_file(files, name) for _, files in known for name in OF_FILES if len(files) >= FEWEST]
    return [chart for chart in charts if chart]


def files_of(run: Run) -> list[File]:
    found = run.result.get("files")
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def by_file(files: Sequence[File], name: str) -> str:
    """A chart of one figure; empty where fewer than two files have it."""
    named = [(name, "before it was learned"), *(BESIDE_LOSS if name == "loss" else ())]
    lines = [(told, points) for key, told in named if len(points := points_of(files, key)) >= FEWEST]
    if not lines or lines[0][0] != named[0][1]:
        return ""
    x = Axis("file, in the order of learning", 0.5, len(files) + 0.5, whole=True)
    chart = Chart(f"{name} by file", x, widened(name, [y for _, points in lines for _, y in points]))
    for place, (told, points) in enumerate(lines[1:], 1):
        chart.line(points, GREY if told == "best constant" else COLOURS[place], told, **DASHED)
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
    shown = [*values, *(end for both in ends if both for end in both), *(one for one in constants if one is not None)]
    x = Axis("run, in the order of time", 0.5, len(runs) + 0.5, whole=True)
    chart = Chart(f"{name} by run", x, widened(name, shown))
    banded = [(place, *both) for place, both in enumerate(ends, 1) if both]
    if len(banded) == len(runs):
        sides = ([(place, end[side]) for place, *end in banded] for side in (0, 1))
        chart.band(*sides, COLOURS[0], "95%")
    if all(one is not None for one in constants):
        chart.line([(place, one or 0.0) for place, one in enumerate(constants, 1)], GREY, called, **DASHED)
    points = [(float(place), value) for place, value in enumerate(values, 1)]
    chart.line(points, COLOURS[0], name)
    notes = ["\n".join([told(run), *([interval_text(*both)] if both else [])])
             for run, both in zip(runs, ends, strict=True)]
    chart.marked(points, COLOURS[0], name, notes)
    return chart.text()


def told(run: Run) -> str:
    return f"{run.name}, {run.about['started']}"


def interval(run: Run, name: str) -> tuple[float, float] | None:
    """The 95% interval of a figure, where the others tell enough."""
    figures = run.figures
    low, high = (number(figures.get(end)) for end in ("low", "high"))
    if name == "value":
        return None if low is None or high is None else (low, high)
    value, weight, rate = (number(figures.get(one)) for one in (name, "weight", "mean_label"))
    count = (weight or 0.0) * equal_rows(figures)
    if value is None or not count or not 0 <= value <= 1:
        return None
    if name == "accuracy":
        return wilson(value, count)
    if name == "auc" and rate is not None and 0 < rate < 1:
        return auc_interval(value, rate * count, (1 - rate) * count)
    return None
