"""Odd tables: each is refused by a sentence that names row and column, or gives the right answer."""

from types import SimpleNamespace

import numpy as np
import pytest
from model_runs import csr_of

from vwlite import Model
from vwlite.errors import DataError, UsageError

GOOD = np.array([[1, 0, 2.5], [0, 3, 0], [0.5, 1, 1]], np.float32)
Y = [1.0, -1.0, 1.0]


def put(value, row=1, column=2):
    table = GOOD.astype(np.float64)
    table[row, column] = value
    return table


def csr(indptr, indices, data, shape=(3, 3)):
    return SimpleNamespace(
        indptr=np.array(indptr), indices=np.array(indices), data=np.array(data, np.float32), shape=shape, format="csr"
    )


REFUSED = {
    "NaN": (put(np.nan), Y, {}, r"row 1, column 2: feature value is NaN"),
    "infinity": (put(np.inf, 2, 0), Y, {}, r"row 2, column 0: number out of range"),
    "minus infinity": (put(-np.inf, 0, 1), Y, {}, r"row 0, column 1: number out of range"),
    "beyond single precision": (put(1e39), Y, {}, r"row 1, column 2: number out of range"),
    "a named column": (put(np.nan), Y, {"names": ["a", "b", "c"]}, r"row 1, column 'c': feature value is NaN"),
    "NaN in a sparse matrix": (csr_of(put(np.nan)), Y, {}, r"row 1, column 2: feature value is NaN"),
    "NaN in a namespace": ({"u": GOOD, "i": put(np.nan)}, Y, {}, r"row 1, column 2"),
    "too few labels": (GOOD, Y[:2], {}, r"y has 2 entries, the data have 3 rows"),
    "too many labels": (GOOD, [*Y, 1], {}, r"y has 4 entries, the data have 3 rows"),
    "too few weights": (GOOD, Y, {"weight": [1]}, r"weight has 1 entries, the data have 3 rows"),
    "a negative weight": (GOOD, Y, {"weight": [1, -2, 1]}, r"row 1: negative importance.*: -2"),
    "a weight that is NaN": (GOOD, Y, {"weight": [1, 1, np.nan]}, r"row 2: weight is nan"),
    "an infinite label": (GOOD, [1, np.inf, 1], {}, r"row 1: label is inf"),
    "an infinite initial prediction": (GOOD, Y, {"base": [0, 0, -np.inf]}, r"row 2: base is -inf"),
    "a label that is a text": (GOOD, [1, "x", 1], {}, r"row 1: label 'x' is not a number"),
    "labels in a column": (GOOD, np.ones((3, 1)), {}, r"expected one number for each row, not an array of shape"),
    "a table of texts": (np.array([["a", "b"]]), [1], {}, r"expected an array of numbers, not of <U1"),
    "a table of objects": (np.array([[1, None]], object), [1], {}, r"expected an array of numbers, not of object"),
    "a table of complex numbers": (np.ones((3, 1), complex), Y, {}, r"expected an array of numbers, not of complex128"),
    "one row": (np.ones(3), Y, {}, r"not ndarray of shape \(3,\)"),
    "three dimensions": (np.ones((3, 1, 1)), Y, {}, r"not ndarray of shape \(3, 1, 1\)"),
    "too few names": (GOOD, Y, {"names": ["a", "b"]}, r"names has 2 entries, the data have 3 columns"),
    "a negative column": (csr([0, 1, 2, 3], [0, -1, 2], [1, 1, 1]), Y, {}, r"row 1: there is no column -1, but 0 to 2"),
    "a column too many": (csr([0, 1, 2, 3], [0, 1, 3], [1, 1, 1]), Y, {}, r"row 2: there is no column 3, but 0 to 2"),
    "offsets that fall": (csr([0, 2, 1, 3], [0, 1, 2], [1, 1, 1]), Y, {}, r"indptr: expected an offset for each row"),
    "offsets beyond the end": (csr([0, 1, 2, 9], [0, 1, 2], [1] * 3), Y, {}, r"indptr ends at 9, there are 3 entries"),
    "namespaces of other lengths": ({"u": GOOD, "i": GOOD[:2]}, Y, {}, r"namespace 'i' has 2 rows, 'u' has 3"),
    "no namespace": ({}, [], {}, r"the data have no namespace"),
    "a tag of two words": (GOOD, Y, {"tags": ["a", "b c", "d"]}, r"row 1: tag 'b c' is not one word"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_tables_are_refused_and_change_nothing(case):
    data, y, columns, message = REFUSED[case]
    model = Model("--noconstant")
    before = model.dumps()
    with pytest.raises((DataError, UsageError), match=message):
        model.learn(data, y, **columns)
    assert model.dumps() == before


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ("--loss_function logistic", [1, -1, 0.5], r"^row 2: label 0\.5 does not fit --loss_function logistic"),
        ("--loss_function logistic", [0, 1, -1], r"^row 2: label -1 after 0/1 labels"),
        ("--loss_function poisson", [1, -1, 0], r"^row 1: label -1 does not fit --loss_function poisson"),
        ("--oaa 3", [1, 2, 7], r"^row 2: label 7 is no class"),
        ("--oaa 2 --named_labels cat,dog", ["cat", "bird", "dog"], r"^row 1: "),
    ],
)
def test_labels_that_the_learner_does_not_take(options, y, message):
    with pytest.raises(DataError, match=message):
        Model(options).learn(GOOD, y)


