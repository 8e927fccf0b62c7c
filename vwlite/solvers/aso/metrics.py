"""How well scores agree with true classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.evaluation.class_metrics import choose
from vwlite.evaluation.confusion_table import Contingency, means
from vwlite.evaluation.metrics import LOG_LOSS_EPS, Sample, auc
from vwlite.solvers.aso.answers import check_probabilities, probabilities
from vwlite.solvers.aso.classifier import Target, labels_of
from vwlite.solvers.aso.corpus import Corpus

UNASKED = ("examples", "accuracy", "micro_precision", "micro_recall", "micro_f1", "macro_f1")
MACRO = ("macro_precision", "macro_recall", "macro_f1")
ONE = ("examples", "accuracy", "micro_f1", *MACRO, "auc", "log_loss", "per_class", "confusion_matrix")
SEVERAL = (*UNASKED, "hamming_loss", "auc", "log_loss")


def agreement(
    chosen: np.ndarray, true: np.ndarray, importance: np.ndarray, meant: np.ndarray | None = None
) -> dict[str, float | int]:
    """Of ``chosen`` and ``true`` bool[n, classes]: accuracy; with several classes an example also micro-averages.

    ``meant`` int64[n]: how many classes the labels name, those among them that the model does not know; None: one each.
    """
    weight = importance.astype(np.float64)
    hits = float((weight * (chosen & true).sum(1)).sum())
    count = np.ones(len(weight)) if meant is None else meant
    said, named = float((weight * chosen.sum(1)).sum()), float((weight * count).sum())
    report: dict[str, float | int] = {"examples": len(weight)}
    exact = (chosen == true).all(1) & (true.sum(1) == count)
    report["accuracy"] = float((weight * exact).sum() / weight.sum())
    if meant is not None:
        report["micro_precision"] = hits / said if said else 0.0
        report["micro_recall"] = hits / named if named else 0.0
    report["micro_f1"] = 2 * hits / (said + named) if said + named else 0.0
    if meant is not None:
        report["macro_f1"] = float(np.nan_to_num(of_labels(chosen, true, weight)["macro_f1"]))
    return report


def of_labels(chosen: np.ndarray, true: np.ndarray, weight: np.ndarray) -> dict[str, float]:
    """Means over labels, each as right or wrong for every example."""
    return means(weight @ (chosen & true), weight @ chosen, weight @ true)


@dataclass(slots=True)
class Measured:
    """Scores of the labelled examples of a corpus, and what is true of them."""

    target: Target
    scores: np.ndarray  # float32[n, classes]
    chosen: np.ndarray  # bool[n, classes]
    true: np.ndarray  # bool[n, classes]
    weight: np.ndarray  # float32[n]
    texts: list[str]  # the labels

    def basic(self) -> dict[str, Any]:
        several = self.target.classes.several
        meant = np.array([len({*text.split(",")} - {""}) for text in self.texts]) if several else None
        return agreement(self.chosen, self.true, self.weight, meant)

    def auc(self) -> float:
        """The mean of the classes of which there are examples and others: each against all others, by its score."""
        areas = []
        for true, score in zip(self.true.T, self.scores.T, strict=True):
            if true.any() and not true.all():
                areas.append(auc(Sample(true.astype(np.float32), score, self.weight, score, 0.0, float("nan"))))
        return float(np.mean(areas)) if areas else float("nan")

    def log_loss(self) -> float:
        """Raises UsageError for a loss that tells no probabilities."""
        check_probabilities(self.target, "--metric log_loss")
        chance = np.clip(probabilities(self.target, self.scores), LOG_LOSS_EPS, 1 - LOG_LOSS_EPS)
        if self.target.classes.several:
            losses = -np.log(np.where(self.true, chance, 1 - chance)).sum(1)
        else:
            losses = -np.log(np.where(self.true, chance, 0).sum(1) + LOG_LOSS_EPS * ~self.true.any(1))
        return float(np.average(losses, weights=self.weight))

    def of_classes(self, names: list[str]) -> dict[str, Any]:
        """Means over classes, and the tables among ``names``; labels that the model does not know are classes too."""
        weight = self.weight.astype(np.float64)
        if self.target.classes.several:
            wrong = (weight @ (self.chosen != self.true)).sum() / (weight.sum() * self.true.shape[1])
            return {"hamming_loss": float(wrong)}
        unknown = sorted({*self.texts} - {*self.target.classes.names})
        every = [*self.target.classes.names, *unknown]
        number = {name: place for place, name in enumerate(every)}
        label = np.array([number[text] for text in self.texts])
        table = Contingency(label, self.chosen.argmax(1), weight, every.__getitem__)
        return table.report(names, len(every))


def measured(target: Target, corpus: Corpus, names: list[str] | None) -> dict[str, Any]:
    """The metrics by name; of None those of ``UNASKED`` that there are. Raises UsageError for unknown ones."""
    offered = SEVERAL if target.classes.several else ONE
    if unknown := [name for name in names or () if name not in offered]:
        choose({}, offered, unknown)
    labelled, made = labels_of(corpus, target.classes)
    true = np.zeros((len(labelled), len(target.classes.names)), bool)
    true[made.positive.owner, made.positive.indices] = True
    importance = np.concatenate([importance for _, importance in corpus.columns])[labelled]
    scores = target.scores(corpus)[labelled]
    texts = [corpus.texts[label] for label in corpus.label[labelled].tolist()]
    found = Measured(target, scores, target.chosen(scores), true, importance, texts)
    report = found.basic()
    if names is None:
        return choose(report, UNASKED, None)
    more: dict[str, Callable[[], float]] = {"auc": found.auc, "log_loss": found.log_loss}
    report |= {name: more[name]() for name in more if name in names}
    return choose(report | found.of_classes(names), offered, names)
