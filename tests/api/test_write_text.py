"""``write_text``: the parser makes of its text the batches that are made of the data."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import vwlite as library
from vwlite import write_text
from vwlite.api.functions import format_of_labels
from vwlite.data.batch import COLUMNS
from vwlite.data.tables import table_batches
from vwlite.data.text_format import parse_text
from vwlite.errors import DataError, OutputError, UsageError

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
SPARSE = st.one_of(st.just(0.0), FLOATS)
NAMES = st.text("ab09é_. :|\t", max_size=4)
LABELS = st.one_of(
    st.lists(st.one_of(FLOATS, st.just(float("nan"))), min_size=3, max_size=3),
    st.lists(st.sampled_from(["cat", "dog", None]), min_size=3, max_size=3),
    st.lists(st.sampled_from([[1], [1, 2], [], None]), min_size=3, max_size=3),
    st.lists(st.sampled_from([{1: 0.5, 2: 1.0}, {3: 0.1}, None]), min_size=3, max_size=3),
    st.just(None),
)


def text_of(data, *args, **more):
    out = io.BytesIO()
    assert write_text(out, data, *args, **more) is None
    return out.getvalue()


def check(data, y=None, **more):
    """The text of the data, which has their batches."""
    text, format = text_of(data, y, **more), format_of_labels(y)
    batches = list(table_batches(data, y, **more, text_format=format))
    assert text.count(b"\n") == sum(map(len, batches))
    lines = text.splitlines(keepends=True)
    for batch in batches:
        own, lines = b"".join(lines[: len(batch)]), lines[len(batch) :]
        again = parse_text(own, format)
        for name, column in COLUMNS.items():
            if column.entries != "text offsets":
                assert getattr(batch, name).tobytes() == getattr(again, name).tobytes(), name
        if not (format.words and "weight" in more):  # importance stands between the words
            tags = [[parsed.tag(row).split() for row in range(len(batch))] for parsed in (batch, again)]
            assert tags[0] == tags[1]
    return text


def csr(dense):
    """The arrays of SciPy's CSR."""
    rows, columns = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int32)
    fields = {"indptr": indptr, "indices": columns.astype(np.int32), "data": dense[rows, columns]}
    return SimpleNamespace(**fields, shape=dense.shape, format="csr")


def matrix(values):
    return np.array(values, np.float32).reshape(3, -1)


@given(st.lists(SPARSE, min_size=6, max_size=6).map(matrix), LABELS, st.data())
def test_text_of_matrices_is_parsed_to_their_batches(dense, y, data):
    names = data.draw(st.one_of(st.none(), st.lists(NAMES, min_size=2, max_size=2)))
    tags = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(["", "t", "é:1"]), min_size=3, max_size=3)))
    text = check(dense, y, names=names, tags=tags)
    assert check(csr(dense), y, names=names, tags=tags) == text
    check({"user": dense, "": csr(dense[:, ::-1])}, y, tags=tags, names=names and {"user": names})


@given(
    st.lists(SPARSE, min_size=3, max_size=3).map(matrix),
    st.lists(FLOATS, min_size=3, max_size=3),
    st.lists(FLOATS.map(abs), min_size=3, max_size=3),
    st.lists(FLOATS, min_size=3, max_size=3),
)
def test_importance_and_base_are_kept(dense, y, weight, base):
    check(dense, y, weight=weight)
    check(dense, y, weight=weight, base=base)
    check(dense, y, base=base)
    check(dense, ["a", "b", "c"], weight=weight)


ROW_VALUES = st.one_of(
    FLOATS, st.booleans(), st.none(), st.integers(-9, 9), st.just(float("nan")),
    st.sampled_from(["red", "12", "info", "a:b", "", "nan", "two words", ".", "-e5", "é"]),
)  # fmt: skip
WORDS = st.lists(st.sampled_from(["a", "b c", "7"]), max_size=3)
SPACES = st.one_of(st.dictionaries(NAMES, ROW_VALUES, max_size=3), WORDS)
ROWS = st.lists(st.dictionaries(NAMES, st.one_of(ROW_VALUES, SPACES), max_size=4), min_size=3, max_size=3)


@given(ROWS, LABELS)
def test_text_of_dicts_is_parsed_to_their_batches(rows, y):
    check(rows, y)


