"""Combined regression and ranking: one linear model, trained on random examples and random candidate pairs.

Minimises ``alpha L(w, examples) + (1 - alpha) L(w, pairs) + lambda / 2 |w|^2 + C |w|_1`` by stochastic gradient steps
(Sculley, "Combined regression and ranking", KDD 2010; C is ``--l1``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from vwlite._native import crr as kernel
from vwlite.errors import DataError, Diverged
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.features.row_terms import ADVICE, MAX_TERMS
from vwlite.interrupts import obey
from vwlite.learners.base import NO_MEMORY, TOO_MANY, UNSTABLE
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LOSSES
from vwlite.memory_limit import GIB, check_memory
from vwlite.numerals import FLOAT32_MAX
from vwlite.solvers.crr.config import RATES, CrrConfig
from vwlite.solvers.crr.dataset import TrainingSet
from vwlite.training.display import Steps, no_steps

NOT_RECORDED = ("loss", "queries", "penalty", "max_memory")  # as they are, or at all
CHUNK = 1 << 17  # steps between looks at signals


class Weights:
    """What the kernel works on: ``table`` float32[2^bits, 1], ``state`` float64[9], named in ``kernel.STATE``; for
    a mean ``sums`` float64[2^bits]; for an L1 penalty ``received`` float64[2^bits].
    """

    def __init__(self, config: CrrConfig, table: np.ndarray, low: float, high: float) -> None:
        """``low`` and ``high``: labels that mean probability 0 and 1 (logistic)."""
        self.table, self.low, self.high = table, low, high
        self.state = np.zeros(len(kernel.STATE))
        self.state[0] = 1.0
        self.loss_code = config.loss.loss.code
        self.alpha, self.penalty, self.project = config.alpha, config.penalty, config.project
        self.schedule, self.rate = RATES.index(config.rate), config.initial_learning_rate
        self.average_after = config.before_mean
        self.sums = None if self.average_after is None else np.zeros(len(table))
        self.l1, self.received = config.l1, np.zeros(len(table)) if config.l1 else None
        self.seed = config.seed * 0x9E3779B97F4A7C15 % 2**64

    def get(self, name: str) -> float:
        return float(self.state[kernel.STATE.index(name)])


def train(
    config: CrrConfig, features: FeatureConfig, data: TrainingSet, plan: Plan, say: Callable[[str], None],
    steps: Steps = no_steps,
) -> tuple[Gd, dict[str, Any]]:
    """The model, as a learner of plain gradient descent, and the facts of its training.

    ``say`` gets the progress table, ``steps`` how many were made. Raises DataError when there is nothing to learn from,
    Diverged, MemoryError.
    """
    pairs = data.pair_index(config.sampling, wants_pairs=config.alpha < 1)
    loss = data.labels.loss
    plan = plan.weights.flat if plan.weights else plan
    learner = Gd(GdConfig(loss=loss, link=LOSSES[loss.name].link, sgd=True), features.bits)
    weights = Weights(config, learner.weights, *data.labels.ends)
    progress = Progress(weights, say)
    done = 0
    while done < config.steps:
        last = min(done + CHUNK, progress.due, config.steps)
        status, after = kernel.take_steps(weights, pairs, data.rows.address, plan, done + 1, last)
        obey()
        check(status, after)
        done = last
        steps(done, config.steps)
        if done in (progress.due, config.steps):
            progress.row(done)
    kernel.finish(weights)
    if not np.isfinite(learner.weights).all():
        raise Diverged("the weights are not finite numbers; try a larger --lambda or scale the features")
    learner.set(time=float(config.steps))
    if loss.name != "logistic":
        learner.set(min_label=-FLOAT32_MAX, max_label=FLOAT32_MAX)  # to clip predictions would undo rankings
    counted = {"examples": len(pairs.row), "queries": data.queries, "pairs": pairs.candidates}
    if config.l1:
        counted["weights"] = int(np.count_nonzero(learner.weights))
        say(f"weights that are not 0: {counted['weights']}")
    return learner, {**facts(config), **counted}


def check_table(config: CrrConfig, bits: int) -> None:
    """Raises UsageError where the table, with its sums, is larger than ``config.max_memory``."""
    if config.max_memory is not None:
        per_slot = Gd.slot_bytes(GdConfig(sgd=True), True) + 8 * config.average + 8 * (config.l1 > 0)
        need = per_slot * 2**bits
        check_memory(need, config.max_memory * GIB, f"weights of {2**bits:,} slots", "a smaller -b needs less")


def check(status: int, after: int) -> None:
    if status == UNSTABLE:
        raise Diverged(
            f"the prediction of step {after} is not a finite number; try a larger --lambda or scale the features"
        )
    if status == TOO_MANY:
        made = f"{MAX_TERMS:,} features with its interactions and n-grams"
        raise DataError(f"an example makes more than {made}: {ADVICE}")
    if status == NO_MEMORY:
        raise MemoryError("an example's interactions need more memory than there is")


def facts(config: CrrConfig) -> dict[str, Any]:
    """The training options that the model records, as JSON data."""
    options = {name: value for name, value in asdict(config).items() if name not in NOT_RECORDED}
    if not config.average:  # as models of before these options
        del options["average"], options["average_after"]
    if not config.l1:
        del options["l1"]
    return {**options, "lambda": config.penalty, "qid": config.queries.by}


class Progress:
    """Prints a row at doubling numbers of steps: losses since the last row, steps per second."""

    HEADER = f"{'steps':>12} {'regression':>12} {'pairwise':>12} {'steps/s':>10}\n{'':>12} {'loss':>12} {'loss':>12}"

    def __init__(self, weights: Weights, say: Callable[[str], None]) -> None:
        self.weights, self.say = weights, say
        self.due, self.steps, self.before = 1024, 0, np.array(weights.state)
        self.since = time.perf_counter()
        say(self.HEADER)

    def row(self, steps: int) -> None:
        now, new = time.perf_counter(), self.weights.state - self.before
        losses = [self.mean(new, name) for name in ("example", "pair")]
        speed = (steps - self.steps) / max(now - self.since, 1e-9)
        self.say(f"{steps:12d} {losses[0]:>12} {losses[1]:>12} {speed:10.3g}")
        self.before, self.steps, self.since = np.array(self.weights.state), steps, now
        self.due = 2 * steps

    @staticmethod
    def mean(new: np.ndarray, kind: str) -> str:
        count, total = (new[kernel.STATE.index(name)] for name in (f"{kind}s", f"{kind}_loss"))
        return f"{total / count:.6f}" if count else "n.a."


def content(
    learner: Gd, features: FeatureConfig, data: TrainingSet, training: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of an ordinary model, which says in addition how it was trained."""
    header = {
        **learner.header(),
        "features": features.header(),
        "counters": data.counters.state(),
        "negative_label": data.labels.negative,
        "seen": sorted(data.seen),
        "passes": 1,
        "resumable": True,
        **data.input.kept,
        "names": data.names is not None,
        "crr": training,
    }
    arrays: dict[str, Any] = {**learner.tables(False), **data.plan.arrays()}
    if data.names is not None:
        arrays |= data.names.arrays()
    return header, arrays
