"""The weights that steps of combined regression and ranking change, in a run and in a model that is to make more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from vwlite._native import crr as kernel
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LOSSES
from vwlite.options import GIB, OptionValues, check_memory, check_needs
from vwlite.solvers.crr.config import PAIRINGS, RATES, CrrConfig
from vwlite.solvers.crr.dataset import GradedLabels
from vwlite.storage import model_file
from vwlite.storage.model_file import numbers
from vwlite.training.model_header import check_learner
from vwlite.training.model_loader import Restored, restore

ALL_RANKS = 2**62


class Weights:
    """What the kernels work on: ``table`` float32[2^bits, 1], ``state`` float64[9], named in ``kernel.STATE``; for a
    mean ``sums`` float64[2^bits]; for an L1 penalty ``received`` float64[2^bits]; for steps on queries ``gradient``
    float64[2 * 2^bits] and, where rates are adaptive, ``squares`` float64[2^bits].
    """

    squares: np.ndarray | None

    def __init__(self, config: CrrConfig, table: np.ndarray, labels: GradedLabels, steps: int) -> None:
        """``labels`` are settled; ``steps`` to be made, by a model that has made none."""
        slots = len(table)
        self.table, self.state = table, np.zeros(len(kernel.STATE))
        self.state[0] = 1.0
        self.low, self.high = labels.ends if config.loss.name == "logistic" else (0.0, 0.0)
        self.loss_code = config.loss.loss.code
        self.pair_loss_code = LOSSES[config.pair_loss].code if config.pair_loss else self.loss_code
        self.alpha, self.penalty, self.project = config.share, config.penalty, config.project
        self.schedule, self.rate = RATES.index(config.schedule), config.initial_learning_rate
        self.average_after = steps // 2 if config.average_after is None else config.average_after
        self.sums = np.zeros(slots) if config.averages else None
        self.l1, self.received = config.l1, np.zeros(slots) if config.l1 else None
        self.seed, self.squares = config.seed * 0x9E3779B97F4A7C15 % 2**64, None
        if config.takes_queries:
            self.weighting, self.mean_of_pairs = PAIRINGS.index(config.pairing) - 1, config.draws == "query"
            self.ranks, self.query_limit = config.truncate or ALL_RANKS, config.query_limit
            self.gradient = np.zeros(2 * slots)
            if config.schedule == "adaptive":
                self.squares = np.zeros(slots)

    @staticmethod
    def names(config: CrrConfig) -> list[str]:
        """The names of the arrays that a model contains."""
        beside = {"sums": config.averages, "received": config.l1 > 0, "squares": config.schedule == "adaptive"}
        return ["crr_state", "crr_slot", "crr_table", *(f"crr_{name}" for name, there in beside.items() if there)]

    def _parts(self) -> dict[str, np.ndarray]:
        beside = {"sums": self.sums, "received": self.received, "squares": self.squares}
        there = {f"crr_{name}": part for name, part in beside.items() if part is not None}
        return {"crr_table": self.table[:, 0], **there}

    def arrays(self) -> dict[str, np.ndarray]:
        """What steps go on with, before they are finished: ``crr_state``, and the values at all slots ``crr_slot``,
        ascending, where one is not 0; -0 is kept.
        """
        parts = self._parts()
        slots = np.flatnonzero(np.any([part.view(f"u{part.itemsize}") != 0 for part in parts.values()], axis=0))
        weights = {name: part[slots] for name, part in parts.items()}
        return {"crr_state": self.state.copy(), "crr_slot": slots.astype(np.uint32), **weights}

    def load(self, arrays: Mapping[str, Any]) -> None:
        """Take what ``arrays`` gave. Raises ValueError, KeyError where it does not fit."""
        self.state[:] = numbers(arrays, "crr_state", np.float64, self.state.shape)
        slots = numbers(arrays, "crr_slot", np.uint32, (-1,))
        if len(slots) and (slots[-1] >= len(self.table) or (np.diff(slots.astype(np.int64)) <= 0).any()):
            raise ValueError("the slots of its weights")
        if not self.state[0] > 0:
            raise ValueError("the scale of its weights")
        for name, part in self._parts().items():
            part[:] = 0
            part[slots] = numbers(arrays, name, part.dtype.type, (len(slots),))

    def get(self, name: str) -> float:
        return float(self.state[kernel.STATE.index(name)])


class Begun(NamedTuple):
    """The model, its options with those that were typed, and what its steps have left beside the weights."""

    model: Restored
    config: CrrConfig
    arrays: Mapping[str, Any]

    @property
    def steps(self) -> int:
        """The number of steps made."""
        return int(self.model.header["crr"]["steps"])

    def labels(self) -> GradedLabels:
        """To check labels against those that the model has met."""
        labels = GradedLabels(self.model.learner.config.loss)
        labels.low, labels.zero = self.model.negative_label == -1, self.model.negative_label == 0
        return labels

    def load(self, weights: Weights) -> None:
        """Raises ModelError."""
        try:
            weights.load(self.arrays)
        except (KeyError, ValueError) as error:
            raise ModelError(f"the state of the model's steps is damaged ({error})") from error


def go_on(
    path: str, changes: Mapping[str, Any], feature_changes: OptionValues, loss_changes: OptionValues
) -> Begun:
    """Open a model; options that contradict it are refused, others replace its own: its steps, their share on examples,
    their seed, and how pairs are drawn.

    Raises ModelError where ``vwlite crr`` did not write it, UsageError.
    """
    model = restore(
        path, learning=True, vw_compat=False, learner_changes={}, feature_changes=feature_changes,
        loss_changes=loss_changes, max_memory=changes.get("max_memory"),
    )
    if "crr" not in model.header:
        raise ModelError(f"{path} was not made by 'vwlite crr', which alone can continue its models")
    own = config_of(model)
    if "average_after" in changes:
        raise UsageError(f"--average_after contradicts {path}, whose mean goes on as it began: drop it")
    check_learner(path, replace(own, rate=own.schedule, average=own.averages), changes)
    config = replace(own, **{"steps": None, "average_after": None, **changes})
    check_needs(config, changes)
    arrays = model_file.load(path, want=Weights.names(config)).arrays
    return Begun(model, config, arrays)


def config_of(model: Restored) -> CrrConfig:
    """The options that a model records; those that have their defaults are not given."""
    record, known = model.header["crr"], {one.name for one in fields(CrrConfig)} - {"queries"}
    options = {name: value for name, value in record.items() if name in known}
    usual = CrrConfig(pairing=options.get("pairing", "random"))
    for name, default in (("alpha", usual.share), ("rate", usual.schedule), ("average", usual.averages)):
        if options.get(name) == default:
            del options[name]
    return CrrConfig(
        loss=model.learner.config.loss, penalty=record["lambda"], queries=QueryConfig(record["qid"]), **options
    )


def check_start(config: CrrConfig, features: FeatureConfig) -> None:
    """Raises UsageError where the table, with its sums, is larger than ``config.max_memory``, and for ``calibrate``
    without the constant, which becomes the offset.
    """
    if config.calibrate and features.noconstant:
        raise UsageError("--calibrate makes the constant the offset: drop --noconstant")
    if config.max_memory is not None:
        doubles = config.averages + (config.l1 > 0) + config.takes_queries * (2 + (config.schedule == "adaptive"))
        slots = 2**features.bits
        need = (Gd.slot_bytes(GdConfig(sgd=True), True) + 8 * doubles) * slots
        check_memory(need, config.max_memory * GIB, f"weights of {slots:,} slots", "a smaller -b needs less")
