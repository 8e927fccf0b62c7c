"""Words' vectors as text: in word2vec's format, and as features of examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from vwlite.data.batch import BLANK, Batch
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import features_of
from vwlite.features.theta_map import PATIENCE
from vwlite.solvers.aso.apply import extended
from vwlite.solvers.lm.config import FeaturesConfig
from vwlite.solvers.lm.model import LmModel
from vwlite.solvers.lm.words import decoded, word_of

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
        found = self.known.get(name)
        if found is None:
            found = self.known[name] = self.words.number.get(word_of(decoded(name), self.kind), -1)
        return found

    def features(self, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Of the features that are known words: row, number of the namespace, number of the word, and value."""
        owner, _, value, place = features_of(batch, rows)
        segment = np.searchsorted(batch.namespace_start, place, side="right") - 1
        names, text = batch.names, memoryview(batch.text)
        spans = zip(names.namespace_start.tolist(), names.namespace_end.tolist(), strict=True)
        wanted = np.array([self.number.get(bytes(text[a:b]), -1) for a, b in spans], np.int64)
        space = wanted[segment]
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
        for one, numbers in zip(groups.tolist(), means.tolist(), strict=True):
            shown = " ".join(f"{number}:{v:.6g}" for number, v in enumerate(numbers) if v)
            if shown:
                at, which = divmod(one, len(self.bars))
                tails[at] += self.bars[which] + b" " + shown.encode()
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
        held.append(extended(bytes(memoryview(part.block.data)[: part.block.size]), batch.line[rows], tails))
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
