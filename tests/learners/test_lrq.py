"""Low-rank quadratic interactions against their plain twin, row by row and bit by bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.lrq import Lrq as Twin
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from passes import run_passes
from vwtext import gd_config, joined, sequences

from vwlite.learners.base import label_range
from vwlite.learners.configs.lrq import LrqConfig, read_pairs
from vwlite.learners.lrq import Lrq

from .test_gd import FEATURES, problems, weights

LOSSES = ("squared", "quantile", "expectile", "classic", "logistic", "hinge")
SPECS = ["xy1", "xy2", "yx3", "xx2", "xz1", "yz2"]
heads = st.one_of(joined(st.sampled_from(b"0 1 -1 2 -3.5".split()), weights), st.just(b""))
lines_of = st.lists(
    joined(
        heads,
        st.just(b" |x"),
        sequences(FEATURES, most=3),
        st.sampled_from([b" |y", b" |y a", b" |y c:-0.5 d"]),
        st.sampled_from([b"", b" |z k:2", b" |z"]),
    ),
    min_size=1,
    max_size=8,
)


@st.composite
def cases(draw):
    """Specifications, dropout; lines, options, what is held out; passes."""
    specs = draw(st.lists(st.sampled_from(SPECS), min_size=1, max_size=3))
    lines, options, held = draw(problems(losses=LOSSES, lines_of=lines_of))
    options.bits = draw(st.sampled_from([10, 4]))
    options.ignore_linear = b""
    return tuple(specs), draw(st.booleans()), (lines, options, held), draw(st.integers(1, 3))


def config_of(specs, dropout, options):
    plain = gd_config(options)
    same = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return LrqConfig(**same, lrq=specs, lrqdropout=dropout)


def learner_of(case, strict=True):
    specs, dropout, (_, options, _), _ = case
    return Lrq(config_of(specs, dropout, options), options.bits, vw_compat=not strict)


def learn_like_twin(case, strict=True):
    specs, dropout, (lines, options, held), passes = case
    twin = Twin(options, [(ord(spec[0]), ord(spec[1]), int(spec[2:])) for spec in specs], dropout, strict)
    seen, rows = set(), []
    examples = [parse_line(line, options) for line in lines]
    with np.errstate(all="ignore"):
        expanded = [expand(example, options, seen) for example in examples]
        for _ in range(passes):
            for number, item in enumerate(zip(examples, expanded, strict=True)):
                rows.append([*twin.process_example(*item, bool(held and held[number])), np.float32(item[1].count)])
            twin.gd.rate *= np.float32(options.decay_learning_rate)
            twin.number += not strict  # to vw the end of a pass is an example too
    return np.array(rows, np.float32), twin


def columns_of(twin):
    gd = twin.gd
    return np.column_stack([gd.w, gd.g, gd.n] if gd.adaptive or gd.normalized else [gd.w])


@given(cases(), st.booleans())
def test_rows_and_weights_are_the_twins(case, strict):
    assume(not any(b" -1 " in line or b" -2 " in line for line in case[2][0]))  # rates need a time above 0
    rows, twin = learn_like_twin(case, strict)
    table = columns_of(twin)
    assume(np.isfinite(table).all() and np.isfinite(rows).all())
    # Where the odds leave single precision the kernel is more exact than Vowpal Wabbit.
    options = case[2][1]
    assume(options.loss != "logistic" or max(abs(rows[:, 1]).max(), 4 * abs(table[:, 0]).max()) < 16)
    learner = learner_of(case, strict)
    np.testing.assert_array_equal(run_passes(learner, *case[2:]), rows)
    np.testing.assert_array_equal(learner.weights[:, :3], table)
    assert label_range(learner) == (twin.gd.low, twin.gd.high)
    shrinkage = twin.gd.gravity, twin.gd.contraction
    assert (learner.get("gravity"), learner.get("contraction")) == shrinkage
    assert int(learner.random_state[0]) == twin.chance.state


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("dropout", [True, False])
@pytest.mark.parametrize("rules", ["", "sgd", "adaptive", "normalized invariant"])
def test_a_longer_run_is_the_twins(rules, dropout, strict):
    rng = np.random.default_rng(8)
    lines = [
        f"{rng.normal():.2f} {rng.integers(0, 4)} |u u{rng.integers(5)} u{rng.integers(5)}:{rng.normal():.2f} "
        f"|i i{rng.integers(6)} |z{' k:2' * int(rng.integers(2))}"
        for _ in range(120)
    ]
    options = Options(bits=7, rules=frozenset(rules.split()), learning_rate=0.02, interactions=[b"ui"])
    case = ("ui3", "uz2", "ui3"), dropout, ([line.encode() for line in lines], options, None), 2
    learner, (rows, twin) = learner_of(case, strict), learn_like_twin(case, strict)
    np.testing.assert_array_equal(run_passes(learner, *case[2:]), rows)
    np.testing.assert_array_equal(learner.weights[:, :3], columns_of(twin))


@pytest.mark.parametrize("strict", [True, False])
def test_an_importance_of_0_begins_no_factor(strict):
    options = Options(bits=8)
    idle = ("xy2",), True, ([b"1 0 |x a |y b", b" |x a |y c"], options, None), 1
    learner = learner_of(idle, strict)
    run_passes(learner, *idle[2:])
    assert not learner.weights.any() and learner.random_state[0] == 8675309
    run_passes(learner, ([b"1 |x a |y b"], options, None), 1)
    assert learner.weights.any() and learner.random_state[0] != 8675309


def test_the_letters_of_pairs_are_sorted_and_told_once():
    assert read_pairs(("yx3", "xy10", "xy2", "yx3")) == [(120, 121, 10), (120, 121, 2), (121, 120, 3)]


def test_it_stands_below_the_scorer_as_in_vw():
    assert Lrq(LrqConfig(lrq=("ab2",)), 8).description[0] == ("gd", "lrq", "scorer-identity")
