"""Fast path for calls with a few lines of text: reuses the parts of a run, and its workspace, from call to call."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from vwlite.api.data_source import check_not_path, is_text
from vwlite.api.memory_run import LearningRun, LearnResult, PredictionRun, learn_result
from vwlite.data.batch import Batch
from vwlite.data.block_parser import Parser
from vwlite.data.blocks import SLACK, Block
from vwlite.data.config import BLOCK_SIZE, TEXTS, BadLinesConfig
from vwlite.data.memory import TEXT, blocks_of, no_batches
from vwlite.features.feature_plan import Plan
from vwlite.features.gamma import find_gamma
from vwlite.learners.base import Learner, collect_non_finite, has_simple_labels
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import format_of
from vwlite.training.model_loader import Restored
from vwlite.training.trainer import Trainer

MAX_LINES = 1000


def is_simple(config: RunConfig, learner: Learner) -> bool:
    """Whether the options let a run process each batch on its own, in one pass."""
    input, output = config.input, config.output
    if input.kind not in TEXTS:
        return False
    whole = config.passes > 1 or config.holdout.active(1) or config.curriculum.order or input.shuffle_first
    whole = whole or config.features.weight != "none" or config.features.needs_examples
    whole = whole or bool(config.features.mask_ids)
    return not (whole or input.examples or output.names or learner.config.multiline or learner.config.needs_full_passes)


def small_block(data: Any, size: int = BLOCK_SIZE) -> Block | None:
    """A text, or a list of up to MAX_LINES lines, as one block; None if empty, over ``size`` bytes or other data."""
    if isinstance(data, list) and 0 < len(data) <= MAX_LINES and is_text(data[0]):
        block, *more = islice(blocks_of(data, size), 2)
        return None if more else replace(block, path=TEXT)
    if not is_text(data) or not 0 < len(data) <= size:
        return None
    check_not_path(data)
    text = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    if len(text) > size:
        return None
    data = bytearray(text if text.endswith(b"\n") else text + b"\n")
    used = len(data)
    data += SLACK
    return Block(data, used, TEXT, 0)


class BlockLearner:
    """Trains on one block per call, in one pass, with the results of ``LearningRun``."""

    def __init__(
        self, config: RunConfig, learner: Learner, plan: Plan, model: Restored | None, bad_lines: BadLinesConfig
    ) -> None:
        self.run = run = LearningRun(config, learner, plan, model, no_batches, bad_lines, False)
        self.parts, self.trainer = run.parts, run.trainer
        if model is None:
            self.parts.writer.begin_totals({})
        self.trainer.begin()
        self.parser = Parser(format_of(config, learner), config.input.kind)
        self.uncounted = self.parts.counters.array.copy()

    def learn(self, block: Block) -> LearnResult:
        """Raises as ``LearningRun.run``."""
        parts, trainer = self.parts, self.trainer
        parts.counters.array[:] = self.uncounted
        parts.policy.begin()
        learner: Any = trainer.learner
        if not has_simple_labels(learner):
            parts.policy.labels = learner.labels()
        self.run.report.begin()
        part = self.parser(block)
        batch = parts.policy.examine(part)
        run_rows(trainer, batch)
        batch.release()
        trainer.end_pass(1)
        for listener in trainer.listeners:
            listener.end()
        return learn_result(self.run)


class BlockPredictor:
    """Predicts one block per call, with the results of ``PredictionRun``."""

    def __init__(self, run: PredictionRun, config: RunConfig, asked: Any) -> None:
        """``asked``: the kind of predictions requested, by which the caller decides whether to reuse this object."""
        self.run, self.asked, self.outdated = run, asked, False
        self.parser = Parser(format_of(config, run.trainer.learner), config.input.kind)

    def set_learner(self, learner: Learner) -> None:
        """Predict with another learner of the same kind from now on."""
        self.run.set_learner(learner)
        if not self.run.learned:
            self.run.learned = True
            self.run.unmoved.forget()
        self.outdated = False

    def answers(self, block: Block) -> np.ndarray | list[Any]:
        """Raises as ``PredictionRun.answers``."""
        self.run.policy.begin()
        trainer = self.run.trainer
        collect_non_finite(trainer.learner)
        for listener in trainer.listeners:
            listener.begin_pass(1)
        batch = self.run.policy.examine(self.parser(block))
        run_rows(trainer, batch)
        batch.release()
        for listener in trainer.listeners:
            listener.pass_read(1)
        self.run.check()
        self.run.warn()
        return self.run.collected.result()


def run_rows(trainer: Trainer, batch: Batch) -> None:
    find_gamma(trainer.plan, ())  # of landmarks; other kernels have theirs, see ``is_simple``
    batch = trainer.extended(batch)
    if len(batch) > len(trainer.results):
        trainer.results.reserve(len(batch))
    if trainer.plan.wild:
        trainer.learn(batch)
    else:
        trainer.step(batch, 0, len(batch))
