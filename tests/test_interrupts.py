"""A learner that is asked to stop."""

import signal

import pytest

from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners import learner_class
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import AverageConfig, CoinConfig, GdConfig
from vwlite.learners.configs.lrq import LrqConfig
from vwlite.learners.configs.nn import NnClassesConfig, NnConfig, VwNnConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.learners.configs.trees import EctConfig
from vwlite.learners.row_results import Results


@pytest.mark.parametrize(
    "config",
    [
        GdConfig(), GdConfig(ftrl=True), PerClassConfig(oaa=3), LrqConfig(lrq=("ab2",)),
        CoinConfig(coin=True), AverageConfig(average=True), EctConfig(ect=3), DyadicConfig(),
        NnConfig(nn="4,3"), NnClassesConfig(multiclass=3, indexing=1, nn="4"), VwNnConfig(vw_nn=2),
    ],
    ids=lambda config: config.learner,
)
def test_a_learner_stops_before_the_next_row(config):
    features = FeatureConfig(bits=10, dotproduct=("ab",) if config.learner == "dyadic" else ())
    plan, learner = Plan(features), learner_class(config.learner)(config, features.bits)
    batch, results = parse_text(b"1 |a x |b y\n2 |a z\n", text_format(features, skip_malformed=True)), Results()
    results.reserve(2)
    plan.stop = bytes([signal.SIGTERM])
    assert learner.run(batch, plan, results, 0, 2) == 0
    assert learner.run(batch, plan, results, 1, 2) == 1
    plan.stop = bytes(1)
    assert learner.run(batch, plan, results, 0, 2) == 2
