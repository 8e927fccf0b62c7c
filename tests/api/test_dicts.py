"""Rows that are dicts, and data frames: a model learns and answers what it does of their text."""

import io

import numpy as np
import pytest

from vwlite import Model, write_text
from vwlite.errors import DataError, UsageError

RANDOM = np.random.RandomState(2)
CITIES = ["Rome", "New York", "8001", "a:b", ""]
ROWS = [
    {
        "age": int(RANDOM.randint(4)),
        "share": float(RANDOM.rand()),
        "city": CITIES[RANDOM.randint(5)],
        "new": bool(RANDOM.rand() < 0.5),
        "words": ["free", "gift", "now"][: RANDOM.randint(4)],
        "user": {"id": f"u{RANDOM.randint(9)}", "age": RANDOM.randint(3)},
    }
    for _ in range(40)
]
Y, WEIGHT = RANDOM.randint(0, 2, 40) * 2 - 1, RANDOM.randint(1, 3, 40)


def lines_of(rows, *labels, **more):
    text = io.BytesIO()
    write_text(text, rows, *labels, **more)
    return text.getvalue()


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("form", [list, iter])
@pytest.mark.parametrize("options", ["--loss_function logistic -q uw", "-q u: --ngram w2 --hash all"])
def test_dicts_are_learned_as_their_text(options, form, passes):
    from_rows, from_text = Model(options), Model(options)
    learned = from_rows.learn(form(ROWS), Y, weight=WEIGHT, passes=passes)
    text = lines_of(ROWS, Y, weight=WEIGHT)
    assert learned.average_loss == from_text.learn(text, passes=passes).average_loss
    assert from_rows.dumps() == from_text.dumps()
    assert np.array_equal(from_rows.predict(form(ROWS)), from_text.predict(text))
    assert from_rows.explain(form(ROWS[:2]))[0] == from_text.explain(text)[0]


def test_a_frame_is_learned_as_its_text():
    arrow = pytest.importorskip("pyarrow")
    rows = [{name: value for name, value in row.items() if name != "user"} for row in ROWS]
    frame = arrow.Table.from_pylist([{**row, "y": y} for row, y in zip(rows, Y.tolist(), strict=True)])
    from_frame, from_text = Model("-q ui"), Model("-q ui")
    spaces = {"user": ["age", "city"], "item": ["share"]}
    from_frame.learn(frame, "y", weight=WEIGHT, namespaces=spaces)
    from_text.learn(lines_of(frame, "y", weight=WEIGHT, namespaces=spaces))
    assert from_frame.dumps() == from_text.dumps()


def test_labels_and_weights_beside_lines_are_refused():
    for lines in (["1 |a b"], iter(["1 |a b"])):
        with pytest.raises(UsageError, match="y goes with rows: text has its own"):
            Model().learn(lines, [1])
    with pytest.raises(DataError, match="y has 1 entries, the data have more rows"):
        Model().learn(iter(ROWS), [1])


def test_numbers_that_are_texts_are_noted_once(caplog):
    rows = [{"age": str(20 + n), "city": "rome", "size": n} for n in range(30)]
    for _ in range(2):
        Model().learn(rows, range(30))
    message = (
        "rows: the texts of 'age' are numbers, each a feature of its own: unless they are identifiers, give floats"
    )
    assert caplog.messages == [message]
    Model().learn([{**row, "age": float(row["age"])} for row in rows], range(30))
    assert len(caplog.messages) == 1
