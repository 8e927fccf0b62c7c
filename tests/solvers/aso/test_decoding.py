"""Exact search for the best label sequences, against all there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import label_viterbi

from vwlite.interrupts import STOP, Interrupted
from vwlite.solvers.aso.label_features import Decoder, are_phrases, first_broken, labels_before, of_phrases


def ends(sizes):
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("triples", [False, True])
@given(seed=st.integers(0, 2**32 - 1), labels=st.integers(1, 3), sizes=st.lists(st.integers(0, 5), max_size=4))
def test_no_sequence_of_labels_is_better(pairs, triples, seed, labels, sizes):
    rng = np.random.default_rng(seed)
    tokens = sum(sizes)

    def numbers(*shape):
        return rng.integers(-9, 9, shape).astype(np.float32) / 4  # sums are exact, and ties happen

    score, allowed = numbers(tokens, labels), (rng.random((labels + 1, labels)) < 0.8).astype(np.uint8)
    pair = numbers(tokens, labels + 1, labels) if pairs else None
    triple = numbers(labels + 1, labels + 1, labels) if triples else None
    actual = Decoder(allowed, triple).best(score, ends(sizes), pair)
    for first, last in zip(ends(sizes)[:-1], ends(sizes)[1:], strict=True):
        if first == last:
            continue
        own = slice(first, last)
        of_pairs = None if pair is None else pair[own]
        best, total = label_viterbi.best(score[own], of_pairs, triple, allowed)
        if best is not None:
            mine = actual[own].tolist()
            assert label_viterbi.total(mine, score[own], of_pairs, triple, allowed) == total


@given(
    seed=st.integers(0, 2**32 - 1),
    labels=st.integers(1, 3),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    beam=st.integers(1, 14),
)
def test_a_beam_finds_what_its_twin_finds(seed, labels, sizes, beam):
    rng = np.random.default_rng(seed)
    score, pair, triple = (
        rng.integers(-9, 9, shape).astype(np.float32) / 4
        for shape in ((sum(sizes), labels), (sum(sizes), labels + 1, labels), (labels + 1, labels + 1, labels))
    )
    allowed = (rng.random((labels + 1, labels)) < 0.8).astype(np.uint8)
    actual = Decoder(allowed, triple, beam).best(score, ends(sizes), pair)
    for first, last in zip(ends(sizes)[:-1], ends(sizes)[1:], strict=True):
        own = slice(first, last)
        expected = label_viterbi.beam_search(score[own], pair[own], triple, allowed, beam)
        if expected is not None:
            assert actual[own].tolist() == expected
    if beam >= labels * (labels + 1):
        exact = Decoder(allowed, triple).best(score, ends(sizes), pair)
        for first, last in zip(ends(sizes)[:-1], ends(sizes)[1:], strict=True):
            own = slice(first, last)
            totals = [
                label_viterbi.total(names[own].tolist(), score[own], pair[own], triple, allowed)
                for names in (actual, exact)
            ]
            assert totals[0] == totals[1]


def test_phrases():
    names = ["O", "B-A", "I-A", "I-B", "B-B"]
    assert are_phrases(names) and not are_phrases(["NN", "O"]) and not are_phrases(["B-"])
    allowed = of_phrases(names)
    assert allowed[:, 2].tolist() == [0, 1, 1, 0, 0, 0] and allowed[:, 3].tolist() == [0, 0, 0, 1, 1, 0]
    assert (allowed[:, [0, 1, 4]] == 1).all()


def test_broken_phrases():
    names, sequence = ["O", "B-A", "I-A"], np.array([0, 2, 4])
    assert first_broken(names, np.array([1, 2, 0, 1]), sequence) is None
    assert first_broken(names, np.array([1, 2, 2, 2]), sequence) == 2
    assert first_broken(names, np.array([1, 2, 0, 2]), sequence) == 3
    assert first_broken(names, np.array([-1, 2, -1, 2]), sequence) is None
    assert labels_before(np.array([1, 2, 0, 2]), sequence, 3).tolist() == [3, 1, 3, 0]


def test_a_phrase_goes_on_where_it_may():
    score = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [0.0, 0.0, 3.0]], np.float32)
    best = Decoder(of_phrases(["O", "B-A", "I-A"])).best(score, np.array([0, 3]))
    assert best.tolist() == [1, 2, 2]
    assert Decoder(of_phrases(["O", "B-A", "I-A"])).best(score, np.array([0, 1, 2, 3])).tolist() == [1, 0, 0]


def test_arrays_that_do_not_fit():
    score, allowed = np.zeros((3, 2), np.float32), np.ones((3, 2), np.uint8)
    for bad in (
        {"sequence": np.array([0, 2])},
        {"allowed": np.ones((2, 2), np.uint8)},
        {"pair": np.zeros((3, 2, 2), np.float32)},
        {"triple": np.zeros((3, 2, 2), np.float32)},
    ):
        decoder = Decoder(bad.get("allowed", allowed), bad.get("triple"))
        with pytest.raises(ValueError, match="fit"):
            decoder.best(score, bad.get("sequence", np.array([0, 3])), bad.get("pair"))


def test_it_stops():
    STOP[0] = 15
    try:
        with pytest.raises(Interrupted):
            Decoder(np.ones((3, 2), np.uint8)).best(np.zeros((3, 2), np.float32), np.array([0, 3]))
    finally:
        STOP[0] = 0
