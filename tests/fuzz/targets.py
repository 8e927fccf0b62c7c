"""What is fuzzed: functions of bytes that may refuse them, by an error of ``vwlite.errors``, and do nothing worse."""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import cache

import numpy as np

from fuzz import named, solvers
from fuzz.named import LINES as NAMED_LINES
from fuzz.named import learn_named, read_columns
from fuzz.sealing import sealed_cache, sealed_model
from vwlite.data import columns
from vwlite.data.batch import Batch, LabelVocabulary, tag_of
from vwlite.data.block_parser import Parser, number_lines
from vwlite.data.blocks import SLACK, Block
from vwlite.data.cache import Cache
from vwlite.data.class_labels import Classes, ListLabels
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.data.multiline import whole_groups, with_shared
from vwlite.data.shuffle import Rows
from vwlite.data.table_formats import TABLES, lay_out, look_at
from vwlite.data.text_format import TextFormat
from vwlite.errors import VwliteError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_names import term_names
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import MultilineConfig
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.gd import Gd
from vwlite.learners.multiline import Multiline
from vwlite.learners.row_results import Results
from vwlite.storage.model_file import learner_name_of
from vwlite.training.model_loader import restore
from vwlite.training.trainer import row_ranges

BITS = 10
OPTIONS = (  # the first byte of an input chooses
    FeatureConfig(bits=BITS),
    FeatureConfig(bits=BITS, quadratic=("::",), feature_limit=("3",)),
    FeatureConfig(bits=BITS, ngram=("3",), skips=("2",)),
    FeatureConfig(bits=BITS, affix="+2a,-3,+7b", spelling=("a", "_")),
    FeatureConfig(bits=BITS, interactions=("user,item", "ab"), hash="all"),
    FeatureConfig(bits=BITS, ignore=("a",), ignore_linear=("b",), redefine=("c:=d",), cubic=("bcd",)),
    FeatureConfig(bits=BITS, sort_features=True, permutations=True, quadratic=("aa",)),
    FeatureConfig(bits=BITS, dotproduct=("ab", "user,item")),
)
MAPPED = (
    FeatureConfig(bits=BITS, random_features="rbf:128", gamma=0.5, fold=64, quadratic=("::",), random_only=True),
    FeatureConfig(bits=BITS, random_features="poly2:64", random_of=("a",), random_only=True, ngram=("2",)),
    FeatureConfig(bits=BITS, random_features="arccos:64", random_of=("ab",), ignore_linear=("b",)),
)

COLUMNS_ASKED = (
    columns.read_columns(""),
    columns.read_columns("label=y? weight=w? tag=t? base=o? =a:words?,c:tokens? b=*"),
    columns.read_columns("label=y? tag=t? ignore=c a=a:number?,*:words"),
)


def learn(batch: Batch, features: FeatureConfig, strict: bool) -> None:
    """Once over the batch with a learner that suits the options."""
    pairs = len(features.dotproduct)
    if pairs:
        learner = Dyadic(DyadicConfig(pairs=pairs, rank=3), features.bits, vw_compat=not strict)
    else:
        learner = Gd(GdConfig(), features.bits, vw_compat=not strict)
    results, plan = Results(), Plan(features)
    results.reserve(len(batch))
    for begin, end in row_ranges(batch, plan):
        learner.run(batch, plan, results, begin, end)


def learn_groups(batch: Batch, features: FeatureConfig, strict: bool, learner: Multiline | None = None) -> None:
    """The same of groups of lines, in both ways to learn them."""
    if features.dotproduct:
        return
    results, plan = Results(), Plan(features)
    results.reserve(len(batch))
    options = ({"csoaa_ldf": "mc", "csoaa_rank": True}, {"wap_ldf": "m"}, {"csoaa_ldf": "m"})
    configs = [MultilineConfig(**one) for one in options]
    for one in [learner] if learner else [Multiline(config, features.bits, vw_compat=not strict) for config in configs]:
        batch.label = one.labels(None if strict else len).check(batch)
        for begin, end in row_ranges(batch, plan):
            one.run(batch, plan, results, begin, end)
            for raw in (True, False):
                one.group_lines(batch, results, begin, end, raw)


