"""What is shown of the scores of a model: names, scores, probabilities, how sure an answer is."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from vwlite.errors import UsageError
from vwlite.solvers.aso.classifier import Target
from vwlite.solvers.named_values import named_values


class Scored(Protocol):
    """Some examples: their scores, float32[n, classes], and which classes are chosen, bool alike."""

    scores: np.ndarray
    chosen: np.ndarray


Answers = Callable[[Target, Scored], list[bytes]]  # a line for each row, without its tag


def check_probabilities(target: Target, asked: str) -> None:
    """Raises UsageError for a loss whose scores tell none."""
    if target.config.solver.loss == "hinge":
        raise UsageError(f"{asked} needs a model of another loss: scores of --loss_function hinge tell none")


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


def encoded(target: Target) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in target.classes.names]


def chosen_names(target: Target, some: Scored) -> list[bytes]:
    """The class of each row; with several the classes, ``-`` for none."""
    names = encoded(target)
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
            shown = [f"{margin:.6g}".encode() for margin in margins(target, scores).tolist()]
        else:
            shown = by_class(target, probabilities(target, scores) if kind == "probabilities" else scores, top)
        return [b" ".join(pair) for pair in zip(names, shown, strict=True)]

    return {"names": chosen_names, "raw": shown_scores}.get(kind, beside)
