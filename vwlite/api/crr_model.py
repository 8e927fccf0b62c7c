"""``CRRModel``: the combined regression and ranking of ``vwlite crr`` in Python, from batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from vwlite.api.memory_run import load_bytes, log
from vwlite.api.solver_model import SolverModel, linear_answers
from vwlite.data.batch import BLANK, Batch
from vwlite.data.config import InputConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import ModelError
from vwlite.features.config import FeatureConfig, check_no_theta
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.group_columns import Queries
from vwlite.features.name_index import NameIndex
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import GradedLabels, TrainingSet
from vwlite.solvers.crr.train import Descent
from vwlite.solvers.crr.weights import Begun, check_start, config_of, go_on
from vwlite.storage import model_file
from vwlite.storage.memory_file import as_path, capture_bytes
from vwlite.training.config import CurriculumConfig
from vwlite.training.model_loader import Restored, plan_of
from vwlite.training.monitor import LineMonitor

Self = TypeVar("Self", bound="CRRModel")


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

    def fit(self: Self, batches: Iterable[Batch]) -> Self:
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

    def go_on(self: Self, batches: Iterable[Batch], steps: int | None = None) -> Self:
        """Make ``steps`` more, as ``vwlite crr -i`` does, with the options that the model was made with.

        Raises as ``fit``, UsageError before ``fit``.
        """
        with as_path(self.dumps(), "the model") as path:
            begun = go_on(path, {} if steps is None else {"steps": steps}, {}, {})
        check_start(begun.config, begun.model.features)
        names = begun.model.names or (NameIndex() if self.names else None)
        return self._learn(batches, begun.config, begun.labels(), begun.model.plan, names, begun)

    def _learn(
        self: Self, batches: Iterable[Batch], config: CrrConfig, labels: GradedLabels, plan: Plan,
        names: NameIndex | None, begun: Begun | None,
    ) -> Self:
        queries = Queries(config.queries, self.features)
        data = TrainingSet(labels, queries, self.features, plan, InputConfig(), names)
        data.take(batches, BadLines(labels, log.warning), config)
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
        """Of every query, in the order of their first rows, int64[rows]: its rows from the best one to the worst.

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
