"""What ``vwlite crr`` does."""

from typing import Any

from vwlite.api import configs
from vwlite.api.option_rules import check_effects
from vwlite.api.run_configs import input_config
from vwlite.cli import build
from vwlite.cli.console import Reading
from vwlite.cli.jsonfile import write_json
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.name_index import NameIndex
from vwlite.features.query_ids import Queries
from vwlite.features.term_weights import plan_of
from vwlite.learners.losses import LossConfig
from vwlite.options import check_needs
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import TrainingSet
from vwlite.solvers.crr.going_on import Begun, go_on
from vwlite.solvers.crr.labels import GradedLabels
from vwlite.solvers.crr.stages import check_curriculum
from vwlite.solvers.crr.train import content, train
from vwlite.solvers.crr.weights import check_start
from vwlite.storage import model_file
from vwlite.training.curriculum_config import CurriculumConfig


def run(arguments: dict[str, Any]) -> int:
    typed = build.typed()
    check_effects(typed, build.declared(), going_on=bool(arguments["initial"]))
    begun = begin(arguments["initial"], typed) if arguments["initial"] else None
    config = begun.config if begun else crr_config(arguments, typed)
    features = begun.model.features if begun else FeatureConfig(**configs.feature_changes(typed))
    input = input_config(arguments)
    keeps_names = arguments["names"] or bool(begun and begun.model.names)
    if config.pair_buffer and input.cache:
        raise UsageError("--pair-buffer keeps no cache: drop -c and --cache_file, or the buffer")
    if keeps_names and input.cache:
        raise UsageError("names of features are in the text, which a cache does not keep: drop -c, or --names")
    check_start(config, features)
    curriculum = CurriculumConfig(**configs.chosen(CurriculumConfig, arguments))
    check_curriculum(config, curriculum)
    plan, labels = (begun.model.plan, begun.labels()) if begun else (plan_of(features), GradedLabels(config.loss))
    names = begun.model.names if begun and begun.model.names else NameIndex() if keeps_names else None
    reading = Reading(arguments["quiet"], input.paths)
    tolerance = {"max_ratio": arguments["max_bad_ratio"], "fail_fast": arguments["strict"], "watch": reading.part}
    policy = BadLines(labels, None if arguments["quiet"] else reading.say, **tolerance)
    if begun:
        input = input.like(begun.model.header, typed)
    text = text_format(features, skip_malformed=True, names=keeps_names)
    inputs = Inputs(input, text, several_passes=not config.pair_buffer)
    data = TrainingSet(labels, Queries(config.queries, features), features, plan, inputs.config, names)
    try:
        with reading:
            read(data, inputs, policy, arguments["bad_lines"], config)
        progress = (lambda line: None) if arguments["quiet"] else reading.bar.tell
        done = train(config, features, data, plan, progress, reading.bar.steps("steps"), begun, curriculum)
        for note in data.sightings.notes():
            progress(f"note: {note}")
    finally:
        reading.bar.close()
        inputs.close()
    if arguments["model"]:
        model_file.save(arguments["model"], *content(done, features, data))
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**done.facts, "lines": policy.lines, "bad_lines": policy.bad})
    return 0


def begin(path: str, typed: dict[str, Any]) -> Begun:
    """The model to go on with, and what was typed beside it."""
    loss = {name: typed[name] for name in ("logistic_min", "logistic_max") if name in typed}
    if "loss_function" in typed:
        loss["name"] = typed["loss_function"]
    changes = configs.chosen(CrrConfig, typed)
    if "qid" in typed:
        changes["queries"] = QueryConfig(typed["qid"])
    return go_on(path, changes, configs.feature_changes(typed), loss)


def crr_config(arguments: dict[str, Any], typed: dict[str, Any]) -> CrrConfig:
    limits = {name: typed[name] for name in ("logistic_min", "logistic_max") if name in typed}
    if limits and arguments["loss_function"] != "logistic":
        raise UsageError("--logistic_min and --logistic_max need --loss_function logistic")
    config = CrrConfig(
        loss=LossConfig(arguments["loss_function"], **limits, limited=bool(limits)),
        queries=QueryConfig(arguments["qid"]),
        **configs.chosen(CrrConfig, arguments),
    )
    check_needs(config, typed)
    if config.takes_queries and config.share == 0 and not config.calibrate and "loss_function" in typed:
        wrong = "--loss_function is of examples, which --alpha 0 does not learn: give --alpha or --calibrate"
        raise UsageError(f"--pairs {config.pairing} has logistic loss of pairs; {wrong}")
    return config


def read(data: TrainingSet, inputs: Inputs, policy: BadLines, bad_lines: str | None, config: CrrConfig) -> None:
    def go() -> None:
        if config.pair_buffer:
            data.read_sample(inputs, policy, config.pair_buffer, config.seed)
        else:
            data.read(inputs, policy)

    with policy.keeping(bad_lines):
        go()
