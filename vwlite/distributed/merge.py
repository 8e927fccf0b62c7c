"""One model of the deltas of all shards, merged in the order of the shards."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from vwlite._native import merge_rows
from vwlite.config_check import JsonObject
from vwlite.distributed.delta import (
    Delta,
    Snapshot,
    Task,
    has_units,
    in_units_of_all,
    joined,
    known_slots,
    load,
    part,
    places_of,
    pool_label_sums,
    slots_between,
    sums_of,
)
from vwlite.distributed.plan import Rule, digest_of, first_base, rule_of
from vwlite.distributed.task import UNCHANGED
from vwlite.errors import DataError, Diverged, ModelError, UsageError, VwliteError
from vwlite.learners import learner_class
from vwlite.learners.base import Learner, plain
from vwlite.storage import model_file
from vwlite.storage.archive_reader import is_delta
from vwlite.storage.atomic_file import OpenOutput, as_path, atomic_output
from vwlite.storage.model_file import Model, NotFinite
from vwlite.storage.ordered_pool import in_order
from vwlite.training.ledger import model_digest
from vwlite.training.model_header import read_stored
from vwlite.training.model_loader import restore
from vwlite.version import __version__

MERGED = 1 << 20  # slots that a thread merges at a time
NORMS = ("norm_sum", "norm_weight")
SUMMED = frozenset({
    *NORMS, *(f"regressor_{name}" for name in NORMS), "time", "held_weight", "unlabeled_weight",
    "events", "actions", "learned", "seen",
})  # fmt: skip
POLICY = re.compile(r"_\d+$")  # ends the names of scalars of its own that a policy has
SETTLED = {"gravity": 0.0, "contraction": 1.0}  # every shard has applied its shrinkage
LABELS = ("first_label", "second_label")  # not summed as the other counters are
RESULTS = (  # of a run of ``vwlite crr``, beside its options
    "steps", "seed", "average_after", "examples", "queries", "pairs", "scale", "offset", "weights",
)  # fmt: skip


def check(base: str, deltas: Sequence[Delta]) -> None:
    """Raises ModelError where these are not all shards, each once, of a round that began with the model ``base``."""
    of = deltas[0].task.of
    for delta in deltas:
        task = delta.task
        name = f"the delta of shard {task.number}"
        if task.writer != __version__:
            raise ModelError(f"{name} was made by vwlite {task.writer}, this is {__version__}: use one version")
        if task.of != of:
            raise ModelError(f"{name} is one of {task.of}, others are of {of}")
        if task.base != base:
            raise ModelError(f"{name} was learned from another base")
    numbers = [delta.task.number for delta in deltas]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    missing = sorted({*range(1, of + 1)} - {*numbers})
    for shards, what in ((twice, "given twice"), (missing, "missing")):
        if shards:
            single = len(shards) == 1
            listed = " and ".join(filter(None, [", ".join(map(str, shards[:-1])), str(shards[-1])]))
            raise ModelError(f"shard{'' if single else 's'} {listed} of {of} {'is' if single else 'are'} {what}")


def merge(base: Model, digest: str, deltas: Sequence[Delta]) -> Model:
    """The model that a round makes of ``base``, whose table it changes. ``digest``: that of the base's file.

    For slots, with base w0, G0, N0 and shards' w_k, G_k, N_k of S, T of which know the slot:
    w = w0 + sum (w_k - w0) / (S^(1-p) T^p), G = G0 + sum (G_k - G0 / S), N = max N_k; sums are of double precision.
    Where labels are in units of their spread, w_k is in units of that of all shards.
    Raises ModelError as ``check``, UsageError for a learner whose models do not average.
    """
    deltas = sorted(deltas, key=lambda delta: delta.task.number)
    check(digest, deltas)
    config = learner_class(base.header["learner"]).config_type.restore(base.header["config"], {})
    rule = rule_of(config, len(deltas))
    values, names, *_ = joined(base.arrays)
    if any(len(delta.columns) != len(names) for delta in deltas):
        raise ModelError("the deltas have other columns than their base")
    header = deltas[0].header
    if len(deltas) == 1:
        for column, changed in enumerate(deltas[0].columns):
            values[deltas[0].slots, column] = changed
    else:
        deltas = in_units_of_all(base.header, deltas, config)
        if rule.split:
            merge_split(values, deltas, rule)
        else:
            merge_means(values, deltas, [examples_between(base.header, delta.header) for delta in deltas])
        header = merged_header(base.header, [delta.header for delta in deltas], config)
    part(values, base.arrays)
    return base._replace(header=header)


def check_agreement(models: Sequence[tuple[str, JsonObject]]) -> None:
    """Raises ModelError where the headers of models, each with its file's name, are of other options."""
    (first_path, first), *others = models
    for path, header in others:
        for name in ("learner", "features", "config", "kind", "crr"):
            if name in header.keys() & first.keys() and header[name] != first[name]:
                option = first_difference(first, header, name)
                raise ModelError(f"{path} and {first_path} were made with other options ({option})")
    for path, header in models:
        if not header["resumable"]:
            raise ModelError(f"{path} cannot be merged: it was saved with --predict_only_model")
        if header["names"]:
            raise ModelError(f"{path} cannot be merged: it keeps the names of features (--names)")


