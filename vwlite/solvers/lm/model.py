"""Language models: the network f(s) = u . tanh(A [E_s1; ...; E_sn] + b), its file, and how well it ranks.

The network is that of ``cython_ext/solvers/window_network.pyx``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

import numpy as np

from vwlite import interrupts
from vwlite._native import window_network
from vwlite.config_check import built, require
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.features.hashing import key, mix64, unit_interval
from vwlite.solvers.lm.config import LmConfig, RankConfig
from vwlite.solvers.lm.words import Words, decoded, windows_of
from vwlite.storage import model_file
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.model_file import numbers
from vwlite.training.model_header import Natural
from vwlite.training.solver_run import Content

LANES = 8
WORDS, INPUTS, OUTPUT, STEP, CHOICE = range(21, 26)  # what is drawn


@dataclass(slots=True)
class Network:
    """``words`` float32[vocabulary, dim], ``inputs`` float32[window dim, width], ``bias``, ``output`` float32[width];
    width is the number of hidden units, filled up to a multiple of ``LANES``.
    """

    words: np.ndarray
    inputs: np.ndarray
    bias: np.ndarray
    output: np.ndarray

    def arrays(self, hidden: int) -> dict[str, np.ndarray]:
        """What a model keeps: without the units that only fill up rows."""
        return {
            "lm_words": self.words,
            "lm_inputs": np.ascontiguousarray(self.inputs[:, :hidden]),
            "lm_bias": self.bias[:hidden],
            "lm_output": self.output[:hidden],
        }


def padded(array: np.ndarray) -> np.ndarray:
    """The last axis filled up with zeros to a multiple of ``LANES``."""
    missing = -array.shape[-1] % LANES
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])


def drawn(seed: int, purpose: int, shape: tuple[int, ...], spread: float) -> np.ndarray:
    """float32: numbers of mean 0 and standard deviation ``spread``, uniform."""
    size = int(np.prod(shape))
    found = unit_interval(mix64(np.uint64(key(seed, purpose)) + np.arange(size, dtype=np.uint64)))
    return ((2 * found - 1) * (3**0.5 * spread)).astype(np.float32).reshape(shape)


def new_network(config: LmConfig, words: int) -> Network:
    """Weights of the standard deviation 1 / sqrt(inputs of a unit), vectors of words of 1 / sqrt(3)."""
    inputs = config.window * config.dim
    return Network(
        drawn(config.seed, WORDS, (words, config.dim), 3**-0.5),
        padded(drawn(config.seed, INPUTS, (inputs, config.hidden), inputs**-0.5)),
        np.zeros(config.hidden + -config.hidden % LANES, np.float32),
        padded(drawn(config.seed, OUTPUT, (config.hidden,), config.hidden**-0.5)),
    )


def network_of(words: np.ndarray, inputs: np.ndarray, bias: np.ndarray, output: np.ndarray) -> Network:
    """From the arrays of a model."""
    return Network(words, padded(inputs), padded(bias), padded(output))


class Header(TypedDict):
    """Of a model of ``vwlite lm``."""

    lm: dict
    passes: Natural
    steps: Natural


@dataclass(slots=True)
class LmModel:
    """``passes`` and ``steps`` that were made."""

    learner: ClassVar[str] = "lm"

    config: LmConfig
    words: Words
    network: Network
    passes: int = 0
    steps: int = 0

    def facts(self) -> dict[str, Any]:
        """What the command tells, as JSON data."""
        return {**self.config.kept(), "vocabulary": len(self.words), "passes": self.passes, "steps": self.steps}

    def content(self) -> Content:
        """Header and arrays of the model file."""
        header = {"learner": self.learner, "lm": self.config.kept(), "passes": self.passes, "steps": self.steps}
        texts = "\n".join(self.words.texts).encode("utf-8", "surrogateescape")
        return header, {"lm_vocabulary": np.frombuffer(texts, np.uint8), **self.network.arrays(self.config.hidden)}

    def save(self, path: str, open_output: OpenOutput = atomic_output) -> None:
        """Write the model, whole or not at all. Raises OutputError."""
        model_file.save(path, *self.content(), open_output=open_output)

    @classmethod
    def load(cls, path: str) -> LmModel:
        """Raises ModelError for a damaged or foreign file and for models of other commands, InputMissing."""
        loaded = model_file.load(path)
        header = loaded.header
        if header.get("learner") != cls.learner:
            raise ModelError(f"{path} was not made by 'vwlite lm' (its learner is {header.get('learner')!a})")
        try:
            require(header, Header, "header")
            config = built(LmConfig, header["lm"])
            words = words_from(loaded.arrays)
            network = network_from(loaded.arrays, config, len(words))
            return cls(config, words, network, header["passes"], header["steps"])
        except ModelError:
            raise
        except (KeyError, ValueError, UsageError) as error:
            raise ModelError(f"{path} is no model of this version's vwlite lm ({error})") from error


def words_from(arrays: Mapping[str, Any]) -> Words:
    words = Words(decoded(numbers(arrays, "lm_vocabulary", np.uint8, (-1,)).tobytes()).split("\n"))
    if len(words.number) != len(words) or "" in words.number:
        raise ValueError("its words")
    return words


def network_from(arrays: Mapping[str, Any], config: LmConfig, words: int) -> Network:
    """Raises KeyError, ValueError."""
    hidden, inputs = config.hidden, config.window * config.dim
    return network_of(
        numbers(arrays, "lm_words", np.float32, (words, config.dim)),
        numbers(arrays, "lm_inputs", np.float32, (inputs, hidden)),
        numbers(arrays, "lm_bias", np.float32, (hidden,)),
        numbers(arrays, "lm_output", np.float32, (hidden,)),
    )


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
    interrupts.raise_if_stopped()
    return Ranks(out, len(windows_of(text, window, words + 1)) - len(begin))


def drawn_from(begin: np.ndarray, config: RankConfig) -> np.ndarray:
    """``config.windows`` of them, in their order."""
    if not config.windows or config.windows >= len(begin):
        return begin
    numbers = mix64(np.uint64(key(config.seed, CHOICE)) + np.arange(len(begin), dtype=np.uint64))
    return begin[np.sort(np.argsort(numbers, kind="stable")[: config.windows])]
