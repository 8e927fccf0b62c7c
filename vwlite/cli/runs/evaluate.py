"""What ``vwlite evaluate`` does."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from vwlite.api.run_configs import bad_lines_config
from vwlite.cli import build
from vwlite.cli.build import evaluation_changes, module_for, typed_vector_options
from vwlite.cli.output import Bar, say, show_report
from vwlite.config_check import JsonObject
from vwlite.errors import ModelError, UsageError
from vwlite.evaluation.config import RankingConfig, ValueConfig
from vwlite.evaluation.evaluate import Opened
from vwlite.evaluation.measure import measure
from vwlite.evaluation.metric_table import as_table
from vwlite.learners.abilities import LoggedDecisions
from vwlite.learners.best_constant import loses_to_constant
from vwlite.learners.configs.base import LearnerConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import OptionValues, fields_of
from vwlite.training import ledger


def run(arguments: OptionValues) -> int:
    if module := module_for(arguments["initial"], arguments["memory"]):
        return module.evaluate(arguments)
    if arguments["scheme"]:
        raise UsageError("--scheme is of phrases, which models of label sequences find: 'vwlite l1 --model crf'")
    changes = {**evaluation_changes(arguments["initial"], arguments), **typed_vector_options()}
    config, model = build.open_model(arguments, changes)
    display = {"quiet": arguments["quiet"], "display": Bar(arguments["quiet"], to_stdout=False)}
    refused: list[str] = []
    asked = {"asked": arguments["metrics"], "refuse": refused.append, "qid": arguments["qid"]}
    asked["valued"] = ValueConfig(**fields_of(ValueConfig, arguments))
    others = {name: open_other_model(arguments, name) for name in ("against", "regressor")}
    ranking = {"ranking": RankingConfig(**fields_of(RankingConfig, arguments)), **others}
    if isinstance(model.learner, LoggedDecisions):
        asked["learned"] = learned_files(arguments["initial"], config.input.paths)
    report = measure(config, model, bad_lines_config(arguments), **asked, **ranking, **display)
    if not arguments["quiet"]:
        tell_of_constant(report, config.learner)
        tell_of_majority(report)
    return show_report(arguments["json_path"], report, as_table(report), refused)


def tell_of_constant(report: JsonObject, learner: LearnerConfig) -> None:
    """A note where always predicting the best constant would have a smaller loss, of those that are reported."""
    pairs = [("loss", "best_constant_loss"), ("log_loss", "best_constant_log_loss")]
    if not {"log_loss", "best_constant_loss"} & report.keys():
        pairs.append(("loss", "best_constant_log_loss"))
    for loss, constant in ((report.get(name), report.get(other)) for name, other in pairs):
        if loss is None or constant is None or not loses_to_constant(loss, constant):
            continue
        raw = isinstance(learner, GdConfig) and learner.label_units == "raw" and not learner.raw_because
        way = "; train --label-units spread learns numbers of any unit" if raw else ""
        say(f"note: always predicting the best constant has a smaller loss, {constant:g}{way}")
        return


def tell_of_majority(report: Mapping[str, Any]) -> None:
    """A note where always giving one answer would be right more often."""
    accuracy, majority = report.get("accuracy"), report.get("majority_accuracy")
    if accuracy is not None and majority is not None and majority > accuracy:
        say(f"note: always giving the most frequent answer has a higher accuracy, {majority:g}")


def open_other_model(arguments: OptionValues, option: str) -> Opened | None:
    """The model to compare with, or of costs. Raises UsageError for standard input, which cannot be read twice."""
    if (path := arguments[option]) is None:
        return None
    if "-" in (arguments["files"] or ("-",)):
        raise UsageError(f"--{option} reads the data twice, which standard input does not allow: give a file")
    changes = {**evaluation_changes(path, arguments), **typed_vector_options()}
    config, model = build.open_model({**arguments, "initial": path}, changes)
    known = learned_files(path, config.input.paths) if isinstance(model.learner, LoggedDecisions) else ()
    return Opened(config, model, known)


def learned_files(model: str, paths: Sequence[str]) -> list[str]:
    """Sentences of what the model has learned of these files, as far as its ledger knows."""
    files = [path for path in paths if os.path.isfile(path)]
    try:
        return [known.describe(path) for path, known in ledger.known_files(ledger.read(model), files).items()]
    except ModelError:
        return []
