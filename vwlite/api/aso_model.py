"""``ASOModel``: what ``vwlite aso learn`` learns, in Python, from batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from vwlite.api.solver_model import LogMonitor, SolverModel, logged_policy
from vwlite.data.batch import Batch
from vwlite.data.text_format import TextFormat
from vwlite.features import theta as theta_file
from vwlite.features.theta import Theta
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.train import learn
from vwlite.storage.atomic_file import as_path, capture_bytes


def kinds_of(aux: str | Sequence[str]) -> tuple[str, ...]:
    """Kinds of problems; a text is one of them."""
    return (aux,) if isinstance(aux, str) else tuple(aux)


class ASOModel(SolverModel):
    """Theta, the structure that many problems made of unlabelled rows share, and the features it makes of rows."""

    def __init__(
        self, aux: str | Sequence[str] = ("freq",), *, solver: SolverConfig | None = None, **options: Any
    ) -> None:
        """``aux``: kinds of problems, as ``--aux`` takes them; ``options``: other fields of ``LearnConfig``.

        Raises UsageError, TypeError for an option of another name.
        """
        super().__init__()
        solver = solver or SolverConfig()
        options.setdefault("target", replace(solver, passes=TargetConfig().solver.passes))
        self.aux = kinds_of(aux)
        self.config = LearnConfig(aux=tuple(map(read_aux, self.aux)), solver=solver, **options)

    @property
    def text_format(self) -> TextFormat:
        return text_format()

    def fit(self, batches: Iterable[Batch], labelled: Iterable[Batch] | None = None) -> Self:
        """Learn Theta from all rows that are not blank and have importance. Batches are read once, and are not kept.

        They need the names of their features (``text_format``). Labels, which are names, matter to ``aux="labels"``
        and in ``labelled``, which top-k, multi-k, confidence, range and pivot need.

        Raises DataError where there is no row or no problem, UsageError for batches without names, for ``aux`` that
        needs ``labelled`` and where weights need too much memory, Diverged. After an error the model is as it was.
        """
        more = None if labelled is None else corpus_of(labelled)
        learned = learn(self.config, corpus_of(batches), more, LogMonitor())
        facts = {**learned.facts(self.aux), "seed": self.config.solver.seed}
        self._take(capture_bytes(lambda out: theta_file.save_theta("the model", learned.theta, facts, out)))
        return self

    def transform(self, batches: Iterable[Batch], *, scale: float = 1.0, unit: bool = True) -> np.ndarray:
        """float32[n, h], Theta's features of all rows that are not blank, those of each group side by side.

        The part of each group has length ``scale``, or none; without ``unit`` it is Theta x times ``scale``. Features
        that Theta does not know are nothing. Raises UsageError for batches without names.
        """
        theta = self.theta
        rows = corpus_of(batches, every=True).rows(theta.words, unit)
        return theta.project(rows, theta.words, scale, unit)

    @property
    def theta(self) -> Theta:
        """Raises UsageError before ``fit``."""
        self.dumps()
        return self._theta

    @property
    def components(self) -> np.ndarray:
        """float32[h, p]: Theta, the rows of each group orthonormal, 0 for features of other groups."""
        theta = self.theta
        parts = [
            np.where(theta.group == number, theta.matrix[:, : len(values)].T, np.float32(0))
            for number, values in enumerate(theta.values)
        ]
        return np.concatenate([np.zeros((0, len(theta.words)), np.float32), *parts])

    @property
    def feature_names(self) -> list[tuple[str, str]]:
        """Namespace and name of the p features."""
        words = self.theta.words
        return [(words.spaces[space], name) for space, name in zip(words.space.tolist(), words.names, strict=True)]

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """float64[h] by the name of each group: its singular values."""
        return dict(zip(self.theta.names, self.theta.values, strict=True))

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_theta", "facts")}

    def _take(self, data: bytes) -> None:
        with as_path(data, "the model") as path:
            self._theta, self.facts = theta_file.load_theta(path)
        self._data = data
        if "config" not in self.__dict__:
            self.aux = tuple(self.facts.get("aux") or ("freq",))
            self.config = LearnConfig(aux=tuple(map(read_aux, self.aux)))


def corpus_of(batches: Iterable[Batch], every: bool = False) -> Corpus:
    """``every``: rows without importance, too."""
    return Corpus(logged_policy(), tags=every).take(batches)
