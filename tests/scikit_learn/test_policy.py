"""``VWPolicy``: as the command, and as scikit-learn's estimators are."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vwlite
from vwlite.sklearn import VWPolicy

RANDOM = np.random.RandomState(4)
X = RANDOM.rand(400, 3).astype(np.float32)
BEST = X.argmax(axis=1)
ACTION = RANDOM.randint(0, 3, 400)
COST = (ACTION != BEST).astype(float)
P = np.full(400, 1 / 3)
LOG = {"cost": COST, "p": P}


def test_it_learns_as_the_command(tmp_path):
    """The same model of the same rows as text."""
    names = [f"{a + 1}:{c}:{p}" for a, c, p in zip(ACTION, COST, P, strict=True)]
    model = vwlite.Model("--cb 3 --cb_type dr")
    model.learn(X, names)
    policy = VWPolicy(3, cb_type="dr", shuffle=False).fit(X, ACTION, **LOG)
    assert (policy.predict(X) == model.predict(X) - 1).all()
    np.testing.assert_array_equal(policy.predict_cost(X), model.predict(X, scores=True))
    assert (policy.predict_proba(X).argmax(axis=1) == policy.predict(X)).all()
    sparse = VWPolicy(3, cb_type="dr", shuffle=False).fit(csr_matrix(X), ACTION, **LOG)
    assert (sparse.predict(csr_matrix(X)) == policy.predict(X)).all()


def test_it_is_better_than_the_log_and_its_score_says_so():
    policy = VWPolicy(3, cost_offset="max", passes=3).fit(X[:300], ACTION[:300], COST[:300], P[:300])
    held = X[300:], ACTION[300:], COST[300:], P[300:]
    assert (policy.predict(held[0]) != BEST[300:]).mean() < 0.3
    value = vwlite.policy_value(policy.predict_proba(held[0]), *held[1:])["cv"].value
    assert policy.score(*held) == -value and value < 0.35


def test_one_that_explores():
    policy = VWPolicy(3, exploration={"epsilon": 0.3}).fit(X, ACTION, **LOG)
    pmf = policy.predict_proba(X)
    np.testing.assert_allclose(pmf.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(pmf.min(axis=1), 0.1, rtol=1e-5)
    assert VWPolicy(3, exploration={"bag": 40}, cb_type="dr").fit(X, ACTION, **LOG).model_.options["bag"] == 40


def test_clones_pickles_and_parts():
    policy = VWPolicy(3, clip_p=0.1, exploration={"softmax": True, "lambda": 4})
    assert clone(policy).get_params() == policy.get_params()
    fitted = policy.fit(X, ACTION, **LOG)
    again = clone(policy).fit(X, ACTION, **LOG)
    loaded = pickle.loads(pickle.dumps(fitted))
    for other in (again, loaded):
        np.testing.assert_array_equal(other.predict_proba(X), fitted.predict_proba(X))
    whole = VWPolicy(3, shuffle=False).fit(X, ACTION, **LOG)
    parts = VWPolicy(3)
    for half in (slice(0, 200), slice(200, 400)):
        parts.partial_fit(X[half], ACTION[half], COST[half], P[half])
    assert (parts.predict(X) == whole.predict(X)).all()


def test_pipelines_and_searches():
    with sklearn.config_context(enable_metadata_routing=True):
        policy = VWPolicy(3).set_fit_request(cost=True, p=True).set_score_request(cost=True, p=True)
        pipeline = make_pipeline(StandardScaler(), policy)
        search = GridSearchCV(pipeline, {"vwpolicy__cost_offset": [None, "max"]}, cv=3, scoring=scored)
        assert search.fit(X, ACTION, **LOG).best_score_ > -0.5


def scored(pipeline, X, action):
    return float((pipeline.predict(X) == BEST[: len(X)]).mean()) - 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"action": ACTION + 1}, "action: numbers from 0 to 2"),
        ({"cost": np.where(COST > 0, np.inf, 0)}, "cost: finite numbers"),
        ({"p": P - 1}, "p: probabilities above 0 and at most 1"),
        ({"p": P[:-1]}, "inconsistent numbers of samples"),
    ],
)
def test_what_is_no_log(wrong, said):
    with pytest.raises(ValueError, match=said):
        VWPolicy(3).fit(X, **{"action": ACTION, **LOG, **wrong})


def test_what_is_refused():
    with pytest.raises(NotFittedError):
        VWPolicy(3).predict(X)
    with pytest.raises(vwlite.errors.UsageError, match="softness"):
        VWPolicy(3, exploration={"softness": 1}).fit(X, ACTION, **LOG)
