"""What ``vwlite train`` does."""

from typing import TYPE_CHECKING

from vwlite.api.run_configs import check_option_effects
from vwlite.api.train_files import train_files, with_classes
from vwlite.cli import build
from vwlite.cli.output import EMPTY_REPORT, Console, say, write_json
from vwlite.cli.signals import Interrupts
from vwlite.config_check import JsonObject
from vwlite.data.config import FoldConfig
from vwlite.errors import UsageError
from vwlite.learners.abilities import Reporting
from vwlite.learners.configs.base import LearnerConfig
from vwlite.options import OptionValues, Request, effective
from vwlite.training.ledger import be_silent
from vwlite.training.run_report import best_constant_of
from vwlite.training.train import TrainResult

if TYPE_CHECKING:
    from vwlite.api.train_folds import FoldScores

KEPT = ("model", "readable_model", "invert_hash", "predictions", "raw_predictions", "json_path", "support")


def simulate() -> int:
    """Run ``vwlite simulate``."""
    request = build.request()
    if not (request.values["cbify"] or request.values["cbify_ldf"]):
        raise UsageError("--actions N says how many actions there are, --cbify_ldf that they are the lines of a group")
    check_option_effects(request.given, request.known)
    return learn(request)


def run(arguments: OptionValues) -> int:
    request = build.request()
    check_option_effects(request.given, request.known, continuing=bool(arguments["initial"]))
    if not arguments["quiet"] and not any(arguments[name] for name in KEPT):
        say("the model will not be saved: give -f MODEL to save it")
    if arguments["folds"] and (arguments["shard"] or arguments["workers"] or arguments["scheduler"]):
        raise UsageError("--folds does not go with shards")
    if arguments["shard"] or arguments["workers"] or arguments["scheduler"]:
        from vwlite.cli.runs import sharded  # most runs need none of what it imports

        of_shards = sharded.learn_shard if arguments["shard"] else sharded.learn_rounds
        return of_shards(request)
    return learn(request)


def learn(request: Request) -> int:
    count, asked = request.config(FoldConfig).folds, request
    if count:
        from vwlite.api.train_folds import check_folds  # which few runs need

        check_folds(request)
        predictions = request.values["predictions"]  # of folds, in the order of the data
        asked = request.without("predictions") if predictions else request
        asked = with_classes(asked, be_silent if request.values["quiet"] else say)
        request = asked.having({"predictions": predictions}) if predictions else asked
    done = train_files(
        asked,
        say=say,
        display=lambda output: Console(output.quiet, output.driver_output == "stdout", output.bar),
        interrupts=Interrupts,
    )
    measured = measure_folds(request, count, done.config.learner) if count and done else None
    if request.values["json_path"]:
        write_run(request.values["json_path"], done, measured)
    return 141 if (done and done.broken) or (measured and measured.broken) else 0


def measure_folds(request: Request, count: int, learner: LearnerConfig) -> "FoldScores":
    """Raises as ``train_folds``."""
    from vwlite.api.train_folds import train_folds
    from vwlite.cli.runs.evaluate import tell_of_constant, tell_of_majority
    from vwlite.evaluation.metric_table import as_table

    console = Console(request.values["quiet"])
    console.line("")
    scores = train_folds(request, count, console.line)
    report = Console(console.quiet and bool(request.values["json_path"]))  # what was asked for, even of a quiet run
    report.line(as_table({f"{count} folds, each measured by a model of the others": scores.summary()}))
    if not console.quiet:
        means = scores.report()["mean"]
        tell_of_constant(means, learner)
        tell_of_majority(means)
    return scores


def write_run(path: str, done: TrainResult | None, measured: "FoldScores | None") -> None:
    if done is None:
        write_json(path, EMPTY_REPORT)
        return
    config, learner = done.config, done.config.learner
    parts = (learner, learner.loss, config.features, config.input, config.holdout, config.curriculum, config)
    options = {**effective(*parts), "learning_rate": learner.initial_learning_rate}
    folds = {"folds": measured.report()} if measured else {}
    write_json(path, {**run_report(done), **folds}, options, done.history)


def run_report(done: TrainResult) -> JsonObject:
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
        **(learner.report() if isinstance(learner, Reporting) else {}),
        **(dict(zip(("majority_class", "majority_class_loss"), majority, strict=True)) if majority else {}),
        **({"files": done.by_file} if done.by_file else {}),
    }
