"""The mean of the iterates against its definition, and what goes on from it."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle.average import Average as Twin
from oracle.counters import Counters
from oracle.driver import one_example
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from passes import run_passes
from vwtext import gd_config

from vwlite.errors import UsageError
from vwlite.learners.average import Average
from vwlite.learners.configs.gd import AverageConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig

from .test_gd import learn, learn_like_twin, problems

AFTER = st.sampled_from([None, None, 0, 1, 3, 20])


@st.composite
def cases(draw):
    """Lines, options and what is held out; after how many examples the mean begins."""
    lines, options, held = draw(problems())
    options.l1 = 0.0
    return (lines, options, held), draw(AFTER)


def average_of(options, after=None, **changes):
    plain = gd_config(options)
    same = {field.name: getattr(plain, field.name) for field in fields(plain)}
    config = AverageConfig(**same, average=True, average_after=after)
    return Average(config, options.bits, **{"vw_compat": True, **changes})


def mean_of(learner):
    """The weights that a model predicts with, float32[slots]."""
    return learner.tester().weights[:, 0]


def check_mean(learner, twin):
    size = max([np.abs(iterate).max() for iterate in twin.iterates], default=0)
    np.testing.assert_allclose(mean_of(learner), twin.mean(), rtol=1e-5, atol=3e-6 * size)


@given(cases())
def test_rows_and_the_mean_are_the_twins(case):
    (lines, options, held), after = case
    twin = Twin(options, after)
    wanted, _ = learn_like_twin(lines, options, held, twin)
    assume(np.isfinite(wanted.table).all() and np.isfinite(wanted.rows).all() and np.abs(wanted.table).max() < 1e10)
    assume(options.loss != "logistic" or (abs(wanted.rows[:, 1]) < 16).all())
    learner = average_of(options, after)
    actual, _ = learn(lines, options, held, learner=learner)
    np.testing.assert_array_equal(actual.table, wanted.table)
    np.testing.assert_allclose(actual.rows, wanted.rows, rtol=1e-4, atol=1e-4)
    assert learner.get("learned") == len(twin.iterates)
    assert learner.get("mean_count") == len(twin.iterates[twin.first() :])
    if not learner.kernel.overshrunk[0]:  # where a step leaves nothing of the weights, digits of the sums are lost
        check_mean(learner, twin)


@given(cases(), st.integers(1, 3))
def test_iterates_are_those_of_plain_gradient_descent(case, passes):
    (lines, options, held), after = case
    plain, learner = Gd(gd_config(options), options.bits, vw_compat=True), average_of(options, after)
    rows, expected = run_passes(learner, case[0], passes), run_passes(plain, case[0], passes)
    columns = min(len(plain.columns), plain.stride)  # a narrow table has two
    np.testing.assert_array_equal(learner.weights[:, :columns], plain.weights[:, :columns])
    if not held:
        learned = ~np.isnan(expected).any(axis=1) & np.tile([b" " in line for line in lines], passes)
        np.testing.assert_array_equal(rows[learned, 3], expected[learned, 3])


OVERSHRUNK = Options(bits=3, rules=frozenset({"sgd", "adaptive"}), power_t=0.0, l2=0.1)  # 1 - l2 * rate < 0


@example((([b"1 3 |x b"], OVERSHRUNK, None), None), 1, 2)
@given(cases(), st.sampled_from([1, 2, 7]), st.integers(1, 3))
def test_chunks_and_a_stop_after_a_pass_give_the_same_bytes(case, chunk, passes):
    problem, after = case
    one, stopped, again = (average_of(problem[1], after) for _ in range(3))
    whole = run_passes(one, problem, passes + 1)
    first = run_passes(stopped, problem, passes, chunk)
    tables = stopped.tables(predict_only=False)
    again.load(
        {name: table._replace(values=table.values.copy()) for name, table in tables.items()},
        dict(zip(again.SCALARS, stopped.scalars, strict=True)),
        whole=True,
    )
    second = run_passes(again, problem, 1, chunk)
    np.testing.assert_array_equal(np.concatenate([first, second]).view(np.uint32), whole.view(np.uint32))
    actual, expected = again.tables(predict_only=False), one.tables(predict_only=False)
    for name, table in expected.items():
        kept = len(table.names)
        assert actual[name].values[:, :kept].tobytes() == table.values[:, :kept].tobytes()
    assert again.scalars.tobytes() == one.scalars.tobytes()


@given(cases())
def test_what_is_held_out_is_predicted_as_by_the_model(case):
    (lines, options, held), after = case
    learner = average_of(options, after)
    learn(lines, options, held, learner=learner)
    learner.apply_shrinkage()
    assume(np.isfinite(learner.weights).all())
    tester = learner.tester()
    told, _ = learn(lines, options, learner=tester)
    shown, _ = learn(lines, options, [1] * len(lines), learner=learner)
    np.testing.assert_array_equal(told.rows, shown.rows)


def long_run(options, count):
    rng = np.random.default_rng(4)
    x = rng.integers(-3, 4, (count, 4)) * 0.5
    words = [b" ".join(b"f%d:%g" % (i, value) for i, value in enumerate(row) if value) for row in x]
    y = np.where(x @ [1, -2, 0.5, 1] + rng.normal(size=count) > 0, 1, -1)
    lines = [b"%d |x %s" % one for one in zip(y.tolist(), words, strict=True)]
    twin, learner, counters, seen = Twin(options), average_of(options), Counters(options), set()
    for line in lines:
        example = parse_line(line, options)
        one_example(twin, counters, (example, expand(example, options, seen)), held=False)
    learn(lines, options, learner=learner)
    return twin, learner


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100, 255, 256])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "perceptron"])
def test_the_mean_is_of_the_last_half_to_three_quarters(count, loss):
    twin, learner = long_run(Options(bits=8, loss=loss), count)
    assert count == 1 or count / 2 <= learner.get("mean_count") <= 3 * count / 4
    check_mean(learner, twin)


def test_shrinkage_that_is_applied_to_the_table_does_not_change_the_mean():
    options = Options(bits=8, loss="logistic", rules=frozenset({"sgd"}), learning_rate=0.6, power_t=0.0, l2=0.5)
    twin, learner = long_run(options, 300)
    assert learner.get("contraction") > 1e-9 and 0.7**300 < 1e-40  # it was applied some times
    check_mean(learner, twin)
    before = mean_of(learner).copy()
    learner.apply_shrinkage()
    assert learner.get("contraction") == 1
    np.testing.assert_allclose(mean_of(learner), before, rtol=1e-5)


def test_a_mean_that_has_not_begun_is_said_and_the_last_weights_predict():
    learner = average_of(Options(bits=8), 7)
    learn([b"1 |x a b", b"2 |x a"], Options(bits=8), learner=learner)
    assert learner.warnings() == ["2 examples were learned, and --average_after is 7: the model has the last weights"]
    np.testing.assert_array_equal(mean_of(learner), learner.weights[:, 0])
    learn([b"1 |x a b", b"2 |x a"] * 3, Options(bits=8), learner=learner)
    assert learner.warnings() == [] and learner.get("mean_count") == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ftrl": True}, "--ftrl does not go with --average: its weights follow from sums already"),
        ({"l1": 1e-6}, "--l1 does not go with --average: a mean of sparse weights is not sparse"),
        ({"average_after": -1}, "--average_after takes 0 or more examples, not -1"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(UsageError, match=message):
        AverageConfig(**{"loss": LossConfig("logistic"), "average": True, **changes})


def test_sums_of_another_shape_are_refused():
    learner = average_of(Options(bits=8))
    tables = learner.tables(predict_only=False)
    tables["sums"] = tables["sums"]._replace(values=np.zeros((256, 2), np.float32))
    with pytest.raises(ValueError, match=r"a table of shape \(256, 2\), not \(256, 4\)"):
        learner.load(tables, dict(zip(learner.SCALARS, learner.scalars, strict=True)), whole=True)
    learner.sums = np.zeros((16, 4), np.float32)
    with pytest.raises(ValueError, match="the sums do not fit the table"):
        learn([b"1 |x a"], Options(bits=8), learner=learner)