def first_difference(left: JsonObject, right: JsonObject, name: str) -> str:
    """Names the first option that differs in the member ``name`` of two headers."""
    if not isinstance(left.get(name), dict) or not isinstance(right.get(name), dict):
        return name
    return next(key for key in {**left[name], **right[name]} if left[name].get(key) != right[name].get(key))


def merge_apart(base: Model, deltas: Sequence[Delta], config: Any) -> Model:
    """Models that went on from ``base``, whose table is changed, each by itself.

    w = w0 + sum n_k (w_k - w0) / sum n_k over those that changed the slot, n_k being the examples that a model learned;
    G = G0 + sum (G_k - G0), N = max N_k.
    """
    deltas = in_units_of_all(base.header, deltas, config)
    values, names, *_ = joined(base.arrays)
    weights = [examples_learned(base.header, delta.header) for delta in deltas]
    slots, columns = known_slots(deltas), len(names)
    before = values[slots, :columns].astype(np.float64)
    change, mass, after = np.zeros(len(slots)), np.zeros(len(slots)), before.copy()
    for delta, weight in zip(deltas, weights, strict=True):
        at = places_of(slots, delta.slots)
        change[at] += weight * (delta.columns[0] - before[at, 0])
        mass[at] += weight
        if columns > 1:
            after[at, 1] += delta.columns[1] - before[at, 1]
            after[at, 2] = np.maximum(after[at, 2], delta.columns[2])
    values[slots, 0] = before[:, 0] + np.divide(change, mass, out=np.zeros(len(slots)), where=mass > 0)
    values[slots, 1:columns] = after[:, 1:]
    part(values, base.arrays)
    header = merged_header(base.header, [delta.header for delta in deltas], config)
    header["passes"] = max(delta.header["passes"] for delta in deltas)
    header.pop("crr", None)
    return base._replace(header=header)


def examples_between(base: Mapping[str, Any], end: Mapping[str, Any]) -> float:
    """The weight of the examples that a shard has learned."""
    return float(end["counters"]["labeled_weight"] - base["counters"]["labeled_weight"])


def examples_learned(base: Mapping[str, Any], end: Mapping[str, Any]) -> float:
    """The same of a model; of one of ``vwlite crr`` the number of those that its steps were drawn from."""
    return float(end["counters"]["example_number"]) if "crr" in end else examples_between(base, end)


def merge_split(values: np.ndarray, deltas: Sequence[Delta], rule: Rule) -> None:
    divisor = rule.divisor(np.arange(len(deltas) + 1, dtype=np.float64))

    def merge_range(begin: int) -> None:
        parts = [slots_between(delta.slots, begin, begin + MERGED) for delta in deltas]
        slots = [delta.slots[part] for delta, part in zip(deltas, parts, strict=True)]
        columns = [[column[part] for column in delta.columns] for delta, part in zip(deltas, parts, strict=True)]
        merge_rows.merge_split(values, slots, columns, divisor)

    list(in_order(iter(range(0, len(values), MERGED)), merge_range, int(len(values) > MERGED)))


