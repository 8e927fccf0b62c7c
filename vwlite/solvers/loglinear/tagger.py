"""Labels for lines, from a model of named labels."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch, LabelVocabulary
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.evaluation.class_metrics import Contingency
from vwlite.evaluation.metric_table import NAMES, SEQUENCES, Refuse, choose, metrics_of_list, names_of
from vwlite.evaluation.phrases import evaluate, rule_asked
from vwlite.learners.row_results import named_values
from vwlite.options import GIB, USUAL_MEMORY
from vwlite.solvers.loglinear.examples import (
    BAD,
    BREAK,
    EMPTY,
    LINE,
    Collector,
    Lines,
    ends_sequence,
    join,
    plans,
    text_format_of,
)
from vwlite.solvers.loglinear.model_file import LoadedModel
from vwlite.solvers.loglinear.problems import Chains, chains_of, sequence_bytes

PIECE = 1 << 21  # probabilities at a time
NBEST_BYTES = 8  # of a token in each label sequence


@dataclass(slots=True)
class Tagged:
    """Some lines, whole sequences of them, and their labels."""

    lines: Lines
    chains: Chains
    best: np.ndarray  # int32[tokens]
    marginals: np.ndarray | None  # float64[tokens, labels]


@dataclass(slots=True)
class NBest:
    """Some lines, whole sequences of them, and the best label sequences of each."""

    lines: Lines
    chains: Chains
    labels: np.ndarray  # int32[count, tokens]
    scores: np.ndarray  # float64[count, sequences], log p(labels) of a probabilistic model; -infinity: there are fewer


def read_batches(model: LoadedModel, input: InputConfig, policy: BadLines, names: bool = False) -> Iterator[Batch]:
    """The batches of files, for a ``Tagger``. Raises the errors of reading."""
    inputs = Inputs(input, text_format_of(model.config, model.features, names))
    try:
        yield from map(policy.examine, inputs.texts())
        policy.finish()
    finally:
        inputs.close()


class Tagger:
    """Predicts as the batches come; a malformed line is left out and its sequence goes on without it."""

    def __init__(self, model: LoadedModel, batches: Iterable[Batch]) -> None:
        self.model, self.batches = model, batches
        if model.pairs is None:
            raise ValueError("two classes are predicted as linear models are")
        self.pairs, self.weights = model.pairs, model.weights
        self.nbest = 0  # label sequences wanted of each sequence, beside the best one
        made = plans(model.features, model.config.edge, model.past.seen)
        self.collector = Collector(*made, LabelVocabulary(model.pairs.names), model.config.model == "tree")

    @property
    def probabilistic(self) -> bool:
        return self.model.config.loss == "log"

    def check_probabilities(self, wanted: str) -> None:
        """Raises UsageError where scores are no logarithms of probabilities."""
        if not self.probabilistic:
            loss = self.model.config.loss
            raise UsageError(f"{self.model.path} has no {wanted}: --loss {loss} learns labels alone, --loss log both")

    def about(self, batch: Batch) -> np.ndarray | None:
        """Data kept of each row beside its terms, object[rows]."""
        return None

    def parts(self) -> Iterator[Lines]:
        """Lines that end where a sequence ends. Raises the errors of reading."""
        waiting: list[Lines] = []
        for one in self.batches:
            batch = self.model.theta.extend(one) if self.model.theta else one
            lines = self.collector.lines(batch, with_gaps=True, about=self.about)
            if batch.release:
                batch.release()
            ends = np.flatnonzero(ends_sequence(lines.kind))
            end = len(lines) if not self.pairs.transitions else int(ends[-1]) + 1 if len(ends) else 0
            every = np.arange(len(lines))
            if end:
                yield join([*waiting, lines.select(every[:end])])
                waiting = []
            if end < len(lines):
                waiting.append(lines.select(every[end:]))
                self.check_length(sum(map(len, waiting)))
        if waiting:
            yield join(waiting)

    def check_length(self, lines: int) -> None:
        """Raises DataError if a sequence of this length does not fit into memory."""
        need = sequence_bytes(lines, self.pairs) + NBEST_BYTES * lines * self.nbest
        if need > USUAL_MEMORY:
            raise DataError(
                f"a sequence of more than {lines:,} lines, with {self.pairs.labels:,} labels, needs more than "
                f"{USUAL_MEMORY / GIB:g} GiB: do empty lines end the sequences?"
            )

    def pieces(self) -> Iterator[Lines]:
        """``parts`` cut between sequences, so that the probabilities of all labels take little memory."""
        most = max(PIECE // max(self.pairs.labels, self.nbest), 1)
        for lines in self.parts():
            ends = np.arange(len(lines)) + 1
            if self.pairs.transitions:
                ends = np.append(np.flatnonzero(ends_sequence(lines.kind[:-1])) + 1, len(lines))
            begin = 0
            while begin < len(lines):
                position = max(np.searchsorted(ends, begin + most, "right") - 1, np.searchsorted(ends, begin, "right"))
                end = int(ends[position])
                yield lines.select(np.arange(begin, end)) if (begin, end) != (0, len(lines)) else lines
                begin = end

    def run(self, marginals: bool = False) -> Iterator[Tagged]:
        """Raises UsageError where ``marginals`` are wanted of a model that has none; the errors of reading, Diverged.
        """
        if marginals:
            self.check_probabilities("probabilities")
        for lines in self.pieces():
            chains = chains_of(lines, self.pairs)
            yield Tagged(lines, chains, *chains.decode(self.weights, marginals))

    def run_nbest(self, count: int) -> Iterator[NBest]:
        """The ``count`` best label sequences. Raises UsageError without sequences; the errors of reading, Diverged."""
        if not self.pairs.transitions:
            raise UsageError(
                f"--nbest is of label sequences, and {self.model.path} labels line by line: "
                "--probabilities --top N has the N likeliest labels"
            )
        self.nbest = count
        for lines in self.pieces():
            chains = chains_of(lines, self.pairs)
            yield NBest(lines, chains, *chains.nbest(self.weights, count, self.probabilistic))


def texts(tagger: Tagger, probabilities: bool, top: int | None = None, with_labels: bool = False) -> Iterator[bytes]:
    """A line for each line: the label and the line's tag, nothing for an empty one, ``nan`` for a malformed one.

    With ``probabilities`` the label is followed by all labels and their marginal probabilities, or by the ``top``
    likeliest; ``with_labels`` then by the label that the line has, or ``unknown``.
    """
    names, met = tagger.pairs.names, tagger.collector.book.texts
    for part in tagger.run(probabilities):
        words = [names[label] for label in part.best.tolist()]
        if part.marginals is not None:
            words = list(map(" ".join, zip(words, named_values(names, part.marginals, top), strict=True)))
        if with_labels:
            true = (met[label] if label >= 0 else "unknown" for label in part.chains.label.tolist())
            words = list(map(" ".join, zip(words, true, strict=True)))
        answers = iter(words)
        answered = part.lines.kind != BREAK
        kinds = part.lines.kind[answered].tolist()
        out = [next(answers) if kind == LINE else "nan" if kind == BAD else "" for kind in kinds]
        if part.lines.tag is not None:
            tags = (tag.decode("utf-8", "surrogateescape") for tag in part.lines.tag[answered].tolist())
            out = [f"{line} {tag}" if tag else line for line, tag in zip(out, tags, strict=True)]
        yield "".join(f"{line}\n" for line in out).encode("utf-8", "surrogateescape")


def nbest_texts(tagger: Tagger, count: int, with_labels: bool = False) -> Iterator[bytes]:
    """Every sequence ``count`` times, as CRF++ and Wapiti write them: ``# RANK PROBABILITY``, ranks from 0, then a line
    for each of its lines as ``texts`` has it, then an empty one; a score where the model has no probabilities.
    """
    names, met, probabilistic = tagger.pairs.names, tagger.collector.book.texts, tagger.probabilistic
    for part in tagger.run_nbest(count):
        out: list[str] = []
        behind = np.full(len(part.lines), "", object)
        is_line = part.lines.kind == LINE
        if with_labels:
            true = part.chains.label.tolist()
            behind[is_line] = [f" {met[label]}" if label >= 0 else " unknown" for label in true]
        if part.lines.tag is not None:
            tags = (tag.decode("utf-8", "surrogateescape") for tag in part.lines.tag.tolist())
            behind += [f" {tag}" if tag else "" for tag in tags]
        kinds = part.lines.kind.tolist()
        ends = [*np.flatnonzero(ends_sequence(part.lines.kind)).tolist(), len(part.lines)]
        scores, token, number = part.scores.T.tolist(), 0, 0
        for begin, end in pairwise([-1, *ends]):
            rows = range(begin + 1, end)
            known = sum(kinds[row] == LINE for row in rows)
            ways = part.labels[:, token : token + known].tolist()
            for rank, score in enumerate(scores[number] if known else [float("nan")][: len(rows)]):
                if score == float("-inf"):
                    break
                words = (names[label] for label in ways[rank])
                out.append(f"# {rank} {math.exp(score) if probabilistic else score:.6g}")
                out += [f"{next(words) if kinds[row] == LINE else 'nan'}{behind[row]}" for row in rows]
                out.append("")
            token, number = token + known, number + bool(known)
        yield "".join(f"{line}\n" for line in out).encode("utf-8", "surrogateescape")


class Score:
    """Sums over parts of the text."""

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger
        self.tokens = self.right = self.weight = self.right_weight = self.log = self.total_weight = 0.0
        self.sequences = self.unknown = 0
        self.pairs: list[tuple[str, str] | None] = []
        self.columns: list[tuple[np.ndarray, ...]] = []  # of labelled tokens: label, answer, weight

    def add(self, part: Tagged) -> None:
        true, best, chains = part.chains.label, part.best, part.chains
        weight = np.repeat(chains.weight, np.diff(chains.sequence)) * (true >= 0)
        self.tokens += int((true >= 0).sum())
        self.weight += float(weight.sum())
        self.right_weight += float(weight[true == best].sum())
        self.columns.append(tuple(column[weight > 0] for column in (true, best, weight)))
        if self.tagger.probabilistic:
            known = np.flatnonzero(chains.labelled)
            self.log += chains.likelihood(self.tagger.weights, known, None)
            self.total_weight += float(chains.weight[known].sum())
        self.sequences += chains.examples
        names = self.tagger.collector.book.texts
        labels = iter(zip(true.tolist(), best.tolist(), strict=True))
        for kind in part.lines.kind.tolist():
            if kind == LINE:
                one, other = next(labels)
                if one >= 0:
                    self.pairs.append((names[one], names[other]))
            elif kind in (EMPTY, BREAK):
                self.pairs.append(None)

    def report(self, names: list[str] | None, scheme: str | None, refuse: Refuse) -> JsonObject:
        """The metrics named, or all. Raises DataError when there was no label, UsageError as ``omit``."""
        if not self.tokens:
            raise DataError("there is no labelled example to measure the model on")
        tokens, texts = int(self.tokens), self.tagger.collector.book.texts
        crf = bool(self.tagger.pairs.transitions)
        metrics: JsonObject = {
            "accuracy": self.right_weight / self.weight if self.weight else float("nan"),
        }
        offered, reasons = names_of(SEQUENCES if crf else NAMES), {}
        try:
            self.tagger.check_probabilities("log_loss")
            metrics["log_loss"] = -self.log / self.total_weight if self.total_weight else float("nan")
        except UsageError as error:
            reasons["log_loss"] = str(error)
        columns = (np.concatenate(column) for column in zip(*self.columns, strict=True))
        metrics |= Contingency(*columns, display_name=texts.__getitem__).report(names, len(self.tagger.pairs.names))
        if "conll" in offered and (names is None or "conll" in names):
            rule, reasons["conll"] = rule_asked(texts, scheme, names)
            metrics |= {"conll": evaluate(self.pairs, rule)} if rule else {}
        report: JsonObject = {"sequences": self.sequences, "tokens": tokens} if crf else {"examples": tokens}
        for name, value in choose(metrics, offered, names, reasons, refuse).items():
            report |= value if name == "conll" else {name: value}
        return report


def measure(tagger: Tagger, asked: str | None, scheme: str | None = None, refuse: Refuse = None) -> JsonObject:
    """Measure a model by the metrics ``asked`` for, names with commas between them; None: all that it has.

    ``scheme``: of the phrases that ``conll`` counts. ``refuse`` takes why metrics are not there; without it that raises
    UsageError. Raises the errors of reading, DataError when there is no label, and UsageError for a scheme without
    ``conll``.
    """
    names = metrics_of_list(asked)
    if scheme and not (tagger.pairs.transitions and "conll" in (names or ("conll",))):
        raise UsageError("--scheme is of phrases, which the metric conll of label sequences counts")
    score = Score(tagger)
    for part in tagger.run():
        score.add(part)
    return score.report(names, scheme, refuse)
