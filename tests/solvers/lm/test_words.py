"""What words are, and which windows of them a text has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import window_network as twin

from vwlite.data.memory import blocks_of
from vwlite.solvers.lm.words import Words, text_and_words, text_of, tokens_of, windows_of, word_of

LINES = st.lists(st.text("abcAB .,!?;:'-_|19\t", max_size=30), max_size=8)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The cat's 3.50 or 1,000?", "the cat s 0 or 0 ?"),
        ("e-mail me@x.org!", "e mail me x . org !"),
        ("b2b 12/24 3.", "b 0 b 0 0 0 ."),
        ("snake_case \N{LATIN CAPITAL LETTER E WITH ACUTE}t\N{LATIN SMALL LETTER E WITH ACUTE}", "snake case été"),
        ("٣ ½ — “x”", "0 0 x"),
        (" \t", ""),
    ],
)
def test_words_of_text(text, wanted):
    assert tokens_of(text, "words") == wanted.split()


def test_what_blanks_separate_stays_as_it_is():
    assert tokens_of("The |w 3.5\t'a\r\nb", "blanks") == ["The", "|w", "3.5", "'a", "\n", "b"]


def test_the_word_that_a_name_is():
    assert [word_of(name, "words") for name in ("Paris", "1,000", "U.S.", "", "|")] == ["paris", "0", "", "", ""]
    assert word_of("U.S.", "blanks") == "U.S."


@given(LINES, st.integers(1, 12), st.integers(2, 4), st.data())
def test_vocabulary_and_windows_are_the_twins(lines, limit, size, data):
    text, words, different = text_and_words(blocks_of(lines, 16), "words", limit)
    assert words.texts == twin.vocabulary(lines, limit)
    assert different == len(twin.vocabulary(lines, None))
    assert (text == text_of(blocks_of(lines, 1 << 20), "words", words)).all()
    known = data.draw(st.integers(0, len(words)))
    actual = [text[at : at + size].tolist() for at in windows_of(text, size, known).tolist()]
    assert actual == twin.windows(lines, words.texts, size, known)


def test_windows_with_unknown_words_can_be_told_from_ends_of_lines():
    text = text_of(blocks_of(["a b", "a x"], 99), "words", Words(["a", "b"]))
    assert text.tolist() == [0, 1, 3, 0, 2, 3]
    assert windows_of(text, 2, 3).tolist() == [0, 3] and windows_of(text, 2, 2).tolist() == [0]
    assert windows_of(np.zeros(1, np.int32), 2, 2).tolist() == []
