"""Theta as a model file, and as a part of other models."""

from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Between, require
from vwlite.errors import ModelError
from vwlite.features.theta import Theta
from vwlite.features.vocabulary import word_arrays, words_from
from vwlite.storage import model_file
from vwlite.storage.array_check import numbers
from vwlite.storage.atomic_file import OpenOutput, atomic_output

THETA = "aso-theta"
IDF = "theta_idf"
THETA_ARRAYS = ("theta", "theta_group", "theta_values", "theta_key", "theta_space", "theta_end", "theta_text", IDF)


class ThetaHeader(TypedDict):
    """Of what ``vwlite aso learn`` makes."""

    groups: list[str]
    h: list[Annotated[int, Between(0, 2**63 - 1)]]
    theta_spaces: list[str]


class FeatureMapHeader(ThetaHeader):
    """Of the Theta whose features a model of another command takes."""

    config: dict
    digest: str
    idf: NotRequired[bool]  # has it weights of features?


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
    path: str,
    theta: Theta,
    facts: dict[str, Any],
    open_output: OpenOutput = atomic_output,
    more: tuple[dict[str, Any], dict[str, np.ndarray]] = ({}, {}),
) -> None:
    """``more``: what else the header holds, and other arrays."""
    model_file.save(path, *content(theta, facts, more), open_output=open_output)


def content(
    theta: Theta, facts: dict[str, Any], more: tuple[dict[str, Any], dict[str, np.ndarray]] = ({}, {})
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of the file."""
    header, arrays = theta_parts(theta)
    return {"learner": THETA, "aso": facts, **header, **more[0]}, {**arrays, **more[1]}


def load_theta(path: str) -> tuple[Theta, dict[str, Any]]:
    """Theta and the facts of its learning. Raises ModelError."""
    header = model_file.read_header(path)
    stream = header.get("stream")
    want = None
    if isinstance(stream, dict):  # whose weights are not wanted
        want = [name for name in THETA_ARRAYS if name != IDF or stream.get("idf")]
    header, arrays = opened(path, THETA, "made by vwlite aso learn", want)
    try:
        require(header["aso"], dict, "aso")
        return theta_from(header, arrays), header["aso"]
    except ModelError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is no Theta of this version ({error})") from error


def opened(
    path: str, kind: str, needed: str, want: list[str] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays, all or those of ``want``, of a model of the learner ``kind``. Raises ModelError."""
    found = model_file.learner_name_of(path)
    if found != kind:
        raise ModelError(f"{path} holds a model of learner {found}; this takes one {needed}")
    loaded = model_file.load(path, want=want)
    return loaded.header, loaded.arrays
