"""Models come back as they were saved, and the same content gives the same bytes."""

import mmap
import os
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vwlite.errors import ModelError, OutputError
from vwlite.storage import archive_reader, archive_writer, model_file
from vwlite.storage.archive_writer import DTYPES, Spec
from vwlite.storage.weight_table import Table

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = st.sampled_from(sorted(DTYPES)).flatmap(lambda dtype: hnp.arrays(dtype, SHAPES))
BITS = st.sampled_from([0, 0, 0, 0, 0x80000000, 0x3F800000, 0x7FC00001, 0x7F800000, 1])


@st.composite
def tables(draw) -> Table:
    stride = draw(st.sampled_from([1, 2, 4]))
    rows = draw(st.lists(st.tuples(*[BITS] * stride), min_size=1, max_size=40))
    names = draw(st.sampled_from([("w",), ("w", "adaptive"), ("w", "adaptive", "normalized")]))
    return Table(np.array(rows, np.uint32).view(np.float32), names[:stride])


def bits(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values).tobytes()


def stored(table: Table) -> np.ndarray:
    return table.values[:, : len(table.names)]


@given(header=st.dictionaries(st.text(), JSON, max_size=4), data=st.data())
def test_a_saved_model_is_loaded_as_it_was(tmp_path_factory, header, data):
    arrays = data.draw(st.dictionaries(st.sampled_from("abcd"), ARRAYS | tables(), max_size=3))
    path = tmp_path_factory.getbasetemp() / "round.model"
    model_file.save(path, header, arrays)
    model = model_file.load(path)
    assert model.header == header == model_file.read_header(path)
    assert model.arrays.keys() == arrays.keys()
    for name, saved in arrays.items():
        again = model.arrays[name]
        if isinstance(saved, Table):
            assert (again.names, again.values.shape) == (saved.names, saved.values.shape)
            assert bits(stored(again)) == bits(stored(saved))
            assert not again.values[:, len(saved.names) :].any()
            assert again.values.flags.writeable and again.values.flags.c_contiguous
        else:
            assert (again.dtype, again.shape) == (saved.dtype, saved.shape)
            assert bits(again) == bits(saved)


@given(table=tables())
def test_single_columns_of_a_table_are_read(tmp_path_factory, table):
    path = tmp_path_factory.getbasetemp() / "column.model"
    model_file.save(path, {}, {"t": table, "other": np.arange(3)})
    for index, name in enumerate(table.names):
        arrays = model_file.load(path, want={f"t.{name}"}).arrays
        assert list(arrays) == [f"t.{name}"]
        column = arrays[f"t.{name}"]
        assert column.shape == (len(table.values),) and column.flags.aligned
        assert bits(column) == bits(table.values[:, index])


@given(table=tables(), array=ARRAYS)
def test_the_sizes_of_chunks_and_threads_leave_no_trace(tmp_path_factory, table, array):
    base = tmp_path_factory.getbasetemp()
    model_file.save(base / "whole", {"n": 1}, {"t": table, "a": array})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive_writer, "THREADED_WRITE_BYTES", 0)
        patch.setattr(model_file, "CHUNK", 3)
        patch.setattr(model_file, "ITEMS", 5)
        patch.setattr(archive_reader, "PIECE", 16)
        model_file.save(base / "chunks", {"n": 1}, {"t": table, "a": array})
        assert (base / "whole").read_bytes() == (base / "chunks").read_bytes()
        actual = model_file.load(base / "chunks").arrays
    assert bits(stored(actual["t"])) == bits(stored(table)) and bits(actual["a"]) == bits(array)


def test_slots_under_way_are_not_filled_again(tmp_path, monkeypatch):
    """A slow disk: the thread that finds the slots is far ahead of the one that writes them."""
    values = np.zeros((4000, 4), np.float32)
    values[np.random.default_rng(1).permutation(4000)[:1500], 0] = 1
    table, put = Table(values, ("w", "adaptive", "normalized")), os.pwrite
    model_file.save(tmp_path / "whole", {}, {"t": table})
    monkeypatch.setattr(model_file, "CHUNK", 32)
    monkeypatch.setattr(archive_writer, "THREADED_WRITE_BYTES", 0)
    monkeypatch.setattr(os, "pwrite", lambda *given: time.sleep(0.001) or put(*given))
    model_file.save(tmp_path / "pieces", {}, {"t": table})
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "pieces").read_bytes()
    assert bits(model_file.load(tmp_path / "pieces").arrays["t"].values) == bits(values)


@pytest.mark.parametrize("filled", [5, 4000])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_table_that_is_to_be_finite_is(tmp_path, monkeypatch, filled, wrong):
    """Sparse and dense; what stood under the name stays."""
    monkeypatch.setattr(model_file, "CHUNK", 256)
    values = np.zeros((4000, 4), np.float32)
    values[:filled, 0], values[4, 3] = 1, wrong  # the last column is scratch
    table = Table(values, ("w", "adaptive", "normalized"))
    model_file.save(tmp_path / "m", {}, {"t": table}, check_finite=True)
    before = (tmp_path / "m").read_bytes()
    values[filled - 1, 1] = wrong
    with pytest.raises(model_file.NotFinite):
        model_file.save(tmp_path / "m", {}, {"t": table}, check_finite=True)
    assert (tmp_path / "m").read_bytes() == before and os.listdir(tmp_path) == ["m"]
    model_file.save(tmp_path / "m", {}, {"t": table})
    assert bits(stored(model_file.load(tmp_path / "m").arrays["t"])) == bits(stored(table))


