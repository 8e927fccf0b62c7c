"""Lists of classes: the kernel beside the rules in Python."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from vwlite._native.label_lists import read_lists

from vwlite.data.batch import BLANK
from vwlite.data.class_labels import Classes, ListLabels
from vwlite.data.text_format import TextFormat, parse_text

WORDS = TextFormat().of_words(lists=True)
CLASSES = st.sampled_from(["0", "1", "7", "007", "20", "999999999", "1234567890", "one", "", "-1", "4294967296"])
COSTS = st.sampled_from([
    "", ":", ":0", ":1", ":-0", ":0.7", ":.5", ":5.", ":.", ":+1", ":1e3", ":-2.25",
    ":123456789012345", ":1234567890123456", ":0.000000000000001",
    ":340282350000000000000000000000000000000", ":3.5e38", ":nan", ":inf", ":1:2", ":0x1p3",
])  # fmt: skip
COST_LISTS = st.lists(st.tuples(CLASSES, COSTS).map("".join), max_size=5).map(" ".join)
SETS = st.lists(CLASSES, max_size=6).map(",".join)
LABELS = st.one_of(COST_LISTS, SETS, st.text("0123456789:., '-", max_size=12))
LINES = st.lists(st.tuples(LABELS, st.sampled_from([" ", "  ", "", " tag", " 'tag", " 'it's", " '", "'t"])), max_size=6)


def batch_of(lines):
    return parse_text("".join(f"{label}{tag}|f a\n" for label, tag in lines).encode(), WORDS)


def expected(rule, batch):
    """Labels, and each row's entries, by the rule for a row alone."""
    labels, rows = batch.label.copy(), []
    for row in range(len(batch)):
        entries = list(rule.entries(batch, row)) if labels[row] == labels[row] else []
        if not rule.sets and all(math.isinf(cost) for _, cost in entries):
            labels[row] = np.nan
        rows.append(entries)
    return labels, rows


@settings(max_examples=100)
@given(LINES, st.booleans())
@example([("1:0.1 2:0.7 3:-1.25", ""), ("2:1", " tag"), ("3", " 'x")], False)
@example([("3,1,2,1", ""), (",".join(map(str, range(99, 0, -1))), " t")], True)
def test_the_kernel_reads_what_the_rules_read(lines, sets):
    batch, said = batch_of(lines), []
    rule = ListLabels(Classes(9), said.append, sets=sets)
    rule.silent = True  # of words alone
    labels, rows = expected(rule, batch)
    before = list(said)
    said.clear()
    assert np.array_equal(rule.check(batch), labels, equal_nan=True)
    assert said == before
    lists = batch.lists
    actual = [list(zip(lists.indices[lists.row(row)].tolist(), lists.values[lists.row(row)].tolist(), strict=True))
             for row in range(len(batch))]  # fmt: skip
    assert actual == rows
    assert all(math.copysign(1, a[1]) == math.copysign(1, b[1]) for x, y in zip(actual, rows, strict=True)
               for a, b in zip(x, y, strict=True))  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 10**9 - 1), st.decimals(-(10**6), 10**6, places=4)), min_size=1, max_size=9))
def test_plain_costs_are_read_without_python(entries):
    batch = batch_of([(" ".join(f"{number}:{cost}" for number, cost in entries), " tag"), ("", "")])
    labelled = (~np.isnan(batch.label)).view(np.uint8)
    sizes, named, cost = np.zeros(2, np.int64), np.zeros(200, np.uint32), np.zeros(200, np.float32)
    read_lists(batch, labelled, False, sizes, named, cost)
    assert sizes.tolist() == [len(entries), 0]
    assert named[: len(entries)].tolist() == [number for number, _ in entries]
    assert cost[: len(entries)].tolist() == [float(np.float32(float(value))) for _, value in entries]


def test_arrays_that_are_too_short_are_refused():
    batch = batch_of([("1:0 2:1", "")])
    expected = np.ones(1, np.uint8)
    sizes, named, cost = np.zeros(1, np.int64), np.zeros(4, np.uint32), np.zeros(4, np.float32)
    for short in (
        (expected, sizes[:0], named, cost),
        (expected, sizes, named[:3], cost),
        (expected, sizes, named, cost[:3]),
    ):
        with pytest.raises(ValueError, match="too short"):
            read_lists(batch, short[0], False, *short[1:])
    batch.tag_end = batch.tag_end + np.uint32(1000)
    with pytest.raises(ValueError, match="outside the text"):
        read_lists(batch, expected, False, sizes, np.zeros(9999, np.uint32), np.zeros(9999, np.float32))
    assert not batch.flags[0] & BLANK
