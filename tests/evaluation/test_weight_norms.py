"""Norms of weights as a matrix."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.evaluation.inspect_model import MOST_COLUMNS, norms

ROOT = math.sqrt(2)
TABLE = {  # table 5.1 of the notes of CMPUT 551: a matrix, its 2,1, trace and Frobenius norms
    "U": ([[1, 1], [0, 0]], ROOT, ROOT, ROOT),
    "V": ([[1, 0], [1, 0]], 2, ROOT, ROOT),
    "W": ([[1, 0], [0, 1]], 2, 2, ROOT),
}


def norms_of(matrix, offset=0):
    row, column = np.nonzero(matrix)
    return norms(row + offset, column, matrix[row, column].astype(float), matrix.shape[1])


@pytest.mark.parametrize("name", TABLE)
def test_norms_of_small_matrices_are_those_of_the_table(name):
    matrix, *expected = TABLE[name]
    assert list(norms_of(np.array(matrix)).items()) == [
        (norm, pytest.approx(value)) for norm, value in zip(("2,1", "trace", "frobenius"), expected, strict=True)
    ]


@given(st.integers(0, 99), st.integers(1, 9), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=15)
def test_norms_are_those_of_numpy(seed, rows, columns, rank):
    draw = np.random.default_rng(seed)
    matrix = draw.normal(size=(rows, rank)) @ draw.normal(size=(rank, columns)) * (draw.random((rows, 1)) < 0.7)
    actual = norms_of(matrix, offset=seed)
    assert actual["2,1"] == pytest.approx(np.linalg.norm(matrix, axis=1).sum())
    assert actual["trace"] == pytest.approx(np.linalg.norm(matrix, "nuc"), rel=1e-6)
    assert actual["frobenius"] == pytest.approx(np.linalg.norm(matrix))


def test_many_rows_and_columns():
    matrix = np.random.default_rng(3).normal(size=(9000, 4))
    assert norms_of(matrix)["trace"] == pytest.approx(np.linalg.norm(matrix, "nuc"))
    none = np.zeros(0, np.int64)
    assert norms(none, none, np.zeros(0), 3) == {"2,1": 0, "trace": 0, "frobenius": 0}
    assert "trace" not in norms(none, none, np.zeros(0), MOST_COLUMNS + 1)