def test_dicts_are_lines_of_names():
    rows = [{"age": 34, "city": "rome", "new": True, "user": {"id": "x1"}, "words": ["to", "be"]}, {"age": None}]
    assert text_of(rows, [1, -1]) == b"1 | age:34 city:rome new |user id:x1 |words to be\n-1 |\n"


def test_an_iterator_of_dicts_is_written_as_it_comes():
    assert text_of({"a": n} for n in range(3)) == b"|\n| a\n| a:2\n"


@given(st.lists(st.floats(-50, 50, width=32), min_size=6, max_size=6).map(matrix))
def test_a_model_of_the_data_is_a_model_of_its_text(dense):
    models = [library.Model("-q ua --l2 1e-6"), library.Model("-q ua --l2 1e-6")]
    tables, y = {"user": dense, "age": dense[:, :1]}, [1, -1, 0.5]
    models[0].learn(tables, y)
    models[1].learn(text_of(tables, y))
    assert models[0].dumps() == models[1].dumps()


TEXTS = st.sampled_from(["rome", "12", "", "a b|c:d", "é", "x:y"])
OF_ROWS = {  # a column's type, and its entries
    "age": ("float32", st.none() | st.floats(-9, 9, width=32)),
    "city": ("string", st.none() | TEXTS),
    "words": (("string",), st.none() | st.lists(TEXTS, max_size=3)),
    "y": ("float64", st.sampled_from([1.0, -1.0, 0.1])),
    "w": ("float32", st.sampled_from([0.0, 1.0, 0.3])),
    "b": ("float64", st.sampled_from([0.0, 0.7])),
    "t": ("string", st.sampled_from(["", "t1", "é"])),
    "name": ("string", st.sampled_from(["cat", "dog", None])),
    "set": (("int64",), st.sampled_from([[0], [0, 2], [], None])),
}


@st.composite
def frames(draw, *names):
    """A table of Arrow with these columns."""
    arrow = pytest.importorskip("pyarrow")
    rows, columns = draw(st.integers(1, 6)), {}
    for name in names:
        kind, entries = OF_ROWS[name]
        item = getattr(arrow, kind if isinstance(kind, str) else kind[0])()
        type = item if isinstance(kind, str) else arrow.list_(item)
        columns[name] = arrow.array(draw(st.lists(entries, min_size=rows, max_size=rows)), type)
    return arrow.table(columns)


def check_law(options, frame, folder, *args, **more):
    """Check that a model of the frame is, byte for byte, what ``vwlite train`` makes of its text."""
    text = folder.mktemp("law") / "d.vw"
    write_text(text, frame, *args, **more)
    model = library.Model(options)
    model.learn(frame, *args, **more)
    assert model.dumps() == library.train(text, options).dumps()


BESIDE = {"weight": "w", "base": "b", "tags": "t", "namespaces": {"user": ["age", "words"]}}


@given(frames("age", "city", "words", "y", "w", "b", "t"), st.sampled_from(["", "-q us -l 0.3", "--ftrl --noconstant"]))
def test_the_text_of_a_frame_makes_its_model(tmp_path_factory, frame, options):
    assume(any(frame["w"].to_pylist()))  # train refuses data of which nothing can be learned
    check_law(options, frame, tmp_path_factory, "y", **BESIDE)


@settings(max_examples=20)
@given(frames("age", "city", "words", "name", "set"))
def test_columns_may_be_names_and_lists_of_classes(tmp_path_factory, frame):
    assume(any(frame["name"].to_pylist()) and any(frame["set"].to_pylist()))
    check_law("--oaa 2 --named_labels cat,dog", frame.drop_columns("set"), tmp_path_factory, "name")
    check_law("--multilabel_oaa 3", frame.drop_columns("name"), tmp_path_factory, "set")


@settings(max_examples=20)
@given(st.lists(SPARSE.filter(lambda x: abs(x) < 99), min_size=6, max_size=6).map(matrix))
def test_the_text_of_tables_and_dicts_makes_their_model(tmp_path_factory, dense):
    more = {"weight": [1, 0.3, 2], "tags": ["a", "", "b"]}
    tables = {"user": dense, "item": csr(dense[:, ::-1])}
    check_law("-q ui", tables, tmp_path_factory, [1, -1, 0.3], names={"user": ["age", "x y"]}, **more)
    rows = [{f"x{column}": float(value) for column, value in enumerate(row)} for row in dense]
    check_law("--l2 1e-3", rows, tmp_path_factory, [1, -1, 0.3], **more)


