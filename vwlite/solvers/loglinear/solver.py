"""``vwlite l1``: the solver that a run has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vwlite.config_check import JsonObject
from vwlite.data.blocks import fingerprint
from vwlite.data.config import input_config
from vwlite.errors import UsageError
from vwlite.features.config import ApplyConfig, FeatureConfig, check_plan
from vwlite.features.theta import FeatureMap, check_same
from vwlite.options import MemoryConfig, OptionValues, Request, check_needs, effective
from vwlite.solvers.loglinear import model_file
from vwlite.solvers.loglinear.config import BITS, INSTEAD_OF_L1, HeldOutConfig, L1Config, check_idle
from vwlite.solvers.loglinear.held_out import read_holdout
from vwlite.solvers.loglinear.train import Fit, Texts, TrainJob, TrainResult, held_out_input, ranked_by
from vwlite.training.config import CurriculumConfig
from vwlite.training.listener import Monitor
from vwlite.training.model_header import check_features, check_learner
from vwlite.training.solver_run import Content, Reader, Solver


class L1(Solver):
    """Sparse log-linear models: two classes, several, label sequences, trees."""

    learner = "l1"
    work: Fit
    result: TrainResult
    stopped: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None  # ``state`` of the run that is gone on from

    def __init__(self, request: Request, initial: str | None) -> None:
        """Raises ModelError, UsageError for options that contradict the model's or one another."""
        model = model_file.load(initial) if initial else None
        config, self.held = configure(request, model), request.config(HeldOutConfig)
        input, names = input_config(request.values, shuffle=False), request.values.get("names")
        if names and input.cache:
            raise UsageError("--names needs the names in the text, which a cache does not keep: drop -c")
        features = features_of(request, config, model)
        self.job = TrainJob(
            config=config,
            features=features,
            theta=theta_of(request, config, features, model),
            input=input,
            holdout=read_holdout(self.held),
            patience=self.held.early_terminate,
            names=bool(names),
            initial=model,
            memory=request.config(MemoryConfig).limit_in_bytes,
            curriculum=request.config(CurriculumConfig),
        )
        self.job.check()
        self.input, self.labels = input, self.job.labels()
        if not config.words:
            self.class_weights = input.class_weights

    def deciding_options(self) -> OptionValues:
        job = self.job
        return {
            **effective(job.config, self.held, job.curriculum), **job.features.header(), **self.input.kept,
            "examples": self.input.examples, "classweight": [*map(list, self.input.class_weights)],
            "names": job.names, "theta": job.theta and job.theta.digest,
            "held-out file": fingerprint((job.holdout.path,)) if job.holdout.path else None,
        }

    def read(self, reader: Reader) -> None:
        job, self.reader = self.job, reader
        self.texts, self.ranked = Texts(job, reader.policy), ranked_by(job)
        self.lines = self.texts.read(reader.open(self.input, self.texts.format, at_once=True), self.ranked)
        self.held_lines = None
        if job.holdout.path:
            self.held_lines = self.texts.read(reader.open(held_out_input(job, self.texts), self.texts.format))

    def fit(self, monitor: Monitor) -> None:
        self.work = Fit(self.job, self.texts, self.lines, self.held_lines, self.ranked, monitor)
        if self.stopped:
            self.work.passes.restore(*self.stopped)
        self.result = self.work.run()

    def state(self) -> Content:
        return self.work.passes.kept

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        self.stopped = header, arrays

    def content(self) -> Content:
        return self.result.content()

    def options(self) -> OptionValues:
        job = self.job
        options = effective(job.config, job.features, self.input, self.held, job.curriculum)
        return {**options, "learning_rate": job.config.initial_learning_rate}

    def report(self) -> JsonObject:
        """Options, and the figures of every pass."""
        config, trained = self.job.config, self.result.trained
        history = trained.history
        kept = next(entry for entry in history if entry["pass"] == trained.passes)
        return {
            "model": config.model,
            **method(config),
            "examples": self.result.examples,
            "weights": trained.table.shape[1],
            "passes": trained.passes,
            **{name: kept[name] for name in ("objective", "active")},
            "seconds": history[-1]["seconds"],
            "history": history,
        }


def configure(request: Request, initial: model_file.LoadedModel | None) -> L1Config:
    """The options given over the model's, if there is one. Raises UsageError for those that would do nothing."""
    changes = request.changes(L1Config)
    if initial:
        check_learner(initial.path, initial.config, changes)
    if {"trace", "l1"} <= changes.keys():
        raise UsageError(INSTEAD_OF_L1)
    if changes.get("l2") and changes.get("loss", "log") == "log":
        changes = {"solver": "owlqn", "l1": 0.0, **changes}
    config = replace(initial.config, **{**replaced_options(changes), **changes}) if initial else L1Config(**changes)
    check_needs(config, changes)
    if config.loss == "margin" and not (config.l2 or initial or "l1" in changes or config.penalty == "none"):
        raise UsageError("--loss margin needs --l2 above 0, or --l1")
    check_idle(config, changes)
    return config


def replaced_options(changes: OptionValues) -> OptionValues:
    """The options of a model that typed ones replace."""
    no_mean = {"average": False, "average_after": None} if {"penalty", "solver"} & changes.keys() else {}
    no_trace = {"trace": 0.0} if {"l1", "group"} & changes.keys() else {}
    return {**no_mean, **no_trace, **({"l1": 1.0, "group": False} if "trace" in changes else {})}


def features_of(request: Request, config: L1Config, initial: model_file.LoadedModel | None) -> FeatureConfig:
    changes = dict(request.changes(FeatureConfig))
    for one in ("theta", *(option.key for option in ApplyConfig.OPTIONS.values())):
        changes.pop(one, None)  # ``theta_of`` reads it
    if not initial:
        return FeatureConfig(**{"bits": BITS[config.model], **changes})
    check_features(initial.path, initial.features, changes)
    return initial.features


def theta_of(
    request: Request, config: L1Config, features: FeatureConfig, initial: model_file.LoadedModel | None
) -> FeatureMap | None:
    """The Theta that was given, or the model's. Raises UsageError where these are not the same."""
    apply, path = request.config(ApplyConfig), request.values.get("theta")
    given = request.changes(ApplyConfig)
    if not path:
        if given:
            raise UsageError(f"{ApplyConfig.OPTIONS[next(iter(given))].display_name} does nothing without --theta")
        return initial.theta if initial else None
    if config.model == "binary":
        raise UsageError("--theta is for --model multinomial and crf; 'vwlite aso apply' adds the features to any text")
    check_plan(features, apply.unit)
    if initial is None:
        return FeatureMap.read(path, apply)
    check_same(initial.path, initial.theta and initial.theta.digest, path)
    for name in given:
        if getattr(initial.theta.config, name) != getattr(apply, name):
            option = ApplyConfig.OPTIONS[name].display_name
            raise UsageError(f"{initial.path} was trained with another {option}: drop it")
    return initial.theta


def method(config: L1Config) -> OptionValues:
    """The options that make the steps."""
    costs = {"loss": config.loss, "cost": config.cost_applied}
    if config.loss == "perceptron":
        return {"loss": config.loss}
    if config.loss == "mira":
        return {**costs, "aggressiveness": config.aggressiveness}
    if config.dual:
        return {**costs, "l2": config.l2}
    steps = {"l2": config.l2} if config.l2 else {} if config.loss == "log" else costs
    steps |= {name: getattr(config, name) for name in ("solver", "penalty", "rate", "decay")}
    return {**steps, "trace" if config.trace else "l1": config.strength, "learning_rate": config.initial_learning_rate}
