"""The metrics of ``vwlite evaluate``: their names, what they are and which models have them.

The command line, its help, docs/evaluating.md and ``vwlite tune`` go by this table; what computes them stands in
``vwlite/evaluation/metrics.py``, ``class_metrics.py``, ``ranking_metrics.py`` and in
``vwlite/solvers/loglinear/tagger.py``. Nothing heavy is imported here. Reports of metrics are formatted below it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from vwlite.config_check import JsonObject
from vwlite.errors import UsageError, laid_out
from vwlite.options import not_one_of

# Of what is predicted. Each of the first four has what those before it have.
NUMBERS, ORDER, SIDES, PROBABILITIES = "numbers", "order", "sides", "probabilities"
LADDER = (NUMBERS, ORDER, SIDES, PROBABILITIES)
LEVELS = "levels"  # which have what NUMBERS have, too
QUERIES, CLASSES, COSTS, LINES = "queries", "classes", "costs", "lines"
DISTRIBUTIONS = "distributions"  # which have what CLASSES have, too
TWO_CLASSES = "two classes"  # which have what CLASSES have, too, if each has a score
OUTPUTS = "outputs"
SETS, NAMES, SEQUENCES, CLUSTERS = "sets", "names", "sequences", "clusters"
MEASURED = {  # what the help and docs/evaluating.md list metrics by
    NUMBERS: "numbers",
    ORDER: "numbers, by their order, where labels are -1 and 1 or 0 and 1",
    SIDES: "two classes",
    PROBABILITIES: "probabilities",
    LEVELS: "levels (`--levels`), beside what numbers have; the other metrics are of the levels",
    OUTPUTS: "several outputs (`--outputs`): means over the outputs",
    CLASSES: "classes",
    TWO_CLASSES: "two classes, by the score of the second less that of the first",
    DISTRIBUTIONS: "classes with latent vectors: the absolute error of the median, squared of the mean",
    SETS: "sets of labels",
    COSTS: "costs",
    SEQUENCES: "sequences",
    CLUSTERS: "clusters",
    QUERIES: "queries",
}
MAX_UNASKED_CLASSES = 10  # of more, tables of classes are reported only where they are asked for


class Metric(NamedTuple):
    """One row of the table."""

    name: str
    of: tuple[str, ...]  # which models have it
    about: str
    asked: bool = False  # it is reported only where it is named
    larger: bool | None = None  # whether more is better; None: it says nothing of that
    unasked: str = ""  # reported unasked only where a model has the metrics of this kind; "": of its own


EVERY_CLASS = (CLASSES, NAMES, SEQUENCES)
UNASKED = f"unasked up to {MAX_UNASKED_CLASSES} classes"
TABLE = (
    Metric(
        "loss",
        (NUMBERS, OUTPUTS, COSTS, LINES, SETS),
        "average loss of the model's own loss function; cost above the best",
        larger=False,
    ),
    Metric(
        "matching_loss",
        (NUMBERS,),
        "the loss that matches the model's link: half the squared error, relative entropy of probabilities and counts",
        asked=True,
        larger=False,
    ),
    Metric("best_constant_loss", (NUMBERS,), "the same loss of always predicting the best constant"),
    Metric(
        "accuracy",
        (SIDES, SETS, LEVELS, *EVERY_CLASS),
        "share of right answers: the right side of 0.5 (probabilities) or 0 (margins); the class; the whole set",
        larger=True,
    ),
    Metric(
        "majority_accuracy", (SIDES, *EVERY_CLASS), "accuracy of always giving the answer that is right most often"
    ),
    Metric("precision", (SIDES,), "share of the rows predicted positive that are", larger=True),
    Metric("recall", (SIDES,), "share of the positive rows that are predicted so", larger=True),
    Metric("f1", (SIDES,), "harmonic mean of precision and recall", larger=True),
    Metric("macro_precision", EVERY_CLASS, "mean precision of the classes that labels or answers name", larger=True),
    Metric("macro_recall", EVERY_CLASS, "their mean recall", larger=True),
    Metric("macro_f1", (*EVERY_CLASS, SETS), "their mean F1", larger=True),
    Metric("hamming_loss", (SETS,), "share of the labels that are wrongly there or wrongly absent", larger=False),
    Metric("hamming", (SETS,), "the same", asked=True, larger=False),
    Metric("subset_accuracy", (SETS,), "share of the sets that are right as a whole: the accuracy", True, larger=True),
    Metric("jaccard", (SETS,), "mean share of a row's labels, predicted or right, that are both", larger=True),
    Metric("samples_f1", (SETS,), "mean F1 of the rows' sets", larger=True),
    Metric("micro_precision", (SETS,), "share of the labels predicted that are right", larger=True),
    Metric("micro_recall", (SETS,), "share of the right labels that are predicted", larger=True),
    Metric("micro_f1", (SETS,), "harmonic mean of the two", larger=True),
    Metric(
        "auc",
        (ORDER, TWO_CLASSES),
        "area under the ROC curve, by sums before clip and link; a tie counts half",
        larger=True,
    ),
    Metric("auc_loss", (ORDER, TWO_CLASSES), "1 - auc", asked=True, larger=False),
    Metric(
        "pr_auc",
        (ORDER, TWO_CLASSES),
        "area under the precision-recall curve: average precision, by the same",
        larger=True,
    ),
    Metric(
        "log_loss",
        (PROBABILITIES, CLASSES, LINES, NAMES, SEQUENCES),
        "negative log-likelihood: of probabilities clipped to [2^-23, 1 - 2^-23]; of classes; of a sequence",
        larger=False,
    ),
    Metric("best_constant_log_loss", (SIDES,), "log loss of always predicting the base rate"),
    Metric(
        "mse",
        (NUMBERS, OUTPUTS, DISTRIBUTIONS),
        "mean squared error (of probabilities: the Brier score)",
        larger=False,
    ),
    Metric("rmse", (NUMBERS, OUTPUTS, DISTRIBUTIONS), "root of the mean squared error", larger=False),
    Metric("mae", (NUMBERS, OUTPUTS, DISTRIBUTIONS), "mean absolute error", larger=False),
    Metric("rmse_raw", (LEVELS,), "rmse of the numbers before they were levels", larger=False),
    Metric("mae_raw", (LEVELS,), "mae of these", larger=False),
    Metric("r2", (NUMBERS, OUTPUTS), "share of the labels' variance explained, 1 - mse / variance", larger=True),
    Metric("mean_label", (NUMBERS,), "mean label (the base rate when labels are 0 and 1)"),
    Metric("mean_prediction", (NUMBERS,), "mean prediction"),
    Metric("calibration", (PROBABILITIES,), "mean prediction / base rate; above 1 predicts too much"),
    Metric(
        "calibration_bins",
        (NUMBERS, DISTRIBUTIONS),
        "mean prediction and mean label (of probabilities: the observed rate) in 10 bins of equal weight",
        unasked=PROBABILITIES,
    ),
    Metric(
        "ece",
        (NUMBERS, DISTRIBUTIONS),
        "expected calibration error: mean distance of the two in these bins; of classes the mean over them",
        True,
        larger=False,
    ),
    Metric("outputs", (OUTPUTS,), "weight, loss, mse, rmse, mae and r2 of each output"),
    Metric("per_class", EVERY_CLASS, f"precision, recall, F1 and weight of each class; {UNASKED}"),
    Metric("confusion_matrix", (SIDES, LEVELS, *EVERY_CLASS), f"weight by label and answer; {UNASKED}"),
    Metric("conll", (SEQUENCES,), "precision, recall and F1 of phrases in percent, where labels mark any (--scheme)"),
    Metric(
        "nmi",
        (CLUSTERS,),
        "normalised mutual information of labels and clusters: 0 where they are independent, at most 1",
        larger=True,
    ),
    Metric("purity", (CLUSTERS,), "share of the weight that has the most frequent label of its cluster", larger=True),
    Metric("adjusted_rand", (CLUSTERS,), "pairs that both put together, less what chance gives", larger=True),
    Metric("mean_squared_distance", (CLUSTERS,), "from the nearest mean", larger=False),
    Metric("map", (QUERIES,), "mean average precision of queries; labels above 0 are relevant", larger=True),
    Metric("ndcg", (QUERIES,), "NDCG of queries, mean over all positions", larger=True),
    Metric("ndcg@K", (QUERIES,), "NDCG at position K", larger=True),
    Metric("mrr", (QUERIES,), "mean reciprocal rank: 1 / position of the first relevant example", larger=True),
    Metric(
        "p@K",
        (QUERIES, CLASSES, SETS),
        "precision at K: relevant examples, or right classes, among the first K, divided by K",
        asked=True,
        larger=True,
    ),
    Metric(
        "recall@K",
        (QUERIES, CLASSES, SETS),
        "share of the relevant examples, or of the right classes, that are among the first K",
        asked=True,
        larger=True,
    ),
    Metric("hr@K", (QUERIES,), "share of queries with a relevant example among the first K", larger=True),
    Metric("err@K", (QUERIES,), "expected reciprocal rank of the first K, grades up to the largest label", larger=True),
    Metric("gauc", (QUERIES,), "auc of each query with both kinds, weighted by its examples", larger=True),
)
BY_NAME = {metric.name: metric for metric in TABLE}


def names_of(*kinds: str) -> tuple[str, ...]:
    """The names of the metrics that models of one of these kinds have."""
    return tuple(metric.name for metric in TABLE if {*kinds} & {*metric.of})


ELSEWHERE = {"roc_auc": "auc", "average_precision": "pr_auc"}  # names of scikit-learn that are unlike ours


def unknown(name: str) -> str:
    """That there is no such metric for models of numbers, which there are, and which may be meant."""
    instead = f" (did you mean {ELSEWHERE[name]}?)" if name in ELSEWHERE else ""
    return f"metric {not_one_of(name, names_of(*LADDER, QUERIES), instead)}"


def canonical_name(name: str) -> str:
    """A name as the table has it, however it was typed: case does not matter, and ``-`` is ``_``."""
    return name.strip().lower().replace("-", "_")


def metrics_of_list(typed: str | None) -> list[str] | None:
    """The names of a list like ``AUC,Log-Loss``, each once; None without one."""
    return list(dict.fromkeys(map(canonical_name, typed.split(",")))) if typed else None


def row_of(name: str) -> Metric | None:
    """Find the row of a metric; that of ``ndcg@K`` stands for every K."""
    return BY_NAME.get(re.sub(r"@[1-9][0-9]{0,8}$", "@K", name))


Refuse = Callable[[str], None] | None  # is called with the sentence why a metric that was named is not there


def omit(names: Iterable[str], refusals: Mapping[str, str], refuse: Refuse) -> list[str]:
    """The names but for those that cannot be computed, for which ``refusals`` has a sentence that ``refuse`` takes.

    Raises UsageError with the sentence where there is no such metric, and without ``refuse``.
    """
    for name, sentence in refusals.items():
        if refuse is None or row_of(name) is None:
            raise UsageError(sentence)
    if refuse:
        for sentence in refusals.values():
            refuse(sentence)
    return [name for name in names if name not in refusals]


def choose(
    report: JsonObject,
    offered: Iterable[str],
    names: Iterable[str] | None,
    reasons: Mapping[str, str] = MappingProxyType({}),
    refuse: Refuse = None,
) -> JsonObject:
    """The metrics in ``names``, or all of a report, in the order ``offered``.

    Those that are not there are left out, or UsageError is raised, as ``omit`` has it; the sentence lists what is
    offered but for metrics that are not there for a reason.
    """
    if names is None:
        return {name: report[name] for name in offered if name in report}
    names, refusals = list(names), {}
    has = ", ".join(name for name in offered if not reasons.get(name))
    for name in names:
        if name not in report:
            row = row_of(name)
            reason = reasons.get(row.name) if row else ""
            refusals[name] = f"--metric {name}: a model of this kind has {has}{f'; {reason}' if reason else ''}"
    return {name: report[name] for name in omit(names, refusals, refuse)}


def choose_names(
    names: Iterable[str] | None,
    computed: Collection[str],
    kinds: tuple[str, str],
    untold: Collection[str],
    refuse: Refuse,
) -> list[str]:
    """The ``names`` of metrics that predictions have; None: all but ``untold`` that are reported unasked.

    ``computed``: those of predictions of numbers. ``kinds``: how far up the ladder metrics go, unasked and where they
    are named. Raises UsageError, and calls ``refuse``, as ``omit``.
    """
    unasked, asked = kinds
    if names is None:
        has = LADDER[: LADDER.index(unasked) + 1]
        rows = (BY_NAME[name] for name in names_of(*has))
        offered = (row.name for row in rows if not row.asked and row.unasked in ("", *has))
        return [name for name in offered if name not in untold]
    chosen, has, refusals = list(names), names_of(*LADDER[: LADDER.index(asked) + 1]), {}
    for name in chosen:
        if name not in computed:
            refusals[name] = unknown(name)
        elif name not in has:
            needed = [] if asked == SIDES else ["binary labels, -1 and 1 or 0 and 1"]
            if PROBABILITIES in BY_NAME[name].of:
                needed.append("probabilities, those of a model of --loss_function logistic")
            refusals[name] = f"metric {name!r} needs {' and '.join(needed)}; there are {', '.join(has)}"
    return omit(chosen, refusals, refuse)


def sections() -> dict[str, list[tuple[str, str]]]:
    """The sections of the help: names and descriptions of metrics; those described before are only named again."""
    listed: dict[str, list[tuple[str, str]]] = {}
    shown: set[str] = set()
    for kind, what in MEASURED.items():
        here = [metric for metric in TABLE if kind in metric.of]
        listed[what] = [(metric.name, metric.about) for metric in here if metric.name not in shown]
        if again := [metric.name for metric in here if metric.name in shown]:
            listed[what].append((", ".join(again), "as above"))
        shown |= {metric.name for metric in here}
    return listed


SERIES = "series"  # points of a curve, which tables leave out


def as_table(report: JsonObject) -> str:
    """``report`` for the terminal: ``name  value`` lines, then tables with their headings.

    A value that does not exist prints as ``n.a.``. No newline at the end.
    """
    single = {name: value for name, value in report.items() if not isinstance(value, list | dict)}
    lines = _align([(name, _cell(value)) for name, value in single.items()])
    for name, value in report.items():
        if isinstance(value, dict):
            body = [("", *value["classes"])]
            body += [(label, *map(_cell, row)) for label, row in zip(value["classes"], value["weight"], strict=True)]
            lines += ["", f"{name} (a row a label, a column an answer)", *_align(body)]
        elif isinstance(value, list) and value and name != SERIES:
            body = [tuple(value[0]), *(tuple(map(_cell, row.values())) for row in value)]
            lines += ["", name, *_align(body)]
    return laid_out("\n".join(lines))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        digits = 10 if abs(value) >= 1e5 else 6
        return f"{value:.{digits}g}" if math.isfinite(value) else "n.a."
    return "n.a." if value is None else str(value)


def _align(rows: list[tuple[str, ...]]) -> list[str]:
    """First column left in a two-column list, everything else right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first = str.ljust if len(widths) == 2 else str.rjust
    return [
        "  ".join((first if not i else str.rjust)(text, widths[i]) for i, text in enumerate(row))
        for row in rows
    ]


def as_json(report: JsonObject) -> str:
    """``report`` as JSON in its own key order; numbers that are not finite become ``null``."""
    return json.dumps(to_finite(report), indent=2, allow_nan=False)


def to_finite(value: Any) -> Any:
    """``value`` with plain numbers only and ``None`` for those not finite, recursively."""
    import numpy as np  # which the table is read without

    if isinstance(value, dict):
        return {key: to_finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