def test_the_command_learns_the_written_text_as_the_rows(tmp_path, run_here):
    arrow = pytest.importorskip("pyarrow")
    labels = arrow.array(["cat", "dog", None, "cat"]).dictionary_encode()
    frame = arrow.table({"age": [1.5, 0.1, None, 3], "city": ["rome", "oslo", "rome", None], "label": labels})
    write_text(tmp_path / "d.vw", arrow.RecordBatchReader.from_stream(frame), "label")
    assert (tmp_path / "d.vw").read_text().startswith("cat | age:1.5 city:rome\ndog | age:0.1 city:oslo\n| ")
    options = ["--oaa", "2", "--named_labels", "cat,dog"]
    run_here("train", "d.vw", "-f", "m", *options)
    model = library.Model(" ".join(options))
    model.learn(frame, "label")
    assert model.dumps() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("options", ["--affix +2", "--spelling _", "--affix -1u,+3"])
def test_affixes_and_spelling_are_made_of_the_text(options):
    rows, y = [{"user": {"id": "bob"}, "Rome": 1.0}, {"Oslo": 2.0}], [1, -1]
    model = library.Model(options)
    with pytest.raises(UsageError, match="not in tables: learn what write_text writes"):
        model.learn(rows, y)
    plain = library.Model()
    for learner in (model, plain):
        learner.learn(text_of(rows, y))
    assert (model.weights != plain.weights).any()


def test_lines_are_as_people_write_them(tmp_path):
    dense = np.array([[1, 0, 0.5], [0, 0, 0], [0.9, -3, 2**24]], np.float32)
    write_text(tmp_path / "a.vw", dense, [1, np.nan, -1], tags=["one", "", "three"])
    assert (tmp_path / "a.vw").read_text() == "1 'one| 0 2:0.5\n|\n-1 'three| 0:0x1.ccccccp-1 1:-3 2:1.6777216e+07\n"
    names = {"user": ["age", "big city", "x"]}
    assert text_of({"user": dense}, names=names).splitlines()[0] == b"|user age x:0.5"
    assert text_of({"user": dense}, names=names).splitlines()[2].startswith(b"|user age:0x1.ccccccp-1 big_city:-3 x:")


def test_many_rows_are_several_batches():
    dense = np.arange(1, 70001, dtype=np.float32).reshape(-1, 1)
    assert len(list(table_batches(dense, text_format=format_of_labels(None)))) > 1
    assert check(dense, np.arange(70000) % 3).endswith(b"\n2 | 0:69999\n0 | 0:70000\n")


def test_a_model_learns_the_same_from_the_text(tmp_path):
    draw = np.random.default_rng(1)
    dense, y = draw.normal(size=(50, 4)).astype(np.float32), draw.choice([-1.0, 1.0], 50)
    write_text(tmp_path / "d.vw", dense, y)
    model = library.train(tmp_path / "d.vw", "--loss_function logistic")
    weights = [model.weights[column] for column in range(4)]
    assert all(weights)
    lines = "".join(
        f"{label:g} | " + " ".join(f"{j}:{float(x).hex()}" for j, x in enumerate(row)) + "\n"
        for label, row in zip(y, dense, strict=True)
    )
    other = library.Model("--loss_function logistic")
    other.learn(lines)
    assert [other.weights[column] for column in range(4)] == weights


@pytest.mark.parametrize(
    ("data", "more", "error", "reason"),
    [
        (np.array([[1.0, np.nan]]), {}, DataError, "row 0"),
        (np.array([[1.0], [np.inf]]), {}, DataError, "row 1"),
        (np.ones((2, 1)), {"y": [1, np.nan], "weight": [1, 2]}, DataError, "row 1: text has no importance"),
        (np.zeros((1, 1)), {"tags": ["save_it"]}, DataError, "row 0: the tag of a line without features"),
        (np.ones((2, 1)), {"y": [1]}, DataError, "y has 1 entries"),
        (np.ones(3), {}, UsageError, "2-D"),
    ],
)
def test_values_that_text_cannot_hold_are_refused_and_no_file_is_left(data, more, error, reason, tmp_path):
    with pytest.raises(error, match=reason):
        write_text(tmp_path / "d.vw", data, **more)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(OutputError):
        write_text(tmp_path / "none" / "d.vw", np.ones((1, 1)))
