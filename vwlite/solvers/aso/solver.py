"""``vwlite aso learn``, ``train``, ``cotrain`` and ``tasks``: the solvers that their runs have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from vwlite.config_check import JsonObject
from vwlite.data.blocks import fingerprint
from vwlite.data.config import available_cores, named_kind
from vwlite.data.dataset import Inputs
from vwlite.errors import UsageError
from vwlite.features import theta as theta_file
from vwlite.options import MemoryConfig, OptionValues, Request
from vwlite.solvers.aso import model_file, online_file, tasks
from vwlite.solvers.aso.classifier import Progress, Target, train
from vwlite.solvers.aso.config import (
    ContinuedConfig,
    CotrainConfig,
    OnlineConfig,
    SelectionConfig,
    SequenceConfig,
    SolverConfig,
    TargetConfig,
    ThresholdConfig,
    check_kinds,
)
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.cotrain import Cotrained, Rounds, rounds_of
from vwlite.solvers.aso.label_features import recalled_space
from vwlite.solvers.aso.model_file import check_position, learn_on
from vwlite.solvers.aso.online import SPAN, Stream, begun, skip_examples, spans
from vwlite.solvers.aso.options import (
    check_labelled,
    check_train,
    continued_config,
    input_of,
    kept_options,
    learn_config,
    plain,
    selection_of,
    target_of,
    tasks_config,
)
from vwlite.solvers.aso.selection import select
from vwlite.solvers.aso.tagger import train_sequences
from vwlite.solvers.aso.tasks import FIGURE, TaskLearning, TaskModel, compare_figures
from vwlite.solvers.aso.train import Alternation, Learned
from vwlite.storage import model_file as container
from vwlite.training.listener import Monitor
from vwlite.training.model_header import data_of
from vwlite.training.solver_run import Content, Reader, Solver

OF_NO_EFFECT = (  # on what is learned
    "threads", "files", "quiet", "json_path", "force", "config_file", "bad_lines", "memory", "model", "initial",
    "checkpoint_every", "resume", "skip_seen", "lock_wait", "max_bad_ratio", "strict",
)
State = tuple[Mapping[str, Any], Mapping[str, Any]]


class AsoSolver(Solver):
    """The base class of the solvers of aso: texts in memory, of labels that are names, with the names of features."""

    stopped: State | None = None  # what a stopped run goes on from
    facts: JsonObject  # of the learning, once it is over

    def __init__(self, request: Request, initial: str | None) -> None:
        self.request, self.initial = request, initial
        begun = data_of(container.read_header(initial)) if initial else None
        self.input = input_of(request.values, begun, request.given)
        self.memory = request.config(MemoryConfig).limit_in_bytes

    def deciding_options(self) -> OptionValues:
        values = self.request.values
        options = {name: value for name, value in values.items() if name not in OF_NO_EFFECT}
        return {**options, "other files": fingerprint([path for path in self.others() if path])}

    def others(self) -> Iterable[str | None]:
        """Files that are read beside the text."""
        values = self.request.values
        return (values.get(name) for name in ("labeled", "problems", "unlabeled", "test", "theta"))

    def corpus(self, reader: Reader, tags: bool = False, space: str | None = None) -> Corpus:
        """The text. ``tags`` and ``space`` as ``Corpus`` has them."""
        corpus = Corpus(reader.policy, tags=tags, space=space)
        return corpus.take(map(reader.policy.examine, self.opened(reader, at_once=True).texts()))

    def opened(self, reader: Reader, at_once: bool = False) -> Inputs:
        """The text, or the table, whose columns this run and its model keep to."""
        inputs = reader.open(self.input, text_format(), at_once=at_once)
        for note in (inputs.read_as, *inputs.remarks):
            reader.display.note(note)
        self.input = inputs.config
        return inputs

    @property
    def data(self) -> dict[str, str]:
        """How the data were read, for the model; empty for text."""
        return self.input.kept if self.input.kind != "vw" else {}

    def beside(self, reader: Reader, path: str, tags: bool = False) -> Corpus:
        """Another text."""
        policy = reader.policy_of()
        kind = named_kind((path,)) or self.input.kind
        input = input_of({**self.request.values, "files": (path,), "kind": kind}, self.input.kept)
        inputs = reader.open(input, text_format(), at_once=True)
        return Corpus(policy, tags=tags).take(map(policy.examine, inputs.texts()))

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.stopped = header, arrays

    def report(self) -> JsonObject:
        return self.facts


class LearnTheta(AsoSolver):
    """Theta of a text in memory."""

    learner = theta_file.THETA
    work: Alternation
    learned: Learned

    def __init__(self, request: Request, initial: str | None) -> None:
        super().__init__(request, initial)
        self.config = learn_config(request)
        check_labelled(request, self.config)

    def read(self, reader: Reader) -> None:
        self.text, labelled = self.corpus(reader), self.request.values.get("labeled")
        self.labelled = self.beside(reader, labelled) if labelled else None

    def fit(self, monitor: Monitor) -> None:
        self.work = Alternation(self.config, self.text, self.labelled, monitor)
        if self.stopped:
            self.work.restore(*self.stopped)
        self.learned = self.work.run()
        self.facts = self.learned.facts(self.request.values["aux"])

    def state(self) -> Content:
        return self.work.state()

    def content(self) -> Content:
        facts = {**self.facts, "seed": self.config.solver.seed}
        return theta_file.content(self.learned.theta, facts, (self.data, {}))


# options for text in memory
ALONE = ("where", "problems", "labeled", "multilabel", "iterations", "tolerance", "stop_words", "view_words")
OF_BEGINNING = ("warmup", "passes")


class LearnOnline(AsoSolver):
    """Theta of text that is learned as it comes, perhaps after that of another Theta."""

    learner = theta_file.THETA
    unit = "examples"
    stream: Stream | None = None

    def __init__(self, request: Request, initial: str | None) -> None:
        super().__init__(request, initial)
        self.online = request.config(OnlineConfig)
        for name in (*ALONE, *(OF_BEGINNING if initial else ())):
            if name in request.given:
                raise UsageError(f"{request.spelled(name)} does not go with {'-i' if initial else '--online'}")
        if initial:
            self.kept = kept_options(request, initial)
            self.config, self.most = continued_config(request, self.kept, initial)
            return
        self.config, self.most = learn_config(request), self.online.max_features
        check_kinds(self.config.aux)
        known = online_file.Options.__annotations__
        values = {name: plain(request.values.get(name)) for name in known}
        self.kept = {name: value for name, value in values.items() if value not in (None, [])}

    def read(self, reader: Reader) -> None:
        self.reader = reader
        self.text = self.opened(reader)

    def corpora(self) -> Iterator[Corpus]:
        """The examples of the text, block by block. Raises DataError."""
        policy = self.reader.policy
        for part in self.text.texts():
            corpus = Corpus(policy)
            corpus.add(policy.examine(part))
            if part.batch.release:
                part.batch.release()
            yield corpus
        policy.finish()

    def fit(self, monitor: Monitor) -> None:
        text, self.before, say = self.corpora(), 0, monitor.remark
        if self.stopped:
            stream, self.before = self.resumed(*self.stopped)
            pieces = spans(skip_examples(text, stream.examples - self.before), SPAN - stream.since)
        elif self.initial:
            stream = online_file.load(self.initial, self.config, self.most)
            pieces, self.before = spans(text, SPAN - stream.since), stream.examples
        else:
            pieces = spans(text, self.online.warmup)
            stream = begun(self.config, self.most, next(pieces, Corpus(None)), monitor)
        self.stream = stream
        before = stream.examples
        with monitor.update():
            pass
        for corpus in pieces:
            with monitor.update():
                stream.step(corpus)
            monitor.step(stream.examples)
        learned = f"{stream.examples} examples, {stream.examples - before} learned as they came"
        say(f"{learned}; {len(stream.words)} features")
        self.theta = stream.theta(say)
        self.facts = stream.facts(self.theta)

    def resumed(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> tuple[Stream, int]:
        """Raises KeyError, ValueError."""
        try:
            stream = online_file.resume_stream(header, arrays, self.config, self.most)
        except UsageError as error:
            raise ValueError(str(error)) from error
        if not 0 <= header["before"] <= stream.examples:
            raise ValueError("its examples")
        return stream, header["before"]

    def state(self) -> Content:
        header, arrays = online_file.stream_content(self.stream, self.kept)
        return {**header, "before": self.before}, arrays

    def content(self) -> Content:
        header, arrays = online_file.content(self.stream, self.kept) if self.online.keep_weights else ({}, {})
        return theta_file.content(self.theta, self.facts, ({**self.data, **header}, arrays))

    def notes(self) -> Iterable[str]:
        if len(self.stream.words) == self.stream.most:
            yield f"there were --max-features {self.stream.most}: others are left out"


class TrainClasses(AsoSolver):
    """Classes of labelled text, with Theta's help."""

    learner = model_file.TARGET
    target: Target

    def __init__(self, request: Request, initial: str | None) -> None:
        super().__init__(request, initial)
        (self.config, self.theta), self.several = target_of(request), bool(request.values.get("multilabel"))
        self.selection, self.how = selection_of(request), request.config(SequenceConfig)
        self.tuned = request.config(ThresholdConfig).threshold == "tuned"
        check_train(self.how.sequences, self.several, self.tuned, bool(self.selection.folds))

    def read(self, reader: Reader) -> None:
        self.text = self.corpus(reader, self.how.sequences, recalled_space(self.how.label_features))

    def fit(self, monitor: Monitor) -> None:
        config, theta, selection, chosen = self.config, self.theta, self.selection, {}
        self.progress = Progress.restore(*self.stopped) if self.stopped else Progress()
        more: dict[str, Any] = {"memory": self.memory, "monitor": monitor, "stopped": self.progress.stopped}
        if selection.folds:
            selected = select(self.text, theta, config, selection, self.several, monitor, self.progress.counts)
            for line in selected.said():
                monitor.line(line)
            chosen = {"selection": selected.facts(selection.folds)}
            config, theta = selected.chosen.config, theta if selected.chosen.dim else None
            selection = replace(selection, dim=selected.chosen.dim)
        theta = theta.cut(selection.dim) if theta and selection.dim else theta
        if self.how.sequences:
            self.target = train_sequences(self.text, theta, config, self.how, **more)
        else:
            self.target = train(self.text, theta, config, self.several, tuned=self.tuned, **more)
        examples = int((self.text.label >= 0).sum())
        self.facts = {"examples": examples, "classes": self.target.classes.names, **chosen}

    def state(self) -> Content:
        return self.progress.state()

    def content(self) -> Content:
        return model_file.content(replace(self.target, data=self.data), self.facts)


