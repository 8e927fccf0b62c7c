"""vw's matrix factorisation against its plain twin, row by row and bit by bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.vw_rank import VwRank as Twin
from passes import run_passes
from vwtext import gd_config

from vwlite.errors import UsageError
from vwlite.learners.base import label_range
from vwlite.learners.configs.lrq import VwRankConfig
from vwlite.learners.lrq import VwRank

HEADS = [b"3", b"1 2", b"5 0.5 0.25", b"", b"2 0"]
PAIRS = [("ui",), ("iu",), ("uu",), ("ui", "zi"), ("zi", "iu", "ui"), ("xi",)]
words = st.lists(st.sampled_from([b"a", b"b", b"c:2", b"d:-1.5"]), max_size=3, unique=True).map(b" ".join)
lines_of = st.lists(
    st.tuples(st.sampled_from(HEADS), words, words, st.sampled_from([b"", b" |z q"])).map(
        lambda drawn: b"%s |u %s |i %s%s" % drawn
    ),
    min_size=1,
    max_size=10,
)


def config_of(options, rank, pairs):
    plain = gd_config(options)
    same = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return VwRankConfig(**same, vw_rank=rank, vw_pairs=pairs)


def check(lines, options, rank, pairs, held=None, passes=1):
    config = config_of(options, rank, pairs)
    learner, twin, rows = VwRank(config, options.bits, vw_compat=True), Twin(options, rank, config.letters), []
    examples = [parse_line(line, options) for line in lines]
    for _ in range(passes):
        for number, example in enumerate(examples):
            rows.append(twin.process_example(example, bool(held and held[number])))
        twin.end_pass()
    np.testing.assert_array_equal(run_passes(learner, (lines, options, held), passes), np.array(rows, np.float32))
    met = learner.weights.any(axis=1)
    np.testing.assert_array_equal(learner.weights[met], twin.w[met])
    assert label_range(learner) == (twin.gd.low, twin.gd.high)


@given(
    lines_of, st.sampled_from(PAIRS), st.integers(1, 4), st.sampled_from(["squared", "quantile", "logistic"]), st.data()
)
def test_rows_and_weights_are_the_twins(lines, pairs, rank, loss, data):
    held = data.draw(st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=len(lines), max_size=len(lines))))
    options = Options(bits=data.draw(st.sampled_from([3, 5])), loss=loss, learning_rate=0.1)
    check(lines, options, rank, pairs, held, data.draw(st.integers(1, 2)))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"l2": 0.01, "power_t": 0.0, "decay_learning_rate": 0.9},
        {"initial_t": 4.0, "power_t": 0.3, "noconstant": True},
        {"min_prediction": 1.0, "max_prediction": 4.5, "loss": "classic"},
    ],
)
def test_a_longer_run_is_the_twins(more):
    draw = np.random.default_rng(3)
    lines = [b"%d |u u%d |i i%d f%d:%.2f" % (*draw.integers((5, 6, 6, 3)), draw.normal()) for _ in range(50)]
    check(lines, Options(**{"bits": 8, "learning_rate": 0.05, **more}), 3, ("ui",), passes=3)


def test_one_that_only_predicts_has_the_start_of_what_it_has_not_met():
    options, lines = Options(bits=8), [b"|u a |i b", b"|u c |i b"]
    config = config_of(options, 3, ("ui",))
    one = VwRank(config, 8, vw_compat=True, learning=False)
    other = VwRank(config, 8, vw_compat=True)
    tested, learned = (run_passes(learner, (lines, options, None), 1) for learner in (one, other))
    np.testing.assert_array_equal(tested, learned)
    assert not one.weights.any() and other.weights.any()


def test_what_it_does_not_have_is_refused():
    for options in ({"vw_rank": 0}, {"vw_pairs": ("uia",)}, {"vw_pairs": ()}, {"vw_pairs": ("u:",)}, {"ftrl": True}):
        with pytest.raises(UsageError, match="--rank"):
            VwRankConfig(**{"vw_rank": 3, "vw_pairs": ("ui",), **options})