def in_groups(block: Block, features: FeatureConfig, format: TextFormat, kind: str) -> None:
    """The block in two pieces, so that groups cross from one to the other."""
    cut = block.data.find(b"\n", block.size // 2, block.size) + 1 or block.size
    ends = [cut] if cut == block.size else [cut, block.size]
    blocks = [
        Block(bytearray(block.data[start:end] + SLACK), end - start, "fuzz", start)
        for start, end in zip([0, *ends], ends, strict=False)
    ]
    for part in whole_groups(number_lines(map(Parser(format, kind), blocks)), format.skip_malformed):
        batch = BadLines(None, len, BadLinesConfig(max_ratio=1)).examine(part) if format.skip_malformed else part.batch
        for row in range(min(len(batch), 3)) if format.names else ():
            whole, at = with_shared(batch, row)
            term_names(whole, Plan(features), at)
        learn_groups(batch, features, format.skip_malformed)


def text(data: bytes, kind: str) -> None:
    """Parse, show what is malformed, name the terms, learn."""
    choice, data = (data[0], data[1:]) if data else (0, b"")
    features, strict, names = OPTIONS[choice % len(OPTIONS)], choice & 8 == 0, choice & 16 != 0
    if not data.endswith(b"\n"):
        data += b"\n"
    format = text_format(features, skip_malformed=strict, names=names)
    if choice & 32:
        format = format.of_words(lists=choice & 128 != 0)
    block = Block(bytearray(data + SLACK), len(data), "fuzz", 0)
    if choice & 64:
        return in_groups(block, features, format.of_words(True, True), kind)
    if kind in TABLES:
        asked = COLUMNS_ASKED[choice % len(COLUMNS_ASKED)]
        result, _ = look_at(kind, asked, "fuzz", lambda *_: data[:1000])
        (block,) = lay_out(iter([block]), kind, result, format)
    part = next(number_lines(map(Parser(format, kind), [block])))
    if strict:
        BadLines(None, len, BadLinesConfig(max_ratio=1)).examine(part)
    if choice & 160 == 160:
        for sets in (True, False):
            ListLabels(Classes(9), len, sets=sets).check(part.batch)
    elif choice & 32:
        LabelVocabulary().numbers(part.batch)
        any(tag_of(part.batch, row) for row in range(len(part.batch)))
    plan = Plan(features)
    for row in range(min(len(part.batch), 3)) if names else ():
        plan.see(part.batch.namespace_char.tolist())
        term_names(part.batch, plan, row)
    learn(part.batch, features, strict)


def read_vw(data: bytes) -> None:
    text(data, "vw")


def read_groups(data: bytes) -> None:
    """Groups of lines, whatever the first byte is."""
    text(bytes([data[0] | 64 if data else 64]) + data[1:], "vw")


def read_svmlight(data: bytes) -> None:
    text(data, "svmlight")


def read_csv(data: bytes) -> None:
    """Groups of lines are not made of tables."""
    text(bytes([data[0] & ~64]) + data[1:] if data else b"", "csv")


def read_jsonl(data: bytes) -> None:
    text(bytes([data[0] & ~64]) + data[1:] if data else b"", "jsonl")


def load_model(data: bytes) -> None:
    """As it is, to go on learning and to predict; one line through what was loaded."""
    path = in_memory("model", data)
    other = (named.LOADERS | solvers.LOADERS).get(learner_name_of(path))
    if other:
        return other(path, in_memory("text", NAMED_LINES))
    for learning in (True, False):
        model = restore(path, learning=learning, vw_compat=False, learner_changes={}, feature_changes={})
        format = text_format(model.features, skip_malformed=True)
        block = Block(bytearray(LINES + SLACK), len(LINES), "", 0)
        if model.learner.config.multiline:
            for part in whole_groups(iter([Parser(format.of_words(True, True), "vw")(block)]), True):
                learn_groups(part.batch, model.features, True, model.learner)
            continue
        part = Parser(format, "vw")(block)
        results = Results()
        results.reserve(len(part.batch))
        batch = model.plan.extend(part.batch)
        for begin, end in row_ranges(batch, model.plan):
            model.learner.run(batch, model.plan, results, begin, end)


def learn_sequences(data: bytes) -> None:
    learn_named(data, in_memory("text", data[1:]))


def cut_graph(data: bytes) -> None:
    solvers.read_graph(in_memory("text", data), data)


def read_plain_text(data: bytes) -> None:
    solvers.read_plain_text(in_memory("text", data))


def use_landmarks(data: bytes) -> None:
    """A choice, landmarks, a zero byte, and examples."""
    landmarks, _, text = data[1:].partition(b"\0")
    solvers.use_landmarks(in_memory("landmarks", landmarks), in_memory("text", text), data[0] if data else 0)


def load_cache(data: bytes) -> None:
    """All batches, in order and shuffled."""
    with closing(Cache(in_memory("cache", data))) as loaded:
        for batch in loaded.read():
            batch.release()
        batches = loaded.whole()
    for batch in batches:
        learn(batch, OPTIONS[0], True)
        learn(batch, OPTIONS[1], True)
        for mapped in MAPPED:
            learn(batch, mapped, True)
        learn_groups(batch, OPTIONS[1], False)
    rows = Rows(batches)
    if len(rows):
        rows.take(np.arange(len(rows))[::-1].copy())


def load_sealed_model(data: bytes) -> None:
    """The same with checksums put in order, so that what they would have caught gets further."""
    load_model(sealed_model(data))


def load_sealed_cache(data: bytes) -> None:
    load_cache(sealed_cache(data))


LINES = b"1 |user a b:2 |item c\n-1 |a x |b y\n"
TARGETS: dict[str, Callable[[bytes], None]] = {
    "vw": read_vw,
    "groups": read_groups,
    "sequences": learn_sequences,
    "svmlight": read_svmlight,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "model": load_model,
    "cache": load_cache,
    "columns": read_columns,
    "graph": cut_graph,
    "landmarks": use_landmarks,
    "plain": read_plain_text,
    "sealed_model": load_sealed_model,
    "sealed_cache": load_sealed_cache,
}


@cache
def folder() -> str:
    return tempfile.mkdtemp(prefix="vwlite-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)


def in_memory(name: str, data: bytes) -> str:
    path = os.path.join(folder(), name)
    with open(path, "wb") as file:
        file.write(data)
    return path


class Unraisable(Exception):
    """An exception in a kernel that has no way to pass it on."""


def attempt(name: str, data: bytes) -> str:
    """Give ``data`` to a target: "" or the name of the error that refused it. Any other exception is a find."""
    lost: list[str] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda told: lost.append(f"{told.object}: {told.exc_value!r}")
    try:
        with np.errstate(all="ignore"):
            TARGETS[name](data)
    except VwliteError as error:
        return type(error).__name__
    finally:
        sys.unraisablehook = before
        if lost:
            raise Unraisable(lost[0])
    return ""
