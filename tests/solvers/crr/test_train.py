"""Combined regression and ranking: steps are the plain twin's, draws are uniform, labels mean what they say."""

import math

import numpy as np
import pytest
from oracle.crr import Twin, every_pair

from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, Diverged, UsageError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.group_columns import Queries
from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr import train
from vwlite.solvers.crr.dataset import GradedLabels, TrainingSet
from vwlite.solvers.crr.pair_sampling import alias_table, pair_index
from vwlite.storage.model_file import load, save
from vwlite.training.listener import Monitor

BITS = 10
CONSTANT = 11650396 % 2**BITS


def quiet(line):
    pass


def read(tmp_path, text, config, kind="vw", **features):
    """The training set of a text."""
    path = tmp_path / "data"
    path.write_text(text)
    features = FeatureConfig(bits=BITS, **features)
    plan = Plan(features)
    queries = Queries(config.queries, features)
    data = TrainingSet(GradedLabels(config.loss), queries, features, plan, InputConfig(kind=kind))
    text = text_format(features, skip_malformed=True)
    inputs = Inputs(InputConfig((str(path),), kind=kind), text, not config.pair_buffer)
    policy = BadLines(data.labels, quiet, BadLinesConfig(strict=True))
    if config.pair_buffer:
        data.read_sample(inputs, policy, config.pair_buffer, config.seed)
    else:
        data.read(inputs, policy)
    inputs.close()
    return data


def descent(config, data, monitor=None, **more):
    """Over all steps."""
    made = train.Descent(config, data, **more)
    made.run(monitor or Monitor())
    return made


def trained(tmp_path, text, **options):
    """Learner, facts and data of a training."""
    loss, kind = options.pop("loss", LossConfig()), options.pop("kind", "vw")
    features = {"noconstant": options.pop("noconstant", False)}
    config = train.CrrConfig(loss=loss, **{"sampling": "pairs", **options})
    made = descent(config, read(tmp_path, text, config, kind, **features))
    return made.learner, made.facts, made.data


def random_text(rng, rows, queries, labels, features=12):
    """Rows of (label, query, {feature: value})."""
    return [
        (
            float(rng.choice(labels)),
            int(rng.integers(queries)),
            {int(f): float(np.float32(rng.normal())) for f in rng.choice(features, 5, replace=False)},
        )
        for _ in range(rows)
    ]


def as_svmlight(rows):
    return "".join(f"{y:g} qid:{q} " + " ".join(f"{f}:{v!r}" for f, v in sorted(x.items())) + "\n" for y, q, x in rows)


def twin_of(rows, data, **how):
    """The twin with the rows in the pair_index's order and the pairs the kernel draws."""
    people = data.pair_index(train.CrrConfig(sampling=how.pop("sampling", "pairs")), True)
    order = people.row.tolist()
    examples = [(rows[i][0], {**rows[i][2], CONSTANT: 1.0}) for i in order]
    seed = how.get("seed", 0) * 0x9E3779B97F4A7C15 % 2**64
    return Twin(examples=examples, pairs=lambda i: people.draw(seed, i, 1)[0].tolist(), **how), people


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("project", [False, True])
def test_steps_are_those_of_the_twin(tmp_path, loss, alpha, project):
    rng = np.random.default_rng(5)
    labels = {"squared": [0, 1, 2], "logistic": [0, 0.5, 1], "hinge": [-1, 1]}[loss]
    rows = random_text(rng, 60, 6, labels)
    how = {"alpha": alpha, "penalty": 0.05, "seed": 3, "project": project}
    learner, _, _ = trained(tmp_path, as_svmlight(rows), kind="svmlight", loss=LossConfig(loss), steps=400, **how)
    data = read(tmp_path, as_svmlight(rows), train.CrrConfig(loss=LossConfig(loss)), "svmlight")
    twin, _ = twin_of(rows, data, loss=loss, **how)
    for i in range(1, 401):
        twin.step(i)
    expected = np.zeros(2**BITS)
    for slot, w in twin.w.items():
        expected[slot] = w
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(learner.weights[:, 0], expected, atol=2e-5, rtol=2e-4)


