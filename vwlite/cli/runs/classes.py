"""What ``vwlite predict``, ``evaluate`` and ``inspect`` do with models of named classes."""

from typing import Any

import numpy as np

from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.aso import paths_of, read
from vwlite.cli.runs.named import refuse
from vwlite.errors import DataError
from vwlite.escapes import escaped
from vwlite.evaluation.class_metrics import choose
from vwlite.evaluation.metric_report import as_table
from vwlite.evaluation.metric_table import chosen as chosen_metrics
from vwlite.solvers.aso import model_file
from vwlite.solvers.aso.classifier import Target, labels_of
from vwlite.solvers.aso.metrics import agreement
from vwlite.training.prediction_writer import PredictionWriter

WITHOUT = ("kind", "probabilities")


def predict(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT)
    target = model_file.load_target(arguments["initial"])
    outputs = [arguments["predictions"], arguments["raw_predictions"]]
    corpus = read(arguments, paths_of(arguments), predicting=True)
    scores = target.scores(corpus)
    answers = shown_scores if arguments["scores"] else chosen_names
    broken = False
    for path, show in zip(outputs, (answers, shown_scores), strict=True):
        if path:
            lines = [b" ".join(filter(None, pair)) for pair in zip(show(target, scores), corpus.tags, strict=True)]
            for gap in reversed(corpus.gaps):
                lines.insert(gap, b"nan")
            with PredictionWriter(path) as writer:
                writer.write_bytes(b"".join(line + b"\n" for line in lines))
            broken = broken or writer.broken
    corpus.policy.check_ratio(corpus.policy.lines)
    return 141 if broken else 0


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
