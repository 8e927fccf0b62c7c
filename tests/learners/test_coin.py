"""Coin betting and PiSTOL against their plain twins, row by row and bit by bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.coin import Coin as CoinTwin
from oracle.coin import Pistol as PistolTwin
from oracle.curved_losses import LOSSES
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from passes import run_passes
from vwtext import gd_config

from vwlite.learners.base import label_range
from vwlite.learners.coin import NAMES, Coin
from vwlite.learners.configs.gd import CoinConfig

from .test_gd import problems

TWINS = {"coin": (CoinTwin, 4, 1), "pistol": (PistolTwin, 1, 0.5)}  # with the defaults of alpha and beta


@st.composite
def cases(draw):
    """Kind, alpha, beta; lines, options, what is held out; passes."""
    kind = draw(st.sampled_from(sorted(TWINS)))
    lines, options, held = draw(problems())
    options.rules = frozenset()
    options.l1 = options.l2 = options.sparse_l2 = options.initial_weight = options.constant = 0.0
    steps = [draw(st.sampled_from([None, None, 0.3, 7.5])) for _ in range(2)]
    return kind, steps, (lines, options, held), draw(st.integers(1, 3))


def config_of(kind, steps, options):
    plain = gd_config(options)
    same = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return CoinConfig(**{**same, "ftrl_alpha": steps[0], "ftrl_beta": steps[1]}, **{kind: True})


def learner_of(case, strict=False):
    kind, steps, (_, options, _), _ = case
    return Coin(config_of(kind, steps, options), options.bits, vw_compat=not strict)


def learn_like_twin(case, strict=False, of=None):
    kind, steps, (lines, options, held), passes = case
    twin_of, *defaults = of or TWINS[kind]
    alpha, beta = (default if step is None else step for step, default in zip(steps, defaults, strict=True))
    twin, seen, rows = twin_of(options, alpha, beta, strict), set(), []
    examples = [parse_line(line, options) for line in lines]
    with np.errstate(all="ignore"):
        expanded = [expand(example, options, seen) for example in examples]
        for _ in range(passes):
            for number, (example, (terms, count, _)) in enumerate(zip(examples, expanded, strict=True)):
                learns = not (held and held[number])
                shown = twin.process_example(terms, example.label, example.importance, example.base, learns)
                rows.append([*shown, np.float32(count)])
    return np.array(rows, np.float32), twin


@given(cases(), st.booleans())
def test_rows_and_columns_are_the_twins(case, strict):
    rows, twin = learn_like_twin(case, strict)
    table = twin.table()
    assume(np.isfinite(table).all() and np.isfinite(rows).all())
    learner = learner_of(case, strict)
    np.testing.assert_array_equal(run_passes(learner, *case[2:]), rows)
    np.testing.assert_array_equal(learner.weights[:, : len(NAMES)], table)
    assert label_range(learner) == (twin.low, twin.high)
    if case[0] == "coin":
        assert (learner.get("norm_sum"), learner.get("norm_weight")) == (twin.norms, twin.seen)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", sorted(TWINS))
def test_a_longer_run_is_the_twins(kind, loss):
    rng = np.random.default_rng(6)
    labels = {"hinge": [-1, 1], "logistic": [-1, 1, 0.25], "poisson": [0, 1, 4]}.get(loss, [-2.5, 0, 1, 3])
    lines = [
        f"{rng.choice(labels)} {rng.integers(0, 3)} |x {' '.join(f'f{slot}:{rng.normal():.3f}' for slot in some)} |y a"
        for some in (rng.permutation(30)[:6] for _ in range(150))
    ]
    options = Options(bits=5, loss=loss, expectile_q=0.2, interactions=[b"xy"], min_prediction=-3, max_prediction=3)
    case = kind, [None, None], ([line.encode() for line in lines], options, None), 2
    learner, (rows, twin) = learner_of(case), learn_like_twin(case)
    np.testing.assert_array_equal(run_passes(learner, *case[2:]), rows)
    np.testing.assert_array_equal(learner.weights[:, : len(NAMES)], twin.table())
    assert np.count_nonzero(learner.weights[:, 0]) > 20
