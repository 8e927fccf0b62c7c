"""Compressed input is told by its bytes, read to its last member, and refused unless whole."""

import bz2
import gzip
import io
import lzma
import os
import random
import sys
import threading
import tracemalloc
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.blocks import blocks, open_input
from vwlite.data.input_stream import SUFFIX, Decompressed, identify
from vwlite.errors import ExtraMissing, InputDamaged

try:
    from compression import zstd
except ImportError:
    try:
        from backports import zstd
    except ImportError:
        zstd = None

try:
    import isal
except ImportError:
    isal = None

needs_zstd = pytest.mark.skipif(zstd is None, reason="zstd needs pip install 'vwlite[io]'")
COMPRESS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
if zstd is not None:
    checksum = {zstd.CompressionParameter.checksum_flag: 1}
    COMPRESS["zstd"] = lambda text: zstd.compress(text, options=checksum)
each_format = pytest.mark.parametrize(
    "kind", ["gzip", "gzip without isal", "bzip2", "xz", pytest.param("zstd", marks=needs_zstd)]
)
TEXT = b"".join(b"%d |f a%d:%d\n" % (n % 2, n, n * n) for n in range(2000))
NOISE = random.Random(1).randbytes(100_000)


@pytest.fixture
def compress(kind):
    """The format's compressor; without isal, zlib decodes in its place."""
    if kind == "gzip" and isal is None:
        pytest.skip("isal comes with pip install 'vwlite[io]'")
    if kind == "gzip without isal":
        with mock.patch.dict(sys.modules, {"isal": None}):
            yield COMPRESS["gzip"]
    else:
        yield COMPRESS[kind]


def read(path):
    return b"".join(bytes(block.data[: block.size]) for block in blocks([str(path)], size=4096))


def write(path, data):
    path.write_bytes(data)
    return path


class Pieces(io.BytesIO):
    """A stream that gives out a few bytes at a time."""

    def __init__(self, data, piece):
        super().__init__(data)
        self.piece = piece

    def read(self, size=-1):
        return super().read(self.piece)

    def ready(self):
        return True


@each_format
@pytest.mark.parametrize("name", ["x", "x.vw", "x.gz", "x.zst"])
def test_the_bytes_and_not_the_name_decide(tmp_path, compress, name):
    assert read(write(tmp_path / name, compress(TEXT))) == TEXT
    assert read(write(tmp_path / name, TEXT)) == TEXT


@each_format
def test_standard_input_is_decompressed(tmp_path, compress):
    path = write(tmp_path / "x", compress(TEXT))
    with open(path, "rb") as file, mock.patch.object(sys, "stdin", file):
        assert read("-") == TEXT


@each_format
def test_a_compressed_pipe_gives_finished_members_at_once(tmp_path, compress):
    path = str(tmp_path / "fifo")
    os.mkfifo(path)
    with open(os.open(path, os.O_RDWR), "wb", buffering=0) as writer:
        rescue = threading.Timer(60, writer.close)
        rescue.start()
        writer.write(compress(b"1 |f a\n"))
        blocks_read = blocks([path])
        assert bytes(next(blocks_read).data).rstrip(b"\0") == b"1 |f a\n"
        writer.write(compress(b"0 |f b\n"))
        writer.close()
        assert [bytes(block.data).rstrip(b"\0") for block in blocks_read] == [b"0 |f b\n"]
        rescue.cancel()


@each_format
@pytest.mark.parametrize("padding", [b"", bytes(4), bytes(1024)])
def test_members_follow_each_other(tmp_path, compress, padding):
    members = [compress(TEXT), compress(b""), compress(b"1 |f z\n")]
    path = write(tmp_path / "x", padding.join(members) + padding)
    assert read(path) == TEXT + b"1 |f z\n"


@each_format
def test_an_empty_text_has_no_blocks(tmp_path, compress):
    assert read(write(tmp_path / "x", compress(b""))) == b""


@each_format
def test_something_else_behind_the_data_is_damage(tmp_path, compress, kind):
    for tail in (b"1 |f a\n", b"\0\0x", b"PK", COMPRESS["xz" if kind != "xz" else "gzip"](b"a")):
        path = write(tmp_path / "x", compress(TEXT) + tail)
        with pytest.raises(InputDamaged, match="that are not"):
            read(path)


