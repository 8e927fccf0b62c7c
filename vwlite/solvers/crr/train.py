"""Combined regression and ranking: one linear model, trained on random examples and random candidate pairs.

Minimises ``alpha L(w, examples) + (1 - alpha) L(w, pairs) + lambda / 2 |w|^2 + C |w|_1`` by stochastic gradient steps
(Sculley, "Combined regression and ranking", KDD 2010; C is ``--l1``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, TypedDict

import numpy as np

from vwlite._native import crr as kernel
from vwlite._native import query_steps
from vwlite.config_check import JsonObject, require
from vwlite.errors import DataError, Diverged
from vwlite.features.hashing import CONSTANT_HASH
from vwlite.features.term_weights import ADVICE, MAX_TERMS
from vwlite.interrupts import raise_if_stopped
from vwlite.learners.base import NO_MEMORY, TOO_MANY, UNSTABLE
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LOSSES, LossConfig
from vwlite.options import FLOAT32_MAX
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import TrainingSet
from vwlite.solvers.crr.pair_sampling import CurriculumStages, PairIndex, check_curriculum
from vwlite.solvers.crr.weights import Begun, Weights
from vwlite.storage.model_file import numbers
from vwlite.training.config import CurriculumConfig
from vwlite.training.listener import Monitor
from vwlite.training.model_header import Natural
from vwlite.training.solver_run import Content

NOT_RECORDED = ("loss", "queries", "penalty", "max_memory")  # as they are, or at all
BELONGING = {
    "average": ("average_after",), "l1": (), "pair_loss": (), "calibrate": (), "pairing": ("truncate", "query_limit")
}
CHUNK, FEW = 1 << 17, 1 << 8  # steps on pairs, on queries between looks at signals
FIRST_ROW = 1024  # steps; later rows of the table stand at twice as many as the one before
NEWTON_STEPS = 100  # of calibration, of which some ten are needed
TABLE = f"{'steps':>12} {'regression':>12} {'pairwise':>12} {'steps/s':>10}\n{'':>12} {'loss':>12} {'loss':>12}"


class State(TypedDict):
    """The progress of a stopped run."""

    steps: Natural


class Descent:
    """The steps from ``first``, which the model that it goes on from has made, to ``total``; ``done`` were made.

    ``shown``: the state of the weights when the last row of the table was written. ``finished``: the arrays that
    further steps need, once the weights are no longer theirs but those of the model. ``facts``: of the training, as
    JSON data.
    """

    def __init__(
        self, config: CrrConfig, data: TrainingSet, begun: Begun | None = None,
        curriculum: CurriculumConfig | None = None,
    ) -> None:
        """Raises DataError when there is nothing to learn from, ModelError for a model whose state is damaged,
        UsageError where the curriculum does not go with the options.
        """
        self.config, self.data = config, data
        self.curriculum = curriculum if curriculum and curriculum.order else None
        if self.curriculum:
            check_curriculum(config, self.curriculum)
        by_rows = self.curriculum is not None and not self.curriculum.of_pairs
        self.difficulty = data.difficulty(self.curriculum.by) if self.curriculum and by_rows else None
        self.pairs = data.pair_index(config, wants_pairs=config.share < 1, keep=by_rows)
        self.first = self.done = begun.steps if begun else 0
        self.total = self.first + config.steps_for(len(self.pairs.query_start))
        loss, plan = data.labels.loss, data.plan
        self.plan = plan.weights.flat if plan.weights else plan
        self.learner = Gd(GdConfig(loss=loss, link=LOSSES[loss.name].link, sgd=True), data.features.bits)
        self.weights = Weights(config, self.learner.weights, data.labels, self.total)
        if begun:
            begun.load(self.weights)
            self.weights.average_after = self.first - int(self.weights.get("averaged"))
        self.shown = self.weights.state.copy()
        self.finished: dict[str, np.ndarray] | None = None
        self.facts: JsonObject = {}
        self.said = 0, 0.0  # steps and seconds when the last row was written

    def run(self, monitor: Monitor) -> None:
        """Make the steps that are left. Raises DataError, Diverged, Interrupted, MemoryError."""
        monitor.line(TABLE)
        self.said = self.done, time.perf_counter()
        for index, end in self.stages(monitor):
            self.make_steps(index, end, monitor)
        self.finished = self.weights.arrays()
        kernel.finish(self.weights)
        self.finish(monitor)

    def stages(self, monitor: Monitor) -> Iterable[tuple[PairIndex, int]]:
        """The index that steps draw from, and the number of the last step that does, for each stage."""
        if not self.curriculum:
            return [(self.pairs, self.total)]
        stages = CurriculumStages(self.curriculum, self.config, self.pairs, self.first, self.total)
        return stages.remaining(self.done, self.data.rows_of_index, self.difficulty, monitor.note)

    def make_steps(self, index: PairIndex, end: int, monitor: Monitor) -> None:
        """Make the steps left up to ``end``."""
        most = FEW if self.config.takes_queries else CHUNK
        take_steps = query_steps.take_steps if self.config.takes_queries else kernel.take_steps
        while self.done < end:
            due = max(FIRST_ROW, 1 << self.done.bit_length())
            last = min(self.done + most, due, end)
            with monitor.update():
                status, after = take_steps(
                    self.weights, index, self.data.rows.address, self.plan, self.done + 1, last
                )
                check(status, after)
                self.done = after - 1
                if self.done in (due, self.total):
                    self.write_row(monitor)
            raise_if_stopped()
            monitor.step(self.done - self.first, self.total - self.first)

    def write_row(self, monitor: Monitor) -> None:
        """Losses since the last row, steps per second."""
        new, now = self.weights.state - self.shown, time.perf_counter()
        speed = (self.done - self.said[0]) / max(now - self.said[1], 1e-9)
        losses = {kind: mean_of(new, kind) for kind in ("example", "pair")}
        columns = " ".join(f"{'n.a.' if loss is None else f'{loss:.6f}':>12}" for loss in losses.values())
        figures = {"regression_loss": losses["example"], "pairwise_loss": losses["pair"]}
        monitor.row(f"{self.done:12d} {columns} {speed:10.3g}", **{"pass": 1, "steps": self.done, **figures})
        self.shown, self.said = self.weights.state.copy(), (self.done, now)

    def finish(self, monitor: Monitor) -> None:
        """Make the model of the final weights, and report its objective."""
        config, learner, labels = self.config, self.learner, self.data.labels
        if not np.isfinite(learner.weights).all():
            raise Diverged("the weights are not finite numbers; try a larger --lambda or scale the features")
        learner.set(time=float(self.total))
        if labels.loss.name != "logistic":
            learner.set(min_label=-FLOAT32_MAX, max_label=FLOAT32_MAX)  # to clip predictions would undo rankings
        self.facts = facts(config, self.total)
        if config.averages and self.first:
            self.facts["average_after"] = self.weights.average_after
        pairs = self.pairs
        self.facts |= {"examples": len(pairs.row), "queries": self.data.queries, "pairs": pairs.candidates}
        if config.calibrate:
            scale, offset = self.calibrate()
            self.facts |= {"scale": scale, "offset": offset}
            monitor.line(f"calibrated: scale {scale:g}, offset {offset:g}")
        if config.l1:
            self.facts["weights"] = int(np.count_nonzero(learner.weights))
            monitor.line(f"weights that are not 0: {self.facts['weights']}")

    def calibrate(self) -> tuple[float, float]:
        """Give finished weights the scale and offset of least loss, and return the two. Raises DataError."""
        weights, pairs, labels = self.weights, self.pairs, self.data.labels
        scored = np.empty((len(pairs.row), 3))
        status = kernel.score_rows(weights, pairs, self.data.rows.address, self.plan, scored)
        raise_if_stopped()
        check(status, int(weights.get("examples") + weights.get("pairs")))
        score, before, label = scored.T
        before_rows = pairs.cumulative_importance
        importance = np.ones(len(label)) if before_rows is None else np.diff(before_rows)
        low, high = labels.ends if labels.loss.name == "logistic" else (0.0, 1.0)
        scale, offset = scale_and_offset(score, before, (label - low) / (high - low), importance, labels.loss)
        weights.table *= np.float32(scale)
        weights.table[CONSTANT_HASH % len(weights.table)] += np.float32(offset)
        return scale, offset

    def state(self) -> Content:
        """What ``restore`` takes: the steps, and the arrays that they have changed."""
        arrays = self.weights.arrays() if self.finished is None else self.finished
        return {"steps": self.done}, {**arrays, "shown": self.shown}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Raises KeyError, ValueError for what is no state of such a run."""
        require(header, State, "state")
        if not self.first <= header["steps"] <= self.total:
            raise ValueError("its steps")
        self.weights.load(arrays)
        self.shown = np.array(numbers(arrays, "shown", np.float64, self.shown.shape))
        self.done = header["steps"]

    def content(self) -> Content:
        """Header and arrays of an ordinary model, which says in addition how it was trained."""
        data = self.data
        header = {
            **self.learner.header(),
            "features": data.features.header(),
            "counters": data.counters.state(),
            "negative_label": data.labels.negative,
            "seen": sorted(data.plan.seen),
            "passes": 1,
            "resumable": True,
            **data.input.kept,
            **data.plan.header,
            "names": data.names is not None,
            "crr": self.facts,
        }
        names = data.names.arrays() if data.names is not None else {}
        return header, {**self.learner.tables(False), **data.plan.arrays(), **self.finished, **names}


