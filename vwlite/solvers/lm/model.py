"""Language models: the network f(s) = u . tanh(A [E_s1; ...; E_sn] + b), its file, and how well it ranks.

The network is that of ``cython_ext/solvers/window_network.pyx``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

import numpy as np

from vwlite import interrupts
from vwlite._native import window_network
from vwlite.config_check import JsonObject, built, contents_of, require
from vwlite.data.batch import BLANK, Batch
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.features.hashing import key, mix64, unit_interval
from vwlite.features.sparse_rows import features_of
from vwlite.features.theta import PATIENCE
from vwlite.solvers.aso.apply import append_tails
from vwlite.solvers.lm.config import FeaturesConfig, LmConfig, RankConfig
from vwlite.solvers.lm.words import Words, decode, windows_of, word_of
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


def pad(array: np.ndarray) -> np.ndarray:
    """The last axis filled up with zeros to a multiple of ``LANES``."""
    missing = -array.shape[-1] % LANES
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)])


def draw_weights(seed: int, purpose: int, shape: tuple[int, ...], spread: float) -> np.ndarray:
    """float32: numbers of mean 0 and standard deviation ``spread``, uniform."""
    size = int(np.prod(shape))
    numbers = unit_interval(mix64(np.uint64(key(seed, purpose)) + np.arange(size, dtype=np.uint64)))
    return ((2 * numbers - 1) * (3**0.5 * spread)).astype(np.float32).reshape(shape)


def new_network(config: LmConfig, words: int) -> Network:
    """Weights of the standard deviation 1 / sqrt(inputs of a unit), vectors of words of 1 / sqrt(3)."""
    inputs = config.window * config.dim
    return Network(
        draw_weights(config.seed, WORDS, (words, config.dim), 3**-0.5),
        pad(draw_weights(config.seed, INPUTS, (inputs, config.hidden), inputs**-0.5)),
        np.zeros(config.hidden + -config.hidden % LANES, np.float32),
        pad(draw_weights(config.seed, OUTPUT, (config.hidden,), config.hidden**-0.5)),
    )


class Header(TypedDict):
    """The header of a model of ``vwlite lm``."""

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

    def facts(self) -> JsonObject:
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
        with contents_of(path, "a model of this version's vwlite lm"):
            require(header, Header, "header")
            config = built(LmConfig, header["lm"])
            words = words_from(loaded.arrays)
            network = network_from(loaded.arrays, config, len(words))
            return cls(config, words, network, header["passes"], header["steps"])


def words_from(arrays: Mapping[str, Any]) -> Words:
    words = Words(decode(numbers(arrays, "lm_vocabulary", np.uint8, (-1,)).tobytes()).split("\n"))
    if len(words.number) != len(words) or "" in words.number:
        raise ValueError("its words")
    return words


def network_from(arrays: Mapping[str, Any], config: LmConfig, words: int) -> Network:
    """Raises KeyError, ValueError."""
    hidden, inputs = config.hidden, config.window * config.dim
    return Network(
        numbers(arrays, "lm_words", np.float32, (words, config.dim)),
        pad(numbers(arrays, "lm_inputs", np.float32, (inputs, hidden))),
        pad(numbers(arrays, "lm_bias", np.float32, (hidden,))),
        pad(numbers(arrays, "lm_output", np.float32, (hidden,))),
    )


@dataclass(slots=True)
class Ranks:
    """``rank`` float64[windows], in the order of the text; windows of it that have a word that is not ``known``."""

    rank: np.ndarray
    unknown: int

    def facts(self) -> JsonObject:
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
    """The ranks of windows of ``text``, the numbers of its words. Raises DataError where no window has known words
    alone."""
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


AT_ONCE = 1000  # words


def vector_lines(model: LmModel, top: int | None = None) -> Iterator[bytes]:
    """The number of words and of each one's numbers; then a word a line, the most frequent first, ``top`` of them."""
    texts, vectors = model.words.texts[:top], model.network.words[:top]
    yield b"%d %d\n" % vectors.shape
    form = " ".join(["%.9g"] * vectors.shape[1])
    for first in range(0, len(texts), AT_ONCE):
        part = zip(texts[first : first + AT_ONCE], vectors[first : first + AT_ONCE].tolist(), strict=True)
        lines = [f"{word} {form % tuple(values)}\n" for word, values in part]
        yield "".join(lines).encode("utf-8", "surrogateescape")