@each_format
@pytest.mark.parametrize("text", [b"1 |f a\n", NOISE], ids=["short", "many blocks"])
def test_every_cut_is_noticed(tmp_path, compress, kind, text):
    data, first = compress(text), compress(b"0 |f b\n")
    ends = [*range(1, min(40, len(data))), *range(max(1, len(data) - 40), len(data))]
    for cut in ends + list(range(40, len(data), len(data) // 60 + 1)):
        for path in (
            write(tmp_path / ("x" + SUFFIX[kind.split()[0]][0]), data[:cut]),
            write(tmp_path / "two members", first + data[:cut]),
        ):
            with pytest.raises(InputDamaged, match="truncated"):
                read(path)


def test_a_cut_between_members_leaves_a_whole_file(tmp_path):
    members = gzip.compress(b"1 |f a\n"), gzip.compress(b"0 |f b\n")
    assert read(write(tmp_path / "x", b"".join(members)[: len(members[0])])) == b"1 |f a\n"


@pytest.mark.parametrize("name", ["x.gz", "x.bz2", "x.xz", "x.zst"])
def test_an_empty_file_named_as_compressed_is_truncated(tmp_path, name):
    with pytest.raises(InputDamaged, match="truncated"):
        read(write(tmp_path / name, b""))


@pytest.mark.parametrize("head", [b"\x1f", b"\x1f\x8b", b"\xfd7zX", b"\x28\xb5\x2f"])
def test_a_cut_within_the_magic_bytes_is_noticed_without_a_name(tmp_path, head):
    with pytest.raises(InputDamaged, match="truncated"):
        read(write(tmp_path / "x", head))


@pytest.mark.parametrize("text", [b"B", b"BZh", b"BZh9", b"BZh9|f a", b"(", b"P*", b"\x1f\x8bx"])
def test_text_that_begins_like_magic_is_text(tmp_path, text):
    assert read(write(tmp_path / "x", text)) == text + b"\n"


@each_format
def test_a_flipped_bit_never_changes_the_text(tmp_path, compress):
    text = NOISE[:3000] + b"\n"
    data = compress(text)
    noticed = 0
    for place in range(4, len(data), 23):
        damaged = bytearray(data)
        damaged[place] ^= 16
        if identify(bytes(damaged)):  # else it has become text, which the parser refuses
            try:  # bits such as those of gzip's time stamp mean nothing
                assert read(write(tmp_path / "x", bytes(damaged))) == text
            except InputDamaged:
                noticed += 1
    assert noticed > 100


@needs_zstd
def test_zstd_frames_that_carry_no_data_are_skipped(tmp_path):
    skippable = b"\x50\x2a\x4d\x18" + (3).to_bytes(4, "little") + b"abc"
    path = write(tmp_path / "x", skippable + COMPRESS["zstd"](TEXT) + skippable)
    assert read(path) == TEXT


def test_zstd_without_the_extra_names_it(tmp_path):
    path = str(write(tmp_path / "x.vw", b"\x28\xb5\x2f\xfd rest"))
    missing = dict.fromkeys(["compression", "backports", "compression.zstd", "backports.zstd"])
    with (
        mock.patch.dict(sys.modules, missing),
        pytest.raises(ExtraMissing, match=r"x\.vw is zstd data.*pip install 'vwlite\[io\]'"),
    ):
        blocks([path])


@each_format
def test_memory_is_bounded_whatever_the_ratio(tmp_path, compress):
    path = write(tmp_path / "x", compress(bytes(1 << 26)))
    with open_input(str(path)) as stream:
        tracemalloc.start()
        total = 0
        room = bytearray(4096)
        while total < 1 << 20:
            total += stream.readinto(room)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 1 << 24  # xz keeps a dictionary of 8 MiB


@given(
    kind=st.sampled_from(sorted(COMPRESS)),
    texts=st.lists(st.binary(max_size=300), min_size=1, max_size=3),
    without_isal=st.booleans(),
    piece=st.integers(1, 40),
    room=st.integers(1, 50),
)
def test_any_way_of_reading_gives_the_same_bytes(kind, texts, without_isal, piece, room):
    data = b"".join(map(COMPRESS[kind], texts))
    with mock.patch.dict(sys.modules, {"isal": None} if without_isal else {}):
        stream = Decompressed(Pieces(data, piece), kind, "x")
    actual = b""
    while part := stream.read(room):
        assert len(part) <= room
        actual += part
    assert actual == b"".join(texts)
