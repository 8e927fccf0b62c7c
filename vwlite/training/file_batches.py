"""The batches of a run's files, pass by pass: of the text or its cache, in order, at random, or easy ones first."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK, INNER, SAVE, Batch
from vwlite.data.block_parser import Parsed
from vwlite.data.config import EVENTS, HoldoutConfig
from vwlite.data.dataset import Inputs
from vwlite.data.input_stream import display_name
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.features import feature_plan
from vwlite.learners.abilities import PagedTable
from vwlite.learners.base import Learner, output_names
from vwlite.training.config import RunConfig
from vwlite.training.listener import Display, FileRead

if TYPE_CHECKING:
    from vwlite.features.group_columns import Masks
    from vwlite.training.curriculum import Curriculum


class MalformedLinePolicy(Protocol):
    """How odd input is taken: ``vwlite.data.malformed_lines.BadLines`` or ``vwlite.training.vw_run.VwLog``."""

    def examine(self, part: Parsed) -> Batch: ...
    def relabel(self, batch: Batch) -> Batch: ...
    def first_cached(self, batch: Batch) -> Batch: ...
    def recall(self, lines: int, bad: int) -> None: ...


def format_of(config: RunConfig, learner: Learner) -> TextFormat:
    """Return how a run's text is to be read."""
    text = feature_plan.text_format(config.features, skip_malformed=not config.vw_compat, names=config.wants_names)
    words = config.learner.label_words
    if config.input.kind in EVENTS and not learner.config.bare_lines:
        raise UsageError(f"--format {config.input.kind} is read by --cb_adf and --cb_explore_adf")
    if words is None:
        return text
    return text.of_words(words, learner.config.multiline, bool(output_names(learner)), learner.config.bare_lines)


