"""The metrics of ``vwlite evaluate``: their names, what they are and which models have them.

The command line, its help, docs/evaluating.md and ``vwlite tune`` go by this table; what computes them stands in
``vwlite/evaluation/metrics.py``, ``class_metrics.py``, ``ranking_metrics.py`` and in
``vwlite/solvers/loglinear/tagger.py``. Nothing heavy is imported here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vwlite.data.batch import Batch
from vwlite.errors import UsageError
from vwlite.evaluation.inspect_model import sides_of
from vwlite.evaluation.person_items import PersonItems
from vwlite.features.feature_names import group_terms
from vwlite.features.interactions import WILDCARD
from vwlite.features.side_names import sides_of_pair
from vwlite.learners.pair_terms import has_length
from vwlite.training.model_loader import Restored

if TYPE_CHECKING:
    from vwlite.learners.dyadic import Dyadic


# Of what is predicted. Each of the first four has what those before it have.
NUMBERS, ORDER, SIDES, PROBABILITIES = "numbers", "order", "sides", "probabilities"
LADDER = (NUMBERS, ORDER, SIDES, PROBABILITIES)
LEVELS = "levels"  # which have what NUMBERS have, too
QUERIES, CLASSES, COSTS, LINES = "queries", "classes", "costs", "lines"
DISTRIBUTIONS = "distributions"  # which have what CLASSES have, too
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
    DISTRIBUTIONS: "classes with latent vectors: the absolute error of the median, squared of the mean",
    SETS: "sets of labels",
    COSTS: "costs",
    SEQUENCES: "sequences",
    CLUSTERS: "clusters",
    QUERIES: "queries",
}
MAX_UNASKED_CLASSES = 10  # tables of classes are reported unasked up to so many


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
        "accuracy",
        (SIDES, SETS, LEVELS, *EVERY_CLASS),
        "share of right answers: the right side of 0.5 (probabilities) or 0 (margins); the class; the whole set",
        larger=True,
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
    Metric("auc", (ORDER,), "area under the ROC curve, by sums before clip and link; a tie counts half", larger=True),
    Metric("auc_loss", (ORDER,), "1 - auc", asked=True, larger=False),
    Metric("pr_auc", (ORDER,), "area under the precision-recall curve: average precision, by the same", larger=True),
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
        "normalised mutual information of labels and clusters: 0 where one tells nothing of the other, at most 1",
        larger=True,
    ),
    Metric("purity", (CLUSTERS,), "share of the weight that has the most frequent label of its cluster", larger=True),
    Metric("adjusted_rand", (CLUSTERS,), "pairs that both put together, less what chance gives", larger=True),
    Metric("mean_squared_distance", (CLUSTERS,), "from the nearest mean", larger=False),
    Metric("map", (QUERIES,), "mean average precision of queries; labels above 0 are relevant", larger=True),
    Metric("ndcg", (QUERIES,), "NDCG of queries, mean over all positions", larger=True),
    Metric("ndcg@K", (QUERIES,), "NDCG at position K", larger=True),
    Metric("mrr", (QUERIES,), "mean reciprocal rank: 1 / position of the first relevant example", larger=True),
    Metric("p@K", (QUERIES,), "precision at K: relevant examples among the first K, divided by K", larger=True),
    Metric("recall@K", (QUERIES,), "share of the relevant examples that are among the first K", larger=True),
    Metric("hr@K", (QUERIES,), "share of queries with a relevant example among the first K", larger=True),
    Metric("err@K", (QUERIES,), "expected reciprocal rank of the first K, grades up to the largest label", larger=True),
    Metric("gauc", (QUERIES,), "auc of each query with both kinds, weighted by its examples", larger=True),
)
BY_NAME = {metric.name: metric for metric in TABLE}


def names_of(*kinds: str) -> tuple[str, ...]:
    """The names of the metrics that models of one of these kinds have."""
    return tuple(metric.name for metric in TABLE if {*kinds} & {*metric.of})


def canonical(name: str) -> str:
    """A name as the table has it, however it was typed: case does not matter, and ``-`` is ``_``."""
    return name.strip().lower().replace("-", "_")


def chosen(typed: str | None) -> list[str] | None:
    """The names of a list like ``AUC,Log-Loss``, each once; None without one."""
    return list(dict.fromkeys(map(canonical, typed.split(",")))) if typed else None


def row_of(name: str) -> Metric | None:
    """That of ``ndcg@K`` stands for every K."""
    return BY_NAME.get(re.sub(r"@[1-9][0-9]{0,8}$", "@K", name))


def sections() -> dict[str, list[tuple[str, str]]]:
    """What the help lists: of everything measured names and what they are; what stands above is but named again."""
    listed: dict[str, list[tuple[str, str]]] = {}
    shown: set[str] = set()
    for kind, what in MEASURED.items():
        here = [metric for metric in TABLE if kind in metric.of]
        listed[what] = [(metric.name, metric.about) for metric in here if metric.name not in shown]
        if again := [metric.name for metric in here if metric.name in shown]:
            listed[what].append((", ".join(again), "as above"))
        shown |= {metric.name for metric in here}
    return listed


class Catalogue:
    """The features of a namespace whose latent vectors were ever updated, in the order of their ``names``."""

    def __init__(self, model: Restored, names: Mapping[int, str], namespace: str) -> None:
        """Raises UsageError where the model has no latent vectors of the namespace, or its sums have other products."""
        learner, plan = model.learner, model.plan
        sides = sides_of(model, namespace)
        self.learner, self.plan = learner, plan
        self.group = plan.pairs[sides[0][0]][sides[0][1]]
        letter = int(plan.redefine[namespace.encode("utf-8", "surrogateescape")[0]])
        self.check(model, sides, letter, namespace)
        self.names, self.slots = learned_of(learner, sides, names, namespace)
        dropped = plan.nonlinear[letter] or self.group in plan.dropped
        self.linear = np.zeros(len(self.slots)) if dropped else learner.weights[self.slots, 0].astype(float)
        self.parts = [(pair, 1 - side, self.offset + learner.vectors(pair, side, self.slots)) for pair, side in sides]
        typed = {
            plan.pairs[pair][other]: sides_of_pair(model.features.dotproduct[pair])[other]
            for pair, other, _ in self.parts
        }
        learned = {group: len(slots) for group, slots in self.of_people}
        self.partners = sorted(typed, key=lambda group: -learned[group])
        self.partner_names = [typed[group] for group in self.partners]

    @property
    def offset(self) -> float:
        return float(self.learner.config.dot_offset)

    def check(self, model: Restored, sides: list[tuple[int, int]], letter: int, namespace: str) -> None:
        alike = {self.group, letter}
        if not self.learner.config.rank:
            raise UsageError("recommend needs latent vectors: a model of --rank 0 has numbers in their place")
        if any({*alike, WILDCARD} & set(letters) for letters in self.plan.typed):
            raise UsageError(f"recommend does not go with interactions (-q) of the namespace {namespace!r}")
        if self.plan.theta:
            raise UsageError("recommend does not go with --theta, whose features are made of all of a line")
        random = self.plan.random
        if random and (not random.chosen or random.of[letter]):
            raise UsageError(f"recommend does not go with --random_features of the namespace {namespace!r}")
        for pair, groups in enumerate(self.plan.pairs):
            met = [side for side, group in enumerate(groups) if group in alike]
            if len(met) > 1 or any((pair, side) not in sides for side in met):
                typed = model.features.dotproduct[pair]
                raise UsageError(f"recommend does not go with --dotproduct {typed} for the namespace {namespace!r}")

    def scores(self, batch: Batch, rows: list[int], base: np.ndarray) -> np.ndarray:
        """float32[rows, items] of examples without items, whose raw predictions are ``base``."""
        total = base.astype(float)[:, None] + self.linear
        for pair, side, vectors in self.parts:
            partners = [self.partner(batch, row, pair, side) for row in rows]
            there = np.array([partner is not None for partner in partners])
            nothing = np.zeros(self.learner.rank)
            total += np.stack([nothing if one is None else one for one in partners]) @ vectors.T
            total -= there[:, None] * self.learner.kernel.offset_square
        return total.astype(np.float32)

    def partner(self, batch: Batch, row: int, pair: int, side: int) -> np.ndarray | None:
        """float64[rank]: what an item's vector is multiplied by; None where the example has nothing on that side."""
        terms = group_terms(batch, self.plan, row, self.plan.pairs[pair][side])
        if not has_length(terms):
            return None
        vector: np.ndarray = terms.values.astype(float) @ self.learner.vectors(pair, side, terms.slots) + self.offset
        return vector

    def knows(self, batch: Batch, row: int) -> bool:
        """Whether the model has learned the latent vector of a feature that the example has on the other sides."""
        return any(
            np.isin(group_terms(batch, self.plan, row, group).slots, learned).any() for group, learned in self.of_people
        )

    @cached_property
    def of_people(self) -> list[tuple[int, np.ndarray]]:
        """The groups on the other sides, and the slots of those of their features that were learned."""
        return [(self.plan.pairs[pair][side], self.learner.factors(pair, side)[0]) for pair, side, _ in self.parts]

    def pairs(self) -> PersonItems:
        """An empty list of pairs of persons and items of this catalogue.

        Persons are of what items are paired with: of the namespace with the most features, else of another one.
        """
        return PersonItems(self.plan, self.partners, self.group, self.slots)


