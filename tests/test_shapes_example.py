"""``examples/shapes.sh``: what the images show, and the table of a small run."""

import json
import math
import sys

import numpy as np
import pytest
from pages import PROJECT

SMALL = ("--examples", "300", "--tests", "200", "--side", "8", "--nn", "12,8", "--bits", "12", "--epochs", "4")


@pytest.fixture
def shapes(monkeypatch):
    monkeypatch.syspath_prepend(PROJECT / "examples")
    import shapes

    yield shapes
    del sys.modules["shapes"]


def areas(images):
    """Of each image the share of the rarer grey; no image has more than two."""
    result = []
    for pixels in images.pixels:
        greys, counts = np.unique(pixels, return_counts=True)
        assert len(greys) <= 2
        result.append(counts.min() / len(pixels) if len(greys) == 2 else 0)
    return np.array(result)


def test_basic_shapes_have_the_areas_of_their_size(shapes):
    images = shapes.draw(np.random.default_rng(1), 600, 32, general=False)
    low, high = shapes.SIZES
    for label, area in enumerate((2, math.pi, 3 * math.sqrt(3) / 4)):  # of half diameter 1
        mean = areas(images)[images.labels == label].mean()
        assert mean == pytest.approx(area * (high**3 - low**3) / (high - low) / 3, rel=0.1)


def test_general_shapes_are_narrower(shapes):
    rng = np.random.default_rng(2)
    wide, narrow = (areas(shapes.draw(rng, 600, 32, general)).mean() for general in (False, True))
    assert narrow == pytest.approx(np.mean(shapes.RATIOS) * wide, rel=0.1)


def test_grey_levels_can_be_told_apart(shapes):
    images = shapes.draw(np.random.default_rng(3), 300, 16, general=True)
    spread = images.pixels.max(axis=1) - images.pixels.min(axis=1)
    assert spread[spread > 0].min() >= shapes.CONTRAST - 1e-6
    assert images.pixels.min() >= -0.5 and images.pixels.max() <= 0.5


def test_the_sign_test(shapes):
    assert shapes.sign_test([(1, 2)] * 5) == (5, 0, 2 / 32)
    assert shapes.sign_test([(1, 2), (2, 1), (1, 1)]) == (1, 1, 1.0)


def test_the_table(example, tmp_path):
    done = example("shapes.sh", *SMALL, "--switch", "2", "--seeds", "2", "--json", "out.json")
    report = json.loads((tmp_path / "out.json").read_text())
    assert [row["switch"] for row in report["rows"]] == [0, 2, "union", "basic only"]
    assert all(len(row["errors"]) == 2 and all(0 <= one <= 1 for one in row["errors"]) for row in report["rows"])
    assert done.stdout.splitlines()[2].startswith("| 0 | ") and "best switch epoch 2" in done.stdout
    again = example("shapes.sh", *SMALL, "--switch", "2", "--seeds", "2", "--jobs", "2")
    assert again.stdout == done.stdout


def test_what_it_refuses(example):
    assert "switch epochs are 0 or more" in example("shapes.sh", "--switch", "0,-1", status=2).stderr
    assert "the last switch epoch, 4" in example("shapes.sh", *SMALL, "--switch", "4", status=2).stderr