class FileBatches:
    """A source of batches, their labels checked by ``policy``, those rows marked that are held out. Close it."""

    def __init__(
        self,
        config: RunConfig,
        learner: Learner,
        policy: MalformedLinePolicy,
        display: Display,
        *,
        passes_before: int = 0,
        digested: bool = False,
        ahead: Callable[[Batch], None] | None = None,
        holds_out: bool = True,
        counts_terms: bool = False,
        open_inputs: Callable[..., Inputs] = Inputs,
    ) -> None:
        """``counts_terms``: ``ahead_of_passes`` will be asked for.

        ``passes_before``: those made before this run's first. ``digested``: for a ledger. ``ahead`` is called with
        batches of text from which only a cache is made. ``holds_out``: whether examples are held out where the options
        say so. ``open_inputs`` takes the arguments of ``Inputs``, for data that are in no files.

        Raises InputMissing, ModelError for a damaged cache.
        """
        self.config, self.policy, self.display, self.ahead = config, policy, display, ahead
        self.passes_before, self.multiline = passes_before, learner.config.multiline
        self.holdout = Holdout(config.holdout, holds_out and config.holds_out and not config.holdout.path)
        again = config.data_passes > 1 or config.curriculum.by_pass or self.is_shuffled(1) or counts_terms
        pages = learner.pages() if isinstance(learner, PagedTable) else None
        self.inputs = open_inputs(config.input, format_of(config, learner), again, digested, pages)
        self.held_out = self.open_held_out(config.holdout.path) if config.holdout.path and config.learning else None
        seed = config.input.seed if config.learner.random_seed is None else config.learner.random_seed
        self.masks: Masks | None = None
        if config.learning and config.features.mask_ids:
            from vwlite.features.group_columns import Masks  # which other runs need not

            self.masks = Masks(config.features, seed)
        self.curriculum: Curriculum | None = None
        self.read_ahead = False
        self.recalled = False  # what a cache knows of the text it was made from
        self.rows = 0  # read as text
        self.lines: dict[str, int] = {}  # of each file, read as text
        self.bad: dict[str, int] = {}  # malformed ones among them

    def open_held_out(self, path: str) -> Inputs:
        """The file that every pass is measured on, read as the data are."""
        read_as = replace(self.inputs.config, types=self.inputs.config.columns, examples=0)
        several = self.config.data_passes > 1
        return Inputs(replace(read_as, paths=(path,), cache=None), self.inputs.format, several)

    def close(self) -> None:
        self.display.files(self.files_read())
        self.inputs.close()
        if self.held_out:
            self.held_out.close()

    def files_read(self) -> list[FileRead]:
        contents = self.contents
        digests = {path: found["digest"] for path, found in contents.items() if found["whole"]}
        names = map(display_name, self.config.input.paths)
        return [FileRead(name, self.lines.get(name), self.bad.get(name), digests.get(name)) for name in names]

    @property
    def contents(self) -> dict[str, JsonObject]:
        """The digests of what was read of each file; see ``Inputs.contents``."""
        return self.inputs.contents

    @property
    def cache_line(self) -> str:
        named = self.config.input.cache
        return f"{self.inputs.state} cache_file = {named}" if named else "using no cache"

    def batches(self, number: int) -> Generator[Batch]:
        self.holdout.start_pass()
        of_text, done = self.reads_text(number), 0
        with closing(self.read(number)) as batches:
            for batch in batches:
                batch.holdout_mask = self.holdout_mask(batch)
                if self.config.vw_compat and self.config.learning:
                    batch.weigh(self.config.input.class_weights, batch.label, as_vw=True)
                rows = len(batch)
                yield self.masks.apply(batch, self.passes_before + number, done) if self.masks else batch
                done += rows
                if not of_text:
                    self.display.advance_rows(number, rows, self.rows or None)
        for batch in self.held_out_batches(self.held_out) if self.held_out else ():
            batch.holdout_mask = np.ones(len(batch), np.uint8)
            yield batch

    def held_out_batches(self, inputs: Inputs) -> Iterator[Batch]:
        """The batches of the held-out file."""
        if inputs.ready:
            yield from map(self.policy.relabel, inputs.cached())
            return
        for part in inputs.texts():
            self.count_lines(part.block.path, part.lines, len(part.issues))
            yield self.policy.examine(part)

    def reads_text(self, number: int) -> bool:
        """Whether pass ``number`` is one over the text itself."""
        elsewhere = self.is_shuffled(number) or self.config.curriculum.by_pass
        return number == 1 and not self.read_ahead and self.inputs.state != "using" and not elsewhere

    def read(self, number: int) -> Generator[Batch]:
        if self.inputs.state == "using" and not self.recalled:
            self.recall()
        shuffled = self.is_shuffled(number)
        chosen = self.config.curriculum.by_pass
        relabel = self.policy.first_cached if self.inputs.state == "using" and number == 1 else self.policy.relabel
        if (shuffled or chosen or number > 1) and not self.inputs.ready:  # where a run or a model goes on
            self.make_cache()
        if chosen:
            yield from map(relabel, self.chosen(number))
        elif shuffled:
            yield from map(relabel, self.inputs.shuffled(self.passes_before + number - 1))
        else:
            batches = self.texts() if self.reads_text(number) else map(relabel, self.inputs.cached())
            within = self.config.curriculum.steps and number == 1
            yield from self.stepwise(batches) if within else batches

    def ahead_of_passes(self) -> Generator[Batch]:
        """Yield all batches, in order; pass 1 reads them from the cache that is made of them."""
        if self.inputs.state == "using":
            self.recall()
            yield from self.inputs.cached()
            return
        for batch in self.texts():
            if self.ahead:
                self.ahead(batch)
            yield batch
        self.read_ahead = True

    def recall(self) -> None:
        cache, paths = self.inputs.cache, self.config.input.paths
        self.policy.recall(cache.lines, cache.bad)
        if len(paths) == 1:
            self.count_lines(paths[0], cache.lines, cache.bad)
        self.recalled = True

    def count_lines(self, path: str, lines: int, bad: int) -> None:
        self.lines[path] = self.lines.get(path, 0) + lines
        self.bad[path] = self.bad.get(path, 0) + bad

    def make_cache(self) -> None:
        for batch in self.texts():
            if self.ahead:
                self.ahead(batch)
            if batch.release:
                batch.release()

    def is_shuffled(self, number: int) -> bool:
        """Whether pass ``number`` goes in an order of its own."""
        input = self.config.input
        return input.shuffle_first or (input.shuffle and self.passes_before + number > 1)

    def chosen(self, number: int) -> Iterator[Batch]:
        """The batches of the curriculum for pass ``number``; held-out rows are in every pass."""
        rows, input = self.inputs.at_random(), self.config.input
        if self.curriculum is None:
            from vwlite.training.curriculum import of_batches  # which other runs need not

            config, note = self.config, self.display.note
            self.curriculum = of_batches(config.curriculum, rows.batches, input.seed, config.features, note)
        held = self.holdout.mark(len(rows), np.arange(len(rows)))
        admitted = self.curriculum.admitted(number, self.config.passes, held)
        return admitted.reweighted(rows.chosen(admitted.rows, input.threads))

    def stepwise(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches of the first pass by the steps of the curriculum."""
        from vwlite.training.curriculum import StepwiseCurriculum

        config = self.config
        settings = (config.curriculum, config.input.seed, config.features, self.display.note)
        curriculum = StepwiseCurriculum(*settings, lambda numbers: self.holdout.mark(len(numbers), numbers))
        return curriculum.chosen(map(self.looked_at, batches))

    def looked_at(self, batch: Batch) -> Batch:
        """The batch, of which all names are learned before rows of it are chosen."""
        if self.ahead and batch.names is not None:
            self.ahead(batch)
        return batch

    def texts(self) -> Iterator[Batch]:
        """The batches of the text, while the cache, if any, is made."""
        for part in self.inputs.texts():
            self.rows += len(part.batch)
            self.count_lines(part.block.path, part.lines, len(part.issues))
            yield self.policy.examine(part)
            self.display.advance(part.block.size)

    def holdout_mask(self, batch: Batch) -> np.ndarray | None:
        """uint8[rows], 1 where a row, or the whole group of lines it is in, is held out; None: none is."""
        if not self.multiline:
            return self.holdout.mark(len(batch), batch.numbers)
        groups = batch.flags & (BLANK | SAVE | INNER) == 0
        held = self.holdout.mark(int(groups.sum()))
        return held if held is None else np.append(held, np.uint8(0))[np.cumsum(groups) - groups]


class Holdout:
    """Counts the lines of a pass, blank ones included, and marks those held out."""

    def __init__(self, config: HoldoutConfig, active: bool) -> None:
        self.config, self.active = config, active
        self.lines = 0

    def start_pass(self) -> None:
        self.lines = 0

    def mark(self, rows: int, numbers: np.ndarray | None = None) -> np.ndarray | None:
        """uint8[rows], 1 where a line is held out; None when no lines are held out.

        The lines are the next ``rows`` of the pass, or those of the numbers ``numbers``, int64[rows] from 0.
        """
        if not self.active:
            return None
        before, after, period = self.lines, self.config.after, self.config.period
        self.lines += rows
        if numbers is not None:
            return (numbers >= after if after else (numbers + 1) % period == 0).astype(np.uint8)
        marks = np.zeros(rows, np.uint8)
        held_out = slice(max(after - before, 0), None) if after else slice(-(before + 1) % period, None, period)
        marks[held_out] = 1
        return marks
