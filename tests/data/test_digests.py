"""Digests of whole texts: as the plain twin, whatever portions they come in, and different for every change."""

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.digests import digest

from vwlite.data.blocks import HEAD, NOTHING, Digest, blocks, is_unchanged_text, prefixes

TEXT = random.Random(1).randbytes(3000)


def told(data, cuts=(), whole=True):
    made, begin = Digest(), 0
    for cut in (*sorted(cuts), len(data)):
        made.add(bytearray(data[begin:cut]), cut - begin)
        begin = cut
    return made.mark().as_json(whole)


@given(st.integers(0, len(TEXT)), st.lists(st.integers(0, len(TEXT))))
def test_digests_are_those_of_the_twin_in_any_portions(size, cuts):
    data = TEXT[:size]
    assert told(data, [min(cut, size) for cut in cuts]) == {
        "size": size,
        "digest": digest(data),
        "head": "",
        "whole": True,
    }


@pytest.mark.parametrize("cuts", [[], [1], [HEAD - 1, HEAD], [HEAD], [HEAD + 1], [7, 2 * HEAD]])
def test_the_head_is_a_digest_of_its_own(cuts):
    data = TEXT * 50
    assert told(data, cuts) == told(data) and told(data)["head"] == told(data[:HEAD])["digest"] == digest(data[:HEAD])
    assert told(data[:HEAD])["head"] and not told(data[: HEAD - 1])["head"]


def test_every_byte_counts_and_so_does_the_end():
    seen = {told(TEXT)["digest"], told(TEXT + b"\0")["digest"], NOTHING.as_json(True)["digest"], told(b"\0")["digest"]}
    for place in range(len(TEXT)):
        changed = bytearray(TEXT)
        changed[place] ^= 1 << place % 8
        seen.add(told(changed)["digest"])
    swapped = TEXT[64:128] + TEXT[:64] + TEXT[128:]
    assert len({*seen, told(swapped)["digest"]}) == len(TEXT) + 5


@pytest.mark.parametrize("end", [b"", b"last"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_blocks_are_marked_with_the_text_s_own_bytes(tmp_path, end, pack):
    text = b"".join(b"%d |a b\n" % n for n in range(500)) + end
    (tmp_path / "x").write_bytes(pack(text))
    path = str(tmp_path / "x")
    for size in (50, 1000, 1 << 19):
        marks = [block.mark for block in blocks([path], size, marks=True)]
        assert marks[-1].as_json(True) == told(text)
        assert [mark.as_json(False) for mark in marks] == [told(text[: mark.size], whole=False) for mark in marks]
    assert {block.mark for block in blocks([path])} == {None}
    assert list(prefixes(path, {10, 10_000})) == [(10, told(text[:10])["digest"]), (len(text), told(text)["digest"])]


def test_a_file_is_known_by_the_text_that_was_read(tmp_path):
    path = str(tmp_path / "x")
    for now, whole, still in [
        (TEXT, True, True),
        (TEXT + b"more", True, False),
        (TEXT + b"more", False, True),
        (TEXT[:-1], False, False),
        (TEXT[:-1] + b"x", False, False),
        (b"", False, False),
    ]:
        (tmp_path / "x").write_bytes(now)
        assert is_unchanged_text(path, told(TEXT, whole=whole)) is still
    assert is_unchanged_text(path, NOTHING.as_json(True))
