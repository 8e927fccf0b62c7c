import threading

import pytest

from vwlite.data.block_parser import SMALL, parse_ahead
from vwlite.data.blocks import Block


def block(size):
    return Block(bytearray(size), size, "f", 0)


@pytest.mark.parametrize("sizes", [[], [10], [10, SMALL - 1, 7], [SMALL], [10, SMALL, 10, 10], [SMALL, SMALL]])
def test_blocks_are_parsed_in_order_by_the_caller_alone_until_one_is_not_small(sizes):
    caller, seen = threading.get_ident(), []

    def parser(part):
        seen.append((part.size, threading.get_ident()))
        return part.size

    assert list(parse_ahead(iter(map(block, sizes)), parser, 0)) == sizes
    seen.clear()
    assert list(parse_ahead(iter(map(block, sizes)), parser, 2)) == sizes
    small = next((number for number, size in enumerate(sizes) if size >= SMALL), len(sizes))
    assert seen[:small] == [(size, caller) for size in sizes[:small]]


def test_lines_that_come_alone_start_no_thread():
    started = threading.active_count()
    for _ in parse_ahead(iter([block(10)] * 3), lambda part: part.size, 4):
        assert threading.active_count() == started


def test_after_a_full_block_another_thread_reads():
    readers = []

    def source():
        for size in (10, SMALL, 10):
            readers.append(threading.get_ident())
            yield block(size)

    assert list(parse_ahead(source(), lambda part: part.size, 1)) == [10, SMALL, 10]
    caller = threading.get_ident()
    assert readers[:2] == [caller, caller] and readers[2] != caller
