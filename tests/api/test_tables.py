"""Models in Python read tables from files as the command does."""

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
