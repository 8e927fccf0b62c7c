"""Models of ``vwlite l1``, ``crr`` and ``lm train`` in Python: what they have in common, and those of the last two."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, Self

import numpy as np

from vwlite.api.data_source import input_opener
from vwlite.api.memory_run import load_bytes, log
from vwlite.data.batch import BLANK, Batch
from vwlite.data.config import BLOCK_SIZE, InputConfig, available_cores
from vwlite.data.malformed_lines import BadLines, Labels, reading_policy
from vwlite.data.memory import blocks_of
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig, check_no_theta
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.group_columns import Queries
from vwlite.features.name_index import NameIndex
from vwlite.options import USUAL_MEMORY
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import GradedLabels, TrainingSet
from vwlite.solvers.crr.train import Descent
from vwlite.solvers.crr.weights import Begun, check_start, config_of, go_on
from vwlite.solvers.lm.config import LmConfig, RankConfig
from vwlite.solvers.lm.model import LmModel, rank
from vwlite.solvers.lm.solver import Training, begin_training, continue_training
from vwlite.solvers.lm.words import text_of, word_of
from vwlite.storage import model_file
from vwlite.storage.atomic_file import as_path, atomic_output, capture_bytes
from vwlite.training.config import CurriculumConfig
from vwlite.training.listener import LineMonitor, Monitor
from vwlite.training.model_loader import Restored, plan_of
from vwlite.training.predictions import PredictionArrays
from vwlite.training.trainer import Trainer


class LogMonitor(Monitor):
    """Lines of a solver's table go to the logger ``vwlite``."""

    def line(self, text: str) -> None:
        log.info(text)

    remark = line


def logged_policy(labels: Labels | None = None) -> BadLines:
    """Malformed lines go to the logger ``vwlite``."""
    return reading_policy(message=log.warning, labels=labels)


class SolverModel:
    """A model that learns from all of its data at once; what it has learned is the bytes of its model file."""

    features: FeatureConfig

    def __init__(self) -> None:
        self._data = b""

    @property
    def text_format(self) -> TextFormat:
        """How text and tables are made into the batches that ``fit`` and the predictions take."""
        raise NotImplementedError

    def batches(self, data: Any, y: Any = None, **columns: Any) -> Iterator[Batch]:
        """The batches of ``data``, which is as ``vwlite.Model.learn`` takes it, with ``y`` and what else is of rows.

        Malformed lines are left out. Raises DataError where these are too many, UsageError.
        """
        config = InputConfig(("the data",), threads=available_cores())
        policy = logged_policy()
        with ExitStack() as closing:
            inputs = input_opener(data, {"y": y, **columns})(config, self.text_format)
            closing.callback(inputs.close)
            yield from map(policy.examine, inputs.texts())
            policy.finish()

    def dumps(self) -> bytes:
        """The model as the bytes that ``save`` writes. Raises UsageError before ``fit``."""
        if not self._data:
            raise UsageError("the model has learned nothing yet: call fit")
        return self._data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all. Raises OutputError, UsageError before ``fit``."""
        data = self.dumps()
        with atomic_output(os.fspath(path)) as file:
            file.write(data)

    @classmethod
    def loads(cls, data: bytes) -> Self:
        """The model of the bytes of a model file, also of one that the command wrote. Raises ModelError."""
        self = cls.__new__(cls)
        self._take(data)
        return self

    def _take(self, data: bytes) -> None:
        """Become the model of these bytes; options that no model records keep their values or get defaults."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_model"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if self._data:
            self._take(self._data)


def linear_answers(data: bytes, batches: Iterable[Batch], raw: bool = False) -> np.ndarray:
    """float32[n], what ``vwlite predict`` answers to the rows that are not blank; ``data`` are a linear model's.

    ``raw``: before clip and link. Raises Diverged where a prediction is no finite number.
    """
    model = load_bytes(data)
    learner = model.learner.tester()
    collected = PredictionArrays(learner, raw)
    Trainer(learner, model.plan, OnePass(batches), [collected]).run()
    return np.asarray(collected.result())


