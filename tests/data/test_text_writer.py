"""Batches written as text are the same batches when they are parsed again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.batch import COLUMNS
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.data.text_writer import TextWriter, number_texts
from vwlite.errors import DataError

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
NAMES = st.one_of(st.text("ab09é_.-人'", min_size=1, max_size=6), st.sampled_from(["1", "user", "a\udcff"]))
WORDS = st.one_of(
    NAMES,
    st.tuples(NAMES, FLOATS.filter(bool).map(float.hex)).map(":".join),
    st.tuples(NAMES, st.sampled_from(["red", "a:b", "_1", "x'", "é"])).map(":".join),
)
BLOCKS = st.tuples(st.one_of(st.just(""), NAMES), st.lists(WORDS, max_size=4)).map(
    lambda block: "|" + " ".join([block[0], *block[1]])
)
TAGS = st.sampled_from(["", "'tag", "'é:1", "''"])
WEIGHTS = FLOATS.map(abs).map(float.hex)
NUMBERS = st.one_of(
    st.just(""), FLOATS.map(float.hex), st.tuples(FLOATS.map(float.hex), WEIGHTS).map(" ".join),
    st.tuples(FLOATS.map(float.hex), WEIGHTS, FLOATS.map(float.hex)).map(" ".join),
)  # fmt: skip
CLASSES = st.one_of(st.just(""), NAMES.filter(lambda name: name[0] != "'"))
LABELS = {
    TextFormat(names=True): NUMBERS,
    TextFormat(names=True).of_words(): st.tuples(CLASSES, st.one_of(st.just(""), WEIGHTS)).map(
        lambda words: " ".join(words) if all(words) else words[0]
    ),
    TextFormat(names=True).of_words(lists=True): st.lists(
        st.sampled_from(["1:0.5", "2", "cat", "a,b"]), max_size=3
    ).map(" ".join),
}


def parse(text, format):
    return parse_text(text, format)


def same(left, other, words):
    """All arrays are equal, and what the offsets into the text refer to."""
    for name, column in COLUMNS.items():
        a, b = getattr(left, name), getattr(other, name)
        assert column.entries == "text offsets" or a.tobytes() == b.tobytes(), name
    spans = [[batch.tag(row).split() for row in range(len(batch))] for batch in (left, other)]
    assert words or spans[0] == spans[1]


@pytest.mark.parametrize("format", LABELS, ids=["numbers", "words", "lists"])
@given(data=st.data())
def test_written_batches_are_read_back(format, data):
    rows = data.draw(st.lists(st.tuples(LABELS[format], TAGS, st.lists(BLOCKS, max_size=3)), min_size=1, max_size=5))
    lines = [f"{label} {tag}{' '.join(blocks) or '|'}" for label, tag, blocks in rows]
    batch = parse("\n".join(lines).encode("utf-8", "surrogateescape"), format)
    assert len(batch) == len(lines)
    text = TextWriter(format).lines(batch)
    again = parse(text, format)
    same(batch, again, format.words and not format.lists)  # where importance is written stands in the middle
    assert TextWriter(format).lines(again) == text


@given(st.lists(FLOATS, min_size=1))
def test_every_number_is_read_back_to_the_last_bit(values):
    values = np.array(values, np.float32)
    texts = number_texts(values)
    back = parse_text("".join(f"1 |a x:{text}\n{text} |\n" for text in texts).encode(), TextFormat())
    assert back.label[1::2].tobytes() == values.tobytes()
    assert back.value.tobytes() == values[values != 0].tobytes()


@given(st.integers(0, 2**32 - 1))
def test_any_bits_of_a_finite_number_are_kept(bits):
    value = np.array([bits], np.uint32).view(np.float32)
    if np.isfinite(value[0]):
        (text,) = number_texts(value)
        assert parse_text(f"{text} |".encode(), TextFormat()).label.tobytes() == value.tobytes()


def test_decimals_stand_where_they_are_exact():
    values = np.array([0, 1, -3, 0.5, 0.1, 0.9, 1e10, 2**24, 1e-45, -0.0, np.nan], np.float32)
    assert number_texts(values) == [
        "0", "1", "-3", "0.5", "0.1", "0x1.ccccccp-1", "1e+10", "1.6777216e+07", "0x1p-149", "-0", ""
    ]
    with pytest.raises(DataError, match="no infinite numbers"):
        number_texts(np.array([np.inf], np.float32))


def test_lines_are_short():
    format = TextFormat(names=True)
    text = b"1 |a x:1 y:0.5 |b c:red\n2 'tag||a x\n|\n'only| x\n3 1 0 |\n"
    expected = b"1 |a x y:0.5 |b c:red\n2 'tag|a x\n|\n'only| x\n3 |\n"
    assert TextWriter(format).lines(parse(text, format)) == expected
    weighted = b"1 2 |a x\n|a x\n3 |\n"
    assert TextWriter(format).lines(parse(weighted, format)) == b"1 2 |a x\n|a x\n3 1 |\n"


def changed(text, **columns):
    batch = parse(text, TextFormat(names=True))
    for name, value in columns.items():
        getattr(batch, name)[:] = value
    return batch


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (changed(b"|a x", importance=2), "row 0: text has no importance and no base without a label"),
        (changed(b"|a x", initial_prediction=0.5), "row 0: text has no importance and no base without a label"),
        (changed(b"1 'saved| x", row_namespace=0), "row 0: the tag of a line without features begins with 'save'"),
        (parse(b"1 |a :3", TextFormat(names=True)), "only features that have a name of their own"),
        (changed(b"1 |a x", value=np.inf), "no infinite numbers"),
    ],
)
def test_values_that_a_line_cannot_hold_are_refused(batch, reason):
    with pytest.raises(DataError, match=reason):
        TextWriter(TextFormat(names=True)).lines(batch)


def test_labels_that_are_names_have_no_base():
    format = TextFormat(names=True).of_words(lists=True)
    with pytest.raises(DataError, match="lists no importance"):
        TextWriter(format).lines(changed(b"1 |a x", importance=2))


def test_empty_lines_stay_empty():
    format = TextFormat(names=True)
    assert TextWriter(format).lines(parse(b"1 |a x\n\n|b y\n", format)) == b"1 |a x\n\n|b y\n"


def test_batches_without_names_are_none_of_its():
    with pytest.raises(ValueError, match="a batch with names"):
        TextWriter(TextFormat(names=True)).lines(parse(b"1 |a x", TextFormat()))
