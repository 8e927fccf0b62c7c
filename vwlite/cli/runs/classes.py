"""What ``vwlite predict``, ``evaluate`` and ``inspect`` do with models of named classes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from vwlite.cli import build
from vwlite.cli.build import class_limit, refuse_options
from vwlite.cli.output import Reading, show_report
from vwlite.cli.runs.aso import inputs_of, paths_of, policy_for, read
from vwlite.config_check import JsonObject
from vwlite.data.block_parser import Parsed
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError, escaped
from vwlite.evaluation.metric_table import Refuse, as_table
from vwlite.evaluation.metric_table import metrics_of_list as chosen_metrics
from vwlite.learners.configs.base import shown_kind
from vwlite.options import OptionValues
from vwlite.solvers.aso import model_file, tagger
from vwlite.solvers.aso.answers import Answers, answers_of, check_probabilities, measure_answers, shown_scores
from vwlite.solvers.aso.classifier import Target
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.tagger import tagger_of
from vwlite.training.prediction_writer import STDOUT, PredictionWriter

UNSUPPORTED = ("probabilities",)


def predict(arguments: OptionValues) -> int:
    refuse_options(supported=("confidence", "raw", "most"))
    target = model_file.load_target(arguments["initial"])
    answers = answers_for(arguments, target)
    outputs = [(arguments["predictions"], answers), (arguments["raw_predictions"], shown_scores)]
    paths = paths_of(arguments)
    to_stdout = any(path in STDOUT for path, _ in outputs)
    with Reading(arguments["quiet"], paths, to_stdout) as reading, ExitStack() as opened:
        policy = policy_for(arguments, to_the_end=True, reading=reading)
        opened.enter_context(policy.keeping())
        writers = [(opened.enter_context(PredictionWriter(path)), show) for path, show in outputs if path]
        for scored in score_examples(target, inputs_of(arguments, data=target.data).texts(), policy):
            for writer, show in writers:
                writer.write_bytes(scored.lines(show(target, scored)))
            if all(writer.broken for writer, _ in writers):
                break
        policy.finish()
    policy.check_ratio(policy.lines)
    return 141 if any(writer.broken for writer, _ in writers) else 0


def answers_for(arguments: OptionValues, target: Target) -> Answers:
    """Raises UsageError for what does not go together, and probabilities that there are none of."""
    kind = shown_kind(arguments)
    if arguments["confidence"]:
        if kind:
            raise UsageError(f"--{kind} and --confidence do not go together: each is shown beside the names")
        kind = "confidence"
    top = class_limit(arguments, kind)
    if kind == "probabilities":
        check_probabilities(target, "--probabilities")
    return answers_of(kind or "names", top)


@dataclass(slots=True)
class Examples:
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


def score_examples(
    target: Target, parts: Iterable[Parsed], policy: BadLines
) -> Iterator[Examples] | Iterator[tagger.Answers]:
    """The examples as they come; those of a model of sequences in whole sequences."""
    if target.sequences:
        return tagger.tag_sequences(tagger_of(target), parts, policy)
    return score_one_by_one(target, parts, policy)


def score_one_by_one(target: Target, parts: Iterable[Parsed], policy: BadLines) -> Iterator[Examples]:
    for part in parts:
        corpus = Corpus(policy, tags=True, names=False)
        corpus.add(policy.examine(part))
        scores = target.scores(corpus)
        if part.batch.release:
            part.batch.release()
        yield Examples(scores, target.chosen(scores), corpus)


def evaluate(arguments: OptionValues) -> int:
    target, asked = model_file.load_target(arguments["initial"]), chosen_metrics(arguments["metrics"])
    refuse_options(*UNSUPPORTED, supported=("scheme",) if target.sequences and "conll" in (asked or ("conll",)) else ())
    paths = paths_of(arguments)

    def take(tags: bool, space: str | None) -> Corpus:
        return read(arguments, paths, tags, space, target.data)[0]

    refused: list[str] = []
    report = report_of(target, take, asked, arguments["scheme"], refused.append)
    return show_report(arguments["json_path"], report, as_table(report), refused)


def report_of(
    target: Target,
    take: Callable[[bool, str | None], Corpus],
    asked: list[str] | None,
    scheme: str | None,
    refuse: Refuse = None,
) -> JsonObject:
    """The metrics of a model by name. ``take`` reads the examples, with tags or without, and the words of a namespace.

    ``refuse`` takes why metrics are not there; without it that raises UsageError. Raises DataError where no example has
    a label.
    """
    with_tags = tagger_of(target) if target.sequences else None
    corpus = take(with_tags is not None, with_tags.space if with_tags else None)
    if not (corpus.label >= 0).any():
        raise DataError("there is no labelled example to measure the model on")
    if with_tags is None:
        return measure_answers(target, corpus, asked, refuse)
    report = tagger.measure_tagger(with_tags, corpus, asked, scheme, refuse)
    return report | report.pop("conll", {})


def inspect(arguments: OptionValues) -> int:
    """Print the strongest words of each class."""
    refuse_options("kind", *UNSUPPORTED)
    target = model_file.load_target(arguments["model"])
    facts: JsonObject = {
        "learner": model_file.TARGET,
        "multilabel": target.classes.several,
        "features": len(target.words),
        "theta": sum(len(v) for v in target.theta.values) if target.theta else 0,
    }
    if target.sequences:
        facts["decode"] = target.sequences.decode
    top: dict[str, list[JsonObject]] = {}
    for place, name in enumerate(target.classes.names):
        weights = target.weights.w[:, place]
        order = np.argsort(-np.abs(weights), kind="stable")[: arguments["top"]]
        top[name] = [{"name": target.words.names[at], "weight": float(weights[at])} for at in order.tolist()]
    shared = strongest_shared(target, arguments["top"])
    lines = [f"{name:<12}{escaped(str(value))}" for name, value in facts.items()]
    for name, entries in top.items():
        shown = (f"{escaped(entry['name'])}:{entry['weight']:.4g}" for entry in entries)
        lines.append(f"{escaped(name)}: {' '.join(shown)}")
        if shared[name]:
            rows = (f"{escaped(row['row'])}:{row['weight']:.4g}" for row in shared[name])
            lines.append(f"  of Theta: {' '.join(rows)}")
    return show_report(arguments["json_path"], {**facts, "top": top, "shared": shared}, "\n".join(lines))


def strongest_shared(target: Target, count: int) -> dict[str, list[JsonObject]]:
    """The features of Theta with the largest weights, by class, as ``group/row``, rows from 1 on."""
    if target.theta is None:
        return {name: [] for name in target.classes.names}
    groups = zip(target.theta.names, target.theta.values, strict=True)
    names = [f"{group}/{row + 1}" for group, values in groups for row in range(len(values))]
    orders = np.argsort(-np.abs(target.weights.v), axis=0, kind="stable")[:count].T.tolist()
    return {
        name: [{"row": names[at], "weight": float(weights[at])} for at in order]
        for name, order, weights in zip(target.classes.names, orders, target.weights.v.T, strict=True)
    }


def score_of_classes(path: str, input: InputConfig, metric: str, scheme: str | None) -> JsonObject:
    """The metric of a model of ``vwlite aso train``."""
    target, policy = model_file.load_target(path), build.bad_lines_policy({})
    inputs = Inputs(input.like({"kind": "vw", **target.data}, ()), text_format())

    def take(tags: bool, space: str | None) -> Corpus:
        return Corpus(policy, tags=tags, space=space).take(map(policy.examine, inputs.texts()))

    return report_of(target, take, [metric], scheme)