def learned_of(
    learner: Dyadic, sides: list[tuple[int, int]], names: Mapping[int, str], namespace: str
) -> tuple[list[str], np.ndarray]:
    """Names and slots, uint32[n], of the features of a namespace that were ever updated on these sides, by name."""
    learned = np.unique(np.concatenate([learner.factors(*side)[0] for side in sides]))
    shown = [own_name(names.get(slot, str(slot)), namespace) for slot in learned.tolist()]
    order = sorted(range(len(shown)), key=shown.__getitem__)
    return [shown[place] for place in order], learned[order]


def best(scores: np.ndarray, left_out: np.ndarray, top: int) -> np.ndarray:
    """int64[n]: the places of the ``top`` highest of float32[items] scores, of equal ones the first."""
    scores = scores.copy()
    scores[left_out] = -np.inf
    least = np.partition(scores, len(scores) - top)[len(scores) - top] if top < len(scores) else -np.inf
    chosen = np.flatnonzero((scores >= least) & (scores > -np.inf))
    return chosen[np.argsort(-scores[chosen], kind="stable")[:top]]


def own_name(name: str, namespace: str) -> str:
    space, _, rest = name.partition("^")
    return rest if rest and (space == namespace or (len(namespace) == 1 and space.startswith(namespace))) else name