def locked(table):
    table = table.copy()
    table.flags.writeable = False
    return table


SAME = {  # as GOOD
    "read-only": locked(GOOD),
    "in columns": np.asfortranarray(GOOD),
    "every other row of a larger table": np.repeat(GOOD, 2, axis=0)[::2],
    "big-endian": GOOD.astype(">f4"),
    "doubles": GOOD.astype(np.float64),
    "half precision": GOOD.astype(np.float16),
    "explicit zeros": csr([0, 3, 6, 9], [0, 1, 2] * 3, GOOD.ravel()),
    "int64 offsets and columns": csr([0, 2, 3, 6], [0, 2, 1, 0, 1, 2], GOOD[GOOD != 0]),
    "more entries than offsets say": csr([0, 2, 3, 6], [0, 2, 1, 0, 1, 2, 9, 9], [*GOOD[GOOD != 0], 7, 8]),
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_table_in_another_form(case):
    expected, model = Model(), Model()
    expected.learn(GOOD, Y)
    model.learn(SAME[case], Y)
    assert model.dumps() == expected.dumps()
    assert np.array_equal(model.predict(SAME[case]), expected.predict(GOOD))


RIGHT = {  # a table, labels, and lines with the same rows
    "columns out of order": (csr([0, 2, 3, 3], [2, 0, 1], [3, 1, 2]), Y, "1 | 2:3 0:1\n-1 | 1:2\n1 |\n"),
    "a column twice": (csr([0, 2, 3, 3], [1, 1, 0], [3, 1, 2]), Y, "1 | 1:3 1:1\n-1 | 0:2\n1 |\n"),
    "whole numbers": (np.array([[1, 0], [0, -2]]), [1, 0], "1 | 0:1\n0 | 1:-2\n"),
    "truth values": (np.array([[True, False], [False, True]]), [True, False], "1 | 0\n0 | 1\n"),
    "no columns": (np.zeros((2, 0)), [1, 2], "1 |\n2 |\n"),
    "rows without labels": (GOOD[:2], [np.nan, None], "| 0:1 2:2.5\n| 1:3\n"),
    "weights of 0": (GOOD[:2], [1, 2], "1 0 | 0:1 2:2.5\n2 0 | 1:3\n"),
    "no rows": (np.zeros((0, 4)), [], ""),
    "no rows of a sparse matrix": (csr([0], [], [], (0, 3)), [], ""),
    "no dicts": ([{}], [3], "3 |\n"),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_tables_are_learned_as_their_lines(case):
    data, y, text = RIGHT[case]
    weight = [0, 0] if "weights" in case else None
    expected, model = Model(), Model()
    expected.learn(text)
    model.learn(data, y, weight=weight)
    assert model.dumps() == expected.dumps()
    assert np.array_equal(model.predict(data), expected.predict(text))


def test_one_class_only():
    model = Model("--loss_function logistic")
    model.learn(GOOD, [1, 1, 1])
    assert (model.predict(GOOD) > 0.5).all()
    model.learn(GOOD, [0, 0, 0])  # now 0 stands for the other one
    with pytest.raises(DataError, match="row 0: label -1 after 0/1 labels"):
        model.learn(GOOD, [-1, -1, -1])
