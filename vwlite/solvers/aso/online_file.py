"""What a file of Theta keeps of its learning, so that more text can follow."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np

from vwlite.config_check import Between, Double, JsonObject, contents_of, require
from vwlite.errors import UsageError
from vwlite.features.sparse_rows import Vocabulary, Weights, word_arrays, words_from
from vwlite.features.theta import THETA, open_theta, theta_from
from vwlite.options import OptionValues
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.online import SPAN, Newcomers, Part, Stream
from vwlite.storage.model_file import numbers
from vwlite.storage.weight_table import Arrays

THIS_VERSION = "a Theta of this version"
Natural = Annotated[int, Between(0, 2**63 - 1)]


class Options(TypedDict):
    """The options of the command that are settled when learning begins, by their keys."""

    aux: list[str]
    group: NotRequired[list[str]]
    dim: NotRequired[list[str]]
    most: NotRequired[int]
    least: NotRequired[int]
    positive: NotRequired[bool]
    unit: NotRequired[bool]
    idf: NotRequired[bool]
    loss_function: NotRequired[str]
    penalty: NotRequired[Double]
    learning_rate: NotRequired[Double]
    seed: NotRequired[int]
    max_features: NotRequired[Natural]


class PartHeader(TypedDict):
    """The header of the problems of a view."""

    aux: Natural  # place among the kinds
    number: Natural
    kind: str
    names: list[str]
    step: Natural
    scale: Double


class StreamHeader(TypedDict):
    """See ``vwlite.solvers.aso.online.Stream``."""

    options: Options
    parts: list[PartHeader]
    examples: Natural
    since: Annotated[int, Between(0, SPAN - 1)]
    waiting_spaces: list[str]
    idf: bool


class Facts(TypedDict):
    """Figures of the report, which a continued run adds to."""

    listed: list[list]


def content(stream: Stream, options: OptionValues) -> tuple[JsonObject, dict[str, np.ndarray]]:
    """For the header, and arrays."""
    new = stream.newcomers
    waiting = waiting_words(new)
    arrays = {
        "presence": stream.presence.astype(np.int64), "new_key": new.key, "new_count": new.count,
        **word_arrays("waiting", waiting),
    }
    parts = []
    for place, part in enumerate(stream.parts):
        arrays |= {f"u_{place}": part.table(), f"bias_{place}": part.weights.bias, f"source_{place}": part.source}
        record = {"kind": part.kind, "names": part.names, "step": part.step, "scale": part.scale}
        parts.append({"aux": stream.config.aux.index(part.aux), "number": part.number, **record})
    header = {
        "options": options, "parts": parts, "examples": stream.examples, "since": stream.since,
        "waiting_spaces": waiting.spaces, "idf": stream.words.idf is not None,
    }
    return {"stream": header}, arrays


def waiting_words(new: Newcomers) -> Vocabulary:
    """The features that had enough examples, but no row so far."""
    keys = sorted(new.names)
    spaces = sorted({space for space, _ in new.names.values()})
    space = np.array([spaces.index(new.names[key][0]) for key in keys], np.int32)
    return Vocabulary(np.array(keys, np.uint32), space, [new.names[key][1] for key in keys], spaces)


def kept_options(path: str) -> OptionValues:
    """The options that a file says its learning had. Raises ModelError, UsageError where it keeps no weights."""
    header, _ = open_theta(path, THETA, "made by vwlite aso learn --online --keep-weights", [])
    if "stream" not in header:
        raise UsageError(f"{path} has no weights to continue with: aso learn --online --keep-weights writes them")
    with contents_of(path, THIS_VERSION):
        require(header["stream"], StreamHeader, "stream")
    options: JsonObject = header["stream"]["options"]
    return options


def load(path: str, config: LearnConfig, most: int) -> Stream:
    """Raises ModelError."""
    header, arrays = open_theta(path, THETA, "made by vwlite aso learn")
    with contents_of(path, THIS_VERSION):
        require(header["aso"], Facts, "aso")
        listed = header["aso"]["listed"]
        return stream_from({**header, "listed": listed}, arrays, theta_from(header, arrays).words, config, most)


def stream_content(stream: Stream, options: OptionValues) -> tuple[JsonObject, dict[str, np.ndarray]]:
    """The content of a checkpoint, for ``resume_stream``."""
    header, arrays = content(stream, options)
    header |= {"listed": stream.listed, "theta_spaces": stream.words.spaces}
    return header, {**arrays, **word_arrays("theta", stream.words)}


def resume_stream(header: Mapping[str, Any], arrays: Mapping[str, Any], config: LearnConfig, most: int) -> Stream:
    """Raises KeyError, ValueError, UsageError for what is not of ``stream_content``."""
    require(header["theta_spaces"], list[str], "theta_spaces")
    return stream_from(header, arrays, words_from("theta", dict(arrays), header["theta_spaces"]), config, most)


def stream_from(
    header: Mapping[str, Any], arrays: Mapping[str, Any], words: Vocabulary, config: LearnConfig, most: int
) -> Stream:
    record = header["stream"]
    require(record, StreamHeader, "stream")
    require(header["listed"], list[list], "listed")
    arrays = dict(arrays)
    waiting = words_from("waiting", arrays, record["waiting_spaces"])
    presence = numbers(arrays, "presence", np.int64, (len(words),))
    stream = Stream(config, most, words, presence, [], record["examples"], record["since"], newcomers_from(arrays))
    stream.listed = header["listed"]
    pairs = zip(waiting.key.tolist(), waiting.space.tolist(), waiting.names, strict=True)
    stream.newcomers.names = {key: (waiting.spaces[space], name) for key, space, name in pairs}
    if not np.isin(waiting.key, stream.newcomers.key).all():
        raise ValueError("features that wait")
    stream.parts = [part_from(config, words, one, place, arrays) for place, one in enumerate(record["parts"])]
    stream.meet()
    return stream


def newcomers_from(arrays: Arrays) -> Newcomers:
    key = numbers(arrays, "new_key", np.uint32, (-1,))
    if (key[1:] <= key[:-1]).any():
        raise ValueError("the features that are not known")
    return Newcomers(key, numbers(arrays, "new_count", np.uint32, (len(key),)))


def part_from(config: LearnConfig, words: Vocabulary, record: PartHeader, place: int, arrays: Arrays) -> Part:
    if record["aux"] >= len(config.aux):
        raise ValueError("the kinds of its problems")
    count, aux = len(record["names"]), config.aux[record["aux"]]
    source = numbers(arrays, f"source_{place}", np.uint32, (count,))
    w = numbers(arrays, f"u_{place}", np.float32, (-1, count))
    bias = numbers(arrays, f"bias_{place}", np.float32, (count,))
    weights = Weights(np.require(w, requirements="W"), np.zeros((0, count), np.float32), np.array(bias))
    nothing = np.zeros(0, np.uint32)
    part = Part(
        aux, record["number"], record["kind"], record["names"], source, nothing, weights, record["step"],
        record["scale"]
    )
    seen = part.seen(words, config.solver.seed)
    if not count or len(w) != int(seen.sum()) or (words.find(source) < 0).any() or not record["scale"] > 0:
        raise ValueError("the weights of its problems")
    part.keys = words.key[seen]
    return part
