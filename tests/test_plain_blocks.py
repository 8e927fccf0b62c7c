"""The fast path for plain namespace blocks gives what the general path gives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.parsing import TextFormat, parse_text

NAMES = st.one_of(
    st.text("abz019", min_size=1, max_size=9),
    st.text("0123456789", min_size=1, max_size=22),
    st.integers(0, 999).map(str),
    st.text("aé_.-|:\x01\x7f", min_size=0, max_size=20),
    st.just("a" * 40),
)
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.decimals(-1000, 1000, places=4).map(str),
    st.from_regex(r"[0-9]\.[0-9]{0,9}", fullmatch=True),
    st.sampled_from(["0", "-0", "5.", ".5", "1e3", "16777160", "16777161", "0.12345678", "12345678.1234567"]),
    st.sampled_from(["1.0000000", "+", "-", "1x", "00000001.5", "nan"]),
)
FEATURES = st.one_of(NAMES, st.tuples(NAMES, NUMBERS).map(":".join))
BLOCKS = st.tuples(NAMES, st.lists(FEATURES, max_size=6), st.sampled_from([" ", "  ", "\t"])).map(
    lambda block: block[2].join([f"|{block[0]}", *block[1]])
)
LABELS, ENDS = st.sampled_from(["", "1 ", "-1 2 'tag"]), st.sampled_from(["\n", "\r\n", " \n"])
LINES = st.tuples(LABELS, st.lists(BLOCKS, max_size=4), ENDS)


def columns(batch):
    names = ("label", "flags", "row_seg", "seg_char", "seg_hash", "seg_start", "feature_hash", "value", "line")
    return {name: np.asarray(getattr(batch, name)).tobytes() for name in names}


@pytest.mark.parametrize("strict", [True, False])
@given(st.lists(LINES, max_size=4), st.booleans(), st.sampled_from([0, 7]))
@settings(max_examples=300)
def test_names_or_not_the_arrays_are_the_same(strict, lines, hash_all, seed):
    text = "".join(label + " ".join(blocks) + end for label, blocks, end in lines).encode()
    plain = TextFormat(hash_all=hash_all, hash_seed=seed, strict=strict)
    assert columns(parse_text(text, plain)) == columns(parse_text(text, replace(plain, names=True)))
