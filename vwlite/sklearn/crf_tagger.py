"""``CRFTagger``: labels of sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_is_fitted

from vwlite.api.loglinear_models import CRFModel
from vwlite.data.batch import BLANK, Batch
from vwlite.data.memory import line_batches
from vwlite.data.row_columns import label_word
from vwlite.data.tables import table_batches
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError
from vwlite.evaluation.config import PhraseConfig
from vwlite.evaluation.phrases import evaluate, rule_for
from vwlite.features.config import FeatureConfig
from vwlite.options import check_needs
from vwlite.sklearn.numeric_rows import with_label
from vwlite.sklearn.validation import LogLinearEstimator, check_any_weight, holdout_period, importance
from vwlite.solvers.loglinear.config import BITS, HeldOutConfig, L1Config

Rows = Sequence[Sequence[Any]]  # sequences of dicts, of lists of names, or of lines
Labels = Sequence[Sequence[Any]]
CHECKED = ("cost", "aggressiveness", "l2", "gap", "warm_passes")  # each does nothing beside some ``loss`` or ``solver``
OPTIONS = (  # of the command that are parameters of the same name and type
    "loss", *CHECKED, "order", "group", "solver", "penalty", "rate", "learning_rate", "decay", "passes", "tolerance",
    "dense_pairs", "shuffle",
)


@dataclass(kw_only=True, eq=False, repr=False)
class CRFTagger(LogLinearEstimator):
    """A linear-chain conditional random field with most weights exactly 0, as ``vwlite l1 --model crf`` learns it.

    Or, by ``loss``, a model of the best label sequence, which has no probabilities.

    ``X`` is a list of sequences. A sequence is a list of dicts of name and value (a number; a text, which stands for
    ``name:text``; a list of words or a dict, which are namespaces), of lists of names, of value 1, or of lines of
    Vowpal Wabbit text; what such a line has before its first ``|`` is not used. ``y`` is a list of lists, a label for
    each row: words or numbers.

    Parameters
    ----------
    C : float, default=1.0
        The penalty (``--l1``): a larger one means fewer weights.
    loss : {"log", "perceptron", "mira", "margin"}, default="log"
        Of all label sequences, or of the best one: the perceptron and MIRA have no penalty and no step sizes and leave
        ``C`` at its default, as the structured hinge loss ``"margin"`` does with ``l2``.
    cost : {"hamming", "zero-one"} or None, default=None
        By how much a wrong sequence is to score less (``"mira"``, ``"margin"``): 1 for each wrong label, or 1. None:
        1, for ``"margin"`` for each.
    aggressiveness : float, default=1.0
        The largest step of ``"mira"``.
    l2 : float, default=0.0
        The penalty l2/2 ||w||^2: of ``"log"`` beside ``C``, which may be 0, as ``"sgd"`` needs it; of ``"margin"`` in
        place of ``C``.
    gap : float or None, default=None
        With ``l2``: stop where the objective is this near to the best there is, for each sequence.
    order : {1, 2}, default=1
        Labels that transitions look back at.
    group : bool, default=False
        ``C`` penalises the norms of rows (group lasso): all weights of a feature vanish together.
    solver : {"sgd", "owlqn", "fista"}, default="sgd"
        Stochastic gradient steps, or over all sequences quasi-Newton or proximal steps.
    penalty : {"cumulative", "clipping", "naive"}, default="cumulative"
        How stochastic steps apply the penalty.
    rate : {"exponential", "harmonic"}, default="exponential"
        Step sizes after t passes: ``learning_rate * decay**t`` or ``learning_rate / (1 + t)``.
    learning_rate : float or None, default=None
        None: 0.2.
    decay : float, default=0.85
        Of the exponential rate.
    warm_passes : int, default=0
        Stochastic passes that ``"owlqn"`` begins with.
    passes : int or None, default=None
        Passes or iterations at most; None: 30, of the perceptron and MIRA 10, or 1000 of ``"owlqn"`` and ``"fista"``,
        which stop by themselves.
    tolerance : float or None, default=None
        ``"owlqn"`` stops when an iteration gains less, relatively, ``"fista"`` when no more is to gain; None: 1e-7,
        ``"fista"`` 1e-3.
    dense_pairs : bool, default=False
        Weights for every feature with every label, not only for those seen together.
    edge : sequence of str, default=()
        Namespaces, by letters, whose features transitions are conditioned on.
    affix : str, default=""
        Of lines: prefixes and suffixes of names to add, like "+3w,-3w".
    shuffle, random_state : bool, int or RandomState, default=True, 0
        Sequences in random order in every stochastic pass.
    early_stopping, validation_fraction, n_iter_no_change : bool, float, int, default=False, 0.1, 8
        Hold sequences out, keep the best pass, and stop after ``n_iter_no_change`` that are no better.
    scheme : {"iob1", "iob2", "iobes", "bilou", "none"} or None, default=None
        How labels mark the phrases that ``score`` and ``early_stopping`` count; None: guessed from the labels.
    warm_start : bool, default=False
        ``fit`` goes on from the model it has.

    Attributes
    ----------
    classes_ : labels, ascending
    transitions_ : float64 of shape (k, k), the weight of a label, by column, after another, by row
    model_ : the ``CRFModel``
    n_iter_ : int, passes made
    objective_ : float, what was maximised, for each sequence
    """

    loss: str = "log"
    cost: str | None = None
    aggressiveness: float = 1.0
    gap: float | None = None
    order: int = 1
    solver: str = "sgd"
    dense_pairs: bool = False
    edge: Sequence[str] = ()
    affix: str = ""
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 8
    scheme: str | None = None
    warm_start: bool = False
    model_: CRFModel = field(init=False)
    classes_: np.ndarray = field(init=False)

    def fit(self, X: Rows, y: Labels, sample_weight: Any = None) -> CRFTagger:
        """Learn from n sequences and their labels; ``sample_weight``, n numbers, is their importance.

        Raises DataError for what is no sequence, and for labels of another number, ValueError.
        """
        check_labels(y, sizes_of(X))
        weight = importance(sample_weight, np.empty(len(X)))
        check_any_weight(weight)
        going_on = self.warm_start and hasattr(self, "model_")
        model = self.model_ if going_on else self._new_model()
        labels = unique_labels([*chain.from_iterable(y), *(self.classes_.tolist() if going_on else ())])
        names = {label: label_word(0, label).decode("utf-8", "surrogateescape") for label in labels.tolist()}
        batches = batches_of(X, model.text_format, [[names[label] for label in row] for row in y], weight)
        self.model_ = model.go_on(batches) if going_on else model.fit(batches)
        self.classes_, self._names = labels, [*names.values()]
        return self

    def _new_model(self) -> CRFModel:
        seed = int(check_random_state(self.random_state).randint(2**31)) if self.solver == "sgd" else 0
        config = L1Config(
            model="crf",
            l1=float(self.C),
            seed=seed,
            edge=tuple(self.edge),
            **{name: getattr(self, name) for name in OPTIONS},
        )
        check_needs(config, [name for name in CHECKED if getattr(config, name) != config.OPTIONS[name].default])
        held_out = HeldOutConfig()
        if self.early_stopping:
            period = holdout_period(self.validation_fraction)
            held_out = HeldOutConfig(holdout=str(period), early_terminate=self.n_iter_no_change, scheme=self.scheme)
        return CRFModel(config, FeatureConfig(bits=BITS["crf"], affix=self.affix), held_out=held_out)

    def predict(self, X: Rows) -> list[list[Any]]:
        """The likeliest labels of every sequence. Raises as ``fit``."""
        check_is_fitted(self)
        labels = dict(zip(self._names, self.classes_.tolist(), strict=True))
        sizes, answers = sizes_of(X), iter(self.model_.predict(batches_of(X, self.model_.text_format)))
        return [[labels[name] for name in next(answers)] if size else [] for size in sizes]

    def predict_marginals(self, X: Rows) -> list[np.ndarray]:
        """float64[rows, k] of every sequence: the probabilities of ``classes_`` for each of its rows.

        Raises UsageError where ``loss`` is not ``"log"``: scores are no logarithms of probabilities.
        """
        check_is_fitted(self)
        order, none = self._order, np.zeros((0, len(self.classes_)))
        sizes, answers = sizes_of(X), iter(self.model_.marginals(batches_of(X, self.model_.text_format)))
        return [next(answers)[:, order] if size else none for size in sizes]

    def score(self, X: Rows, y: Labels) -> float:
        """F1 of phrases where labels mark any, as ``B-NP`` and ``O`` do; else accuracy.

        Labels of B and I whose ``scheme`` is None are counted as ``conlleval`` counts them, others strictly. Raises
        UsageError for a label that is none of ``scheme``.
        """
        check_labels(y, sizes_of(X))
        both = [[*zip(*pair, strict=True)] for pair in zip(y, self.predict(X), strict=True)]
        texts = [[(str(true), str(found)) for true, found in pairs] for pairs in both]
        names = {name for pair in chain.from_iterable(texts) for name in pair} | {*self._names}
        if rule := rule_for(names, PhraseConfig(self.scheme).scheme):
            return float(evaluate(chain.from_iterable((*pairs, None) for pairs in texts), rule)["f1"]) / 100
        return float(np.mean([true == found for true, found in chain.from_iterable(both)]))

    @property
    def n_iter_(self) -> int:
        return self.model_.passes

    @property
    def objective_(self) -> float:
        return self.model_.objective

    @property
    def transitions_(self) -> np.ndarray:
        return self.model_.transitions[np.ix_(self._order, self._order)]

    @property
    def _order(self) -> list[int]:
        """The place in the model of each of ``classes_``."""
        return [self.model_.classes.index(name) for name in self._names]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.dict = True
        tags.target_tags.required = True
        return tags


def sizes_of(X: Rows) -> list[int]:
    """The number of rows of each sequence. Raises DataError for what is no sequence."""
    for number, sequence in enumerate(X):
        if isinstance(sequence, str | bytes | Mapping) or not hasattr(sequence, "__len__"):
            raise DataError(f"sequence {number}: expected a list of dicts or lines, not {type(sequence).__name__}")
    return [*map(len, X)]


def check_labels(y: Labels, sizes: list[int]) -> None:
    """Raises DataError unless there is a label for each row of each sequence."""
    if len(y) != len(sizes):
        raise DataError(f"y has labels of {len(y)} sequences, X has {len(sizes)} sequences")
    for number, (labels, rows) in enumerate(zip(sizes_of(y), sizes, strict=True)):
        if labels != rows:
            raise DataError(f"sequence {number}: y has {labels} labels for {rows} rows")


def batches_of(X: Rows, format: TextFormat, names: Labels | None = None, weight: Any = None) -> Iterator[Batch]:
    """The rows of all sequences, a blank one behind each, with the ``names`` of labels; weights are of sequences.

    Raises DataError for what is no row or malformed; other rows it calls by their number, blank ones counted.
    """
    ends = np.cumsum([len(sequence) + 1 for sequence in X], dtype=np.int64) - 1
    blank = np.zeros(ends.max(initial=-1) + 1, bool)
    blank[ends] = True
    importance = None if weight is None else np.repeat(weight, np.diff(ends, prepend=-1)).astype(np.float32)
    labels = None if names is None else [*chain.from_iterable((*row, None) for row in names)]
    for batch in row_batches(X, labels, format):
        rows = slice(batch.first_line, batch.first_line + len(batch))
        if (batch.flags[~blank[rows]] & BLANK).any():
            raise DataError("there is an empty line within a sequence")
        batch.flags[blank[rows]] |= BLANK
        if importance is not None:
            batch.importance[:] = importance[rows]
        yield batch


def row_batches(X: Rows, labels: list[str | None] | None, format: TextFormat) -> Iterable[Batch]:
    """The batches of dicts and lists of names or, if the first row is a line, of lines."""
    first = next(chain.from_iterable(X), None)
    if isinstance(first, str | bytes):
        lines = chain.from_iterable((*row, "") for row in X)
        return line_batches(map(with_label, lines, labels or repeat(None)), format)
    rows = chain.from_iterable((*row, {}) for row in X)
    return table_batches(map(count_names, rows), labels, text_format=format)


def count_names(row: Any) -> Any:
    """A list of names as a dict of how often each stands there; other rows as they are. Raises DataError."""
    if not isinstance(row, list | tuple):
        return row
    odd = [name for name in row if not isinstance(name, str)]
    if odd:
        raise DataError(f"a list of features has names, not {type(odd[0]).__name__}")
    return dict(Counter(row))