def merge_means(values: np.ndarray, deltas: Sequence[Delta], weights: Sequence[float]) -> None:
    """The first column averaged, each shard weighted; of the others the largest."""
    slots, columns = known_slots(deltas), len(deltas[0].columns)
    before = values[slots, :columns].astype(np.float64)
    change, largest = np.zeros(len(slots)), before[:, 1:].copy()
    for delta, weight in zip(deltas, weights, strict=True):
        at = places_of(slots, delta.slots)
        change[at] += weight * (delta.columns[0] - before[at, 0])
        for column, changed in enumerate(delta.columns[1:]):
            largest[at, column] = np.maximum(largest[at, column], changed)
    values[slots, 0] = before[:, 0] + change / (sum(weights) or 1)
    values[slots, 1:columns] = largest


def merged_header(base: JsonObject, ends: list[JsonObject], config: Any) -> JsonObject:
    """Everything counted once: what the base had, and what each shard has added to it."""
    merged = {
        **ends[-1],
        "scalars": merged_scalars(base, ends, config),
        "counters": merged_counts(base["counters"], [end["counters"] for end in ends]),
        "negative_label": common_value("labels of the negative class", [end["negative_label"] for end in ends], None),
        "seen": sorted({path for end in ends for path in end["seen"]}),
    }
    if "norms" in base:
        norms = sum_values(np.array(base["norms"]), [np.array(end["norms"]) for end in ends])
        merged["norms"] = [[*row[:2], rate_factor(row[0], row[1], config)] for row in norms.tolist()]
    if "label_order" in base:
        of = base["label_order"]
        merged["label_order"] = {
            **ends[-1]["label_order"],
            "rows": sum_values(of["rows"], [end["label_order"]["rows"] for end in ends]),
            "counts": sum_values(
                np.array(of["counts"]), [np.array(end["label_order"]["counts"]) for end in ends]
            ).tolist(),
        }
    return merged


def sum_values(base: Any, ends: list[Any]) -> Any:
    total = base
    for end in ends:
        total = total + (end - base)
    return total


def rate_factor(norm_sum: float, norm_weight: float, config: Any) -> float:
    """The factor common to all rates, as the kernel computes it; 1 before the first update."""
    if not (norm_sum and norm_weight):
        return 1.0
    power = config.power_t - 1 if config.modes[0] or config.power_t != 0.5 else -1.0
    return float(np.float32((norm_sum / norm_weight) ** power))


def merged_scalars(base: JsonObject, ends: list[JsonObject], config: Any) -> JsonObject:
    start = {name: float(value) for name, value in base["scalars"].items()}
    labels = pool_label_sums(sums_of(base), [sums_of(end) for end in ends]) if has_units(base) else {}
    with_labels = [end for end in ends if not labels or end["scalars"]["label_count"]] or ends  # others know no range
    scalars = {name: [float(end["scalars"][name]) for end in ends] for name in start}
    decided = [end for end in ends if end["scalars"].get("learned") or end["scalars"].get("events")]
    merged = {}
    for name, values in scalars.items():
        kind = POLICY.sub("", name)
        if name in labels:
            merged[name] = labels[name]
        elif kind in SUMMED:
            merged[name] = sum_values(start[name], values)
        elif name in SETTLED:
            merged[name] = SETTLED[name]
        elif name in ("min_label", "max_label"):
            merged[name] = (min if name == "min_label" else max)(float(end["scalars"][name]) for end in with_labels)
        elif name == "highest_cost":
            merged[name] = max((float(end["scalars"][name]) for end in decided), default=start[name])
        elif name == "rate":
            merged[name] = decay_rate(start[name], config.decay_learning_rate)
        elif not kind.endswith("multiplier"):
            merged[name] = common_value(f"values of {name}", values, start[name])
    for name in start.keys() - merged.keys():
        merged[name] = rate_factor(*(merged[name.replace("multiplier", norm)] for norm in NORMS), config)
    return {name: plain(merged[name]) for name in start}


def decay_rate(rate: float, decay: float) -> float:
    """Decay the rate as at the end of a pass."""
    return rate if decay == 1 else float(np.float32(rate) * np.float32(decay))


def common_value(what: str, values: list[Any], unset: Any) -> Any:
    """The one value other than ``unset``. Raises UsageError where there are several."""
    known = {value for value in values if value != unset}
    if len(known) > 1:
        raise UsageError(f"the shards have learned different {what}: {' and '.join(map(str, sorted(known)))}")
    return known.pop() if known else unset


