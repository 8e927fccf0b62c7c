"""Phrase precision, recall and F1 as the shared tasks' ``conlleval`` counts them (Tjong Kim Sang and Buchholz, 2000).

Labels are ``O`` or a mark, a dash and a type: ``B-NP``. Marks B, I, E, O and brackets are understood.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

LABEL = re.compile(r"([^-]*)-(.*)", re.S)
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}  # marks of two tokens in turn between which a phrase ends
STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE"}
Tag = tuple[str, str]  # mark, type
OUTSIDE: Tag = ("O", "")


def tag_of(label: str) -> Tag:
    found = LABEL.fullmatch(label)
    return (found[1], found[2]) if found else (label, "")


def ends(before: Tag, now: Tag) -> bool:
    """Whether a phrase ends with the token before."""
    changed = before[0] not in ("O", ".") and before[1] != now[1]
    return before[0] + now[0] in ENDS or changed or before[0] in ("]", "[")


def starts(before: Tag, now: Tag) -> bool:
    """Whether a phrase begins with this token."""
    changed = now[0] not in ("O", ".") and before[1] != now[1]
    return before[0] + now[0] in STARTS or changed or now[0] in ("[", "]")


def count(pairs: Iterable[tuple[str, str] | None]) -> dict[str, Counter]:
    """Phrases by type, of ``(true label, predicted label)`` and None between sequences: correct, true, found."""
    phrases = {name: Counter() for name in ("correct", "true", "found")}
    known: dict[str, Tag] = {}
    before = (OUTSIDE, OUTSIDE)
    inside = False  # a true phrase that is predicted as it is, so far
    for pair in with_end(pairs):
        true, found = (OUTSIDE, OUTSIDE) if pair is None else (known.setdefault(x, tag_of(x)) for x in pair)
        if inside:
            over = ends(before[0], true), ends(before[1], found)
            if all(over) and before[0][1] == before[1][1]:
                inside = False
                phrases["correct"][before[0][1]] += 1
            elif over[0] != over[1] or true[1] != found[1]:
                inside = False
        begun = starts(before[0], true), starts(before[1], found)
        if all(begun) and true[1] == found[1]:
            inside = True
        for name, tag, new in (("true", true, begun[0]), ("found", found, begun[1])):
            if new:
                phrases[name][tag[1]] += 1
        before = true, found
    return phrases


def with_end(pairs: Iterable[tuple[str, str] | None]) -> Iterator[tuple[str, str] | None]:
    yield from pairs
    yield None


def rates(correct: int, true: int, found: int) -> dict[str, float]:
    """Percentages."""
    precision = 100 * correct / found if found else 0.0
    recall = 100 * correct / true if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def evaluate(pairs: Iterable[tuple[str, str] | None]) -> dict[str, Any]:
    """Precision, recall, F1 and numbers of phrases, in all and by type; ``pairs`` as in ``count``."""
    phrases = count(pairs)
    correct, true, found = (phrases[name] for name in ("correct", "true", "found"))
    totals = sum(correct.values()), sum(true.values()), sum(found.values())
    types = [
        {"type": kind, **rates(correct[kind], true[kind], found[kind]), "phrases": true[kind], "found": found[kind]}
        for kind in sorted(true | found)
    ]
    return {**rates(*totals), "phrases": totals[1], "found": totals[2], "correct": totals[0], "types": types}
