"""Learning on copies of a row's slots, and on many terms at a time, gives what learning on one after the other gives.

A mask of ones makes a learner work in the table.
"""

from functools import lru_cache

import numpy as np
import pytest

from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

USUAL = ("1", "1", "1", "0.5", "-2", "7.25")
ODD = (*USUAL, "1e-30", "-1e25", "3e38", "inf", "nan", "1e-45")
LABELS = ("1", "-1", "1 2", "-1 0", "1 1e-30", "")


def line_of(draw, names, values):
    words = [f"{name}:{draw.choice(values)}" for name in names]
    return f"{draw.choice(LABELS)} |a {' '.join(words)}"


@lru_cache(2)
def parsed(text, config):
    return parse_text(text, text_format(config, skip_malformed=False))


def learned(text, bits, masked, simd_width, *, strict=False, quadratic=(), **rest):
    """Two passes over two batches, so that the second finds what the first left in the table; what it stopped at."""
    config, half = FeatureConfig(bits=bits, quadratic=quadratic), len(text) // 2
    learner, results, result = Gd(GdConfig(**rest), bits, vw_compat=not strict), Results(), []
    learner.kernel.simd_width = simd_width
    if masked:
        learner.set_mask(np.ones(1 << bits, np.uint8))
    try:
        for part in (text[:half], text[half:]) * 2:
            batch = parsed("\n".join(part).encode(), config)
            results.reserve(len(batch))
            results.holdout_mask = (np.arange(len(batch)) % 7 == 3).astype(np.uint8)
            learner.run(batch, Plan(config), results, 0, len(batch))
            result += [results.raw.copy(), results.loss.copy(), results.prediction.copy()]
    except Diverged as error:
        result.append(np.array(str(error)))
    return learner.weights[:, :3].view(np.uint32), learner.scalars, *result


def compare(text, bits, **rest):
    alone = learned(text, bits, False, 0, **rest)
    for masked, simd_width in ((False, 16), (False, 4), (True, 16), (True, 4)):
        for result, wanted in zip(learned(text, bits, masked, simd_width, **rest), alone, strict=True):
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("values", [USUAL, ODD], ids=["usual", "odd"])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("terms", [0, 1, 2, 3, 4, 5, 11, 63, 127, 254, 255, 256, 257, 300, 383, 384, 385, 700])
def test_of_rows_of_any_length(terms, strict, values):
    """Numbers are their own hashes: no feature comes twice."""
    draw = np.random.default_rng(terms)
    text = [line_of(draw, draw.choice(1 << 15, terms, replace=False), values) for _ in range(30)]
    compare(text, 16, strict=strict, loss=LossConfig("logistic"), l2=1e-3 if terms % 2 else 0.0)


@pytest.mark.parametrize("loss", ["squared", "hinge", "quantile", "poisson"])
def test_of_losses(loss):
    draw = np.random.default_rng(3)
    text = [line_of(draw, draw.choice(400, 90, replace=False), USUAL) for _ in range(60)]
    compare(text, 16, loss=LossConfig(loss))


@pytest.mark.parametrize("terms", [3, 12, 63, 300])
def test_of_plain_steps_on_inputs_that_are_no_numbers(terms):
    """Such a step is taken whatever the scan has summed; inputs that are no numbers have no part in it."""
    draw = np.random.default_rng(terms)
    text = [line_of(draw, draw.choice(1 << 15, terms, replace=False), ODD) for _ in range(30)]
    compare(text, 16, adaptive=True, normalized=True, loss=LossConfig("logistic"))
    one = learned(["1 |a x:1 y:nan z:inf"], 18, False, 16, adaptive=True, normalized=True)[0]
    assert np.isfinite(one[:, 0].view(np.float32)).all()


@pytest.mark.parametrize("bits", [3, 10, 18])
@pytest.mark.parametrize("terms", [2, 12, 63, 300])
def test_of_features_that_come_again(terms, bits):
    draw = np.random.default_rng(terms)
    compare([line_of(draw, draw.integers(0, 4 * terms, terms), ODD) for _ in range(40)], bits)


def test_of_terms_that_share_a_slot():
    """The same feature at any distance and place, within eight terms and beyond."""
    draw = np.random.default_rng(5)
    for apart in (1, 2, 3, 4, 5, 6, 7, 8, 100, 290):
        names = list(range(300))
        for first in range(9):
            names[first + apart] = names[first]
            compare([line_of(draw, names, USUAL) for _ in range(3)], 12)
            names[first + apart] = first + apart


def test_of_pairs():
    draw = np.random.default_rng(6)
    text = [f"{draw.choice([-1, 1])} |b {' '.join(map(str, draw.integers(0, 90, 25)))}" for _ in range(30)]
    compare(text, 16, quadratic=("bb",), loss=LossConfig("logistic"))


@pytest.mark.parametrize("values", [USUAL, ODD], ids=["usual", "odd"])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("terms", [3, 4, 7, 8, 11, 63, 300])
def test_of_ftrl(terms, strict, values):
    """Rows of distinct features, rows with features that come again, and rates at which many weights are 0."""
    draw = np.random.default_rng(terms)
    for names in (1 << 15, 4 * terms):
        text = [line_of(draw, draw.integers(0, names, terms), values) for _ in range(30)]
        for rest in ({}, {"l1": 0.5, "l2": 0.1}, {"ftrl_alpha": 0.01, "ftrl_beta": 0.0}):
            compare(text, 16, strict=strict, ftrl=True, loss=LossConfig("logistic"), **rest)


def test_of_ftrl_and_terms_that_share_a_slot():
    draw = np.random.default_rng(7)
    for apart in (1, 2, 3, 4, 5, 6, 7, 8, 30):
        for first in range(9):
            names = list(range(40))
            names[first + apart] = names[first]
            compare([line_of(draw, names, USUAL) for _ in range(3)], 12, ftrl=True)
