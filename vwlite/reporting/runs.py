"""What ``--json`` of the commands wrote, read again."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, NamedTuple

from vwlite.config_check import JsonObject
from vwlite.errors import DataError, InputMissing, escaped
from vwlite.evaluation.metric_table import SERIES

SCHEMA = 1
LARGEST = 1 << 28  # bytes of a report
TOO_LARGE = 1e300  # for differences of numbers
KINDS = {"command": list, "options": dict, "data": list, "history": list}


class Interval(NamedTuple):
    """A value with the ends of its 95% interval, None where there is none."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Run:
    """A report of schema 1. ``figures``: the numbers and texts of its result."""

    path: str
    name: str  # short, and another than those of the other runs
    command: tuple[str, ...]
    options: JsonObject
    data: list[JsonObject]
    history: list[JsonObject]
    result: JsonObject
    about: JsonObject  # version, start, time and memory

    @property
    def figures(self) -> JsonObject:
        plain = {name: value for name, value in self.result.items() if not isinstance(value, list | dict)}
        if not (policy := next(iter(self.intervals("estimate")), None)):
            return plain
        logged = next((interval.value for interval in self.intervals("policy") if interval.name == "logged"), None)
        return {"value": policy.value, "low": policy.low, "high": policy.high, "logged": logged, **plain}

    def intervals(self, what: str) -> list[Interval]:
        """Intervals of a policy's value by each ``estimate``, the best one first, or of each other ``policy``."""
        names = ("estimates",) if what == "estimate" else ("policies", "against")
        tables = [self.result.get(name) for name in names]
        rows = [row for table in tables if isinstance(table, list) for row in table if isinstance(row, dict)]
        intervals = [
            Interval(str(row.get(what)), *(number(row.get(end)) for end in ("value", "low", "high"))) for row in rows
        ]
        return [interval for interval in intervals if interval.value is not None and interval.name != "difference"]

    @property
    def series(self) -> list[dict[str, float]]:
        """The cost of a policy up to places of its log: ``examples``, ``value``, ``low``, ``high``, ``logged``."""
        entries, names = self.result.get(SERIES), ("examples", "value", "low", "high", "logged")
        rows = [row for row in entries if isinstance(row, dict)] if isinstance(entries, list) else []
        numbers = [{name: value for name in names if (value := number(row.get(name))) is not None} for row in rows]
        return [row for row in numbers if len(row) == len(names)]

    def curve(self, name: str, across: str = "examples") -> list[tuple[float, float]]:
        """Return one of the history's figures, where it is a number."""
        pairs = ((number(entry.get(across)), number(entry.get(name))) for entry in self.history)
        return [(x, y) for x, y in pairs if x is not None and y is not None]

    def by_pass(self, name: str) -> list[tuple[float, float]]:
        """Return the last number of a figure in each pass."""
        return sorted(dict(self.curve(name, "pass")).items())


def read_runs(paths: tuple[str, ...]) -> list[Run]:
    """Raises DataError for files that are no reports, InputMissing."""
    names = short_names(paths)
    return [read_run(path, name) for path, name in zip(paths, names, strict=True)]


def read_run(path: str, name: str) -> Run:
    content = parse_file(path)
    if not isinstance(content, dict) or "schema" not in content or "vwlite" not in content:
        raise DataError(f"{path} is not the report of a run: 'vwlite train --json FILE' writes one")
    if content["schema"] != SCHEMA:
        raise DataError(f"{path} is a report of schema {cell_text(content['schema'])}; this vwlite knows {SCHEMA}")
    parts = {part: content.get(part) for part in KINDS}
    result = content.get("result", {key: content[key] for key in ("examples",) if key in content})
    sound = all(isinstance(parts[part], kind) for part, kind in KINDS.items()) and isinstance(result, dict)
    if not sound or not all(isinstance(entry, dict) for entry in (*parts["data"], *parts["history"])):
        raise DataError(f"{path} is a damaged report of a run")
    about = {key: content.get(key) for key in ("vwlite", "started", "seconds", "cpu_seconds", "peak_mib")}
    command = tuple(map(str, parts.pop("command")))
    return Run(path, name, command, parts["options"], parts["data"], parts["history"], result, about)


def parse_file(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InputMissing(f"cannot open {path}: {error.strerror}") from error
    if len(data) > LARGEST:
        raise DataError(f"{path} is too large for a report of a run")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {escaped(str(error))}") from error


def short_names(paths: tuple[str, ...]) -> list[str]:
    """The files' names without folders and ``.json`` where these tell them apart, or else the whole paths."""
    names = [os.path.basename(path).removesuffix(".json") or path for path in paths]
    if len({*names}) == len(names):
        return names
    return [path if paths.count(path) == 1 else f"{path} ({place})" for place, path in enumerate(paths, 1)]


def number(value: Any) -> float | None:
    """Return a number; None for anything else, and for what is not finite or too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if abs(value) < TOO_LARGE else None  # nor is NaN
    except OverflowError:
        return None


def cell_text(value: Any) -> str:
    """A value of a report in a table."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return value if isinstance(value, str) else json.dumps(value)


def differing(runs: list[Run]) -> list[tuple[str, list[str]]]:
    """The options of which runs have several values, and the value of each run, empty for none.

    What a learner does not have is as what is off; what a command does not have is no difference to those that do.
    """
    rows = []
    for name in {name: None for run in runs for name in run.options}:
        commands = {run.command[1:2] for run in runs if name in run.options}
        values = [run.options.get(name) for run in runs if name in run.options or run.command[1:2] in commands]
        if len({cell_text(value) if value else "" for value in values}) > 1:
            rows.append((name, [cell_text(run.options[name]) if name in run.options else "" for run in runs]))
    return rows
