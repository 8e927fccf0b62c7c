"""What a cache gives back is what was put in, packed; whatever is damaged is refused."""

import errno
import json
import os
import zlib
from contextlib import closing, suppress
from itertools import accumulate
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vwlite._native.batch_rows import expand_shapes
from vwlite._native.cache_codec import join_pieces, pack, pack_bytes, pack_offsets, unpack, unpack_bytes, unpack_offsets
from vwtext import lines

from vwlite.data import cache as cache_module
from vwlite.data.batch import COLUMNS, TEXT_OFFSETS
from vwlite.data.block_parser import Packed, pack_batch, unpack_batch, unpacked_size
from vwlite.data.cache import END, ENTRY, MAGIC, TAIL, Cache, CacheWriter
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import ModelError, OutputError

WORDS = st.one_of(
    st.lists(st.integers(0, 2**32 - 1), max_size=200),
    st.lists(st.sampled_from([0, 1, 5, 0x3F800000, 2**32 - 1]), max_size=300),
    st.lists(st.sampled_from([7] * 20 + [*range(20)]), min_size=64, max_size=300),
    st.integers(0, 40).flatmap(lambda bits: st.lists(st.integers(0, min(2**bits, 2**32 - 1)), max_size=300)),
)
COLUMN_NAMES = [name for name, column in COLUMNS.items() if column.entries is not TEXT_OFFSETS and name != "line"]


def unpacked(packed, n, offset=0):
    out = np.zeros(n, np.uint32)
    return unpack(packed, offset, out), out


@given(WORDS)
def test_words_come_back(words):
    column = np.array(words, np.uint32)
    for packed in (pack(column), pack(column, True)):
        end, out = unpacked(packed, len(words))
        assert end == len(packed) and (out == column).all()
        assert len(packed) <= 8 + 4 * len(words) or len(packed) <= 32


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**32 - 1), max_size=60), st.integers(64, 300), st.randoms())
def test_the_commonest_word_takes_a_bit(common, others, n, random):
    words = [common] * n + others
    random.shuffle(words)
    plain, marked = pack(np.array(words, np.uint32)), pack(np.array(words, np.uint32), True)
    end, out = unpacked(b"....." + marked, len(words), 5)
    assert end == 5 + len(marked) and out.tolist() == words
    assert len(marked) <= len(plain) + 12  # a head of 8 bytes, and bits in whole words


def test_words_made_to_collide_are_not_numbered():
    inverse = pow(2654435769, -1, 2**32)
    column = np.array([number * inverse % 2**32 for number in range(60_000)], np.uint32)
    packed = pack(column)
    assert len(packed) == 8 + 4 * len(column)  # the words themselves: they are not looked up beyond a bound
    assert (unpacked(packed, len(column))[1] == column).all()


