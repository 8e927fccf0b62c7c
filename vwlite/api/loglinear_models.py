"""``L1Model`` and ``CRFModel``: the sparse log-linear models of ``vwlite l1`` in Python, from batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np

from vwlite.api.memory_run import log
from vwlite.api.solver_model import LogMonitor, SolverModel, linear_answers
from vwlite.data.batch import Batch
from vwlite.data.config import InputConfig
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError, UsageError
from vwlite.evaluation.config import PhraseConfig
from vwlite.features.config import FeatureConfig, check_no_theta
from vwlite.solvers.loglinear import model_file
from vwlite.solvers.loglinear.config import BITS, HeldOutConfig, L1Config
from vwlite.solvers.loglinear.examples import text_format_of
from vwlite.solvers.loglinear.feature_label_pairs import Pairs
from vwlite.solvers.loglinear.held_out import read_holdout
from vwlite.solvers.loglinear.tagger import Tagged, Tagger, choose, measure
from vwlite.solvers.loglinear.train import TrainJob, fit
from vwlite.storage.memory_file import as_path, capture_bytes
from vwlite.training.curriculum_config import CurriculumConfig

Self = TypeVar("Self", bound="LogLinearModel")


class LogLinearModel(SolverModel):
    """What ``L1Model`` and ``CRFModel`` have in common.

    ``history`` has the figures of every pass of the last ``fit`` or ``go_on``, as ``vwlite l1 --json`` shows them.
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
        """``features``: by default the command's. ``names``: keep those of features, which the batches must have.
        ``curriculum``: of every ``fit`` and ``go_on``; no model keeps it.

        Raises UsageError for a configuration of another model.
        """
        super().__init__()
        self.config = config or L1Config(model=self.models[0])
        if self.config.model not in self.models:
            raise UsageError(f"{type(self).__name__} takes model={' or '.join(self.models)}, not {self.config.model}")
        self.features = features or FeatureConfig(bits=BITS[self.config.model])
        check_no_theta(self.features)
        self.held_out, self.names = held_out or HeldOutConfig(), names
        self.curriculum = curriculum or CurriculumConfig()
        self.history: list[dict[str, Any]] = []
        self._model: model_file.LoadedModel | None = None

    @property
    def text_format(self) -> TextFormat:
        return text_format_of(self.config, self.features, self.names)

    def fit(self: Self, batches: Iterable[Batch]) -> Self:
        """Learn anew from all batches. They are read once, and are not kept.

        Labels of two classes are numbers, -1 and 1 or 0 and 1, NaN where unknown. Others are names: of the format
        ``text_format``, with a row's label not NaN and its name where the text of its tag begins
        (``vwlite.data.label_vocabulary``). Blank rows (``BLANK``) end a sequence, the end of a batch does not; a
        sequence has the importance of its first row.

        Raises DataError for labels that do not fit and where nothing is labelled, Diverged, UsageError where weights
        need too much memory. After an error the model is as it was.
        """
        return self._learn(batches, None)

    def go_on(self: Self, batches: Iterable[Batch]) -> Self:
        """Go on from what was learned, as ``vwlite l1 -i`` does. Raises as ``fit``, UsageError before ``fit``."""
        return self._learn(batches, self._fitted)

    def _learn(self: Self, batches: Iterable[Batch], initial: model_file.LoadedModel | None) -> Self:
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
        done = fit(job, batches, LogMonitor(), log.warning)
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
        """Passes or iterations made in all."""
        return self._fitted.past.passes

    @property
    def objective(self) -> float:
        """What was maximised, for each example."""
        return float(self._fitted.past.objective or 0.0)

    @property
    def slots(self) -> np.ndarray:
        """uint32[f], the hashes of the features that have weights, masked to the bits of the model."""
        model = self._fitted
        slots = model.slots if model.pairs is None else model.pairs.state.features
        assert slots is not None
        return slots

    @property
    def weights(self) -> np.ndarray:
        """float64[1, f] of two classes, else [classes, f]: weights of the features ``slots``; 0 where there is none."""
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
        """Metrics of labelled batches, as ``vwlite evaluate --metric`` and ``--scheme`` name them; None: all.

        Raises DataError where nothing is labelled, UsageError for unknown metrics and for models of two classes.
        """
        if self._fitted.pairs is None:
            raise UsageError("models of two classes are evaluated as linear models are: vwlite.evaluate")
        tagger = Tagger(self._fitted, batches)
        return measure(tagger, choose(metrics, tagger.pairs.transitions), PhraseConfig(scheme).scheme)

    def _tagged(self, batches: Iterable[Batch], marginals: bool = False) -> Iterator[Tagged]:
        return Tagger(self._fitted, batches).run(marginals)


