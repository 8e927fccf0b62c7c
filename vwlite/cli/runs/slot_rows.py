"""What commands do that predict for examples as rows of slots."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vwlite.api.run_configs import bad_lines_config, input_config
from vwlite.cli import build
from vwlite.cli.console import say
from vwlite.data.config import has_words
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.features.feature_plan import text_format
from vwlite.solvers.row_solver import RowModel
from vwlite.solvers.rows import RowSource


@contextmanager
def rows_of(
    arguments: dict[str, Any], model: RowModel[Any, Any], predicting: bool, kind: type[RowSource] = RowSource
) -> Iterator[tuple[RowSource, str]]:
    """The rows of the files and their format, that of the model unless it was typed."""
    tolerance, input = bad_lines_config(arguments), input_config(arguments).like(model.data, build.typed())
    policy = BadLines(
        None, None if arguments["quiet"] else say, max_ratio=tolerance.max_ratio, fail_fast=tolerance.strict,
        to_the_end=predicting,
    )
    text = text_format(model.features, skip_malformed=True)
    inputs = Inputs(input, text.of_words() if has_words(input.kind) else text)
    source = kind(model.features, inputs, policy, model.seen)
    source.plan.load(model.arrays)
    try:
        with policy.keeping(tolerance.keep):
            yield source, input.kind
    finally:
        inputs.close()
