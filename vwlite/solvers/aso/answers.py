"""What is shown of the scores of a model: names, scores, probabilities, how sure an answer is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.errors import UsageError
from vwlite.evaluation.class_metrics import Contingency, means
from vwlite.evaluation.metric_table import Refuse, choose
from vwlite.evaluation.metrics import LOG_LOSS_EPS, Sample, auc
from vwlite.learners.row_results import named_values
from vwlite.solvers.aso.classifier import Target, labels_of
from vwlite.solvers.aso.corpus import Corpus


class Scored(Protocol):
    """Some examples: their scores, float32[n, classes], and which classes are chosen, bool alike."""

    scores: np.ndarray
    chosen: np.ndarray


Answers = Callable[[Target, Scored], list[bytes]]  # a line for each row, without its tag


def check_probabilities(target: Target, asked: str) -> None:
    """Raises UsageError for a loss whose scores tell none."""
    if target.config.solver.loss == "hinge":
        raise UsageError(f"{asked} needs a model of another loss: the scores of --loss_function hinge have none")


def probabilities(target: Target, scores: np.ndarray) -> np.ndarray:
    """float64[n, classes]: of one class a row they add up to 1; of several each label has its own.

    For modified Huber and squared loss (clip(f, -1, 1) + 1) / 2 estimates the probability (Zhang, Annals of Statistics
    32, 2004). Rows of zeros become uniform.
    """
    f = scores.astype(np.float64)
    spread = np.tanh(f / 2) if target.config.solver.loss == "logistic" else np.clip(f, -1, 1)
    shares = (spread + 1) / 2
    if target.classes.several:
        return shares
    total = shares.sum(1, keepdims=True)
    return np.divide(shares, total, out=np.full_like(shares, 1 / shares.shape[1]), where=total > 0)


def margins(target: Target, scores: np.ndarray) -> np.ndarray:
    """float64[n]: the best score less the second best; of several labels the smallest distance of a score from 0."""
    f = scores.astype(np.float64)
    if target.classes.several:
        return np.abs(f).min(1)
    best = np.sort(f, axis=1)[:, -2:]
    return best[:, 1] - best[:, 0]


def chosen_names(target: Target, some: Scored) -> list[bytes]:
    """The class of each row; with several the classes, ``-`` for none."""
    names = [name.encode("utf-8", "surrogateescape") for name in target.classes.names]
    return [b",".join(names[p] for p in np.flatnonzero(row).tolist()) or b"-" for row in some.chosen]


def by_class(target: Target, values: np.ndarray, top: int | None = None) -> list[bytes]:
    """``class:value`` of float[n, classes], in the model's order; of ``top`` the largest values, the largest first."""
    return [line.encode("utf-8", "surrogateescape") for line in named_values(target.classes.names, values, top)]


def shown_scores(target: Target, some: Scored) -> list[bytes]:
    return by_class(target, some.scores)


def answers_of(kind: str, top: int | None) -> Answers:
    """``kind``: names, scores, raw, probabilities or confidence. ``top`` classes are shown beside the name."""

    def beside(target: Target, some: Scored) -> list[bytes]:
        names, scores = chosen_names(target, some), some.scores
        if kind == "confidence":
            columns = [f"{margin:.6g}".encode() for margin in margins(target, scores).tolist()]
        else:
            columns = by_class(target, probabilities(target, scores) if kind == "probabilities" else scores, top)
        return [b" ".join(pair) for pair in zip(names, columns, strict=True)]

    return {"names": chosen_names, "raw": shown_scores}.get(kind, beside)


UNASKED = ("examples", "accuracy", "micro_precision", "micro_recall", "micro_f1", "macro_f1")
MACRO = ("macro_precision", "macro_recall", "macro_f1")
BASIC = ("examples", "accuracy", "majority_accuracy", "micro_f1")
ONE = (*BASIC, *MACRO, "auc", "log_loss", "per_class", "confusion_matrix")
SEVERAL = (*UNASKED, "hamming_loss", "auc", "log_loss")


def agreement(
    chosen: np.ndarray, true: np.ndarray, importance: np.ndarray, meant: np.ndarray | None = None
) -> dict[str, float | int]:
    """Agreement of ``chosen`` and ``true``, bool[n, classes]: accuracy; with several classes an example also
    micro-averages.

    ``meant`` int64[n]: how many classes the labels name, those among them that the model does not know; None: one each.
    """
    weight = importance.astype(np.float64)
    hits = float((weight * (chosen & true).sum(1)).sum())
    count = np.ones(len(weight)) if meant is None else meant
    predicted, named = float((weight * chosen.sum(1)).sum()), float((weight * count).sum())
    report: dict[str, float | int] = {"examples": len(weight)}
    exact = (chosen == true).all(1) & (true.sum(1) == count)
    report["accuracy"] = float((weight * exact).sum() / weight.sum())
    if meant is not None:
        report["micro_precision"] = hits / predicted if predicted else 0.0
        report["micro_recall"] = hits / named if named else 0.0
    report["micro_f1"] = 2 * hits / (predicted + named) if predicted + named else 0.0
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

    def basic(self) -> JsonObject:
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
        chance = np.clip(probabilities(self.target, self.scores), LOG_LOSS_EPS, 1 - LOG_LOSS_EPS)
        if self.target.classes.several:
            losses = -np.log(np.where(self.true, chance, 1 - chance)).sum(1)
        else:
            losses = -np.log(np.where(self.true, chance, 0).sum(1) + LOG_LOSS_EPS * ~self.true.any(1))
        return float(np.average(losses, weights=self.weight))

    def of_classes(self, names: list[str]) -> JsonObject:
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


def measure_answers(target: Target, corpus: Corpus, names: list[str] | None, refuse: Refuse) -> JsonObject:
    """The metrics by name; of None those of ``UNASKED`` that there are. Raises UsageError for others as ``omit``."""
    offered, reasons = SEVERAL if target.classes.several else ONE, {}
    labelled, labels = labels_of(corpus, target.classes)
    true = np.zeros((len(labelled), len(target.classes.names)), bool)
    true[labels.positive.owner, labels.positive.indices] = True
    importance = np.concatenate([importance for _, importance in corpus.columns])[labelled]
    scores = target.scores(corpus)[labelled]
    texts = [corpus.texts[label] for label in corpus.label[labelled].tolist()]
    outcomes = Measured(target, scores, target.chosen(scores), true, importance, texts)
    report = outcomes.basic()
    if names is None:
        most = {} if target.classes.several else {"majority_accuracy": outcomes.of_classes([])["majority_accuracy"]}
        return choose(report | most, (*UNASKED[:2], *most, *UNASKED[2:]), None)
    more: dict[str, Callable[[], float]] = {"auc": outcomes.auc, "log_loss": outcomes.log_loss}
    try:
        check_probabilities(target, "log_loss")
    except UsageError as error:
        reasons["log_loss"] = str(error)
    report |= {name: more[name]() for name in more if name in names and name not in reasons}
    return choose(report | outcomes.of_classes(names), offered, names, reasons, refuse)
