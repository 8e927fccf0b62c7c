"""Arrays that do without NumPy give what NumPy's would."""

import gc
import io
import mmap
import operator
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from vwlite.arrays import SIZES, Array, array, to_float32, zeros

KINDS = sorted(SIZES)
ROWS = st.sampled_from(KINDS).flatmap(lambda kind: hnp.arrays(np.dtype(kind), st.integers(0, 20)))
TABLES = st.sampled_from(KINDS).flatmap(
    lambda kind: hnp.arrays(np.dtype(kind), st.tuples(st.integers(0, 6), st.integers(1, 4)))
)
PLACES = st.integers(-25, 25)
SLICES = st.slices(20)


def of(values: np.ndarray) -> Array:
    """The same numbers, in memory of their own."""
    columns = values.shape[1] if values.ndim == 2 else 0
    made = zeros(values.dtype.char.replace("l", "q").replace("L", "Q"), len(values), columns)
    made.numpy()[:] = values
    return made


def same(found: object, expected: np.ndarray) -> bool:
    found = np.asarray(found)
    return found.shape == expected.shape and found.tobytes() == expected.tobytes()


@given(ROWS | TABLES)
def test_a_buffer_is_what_a_numpy_array_of_it_would_be(values):
    made = of(values)
    assert same(made, values) and made.numpy().dtype == values.dtype
    assert (len(made), made.shape, made.nbytes) == (len(values), values.shape, values.nbytes)
    assert made.tobytes() == values.tobytes() and repr(made.tolist()) == repr(values.tolist())
    assert repr(list(made)) == repr([row.tolist() for row in values]) or values.ndim == 2
    assert made.any() == values.any()
    assert same(made.any(axis=0), values.any(axis=0))


@given(ROWS, PLACES)
def test_numbers_by_index_are_python_s(values, place):
    made = of(values)
    if not -len(values) <= place < len(values):
        with pytest.raises(IndexError):
            made[place]
        with pytest.raises(IndexError):
            made[place] = 1
        return
    assert type(made[place]) in (int, float) and repr(made[place]) == repr(values[place].item())
    made[place], values[place] = 3, 3
    assert same(made, values)


@given(ROWS | TABLES, SLICES)
def test_slices_share_the_bytes(values, part):
    made = of(values)
    piece = made[part]
    assert same(piece, values[part])
    if len(piece):
        piece[-1], values[part][-1] = 1, 1
        assert same(made, values)
    made[part], values[part] = 2, 2
    assert same(made, values)


@given(TABLES)
def test_tables_are_indexed_as_numpy_s(values):
    made = of(values)
    assert same(made[:, 0], values[:, 0]) and same(made[::-1], values[::-1])
    if len(values):
        assert same(made[0], values[0]) and made[0, 0].tobytes() == values[0, 0].tobytes()
        made[0, -1] = values[0, -1] = 1
    assert same(made, values)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift"])
def test_operators_are_numpy_s(name):
    function, values = getattr(operator, name), np.arange(1, 9, dtype=np.int32)
    made = of(values)
    for other in (3, values[::-1].copy(), of(values[::-1])):
        plain = other.numpy() if isinstance(other, Array) else other
        assert same(function(made, other), function(values, plain))
        assert same(function(other, made), function(plain, values))
    in_place = getattr(operator, f"i{name.rstrip('_')}", None)
    if name != "truediv":
        before = made
        made, values = in_place(made, 2), in_place(values, 2)
        assert made is before and same(made, values)


def test_comparisons_and_functions_are_numpy_s():
    values = np.float32([1, -2, np.nan, 0])
    made = of(values)
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        assert same(getattr(operator, name)(made, 0), getattr(operator, name)(values, 0))
    assert same(abs(made), abs(values)) and same(-made, -values) and same(~(made > 0), ~(values > 0))
    assert same(np.isnan(made), np.isnan(values)) and same(np.concatenate([made, made]), np.tile(values, 2))
    assert 1 in made and 5 not in made and made.dtype == np.float32 and same(made.astype("d"), values.astype("d"))
    assert repr(made) == repr(values)
    for call in (bool, hash, int):
        with pytest.raises((TypeError, ValueError)):
            call(made)
    with pytest.raises(AttributeError):
        made.no_such_thing  # noqa: B018