def merged_counts(base: JsonObject, ends: list[JsonObject]) -> JsonObject:
    counts = {name: base[name] for name in base}
    for name, start in base.items():
        if name not in (*LABELS, "more_labels"):
            counts[name] = sum_values(start, [end[name] for end in ends])
            if isinstance(counts[name], float) and not math.isfinite(counts[name]):
                raise ModelError(f"the counter {name} is beyond all numbers")
    counts["more_labels"] = max([base["more_labels"], *(end["more_labels"] for end in ends)])
    labels = [end[name] for end in (base, *ends) for name in LABELS if end[name] is not None]
    different = list(dict.fromkeys(labels))
    counts.update(zip(LABELS, [*different, None, None], strict=False))
    if len(different) > 2:
        counts["more_labels"] = 1
    return counts


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
            base = closing.enter_context(as_path(data, "the base"))
        digest = model_digest(base)
        check(digest, deltas)
        begun = base_of(base)
        check_agreement([("the base", begun.header), *headers])
        return merge(begun, digest, deltas)


def restored_learner(path: str) -> Learner:
    """The learner of a model's file, which could go on learning: what it holds is sound. Raises ModelError."""
    return restore(path, learning=True, vw_compat=False, **UNCHANGED).learner


def base_of(path: str) -> Model:
    """A model whose table is to be changed. Raises ModelError."""
    learner = restored_learner(path)
    model = model_file.load(path, grows=True)
    if joined(model.arrays).names != joined(learner.tables(False)).names:
        raise ModelError(f"{path} is damaged: its table has other columns than its options ask for")
    return model


def check_lines(deltas: Sequence[Delta], max_ratio: float) -> None:
    """Raises DataError where too many lines were malformed, or no example had a label."""
    lines, bad = sum(delta.task.lines for delta in deltas), sum(delta.task.bad for delta in deltas)
    if bad > max_ratio * lines:
        first_line = next(line for delta in deltas for line in delta.task.shown)
        allowed = f"more than --max-bad-ratio {max_ratio:g} allows"
        raise DataError(f"{bad} of {lines} lines are malformed, {allowed}; the first: {first_line}")
    if not any(delta.header["counters"]["labeled_weight"] for delta in deltas):
        raise DataError("there is no labelled example to learn from in any shard")


def without_results(path: str, header: JsonObject) -> JsonObject:
    """A header that has of its run of ``vwlite crr``, if any, the options alone. Raises UsageError for sparse weights.
    """
    record = header.get("crr", {})
    if "l1" in header or "l1" in record:
        raise UsageError(f"{path} cannot be merged: averages of sparse weights are not sparse")
    options = {name: value for name, value in record.items() if name not in RESULTS}
    return {**header, "crr": options} if record else header


def merge_models(paths: Sequence[str], base: str | None) -> Model:
    """The model of ordinary models, whose changes are averaged as in ``merge_apart``."""
    headers = [without_results(path, read_stored(path).header) for path in paths]
    config = read_stored(paths[0]).config
    rule_of(config, 2)
    check_agreement(list(zip(paths, headers, strict=True)))
    learner = restored_learner(paths[0])  # before memory is taken for a base of its size
    with ExitStack() as closing:
        begun = base_of(base or closing.enter_context(as_path(first_base(headers[0], 1), "the base")))
        name = base or "the base"
        begun = begun._replace(
            header=without_results(name, begun.header),
            arrays={key: array for key, array in begun.arrays.items() if not key.startswith("crr_")},
        )
        check_agreement([(name, begun.header), *zip(paths, headers, strict=True)])
        before = Snapshot(joined(begun.arrays))
        deltas = []
        for number, (path, header) in enumerate(zip(paths, headers, strict=True), 1):
            learner = learner if number == 1 else restored_learner(path)
            changes = before.changes(joined(learner.tables(False)).values)
            deltas.append(Delta(Task(number, len(paths), ""), header, *changes))
    return merge_apart(begun, deltas, config)


def write(path: str | os.PathLike[str], model: Model, open_output: OpenOutput = atomic_output, announce=None) -> None:
    """Raises OutputError, Diverged for a model of which nothing good can come."""
    try:
        model_file.save(path, model.header, model.arrays, announce, check_finite=True, open_output=open_output)
    except NotFinite:
        raise Diverged("a number in the merged model is not finite, so it is not saved: try a smaller -l") from None
