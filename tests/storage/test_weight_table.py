"""The weight table: lazily allocated, and scanned for the rows that are set."""

import os
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vwlite._native.weight_table import (
    changed_rows,
    fill_column,
    mark_rows,
    marked_rows,
    prefetch_slots,
    take_column,
    touch_pages,
)

from vwlite.data.config import InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.storage import model_file, weight_table
from vwlite.storage.model_file import ascend_below
from vwlite.storage.weight_table import Table, written_chunks, zeros
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.train import train


@pytest.mark.parametrize("huge", [True, False])
@pytest.mark.parametrize(("slots", "stride"), [(1, 1), (1 << 10, 4), (1 << 20, 4), (1 << 19, 1)])
def test_zeros_are_an_ordinary_array(slots, stride, huge):
    values = zeros(slots, stride, huge=huge)
    assert (values.shape, values.dtype) == ((slots, stride), np.float32)
    assert values.flags.c_contiguous and values.flags.writeable and values.flags.aligned
    assert not values.any()
    values[-1, -1] = 1
    assert values.sum() == 1


def test_a_table_may_be_larger_than_memory():
    values = zeros(1 << 32, 4)
    assert values.nbytes == 64 << 30
    values[-1] = values[0] = 1
    assert values[[0, 1 << 31, -1], 0].tolist() == [1, 0, 1]


def test_tables_that_the_system_refuses_are_an_error(monkeypatch):
    with pytest.raises(UsageError, match=r"refuses .* TiB of address space .* smaller -b"):
        zeros(1 << 60, 4)
    monkeypatch.setattr(weight_table, "MIN_MAPPED_BYTES", 1 << 70)
    with pytest.raises(UsageError, match="smaller -b"):
        zeros(1 << 60, 4)


WORDS = [0, 0, 0, 1, 0x80000000, 0x7F7FFFFF, 0x7F800000, 0xFFC00000]  # the last two are not finite


def rows_of(marks, first=0):
    out = np.empty(32 * len(marks), np.uint32)
    return out[: marked_rows(marks, first, out)].tolist()