SETTLED = (TargetConfig, SelectionConfig, SolverConfig, SequenceConfig, ThresholdConfig)  # when a model is begun
ANEW = ("passes", "threads")


class ContinueClasses(AsoSolver):
    """Classes of a model that learns on from more text."""

    learner = model_file.TARGET
    found: Target

    def __init__(self, request: Request, initial: str) -> None:
        super().__init__(request, initial)
        settled = {one.key or name for kind in SETTLED for name, one in kind.OPTIONS.items()} - {*ANEW}
        for name in request.given:
            if name in settled or name in ("theta", "multilabel"):
                why = "it was settled when the model was begun"
                raise UsageError(f"{request.spelled(name)} does not go with -i: {why}")
        self.target = model_file.load_target(initial)
        check_position(self.target, initial)
        self.kept_facts = container.read_header(initial)["aso"]

    def read(self, reader: Reader) -> None:
        self.text = self.corpus(reader, tags=self.target.sequences is not None)

    def fit(self, monitor: Monitor) -> None:
        values = self.request.values
        threads = values.get("threads") or available_cores()
        solver = replace(self.target.config.solver, passes=values["passes"], threads=threads)
        new = self.request.config(ContinuedConfig).new_classes
        self.progress = Progress.restore(*self.stopped) if self.stopped else Progress()
        self.found = learn_on(self.target, self.text, solver, new, self.memory, monitor, self.progress.stopped)
        examples = int((self.text.label >= 0).sum())
        self.facts = {**self.kept_facts, "examples": examples, "classes": self.found.classes.names}

    def state(self) -> Content:
        return self.progress.state()

    def content(self) -> Content:
        return model_file.content(replace(self.found, data=self.data), self.facts)


