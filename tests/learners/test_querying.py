"""Active learning and confidences against their plain twin, row by row."""

from dataclasses import fields
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from oracle.active import Active as Twin
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import feature_config, gd_config

from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged, UsageError
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.active import Active
from vwlite.learners.configs.active import ActiveConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.row_results import Results

from .test_gd import problems

KINDS = {
    "simulation": {"active": True, "simulation": True},
    "active": {"active": True},
    "confidence": {"confidence": True},
    "after": {"confidence": True, "confidence_after_training": True},
}


@st.composite
def cases(draw):
    """Kind, lines, options, what is held out, mellowness, seed, whether predictions are -1 or 1, whether strict."""
    lines, options, held = draw(problems(losses=("squared", "logistic", "hinge")))
    kind = draw(st.sampled_from(sorted(KINDS)))
    chances = draw(st.tuples(st.sampled_from([8.0, 0.0, 1e-3, 0.1]), st.integers(0, 100), st.booleans(), st.booleans()))
    return kind, lines * draw(st.sampled_from([1, 4])), options, held and held * 4, *chances


def learn(case, chunk=None):
    """``(rows, table, learner)``: float32[n, 5] of prediction, loss, label, weight and what is told."""
    kind, lines, options, held, mellowness, seed, binary, strict = case
    plain = gd_config(options)
    stated = {field.name: getattr(plain, field.name) for field in fields(GdConfig)}
    stated |= {"mellowness": mellowness, "random_seed": seed, "binary": binary, **KINDS[kind]}
    learner = Active(ActiveConfig(**stated), options.bits, vw_compat=not strict)
    features = feature_config(options)
    batch = parse_text(b"\n".join(lines), text_format(features, skip_malformed=False))
    plan, results = Plan(features), Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held[: len(batch)], np.uint8)
    queries = 0
    for begin in range(0, len(batch), chunk or len(batch)):
        try:
            learner.run(batch, plan, results, begin, min(begin + (chunk or len(batch)), len(batch)))
        except Diverged:
            assume(False)
        queries += learner.queried
    assert queries == learner.get("queries")
    counted = learner.counted(batch)
    told = learner.extra_output[: len(batch)] if kind != "simulation" else np.zeros(len(batch), np.float32)
    rows = np.column_stack([results.prediction, results.loss, counted.label, counted.importance, told])
    return rows, learner.weights.copy(), learner


TINY_MARGIN = (
    "active", [b"-1 |x b", b"1 |x", b"1 |x b:1e-10"],
    Options(bits=10, loss="logistic", rules=frozenset(), link="logistic", noconstant=True),
    None, 8.0, 0, True, False,
)


BETWEEN_TWO_CLASSES = (
    "active", [b"1 |x", b"0 |x a a a a a"] * 4,
    Options(bits=10, loss="logistic", rules=frozenset({"invariant"})),
    None, 8.0, 0, False, False,
)


@given(cases())
@example(TINY_MARGIN)
@example(BETWEEN_TWO_CLASSES)
def test_like_the_twin(case):
    kind, lines, options, held, mellowness, seed, binary, strict = case
    options.own = strict
    passed = accumulate(parse_line(line, options).importance for line in lines)
    assume(min(passed) >= 0)  # rates divide by it
    rows, table, learner = learn(case)
    twin, seen = Twin(kind, options, mellowness, seed, binary, strict), set()
    for number, (line, row) in enumerate(zip(lines, rows, strict=True)):
        example = parse_line(line, options)
        _, loss, label, weight, told = twin.run((example, expand(example, options, seen)), bool(held and held[number]))
        if not binary:
            np.testing.assert_array_equal(row[1], loss)
        np.testing.assert_array_equal(row[2:4], [label, weight])
        if told is not None:
            np.testing.assert_array_equal(row[4], told)
    np.testing.assert_array_equal(table[:, 0], twin.gd.w)
    assert (int(learner.random_state[0]), learner.get("queries")) == (twin.chance, twin.queries)
    assert (learner.get("sum_loss"), learner.get("labeled_weight")) == (twin.sum_loss, twin.labeled)


@given(cases(), st.integers(1, 3))
def test_chunks_change_nothing(case, chunk):
    for whole, parts in zip(learn(case)[:2], learn(case, chunk)[:2], strict=True):
        np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"active": True, "confidence": True}, "--active and --confidence do not go together"),
        ({"active": True, "confidence_after_training": True}, "--confidence_after_training needs --confidence"),
        ({"confidence": True, "simulation": True}, "--simulation needs --active"),
        ({"active": True, "mellowness": -1.0}, "--mellowness takes a number of 0 or more"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        ActiveConfig(**options)


def test_the_kernel_refuses_what_does_not_fit():
    case = ("active", [b"1 |x a", b"|x b"], None, None, 8.0, 0, False, False)
    from oracle.options import Options

    learner = learn((*case[:2], Options(bits=4), *case[3:]))[2]
    plan, results = Plan(feature_config(Options(bits=4))), Results()
    batch = parse_text(b"1 |x a\n", text_format(feature_config(Options()), skip_malformed=False))
    results.reserve(1)
    learner.extra_output = learner.extra_output[:0]
    with pytest.raises(ValueError, match="the arrays for labels and query importance are too short"):
        learner.native.run_rows(learner, learner.kernel, plan, batch, results, 0, (1, True))
    learner.scalars = learner.scalars[:-1]
    with pytest.raises(ValueError, match="wrong number of scalars"):
        learner.native.run_rows(learner, learner.kernel, plan, batch, results, 0, (1, True))
