"""Theta and final models as model files."""

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np

from vwlite.config_check import built, require
from vwlite.data.label_vocabulary import Classes
from vwlite.errors import ModelError
from vwlite.solvers.aso.classifier import Target
from vwlite.solvers.aso.config import TargetConfig
from vwlite.solvers.aso.corpus import Vocabulary
from vwlite.solvers.aso.sequence_config import SequenceConfig
from vwlite.solvers.aso.sgd import Weights
from vwlite.solvers.aso.tagger import tagger_of
from vwlite.solvers.aso.theta import Theta
from vwlite.storage import model_file
from vwlite.storage.array_check import numbers
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.training.model_header import TargetHeader, ThetaHeader

THETA, TARGET = "aso-theta", "aso"


def word_arrays(prefix: str, words: Vocabulary) -> dict[str, np.ndarray]:
    """``key`` uint32[p], ``space`` int32[p]; names as the bytes of ``text``, name i ending before ``end[i]``.

    ``idf`` float32[p + 1] where there are weights.
    """
    names = [name.encode("utf-8", "surrogateescape") for name in words.names]
    arrays = {
        "key": words.key,
        "space": words.space,
        "end": np.cumsum([len(name) for name in names], dtype=np.int64),
        "text": np.frombuffer(b"".join(names), np.uint8),
    }
    if words.idf is not None:
        arrays["idf"] = words.idf
    return {f"{prefix}_{name}": array for name, array in arrays.items()}


def words_from(prefix: str, arrays: dict[str, Any], spaces: list[str]) -> Vocabulary:
    key = numbers(arrays, f"{prefix}_key", np.uint32, (-1,))
    count = len(key)
    space = numbers(arrays, f"{prefix}_space", np.int32, (count,))
    ends = numbers(arrays, f"{prefix}_end", np.int64, (count,))
    raw = numbers(arrays, f"{prefix}_text", np.uint8, (-1,)).tobytes()
    edges = np.concatenate(([0], ends))
    if (np.diff(edges) < 0).any() or edges[-1] != len(raw) or (key[1:] <= key[:-1]).any():
        raise ValueError("the names of its features")
    if count and not 0 <= int(space.min()) <= int(space.max()) < len(spaces):
        raise ValueError("the namespaces of its features")
    names = [raw[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(edges.tolist())]
    weights = f"{prefix}_idf"
    return Vocabulary(key, space, names, spaces, weights_from(arrays, weights, count) if weights in arrays else None)


def weights_from(arrays: dict[str, Any], name: str, count: int) -> np.ndarray:
    found = numbers(arrays, name, np.float32, (count + 1,))
    if (found < 0).any():
        raise ValueError("the weights of its features")
    return found


def theta_parts(theta: Theta) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    header = {"groups": theta.names, "h": [len(v) for v in theta.values], "theta_spaces": theta.words.spaces}
    values = np.concatenate(theta.values) if theta.values else np.zeros(0)
    arrays = {"theta": theta.matrix, "theta_group": theta.group, "theta_values": values}
    return header, {**arrays, **word_arrays("theta", theta.words)}


def theta_from(header: dict[str, Any], arrays: dict[str, Any]) -> Theta:
    require(header, ThetaHeader, "header")
    words, names, h = words_from("theta", arrays, header["theta_spaces"]), header["groups"], header["h"]
    if len(h) != len(names):
        raise ValueError("the groups of Theta")
    matrix = numbers(arrays, "theta", np.float32, (len(words), max(h, default=0)))
    group = numbers(arrays, "theta_group", np.int32, (len(words),))
    values = numbers(arrays, "theta_values", np.float64, (sum(h),))
    if len(group) and not -1 <= int(group.min()) <= int(group.max()) < len(h):
        raise ValueError("the groups of Theta")
    return Theta(words, group, matrix, names, np.split(values, np.cumsum(h)[:-1]) if h else [])


def save_theta(
    path: str, theta: Theta, facts: dict[str, Any], open_output: OpenOutput = atomic_output
) -> None:
    header, arrays = theta_parts(theta)
    model_file.save(path, {"learner": THETA, "aso": facts, **header}, arrays, open_output=open_output)


def load_theta(path: str) -> tuple[Theta, dict[str, Any]]:
    """Theta and the facts of its learning. Raises ModelError."""
    header, arrays = opened(path, THETA, "made by vwlite aso learn")
    try:
        require(header["aso"], dict, "aso")
        return theta_from(header, arrays), header["aso"]
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no Theta of this version ({error})") from error


def opened(path: str, kind: str, needed: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = model_file.learner_name_of(path)
    if found != kind:
        raise ModelError(f"{path} holds a model of learner {found}; this takes one {needed}")
    loaded = model_file.load(path)
    return loaded.header, loaded.arrays


def save_target(path: str, target: Target, facts: dict[str, Any]) -> None:
    header = {"classes": target.classes.names, "several": target.classes.several, "spaces": target.words.spaces}
    config = {**asdict(target.config), "solver": {**asdict(target.config.solver), "threads": 1}}
    del config["idf"]  # the weights themselves are kept with the words
    weights = target.weights
    arrays = {"w": weights.w, "v": weights.v, "bias": weights.bias, **word_arrays("word", target.words)}
    if target.theta:
        more, tables = theta_parts(target.theta)
        header, arrays = {**header, **more}, {**arrays, **tables}
    if target.sequences:
        header["sequences"] = asdict(target.sequences)
    if target.label_weights is not None:
        arrays["label_w"] = target.label_weights
    model_file.save(path, {"learner": TARGET, "config": config, "aso": facts, **header}, arrays)


def load_target(path: str) -> Target:
    """Raises ModelError."""
    header, arrays = opened(path, TARGET, "made by vwlite aso train")
    try:
        require(header, TargetHeader, "header")
        words, theta = words_from("word", arrays, header["spaces"]), None
        if "groups" in header:
            theta = theta_from(header, arrays)
        config = built(TargetConfig, header["config"])
        classes = Classes(header["classes"], header["several"])
        shared, count = sum(len(v) for v in theta.values) if theta else 0, len(classes.names)
        weights = Weights(
            numbers(arrays, "w", np.float32, (len(words), count)),
            numbers(arrays, "v", np.float32, (shared, count)),
            numbers(arrays, "bias", np.float32, (count,)),
        )
        if theta and config.theta_scale is None:
            raise ValueError("the scale of Theta")
        if not count or len(classes.index) < count:
            raise ValueError("the names of its classes")
        target = Target(classes, words, weights, theta, config)
        if "sequences" in header:
            target.sequences = built(SequenceConfig, header["sequences"])
            if "label_w" in arrays:
                target.label_weights = numbers(arrays, "label_w", np.float32, (-1, count))
            tagger_of(target)
        return target
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no model of this version's aso train ({error})") from error
