"""Calls with a few lines of text: the parts of a run are kept from one call to the next, its workspace among them."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from vwlite.api.data_source import check_no_path, is_text
from vwlite.api.memory_run import AnsweringRun, Learned, LearningRun, learned
from vwlite.data.batch import Batch
from vwlite.data.block_parser import Parser
from vwlite.data.blocks import SLACK, Block
from vwlite.data.config import BLOCK_SIZE, TEXTS, BadLinesConfig
from vwlite.data.lines import blocks_of
from vwlite.data.memory import TEXT, no_batches
from vwlite.features.feature_plan import Plan
from vwlite.features.gamma import find_gamma
from vwlite.learners.base import Learner
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import format_of
from vwlite.training.model_loader import Restored
from vwlite.training.trainer import Trainer

FEW = 1000  # lines


def is_simple(config: RunConfig, learner: Learner) -> bool:
    """Whether a run needs no more than the batch at hand."""
    input, output = config.input, config.output
    if input.kind not in TEXTS:
        return False
    whole = config.passes > 1 or config.holdout.active(1) or config.curriculum.order or input.shuffle_first
    whole = whole or config.features.weight != "none" or config.features.finds_gamma
    whole = whole or bool(config.features.mask_ids)
    return not (whole or input.examples or output.names or learner.multiline or learner.config.whole_passes)


def small_block(data: Any, size: int = BLOCK_SIZE) -> Block | None:
    """The block of a text, or a few lines, of ``size`` bytes at most; None for empty or longer ones and other data."""
    if isinstance(data, list) and 0 < len(data) <= FEW and is_text(data[0]):
        block, *more = islice(blocks_of(data, size), 2)
        return None if more else replace(block, path=TEXT)
    if not is_text(data) or not 0 < len(data) <= size:
        return None
    check_no_path(data)
    text = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    if len(text) > size:
        return None
    data = bytearray(text if text.endswith(b"\n") else text + b"\n")
    used = len(data)
    data += SLACK
    return Block(data, used, TEXT, 0)


class SmallRuns:
    """Learns one block a call, in one pass, as ``LearningRun`` does."""

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

    def learn(self, block: Block) -> Learned:
        """Raises as ``LearningRun.run``."""
        parts, trainer = self.parts, self.trainer
        parts.counters.array[:] = self.uncounted
        parts.policy.begin()
        learner: Any = trainer.learner
        if not learner.simple_labels:
            parts.policy.labels = learner.labels()
        self.run.report.begin()
        part = self.parser(block)
        batch = parts.policy.examine(part)
        run_rows(trainer, batch)
        batch.release()
        trainer.end_pass(1)
        for listener in trainer.listeners:
            listener.end()
        return learned(self.run)


class SmallTests:
    """Predicts one block a call, as ``AnsweringRun`` does."""

    def __init__(self, run: AnsweringRun, config: RunConfig, asked: Any) -> None:
        """``asked``: the kind of its answers, for whoever keeps it."""
        self.run, self.asked, self.outdated = run, asked, False
        self.parser = Parser(format_of(config, run.trainer.learner), config.input.kind)

    def test(self, learner: Learner) -> None:
        """Have another learner, of the same kind, answer from now on."""
        self.run.test(learner)
        if not self.run.learned:
            self.run.learned = True
            self.run.unmoved.forget()
        self.outdated = False

    def answers(self, block: Block) -> np.ndarray | list[Any]:
        """Raises as ``AnsweringRun.answers``."""
        self.run.policy.begin()
        trainer = self.run.trainer
        trainer.learner.answer_all()
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
