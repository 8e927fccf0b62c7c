"""``Model.explain`` beside ``vwlite explain`` and the raw predictions."""

import json

import numpy as np
import pytest
from model_runs import CLASSES, DYADIC, GROUPS, NUMBERS

from vwlite import Model
from vwlite.errors import DataError, UsageError

BASES = b"1 1 0.5 |u u1\n|u u2\n0 2 -1 |u u3 |i i1\n"


def total(terms):
    return sum(term.product for term in terms)


@pytest.mark.parametrize(
    "options", ["", "--l1 1e-3 --l2 1e-3", "--ftrl", "--coin", "--lrq ui3", "-q ui", "--average --l2 1e-3", DYADIC]
)
def test_products_and_base_sum_to_the_raw_prediction(options):
    model = Model(options)
    model.learn(NUMBERS)
    before = model.dumps()
    for text, bases in ((NUMBERS, [0] * 90), (BASES, [0.5, 0, -1])):
        sums = [total(terms) + base for terms, base in zip(model.explain(text), bases, strict=True)]
        assert sums == pytest.approx(model.predict(text, raw=True), rel=1e-5, abs=1e-6)
    assert model.dumps() == before


@pytest.mark.parametrize(("options", "text"), [("", NUMBERS), ("--oaa 3", CLASSES), (DYADIC, NUMBERS)])
def test_terms_are_those_of_the_command(options, text, run_here, tmp_path):
    model = Model(options)
    model.learn(text)
    model.save(tmp_path / "m")
    (tmp_path / "d").write_bytes(text)
    stdout = run_here("explain", "-i", "m", "d", "--classes", "1", "--json", "-", "--top", "3").stdout
    examples = json.loads(stdout)["examples"]
    expected = [[list(term.values()) for term in example["sums"][0]["terms"]] for example in examples]
    assert [[list(term) for term in terms] for terms in model.explain(text, top=3)] == expected
    assert all(0 < len(terms) <= 3 for terms in expected)


def test_names_need_not_be_in_the_model():
    model = Model(label_units="raw")
    model.learn("1 |words free gift\n")
    (terms,) = model.explain("|words gift new")
    assert [term.name for term in terms] == ["words^gift", "Constant", "words^new"]
    assert terms[0].slot == model.slot("gift", "words")
    assert terms[0].weight == model.coefficients(["gift"], "words")[0]


def test_rows_in_memory_are_explained_by_name():
    rows, y = {"user": np.array([[1, 0.5], [0, 2]])}, [1, -1]
    model = Model()
    model.learn(rows, y)
    first, second = model.explain(rows)
    assert {term.name for term in first} == {"user^0", "user^1", "Constant"}
    assert {term.name: term.value for term in second} == {"user^1": 2, "Constant": 1}
    assert [total(terms) for terms in (first, second)] == pytest.approx(model.predict(rows, raw=True), rel=1e-6)
    named = model.explain(rows, names={"user": ["age", "share"]}, base=[0.5, -1])
    assert {term.name for term in named[0]} == {"user^age", "user^share", "Constant"}


def test_a_malformed_line_has_no_terms():
    model = Model()
    model.learn("1 |a x y\n")
    actual = model.explain("|a x\n|a x:nan\n\n|a y\n|a:inf x", bad_lines=1)
    assert [len(terms) for terms in actual] == [2, 0, 2, 0]
    assert len(model.predict("|a x\n|a x:nan\n\n|a y\n|a:inf x", bad_lines=1)) == 4
    with pytest.raises(DataError, match="malformed"):
        model.explain("|a x\n|a x:nan\n")
    assert model.explain("") == []


def test_every_line_of_a_group_has_terms():
    model = Model("--csoaa_ldf m")
    model.learn(GROUPS)
    assert [len(terms) for terms in model.explain(GROUPS)] == [2] * 80


def test_models_whose_predictions_are_no_sums_are_refused():
    model = Model("--filter_tree 3")
    model.learn(CLASSES)
    with pytest.raises(UsageError, match="explain does not go with --filter_tree: its predictions are no sums"):
        model.explain(CLASSES)


def test_rows_of_which_no_feature_is_known_are_noted(caplog):
    model = Model()
    model.explain("|w a")
    model.learn("1 |w a\n3 |w b\n" * 9)
    model.explain("|w a")
    assert not caplog.messages
    model.explain("|v a")
    assert caplog.messages[0].startswith("no feature of the data changed a prediction")
