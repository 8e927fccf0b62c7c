"""Audits: every example's prediction with the features and weights it is made of."""

import numpy as np

from vwlite._native.expand import expand_row
from vwlite._native.text import format_predictions
from vwlite.batch import Batch
from vwlite.expand import Plan
from vwlite.learners.gd import COLUMNS, Gd
from vwlite.names import term_names, with_all_linear
from vwlite.results import Results


def prediction_line(batch: Batch, learner: Gd, results: Results, row: int) -> bytes:
    """The prediction and the tag of a row that ``learner`` has just run, with the line's end.

    As in Vowpal Wabbit's audits the prediction is clipped but the link is not applied.
    """
    raw, (low, high) = results.raw[row], learner.label_range
    value = np.zeros(1, np.float32)
    value[0] = 0 if np.isnan(raw) else high if raw > high else low if raw < low else raw
    tag = batch.tag_start[row : row + 1], batch.tag_end[row : row + 1]
    text = batch.text if len(batch.text) else None
    return format_predictions(value, batch.flags[row : row + 1], *tag, text, 0, 1)


def audit_line(batch: Batch, plan: Plan, learner: Gd, row: int) -> str:
    """The row's terms with the weights of now, those that move the prediction most first.

    Each is a tab and ``name:slot:value:weight``, then ``@G``, the sum of squared gradients, where
    learning is adaptive. ``plan`` must have seen the row's namespaces. Raises MemoryError.
    """
    plan = with_all_linear(plan)
    index, value = expand_row(batch, plan, row)[:2]
    slots, values = np.frombuffer(index, np.uint32), np.frombuffer(value, np.float32)
    names = term_names(batch, plan, row)
    table = learner.weights[slots]
    shown = [f"{weight:g}" for weight in shrunk(table[:, 0], learner)]
    if learner.stride > 1 and learner.config.modes[0]:
        squares = table[:, COLUMNS.index("adaptive")].tolist()
        shown = [f"{weight}@{square:g}" for weight, square in zip(shown, squares, strict=True)]
    with np.errstate(all="ignore"):
        order = np.argsort(-abs(table[:, 0] * values), kind="stable")
    items = [
        f"\t{name}:{slot}:{x:g}:{weight}"
        for name, slot, x, weight in zip(names, slots.tolist(), values.tolist(), shown, strict=True)
    ]
    return "".join(items[place] for place in order)


def shrunk(weights: np.ndarray, learner: Gd) -> list[float]:
    """Weights, float32[terms], after the L1 and L2 shrinkage that the table is still due."""
    gravity, contraction = learner.get("gravity"), learner.get("contraction")
    if not gravity and contraction == 1:
        return weights.tolist()
    truncated = np.copysign(np.maximum(abs(weights) - gravity, 0), weights).astype(np.float32)
    return (truncated * np.float32(contraction)).tolist()
