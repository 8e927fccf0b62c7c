"""How good a language model is: the rank of the right last word among all words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite import interrupts
from vwlite._native import window_network
from vwlite.errors import DataError
from vwlite.features.random_features import key, mix64
from vwlite.solvers.lm.config import RankConfig
from vwlite.solvers.lm.network import Network
from vwlite.solvers.lm.words import windows_of

CHOICE = 25  # what is drawn


@dataclass(slots=True)
class Ranks:
    """``rank`` float64[windows], in the order of the text; windows of it that have a word that is not ``known``."""

    rank: np.ndarray
    unknown: int

    def facts(self) -> dict[str, Any]:
        logs = np.log(self.rank)
        error = float(logs.std(ddof=1) / len(logs) ** 0.5) if len(logs) > 1 else None
        return {
            "windows": len(logs),
            "unknown_words": self.unknown,
            "mean_log_rank": float(logs.mean()),
            "standard_error": error,
            "median_rank": float(np.median(self.rank)),
        }


def rank(config: RankConfig, network: Network, text: np.ndarray) -> Ranks:
    """Of windows of ``text``, the numbers of its words. Raises DataError where no window has known words alone."""
    words, window = len(network.words), len(network.inputs) // network.words.shape[1]
    begin = windows_of(text, window, words)
    if not len(begin):
        raise DataError(f"no line has {window} known words one after the other")
    chosen = drawn_from(begin, config)
    out = np.zeros(len(chosen))
    window_network.rank(network, text, chosen, out, interrupts.STOP)
    interrupts.obey()
    return Ranks(out, len(windows_of(text, window, words + 1)) - len(begin))


def drawn_from(begin: np.ndarray, config: RankConfig) -> np.ndarray:
    """``config.windows`` of them, in their order."""
    if not config.windows or config.windows >= len(begin):
        return begin
    numbers = mix64(np.uint64(key(config.seed, CHOICE)) + np.arange(len(begin), dtype=np.uint64))
    return begin[np.sort(np.argsort(numbers, kind="stable")[: config.windows])]
