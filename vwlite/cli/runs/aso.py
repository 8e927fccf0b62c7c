"""What ``vwlite aso learn``, ``problems``, ``train``, ``cotrain``, ``apply`` and ``inspect`` do."""

import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

from vwlite.api import configs
from vwlite.api.option_rules import check_effects
from vwlite.cli import build
from vwlite.cli.console import Bar, Reading
from vwlite.cli.jsonfile import write_json
from vwlite.data import block_parser
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.features import theta_file
from vwlite.features.theta import Theta
from vwlite.features.theta_config import ApplyConfig
from vwlite.memory_limit import GIB
from vwlite.numerals import is_count
from vwlite.solvers.aso import model_file, problem_list
from vwlite.solvers.aso.apply import applied
from vwlite.solvers.aso.auxiliary import LABELLED, read_aux
from vwlite.solvers.aso.classifier import train
from vwlite.solvers.aso.conditions import read_condition
from vwlite.solvers.aso.config import (
    CotrainConfig,
    LearnConfig,
    SelectionConfig,
    SolverConfig,
    TargetConfig,
)
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.cotrain import cotrain
from vwlite.solvers.aso.export import write_arrays
from vwlite.solvers.aso.label_features import recalled_space
from vwlite.solvers.aso.selection import read_vary, select
from vwlite.solvers.aso.sequence_config import SequenceConfig
from vwlite.solvers.aso.tagger import train_sequences
from vwlite.solvers.aso.topics import as_text, topics
from vwlite.solvers.aso.train import learn, prepared
from vwlite.storage.file_lock import lock
from vwlite.training.prediction_writer import PredictionWriter


def run_learn(arguments: dict[str, Any]) -> int:
    check_effects(build.typed(), build.declared())
    config = learn_config(arguments)
    bar = Bar(arguments["quiet"], to_stdout=False)
    speak = (lambda line: None) if arguments["quiet"] else bar.message
    with lock(arguments["model"]), closing(bar):
        corpus, labelled = texts_of(config, arguments)
        learned = learn(config, corpus, labelled, speak, bar.steps("passes"))
        facts = learned.facts(arguments["aux"])
        theta_file.save_theta(arguments["model"], learned.theta, {**facts, "seed": arguments["seed"]})
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0


def texts_of(config: LearnConfig, arguments: dict[str, Any]) -> tuple[Corpus, Corpus | None]:
    """The text that problems are made of, and the labelled one where they need it. Raises UsageError."""
    if (arguments["labeled"] is None) != all(aux.kind not in LABELLED for aux in config.aux):
        raise UsageError(f"--labeled goes with --aux {', '.join(LABELLED)}, and they need it")
    if arguments["multilabel"] and not arguments["labeled"]:
        raise UsageError("--multilabel does nothing without --labeled")
    corpus = read(arguments, paths_of(arguments))
    more = (arguments["labeled"],) if arguments["labeled"] else ()
    return corpus, read({**arguments, "bad_lines": None}, more) if more else None


def run_problems(arguments: dict[str, Any]) -> int:
    config = problem_config(arguments)
    _, _, problems = prepared(config, *texts_of(config, arguments))
    sys.stdout.write(problem_list.as_text(row for one in problems for row in one.listed()))
    return 0


def problem_config(arguments: dict[str, Any]) -> LearnConfig:
    """What decides which problems there are."""
    return LearnConfig(
        aux=tuple(map(read_aux, arguments["aux"])),
        where=tuple(map(read_condition, arguments["where"])),
        several=arguments["multilabel"],
        solver=solver_config({**arguments, "passes": None}),
        target=solver_config({**arguments, "passes": TargetConfig().solver.passes}),
        **configs.chosen(LearnConfig, arguments),
    )


def learn_config(arguments: dict[str, Any]) -> LearnConfig:
    dim, dims = 50, []
    for text in arguments["dim"]:
        name, _, number = text.rpartition("=")
        if not is_count(number):
            raise UsageError(f"--dim takes N or GROUP=N, not {text!r}")
        if name:
            dims.append((name, int(number)))
        else:
            dim = int(number)
    return replace(
        problem_config(arguments),
        chosen=problem_list.read_list(arguments["problems"]) if arguments["problems"] else None,
        groups=tuple(tuple(text.split(",")) for text in arguments["group"]),
        dim=dim,
        dims=tuple(dims),
        memory=arguments["memory"] * GIB,
        solver=solver_config(arguments),
    )


def solver_config(arguments: dict[str, Any]) -> SolverConfig:
    return SolverConfig(**{"threads": configs.available_cores(), **configs.chosen(SolverConfig, arguments)})


def paths_of(arguments: dict[str, Any]) -> tuple[str, ...]:
    return tuple(arguments["files"]) or ("-",)


def read(
    arguments: dict[str, Any], paths: tuple[str, ...], tags: bool = False, space: str | None = None
) -> Corpus:
    """``tags``: these are kept, and examples of no importance; ``space``: that of ``Corpus.words``."""
    with Reading(arguments["quiet"], paths) as reading:
        policy = policy_for(arguments, to_the_end=False, reading=reading)
        corpus = Corpus(policy, tags=tags, space=space)
        with policy.keeping(arguments["bad_lines"]):
            return corpus.read(paths)


def policy_for(arguments: dict[str, Any], to_the_end: bool, reading: Reading) -> BadLines:
    tolerance = {"max_ratio": arguments["max_bad_ratio"], "fail_fast": arguments["strict"], "to_the_end": to_the_end}
    return BadLines(None, None if arguments["quiet"] else reading.say, watch=reading.part, **tolerance)


