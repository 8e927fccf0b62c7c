"""``aso tasks``: the optimum by NumPy, an objective that never rises, what the alternation gains, and files."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.oracle.multi_task import logistic_optimum, objective, optimum
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.solvers.aso.config import TasksConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.task_data import Task, fit_task, solve_task, task_rows
from vwlite.solvers.aso.tasks import Rounds, content, learn_tasks, load_tasks
from vwlite.storage.model_file import save
from vwlite.training.listener import Monitor


class Said(Monitor):
    """Keeps what is remarked."""

    def __init__(self, remarks):
        self.remark = remarks.append


def problem(seed, m=200, p=50, n=20, h=2, noise=0.5):
    """Tasks whose weights are in h dimensions, with their true weights float64[p, m]."""
    rng = np.random.default_rng(seed)
    u = np.linalg.qr(rng.normal(size=(p, h)))[0] @ rng.normal(size=(h, m)) * 1.5
    x = rng.normal(size=(m, n, p))
    return x, np.einsum("mnp,pm->mn", x, u) + noise * rng.normal(size=(m, n)), u


def tasks_of(x, y, penalty=0.1):
    count, features = x.shape[1:]
    root, own = np.ones(count), np.arange(features)
    return [Task(a, b, root, own, float(count), penalty) for a, b in zip(x, y, strict=True)]


def alternated(tasks, p, **options):
    result = Rounds(tasks, np.ones(p, bool), TasksConfig(**options), Monitor())
    result.run()
    return result.u, result.theta, result.of_unknown_tasks(), result.bias, result.objectives


@pytest.mark.parametrize("n", [1, 3, 12, 40])
@pytest.mark.parametrize("h", [0, 1, 3])
@pytest.mark.parametrize("constant", [True, False])
def test_a_task_is_solved_as_by_least_squares(n, h, constant):
    rng = np.random.default_rng(n * 10 + h)
    x, y, weight = rng.normal(size=(n, 8)), rng.normal(size=n), rng.uniform(0.5, 3, n)
    theta = np.linalg.qr(rng.normal(size=(20, max(h, 1))))[0][:, :h]
    own, root = np.arange(8) * 2, np.sqrt(weight)
    task = Task(x * root[:, None], y * root, root, own, float(weight.sum()), 0.3)
    w, v, bias, value = solve_task(task, theta, constant)
    expected = optimum(x, y, weight, theta[own], 0.3, constant)
    assert value == pytest.approx(expected[3], rel=1e-5, abs=1e-9)
    np.testing.assert_allclose(w, expected[0], atol=1e-5)
    np.testing.assert_allclose(x @ (theta[own] @ v) + bias, x @ (theta[own] @ expected[1]) + expected[2], atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_equation_8_and_never_rises(seed):
    x, y, _ = problem(seed, m=30, p=12, n=8)
    u, theta, common, bias, objectives = alternated(tasks_of(x, y), 12, dim=3, iterations=30, tolerance=0)
    assert len(objectives) == 31 and all(later <= before * (1 + 1e-9) for before, later in pairwise(objectives))
    np.testing.assert_allclose(theta.T @ theta, np.eye(3), atol=1e-10)
    assert objectives[-1] == pytest.approx(objective(list(zip(x, y, strict=True)), u, bias, theta, 0.1), rel=1e-8)
    np.testing.assert_allclose(theta @ (theta.T @ common), common, atol=1e-8)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_a_common_part_never_raises_the_objective_and_is_found(dim):
    x, y, true = problem(5, m=40, p=12, n=8)
    shift = np.arange(12.0)
    actual = {}
    for centre in (False, True):
        how = {"dim": dim, "iterations": 200, "tolerance": 0, "centre": centre, "constant": False}
        _, _, actual[centre], _, objectives = alternated(tasks_of(x, y + x @ shift), 12, **how)
        assert all(later <= before * (1 + 1e-9) for before, later in pairwise(objectives))
    assert np.linalg.norm(actual[True] - (true.mean(1) + shift)) < 0.15 * np.linalg.norm(shift)


def test_it_stops_where_a_round_gains_little():
    x, y, _ = problem(1, m=30, p=12, n=8)
    *_, objectives = alternated(tasks_of(x, y), 12, iterations=100, tolerance=1e-3)
    assert 3 < len(objectives) < 60
    assert objectives[-2] - objectives[-1] <= 1e-3 * objectives[-2] < objectives[-3] - objectives[-2]


def test_what_tasks_share_makes_the_error_a_tenth():
    """200 tasks of 20 examples and 50 inputs, error against the noiseless target."""
    actual = {"independent": [], 1: [], 10: []}
    for seed in range(3):
        x, y, true = problem(seed)
        for name in actual:
            how = {"dim": 0} if name == "independent" else {"iterations": name}
            u, *_ = alternated(tasks_of(x, y), 50, constant=False, **how)
            actual[name].append(((u - true) ** 2).sum(0).mean())
    mean = {name: np.mean(errors) for name, errors in actual.items()}
    assert mean["independent"] > 2.5 and mean[1] < 0.44 and mean[10] < 0.3


def corpus(tmp_path, lines, name="tasks.vw"):
    path = tmp_path / name
    path.write_text("".join(line + "\n" for line in lines))
    return Corpus(BadLines(None, None, BadLinesConfig(strict=True)), tags=True).read([str(path)])


def shops(seed, count=120, tag=False, order=None):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        shop, x = rng.integers(9), rng.normal(size=5)
        name = f"shop{shop if order is None else order[shop]}"
        y = shop * (x[0] - x[1]) + rng.normal() * 0.1 + shop
        features = " ".join(f"f{at}:{value:.4f}" for at, value in enumerate(x))
        lines.append(f"{y:.5f} '{name}|f {features}" if tag else f"{y:.5f} |shop {name} |f {features}")
    return lines


def predicted(model, data):
    return model.predict(task_rows(data, model.words, model.config.task, model.tasks))


def test_the_task_is_a_tag_or_a_feature(tmp_path):
    one, other = (
        learn_tasks(corpus(tmp_path, shops(1, tag=tag)), TasksConfig(task=source))
        for tag, source in ((True, "tag"), (False, "shop"))
    )
    assert one.tasks == other.tasks and one.u.tobytes() == other.u.tobytes()
    data = corpus(tmp_path, shops(2), "test.vw")
    true = np.array([float(text) for text in data.texts])[data.label]
    assert np.mean((predicted(other, data) - true) ** 2) < 0.1


def test_other_names_permute_the_model(tmp_path):
    order = [4, 2, 8, 0, 1, 7, 3, 6, 5]
    one = learn_tasks(corpus(tmp_path, shops(1)), TasksConfig(task="shop"))
    other = learn_tasks(corpus(tmp_path, shops(1, order=order)), TasksConfig(task="shop"))
    place = [other.tasks.index(f"shop{order[int(name[4:])]}") for name in one.tasks]
    np.testing.assert_allclose(other.u[:, place], one.u[:, :-1], atol=1e-4)
    np.testing.assert_allclose(other.bias[place], one.bias[:-1], atol=1e-4)


def test_an_importance_of_two_is_two_examples(tmp_path):
    lines = shops(3)
    double = [line.replace(" |", " 2 |", 1) if at % 3 == 0 else line for at, line in enumerate(lines)]
    models = [learn_tasks(corpus(tmp_path, text), TasksConfig(task="shop")) for text in (double, [*lines, *lines[::3]])]
    np.testing.assert_allclose(models[0].u, models[1].u, atol=1e-4)


def test_lambda_of_a_task_own_namespaces_and_dim(tmp_path):
    data = corpus(tmp_path, [line + f" |g g{at % 2}" for at, line in enumerate(shops(1))])
    said = []
    config = TasksConfig(task="shop", dim=50, own=("g",), penalties=(("shop3", 1e6),))
    model = learn_tasks(data, config, Said(said))
    assert any("cut to 9" in line for line in said)
    assert not model.theta[model.words.space == model.words.spaces.index("g")].any()
    plain = learn_tasks(data, replace(config, penalties=()))
    own = model.words.space == model.words.spaces.index("g")
    at = model.tasks.index("shop3")
    assert np.abs(model.u[own, at]).max() < 1e-4 < np.abs(plain.u[own, at]).max()


def test_a_model_in_a_file(tmp_path):
    model, data = learn_tasks(corpus(tmp_path, shops(1)), TasksConfig(task="shop")), corpus(tmp_path, shops(2))
    save(str(tmp_path / "model"), *content(model))
    again = load_tasks(str(tmp_path / "model"))
    assert predicted(again, data).tobytes() == predicted(model, data).tobytes()
    model.tasks[1] = model.tasks[0]
    save(str(tmp_path / "model"), *content(model))
    with pytest.raises(ModelError, match="the names of its tasks"):
        load_tasks(str(tmp_path / "model"))


@pytest.mark.parametrize(
    ("lines", "config", "error", "said"),
    [
        (["a |shop s |f x"], {"task": "shop"}, DataError, "labels of tasks are numbers, and one is a"),
        (["1 |f x"], {"task": "shop"}, DataError, "names its task by a feature of namespace shop"),
        (["|shop s |f x"], {"task": "shop"}, DataError, "no labelled example"),
        (["1 |f x"], {}, DataError, "by a tag"),
        (["1 's|f x"], {"own": ("g",)}, UsageError, "--own g"),
        (["1 's|f x"], {"penalties": (("t", 1.0),)}, UsageError, "--lambda-task t"),
        (["1 's|f x"], {"memory": 1.0}, UsageError, "--max-memory"),
    ],
)
def test_what_cannot_be_learned(tmp_path, lines, config, error, said):
    with pytest.raises(error, match=said):
        learn_tasks(corpus(tmp_path, lines), TasksConfig(**config))


@pytest.mark.parametrize("n", [6, 12, 40])
@pytest.mark.parametrize("h", [0, 2])
@pytest.mark.parametrize("constant", [True, False])
def test_a_task_of_two_classes_is_solved_as_by_newton_steps(n, h, constant):
    rng = np.random.default_rng(n * 10 + h)
    x, weight = rng.normal(size=(n, 8)), rng.uniform(0.5, 3, n)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    theta = np.linalg.qr(rng.normal(size=(20, max(h, 1))))[0][:, :h]
    own, root, common = np.arange(8) * 2, np.sqrt(weight), 0.1 * rng.normal(size=20)
    task = Task(x * root[:, None], y * root, root, own, float(weight.sum()), 0.05)
    w, v, bias, value, score = fit_task(task, theta, constant, common, np.zeros(n))
    expected = logistic_optimum(x, y, weight, theta[own], 0.05, constant, x @ common[own])
    assert value == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(score, x @ (w + theta[own] @ v + common[own]) + bias, atol=1e-9)
    losses = np.average(np.logaddexp(0, -y * score), weights=weight)
    assert value == pytest.approx(losses + 0.05 * w @ w) and value < np.log(2)


@pytest.mark.parametrize("n", [6, 12, 40])
@pytest.mark.parametrize("h", [0, 2])
def test_modified_huber_loss_has_no_slope_where_a_task_is_solved(n, h):
    """The objective is convex, with a continuous gradient."""
    rng = np.random.default_rng(n * 10 + h)
    x, weight = 2 * rng.normal(size=(n, 8)), rng.uniform(0.5, 3, n)
    y = np.where(rng.uniform(size=n) < 0.3, -1.0, 1.0)
    theta = np.linalg.qr(rng.normal(size=(20, max(h, 1))))[0][:, :h]
    own, root, common = np.arange(8) * 2, np.sqrt(weight), 0.1 * rng.normal(size=20)
    task = Task(x * root[:, None], y * root, root, own, float(weight.sum()), 0.05)
    w, v, bias, value, score = fit_task(task, theta, True, common, np.zeros(n), "modified_huber")
    np.testing.assert_allclose(score, x @ (w + theta[own] @ v + common[own]) + bias, atol=1e-9)
    margin, share = y * score, weight / weight.sum()
    losses = [(1 - m) ** 2 if 1 > m >= -1 else -4 * m if m < -1 else 0.0 for m in margin.tolist()]
    assert value == pytest.approx(share @ losses + 0.05 * w @ w)
    slope = -y * share * [2 * (1 - m) if 1 > m >= -1 else 4 if m < -1 else 0.0 for m in margin.tolist()]
    whole = np.concatenate((x.T @ slope + 0.1 * w, (x @ theta[own]).T @ slope, [slope.sum()]))
    assert np.abs(whole).max() < 1e-3


@pytest.mark.parametrize("options", [{}, {"centre": True}, {"constant": False}, {"loss": "modified_huber"}])
def test_the_objective_of_two_classes_never_rises(options):
    x, y, _ = problem(3, m=30, n=15)
    _, theta, _, _, objectives = alternated(
        tasks_of(x, np.where(y > 0, 1.0, -1.0)), 50, dim=2, iterations=4, **{"loss": "logistic", **options}
    )
    assert all(after <= before * (1 + 1e-9) for before, after in pairwise(objectives)) and len(objectives) > 2
    np.testing.assert_allclose(theta.T @ theta, np.eye(2), atol=1e-9)


def test_a_task_of_one_class_ends_and_is_finite():
    x = np.random.default_rng(1).normal(size=(1, 5, 4))
    u, _, _, bias, objectives = alternated(tasks_of(x, np.ones((1, 5))), 4, dim=0, loss="logistic")
    assert np.isfinite(u).all() and np.isfinite(bias).all() and 0 < objectives[-1] < 0.1
