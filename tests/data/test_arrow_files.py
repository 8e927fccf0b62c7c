"""Files of Arrow and Parquet: the batches of the same table as CSV, and what is refused."""

import datetime
import decimal
import struct

import numpy as np
import pytest

from vwlite.data import arrow_files
from vwlite.data.class_labels import text_of
from vwlite.data.columns import read_columns
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, ExtraMissing, UsageError

pyarrow = pytest.importorskip("pyarrow", reason="pip install 'vwlite[arrow]'")
csv = pytest.importorskip("pyarrow.csv")

TABLE = pyarrow.table(
    {
        "y": [1, -1, 1],
        "w": [1.0, 0.5, 2.0],
        "id": ["a", "b", "c"],
        "n": [1.5, None, 0.0],
        "i": [3, 4, 5],
        "t": ["x y", "z", None],
        "b": ["one two", "two", "three  four"],
        "d": [datetime.datetime(2026, 1, 2, 3), None, datetime.datetime(1999, 1, 1)],
    }
)
SPEC = "label=y weight=w tag=id user=n,i:text text=b:words =t,d"


def write(path, table, kind):
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, path, row_group_size=2)
    elif kind == "arrow":
        with pyarrow.OSFile(str(path), "wb") as out, pyarrow.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    elif kind == "stream":
        with pyarrow.OSFile(str(path), "wb") as out, pyarrow.ipc.new_stream(out, table.schema) as writer:
            writer.write_table(table)
    else:
        csv.write_csv(table, path)
    return str(path)


def batches(path, kind, columns=SPEC, format=None, **config):
    kind = "arrow" if kind == "stream" else kind
    inputs = Inputs(InputConfig((path,), kind=kind, columns=columns, **config), format or TextFormat())
    return [part.batch for part in inputs.texts()]


def whole(found, names):
    return {name: np.concatenate([np.asarray(getattr(batch, name)) for batch in found]).tolist() for name in names}


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("names", [False, True])
def test_files_of_arrow_are_read_as_the_same_table_in_csv(kind, names, tmp_path):
    format = TextFormat(names=names)
    (expected,) = batches(write(tmp_path / "csv", TABLE, "csv"), "csv", format=format)
    batches_read = batches(write(tmp_path / "file", TABLE, kind), kind, format=format)
    assert whole(batches_read, ("label", "importance", "value")) == whole([expected], ("label", "importance", "value"))
    assert whole(batches_read, ("feature_hash", "namespace_char")) == whole(
        [expected], ("feature_hash", "namespace_char")
    )
    assert [batch.tag(row) for batch in batches_read for row in range(len(batch))] == [b"a", b"b", b"c"]
    assert batches_read[0].location(1).endswith(f"{tmp_path / 'file'}:2")


@pytest.mark.parametrize("type", ["words", "tokens"])
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("encoded", [False, True])
def test_words_are_those_of_csv(type, kind, encoded, tmp_path):
    """Blanks around them are no words, and blanks that are no bytes of ASCII part none."""
    texts = pyarrow.array([" The END\u2019s near ", "a", "b c DEF\u00a0ghi", "", "  ", "\u00c9T\u00c9, x", "End. The"])
    table = pyarrow.table({"y": [1, 0, 1, 0, 1, 0, 1], "b": texts})
    (expected,) = batches(write(tmp_path / "csv", table, "csv"), "csv", f"label=y w=b:{type}")
    if encoded:
        table = table.set_column(1, "b", texts.dictionary_encode())
    batches_read = batches(write(tmp_path / "file", table, kind), kind, f"label=y w=b:{type}")
    assert whole(batches_read, ("feature_hash", "value")) == whole([expected], ("feature_hash", "value"))


@pytest.mark.parametrize("type", ["words", "tokens"])
def test_absent_texts_have_no_words(type, tmp_path):
    path = write(tmp_path / "file", pyarrow.table({"y": [1, 0], "b": [None, "Big news"]}), "parquet")
    (batch,) = batches(path, "parquet", f"label=y w=b:{type}")
    assert len(batch.feature_hash) == 2


def test_types_that_csv_does_not_have(tmp_path):
    table = pyarrow.table(
        {
            "y": pyarrow.array(["up", "down"]).dictionary_encode(),
            "yes": [True, False],
            "price": [decimal.Decimal("1.25"), None],
            "words": [["a", "b"], []],
            "kind": pyarrow.array(["p", None]).dictionary_encode(),
        }
    )
    path, format = write(tmp_path / "file", table, "parquet"), TextFormat(names=True).of_words()
    (batch,) = batches(path, "parquet", "label=y =yes,price,kind w=words", format)
    assert batch.value.tolist() == [1, 1.25, 1, 1, 1]
    assert [text_of(batch, row) for row in range(2)] == ["up", "down"]
    assert arrow_files.names_labels(path, "parquet", read_columns("label=y"))
    assert not arrow_files.names_labels(path, "parquet", read_columns("label=yes"))


def test_columns_that_are_not_read_are_not_decoded(tmp_path):
    table = pyarrow.table({"y": [1], "x": [2], "odd": [{"a": 1}]})
    (batch,) = batches(write(tmp_path / "f", table, "parquet"), "parquet", "label=y =x ignore=*")
    assert batch.value.tolist() == [2]


