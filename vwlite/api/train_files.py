"""What ``vwlite train`` does with files: cache, checkpoints, locks and the ledger of what was learned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Any

from vwlite.api import learner_choice, run_configs
from vwlite.api.option_rules import check_idle
from vwlite.api.run_configs import bad_lines_config, run_config
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.interrupts import Guard
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import Option, Request
from vwlite.training.checkpoint import Checkpoints, known_then
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.model_loader import Restored, start
from vwlite.training.model_writer import ModelWriter
from vwlite.training.output_config import OutputConfig
from vwlite.training.run_files import Remarks, RunFiles, Say
from vwlite.training.train import TrainResult, train


def train_files(
    arguments: Mapping[str, Any],
    typed: Mapping[str, Any],
    options: Mapping[str, Option],
    *,
    say: Say,
    display: Callable[[OutputConfig], Display],
    interrupts: Callable[[], AbstractContextManager[Guard]] = lambda: nullcontext(Guard()),
    writer: type[ModelWriter] = ModelWriter,
) -> TrainResult | None:
    """Learn the files that ``arguments`` name, and write what they name; None where all was learned before.

    ``arguments``: values of options by their keys, those that were ``typed`` and defaults; ``options``: all that there
    are. ``say`` takes remarks on the files. ``interrupts``: what can stop a run that is able to go on. ``writer`` keeps
    the model. Raises as ``vwlite.training.train.train``, and Locked.
    """
    arguments = defaultdict(lambda: None, arguments)
    files = RunFiles.of(Request(arguments, typed, options), Remarks.of(say, arguments["quiet"]))
    with ExitStack() as held:
        begun = begin(arguments, dict(typed), options, files, held)
        if begun is None:
            return None
        left, model = begun
        checkpoints, guard = None, None
        if files.keeps_record:
            checkpoints, guard = checkpoints_of(left, files), held.enter_context(interrupts())
            if files.restart.resume:
                model = checkpoints.load() or model
        learned = files.ledger(left.input.paths, not left.input.examples)
        bad_lines = bad_lines_config(arguments)
        return train(left, model, bad_lines, checkpoints, learned, display(left.output), guard, writer)


def begin(
    arguments: dict[str, Any],
    typed: dict[str, Any],
    options: Mapping[str, Option],
    files: RunFiles,
    held: ExitStack,
) -> tuple[RunConfig, Restored | None] | None:
    """What to run, and what to go on from; None where nothing is left to be learned.

    The model to be written is locked until ``held`` is closed.
    """
    held.enter_context(files.locked())
    files.settle_initial()
    if not files.initial:
        typed.pop("initial", None)
        arguments["initial"] = None
    config, model = configured(arguments, typed, files.remarks.say)
    check_idle(typed, options, config.learner)
    files.read_ledger(known_then(config) if files.restart.resume and files.initial else None)
    left = files.unseen(config.input.paths)
    if not left:
        files.keep_model()
        return None
    return replace(config, input=replace(config.input, paths=left)), model


def checkpoints_of(config: RunConfig, files: RunFiles) -> Checkpoints:
    """Raises UsageError where a run cannot be stopped."""
    restart = files.restart
    if config.learner.whole_passes and (restart.resume or restart.every):
        option, reason = config.learner.option, "a stopped run of it begins anew"
        raise UsageError(f"--{option} does not go with --resume and --checkpoint-every: {reason}")
    checkpoints = Checkpoints(config, files.remarks.say, every=restart.every)
    if not restart.resume:
        checkpoints.remark_on_standing()
    return checkpoints


def configured(
    arguments: dict[str, Any], typed: dict[str, Any], say: Say
) -> tuple[RunConfig, Restored | None]:
    """What to run, and the model to go on from with ``-i``."""
    features = run_configs.feature_changes(typed)
    if arguments["initial"]:
        config = run_config(arguments, GdConfig(), FeatureConfig(), say)
        changes = learner_choice.learner_changes(typed), features, run_configs.loss_changes(typed)
        config, model = start(config, arguments["initial"], *changes, say=say)
        input = config.input.like(model.header, typed) if model else config.input
        return replace(config, input=input), model
    learner = learner_choice.new_learner_config(typed)
    return run_config(arguments, learner, FeatureConfig(**features), say), None
