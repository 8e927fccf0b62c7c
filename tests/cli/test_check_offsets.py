"""``vwlite check`` warns of features that are nearly constants."""

import json

import numpy as np
import pytest

SAID = "so far from 0 it is nearly a constant to the learner: subtract the mean from its values, or train --centred f"


@pytest.fixture
def warnings(vwlite, write):
    def of(text, *options):
        write("data.vw", text)
        return json.loads(vwlite("check", "data.vw", "--json", "-", *options).stdout)["warnings"]

    return of


def lines(values, others=""):
    return "".join(f"{n % 5} |f year:{value:.3f}{others} |g w{n % 3}\n" for n, value in enumerate(values))


@pytest.mark.parametrize("block", ["300", "100000"])
def test_features_far_from_0_are_told(block, warnings):
    draw = np.random.default_rng(0)
    text = lines(1985 + 20 * draw.standard_normal(3000), " kelvin:300 cold:-8")
    text = text.replace("kelvin:300", "kelvin:301", 40).replace("cold:-8", "cold:-9", 1500)
    (warning,) = warnings(text, "--block-size", block)
    assert warning.endswith(SAID)
    assert warning.startswith("f^kelvin (and 2 more such features) has the mean 300")
    (warning,) = warnings(lines(1985 + 20 * draw.standard_normal(3000)), "--block-size", block)
    mean, deviation = warning.split("mean ")[1].split()[0], warning.split("deviation ")[1].split(":")[0]
    assert (float(mean), float(deviation)) == (pytest.approx(1985, abs=2), pytest.approx(20, abs=2))


@pytest.mark.parametrize(
    "text",
    [
        lines(np.full(100, 7.0)),  # a constant does no harm
        lines(np.ones(100)),
        lines(40 + 10 * np.random.default_rng(1).standard_normal(100)),
        lines(1985 + np.arange(15)),  # too few to tell
        lines(1985 + np.arange(30.0)) + "0 |g w1\n" * 100,  # in few examples
        "1 |a x\n-1 |b\n" * 30,
    ],
)
def test_features_near_0_are_not_told(text, warnings):
    assert [warning for warning in warnings(text) if SAID in warning] == []


def test_only_so_many_features_are_followed(warnings):
    draw = np.random.default_rng(2)
    rows = (" ".join(f"x{n}:{9 + value:.3f}" for n, value in enumerate(draw.random(1100))) for _ in range(25))
    text = "".join(f"{n % 2} |f {row}\n" for n, row in enumerate(rows))
    (actual,) = [warning for warning in warnings(text) if SAID in warning]
    assert "(and 999 more such features)" in actual
