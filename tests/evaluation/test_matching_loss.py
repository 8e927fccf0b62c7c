"""``evaluate --metric matching_loss`` is the integral that defines a matching loss (cmput551 notes, equation 3.1)."""

import numpy as np
import pytest
from scipy.integrate import quad

import vwlite
from vwlite.errors import DataError

LINKS = {  # of a sum u, its inverse, how many sums make one of u, and labels
    "identity": (lambda u: u, lambda y: y, 1, [-1.5, 0, 2]),
    "exp": (np.exp, np.log, 1, [0.5, 3, 1]),
    "sigmoid": (lambda u: 1 / (1 + np.exp(-u)), lambda y: np.log(y / (1 - y)), 1, [0.1, 0.7, 0.5]),
    "tanh": (np.tanh, np.arctanh, 2, [-0.8, 0.1, 0.5]),
}


@pytest.mark.parametrize("name", LINKS)
def test_the_matching_loss_is_the_integral_of_the_link(name):
    link, inverse, sums, labels = LINKS[name]
    model = vwlite.Model(f"--transfer {name}")
    lines = [f"{y} {weight} |w a{place} b" for place, (y, weight) in enumerate(zip(labels, (1, 2, 0.5), strict=True))]
    model.learn(lines * 3)
    ends = model.predict([line.partition("|")[1] + line.partition("|")[2] for line in lines], raw=True) / sums
    each = [quad(lambda u, y=y: link(u) - y, inverse(y), z)[0] for y, z in zip(labels, ends, strict=True)]
    metrics = model.evaluate(lines, metrics="rmse,matching_loss")
    assert list(metrics) == ["examples", "weight", "rmse", "matching_loss"]
    assert metrics["matching_loss"] == pytest.approx(np.average(each, weights=[1, 2, 0.5]), rel=1e-5)
    assert "matching_loss" not in model.evaluate(lines)


def test_labels_at_the_end_of_their_range_have_one():
    model = vwlite.Model("--loss_function logistic --link logistic")
    lines = ["1 |w a", "-1 |w b", "1 |w a b"]
    model.learn(lines)
    metrics = model.evaluate(lines, metrics=["matching_loss", "log_loss"])
    assert metrics["matching_loss"] == pytest.approx(metrics["log_loss"], rel=1e-6)


RANGES = [("logistic", "from 0 to 1"), ("glf1", "from -1 to 1"), ("poisson", "0 or more")]


@pytest.mark.parametrize(("link", "said"), RANGES)
def test_labels_beyond_the_range_of_the_link_have_none(link, said):
    model = vwlite.Model(f"--link {link}")
    model.learn("0.5 |w a")
    with pytest.raises(DataError, match=f"--link {link} labels are {said}, and one is -2.5"):
        model.evaluate(["0.5 |w a", "-2.5 |w b"], metrics="matching_loss")
