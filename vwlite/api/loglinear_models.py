"""The sparse log-linear models of ``vwlite l1`` as Python classes: ``L1Model`` and ``CRFModel``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from vwlite.api.solver_model import LogMonitor, SolverModel, linear_answers, logged_policy
from vwlite.config_check import JsonObject
from vwlite.data.batch import Batch
from vwlite.data.config import InputConfig
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError, UsageError
from vwlite.evaluation.config import PhraseConfig
from vwlite.features.config import FeatureConfig, check_no_theta
from vwlite.solvers.loglinear import model_file
from vwlite.solvers.loglinear.config import BITS, HeldOutConfig, L1Config
from vwlite.solvers.loglinear.examples import text_format_of
from vwlite.solvers.loglinear.held_out import read_holdout
from vwlite.solvers.loglinear.problems import Pairs
from vwlite.solvers.loglinear.tagger import Tagged, Tagger, measure
from vwlite.solvers.loglinear.train import TrainJob, fit
from vwlite.storage.atomic_file import as_path, capture_bytes
from vwlite.training.config import CurriculumConfig


class LogLinearModel(SolverModel):
    """The base class of ``L1Model`` and ``CRFModel``.

    ``history``: the figures of every pass of the last ``fit`` or ``go_on``, as in the report of ``vwlite l1 --json``.
    """

    models: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        config: L1Config | None = None,
        features: FeatureConfig | None = None,
        *,
        held_out: HeldOutConfig | None = None,
        curriculum: CurriculumConfig | None = None,
        names: bool = False,
    ) -> None:
        """``features`` defaults to that of the command. ``names``: store feature names, which batches must have.

        ``curriculum`` applies to every ``fit`` and ``go_on``, and is not stored in models. Raises UsageError for a
        ``config`` of another kind of model.
        """
        super().__init__()
        self.config = config or L1Config(model=self.models[0])
        if self.config.model not in self.models:
            raise UsageError(f"{type(self).__name__} takes model={' or '.join(self.models)}, not {self.config.model}")
        self.features = features or FeatureConfig(bits=BITS[self.config.model])
        check_no_theta(self.features)
        self.held_out, self.names = held_out or HeldOutConfig(), names
        self.curriculum = curriculum or CurriculumConfig()
        self.history: list[JsonObject] = []
        self._model: model_file.LoadedModel | None = None

    @property
    def text_format(self) -> TextFormat:
        return text_format_of(self.config, self.features, self.names)

    def fit(self, batches: Iterable[Batch]) -> Self:
        """Train a new model on all batches, which are read once.

        Labels of two classes are -1 and 1 or 0 and 1, NaN where unknown. Otherwise labels are names, as parsed in the
        format ``text_format``: a labelled row has a label that is not NaN, and the name where the text of its tag
        begins (``vwlite.data.batch``). A blank row (``BLANK``) ends a sequence, the end of a batch does not.
        The importance of a sequence is that of its first row.

        Raises DataError for invalid labels and for data without labels, Diverged, UsageError if weights need too much
        memory. After an error the model is unchanged.
        """
        return self._learn(batches, None)

    def go_on(self, batches: Iterable[Batch]) -> Self:
        """Continue training on other batches, like ``vwlite l1 -i``. Raises as ``fit``, UsageError before ``fit``."""
        return self._learn(batches, self._fitted)

    def _learn(self, batches: Iterable[Batch], initial: model_file.LoadedModel | None) -> Self:
        job = TrainJob(
            config=self.config,
            features=self.features,
            input=InputConfig(("the data",)),
            holdout=read_holdout(self.held_out),
            patience=self.held_out.early_terminate,
            names=self.names,
            initial=initial,
            theta=initial.theta if initial else None,
            curriculum=self.curriculum,
        )
        done = fit(job, batches, LogMonitor(), logged_policy(job.labels()))
        self._take(capture_bytes(lambda open_output: done.save("the model", open_output)))
        self.history = done.trained.history
        return self

    def _take(self, data: bytes) -> None:
        with as_path(data, "the model") as path:
            model = model_file.load(path)
        model.path = "the model"
        if model.config.model not in self.models:
            taken = " or ".join(self.models)
            raise ModelError(f"the model is {model.config.model}: {type(self).__name__} takes {taken}")
        self._data, self._model = data, model
        if "config" not in self.__dict__:
            self.config, self.features, self.names = model.config, model.features, model.names is not None
            self.held_out, self.curriculum, self.history = HeldOutConfig(), CurriculumConfig(), []

    @property
    def _fitted(self) -> model_file.LoadedModel:
        self.dumps()
        assert self._model is not None
        return self._model

    @property
    def passes(self) -> int:
        """The total number of passes or iterations."""
        return self._fitted.past.passes

    @property
    def objective(self) -> float:
        """The objective that training maximises, per example."""
        return float(self._fitted.past.objective or 0.0)

    @property
    def slots(self) -> np.ndarray:
        """uint32[f], the slots of features with weights: their hashes, masked to the bits of the model."""
        model = self._fitted
        slots = model.slots if model.pairs is None else model.pairs.state.features
        assert slots is not None
        return slots

    @property
    def weights(self) -> np.ndarray:
        """float64[1, f] for two classes, else [classes, f]: the weights of ``slots``; 0 for pairs without a weight."""
        model = self._fitted
        if model.pairs is None:
            return model.weights[None, :].copy()
        state = model.pairs.state
        table = np.zeros((model.pairs.labels, len(state.features)))
        table[state.label, state.feature] = model.weights[: model.pairs.first_edge]
        return table

    def evaluate(
        self, batches: Iterable[Batch], metrics: str | None = None, scheme: str | None = None
    ) -> dict[str, Any]:
        """Metrics of labelled batches by name; arguments are those of ``vwlite evaluate --metric`` and ``--scheme``.

        Raises DataError without labels, UsageError for unknown metrics and for models of two classes.
        """
        if self._fitted.pairs is None:
            raise UsageError("models of two classes are evaluated as linear models are: vwlite.evaluate")
        return measure(Tagger(self._fitted, batches), metrics, PhraseConfig(scheme).scheme)

    def _tagged(self, batches: Iterable[Batch], marginals: bool = False) -> Iterator[Tagged]:
        return Tagger(self._fitted, batches).run(marginals)


class L1Model(LogLinearModel):
    """Logistic regression with two classes (``L1Config(model="binary")``, the default) or more (``"multinomial"``)."""

    models = ("binary", "multinomial")

    @property
    def classes(self) -> list[Any]:
        """The labels of two classes, [-1.0 or 0.0, 1.0]; else class names, in the order of the training data."""
        model = self._fitted
        if model.pairs is None:
            return [-1.0 if model.past.negative_label is None else model.past.negative_label, 1.0]
        return list(model.pairs.names)

    def probabilities(self, batches: Iterable[Batch]) -> np.ndarray:
        """float32[n, 2] or float64[n, classes]: class probabilities of all rows that are not blank.

        Columns are in the order of ``classes``. Raises Diverged for probabilities that are not finite.
        """
        if self._fitted.pairs is None:
            upper = linear_answers(self._data, batches)
            return np.stack([1 - upper, upper], axis=1)
        parts = [part.marginals for part in self._tagged(batches, marginals=True)]
        return np.concatenate([np.zeros((0, len(self.classes))), *parts])

    def predict(self, batches: Iterable[Batch]) -> np.ndarray:
        """float64[n] or str[n] (object): the most probable of ``classes``. Raises as ``probabilities``."""
        if self._fitted.pairs is None:
            return np.take(np.array(self.classes), (self.probabilities(batches)[:, 1] > 0.5).astype(int))
        best = [part.best for part in self._tagged(batches)]
        return np.take(np.array(self.classes, object), np.concatenate([np.zeros(0, np.int32), *best]))


class CRFModel(LogLinearModel):
    """A conditional random field for sequences: a linear chain, or trees, which the tags of rows describe."""

    models = ("crf", "tree")

    @property
    def classes(self) -> list[str]:
        """The names of the labels, in the order of the training data."""
        return list(self._pairs.names)

    @property
    def _pairs(self) -> Pairs:
        pairs = self._fitted.pairs
        assert pairs is not None
        return pairs

    @property
    def transitions(self) -> np.ndarray:
        """float64[k, k]: the weights of transitions from the label of the row to that of the column."""
        pairs, k = self._pairs, len(self.classes)
        return self._fitted.weights[pairs.first_transition : pairs.first_triple].reshape(k, k).copy()

    def predict(self, batches: Iterable[Batch]) -> list[list[str]]:
        """The most probable labels of every non-empty sequence. Labels in the batches are ignored.

        Raises Diverged, MemoryError, DataError for a sequence that needs too much memory.
        """
        names = self.classes
        return [
            [names[label] for label in part.best[begin:end].tolist()]
            for part in self._tagged(batches)
            for begin, end in pairwise(part.chains.sequence.tolist())
        ]

    def nbest(self, batches: Iterable[Batch], count: int) -> list[list[tuple[float, list[str]]]]:
        """The ``count`` best label sequences of every non-empty sequence, the best first, each with log p(labels).

        Models of other losses than ``log`` have scores in its place. Raises as ``predict``, and ValueError for a
        ``count`` below 1.
        """
        if count < 1:
            raise ValueError("count must be 1 or more")
        names = self.classes
        return [
            [
                (score, [names[label] for label in labels[begin:end].tolist()])
                for labels, score in zip(part.labels, part.scores[:, row].tolist(), strict=True)
                if score > -np.inf
            ]
            for part in Tagger(self._fitted, batches).run_nbest(count)
            for row, (begin, end) in enumerate(pairwise(part.chains.sequence.tolist()))
        ]

    def marginals(self, batches: Iterable[Batch]) -> list[np.ndarray]:
        """float64[rows, k] for every sequence: the label probabilities of its rows. Raises as ``predict``."""
        return [
            marginals[begin:end]
            for part in self._tagged(batches, marginals=True)
            if (marginals := part.marginals) is not None
            for begin, end in pairwise(part.chains.sequence.tolist())
        ]