class OnePass:
    """The source of batches of a trainer with one pass."""

    def __init__(self, given: Iterable[Batch]) -> None:
        self.given = given

    def batches(self, number: int) -> Generator[Batch]:
        yield from self.given


class CRRModel(SolverModel):
    """A linear model that learns from random examples and from random pairs of examples of one query."""

    def __init__(
        self,
        config: CrrConfig | None = None,
        features: FeatureConfig | None = None,
        *,
        curriculum: CurriculumConfig | None = None,
        names: bool = False,
    ) -> None:
        """``names``: keep those of features, which the batches must have. ``curriculum``: of every ``fit`` and
        ``go_on``; no model keeps it.
        """
        super().__init__()
        self.config, self.features, self.names = config or CrrConfig(), features or FeatureConfig(), names
        self.curriculum = curriculum or CurriculumConfig()
        check_no_theta(self.features)

    @property
    def text_format(self) -> TextFormat:
        return text_format(self.features, skip_malformed=True, names=self.names)

    def fit(self, batches: Iterable[Batch]) -> Self:
        """Learn anew from all labelled rows of the batches, whose columns are copied while it lasts.

        Labels are grades; of logistic loss -1 and 1, or from 0 to 1; NaN where unknown. A row's query is its tag or,
        where ``config.queries.by`` names a namespace, what the row has there; without either all rows are one query.

        Raises DataError for labels that do not fit, where nothing is labelled, and where no query has two different
        labels although pairs are asked for (``alpha`` below 1); Diverged; UsageError where the table is larger than
        ``config.max_memory``. After an error the model is as it was.
        """
        check_start(self.config, self.features)
        names = NameIndex() if self.names else None
        return self._learn(batches, self.config, GradedLabels(self.config.loss), plan_of(self.features), names, None)

    def go_on(self, batches: Iterable[Batch], steps: int | None = None) -> Self:
        """Make ``steps`` more, as ``vwlite crr -i`` does, with the options that the model was made with.

        Raises as ``fit``, UsageError before ``fit``.
        """
        with as_path(self.dumps(), "the model") as path:
            begun = go_on(path, {} if steps is None else {"steps": steps}, {}, {})
        check_start(begun.config, begun.model.features)
        names = begun.model.names or (NameIndex() if self.names else None)
        return self._learn(batches, begun.config, begun.labels(), begun.model.plan, names, begun)

    def _learn(
        self, batches: Iterable[Batch], config: CrrConfig, labels: GradedLabels, plan: Plan,
        names: NameIndex | None, begun: Begun | None,
    ) -> Self:
        queries = Queries(config.queries, self.features)
        data = TrainingSet(labels, queries, self.features, plan, InputConfig(), names)
        data.take(batches, logged_policy(labels), config)
        descent = Descent(config, data, begun, self.curriculum)
        descent.run(LineMonitor(log.info))
        for note in data.sightings.notes():
            log.warning(note)
        content = descent.content()
        self._take(capture_bytes(lambda open_output: model_file.save("the model", *content, open_output=open_output)))
        return self

    def predict(self, batches: Iterable[Batch]) -> np.ndarray:
        """float32[n], of all rows that are not blank: probabilities of logistic loss, else sums of weights times
        values. Labels and queries do not matter. Raises Diverged where a prediction is no finite number.
        """
        return linear_answers(self.dumps(), batches)

    def rank(self, batches: Iterable[Batch]) -> list[np.ndarray]:
        """Rank for each query, in the order of their first rows, int64[rows]: its rows from the best one to the worst.

        Rows are numbered through all batches, blank ones left out; equal ones keep their order. Raises as ``predict``,
        and DataError where no row has the tag or namespace that ``config.queries`` asks for.
        """
        queries, numbers = Queries(self.config.queries, self.features), [np.zeros(0, np.uint64)]

        def numbered() -> Iterator[Batch]:
            for batch in batches:
                numbers.append(queries.of(batch)[batch.flags & BLANK == 0])
                yield batch

        predictions = self.predict(numbered())
        queries.check()
        _, first, query = np.unique(np.concatenate(numbers), return_index=True, return_inverse=True)
        order = np.lexsort((-predictions, first[query]))
        return np.split(order, np.flatnonzero(np.diff(first[query][order])) + 1) if len(order) else []

    @property
    def weights(self) -> np.ndarray:
        """float32[2^bits], the weight of every slot."""
        self.dumps()
        return np.array(self._model.learner.weights[:, 0])

    @property
    def facts(self) -> dict[str, Any]:
        """What ``vwlite crr --json`` tells of the training: options, and numbers of examples, queries and pairs."""
        self.dumps()
        return dict(self._model.header["crr"])

    _model: Restored

    def _take(self, data: bytes) -> None:
        model = load_bytes(data)
        if "crr" not in model.header:
            raise ModelError(f"the model was not made by 'vwlite crr' (its learner is {model.learner.name!a})")
        self._data, self._model = data, model
        if "config" not in self.__dict__:
            self.config, self.curriculum = config_of(model), CurriculumConfig()
            self.features, self.names = model.features, bool(model.header["names"])


