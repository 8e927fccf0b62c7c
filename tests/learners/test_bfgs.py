"""Batch optimisation: its sums against a plain twin, the minimum against closed forms, its table against vw's."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.curved_losses import loss_of
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import feature_config

from vwlite.errors import UsageError
from vwlite.expand import FeatureConfig, Plan
from vwlite.learners.bfgs import Bfgs, BfgsConfig
from vwlite.losses import LossConfig
from vwlite.parsing import parse_text
from vwlite.results import Results

from .test_gd import problems

WIDE = {"min_prediction": -1000.0, "max_prediction": 1000.0}


def run_pass(learner, lines, features, held=None, chunk=None):
    batch, results = parse_text(b"\n".join(lines), features.text_format(strict=False)), Results()
    results.make_room(len(batch))
    results.held = None if held is None else np.array(held, np.uint8)
    chunk = chunk or len(batch)
    for begin in range(0, len(batch), chunk):
        learner.run(batch, Plan(features), results, begin, min(begin + chunk, len(batch)))
    return results


LOSSES = ("squared", "logistic", "quantile", "poisson")


@given(problems(losses=LOSSES), st.integers(0, 2**31), st.sampled_from([1, 3, 99]))
def test_a_pass_sums_what_the_twin_sums(problem, seed, chunk):
    lines, options, held = problem
    features, rng = feature_config(options), np.random.default_rng(seed)
    config = BfgsConfig(loss=LossConfig(options.loss, quantile_tau=options.quantile_tau), **WIDE)
    options.min_prediction, options.max_prediction = -1000.0, 1000.0
    learner = Bfgs(config, options.bits, strict=False)
    slots = 1 << options.bits
    learner.weights[:, 0] = rng.integers(-3, 4, slots) / 4
    learner.weights[:, 2] = rng.integers(-3, 4, slots)
    w, d = learner.weights[:, 0].astype(float), learner.weights[:, 2].astype(float)
    wanted = {"g": np.zeros(slots), "h": np.zeros(slots), "loss": 0.0, "weight": 0.0, "curvature": 0.0}
    loss, seen = loss_of(options), set()
    loss.low, loss.high = np.float32(-1000), np.float32(1000)
    for number, line in enumerate(lines):
        example = parse_line(line, options)
        terms = expand(example, options, seen)[0]
        if np.isnan(example.label) or (held and held[number]) or not example.importance > 0:
            continue
        y, weight = example.label, float(example.importance)
        p = np.float32(sum(w[slot] * float(x) for slot, x, *_ in terms) + float(example.base))
        p = min(max(p, np.float32(-1000)), np.float32(1000))
        assume(abs(p) < 16 or options.loss in ("squared", "quantile"))  # odds within single precision
        along = sum(d[slot] * float(x) for slot, x, *_ in terms) + float(example.base)
        slope, bend = float(loss.dl(p, y)) * weight, float(loss.second(p, y)) * weight
        wanted["loss"] += float(loss.value(p, y)) * weight
        wanted["weight"] += weight
        wanted["curvature"] += along * along * bend
        for slot, x, *_ in terms:
            wanted["g"][slot] += slope * float(x)
            wanted["h"][slot] += bend * float(x) ** 2
    run_pass(learner, lines, features, held, chunk)
    close = {"rtol": 1e-4, "atol": 1e-3}
    np.testing.assert_allclose(learner.weights[:, 1], wanted["g"], **close)
    np.testing.assert_allclose(learner.weights[:, 3], wanted["h"], **close)
    np.testing.assert_allclose(learner.sums[:2], [wanted["loss"], wanted["weight"]], **close)
    learner.gradient = learner.first = False
    run_pass(learner, lines, features, held, chunk)
    np.testing.assert_allclose(learner.sums[2], wanted["curvature"], rtol=1e-4, atol=1e-2)


def data(loss, rows=60, inputs=5):
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=(rows, inputs)), 3)
    y = np.round(x @ np.arange(1, inputs + 1) / 3 + rng.normal(size=rows), 3)
    y = np.where(y > 0, 1, -1) if loss == "logistic" else y
    text = [f"{t} | " + " ".join(f"f{i}:{v}" for i, v in enumerate(row)) for t, row in zip(y, x, strict=True)]
    return [line.encode() for line in text], x, y


def optimise(loss, passes=40, **options):
    lines, x, y = data(loss)
    features = FeatureConfig(bits=10, noconstant=True)
    learner = Bfgs(BfgsConfig(loss=LossConfig(loss), l2=0.5, termination=0.0, **WIDE, **options), 10)
    told = []
    learner.watch(passes, told.append, lambda: None)
    while not learner.finished:
        run_pass(learner, lines, features)
        learner.end_pass()
    terms = [expand(parse_line(lines[0], Options(bits=10)), Options(bits=10, noconstant=True), set())[0]]
    return learner.weights[[slot for slot, *_ in terms[0]], 0], x, y, told


@pytest.mark.parametrize("options", [{}, {"hessian_on": True}, {"conjugate_gradient": True}, {"mem": 2}])
def test_ridge_regression_has_its_closed_form(options):
    w, x, y, told = optimise("squared", **options)
    best = np.linalg.solve(2 * x.T @ x + 0.5 * np.eye(5), 2 * x.T @ y)
    np.testing.assert_allclose(w, best, atol=2e-4)
    rows = [line.split() for line in told if line.strip()[:1].isdigit()]
    assert [int(row[0]) for row in rows][:2] == [1, 3] and float(rows[1][1]) < float(rows[0][1])


@pytest.mark.parametrize("options", [{}, {"hessian_on": True}])
def test_the_logistic_minimum_has_no_slope(options):
    w, x, y, _ = optimise("logistic", **options)
    slope = -(x * (y / (1 + np.exp(y * (x @ w))))[:, None]).sum(0) + 0.5 * w
    assert abs(slope).max() < 2e-3


def test_it_needs_two_passes_and_takes_no_other_rule():
    with pytest.raises(UsageError, match="at least 2 passes"):
        Bfgs(BfgsConfig(), 4).watch(1, print, lambda: None)
    for options in ({"mem": -1}, {"termination": 1.0}, {"ftrl": True}):
        with pytest.raises(UsageError, match=f"--{next(iter(options))}"):
            BfgsConfig(**options)
