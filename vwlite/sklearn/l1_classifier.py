"""``L1Classifier``: log-linear models with an L1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import expit, softmax
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from vwlite.data.batch import Csr, offsets
from vwlite.options import check_needs
from vwlite.sklearn.numeric_rows import numeric_rows
from vwlite.sklearn.validation import LabelledClasses, LogLinearEstimator, Notes, check_any_weight, importance
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.examples import LINE, Lines
from vwlite.solvers.loglinear.held_out import Part, binary_parts, chain_parts
from vwlite.solvers.loglinear.passes import Progress, Trained, passes_of
from vwlite.solvers.loglinear.problems import Chains, Examples
from vwlite.solvers.loglinear.sgd import Sgd


@dataclass(kw_only=True, eq=False, repr=False)
class L1Classifier(LabelledClasses, LogLinearEstimator):
    """Logistic regression of two classes or more that sets most weights to exactly 0, as ``vwlite l1`` learns it.

    Maximises the sum of log p(y|x), times the rows' weights, less ``C`` times the sum of the weights' sizes, that of
    the constant among them: a larger ``C`` means fewer weights, unlike in ``LogisticRegression``.

    Parameters
    ----------
    C : float, default=1.0
        The penalty (``--l1``).
    l2 : float, default=0.0
        A penalty l2/2 ||w||^2 in addition (elastic net); with ``C`` 0, as ``"sgd"`` needs, it is the only one.
    solver : {"owlqn", "sgd", "fista"}, default="owlqn"
        Quasi-Newton steps over all rows (OWL-QN, Andrew and Gao, ICML 2007), or stochastic gradient steps, which are
        faster on many rows and end less close to the optimum, or accelerated proximal steps over all rows (FISTA, Beck
        and Teboulle, 2009).
    group : bool, default=False
        ``C`` penalises the norms of columns of ``coef_`` (group lasso): all weights of a feature vanish together. For
        three classes or more, by ``"sgd"`` or ``"fista"``.
    trace : float, default=0.0
        If above 0, the strength of a penalty on the singular values of ``coef_`` and ``intercept_`` together, which
        makes their rank low; ``C`` must then have its default. For three classes or more, by ``"fista"``.
    penalty : {"cumulative", "clipping", "naive"}, default="cumulative"
        How stochastic steps apply the penalty (Tsuruoka et al., ACL 2009).
    rate : {"exponential", "harmonic"}, default="exponential"
        Step sizes after t passes: ``learning_rate * decay**t`` or ``learning_rate / (1 + t)``.
    learning_rate : float or None, default=None
        None: 0.05, or 0.1 with more than two classes.
    decay : float, default=0.85
        Of the exponential rate.
    warm_passes : int, default=0
        Stochastic passes that ``"owlqn"`` begins with, in orders that ``random_state`` does not change.
    passes : int or None, default=None
        Iterations or passes at most; None: 1000, or 30 with stochastic steps.
    tolerance : float or None, default=None
        OWL-QN stops when an iteration gains less, relatively, FISTA when no more is to gain; None: 1e-7, FISTA 1e-3.
    shuffle : bool, default=True
        Take the rows in random order in every pass.
    random_state : int, RandomState or None, default=0
        Of these orders.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
    verbose : int, default=0
        Above 0 every pass is a note of the logger ``vwlite``.

    Attributes
    ----------
    classes_ : labels, ascending
    coef_ : float64 of shape (1 or k, n_features), or CSR after ``sparsify``
    intercept_ : float64 of shape (1 or k,)
    n_iter_ : int, passes made
    objective_ : float, what was maximised, for each row
    """

    solver: str = "owlqn"
    trace: float = 0.0
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> L1Classifier:
        """Learn from X, n rows, dense or sparse, and y, n labels of any kind. Raises ValueError."""
        X, y = numeric_rows(self, X, y)
        check_classification_targets(y)
        weight = importance(sample_weight, X)
        check_any_weight(weight)
        self._take_classes(y)
        numbers = self._numbers(y)
        weighted = self._weighted(y, numbers, weight)
        heavy = self.solver == "sgd" and weighted.any()  # classes of great weight would take huge steps
        scale = weighted.sum() / weight.sum() if heavy else 1.0
        config = self._config(scale)
        lines = lines_of(X, 2.0 * numbers - 1 if self._binary else numbers, weighted / scale)
        if self._binary:
            train, _ = binary_parts(lines, None, 0, np.zeros(0, np.uint32))
        else:
            train, _ = chain_parts(config, lines, None, 0, [*map(str, self.classes_)], None)
        sgd = Sgd(config, np.zeros((2, train.problem.weights)))
        trained = passes_of(config, sgd, train, Progress(config, train, monitor=Notes(self.verbose))).run()
        self._take_weights(train, trained)
        self.objective_ = trained.history[-1]["objective"] * scale
        return self

    def _config(self, scale: float) -> L1Config:
        """``scale``: by this weights of rows were divided."""
        names = (
            "solver", "group", "trace", "penalty", "rate", "learning_rate", "decay", "warm_passes", "passes",
            "tolerance",
        )
        config = L1Config(
            model="binary" if self._binary else "multinomial",
            l1=self.C / scale,
            l2=self.l2 / scale,
            dense_pairs=bool(self.trace) and not self._binary,  # the singular values are those of a whole matrix
            shuffle=self.shuffle,
            seed=int(check_random_state(self.random_state).randint(2**31)) if self.solver == "sgd" else 0,
            **{name: getattr(self, name) for name in names},
        )
        check_needs(config, ["warm_passes"] if self.warm_passes else [])
        return config

    def _take_weights(self, train: Part, trained: Trained) -> None:
        problem = train.problem
        table = np.zeros((1 if self._binary else len(self.classes_), self.n_features_in_ + 1))
        if isinstance(problem, Chains):
            state = problem.pairs.state
            table[state.label, state.features[state.feature]] = trained.weights
        elif isinstance(problem, Examples):
            table[0, problem.features] = trained.weights
        self.coef_, self.intercept_ = table[:, :-1].copy(), table[:, -1].copy()
        self.n_iter_ = trained.passes

    def sparsify(self) -> L1Classifier:
        """Keep ``coef_`` as a sparse matrix: most of it is 0."""
        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """float64[n], positive for ``classes_[1]``, or of more than two classes float64[n, k]."""
        check_is_fitted(self)
        X = numeric_rows(self, X, reset=False)
        scores: np.ndarray = safe_sparse_dot(X.astype(np.float64), self.coef_.T, dense_output=True) + self.intercept_
        return scores[:, 0] if self._binary else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels with the highest score."""
        scores = self.decision_function(X)
        return self._labels_by(scores)

    def predict_proba(self, X: Any) -> np.ndarray:
        """float64[n, k]"""
        scores = self.decision_function(X)
        return expit(np.stack([-scores, scores], axis=1)) if self._binary else softmax(scores, axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def lines_of(X: Any, label: np.ndarray, weight: np.ndarray) -> Lines:
    """The rows of a table, zeros left out, with the constant behind the last column of each."""
    table = csr_matrix(X)
    given = Csr(table.indptr.astype(np.int64), table.indices.astype(np.uint32), table.data).keep(table.data != 0)
    indptr = offsets(given.sizes + 1)
    constant = np.zeros(indptr[-1], bool)
    constant[indptr[1:] - 1] = True
    indices, values = np.full(len(constant), X.shape[1], np.uint32), np.ones(len(constant), np.float32)
    indices[~constant], values[~constant] = given.indices, given.values
    kind = np.full(len(given), LINE, np.uint8)
    return Lines(Csr(indptr, indices, values), None, kind, label, weight)
