"""Models of ``vwlite aso train`` as files."""

from dataclasses import asdict
from typing import Any

import numpy as np

from vwlite.config_check import built, require
from vwlite.data.label_vocabulary import Classes
from vwlite.errors import ModelError
from vwlite.features.sparse_rows import Weights
from vwlite.features.theta import opened, theta_from, theta_parts
from vwlite.features.vocabulary import word_arrays, words_from
from vwlite.solvers.aso.classifier import Target
from vwlite.solvers.aso.config import SequenceConfig, TargetConfig
from vwlite.solvers.aso.sgd import Position
from vwlite.solvers.aso.tagger import tagger_of
from vwlite.storage import model_file
from vwlite.storage.model_file import numbers
from vwlite.training.model_header import TargetHeader, data_of

TARGET = "aso"


def save_target(path: str, target: Target, facts: dict[str, Any]) -> None:
    model_file.save(path, *content(target, facts))


def content(target: Target, facts: dict[str, Any]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the file."""
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
    if target.position:
        header["position"] = asdict(target.position)
    return {"learner": TARGET, "config": config, "aso": facts, **target.data, **header}, arrays


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
        target = Target(classes, words, weights, theta, config, data=data_of(header))
        if "sequences" in header:
            target.sequences = built(SequenceConfig, header["sequences"])
            if "label_w" in arrays:
                target.label_weights = numbers(arrays, "label_w", np.float32, (-1, count))
            tagger_of(target)
        if "position" in header:
            target.position = Position(**header["position"])
        return target
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no model of this version's aso train ({error})") from error
