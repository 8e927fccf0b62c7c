"""The table of losses in Python: options, label checks and the best constant."""

import math
import subprocess
import sys

import numpy as np
import pytest

from vwlite.errors import UsageError
from vwlite.learners.best_constant import LabelSummary, best_constant, best_log_odds
from vwlite.learners.losses import FREE, LINKS, LOSSES, LossConfig, link_code


def with_q(name):
    return LossConfig(name, quantile_tau=0.1, expectile_q=0.2)


def near(expected):
    """A pair to compare with, each number to float32 accuracy, None as it is."""
    return tuple(x if x is None else pytest.approx(x, rel=1e-6) for x in expected)


def test_the_table_is_complete():
    assert [loss.code for loss in LOSSES.values()] == list(range(len(LOSSES)))
    assert all(loss.link in LINKS and loss.about and loss.meaning for loss in LOSSES.values())
    assert all(hasattr(LossConfig(), field) for x in LOSSES.values() for field in x.parameters)
    ranges = {name: tuple(with_q(name).params()[4:6]) for name in LOSSES}
    assert {name for name in LOSSES if ranges[name] == (-50, 50)} == {"logistic", "poisson", "exponential", "tanh"}
    assert set(ranges.values()) == {(0, 0), (-50, 50), FREE}
    assert [name for name in LOSSES if ranges[name] == FREE] == ["modified_huber", "squared_hinge", "perceptron"]
    own = {name: with_q(name).start_range(True) for name in LOSSES}
    assert [name for name in LOSSES if own[name] != with_q(name).start_range(False)] == ["hinge"]
    assert own["hinge"] == FREE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "logstic"}, r"--loss_function: 'logstic' is not one of squared, .* \(did you mean logistic\?\)"),
        ({"name": "expectile"}, "needs --expectile_q"),
        ({"name": "expectile", "expectile_q": 0.6}, "above 0 and up to 0.5, not 0.6"),
        ({"name": "expectile", "expectile_q": 0.0}, "above 0 and up to 0.5, not 0"),
        ({"quantile_tau": 1.5}, "from 0 to 1, not 1.5"),
        ({"quantile_tau": math.nan}, "from 0 to 1, not nan"),
        ({"logistic_min": 1.0}, "must be below --logistic_max, not 1 and 1"),
        ({"logistic_max": math.inf}, "--logistic_max takes a finite number, not inf"),
        ({"loss_scale": 0.0}, "--loss_scale takes a number above 0, not 0"),
        ({"lp_power": 0.0}, "a number above 0 and up to 100, not 0"),
        ({"tube": -0.1}, "--tube takes a number of 0 or more, not -0.1"),
    ],
)
def test_bad_options_are_usage_errors(options, message):
    with pytest.raises(UsageError, match=message):
        LossConfig(**options)


def test_unknown_link_lists_the_known():
    with pytest.raises(UsageError, match="known are: identity, logistic, glf1, poisson"):
        link_code("probit")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("squared", [-1e30, 0, 2.5], [math.inf]),
        ("hinge", [-1, 0, 1], [0.5, 2, -2]),
        ("logistic", [-1, 0, 0.25, 1], [-1.1, 2, -math.inf]),
        ("poisson", [0, 0.5, 1e9], [-0.1, math.inf]),
    ],
)
def test_label_checks(name, good, bad):
    actual = with_q(name).accepts(np.float32([*good, math.nan, *bad]))
    assert actual.tolist() == [True] * (len(good) + 1) + [False] * len(bad)


def test_logistic_label_check_follows_its_limits():
    zero_to_ten = LossConfig("logistic", logistic_min=0, logistic_max=10)
    assert zero_to_ten.accepts(np.float32([-1, 0, 10, 11])).tolist() == [False, True, True, False]
    assert zero_to_ten.label_rule == "from 0 to 10"


def test_labels_reach_limits_as_they_are_rounded():
    to_a_third = LossConfig("logistic", logistic_min=-0.3, logistic_max=0.3)
    assert to_a_third.accepts(np.float32([-0.3, 0.3, 0.31])).tolist() == [True, True, False]


def test_limits_that_were_typed_make_labels_soft():
    assert not LossConfig("logistic").soft and not LossConfig("hinge", limited=True).soft
    assert LossConfig("logistic", limited=True).soft and LossConfig("logistic", logistic_min=0).soft


# the logarithm of the mean label's odds, and its entropy
@pytest.mark.parametrize(
    ("limits", "mean", "expected"),
    [
        ((0, 1), 0.3, (-0.8472979, 0.6108643)),
        ((-1, 1), -0.4, (-0.8472979, 0.6108643)),
        ((-1, 1), 0.0, (0, math.log(2))),
        ((0, 10), 9.9, (4.5951199, 0.0560015)),
    ],
)
def test_best_constant_of_labels_between_limits(limits, mean, expected):
    config = LossConfig("logistic", logistic_min=limits[0], logistic_max=limits[1], limited=True)
    assert best_log_odds(config, LabelSummary(mean, None, True, mean * 4, 4.0)) == near(expected)
    for bound in limits:
        assert best_log_odds(config, LabelSummary(bound, None, False, bound * 4.0, 4.0)) is None
    assert best_log_odds(config, LabelSummary(None, None, False, 0.0, 0.0)) is None


# three labels 1 and one label -1 (or 0, 2): constants and losses as printed by Vowpal Wabbit 9.11
@pytest.mark.parametrize(
    ("name", "low", "expected"),
    [
        ("squared", -1, (0.5, 0.75)),
        ("classic", 0, (0.75, 0.1875)),
        ("hinge", -1, (1, 0.5)),
        ("logistic", -1, (math.log(3), 0.5623351)),
        ("quantile", -1, (1, 0.45)),
        ("expectile", -1, (None, None)),
        ("poisson", 0, (None, None)),
    ],
)
def test_best_constant_of_two_labels(name, low, expected):
    summary = LabelSummary(1.0, float(low), False, 3.0 + low, 4.0)
    actual = best_constant(with_q(name), summary, (-50, 50))
    assert actual == near(expected)


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("squared", LabelSummary(None, None, False, 0.0, 0.0), (None, None)),
        ("squared", LabelSummary(0.0, None, False, 0.0, 3.0), (None, None)),
        ("squared", LabelSummary(2.0, None, False, 0.0, 0.0), (None, None)),
        ("squared", LabelSummary(2.0, None, False, 6.0, 3.0), (2, 0)),
        ("squared", LabelSummary(1.0, 2.0, True, 9.0, 4.0), (2.25, None)),
        ("logistic", LabelSummary(1.0, 2.0, True, 9.0, 4.0), (None, None)),
        ("logistic", LabelSummary(1.0, None, False, 3.0, 3.0), (1, 0.3132617)),
        ("logistic", LabelSummary(-1.0, None, False, -3.0, 3.0), (-1, 0.3132617)),
    ],
)
def test_best_constant_of_other_label_counts(name, labels, expected):
    assert best_constant(with_q(name), labels, (-50, 50)) == near(expected)


def test_the_table_needs_no_numpy():
    code = "import sys, vwlite.learners.losses; print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
