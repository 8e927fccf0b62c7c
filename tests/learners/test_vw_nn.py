"""Networks as vw has them against their plain twin, row by row and bit by bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from oracle.vw_nn import VwNn as Twin
from passes import run_passes
from vwtext import gd_config

from vwlite.errors import UsageError
from vwlite.learners.base import label_range
from vwlite.learners.configs.nn import VwNnConfig, as_vw_has_it
from vwlite.learners.nn import VwNn

LOSSES = ("squared", "quantile", "classic", "hinge", "logistic")
FEATURES = [b"a", b"b", b"c:2", b"d:-1.5", b"f:0.5"]
HEADS = [b"1 ", b"-1 ", b"1 2 ", b"-1 0.5 0.25 ", b"", b"1 0 "]
rows_of = st.tuples(st.sampled_from(HEADS), st.lists(st.sampled_from(FEATURES), max_size=3))
lines_of = st.lists(rows_of, min_size=1, max_size=10).map(
    lambda drawn: [head + b"|x " + b" ".join(dict.fromkeys(words)) for head, words in drawn]
)


def learner_of(options, units, seed=0):
    plain = gd_config(options)
    same = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return VwNn(VwNnConfig(**same, vw_nn=units, random_seed=seed), options.bits, vw_compat=True)


def check(lines, options, units, seed=0, held=None, passes=1):
    learner, twin, seen, rows = learner_of(options, units, seed), Twin(options, units, seed), set(), []
    examples = [parse_line(line, options) for line in lines]
    expanded = [expand(example, options, seen) for example in examples]
    for _ in range(passes):
        for number, item in enumerate(zip(examples, expanded, strict=True)):
            rows.append([*twin.process_example(*item, bool(held and held[number])), np.float32(item[1].count)])
    result = run_passes(learner, (lines, options, held), passes)
    np.testing.assert_array_equal(result, np.array(rows, np.float32))
    expected = np.column_stack([twin.gd.w, twin.gd.g, twin.gd.n])[:, : learner.stride]
    np.testing.assert_array_equal(learner.weights[:, : expected.shape[1]], expected)
    np.testing.assert_array_equal(learner.norms[:, :2], np.array([norms[:2] for norms in twin.norms]))
    assert label_range(learner) == (twin.gd.low, twin.gd.high)
    assert int(learner.random_state[0]) == twin.chance.state


@given(lines_of, st.sampled_from(LOSSES), st.integers(1, 4), st.integers(0, 3), st.data())
def test_rows_and_weights_are_the_twins(lines, loss, units, seed, data):
    held = data.draw(st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=len(lines), max_size=len(lines))))
    check(lines, Options(bits=9, loss=loss), units, seed, held, data.draw(st.integers(1, 2)))


@pytest.mark.parametrize("rules", ["", "adaptive", "adaptive invariant", "invariant", "sgd", "normalized"])
@pytest.mark.parametrize("units", [1, 3, 8])
def test_a_longer_run_is_the_twins(units, rules):
    draw = np.random.default_rng(8)
    numbers = [(*draw.integers((2, 5, 5)), draw.normal()) for _ in range(150)]
    lines = [b"%d |x u%d u%d:%.2f" % row for row in numbers]
    check(lines, Options(bits=10, rules=frozenset(rules.split()), learning_rate=0.3), units, passes=2)


@pytest.mark.parametrize("l2", [1e-3, 0.05])
def test_weights_shrink_as_the_twins(l2):
    draw = np.random.default_rng(9)
    lines = [b"%d |x u%d u%d" % tuple(draw.integers((2, 5, 5))) for _ in range(60)]
    check(lines, Options(bits=9, l2=l2), 2, passes=2)


def test_what_vw_has_otherwise_is_refused():
    assert as_vw_has_it({"nn": "3", "l1": 0.0}, ()) == {"vw_nn": 3, "l1": 0.0}
    assert as_vw_has_it({"passes": 2}, ()) == {"passes": 2}
    for typed, others in (({"nn": "3", "dropout": True}, ()), ({"nn": "3", "oaa": 3}, ("oaa",)), ({"nn": "3,4"}, ())):
        with pytest.raises(UsageError, match="use 'vwlite train'"):
            as_vw_has_it(typed, others)
    for options in ({"initial_t": 1.0}, {"sparse_l2": 0.1}, {"vw_nn": 0}):
        with pytest.raises(UsageError, match="--nn"):
            VwNnConfig(**{"vw_nn": 3, **options})
