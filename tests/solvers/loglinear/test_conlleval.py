"""Phrases are counted as the script conlleval counts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.solvers.loglinear.conlleval import count, evaluate


def pairs(true, found):
    return list(zip(true.split(), found.split(), strict=True))


def totals(true, found):
    phrases = count(pairs(true, found))
    return tuple(sum(phrases[name].values()) for name in ("correct", "true", "found"))


@pytest.mark.parametrize(
    ("true", "found", "expected"),
    [
        ("B-NP I-NP O", "B-NP I-NP O", (1, 1, 1)),
        ("B-NP I-NP O", "B-NP O O", (0, 1, 1)),
        ("B-NP I-NP", "B-NP B-NP", (0, 1, 2)),
        ("B-NP I-NP I-NP", "B-NP I-NP O", (0, 1, 1)),
        ("B-NP I-NP", "B-VP I-VP", (0, 1, 1)),
        ("B-NP I-VP", "B-NP I-VP", (2, 2, 2)),  # a change of type begins a phrase
        ("I-NP I-NP O I-NP", "B-NP I-NP O B-NP", (2, 2, 2)),  # after O, I begins one
        ("I-NP B-NP", "I-NP I-NP", (0, 2, 1)),
        ("B-NP E-NP E-NP", "B-NP E-NP O", (1, 2, 1)),
        ("[ ] O", "[ ] O", (2, 2, 2)),
        ("O . O", "O . O", (0, 0, 0)),
        ("NN VB", "NN VB", (0, 0, 0)),
        ("B-A-B I-A-B", "B-A-B I-A-B", (1, 1, 1)),
        ("-LRB- O", "-LRB- O", (1, 1, 1)),
    ],
)
def test_rules(true, found, expected):
    assert totals(true, found) == expected


def test_a_sequence_ends_every_phrase():
    data = [("B-NP", "B-NP"), None, ("I-NP", "I-NP")]
    assert evaluate(data)["correct"] == 2
    assert evaluate([data[0], data[2]])["correct"] == 1


def test_figures_are_percentages_by_type_and_in_all():
    found = evaluate([*pairs("B-NP O B-VP", "B-NP B-NP O"), None])
    assert {name: found[name] for name in ("precision", "recall", "f1", "phrases", "found")} == {
        "precision": 50.0, "recall": 50.0, "f1": 50.0, "phrases": 2, "found": 2,
    }
    assert found["types"] == [
        {"type": "NP", "precision": 50.0, "recall": 100.0, "f1": pytest.approx(200 / 3), "phrases": 1, "found": 2},
        {"type": "VP", "precision": 0.0, "recall": 0.0, "f1": 0.0, "phrases": 1, "found": 0},
    ]


LABELS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=12)


def spans(labels):
    """Phrases as (start, end, type), of marks B, I and O."""
    made, start = set(), None
    for place, label in enumerate([*labels, "O"]):
        kind = labels[start][2:] if start is not None else None
        if start is not None and (label[0] != "I" or label[2:] != kind):
            made.add((start, place, kind))
            start = None
        if label != "O" and start is None:
            start = place
    return made


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=4))
def test_correct_phrases_are_those_with_the_same_ends_and_type(sequences):
    data, expected = [], [0, 0, 0]
    for true, found in sequences:
        size = min(len(true), len(found))
        a, b = spans(true[:size]), spans(found[:size])
        expected = [x + len(y) for x, y in zip(expected, (a & b, a, b), strict=True)]
        data += [*zip(true[:size], found[:size], strict=True), None]
    phrases = count(data)
    assert [sum(phrases[name].values()) for name in ("correct", "true", "found")] == expected