@pytest.mark.parametrize("distinct", [1, 2, 3, 255, 256, 257, 65535, 65536, 65537])
def test_as_many_bits_as_it_takes(distinct):
    words = (np.arange(300_000, dtype=np.uint32) * np.uint32(2654435761)) % np.uint32(distinct) * np.uint32(7919)
    words[-distinct:] = np.arange(distinct, dtype=np.uint32) * np.uint32(7919)
    packed = pack(words)
    assert (unpacked(packed, len(words))[1] == words).all()
    bits = max(int(distinct - 1).bit_length(), 1)
    expected = 8 + 4 * distinct + 8 * (-(-len(words) * bits // 64) + 1) if distinct <= 65536 else 8 + 4 * len(words)
    assert len(packed) == expected


@pytest.mark.parametrize(("distinct", "short", "width"), [(4096, 0, 12), (4097, 0, 32), (4097, 1, 13)])
def test_words_of_which_many_differ_early_stand_for_themselves_where_there_is_room(distinct, short, width):
    words = np.arange(50_000, dtype=np.uint32) % np.uint32(distinct)
    packed = pack(words, False, 200_008 - short)
    assert np.frombuffer(packed, np.uint32, 1).tolist() == [width]
    assert (unpacked(packed, len(words))[1] == words).all()


@given(st.lists(st.integers(0, 255), max_size=100), st.lists(st.integers(0, 1000), max_size=100))
def test_bytes_and_lengths_come_back_one_after_the_other(small, lengths):
    data = pack_bytes(np.array(small, np.uint8)) + pack_offsets(np.cumsum([0, *lengths], dtype=np.uint32))
    assert data == pack(np.array(small, np.uint32)) + pack(np.array(lengths, np.uint32))
    out, offsets = np.zeros(len(small), np.uint8), np.zeros(len(lengths) + 1, np.uint32)
    end = unpack_bytes(data, 0, out)
    assert unpack_offsets(data, end, offsets, sum(lengths)) == len(data)
    assert out.tolist() == small
    assert offsets.tolist() == np.cumsum([0, *lengths]).tolist()
    with pytest.raises(ValueError, match="lengths"):
        unpack_offsets(data, end, offsets, sum(lengths) + 1)


PIECES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=20)


@given(st.binary(min_size=30, max_size=30), PIECES)
def test_pieces_are_joined(text, pieces):
    start, end = np.array(pieces, np.uint32).reshape(-1, 2).T.copy()
    offsets = np.zeros(len(pieces) + 1, np.uint32)
    expected = [text[a:b] for a, b in pieces]
    assert join_pieces(text, start, end, offsets) == b"".join(expected)
    assert offsets.tolist() == list(accumulate(map(len, expected), initial=0))


@pytest.mark.parametrize(("start", "end", "room"), [([1], [31], 2), ([1, 2], [3], 3), ([1], [3], 1), ([1], [3], 3)])
def test_pieces_must_be_there(start, end, room):
    with pytest.raises(IndexError):
        join_pieces(bytes(30), np.uint32(start), np.uint32(end), np.zeros(room, np.uint32))


@given(WORDS, st.data())
def test_damaged_columns_are_refused_or_give_some_words(words, data):
    packed = bytearray(pack(np.array(words, np.uint32), data.draw(st.booleans())))
    changes = st.lists(st.tuples(st.integers(0, len(packed) - 1), st.integers(0, 255)), max_size=4)
    for place, value in data.draw(changes):
        packed[place] = value
    cut = bytes(packed[: data.draw(st.integers(0, len(packed)))])
    for column, n in ((bytes(packed), len(words)), (cut, len(words)), (cut, 8 * len(words) + 1)):
        for read, room_ in ((unpack, np.zeros(n, np.uint32)), (unpack_bytes, np.zeros(n, np.uint8))):
            with suppress(ValueError):
                assert read(column, 0, room_) <= len(column)


@settings(max_examples=25)
@given(st.lists(lines, max_size=20), st.booleans())
def test_batches_come_back(texts, skip_malformed):
    batch = parse_text(b"\n".join(texts) + b"\n", TextFormat(skip_malformed=skip_malformed))
    packed = pack_batch(batch)
    again = unpack_batch(packed.data, packed.counts, np.empty(unpacked_size(packed.counts), np.uint8))
    for name in COLUMN_NAMES:
        assert getattr(again, name).tobytes() == getattr(batch, name)[: len(getattr(again, name))].tobytes(), name
    assert [again.tag(row) for row in range(len(again))] == [batch.tag(row) for row in range(len(batch))]


def rows_of(hashes):
    """One segment of one feature a row, its namespace's hash given."""
    batch = parse_text(b"1 |w a\n" * len(hashes), TextFormat())
    batch.namespace_hash = np.array(hashes, np.uint32)
    return batch


def test_rows_made_to_collide_come_back():
    """Shapes are looked for up to a bound; beyond it a row counts as another shape."""
    hashes = np.random.default_rng(1).integers(0, 2**32, 1 << 18, np.uint64)
    mixed = (hashes ^ np.uint64(1 << 32) ^ np.uint64(ord("w") << 56)) * np.uint64(0x9E3779B97F4A7C15)
    place = (mixed ^ mixed >> np.uint64(32)) & np.uint64(511)
    chosen = hashes[place == 5][:100].tolist() * 2  # 200 rows, 512 places
    packed = pack_batch(rows_of(chosen))
    assert packed.counts["shapes"] == 64 + 36 * 2
    again = unpack_batch(packed.data, packed.counts, np.empty(unpacked_size(packed.counts), np.uint8))
    assert again.namespace_hash.tolist() == chosen


@pytest.mark.parametrize(
    ("shape", "start", "features"),
    [([0, 2], [0, 1, 3], 3), ([0, 1], [0, 1, 2], 3), ([0, 0], [0, 1, 3], 3), ([0, 1], [0, 1, 3], 4), ([0, 1], [], 3)],
)
def test_rows_that_do_not_fit_their_shapes_are_refused(shape, start, features):
    def spread(shape, start, features):
        words = [np.array(column, np.uint32) for column in (start, [7, 8, 9], [1, 1, 1])]
        made = [np.zeros(3, np.uint32), np.zeros(3, np.uint32), np.zeros(4, np.uint32), np.zeros(3, np.uint8)]
        expand_shapes([*words, np.array([1, 2, 3], np.uint8)], np.array(shape, np.uint32), made, features)
        return [column.tolist() for column in made]

    assert spread([0, 1], [0, 1, 3], 3) == [[0, 1, 3], [7, 8, 9], [0, 1, 2, 3], [1, 2, 3]]
    with pytest.raises(ValueError, match="shapes"):
        spread(shape, start, features)


def batch_of(number):
    text = "".join(f"{n % 2} {n} t{n}|w a{n % 7}:{number} |x b\n" for n in range(50 * number))
    return parse_text(text.encode(), TextFormat())


@pytest.fixture
def path(tmp_path):
    writer = CacheWriter(str(tmp_path / "cache"), {"source": [None]})
    for number in range(4):
        writer.add(pack_batch(batch_of(number)))
    writer.close()
    return str(tmp_path / "cache")


def test_batches_in_order_whole_or_one_by_one(path, monkeypatch):
    monkeypatch.setattr(cache_module, "MAX_MEMORY_BYTES", 100)  # the buffer is a mapped file
    expected = [batch_of(number).value.tobytes() for number in range(4)]
    with closing(Cache(path)) as cache:
        for threads in (1, 2, 3):
            actual = []
            for batch in cache.read(threads):
                actual.append(batch.value.tobytes())
                batch.release()
            assert actual == expected
        assert [batch.value.tobytes() for batch in cache.whole()] == expected
        assert [batch.first_line for batch in cache.whole()] == [0, 1, 51, 151]
        assert cache.whole()[3].tag(5) == b"t5"


def test_only_another_thread_asks_for_slots(path):
    for threads in (1, 2, 3):
        asked: list[int] = []
        with closing(Cache(path)) as cache:
            batches = cache.read(threads, lambda hashes, asked=asked: asked.append(len(hashes)))
            sizes = [len(batch.feature_hash) for batch in batches]
        assert sorted(asked) == ([] if threads == 1 else sorted(sizes)) and len(sizes) == 4


def test_a_byte_changed_is_noticed(path):
    good = Path(path).read_bytes()
    for place in range(len(MAGIC), len(good), 7):
        bad = bytearray(good)
        bad[place] ^= 16
        Path(path).write_bytes(bad)
        with pytest.raises(ModelError, match="cannot be used"), closing(Cache(path)) as cache:
            cache.whole()


def test_a_cache_cut_short_while_it_is_read(path):
    with closing(Cache(path)) as cache:
        os.truncate(path, 200)
        with pytest.raises(ModelError, match="cut short"):
            cache.whole()


def rewritten(path, change):
    """The list of batches, changed, with a true checksum."""
    data = Path(path).read_bytes()
    offset, length, _, _ = TAIL.unpack(data[-TAIL.size :])
    footer = json.loads(data[offset : offset + length])
    change(footer)
    text = json.dumps(footer).encode()
    Path(path).write_bytes(data[:offset] + text + TAIL.pack(offset, len(text), zlib.crc32(text), END))


@pytest.mark.parametrize("name", ENTRY)
@pytest.mark.parametrize("value", [-1, 2**31, 2**62, 10**30, True, "x"])
def test_numbers_that_are_not_the_files_are_refused(path, name, value):
    def change(footer):
        footer["batches"][2][ENTRY.index(name)] = value

    rewritten(path, change)
    with pytest.raises(ModelError, match="cannot be used"), closing(Cache(path)) as cache:
        cache.whole()


def test_room_that_nobody_has_is_known_at_once(monkeypatch):
    with pytest.raises(OutputError, match="no room for"):
        cache_module.allocate_spillable(1 << 60)


@pytest.mark.parametrize(
    ("tag", "name", "value"),
    [
        *(("", name, value) for name in (3, 4, 6) for value in ("", ":{:.2f}", ":{:.7g}")),
        ("t" * 70 + "|a ", 2, ""), ("t" * 200 + "|a ", 2, ""), ("t" * 70 + "|a ", 3, ""),
    ],
)  # fmt: skip
def test_a_batch_takes_less_room_than_its_text(tag, name, value):
    random = Random(name)
    features = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=name)) for _ in range(80_000)]
    features = [feature + value.format(random.random()) for feature in features]
    rows = (" ".join(features[at : at + 40]) for at in range(0, len(features), 40))
    text = "".join(f"1 {tag or '| '}{row}\n" for row in rows).encode()
    assert len(pack_batch(parse_text(text, TextFormat())).data) < len(text)