def mean_of(state: np.ndarray, kind: str) -> float | None:
    """The average loss of examples or pairs; None where there were none."""
    count, total = (state[kernel.STATE.index(name)] for name in (f"{kind}s", f"{kind}_loss"))
    return float(total / count) if count else None


def check(status: int, after: int) -> None:
    if status == UNSTABLE:
        raise Diverged(
            f"the prediction of step {after} is not a finite number; try a larger --lambda or scale the features"
        )
    if status == TOO_MANY:
        limit = f"{MAX_TERMS:,} features with its interactions and n-grams"
        raise DataError(f"an example makes more than {limit}: {ADVICE}")
    if status == NO_MEMORY:
        raise MemoryError("an example's interactions need more memory than there is")


def facts(config: CrrConfig, steps: int) -> JsonObject:
    """The training options that the model records, as JSON data."""
    options = {name: value for name, value in asdict(config).items() if name not in NOT_RECORDED}
    options |= {"alpha": config.share, "rate": config.schedule, "steps": steps, "average": config.averages}
    for name, belonging in BELONGING.items():  # models have the header they had before these options
        if not options[name] or options[name] == "random":
            for one in (name, *belonging):
                del options[one]
    if config.takes_queries:
        options["average"] = config.averages
    return {**options, "lambda": config.penalty, "qid": config.queries.by}


