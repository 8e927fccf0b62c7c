"""Shards and models made apart whose labels are learned in units of their spread."""

import numpy as np
import pytest
from friedman import friedman, lines_of
from in_process import call

import vwlite
from vwlite.distributed.delta import pool_label_sums
from vwlite.learners.gd import LABEL_SUMS

ROWS = 1200
X, Y = friedman(2 * ROWS)
UNITS = ("--label-units", "spread")


def sums(*values):
    return dict(zip(LABEL_SUMS, values, strict=True))


def scalars(model):
    return model._writer().header()["scalars"]


def rounds(folder, y, *args, shards="4"):
    lines = lines_of(X[:ROWS], y[:ROWS]).splitlines()
    (folder / "data").write_text("".join(f"{line:<200}\n" for line in lines))  # so that shards have the same rows
    options = (*UNITS, "--workers", "1", "--shards", shards, "--rounds", "2", *args)
    call(folder, "train", "data", "-f", "model", *options)
    return vwlite.load(str(folder / "model"))


def test_sums_are_those_of_all_labels():
    base = sums(10.0, 10.0, 1.0, 1.0, 2.0, 0.5)
    first = sums(20.0, 15.0, 4.0, 3.0, 4.0, 1.0)
    two = sums(40.0, 30.0, 8.0, 5.0, 6.0, 2.0)
    actual = pool_label_sums(base, [first, base, two])
    assert (actual["label_weight"], actual["label_count"]) == (50, 35)
    assert actual["label_mean"] == pytest.approx(7)
    assert actual["label_variance"] == pytest.approx((3 + 3 * 5) / 4 + (9 + 3 * 1) / 4)
    assert actual["label_variance_all"] == pytest.approx((4 + 3 * 6) / 4 + (9 + 3 * 1) / 4)
    assert actual["label_deviation"] == pytest.approx(
        (np.hypot(1, 3 / 1.2533) + 3 * np.hypot(2, 1 / 1.2533)) / 4
    )
    assert pool_label_sums(base, [base, base]) == base


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_scale_and_offset_do_not_matter_to_shards(tmp_path, loss):
    def predicted(y):
        predictions = rounds(tmp_path, y, "--loss_function", loss).predict(lines_of(X[ROWS:], Y[ROWS:]))
        return np.asarray(predictions, float)

    plain = predicted(Y)
    for factor, offset, within in ((1024, 0, 1e-5), (1, 1000, 2e-3)):
        again = predicted((Y + offset * Y.std()) * factor) / factor - offset * Y.std()
        np.testing.assert_allclose(again, plain, atol=within * Y.std())


@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_shards_learn_nearly_what_one_learner_does(tmp_path, loss):
    y = 1000 * Y + 5e4
    shards = rounds(tmp_path, y, "--loss_function", loss)
    whole = vwlite.Model("--label-units spread", loss_function=loss)
    whole.learn(lines_of(X[:ROWS], y[:ROWS]), passes=2)
    test = lines_of(X[ROWS:], y[ROWS:])
    errors = [np.sqrt(np.mean((np.asarray(model.predict(test)) - y[ROWS:]) ** 2)) for model in (shards, whole)]
    assert errors[0] < 1.15 * errors[1]
    assert scalars(shards)["label_mean"] == pytest.approx(y[:ROWS].mean(), abs=0.1 * y.std())
    assert scalars(shards)["label_weight"] == 2 * ROWS


def test_models_made_apart_average_in_the_units_of_the_labels(tmp_path):
    for name, rows, factor in (("one", slice(0, 300), 1.0), ("two", slice(300, 1200), 8.0)):
        (tmp_path / f"{name}.vw").write_text(lines_of(X[rows], factor * Y[rows]))
        call(tmp_path, "train", f"{name}.vw", "-f", name, *UNITS)
    call(tmp_path, "merge", "one", "two", "-f", "both")
    one, two, both = (vwlite.load(str(tmp_path / name)) for name in ("one", "two", "both"))
    expected = 0.25 * one.weights.astype(float) + 0.75 * two.weights
    np.testing.assert_allclose(both.weights, expected, rtol=1e-5)
    call(tmp_path, "merge", "one", "two", "-f", "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "both").read_bytes()
    call(tmp_path, "train", "two.vw", "-i", "both", "-f", "on")


def test_shards_without_labels_have_no_say(tmp_path):
    text = lines_of(X[:ROWS], Y[:ROWS])
    (tmp_path / "data").write_text(text + "".join(f"|{line.partition('|')[2]}\n" for line in text.splitlines()))
    call(tmp_path, "train", "data", "-f", "model", *UNITS, "--workers", "1", "--shards", "2", "--rounds", "1")
    actual = vwlite.load(str(tmp_path / "model"))
    assert scalars(actual)["label_mean"] == pytest.approx(Y[:ROWS].mean(), abs=0.1 * Y.std())
    assert scalars(actual)["min_label"] == pytest.approx(Y[:ROWS].min())


def test_equal_labels_of_all_shards_are_learned_exactly(tmp_path):
    assert rounds(tmp_path, np.full(len(Y), 3930.5)).predict("|f x1:3")[0] == 3930.5
