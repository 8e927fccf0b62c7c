"""Lines held in memory give the rows that a file of them gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.batch import COLUMNS
from vwlite.data.memory import line_batches
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import DataError

PARTS = st.lists(st.sampled_from([" |a", " |b:2 x", " x", " y:0.5", " 7:3", " ü^z"]), max_size=6)
LINE = st.one_of(st.just(""), PARTS.map(lambda parts: "1 |" + "".join(parts)))


def rows_of(batch):
    columns = [name for name in COLUMNS if name not in ("line", "tag_start", "tag_end")]
    return {name: np.nan_to_num(getattr(batch, name), nan=-1).tolist() for name in columns}


@given(st.lists(LINE, min_size=1, max_size=20), st.integers(1, 3))
def test_lines_are_parsed_like_their_text_whatever_the_blocks_and_threads(lines, threads):
    whole = parse_text("\n".join(lines).encode() + b"\n", TextFormat())
    actual = [batch.copy() for batch in line_batches(lines, TextFormat(), threads=threads, block_size=40)]
    assert sum(map(len, actual)) == len(whole) == len(lines)
    for name in ("label", "importance", "flags", "namespace_char", "namespace_hash", "feature_hash", "value"):
        assert np.array_equal(np.concatenate([getattr(batch, name) for batch in actual]), getattr(whole, name), True)


def test_texts_and_bytes_with_and_without_newlines_are_the_same_lines():
    (plain,) = line_batches(["1 |a x", "", "|b ü"], TextFormat())
    (mixed,) = line_batches(iter([b"1 |a x\n", "\n", "|b ü".encode()]), TextFormat())
    assert rows_of(plain) == rows_of(mixed) and len(plain) == 3
    assert list(line_batches([], TextFormat())) == []


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("no bar", "row 3, column 0: no '|', expected one between label and features: no bar"),
        ("1 |a b:nan", "row 3, column 7: feature value is NaN"),
        ("1 |a x\n1 |a y", "row 3: there is a line break within the line: 1 |a x\\n1 |a y"),
        (None, "row 3: expected a line of text, not NoneType"),
        (1.5, "row 3: expected a line of text, not float"),
    ],
)
@pytest.mark.parametrize("block_size", [1, 1000])
def test_wrong_lines_are_named_by_row_and_column(bad, message, block_size):
    with pytest.raises(DataError) as error:
        for batch in line_batches(["|a x", "", "|b y", bad, "|c z"], TextFormat(), block_size=block_size):
            batch.release()
    assert str(error.value).startswith(message)