def scale_and_offset(
    score: np.ndarray, before: np.ndarray, label: np.ndarray, importance: np.ndarray, loss: LossConfig
) -> tuple[float, float]:
    """c and d of least loss of the predictions ``before + c score + d``, all float64[n].

    Squared loss: by least squares; logistic: by Newton's method (Platt, "Probabilistic outputs for support vector
    machines", 1999), labels from 0 to 1. Raises DataError where c is not above 0, so that the order would be lost.
    """
    center, spread = np.average(score, weights=importance), np.std(score)
    scaled = (score - center) / spread if spread > 0 else np.zeros(len(score))
    terms = np.stack([scaled, np.ones(len(score))], axis=1)
    fit = least_squares if loss.name == "squared" else logistic
    slope, intercept = fit(terms, before, label, importance)
    if not (spread > 0 and slope > 0):
        raise DataError("--calibrate: scores do not rise with the labels, so that no scale keeps their order; drop it")
    return slope / spread, intercept - slope * center / spread


def least_squares(terms: np.ndarray, before: np.ndarray, label: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """float64[2]."""
    weighted = terms * importance[:, None]
    solution: np.ndarray = np.linalg.lstsq(weighted.T @ terms, weighted.T @ (label - before), rcond=None)[0]
    return solution


def logistic(terms: np.ndarray, before: np.ndarray, label: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """float64[2], with half an example of either class added, so that classes which a score separates have an end."""
    label = np.concatenate((label, [1.0, 0.0]))
    terms, before = np.concatenate((terms, [[0.0, 1.0]] * 2)), np.concatenate((before, [0.0, 0.0]))
    importance, parameters = np.concatenate((importance, [0.5, 0.5])), np.zeros(2)

    def loss_at(w: np.ndarray) -> float:
        margin = before + terms @ w
        return float(np.sum(importance * (np.logaddexp(0, margin) - label * margin)))

    value = loss_at(parameters)
    for _ in range(NEWTON_STEPS):
        chance = (1 + np.tanh((before + terms @ parameters) / 2)) / 2
        gradient = terms.T @ (importance * (chance - label))
        curvature = (terms * (importance * chance * (1 - chance))[:, None]).T @ terms
        step = np.linalg.lstsq(curvature + 1e-12 * np.eye(2), gradient, rcond=None)[0]
        while loss_at(parameters - step) > value and np.abs(step).max() > 1e-12:
            step = step / 2
        parameters, before_step = parameters - step, value
        value = loss_at(parameters)
        if before_step - value <= 1e-12 * abs(before_step):
            break
    return parameters
