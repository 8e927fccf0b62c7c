"""Metrics of models of classes, of costs and of sets of labels."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import INNER, Batch, Csr, ranges
from vwlite.errors import UsageError
from vwlite.evaluation.metric_table import (
    CLASSES,
    COSTS,
    DISTRIBUTIONS,
    LINES,
    MAX_UNASKED_CLASSES,
    SETS,
    TWO_CLASSES,
    Refuse,
    choose,
    names_of,
)
from vwlite.evaluation.metrics import COMPUTED, Sample
from vwlite.learners.abilities import LabelDistribution, Reporting
from vwlite.learners.base import Learner, want_scores
from vwlite.learners.class_costs import set_costs
from vwlite.learners.configs.per_class import SET_LOSSES
from vwlite.learners.row_results import Results
from vwlite.training.listener import Listener

MAX_MATRIX_CLASSES = 1000
TABLES = ("per_class", "confusion_matrix")


class Contingency:
    """Weights by label and by answer, from numbers[n] of labels and answers and float64[n] weights.

    ``display_name`` gives a class's name. The classes are those that are a label or an answer. As in scikit-learn, a
    class without answers, or without labels, counts as 0 in a mean over the classes.
    """

    def __init__(
        self, label: np.ndarray, answer: np.ndarray, weight: np.ndarray, display_name: Callable[[int], str] = str
    ) -> None:
        numbers, index = np.unique(np.concatenate([label, answer]), return_inverse=True)
        self.names = list(map(display_name, numbers.astype(np.int64).tolist()))
        self.weight, self.true, self.said = weight, index[: len(label)], index[len(label) :]
        right, size = self.true == self.said, len(numbers)
        self.meant, self.named = np.bincount(self.true, weight, size), np.bincount(self.said, weight, size)
        self.hits = np.bincount(self.true[right], weight[right], size)

    def report(self, names: Iterable[str] | None, count: int) -> JsonObject:
        """The means over classes, and the tables among ``names``; None: both tables if there are few classes."""
        majority = self.meant.max(initial=0) / self.meant.sum() if len(self.weight) else math.nan
        report: JsonObject = {"majority_accuracy": float(majority), **means(self.hits, self.named, self.meant)}
        by_default = TABLES if count <= MAX_UNASKED_CLASSES else ()
        asked_names = by_default if names is None else names
        tables = zip(TABLES, (self.per_class, self.matrix), strict=True)
        return {**report, **{name: table() for name, table in tables if name in asked_names}}

    def per_class(self) -> list[JsonObject]:
        columns = {
            "precision": shares(self.hits, self.named),
            "recall": shares(self.hits, self.meant),
            "f1": f1(self.hits, self.named, self.meant),
            "weight": self.meant,
        }
        rows = zip(*map(np.ndarray.tolist, columns.values()), strict=True)
        return [
            {"class": name, **dict(zip(columns, row, strict=True))} for name, row in zip(self.names, rows, strict=True)
        ]

    def matrix(self) -> JsonObject:
        """Raises UsageError where there are too many classes for one."""
        size = len(self.names)
        if size > MAX_MATRIX_CLASSES:
            limit = f"takes {MAX_MATRIX_CLASSES} classes at most, not {size}"
            raise UsageError(f"--metric confusion_matrix {limit}: see per_class")
        weight = np.bincount(self.true * size + self.said, self.weight, size * size).reshape(size, size)
        return {"classes": self.names, "weight": weight.tolist()}


def shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """float64[n], NaN of nothing."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def f1(hits: np.ndarray, named: np.ndarray, meant: np.ndarray) -> np.ndarray:
    return shares(2 * hits, named + meant)


def means(hits: np.ndarray, named: np.ndarray, meant: np.ndarray) -> dict[str, float]:
    """Over the classes that labels or answers name: float64[classes], the weight answered right, answered, labelled."""
    there = named + meant > 0
    hits, named, meant = hits[there], named[there], meant[there]
    columns = {"macro_precision": shares(hits, named), "macro_recall": shares(hits, meant)}
    columns["macro_f1"] = f1(hits, named, meant)
    return {name: float(np.nan_to_num(values).mean()) if len(values) else np.nan for name, values in columns.items()}


