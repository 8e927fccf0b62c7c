"""One shard, learned from a base model: a pure function, for any process or machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from vwlite._native.weight_table import fill_column
from vwlite.config_check import JsonObject
from vwlite.data.block_parser import LONGEST_LINE, OpenedInputs, Parsed
from vwlite.data.blocks import Block, Buffers, stream_blocks
from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.input_stream import open_input, open_range
from vwlite.data.malformed_lines import MAX_SHOWN_LINES
from vwlite.data.text_format import TextFormat
from vwlite.distributed.delta import Delta, Snapshot, Task, columns_in, joined, save
from vwlite.distributed.plan import Piece, Rule, Shard, rule_of, whole_piece
from vwlite.errors import InputDamaged
from vwlite.learners.base import Learner, apply_shrinkage
from vwlite.storage.atomic_file import as_path, temporary_file
from vwlite.storage.weight_table import PageToucher
from vwlite.training.assembly import LearningParts
from vwlite.training.config import RunConfig
from vwlite.training.file_batches import FileBatches
from vwlite.training.ledger import model_digest
from vwlite.training.listener import Display
from vwlite.training.model_loader import Restored, restore
from vwlite.training.run_report import Counting
from vwlite.training.trainer import Trainer

Work = Callable[..., Delta]  # of the arguments of ``learn``, at the top of a module
UNCHANGED: dict[str, dict] = {"learner_changes": {}, "feature_changes": {}}


class Heard(Display):
    """Keeps what a task has to say, for the driver."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


class ShardInputs(Inputs):
    """The batches of a shard's text."""

    def __init__(
        self,
        shard: Shard,
        config: InputConfig,
        format: TextFormat,
        several_passes: bool = False,
        digested: bool = False,
        pages: PageToucher | None = None,
    ) -> None:
        super().__init__(config, format, several_passes, digested, pages)
        self.shard = shard

    def parts(self) -> Iterator[Parsed]:
        self.begun = OpenedInputs((), self.config.block_size, False)
        self.begun.source = self.text(self.begun.buffers)
        return super().parts()

    def text(self, buffers: Buffers) -> Iterator[Block]:
        for piece in self.shard.pieces:
            opens = partial(open_piece, piece)
            yield from stream_blocks(piece.name, opens, buffers, LONGEST_LINE, groups=self.format.groups)


def open_piece(piece: Piece):
    """A raw reader of a piece. Raises InputDamaged for a file that is another one than the plan was made of."""
    if not piece.compressed:
        return open_range(*piece[:5])
    if whole_piece(piece.path) != piece:
        raise InputDamaged(f"{piece.path} has changed since its shards were laid out: begin again")
    return open_input(piece.path)


def learn(base: str | bytes, shard: Shard, input: InputConfig, bad_lines: BadLinesConfig) -> Delta:
    """The delta of one pass over the shard from the model ``base``, a path or the bytes of such a file.

    ``input`` says how text is read; its paths do not matter. Raises as ``vwlite train -i``, but for too many malformed
    lines, which the merge judges.
    """
    with ExitStack() as closing_:
        path = closing_.enter_context(as_path(base, "the base")) if isinstance(base, bytes) else base
        model, digest = restore(path, learning=True, vw_compat=False, **UNCHANGED), model_digest(path)
    learner, done = model.learner, ShardPass(model, shard, digest)
    rule = rule_of(learner.config, shard.of)
    before = Snapshot(joined(learner.tables(False)))
    divide(learner, rule, before)
    done.run(input, bad_lines)
    if shard.of > 1:
        apply_shrinkage(learner)
    slots, changed = before.changes(joined(learner.tables(False)).values)
    return Delta(done.task(), done.header(), slots, changed)


class ShardPass:
    """A pass over a shard by the learner of a model, whose file has the digest ``base``."""

    def __init__(self, model: Restored, shard: Shard, base: str) -> None:
        self.model, self.shard, self.base, self.heard = model, shard, base, Heard()
        self.begun = time.monotonic()

    def run(self, input: InputConfig, bad_lines: BadLinesConfig) -> None:
        model, learner, shard = self.model, self.model.learner, self.shard
        paths = tuple(piece.path for piece in shard.pieces)
        given = replace(input, paths=paths, threads=1)
        config = RunConfig(input=given, features=model.features, learner=learner.config)
        lenient = replace(bad_lines, max_ratio=1.0)
        self.parts = parts = LearningParts(config, learner, model.plan, model, lenient, self.heard)
        source = FileBatches(config, learner, parts.policy, self.heard, open_inputs=partial(ShardInputs, shard))
        with closing(source):
            Trainer(learner, model.plan, source, [Counting(learner, parts.counters), parts.writer]).run()

    def task(self, sums: Sequence[float] = ()) -> Task:
        policy = self.parts.policy
        bad = [line for line in self.heard.messages if line.startswith("bad line ")][:MAX_SHOWN_LINES]
        return Task(
            self.shard.number, self.shard.of, self.base, lines=policy.lines, bad=policy.bad, shown=tuple(bad),
            seconds=time.monotonic() - self.begun, sums=tuple(sums),
        )

    def header(self) -> JsonObject:
        """The header of the model that the pass has made, as it is read from a file."""
        return json.loads(json.dumps(self.parts.writer.header()))


def write_delta(path: str, work: Work, base: str, *task: Any) -> tuple[str, Task]:
    """``work`` for a process of this machine. The delta goes to the file ``path``, which the driver maps faster than
    it would read a pipe.
    """
    delta = work(base, *task)
    save(path, delta, temporary_file)
    return path, delta.task


def divide(learner: Learner, rule: Rule, before: Snapshot) -> None:
    """Let a learner begin as one of several: with its share of the adaptive sums, and a rate for it."""
    if rule.of == 1:
        return
    if rule.split:
        before.columns[1] /= np.float32(rule.of)
        squares, column, _ = columns_in(learner.tables(False))[1]
        fill_column(squares, column, 0, before.slots, before.columns[1].view(np.uint8))
        learner.set(rate=float(np.float32(learner.get("rate") * rule.rate)))
    if learner.config.l2:
        learner.kernel.l2 *= rule.shrinkage
