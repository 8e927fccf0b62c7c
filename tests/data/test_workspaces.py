"""How large the arrays are that parsers allocate for blocks."""

import pytest

from vwlite.data.block_parser import Parser
from vwlite.data.blocks import Block, Buffers
from vwlite.data.text_format import TextFormat

SIZE = 1 << 16


def block(text):
    return Block(bytearray(text) + bytes(64), len(text), "", 0)


def parsed(parser, texts):
    """The workspaces made for the texts, none of which is released before all are parsed."""
    made, make = [], parser.workspace
    parser.workspace = lambda size: made.append(make(size)) or made[-1]
    rows = [len(parser(block(text)).batch) for text in texts]
    return made, rows


def lines(line, size=SIZE):
    return line * (size // len(line))


@pytest.mark.parametrize("line", [b"1 |a x:nan\n", b"1 |w a b c d e f g h i j\n", b"\n", b"1 |a b |c d |e f |g h\n"])
def test_arrays_are_as_large_as_earlier_blocks_needed(line):
    parser = Parser(TextFormat(), "vw", Buffers(SIZE))
    (first, *others), rows = parsed(parser, [lines(line)] * 12)
    assert len(set(rows)) == 1
    assert max(first.rows, first.segments, first.features, first.max_issues) <= 16 * SIZE
    for workspace in others:
        for size in ("rows", "segments", "features"):
            assert getattr(workspace, size) <= 2 * getattr(first, size)
        assert workspace.max_issues <= 4 * SIZE


def test_later_blocks_of_a_kind_are_parsed_once():
    parser = Parser(TextFormat(), "vw", Buffers(SIZE))
    calls, native = [], parser.native
    parser.native = lambda *arguments: calls.append(None) or native(*arguments)
    for blocks, wanted in ((1, 3), (5, 5)):  # the arrays are doubled twice
        parsed(parser, [lines(b"1 |w a b c d e f g h i j\n")] * blocks)
        assert len(calls) == wanted
        calls.clear()


def test_only_the_arrays_of_issues_grow_for_issues():
    parser = Parser(TextFormat(), "vw", Buffers(SIZE))
    (workspace,), rows = parsed(parser, [lines(b"1 |a x:nan\n")])
    assert rows == [0] and max(workspace.rows, workspace.segments, workspace.features) < SIZE // 4
    assert SIZE // 11 <= workspace.max_issues <= SIZE


@pytest.mark.parametrize("odd", [1 << 8, 1 << 20])
def test_blocks_of_another_size_do_not_set_the_size_of_arrays(odd):
    """One that was small and then filled, and one of a long line."""
    parser = Parser(TextFormat(), "vw", Buffers(SIZE))
    usual = lines(b"1 |w a b c d e f g h i j\n")
    first = parser.workspace(odd)
    parser.free.put(first)
    (same, *others), _ = parsed(parser, [usual if odd < SIZE else b"1 |w" + b" a" * odd + b"\n", usual, usual])
    assert same is first
    assert all(workspace.features < SIZE for workspace in others)