def test_other_bytes_are_read_and_written_in_place(tmp_path):
    data = bytearray(range(16))
    words = Array(data, "I", 2, 0, 4)
    assert words.tolist() == np.frombuffer(data, np.uint32)[1:3].tolist()
    words[0] = 7
    assert data[4:8] == b"\7\0\0\0" and words.owner is data
    fixed = Array(bytes(data), "I")
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = 1
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(bytes(4)).readinto(fixed)
    assert io.BytesIO(bytes(4)).readinto(words) == 4 and words.tolist()[0] == data[4] == 0
    path = tmp_path / "numbers"
    path.write_bytes(bytes(data))
    with open(path, "rb") as file:
        mapped = Array(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), "I")
    assert mapped.tobytes() == data and memoryview(mapped).readonly


@pytest.mark.parametrize("place", [(5, 0, 0), (2, 3, 0), (4, 0, 1), (1, 0, 17), (1, 0, -1), (1, -1, 0), (0, 0, 17)])
def test_what_is_not_there_is_no_array(place):
    """Rows, columns, offset."""
    with pytest.raises(ValueError):
        Array(bytes(16), "I", *place)


def test_too_much_is_refused():
    with pytest.raises(MemoryError):
        zeros("d", 1 << 59)
    with pytest.raises(ValueError):
        zeros("d", 1 << 62)
    with pytest.raises(ValueError):
        zeros("d", -1)
    with pytest.raises(KeyError):
        zeros("x", 1)


@pytest.mark.parametrize(("kind", "number"), [("B", 256), ("B", -1), ("I", 1 << 32), ("i", 1 << 31), ("Q", -1)])
def test_numbers_that_do_not_fit_are_refused(kind, number):
    with pytest.raises(OverflowError):
        array(kind, [number])


@given(st.floats())
def test_float32_is_the_nearest(value):
    with np.errstate(over="ignore"):
        expected = np.float32(value)
    assert np.float32(to_float32(value)).tobytes() == expected.tobytes() and same(array("f", [value]), expected[None])


def test_memory_lives_as_long_as_anybody_looks():
    made = zeros("I", 1 << 16)
    view, piece = made.numpy(), made[5:]
    made[9] = 3
    del made
    threads = [threading.Thread(target=zeros, args=("I", 1 << 16)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert view[9] == 3 and piece[4] == 3 and view.sum() == 3


def test_arrays_in_cycles_are_given_back():
    """Whatever the collector of cycles clears first."""
    data = bytearray(64)
    for kind in ("B", "I", "d"):
        made = Array(data, kind)
        cycle = [made, made[1:], made.numpy()]
        cycle.append(cycle)
    del made, cycle
    gc.collect()
    data.append(1)  # nobody looks at it any more


@pytest.mark.parametrize("options", ["-b 20 -f m", "-b 4 -f m", "--passes 2 -c -k", "-q ::", "--oaa 3", "--cubic abb"])
def test_a_run_does_without_numpy(tmp_path, options):
    """As does predicting with the model, be it sparse or dense."""
    (tmp_path / "lines").write_text("".join(f"{i % 3 + 1} |a x{i} y:{i}.5 |b z{i % 7}\n" for i in range(100)))
    commands = [["train", "lines", *options.split()]]
    commands += [["predict", "-i", "m", "lines", "-p", "p"]] if "-f" in options else []
    for command in commands:
        run = [sys.executable, "-X", "importtime", "-m", "vwlite", *command]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "vwlite.arrays" in done.stderr and "numpy" not in done.stderr
