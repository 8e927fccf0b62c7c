"""What commands do that read examples as rows of slots, and keep in their models how they did."""

from contextlib import AbstractContextManager
from typing import Any, Protocol

from vwlite.api import configs
from vwlite.api.run_configs import bad_lines_config
from vwlite.cli.console import say
from vwlite.data.config import InputConfig, has_words
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.name_index import NameIndex
from vwlite.solvers.rows import RowSource
from vwlite.training.option_agreement import check_features


class Made(Protocol):
    """A model that was made from such rows; ``arrays`` of the file, for weights of terms."""

    features: FeatureConfig
    seen: list[int]
    arrays: dict[str, Any]


def features_of(arguments: dict[str, Any], typed: dict[str, Any], model: Made | None, what: str) -> FeatureConfig:
    """The typed options, which must be the model's if there is one. Raises UsageError."""
    changes = configs.feature_changes(typed)
    if changes.pop("noconstant", False) or changes.get("dotproduct"):
        raise UsageError(f"{what} have neither a constant nor dot products")
    if not model:
        return FeatureConfig(noconstant=True, **changes)
    check_features(arguments["initial"], model.features, changes)
    return model.features


def opened(
    arguments: dict[str, Any], features: FeatureConfig, input: InputConfig, again: bool, model: Made | None,
    names: NameIndex | None = None, predicting: bool = False, kind: type[RowSource] = RowSource,
) -> tuple[RowSource, AbstractContextManager[None]]:
    """The rows of the files, and the context in which malformed lines are kept."""
    tolerance = bad_lines_config(arguments)
    policy = BadLines(
        None, None if arguments["quiet"] else say, max_ratio=tolerance.max_ratio, fail_fast=tolerance.strict,
        to_the_end=predicting,
    )
    text = text_format(features, skip_malformed=True, names=names is not None)
    inputs = Inputs(input, text.of_words() if has_words(input.kind) else text, several_passes=again)
    source = kind(features, inputs, policy, model.seen if model else [], names)
    if model:
        source.plan.load(model.arrays)
    return source, policy.keeping(tolerance.keep)
