"""A curriculum within one pass: of every N examples a share, the easiest, that grows from one N to the next.

Each N examples are ranked among themselves, so a stream needs no second look, and no more than N examples are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from vwlite.data.batch import Batch
from vwlite.data.shuffle import Rows
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.training.curriculum import Admitted, Ranking, difficulties, easiest_first
from vwlite.training.curriculum_config import CurriculumConfig

NOTES = 20  # of the steps of a run, about


class StepRanking:
    """What the steps of a pass admit, one after the other."""

    def __init__(
        self, config: CurriculumConfig, seed: int, note: Callable[[str], None], ends: str = "the data end"
    ) -> None:
        """``ends``: what is told where that is before all take part."""
        self.config, self.seed, self.note, self.ends = config, seed, note, ends
        self.steps = 0  # made

    @property
    def share(self) -> float:
        """Of the step that is next."""
        return self.config.share_of_step(self.steps + 1)

    def begin(self) -> float:
        """Another step, of which the share is returned."""
        self.steps += 1
        return self.config.share_of_step(self.steps)

    def admit(self, difficulty: np.ndarray, always: np.ndarray | None = None) -> Admitted:
        """Of a step's rows, float64[rows]; ``always`` as in ``Ranking.admit``."""
        share = self.begin()
        ranking = Ranking(self.config, easiest_first(self.config, difficulty, self.seed), self.seed, self.tell)
        return ranking.admit(share, self.steps, always)

    def tell(self, text: str) -> None:
        if self.steps % max(self.config.last_step // NOTES, 1) == 0:
            self.note(f"curriculum, step {self.steps}: {text}")

    def tell_of_all(self) -> None:
        """Behind the last step that leaves rows out, or the end of the data."""
        if self.share == 1:
            self.note(f"curriculum, step {self.steps + 1}: all examples take part from here on")
        else:
            self.note(f"curriculum: {self.ends} in step {self.steps}; all would take part in {self.config.last_step}")


class StepwiseCurriculum(StepRanking):
    """Takes the batches of a pass, one after the other."""

    def __init__(
        self,
        config: CurriculumConfig,
        seed: int,
        features: FeatureConfig,
        note: Callable[[str], None],
        held: Callable[[np.ndarray], np.ndarray | None],
    ) -> None:
        """``held`` marks the rows of these numbers that are held out, which take part in any case, unweighted."""
        super().__init__(config, seed, note)
        self.features, self.held = features, held
        self.rows = 0  # before the step
        self.missing = 0  # rows without the namespace of ``value:NAMESPACE``

    def chosen(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Batches of the rows that take part, with their numbers. Raises UsageError where no row has the namespace."""
        size, waiting, first = int(self.config.steps or 0), [], 0
        for batch in batches:
            batch.numbers = np.arange(first, first + len(batch), dtype=np.int64)
            first += len(batch)
            for part, full in pieces(batch, size, first - len(batch)):
                if self.share == 1:
                    yield part
                    continue
                waiting.append(part)
                if full:
                    yield from self.step(waiting)
                    waiting = []
        if waiting:
            yield from self.step(waiting)
        if self.share < 1:
            self.tell_of_all()
            self.check_missing()

    def step(self, batches: list[Batch]) -> Iterator[Batch]:
        """What takes part of all rows of a step."""
        rows, numbers = Rows(batches), np.concatenate([batch.numbers for batch in batches])
        admitted = self.admit(self.difficulty(batches, len(rows)), self.held(numbers))
        for batch in admitted.weighed(rows.chosen(admitted.rows)):
            batch.numbers, batch.path = numbers[batch.numbers], ""
            yield batch
        for batch in batches:
            if batch.release:
                batch.release()
        self.rows += len(rows)
        if self.share == 1:
            self.tell_of_all()
            self.check_missing()

    def difficulty(self, batches: list[Batch], rows: int) -> np.ndarray:
        """float64[rows]"""
        if self.config.order == "random":
            return np.zeros(rows)
        difficulty = np.concatenate(difficulties(self.config.by, batches, self.features))
        self.missing += int(np.isnan(difficulty).sum())
        return np.nan_to_num(difficulty)

    def check_missing(self) -> None:
        """After the last row that is ranked. Raises UsageError where none has the namespace."""
        by = f"--curriculum-by {self.config.by}"
        if self.missing and self.missing == self.rows:
            raise UsageError(f"{by}: none of the {self.rows} lines that are ranked has a namespace of this whole name")
        if self.missing:
            self.note(f"{by}: {self.missing} of {self.rows} lines have no such namespace; 0 is taken")


def pieces(batch: Batch, size: int, first: int) -> Iterator[tuple[Batch, bool]]:
    """The batch, whose first row has the number ``first``, cut at multiples of ``size``, and whether a piece ends at
    one. The last piece releases the batch.
    """
    begin = 0
    while begin < len(batch):
        end = min(len(batch), begin + size - (first + begin) % size)
        release = batch.release if end == len(batch) else None
        part = replace(batch.part(begin, end), numbers=batch.numbers[begin:end], release=release)
        yield part, (first + end) % size == 0
        begin = end
