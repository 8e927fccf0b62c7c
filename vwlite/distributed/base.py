"""What a round begins with: a model's file, or the bytes of one that has learned nothing."""

from __future__ import annotations

from typing import Any

from vwlite.data.config import BadLinesConfig
from vwlite.distributed.rule import rule_of
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners import learner_class
from vwlite.storage.memory_file import written
from vwlite.training.assembly import LearningParts
from vwlite.training.config import InputConfig, RunConfig
from vwlite.training.display import Display
from vwlite.training.model_header import built
from vwlite.training.model_loader import Restored
from vwlite.training.start import begin_learner

DIGITS = 32  # of the digest that ends a model file


def base_of(config: RunConfig, of: int, model: Restored | None = None) -> bytes:
    """The model that ``of`` shards begin with: ``model``, or one of these options before the first example.

    The same bytes each time. Raises UsageError for what shards cannot learn.
    """
    rule_of(config.learner, of)
    if config.features.weight != "none":
        raise UsageError("--weight is of all examples together, which no shard has")
    if config.features.mask_ids:
        raise UsageError("--mask-ids draws by the number of the pass, which shards do not have")
    if config.features.freeze:
        raise UsageError("--freeze does not go with shards: means of their models would not stand")
    if config.features.finds_gamma:
        raise UsageError("shards need one --gamma for their --random_features, and each would find its own")
    parts = LearningParts(config, *begin_learner(config, model), model, BadLinesConfig(), Display())
    return written(lambda open_output: parts.writer.write_model("the base", open_output=open_output))


def first_base(header: dict[str, Any], of: int) -> bytes:
    """What a model began with that began with nothing. Raises ValueError for a damaged header."""
    learner = learner_class(header["learner"]).config_from(header["config"], {})
    features = built(FeatureConfig, header["features"])
    return base_of(RunConfig(input=InputConfig(kind=header["kind"]), features=features, learner=learner), of)


def digest_of(base: bytes) -> str:
    """What a model's bytes end with."""
    return base[-DIGITS:].decode("ascii", "replace")
