"""A whole run over lines of text: predictions, progress rows, summary."""

import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .constant import best_constant
from .counters import Counters, text
from .curved_losses import LINKS
from .gd import F32, Gd
from .options import Options
from .parse import parse_line
from .pipeline import expand


class Prediction(NamedTuple):
    pred: np.float32  # clipped and linked
    raw: np.float32
    loss: np.float32  # times importance, 0 without a label
    features: int
    tag: bytes
    held: bool

    def text(self) -> str:
        """The line of a predictions file, without its end."""
        pred = self.pred
        value = f"{pred:.0f}" if pred == np.trunc(pred) else f"{pred:.6f}"
        return value + (" " + self.tag.decode("latin-1") if self.tag else "")


@dataclass
class Result:
    """``predictions`` has one list per pass; ``saved`` is the state a model file would get."""

    gd: Gd
    saved: Gd
    predictions: list[list[Prediction]] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    summary: dict[str, str] = field(default_factory=dict)


def run(lines: list[bytes], options: Options, gd: Gd | None = None) -> Result:
    """Read, learn and predict ``lines`` pass after pass; ``gd`` continues earlier learning."""
    gd = gd or Gd(options)
    gd.idle = 0.0
    result, counters, seen = Result(gd, gd), Counters(options), set()
    best = gd
    examples = []
    for line in lines[: options.examples]:
        example = parse_line(line, options)
        examples.append((example, expand(example, options, seen)))
    holdout = (options.passes > 1 or options.holdout_after > 0) and not options.holdout_off
    for number in range(options.passes):
        result.predictions.append([])
        for count, item in enumerate(examples, 1):
            held = holdout and is_held(count, options)
            if not item[0].blank and not item[0].is_save:
                prediction = one_example(gd, counters, item, held)
                result.predictions[-1].append(prediction)
                held_columns = holdout and number > 0
                row = counters.row(item[0].label, prediction, held_columns)
                result.progress += [row] if row else []
        gd.rate *= F32(options.decay_learning_rate)
        if holdout:
            going_on = counters.end_pass()
            if not counters.failures:
                best = copy.deepcopy(gd)
            if not going_on:
                result.saved = best
                break
    result.summary = summary(counters, gd, len(result.predictions), holdout)
    return result


def is_held(count: int, options: Options) -> bool:
    if options.holdout_after:
        return count > options.holdout_after
    return count % options.holdout_period == 0


def one_example(gd: Gd, counters: Counters, item: tuple, held: bool) -> Prediction:
    """Predict, then learn unless held out, unlabelled or only testing; count the example."""
    (example, (terms, features, squares)), options = item, gd.options
    label, weight, loss = example.label, example.importance, F32(0)
    labeled = not np.isnan(label)
    if options.test_only or held or not labeled:
        raw, pred = gd.predict(terms, example.base)
    else:
        raw, pred = gd.learn(terms, label, weight, example.base, squares)
    with np.errstate(all="ignore"):
        if labeled and weight > 0:
            loss = gd.current_loss().value(pred, label) * weight
        pred = F32(LINKS[options.link](pred))
    gd.t += float(weight)
    if held or not labeled:
        gd.idle += float(weight)
    counters.add(label, weight, loss, features, held)
    return Prediction(pred, raw, loss, features, example.tag, held)


def summary(counters: Counters, gd: Gd, passes: int, holdout: bool) -> dict[str, str]:
    lines = {"number of examples": str(counters.examples)}
    if passes > 1:
        lines = {
            "number of examples per pass": str(counters.examples // passes),
            "passes used": str(passes),
        }
    lines["weighted example sum"] = text(counters.labeled + counters.unlabeled, gd.options.own)
    lines["weighted label sum"] = text(counters.weighted_labels, gd.options.own)
    lines["average loss"] = counters.average_loss(holdout)
    best, loss = best_constant(counters, gd)
    if best is not None:
        lines["best constant"] = text(best, gd.options.own)
    if loss is not None:
        lines["best constant's loss"] = text(loss, gd.options.own)
    lines["total feature number"] = str(counters.features)
    return lines
