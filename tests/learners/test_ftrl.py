"""FTRL-proximal beside its plain-Python twin."""

import subprocess
import sys

import numpy as np
import pytest
from oracle.ftrl import Ftrl

from vwlite.errors import UsageError
from vwlite.learners.gd import GdConfig


@pytest.mark.parametrize("l1,l2", [(0.0, 0.0), (0.3, 0.1)])
def test_predictions_are_those_of_the_twin(tmp_path, l1, l2):
    rng = np.random.default_rng(3)
    twin = Ftrl(8, 0.3, 0.7, l1, l2)
    lines, expected = [], []
    for _ in range(120):
        terms = [(int(slot), np.float32(round(rng.normal(), 3))) for slot in rng.permutation(8)[:3]]
        label, weight = round(rng.normal(), 2), int(rng.integers(1, 4))
        lines.append(f"{label} {weight} | " + " ".join(f"{slot}:{x:.3f}" for slot, x in terms) + "\n")
        expected.append(twin.learn(terms, label, weight))
    data, out = tmp_path / "data", tmp_path / "out"
    data.write_text("".join(lines))
    options = f"--ftrl --ftrl_alpha 0.3 --ftrl_beta 0.7 --l1 {l1} --l2 {l2} --noconstant -b 3 --quiet"
    command = [sys.executable, "-m", "vwlite", "vw", "-d", str(data), "-p", str(out), *options.split()]
    subprocess.run(command, check=True)
    np.testing.assert_allclose([float(row) for row in out.read_text().split()], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {"ftrl_alpha": 0.1},
        {"ftrl": True, "ftrl_alpha": 0.0},
        {"ftrl": True, "ftrl_beta": -1.0},
        {"ftrl": True, "sgd": True},
    ],
)
def test_bad_values_are_refused(options):
    with pytest.raises(UsageError, match="--ftrl"):
        GdConfig(**options)
