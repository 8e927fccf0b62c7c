"""Numbers in text: the kernel's reader against its plain twin, bit by bit."""

import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.numbers import parse_number
from vwtext import NUMBERS, ODD_NUMBERS, hexadecimals, numbers

from vwlite._native import testing

SLACK = bytes(64)
HEXADECIMAL = rb"0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+"
SPELLED_OUT = re.compile(rb" *[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d*[\d.])?|" + HEXADECIMAL + rb")")


def bits(value):
    return "nan" if np.isnan(value) else struct.pack("f", value)


def read(text, rest, end):
    """The number at ``text[:end]``, when ``rest`` follows on its line; checked against the twin."""
    value, taken, spelled_out = testing.read_number(text + rest + b"\n" + SLACK, 0, end)
    wanted, bytes_taken = parse_number(text + rest, 0, end)
    assert (taken, bits(value if taken else 0)) == (bytes_taken, bits(wanted if taken else 0)), text
    return value, taken, spelled_out


@given(st.one_of(numbers, st.text(" \t\r0123456789.eE+-naifx:|b", max_size=12).map(str.encode)), st.binary(max_size=3))
def test_numbers_of_any_shape(text, rest):
    rest = rest.replace(b"\n", b"")
    read(text, rest, len(text + rest))


@pytest.mark.parametrize("rest", [b"", b" 2", b"\t", b"\r", b":3", b"|a", b"e5", b"5", b".5", b"\xff"])
def test_odd_numbers_are_read_as_by_the_twin(rest):
    for text in NUMBERS + ODD_NUMBERS:
        read(text, rest, len(text + rest))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_hexadecimal_numbers_are_read_to_the_last_bit(value):
    text = value.hex().encode()
    assert bits(read(text, b"", len(text))[0]) == bits(np.float32(value))


@given(
    st.one_of(numbers, hexadecimals, st.sampled_from([b"", b"-", b"x"])), st.sampled_from([b" ", b"|", b" 5|", b"|5"])
)
def test_a_label_word_ends_before_its_line_does(text, rest):
    read(text, rest, len(text))


@given(st.integers(0, 2**24 + 2000), st.integers(0, 12), st.booleans())
def test_short_decimals_take_the_fast_way_to_the_same_bits(whole, fraction, negative):
    text = b"%0*d" % (fraction + 1, whole)
    text = b"-" * negative + text[: len(text) - fraction] + b"." * bool(fraction) + text[len(text) - fraction :]
    value, taken, spelled_out = read(text, b"", len(text))
    assert taken == len(text)
    assert spelled_out
    assert value == pytest.approx(float(text), rel=1e-5)


@given(st.one_of(numbers, hexadecimals, st.text("0123456789.eE+-x nNpPaF", max_size=8).map(str.encode)))
def test_numbers_spelled_out_are_recognised(text):
    _, taken, spelled_out = testing.read_number(text + b"\n" + SLACK, 0, len(text))
    if taken == len(text):
        assert spelled_out == bool(SPELLED_OUT.fullmatch(text))
    else:
        assert not spelled_out or taken  # trouble of its own: something follows the number
