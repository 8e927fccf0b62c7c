"""The score above which a label is given, chosen for each label by cross-validation (Yang, SIGIR 2001: SCut)."""

import numpy as np

from vwlite.features.sparse_rows import Rows
from vwlite.solvers.aso.auxiliary import mixed
from vwlite.solvers.aso.config import SolverConfig
from vwlite.solvers.aso.rows import Targets, targets
from vwlite.solvers.aso.sgd import solve, zero_weights

FOLDS = 5
ENOUGH = 5  # positive examples of a label for a cut of its own


def folds_of(rows: int, seed: int) -> np.ndarray:
    """int64[rows]: the fold of each row, in an order by hash of seed and row, so that folds are of one size."""
    fold = np.empty(rows, np.int64)
    fold[np.argsort(mixed(np.arange(rows), seed), kind="stable")] = np.arange(rows) % min(FOLDS, rows)
    return fold


def out_of_fold(rows: Rows, made: Targets, config: SolverConfig) -> np.ndarray:
    """float32[n, labels]: the scores of each row by the model of all folds but its own."""
    fold = folds_of(len(rows), config.seed)
    scores = np.zeros((len(rows), len(made.names)), np.float32)
    features = int(rows.terms.indices.max(initial=0)) + 1
    for number in range(fold.max(initial=-1) + 1):
        held, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        part = made.positive.take(rest)
        own = targets(part.owner, part.indices, len(rest), made.names)
        weights = zero_weights(features, rows.extra.shape[1], len(made.names))
        scores[held] = solve(config, rows.take(rest), own, weights).scores(rows.take(held))
    return scores


def best_cut(scores: np.ndarray, true: np.ndarray) -> float:
    """The cut of the largest F, halfway between two scores; of several such the one nearest to 0."""
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order].astype(np.float64), np.cumsum(true[order])
    f = 2 * hits / (np.arange(1, len(ranked) + 1) + true.sum())
    below = np.append(ranked[1:], ranked[-1] - 2e-6)
    cuts = (ranked + below) / 2
    f[ranked == below] = -1  # no cut is between equal scores
    best = np.flatnonzero(f >= f.max() - 1e-12)
    return float(cuts[best[np.abs(cuts[best]).argmin()]])


def tuned_cuts(rows: Rows, made: Targets, config: SolverConfig) -> np.ndarray:
    """float32[labels]: the cut of each label. One of all labels together serves those of few positive examples."""
    scores = out_of_fold(rows, made, config)
    true = np.zeros(scores.shape, bool)
    true[made.positive.owner, made.positive.indices] = True
    cuts = np.full(scores.shape[1], best_cut(scores.ravel(), true.ravel()))
    for label in np.flatnonzero(true.sum(0) >= ENOUGH).tolist():
        cuts[label] = best_cut(scores[:, label], true[:, label])
    return cuts.astype(np.float32)