def run_apply(arguments: dict[str, Any]) -> int:
    theta, _ = theta_file.load_theta(arguments["theta"])
    config = ApplyConfig(**configs.chosen(ApplyConfig, arguments))
    threads, paths = arguments["threads"] or configs.available_cores(), paths_of(arguments)
    with Reading(arguments["quiet"], paths, to_stdout=arguments["out"] == "-") as reading, ExitStack() as opened:
        policy = policy_for(arguments, True, reading)
        opened.enter_context(policy.keeping(arguments["bad_lines"]))
        writer = opened.enter_context(PredictionWriter(arguments["out"]))
        parts = block_parser.read(paths, text_format(), threads=threads)
        for text in applied(theta, parts, policy, config):
            writer.write_bytes(text)
            if writer.broken:
                return 141
    policy.check_ratio(policy.lines)
    return 0


def target_of(arguments: dict[str, Any]) -> tuple[TargetConfig, Theta | None]:
    if arguments["theta_scale"] is not None and not arguments["theta"]:
        raise UsageError("--theta-scale does nothing without --theta")
    config = TargetConfig(solver_config(arguments), **configs.chosen(TargetConfig, arguments))
    return config, theta_file.load_theta(arguments["theta"])[0] if arguments["theta"] else None


def run_cotrain(arguments: dict[str, Any]) -> int:
    target, theta = target_of(arguments)
    bar, config = Bar(arguments["quiet"], to_stdout=False), CotrainConfig(**configs.chosen(CotrainConfig, arguments))
    shown = {} if arguments["quiet"] else {"say": bar.message, "table": bar.tell}
    with lock(arguments["model"]), closing(bar):
        labelled = read(arguments, paths_of(arguments))
        others = {**arguments, "bad_lines": None}
        unlabelled = read(others, (arguments["unlabeled"],))
        test = read(others, (arguments["test"],)) if arguments["test"] else None
        done = cotrain(
            labelled, unlabelled, config, target, spaces=[tuple(text.split(",")) for text in arguments["views"]],
            theta=theta, test=test, memory=arguments["memory"] * GIB, steps=bar.steps("examples"), **shown,
        )  # fmt: skip
        facts = {"examples": len(labelled.label), "unlabelled": len(unlabelled.label), "round": done.best}
        facts["classes"] = done.target.classes.names
        model_file.save_target(arguments["model"], done.target, facts)
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "rounds": done.history})
    return 0


def check_train(sequences: bool, several: bool, tuned: bool, by_folds: bool) -> None:
    """Raises UsageError for what does not go together."""
    if sequences and several:
        raise UsageError("--sequences has one label for each example: drop --multilabel")
    if sequences and by_folds:
        raise UsageError("--folds parts single examples, not sequences: drop it, or --sequences")
    if tuned and not several:
        raise UsageError("--threshold tuned is for lists of labels: give --multilabel")


def run_train(arguments: dict[str, Any]) -> int:
    check_effects(build.typed(), build.declared())
    (config, theta), several, memory = target_of(arguments), arguments["multilabel"], arguments["memory"] * GIB
    selection, how = selection_of(arguments), SequenceConfig(**configs.chosen(SequenceConfig, arguments))
    tuned, chosen = arguments["threshold"] == "tuned", {}
    check_train(how.sequences, several, tuned, bool(selection.folds))
    bar = Bar(arguments["quiet"], to_stdout=False)
    with lock(arguments["model"]), closing(bar):
        corpus = read(arguments, paths_of(arguments), how.sequences, recalled_space(how.label_features))
        if selection.folds:
            found = select(corpus, theta, config, selection, several, bar.steps("trainings"))
            for line in () if arguments["quiet"] else found.said():
                bar.tell(line)
            chosen = {"selection": found.facts(selection.folds)}
            config, theta = found.chosen.config, theta if found.chosen.dim else None
            selection = replace(selection, dim=found.chosen.dim)
        theta = theta.cut(selection.dim) if theta and selection.dim else theta
        if how.sequences:
            target = train_sequences(corpus, theta, config, how, memory)
        else:
            target = train(corpus, theta, config, several, memory, tuned)
        facts = {"examples": int((corpus.label >= 0).sum()), "classes": target.classes.names, **chosen}
        model_file.save_target(arguments["model"], target, facts)
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0


def selection_of(arguments: dict[str, Any]) -> SelectionConfig:
    """Raises UsageError for options that would do nothing."""
    config = SelectionConfig(**configs.chosen(SelectionConfig, arguments))
    if config.dim and not arguments["theta"]:
        raise UsageError("--theta-dim does nothing without --theta")
    if config.vary and not config.folds:
        raise UsageError("--vary does nothing without --folds")
    if config.folds and not config.vary and not arguments["theta"]:
        raise UsageError("--folds has nothing to choose without --vary or --theta")
    declared = {**TargetConfig.OPTIONS, **SolverConfig.OPTIONS, "theta_dim": SelectionConfig.OPTIONS["dim"]}
    for name in read_vary(config.vary, bool(arguments["theta"])):
        if (key := declared[name].key or name) in build.typed():
            raise UsageError(f"{build.spelled(key)} is given and varied: drop one")
    return config


def run_inspect(arguments: dict[str, Any]) -> int:
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
    if arguments["json_path"] != "-":
        print(as_text(found))
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "topics": found})
    return 0


def inspect_problems(arguments: dict[str, Any], facts: dict[str, Any]) -> int:
    if "listed" not in facts:
        raise UsageError(f"{arguments['model']} has no list of its problems: an earlier version learned it")
    if arguments["json_path"] != "-":
        sys.stdout.write(problem_list.as_text(problem_list.Listed(*row) for row in facts["listed"]))
    if arguments["json_path"]:
        write_json(arguments["json_path"], facts)
    return 0