def test_bytes_depend_on_content_only(tmp_path):
    values = np.eye(8, 4, dtype=np.float32)
    table = Table(values, ("w", "adaptive"))
    model_file.save(tmp_path / "one", {"b": 1, "a": [2.5]}, {"y": np.arange(3), "t": table})
    os.utime(tmp_path / "one", (1, 1))
    swapped = np.arange(3).astype(">i8")
    values[:, 3] = 7  # a scratch column
    model_file.save(str(tmp_path / "two"), {"a": [2.5], "b": 1}, {"t": table, "y": swapped})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(("set_slots", "sparse"), [(0, 1), (74, 1), (75, 0), (100, 0)])
def test_tables_are_sparse_where_that_is_smaller(tmp_path, set_slots, sparse):
    values = np.zeros((100, 4), np.float32)
    values[:set_slots, 1] = -0.0
    model_file.save(tmp_path / "m", {}, {"t": Table(values, ("w", "adaptive", "normalized"))})
    with zipfile.ZipFile(tmp_path / "m") as file:
        sizes = {info.filename: info.file_size for info in file.infolist()}
    assert ("t.slots.npy" in sizes) == sparse
    assert sizes["t.w.npy"] == 128 + 4 * (set_slots if sparse else 100)
    assert bits(model_file.load(tmp_path / "m").arrays["t"].values) == bits(values)


def test_dense_columns_are_views_of_the_file(tmp_path):
    values = np.ones((1 << 12, 1), np.float32)
    model_file.save(tmp_path / "m", {}, {"t": Table(values, ("w",))})
    column = model_file.load(tmp_path / "m", want=["t.w"]).arrays["t.w"]
    assert isinstance(column.base, mmap.mmap) and not column.flags.writeable
    (tmp_path / "m").unlink()
    assert column.sum() == 1 << 12


def test_numpy_and_zipfile_can_read_a_model(tmp_path):
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    model_file.save(tmp_path / "m", {"label": "ü"}, {"a": array, "scalar": np.float64(0.5)})
    with np.load(tmp_path / "m", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["a"], array)
        assert file["scalar"] == 0.5
    with zipfile.ZipFile(tmp_path / "m") as file:
        assert file.testzip() is None
        assert [info.filename for info in file.infolist()] == ["header.json", "a.npy", "scalar.npy"]
        assert {info.date_time for info in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.compress_type for info in file.infolist()} == {zipfile.ZIP_STORED}


@pytest.mark.parametrize("dtype", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (1,) * 8])
def test_npy_headers_are_numpys(tmp_path, dtype, shape):
    (tmp_path / "a.npy").write_bytes(Spec("a", dtype, shape).preamble + bytes(8 * 7))
    arrays = np.load(tmp_path / "a.npy", allow_pickle=False)
    assert (arrays.dtype.str, arrays.shape) == (dtype, shape)
    assert len(Spec("a", dtype, shape).preamble) % 64 == 0


def test_wanted_arrays_must_be_there(tmp_path):
    model_file.save(tmp_path / "m", {}, {"a": np.arange(2)})
    assert model_file.load(tmp_path / "m", want=()).arrays == {}
    with pytest.raises(ModelError, match=r"holds no 't\.w'"):
        model_file.load(tmp_path / "m", want={"t.w"})


@pytest.mark.parametrize(
    "arrays",
    [
        {"a.b": np.arange(2)},
        {"../a": np.arange(2)},
        {"": np.arange(2)},
        {"a": np.array([object()])},
        {"a": np.array(["text"])},
        {"a": np.array([1j])},
        {"t": Table(np.zeros((4, 2), np.float64), ("w",))},
        {"t": Table(np.zeros((2, 4), np.float32).T, ("w",))},
        {"t": Table(np.zeros((0, 2), np.float32), ("w",))},
        {"t": Table(np.zeros((4, 2), np.float32), ("a", "b", "c"))},
        {"t": Table(np.zeros((4, 2), np.float32), ("w", "w"))},
        {"t": Table(np.zeros((4, 2), np.float32), ("slots",))},
        {"t": Table(np.zeros((4, 2), np.float32), ())},
    ],
)
def test_arrays_that_a_model_cannot_hold_are_refused(tmp_path, arrays):
    with pytest.raises(ValueError):
        model_file.save(tmp_path / "m", {}, arrays)
    assert os.listdir(tmp_path) == []


def test_headers_that_could_not_be_read_are_not_written(tmp_path, monkeypatch):
    with pytest.raises(ValueError):
        model_file.save(tmp_path / "m", {"loss": float("nan")}, {})
    monkeypatch.setattr(archive_writer, "HEADER_LIMIT", 1000)
    with pytest.raises(OutputError, match="at most 1000"):
        model_file.save(tmp_path / "m", {"text": "x" * 1000}, {})
    assert os.listdir(tmp_path) == []
