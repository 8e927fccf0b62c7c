"""Sums and products of kernels as options: dot products of the terms are the kernel that docs/kernels.md says."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.term_weights import terms_of
from vwlite.training.model_loader import plan_of

PAGE = Path(__file__).parents[2] / "docs" / "kernels.md"
DRAW = random.Random(7)
POINTS = [[[round(DRAW.uniform(-2, 2), 3) for _ in range(3)] for _ in "ab"] for _ in range(20)]


def dots(scale=1, spaces="ab", **options):
    """float64[20, 20] of the terms of 20 examples in the namespaces a and b, a with the weight ``scale``."""
    lines = []
    for point in POINTS:
        words = {space: " ".join(f"{j}:{x}" for j, x in enumerate(xs)) for space, xs in zip("ab", point, strict=True)}
        marks = {"a": f"a:{scale}", "b": "b"}
        lines.append("1 " + " ".join(f"|{marks[space]} {words[space]}" for space in spaces))
    config = FeatureConfig(**{"bits": 24, "noconstant": True, **options})
    plan = plan_of(config, seen=map(ord, spaces))
    batch = parse_text("\n".join([*lines, ""]).encode(), text_format(config, skip_malformed=True))
    terms = plan.weights.terms(batch)[0] if plan.weights else terms_of(batch, plan)
    columns, place = np.unique(terms.indices, return_inverse=True)
    x = np.zeros((20, len(columns)))
    np.add.at(x, (terms.owner, place), terms.values)
    return x @ x.T


A, B = dots(spaces="a"), dots(spaces="b")
LENGTHS = np.sqrt(np.diag(A))


@pytest.mark.parametrize(
    ("found", "kernel"),
    [
        (dots(spaces="a", noconstant=False), A + 1),
        (dots(), A + B),
        (dots(scale=0.5), 0.25 * A + B),
        (dots(quadratic=("ab",), ignore_linear=("ab",)), A * B),
        (dots(interactions=("aa",), permutations=True, ignore_linear=("a",), spaces="a"), A**2),
        (dots(spaces="a", unit=True), A / np.outer(LENGTHS, LENGTHS)),
    ],
    ids=["k + c", "k1 + k2", "a k", "k1 k2", "k k", "normalised"],
)
def test_options_are_operations_on_kernels(found, kernel):
    assert found.ravel().tolist() == pytest.approx(kernel.ravel().tolist(), rel=1e-6, abs=1e-6)


def test_random_features_of_crossed_ones_are_a_kernel_of_a_kernel():
    inner = A * B
    options = {"quadratic": ("ab",), "ignore_linear": ("ab",), "random_only": True, "fold": 4096}
    actual = dots(random_features="rbf:16384", gamma=0.05, **options)
    squares = np.diag(inner)[:, None] + np.diag(inner)[None] - 2 * inner
    assert np.abs(actual - np.exp(-0.05 * squares)).mean() < 1.1 / np.sqrt(16384)


def test_the_page_has_these_rows():
    table = PAGE.read_text().partition("| kernel | options |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \|", table, re.M)
    assert rows == ["k + c", "k1 + k2", "a k", "k1 k2", "k2(k1)", "k / sqrt(k k)"]
