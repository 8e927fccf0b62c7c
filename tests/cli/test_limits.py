"""Logistic labels between limits: what typed limits mean, and what is said where there are none."""

import json
import math

import numpy as np
import pytest

ROWS = [(-1, 0.5, 1.0), (0.3, 1.5, -1.0), (1, 2.0, 0.25), (-0.25, -1.0, 0.5), (0, 0.1, 2.0), (0.75, 0.5, -0.5)]
TEXT = "".join(f"{y} | a:{a} b:{b}\n" for y, a, b in ROWS)
LIMITED = ("--loss_function", "logistic", "--logistic_min", "-1", "--logistic_max", "1")


@pytest.mark.parametrize("limits", [LIMITED, LIMITED[:4], (*LIMITED[:2], *LIMITED[4:])])
def test_typed_limits_take_what_lies_between(vwlite, write, header, limits):
    write("d", TEXT)
    write("more", "0 | a\n-0.5 | b\n")
    vwlite("train", "d", "-f", "m", *limits, "--quiet")
    vwlite("train", "more", "-i", "m", "-f", "m", *limits, "--quiet")
    assert header("m")["negative_label"] is None and header("m")["config"]["loss"]["limited"] is True
    refused = vwlite("train", "d", "-i", "m", "-f", "m", "--quiet", "--logistic_max", "2", status=2)
    assert "--logistic_max 2 contradicts m" in refused.stderr
    write("far", "1.5 | a\n")
    refused = vwlite("train", "far", "-i", "m", "-f", "m", "--quiet", status=65)
    assert "label 1.5 does not fit --loss_function logistic: labels must be from -1 to 1\n" in refused.stderr


def test_predictions_are_the_fit_of_a_hyperbolic_tangent(vwlite, write):
    """The least sum of ln cosh losses, where the predictions tanh(w x) are as wrong one way as the other."""
    write("d", TEXT)
    options = "--link glf1 --bfgs --passes 50 --termination 0 --holdout_off"
    vwlite("train", "d", "-f", "m", *LIMITED, *options.split())
    told = np.array([float(line) for line in vwlite("predict", "-i", "m", "d").stdout.split()])
    y, a, b = np.array(ROWS).T
    for x in (a, b, np.ones(len(ROWS))):
        assert abs(x @ (told - y)) < 1e-5


@pytest.mark.parametrize("label", ["0.3", "2", "-0.5"])
def test_without_limits_the_way_out_is_named(vwlite, write, label):
    write("d", f"1 | a\n{label} | b\n")
    refused = vwlite("train", "d", "-f", "m", "--loss_function", "logistic", status=65).stderr
    assert f"d:2: label {label} does not fit --loss_function logistic: labels must be 0/1 or -1/1; " in refused
    assert "--logistic_min -1 --logistic_max 1" in refused


def test_limits_do_not_go_with_a_model_of_two_classes(vwlite, write):
    write("d", "1 | a\n0 | b\n")
    vwlite("train", "d", "-f", "m", "--loss_function", "logistic", "--quiet")
    refused = vwlite("train", "d", "-i", "m", "-f", "m", *LIMITED, status=2).stderr
    assert "--logistic_min and --logistic_max contradict m, which was made without them" in refused


@pytest.mark.parametrize(("limits", "label"), [("--logistic_min 0", 0.3), ("--logistic_min -1", -0.4)])
def test_the_best_constant_is_of_the_mean_label(vwlite, write, limits, label):
    write("d", f"{label} | a\n")
    done = vwlite("train", "d", "-f", "m", "--loss_function", "logistic", *limits.split(), "--json", "j")
    with open("j") as file:
        report = json.load(file)
    assert report["best_constant"] == pytest.approx(math.log(3 / 7), rel=1e-6)
    assert report["best_constant_loss"] == pytest.approx(0.6108643, rel=1e-6)
    assert "best constant = -0.847298\nbest constant's loss = 0.610864\n" in done.stderr


def test_ranking_takes_typed_limits_too(vwlite, write):
    write("d", "-0.5 'q | a\n0.5 'q | b\n1 'r | a b\n-1 'r | c\n")
    vwlite("crr", "d", "-f", "m", *LIMITED, "--quiet", "--steps", "100")
