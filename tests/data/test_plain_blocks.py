"""The fast path for plain namespace blocks gives what the general path gives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite._native import testing
from vwlite.data.batch import COLUMNS
from vwlite.data.text_format import TextFormat, parse_text

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
    return {name: getattr(batch, name).tobytes() for name in COLUMNS}


def assert_names_change_no_array(text, plain):
    for options in (plain, replace(plain, skip_malformed=False)):
        assert columns(parse_text(text, options)) == columns(parse_text(text, replace(options, names=True)))


@given(st.lists(LINES, max_size=4), st.booleans(), st.sampled_from([0, 7]))
@settings(max_examples=100)
def test_names_or_not_the_arrays_are_the_same(lines, hash_all, seed):
    text = "".join(label + " ".join(blocks) + end for label, blocks, end in lines).encode()
    assert_names_change_no_array(text, TextFormat(hash_all=hash_all, hash_seed=seed, skip_malformed=True))


NUMBERED = st.tuples(
    st.one_of(st.integers(0, 999).map(str), st.from_regex(r"[0-9]{1,16}", fullmatch=True)),
    st.one_of(st.from_regex(r"[0-9]\.[0-9]{4}", fullmatch=True), st.from_regex(r"[0-9]\.[0-9]{0,8}", fullmatch=True)),
).map(":".join)
ODD = st.sampled_from(["a:0.5", "7:-0.5", "7:10.5", "7", "7:1", ":0.5", "7:0x5", "7:0.5:1", "7:0.0", "7:9.9999999", ""])
RUNS = st.lists(st.one_of(NUMBERED, NUMBERED, NUMBERED, ODD), max_size=24).map(" ".join)


@given(st.lists(RUNS, min_size=1, max_size=3), st.sampled_from(["\n", " \n", "\r\n", " |b 1:0.5\n"]), st.booleans())
@settings(max_examples=80)
def test_runs_of_decimals_are_read_as_single_ones(runs, end, named):
    """Without names windows of them are read at once; with names each by itself."""
    text = "".join(f"1 |{'a' if named else ''} {run}{end}" for run in runs).encode()
    plain = TextFormat(skip_malformed=False)
    assert columns(parse_text(text, plain)) == columns(parse_text(text, replace(plain, names=True)))


def read_decimals(text, seed, singly):
    hashes, values = np.zeros(len(text) // 4 + 16, np.uint32), np.zeros(len(text) // 4 + 16, np.float32)
    taken, count = testing.read_decimals(text + b"\n" + b"8 |1:0.5" * 8, len(text), seed, singly, hashes, values)
    return taken, hashes[:count].tolist(), values[:count].view(np.uint32).tolist()


@given(RUNS.map(str.encode), st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_decimals_at_once_are_those_read_singly(text, seed):
    """They are the same as far as both go; what either leaves is read like any other feature."""
    (taken, hashes, values), (other, *others) = read_decimals(text, seed, False), read_decimals(text, seed, True)
    both = min(len(hashes), len(others[0]))
    assert (hashes[:both], values[:both]) == (others[0][:both], others[1][:both])
    for end, count in ((taken, len(hashes)), (other, len(others[0]))):
        assert end in (0, len(text)) or text[end : end + 1] == b" "
        assert count == sum(float(word.partition(b":")[2]) != 0 for word in text[:end].split())


def test_runs_of_decimals_are_read_to_their_end():
    text = b" ".join(b"%d:%.*f" % (7**n % 10**8, n % 7 + 1, n % 10 * 0.1) for n in range(200))
    for singly in (False, True):
        taken, hashes, values = read_decimals(text, 3, singly)
        assert taken == len(text)
        numbers = [float(word.partition(b":")[2]) for word in text.split()]
        np.testing.assert_allclose(np.uint32(values).view(np.float32), [x for x in numbers if x], rtol=3e-7)
        names = [int(word.partition(b":")[0]) + 3 for word in text.split()]
        assert hashes == [name for name, number in zip(names, numbers, strict=True) if number]


@pytest.mark.parametrize("singly", [False, True])
def test_decimals_end_where_the_line_ends_though_the_next_looks_the_same(singly):
    line = b"1:0.5 2:0.25 13:0.125"
    padded = line + b"\n" + line + b" | 7:0.5" + bytes(64)
    hashes, values = np.zeros(64, np.uint32), np.zeros(64, np.float32)
    assert testing.read_decimals(padded, len(line), 0, singly, hashes, values) == (len(line), 3)
    np.testing.assert_allclose(values[:3], [0.5, 0.25, 0.125], rtol=3e-7)


@pytest.mark.parametrize("singly", [False, True])
@pytest.mark.parametrize("room", range(1, 40))
def test_decimals_stay_in_their_room(room, singly):
    text = b" ".join(b"%d:0.25" % n for n in range(60))
    hashes, values = np.full(80, 9, np.uint32), np.full(80, 9, np.float32)
    taken, count = testing.read_decimals(text + b"\n" + bytes(64), len(text), 0, singly, hashes[:room], values[:room])
    assert room - 8 < count <= room
    assert (hashes[room:] == 9).all() and (values[room:] == 9).all()
    assert len(text[:taken].split()) == count and (values[:count] == 0.25).all()


def test_numbers_of_eight_digits_are_read_as_singly():
    rng = np.random.default_rng(2)
    numbers = [f"{n / 10**places:.{places}f}" for places in (6, 7) for n in rng.integers(0, 10 ** (places + 1), 400)]
    text = b"1 | " + " ".join(f"{n}:{number}" for n, number in enumerate(numbers)).encode()
    assert columns(parse_text(text, TextFormat())) == columns(parse_text(text, TextFormat(names=True)))


SHORT = st.tuples(
    st.one_of(st.text("ab1", min_size=1, max_size=12), st.from_regex(r"[0-9]{1,18}", fullmatch=True)),
    st.one_of(
        st.from_regex(r"[0-9]{1,9}", fullmatch=True),
        st.from_regex(r"[0-9]{1,2}\.[0-9]{0,9}", fullmatch=True),
        st.sampled_from(["", "-1", "-0.5", "1e1", ".5", "1.5.1", "0", "0.0", "1x", "1:2"]),
        st.sampled_from(["16777160", "1.6777160", "1.6777161"]),
    ),
).map(":".join)


@given(st.lists(st.lists(SHORT, max_size=12).map(" ".join), min_size=1, max_size=3), st.booleans(), st.booleans())
@settings(max_examples=80)
def test_short_numbers_end_where_the_window_says(runs, named, hash_all):
    text = "".join(f"1 |{'a' if named else ''} {run}\n" for run in runs).encode()
    assert_names_change_no_array(text, TextFormat(skip_malformed=True, hash_all=hash_all))


@pytest.mark.parametrize("fraction", range(1, 9))
@pytest.mark.parametrize("digits", range(1, 10))
def test_decimals_of_every_length(digits, fraction):
    number, value = "123456789"[:digits], "9.87654321"[: 2 + fraction]
    text = f"1 |a {' '.join([f'{number}:{value}'] * 9)}".encode()
    batch = parse_text(text, TextFormat())
    assert columns(batch) == columns(parse_text(text, TextFormat(names=True)))
    np.testing.assert_allclose(batch.value, [float(value)] * 9, rtol=1e-6)
    assert (batch.feature_hash - batch.namespace_hash[0]).tolist() == [int(number)] * 9
