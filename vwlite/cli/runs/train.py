"""What ``vwlite train`` does."""

import os
from contextlib import ExitStack
from typing import Any

from vwlite.atomic import check_writable, is_replaceable
from vwlite.checkpoint import Checkpoints
from vwlite.cli import build
from vwlite.cli.effects import check_effects
from vwlite.cli.jsonfile import write_json
from vwlite.config import RunConfig
from vwlite.expand import FeatureConfig
from vwlite.interrupts import Interrupts
from vwlite.learners.gd import GdConfig
from vwlite.limits import with_free_bound
from vwlite.lock import lock
from vwlite.losses import LOSSES, LossConfig
from vwlite.restore import Restored
from vwlite.session import Session
from vwlite.training import say, start, train

KEPT = ("model", "readable_model", "invert_hash", "predictions", "raw_predictions", "json_path")


def run(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    check_effects(typed, arguments)
    if not arguments["quiet"] and not any(arguments[name] for name in KEPT):
        say("nothing will be kept of this training: -f MODEL keeps the model")
    with ExitStack() as held:
        if arguments["model"]:
            check_writable(arguments["model"])
            held.enter_context(lock(arguments["model"], arguments["lock_wait"]))
        config, model = configured(arguments, typed)
        checkpoints = checkpoints_of(config, arguments, held)
        if checkpoints and arguments["resume"]:
            model = checkpoints.load() or model
        session = train(config, model, build.bad_lines_config(arguments), checkpoints)
    if arguments["json_path"]:
        write_json(arguments["json_path"], run_report(session))
    return 141 if session.broken else 0


def checkpoints_of(config: RunConfig, arguments: dict[str, Any], held: ExitStack) -> Checkpoints | None:
    """While ``held``, the first signal is heard between batches; None where no file is to be written."""
    if not config.output.model or not is_replaceable(config.output.model):
        return None
    tell = (lambda line: None) if config.output.quiet else say
    checkpoints = Checkpoints(config, tell, held.enter_context(Interrupts()), every=arguments["checkpoint_every"])
    check_writable(checkpoints.path)
    if os.path.exists(checkpoints.path) and not arguments["resume"]:
        tell(f"training begins anew; --resume would have gone on with {checkpoints.path}, left by a stopped run")
    return checkpoints


def configured(arguments: dict[str, Any], typed: dict[str, Any]) -> tuple[RunConfig, Restored | None]:
    """What to run, and the model to go on from with ``-i``."""
    features = build.feature_changes(typed)
    if arguments["initial"]:
        config = build.run_config(arguments, GdConfig(), FeatureConfig())
        return start(config, arguments["initial"], build.learner_changes(typed), features, build.loss_changes(typed))
    link = LOSSES[typed.get("loss_function", "squared")].link
    learner = build.learner_config(with_free_bound(typed, LossConfig(**build.loss_changes(typed))), link=link)
    return build.run_config(arguments, learner, FeatureConfig(**features)), None


def run_report(session: Session) -> dict[str, Any]:
    """Counts and losses of a finished run, as JSON data."""
    counters, learner = session.counters, session.learner
    weight = counters.labeled_weight
    held = counters.holdout_best_loss if session.holdout.active and counters.holdout_weight else None
    constant = session.report.best_constant(learner)
    return {
        "examples": int(counters.example_number),
        "passes": session.passes_done,
        "weighted_examples": counters.weight,
        "weighted_labels": counters.weighted_labels,
        "average_loss": counters.sum_loss / weight if weight else None,
        "holdout_loss": held,
        "best_constant": constant[0] if constant else None,
        "best_constant_loss": constant[1] if constant else None,
        "features": int(counters.total_features),
        "lines": session.manners.lines,
        "bad_lines": session.manners.bad,
        "min_label": learner.get("min_label"),
        "max_label": learner.get("max_label"),
        "loss_function": learner.config.loss.name,
    }
