"""The progress table and the summary, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vwlite.training.counters import NO_HOLDOUT, Counters

HEADER = (
    "average  since         example        example        current        current  current\n"
    "loss     last          counter         weight          label        predict features"
)
_LOSS_WIDTH, _COUNTER_WIDTH, _WEIGHT_WIDTH, _VALUE_WIDTH, _FEATURES_WIDTH = 8, 12, 14, 14, 8


def row(
    counters: Counters, label: str, prediction: str, features: int, holdout: bool = False
) -> str:
    """One line of the table, without newline, in Vowpal Wabbit's columns.

    Losses and counts are cut to their columns, not rounded; label and prediction (``value_text``,
    or a class name) end in ``...`` when longer than 14 characters. ``holdout`` shows the held-out
    losses (from the second pass on). Does not start the next stretch: see ``Counters.dumped``.
    """
    average, since = _holdout_losses(counters) if holdout else _losses(counters)
    columns = (
        average[:_LOSS_WIDTH].ljust(_LOSS_WIDTH),
        since[:_LOSS_WIDTH].ljust(_LOSS_WIDTH),
        str(counters.example_number)[:_COUNTER_WIDTH].rjust(_COUNTER_WIDTH),
        f"{counters.weight:.1f}"[:_WEIGHT_WIDTH].rjust(_WEIGHT_WIDTH),
        _shorten(label).rjust(_VALUE_WIDTH),
        _shorten(prediction).rjust(_VALUE_WIDTH),
        str(features)[:_FEATURES_WIDTH].rjust(_FEATURES_WIDTH),
    )
    return " ".join(columns) + (" h" if holdout else "")


def _shorten(text: str) -> str:
    return text if len(text) <= _VALUE_WIDTH else text[: _VALUE_WIDTH - 3] + "..."


def _ratio(total: float, weight: float) -> str:
    return f"{total / weight if weight else total * math.copysign(math.inf, weight):.6f}"


def _losses(counters: Counters) -> tuple[str, str]:
    average = since = "n.a."
    weight, old = counters.labeled_weight, counters.old_labeled_weight
    if weight > 0:
        average = _ratio(counters.sum_loss, weight)
    if weight != old:
        since = _ratio(counters.sum_loss_since_dump, weight - old)
    return average, since


def _holdout_losses(counters: Counters) -> tuple[str, str]:
    pairs = (
        (counters.holdout_loss, counters.holdout_weight),
        (counters.holdout_loss_since_dump, counters.holdout_weight_since_dump),
    )
    average, since = ("unknown" if pair == (0, 0) else _ratio(*pair) for pair in pairs)
    return average, since


def summary(
    counters: Counters,
    passes: int = 1,
    holdout: bool = False,
    best: tuple[float, float | None] | None = None,
    extra: Sequence[tuple[str, float | str]] = (),
) -> str:
    """The text after a run, a blank line first and a newline last, as Vowpal Wabbit prints it.

    ``passes`` is the number of passes made, ``holdout`` whether holding out was active, ``best``
    what ``best_constant`` returned. ``extra`` are lines to add after the average loss, like
    ``("average multiclass log loss", 0.5)``; numbers get six decimals.
    """
    lines: list[tuple[str, float | str]] = [("number of examples", str(counters.example_number))]
    if passes > 1:
        per_pass = counters.example_number // passes
        lines = [("number of examples per pass", str(per_pass)), ("passes used", str(passes))]
    lines += [
        ("weighted example sum", counters.weight),
        ("weighted label sum", counters.weighted_labels),
        ("average loss", _average_loss(counters, holdout)),
        *extra,
    ]
    if best is not None:
        lines.append(("best constant", best[0]))
        if best[1] is not None:
            lines.append(("best constant's loss", best[1]))
    lines.append(("total feature number", str(counters.total_features)))
    if counters.queries:
        lines.append(("total queries", str(counters.queries)))
    return "\nfinished run\n" + "".join(f"{name} = {_text(value)}\n" for name, value in lines)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6f}"


def _average_loss(counters: Counters, holdout: bool) -> str:
    if not holdout:
        weight = counters.labeled_weight
        return _ratio(counters.sum_loss, weight) if weight > 0 else "n.a."
    if counters.holdout_best_loss >= NO_HOLDOUT:
        return "undefined (no holdout)"
    return f"{counters.holdout_best_loss:.6f} h"
