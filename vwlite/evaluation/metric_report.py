"""Metrics for people and for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from vwlite.escapes import laid_out

SERIES = "series"  # points of a curve, which tables leave out


def as_table(report: dict[str, Any]) -> str:
    """``report`` for the terminal: ``name  value`` lines, then tables with their headings.

    A value that does not exist prints as ``n.a.``. No newline at the end.
    """
    single = {name: value for name, value in report.items() if not isinstance(value, list | dict)}
    lines = _align([(name, _cell(value)) for name, value in single.items()])
    for name, value in report.items():
        if isinstance(value, dict):
            body = [("", *value["classes"])]
            body += [(label, *map(_cell, row)) for label, row in zip(value["classes"], value["weight"], strict=True)]
            lines += ["", f"{name} (a row a label, a column an answer)", *_align(body)]
        elif isinstance(value, list) and value and name != SERIES:
            body = [tuple(value[0]), *(tuple(map(_cell, row.values())) for row in value)]
            lines += ["", name, *_align(body)]
    return laid_out("\n".join(lines))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        digits = 10 if abs(value) >= 1e5 else 6
        return f"{value:.{digits}g}" if math.isfinite(value) else "n.a."
    return "n.a." if value is None else str(value)


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    """First column left in a two-column list, everything else right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first = str.ljust if len(widths) == 2 else str.rjust
    return [
        "  ".join((first if not i else str.rjust)(text, widths[i]) for i, text in enumerate(row))
        for row in rows
    ]


def as_json(report: dict[str, Any]) -> str:
    """``report`` as JSON in its own key order; numbers that are not finite become ``null``."""
    return json.dumps(finite(report), indent=2, allow_nan=False)


def finite(value: Any) -> Any:
    """``value`` with plain numbers only and ``None`` for those not finite, recursively."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
