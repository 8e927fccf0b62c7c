"""What a ``Model`` says of itself: its options, weights and vectors."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.api import describe, memory_run
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import Learner
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import Restored
from vwlite.training.output_config import OutputConfig


class Described:
    """The part of ``Model`` that only tells."""

    _lock: threading.RLock
    _config: RunConfig
    _learner: Learner
    _plan: Plan

    def _current(self) -> Restored:
        """The model as it is now."""
        raise NotImplementedError

    def _begun(self) -> Restored | None:
        """What a run goes on from; None at the start."""
        raise NotImplementedError

    def _writer(self, predict_only: bool = False) -> memory_run.MemoryWriter:
        """What writes the model as it is now."""
        if predict_only:
            other = copy(self)
            other._learner.apply_shrinkage()
            config = replace(self._config, output=OutputConfig(predict_only_model=True))
            return memory_run.writer_of(config, other._learner, other._plan, other._begun())
        return memory_run.writer_of(self._config, self._learner, self._plan, self._begun())

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults, by the names that ``Model`` takes."""
        return describe.options_of(self._config)

    @property
    def learner(self) -> str:
        """The learner's name, as ``vwlite inspect`` shows it."""
        return str(self._learner.name)

    @property
    def bits(self) -> int:
        """The table has 2^bits slots."""
        return self._learner.bits

    @property
    def counters(self) -> dict[str, Any]:
        """What has been counted of all examples learned."""
        with self._lock:
            return dict(self._writer().kept_counts())

    @property
    def classes(self) -> list[int | str]:
        """The classes, by number or name; empty for a model of numbers."""
        return describe.classes_of(self._learner)

    @property
    def weights(self) -> np.ndarray:
        """float32[2^bits], the weight of every slot; a view that follows further learning (of a mean of weights
        a copy) and cannot be written.
        """
        view = self._learner.predicting().weights[:, 0]
        view.flags.writeable = False
        return view

    def slot(self, name: str, namespace: str = "") -> int:
        """The slot of a feature in ``weights``; of a model of classes that of the first one."""
        return describe.slot_of(self._learner, self._config.features, name, namespace)

    def coefficients(self, names: Iterable[str], namespace: str = "") -> np.ndarray:
        """float32[n], the weights of features by name."""
        return self.weights[[self.slot(name, namespace) for name in names]]

    def factors(self, namespace: str) -> dict[str, np.ndarray]:
        """The latent vectors of a namespace that a dot product has, as ``vwlite inspect --factors`` writes them.

        ``feature`` str[n], names where the model has the option ``names``, else slots; ``slot`` uint32[n]; ``updates``
        and ``weight``, the linear one, float32[n]; ``vector`` float32[n, rank]: of all features that were learned. With
        several dot products of the namespace each key ends with the product's number. Raises UsageError.
        """
        with self._lock:
            return describe.factors_of(self._current(), namespace)
