"""What scikit-learn asks of every estimator: clones, copies, files, pipelines, searches, metadata, output as frames."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import joblib
import sklearn
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

import vwlite.sklearn
from vwlite.sklearn import (
    ASOTransformer,
    CRFTagger,
    CRRRanker,
    DyadicClassifier,
    DyadicRegressor,
    HashedKMeans,
    L1Classifier,
    Landmarks,
    PCATransformer,
    RandomFeatures,
    TextHasher,
    VWClassifier,
    VWRegressor,
)

RANDOM = np.random.RandomState(5)
X = RANDOM.randint(0, 4, (60, 5)).astype(np.float32)
IDS = RANDOM.randint(0, 6, (60, 2))
NUMBER = X @ [1, -1, 2, 0, 1] + RANDOM.randn(60)
CLASS = np.where(NUMBER > 9, "yes", "no")
LINES = [" ".join(["|w", *(f"w{j}:{x:g}" for j, x in enumerate(row) if x)]) for row in X]
SEQUENCES = [[{"word": f"w{x:g}"} for x in row] for row in X]
TAGS = [["B-X" if x > 2 else "O" for x in row] for row in X]
CASES = {  # estimator, its data, two values of a parameter
    "ASOTransformer": (ASOTransformer(dim=2), X, None, {"dim": [1, 2]}),
    "CRFTagger": (CRFTagger(passes=3), SEQUENCES, TAGS, {"C": [0.1, 1]}),
    "CRRRanker": (CRRRanker(steps=3000), X, NUMBER, {"alpha": [0.5, 1]}),
    "DyadicClassifier": (DyadicClassifier(rank=2), IDS, CLASS, {"rank": [2, 3]}),
    "DyadicRegressor": (DyadicRegressor(passes=2), IDS, NUMBER, {"rank": [2, 3]}),
    "HashedKMeans": (HashedKMeans(3), X, None, {"n_clusters": [2, 3]}),
    "L1Classifier": (L1Classifier(C=0.3), X, CLASS, {"C": [0.1, 1]}),
    "Landmarks": (Landmarks(n_components=8), X, None, {"n_components": [4, 8]}),
    "PCATransformer": (PCATransformer(2), X, None, {"n_components": [2, 3]}),
    "RandomFeatures": (RandomFeatures(n_components=64), X, None, {"n_components": [64, 128]}),
    "TextHasher": (TextHasher(bits=8), LINES, None, {"bits": [8, 9]}),
    "VWClassifier": (VWClassifier(passes=2), X, CLASS, {"l2": [0.0, 0.01]}),
    "VWRegressor": (VWRegressor(passes=2), X, NUMBER, {"l2": [0.0, 0.01]}),
}
TRANSFORMERS = ("ASOTransformer", "HashedKMeans", "Landmarks", "PCATransformer", "RandomFeatures", "TextHasher")
every = pytest.mark.parametrize("name", CASES)
weighted = pytest.mark.parametrize(
    "name", ["CRRRanker", "DyadicClassifier", "DyadicRegressor", "L1Classifier", "VWClassifier", "VWRegressor"]
)


def answers(estimator, rows):
    """What it predicts or makes of the rows, as lists."""
    result = estimator.transform(rows) if hasattr(estimator, "transform") else estimator.predict(rows)
    return result.toarray().tolist() if issparse(result) else result.tolist() if hasattr(result, "tolist") else result


def test_every_estimator_has_its_case():
    """That of a policy, which is fitted with more than labels, is in ``test_policy.py``."""
    assert sorted([*CASES, "VWPolicy"]) == dir(vwlite.sklearn)


@every
def test_clones_learn_the_same(name):
    estimator, rows, y, _ = CASES[name]
    before = estimator.get_params()
    one, other = clone(estimator).fit(rows, y), clone(clone(estimator)).fit(rows, y)
    assert answers(one, rows) == answers(other, rows) == answers(one.fit(rows, y), rows)
    assert estimator.get_params() == before and repr(estimator) == repr(one)


@every
def test_copies_and_files_answer_the_same(name, tmp_path):
    estimator, rows, y, _ = CASES[name]
    fitted = clone(estimator).fit(rows, y)
    joblib.dump(fitted, tmp_path / "file")
    for other in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "file")):
        assert answers(other, rows) == answers(fitted, rows)


@every
def test_pipelines_and_searches_in_two_processes(name):
    estimator, rows, y, grid = CASES[name]
    same = FunctionTransformer(lambda rows: rows) if name not in TRANSFORMERS else None
    if same is None:
        model = make_pipeline(clone(estimator), VWClassifier(passes=1))
        y = CLASS
    else:
        model = make_pipeline("passthrough", clone(estimator))
    step = model.steps[0 if same is None else 1][0]
    search = GridSearchCV(model, {f"{step}__{key}": values for key, values in grid.items()}, cv=2, n_jobs=2)
    search.fit(rows, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_ in search.cv_results_["params"]


@weighted
def test_weights_are_routed_as_metadata(name):
    estimator, rows, y, _ = CASES[name]
    weight = np.arange(60) % 3 + 1.0
    expected = clone(estimator).fit(rows, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(asked, {}, cv=2).fit(rows, y, sample_weight=weight)
        piped = make_pipeline("passthrough", asked).fit(rows, y, sample_weight=weight)
    assert answers(search.best_estimator_, rows) == answers(piped[-1], rows) == answers(expected, rows)


@pytest.mark.parametrize("name", ["CRRRanker", "DyadicRegressor", "L1Classifier", "VWClassifier", "VWRegressor"])
def test_notes_are_made_where_they_are_wanted(name, caplog):
    estimator, rows, y, _ = CASES[name]
    caplog.set_level("INFO", "vwlite")
    quiet = clone(estimator).fit(rows, y)
    assert caplog.text == ""
    told = clone(estimator).set_params(verbose=1).fit(rows, y)
    assert len(caplog.records) >= 2 and answers(told, rows) == answers(quiet, rows)


def test_passes_are_noted_with_their_losses(caplog):
    caplog.set_level("INFO", "vwlite")
    fitted = VWRegressor(passes=3, early_stopping=True, n_iter_no_change=9, verbose=1).fit(X, NUMBER)
    notes = [record.getMessage() for record in caplog.records]
    assert [note.partition(":")[0] for note in notes] == ["pass 1", "pass 2", "pass 3"]
    losses = [float(note.split()[4].rstrip(",")) for note in notes]
    assert np.mean(losses) == pytest.approx(fitted.loss_, rel=1e-3)
    assert all("of rows held out" in note for note in notes)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_transformers_make_frames(kind):
    library = pytest.importorskip(kind, reason=f"{kind} is not installed")
    shared = ASOTransformer(dim=2).set_output(transform=kind)
    made = shared.fit_transform(X)
    assert isinstance(made, library.DataFrame) and list(made.columns) == shared.get_feature_names_out().tolist()


def test_unions_of_transformers_make_frames():
    pytest.importorskip("pandas", reason="pandas is not installed")
    both = FeatureUnion([("one", ASOTransformer(dim=2)), ("two", ASOTransformer(dim=1))]).set_output(transform="pandas")
    names = [name for _, one in clone(both).transformer_list for name in one.fit(X).get_feature_names_out()]
    actual = both.fit_transform(X).columns
    assert [name.partition("__")[2] for name in actual] == names and actual[0] == "one__asotransformer0"


# Those of scikit-learn's checks that need no table of numbers.
CHECKS = (
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_mixin_order,
)
OF_OTHER_ROWS = [
    TextHasher(), TextHasher(bits=10, ngram=["2"]),
    DyadicRegressor(), DyadicRegressor(rank=3, loss="quantile", early_stopping=True),
    DyadicClassifier(), DyadicClassifier(loss="hinge", bits=20), DyadicClassifier(multiclass="softmax"),
    CRFTagger(), CRFTagger(solver="owlqn", C=2),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", OF_OTHER_ROWS, ids=str)
def test_scikit_learns_own_checks(estimator, check):
    check(type(estimator).__name__, clone(estimator))
