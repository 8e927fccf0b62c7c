"""Phrases that labels along a sequence mark, and their precision, recall and F1.

A label is ``O`` or a mark and, after a dash or an underscore, a type: ``B-NP``, ``b_np``; or a mark alone. A scheme
given is counted strictly, as the package seqeval does in its strict mode: what is no phrase of the scheme is none.
Labels of B and I, or of I and E, whose scheme is not given are counted as the shared tasks' script ``conlleval`` counts
them (Tjong Kim Sang and Buchholz, 2000): any mark begins a phrase where none goes on.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from vwlite.config_check import JsonObject
from vwlite.errors import UsageError

CONLLEVAL = "conlleval"
MARKS = {"iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU"}
STARTS = {CONLLEVAL: "BIE", "iob1": "I", "iob2": "B", "iobes": "BS", "bilou": "BU"}
ENDS = {"iobes": "ES", "bilou": "LU"}  # marks without which a phrase is none
LABEL = re.compile(r"([BIESLU])(?:[-_](.+))?", re.S | re.I)


class Tag(NamedTuple):
    """A parsed label. ``mark`` is a capital; ``type`` is empty where the label is a mark alone."""

    mark: str
    type: str | None


OUTSIDE = Tag("O", None)
Phrase = tuple[int, int, str | None]  # first token, the one behind the last, type


def tag_of(label: str) -> Tag:
    """``OUTSIDE`` for labels that mark no phrase, such as ``o`` and ``NN``."""
    match = LABEL.fullmatch(label)
    return Tag(match[1].upper(), match[2] or "") if match else OUTSIDE


def goes_on(before: Tag, now: Tag) -> bool:
    """Whether a token belongs to the phrase of the token before it."""
    return before.mark in "BI" and now.mark in "IEL" and before.type == now.type


def rule_for(names: Iterable[str], scheme: str | None = None, needed: bool = False) -> str | None:
    """Tell how phrases of labels are counted: ``CONLLEVAL``, or strictly by a scheme; None where labels mark none.

    ``scheme`` None: what the labels look like. Raises UsageError for a label that is none of ``scheme``, and for labels
    that mark no phrase where phrases are ``needed``.
    """
    tags = {name: tag_of(name) for name in names if name not in ("O", "o")}
    if scheme in MARKS:
        for name, tag in tags.items():
            if tag.mark not in MARKS[scheme]:
                raise UsageError(f"--scheme {scheme} has labels of {', '.join(MARKS[scheme])} and O, not {name}")
        return scheme
    marks = {tag.mark for tag in tags.values()}
    bare = any(tag.type == "" for tag in tags.values())
    if scheme != "none" and marks and OUTSIDE not in tags.values() and ("B" in marks or not bare):
        if marks <= set("BI") or marks <= set("IE"):
            return CONLLEVAL
        for first, last in ENDS.items():
            if marks <= set("BI" + last) and marks & set(STARTS[first]):
                return first
    if needed:
        other = next((name for name, tag in tags.items() if tag == OUTSIDE), None)
        why = f"{other} marks none" if other else "the labels are of no one scheme"
        why = "--scheme none" if scheme else why
        raise UsageError(f"there are no phrases to count: {why}; labels that mark them are like B-NP, I-NP and O")
    return None


def rule_asked(labels: Iterable[str], scheme: str | None, metrics: Collection[str] | None) -> tuple[str | None, str]:
    """The rule as ``rule_for`` tells it; where there is none and ``conll`` is among the ``metrics``, why.

    ``metrics`` None: those that there are. Raises UsageError for a scheme that does not fit them.
    """
    try:
        return rule_for(labels, scheme, needed="conll" in (metrics or ())), ""
    except UsageError as error:
        if metrics is None:
            raise
        return None, str(error)


def spans(tags: Sequence[Tag], rule: str) -> Iterator[Phrase]:
    """The phrases of a sequence."""
    place, before = 0, OUTSIDE
    while place < len(tags):
        begin, first = place, tags[place]
        place += 1
        if starts_phrase(before, first, rule):
            while place < len(tags) and goes_on(tags[place - 1], tags[place]):
                place += 1
            if is_whole(tags[place - 1], tags[place] if place < len(tags) else OUTSIDE, rule):
                yield begin, place, first.type
        before = tags[place - 1]


def starts_phrase(before: Tag, now: Tag, rule: str) -> bool:
    """Whether a phrase begins with a token that does not go on with the one before it."""
    between = rule == "iob1" and now.mark == "B" and before.mark in "BI" and before.type == now.type
    return between or now.mark in STARTS[rule]


def is_whole(last: Tag, behind: Tag, rule: str) -> bool:
    """Whether what ended with ``last`` is a phrase. That of IOB1 has no B of another type behind its B: so seqeval."""
    broken = rule == "iob1" and last.mark == behind.mark == "B" and last.type != behind.type
    return not broken and last.mark in ENDS.get(rule, last.mark)


def scheme_of(sequences: Iterable[Sequence[Tag]], rule: str) -> str:
    """The scheme that the true labels of sequences follow: one of MARKS, ``ioe``, or ``iob`` for IOB1 and
    IOB2 mixed."""
    if rule != CONLLEVAL:
        return rule
    first = set()  # tokens of phrases, with whether the token before is of a phrase of the same type
    for tags in sequences:
        if any(tag.mark == "E" for tag in tags):
            return "ioe"
        first |= {(tags[at].mark, at > 0 and tags[at - 1].type == kind) for at, _, kind in spans(tags, rule)}
    if all(mark == "B" for mark, _ in first):
        return "iob2"
    return "iob" if ("B", False) in first else "iob1"


def sequences_of(pairs: Iterable[tuple[str, str] | None]) -> Iterator[tuple[list[Tag], list[Tag]]]:
    """The tags of true and of predicted labels, of pairs of labels with None between sequences."""
    known: dict[str, Tag] = {}
    true: list[Tag] = []
    predicted_tags: list[Tag] = []
    for pair in pairs:
        if pair is None:
            yield true, predicted_tags
            true, predicted_tags = [], []
            continue
        for label, tags in zip(pair, (true, predicted_tags), strict=True):
            if label not in known:
                known[label] = tag_of(label)
            tags.append(known[label])
    yield true, predicted_tags


def rates(correct: int, true: int, found: int) -> dict[str, float]:
    """Percentages."""
    precision = 100 * correct / found if found else 0.0
    recall = 100 * correct / true if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def evaluate(pairs: Iterable[tuple[str, str] | None], rule: str) -> JsonObject:
    """Precision, recall, F1 and numbers of phrases, in all and by type; ``pairs`` as in ``sequences_of``."""
    sequences = [*sequences_of(pairs)]
    correct, true, predicted = Counter[str](), Counter[str](), Counter[str]()
    for tags in sequences:
        meant, answered = ({*spans(labels, rule)} for labels in tags)
        for phrases, counts in ((meant & answered, correct), (meant, true), (answered, predicted)):
            counts.update(str(kind) for _, _, kind in phrases)
    totals = correct.total(), true.total(), predicted.total()
    types = [
        {
            "type": kind,
            **rates(correct[kind], true[kind], predicted[kind]),
            "phrases": true[kind],
            "found": predicted[kind],
        }
        for kind in sorted(true | predicted)
    ]
    scheme = scheme_of((tags for tags, _ in sequences), rule)
    counting = CONLLEVAL if rule == CONLLEVAL else "strict"
    report = {**rates(*totals), "phrases": totals[1], "found": totals[2], "correct": totals[0]}
    return {**report, "scheme": scheme, "counting": counting, "types": types}
