"""Auxiliary problems: which rows are positive for what."""

import numpy as np
import pytest

from vwlite.data.batch import Classes
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.solvers.aso.auxiliary import Aux, View, behaviour, most_frequent, most_positive, present, read_aux, views
from vwlite.solvers.aso.corpus import Corpus


def read(tmp_path, text):
    path = tmp_path / "text.vw"
    path.write_text(text)
    data = Corpus(BadLines(None, None, BadLinesConfig(strict=True))).read([str(path)])
    words = data.vocabulary()
    return data.rows(words, unit=False), words


def positives(made):
    """Per problem the rows that are positive for it."""
    return {name: made.positive.owner[made.positive.indices == place].tolist() for place, name in enumerate(made.names)}


@pytest.fixture
def everything(tmp_path):
    rows, words = read(tmp_path, "|w a:2 b\n|w a:2 b c:2\n|w c b\n|w c d:3\n|w d\n")
    return rows, words, View(np.zeros(len(words), bool), np.ones(len(words), bool))


def test_the_most_frequent_word_and_among_equals_the_rarer(everything):
    rows, words, view = everything
    assert positives(most_frequent(rows, view, words, 10)) == {"a": [0, 1], "d": [3, 4]}  # row 1: a is rarer than c


def test_the_k_most_frequent(everything):
    rows, words, view = everything
    assert positives(most_frequent(rows, view, words, 10, 2)) == {
        "a": [0, 1], "b": [0, 2], "c": [1, 2, 3], "d": [3, 4]
    }  # fmt: skip


def test_presence_and_the_problems_with_most_positives(everything):
    rows, words, view = everything
    assert positives(present(rows, view, words, 10)) == {"a": [0, 1], "b": [0, 1, 2], "c": [1, 2, 3], "d": [3, 4]}
    assert set(positives(present(rows, view, words, 2))) == {"b", "c"}


def test_problems_of_one_positive_are_left_out():
    assert positives(most_positive(np.array([0, 1, 2]), np.array([0, 1, 1]), 3, ["a", "b"], 9)) == {"b": [1, 2]}


def test_a_word_said_twice_counts_twice(tmp_path):
    rows, _ = read(tmp_path, "|w a b a\n")
    assert sorted(rows.terms.values.tolist()) == [1, 2]


SCORES = np.array([[3, 2, 1], [3, 2, 0], [1, 2, 3], [2, 3, 1], [0.1, 0, -1], [0.2, 0, -1]])


@pytest.mark.parametrize(
    ("aux", "expected"),
    [
        ("top-k:1", {"a": [0, 1, 4, 5]}),
        ("top-2", {"a>b": [0, 1, 4, 5]}),
        ("multi-k:2", {"a": [0, 1, 3, 4, 5], "b": [0, 1, 2, 3, 4, 5]}),
        ("confidence", {"a@3": [0, 1], "a@2": [4, 5]}),
    ],
)
def test_behaviour_of_a_classifier(aux, expected):
    assert positives(behaviour(read_aux(aux), SCORES, ["a", "b", "c"], 9)) == expected


def test_more_classes_than_there_are():
    with pytest.raises(UsageError, match="only 3 classes"):
        behaviour(Aux("top-k", 4), SCORES, ["a", "b", "c"], 9)


def test_views(tmp_path):
    _, words = read(tmp_path, "|l a b |m c |r d e\n")

    def names(mask):
        return {words.names[place] for place in np.flatnonzero(mask)}

    (masked,) = views(read_aux("mask:m,r"), words, 0)
    assert (names(masked.seen), names(masked.hidden)) == ({"a", "b"}, {"c"})
    one, two = views(read_aux("top-k:2:l"), words, 0)
    assert names(one.seen) == names(two.hidden) == {"c", "d", "e"} and names(one.hidden) == {"a", "b"}
    first, second = views(read_aux("freq"), words, 0)
    assert (first.seen ^ first.hidden).all() and (first.seen == second.hidden).all()
    assert not all((views(read_aux("freq"), words, seed)[0].seen == first.seen).all() for seed in range(1, 6))
    with pytest.raises(UsageError, match="no feature of the text is in namespace 'x'"):
        views(read_aux("mask:x"), words, 0)


WRONG = ["freq:a:b", "mask", "top-k", "top-k:0", "multi-k:x", "labels:w", "word", "top-k:1:a:b"]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_kinds(text):
    with pytest.raises(UsageError, match="--aux"):
        read_aux(text)


def test_classes():
    assert Classes.of(["10", "9", "2"]).names == ["2", "9", "10"]
    several = Classes.of(["b,a", "c"], several=True)
    assert several.names == ["a", "b", "c"]
    assert [one.tolist() for one in several.members(["c,a", "x", "b"])] == [[0, 2], [], [1]]
    assert Classes.of(["b,a"]).names == ["b,a"]
