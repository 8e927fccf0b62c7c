"""What ``vwlite predict``, ``evaluate`` and ``inspect`` do with models of named classes."""

from contextlib import ExitStack
from typing import Any

import numpy as np

from vwlite.api import configs
from vwlite.cli.console import Reading
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.aso import paths_of, policy_for, read
from vwlite.cli.runs.named import refuse
from vwlite.data import block_parser
from vwlite.errors import DataError
from vwlite.escapes import escaped
from vwlite.evaluation.class_metrics import choose
from vwlite.evaluation.metric_report import as_table
from vwlite.evaluation.metric_table import chosen as chosen_metrics
from vwlite.solvers.aso import model_file
from vwlite.solvers.aso.classifier import Target, labels_of
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.metrics import agreement
from vwlite.training.prediction_writer import STDOUT, PredictionWriter

WITHOUT = ("kind", "probabilities")


def predict(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT)
    target = model_file.load_target(arguments["initial"])
    answers = shown_scores if arguments["scores"] else chosen_names
    outputs = [(arguments["predictions"], answers), (arguments["raw_predictions"], shown_scores)]
    paths, threads = paths_of(arguments), arguments["threads"] or configs.available_cores()
    to_stdout = any(path in STDOUT for path, _ in outputs)
    with Reading(arguments["quiet"], paths, to_stdout) as reading, ExitStack() as opened:
        policy = policy_for(arguments, to_the_end=True, reading=reading)
        opened.enter_context(policy.keeping(arguments["bad_lines"]))
        writers = [(opened.enter_context(PredictionWriter(path)), show) for path, show in outputs if path]
        for part in block_parser.read(paths, text_format(), threads=threads):
            corpus = Corpus(policy, tags=True, names=False)
            corpus.add(policy.examine(part))
            scores = target.scores(corpus)
            if part.batch.release:
                part.batch.release()
            for writer, show in writers:
                writer.write_bytes(answer_lines(show(target, scores), corpus))
            if all(writer.broken for writer, _ in writers):
                break
        policy.finish()
    policy.check_ratio(policy.lines)
    return 141 if any(writer.broken for writer, _ in writers) else 0


def answer_lines(shown: list[bytes], corpus: Corpus) -> bytes:
    """A line for each example, with its tag, and ``nan`` for a malformed line."""
    lines = [b" ".join(filter(None, pair)) for pair in zip(shown, corpus.tags, strict=True)]
    for gap in reversed(corpus.gaps):
        lines.insert(gap, b"nan")
    return b"".join(line + b"\n" for line in lines)


def encoded(target: Target) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in target.classes.names]


def chosen_names(target: Target, scores: np.ndarray) -> list[bytes]:
    """The class of each row; with several the classes, ``-`` for none."""
    names = encoded(target)
    return [b",".join(names[p] for p in np.flatnonzero(row).tolist()) or b"-" for row in target.chosen(scores)]


def shown_scores(target: Target, scores: np.ndarray) -> list[bytes]:
    names = encoded(target)
    return [
        b" ".join(b"%s:%s" % (name, f"{value:.6g}".encode()) for name, value in zip(names, row, strict=True))
        for row in scores.tolist()
    ]


def evaluate(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT)
    target = model_file.load_target(arguments["initial"])
    corpus = read(arguments, paths_of(arguments))
    labelled, made = labels_of(corpus, target.classes)
    if not len(labelled):
        raise DataError("there is no labelled example to measure the model on")
    true = np.zeros((len(labelled), len(target.classes.names)), bool)
    true[made.positive.owner, made.positive.indices] = True
    importance = np.concatenate([importance for _, importance in corpus.columns])[labelled]
    chosen = target.chosen(target.scores(corpus)[labelled])
    meant = None
    if target.classes.several:
        members = [len({*text.split(",")} - {""}) for text in corpus.texts]
        meant = np.array([members[label] for label in corpus.label[labelled].tolist()])
    report = agreement(chosen, true, importance, meant)
    report = choose(report, report, chosen_metrics(arguments["metrics"]))
    if arguments["json_path"] != "-":
        print(as_table(report))
    if arguments["json_path"]:
        write_json(arguments["json_path"], report)
    return 0


def inspect(arguments: dict[str, Any]) -> int:
    """Of each class its strongest words."""
    refuse(*WITHOUT)
    target = model_file.load_target(arguments["model"])
    facts: dict[str, Any] = {
        "learner": model_file.TARGET,
        "multilabel": target.classes.several,
        "features": len(target.words),
        "theta": sum(len(v) for v in target.theta.values) if target.theta else 0,
    }
    top: dict[str, list[dict[str, Any]]] = {}
    for place, name in enumerate(target.classes.names):
        weights = target.weights.w[:, place]
        order = np.argsort(-np.abs(weights), kind="stable")[: arguments["top"]]
        top[name] = [{"name": target.words.names[at], "weight": float(weights[at])} for at in order.tolist()]
    if arguments["json_path"] != "-":
        print("\n".join(f"{name:<12}{escaped(str(value))}" for name, value in facts.items()))
        for name, entries in top.items():
            shown = (f"{escaped(entry['name'])}:{entry['weight']:.4g}" for entry in entries)
            print(f"{escaped(name)}: {' '.join(shown)}")
    if arguments["json_path"]:
        write_json(arguments["json_path"], {**facts, "top": top})
    return 0