def text_format() -> TextFormat:
    """Labels are of any kind, and names of features are kept."""
    return TextFormat(skip_malformed=True, names=True).of_words(lists=True)


class WordFeatures:
    """What is added to examples: the means of the vectors of their words."""

    def __init__(self, model: LmModel, config: FeaturesConfig) -> None:
        """Raises UsageError for a namespace that is named twice."""
        self.words, self.kind, self.scale = model.words, model.config.tokens, np.float64(config.scale)
        self.vectors = model.network.words
        self.number = {name.encode("utf-8", "surrogateescape"): place for place, name in enumerate(config.namespaces)}
        if len(self.number) != len(config.namespaces):
            raise UsageError("--namespace names a namespace twice: drop one")
        several = len(self.number) > 1
        self.bars = [b" |e_%b" % name if several else b" |e" for name in self.number]
        self.known: dict[bytes, int] = {}  # words of names met before, -1 where there is none
        self.found = 0  # features that are words of the model

    def word_at(self, name: bytes) -> int:
        """The number of the word that a feature's name is, -1 where the model knows none."""
        number = self.known.get(name)
        if number is None:
            number = self.known[name] = self.words.number.get(word_of(decode(name), self.kind), -1)
        return number

    def features(self, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """For each feature that is a known word: row, number of the namespace, number of the word, and value."""
        owner, _, value, place = features_of(batch, rows)
        segment = np.searchsorted(batch.namespace_start, place, side="right") - 1
        names, text = batch.names, memoryview(batch.text)
        spans = zip(names.namespace_start.tolist(), names.namespace_end.tolist(), strict=True)
        numbers = np.array([self.number.get(bytes(text[a:b]), -1) for a, b in spans], np.int64)
        space = numbers[segment]
        keep = (space >= 0) & (names.kind[place] == 0)
        starts, ends = names.start[place[keep]].tolist(), names.end[place[keep]].tolist()
        word = np.array([self.word_at(bytes(text[a:b])) for a, b in zip(starts, ends, strict=True)], np.int64)
        known = word >= 0
        return owner[keep][known], space[keep][known], word[known], value[keep][known].astype(np.float64)

    def tails(self, batch: Batch, rows: np.ndarray) -> list[bytes]:
        """What each of the rows gets behind it; 6 digits of each number."""
        row, space, word, value = self.features(batch, rows)
        self.found += len(row)
        tails = [b""] * len(rows)
        groups, group = np.unique(row * len(self.bars) + space, return_inverse=True)
        sums, weights = np.zeros((len(groups), self.vectors.shape[1])), np.zeros(len(groups))
        np.add.at(sums, group, self.vectors[word] * value[:, None])
        np.add.at(weights, group, np.abs(value))
        means = sums * (self.scale / np.where(weights > 0, weights, 1))[:, None]
        for one, mean in zip(groups.tolist(), means.tolist(), strict=True):
            features = " ".join(f"{number}:{v:.6g}" for number, v in enumerate(mean) if v)
            if features:
                at, which = divmod(one, len(self.bars))
                tails[at] += self.bars[which] + b" " + features.encode()
        return tails


def with_vectors(
    model: LmModel, parts: Iterable[Parsed], policy: BadLines, config: FeaturesConfig
) -> Iterator[bytes]:
    """The text of each part, every example followed by what its words' vectors make; other lines are as they came.

    Raises DataError for text that has none of the words, UsageError, and as ``policy`` does.
    """
    features, held, lines, examples = WordFeatures(model, config), list[bytes](), 0, 0
    for part in parts:
        batch = policy.examine(part)
        rows = np.flatnonzero(batch.flags & BLANK == 0)
        tails = features.tails(batch, rows)
        held.append(append_tails(bytes(memoryview(part.block.data)[: part.block.size]), batch.line[rows], tails))
        lines, examples = lines + part.lines, examples + len(rows)
        if batch.release:
            batch.release()
        if features.found:
            yield from held
            held.clear()
        elif lines >= PATIENCE:
            break
    if examples and not features.found:
        spaces = ", ".join(config.namespaces)
        raise DataError(f"no feature of the namespace {spaces} is a word of the model: --namespace names that of words")
    yield from held
    policy.finish()
