"""Models in Python read tables from files as the command does."""

import copy
import pickle
from pathlib import Path

import pytest

import vwlite
from vwlite.errors import UsageError

CSV = "click,age,city\n" + "1,33,Paris\n0,,Rome\n1,2,Rome\n" * 5
COLUMNS = "label=click user=age,city"


def test_tables_are_read_from_files(tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    (tmp_path / "test.csv").write_text("city,age,new\n7,33,x\n")
    (tmp_path / "data.vw").write_text("1 |user age:33 city:Paris\n0 |user city:Rome\n1 |user age:2 city:Rome\n" * 5)
    model = vwlite.Model(kind="csv", columns=COLUMNS)
    model.learn(tmp_path / "data.csv")
    text = vwlite.Model()
    text.learn(tmp_path / "data.vw")
    assert (model.weights == text.weights).all()
    answers = model.predict(tmp_path / "test.csv")
    assert answers == text.predict("|user age:33 city:_7")
    assert vwlite.Model.loads(model.dumps()).predict(tmp_path / "test.csv") == answers
    model.save(tmp_path / "model")
    assert vwlite.load(tmp_path / "model").predict(Path(tmp_path / "test.csv")) == answers
    assert (model.predict("|user age:33 city:_7", kind="vw") == answers).all()


def test_the_names_of_files_tell_their_format(tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    (tmp_path / "data.vw").write_text("1 |user age:33 city:Paris\n0 |user city:Rome\n1 |user age:2 city:Rome\n" * 5)
    table, text = vwlite.Model(columns=COLUMNS), vwlite.Model()
    table.learn(tmp_path / "data.csv")
    text.learn(tmp_path / "data.vw")
    assert (table.weights == text.weights).all()
    assert (table.predict(tmp_path / "data.csv") == text.predict(tmp_path / "data.vw")).all()
    assert table.evaluate(tmp_path / "data.csv") == text.evaluate(tmp_path / "data.vw")
    written = vwlite.Model()
    written.learn(tmp_path / "data.vw")
    (tmp_path / "text.csv").write_bytes((tmp_path / "data.vw").read_bytes())
    assert (written.predict(tmp_path / "text.csv", kind="vw") == text.predict(tmp_path / "data.vw")).all()


def test_tables_in_memory_are_not_text():
    with pytest.raises(UsageError, match="csv is read from files"):
        vwlite.Model(kind="csv").learn("click,age\n1,2\n")


def test_the_columns_that_were_found_are_kept_through_every_door(tmp_path, run_here):
    (tmp_path / "data.csv").write_text(CSV)
    run_here("train", "data.csv", "--columns", COLUMNS, "-f", "model", "--quiet")
    data, model = tmp_path / "data.csv", vwlite.Model(columns=COLUMNS)
    model.learn(data)
    same = [model, vwlite.train(data, columns=COLUMNS), pickle.loads(pickle.dumps(model)), copy.copy(model)]
    assert all(model.dumps() == (tmp_path / "model").read_bytes() for model in same)


def test_text_is_read_in_the_format_of_the_table(tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    model = vwlite.train(tmp_path / "data.csv", columns=COLUMNS)
    answers = model.predict("|user age:33 city:Paris\n|user age:2 city:Rome", kind="vw").tolist()
    assert model.predict("city,age\nParis,33\nRome,2\n").tolist() == answers
    assert model.predict("age\tcity\n33\tParis\n2\tRome", kind="tsv").tolist() == answers
    objects = ['{"city": "Paris", "age": 33}', '{"age": 2, "city": "Rome"}']
    assert model.predict(objects, kind="jsonl").tolist() == answers
