"""What ``vwlite predict``, ``evaluate`` and ``inspect`` do with models of named classes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwlite.api import configs
from vwlite.cli.console import Reading
from vwlite.cli.jsonfile import write_json
from vwlite.cli.runs.aso import paths_of, policy_for, read
from vwlite.cli.runs.named import refuse
from vwlite.data import block_parser
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError
from vwlite.escapes import escaped
from vwlite.evaluation.class_metrics import choose
from vwlite.evaluation.metric_report import as_table
from vwlite.evaluation.metric_table import chosen as chosen_metrics
from vwlite.solvers.aso import model_file
from vwlite.solvers.aso.classifier import Target, labels_of
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.metrics import agreement
from vwlite.solvers.aso.tagged_text import Answers as Tagged
from vwlite.solvers.aso.tagged_text import measured, tagged
from vwlite.solvers.aso.tagger import tagger_of
from vwlite.training.prediction_writer import STDOUT, PredictionWriter

WITHOUT = ("kind", "probabilities")


def predict(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT)
    target = model_file.load_target(arguments["initial"])
    show = shown_scores if arguments["scores"] else chosen_names
    outputs = [(arguments["predictions"], show), (arguments["raw_predictions"], shown_scores)]
    paths, threads = paths_of(arguments), arguments["threads"] or configs.available_cores()
    to_stdout = any(path in STDOUT for path, _ in outputs)
    with Reading(arguments["quiet"], paths, to_stdout) as reading, ExitStack() as opened:
        policy = policy_for(arguments, to_the_end=True, reading=reading)
        opened.enter_context(policy.keeping(arguments["bad_lines"]))
        writers = [(opened.enter_context(PredictionWriter(path)), show) for path, show in outputs if path]
        parts = block_parser.read(paths, text_format(), threads=threads)
        for some in tagged(tagger_of(target), parts, policy) if target.sequences else answers(target, parts, policy):
            for writer, show in writers:
                writer.write_bytes(some.lines(show(target, some)))
            if all(writer.broken for writer, _ in writers):
                break
        policy.finish()
    policy.check_ratio(policy.lines)
    return 141 if any(writer.broken for writer, _ in writers) else 0


@dataclass(slots=True)
class Answers:
    """The scores of some examples, float32[n, classes], and which classes are chosen, bool alike."""

    scores: np.ndarray
    chosen: np.ndarray
    corpus: Corpus

    def lines(self, shown: list[bytes]) -> bytes:
        """A line for each example, with its tag, and ``nan`` for a malformed line."""
        lines = [b" ".join(filter(None, pair)) for pair in zip(shown, self.corpus.tags, strict=True)]
        for gap in reversed(self.corpus.gaps):
            lines.insert(gap, b"nan")
        return b"".join(line + b"\n" for line in lines)


def answers(target: Target, parts: Iterable[Parsed], policy: BadLines) -> Iterator[Answers]:
    for part in parts:
        corpus = Corpus(policy, tags=True, names=False)
        corpus.add(policy.examine(part))
        scores = target.scores(corpus)
        if part.batch.release:
            part.batch.release()
        yield Answers(scores, target.chosen(scores), corpus)


def encoded(target: Target) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in target.classes.names]


def chosen_names(target: Target, some: Answers | Tagged) -> list[bytes]:
    """The class of each row; with several the classes, ``-`` for none."""
    names = encoded(target)
    return [b",".join(names[p] for p in np.flatnonzero(row).tolist()) or b"-" for row in some.chosen]


def shown_scores(target: Target, some: Answers | Tagged) -> list[bytes]:
    names = encoded(target)
    return [
        b" ".join(b"%s:%s" % (name, f"{value:.6g}".encode()) for name, value in zip(names, row, strict=True))
        for row in some.scores.tolist()
    ]


def evaluate(arguments: dict[str, Any]) -> int:
    refuse(*WITHOUT)
    target = model_file.load_target(arguments["initial"])
    corpus = read(arguments, paths_of(arguments), tags=target.sequences is not None)
    if target.sequences:
        return told(arguments, measured(tagger_of(target), corpus))
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
    return told(arguments, agreement(chosen, true, importance, meant))


def told(arguments: dict[str, Any], report: dict[str, Any]) -> int:
    """Print the metrics asked for, or write them as JSON. Raises UsageError for one there is not."""
    report = choose(report, report, chosen_metrics(arguments["metrics"]))
    report |= report.pop("conll", {})
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
    if target.sequences:
        facts["decode"] = target.sequences.decode
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
