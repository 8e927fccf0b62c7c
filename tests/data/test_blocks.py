"""Blocks are whole lines of the input, whatever the block size and however the bytes arrive."""

import io
import json
import os
import sys
import threading
import time
from types import SimpleNamespace
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data import blocks as source
from vwlite.data.blocks import blocks, fingerprint, same_file
from vwlite.data.input_stream import Stream
from vwlite.errors import DataError, InputDamaged, InputMissing, UsageError

TEXTS = st.lists(st.sampled_from([b"a", b"1 |f x:2", b"\r", b"\n", b"\n\n", b"\0", b"\xff"])).map(b"".join)
SIZES = st.integers(1, 70)


class Trickle(io.RawIOBase):
    """A stream whose reads have the given lengths, followed by a wait where the flag is set."""

    def __init__(self, text, pieces):
        self._text, self._pieces, self._ready = io.BytesIO(text), iter(pieces), True

    def readinto(self, room):
        length, self._ready = next(self._pieces, (len(room), True))
        return self._text.readinto(room[: min(length, len(room))])

    def ready(self):
        return self._ready


@pytest.fixture
def fifo(tmp_path):
    """A named pipe and a writing end that closes by itself should the reader wait for too long."""
    path = str(tmp_path / "fifo")
    os.mkfifo(path)
    writer = open(os.open(path, os.O_RDWR), "wb", buffering=0)  # noqa: SIM115
    rescue = threading.Timer(60, writer.close)
    rescue.start()
    yield path, writer
    rescue.cancel()
    writer.close()


def with_newline(text):
    return text if text.endswith(b"\n") or not text else text + b"\n"


def checked(found):
    """The blocks' texts by path, after a check of what every block promises."""
    texts = {}
    for block in found:
        text = bytes(block.data[: block.size])
        assert text.endswith(b"\n")
        assert bytes(block.data[block.size : block.size + 64]) == bytes(64)
        assert block.offset == len(texts.get(block.path, b""))
        texts[block.path] = texts.get(block.path, b"") + text
    return texts


def write(path, text):
    path.write_bytes(text)
    return str(path)


@given(st.lists(TEXTS, max_size=3), SIZES, st.booleans())
def test_files_become_their_lines(tmp_path_factory, texts, size, groups):
    folder = tmp_path_factory.getbasetemp()
    paths = [write(folder / f"lines{number}", text) for number, text in enumerate(texts)]
    expected = {path: with_newline(text) for path, text in zip(paths, texts, strict=True) if text}
    assert checked(blocks(paths, size, groups=groups)) == expected


@given(TEXTS, SIZES, st.lists(st.tuples(st.integers(1, 20), st.booleans())), st.booleans())
def test_any_way_of_arriving_gives_the_same_lines(text, size, pieces, groups):
    with (
        mock.patch.object(source, "open_input", lambda path: Trickle(text, pieces)),
        mock.patch.object(source, "check_inputs"),
    ):
        assert checked(blocks(["x"], size, groups=groups)).get("x", b"") == with_newline(text)


def test_blocks_hold_as_many_lines_as_fit(tmp_path):
    path = write(tmp_path / "x", b"1 |f a\n" * 100)
    assert [block.size for block in blocks([path], size=30)] == [28] * 25


def test_blocks_hold_as_many_groups_as_fit(tmp_path):
    """Where a group is longer than a block, the block holds lines."""
    path = write(tmp_path / "x", b"1 |f a\n2 |f b\n\n" * 40 + b"3 |f c\n" * 10)
    actual = [block.size for block in blocks([path], size=40, groups=True)]
    assert actual == [30] * 20 + [35, 35]


def test_a_long_line_makes_its_block_grow(tmp_path):
    line = b"1 |f " + b"x" * 3_000_000 + b"\n"
    path = write(tmp_path / "x", b"0 |f a\n" + line + b"0 |f b\n")
    actual = list(blocks([path], size=1000))
    assert [block.size for block in actual] == [7, len(line) + 7]
    assert checked(actual)[path] == b"0 |f a\n" + line + b"0 |f b\n"


def test_blocks_given_back_are_filled_again(tmp_path):
    paths = [write(tmp_path / "x", b"1 |f abc\n" * 100), write(tmp_path / "y", b"0 |f d\n" * 7 + b"1 |" + b"x" * 90)]
    buffers, texts, rooms = source.Buffers(60), b"", set()
    for block in blocks(paths, 60, None, buffers):
        texts += bytes(block.data[: block.size])
        assert bytes(block.data[block.size : block.size + 64]) == bytes(64)
        rooms.add(id(block.data))
        buffers.give(block.data)
    assert texts == b"1 |f abc\n" * 100 + b"0 |f d\n" * 7 + b"1 |" + b"x" * 90 + b"\n"
    assert len(rooms) <= 3
    assert all(len(buffers.take()) == 124 for _ in range(5))


def test_a_long_line_in_small_pieces_is_searched_once():
    searched = 0

    class Counting(bytearray):
        def rfind(self, what, start, end):
            nonlocal searched
            searched += end - start
            return super().rfind(what, start, end)

    text = b"x" * 5000 + b"\n"
    pieces = [(7, False)] * 1000
    with mock.patch.object(source, "check_inputs"):
        stream = Trickle(text, pieces)
        assert source._fill(stream, Counting(100), 0, 100, None) == (5001, 5001)
    assert searched == len(text)


@pytest.mark.parametrize("length, size", [(49, 10), (49, 64), (50, 10), (50, 7), (50, 1)])
def test_lines_up_to_the_limit_pass(tmp_path, length, size):
    text = b"\n".join([b"a" * length, b"b", b"c" * length, b"d" * length])
    path = write(tmp_path / "x", text)
    assert checked(blocks([path], size, max_line=50)) == {path: text + b"\n"}


