"""From what a command is asked for to the options of ``vwlite aso``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vwlite.data.config import EVENTS, InputConfig, available_cores, has_words, input_config
from vwlite.errors import ModelError, UsageError
from vwlite.features import theta as theta_file
from vwlite.features.theta import Theta
from vwlite.options import MemoryConfig, OptionValues, Request, is_count
from vwlite.solvers.aso import online_file, problem_list
from vwlite.solvers.aso.auxiliary import LABELLED, read_aux
from vwlite.solvers.aso.config import (
    LearnConfig,
    OnlineConfig,
    SelectionConfig,
    SolverConfig,
    TargetConfig,
    TasksConfig,
    check_kinds,
)
from vwlite.solvers.aso.problem_list import read_condition
from vwlite.solvers.aso.selection import read_vary


def input_of(
    values: Mapping[str, Any], kept: Mapping[str, str] | None = None, typed: Collection[str] = ()
) -> InputConfig:
    """Where the data come from; ``kept``: how the data of a model were read, but for what was ``typed``.

    Raises UsageError for formats whose labels are no words.
    """
    input = input_config(values, threads=1)
    if not has_words(input.kind) or input.kind in EVENTS:
        raise UsageError(f"vwlite aso reads text and tables, not {input.kind}")
    return input if kept is None else input.like({"kind": "vw", **kept}, typed)


def check_labelled(request: Request, config: LearnConfig) -> None:
    """Raises UsageError for labelled text that is missing, or would do nothing."""
    labelled = request.values.get("labeled")
    if (labelled is None) != all(aux.kind not in LABELLED for aux in config.aux):
        raise UsageError(f"--labeled goes with --aux {', '.join(LABELLED)}, and they need it")
    if request.values.get("multilabel") and not labelled:
        raise UsageError("--multilabel does nothing without --labeled")


def solver_config(request: Request, **more: Any) -> SolverConfig:
    config = request.config(SolverConfig, threads=available_cores())
    return replace(config, **more) if more else config


def problem_config(request: Request) -> LearnConfig:
    """The configuration that decides the problems."""
    values = request.values
    return request.config(
        LearnConfig,
        aux=tuple(map(read_aux, values["aux"])),
        where=tuple(map(read_condition, values["where"])),
        several=bool(values.get("multilabel")),
        solver=solver_config(request, passes=SolverConfig().passes),
        target=solver_config(request, passes=TargetConfig().solver.passes),
    )


def learn_config(request: Request) -> LearnConfig:
    """Raises UsageError."""
    dim, dims, values = 50, [], request.values
    for text in values["dim"]:
        name, _, number = text.rpartition("=")
        if not is_count(number):
            raise UsageError(f"--dim takes N or GROUP=N, not {text!r}")
        if name:
            dims.append((name, int(number)))
        else:
            dim = int(number)
    return replace(
        problem_config(request),
        chosen=problem_list.read_list(values["problems"]) if values.get("problems") else None,
        groups=tuple(tuple(text.split(",")) for text in values["group"]),
        dim=dim,
        dims=tuple(dims),
        memory=request.config(MemoryConfig).limit_in_bytes,
        solver=solver_config(request),
    )


def kept_options(request: Request, path: str) -> OptionValues:
    """The options of the weights that the file keeps. Raises UsageError for one given otherwise, ModelError."""
    stored = online_file.kept_options(path)
    for name in online_file.Options.__annotations__:
        if name in request.given and plain(request.given[name]) != stored.get(name):
            raise UsageError(f"{request.spelled(name)} contradicts {path}, which was learned with another: drop it")
    return stored


def continued_config(request: Request, options: OptionValues, path: str) -> tuple[LearnConfig, int]:
    """Raises ModelError."""
    try:
        given = {name: options.get(name, value) for name, value in request.given.items()}
        config = learn_config(Request({**request.values, **options}, given, request.known))
        check_kinds(config.aux)
        return config, OnlineConfig(online=True, max_features=options.get("max_features", 1)).max_features
    except UsageError as error:  # nobody typed it
        raise ModelError(f"{path} cannot be used: {error}") from error


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def target_of(request: Request) -> tuple[TargetConfig, Theta | None]:
    """Raises UsageError, ModelError."""
    values = request.values
    if values.get("theta_scale") is not None and not values.get("theta"):
        raise UsageError("--theta-scale does nothing without --theta")
    config = request.config(TargetConfig, solver=solver_config(request))
    return config, theta_file.load_theta(values["theta"])[0] if values.get("theta") else None


def check_train(sequences: bool, several: bool, tuned: bool, by_folds: bool) -> None:
    """Raises UsageError for what does not go together."""
    if sequences and several:
        raise UsageError("--sequences has one label for each example: drop --multilabel")
    if sequences and by_folds:
        raise UsageError("--folds parts single examples, not sequences: drop it, or --sequences")
    if tuned and not several:
        raise UsageError("--threshold tuned is for lists of labels: give --multilabel")


def selection_of(request: Request) -> SelectionConfig:
    """Raises UsageError for options that would do nothing."""
    config, theta = request.config(SelectionConfig), request.values.get("theta")
    if config.dim and not theta:
        raise UsageError("--theta-dim does nothing without --theta")
    if config.vary and not config.folds:
        raise UsageError("--vary does nothing without --folds")
    if config.folds and not config.vary and not theta:
        raise UsageError("--folds has nothing to choose without --vary or --theta")
    declared = {**TargetConfig.OPTIONS, **SolverConfig.OPTIONS, "theta_dim": SelectionConfig.OPTIONS["dim"]}
    for name in read_vary(config.vary, bool(theta)):
        if (key := declared[name].key or name) in request.given:
            raise UsageError(f"{request.spelled(key)} is given and varied: drop one")
    return config


def tasks_config(request: Request, memory: float) -> TasksConfig:
    """Raises UsageError."""
    penalties = []
    for text in request.values["lambda_task"]:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = np.nan
        if not name or not 0 < value < np.inf:
            raise UsageError(f"--lambda-task takes TASK=X with X above 0, not {text!r}")
        penalties.append((name, value))
    own = tuple(space for text in request.values["own"] for space in text.split(","))
    config = request.config(TasksConfig, penalties=tuple(penalties), own=own, memory=memory)
    if config.pooled and (penalties or own or config.centre):
        raise UsageError("--lambda-task, --own and --centre do nothing with --pooled: it has one model")
    return config
