"""Chains of order 2 beside those of order 1, and as labels are added; see ``test_labellings``."""

import pytest
from l1_case import chain_part

from vwlite.solvers.loglinear.problems import merge_pairs

from .test_labellings import drawn


def test_without_weights_of_pairs_it_is_a_chain_of_order_1():
    seen = chain_part("X |w a\nY |w b\nX |w c\n\n", order=2).problem
    assert seen.pairs.histories.tolist() == [0 * 2 + 1, 1 * 2 + 0]
    w = drawn(seen, 5)
    w[seen.pairs.first_triple :] = 0
    plain = chain_part("X |w a\nY |w b\nX |w c\n\n")
    rows = plain.rows
    assert seen.likelihood(w, rows, None) == pytest.approx(
        plain.problem.likelihood(w[: seen.pairs.first_triple], rows, None), abs=1e-12
    )


def test_sequences_of_one_token_have_no_pairs_of_labels():
    two, one = chain_part("X |w a\n\nY |w b\n\n", order=2), chain_part("X |w a\n\nY |w b\n\n")
    assert two.problem.weights == one.problem.weights


def test_weights_keep_their_places_where_labels_and_pairs_are_added():
    old = chain_part("X |w a\nY |w b\nX |w a\n\n", order=2).problem.pairs
    new = chain_part("X |w a\nY |w b\nZ |w c\nX |w a\nX |w a\n\n", order=2).problem.pairs
    wide = merge_pairs(old, new)
    places = old.positions_in(wide)
    triples = places[old.first_triple :] - wide.first_triple
    names = [(wide.previous[3 + row], wide.names[label]) for row, label in (divmod(one, 3) for one in triples.tolist())]
    assert names == [("X Y", "X"), ("X Y", "Y"), ("Y X", "X"), ("Y X", "Y")]
    assert wide.previous[3:] == ["X X", "X Y", "Y X", "Y Z", "Z X"]
    assert len(set(places.tolist())) == old.weights
