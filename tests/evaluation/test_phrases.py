"""Phrases of the schemes IOB1, IOB2, IOBES and BILOU, and how they are counted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.errors import UsageError
from vwlite.evaluation.phrases import CONLLEVAL, MARKS, evaluate, rule_for, scheme_of, spans, tag_of


def pairs(true, found):
    return list(zip(true.split(), found.split(), strict=True))


def totals(true, found, rule):
    report = evaluate(pairs(true, found), rule)
    return report["correct"], report["phrases"], report["found"]


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
        ("I-NP E-NP E-NP", "I-NP E-NP O", (1, 2, 1)),
        ("B-A-B I-A-B", "B-A-B I-A-B", (1, 1, 1)),
        ("b-per i-per o b-per", "b-per i-per o o", (1, 2, 1)),
        ("B_PS I_PS B_LC", "B_PS I_PS B_PS", (1, 2, 2)),
        ("B I O B", "B I O O", (1, 2, 1)),
    ],
)
def test_phrases_are_counted_as_by_conlleval(true, found, expected):
    assert totals(true, found, CONLLEVAL) == expected


@pytest.mark.parametrize(
    ("rule", "true", "found", "expected"),
    [
        ("iobes", "S-PER S-PER", "S-PER S-PER", (2, 2, 2)),
        ("iobes", "B-M E-M B-M E-M", "B-M I-M I-M E-M", (0, 2, 1)),
        ("iobes", "B-M I-M O", "S-M O E-M", (0, 0, 1)),
        ("bilou", "U-M B-M L-M", "U-M U-M L-M", (1, 2, 2)),
        ("iob2", "B-M I-M O B-M", "B-M I-M O I-M", (1, 2, 1)),
        ("iob1", "I-M I-M B-M", "I-M I-M B-M", (2, 2, 2)),
        ("iob1", "O B-M I-X B-M", "O B-M I-X B-M", (1, 1, 1)),
        ("iob1", "I-M B-M B-X", "I-M B-M B-X", (1, 1, 1)),  # as seqeval 1.2.2 does
    ],
)
def test_a_given_scheme_counts_phrases_strictly(rule, true, found, expected):
    assert totals(true, found, rule) == expected


def test_a_sequence_ends_every_phrase():
    data = [("B-NP", "B-NP"), None, ("I-NP", "I-NP")]
    assert evaluate(data, CONLLEVAL)["correct"] == 2
    assert evaluate([data[0], data[2]], CONLLEVAL)["correct"] == 1


def test_figures_are_percentages_by_type_and_in_all():
    metrics = evaluate([*pairs("B-NP O B-VP", "B-NP B-NP O"), None], CONLLEVAL)
    assert {name: metrics[name] for name in ("precision", "recall", "f1", "phrases", "found")} == {
        "precision": 50.0,
        "recall": 50.0,
        "f1": 50.0,
        "phrases": 2,
        "found": 2,
    }
    assert metrics["types"] == [
        {"type": "NP", "precision": 50.0, "recall": 100.0, "f1": pytest.approx(200 / 3), "phrases": 1, "found": 2},
        {"type": "VP", "precision": 0.0, "recall": 0.0, "f1": 0.0, "phrases": 1, "found": 0},
    ]
    assert (metrics["scheme"], metrics["counting"]) == ("iob2", "conlleval")
    assert evaluate(pairs("S-X", "S-X"), "iobes")["counting"] == "strict"


PHRASES = {  # as regular expressions of marks, each with the letter of its type
    CONLLEVAL: r"[BI](?P<a>.)(?:I(?P=a))*",
    "iob1": r"(?:I(?P<a>.)(?:I(?P=a))*|(?<=[BI](?P<b>.))B(?P=b)(?:(?:I(?P=b))+|(?!B(?!(?P=b)))))",
    "iob2": r"B(?P<a>.)(?:I(?P=a))*",
    "iobes": r"S.|B(?P<a>.)(?:I(?P=a))*E(?P=a)",
    "bilou": r"U.|B(?P<a>.)(?:I(?P=a))*L(?P=a)",
}


@pytest.mark.parametrize("rule", PHRASES)
@given(data=st.data())
def test_phrases_are_those_of_the_scheme(rule, data):
    marks = MARKS.get(rule, "BI")
    labels = data.draw(st.lists(st.sampled_from(["O", *(f"{mark}-{kind}" for mark in marks for kind in "xy")])))
    text = "".join(label.replace("-", "") if label != "O" else "Oo" for label in labels)
    expected = [(match.start() // 2, match.end() // 2, match[0][1]) for match in re.finditer(PHRASES[rule], text)]
    assert [*spans([*map(tag_of, labels)], rule)] == expected


@pytest.mark.parametrize(
    ("labels", "rule", "scheme"),
    [
        ("O B-NP I-NP", CONLLEVAL, "iob2"),
        ("O I-NP B-NP I-NP", CONLLEVAL, "iob1"),
        ("O I-NP O B-NP", CONLLEVAL, "iob"),
        ("O I-NP E-NP", CONLLEVAL, "ioe"),
        ("B-X E-X B-X E-X", "iobes", "iobes"),
        ("S-X B-X I-X E-X", "iobes", "iobes"),
        ("U-X O", "bilou", "bilou"),
        ("B-X I-X L-X", "bilou", "bilou"),
        ("b-per i-per o", CONLLEVAL, "iob2"),
        ("B_PS I_PS O", CONLLEVAL, "iob2"),
        ("B I O", CONLLEVAL, "iob2"),
        ("B E S", "iobes", "iobes"),
        ("O", None, None),
        ("NN O", None, None),
        ("B-NP NN", None, None),
        ("-LRB- B-NP", None, None),
        ("I O", None, None),  # letters are no marks where nothing begins
        ("B-X S-X U-X", None, None),
        ("I-X L-X", None, None),
    ],
)
def test_the_scheme_is_guessed(labels, rule, scheme):
    assert rule_for(labels.split()) == rule
    if rule:
        assert scheme_of([[*map(tag_of, labels.split())]], rule) == scheme
        assert rule_for(labels.split(), "none") is None
    else:
        with pytest.raises(UsageError, match=r"there are no phrases to count: .* like B-NP, I-NP and O"):
            rule_for(labels.split(), needed=True)


def test_a_scheme_that_is_given():
    assert rule_for(["B-X", "I-X"], "iobes") == "iobes"
    with pytest.raises(UsageError, match="--scheme iobes has labels of B, I, E, S and O, not L-X"):
        rule_for(["B-X", "L-X"], "iobes")
    with pytest.raises(UsageError, match="NN marks none"):
        rule_for(["NN", "O"], needed=True)
    with pytest.raises(UsageError, match="--scheme none"):
        rule_for(["B-X"], "none", needed=True)
