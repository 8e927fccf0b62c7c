"""Combined regression and ranking: one linear model, trained on random examples and random candidate pairs.

Minimises ``alpha L(w, examples) + (1 - alpha) L(w, pairs) + lambda / 2 |w|^2 + C |w|_1`` by stochastic gradient steps
(Sculley, "Combined regression and ranking", KDD 2010; C is ``--l1``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import crr as kernel
from vwlite._native import query_steps
from vwlite.errors import DataError, Diverged
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.features.row_terms import ADVICE, MAX_TERMS
from vwlite.interrupts import obey
from vwlite.learners.base import NO_MEMORY, TOO_MANY, UNSTABLE
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import CONSTANT, Gd
from vwlite.learners.losses import LOSSES
from vwlite.numerals import FLOAT32_MAX
from vwlite.solvers.crr.calibration import scale_and_offset
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import TrainingSet
from vwlite.solvers.crr.going_on import Begun
from vwlite.solvers.crr.pair_sampling import PairIndex
from vwlite.solvers.crr.stages import Stages, check_curriculum
from vwlite.solvers.crr.weights import Weights
from vwlite.training.curriculum_config import CurriculumConfig
from vwlite.training.display import Steps, no_steps

NOT_RECORDED = ("loss", "queries", "penalty", "max_memory")  # as they are, or at all
BELONGING = {
    "average": ("average_after",), "l1": (), "pair_loss": (), "calibrate": (), "pairing": ("truncate", "query_limit")
}
CHUNK, FEW = 1 << 17, 1 << 8  # steps on pairs, on queries between looks at signals


class Trained(NamedTuple):
    """The model as a learner of plain gradient descent, the facts of its training, and what further steps need."""

    learner: Gd
    facts: dict[str, Any]
    state: dict[str, np.ndarray]


def train(
    config: CrrConfig, features: FeatureConfig, data: TrainingSet, plan: Plan, say: Callable[[str], None],
    steps: Steps = no_steps, begun: Begun | None = None, curriculum: CurriculumConfig | None = None,
) -> Trained:
    """Make the steps of ``config``, after those of the model ``begun`` where there is one.

    ``say`` gets the progress table and notes of ``curriculum``, ``steps`` how many were made. Raises DataError when
    there is nothing to learn from, Diverged, MemoryError, UsageError where the curriculum does not go with the options.
    """
    grows = curriculum if curriculum and curriculum.order else None
    if grows:
        check_curriculum(config, grows)
    by_rows = grows is not None and not grows.of_pairs
    difficulty = data.difficulty(grows.by, features) if grows and by_rows else None
    pairs = data.pair_index(config, wants_pairs=config.share < 1, keep=by_rows)
    done = begun.steps if begun else 0
    loss, total = data.labels.loss, done + config.steps_for(len(pairs.query_start))
    plan = plan.weights.flat if plan.weights else plan
    learner = Gd(GdConfig(loss=loss, link=LOSSES[loss.name].link, sgd=True), features.bits)
    weights = Weights(config, learner.weights, data.labels, total)
    if begun:
        begun.load(weights)
        weights.average_after = done - int(weights.get("averaged"))
    stages: Iterable[tuple[PairIndex, int]] = [(pairs, total)]
    if grows:
        growing = Stages(grows, config, pairs, done, total)
        stages = growing(data.rows_of_index, difficulty, lambda text: say(f"note: {text}"))
    take_steps = partial(query_steps.take_steps if config.takes_queries else kernel.take_steps, weights)
    chunk = FEW if config.takes_queries else CHUNK
    for first, last, index in portions(stages, done, chunk, progress := Progress(weights, say, done)):
        status, after = take_steps(index, data.rows.address, plan, first + 1, last)
        obey()
        check(status, after)
        steps(last - done, total - done)
        if last in (progress.due, total):
            progress.row(last)
    state = weights.arrays()
    kernel.finish(weights)
    if not np.isfinite(learner.weights).all():
        raise Diverged("the weights are not finite numbers; try a larger --lambda or scale the features")
    learner.set(time=float(total))
    if loss.name != "logistic":
        learner.set(min_label=-FLOAT32_MAX, max_label=FLOAT32_MAX)  # to clip predictions would undo rankings
    counted: dict[str, Any] = {"examples": len(pairs.row), "queries": data.queries, "pairs": pairs.candidates}
    if config.calibrate:
        counted |= calibrate(weights, pairs, data, plan)
        say(f"calibrated: scale {counted['scale']:g}, offset {counted['offset']:g}")
    if config.l1:
        counted["weights"] = int(np.count_nonzero(learner.weights))
        say(f"weights that are not 0: {counted['weights']}")
    told = facts(config, total)
    if config.averages and begun:
        told["average_after"] = weights.average_after
    return Trained(learner, {**told, **counted}, state)


def portions(
    stages: Iterable[tuple[PairIndex, int]], done: int, most: int, progress: Progress
) -> Iterator[tuple[int, int, PairIndex]]:
    """Of ``most`` steps each: how many there were before, and with them, and what they draw from. ``stages``: indices,
    each with the last of the steps that draw from it.
    """
    for index, end in stages:
        while done < end:
            last = min(done + most, progress.due, end)
            yield done, last, index
            done = last


def calibrate(weights: Weights, pairs: PairIndex, data: TrainingSet, plan: Plan) -> dict[str, float]:
    """Give finished weights the scale and offset of least loss, and return the two. Raises DataError."""
    scored = np.empty((len(pairs.row), 3))
    status = kernel.score_rows(weights, pairs, data.rows.address, plan, scored)
    obey()
    check(status, int(weights.get("examples") + weights.get("pairs")))
    score, before, label = scored.T
    before_rows = pairs.cumulative_importance
    importance = np.ones(len(label)) if before_rows is None else np.diff(before_rows)
    low, high = data.labels.ends if data.labels.loss.name == "logistic" else (0.0, 1.0)
    label = (label - low) / (high - low)
    scale, offset = scale_and_offset(score, before, label, importance, data.labels.loss)
    weights.table *= np.float32(scale)
    weights.table[CONSTANT % len(weights.table)] += np.float32(offset)
    return {"scale": scale, "offset": offset}


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


def facts(config: CrrConfig, steps: int) -> dict[str, Any]:
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


class Progress:
    """Prints a row at doubling numbers of steps: losses since the last row, steps per second."""

    HEADER = f"{'steps':>12} {'regression':>12} {'pairwise':>12} {'steps/s':>10}\n{'':>12} {'loss':>12} {'loss':>12}"

    def __init__(self, weights: Weights, say: Callable[[str], None], steps: int) -> None:
        """``steps`` were made before."""
        self.weights, self.say = weights, say
        self.due, self.steps, self.before = 1024, steps, np.array(weights.state)
        while self.due <= steps:
            self.due *= 2
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


def content(done: Trained, features: FeatureConfig, data: TrainingSet) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of an ordinary model, which says in addition how it was trained."""
    header = {
        **done.learner.header(),
        "features": features.header(),
        "counters": data.counters.state(),
        "negative_label": data.labels.negative,
        "seen": sorted(data.seen),
        "passes": 1,
        "resumable": True,
        **data.input.kept,
        "names": data.names is not None,
        "crr": done.facts,
    }
    arrays: dict[str, Any] = {**done.learner.tables(False), **data.plan.arrays(), **done.state}
    if data.names is not None:
        arrays |= data.names.arrays()
    return header, arrays
