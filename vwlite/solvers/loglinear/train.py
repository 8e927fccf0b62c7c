"""``vwlite l1`` as a function: text or batches in, a trained model out."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from vwlite.data.batch import Batch, LabelVocabulary
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.name_index import NameIndex
from vwlite.features.theta import FeatureMap
from vwlite.learners.label_check import LabelCheck
from vwlite.learners.losses import LossConfig
from vwlite.options import USUAL_MEMORY, check_memory
from vwlite.solvers.loglinear import minimisers, model_file
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.examples import Collector, Lines, join, plans, text_format_of
from vwlite.solvers.loglinear.frank_wolfe import bytes_of
from vwlite.solvers.loglinear.held_out import BLOCKS, HeldOut, Holdout, Part, binary_parts, chain_parts
from vwlite.solvers.loglinear.passes import Progress, Trained, passes_of
from vwlite.solvers.loglinear.problems import Chains, Pairs
from vwlite.solvers.loglinear.sgd import EVERYTHING, Sgd, Stages, check_curriculum, difficulty_of, stages_of
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.model_file import save
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import Difficulties
from vwlite.training.listener import Monitor

COLUMNS = {"sgd": 2, "owlqn": 2 + 2 * minimisers.MEMORY, "fista": 10}  # float64[weights] that a solver needs at once


@dataclass(slots=True)
class TrainJob:
    """A training. ``initial``: the model to continue from."""

    config: L1Config
    features: FeatureConfig
    input: InputConfig
    holdout: Holdout
    patience: int
    names: bool
    initial: model_file.LoadedModel | None
    memory: float = USUAL_MEMORY  # bytes that weights, and what a sequence needs beside them, may take
    theta: FeatureMap | None = None  # adds features to every example
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)

    def check(self) -> None:
        """Raises UsageError for what cannot be learned."""
        if self.initial and self.initial.config.dual:
            why = "--loss margin --l2 learns with label sequences of all examples, which models do not keep"
            raise UsageError(f"{self.initial.path} cannot be continued: {why}")
        check_curriculum(self.config, self.curriculum)
        weights = self.input.class_weights
        if weights and self.config.sequences:
            raise UsageError("--classweight does not go with sequences, whose labels are learned together")
        names = [label for label, _ in weights if isinstance(label, str)]
        if names and not self.config.words:
            raise UsageError(f"--classweight {names[0]}: labels are numbers with --model binary")

    def labels(self) -> LabelCheck | None:
        """The check of labels that are numbers."""
        negative = self.initial.past.negative_label if self.initial else None
        return None if self.config.words else LabelCheck(LossConfig("logistic"), negative)


@dataclass(slots=True)
class TrainResult:
    """A trained model; ``slots`` uint32[features] of two classes, ``pairs`` of named labels."""

    job: TrainJob
    about: model_file.ModelContext
    trained: Trained
    examples: int
    slots: np.ndarray | None
    pairs: Pairs | None

    def content(self) -> model_file.Content:
        """The content of the model file."""
        if self.pairs is None:
            return model_file.binary_content(self.about, self.trained, self.slots)
        return model_file.chain_content(self.about, self.trained, self.pairs)

    def save(self, path: str, open_output: OpenOutput = atomic_output) -> None:
        """Raises OutputError."""
        save(path, *self.content(), open_output=open_output)


class Texts:
    """Takes the lines of training and of the held-out file, with the same options and labels."""

    def __init__(self, job: TrainJob, policy: BadLines) -> None:
        self.job, self.policy, initial = job, policy, job.initial
        config = job.config
        book = LabelVocabulary(initial.pairs.names if initial and initial.pairs else ()) if config.words else None
        seen = initial.past.seen if initial else ()
        weights = job.input.class_weights
        self.collector = Collector(*plans(job.features, config.edge, seen), book, config.model == "tree", weights)
        self.input = job.input  # as it was read
        self.names = initial.names if initial and initial.names else NameIndex() if job.names else None

    @property
    def format(self) -> TextFormat:
        return text_format_of(self.job.config, self.job.features, self.names is not None)

    def read(self, inputs: Inputs, ranked: Difficulties | None = None) -> Lines:
        """Lines, with which ``ranked`` is called. Raises the errors of reading, DataError among them."""
        self.input = inputs.config
        if inputs.cache:
            self.policy.recall(inputs.cache.lines, inputs.cache.bad)
            batches = map(self.policy.relabel, inputs.cached())
        else:
            batches = (self.policy.examine(part) for part in inputs.texts())
        return self.lines_of(batches, inputs.description, ranked)

    def lines_of(self, batches: Iterable[Batch], described: str, ranked: Difficulties | None = None) -> Lines:
        """The lines of batches whose labels were checked. Raises DataError where there is none."""
        parts = []
        theta = self.job.theta
        for one in batches:
            if ranked:
                ranked.add(one)
            batch = theta.extend(one, learning=True) if theta else one
            parts.append(self.collector.lines(batch))
            if self.names is not None:
                self.learn_names(batch)
            if batch.release:
                batch.release()
        self.policy.finish()
        if not parts:
            raise DataError(f"there is no example in {described}")
        self.collector.check_class_weights()
        if theta:
            theta.check()
        return join(parts)

    def take(self, batches: Iterable[Batch], ranked: Difficulties | None = None) -> Lines:
        """The lines of batches from memory, which stay as they are. Raises DataError."""
        return self.lines_of((self.policy.relabel(replace(batch)) for batch in batches), "the data", ranked)

    def learn_names(self, batch: Batch) -> None:
        for plan in filter(None, (self.collector.plan, self.collector.edge_plan)):
            self.names.add(batch, plan)


class Fit:
    """Weights for the lines of ``texts``, and for the held-out ones where these have a file of their own."""

    def __init__(
        self, job: TrainJob, texts: Texts, lines: Lines, held: Lines | None, ranked: Difficulties | None,
        monitor: Monitor,
    ) -> None:
        """Raises DataError where there is nothing to learn from, UsageError."""
        self.job, self.texts = job, texts
        book = texts.collector.book
        self.train, out = parts_of(job, lines, held, list(book.texts) if book else [])
        if not len(self.train.rows):
            raise DataError("there is no labelled example to learn from")
        config, initial = job.config, job.initial
        self.train.threads = job.input.threads
        check_memory_needed(job, self.train, out)
        past = (initial.past.cumulative_penalty, initial.past.passes) if initial else (0.0, 0)
        stages = stages_of_job(job, ranked and ranked.values(), lines, self.train, monitor.note)
        sgd = Sgd(config, start_table(self.train, initial), *past, stages=stages)
        judge = HeldOut(out, job.holdout.measure, job.holdout.scheme) if out else None
        if job.holdout.period and not out:
            monitor.note("no labelled example was held out, so the model is that of the last pass")
        self.passes = passes_of(config, sgd, self.train, Progress(config, self.train, judge, job.patience, monitor))

    def run(self) -> TrainResult:
        """Raises as ``Passes.run``."""
        trained, job, texts, problem = self.passes.run(), self.job, self.texts, self.train.problem
        labels = texts.policy.labels
        about = model_file.ModelContext(
            job.config, job.features, texts.collector.plan.seen, texts.input, len(self.train.rows),
            labels.negative if labels else None, texts.names, job.theta,
        )
        chains = isinstance(problem, Chains)
        return TrainResult(
            job, about, trained, len(self.train.rows), None if chains else problem.features,
            problem.pairs if chains else None,
        )


def fit(job: TrainJob, batches: Iterable[Batch], monitor: Monitor, policy: BadLines) -> TrainResult:
    """Learn from batches in memory; ``policy`` has the labels of the job.

    Raises the errors of ``vwlite.errors``.
    """
    job.check()
    texts, ranked = Texts(job, policy), ranked_by(job)
    lines = texts.take(batches, ranked)
    held = None
    if job.holdout.path:
        with closing(Inputs(held_out_input(job, texts), texts.format)) as inputs:
            held = texts.read(inputs)
    return Fit(job, texts, lines, held, ranked, monitor).run()


def held_out_input(job: TrainJob, texts: Texts) -> InputConfig:
    """The held-out file, which is read as the data were."""
    return InputConfig(paths=(job.holdout.path,), **texts.input.kept)


def ranked_by(job: TrainJob) -> Difficulties | None:
    """Measures how difficult lines are, where a curriculum asks for it."""
    if job.curriculum.order in (None, "random"):
        return None
    return Difficulties(job.curriculum.by, job.features)


def stages_of_job(
    job: TrainJob, values: np.ndarray | None, lines: Lines, train: Part, note: Callable[[str], None]
) -> Stages:
    """The stages of a curriculum. ``values`` float64[lines]: difficulties; ``note`` prints the shares of the passes."""
    if not job.curriculum.order:
        return EVERYTHING
    difficulty = np.zeros(len(train.rows))
    if values is not None:
        difficulty = difficulty_of(job.config, job.curriculum.by, values, lines)[train.rows]
    return stages_of(job.config, job.curriculum, difficulty, note)


def parts_of(job: TrainJob, lines: Lines, held: Lines | None, names: list[str]) -> tuple[Part, Part | None]:
    initial, period = job.initial, job.holdout.period
    if job.config.words:
        return chain_parts(job.config, lines, held, period, names, initial.pairs if initial else None)
    return binary_parts(lines, held, period, initial.slots if initial else np.zeros(0, np.uint32))


def check_memory_needed(job: TrainJob, train: Part, out: Part | None) -> None:
    """Raises UsageError where weights and sequences need more memory than they may take."""
    problem, columns = train.problem, COLUMNS[job.config.solver]
    need = 8.0 * columns * problem.weights * (2 if out else 1)
    need += 0.0 if job.config.solver == "sgd" else 8.0 * problem.weights * min(train.threads, BLOCKS)
    what, advice = f"{problem.weights:,} weights", "fewer features, or --max-memory"
    if isinstance(problem, Chains):
        need += max(part.problem.sequence_bytes for part in (train, out) if part) + bytes_of(job.config, problem)
        what = f"{what} of {problem.pairs.labels:,} labels, and the longest sequence, of {problem.longest:,} lines"
        advice = "are the labels those that were meant, and do empty lines end the sequences?"
    check_memory(need, job.memory, what, advice)


def start_table(train: Part, initial: model_file.LoadedModel | None) -> np.ndarray:
    """float64[2, weights]: the state of the initial model's weights, zeros for others."""
    problem = train.problem
    table = np.zeros((2, problem.weights))
    if initial is None:
        return table
    known = initial.table
    if initial.config.averaged:
        known = np.stack([known[1], np.zeros_like(known[1])])
    if initial.pairs is not None:
        table[:, initial.pairs.positions_in(problem.pairs)] = known
    else:
        table[:, : len(initial.slots)] = known
    return table
