"""Macros of templates against their twin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import token_macros

from vwlite.data.plain_text import as_name
from vwlite.solvers.loglinear.crfpp_templates import Tokens, character_type, read_templates

WORDS = st.text(st.characters(blacklist_categories=("Zs", "Zl", "Zp", "Cc", "Cs")), min_size=1, max_size=8)
LABELS = st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B", "I-"])
SENTENCES = st.lists(st.tuples(WORDS, LABELS), min_size=1, max_size=9)
SHAPES = {
    "x": ({}, ""),
    "l": ({}, ""),
    "t": ({}, ""),
    "k": ({}, ""),
    "p": ({"sizes": (2,)}, ",2"),
    "s": ({"sizes": (1, 2, 3)}, ",1-3"),
    "m": ({"regex": r"[\w]+\"?"}, r',"[\w]+\"?"'),
}


@pytest.mark.parametrize("kind", SHAPES)
@given(sentence=SENTENCES, row=st.integers(-12, 12))
def test_macros_are_those_of_the_twin(kind, sentence, row):
    more, typed = SHAPES[kind]
    column = 1 if kind == "k" else 0
    (template,) = read_templates(f"U:%{kind}[{row},{column}{typed}]")
    tokens = Tokens([list(token) for token in sentence])
    for place in range(len(sentence)):
        expected = token_macros.values(sentence, place, kind, row, column, **more)
        assert tokens.values(template.macros[0])[place] == [as_name(value) for value in expected]


def test_character_types():
    shown = {"McDonald-12": "AaAa+-0+", "Ämter": "Aa+", "U.S.": "A.A.", "--": "-+", "1990s": "0+a", "日本": "日本"}
    assert {word: character_type(word) for word in shown} == shown
