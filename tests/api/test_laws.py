"""Laws of models in Python, over random tables: the bytes of the command, whatever the data's form and their parts."""

import copy
import io
import pickle
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_runs import csr_of

from vwlite import Model, write_text

ANY = settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
CASES = [  # options, and the labels they take; ``battery`` has every learner, with text
    *((options, [-1, 1]) for options in ("", "--loss_function logistic", "-q ua", "--passes 2 --shuffle", "--ksvm")),
    *((options, [-1, 1]) for options in ("--dual --l2 1", "--lrq ua2", "--nn 4", "--confidence")),
    ("--dotproduct ua --rank 2 --decay_learning_rate 1", [-1, 1]),
    *((options, [1, 2, 3]) for options in ("--oaa 3", "--multiclass 3", "--filter_tree 3", "--oaa 3 --dual --l2 1")),
    ("--multiclass 3 --trace 0.05", [1, 2, 3]),
    *((options, [[1.5, -1.0], [0.25, 2.0]]) for options in ("--outputs 2", "--outputs 2 --trace 0.05")),
]
OF_GROUPS = ["--csoaa_ldf m", "--csoaa_ldf mc", "--wap_ldf m"]  # whose data are text only
ids = [options or "defaults" for options, _ in CASES]
VALUES = st.one_of(st.just(0.0), st.integers(-3, 3).map(float), st.floats(0.0625, 2, width=32))


@st.composite
def tables(draw, labels):
    """Rows of two namespaces, labels, importance and tags."""
    rows = draw(st.integers(1, 12))
    spaces = {}
    for space in ("u", "a"):
        columns = draw(st.integers(1, 4))
        cells = st.lists(VALUES, min_size=rows * columns, max_size=rows * columns)
        spaces[space] = np.array(draw(cells), np.float32).reshape(rows, columns)
    each = {"min_size": rows, "max_size": rows}
    y = np.array(draw(st.lists(st.sampled_from(labels), **each)), np.float32)
    weight = draw(st.one_of(st.none(), st.lists(st.sampled_from([0.5, 1.0, 2.0]), **each).map(np.array)))
    return spaces, y, weight


def in_forms(spaces):
    """The same rows, and in what else ``learn`` is told of them."""
    named = {space: [features_of(cells) for cells in table] for space, table in spaces.items()}
    rows = [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]
    yield "dense", spaces, {}
    yield "doubles", {space: table.astype(np.float64) for space, table in spaces.items()}, {}
    yield "fortran", {space: np.asfortranarray(table) for space, table in spaces.items()}, {}
    yield "sparse", {space: csr_of(table) for space, table in spaces.items()}, {}
    yield "dicts", rows, {}


def features_of(cells):
    return {str(column): float(value) for column, value in enumerate(cells) if value}


def text_of(spaces, y, weight):
    file = io.BytesIO()
    write_text(file, spaces, y, weight=weight)
    return file.getvalue()


@st.composite
def groups(draw):
    """Texts of a group of lines each: a line for every class, with its cost."""
    features = st.lists(st.sampled_from(["x", "y", "z:2", "w:-0.5"]), min_size=1, max_size=3).map(" ".join)
    costs = st.sampled_from([0, 0.5, 1, 2])
    lines = st.lists(st.tuples(costs, features), min_size=2, max_size=4)
    shared = draw(st.booleans())
    made = []
    for group in draw(st.lists(lines, min_size=1, max_size=8)):
        text = "shared |s q\n" * shared
        text += "".join(f"{number}:{cost} |a {named}\n" for number, (cost, named) in enumerate(group, 1))
        made.append(f"{text}\n")
    return [line.encode() for line in made]


@pytest.mark.parametrize("options", OF_GROUPS)
def test_groups_of_lines_have_the_bytes_of_the_command(options, run_here, tmp_path):
    @ANY
    @given(groups())
    def holds(texts):
        (tmp_path / "d").write_bytes(text := b"".join(texts))
        run_here("train", "d", "-f", "m", "--quiet", *options.split())
        expected = (tmp_path / "m").read_bytes()
        (tmp_path / "m").unlink()
        for data in (text, text.splitlines(), iter(text.splitlines())):
            model = Model(options)
            model.learn(data)
            assert model.dumps() == expected
        parts, pickled = Model(options), Model(options)
        for text in texts:
            parts.learn(text)
            pickled = pickle.loads(pickle.dumps(pickled))
            pickled.learn(text)
            pickled.predict(text)
        assert pickled.dumps() == parts.dumps()
        assert parts.counters == model.counters and arrays_of(parts) == arrays_of(model)

    holds()