BY_BINS = ("ece", "calibration_bins")


class Distributions:
    """Collects of labelled rows label and importance and, where labels are numbers, the median and the mean of each.

    And the probabilities of all labels, where a metric that is ``asked`` for needs them.
    """

    def __init__(self, learner: Any, asked: Collection[str] | None) -> None:
        self.learner, self.asked = learner, asked
        few = learner.config.count <= MAX_UNASKED_CLASSES
        self.keeps_shares = few if asked is None else bool({*BY_BINS} & {*asked})
        self.shares: list[np.ndarray] = []
        self.columns: list[np.ndarray] = []

    def add(self, rows: np.ndarray, place: np.ndarray, weight: np.ndarray) -> None:
        """Rows int64[n] of the batch run last: the places int64[n] of their labels, and their importance."""
        columns = [place, weight]
        if self.learner.config.has_numbers:
            value = self.learner.label_numbers[place]
            columns += [value - self.learner.median_answers(rows), value - self.learner.mean_answers(rows)]
        self.columns.append(np.stack(columns).astype(np.float64))
        if self.keeps_shares:
            self.shares.append(self.learner.score[rows].copy())

    def report(self) -> JsonObject:
        """The metrics by name; of the median the absolute error, which it has least, of the mean the squared one."""
        if not self.columns:
            return {}
        place, weight, *errors = np.concatenate(self.columns, axis=1)
        report: JsonObject = {}
        if errors:
            report["mse"] = float(np.average(np.square(errors[1]), weights=weight))
            report["rmse"] = math.sqrt(report["mse"])
            report["mae"] = float(np.average(np.abs(errors[0]), weights=weight))
        if self.keeps_shares:
            samples = self.samples(place, weight)
            report["ece"] = float(np.mean([COMPUTED["ece"](sample) for sample in samples]))
            if self.asked and "calibration_bins" in self.asked:
                report["calibration_bins"] = self.bins(samples)
        return report

    def samples(self, place: np.ndarray, weight: np.ndarray) -> list[Sample]:
        """Yield for each label whether a row has it and the probability that it has."""
        shares = np.concatenate(self.shares)
        return [
            Sample((place == label).astype(np.float32), share, weight.astype(np.float32), share, math.nan, math.nan)
            for label, share in enumerate(shares.T)
        ]

    def bins(self, samples: list[Sample]) -> list[JsonObject]:
        first = int(self.learner.get("first") != 0)
        name = self.learner.config.classes.display_name
        return [
            {"class": name(label + first), **row}
            for label, sample in enumerate(samples)
            for row in COMPUTED["calibration_bins"](sample)
        ]


class TopClasses:
    """Precision and recall of the K classes of the highest scores, of equal ones the first, as fastText's ``test`` has
    them (Joulin and others, 2017): right answers divided by K for each row, and by the number of right labels of all.
    """

    def __init__(self, learner: Any, asked: Collection[str]) -> None:
        """``learner``: one that has scores."""
        self.learner, self.names = learner, asked
        self.most = {name: int(name.partition("@")[2]) for name in asked}
        self.hits, self.weight, self.labels = dict.fromkeys(asked, 0.0), 0.0, 0.0
        want_scores(learner)

    def add(self, rows: np.ndarray, meant: Csr, weight: np.ndarray) -> None:
        """Rows int64[n] of the batch run last, with their labels as places and float32[n] importance."""
        score, owner, place = self.learner.score[rows], meant.owner, meant.indices.astype(np.int64)
        known = place < score.shape[1]
        rank = np.full(len(place), np.iinfo(np.int64).max)
        own = score[owner[known], place[known]][:, None]
        others, before = score[owner[known]], np.arange(score.shape[1]) < place[known][:, None]
        rank[known] = ((others > own) | ((others == own) & before)).sum(axis=1)
        self.weight += float(weight.sum(dtype=np.float64))
        self.labels += float(weight[owner].sum(dtype=np.float64))
        for name, most in self.most.items():
            self.hits[name] += float(weight[owner[rank < most]].sum(dtype=np.float64))

    def report(self) -> dict[str, float]:
        whole = {"p": self.weight, "recall": self.labels}
        metrics = {}
        for name, most in self.most.items():
            kind = name.partition("@")[0]
            divisor = whole[kind] * (most if kind == "p" else 1)
            metrics[name] = self.hits[name] / divisor if divisor else math.nan
        return metrics


