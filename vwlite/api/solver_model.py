"""What the models of ``vwlite l1`` and ``vwlite crr`` have in common in Python."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

import numpy as np

from vwlite.api.data_source import input_opener
from vwlite.api.memory_run import load_bytes, log
from vwlite.data.batch import Batch
from vwlite.data.config import InputConfig, available_cores
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.monitor import Monitor
from vwlite.training.predictions import PredictionArrays
from vwlite.training.trainer import Trainer

Self = TypeVar("Self", bound="SolverModel")


class LogMonitor(Monitor):
    """Lines of a solver's table go to the logger ``vwlite``."""

    def line(self, text: str) -> None:
        log.info(text)

    remark = line


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
        policy = BadLines(None, log.warning)
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
    def loads(cls: type[Self], data: bytes) -> Self:
        """The model of the bytes of a model file, also of one that the command wrote. Raises ModelError."""
        self = cls.__new__(cls)
        self._take(data)
        return self

    def _take(self, data: bytes) -> None:
        """Become the model of these bytes; options that no model records keep their values or get defaults."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
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
