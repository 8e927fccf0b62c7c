"""What ``vwlite train --workers`` does with files, and ``vwlite.train`` with an executor."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace

from vwlite.api.train_files import begin
from vwlite.data.config import BadLinesConfig, HoldoutConfig, ShardConfig
from vwlite.distributed import gradients
from vwlite.distributed.engines import Engine, Processes
from vwlite.distributed.plan import base_of, check_run, rule_of
from vwlite.distributed.rounds import Rounds, Settings
from vwlite.errors import UsageError
from vwlite.interrupts import Guard
from vwlite.options import Request
from vwlite.storage.model_file import Model
from vwlite.training.config import OutputConfig
from vwlite.training.ledger import Remarks, RunFiles, Say
from vwlite.training.listener import Display


def engine_of(workers: int | None, scheduler: str | None) -> Engine:
    """What learns shards: processes, or the workers of a Dask scheduler. Raises ExtraMissing, WorkerLost."""
    if scheduler is None:
        return Processes(workers or 1)
    from vwlite.distributed.engines import OnScheduler

    return OnScheduler(scheduler)


def train_shards(
    request: Request,
    engine: Callable[[], Engine],
    *,
    say: Say,
    display: Callable[[OutputConfig], Display],
    interrupts: Callable[[], AbstractContextManager[Guard]] = lambda: nullcontext(Guard()),
) -> tuple[Rounds, Model] | None:
    """Learn the files that ``request`` names in rounds; None where all was learned before.

    As ``vwlite.api.train_files.train_files``; shards are learned by what ``engine`` makes. The rounds are over. Raises
    as ``Rounds.run``, and UsageError for options that do not go with shards.
    """
    sharding = request.config(ShardConfig)
    files = RunFiles.of(request, Remarks.of(say, bool(request.values.get("quiet"))))
    with ExitStack() as held:
        begun = begin(request, files, held)
        if begun is None:
            return None
        config, model = begun
        if config.output.by_file:
            raise UsageError("--progressive-by-file does not go with shards, which are learned at the same time")
        if files.restart.every:
            raise UsageError("--checkpoint-every does nothing with shards: there is a checkpoint after every round")
        rule_of(config.learner, sharding.count)
        check_run(config)
        held_out, config = config.holdout, replace(config, holdout=HoldoutConfig())
        then = None
        if sharding.then_bfgs:
            config, then = gradients.followed(config, model, sharding.then_bfgs)
        base = base_of(config, sharding.count, model)
        rounds = sharding.count, sharding.passes, held_out.path
        settings = Settings(*rounds, held_out.early_terminate, files.restart.resume, then)
        ledger = files.ledger(config.input.paths)
        guard, bad_lines = held.enter_context(interrupts()), request.config(BadLinesConfig)
        driver = Rounds(config, settings, base, engine(), bad_lines, display(config.output), guard)
        held.callback(driver.close)
        return driver, driver.run(ledger.write if ledger else None)
