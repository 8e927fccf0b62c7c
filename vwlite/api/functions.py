"""What the commands do with files, as functions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from vwlite.api.model import Model
from vwlite.errors import UsageError

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def train(paths: Paths, args: str = "", /, *, model: Model | None = None, **options: Any) -> Model:
    """A model that has learned these files: the same bytes as ``vwlite train PATHS ARGS -f``, once it is saved.

    ``model`` goes on learning in place of a new one, with the options that it has. Raises as ``Model`` and its
    ``learn``.
    """
    if model and (args or options):
        raise UsageError("a model keeps its options: give none beside it")
    learner = Model(args, **options) if model is None else model
    learner.learn(files(paths))
    return learner


def load(path: str | os.PathLike[str], /, **changes: Any) -> Model:
    """The model of a file; as ``Model.load``."""
    return Model.load(path, **changes)


def predict(model: Model | str | os.PathLike[str], paths: Paths, **how: Any) -> np.ndarray | list[Any]:
    """The predictions of a model, or of a model's file, for all examples of these files; ``how`` as ``Model.predict``.

    Raises as ``load`` and ``Model.predict``.
    """
    found = model if isinstance(model, Model) else Model.load(model)
    return found.predict(files(paths), **how)


def evaluate(model: Model | str | os.PathLike[str], paths: Paths, **how: Any) -> dict[str, Any]:
    """The metrics of a model, or of a model's file, on the labelled examples of files; ``how`` as ``Model.evaluate``.

    Raises as ``load`` and ``Model.evaluate``.
    """
    found = model if isinstance(model, Model) else Model.load(model)
    return found.evaluate(files(paths), **how)


def files(paths: Paths) -> list[Path]:
    names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [Path(name) for name in names]
