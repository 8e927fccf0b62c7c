"""What ``vwlite train`` does."""

from typing import Any

from vwlite.api.option_rules import check_option_effects
from vwlite.api.train_files import train_files
from vwlite.cli import build
from vwlite.cli.console import Console, say
from vwlite.cli.jsonfile import EMPTY_REPORT, write_json
from vwlite.cli.signals import Interrupts
from vwlite.errors import UsageError
from vwlite.options import Request, effective
from vwlite.training.run_report import best_constant_of
from vwlite.training.train import TrainResult

KEPT = ("model", "readable_model", "invert_hash", "predictions", "raw_predictions", "json_path", "support")


def simulate() -> int:
    """What ``vwlite simulate`` does."""
    request = build.request()
    if not (request.values["cbify"] or request.values["cbify_ldf"]):
        raise UsageError("--actions N says how many actions there are, --cbify_ldf that they are the lines of a group")
    check_option_effects(request.given, request.known)
    return learn(request)


def run(arguments: dict[str, Any]) -> int:
    request = build.request()
    check_option_effects(request.given, request.known, continuing=bool(arguments["initial"]))
    if not arguments["quiet"] and not any(arguments[name] for name in KEPT):
        say("nothing will be kept of this training: -f MODEL keeps the model")
    if arguments["shard"] or arguments["workers"] or arguments["scheduler"]:
        from vwlite.cli.runs import sharded  # most runs need none of what it imports

        of_shards = sharded.learn_shard if arguments["shard"] else sharded.learn_rounds
        return of_shards(request)
    return learn(request)


def learn(request: Request) -> int:
    done = train_files(
        request,
        say=say,
        display=lambda output: Console(output.quiet, output.driver_output == "stdout", output.bar),
        interrupts=Interrupts,
    )
    if request.values["json_path"]:
        write_run(request.values["json_path"], done)
    return 141 if done and done.broken else 0


def write_run(path: str, done: TrainResult | None) -> None:
    if done is None:
        write_json(path, EMPTY_REPORT)
        return
    config, learner = done.config, done.config.learner
    parts = (learner, learner.loss, config.features, config.input, config.holdout, config.curriculum, config)
    options = {**effective(*parts), "learning_rate": learner.initial_learning_rate}
    write_json(path, run_report(done), options, done.history)


def run_report(done: TrainResult) -> dict[str, Any]:
    """Counts and losses of a finished run, as JSON data."""
    counters, learner = done.parts.counters, done.parts.learner
    weight = counters.labeled_weight
    majority = done.classes.majority if done.classes else None
    constant = best_constant_of(learner, counters, done.labels)
    return {
        "examples": int(counters.example_number),
        "passes": done.passes,
        "weighted_examples": counters.weight,
        "weighted_labels": counters.weighted_labels,
        "average_loss": counters.sum_loss / weight if weight else None,
        "holdout_loss": counters.holdout_best_loss if counters.holdout_best_pass else None,
        "best_constant": constant[0] if constant else None,
        "best_constant_loss": constant[1] if constant else None,
        "features": int(counters.total_features),
        "lines": done.lines,
        "bad_lines": done.bad_lines,
        "min_label": learner.get("min_label"),
        "max_label": learner.get("max_label"),
        "loss_function": learner.config.loss.name,
        **learner.report(),
        **(dict(zip(("majority_class", "majority_class_loss"), majority, strict=True)) if majority else {}),
        **({"files": done.by_file} if done.by_file else {}),
    }