def test_packed_knows_its_sum():
    packed = pack_batch(batch_of(2))
    assert packed == Packed(packed.counts, packed.data, zlib.crc32(packed.data))
    assert packed.counts == {"rows": 100, "segments": 200, "features": 200, "text": 290, "shapes": 1, "parts": 2}


def test_a_large_cache_goes_to_the_disk_while_it_is_written(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr("vwlite.storage.atomic_file.FLUSH_BYTES", 100)
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(os.fstat(file).st_size))
    writer = CacheWriter(str(tmp_path / "cache"), {"source": [None]})
    for number in range(4):
        writer.add(pack_batch(batch_of(number)))
        writer.flusher.finish()
    assert len(flushed) >= 2 and flushed == sorted(flushed)
    writer.close()
    with closing(Cache(str(tmp_path / "cache"))) as cache:
        assert len(cache.batches) == 4


@pytest.mark.parametrize("late", [False, True])
def test_a_disk_that_fills_up_while_flushing_is_told(tmp_path, monkeypatch, late):
    def full(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("vwlite.storage.atomic_file.FLUSH_BYTES", 100)
    writer = CacheWriter(str(tmp_path / "cache"), {"source": [None]})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"cannot write the cache .*: No space left") as caught:
        for number in range(4):
            writer.add(pack_batch(batch_of(number)))
            if writer.flusher.thread and not late:
                writer.flusher.thread.join()
        writer.close()
    writer.abort(caught.value)
    assert os.listdir(tmp_path) == []


def test_a_cache_that_cannot_be_ended_leaves_nothing(tmp_path, monkeypatch):
    def close(self, contents):
        raise OutputError("the disk is full")

    (tmp_path / "data").write_text("1 |w a\n")
    monkeypatch.setattr(CacheWriter, "close", close)
    inputs = Inputs(InputConfig((str(tmp_path / "data"),), cache=str(tmp_path / "cache")), TextFormat())
    with pytest.raises(OutputError) as held:  # which keeps the frames, and so what is open there
        list(inputs.texts())
    assert held.value and os.listdir(tmp_path) == ["data"]
