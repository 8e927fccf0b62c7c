"""Shards: the inputs, laid end to end, cut at equal places; how much the changes of each shard count."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple

from vwlite.config_check import JsonObject
from vwlite.data.config import EVENTS, TEXTS, BadLinesConfig
from vwlite.data.input_stream import Decompressed, display_name, missing_message, open_input
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners import learner_class
from vwlite.storage.atomic_file import capture_bytes
from vwlite.storage.output_checks import is_url
from vwlite.training.assembly import LearningParts
from vwlite.training.config import InputConfig, RunConfig
from vwlite.training.listener import Display
from vwlite.training.model_header import built
from vwlite.training.model_loader import Restored, begin_learner

SEARCHED = 1 << 16  # bytes looked through together for the end of a line
END_OF_LINE, END_OF_GROUP = re.compile(rb"\n"), re.compile(rb"(?<=\n)\r?\n")
LOOKED_BEHIND = 3  # bytes of the longest end of a group, with the end of the line before


class Piece(NamedTuple):
    """Bytes of a file, which had ``size`` and ``mtime_ns`` when the plan was made; all of a compressed one."""

    path: str
    begin: int
    end: int
    size: int
    mtime_ns: int
    compressed: bool = False

    @property
    def name(self) -> str:
        """For messages, whose lines are counted from there."""
        return f"{self.path} from byte {self.begin}" if self.begin else self.path


class Shard(NamedTuple):
    """The part ``number``, from 1, of ``of``."""

    number: int
    of: int
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        return sum(piece.end - piece.begin for piece in self.pieces)


def shards_of(run: RunConfig, of: int) -> list[Shard]:
    """The shards of the data of a run, which have groups of lines whole where these are its examples. Raises as
    ``plan``.
    """
    return plan(run.input.paths, of, groups=run.learner.multiline and run.input.kind not in EVENTS)


def plan(paths: Sequence[str], of: int, groups: bool = False) -> list[Shard]:
    """The shards of these files.

    A line, or one of ``groups`` that blank lines end, belongs to the shard in which its first byte lies, a compressed
    file to the one in which its middle lies.
    Raises InputMissing, UsageError for standard input, pipes and URLs, InputDamaged.
    """
    whole_files = [whole_piece(path) for path in paths]
    total = sum(piece.end for piece in whole_files)
    cuts = [total * number // of for number in range(of + 1)]
    shards: list[list[Piece]] = [[] for _ in range(of)]
    start = 0
    for piece in whole_files:
        for number, part in parts_of(piece, [cut - start for cut in cuts], groups):
            shards[number].append(part)
        start += piece.end
    return [Shard(number, of, tuple(pieces)) for number, pieces in enumerate(shards, 1)]


def whole_piece(path: str) -> Piece:
    """A file as a single piece."""
    try:
        status = None if is_url(path) else os.stat(path)
    except (OSError, ValueError) as error:
        if path != "-":
            raise missing_message(path, error) from None
        status = None
    if status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise UsageError(f"shards are parts of files, which {display_name(path)} is not: write it to one first")
    with open_input(path) as stream:
        compressed = isinstance(stream, Decompressed)
    return Piece(path, 0, status.st_size, status.st_size, status.st_mtime_ns, compressed)


def parts_of(piece: Piece, cuts: list[int], groups: bool) -> Iterator[tuple[int, Piece]]:
    """The parts of a file between each two of ``cuts``, which count from its first byte; empty parts are left out."""
    size = piece.size
    if piece.compressed:
        middle = size // 2
        number = next(i for i in range(len(cuts) - 1) if cuts[i] <= middle < cuts[i + 1] or i == len(cuts) - 2)
        yield number, piece
        return
    ends = END_OF_GROUP if groups else END_OF_LINE
    with open(piece.path, "rb") as file:
        places = [next_start(file, min(max(cut, 0), size), size, ends) for cut in cuts]
    for number, (begin, end) in enumerate(pairwise(places)):
        if begin < end:
            yield number, piece._replace(begin=begin, end=end)


def next_start(file: BinaryIO, place: int, size: int, ends: re.Pattern[bytes]) -> int:
    """Find where the first line begins that does not begin before ``place`` and is behind one of ``ends``."""
    if not 0 < place < size:
        return place
    begin, text = max(place - LOOKED_BEHIND, 0), b""
    file.seek(begin)
    while more := file.read(SEARCHED):
        text += more
        for match in ends.finditer(text):
            if begin + match.end() >= place:
                return begin + match.end()
        begin, text = begin + len(text[:-LOOKED_BEHIND]), text[-LOOKED_BEHIND:]
    return size


class Rule(NamedTuple):
    """Of ``of`` shards. A step of AdaGrad is l g / G^p with power_t p. A shard that begins with G / S and the rate
    l S^(1-p) makes steps which, summed over the T shards that know a slot and divided by S^(1-p) T^p, are
    l (sum of g) / (sum of G)^p: those of one learner on summed gradients.

    Without adaptive sums changes are averaged, each shard weighted by its examples.
    """

    of: int
    split: bool  # the adaptive sums are split among the shards and summed in the end
    rate: float = 1.0  # by which each shard multiplies the learning rate
    shrinkage: float = 1.0  # and its l2, so that it keeps its share of a step
    power: float = 0.5

    def divisor(self, touching: Any) -> Any:
        """Return what to divide summed changes of slots by; ``touching``: how many shards changed each slot."""
        return self.of ** (1 - self.power) * touching**self.power


def rule_of(config: Any, of: int) -> Rule:
    """The rule for models of a learner's configuration. Raises UsageError for what does not average."""
    check(config, of)
    if of == 1 or not config.modes[0]:
        return Rule(of, split=False)
    power = config.power_t
    rate = of ** (1 - power) if config.loss.loss.split_rate else 1.0
    return Rule(of, True, rate, of**power, power)


