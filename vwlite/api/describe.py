"""What a model says of itself: options, classes, slots of features."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.api import memory_run
from vwlite.api.data_source import data_format, input_opener
from vwlite.api.run_configs import bad_lines_config
from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.evaluation import inspect_model
from vwlite.evaluation.inspect_model import Inspection
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.abilities import LatentVectors
from vwlite.learners.active import target_importance_learner
from vwlite.learners.base import Learner, apply_shrinkage, has_simple_labels, output_names, predicting
from vwlite.learners.configs.gd import GdConfig
from vwlite.options import Config, OptionValues
from vwlite.options import options_of as declared_options
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.model_loader import Restored
from vwlite.training.predict import check_resumable


def options_of(config: RunConfig) -> OptionValues:
    """The options that differ from their defaults."""
    options: dict[str, object] = {}
    for part in (config.learner, config.learner.loss, config.features, config.holdout, config.curriculum, config):
        options |= changed_options(part)
    return options


def changed_options(config: Config) -> OptionValues:
    declared = declared_options(type(config)).items()
    usual = {name: option.default for name, option in declared}
    if isinstance(config, GdConfig):
        usual["label_units"] = config.usual_label_units
    return {option.key: getattr(config, name) for name, option in declared if getattr(config, name) != usual[name]}


def classes_of(learner: Learner) -> list[int | str]:
    """The classes of a model in the order of its scores; empty for models of numbers."""
    config = learner.config
    if has_simple_labels(learner) or learner.config.multiline or output_names(learner):
        return []
    if config.named_labels:
        return list(config.named_labels)
    first = int(learner.get("first")) if "first" in learner.SCALARS and learner.get("first") >= 0 else 1
    return list(range(first, first + config.count))


def slot_of(learner: Learner, features: FeatureConfig, name: str, namespace: str) -> int:
    """The slot of a feature in the table of weights. Raises UsageError for a name that text cannot hold."""
    if not name or any(mark in name + namespace for mark in " |:\n\r\t"):
        raise UsageError(f"{name!r} is not the name of a feature")
    text = f"|{namespace} {name}".encode("utf-8", "surrogateescape")
    batch = parse_text(text, text_format(features, skip_malformed=True))
    shift, _ = learner.layout
    return (int(batch.feature_hash[0]) << shift) & ((1 << learner.bits) - 1)


def is_learned(learner: Learner, slot: int) -> bool:
    """Whether training has changed what the learner has for a feature."""
    latent = learner.latent if isinstance(learner, LatentVectors) else ()
    tables = [table for tables in latent for table in tables]
    return bool(learner.weights[slot].any() or any(table[slot].any() for table in tables))


def factors_of(model: Restored, namespace: str) -> dict[str, np.ndarray]:
    """Return factors as ``inspect_model.arrays_of``. Raises UsageError."""
    names = model.names.names if model.names else {}
    return inspect_model.arrays_of(inspect_model.factors_of(Inspection("the model", model, names), namespace))


class Described:
    """The part of ``Model`` that only tells."""

    _lock: threading.RLock
    _config: RunConfig
    _learner: Learner
    _plan: Plan
    _typed: Mapping[str, Any]

    def _current(self) -> Restored:
        """The model as it is now."""
        raise NotImplementedError

    def _format_of(self, data: Any, kind: str | None) -> str | None:
        """The format that is typed, or that of the data's names; None for the model's."""
        return data_format(data, kind, self._config.input, self._typed)

    def _for_test(self, threads: int | None, kind: str | None) -> RunConfig:
        """Return a tester for a pass in the order given, of which nothing is learned."""
        raise NotImplementedError

    def _begun(self) -> Restored | None:
        """The model that a run continues; None at the start."""
        raise NotImplementedError

    def _writer(self, predict_only: bool = False) -> memory_run.MemoryWriter:
        """The writer of the model in its present state."""
        if predict_only:
            other = copy(self)
            apply_shrinkage(other._learner)
            config = replace(self._config, output=OutputConfig(predict_only_model=True))
            return memory_run.make_writer(config, other._learner, other._plan, other._begun())
        return memory_run.make_writer(self._config, self._learner, self._plan, self._begun())

    def importance_to(
        self,
        data: Any,
        target: float,
        y: Any = None,
        *,
        raw: bool = False,
        base: Any = None,
        names: Any = None,
        namespaces: Mapping[str, Any] | None = None,
        kind: str | None = None,
        threads: int | None = None,
        bad_lines: float | None = None,
    ) -> np.ndarray:
        """float32[n], the least importance with which each row's label would carry its prediction to ``target``.

        ``data`` and what goes with it, as the labels ``y`` of rows, are as ``learn`` takes them; nothing is learned. A
        row without a label has that of the class, or the least or greatest label of training, on the target's side.
        ``raw``: the target is a sum before the link. 0 where the prediction is there, infinite where no importance is
        enough, NaN for a malformed line.

        Raises UsageError for a model that is neither linear, by gradient descent or FTRL, nor dyadic, and for a target
        that no prediction comes to, ModelError for one saved with ``predict_only``, and as ``predict``.
        """
        with self._lock:
            model, config = check_resumable(self._current()), self._for_test(threads, self._format_of(data, kind))
            columns = {"y": y, "base": base, "names": names, "namespaces": namespaces}
            limits = bad_lines_config(self._typed, bad_lines)
            learner = target_importance_learner(self._learner, target, raw)
            return memory_run.importances(config, learner, model, input_opener(data, columns), limits)

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults, by the names that ``Model`` takes."""
        return dict(options_of(self._config))

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
        """The counters of all examples learned."""
        with self._lock:
            return dict(self._writer().saved_counters())

    @property
    def classes(self) -> list[int | str]:
        """The classes, by number or name; empty for a model of numbers."""
        return classes_of(self._learner)

    @property
    def weights(self) -> np.ndarray:
        """float32[2^bits], the weight of every slot; a view that follows further learning (of a mean of weights
        a copy) and cannot be written.
        """
        view = predicting(self._learner).weights[:, 0]
        view.flags.writeable = False
        return view

    def slot(self, name: str, namespace: str = "") -> int:
        """The slot of a feature in ``weights``; of a model of classes that of the first one."""
        return slot_of(self._learner, self._config.features, name, namespace)

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
            return factors_of(self._current(), namespace)