@pytest.mark.parametrize(("rate", "of"), [("constant", lambda i: 0.02), ("invsqrt", lambda i: 0.02 / math.sqrt(i))])
def test_other_rates(tmp_path, rate, of):
    rows = random_text(np.random.default_rng(6), 40, 3, [0, 1, 2])
    how = {"alpha": 0.4, "penalty": 0.01}
    learner, _, _ = trained(tmp_path, as_svmlight(rows), kind="svmlight", steps=200, rate=rate, **how)
    data = read(tmp_path, as_svmlight(rows), train.CrrConfig(), "svmlight")
    twin, _ = twin_of(rows, data, loss="squared", rate=of, **how)
    for i in range(1, 201):
        twin.step(i)
    for slot, w in twin.w.items():
        assert learner.weights[slot, 0] == pytest.approx(w, abs=1e-5, rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize(("rate", "penalty"), [("inverse", 0.05), ("constant", 0.0), ("invsqrt", 0.01)])
def test_the_l1_penalty_is_the_twins(tmp_path, loss, rate, penalty):
    labels = {"squared": [0, 1, 2], "logistic": [0, 0.5, 1], "hinge": [-1, 1]}[loss]
    rows = random_text(np.random.default_rng(9), 60, 6, labels)
    how = {"alpha": 0.4, "penalty": penalty, "seed": 3, "l1": 0.03}
    text, common = as_svmlight(rows), {"kind": "svmlight", "loss": LossConfig(loss)}
    learner, facts, _ = trained(tmp_path, text, steps=400, rate=rate, **how, **common)
    data = read(tmp_path, text, train.CrrConfig(loss=LossConfig(loss)), "svmlight")
    of = {"inverse": None, "constant": lambda i: 0.02, "invsqrt": lambda i: 0.02 / math.sqrt(i)}[rate]
    twin, _ = twin_of(rows, data, loss=loss, rate=of, **how)
    for i in range(1, 401):
        twin.step(i)
    twin.settle(list(twin.w))
    expected = np.zeros(2**BITS)
    for slot, w in twin.w.items():
        expected[slot] = w
    np.testing.assert_allclose(learner.weights[:, 0], expected, atol=2e-5, rtol=2e-4)
    assert facts["weights"] == np.count_nonzero(learner.weights) and abs(expected).max() > 0.01
    assert np.count_nonzero(learner.weights) <= np.count_nonzero(abs(expected) > 1e-7) + 2


def normal_equations(rows, alpha, penalty):
    """The objective's matrix and right side over all rows and pairs, half squares; the constant is the last."""
    x = np.zeros((len(rows), 13))
    for i, (_, _, terms) in enumerate(rows):
        x[i, 12] = 1
        for feature, value in terms.items():
            x[i, feature] = value
    y = np.array([row[0] for row in rows])
    i, j = np.array(every_pair([row[1] for row in rows], y)).T
    dx, dy = x[i] - x[j], y[i] - y[j]
    square = alpha * x.T @ x / len(x) + (1 - alpha) * dx.T @ dx / len(dx) + penalty * np.eye(13)
    return square, alpha * x.T @ y / len(x) + (1 - alpha) * dx.T @ dy / len(dx)


def penalised_optimum(rows, alpha, penalty, l1):
    """The minimum with an L1 penalty, over all pairs, by FISTA (Beck and Teboulle 2009)."""
    square, right = normal_equations(rows, alpha, penalty)
    bound = np.linalg.eigvalsh(square)[-1]
    w, v, t = np.zeros(13), np.zeros(13), 1.0
    for _ in range(5000):
        moved = v - (square @ v - right) / bound
        new, faster = np.sign(moved) * np.maximum(abs(moved) - l1 / bound, 0), (1 + math.sqrt(1 + 4 * t * t)) / 2
        w, v, t = new, new + (t - 1) / faster * (new - w), faster
    return w


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_with_l1_it_approaches_the_minimum_and_its_zeros(tmp_path, alpha):
    rows = random_text(np.random.default_rng(8), 150, 10, [0, 1, 2])
    rows = [(float(np.clip(round(y + 2 * x.get(0, 0) - x.get(1, 0)), 0, 4)), q, x) for y, q, x in rows]
    how = {"alpha": alpha, "penalty": 0.1, "l1": 0.15, "steps": 1_000_000}
    learner, _, _ = trained(tmp_path, as_svmlight(rows), kind="svmlight", **how)
    actual, best = learner.weights[[*range(12), CONSTANT], 0], penalised_optimum(rows, alpha, 0.1, 0.15)
    np.testing.assert_allclose(actual, best, atol=0.01)
    assert 2 <= np.count_nonzero(best) <= 9
    np.testing.assert_array_equal(actual[abs(best) > 0.02] != 0, True)
    assert np.count_nonzero(actual[best == 0]) <= 1


def squared_optimum(rows, alpha, penalty):
    """The minimum of the objective, half squares, by solving its normal equations."""
    return np.linalg.solve(*normal_equations(rows, alpha, penalty))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_the_run_approaches_the_minimum_of_the_objective(tmp_path, alpha):
    rows = random_text(np.random.default_rng(8), 150, 10, [0, 1, 2])
    learner, facts, _ = trained(tmp_path, as_svmlight(rows), kind="svmlight", alpha=alpha, penalty=0.1, steps=300_000)
    best = squared_optimum(rows, alpha, 0.1)
    np.testing.assert_allclose(learner.weights[[*range(12), CONSTANT], 0], best, atol=0.02)
    assert facts["pairs"] == len(every_pair([r[1] for r in rows], [r[0] for r in rows]))


def small_population(weights=None, sampling="pairs"):
    rng = np.random.default_rng(1)
    queries = rng.integers(0, 5, 40).astype(np.uint64)
    labels = rng.integers(0, 3, 40).astype(np.float32)
    labels[queries == 4] = 1  # a query without pairs
    importance = np.ones(40) if weights is None else weights
    people = pair_index(queries, labels, importance, (np.zeros(40), np.arange(40)), sampling)
    return people, queries, labels


def chi_square(people, expected, draws=400_000):
    """The statistic over unordered pairs of rows, and its degrees of freedom."""
    rows = np.sort(people.row[people.draw(12345, 1, draws)], axis=1)
    result, counts = np.unique(rows, axis=0, return_counts=True)
    seen = {tuple(pair): count for pair, count in zip(result.tolist(), counts.tolist(), strict=True)}
    assert set(seen) <= set(expected)
    total = sum(expected.values())
    wanted = {pair: weight * draws / total for pair, weight in expected.items()}
    return sum((seen.get(pair, 0) - want) ** 2 / want for pair, want in wanted.items()), len(expected) - 1


def assert_fits(statistic, freedom):
    """Within five standard deviations of what chance gives; the seed is fixed, so this never fails by chance."""
    assert abs(statistic - freedom) < 5 * math.sqrt(2 * freedom)


def test_pairs_are_uniform_over_all_pairs():
    people, queries, labels = small_population()
    pairs = every_pair(queries, labels)
    assert people.candidates == len(pairs)
    assert_fits(*chi_square(people, dict.fromkeys(pairs, 1.0)))


def test_importance_two_is_the_row_given_twice():
    weights = np.random.default_rng(2).integers(1, 5, 40).astype(float)
    people, queries, labels = small_population(weights)
    expected = {(i, j): weights[i] * weights[j] for i, j in every_pair(queries, labels)}
    assert people.candidates == pytest.approx(sum(expected.values()))
    assert_fits(*chi_square(people, expected))


def test_queries_may_be_uniform_instead():
    people, queries, labels = small_population(sampling="query")
    pairs = every_pair(queries, labels)
    size = {q: sum(queries[i] == q for i, _ in pairs) for q in range(5)}
    assert_fits(*chi_square(people, {pair: 1 / size[int(queries[pair[0]])] for pair in pairs}))
    assert size[4] == 0


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_alias_table_gives_every_one_its_share(size):
    weight = np.random.default_rng(size).exponential(size=size) ** 3
    chance, other = alias_table(weight)
    share = chance.copy()
    np.add.at(share, other, 1 - chance)
    np.testing.assert_allclose(share / size, weight / weight.sum(), atol=1e-12)


def test_same_seed_same_weights_whatever_the_blocks(tmp_path):
    text = as_svmlight(random_text(np.random.default_rng(3), 50, 4, [0, 1]))
    one, two, other = (trained(tmp_path, text, kind="svmlight", steps=300, seed=seed)[0].weights for seed in (1, 1, 2))
    assert one.tobytes() == two.tobytes() != other.tobytes()


def test_a_pair_buffer_that_holds_all_is_no_sample(tmp_path):
    text = as_svmlight(random_text(np.random.default_rng(4), 50, 4, [0, 1, 2]))
    whole = trained(tmp_path, text, kind="svmlight", steps=500)[0].weights
    kept = trained(tmp_path, text, kind="svmlight", steps=500, pair_buffer=100)[0].weights
    assert kept.tobytes() == whole.tobytes()


def test_a_pair_buffer_stands_for_all_rows(tmp_path):
    text = "".join(f"{int(i % 10 == 0)} 'q{i % 2}| x:{i}\n" for i in range(1000))
    data = read(tmp_path, text, train.CrrConfig(pair_buffer=7))
    labels, weight = np.concatenate(data.columns["label"]), np.concatenate(data.columns["importance"])
    assert len(labels) == 3 * 7  # of query 1, no row has label 1
    assert weight.sum() == pytest.approx(1000)
    assert weight[labels == 1].sum() == pytest.approx(100)


@pytest.mark.parametrize(
    ("labels", "negative", "ends"), [("-1 1", -1, (-1, 1)), ("0 1", 0, (0, 1)), ("0 0.5 1", None, (0, 1))]
)
def test_logistic_takes_classes_and_probabilities(tmp_path, labels, negative, ends):
    text = "".join(f"{label} | a\n" for label in labels.split())
    data = read(tmp_path, text, train.CrrConfig(loss=LossConfig("logistic")))
    data.pair_index(train.CrrConfig(), True)
    assert (data.labels.negative, data.labels.ends) == (negative, ends)


@pytest.mark.parametrize("labels", ["-1 0 1", "0 2", "-0.5 1"])
def test_logistic_refuses_other_labels(tmp_path, labels):
    text = "".join(f"{label} | a\n" for label in labels.split())
    with pytest.raises(DataError):
        trained(tmp_path, text, loss=LossConfig("logistic"), steps=1)


def test_grades_are_logistic_between_limits(tmp_path):
    text = "0 | a:1\n1 | a:2\n2 | a:3\n" * 20
    loss = LossConfig("logistic", logistic_min=0, logistic_max=2)
    learner, _, _ = trained(tmp_path, text, loss=loss, steps=50_000, alpha=1.0, penalty=0.001)
    raw = learner.weights[:, 0].sum()
    assert learner.config.link == "logistic" and raw != 0


@pytest.mark.parametrize("text", ["1 'a| x\n0 'b| x\n", "1 | x\n1 | y\n"])
def test_no_pair_at_all_is_said(tmp_path, text):
    with pytest.raises(DataError, match="--qid"):
        trained(tmp_path, text, steps=1)
    assert trained(tmp_path, text, steps=10, alpha=1.0)[1]["pairs"] == 0


def test_rows_without_label_or_importance_are_left_out(tmp_path):
    text = "1 | x\n0 | y\n| z\n1 0 | x\n\n"
    _, facts, _ = trained(tmp_path, text, steps=10)
    assert (facts["examples"], facts["pairs"]) == (2, 1)


def test_numbers_out_of_range_diverge(tmp_path):
    with pytest.raises(Diverged):
        trained(tmp_path, "1 | x:3e38 y:3e38\n0 | x:-3e38\n", loss=LossConfig("hinge"), steps=100)


def test_namespaces_can_be_queries(tmp_path):
    text = "1 |q a |x u\n0 |q a |x v\n1 |q b |x u\n0 |q c |x v\n"
    _, facts, _ = trained(tmp_path, text, steps=10, queries=QueryConfig("q"))
    assert (facts["queries"], facts["pairs"]) == (3, 1)
    _, facts, _ = trained(tmp_path, text, steps=10, queries=QueryConfig("none"))
    assert (facts["queries"], facts["pairs"]) == (1, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 1.5}, {"alpha": math.nan}, {"penalty": -1}, {"penalty": 0}, {"steps": 0}, {"rate": "slow"},
        {"sampling": "all"}, {"learning_rate": 0.1}, {"rate": "constant", "learning_rate": 0.0},
        {"rate": "constant", "learning_rate": 1000.0}, {"loss": LossConfig("poisson")}, {"pair_buffer": -1},
        {"penalty": 0, "rate": "constant", "project": True}, {"pair_loss": "poisson"},
        {"pair_loss": "hinge", "alpha": 1.0}, {"calibrate": True, "loss": LossConfig("absolute")},
    ],
)  # fmt: skip
def test_impossible_options(wrong):
    with pytest.raises(UsageError):
        train.CrrConfig(**wrong)


