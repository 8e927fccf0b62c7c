"""Tables and the lines of text that say the same, for tests."""

import re
from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from vwlite.data.batch import COLUMNS
from vwlite.data.text_format import TextFormat, parse_text

PLAIN = TextFormat()
OFFSETS = ("tag_start", "tag_end")

seeds = st.sampled_from([0, 0, 1, 7, 2**32 - 1])
formats = st.builds(TextFormat, hash_all=st.booleans(), hash_seed=seeds, names=st.booleans())
spaces = st.sampled_from(["", "user", "a", "12", "é", "seventeen-letters", " 7"])
column_names = st.one_of(
    st.sampled_from(["x", "y", "12", "007", "a name", "a:b|c", "", "é", "\x01x", "a\nb", "_", "x" * 300]), st.text()
)


def csr(dense, dtype=np.float32, index=np.int32, zeros=False):
    """What SciPy makes of it; with ``zeros`` every entry is stored."""
    dense = np.asarray(dense, dtype)
    kept = np.ones_like(dense, bool) if zeros else dense != 0
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(index)
    indices = np.nonzero(kept)[1].astype(index)
    return SimpleNamespace(indptr=indptr, indices=indices, data=dense[kept], shape=dense.shape)


def named(name):
    """A name as a line of text can hold it."""
    return str(name).translate(dict.fromkeys(map(ord, " \t\n\r:|"), "_")) or "_"


LIKE_NUMBERS = re.compile(r"-?\d*\.?\d*([eE]-?\d*)?\Z|[\t-\r]*[+-]?(\d|\.\d|inf|nan)", re.IGNORECASE | re.ASCII)


def text_value(text):
    """A text value as a line can hold it."""
    text = text.translate(dict.fromkeys(map(ord, " \t\n\r|"), "_"))
    return "_" + text if LIKE_NUMBERS.match(text) else text


def line(head, blocks):
    """A line of text: ``blocks`` are pairs of namespace and pairs of name and number, text or None."""
    return head + "".join(
        f"|{named(space) if space else ''}" + "".join(f" {named(name)}{shown(value)}" for name, value in features) + " "
        for space, features in blocks
    )


def shown(value):
    """What follows a name; hexadecimal numbers are exact."""
    if value is None:
        return ""
    return ":" + (text_value(value) if isinstance(value, str) else float(value).hex())


def parsed(lines, format):
    return parse_text("\n".join(lines).encode("utf-8", "surrogateescape") + b"\n", format)


def names_of(batch):
    names, text = batch.names, bytes(batch.text)
    columns = ("start", "end", "value_start", "value_end", "kind", "detail")
    features = zip(*(getattr(names, name).tolist() for name in columns), strict=True)
    spans = zip(names.namespace_start.tolist(), names.namespace_end.tolist(), strict=True)
    return [(text[a:b], text[c:d], kind, more) for a, b, c, d, kind, more in features], [text[a:b] for a, b in spans]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for name, column in COLUMNS.items():
        if name not in OFFSETS:
            mine, theirs = getattr(found, name), getattr(expected, name)
            assert mine.dtype == column.dtype and mine.flags.c_contiguous, name
            assert np.array_equal(mine, theirs, equal_nan=mine.dtype == np.float32), name
    assert [found.tag(row) for row in range(len(found))] == [expected.tag(row) for row in range(len(found))]
    assert (found.names is None) == (expected.names is None)
    if found.names is not None:
        assert names_of(found) == names_of(expected)