def test_examples_ends_the_reading(tmp_path):
    path = write(tmp_path / "f", TABLE, "parquet")
    assert sum(map(len, batches(path, "parquet", examples=2))) == 2


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("label=z", "has no column 'z'"),
        ("label=y =t:number", "file: rows 0 to 2, column 't': Failed to parse string: 'z'"),
        ("label=y =b:number", "file: rows 0 to 2, column 'b': Failed to parse string: 'three  four'"),
        ("label=y =l:text", "column 'l' has lists"),
        ("label=y =s", "file: rows 0 to 2, column 's': Unsupported cast from struct"),
        ("label=n =i ignore=*", "file: row 2: label is inf"),
    ],
)
def test_wrong_columns_are_refused(columns, said, tmp_path):
    more = TABLE.append_column("l", [[["a"], [], []]]).append_column("s", [[{"q": 1}] * 3])
    more = more.set_column(more.schema.get_field_index("n"), "n", [[1.0, 2.0, float("inf")]])
    with pytest.raises(DataError, match=said):
        batches(write(tmp_path / "file", more, "parquet"), "parquet", columns)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_files_of_other_formats_are_damaged_input(kind, tmp_path):
    path = write(tmp_path / "whole", TABLE, kind)
    (tmp_path / "cut").write_bytes((tmp_path / "whole").read_bytes()[:300])
    (tmp_path / "text").write_text("1 | a\n")
    (tmp_path / "empty").write_bytes(b"")
    for name in ("cut", "text", "empty"):
        with pytest.raises(DataError, match=f"{name} cannot be read as {kind}"):
            batches(str(tmp_path / name), kind, "")
    with pytest.raises(UsageError, match="read from files, not from standard input"):
        batches("-", kind, "")
    with pytest.raises(DataError, match=f"is a file of {kind}, not text: --format {kind} reads it"):
        batches(path, "vw", "")


def numbers(*some):
    return struct.pack(f"<{len(some)}i", *some)


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        pytest.param(numbers(0, 2, 3, 6), numbers(0, 2, 1 << 30, 6), "Offset invariant failure", id="far offset"),
        pytest.param(numbers(0, 2, 3, 6), numbers(0, -2, 3, 6), "Offset invariant failure", id="negative offset"),
        pytest.param(numbers(0, 2, 3, 6), numbers(0, 2, 3, 1 << 30), "slot 3 out of bounds", id="last offset"),
        pytest.param(numbers(1, 0, 1), numbers(1, 1 << 20, 1), "position 1 out of bounds", id="code"),
        pytest.param(numbers(0, 2, 2, 4), numbers(0, 2, 2, 1 << 20), "offset for slot 3 out of bounds", id="list"),
        pytest.param(b"ccc", b"c\xffc", "Invalid UTF8 sequence", id="text"),
        pytest.param(b"other column", b"other \xffolumn", "can't decode byte 0xff", id="name"),
    ],
)
@pytest.mark.parametrize("columns", ["", "label=y =t:tokens,c:words,l ignore=*", "=c:number,t,l ignore=y"])
@pytest.mark.parametrize("names", [False, True])
def test_damaged_buffers_are_refused(kind, right, wrong, said, columns, names, tmp_path):
    """They made the process end with a segmentation fault, or a traceback."""
    texts = {"t": ["aa", "b", "ccc"], "l": [["one", "two"], [], ["six", "ten"]]}
    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0, 1], pyarrow.int32()), ["x", "yy"])
    table = pyarrow.table({"y": [1, -1, 1], **texts, "c": codes, "other column": [1.0, 2.0, 3.0]})
    out = pyarrow.BufferOutputStream()
    with (pyarrow.ipc.new_file if kind == "file" else pyarrow.ipc.new_stream)(out, table.schema) as writer:
        writer.write_table(table)
    data = out.getvalue().to_pybytes()
    assert right in data
    (tmp_path / "damaged").write_bytes(data.replace(right, wrong))
    with pytest.raises(DataError, match="damaged cannot be read as arrow: .*" + said):
        batches(str(tmp_path / "damaged"), "arrow", columns, TextFormat(names=names))


def test_damaged_texts_of_parquet_are_refused(tmp_path):
    path = tmp_path / "file"
    write(path, pyarrow.table({"y": [1, -1], "t": ["aa", "ccc"]}), "parquet")
    path.write_bytes(path.read_bytes().replace(b"ccc", b"c\xffc"))
    with pytest.raises(DataError, match=r"cannot be read as parquet: .*Invalid UTF8 sequence"):
        batches(str(path), "parquet", "label=y")


def test_a_buffer_beyond_all_memory_is_the_files_fault(tmp_path):
    path = tmp_path / "file"
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    table = pyarrow.table({"y": [float(row % 2) for row in range(1000)]})
    with pyarrow.OSFile(str(path), "wb") as out, pyarrow.ipc.new_file(out, table.schema, options=options) as writer:
        writer.write_table(table)
    size = struct.pack("<q", 8000)
    assert path.read_bytes().count(size) == 1
    path.write_bytes(path.read_bytes().replace(size, struct.pack("<q", 1 << 60)))
    with pytest.raises(DataError, match=r"malloc of size .* failed: it is damaged, or there is not enough memory"):
        batches(str(path), "arrow", "label=y")


def test_a_second_file_of_other_columns_is_refused(tmp_path):
    paths = write(tmp_path / "one", TABLE, "parquet"), write(tmp_path / "two", TABLE.drop_columns("n"), "parquet")
    inputs = Inputs(InputConfig(paths, kind="parquet", columns=SPEC), TextFormat())
    with pytest.raises(DataError, match="two has no column 'n'"):
        list(inputs.texts())


def test_without_pyarrow_the_extra_is_named(monkeypatch, tmp_path):
    path = write(tmp_path / "f", TABLE, "parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'vwlite\[arrow\]'"):
        batches(path, "parquet")