@given(
    rows=st.lists(st.tuples(*[st.sampled_from(WORDS)] * 5), max_size=100),
    stride=st.integers(2, 5),
    data=st.data(),
)
def test_rows_are_scanned(rows, stride, data):
    columns = data.draw(st.integers(1, stride))
    bits = np.ascontiguousarray(np.array(rows, np.uint32).reshape(-1, 5)[:, :stride])
    first = data.draw(st.integers(0, 2**32 - 200))
    marks = np.zeros(len(rows) // 32 + 1, np.uint32)
    actual = mark_rows(bits, columns, marks)
    expected = first + np.flatnonzero(bits[:, :columns].any(axis=1))
    assert rows_of(marks, first) == expected.tolist() and actual == len(expected)


@pytest.mark.parametrize(("columns", "words"), [(1, 1), (0, 2), (3, 2), (-1, 2), (1, 0)])
def test_marking_stays_inside(columns, words):
    with pytest.raises(IndexError):
        mark_rows(np.zeros((40, 2), np.uint32), columns, np.zeros(words, np.uint32))


@pytest.mark.parametrize("room", [0, 63])
def test_marked_rows_stay_inside(room):
    with pytest.raises(IndexError):
        marked_rows(np.full(2, 0xFFFFFFFF, np.uint32), 0, np.empty(room, np.uint32))


@given(pages=st.lists(st.booleans(), min_size=1, max_size=6), size=st.integers(1, 5), data=st.data())
def test_pages_never_written_are_passed_over(pages, size, data):
    rows = len(pages) * size
    kinds = st.sampled_from([0, 1, 0x7F7FFFFF, 0x7F800000, 0xFFC00000])
    bits = np.array(data.draw(st.lists(kinds, min_size=2 * rows, max_size=2 * rows)), np.uint32).reshape(-1, 2)
    mask, marks = np.array(pages, np.uint8), np.zeros(1, np.uint32)
    seen = np.repeat(mask, size).astype(bool)
    mark_rows(bits, 1, marks, mask)
    assert rows_of(marks) == np.flatnonzero(bits[:, 0] * seen).tolist()
    for count in (0, rows + 1):
        with pytest.raises(IndexError):
            mark_rows(bits, 1, marks, np.ones(count, np.uint8))


@given(
    rows=st.lists(st.tuples(*[st.sampled_from(WORDS)] * 4), min_size=5, max_size=60),
    columns=st.integers(1, 4),
    size=st.integers(1, 5),
    data=st.data(),
)
def test_changed_rows_are_those_with_other_bits_than_before(rows, columns, size, data):
    rows = rows[: len(rows) // size * size]
    bits = np.array(rows, np.uint32).reshape(-1, 4)
    written = data.draw(st.lists(st.booleans(), min_size=len(rows) // size, max_size=len(rows) // size))
    first = data.draw(st.sampled_from([0, 7, 2**32 - 100]))
    numbers = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=len(rows))))
    before = np.array(data.draw(st.lists(st.sampled_from(WORDS), min_size=4 * len(numbers), max_size=4 * len(numbers))))
    before = before.reshape(-1, 4)[:, :columns].astype(np.uint32)
    for row in data.draw(st.sets(st.sampled_from(numbers))) if numbers else ():  # these have not changed
        before[numbers.index(row)] = bits[row, :columns]
    known, expected = dict(zip(numbers, before.tolist(), strict=True)), []
    for row, now in enumerate(bits[:, :columns].tolist()):
        if written[row // size] and now != known.get(row, [0] * columns):
            expected.append(first + row)
    out = np.zeros(len(rows), np.uint32)
    slots = np.array([first + row for row in numbers], np.uint32)
    actual = changed_rows(bits, slots, before.T.copy(), first, out, np.array(written, np.uint8))
    assert out[:actual].tolist() == expected


@pytest.mark.parametrize(
    ("known", "before", "room", "pages"),
    [
        (2, (1, 1), 8, 1),  # not a column of each row known
        (1, (0, 1), 8, 1),
        (1, (3, 1), 8, 1),  # more columns than the table
        (1, (1, 1), 7, 1),
        (1, (1, 1), 8, 3),
        (1, (1, 1), 8, 0),
    ],
)
def test_changed_rows_stay_inside(known, before, room, pages):
    arrays = np.zeros(known, np.uint32), np.zeros(before, np.uint32)
    with pytest.raises(IndexError):
        changed_rows(np.zeros((8, 2), np.uint32), *arrays, 0, np.zeros(room, np.uint32), np.ones(pages, np.uint8))


@given(st.lists(st.sampled_from([0, 1, 7, 8, 63, 64, 200, 256]), min_size=1, max_size=40), st.integers(0, 9))
def test_slots_are_stored_whether_few_or_many_are_set(chunks, seed):
    """Chunks have 256 slots: 32 bytes of bits, as much as the numbers of eight."""
    draw, values = np.random.default_rng(seed), np.zeros((256 * len(chunks), 4), np.float32)
    for number, count in enumerate(chunks):
        values[256 * number + draw.permutation(256)[:count], draw.integers(0, 2)] = 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_file, "CHUNK", 256)
        _, sources = model_file.pack("weights", Table(values, ("w", "adaptive")))
        actual = {spec.name: np.concatenate([*pieces, np.empty(0, spec.dtype)]) for spec, pieces in sources}
    expected = np.flatnonzero(values.any(axis=1))
    assert len(sources) == 2 or (actual["weights.slots"] == expected).all()
    assert (len(sources) == 2) == (3 * len(expected) >= 2 * len(values))
    rows = expected if len(sources) == 3 else slice(None)
    assert (actual["weights.w"] == values[rows, 0]).all() and (actual["weights.adaptive"] == values[rows, 1]).all()


def test_stretches_hold_whatever_was_written():
    values = zeros(1 << 20, 4, huge=False)
    written = np.array([0, 70_000, 70_255, 999_999])
    values[written, 1] = -0.0
    rows = np.zeros(len(values), bool)
    for begin, end, pages in written_chunks(values):
        rows[begin:end] = True if pages is None else np.repeat(pages, (end - begin) // len(pages)).astype(bool)
    assert rows[written].all()
    if sys.platform == "linux":
        assert rows.sum() <= 4 * os.sysconf("SC_PAGE_SIZE") // 16


@pytest.mark.parametrize("filled", [0.01, 0.9])
def test_two_threads_find_what_one_finds(monkeypatch, filled):
    """Sparse and dense: then looking ends early."""
    draw = np.random.default_rng(5)
    values = zeros(1 << 19, 4)
    values[draw.random(len(values)) < filled, 0] = 1
    actual = []
    for shared in (0, 1 << 40):
        monkeypatch.setattr(model_file, "THREADED_SCAN_BYTES", shared)
        entry, sources = model_file.pack("weights", Table(values, ("w", "adaptive")))
        actual.append((entry, [(spec, b"".join(piece.tobytes() for piece in pieces)) for spec, pieces in sources]))
    assert actual[0] == actual[1]


def test_stretches_of_small_or_odd_arrays_are_whole():
    for shape in ((5, 4), (1 << 19, 3)):
        assert sum(end - begin for begin, end, pages in written_chunks(zeros(*shape)) if pages is None) == shape[0]


def test_pages_get_memory_and_nothing_else(monkeypatch):
    monkeypatch.setattr(weight_table, "MAX_HUGE_BYTES", 0)
    values = weight_table.zeros(1 << 18, 4)
    values[5] = 1, 2, 3, 4
    pages = weight_table.page_toucher(values)
    rows = len(values) // len(pages.touched)
    slots = np.array([5, 6, rows, (1 << 18) + 3 * rows + 1, 2**32 - 1], np.uint32)
    pages(slots)
    assert np.flatnonzero(pages.touched).tolist() == [0, 1, 3, len(pages.touched) - 1]
    if sys.platform == "linux":  # before anybody reads
        stretched = weight_table.written_chunks(values, 1 << 18)
        written = [number for _, _, part in stretched for number in np.flatnonzero(part).tolist()]
        assert written == [0, 1, 3, len(pages.touched) - 1]
    assert values[5].tolist() == [1, 2, 3, 4] and np.count_nonzero(values) == 4


def test_small_tables_need_no_touch():
    assert weight_table.page_toucher(weight_table.zeros(1 << 10, 4)) is None
    assert weight_table.page_toucher(weight_table.zeros(1 << 16, 4)) is None


def test_huge_pages_are_touched_as_long_as_there_are_new_ones():
    pages = weight_table.page_toucher(weight_table.zeros(1 << 20, 4))
    assert len(pages.touched) == 8
    seen = []
    for slot in (1 << 17, 0, 1 << 19, 5, 1 << 18):  # the first batch is the learner's
        pages(np.array([slot], np.uint32))
        seen.append(np.flatnonzero(pages.touched).tolist())
    assert seen == [[], [0], [0, 4], [0, 4], [0, 4]]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which pages were written")
def test_a_short_text_gets_small_pages():
    values = weight_table.zeros(1 << 20, 4)
    pages = weight_table.page_toucher(values)
    pages.expect(None)
    pages.expect(values.nbytes)
    assert pages.growing
    pages.expect(1000)
    for _ in range(3):
        pages(np.array([5], np.uint32))
    values[5, 0] = 1
    assert sum(int(part.sum()) for _, _, part in weight_table.written_chunks(values)) == 1
    assert not pages.touched.any()


@pytest.mark.parametrize(("slots", "pages"), [(8, 0), (8, 3), (12, 4)])
def test_pages_must_fit(slots, pages):
    with pytest.raises(IndexError):
        touch_pages(np.zeros((slots, 4), np.uint32), np.zeros(pages, np.uint8), np.zeros(1, np.uint32))


def test_a_large_table_learns_the_same(monkeypatch, tmp_path):
    """It does so with and without pages touched ahead, by any number of threads."""
    text = "".join(f"{n % 2} |w a{n * 7919 % 5000} b{n % 77}:0.5\n" for n in range(4000))
    (tmp_path / "data").write_text(text)
    models = []
    for most, threads in ((0, 3), (0, 1), (1 << 30, 1)):
        monkeypatch.setattr(weight_table, "MAX_HUGE_BYTES", most)
        monkeypatch.setattr(weight_table, "MIN_MAPPED_BYTES", 1 << 16)
        input = InputConfig((str(tmp_path / "data"),), threads=threads, block_size=1 << 12)
        output = OutputConfig(model=str(tmp_path / "model"), quiet=True)
        train(RunConfig(input=input, features=FeatureConfig(bits=16), learner=GdConfig(), output=output))
        models.append((tmp_path / "model").read_bytes())
    assert models[0] == models[1] == models[2]


def test_slots_asked_for_must_fit():
    with pytest.raises(IndexError):
        prefetch_slots(np.zeros((12, 4), np.float32), np.zeros(1, np.uint32))
    with pytest.raises(IndexError):
        prefetch_slots(np.zeros((0, 4), np.float32), np.zeros(1, np.uint32))


def test_only_slots_of_large_tables_are_asked_for(monkeypatch):
    values, asked = weight_table.zeros(1 << 18, 4), []
    pages, slots = weight_table.page_toucher(values), np.array([5, 2**32 - 1], np.uint32)
    monkeypatch.setattr(weight_table, "prefetch_slots", lambda *arguments: asked.append(arguments))
    pages.prefetch(slots)
    assert not asked
    monkeypatch.setattr(weight_table, "MIN_PREFETCH_BYTES", values.nbytes)
    pages.prefetch(slots)
    assert len(asked) == 1 and asked[0][0] is values
    assert np.flatnonzero(pages.touched).tolist() == [0, 1]  # as with text, by the thread that reads the cache
    monkeypatch.undo()
    monkeypatch.setattr(weight_table, "MIN_PREFETCH_BYTES", values.nbytes)
    pages.prefetch(slots)
    assert not values.any()


@pytest.mark.parametrize("slots", [None, np.array([0, 2, 5], np.uint32)])
def test_columns_are_taken_and_filled(slots):
    values = np.arange(24, dtype=np.float32).reshape(6, 4)
    rows = np.arange(3) if slots is None else slots
    out = np.zeros(3, np.float32)
    assert take_column(values, 2, slots, out) and (out == values[rows, 2]).all()
    target = np.zeros_like(values)
    assert fill_column(target, 1, 1, slots, out[1:].tobytes()) == 3
    assert target[rows[1:], 1].tolist() == out[1:].tolist() and np.count_nonzero(target) == 2
    values[rows[1], 2] = np.inf
    assert not take_column(values, 2, slots, out)


OUTSIDE = [(4, None, 1), (-1, None, 1), (0, None, 7), (0, [1], 2), (0, [6], 1)]


@pytest.mark.parametrize(("column", "slots", "n"), OUTSIDE)
def test_columns_and_rows_must_be_there(column, slots, n):
    values, slots = np.zeros((6, 4), np.float32), None if slots is None else np.uint32(slots)
    with pytest.raises(IndexError):
        take_column(values, column, slots, np.zeros(n, np.float32))
    with pytest.raises(IndexError):
        fill_column(values, column, 0, slots, bytes(4 * n))
    with pytest.raises(IndexError):
        fill_column(values, 0, -1, None, bytes(4))


@given(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 10))
def test_slots_ascend_below_the_number_of_slots(slots, room):
    expected = slots == sorted(set(slots)) and all(slot < room for slot in slots)
    assert ascend_below(np.array(slots, np.uint32), room) == expected
