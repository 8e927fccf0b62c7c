"""What ``vwlite train`` does with files: cache, checkpoints, locks and the ledger of what was learned."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

from vwlite.api import configs, learner_choice
from vwlite.api.option_rules import check_idle
from vwlite.api.run_configs import bad_lines_config, run_config
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.interrupts import Guard
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import Option
from vwlite.storage.atomic_file import atomic_copy, is_replaceable
from vwlite.storage.file_lock import lock
from vwlite.training import ledger
from vwlite.training.checkpoint import Checkpoints, known_then
from vwlite.training.config import RunConfig
from vwlite.training.display import Display
from vwlite.training.model_loader import Restored
from vwlite.training.model_writer import ModelWriter
from vwlite.training.output_config import OutputConfig
from vwlite.training.seen_inputs import Seen, seen
from vwlite.training.start import start
from vwlite.training.train import TrainResult, train

Say = Callable[[str], None]


class Remarks(NamedTuple):
    """Where remarks on the files go, and warnings that something may be learned that should not be."""

    say: Say
    warn: Say

    @classmethod
    def of(cls, say: Say, quiet: bool) -> Remarks:
        """``quiet``: warnings only."""
        return cls(silent if quiet else say, say)


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
    remarks = Remarks.of(say, arguments["quiet"])
    with ExitStack() as held:
        begun = begin(arguments, dict(typed), options, remarks, held)
        if begun is None:
            return None
        left, model, known = begun
        checkpoints, learned, guard = None, None, None
        if left.output.model and is_replaceable(left.output.model):
            checkpoints, guard = checkpoints_of(left, arguments, remarks.say), held.enter_context(interrupts())
            learned = ledger.Ledger(left.output.model, known, left.input.paths, not left.input.examples)
            if arguments["resume"]:
                model = checkpoints.load() or model
        bad_lines = bad_lines_config(arguments)
        return train(left, model, bad_lines, checkpoints, learned, display(left.output), guard, writer)


def begin(
    arguments: dict[str, Any],
    typed: dict[str, Any],
    options: Mapping[str, Option],
    remarks: Remarks,
    held: ExitStack,
) -> tuple[RunConfig, Restored | None, list[ledger.Entry]] | None:
    """What to run, what to go on from, and what that has learned; None where nothing is left to be learned.

    The model to be written is locked until ``held`` is closed.
    """
    if arguments["model"]:
        held.enter_context(lock(arguments["model"], arguments["lock_wait"] or 0.0))
    if begins_afresh(arguments):
        remarks.say(f"there is no {arguments['initial']} yet: training begins at the start")
        typed.pop("initial")
        arguments["initial"] = None
    config, model = configured(arguments, typed, remarks.say)
    check_idle(typed, options, config.learner)
    known = known_before(config, arguments, remarks)
    left = unseen(config, arguments, known, remarks)
    if left is None:
        nothing_new(arguments, known)
        return None
    return left, model, known


def silent(line: str) -> None:
    """For whoever wants to hear of nothing."""


def begins_afresh(arguments: dict[str, Any]) -> bool:
    """Whether the command is to be repeated for ever, and this is the first time: nothing can be lost or mistaken."""
    initial, final = arguments["initial"], arguments["model"]
    same = initial and final and os.path.realpath(initial) == os.path.realpath(final)
    return bool(same and arguments["skip_seen"] and not os.path.lexists(initial))


def known_before(config: RunConfig, arguments: dict[str, Any], remarks: Remarks) -> list[ledger.Entry]:
    """What the model of ``-i`` has learned; of a stopped run, what it had when that began."""
    initial, skip = arguments["initial"], arguments["skip_seen"]
    if not initial:
        return []
    then = known_then(config) if arguments["resume"] else None
    if then is not None:
        return then
    known = ledger.read(initial)
    if not known and (skip or os.path.exists(ledger.ledger_path(initial))):
        tell = remarks.warn if skip else remarks.say
        tell(f"{ledger.doubt(initial)}{': no file is skipped' if skip else ''}")
    return known


def unseen(
    config: RunConfig, arguments: dict[str, Any], known: list[ledger.Entry], remarks: Remarks
) -> RunConfig | None:
    """The run without inputs that were learned before, if they are to be skipped; None when nothing is left."""
    again, skip = seen(known, config.input.paths), arguments["skip_seen"]
    skipped = {path for path, one in again.items() if skip and one.whole}
    for path, one in again.items():
        tell = remarks.say if path in skipped else remarks.warn
        tell(f"{one.told(path)}{advice(one, skip)}")
    left = tuple(path for path in config.input.paths if path not in skipped)
    return replace(config, input=replace(config.input, paths=left)) if left else None


def advice(one: Seen, skip: bool) -> str:
    """What becomes of an input that was learned before, and what would be better."""
    if one.grown:
        return ": all of it is learned again; give what is new a file of its own"
    if one.whole:
        return ": skipped" if skip else "; --skip-seen would skip it"
    return ": all of it is learned" if skip else ""


def nothing_new(arguments: dict[str, Any], known: list[ledger.Entry]) -> None:
    """The model stays as it is, under the name it is to have, with what is known of it."""
    initial, final = arguments["initial"], arguments["model"]
    if final and os.path.realpath(initial) != os.path.realpath(final):
        ledger.Ledger(final, known, ()).write(ledger.model_digest(initial))
        atomic_copy(initial, final)


def checkpoints_of(config: RunConfig, arguments: dict[str, Any], say: Say) -> Checkpoints:
    """Raises UsageError where a run cannot be stopped."""
    if config.learner.whole_passes and (arguments["resume"] or arguments["checkpoint_every"]):
        option, reason = config.learner.option, "a stopped run of it begins anew"
        raise UsageError(f"--{option} does not go with --resume and --checkpoint-every: {reason}")
    checkpoints = Checkpoints(config, say, every=arguments["checkpoint_every"])
    if os.path.exists(checkpoints.path) and not arguments["resume"]:
        say(f"training begins anew; --resume would have gone on with {checkpoints.path}, left by a stopped run")
    return checkpoints


def configured(
    arguments: dict[str, Any], typed: dict[str, Any], say: Say
) -> tuple[RunConfig, Restored | None]:
    """What to run, and the model to go on from with ``-i``."""
    features = configs.feature_changes(typed)
    if arguments["initial"]:
        config = run_config(arguments, GdConfig(), FeatureConfig(), say)
        changes = learner_choice.learner_changes(typed), features, configs.loss_changes(typed)
        config, model = start(config, arguments["initial"], *changes, say=say)
        input = config.input.like(model.header, typed) if model else config.input
        return replace(config, input=input), model
    learner = learner_choice.new_learner_config(typed)
    return run_config(arguments, learner, FeatureConfig(**features), say), None
