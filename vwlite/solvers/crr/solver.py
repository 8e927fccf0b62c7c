"""``vwlite crr``: the solver that a run has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from vwlite.config_check import JsonObject
from vwlite.data.config import input_config
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.group_columns import Queries
from vwlite.features.landmarks import landmarks_digest
from vwlite.features.name_index import NameIndex
from vwlite.learners.losses import LossConfig
from vwlite.options import OptionValues, Request, check_needs
from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import GradedLabels, TrainingSet
from vwlite.solvers.crr.pair_sampling import check_curriculum
from vwlite.solvers.crr.train import Descent
from vwlite.solvers.crr.weights import Begun, check_start, go_on
from vwlite.training.config import CurriculumConfig
from vwlite.training.listener import Monitor
from vwlite.training.model_loader import plan_of
from vwlite.training.solver_run import Content, Reader, Solver


class Crr(Solver):
    """Learns to rank and to predict, or makes more steps of a model."""

    learner = "crr"
    unit = "steps"
    data: TrainingSet
    descent: Descent

    def __init__(self, request: Request, initial: str | None) -> None:
        """Raises ModelError, UsageError for options that contradict the model's or one another."""
        self.begun = continue_model(request, initial) if initial else None
        model = self.begun.model if self.begun else None
        self.config = self.begun.config if self.begun else configure(request)
        self.features = model.features if model else FeatureConfig(**request.changes(FeatureConfig))
        self.plan = model.plan if model else plan_of(self.features)
        if model is None:
            self.plan.read_theta()
        self.names = (model and model.names) or (NameIndex() if request.values["names"] else None)
        self.input = input_config(request.values)
        self.class_weights = self.input.class_weights
        if self.config.pair_buffer and self.input.cache:
            raise UsageError("--pair-buffer keeps no cache: drop -c and --cache_file, or the buffer")
        if self.names is not None and self.input.cache:
            raise UsageError("names of features are in the text, which a cache does not keep: drop -c, or --names")
        check_start(self.config, self.features)
        self.curriculum = request.config(CurriculumConfig)
        check_curriculum(self.config, self.curriculum)
        self.labels = self.begun.labels() if self.begun else GradedLabels(self.config.loss)
        if model:
            self.input = self.input.like(model.header, request.given)

    def deciding_options(self) -> OptionValues:
        return {
            **asdict(self.config), "max_memory": None, "curriculum": asdict(self.curriculum),
            **self.features.header(), "landmarks_digest": landmarks_digest(self.features), **self.input.kept,
            "examples": self.input.examples, "names": self.names is not None,
            "theta": self.plan.theta and self.plan.theta.digest, "classweight": [*map(list, self.class_weights)],
        }

    def read(self, reader: Reader) -> None:
        config, features, names = self.config, self.features, self.names
        text = text_format(features, skip_malformed=True, names=names is not None)
        inputs = reader.open(self.input, text, several_passes=not config.pair_buffer, at_once=True)
        queries = Queries(config.queries, features, inputs.config.columns)
        self.data = TrainingSet(self.labels, queries, features, self.plan, inputs.config, names)
        if config.pair_buffer:
            self.data.read_sample(inputs, reader.policy, config.pair_buffer, config.seed)
        else:
            self.data.read(inputs, reader.policy)
        if self.plan.theta and not self.begun:
            self.plan.theta.check()
        self.descent = Descent(config, self.data, self.begun, self.curriculum)

    def fit(self, monitor: Monitor) -> None:
        self.descent.run(monitor)

    def state(self) -> Content:
        return self.descent.state()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.descent.restore(header, arrays)

    def content(self) -> Content:
        return self.descent.content()

    def report(self) -> JsonObject:
        return self.descent.facts

    def notes(self) -> Iterable[str]:
        return self.data.sightings.notes()


def configure(request: Request) -> CrrConfig:
    """The options of a new model. Raises UsageError."""
    loss, given = request.values["loss_function"], request.given
    limits = {name: given[name] for name in ("logistic_min", "logistic_max") if name in given}
    if limits and loss != "logistic":
        raise UsageError("--logistic_min and --logistic_max need --loss_function logistic")
    loss = LossConfig(loss, **limits, limited=bool(limits))
    config = request.config(CrrConfig, loss=loss, queries=request.config(QueryConfig))
    check_needs(config, given)
    if config.takes_queries and config.share == 0 and not config.calibrate and "loss_function" in given:
        wrong = "--loss_function is of examples, which --alpha 0 does not learn: give --alpha or --calibrate"
        raise UsageError(f"--pairs {config.pairing} has logistic loss of pairs; {wrong}")
    return config


def continue_model(request: Request, initial: str) -> Begun:
    """A model with what was given. Raises ModelError, UsageError for what contradicts it."""
    changes = dict(request.changes(CrrConfig))
    if "qid" in request.given:
        changes["queries"] = request.config(QueryConfig)
    return go_on(initial, changes, request.changes(FeatureConfig), request.changes(LossConfig))