class SecondClass:
    """Orders the rows of two classes by the score of the second less that of the first."""

    def __init__(self, learner: Any) -> None:
        """``learner``: one that has scores."""
        self.learner, self.columns = learner, list[np.ndarray]()
        want_scores(learner)

    def add(self, rows: np.ndarray, place: np.ndarray, weight: np.ndarray) -> None:
        """Rows int64[n] of the batch run last: the places int64[n] of their labels, and float32[n] importance."""
        first, second = self.learner.score[rows].T
        self.columns.append(np.stack([place, second - first, weight]).astype(np.float32))

    def report(self, names: Collection[str] | None) -> dict[str, float]:
        """``names``: those asked for; None: those that need not be."""
        place, margin, weight = np.concatenate(self.columns, axis=1) if self.columns else np.zeros((3, 0), np.float32)
        sample = Sample(place, margin, weight, margin, math.nan, math.nan)
        return {
            name: COMPUTED[name](sample)
            for name in ("auc", "pr_auc", "auc_loss")
            if name in (names or ("auc", "pr_auc"))
        }


KINDS = {"oaa": CLASSES, "csoaa": COSTS, "ldf": LINES, "multilabel_oaa": SETS}  # of the table of metrics
ALWAYS = ("examples", "weight")
AT_TOP = ("p@K", "recall@K")
OF_COSTS = ("csoaa", "ldf")  # the loss is a cost, whatever the importance

SYNONYMS = {"hamming": "hamming_loss", "subset_accuracy": "accuracy"}  # of sets of labels


