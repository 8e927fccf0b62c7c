"""Metrics of models of classes, of costs and of sets of labels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from vwlite.data.batch import INNER, Batch
from vwlite.errors import UsageError
from vwlite.evaluation.confusion_table import Contingency, means
from vwlite.evaluation.distribution_metrics import distributions_of
from vwlite.evaluation.metric_table import CLASSES, COSTS, DISTRIBUTIONS, LINES, SETS, names_of
from vwlite.learners.base import Learner
from vwlite.learners.configs.per_class import SET_LOSSES
from vwlite.learners.row_results import Results
from vwlite.learners.set_losses import set_costs
from vwlite.training.listener import Listener

KINDS = {"oaa": CLASSES, "csoaa": COSTS, "ldf": LINES, "multilabel_oaa": SETS}  # of the table of metrics
ALWAYS = ("examples", "weight")
OF_COSTS = ("csoaa", "ldf")  # the loss is a cost, whatever the importance

SYNONYMS = {"hamming": "hamming_loss", "subset_accuracy": "accuracy"}  # of sets of labels


class ClassOutcomes(Listener):
    """Collects labelled rows: label and answer (class numbers), loss, importance; what is right of sets of labels.

    ``asked``: the metrics that ``report`` will be asked for, which may need more.
    """

    def __init__(self, learner: Learner, asked: Collection[str] | None = None) -> None:
        self.learner, self.config = learner, learner.config
        self.parts: list[np.ndarray] = []
        self.distributions = distributions_of(learner, asked)
        # weight by label of a set: of rows that have it and are answered so, that are answered so, that have it
        self.sets = np.zeros((3, self.config.count)) if self.config.kind == "multilabel_oaa" else None
        self.costs = np.zeros(len(SET_LOSSES))  # sums over the rows, by the loss of sets

    def batch(self, batch: Batch, results: Results, begin: int, end: int) -> None:
        counts = (batch.importance[begin:end] > 0) & (batch.flags[begin:end] & INNER == 0)
        rows = np.flatnonzero(~np.isnan(batch.label[begin:end]) & counts) + begin
        columns = (batch.label, results.prediction, results.loss, batch.importance)
        self.parts.append(np.stack([column[rows] for column in columns]).astype(np.float64))
        if self.sets is not None:
            self.add_sets(batch, rows)
        if self.distributions:
            place = (batch.label[rows] - results.raw[rows]).astype(np.int64)
            self.distributions.add(rows, place, batch.importance[rows])

    def __len__(self) -> int:
        """How many rows are collected."""
        return sum(part.shape[1] for part in self.parts)

    def add_sets(self, batch: Batch, rows: np.ndarray) -> None:
        lists, count = batch.lists, self.config.count
        meant = np.zeros((len(batch), count), bool)
        meant[lists.owner, lists.indices] = True
        meant, said = meant[rows], self.learner.chosen(rows)
        weight = batch.importance[rows].astype(np.float64)
        self.sets += [weight @ (meant & said), weight @ said, weight @ meant]
        sizes = [of.sum(axis=1) for of in (said, meant, said & meant)]
        self.costs += [weight @ set_costs(loss, *sizes) for loss in SET_LOSSES]

    def report(self, names: list[str] | None) -> dict[str, Any]:
        """The metrics by name; ``names`` chooses some. Raises UsageError for one there is not."""
        kind, count = self.config.kind, self.config.count
        label, answer, loss, weight = np.concatenate(self.parts, axis=1) if self.parts else np.zeros((4, 0))
        total = float(weight.sum())
        report: dict[str, Any] = {"examples": len(label), "weight": total}
        if total:
            report["loss"] = float(loss.sum() if kind in OF_COSTS else loss.sum() / total)
            report["accuracy"] = float(weight[loss == 0].sum() / total)
        if kind in OF_COSTS and len(label):
            report["loss"] /= len(label)
        if kind == "oaa" and total:
            found = Contingency(label, answer, weight, self.config.classes.display_name)
            report |= found.report(names, count)
        if self.sets is not None and total:
            report |= of_sets(*self.sets) | of_costs(self.costs / total, count)
            if names is not None:
                report |= {name: report[other] for name, other in SYNONYMS.items()}
        for _, log_loss in self.learner.summary_lines(held=False):
            report["log_loss"] = log_loss
        kinds = [KINDS[kind]]
        if self.distributions:
            report |= self.distributions.report()
            kinds.append(DISTRIBUTIONS)
        reasons = {"log_loss": no_probabilities(self.config)} if "log_loss" in names_of(*kinds) else {}
        return choose(report, (*ALWAYS, *names_of(*kinds)), names, reasons)


def choose(
    report: dict[str, Any],
    offered: Iterable[str],
    names: Iterable[str] | None,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """What ``names`` asks for, or else all of a report, in the order ``offered``.

    Raises UsageError, which lists what is offered but for metrics that are not there for a reason.
    """
    if names is None:
        return {name: report[name] for name in offered if name in report}
    for name in names:
        if name not in report:
            has = [one for one in offered if not reasons.get(one)]
            reason = f"; {reasons[name]}" if reasons.get(name) else ""
            raise UsageError(f"--metric {name}: a model of this kind has {', '.join(has)}{reason}")
    return {name: report[name] for name in names}


def no_probabilities(config: Any) -> str:
    """Why a model of classes has no log loss; empty where it has."""
    try:
        config.to_show("probabilities")
    except UsageError as error:
        return f"log_loss is of probabilities, and {str(error).partition(': --')[0]}"
    return ""


def of_costs(means: np.ndarray, count: int) -> dict[str, float]:
    """Of the mean costs of sets of ``count`` labels by every loss, in the order of SET_LOSSES."""
    hamming, zero_one, f1, jaccard = means.tolist()
    return {
        "accuracy": 1 - zero_one,
        "hamming_loss": hamming / count,
        "jaccard": 1 - jaccard,
        "samples_f1": 1 - f1,
    }


def of_sets(hits: np.ndarray, named: np.ndarray, meant: np.ndarray) -> dict[str, float]:
    """Of float64[labels]: the weight of the rows that have a label and are answered so, are answered so, have it."""
    right, said, true = (float(values.sum()) for values in (hits, named, meant))
    return {
        "micro_precision": right / said if said else np.nan,
        "micro_recall": right / true if true else np.nan,
        "micro_f1": 2 * right / (said + true) if said + true else np.nan,
        "macro_f1": means(hits, named, meant)["macro_f1"],
    }
