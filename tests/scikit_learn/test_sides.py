"""Ids, categories, numbers and words as columns: what was given can be read off the tables."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from hypothesis import given
from hypothesis import strategies as st

from vwlite.errors import DataError, UsageError
from vwlite.sklearn.sides import Sides

IDS = (st.integers(-5, 5), st.text("ab|: ", max_size=2))
PAIRS = st.one_of(*(st.lists(st.tuples(one, one), min_size=1) for one in IDS))


@given(PAIRS, PAIRS)
def test_every_row_has_the_column_of_its_id_or_none(first, later):
    X = np.array(first)
    sides = Sides(X, None)
    assert {side: ids.tolist() for side, ids in sides.ids.items()} == {
        side: sorted({pair[place] for pair in X.tolist()}) for place, side in enumerate(("user", "item"))
    }
    if isinstance(first[0][0], str) != isinstance(later[0][0], str):
        with pytest.raises(DataError, match="and the column was of"):
            sides.tables(np.array(later))
        return
    for place, (side, table) in enumerate(sides.tables(np.array(later)).items()):
        assert table.shape == (len(later), len(sides.ids[side])) and table.dtype == np.float32
        for row, pair in zip(table, np.array(later).tolist(), strict=True):
            known = pair[place] in sides.ids[side].tolist()
            assert sides.ids[side][row.indices].tolist() == [pair[place]] * known and row.data.tolist() == [1.0] * known


FRAME = {
    "user": ["ann", None, "bob", "ann"],
    "item": [7, 3, 7, 9],
    "age": [31.5, 0.0, None, 20.0],
    "member": [True, False, None, True],
    "genres": [["war", "love"], [], None, ["love", None]],
    "shop": ["x", "y", "x", None],
}
SPACES = {"user": ["age", "member"], "item": ["genres"]}


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_of_a_frame(kind):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    library = pytest.importorskip(kind, reason=f"{kind} is not installed")
    rows = getattr(library, {"pyarrow": "table"}.get(kind, "DataFrame"))(FRAME)
    sides = Sides(rows, SPACES)
    tables = {space: table.toarray().tolist() for space, table in sides.tables(rows).items()}
    assert tables == {
        "user": [[1, 0, 31.5, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 20, 1]],
        "item": [[0, 1, 0, 1, 1], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 1, 0]],
        "": [[1, 0], [0, 1], [1, 0], [0, 0]],
    }
    assert sides.widths == {"user": 4, "item": 5, "": 2} and sides.ids["item"].tolist() == [3, 7, 9]


def test_columns_that_are_not_there():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    rows = pandas.DataFrame({"user": [1, 2], "item": [3, 4], "age": [1.0, np.inf], "date": pandas.Timestamp("2020")})
    with pytest.raises(UsageError, match="namespaces: there is no column 'size' for 'user'"):
        Sides(rows, {"user": ["size"]})
    with pytest.raises(UsageError, match="column 'date' is of type timestamp"):
        Sides(rows, {})
    sides = Sides(rows.drop(columns="date"), {})
    with pytest.raises(DataError, match="the rows have no column 'age', which they had at first"):
        sides.tables(rows[["user", "item"]])
    with pytest.raises(DataError, match="row 1, column 'age'"):
        sides.tables(rows.drop(columns="date"))
