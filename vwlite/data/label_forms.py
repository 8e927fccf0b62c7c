"""Guesses from the first lines of a text what its labels are: numbers, names, costs, lists or groups."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from vwlite.data.batch import BLANK, Classes, LabelVocabulary
from vwlite.data.class_labels import text_of
from vwlite.data.columns import read_columns
from vwlite.data.config import COLUMNAR, EVENTS, TABLES, InputConfig
from vwlite.data.csv_table import BREAKS, DELIMITERS, NUMBER_CELL, delimiter_of, line_with_open_quote, with_point
from vwlite.data.dataset import Inputs
from vwlite.data.multiline import SHARED_WORDS
from vwlite.data.plain_text import words_of
from vwlite.data.table_formats import head_parser
from vwlite.data.text_format import EMPTY_SET, SENTENCES, Code, TextFormat, parse_text
from vwlite.errors import DataError
from vwlite.options import DECIMAL

HEAD = 1 << 16  # bytes at the start of the text that are examined
LONGEST_SEQUENCE = 200  # lines; texts with longer sequences on average are taken for single lines
NUMBER, COST, LIST = (re.compile(rule) for rule in (DECIMAL, f".+:{DECIMAL}", "[0-9]+(?:,[0-9]+)+|,"))
DECISION = re.compile(f"[0-9]+:{DECIMAL}:{DECIMAL}")
SHARED = tuple(word.decode() for word in SHARED_WORDS)


@dataclass(frozen=True, slots=True)
class Form:
    """How labels are read."""

    words: bool = False
    lists: bool = False
    groups: bool = False
    bare: bool = False
    numbers: bool = False

    def format(self, text: TextFormat) -> TextFormat:
        return text.of_words(self.lists, self.groups, self.numbers, self.bare) if self.words else text


FORMS = {
    "numbers": Form(),
    "names": Form(words=True),
    "sequences of names": Form(words=True),
    "costs": Form(words=True, lists=True),
    "lists": Form(words=True, lists=True),
    "groups of lines with costs": Form(words=True, lists=True, groups=True),
    "logged decisions": Form(words=True, lists=True),
    "groups of lines with logged decisions": Form(words=True, lists=True, groups=True, bare=True),
    "lists of numbers": Form(words=True, numbers=True),
}
NUMBERS, NAMES, SEQUENCES, COSTS, LISTS, GROUPS, DECISIONS, DECISION_GROUPS, VECTORS = FORMS


def form_of_inputs(inputs: Inputs, text: TextFormat) -> str:
    """Tell the form as ``form_of``, of inputs that have not been read."""
    config = inputs.config
    if config.kind in EVENTS:
        return DECISION_GROUPS
    if config.kind not in COLUMNAR:
        return form_of(inputs.head(HEAD), text, config)
    from vwlite.data.arrow_files import names_labels

    return NAMES if names_labels(config.paths[0], config.kind, read_columns(config.columns)) else NUMBERS


def has_two_classes(inputs: Inputs, text: TextFormat) -> bool:
    """Whether the first labels of inputs that have not been read are of two classes: -1 and 1, or 0 and 1."""
    config = inputs.config
    if config.kind in (*COLUMNAR, *EVENTS):
        return False
    head = inputs.head(HEAD)
    labels = parse_text(head, text, head_parser(head, config, text)).label
    return {*labels[~np.isnan(labels)].tolist()} in ({-1.0, 1.0}, {0.0, 1.0})


def check_quotes(inputs: Inputs) -> None:
    """Raises DataError for a quoted field that goes on over the end of its line, in the first lines of a table."""
    kind = inputs.config.kind
    if kind not in DELIMITERS:
        return
    head = inputs.head(HEAD)
    if line := line_with_open_quote(head, delimiter_of(head, kind)):
        place = f"{inputs.config.paths[0]}:{line}"
        raise DataError(f"{place}: {SENTENCES[Code.OPEN_QUOTE]} ({BREAKS})")


def names_of(inputs: Inputs, text: TextFormat) -> list[str]:
    """The labels of all of the inputs, as words, each once: numbers by their value, names sorted."""
    inputs.parse_as(text.of_words())
    book = LabelVocabulary()
    for part in inputs.texts():
        book.numbers(part.batch)
        if part.batch.release:
            part.batch.release()
    return Classes.of(book.texts).names


def form_of(head: bytes, text: TextFormat, config: InputConfig) -> str:
    """The form of most labels in the first lines, one of ``FORMS``; numbers where no line has a label."""
    words = text.of_words(lists=True)
    batch = parse_text(head, words, head_parser(head, config, words))
    blank = batch.flags & BLANK != 0
    labels = [words_of(text_of(batch, row)) or [EMPTY_SET] for row in np.flatnonzero(~np.isnan(batch.label)).tolist()]
    if config.kind == "csv" and delimiter_of(head, config.kind) == ";":
        labels = [[with_point(word, ";") for word in words] for words in labels]
    gaps = int((blank[:-1] & ~blank[1:])[int(np.argmin(blank)) :].sum()) if len(blank) else 0  # between lines
    count = len(labels)
    shared = sum(words[0] in SHARED for words in labels)
    decisions = sum(any(map(DECISION.fullmatch, words)) for words in labels)
    if decisions and 2 * (decisions + shared) > count:
        return DECISION_GROUPS if shared or gaps else DECISIONS
    costs = sum(words[0] in SHARED or any(map(COST.fullmatch, words)) for words in labels)
    lists = sum(bool(LIST.fullmatch(words[0])) for words in labels)
    number = NUMBER_CELL if config.kind in TABLES else NUMBER  # with truth values, and words for what is absent
    numbers = sum(bool(number.fullmatch(words[0])) for words in labels)
    if 2 * costs > count:
        single = 2 * sum(len(words) == 1 for words in labels) > count
        return GROUPS if shared or (gaps and single) else COSTS
    if 2 * (lists + numbers) >= count:
        return LISTS if count and 20 * lists >= count else NUMBERS
    return SEQUENCES if gaps and len(blank) <= LONGEST_SEQUENCE * (gaps + 1) else NAMES
