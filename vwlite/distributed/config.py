"""Options of training in shards."""

from __future__ import annotations

import re

from vwlite.errors import UsageError
from vwlite.options import Config, config, option
from vwlite.training.config import RunConfig


@config
class ShardConfig(Config):
    """Which parts of the data are learned apart."""

    shard: str | None = option(
        None, "Learn only part K of S and write to -f what it changes of -i, for 'vwlite merge'.", section="Shards",
        metavar="K/S", needs=("model",),
    )

    def __post_init__(self) -> None:
        _ = self.part

    @property
    def part(self) -> tuple[int, int]:
        """The number of the shard, from 1, and of how many it is one; all of one where none is named."""
        if self.shard is None:
            return 1, 1
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", self.shard, re.ASCII)
        number, of = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= of:
            raise UsageError(f"--shard takes a part and the number of parts, as 3/16, not {self.shard!r}")
        return number, of


def check_run(run: RunConfig) -> None:
    """Raises UsageError for options that mean one pass of one learner over all data, in order."""
    input, output = run.input, run.output
    asked = {
        "--passes": run.passes > 1,
        "--cache": input.cache,
        "--examples": input.examples,
        "--shuffle": input.shuffle,
        "--shuffle-first": input.shuffle_first,
        "--curriculum": run.curriculum.order,
        "--holdout_after": run.holdout.after,
        "--predictions": output.predictions,
        "--raw_predictions": output.raw_predictions,
        "--readable_model": output.readable_model,
        "--invert_hash": output.invert_hash,
        "--names": output.names,
        "--save_per_pass": output.save_per_pass,
        "--predict_only_model": output.predict_only_model,
    }
    for name, value in asked.items():
        if value:
            raise UsageError(f"{name} does not go with shards, each of which is learned apart, once a round: drop it")