def test_the_model_tells_of_its_training(tmp_path):
    config = train.CrrConfig(steps=100, alpha=0.25)
    data = read(tmp_path, "1 'q| x\n0 'q| y\n", config)
    save(tmp_path / "m", *descent(config, data).content())
    header = load(tmp_path / "m").header
    assert header["learner"] == "gd"
    assert header["crr"]["alpha"] == 0.25 and header["crr"]["pairs"] == 1


@pytest.mark.parametrize("after", [None, 0, 150, 299])
@pytest.mark.parametrize(
    ("how", "rate"),
    [
        ({"penalty": 0.05}, None),
        ({"penalty": 0.05, "project": True}, None),
        ({"penalty": 0.01, "rate": "constant"}, lambda i: 0.02),
        ({"penalty": 1.0, "rate": "constant", "learning_rate": 0.9}, lambda i: 0.9),  # whose scale is applied often
    ],
)
def test_the_mean_is_of_the_last_steps(tmp_path, how, rate, after):
    rows = random_text(np.random.default_rng(7), 60, 6, [0, 1, 2])
    asked = {"loss": LossConfig("hinge"), "alpha": 0.5, "seed": 3, "steps": 300, "kind": "svmlight", **how}
    learner, facts, _ = trained(tmp_path, as_svmlight(rows), average=True, average_after=after, **asked)
    assert (facts["average"], facts["average_after"]) == (True, after)
    data = read(tmp_path, as_svmlight(rows), train.CrrConfig(loss=LossConfig("hinge")), "svmlight")
    project = how.get("project", False)
    twin, _ = twin_of(rows, data, loss="hinge", alpha=0.5, penalty=how["penalty"], seed=3, project=project, rate=rate)
    total, first = np.zeros(2**BITS), 150 if after is None else after
    for i in range(1, 301):
        twin.step(i)
        for slot, w in twin.w.items():
            total[slot] += w * (i > first)
    np.testing.assert_allclose(learner.weights[:, 0], total / (300 - first), atol=2e-5, rtol=2e-4)


def test_without_a_mean_a_model_says_nothing_of_it(tmp_path):
    _, facts, _ = trained(tmp_path, "1 |x a\n0 |x b\n", steps=5, alpha=1.0)
    assert not {"average", "average_after"} & facts.keys()


def test_a_mean_of_no_step_is_refused():
    with pytest.raises(UsageError, match="--average_after 5 is not below --steps 5"):
        train.CrrConfig(average=True, average_after=5, steps=5)
