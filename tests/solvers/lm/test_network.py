"""The kernel of windows of words against the formulas in NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.window_network import Network as Twin
from oracle.window_network import drawn

from vwlite._native import window_network
from vwlite.interrupts import STOP
from vwlite.solvers.lm.config import LmConfig
from vwlite.solvers.lm.model import new_network

STATUS = {"OK": 0, "UNSTABLE": 102, "STOPPED": 104}
SHAPES = st.tuples(st.integers(2, 4), st.integers(1, 9), st.integers(1, 80), st.integers(2, 12))


def network(window, dim, hidden, words, seed=0):
    return new_network(LmConfig(window=window, dim=dim, hidden=hidden, seed=seed), words)


def twin(made, hidden):
    return Twin(made.words, made.inputs[:, :hidden], made.bias[:hidden], made.output[:hidden])


def text_of(words, size, seed):
    return np.random.default_rng(seed).integers(0, words, size).astype(np.int32)


def learn(made, text, begin, known, key, first, last, rates=(0.1, 0.05), total=0, draws=1):
    return window_network.learn(made, text, begin, known, draws, key, first, last, *rates, STOP, total)


@given(SHAPES, st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(1, 5), st.data())
def test_steps_are_the_twins(shape, key, first, draws, data):
    window, _, hidden, words = shape
    made = network(*shape)
    by_formula = twin(made, hidden)
    text, begin = text_of(words, 40, key), np.arange(0, 40 - window, 3)
    known = data.draw(st.integers(1, words))
    text = np.minimum(text, known - 1).astype(np.int32)
    made.output *= 4  # so that some words miss the margin and others do not
    by_formula.u *= 4
    status, step, total = learn(made, text, begin, known, key, first, first + 12, draws=draws)
    assert (status, step) == (STATUS["OK"], first + 12)
    losses = 0
    for number in range(first, first + 12):
        at, *others = drawn(key, number, len(begin), known, draws)
        of = text[begin[at] : begin[at] + window].tolist()
        losses += max(by_formula.loss(of, others[0]), 0)
        by_formula.step(of, by_formula.first_violating(of, others), 0.1, 0.05)
    assert total == pytest.approx(losses, rel=1e-3, abs=1e-3)
    actual = made.words, made.inputs[:, :hidden], made.bias[:hidden], made.output[:hidden]
    for one, wanted in zip(actual, by_formula.arrays, strict=True):
        assert one == pytest.approx(wanted, rel=2e-3, abs=2e-4)
    assert not made.inputs[:, hidden:].any() and not made.output[hidden:].any() and not made.bias[hidden:].any()


@given(st.tuples(st.integers(2, 3), st.integers(1, 3), st.integers(1, 3), st.integers(2, 4)), st.integers(0, 99))
def test_gradients_are_those_of_differences(shape, seed):
    made = twin(network(*shape, seed=seed), shape[2])
    draw = np.random.default_rng(seed)
    window, other = draw.integers(0, shape[3], shape[0]).tolist(), int(draw.integers(0, shape[3]))
    for array, slope in zip(made.arrays, made.gradients(window, other), strict=True):
        for at in np.ndindex(array.shape):
            before, losses = array[at], []
            for by in (1e-5, -1e-5):
                array[at] = before + by
                losses.append(made.loss(window, other))
            array[at] = before
            assert slope[at] == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-6)


@given(SHAPES, st.integers(0, 2**32))
def test_ranks_are_the_twins(shape, seed):
    window, _, hidden, words = shape
    made, text = network(*shape, seed=seed), text_of(words, 20, seed)
    begin = np.arange(0, 20 - window)
    actual = np.zeros(len(begin))
    assert window_network.rank(made, text, begin, actual, STOP) == STATUS["OK"]
    by_formula = twin(made, hidden)
    for at, one in zip(begin.tolist(), actual.tolist(), strict=True):
        of = text[at : at + window].tolist()
        right = by_formula.score(of)
        scores = np.array([by_formula.score([*of[:-1], word]) for word in range(words) if word != of[-1]])
        clear = (np.abs(scores - right) > 1e-4).all()  # single precision cannot tell which of two is larger
        assert not clear or one == by_formula.rank(of)
        assert 1 + (scores > right + 1e-4).sum() <= one <= 1 + (scores > right - 1e-4).sum()


def test_words_of_the_same_score_share_a_rank():
    made, out = network(2, 3, 5, 4), np.zeros(1)
    made.words[:] = 1
    window_network.rank(made, np.array([0, 1], np.int32), np.zeros(1, np.int64), out, STOP)
    assert out.tolist() == [2.5]


@given(st.lists(st.integers(0, 50), max_size=3))
def test_what_is_learned_does_not_depend_on_where_calls_end(cuts):
    one, other, text, begin = network(3, 5, 9, 7), network(3, 5, 9, 7), text_of(7, 60, 1), np.arange(50)
    _, _, total = learn(one, text, begin, 7, 5, 0, 50, draws=3)
    ends = sorted([*cuts, 50])
    so_far = 0
    for first, last in zip([0, *ends], ends, strict=False):
        _, _, so_far = learn(other, text, begin, 7, 5, first, last, total=so_far, draws=3)
    assert so_far == total
    assert all((getattr(one, name) == getattr(other, name)).all() for name in ("words", "inputs", "bias", "output"))


def test_it_stops_and_diverges():
    made, text, begin = network(2, 3, 5, 4), text_of(4, 10, 0), np.arange(8)
    stopped = np.ones(1, np.uint8)
    assert window_network.learn(made, text, begin, 4, 1, 0, 3, 9, 0.1, 0.1, stopped) == (STATUS["STOPPED"], 3, 0)
    assert window_network.rank(made, text, begin, np.zeros(8), stopped) == STATUS["STOPPED"]
    made.output[0] = np.inf
    assert learn(made, text, begin, 4, 0, 0, 9)[:2] == (STATUS["UNSTABLE"], 0)


@pytest.mark.parametrize(
    ("text", "begin", "known"),
    [([0, 1, 4], [0], 4), ([0, 1, -1], [0], 4), ([0, 1, 2], [1], 4), ([0, 1, 2], [-1], 4), ([0, 1, 2], [], 4),
     ([0, 1, 2], [0], 2), ([0, 1, 2], [0], 5), ([0, 1, 2], [0], 0), ([], [0], 4)],
)  # fmt: skip
def test_windows_that_do_not_fit_are_refused(text, begin, known):
    with pytest.raises(ValueError, match=r"window|word"):
        learn(network(3, 2, 2, 4), np.array(text, np.int32), np.array(begin, np.int64), known, 0, 0, 5)


@pytest.mark.parametrize("name", ["words", "inputs", "bias", "output"])
def test_layers_that_do_not_fit_are_refused(name):
    made = network(3, 3, 2, 4)
    setattr(made, name, getattr(made, name)[..., :-1].copy())
    with pytest.raises(ValueError, match="do not fit"):
        learn(made, np.zeros(5, np.int32), np.zeros(1, np.int64), 4, 0, 0, 5)
