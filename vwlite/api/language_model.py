"""``LanguageModel``: what ``vwlite lm`` learns, in Python, from lines of plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from vwlite.api.memory_run import log
from vwlite.api.solver_model import SolverModel
from vwlite.data.config import BLOCK_SIZE
from vwlite.data.memory import blocks_of
from vwlite.memory_limit import USUAL
from vwlite.solvers.lm.config import LmConfig, RankConfig
from vwlite.solvers.lm.model import LmModel, rank
from vwlite.solvers.lm.solver import Training, begin_training, continue_training
from vwlite.solvers.lm.words import text_of, word_of
from vwlite.storage.memory_file import as_path, capture_bytes
from vwlite.training.monitor import LineMonitor, Monitor

Self = TypeVar("Self", bound="LanguageModel")


class LanguageModel(SolverModel):
    """Vectors of words, and a network that ranks which word ends a window of them."""

    def __init__(self, **options: Any) -> None:
        """``options``: fields of ``LmConfig``. Raises UsageError, TypeError for an option of another name."""
        super().__init__()
        self.config = LmConfig(**options)

    def fit(self: Self, lines: Iterable[str | bytes]) -> Self:
        """Learn from lines of plain text, a sentence or a document each, anew.

        Raises DataError where there is no window, UsageError where weights need too much memory, Diverged. After an
        error the model is as it was.
        """
        monitor = LineMonitor(log.info)
        return self._learned(begin_training(self.config, blocks_of(lines, BLOCK_SIZE), USUAL, monitor.note), monitor)

    def fit_more(self: Self, lines: Iterable[str | bytes]) -> Self:
        """``passes`` more, as ``-i`` of the command. Raises as ``fit``, and UsageError before it."""
        with as_path(self.dumps(), "the model") as path:  # what is learned from is another copy
            training = continue_training(self.config, LmModel.load(path), blocks_of(lines, BLOCK_SIZE))
        return self._learned(training, LineMonitor(log.info))

    def ranks(self, lines: Iterable[str | bytes], *, windows: int = 10_000, seed: int = 0) -> np.ndarray:
        """float64[n]: the ranks of the last words of windows, as ``vwlite lm rank`` has them; ``windows`` 0 ranks all.

        Raises DataError where no window has known words alone, UsageError before ``fit``.
        """
        model = self.model
        text = text_of(blocks_of(lines, BLOCK_SIZE), model.config.tokens, model.words)
        return rank(RankConfig(windows=windows, seed=seed), model.network, text).rank

    @property
    def model(self) -> LmModel:
        """Raises UsageError before ``fit``."""
        self.dumps()
        return self._model

    @property
    def words(self) -> list[str]:
        """The vocabulary, the most frequent word first."""
        return list(self.model.words.texts)

    @property
    def vectors(self) -> np.ndarray:
        """float32[words, dim]."""
        return self.model.network.words.copy()

    def vector(self, word: str) -> np.ndarray:
        """float32[dim]; of a word that is written otherwise, ``Paris``, as of its token. Raises KeyError."""
        model = self.model
        return np.array(model.network.words[model.words.number[word_of(word, model.config.tokens)]])

    def _learned(self: Self, training: Training, monitor: Monitor) -> Self:
        training.run(monitor)
        self._take(capture_bytes(lambda out: training.model.save("the model", out)))
        return self

    def _take(self, data: bytes) -> None:
        with as_path(data, "the model") as path:
            self._model = LmModel.load(path)
        self._data = data
        if "config" not in self.__dict__:
            self.config = self._model.config
