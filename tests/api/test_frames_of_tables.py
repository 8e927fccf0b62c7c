"""A model of a table reads data frames with the columns that it keeps: as the CSV file of the same frame."""

import numpy as np
import pytest

import vwlite
from vwlite.api.data_source import warn_once
from vwlite.errors import DataError

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

COLUMNS = "label=click weight=w tag=id user=age,zip:text ad=brand text=body:tokens =price ignore=day"
ROWS = {
    "click": [1, -1, 1, -1, 1],
    "w": [1.0, 2.0, 0.5, 1.0, 3.0],
    "id": ["a", "b", "c", "d", "e"],
    "age": [34, None, 27, 45, 51],
    "zip": [8001, 8001, 10, None, 3000],
    "brand": ["red", "blue", "", None, "a b"],
    "body": ["Free gift!", "lunch at noon", None, "", "gift: NOW, free"],
    "price": [0.5, 1.25, None, 3.0, 0.1],
    "day": ["mon", "tue", "wed", "thu", "fri"],
    "more": [1, 2, 3, 4, 5],
}
OPTIONS = {"loss_function": "logistic", "quadratic": ["ua"]}


@pytest.fixture
def frame():
    return polars.DataFrame(ROWS)


@pytest.fixture
def model(tmp_path, frame):
    frame.write_csv(tmp_path / "data.csv")
    model = vwlite.Model(columns=COLUMNS, **OPTIONS)
    model.learn(tmp_path / "data.csv")
    model.save(tmp_path / "model")
    return vwlite.load(tmp_path / "model")


def kinds_of(frame):
    record = frame.to_arrow()
    place = record.schema.get_field_index("brand")
    codes = record.set_column(place, "brand", record.column("brand").cast("string").dictionary_encode())
    return {"polars": frame, "arrow": record, "categories": codes, "once": record.to_reader()}


@pytest.mark.parametrize("kind", ["polars", "arrow", "categories", "once"])
def test_a_frame_is_predicted_as_its_file(tmp_path, frame, model, kind):
    expected = model.predict(tmp_path / "data.csv")
    assert len(set(expected)) == len(frame)
    assert (model.predict(kinds_of(frame)[kind]) == expected).all()


def test_neither_labels_nor_columns_that_are_not_read_need_be_there(tmp_path, frame, model):
    expected = model.predict(tmp_path / "data.csv")
    part = frame.select("body", "more", "price", "brand", "zip", "age")
    assert (model.predict(part) == expected).all()
    assert (model.predict(frame.with_columns(click=polars.Series(["?"] * 5))) == expected).all()


def test_a_frame_is_evaluated_explained_and_learned_as_its_file(tmp_path, frame, model):
    path = tmp_path / "data.csv"
    assert model.evaluate(frame) == model.evaluate(path)
    assert model.evaluate(frame, -frame["click"].to_numpy()) != model.evaluate(path)
    assert model.explain(frame) == model.explain(path)
    other = vwlite.load(tmp_path / "model")
    assert other.learn(frame).examples == model.learn(path).examples == 5
    assert other.dumps() == model.dumps()


def test_a_new_model_reads_frames_by_its_columns(tmp_path, frame, model):
    new = vwlite.Model(columns=COLUMNS, **OPTIONS)
    new.learn(frame)
    assert (new.predict(frame) == model.predict(tmp_path / "data.csv")).all()
    labelled = vwlite.Model(columns=COLUMNS, **OPTIONS)
    labelled.learn(frame, y="click")
    assert (labelled.weights == new.weights).all()


def test_rows_that_are_dicts_are_said_to_be_read_without_columns(frame, model, caplog):
    warn_once.cache_clear()  # other tests of this process may have had the warning
    model.predict(frame.select("price").to_dicts())
    assert "without the columns of the model's table" in caplog.text


def test_labels_that_are_given_take_the_place_of_the_column(tmp_path, frame, model):
    swapped = frame.with_columns(click=-frame["click"], other=frame["click"])
    same = [vwlite.load(tmp_path / "model") for _ in range(3)]
    same[0].learn(frame)
    same[1].learn(swapped, y="other")
    same[2].learn(swapped, y=frame["click"].to_numpy())
    assert (same[0].weights == same[1].weights).all() and (same[0].weights == same[2].weights).all()


def test_a_frame_without_a_column_is_refused(frame, model):
    with pytest.raises(DataError, match="the data frame has no column 'brand'"):
        model.predict(frame.drop("brand"))
    with pytest.raises(DataError, match="give the labels of the rows as y"):
        model.learn(frame.drop("click"))
    with pytest.raises(DataError, match="column 'price'"):
        model.predict(frame.with_columns(price=polars.lit("dear")))


def test_namespaces_that_are_given_are_followed(frame, model):
    other = model.predict(frame.select("age"), namespaces={"user": ["age"]})
    dicts = model.predict([{"user": {"age": age}} for age in ROWS["age"]])
    assert np.array_equal(other, dicts)
