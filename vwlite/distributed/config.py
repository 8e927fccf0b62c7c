"""Options of training in shards."""

from __future__ import annotations

import re

from vwlite.data.config import TEXTS
from vwlite.errors import UsageError
from vwlite.options import Config, config, option
from vwlite.training.config import RunConfig

DEFAULT_SHARDS, DEFAULT_ROUNDS = 16, 3
FEW_SHARDS = 4  # whose averages are as good as one pass after a single round


@config
class ShardConfig(Config):
    """Which parts of the data are learned apart."""

    shard: str | None = option(
        None, "Learn only part K of S, and write its changes to the model of -i to -f, for 'vwlite merge'.",
        section="Shards",
        metavar="K/S", needs=("model",),
    )

    workers: int | None = option(
        None, "Learn in N processes, in rounds over shards; N changes the time only.", section="Shards", low=1,
        high=1024,
    )
    scheduler: str | None = option(
        None, "Learn on the workers of a Dask scheduler: its address, or the JSON that it wrote (extra 'dask').",
        section="Shards", metavar="ADDRESS", read_as="scheduler",
    )
    shards: int | None = option(
        None, "Parts of the data that are learned apart in each round and merged.", section="Shards", low=1, high=4096,
        needs=("workers", "scheduler"), shown="16, or --workers if larger",
    )
    rounds: int | None = option(
        None, "Passes over all data.", section="Shards", low=1, needs=("workers", "scheduler"),
        shown="3, or 1 of up to 4 shards",
    )
    then_bfgs: int | None = option(
        None,
        "After the rounds, make this number of passes of L-BFGS with gradients summed over shards; --l2 is then for "
        "these only, on the mean loss.", section="Shards", low=2, needs=("workers", "scheduler"), metavar="PASSES",
        spelled=("--then-bfgs",),
    )

    def __post_init__(self) -> None:
        if self.part != (1, 1) and (self.workers or self.scheduler):
            raise UsageError("--shard learns one shard, --workers and --scheduler all of them: drop one")
        if self.workers and self.scheduler:
            raise UsageError("--workers are processes of this machine, --scheduler has its own: drop one")
        if self.workers and self.shards and self.shards < self.workers:
            raise UsageError(f"--shards {self.shards} is too few for --workers {self.workers}, one of which would wait")

    @property
    def count(self) -> int:
        """The number of shards."""
        return self.shards or max(DEFAULT_SHARDS, self.workers or 1)

    @property
    def passes(self) -> int:
        """The number of rounds."""
        return self.rounds or (1 if self.count <= FEW_SHARDS else DEFAULT_ROUNDS)

    @property
    def part(self) -> tuple[int, int]:
        """The number of the shard, from 1, and of how many it is one; all of one where none is named."""
        if self.shard is None:
            return 1, 1
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", self.shard, re.ASCII)
        number, of = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= of:
            raise UsageError(f"--shard takes a part and the number of parts, as 3/16, not {self.shard!r}")
        return number, of


def check_run(run: RunConfig) -> None:
    """Raises UsageError for options that mean one pass of one learner over all data, in order."""
    input, output = run.input, run.output
    asked = {
        "--passes": run.passes > 1,
        "--cache": input.cache,
        f"--format {input.kind}": input.kind not in TEXTS,
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
