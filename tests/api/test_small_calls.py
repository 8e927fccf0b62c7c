"""Small texts are learned and predicted with parts that are kept from call to call: the same as without."""

import numpy as np
import pytest
from model_runs import CLASSES, LOGISTIC, NUMBERS, RUNS

from vwlite import Model
from vwlite.data import text_format
from vwlite.errors import DataError, ModelError, UsageError

PIECES = 4
TREES = ("log_multi", "ect", "filter_tree")
RUNS = [run for run in RUNS if not {"--dual", "--als"} & {*run[0].split()}]  # which do not go on
ids = [options or "defaults" for options, _ in RUNS]


def pieces(text):
    """Texts of a few lines, and of none."""
    lines = text.splitlines(keepends=True)
    size = len(lines) // PIECES // 2 * 2  # groups of lines end with an empty one
    return [b"".join(lines[begin : begin + size]) for begin in range(0, len(lines), size)]


def same(ours, theirs):
    if isinstance(ours, list):
        return ours == theirs
    return ours.dtype == theirs.dtype and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")


@pytest.mark.parametrize(("options", "text"), RUNS, ids=ids)
def test_small_calls_learn_and_answer_as_other_runs_do(options, text):
    """A run that is told its number of threads is put together anew."""
    kept, anew = Model(options), Model(options)
    for number, piece in enumerate(pieces(text)):
        ours, theirs = kept.learn(piece), anew.learn(piece, threads=1)
        assert ours == theirs or (vars_of(ours) == vars_of(theirs))
        assert same(kept.predict(piece), anew.predict(piece, threads=1))
        if not any(tree in options for tree in TREES):
            assert same(kept.predict(piece, raw=True), anew.predict(piece, threads=1, raw=True))
        if number % 3 == 2:
            assert kept.dumps() == anew.dumps()
            assert kept.counters == anew.counters
    kept.learn(piece, threads=1)  # from one to the other
    anew.learn(piece)
    kept.learn(text)
    anew.learn(text, threads=1)
    assert kept.dumps() == anew.dumps()


def vars_of(learned):
    return {name: getattr(learned, name) for name in learned.__slots__ if name != "predictions"}


def test_answers_of_every_kind():
    model = Model(f"--oaa 3 {LOGISTIC}")
    for piece in pieces(CLASSES):
        model.learn(piece)
        for asked in ({"probabilities": True}, {"scores": True}, {}, {"raw": True}, {"probabilities": True}):
            assert same(model.predict(piece, **asked), model.predict(piece, threads=1, **asked))


@pytest.mark.parametrize("options", ["--log_multi 3", "--ect 3", "--filter_tree 3"])
def test_trees_have_no_raw_answers(options):
    model = Model(options)
    model.learn(CLASSES)
    for threads in (None, 1):
        with pytest.raises(UsageError, match=r"^--raw: a tree of classes has only its answers"):
            model.predict(CLASSES, raw=True, threads=threads)
    assert len(model.predict(CLASSES)) == 60


@pytest.mark.parametrize(
    "texts", [["1 |a b", "0 |a c"], ["1 |a b\n", b"0 |a c"], "1 |a b\n0 |a c", b"1 |a b\n0 |a c\n"]
)
def test_texts_and_lists_of_lines(texts):
    model, other = Model(), Model()
    model.learn(texts)
    other.learn(iter(["1 |a b", "0 |a c"]))
    assert model.dumps() == other.dumps()
    assert np.array_equal(model.predict(texts), other.predict(iter(["|a b", "|a c"])))


def test_no_workspace_is_made_anew(monkeypatch):
    model = Model()
    model.learn(NUMBERS)
    model.predict(NUMBERS)
    made = []
    monkeypatch.setattr(text_format.Workspace, "allocate", lambda self: made.append(self))
    for line in NUMBERS.splitlines():
        model.learn(line)
        model.predict(line)
    assert made == []


def test_errors_leave_the_model_as_it_was():
    model, alone = Model(LOGISTIC), Model(LOGISTIC)
    model.learn("1 |a b")
    alone.learn("1 |a b")
    for wrong in ("2 |a b", "x |a b", "1 |a b:nan\n", "1 |a b\n0.5 |a b"):
        with pytest.raises(DataError):
            model.learn(wrong)
    model.learn("0 |a b")
    alone.learn("0 |a b")
    with pytest.raises(DataError, match="<text>:1: label -1 after 0/1 labels"):
        model.learn("-1 |a b")
    assert model.dumps() == alone.dumps()
    with pytest.raises(DataError, match="1 of 1 lines are malformed"):
        model.predict("x |a b:nan")
    assert model.predict("|a b").shape == (1,)


def test_small_calls_build_on_one_another(tmp_path):
    model = Model(LOGISTIC)
    model.learn("1 |a b")
    copied = Model.loads(model.dumps())
    for learner in (model, copied):
        learner.learn("1 |a b\n-1 |a c")
        learner.learn("1 |a b\n-1 |a c", passes=2)
        learner.learn("-1 |a c")
    assert model.dumps() == copied.dumps()
    assert model.counters["example_number"] == copied.counters["example_number"] == 8
    model.save(tmp_path / "m", predict_only=True)
    small = Model.load(tmp_path / "m")
    assert np.array_equal(small.predict("|a b"), model.predict("|a b"))
    with pytest.raises(ModelError, match="cannot be trained further"):
        small.learn("1 |a b")