class ClassOutcomes(Listener):
    """Collects labelled rows: label and answer (class numbers), loss, importance; what is right of sets of labels.

    ``asked``: the metrics that ``report`` will be asked for, which may need more.
    """

    def __init__(self, learner: Learner, asked: Collection[str] | None = None) -> None:
        self.learner, self.config = learner, learner.config
        self.parts: list[np.ndarray] = []
        self.distributions = Distributions(learner, asked) if isinstance(learner, LabelDistribution) else None
        at_top = [name for name in asked or () if re.fullmatch(r"(p|recall)@[1-9][0-9]{0,8}", name)]
        ranked = at_top and self.config.kind in ("oaa", "multilabel_oaa") and not no_scores(self.config)
        self.top = TopClasses(learner, at_top) if ranked else None
        by_score = self.config.kind == "oaa" and self.config.count == 2 and not no_scores(self.config)
        self.second = SecondClass(learner) if by_score else None
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
        for part in filter(None, (self.distributions, self.second)):
            place = (batch.label[rows] - results.raw[rows]).astype(np.int64)
            part.add(rows, place, batch.importance[rows])
        if self.top:
            self.top.add(rows, self.places(batch, results, rows), batch.importance[rows])

    def __len__(self) -> int:
        """The number of rows collected."""
        return sum(part.shape[1] for part in self.parts)

    def places(self, batch: Batch, results: Results, rows: np.ndarray) -> Csr:
        """The labels of rows, from 0."""
        if self.sets is not None:
            lists, sizes = batch.lists, batch.lists.sizes[rows]
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
            return Csr(starts, lists.indices[ranges(lists.indptr, rows)], np.ones(starts[-1], np.float32))
        place = (batch.label[rows] - results.raw[rows]).astype(np.uint32)
        return Csr(np.arange(len(rows) + 1), place, np.ones(len(rows), np.float32))

    def add_sets(self, batch: Batch, rows: np.ndarray) -> None:
        lists, count = batch.lists, self.config.count
        meant = np.zeros((len(batch), count), bool)
        meant[lists.owner, lists.indices] = True
        meant, predicted = meant[rows], self.learner.chosen(rows)
        weight = batch.importance[rows].astype(np.float64)
        self.sets += [weight @ (meant & predicted), weight @ predicted, weight @ meant]
        sizes = [of.sum(axis=1) for of in (predicted, meant, predicted & meant)]
        self.costs += [weight @ set_costs(loss, *sizes) for loss in SET_LOSSES]

    def report(self, names: list[str] | None, refuse: Refuse = None) -> JsonObject:
        """The metrics by name; ``names`` chooses some, as ``choose`` does."""
        kind, count = self.config.kind, self.config.count
        label, answer, loss, weight = np.concatenate(self.parts, axis=1) if self.parts else np.zeros((4, 0))
        total = float(weight.sum())
        report: JsonObject = {"examples": len(label), "weight": total}
        if total:
            report["loss"] = float(loss.sum() if kind in OF_COSTS else loss.sum() / total)
            report["accuracy"] = float(weight[loss == 0].sum() / total)
        if kind in OF_COSTS and len(label):
            report["loss"] /= len(label)
        if kind == "oaa" and total:
            contingency = Contingency(label, answer, weight, self.config.classes.display_name)
            report |= contingency.report(names, count)
        if self.sets is not None and total:
            report |= of_sets(*self.sets) | of_costs(self.costs / total, count)
            if names is not None:
                report |= {name: report[other] for name, other in SYNONYMS.items()}
        own = self.learner.summary_lines(held=False) if isinstance(self.learner, Reporting) else ()
        for _, log_loss in own:
            report["log_loss"] = log_loss
        report |= self.top.report() if self.top else {}
        kinds = [KINDS[kind]]
        if self.second:
            report |= self.second.report(names)
            kinds.append(TWO_CLASSES)
        if self.distributions:
            report |= self.distributions.report()
            kinds.append(DISTRIBUTIONS)
        reasons = {"log_loss": no_probabilities(self.config)} if "log_loss" in names_of(*kinds) else {}
        reasons |= dict.fromkeys(AT_TOP, no_scores(self.config))
        return choose(report, (*ALWAYS, *names_of(*kinds)), names, reasons, refuse)


def no_scores(config: Any) -> str:
    """Why a model of classes has no scores of all of them; empty where it has."""
    for what in ("scores", "probabilities"):
        try:
            config.to_show(what)
            return ""
        except UsageError as error:
            reason = str(error)
    return reason


def no_probabilities(config: Any) -> str:
    """Why a model of classes has no log loss; empty where it has."""
    try:
        config.to_show("probabilities")
    except UsageError as error:
        return f"log_loss is of probabilities, and {str(error).partition(': --')[0]}"
    return ""


def of_costs(means: np.ndarray, count: int) -> dict[str, float]:
    """Metrics from the mean costs of sets of ``count`` labels by each loss, in the order of SET_LOSSES."""
    hamming, zero_one, f1, jaccard = means.tolist()
    return {
        "accuracy": 1 - zero_one,
        "hamming_loss": hamming / count,
        "jaccard": 1 - jaccard,
        "samples_f1": 1 - f1,
    }


def of_sets(hits: np.ndarray, named: np.ndarray, meant: np.ndarray) -> dict[str, float]:
    """Metrics of sets from float64[labels] each: the weights of true positives, of predicted and of true labels."""
    right, predicted, true = (float(values.sum()) for values in (hits, named, meant))
    return {
        "micro_precision": right / predicted if predicted else np.nan,
        "micro_recall": right / true if true else np.nan,
        "micro_f1": 2 * right / (predicted + true) if predicted + true else np.nan,
        "macro_f1": means(hits, named, meant)["macro_f1"],
    }
