"""Values from files fit the fields of configurations, or are refused."""

import pytest

from vwlite.config_check import check_types, fits
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LOSSES, LossConfig


def test_every_configuration_fits_itself():
    losses = [LossConfig(name, **({"expectile_q": 0.3} if name == "expectile" else {})) for name in LOSSES]
    for config in (*losses, GdConfig(), GdConfig(losses[0], learning_rate=1), DyadicConfig(), FeatureConfig()):
        assert check_types(config) is config
    check_types(FeatureConfig(quadratic=("ab", "::"), affix="+2a"))


WRONG = [
    lambda: GdConfig(power_t=""),
    lambda: GdConfig(learning_rate=True),
    lambda: GdConfig(power_t=float("nan")),
    lambda: GdConfig(power_t=10**400),
    lambda: GdConfig(sgd=1),
    lambda: GdConfig(loss=LossConfig(logistic_max=2e300)),
    lambda: FeatureConfig(bits=18.0),
    lambda: FeatureConfig(noconstant="no"),
    lambda: FeatureConfig(affix=None),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_other_values_are_refused(number):
    with pytest.raises((ValueError, UsageError), match=r" is | takes "):
        check_types(WRONG[number]())


def test_tuples_are_of_one_type():
    assert fits(("a", "b"), tuple[str, ...]) and fits((), tuple[str, ...])
    assert not fits(("a", 1), tuple[str, ...]) and not fits(["a"], tuple[str, ...])
