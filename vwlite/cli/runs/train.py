"""What ``vwlite train`` does."""

import os
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from vwlite.api import configs, learner_choice
from vwlite.api.option_rules import check_effects, check_idle
from vwlite.cli import build
from vwlite.cli.console import Console, say
from vwlite.cli.jsonfile import write_json
from vwlite.cli.signals import Interrupts
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.storage.atomic_file import atomic_copy, is_replaceable
from vwlite.storage.file_lock import lock
from vwlite.training import ledger
from vwlite.training.checkpoint import Checkpoints, known_then
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import Restored
from vwlite.training.run_report import best_constant_of
from vwlite.training.seen_inputs import Seen, seen
from vwlite.training.start import start
from vwlite.training.train import TrainResult, train

KEPT = ("model", "readable_model", "invert_hash", "predictions", "raw_predictions", "json_path")


def run(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    options = build.declared()
    check_effects(typed, options, going_on=bool(arguments["initial"]))
    if not arguments["quiet"] and not any(arguments[name] for name in KEPT):
        say("nothing will be kept of this training: -f MODEL keeps the model")
    with ExitStack() as held:
        if arguments["model"]:
            held.enter_context(lock(arguments["model"], arguments["lock_wait"]))
        if begins_afresh(arguments):
            if not arguments["quiet"]:
                say(f"there is no {arguments['initial']} yet: training begins at the start")
            typed.pop("initial")
            arguments = {**arguments, "initial": None}
        config, model = configured(arguments, typed)
        check_idle(typed, options, config.learner)
        known = known_before(config, arguments)
        config = unseen(config, arguments, known)
        if config is None:
            return nothing_new(arguments)
        checkpoints, learned, guard = None, None, None
        if config.output.model and is_replaceable(config.output.model):
            checkpoints, guard = checkpoints_of(config, arguments), held.enter_context(Interrupts())
            learned = ledger.Ledger(config.output.model, known, config.input.paths, not config.input.examples)
            if arguments["resume"]:
                model = checkpoints.load() or model
        output = config.output
        display = Console(output.quiet, output.driver_output == "stdout", output.bar)
        done = train(config, model, build.bad_lines_config(arguments), checkpoints, learned, display, guard)
    if arguments["json_path"]:
        write_json(arguments["json_path"], run_report(done))
    return 141 if done.broken else 0


def begins_afresh(arguments: dict[str, Any]) -> bool:
    """Whether the command is to be repeated for ever, and this is the first time: nothing can be lost or mistaken."""
    initial, final = arguments["initial"], arguments["model"]
    same = initial and final and os.path.realpath(initial) == os.path.realpath(final)
    return bool(same and arguments["skip_seen"] and not os.path.lexists(initial))


def known_before(config: RunConfig, arguments: dict[str, Any]) -> list[ledger.Entry]:
    """What the model of ``-i`` has learned; of a stopped run, what it had when that began."""
    initial, skip = arguments["initial"], arguments["skip_seen"]
    if not initial:
        return []
    then = known_then(config) if arguments["resume"] else None
    if then is not None:
        return then
    known = ledger.read(initial)
    if not known and not config.output.quiet and (skip or os.path.exists(ledger.ledger_path(initial))):
        say(f"{ledger.doubt(initial)}{': no file is skipped' if skip else ''}")
    return known


def unseen(config: RunConfig, arguments: dict[str, Any], known: list[ledger.Entry]) -> RunConfig | None:
    """The run without inputs that were learned before, if they are to be skipped; None when nothing is left."""
    again, skip = seen(known, config.input.paths), arguments["skip_seen"]
    skipped = {path for path, one in again.items() if skip and one.whole}
    for path, one in again.items() if not config.output.quiet else ():
        say(f"{one.told(path)}{advice(one, skip)}")
    left = tuple(path for path in config.input.paths if path not in skipped)
    return replace(config, input=replace(config.input, paths=left)) if left else None


def advice(one: Seen, skip: bool) -> str:
    """What becomes of an input that was learned before, and what would be better."""
    if one.grown:
        return ": all of it is learned again; give what is new a file of its own"
    if one.whole:
        return ": skipped" if skip else "; --skip-seen would skip it"
    return ": all of it is learned" if skip else ""


def nothing_new(arguments: dict[str, Any]) -> int:
    """The model stays as it is, under the name it is to have."""
    initial, final = arguments["initial"], arguments["model"]
    if final and os.path.realpath(initial) != os.path.realpath(final):
        atomic_copy(initial, final)
    if arguments["json_path"]:
        write_json(arguments["json_path"], {"examples": 0, "lines": 0, "bad_lines": 0})
    return 0


def checkpoints_of(config: RunConfig, arguments: dict[str, Any]) -> Checkpoints:
    """Raises UsageError where a run cannot be stopped."""
    if config.learner.whole_passes and (arguments["resume"] or arguments["checkpoint_every"]):
        option, reason = config.learner.option, "a stopped run of it begins anew"
        raise UsageError(f"--{option} does not go with --resume and --checkpoint-every: {reason}")
    tell = (lambda line: None) if config.output.quiet else say
    checkpoints = Checkpoints(config, tell, every=arguments["checkpoint_every"])
    if os.path.exists(checkpoints.path) and not arguments["resume"]:
        tell(f"training begins anew; --resume would have gone on with {checkpoints.path}, left by a stopped run")
    return checkpoints


def configured(arguments: dict[str, Any], typed: dict[str, Any]) -> tuple[RunConfig, Restored | None]:
    """What to run, and the model to go on from with ``-i``."""
    features = configs.feature_changes(typed)
    if arguments["initial"]:
        config = build.run_config(arguments, GdConfig(), FeatureConfig())
        changes = learner_choice.learner_changes(typed), features, configs.loss_changes(typed)
        return start(config, arguments["initial"], *changes, say=None if config.output.quiet else say)
    learner = learner_choice.new_learner_config(typed)
    return build.run_config(arguments, learner, FeatureConfig(**features)), None


def run_report(done: TrainResult) -> dict[str, Any]:
    """Counts and losses of a finished run, as JSON data."""
    counters, learner = done.counters, done.learner
    weight = counters.labeled_weight
    held = counters.holdout_best_loss if done.holdout and counters.holdout_weight else None
    constant = best_constant_of(learner, counters)
    return {
        "examples": int(counters.example_number),
        "passes": done.passes,
        "weighted_examples": counters.weight,
        "weighted_labels": counters.weighted_labels,
        "average_loss": counters.sum_loss / weight if weight else None,
        "holdout_loss": held,
        "best_constant": constant[0] if constant else None,
        "best_constant_loss": constant[1] if constant else None,
        "features": int(counters.total_features),
        "lines": done.lines,
        "bad_lines": done.bad_lines,
        "min_label": learner.get("min_label"),
        "max_label": learner.get("max_label"),
        "loss_function": learner.config.loss.name,
    }
