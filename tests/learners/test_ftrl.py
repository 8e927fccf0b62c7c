"""FTRL-proximal beside its plain-Python twin, row by row and bit by bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from oracle.ftrl import Ftrl
from oracle.options import Options
from passes import run_passes
from vwtext import gd_config

from vwlite.errors import UsageError
from vwlite.learners.base import label_range
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd

from .test_coin import learn_like_twin
from .test_gd import problems


def learner_of(steps, options, strict):
    config = replace(gd_config(options), ftrl=True, ftrl_alpha=steps[0], ftrl_beta=steps[1])
    return Gd(config, options.bits, vw_compat=not strict)


def check(case, strict):
    rows, twin = learn_like_twin(case, strict, (Ftrl, 0.5, 1))
    table = twin.table()
    if not (np.isfinite(table).all() and np.isfinite(rows).all()):
        reject()
    learner = learner_of(case[1], case[2][1], strict)
    np.testing.assert_array_equal(run_passes(learner, *case[2:]), rows)
    np.testing.assert_array_equal(learner.weights[:, :3], table)
    assert label_range(learner) == (twin.low, twin.high)


@given(
    problems(),
    st.sampled_from([None, 0.1, 3.0]),
    st.sampled_from([None, 0.0, 2.5]),
    st.integers(1, 3),
    st.booleans(),
)
def test_rows_and_columns_are_the_twins(problem, alpha, beta, passes, strict):
    options = problem[1]
    options.rules = frozenset()
    options.sparse_l2 = options.initial_weight = options.constant = 0.0
    check(("ftrl", [alpha, beta], problem, passes), strict)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.3, 0.1)])
def test_a_longer_run_is_the_twins(l1, l2):
    rng = np.random.default_rng(3)
    lines = []
    for _ in range(200):
        words = " ".join(f"{slot}:{rng.normal():.3f}" for slot in rng.permutation(8)[:3])
        lines.append(f"{rng.normal():.2f} {rng.integers(1, 4)} | {words}".encode())
    options = Options(bits=3, l1=l1, l2=l2)
    check(("ftrl", [0.3, 0.7], (lines, options, None), 2), True)


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
