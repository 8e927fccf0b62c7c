"""The words of a text in lower case, character by character."""

import re
from itertools import groupby
from unicodedata import ucd_3_2_0


def in_word(character):
    return character < "\U00010000" and (character == "_" or ucd_3_2_0.category(character)[0] in "LNM")


def small(character):
    lower = character.lower()
    same = len(lower) == 1 and len(lower.encode()) == len(character.encode()) and ucd_3_2_0.category(lower) != "Cn"
    return lower if same else character


def lower_words(text):
    """Those of two characters or more; surrogates are bytes that are no UTF-8."""
    runs = ["".join(run) for there, run in groupby(text, in_word) if there]
    return ["".join(map(small, run)) for run in runs if len(run) > 1]


def split_words(text):
    return [one for one in re.split(r"[ \t\r\n]", text) if one]