class Cotrain(AsoSolver):
    """Classes of labelled text, and of labels that are proposed for other text."""

    learner = model_file.TARGET
    unit = "examples"
    rounds: Rounds
    done: Cotrained

    def __init__(self, request: Request, initial: str | None) -> None:
        super().__init__(request, initial)
        self.target, self.theta = target_of(request)
        self.config = request.config(CotrainConfig)

    def read(self, reader: Reader) -> None:
        values = self.request.values
        self.text, self.unlabelled = self.corpus(reader), self.beside(reader, values["unlabeled"])
        self.test = self.beside(reader, values["test"]) if values.get("test") else None

    def fit(self, monitor: Monitor) -> None:
        spaces = [tuple(text.split(",")) for text in self.request.values["views"]]
        self.rounds = rounds_of(
            self.text, self.unlabelled, self.config, self.target, spaces=spaces, theta=self.theta, test=self.test,
            memory=self.memory, monitor=monitor,
        )
        if self.stopped:
            self.rounds.restore(*self.stopped)
        self.done = self.rounds.run()
        self.facts = {"examples": len(self.text.label), "unlabelled": len(self.unlabelled.label)}
        self.facts |= {"round": self.done.best, "classes": self.done.target.classes.names}

    def state(self) -> Content:
        return self.rounds.complete

    def content(self) -> Content:
        return model_file.content(replace(self.done.target, data=self.data), self.facts)

    def report(self) -> JsonObject:
        return {**self.facts, "rounds": self.done.history}


class Tasks(AsoSolver):
    """Models of many tasks, each of which has examples of its own."""

    learner = tasks.TASKS
    unit = "rounds"
    work: TaskLearning
    model: TaskModel

    def __init__(self, request: Request, initial: str | None) -> None:
        super().__init__(request, initial)
        self.config = tasks_config(request, self.memory)

    def read(self, reader: Reader) -> None:
        test = self.request.values.get("test")
        self.text = self.corpus(reader, tags=True)
        self.test = self.beside(reader, test, tags=True) if test else None

    def fit(self, monitor: Monitor) -> None:
        self.work = TaskLearning(self.text, self.config, monitor)
        if self.stopped:
            self.work.rounds.restore(*self.stopped)
        self.model = self.work.run()
        self.facts = {"examples": len(self.text.label), "tasks": len(self.model.tasks)}
        self.facts["objective"] = self.model.objectives
        if self.test:
            self.facts["test"] = figures = compare_figures(self.model, self.text, self.test)
            for name, figure in figures.items():
                measured = f"{FIGURE[self.config.loss]} {figure:.6g}"
                monitor.remark(f"{name}: {measured} on {self.request.values['test']}")

    def state(self) -> Content:
        return self.work.rounds.complete

    def content(self) -> Content:
        return tasks.content(replace(self.model, data=self.data))