def check(config: Any, of: int) -> None:
    if config.learner not in AVERAGED:
        raise UsageError(f"--{config.option} does not go with shards: {why_not(config.learner)}")
    if of == 1:
        return
    for name, why in REFUSED.items():
        option, _, word = name.partition(" ")
        value = getattr(config, option, None)
        if value == word if word else value:
            raise UsageError(f"--{name} does not go with several shards: {why}")


def why_not(learner: str) -> str:
    return REASONS.get(learner, "averages of its models were not tried")


AVERAGED = ("gd", "many", "multiclass", "ldf", "cb", "cb_adf", "cb_explore", "cb_explore_adf")
LATENT = "latent vectors from different starts do not average"
NETWORK = "networks that grew apart do not average"
TREE = "trees that grew apart do not average"
WHOLE = "its passes need all data at once"
PLAYED = "what it plays depends on all that came before"
REASONS = {
    "average": "a mean of the rounds' models is one already",
    "lrq": LATENT,
    "vw_rank": LATENT,
    "dyadic": LATENT,
    "lfl": LATENT,
    "factored": LATENT,
    "factored_classes": LATENT,
    "nn": NETWORK,
    "vw_nn": NETWORK,
    "nn_classes": NETWORK,
    "bfgs": f"{WHOLE}; --then-bfgs sums gradients over shards",
    "bfgs_outputs": WHOLE,
    "bfgs_multiclass": WHOLE,
    "als": "its examples stay in memory together",
    "dual": "its examples stay in memory together",
    "ksvm": "its support vectors stay in memory together",
    "log_multi": TREE,
    "ect": TREE,
    "filter_tree": TREE,
    "scoring_tree": LATENT,
    "active": "which labels it asks for depends on all that came before",
    "cbify": PLAYED,
    "cbify_ldf": PLAYED,
}
REFUSED = {
    "ftrl": "averages of its weights lose much",
    "sparse_l2": "it keeps a column of its own",
    "oaa_subsample": "the samples go round over all examples",
    "l1": "averages of sparse weights are not sparse ('vwlite l1' has another)",
    "group_l1": "averages of sparse weights are not sparse",
    "average": "a mean of the rounds' models is one already",
    "cost_offset max": "the highest cost that a shard has seen is not that of all; --cost_offset X is the same for all",
    "cover": "its policies learn what those before them have not chosen, by the number of decisions so far",
}


DIGITS = 32  # of the digest that ends a model file


def base_of(config: RunConfig, of: int, model: Restored | None = None) -> bytes:
    """The model that ``of`` shards begin with: ``model``, or one of these options before the first example.

    The same bytes each time. Raises UsageError for what shards cannot learn.
    """
    rule_of(config.learner, of)
    if config.features.weight != "none":
        raise UsageError("--weight is of all examples together, which no shard has")
    if config.features.mask_ids:
        raise UsageError("--mask-ids draws by the number of the pass, which shards do not have")
    if config.features.centred:
        raise UsageError("--centred does not go with shards: each would take other means from its features")
    if config.features.freeze:
        raise UsageError("--freeze does not go with shards: frozen weights would change in the mean of their models")
    if config.features.landmark_count:
        raise UsageError("shards need one file of --landmarks, and each would choose its own: see 'vwlite landmarks'")
    if config.features.finds_gamma:
        raise UsageError("shards need one --gamma for their --random_features, and each would find its own")
    parts = LearningParts(config, *begin_learner(config, model), model, BadLinesConfig(), Display())
    if config.features.landmarks:
        from vwlite.features.gamma import find_gamma  # which other bases need not

        find_gamma(parts.plan, ())
    return capture_bytes(lambda open_output: parts.writer.write_model("the base", open_output=open_output))


def first_base(header: JsonObject, of: int) -> bytes:
    """The base of a model that began with nothing. Raises ValueError for a damaged header."""
    learner = learner_class(header["learner"]).config_type.restore(header["config"], {})
    features = built(FeatureConfig, header["features"])
    return base_of(RunConfig(input=InputConfig(kind=header["kind"]), features=features, learner=learner), of)


def digest_of(base: bytes) -> str:
    """The digest at the end of a model's bytes."""
    return base[-DIGITS:].decode("ascii", "replace")


def check_run(run: RunConfig) -> None:
    """Raises UsageError for options that mean one pass of one learner over all data, in order."""
    input, output = run.input, run.output
    asked = {
        "--passes": run.passes > 1,
        "--cache": input.cache,
        f"--format {input.kind}": input.kind not in TEXTS,
        "--examples": input.examples,
        "--shuffle": input.shuffle,
        "--shuffle-first": input.shuffle_first,
        "--curriculum": run.curriculum.order,
        "--holdout_after": run.holdout.after,
        "--predictions": output.predictions,
        "--raw_predictions": output.raw_predictions,
        "--readable_model": output.readable_model,
        "--invert_hash": output.invert_hash,
        "--names": output.names,
        "--save_per_pass": output.save_per_pass,
        "--predict_only_model": output.predict_only_model,
    }
    for name, value in asked.items():
        if value:
            raise UsageError(f"{name} does not go with shards, each of which is learned apart, once a round: drop it")