class LanguageModel(SolverModel):
    """Vectors of words, and a network that ranks which word ends a window of them."""

    def __init__(self, **options: Any) -> None:
        """``options``: fields of ``LmConfig``. Raises UsageError, TypeError for an option of another name."""
        super().__init__()
        self.config = LmConfig(**options)

    def fit(self, lines: Iterable[str | bytes]) -> Self:
        """Learn from lines of plain text, a sentence or a document each, anew.

        Raises DataError where there is no window, UsageError where weights need too much memory, Diverged. After an
        error the model is as it was.
        """
        monitor = LineMonitor(log.info)
        blocks = blocks_of(lines, BLOCK_SIZE)
        return self._learned(begin_training(self.config, blocks, USUAL_MEMORY, monitor.note), monitor)

    def fit_more(self, lines: Iterable[str | bytes]) -> Self:
        """``passes`` more, as ``-i`` of the command. Raises as ``fit``, and UsageError before it."""
        with as_path(self.dumps(), "the model") as path:  # what is learned from is another copy
            training = continue_training(self.config, LmModel.load(path), blocks_of(lines, BLOCK_SIZE))
        return self._learned(training, LineMonitor(log.info))

    def ranks(self, lines: Iterable[str | bytes], *, windows: int = 10_000, seed: int = 0) -> np.ndarray:
        """float64[n]: the ranks of the last words of windows, as ``vwlite lm rank`` has them; ``windows`` 0 ranks all.

        Raises DataError where no window has known words alone, UsageError before ``fit``.
        """
        model = self.model
        text = text_of(blocks_of(lines, BLOCK_SIZE), model.config.tokens, model.words)
        return rank(RankConfig(windows=windows, seed=seed), model.network, text).rank

    @property
    def model(self) -> LmModel:
        """Raises UsageError before ``fit``."""
        self.dumps()
        return self._model

    @property
    def words(self) -> list[str]:
        """The vocabulary, the most frequent word first."""
        return list(self.model.words.texts)

    @property
    def vectors(self) -> np.ndarray:
        """float32[words, dim]."""
        return self.model.network.words.copy()

    def vector(self, word: str) -> np.ndarray:
        """float32[dim]; of a word that is written otherwise, ``Paris``, as of its token. Raises KeyError."""
        model = self.model
        return np.array(model.network.words[model.words.number[word_of(word, model.config.tokens)]])

    def _learned(self, training: Training, monitor: Monitor) -> Self:
        training.run(monitor)
        self._take(capture_bytes(lambda out: training.model.save("the model", out)))
        return self

    def _take(self, data: bytes) -> None:
        with as_path(data, "the model") as path:
            self._model = LmModel.load(path)
        self._data = data
        if "config" not in self.__dict__:
            self.config = self._model.config
