"""Metrics: hand-worked cases, laws for any data, and scikit-learn where it is installed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.errors import DataError, Diverged, UsageError
from vwlite.evaluation.metric_table import as_json
from vwlite.evaluation.metrics import Outcomes, evaluate

ALL_KINDS = [("binary", "probability"), ("binary", "score"), ("regression", "score")]


def measure(labels, predictions, weights=None, **options):
    weights = np.ones(len(labels)) if weights is None else weights
    return evaluate(*(np.array(c, np.float32) for c in (labels, predictions, weights)), **options)


def single(report):
    """The figures; without tables."""
    return {name: value for name, value in report.items() if not isinstance(value, list | dict)}


@st.composite
def samples(draw, min_size=1):
    """Binary labels, probabilities on a coarse grid (for the ties), small whole weights."""
    row = st.tuples(st.sampled_from([0, 1]), st.integers(0, 16), st.integers(1, 4))
    rows = draw(st.lists(row, min_size=min_size, max_size=40))
    labels, steps, weights = (np.array(column) for column in zip(*rows, strict=True))
    return labels, steps / 16, weights


def assert_same(actual, other, tolerance=1e-12):
    """Equal reports; ``approx`` also takes NaN for NaN and walks the bins."""
    assert actual.keys() == other.keys()
    for name, value in actual.items():
        pairs = [(value, other[name])]
        if isinstance(value, list):
            pairs = zip(value, other[name], strict=True)
        elif isinstance(value, dict):
            pairs = zip(value["weight"], other[name]["weight"], strict=True)
        for left, right in pairs:
            assert left == pytest.approx(right, abs=tolerance, rel=tolerance, nan_ok=True), name


# Hand-worked cases


def test_probabilities_by_hand():
    report = measure([1, 0, 1, 0], [0.75, 0.5, 0.25, 0.25], [1, 1, 2, 4], loss=0.125)
    # pairs (positive, negative) and their weight: .75>.5 1, .75>.25 4, .25<.5 2, .25=.25 8 (half)
    assert report["auc"] == pytest.approx((1 + 4 + 8 / 2) / (3 * 5))
    assert report["accuracy"] == 6 / 8  # 0.5 is not above 0.5, so it says "negative"
    logs = math.log(0.75) + math.log(0.5) + 2 * math.log(0.25) + 4 * math.log(0.75)
    assert report["log_loss"] == pytest.approx(-logs / 8)
    assert report["mse"] == (0.0625 + 0.25 + 2 * 0.5625 + 4 * 0.0625) / 8
    assert report["rmse"] == pytest.approx(math.sqrt(report["mse"]))
    assert report["mae"] == (0.25 + 0.5 + 2 * 0.75 + 4 * 0.25) / 8
    assert report["mean_label"] == 3 / 8
    assert report["mean_prediction"] == (0.75 + 0.5 + 0.5 + 1) / 8
    assert report["calibration"] == pytest.approx(2.75 / 3)
    assert report["best_constant_log_loss"] == pytest.approx(-(3 / 8) * math.log(3 / 8) - (5 / 8) * math.log(5 / 8))
    assert report["r2"] == pytest.approx(1 - report["mse"] / (3 / 8 * 5 / 8))
    assert (report["examples"], report["weight"], report["loss"]) == (4, 8.0, 0.125)


def test_margins_are_cut_at_zero_and_have_no_log_loss():
    report = measure([-1, 1, 1, -1], [-2, 0.25, 0, 0.5], output="score")
    assert report["accuracy"] == 2 / 4
    assert report["auc"] == 2 / 4  # 0.25 > -2 and 0 > -2 out of four pairs
    assert report["mse"] == (1 + 0.5625 + 1 + 2.25) / 4
    assert not {"log_loss", "calibration", "calibration_bins"} & report.keys()


def test_sides_by_hand():
    report = measure([1, 1, 0, 0, 1], [0.75, 0.25, 0.75, 0.25, 0.75], [1, 2, 4, 8, 16])
    assert report["confusion_matrix"] == {"classes": ["negative", "positive"], "weight": [[8, 4], [2, 17]]}
    assert report["precision"] == 17 / 21 and report["recall"] == 17 / 19
    assert report["f1"] == pytest.approx(2 / (21 / 17 + 19 / 17))
    assert report["accuracy"] == 25 / 31


def test_precision_of_no_positive_answer_has_no_value():
    report = measure([1, 0], [0.25, 0.25])
    assert math.isnan(report["precision"]) and report["recall"] == report["f1"] == 0
    assert math.isnan(measure([0, 0], [0.25, 0.25])["f1"])


def test_average_precision_by_hand():
    # from the top: 1 of 1, then a tie with one more positive of three rows, then the last of five
    report = measure([1, 1, 0, 0, 1], [0.75, 0.5, 0.5, 0.5, 0.25], metrics=["pr_auc"])
    assert report["pr_auc"] == pytest.approx((1 + 2 / 4 + 3 / 5) / 3)


def test_order_goes_by_the_scores():
    clipped, scores = [1, 1, 0.5, 0], np.array([3, 2, 0.5, -1], np.float32)
    plain = measure([1, 0, 1, 0], clipped)
    told = measure([1, 0, 1, 0], clipped, scores=scores)
    assert plain["auc"] == 2.5 / 4 and told["auc"] == 3 / 4
    assert told["pr_auc"] == pytest.approx((1 + 2 / 3) / 2) != plain["pr_auc"]
    assert told["auc"] + measure([1, 0, 1, 0], clipped, scores=scores, metrics=["auc_loss"])["auc_loss"] == 1
    for name in ("accuracy", "log_loss", "mse", "calibration_bins"):
        assert told[name] == plain[name]


@pytest.mark.parametrize("low", [-1, 0])
def test_a_regression_of_two_kinds_of_labels_has_metrics_of_order(low):
    labels, predictions = [1, low, 1, low], [0.9, 0.6, 0.4, -0.9]
    report = measure(labels, predictions, task="regression")
    assert report["auc"] == 3 / 4 and "pr_auc" in report and "accuracy" not in report
    asked = measure(labels, predictions, task="regression", metrics=["accuracy", "f1"])
    assert asked["accuracy"] == (3 / 4 if low else 2 / 4)  # 0.4 is above 0, not above 0.5
    assert math.isnan(measure([1, 1], [0.5, 2], task="regression", metrics=["auc"])["auc"])
    assert math.isnan(measure([3, 3], [0.5, 2], task="regression", metrics=["auc"])["auc"])
    graded = measure([0, 1, 2], [0.1, 0.3, 0.2], task="regression", metrics=["auc"], graded=True)
    assert graded["auc"] == 1


def test_regression_by_hand():
    report = measure([1, 2, 4], [2, 2, 2], [1, 1, 2], task="regression")
    assert report["mse"] == (1 + 0 + 2 * 4) / 4
    assert report["mae"] == (1 + 0 + 2 * 2) / 4
    assert report["mean_label"] == 11 / 4
    spread = (1.75**2 + 0.75**2 + 2 * 1.25**2) / 4
    assert report["r2"] == pytest.approx(1 - report["mse"] / spread)
    assert not {"auc", "accuracy", "best_constant_log_loss"} & report.keys()


def test_labels_of_either_convention_mean_the_same_to_probabilities():
    predictions = [0.9, 0.4, 0.6]
    assert measure([1, -1, -1], predictions) == measure([1, 0, 0], predictions)


@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [
        ([0, 1], [0.1, 0.2], 1.0),
        ([1, 0], [0.1, 0.2], 0.0),
        ([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], 0.5),
        ([0, 1, 1], [0.5, 0.5, 0.75], 0.75),
    ],
)
def test_auc_and_ties(labels, predictions, expected):
    assert measure(labels, predictions)["auc"] == expected


def test_log_loss_of_certain_and_wrong_is_finite():
    report = measure([1, 0], [0, 1])
    assert report["log_loss"] == pytest.approx(23 * math.log(2))


def test_calibration_bins_have_equal_weight():
    labels = np.tile([0, 1], 10)
    report = measure(labels, np.arange(20) / 20)
    rows = report["calibration_bins"]
    assert [row["weight"] for row in rows] == pytest.approx([2] * 10)
    assert [row["observed_rate"] for row in rows] == pytest.approx([0.5] * 10)
    expected = np.arange(20).reshape(10, 2).mean(axis=1) / 20
    assert [row["mean_prediction"] for row in rows] == pytest.approx(expected)


def test_tied_predictions_are_shared_out_between_bins():
    rows = measure([1, 0, 0, 0], [0.25] * 4)["calibration_bins"]
    assert [row["observed_rate"] for row in rows] == pytest.approx([0.25] * 10)
    assert [row["mean_prediction"] for row in rows] == pytest.approx([0.25] * 10)


def test_ece_is_the_mean_distance_in_the_bins():
    assert measure([1, 0, 0, 0], [0.25] * 4, metrics=["ece"])["ece"] == pytest.approx(0)
    report = measure([1, 0], [0.75, 0.5], metrics=["ece"])
    assert report["ece"] == pytest.approx((0.25 + 0.5) / 2)
    assert measure([1, 0], [0.75, 0.5], [4, 1], metrics=["ece"])["ece"] == pytest.approx((4 * 0.25 + 0.5) / 5)
    numbers = measure([5, 7], [4, 9], task="regression", metrics=["ece", "calibration_bins"])
    assert numbers["ece"] == pytest.approx((1 + 2) / 2)
    assert sum(row["observed_rate"] * row["weight"] for row in numbers["calibration_bins"]) == pytest.approx(12)


# Degenerate inputs


@pytest.mark.parametrize(("task", "output"), ALL_KINDS)
@pytest.mark.parametrize("rows", [0, 3])
def test_nothing_to_measure(task, output, rows):
    report = measure([1] * rows, [0.5] * rows, [0] * rows, task=task, output=output)
    assert (report.pop("examples"), report.pop("weight")) == (0, 0.0)
    assert report.pop("calibration_bins", []) == []
    assert np.sum(report.pop("confusion_matrix", {}).get("weight", 0)) == 0
    assert all(math.isnan(value) for value in report.values())


@pytest.mark.parametrize("label", [0, 1])
def test_metrics_of_one_class_without_a_value_are_nan(label):
    report = measure([label] * 3, [0.1, 0.2, 0.3], [0.1, 0.7, 0.3])
    assert math.isnan(report["auc"])
    assert math.isnan(report["r2"])
    assert report["best_constant_log_loss"] == 0
    assert math.isnan(report["calibration"]) == (label == 0)
    assert math.isfinite(report["log_loss"])


def test_constant_labels_have_no_r2():
    report = measure([0.1] * 7, [0.1] * 7, [0.3] * 7, task="regression")
    assert math.isnan(report["r2"])


def test_rows_without_weight_count_for_nothing():
    plain = measure([1, 0, 1], [0.9, 0.4, 0.3])
    assert measure([1, 0, 1, 0, 1], [0.9, 0.4, 0.3, 1, 0], [1, 1, 1, 0, -2]) == plain


# Laws


@given(samples(), st.randoms())
def test_order_of_rows_does_not_matter(sample, random):
    order = list(range(len(sample[0])))
    random.shuffle(order)
    assert_same(measure(*sample), measure(*(column[order] for column in sample)))


@given(samples())
def test_weight_is_the_same_as_repeated_rows(sample):
    labels, predictions, weights = sample
    weighted = measure(*sample)
    repeated = measure(np.repeat(labels, weights), np.repeat(predictions, weights))
    assert repeated.pop("examples") == weights.sum()
    assert weighted.pop("examples") == len(labels)
    assert_same(weighted, repeated)


@given(samples(), st.floats(0.25, 64))
def test_only_ratios_of_weights_matter(sample, factor):
    labels, predictions, weights = sample
    plain = measure(*sample)
    scaled = measure(labels, predictions, weights * np.float32(factor))
    for name in single(plain).keys() - {"weight"}:
        assert scaled[name] == pytest.approx(plain[name], rel=1e-5, abs=1e-5, nan_ok=True), name


@given(samples())
def test_auc_knows_only_the_order(sample):
    labels, predictions, weights = sample
    plain = measure(*sample)["auc"]
    for warped in (predictions**3, np.exp(predictions), 1000 * predictions - 300):
        auc = measure(labels, warped, weights, output="score")["auc"]
        assert auc == pytest.approx(plain, abs=1e-12, nan_ok=True)
    flipped = measure(labels, 1 - predictions, weights)["auc"]
    assert flipped == pytest.approx(1 - plain, abs=1e-12, nan_ok=True)


@given(samples())
def test_auc_counts_pairs(sample):
    labels, predictions, weights = sample
    right = pairs = 0.0
    for i in np.flatnonzero(labels == 1):
        for j in np.flatnonzero(labels == 0):
            pairs += weights[i] * weights[j]
            sign = np.sign(predictions[i] - predictions[j])
            right += weights[i] * weights[j] * (1 + sign) / 2
    expected = right / pairs if pairs else math.nan
    assert measure(*sample)["auc"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(samples())
def test_average_precision_is_the_mean_precision_at_positive_rows(sample):
    labels, predictions, weights = sample
    actual = total = 0.0
    for i in np.flatnonzero(labels == 1):
        above = predictions >= predictions[i]
        total += weights[i]
        actual += weights[i] * weights[above & (labels == 1)].sum() / weights[above].sum()
    expected = actual / total if 0 < total < weights.sum() else math.nan
    assert measure(*sample)["pr_auc"] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(samples())
def test_bins_add_up_to_the_whole(sample):
    report = measure(*sample)
    rows = report["calibration_bins"]
    weight = report["weight"]
    assert len(rows) == 10
    assert [row["weight"] for row in rows] == pytest.approx([weight / 10] * 10)
    for part, whole in (("mean_prediction", "mean_prediction"), ("observed_rate", "mean_label")):
        total = sum(row[part] * row["weight"] for row in rows)
        assert total == pytest.approx(report[whole] * weight, abs=1e-9)
    means = np.array([row["mean_prediction"] for row in rows])
    assert (np.diff(means) >= -1e-12).all()


@given(samples(), st.integers(1, 7))
def test_batches_do_not_matter_at_all(sample, size):
    columns = [np.array(column, np.float32) for column in (*sample, sample[1] * 3 - 1)]
    outcomes = Outcomes()
    for start in range(0, len(columns[0]), size):
        outcomes.add(*(column[start : start + size] for column in columns))
    assert len(outcomes) == len(columns[0])
    assert as_json(evaluate(*outcomes.columns())) == as_json(evaluate(*columns))


def test_outcomes_leave_out_unlabelled_rows_and_keep_copies():
    outcomes = Outcomes()
    assert [len(column) for column in outcomes.columns()] == [0, 0, 0, 0]
    predictions = np.array([0.5, 0.25, 0.75], np.float32)
    ones = np.ones(3, np.float32)
    outcomes.add(np.array([1, np.nan, 0], np.float32), predictions, ones, 2 * predictions)
    predictions[:] = 9
    labels, kept, weights, scores = outcomes.columns()
    assert (labels.tolist(), kept.tolist(), weights.tolist()) == ([1, 0], [0.5, 0.75], [1, 1])
    assert scores.tolist() == [1, 1.5]
    assert kept.dtype == np.float32


# Refusals


@pytest.mark.parametrize(
    ("labels", "predictions", "options", "error", "message"),
    [
        ([1, 3], [0.5, 0.5], {}, DataError, "label 3 is not binary"),
        ([1, 0, -1], [0.5] * 3, {}, DataError, "mix -1 with 0"),
        ([1, math.nan], [0.5, 0.5], {}, DataError, "unlabelled"),
        ([1, math.nan], [0.5, 0.5], {"task": "regression"}, DataError, "unlabelled"),
        ([1, 0], [0.5, math.nan], {}, Diverged, "not finite"),
        ([1, 0], [0.5, math.inf], {"output": "score"}, Diverged, "not finite"),
        ([1, 0], [0.5, 1.5], {}, UsageError, "1.5 is not a probability"),
        ([1, 0], [-0.5, 0.5], {}, UsageError, "-0.5 is not a probability"),
        ([1, 0], [0.5, 0.5], {"metrics": ["acc"]}, UsageError, "one of loss, matching_loss, best_constant_loss, "),
        ([1, 2], [2, 2], {"task": "regression", "metrics": ["auc"]}, UsageError, "'auc' needs binary"),
        ([3, 3], [2, 2], {"task": "regression", "metrics": ["f1"]}, UsageError, "'f1' needs binary"),
        ([1], [2], {"output": "score", "metrics": ["log_loss"]}, UsageError, "needs probabilities"),
        ([1], [0.5], {"task": "ranking"}, ValueError, "ranking"),
        ([1], [0.5], {"output": "logit"}, ValueError, "logit"),
    ],
)
def test_wrong_input_is_refused(labels, predictions, options, error, message):
    with pytest.raises(error, match=message):
        measure(labels, predictions, **options)


# Against scikit-learn


@pytest.fixture(scope="module")
def reference():
    return pytest.importorskip("sklearn.metrics")


@pytest.fixture(scope="module")
def drawn():
    """2000 rows with ties and probabilities 0 and 1, all float32."""
    generator = np.random.default_rng(7)
    predictions = np.round(generator.random(2000), 2).astype(np.float32)
    labels = (generator.random(2000) < predictions * 0.8 + 0.1).astype(np.float32)
    weights = generator.exponential(size=2000).astype(np.float32)
    return labels, predictions, weights


def test_scikit_learn_agrees(reference, drawn):
    labels, predictions, _ = drawn
    report = evaluate(*drawn)
    expected = {
        "auc": reference.roc_auc_score,
        "pr_auc": reference.average_precision_score,
        "mse": reference.mean_squared_error,
        "mae": reference.mean_absolute_error,
        "r2": reference.r2_score,
    }
    wide = [column.astype(np.float64) for column in drawn]
    for name, function in expected.items():
        value = function(wide[0], wide[1], sample_weight=wide[2])
        assert report[name] == pytest.approx(value, rel=1e-11), name
    for name in ("accuracy", "precision", "recall", "f1"):
        value = getattr(reference, f"{name}_score")(labels, predictions > 0.5, sample_weight=wide[2])
        assert report[name] == pytest.approx(value, rel=1e-11), name
    matrix = reference.confusion_matrix(labels, predictions > 0.5, sample_weight=wide[2])
    assert report["confusion_matrix"]["weight"] == [pytest.approx(row, rel=1e-11) for row in matrix.tolist()]


def test_scikit_learn_clips_log_loss_alike(reference, drawn):
    labels, predictions, weights = drawn
    assert {0, 1} <= set(predictions.tolist())
    value = reference.log_loss(labels, predictions, sample_weight=weights)
    assert evaluate(*drawn)["log_loss"] == pytest.approx(value, rel=1e-5)
