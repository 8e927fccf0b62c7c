"""Steps on queries: they are the plain twin's, step by step, and what they do not go with is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.query_steps import QueryTwin
from solvers.crr.test_train import BITS, CONSTANT, as_svmlight, random_text, read, trained

from vwlite.errors import DataError, Diverged, UsageError
from vwlite.evaluation.ranking_metrics import Ranking
from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr.config import PAIRINGS, CrrConfig

METRICS = PAIRINGS[2:]
NAMES = {  # of the twin
    "pairing": "weighting",
    "truncate": "ranks",
    "query_limit": "limit",
    "learning_rate": "rate",
    "rate": "schedule",
}


def examples(seed, rows=60, queries=6, labels=(0, 1, 2)):
    return random_text(np.random.default_rng(seed), rows, queries, labels)


def twin_of(tmp_path, rows, text, **how):
    """The twin with queries and rows in the order of the index."""
    config = CrrConfig(pairing=how["weighting"])
    index = read(tmp_path, text, config, "svmlight").pair_index(config, True)
    importance = np.ones(len(index.row))
    if index.cumulative_importance is not None:
        importance = np.diff(index.cumulative_importance)
    made = [(rows[i][0], {**rows[i][2], CONSTANT: 1.0}, w) for i, w in zip(index.row.tolist(), importance, strict=True)]
    ends = zip(index.group_start[index.query_start], index.group_start[index.query_end], strict=True)
    return QueryTwin(queries=[made[a:b] for a, b in ends], rows=made, constant=CONSTANT, **how)


def assert_like_the_twin(tmp_path, rows, steps=200, text=None, twin_has=(), **options):
    text = text or as_svmlight(rows)
    learner, _, _ = trained(tmp_path, text, kind="svmlight", steps=steps, average=False, seed=3, **options)
    how = {NAMES.get(name, name): value for name, value in options.items() if name not in ("loss", "sampling")}
    twin = twin_of(tmp_path, rows, text, seed=3, **how, **dict(twin_has))
    for i in range(1, steps + 1):
        twin.step(i)
    expected = np.zeros(2**BITS)
    for slot, w in twin.w.items():
        expected[slot] = w
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(learner.weights[:, 0], expected, atol=2e-5, rtol=2e-4)


@pytest.mark.parametrize("pairing", PAIRINGS[1:])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_steps_are_those_of_the_twin(tmp_path, pairing, alpha):
    assert_like_the_twin(tmp_path, examples(5), pairing=pairing, alpha=alpha, learning_rate=0.05)


@pytest.mark.parametrize("rate", ["constant", "invsqrt"])
def test_rates_that_do_not_adapt(tmp_path, rate):
    assert_like_the_twin(tmp_path, examples(6), pairing="lambda-ndcg", rate=rate, learning_rate=0.3)


@pytest.mark.parametrize("ranks", [1, 3])
def test_ndcg_of_the_first_ranks(tmp_path, ranks):
    assert_like_the_twin(tmp_path, examples(7), pairing="lambda-ndcg", truncate=ranks, learning_rate=0.05)


@pytest.mark.parametrize("pairing", PAIRINGS[1:])
def test_large_queries_have_random_pairs(tmp_path, pairing):
    rows = examples(8, rows=150, queries=2)
    how = {"pairing": pairing, "query_limit": 60, "learning_rate": 0.05}
    assert_like_the_twin(tmp_path, rows, steps=8, **how)
    text = as_svmlight(rows)
    some, all_pairs = (
        trained(tmp_path, text, kind="svmlight", steps=60, **{**how, "query_limit": limit})[0].weights[:12, 0]
        for limit in (60, 1000)
    )
    assert not np.array_equal(some, all_pairs) and np.corrcoef(some, all_pairs)[0, 1] > 0.95


def test_every_query_counts_alike_as_the_mean_of_its_pairs(tmp_path):
    options = {"pairing": "all", "sampling": "query", "rate": "constant", "learning_rate": 0.5}
    assert_like_the_twin(tmp_path, examples(9), twin_has={"mean": True}.items(), **options)


def test_rows_of_more_importance_make_more_of_a_pair(tmp_path):
    rows = examples(10)
    words = [" ".join(f"{f}:{v!r}" for f, v in x.items()) for _, _, x in rows]
    text = "".join(f"{y:g} {1 + i % 3} 'q{q}| {words[i]}\n" for i, (y, q, _) in enumerate(rows))
    how = {"pairing": "all", "learning_rate": 0.05}
    learner, _, _ = trained(tmp_path, text, steps=100, average=False, seed=3, **how)
    config = CrrConfig(pairing="all")
    index = read(tmp_path, text, config).pair_index(config, True)
    made = [(rows[i][0], {**rows[i][2], CONSTANT: 1.0}, 1.0 + i % 3) for i in index.row.tolist()]
    ends = zip(index.group_start[index.query_start], index.group_start[index.query_end], strict=True)
    twin = QueryTwin("all", [made[a:b] for a, b in ends], made, seed=3, rate=0.05, constant=CONSTANT)
    for i in range(1, 101):
        twin.step(i)
    np.testing.assert_allclose(learner.weights[:12, 0], [twin.w[slot] for slot in range(12)], atol=2e-5, rtol=2e-4)


def test_the_mean_is_of_the_last_steps(tmp_path):
    rows = examples(11)
    options = {"pairing": "lambda-map", "learning_rate": 0.05, "steps": 120, "average_after": 40, "seed": 3}
    learner, facts, _ = trained(tmp_path, as_svmlight(rows), kind="svmlight", **options)
    assert (facts["average"], facts["average_after"], facts["rate"], facts["alpha"]) == (True, 40, "adaptive", 0)
    twin = twin_of(tmp_path, rows, as_svmlight(rows), weighting="lambda-map", seed=3, rate=0.05)
    total = np.zeros(2**BITS)
    for i in range(1, 121):
        twin.step(i)
        for slot, w in twin.w.items():
            total[slot] += w * (i > 40)
    np.testing.assert_allclose(learner.weights[:, 0], total / 80, atol=2e-5, rtol=2e-4)


def test_what_is_alike_in_a_query_gets_no_weight(tmp_path):
    """Sums that cancel leave rounding errors, which adaptive rates would blow up."""
    rows = [(float(i % 3), i % 4, {1: 0.1 * (i % 4 + 1), 2: float(i * 7 % 5)}) for i in range(40)]
    for pairing in PAIRINGS[1:]:
        learner, _, _ = trained(tmp_path, as_svmlight(rows), kind="svmlight", pairing=pairing)
        assert learner.weights[1, 0] == 0 == learner.weights[CONSTANT, 0] and learner.weights[2, 0] != 0


@pytest.mark.parametrize(
    ("pairing", "metric"), [("lambda-ndcg", "ndcg"), ("lambda-map", "map"), ("lambda-ndcg", "ndcg@3")]
)
def test_it_raises_its_metric_where_pairs_contradict_each_other(tmp_path, pairing, metric):
    """The best documents go by feature 0, the many others by feature 1 the other way round."""
    rng, rows = np.random.default_rng(12), []
    for query in range(30):
        for _ in range(20):
            a, b = rng.normal(size=2)
            label = 2.0 if a > 1.3 else 1.0 if b - 0.7 * a > 0 else 0.0
            rows.append((label, query, {0: float(np.float32(a)), 1: float(np.float32(b))}))
    actual = {}
    for kind in ("all", pairing):
        more = {"truncate": 3} if "@" in metric and kind != "all" else {}
        w = trained(tmp_path, as_svmlight(rows), kind="svmlight", pairing=kind, **more)[0].weights[:2, 0]
        scores = np.array([x[0] * w[0] + x[1] * w[1] for _, _, x in rows], np.float32)
        columns = (np.array([q for _, q, _ in rows], np.uint64), np.array([y for y, _, _ in rows], np.float32), scores)
        actual[kind] = Ranking(*columns, np.ones(len(rows), np.float32)).measure(metric)
    assert actual[pairing] > actual["all"] + (0.01 if "ndcg" in metric else -0.001)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=4, max_size=30), st.integers(0, 9))
def test_the_same_seed_gives_the_same_bytes(tmp_path_factory, given_rows, seed):
    rows = [(float(y), q, {1: float(i % 5), 2: float(y)}) for i, (y, q) in enumerate(given_rows)]
    text, folder = as_svmlight(rows), tmp_path_factory.mktemp("same")
    try:
        one, two = (
            trained(folder, text, kind="svmlight", steps=300, seed=seed, pairing="lambda-ndcg")[0].weights
            for _ in range(2)
        )
    except DataError:
        assert not any(len({y for y, q in given_rows if q == query}) > 1 for query in range(3))
        return
    assert one.tobytes() == two.tobytes() and np.isfinite(one).all()


@pytest.mark.parametrize("pairing", METRICS)
def test_a_query_needs_something_relevant(tmp_path, pairing):
    with pytest.raises(DataError, match="one of them above 0"):
        trained(tmp_path, "-1 | a\n0 | b\n", pairing=pairing)
    with pytest.raises(DataError, match="--qid"):
        trained(tmp_path, "1 | a\n1 | b\n", pairing=pairing)


def test_labels_that_are_no_grades(tmp_path):
    text = "5000 | a\n0 | b\n"
    with pytest.raises(DataError, match="no grade"):
        trained(tmp_path, text, pairing="lambda-ndcg")
    for pairing in ("lambda-map", "all"):
        assert trained(tmp_path, text, pairing=pairing)[0].weights.any()


def test_scores_out_of_range_diverge(tmp_path):
    with pytest.raises(Diverged):
        trained(tmp_path, "1 | x:3e38 y:3e38\n0 | x:-3e38\n", pairing="all", rate="constant", learning_rate=100.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pair_buffer": 5}, {"pair_loss": "hinge"}, {"loss": LossConfig("hinge")}, {"rate": "inverse"},
        {"project": True}, {"l1": 0.1}, {"learning_rate": 0.0}, {"truncate": 0}, {"query_limit": 0},
        {"average": False, "average_after": 5},
    ],
)  # fmt: skip
def test_impossible_options(wrong):
    with pytest.raises(UsageError):
        CrrConfig(pairing="lambda-ndcg", **wrong)
    with pytest.raises(UsageError, match="adaptive"):
        CrrConfig(rate="adaptive")
