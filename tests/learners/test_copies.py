"""Learning on copies of a row's slots gives what learning in the table gives, as a mask of ones makes a learner do."""

import numpy as np
import pytest

from vwlite.expand import FeatureConfig, Plan
from vwlite.learners.gd import Gd, GdConfig
from vwlite.losses import LossConfig
from vwlite.parsing import parse_text
from vwlite.results import Results

USUAL = ("1", "1", "1", "0.5", "-2", "7.25")
ODD = (*USUAL, "1e-30", "-1e25", "3e38", "inf", "nan")


def line_of(draw, terms, names, values):
    words = [f"{name}:{draw.choice(values)}" for name in draw.integers(0, names, terms)]
    label = draw.choice(["1", "-1", "1 2", "-1 0", "1 1e-30", ""])
    return f"{label} |a {' '.join(words)}"


def learned(text, bits, masked, loss="logistic"):
    config, held = FeatureConfig(bits=bits, quadratic=("bb",)), np.arange(len(text)) % 7 == 3
    batch, results = parse_text("\n".join(text).encode(), config.text_format(strict=False)), Results()
    learner = Gd(GdConfig(loss=LossConfig(loss)), bits, strict=False)
    if masked:
        learner.mask_with(np.ones(1 << bits, np.uint8))
    results.make_room(len(batch))
    results.held = held.astype(np.uint8)
    learner.run(batch, Plan(config), results, 0, len(batch))
    return learner.weights[:, :3], learner.scalars, results.raw, results.loss


@pytest.mark.parametrize("values", [USUAL, ODD], ids=["usual", "odd"])
@pytest.mark.parametrize("bits", [3, 10, 18])
@pytest.mark.parametrize("terms", [0, 1, 2, 3, 4, 5, 11, 12, 63, 127, 254, 255, 256, 257, 300, 700])
def test_of_rows_of_any_length(terms, bits, values):
    draw = np.random.default_rng(terms)
    text = [line_of(draw, terms, 4 * terms + 1, values) for _ in range(40)]
    for found, wanted in zip(learned(text, bits, False), learned(text, bits, True), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_of_terms_that_share_a_slot():
    """The same feature at any distance, within four terms and beyond."""
    draw = np.random.default_rng(5)
    for apart in (1, 2, 3, 4, 5, 8, 100, 299):
        names = list(range(300))
        names[apart] = names[0]
        words = [" ".join(f"{name}:{draw.choice(USUAL)}" for name in names) for _ in range(9)]
        text = [f"{draw.choice([-1, 1])} |a {line}" for line in words]
        for found, wanted in zip(learned(text, 18, False), learned(text, 18, True), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_of_pairs():
    draw = np.random.default_rng(6)
    text = [f"{draw.choice([-1, 1])} |b {' '.join(map(str, draw.integers(0, 90, 25)))}" for _ in range(30)]
    for loss in ("squared", "hinge", "logistic"):
        for found, wanted in zip(learned(text, 18, False, loss), learned(text, 18, True, loss), strict=True):
            np.testing.assert_array_equal(found, wanted)