class L1Model(LogLinearModel):
    """Logistic regression of two classes (``L1Config(model="binary")``, the default) or more (``"multinomial"``)."""

    models = ("binary", "multinomial")

    @property
    def classes(self) -> list[Any]:
        """Of two classes the labels, [-1.0 or 0.0, 1.0]; else the names, in the order in which ``fit`` met them."""
        model = self._fitted
        if model.pairs is None:
            return [-1.0 if model.past.negative_label is None else model.past.negative_label, 1.0]
        return list(model.pairs.names)

    def probabilities(self, batches: Iterable[Batch]) -> np.ndarray:
        """float32[n, 2] or float64[n, classes], of all rows that are not blank, in the order of ``classes``.

        Labels do not matter. Raises Diverged where a probability is no finite number.
        """
        if self._fitted.pairs is None:
            upper = linear_answers(self._data, batches)
            return np.stack([1 - upper, upper], axis=1)
        parts = [part.marginals for part in self._tagged(batches, marginals=True)]
        return np.concatenate([np.zeros((0, len(self.classes))), *parts])

    def predict(self, batches: Iterable[Batch]) -> np.ndarray:
        """float64[n] or str[n] (object): the likeliest of ``classes``. Raises as ``probabilities``."""
        if self._fitted.pairs is None:
            return np.take(np.array(self.classes), (self.probabilities(batches)[:, 1] > 0.5).astype(int))
        best = [part.best for part in self._tagged(batches)]
        return np.take(np.array(self.classes, object), np.concatenate([np.zeros(0, np.int32), *best]))


class CRFModel(LogLinearModel):
    """Labels of sequences: a conditional random field, linear-chain or, of rows with tags, on trees."""

    models = ("crf", "tree")

    @property
    def classes(self) -> list[str]:
        """The names of the labels, in the order in which ``fit`` met them."""
        return list(self._pairs.names)

    @property
    def _pairs(self) -> Pairs:
        pairs = self._fitted.pairs
        assert pairs is not None
        return pairs

    @property
    def transitions(self) -> np.ndarray:
        """float64[k, k]: the weight of a label, by column, after another, by row."""
        pairs, k = self._pairs, len(self.classes)
        return self._fitted.weights[pairs.first_transition : pairs.first_triple].reshape(k, k).copy()

    def predict(self, batches: Iterable[Batch]) -> list[list[str]]:
        """The likeliest labels of every sequence of one row or more. Labels in the batches do not matter.

        Raises Diverged, MemoryError, DataError for a sequence that needs too much memory.
        """
        names = self.classes
        return [
            [names[label] for label in part.best[begin:end].tolist()]
            for part in self._tagged(batches)
            for begin, end in pairwise(part.chains.sequence.tolist())
        ]

    def marginals(self, batches: Iterable[Batch]) -> list[np.ndarray]:
        """float64[rows, k] of every sequence: the probabilities of all labels of its rows. Raises as ``predict``."""
        return [
            marginals[begin:end]
            for part in self._tagged(batches, marginals=True)
            if (marginals := part.marginals) is not None
            for begin, end in pairwise(part.chains.sequence.tolist())
        ]