@pytest.mark.parametrize("size", [1, 7, 51])
def test_a_line_beyond_the_limit_is_refused(tmp_path, size):
    path = write(tmp_path / "x", b"a\n" + b"b" * 51 + b"\nc\n")
    with pytest.raises(DataError, match="the line at byte 2 has more than 50 bytes"):
        list(blocks([path], size, max_line=50))


def test_a_pipe_gives_lines_as_they_come(fifo):
    path, writer = fifo
    writer.write(b"1 |f a\n0 |f b\n1 |")
    blocks_read = blocks([path])
    first = next(blocks_read)
    assert bytes(first.data[: first.size]) == b"1 |f a\n0 |f b\n"
    writer.write(b"f c\n")
    second = next(blocks_read)
    assert bytes(second.data[: second.size]) == b"1 |f c\n"
    assert second.offset == first.size
    writer.write(b"0 |f d")
    writer.close()
    assert checked([first, second, *blocks_read]) == {path: b"1 |f a\n0 |f b\n1 |f c\n0 |f d\n"}


def test_a_pipe_that_does_not_block_is_waited_for(fifo):
    path, writer = fifo
    pipe = io.FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    with Stream(pipe, "x") as stream:
        stream._poll = mock.Mock(poll=lambda: writer.write(b"x\n"))
        assert stream.readinto(bytearray(9)) == 2


def test_standard_input_is_left_open(tmp_path):
    with open(write(tmp_path / "x", b"1 |f a")) as file, mock.patch.object(sys, "stdin", file):
        assert checked(blocks(["-"])) == {"<stdin>": b"1 |f a\n"}
        assert os.fstat(file.fileno())


def test_standard_input_may_be_in_memory():
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 |f a\n0 |f b"))):
        assert checked(blocks(["-"], size=3)) == {"<stdin>": b"1 |f a\n0 |f b\n"}


def test_closed_standard_input_is_missing():
    with mock.patch.object(sys, "stdin", None), pytest.raises(InputMissing, match="closed"):
        list(blocks(["-"]))


def test_standard_input_twice_is_refused():
    with pytest.raises(UsageError, match="only once"):
        blocks(["-", "-"])


@pytest.mark.parametrize(
    "name, message",
    [
        ("trian.vw", r"no such file: .*trian\.vw \(did you mean .*train\.vw\?\)"),
        ("zzzzzz", r"no such file: .*zzzzzz \(- is standard input\)"),
        ("gone/train.vw", r"no such file: .* \(there is no folder .*gone\)"),
        ("train.vw/x", "cannot read .*: Not a directory"),
        (".", "is a directory"),
        ("\0", "cannot read .*null"),
    ],
)
def test_a_wrong_name_is_explained_at_the_call(tmp_path, name, message):
    good = write(tmp_path / "train.vw", b"1 |f a\n")
    with pytest.raises(InputMissing, match=message):
        blocks([good, str(tmp_path / name)])


def test_a_missing_file_has_no_fingerprint(tmp_path):
    with pytest.raises(InputMissing, match="no such file"):
        fingerprint([str(tmp_path / "gone")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_missing(tmp_path):
    path = write(tmp_path / "x", b"1 |f a\n")
    os.chmod(path, 0)
    with pytest.raises(InputMissing, match="Permission denied"):
        blocks([path])


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs Linux's /proc")
def test_a_failing_read_is_damage():
    with pytest.raises(InputDamaged, match="/proc/self/mem: reading failed: Input/output error"):
        list(blocks(["/proc/self/mem"]))


def test_a_fingerprint_holds_until_the_file_is_touched(tmp_path):
    path = write(tmp_path / "x", b"1 |f a\n")
    then = json.loads(json.dumps(fingerprint([path])[0]))
    assert same_file(then, fingerprint([path])[0])
    status = os.stat(path)
    time.sleep(0.02)  # longer than the file system's clock stands still
    write(tmp_path / "x", b"0 |f a\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not same_file(then, fingerprint([path])[0])


def test_a_fingerprint_notices_a_file_moved_over_the_old_one(tmp_path):
    old, new = write(tmp_path / "old", b"a" * 3_000_000), write(tmp_path / "new", b"b")
    then = fingerprint([old])[0]
    status = os.stat(old)
    with open(new, "wb") as file:
        file.write(b"a" * 3_000_000)
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(new, old)
    assert not same_file(then, fingerprint([old])[0])


@pytest.mark.parametrize(
    ("since", "changed", "settled"),
    [
        (10_000_000, 123_456_789, False),
        (30_000_000, 123_456_789, True),
        (30_000_000, 123_000_000, False),  # a clock of whole seconds or milliseconds
        (4_000_000_000, 123_000_000, True),
        (-1_000_000_000, 123_456_789, False),  # clocks that differ
    ],
)
def test_a_file_settles_once_its_change_time_would_tell(tmp_path, monkeypatch, since, changed, settled):
    path = write(tmp_path / "x", b"1 |f a\n")
    status = SimpleNamespace(st_mode=os.stat(path).st_mode, st_size=7, st_ino=1, st_mtime_ns=5, st_ctime_ns=changed)
    monkeypatch.setattr("vwlite.data.blocks._stat", lambda path: status)
    monkeypatch.setattr("time.time_ns", lambda: changed + since)
    assert fingerprint([path])[0]["settled"] is settled


def test_pipes_have_no_fingerprint(fifo):
    path, _ = fifo
    assert fingerprint(["-", path]) == [None, None]
    assert not same_file({"path": "-"}, None)