@pytest.mark.parametrize(("options", "labels"), CASES, ids=ids)
def test_the_bytes_are_those_of_the_command(options, labels, run_here, tmp_path):
    @ANY
    @given(tables(labels))
    def holds(table):
        spaces, y, weight = table
        (tmp_path / "d").write_bytes(text := text_of(spaces, y, weight))
        run_here("train", "d", "-f", "m", "--quiet", *options.split())
        expected = (tmp_path / "m").read_bytes()
        (tmp_path / "m").unlink()
        for data, columns in ((text, {}), (text.splitlines(), {}), (iter(text.splitlines()), {})):
            model = Model(options)
            model.learn(data, **columns)
            assert model.dumps() == expected
        for form, data, columns in in_forms(spaces):
            kept = copy.deepcopy(data)
            model = Model(options)
            model.learn(data, y, weight=weight, **columns)
            assert model.dumps() == expected, form
            assert pickle.dumps(data) == pickle.dumps(kept), form  # never written to

    holds()


@pytest.mark.parametrize(("options", "labels"), CASES, ids=ids)
def test_two_calls_on_halves_learn_what_one_call_does(options, labels, tmp_path, monkeypatch):
    """The number of passes aside; a pickle in between changes nothing, nor do predictions; no file is written."""
    if "passes" in options:
        pytest.skip("each call makes several passes")
    if "dual" in options:
        pytest.skip("the second call would need the examples of the first")
    monkeypatch.chdir(tmp_path)

    @ANY
    @given(tables(labels), st.integers(0, 12))
    def holds(table, cut):
        spaces, y, _ = table
        cuts = slice(cut), slice(cut, None)
        halves = [({space: table[part] for space, table in spaces.items()}, y[part]) for part in cuts]
        whole, parts, pickled = Model(options), Model(options), Model(options)
        whole.learn(spaces, y)
        for data, labels_of in halves:
            parts.learn(data, labels_of)
            pickled = pickle.loads(pickle.dumps(pickled))
            pickled.learn(data, labels_of)
            pickled.predict(spaces)
            pickled.predict("|u 0 |a 1")
        assert pickled.dumps() == parts.dumps()
        assert parts.counters == whole.counters
        for name, array in arrays_of(parts).items():
            assert array == arrays_of(whole)[name], name
        assert list(tmp_path.iterdir()) == []

    holds()


def arrays_of(model):
    """The bytes of all arrays of the model file."""
    tables = model._learner.tables(False)
    return {name: np.asarray(getattr(table, "values", table)).tobytes() for name, table in tables.items()}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_have_the_bytes_of_dicts(library):
    pytest.importorskip("pyarrow")
    module = pytest.importorskip(library)

    @ANY
    @given(tables([-1, 1]), st.data())
    def holds(table, data):
        spaces, y, _ = table
        rows = len(y)
        columns = {f"n{j}": column.astype(np.float64) for j, column in enumerate(spaces["u"].T)}
        words = data.draw(st.lists(st.sampled_from(["rome", "new york", "7"]), min_size=rows, max_size=rows))
        columns = {**columns, "city": words}
        frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
        one, two = Model("--passes 2"), Model("--passes 2")
        one.learn(frame, y)
        two.learn([{name: column[row] for name, column in columns.items()} for row in range(rows)], y)
        assert one.dumps() == two.dumps()
        assert np.array_equal(one.predict(frame), two.predict(frame))

    holds()


def test_threads_take_turns_and_different_models_are_independent():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, (200, 5)).astype(np.float32)
    y = np.where(rows[:, 0] > rows[:, 1], 1.0, -1.0)
    alone = Model()
    for _ in range(16):
        alone.learn(rows, y)
    shared, own = Model(), [Model(), Model()]
    failures = []

    def work(number):
        try:
            for _ in range(8):
                shared.learn(rows, y)
                own[number].learn(rows, y)
                own[number].predict(rows)
                shared.predict("|a b")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert shared.dumps() == alone.dumps()
    half = Model()
    for _ in range(8):
        half.learn(rows, y)
    assert [model.dumps() for model in own] == [half.dumps()] * 2
