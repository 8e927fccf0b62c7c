"""Theta and final models as model files."""

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from vwlite import model
from vwlite.aso.corpus import Vocabulary
from vwlite.aso.solver import SolverConfig, Weights
from vwlite.aso.structure import Theta
from vwlite.aso.target import Target, TargetConfig
from vwlite.errors import ModelError
from vwlite.labelbook import Classes

THETA, TARGET = "aso-theta", "aso"


def word_arrays(prefix: str, words: Vocabulary) -> dict[str, np.ndarray]:
    """``key`` uint32[p], ``space`` int32[p]; names as the bytes of ``text``, name i ending before ``end[i]``."""
    names = [name.encode("utf-8", "surrogateescape") for name in words.names]
    arrays = {
        "key": words.key,
        "space": words.space,
        "end": np.cumsum([len(name) for name in names], dtype=np.int64),
        "text": np.frombuffer(b"".join(names), np.uint8),
    }
    return {f"{prefix}_{name}": array for name, array in arrays.items()}


def words_from(prefix: str, arrays: dict[str, Any], spaces: list[str]) -> Vocabulary:
    key, space, ends, text = (arrays[f"{prefix}_{name}"] for name in ("key", "space", "end", "text"))
    edges, raw = [0, *ends.tolist()], text.tobytes()
    if len(edges) != len(key) + 1 or len(space) != len(key) or edges[-1] != len(raw):
        raise ValueError("the names of its features")
    if len(space) and not 0 <= int(space.min()) <= int(space.max()) < len(spaces):
        raise ValueError("the namespaces of its features")
    names = [raw[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(edges)]
    return Vocabulary(key, space, names, list(map(str, spaces)))


def theta_parts(theta: Theta) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    header = {"groups": theta.names, "h": [len(v) for v in theta.values], "theta_spaces": theta.words.spaces}
    values = np.concatenate(theta.values) if theta.values else np.zeros(0)
    arrays = {"theta": theta.matrix, "theta_group": theta.group, "theta_values": values}
    return header, {**arrays, **word_arrays("theta", theta.words)}


def theta_from(header: dict[str, Any], arrays: dict[str, Any]) -> Theta:
    words = words_from("theta", arrays, header["theta_spaces"])
    h = [int(one) for one in header["h"]]
    matrix, group, values = arrays["theta"], arrays["theta_group"], arrays["theta_values"]
    if matrix.shape != (len(words), max(h, default=0)) or len(group) != len(words) or len(values) != sum(h):
        raise ValueError("the shapes of Theta")
    if len(group) and int(group.max()) >= len(h):
        raise ValueError("the groups of Theta")
    return Theta(words, group, matrix, list(map(str, header["groups"])), np.split(values, np.cumsum(h)[:-1]))


def save_theta(path: str, theta: Theta, facts: dict[str, Any]) -> None:
    header, arrays = theta_parts(theta)
    model.save(path, {"learner": THETA, "aso": facts, **header}, arrays)


def load_theta(path: str) -> tuple[Theta, dict[str, Any]]:
    """Theta and the facts of its learning. Raises ModelError."""
    header, arrays = opened(path, THETA, "made by vwlite aso learn")
    try:
        return theta_from(header, arrays), header["aso"]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelError(f"{path} is no Theta of this version ({error})") from error


def opened(path: str, kind: str, needed: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = model.kind_of(path)
    if found != kind:
        raise ModelError(f"{path} holds a model of learner {found}; this takes one {needed}")
    loaded = model.load(path)
    return loaded.header, loaded.arrays


def save_target(path: str, target: Target, facts: dict[str, Any]) -> None:
    header = {"classes": target.classes.names, "several": target.classes.several, "spaces": target.words.spaces}
    config = {**asdict(target.config), "solver": {**asdict(target.config.solver), "threads": 1}}
    weights = target.weights
    arrays = {"w": weights.w, "v": weights.v, "bias": weights.bias, **word_arrays("word", target.words)}
    if target.theta:
        more, tables = theta_parts(target.theta)
        header, arrays = {**header, **more}, {**arrays, **tables}
    model.save(path, {"learner": TARGET, "config": config, "aso": facts, **header}, arrays)


def load_target(path: str) -> Target:
    """Raises ModelError."""
    header, arrays = opened(path, TARGET, "made by vwlite aso train")
    try:
        words, theta = words_from("word", arrays, header["spaces"]), None
        if "groups" in header:
            theta = theta_from(header, arrays)
        config = TargetConfig(**{**header["config"], "solver": SolverConfig(**header["config"]["solver"])})
        weights = Weights(*(np.ascontiguousarray(arrays[name]) for name in ("w", "v", "bias")))
        classes = Classes(list(map(str, header["classes"])), bool(header["several"]))
        shared = sum(len(v) for v in theta.values) if theta else 0
        if weights.w.shape != (len(words), len(classes.names)) or len(weights.v) != shared:
            raise ValueError("the shapes of its weights")
        return Target(classes, words, weights, theta, config)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelError(f"{path} is no model of this version's aso train ({error})") from error
