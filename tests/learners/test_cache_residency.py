"""Whether slots are asked for ahead is decided by a sample of the features, and changes nothing but the time."""

import random

import pytest
from vwlite._native.expand import slots_in_cache

from vwlite.data.config import InputConfig
from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.gd import AverageConfig, CoinConfig, GdConfig
from vwlite.learners.configs.per_class import MulticlassConfig, PerClassConfig
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.train import train


def text(words, rows=400):
    draw = random.Random(1)
    return "".join(
        f"{1 + n % 3} |a {' '.join(f'{draw.randrange(words)}:{draw.random():.2f}' for _ in range(20))}\n"
        for n in range(rows)
    )


@pytest.mark.parametrize(
    ("words", "rows", "options", "near"),
    [
        (50, 400, {}, True),
        (1000, 400, {}, True),
        (8000, 400, {}, False),
        (8000, 400, {"bits": 8}, True),
        (50, 200, {}, False),  # too few features for a sample
        (50, 400, {"quadratic": ("aa",)}, False),
        (50, 400, {"ngram": ("2",)}, False),
    ],
)
def test_slots_are_near_where_nearly_all_features_come_again(words, rows, options, near):
    config = FeatureConfig(**options)
    batch = parse_text(text(words, rows).encode(), text_format(config, skip_malformed=False))
    plan = Plan(config)
    assert slots_in_cache(batch, plan, 0, rows) == near
    assert not slots_in_cache(batch, plan, rows - 9, rows)
    with pytest.raises(IndexError):
        slots_in_cache(batch, plan, 0, rows + 1)


LEARNERS = {
    "gd": GdConfig(),
    "sgd": GdConfig(sgd=True),
    "coin": CoinConfig(coin=True),
    "average": AverageConfig(average=True),
    "oaa": PerClassConfig(oaa=3),
    "multiclass": MulticlassConfig(multiclass=3),
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_same_is_learned_either_way(learner, tmp_path):
    (tmp_path / "data.vw").write_text(text(50))
    made = []
    for block_size in (1 << 20, 2000):  # the second too small for a sample
        output = OutputConfig(model=str(tmp_path / "model"), predictions=str(tmp_path / "p"), quiet=True)
        reading = InputConfig((str(tmp_path / "data.vw"),), block_size=block_size)
        train(RunConfig(input=reading, learner=LEARNERS[learner], output=output))
        made.append([(tmp_path / name).read_bytes() for name in ("model", "p")])
    assert made[0] == made[1] and len(made[0][1]) > 400
