"""Active learning (``--active``) and confidences; the kernel is ``cython_ext/learners/active.pyx``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite._native import active as kernel
from vwlite._native import gd as gd_kernel
from vwlite.config_check import JsonObject, count_in
from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan
from vwlite.learners.abilities import Confident, OwnLines, Querying, SolvedInMemory
from vwlite.learners.base import Learner, has_simple_labels
from vwlite.learners.configs.active import ActiveConfig, ActiveDyadicConfig
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.dyadic import KernelConfig as DyadicKernelConfig
from vwlite.learners.gd import SCALARS, Gd
from vwlite.learners.gd import KernelConfig as GdKernelConfig
from vwlite.learners.losses import before_link
from vwlite.learners.row_results import Results

OWN_SCALARS = (
    "labeled_weight",  # importance of what was learned
    "sum_loss",  # its loss
    "queries",  # labels asked for
    "least_label",  # of those seen, and of 0 and 1
    "greatest_label",
)


class ActiveKernelConfig(GdKernelConfig):
    def __init__(self, config: ActiveConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.active, self.simulation = config.active, config.simulation
        self.mellowness, self.after = config.mellowness, config.confidence_after_training
        self.binary = config.binary


class Active(Gd, Querying, OwnLines, Confident):
    """Gradient descent that knows how sure it is."""

    name = "active"
    config_type = ActiveConfig
    SCALARS = (*SCALARS, *OWN_SCALARS)
    native = kernel
    kernel_config = ActiveKernelConfig
    places_tags = True

    def __init__(
        self, config: ActiveConfig, bits: int, *, learning: bool = True, vw_compat: bool = False, start: bool = True
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.kernel.middle = self.middle
        if not learning:  # there is no more than the weights, as in vw
            self.kernel.adaptive = self.kernel.normalized = False
        # Predictions are only that, whatever the model was trained for; so are those of a simulation under vw.
        self.custom_output = learning or (vw_compat and config.active)
        if config.simulation or not self.custom_output:
            self.kernel.simulation, self.custom_output = True, False
        self.set(greatest_label=1.0)
        self.random_state = np.array([config.random_seed % 2**64], np.uint64)
        self.allocate(0)
        self.queried = 0

    def tester(self, **changes: Any) -> Active:
        other = super().tester(**changes)
        other.kernel.middle, other.kernel.simulation, other.custom_output = self.middle, True, False
        return other

    def stop_learning(self) -> None:
        """Only predict from now on, with confidences if they were asked for, whatever the label."""
        self.learning = self.custom_output = False
        self.kernel.frozen = self.tells_confidence = True

    def allocate(self, rows: int) -> None:
        self.label_and_weight = np.empty((2, rows), np.float32)  # as they are used, when queries are simulated
        self.extra_output = np.empty(rows, np.float32)  # the importance to query with, or the confidence

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if self.kernel.target is not None:
            return super().run(batch, plan, results, begin, end)
        if self.tells_confidence:
            batch = replace(batch, label=np.full(len(batch), np.nan, np.float32))
        if len(self.extra_output) < len(batch):
            self.allocate(len(batch))
        self.label_and_weight[:, begin:end] = batch.label[begin:end], batch.importance[begin:end]
        before = self.get("queries")
        end = super().run(batch, plan, results, begin, end)
        self.queried = int(self.get("queries") - before)
        if results.flip_importance is not None:
            results.flip_importance[begin:end] = self.extra_output[begin:end]
        return end

    def counted(self, batch: Batch) -> Batch:
        if not self.config.simulation:
            return batch
        label, weight = self.label_and_weight[:, : len(batch)]
        return replace(batch, label=label, importance=weight)

    def lines(self, batch: Batch, results: Results, row: int, raw: bool) -> str:
        """The prediction, its tag and the importance to ask with, if any, or the confidence."""
        asked, tag = float(self.extra_output[row]), batch.tag(row).decode("utf-8", "surrogateescape")
        prediction = f"{float(results.prediction[row]):.6f}"
        if self.config.confidence:
            return f"{prediction} {asked:.6f} {tag}"
        return f"{prediction} {tag}" + (f" {asked:.6f}" if asked >= 0 else "")

    @property
    def description(self) -> tuple[tuple[str, ...], str, str]:
        (bottom, *rest), labels, predictions = super().description
        if not (self.learning or self.config.active):
            return (bottom, *rest), labels, predictions
        own = "confidence" if self.config.confidence else "active-simulation" if self.config.simulation else "active"
        return (bottom, own, *rest), labels, predictions

    def header(self) -> JsonObject:
        return {**super().header(), "chance": int(self.random_state[0])}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if header["learner"] != self.name:  # a plain model, that this goes on from
            return
        numbers = {name: float(header["scalars"][name]) for name in OWN_SCALARS}
        if not all(map(np.isfinite, numbers.values())):
            raise ValueError("counts of labels")
        count_in(numbers, "queries")
        state = header["chance"]
        if self.vw_compat:  # vw counts each run's anew
            numbers = {name: numbers[name] for name in ("least_label", "greatest_label")}
        if whole:
            self.set(**numbers)
        if self.config.random_seed == header["config"]["random_seed"]:
            self.random_state[0] = state


COUNTS = (
    "labeled_weight",  # importance of what was learned
    "sum_loss",  # its loss
    "queries",  # labels asked for
)


QUERIES = COUNTS.index("queries")


class Asking(Learner, Querying):
    """For a learner whose kernel asks for labels where its configuration ``asks``."""

    def begin_asking(self) -> None:
        self.counts = np.zeros(len(COUNTS))
        self.random_state = np.array([self.config.random_seed % 2**64], np.uint64)
        self.label_and_weight = np.empty((2, 0), np.float32)  # of a batch's rows, as they are used
        self.queried = 0

    def tester(self, **changes: Any) -> Any:
        other = super().tester(**changes)
        other.kernel.asks = False
        return other

    def run(self, batch: Batch, plan: Plan, results: Results, begin: int, end: int) -> int:
        if not self.config.active:
            return super().run(batch, plan, results, begin, end)
        if self.label_and_weight.shape[1] < len(batch):
            self.label_and_weight = np.empty((2, len(batch)), np.float32)
        self.label_and_weight[:, begin:end] = batch.label[begin:end], batch.importance[begin:end]
        before = self.counts[QUERIES]
        end = super().run(batch, plan, results, begin, end)
        self.queried = int(self.counts[QUERIES] - before)
        return end

    def counted(self, batch: Batch) -> Batch:
        if not self.config.active:
            return super().counted(batch)
        label, weight = self.label_and_weight[:, : len(batch)]
        return replace(batch, label=label, importance=weight)

    def asked_header(self) -> JsonObject:
        """The header entries of a model on the labels asked for."""
        if not self.config.active:
            return {}
        asked = dict(zip(COUNTS, self.counts.tolist(), strict=True))
        return {"asked": asked, "chance": int(self.random_state[0])}

    def take_header(self, header: Mapping[str, Any], whole: bool) -> None:
        super().take_header(header, whole)
        if not self.config.active:
            return
        numbers = {name: float(header["asked"][name]) for name in COUNTS}
        count_in(numbers, "queries")
        if not np.isfinite([*numbers.values()]).all():
            raise ValueError("counts of labels")
        self.counts[:] = [*numbers.values()]
        if self.config.random_seed == header["config"]["random_seed"]:
            self.random_state[0] = header["chance"]


class AskingConfig(DyadicKernelConfig):
    def __init__(self, config: ActiveDyadicConfig, *, vw_compat: bool, frozen: bool) -> None:
        super().__init__(config, vw_compat=vw_compat, frozen=frozen)
        self.asks, self.mellowness = not frozen, config.mellowness


class ActiveDyadic(Asking, Dyadic):
    """Labels are asked for by the importance that would flip the prediction, at the learning rate of the time."""

    name = "active_dyadic"
    config_type = ActiveDyadicConfig
    kernel_config = AskingConfig
    config: ActiveDyadicConfig

    def __init__(
        self, config: ActiveDyadicConfig, bits: int, *, learning: bool = True, vw_compat: bool = False,
        start: bool = True,
    ) -> None:
        super().__init__(config, bits, learning=learning, vw_compat=vw_compat, start=start)
        self.begin_asking()

    def header(self) -> JsonObject:
        return {**super().header(), **self.asked_header()}


def target_importance_learner(learner: Learner, target: float, raw: bool = False) -> Learner:
    """A learner on the same tables that only tests, and fills ``Results.flip_importance`` with another importance.

    It is the least with which an update with the row's label would carry the prediction to ``target``: h_min(x, y) of
    Mineiro ("A Dyadic Importance Aware Update: Part II", 2011), 0 where it is there, infinite where no importance is
    enough. A row without a label has that of the class, or the least or greatest one of training, on the target's side.
    ``raw``: the target is a prediction before the link.

    Raises UsageError for a learner whose predictions are not one number that gradient descent, FTRL or a dyadic model
    moves, for one that has the weights alone, and for a target that the link makes of nothing.
    """
    linear = isinstance(learner, Gd) and learner.config.has_sensitivity
    steps = linear or (isinstance(learner, Dyadic) and not isinstance(learner, SolvedInMemory))
    if not steps or not has_simple_labels(learner) or learner.levels:
        raise UsageError(
            "importances to reach a prediction are of models of one number by gradient descent (also --ftrl) or dot "
            "products, without --levels or --als"
        )
    if isinstance(learner, Gd) and learner.stride < learner.column_count(learner.config, True):
        raise UsageError("importances to reach a prediction need the rates of training, which this model does not keep")
    other = learner.tester_with_rates() if isinstance(learner, Gd) else learner.tester()
    loss, number = learner.config.loss, np.float32(before_link("identity" if raw else learner.config.link, target))
    other.native = gd_kernel if linear else other.native
    other.kernel.target = float(number)
    if isinstance(other, OwnLines):
        other.custom_output = False
    if loss.loss.two_classes:
        other.kernel.ends = (loss.logistic_min, loss.logistic_max) if loss.name == "logistic" else (-1.0, 1.0)
    return other
