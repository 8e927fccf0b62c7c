"""Words of plain text, as numbers by how frequent they are, and the windows that are in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from unicodedata import ucd_3_2_0

import numpy as np

from vwlite.data.blocks import Block
from vwlite.data.columns import CHARACTERS as LOWERED
from vwlite.data.columns import lower_character
from vwlite.data.plain_text import BOM

LINE_END = "\n"
PUNCTUATION = ".,!?;:"
WORD = re.compile(r"\n|0+(?:[.,]0+)*|[.,!?;:]|[^ \n0.,!?;:]+")
BETWEEN_BLANKS = re.compile(r"[^ \t\r\f\v\n]+|\n")


class Characters(dict[int, str]):
    """A table of characters for ``str.translate``: letters in lower case, 0 for digits, blanks for all else."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character == "\n" or character in PUNCTUATION:
            replacement = character
        elif ucd_3_2_0.category(character)[0] == "N":
            replacement = "0"
        else:
            replacement = chr((character != "_" and code < LOWERED and lower_character(character)) or 32)
        self[code] = replacement
        return replacement


CHARACTERS = Characters()


def decode(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def tokens_of(text: str, kind: str) -> list[str]:
    """The tokens of lines, and their line ends. ``kind``: as ``LmConfig.tokens`` has it."""
    if kind == "blanks":
        return BETWEEN_BLANKS.findall(text)
    return ["0" if token[0] == "0" else token for token in WORD.findall(text.translate(CHARACTERS))]


def word_of(name: str, kind: str) -> str:
    """The token that ``name`` is; "" where it is none, or several."""
    tokens = tokens_of(name, kind)
    return tokens[0] if len(tokens) == 1 else ""


class Words:
    """A vocabulary: ``texts``, the most frequent first."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self.number = {text: number for number, text in enumerate(self.texts)}

    def __len__(self) -> int:
        return len(self.texts)


def number_tokens(blocks: Iterable[Block], kind: str, number: Mapping[str, int]) -> np.ndarray:
    """int32: the numbers of all tokens, line ends among them."""
    parts = [np.zeros(0, np.int32)]
    for block in blocks:
        data = bytes(memoryview(block.data)[: block.size])
        tokens = tokens_of(decode(data if block.offset else data.removeprefix(BOM)), kind)
        parts.append(np.fromiter(map(number.__getitem__, tokens), np.int32, len(tokens)))
    return np.concatenate(parts)


class Numbers(dict[str, int]):
    """Numbers of known words, the next one for all else, the one after it for line ends."""

    def __init__(self, words: Words) -> None:
        super().__init__(words.number)
        self.beyond = len(words)
        self[LINE_END] = self.beyond + 1

    def __missing__(self, text: str) -> int:
        return self.beyond


def text_of(blocks: Iterable[Block], kind: str, words: Words) -> np.ndarray:
    """int32: the text as numbers of ``words``, ``len(words)`` in place of others, ``len(words) + 1`` of line ends."""
    return number_tokens(blocks, kind, Numbers(words))


def text_and_words(blocks: Iterable[Block], kind: str, limit: int) -> tuple[np.ndarray, Words, int]:
    """The same over the text's own ``limit`` most frequent words, words as frequent in the order of their characters.

    Also how many different words there are.
    """
    number: defaultdict[str, int] = defaultdict(count().__next__)
    number[LINE_END]  # is 0
    text = number_tokens(blocks, kind, number)
    names = list(number)
    counts = np.bincount(text, minlength=len(names))
    order = sorted(range(1, len(names)), key=lambda one: (-counts[one], names[one]))[:limit]
    place = np.full(len(names), len(order), np.int32)
    place[0], place[order] = len(order) + 1, np.arange(len(order))
    return place[text], Words([names[one] for one in order]), len(names) - 1


def windows_of(text: np.ndarray, window: int, known: int) -> np.ndarray:
    """int64: where the windows of words below ``known`` begin."""
    if len(text) < window:
        return np.zeros(0, np.int64)
    other = np.concatenate(([0], np.cumsum(text >= known)))
    return np.flatnonzero(other[window:] == other[:-window])
