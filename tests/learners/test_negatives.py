"""``--negatives``: what is drawn is what a plain-Python twin draws, whatever the batches; models keep the items."""

import json
import math
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.negatives import Draws, line

import vwlite
from vwlite.errors import UsageError
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.dyadic import Negatives
from vwlite.learners.negatives import COLUMNS

ITEMS = ["|item i0", "|item i1 x:2 |genre a", "|item i1 x:3 |genre a", "|genre b c |item i2", "|item i3", ""]
OPTIONS = {"dotproduct": ["user,item"], "rank": 3, "random_seed": 5, "quadratic": ["ug"], "bits": 10}
rows = st.tuples(
    st.sampled_from([1, 1, 1, -1, math.nan]), st.sampled_from([1, 1, 2, 0]), st.integers(0, 3), st.sampled_from(ITEMS)
)


def numbers_of(model):
    parts = [model.factors(side) for side in ("user", "item")]
    return [{name: array.tolist() for name, array in part.items()} for part in parts]


def learned(lines, **options):
    model = vwlite.Model(**{"loss_function": "logistic", **OPTIONS, **options})
    model.learn(lines)
    return model


def check(given_rows, count, options, unwanted, weight=1.0):
    draws, mine, theirs = Draws(count, 5, unwanted, weight), [], []
    for label, importance, user, item in given_rows:
        label = unwanted if label == -1 else label
        mine.append(line(label, importance, f"|user u{user}", item))
        theirs += draws.lines(label, importance, f"|user u{user}", item)
    if not any(one.strip()[:1] != "|" for one in mine):
        return
    some = {"negatives": count, "negatives_of": "item,genre", "negative_weight": weight}
    assert numbers_of(learned(mine, **options, **some)) == numbers_of(learned(theirs, **options))


@settings(max_examples=20, deadline=None)
@given(st.lists(rows, min_size=1, max_size=30), st.integers(1, 4))
def test_what_is_learned_is_the_text_of_the_twin(given_rows, count):
    check(given_rows, count, {}, -1)


@settings(max_examples=10, deadline=None)
@given(st.lists(rows, min_size=1, max_size=30))
def test_with_other_labels_and_weights(given_rows):
    check(given_rows, 2, {"loss_function": "squared"}, 0, weight=0.5)


def text(count=400, items=30):
    draw = np.random.default_rng(1)
    return [f"1 |user u{u} |item i{i}\n" for u, i in draw.integers(0, items, (count, 2)).tolist()]


def arrays(model, folder):
    model.save(folder / "model")
    with zipfile.ZipFile(folder / "model") as archive:
        result = {name: archive.read(name) for name in archive.namelist() if name != "header.json"}
        return result, json.loads(archive.read("header.json"))["model"]["drawn_for"]


def test_batches_and_runs_do_not_matter(tmp_path):
    lines, options = text(), {"negatives": 3, "decay_learning_rate": 1}
    whole = arrays(learned(lines, **options), tmp_path)
    assert whole[1] == 400
    model = learned(lines[:1], **options)
    for begin, end in ((1, 2), (2, 50), (50, 51), (51, 399), (399, 400)):
        model.learn(lines[begin:end])
    assert arrays(model, tmp_path) == whole
    again = vwlite.Model.load(tmp_path / "model")
    for some in (again, learned(lines, **options)):
        some.learn(text(50, 60))
    assert arrays(again, tmp_path) == arrays(some, tmp_path)
    assert arrays(learned(lines, **options, random_seed=6), tmp_path) != whole


def test_losses_and_predictions_are_those_of_the_examples():
    model = learned(text(100), negatives=2)
    assert model.predict(["|user u1 |item i1"]).shape == (1,)
    assert model.counters["example_number"] == 100


def test_items_are_kept_only_to_go_on(tmp_path):
    model = learned(text(), negatives=1)
    whole, _ = arrays(model, tmp_path)
    assert {name for name in whole if name.startswith("item_")}
    model.save(tmp_path / "small", predict_only=True)
    with zipfile.ZipFile(tmp_path / "small") as archive:
        assert not any(name.startswith("item_") for name in archive.namelist())
    assert (vwlite.Model.load(tmp_path / "small").predict(text(5)) == model.predict(text(5))).all()
    other = vwlite.Model.load(tmp_path / "model", negatives=0)
    other.learn(text(5))
    assert "item_value.npy" not in arrays_of_plain(other, tmp_path)


def arrays_of_plain(model, folder):
    model.save(folder / "plain")
    with zipfile.ZipFile(folder / "plain") as archive:
        return archive.namelist()


@pytest.mark.parametrize(
    "damage",
    [
        {"row_namespace": [0, 2, 2]},
        {"row_namespace": [1, 2, 3]},
        {"namespace_start": [0, 1, 1, 3]},
        {"namespace_start": [0, 1, 2]},
        {"namespace_char": [97, 97]},
        {"feature_hash": [5, 6, 7, 8]},
        {"feature_hash": [5, 6, 5]},
        {"value": [1, math.nan, 1]},
        {"value": None},
    ],
)
def test_damaged_items_are_refused(damage):
    whole = {
        "row_namespace": [0, 1, 2, 3], "namespace_char": [97] * 3, "namespace_hash": [1] * 3,
        "namespace_start": [0, 1, 2, 3], "feature_hash": [5, 6, 7], "value": [1, 1, 1],
    }  # fmt: skip

    def arrays_of(changes):
        given = {"item_" + name: numbers for name, numbers in {**whole, **changes}.items() if numbers is not None}
        return {name: np.array(numbers, COLUMNS[name.removeprefix("item_")]) for name, numbers in given.items()}

    kept = Negatives(DyadicConfig(negatives=1))
    kept.load(arrays_of({}))
    assert kept.items.rows == len(kept.known) == 3
    with pytest.raises((ValueError, KeyError)):
        kept.load(arrays_of(damage))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"negatives": 2, "levels": [1, 2], "loss_function": "squared"}, "--negatives does not go with --levels"),
        ({"negatives": 2, "negative_label": 3}, "--negative-label 3: labels of this loss must be from -1 to 1"),
        ({"negatives": -1}, "--negatives takes"),
        ({"negative_weight": 2.0}, "--negative-weight does nothing without --negatives"),
        ({"negatives": 2, "filter_tree": 3}, "--negatives does not go with --filter_tree"),
        ({"negatives": 2, "multiclass": 3}, "--negatives does not go with --multiclass"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    with pytest.raises(UsageError, match=said):
        learned(text(5), **options)
