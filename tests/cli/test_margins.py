"""Losses of margins are those of the formulas, however far a prediction goes, but where vw's numbers count."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

FORMULAS = {
    "hinge": lambda m: max(0, 1 - m),
    "logistic": lambda m: math.log1p(math.exp(-m)),
    "exponential": lambda m: math.exp(-m),
    "modified_huber": lambda m: max(0, 1 - m) ** 2 if m >= -1 else -4 * m,
    "tanh": lambda m: 1 - math.tanh(m),
    "squared_hinge": lambda m: max(0, 1 - m) ** 2,
    "perceptron": lambda m: max(0, -m),
}
MARGINS = (-300, -3, -1, 0.5, 2, 300)
DATA = "1 |w a b\n-1 |w b c\n" * 20


def losses_of(vwlite, margin):
    """The average losses of the model ``m`` at this margin, of either label, and the predictions there."""
    Path("far").write_text(f"1 1 {margin} |w new\n-1 1 {-margin} |w new\n")
    predictions = [float(line) for line in vwlite("predict", "-i", "m", "far", "--raw").stdout.split()]
    return json.loads(vwlite("evaluate", "-i", "m", "far", "--metric", "loss", "--json", "-").stdout)[
        "loss"
    ], predictions


@pytest.mark.parametrize(
    ("loss", "learner"),
    [
        *((loss, learner) for loss in FORMULAS for learner in ("", "--coin")),
        *((loss, "--bfgs --passes 3") for loss in FORMULAS if loss != "perceptron"),
    ],
)
def test_the_loss_is_the_formula(vwlite, write, loss, learner):
    write("train", DATA)
    vwlite("train", "train", "-f", "m", "--noconstant", "--quiet", "--loss_function", loss, *learner.split())
    for margin in MARGINS if "huber" in loss or "hinge" in loss else MARGINS[1:-1]:
        actual, told = losses_of(vwlite, margin)
        assert actual == pytest.approx(FORMULAS[loss](margin), rel=1e-6)
        assert told == [margin, -margin]


@pytest.mark.parametrize(("loss", "clipped"), [("hinge", True), ("modified_huber", False)])
def test_vw_clips_hinge_alone(vwlite, write, loss, clipped):
    write("d", DATA)
    vwlite("vw", "d", "-f", "m", "--noconstant", "--quiet", "--loss_function", loss)
    actual, told = losses_of(vwlite, -3)
    assert told == ([-1, 1] if clipped else [-3, 3]) and actual == pytest.approx(2 if clipped else 12)
    vwlite("train", "d", "-i", "m", "-f", "m", "--quiet")  # a model stays what it is
    assert losses_of(vwlite, -3) == (actual, told)


@pytest.mark.parametrize("options", ["--oaa 3", "--ect 3", "--csoaa 3", "--multilabel_oaa 4"])
def test_classes_have_the_numbers_of_vw(vwlite, write, tables, options):
    labels = {"--csoaa 3": ("1:0 2:1 3:2", "1:3 3:0"), "--multilabel_oaa 4": ("1,2", "0,3")}.get(options, ("1", "3"))
    write("d", "".join(f"{labels[n % 2]} |w a{n % 5} b{n % 3}:9 c:{n}\n" for n in range(60)))
    for command in ("train", "vw"):
        vwlite(command, "d", "-f", command, "--loss_function", "hinge", "-l", "5", "--quiet", *options.split())
    assert tables("train") == tables("vw")


def test_binary_predictions_are_signs(vwlite, write):
    write("train", DATA)
    vwlite("train", "train", "-f", "m", "--noconstant", "--quiet", "--loss_function", "hinge", "--binary")
    assert losses_of(vwlite, -3)[0] == 1 and losses_of(vwlite, 3)[0] == 0


def test_modified_huber_is_not_the_clipped_squared_error(vwlite, write):
    """The clearest examples of one class are labelled as of the other."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 8))
    margin = x @ np.arange(1, 9) / 14.3
    y = np.where((margin > 0) & (margin < np.quantile(margin, 0.91)), 1, -1)
    lines = (" ".join(f"{key}:{v:.3f}" for key, v in zip("abcdefgh", row, strict=True)) for row in x)
    write("d", "".join(f"{label} | {line}\n" for label, line in zip(y, lines, strict=True)))
    told = {}
    for loss in ("squared", "modified_huber"):
        vwlite("train", "d", "-f", "m", "--quiet", "--loss_function", loss, "--passes", "3", "--holdout_off")
        for kind in ("--no-raw", "--raw"):
            stdout = vwlite("predict", "-i", "m", "d", *([kind] if kind == "--raw" else [])).stdout
            told[loss, kind] = np.array([float(line) for line in stdout.split()])
    assert abs(told["squared", "--no-raw"]).max() == 1 < abs(told["modified_huber", "--no-raw"]).max()
    assert np.array_equal(told["modified_huber", "--no-raw"], told["modified_huber", "--raw"])
    assert abs(told["squared", "--raw"] - told["modified_huber", "--raw"]).max() > 1e-3


def test_the_perceptron_is_rosenblatts(vwlite, write, weights):
    rng = np.random.default_rng(1)
    x, w = rng.integers(-3, 4, (60, 5)), rng.normal(size=5)
    y = np.where(x @ w > 0, 1, -1)
    features = [" ".join(f"{i}:{value}" for i, value in enumerate(row)) for row in x]
    write("d", "".join(f"{label} | {row}\n" for row, label in zip(features, y, strict=True)))
    v = np.zeros(5)
    for row, label in zip(x, y, strict=True):
        v += label * row if label * (row @ v) <= 0 else 0
    textbook = "--sgd --power_t 0 -l 1 --noconstant --loss_function perceptron -b 10"
    vwlite("train", "d", "-f", "m", "--quiet", *textbook.split())
    assert weights("m") == {i: value for i, value in enumerate(v) if value}


def test_the_perceptron_is_refused_where_0_is_best(vwlite, write):
    write("d", DATA)
    stderr = vwlite("train", "d", "--bfgs", "--passes", "2", "--loss_function", "perceptron", status=2).stderr
    assert "--loss_function perceptron does not go with --bfgs: weights of 0 have no loss" in stderr
