"""What ``vwlite aso learn``, ``problems``, ``train``, ``cotrain``, ``apply`` and ``inspect`` do."""

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from vwlite.cli import build
from vwlite.cli.output import Reading, show_report, write_json
from vwlite.config_check import JsonObject
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.features import theta as theta_file
from vwlite.features.config import ApplyConfig
from vwlite.options import OptionValues, fields_of
from vwlite.solvers.aso import problem_list
from vwlite.solvers.aso.apply import apply_theta, as_text, topics, write_arrays
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.options import check_labelled, input_of, problem_config
from vwlite.solvers.aso.train import prepare_problems
from vwlite.training.prediction_writer import PredictionWriter


def run_problems(arguments: OptionValues) -> int:
    request = build.request()
    config = problem_config(request)
    check_labelled(request, config)
    (corpus, _), path = read(arguments, paths_of(arguments)), arguments["labeled"]
    labelled = read({**arguments, "bad_lines": None}, (path,))[0] if path else None
    _, _, problems = prepare_problems(config, corpus, labelled)
    sys.stdout.write(problem_list.as_text(row for problem in problems for row in problem.listed()))
    return 0


def paths_of(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(arguments["files"]) or ("-",)


def inputs_of(
    arguments: Mapping[str, Any], paths: tuple[str, ...] | None = None, data: Mapping[str, str] | None = None
) -> Inputs:
    """``paths`` None: the files that were typed. ``data``: how the model's were read."""
    values = {**arguments, "files": paths_of(arguments) if paths is None else paths}
    return Inputs(input_of(values, data, build.typed_options()), text_format())


def read(
    arguments: OptionValues, paths: tuple[str, ...], tags: bool = False, space: str | None = None,
    data: Mapping[str, str] | None = None, to_the_end: bool = False,
) -> tuple[Corpus, BadLines]:
    """``tags``: these are kept, and examples of no importance; ``space``: that of ``Corpus.words``; ``data`` as
    ``inputs_of`` has it.
    """
    with Reading(arguments["quiet"], paths) as reading:
        policy = policy_for(arguments, to_the_end, reading)
        corpus, inputs = Corpus(policy, tags=tags, space=space), inputs_of(arguments, paths, data)
        with policy.keeping():
            return corpus.take(map(policy.examine, inputs.texts())), policy


def policy_for(arguments: OptionValues, to_the_end: bool, reading: Reading) -> BadLines:
    return build.bad_lines_policy(arguments, reading.say, to_the_end=to_the_end, watch=reading.part)


def run_apply(arguments: OptionValues) -> int:
    theta, _ = theta_file.load_theta(arguments["theta"])
    config = ApplyConfig(**fields_of(ApplyConfig, arguments))
    paths = paths_of(arguments)
    with Reading(arguments["quiet"], paths, to_stdout=arguments["out"] == "-") as reading, ExitStack() as opened:
        policy = policy_for(arguments, True, reading)
        opened.enter_context(policy.keeping())
        writer = opened.enter_context(PredictionWriter(arguments["out"]))
        inputs = inputs_of(arguments)
        for text in apply_theta(theta, inputs, policy, config):
            writer.write_bytes(text)
            if writer.broken:
                return 141
    policy.check_ratio(policy.lines)
    return 0


def run_inspect(arguments: OptionValues) -> int:
    if arguments["top"] < 1 or arguments["rows"] < 1:
        raise UsageError("--top and --rows take 1 or more")
    theta, facts = theta_file.load_theta(arguments["model"])
    if arguments["problems"]:
        if arguments["out"]:
            raise UsageError("--problems and --out do not go together: drop one")
        return inspect_problems(arguments, facts)
    if arguments["out"]:
        write_arrays(arguments["out"], theta)
    found = topics(theta, arguments["rows"], arguments["top"])
    return show_report(arguments["json_path"], {**facts, "topics": found}, as_text(found))


def inspect_problems(arguments: OptionValues, facts: JsonObject) -> int:
    if "listed" not in facts:
        raise UsageError(f"{arguments['model']} has no list of its problems: an earlier version learned it")
    if arguments["json_path"] != "-":
        sys.stdout.write(problem_list.as_text(problem_list.Listed(*row) for row in facts["listed"]))
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0
