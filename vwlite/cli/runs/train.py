"""What ``vwlite train`` does."""

from typing import Any

from vwlite.cli import build
from vwlite.cli.jsonfile import write_json
from vwlite.errors import UsageError
from vwlite.expand import FeatureConfig
from vwlite.losses import LOSSES
from vwlite.session import Session
from vwlite.training import start, train

FIXED = (
    *("sgd", "adaptive", "normalized", "invariant", "initial_t", "initial_weight", "constant"),
    *("dotproduct", "rank", "dot_init", "dot_init_kind", "dot_offset", "no_dot_linear", "random_seed"),
)


def run(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    loss = typed.get("loss_function", "squared")
    learner = build.learner_config(typed, link=LOSSES[loss].link)
    config = build.run_config(arguments, learner, FeatureConfig(**build.feature_changes(typed)))
    model = None
    if arguments["initial"]:
        refuse_fixed(typed)
        config, model = start(config, arguments["initial"], build.learner_changes(typed), build.feature_changes(typed))
        if "loss_function" in typed or any(name in typed for name in build.LOSS_FIELDS):
            raise UsageError("the loss function belongs to the model: drop it and its parameters beside -i")
        if "learning_rate" in typed:
            model.learner.set(rate=model.learner.config.start_rate)
    session = train(config, model, build.bad_lines_config(arguments))
    if arguments["json_path"]:
        write_json(arguments["json_path"], run_report(session))
    return 141 if session.broken else 0


def refuse_fixed(typed: dict[str, Any]) -> None:
    """Options that only a new model can follow."""
    for name in FIXED:
        if name in typed:
            raise UsageError(f"--{name} is settled when a model is begun: drop it beside -i")


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
