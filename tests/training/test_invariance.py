"""White space that means nothing, and models of passes; ``battery`` has the laws that hold for every estimator."""

import re

import pytest
from battery.estimators import MIXED

from vwlite.api.run_configs import input_config
from vwlite.data.config import available_cores


@pytest.mark.parametrize(
    "other",
    [
        re.sub(r"(?<=.)\n", " \n", MIXED),
        re.sub(r"(?<=.)\n", "\t\n", MIXED),
        MIXED.replace(" |", "   |"),
        MIXED.replace(" w", "  w"),
    ],
    ids=["spaces", "tabs", "spaces before bars", "spaces between features"],
)
def test_white_space_that_means_nothing(other, run_here, tmp_path):
    for name, text in (("plain", MIXED), ("other", other)):
        run_here("train", "-q", "::", "-f", name, "-p", f"{name}.p", "--quiet", stdin=text)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "other").read_bytes()
    assert (tmp_path / "plain.p").read_bytes() == (tmp_path / "other.p").read_bytes()


def test_the_first_of_two_passes_is_a_run_of_one(run_here, tmp_path):
    (tmp_path / "data.vw").write_text(MIXED)
    run_here("train", "data.vw", "-f", "once", "--quiet")
    run_here("train", "data.vw", "-f", "model", "--passes", "2", "--holdout_off", "--save_per_pass", "--quiet")
    assert (tmp_path / "model.1").read_bytes() == (tmp_path / "once").read_bytes()
    assert (tmp_path / "model.2").read_bytes() == (tmp_path / "model").read_bytes()


def test_all_cores_by_default():
    assert input_config({}).threads == available_cores() >= 1
