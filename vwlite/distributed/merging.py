"""One model of several files: the deltas of a round, or models that were made apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack

from vwlite.distributed.base import digest_of, first_base
from vwlite.distributed.delta import Delta, Snapshot, Task, load
from vwlite.distributed.merge import check, check_agreement, merge, merge_apart
from vwlite.distributed.rule import rule_of
from vwlite.distributed.task import UNCHANGED
from vwlite.errors import DataError, Diverged, ModelError, UsageError, VwliteError
from vwlite.learners.base import Learner
from vwlite.storage import model_file
from vwlite.storage.archive_reader import is_delta
from vwlite.storage.atomic_file import OpenOutput, atomic_output
from vwlite.storage.memory_file import readable
from vwlite.storage.model_file import Model
from vwlite.storage.table_codec import NotFinite
from vwlite.training.ledger import model_digest
from vwlite.training.model_header import stored
from vwlite.training.model_loader import restore

MIN_LINES = 1000  # as ``vwlite.data.malformed_lines`` has it


def merge_files(paths: Sequence[str], base: str | None = None, max_bad_ratio: float = 0.01) -> Model:
    """The model that files make together: all deltas of the shards of a round, or ordinary models.

    ``base``: the model that they began with; None: they began with nothing. Raises UsageError, InputMissing,
    ModelError for files that do not fit each other, DataError for too many malformed lines in all shards.
    """
    if not paths:
        raise UsageError("there is nothing to merge: name the deltas of a round, or models")
    deltas = [path for path in paths if is_delta(path)]
    if deltas and len(deltas) < len(paths):
        other = next(path for path in paths if path not in deltas)
        raise UsageError(f"{deltas[0]} is a delta and {other} is none: merge the deltas of a round, or models")
    if not deltas and len(paths) == 1 and base is None:
        raise UsageError("one model is merged already: name several")
    try:
        if deltas:
            return merge_deltas([load(path) for path in deltas], base, max_bad_ratio)
        return merge_models(paths, base)
    except VwliteError:
        raise
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # of numbers that no learner writes
        raise ModelError(f"{', '.join(paths)} cannot be merged: a file is damaged ({error})") from error


def merge_deltas(deltas: Sequence[Delta], base: str | None, max_bad_ratio: float = 0.01) -> Model:
    """The same of deltas at hand."""
    check_lines(deltas, max_bad_ratio)
    headers = [(f"shard {delta.task.number}", delta.header) for delta in deltas]
    check_agreement(headers)
    with ExitStack() as closing:
        if base is None:
            data = first_base(deltas[0].header, deltas[0].task.of)
            if digest_of(data) != deltas[0].task.base:
                raise ModelError("the deltas were learned from a model: name it with --base")
            base = closing.enter_context(readable(data, "the base"))
        digest = model_digest(base)
        check(digest, deltas)
        begun = base_of(base)
        check_agreement([("the base", begun.header), *headers])
        return merge(begun, digest, deltas)


def going_on(path: str) -> Learner:
    """The learner of a model's file, which could go on learning: what it holds is sound. Raises ModelError."""
    return restore(path, learning=True, vw_compat=False, **UNCHANGED).learner


def base_of(path: str) -> Model:
    """A model whose table is to be changed. Raises ModelError."""
    columns = going_on(path).columns
    model = model_file.load(path, grows=True)
    if model.arrays["weights"].names != columns:
        raise ModelError(f"{path} is damaged: its table has other columns than its options ask for")
    return model


def check_lines(deltas: Sequence[Delta], max_ratio: float) -> None:
    """Raises DataError where too many lines were malformed, or no example had a label."""
    lines, bad = sum(delta.task.lines for delta in deltas), sum(delta.task.bad for delta in deltas)
    if bad > max_ratio * lines:
        shown = next(line for delta in deltas for line in delta.task.shown)
        allowed = f"more than --max-bad-ratio {max_ratio:g} allows"
        raise DataError(f"{bad} of {lines} lines are malformed, {allowed}; the first: {shown}")
    if not any(delta.header["counters"]["labeled_weight"] for delta in deltas):
        raise DataError("there is no labelled example to learn from in any shard")


def merge_models(paths: Sequence[str], base: str | None) -> Model:
    """Of models made apart: the mean of what they changed, each weighted by its examples; see ``merge_apart``."""
    headers = [stored(path).header for path in paths]
    config = stored(paths[0]).config
    rule_of(config, 2)
    check_agreement(list(zip(paths, headers, strict=True)))
    learner = going_on(paths[0])  # before memory is taken for a base of its size
    with ExitStack() as closing:
        begun = base_of(base or closing.enter_context(readable(first_base(headers[0], 1), "the base")))
        check_agreement([("the base" if base is None else base, begun.header), *zip(paths, headers, strict=True)])
        before = Snapshot(begun.arrays["weights"].values, len(learner.columns))
        deltas = []
        for number, (path, header) in enumerate(zip(paths, headers, strict=True), 1):
            learner = learner if number == 1 else going_on(path)
            deltas.append(Delta(Task(number, len(paths), ""), header, *before.changes(learner.weights)))
    return merge_apart(begun, deltas, config)


def write(path: str | os.PathLike[str], model: Model, open_output: OpenOutput = atomic_output, announce=None) -> None:
    """Raises OutputError, Diverged for a model of which nothing good can come."""
    try:
        model_file.save(path, model.header, model.arrays, announce, check_finite=True, open_output=open_output)
    except NotFinite:
        raise Diverged("a number in the merged model is not finite, so it is not saved: try a smaller -l") from None
