"""``predict --importance-to``: h_min(x, y), beside its formulas in plain Python, and by learning with it."""

import io
import math
import zipfile

import numpy as np
import pytest
from oracle.dyadic_case import LOSSES, MORE_LOSSES, Case, parse
from scipy.integrate import quad
from scipy.optimize import brentq

import vwlite
from vwlite.errors import ModelError, UsageError
from vwlite.learners.active import target_importance_learner
from vwlite.learners.row_results import Results

RATE = 0.1
PLAIN = f"--sgd --invariant --power_t 0 --noconstant -l {RATE}"  # so that a unit of slope moves |x|^2 * RATE
DYADIC = "--dotproduct w,v --rank 2 --dot-first-t 0 --decay_learning_rate 1"  # importances are for the first rate
LINES = [f"{1 + i % 3} |w a{i % 5} b{i % 7}:0.5 c" for i in range(40)]
VOTES = [f"{(-1) ** (i * i % 7)} |w a{i % 5} b{i % 7}:0.5 c" for i in range(40)]
BY_LOSS = {  # h * RATE * |x|^2 that takes a prediction from p to x where the label is y
    "squared": lambda p, x, y: math.log((y - p) / (y - x)) / 2,
    "classic": lambda p, x, y: (x - p) / (2 * (y - p)),  # a plain step
    "quantile": lambda p, x, y: (x - p) / (0.5 if y > p else -0.5),
    "absolute": lambda p, x, y: abs(x - p),
    "poisson": lambda p, x, y: (x - p + math.log((y - math.exp(p)) / (y - math.exp(x)))) / y,
    "hinge": lambda p, x, y: y * (x - p),
    "logistic": lambda p, x, y: y * (x - p) + math.exp(y * x) - math.exp(y * p),
    "exponential": lambda p, x, y: math.exp(y * x) - math.exp(y * p),
    "squared_hinge": lambda p, x, y: math.log((1 - y * p) / (1 - y * x)) / 2,
}


@pytest.mark.parametrize("loss", BY_LOSS)
def test_of_linear_models_it_is_the_formula(loss):
    numbers = loss in ("squared", "classic", "quantile", "absolute", "poisson")
    more = "--label-units raw" if loss in ("squared", "quantile", "absolute") else ""
    model = vwlite.Model(f"{PLAIN} --loss_function {loss} {more}")
    model.learn(LINES if numbers else VOTES)
    y, features = (3 if numbers else 1), "|w a1 b1:0.5 c"
    p = float(model.predict(features, raw=True)[0])
    x = (1.5 * y + p) / 2.5 if loss == "quantile" else 0.6 * (math.log(y) if loss == "poisson" else y) + 0.4 * p
    (told,) = model.importance_to(f"{y} {features}", x, raw=True)
    assert told == pytest.approx(BY_LOSS[loss](p, x, y) / (RATE * 2.25), rel=2e-5)
    (unlabelled,) = model.importance_to(features, x, raw=True)
    assert numbers or unlabelled == told
    assert model.importance_to(f"{y} {features}", 2 * p - x, raw=True)[0] == math.inf
    assert model.importance_to(f"{y} {features}", p, raw=True)[0] == 0


@pytest.mark.parametrize(
    "options",
    [
        "", "--loss_function quantile", "--sgd -l 0.02", "--ftrl", "--l2 0.001", "--l1 0.001 --loss_function logistic",
        "--loss_function logistic --link logistic", "--loss_function lp", "--freeze w", "-q ww --power_t 0.3",
        f"{DYADIC}", f"{DYADIC} --loss_function logistic --link logistic",
        f"{DYADIC} --freeze linear", "--active --simulation --loss_function logistic --mellowness 9",
    ],
)
def test_what_is_learned_with_it_is_predicted_there(options):
    votes = "logistic" in options
    model = vwlite.Model(options)
    lines = [f"{line} |v d{i % 4}" for i, line in enumerate(VOTES if votes else LINES)]
    model.learn(lines)
    before = state(model)
    row = "|w a2 b3:0.5 c |v d1"
    p, label = model.predict(row)[0].item(), 1 if votes else 4
    x = p + 0.3 * ((1 if "--link" in options else label) - p)
    (told,) = model.importance_to(f"{label} {row}", x)
    assert 0 < told < math.inf and state(model) == before
    model.learn(f"{label} {told.item()!r} {row}")
    assert model.predict(row)[0] == pytest.approx(x, abs=2e-5 * max(1, abs(x - p)))


def state(model):
    with zipfile.ZipFile(io.BytesIO(model.dumps())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("loss", [*LOSSES, *MORE_LOSSES])
def test_of_dyadic_models_it_is_the_integral_along_the_flow(loss):
    case, rng = Case(loss, rank=3, learning_rate=RATE), np.random.default_rng(4)
    case.fill(rng, 0.3)
    case.set_range()
    row, y = "|a u1 u2:0.5 |b i3:2", 1.0
    twin = case.twin()
    flow, p = twin.flow(case.row(f"{y} {row}"), 0.0), twin.predict(case.row(f"{y} {row}"))
    x = p + 0.4 * ((0 if loss == "poisson" else y) - p)
    function = (LOSSES | MORE_LOSSES)[loss]
    end = brentq(lambda s: flow.p(s) - x, -5, 5, xtol=1e-14)
    expected = quad(lambda s: 1 / (RATE * function.slope(flow.p(s), y)), 0, end)[0]
    learner = target_importance_learner(case.learner, x, raw=True)
    results, batch = Results(), parse(f"{y} {row}")
    results.want_flip_importance()
    results.reserve(1)
    learner.run(batch, case.plan, results, 0, 1)
    assert results.flip_importance[0] == pytest.approx(expected, rel=1e-4)


REFUSED = {
    "--multiclass 3": "models of one number", "--coin": "models of one number", "--levels 1..3": "without --levels",
    "--bfgs --passes 3": "models of one number", "--loss_function poisson --link poisson": "are above 0, and never -2",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_has_none_is_refused(options):
    model = vwlite.Model(options)
    model.learn(LINES)
    with pytest.raises(UsageError, match=REFUSED[options]):
        model.importance_to("|w a1", -2)


def test_least_squares_in_memory_are_refused(tmp_path):
    (tmp_path / "d").write_text("".join(f"{line} |v d{i % 4}\n" for i, line in enumerate(LINES)))
    model = vwlite.train(tmp_path / "d", "--dotproduct w,v --als --rank 2")
    with pytest.raises(UsageError, match="or --als"):
        model.importance_to("|w a1 |v d1", 2)


def test_a_model_of_weights_alone_is_refused(tmp_path):
    model = vwlite.Model()
    model.learn(LINES)
    model.save(tmp_path / "m", predict_only=True)
    with pytest.raises(ModelError, match="does not have the rates of training"):
        vwlite.Model.load(tmp_path / "m").importance_to("|w a1", 2)


def test_of_adaptive_rates_of_vectors_it_is_for_those_before_the_example():
    model = vwlite.Model("--dotproduct w,v --rank 2 --dot-rates adaptive --dot-l2 0")
    model.learn([f"{line} |v d{i % 4}" for i, line in enumerate(LINES * 9)])
    row = "|w a2 b3:0.5 c |v d1"
    p = model.predict(row)[0].item()
    (told,) = model.importance_to(f"4 {row}", p + 0.2)
    model.learn(f"4 {told.item()!r} {row}")
    assert model.predict(row)[0] == pytest.approx(p + 0.2, abs=0.01)
