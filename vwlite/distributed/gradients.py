"""L-BFGS over shards: gradients are summed by workers, steps are made by the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np

from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.distributed.delta import Delta
from vwlite.distributed.merge import merged_header
from vwlite.distributed.plan import Shard
from vwlite.distributed.task import UNCHANGED, ShardPass
from vwlite.errors import UsageError
from vwlite.learners.base import apply_shrinkage, check_table_memory, is_finished, plain, watch
from vwlite.learners.bfgs import Bfgs
from vwlite.learners.configs.bfgs import BfgsConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.quasi_newton import DIAGONAL, DIRECTION, GRADIENT
from vwlite.storage import model_file
from vwlite.storage.atomic_file import as_path
from vwlite.storage.model_file import Model
from vwlite.storage.weight_table import Table
from vwlite.training.config import RunConfig
from vwlite.training.ledger import model_digest
from vwlite.training.model_loader import Restored, restore
from vwlite.version import __version__

SLOTS, ALONG = "direction_slots", "direction"  # uint32[n], float64[n]: what the curvature is measured along


class NoSteps:
    """In place of the steps of a learner that only sums."""

    measured = True

    def begin_pass(self) -> None:
        """The weights are where they are to be."""

    def end_pass(self) -> bool:
        return False


def sum_up(base: str | bytes, shard: Shard, input: InputConfig, bad_lines: BadLinesConfig) -> Delta:
    """The sums of one pass over the shard at the weights of ``base``: of the loss, and of what the pass is for.

    The columns of slots are the gradient and, in the first pass, the diagonal of second derivatives, both float64; in
    a pass for the curvature there are no slots. Arguments and errors as of ``vwlite.distributed.task.learn``.
    """
    with ExitStack() as closing:
        path = closing.enter_context(as_path(base, "the base")) if isinstance(base, bytes) else base
        model, digest = restore(path, learning=True, vw_compat=False, **UNCHANGED), model_digest(path)
        learner, purpose = model.learner, model.header["pass"]
        learner.steps, learner.gradient, learner.first = NoSteps(), purpose["gradient"], purpose["first"]
        if not learner.gradient:
            arrays = model_file.load(path, want=(SLOTS, ALONG)).arrays
            learner.vectors[arrays[SLOTS], DIRECTION] = arrays[ALONG]
    first, gradient = learner.first, learner.gradient
    done = ShardPass(model, shard, digest)
    done.run(input, bad_lines)
    task = done.task([plain(number) for number in learner.sums.tolist()])
    slots = np.flatnonzero(learner.vectors[:, DIRECTION if first else GRADIENT]) if gradient else np.zeros(0, np.intp)
    columns = [learner.vectors[slots, column] for column in (GRADIENT, *([DIAGONAL] if first else []))]
    return Delta(task, done.header(), slots.astype(np.uint32), columns)


class Then(NamedTuple):
    """The final step after the rounds: at most ``passes`` passes, with the penalty ``l2 / 2`` times the squared weights
    of the mean loss.
    """

    passes: int
    l2: float


class Optimiser:
    """Minimises the mean loss with its penalty, from the weights of the model ``path``."""

    def __init__(self, path: str, then: Then, say: Callable[[str], None]) -> None:
        changes = {**UNCHANGED, "learner_changes": {"l2": then.l2, "termination": 0.0}}
        restored = restore(path, learning=True, vw_compat=False, learner_name=Bfgs.name, **changes)
        self.learner: Bfgs = restored.learner
        self.plan = restored.plan
        apply_shrinkage(self.learner)
        watch(self.learner, then.passes, say, lambda: None)
        self.header = {**restored.header, **self.learner.header()}

    def run(self, sums: Callable[[Model], Sequence[Delta]]) -> Model:
        """The model after at most ``Then.passes``; ``sums``: what ``sum_up`` gives for each shard of such a base, in
        order. Raises as it does, DataError, Diverged.
        """
        learner = self.learner
        while not is_finished(learner):
            learner.steps.begin_pass()
            deltas = sums(self.base())
            ends = [delta.header for delta in deltas]
            self.header = ends[0] if len(ends) == 1 else merged_header(self.header, ends, learner.config)
            for delta in deltas:
                self.add(delta)
            if learner.first:  # the sums are not of the mean loss
                learner.steps.config = replace(learner.config, l2=learner.config.l2 * float(learner.sums[1]))
            learner.end_pass()
        return Model(self.header, self.tables(), __version__)

    def tables(self) -> dict[str, np.ndarray | Table]:
        return {**self.learner.tables(False), **self.plan.arrays()}

    def base(self) -> Model:
        """The model at which workers compute the sums of this pass."""
        learner, arrays = self.learner, self.tables()
        if not learner.gradient:
            along = learner.vectors[:, DIRECTION]
            slots = np.flatnonzero(along)
            arrays |= {SLOTS: slots.astype(np.uint32), ALONG: along[slots]}
        purpose = {"gradient": learner.gradient, "first": learner.first}
        return Model({**self.header, "pass": purpose}, arrays, __version__)

    def add(self, delta: Delta) -> None:
        learner = self.learner
        learner.sums += [float(number) for number in delta.task.sums]
        for column, values in zip((GRADIENT, DIAGONAL), delta.columns, strict=False):
            learner.vectors[delta.slots, column] += values
        if learner.first:
            learner.vectors[delta.slots, DIRECTION] = 1  # the mark of features that occur


def with_final_step(config: RunConfig, model: Restored | None, passes: int) -> tuple[RunConfig, Then]:
    """The options of the rounds, of ``model`` too where they go on from one, and what is to follow. The rounds have no
    penalty, which would hold their steps back.

    Raises UsageError where the weights cannot go on to be optimised.
    """
    learner = config.learner
    if not isinstance(learner, GdConfig) or learner.learner != Gd.name:
        raise UsageError(f"--then-bfgs fits one set of weights: it does not go with --{learner.option}")
    settings = BfgsConfig(**{field.name: getattr(learner, field.name) for field in fields(GdConfig)})
    check_table_memory(Bfgs, settings, config.features.bits, True, config.max_memory)
    config = replace(config, learner=replace(learner, l2=0.0))
    if model:
        model.learner.config = config.learner
    return config, Then(passes, learner.l2)
