"""Rules that tell numbers from words: their time grows with the length of a word, not with its square."""

import re
import time

import pytest

from vwlite.data import csv_table, label_forms, malformed_lines, text_format
from vwlite.options import DECIMAL_BYTES, read_decimal

LONG = 200_000  # characters, with whose square it takes minutes
RULES = {
    "decimal": DECIMAL_BYTES.fullmatch,
    "read_decimal": lambda word: len(word) < 9 and read_decimal(word.decode()),
    "cell": lambda word: csv_table.NUMBER_CELL.fullmatch(word.decode()),
    "decimal cell": lambda word: csv_table.DECIMAL_CELL.fullmatch(word.decode()),
    "label": lambda word: label_forms.NUMBER.fullmatch(word.decode()),
    "cost": lambda word: label_forms.COST.fullmatch(word.decode()),
    "list": lambda word: label_forms.LIST.fullmatch(word.decode()),
    "name": lambda word: re.fullmatch(malformed_lines.NAME, word.decode()),
    "vw": re.compile(text_format.NUMBER).match,
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("word", [b"9%sx", b"-%sx", b".%sx", b"a:%sx", b"1e%sx", b"1.%sx"])
@pytest.mark.parametrize("filled", [b"9", b" ", b",1", b":1"])
def test_long_words_take_no_time(rule, word, filled):
    started = time.process_time()
    RULES[rule](word % (filled * LONG))
    assert time.process_time() - started < 30


@pytest.mark.parametrize("text", ["1", "-1", "+1.", "1.5", ".5", "-.5e3", "1.e-3", "007", "1e+05"])
def test_numbers_are_numbers(text):
    for rule in set(RULES) - {"list", "name", "cost"}:
        assert RULES[rule](text.encode()), rule
    assert RULES["cost"](f"a:{text}".encode()) and not RULES["name"](text.encode())


@pytest.mark.parametrize("text", ["", ".", "-", "+", "e5", "1e", "1.5.", "1..5", "1,5", "1e5.", "x", "1x", "0x1"])
def test_words_are_no_numbers(text):
    for rule in ("decimal", "decimal cell", "label"):
        assert not RULES[rule](text.encode()), rule
    assert not RULES["cost"](f"a:{text}".encode())
    assert bool(RULES["name"](text.encode())) == bool(text)


@pytest.mark.parametrize("text", ["", "  ", "\t1 ", " true", "FALSE\t", "nan", "N/A", "null ", "inf", "-Infinity"])
def test_cells_of_numbers(text):
    assert csv_table.NUMBER_CELL.fullmatch(text)
    assert csv_table.DECIMAL_CELL.fullmatch(text) is None or text.strip() == "1"
