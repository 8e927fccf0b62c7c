"""Logged decisions as JSON, an object a line, rewritten as groups of lines of text: an action is a line.

``dsjson`` has the features of a decision in the member ``c``; ``json`` has them at the top, beside the label.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.blocks import Block

NOT_IN_NAMES = str.maketrans(dict.fromkeys("\t\n\v\f\r :|\u0085\u2028\u2029", "_"))
MOST, LEAST = float(np.finfo(np.float32).max), float(np.finfo(np.float32).smallest_subnormal)  # of labels
LABELS = ("_label_cost", "_label_probability", "_labelindex", "_label_action")


class WrongEvent(Exception):
    """The fault of a decision, and the word of its line that it is behind."""

    def __init__(self, sentence: str, at: str = "") -> None:
        super().__init__(sentence)
        self.at = at


class Members(list):  # type: ignore[type-arg]
    """The members of an object, (key, value) in their order: a key may come twice."""


class Event(NamedTuple):
    lines: list[str]
    weight: float


def refuse(name: str) -> Any:
    raise WrongEvent(f"{name} is not a number that JSON has", name)


DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_constant=refuse)


def features_of(members: Members, found: list[tuple[str, list[str]]], own: list[str]) -> str:
    """Add the features of an object to ``own``, those of inner namespaces to ``found``; answers its tag."""
    tag = ""
    for key, value in members:
        if key == "_text" and isinstance(value, str):
            own += [word.translate(NOT_IN_NAMES) for word in value.replace("\t", " ").split(" ") if word]
        elif key == "_tag" and isinstance(value, str):
            tag = value.translate(NOT_IN_NAMES)
        elif key.startswith("_"):
            continue
        elif value is True:
            own.append(key.translate(NOT_IN_NAMES))
        elif isinstance(value, str):
            own.append((key + value).translate(NOT_IN_NAMES))
        elif isinstance(value, Members):
            inner: list[str] = []
            found.append((key, inner))
            features_of(value, found, inner)
        elif isinstance(value, list):
            inner = []
            found.append((key, inner))
            for place, item in enumerate(value):
                if isinstance(item, Members):
                    features_of(item, found, inner)
                elif is_number(item) and item:
                    inner.append(f"{place}:{item!r}")
        elif is_number(value) and value:
            own.append(f"{key.translate(NOT_IN_NAMES)}:{value!r}")
    return tag


def is_number(value: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        raise WrongEvent("a number out of range")
    return isinstance(value, int | float) and not isinstance(value, bool)


def line_of(members: Members, label: str) -> str:
    namespaces: list[tuple[str, list[str]]] = []
    own: list[str] = []
    tag = features_of(members, namespaces, own)
    named = [("", own), *((name.translate(NOT_IN_NAMES), features) for name, features in namespaces)]
    spaces = [f"|{name} {' '.join(features)}" for name, features in named if features]
    words = [*([label] if label else []), *([f"'{tag}"] if tag else []), *(spaces or ["|"])]
    return " ".join(words)


def number_in(labels: JsonObject, key: str) -> float | None:
    value = labels.get(key)
    if value is None:
        return None
    if not is_number(value):
        raise WrongEvent(f"{key} is not a number", key)
    if abs(value) > MOST:
        raise WrongEvent(f"{key} is out of range", key)
    return float(value)


def label_in(labels: JsonObject, actions: int, like_vw: bool) -> tuple[int, str]:
    """The position of the action shown and its label; -1 where none was."""
    cost, p = number_in(labels, "_label_cost"), number_in(labels, "_label_probability")
    if cost is None or p is None:
        return -1, ""
    place, action = number_in(labels, "_labelindex"), number_in(labels, "_label_action")
    if place is None:
        place = None if action is None else action - 1
    elif action is not None and action != place + 1 and not like_vw:
        raise WrongEvent(f"_labelIndex {place:g} and _label_Action {action:g} are of two actions", "_labelindex")
    if place is None:
        return -1, ""
    if place not in range(actions):
        raise WrongEvent(f"there is no action {place:g} among {actions}", "_labelindex")
    if not LEAST <= p <= 1 and not like_vw:
        raise WrongEvent("the probability is not above 0 and at most 1", "_label_probability")
    return int(place), f"0:{cost!r}:{p!r}"


def event_of(line: str, within: bool, like_vw: bool) -> Event | None:
    """The lines of text of a decision, None for one that is not to be learned; ``within``: of ``dsjson``."""
    try:
        members = DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise WrongEvent("bad JSON", line[: error.pos]) from None
    except RecursionError:
        raise WrongEvent("nested too deeply") from None
    if not isinstance(members, Members):
        raise WrongEvent("no object")
    labels = {key.lower(): value for key, value in members if key.lower() in LABELS}
    known = dict(members)
    context = known.get("c") if within else members
    if known.get("_skipLearn") is True or (within and like_vw and "a" not in known):
        return None
    if not isinstance(context, Members):
        raise WrongEvent("no object 'c'")
    actions = dict(context).get("_multi")
    if actions is None and not within and isinstance(known.get("c"), Members):
        actions = dict(known["c"]).get("_multi")  # as vw finds them in an inner object
    if not isinstance(actions, list) or isinstance(actions, Members) or not actions:
        raise WrongEvent("no list '_multi' of actions")
    dropped = number_in(known, "pdrop") or 0.0
    if not 0 <= dropped < 1:
        raise WrongEvent("pdrop is not from 0 to below 1", "pdrop")
    place, label = label_in(labels, len(actions), like_vw)
    lines = [f"shared {line_of(context, '')}"]
    for number, action in enumerate(actions):
        if not isinstance(action, Members):
            raise WrongEvent("an action that is no object", "_multi")
        lines.append(line_of(action, label if number == place else ""))
    return Event(lines, 1 / (1 - dropped))


class EventLayout:
    """The words of messages about a line."""

    def __init__(self, within: bool) -> None:
        self.within = within

    def advice(self, code: int, line: bytes, column: int) -> str:
        try:
            event_of(line.decode("utf-8", "surrogateescape"), self.within, False)
        except WrongEvent as error:
            return f" ({error})"
        return ""


class Rewritten(NamedTuple):
    """Decisions as text: for each of its lines the number of that of JSON and its weight, and what is wrong.

    ``wrong``: the line of JSON from 0, the places in the block of what is wrong and of the line, the line of text.
    """

    text: bytes
    line: np.ndarray
    weight: np.ndarray
    wrong: list[tuple[int, int, int, int]]


def rewrite_block(block: Block, within: bool, like_vw: bool) -> Rewritten:
    text: list[str] = []
    lines: list[int] = []
    weights: list[float] = []
    wrong: list[tuple[int, int, int, int]] = []
    for number, (start, line) in enumerate(lines_of(block)):
        if not line.strip():
            continue
        try:
            event = event_of(line, within, like_vw)
            if event is None:
                continue
        except WrongEvent as error:
            event = Event([""], 1.0)  # a blank line more, beside which a line was left out
            if not like_vw:
                wrong.append((number, start + place_of(error.at, line), start, len(text) + 1))
        text += [*event.lines, ""]
        lines += [number] * (len(event.lines) + 1)
        weights += [event.weight] * (len(event.lines) + 1)
    whole = "".join(line + "\n" for line in text).encode(*UTF8)
    return Rewritten(whole, np.array(lines, np.uint32), np.array(weights, np.float32), wrong)


def place_of(word: str, line: str) -> int:
    """Find a place in bytes: behind a beginning of the line, or where a word of it is."""
    before = word if line.startswith(word) else line[: max(line.lower().find(word.lower()), 0)]
    return len(before.encode(*UTF8))


CLOSE = 1e-4  # probabilities are written with a few digits


class LoggedChances:
    """Decisions whose member ``p``, probabilities of the actions ``a``, does not sum to 1 or contradicts the label."""

    def __init__(self) -> None:
        self.read = False
        self.found: dict[str, list[str]] = {}  # where they stand, by what is said of them

    def add(self, block: Block, first_line: int) -> None:
        """``first_line``: the number of the block's first line in its file, from 0."""
        self.read = True
        for number, (_, line) in enumerate(lines_of(block), first_line + 1):
            with suppress(ValueError, TypeError, RecursionError, WrongEvent):
                if '"p"' in line and (said := self.doubt(dict(DECODER.decode(line)))):
                    self.found.setdefault(said, []).append(f"{block.path}:{number}")

    @staticmethod
    def doubt(known: Mapping[str, Any]) -> str:
        actions, chances = known.get("a"), known.get("p")
        labels = {key.lower(): value for key, value in known.items() if key.lower() in LABELS}
        place, action, p = (labels.get(key) for key in ("_labelindex", "_label_action", "_label_probability"))
        if not isinstance(chances, list) or not all(map(is_number, chances)):
            return ""
        if abs(sum(chances) - 1) > CLOSE:
            return "does not sum to 1"
        number_shown = action if place is None else place + 1
        if not isinstance(actions, list) or p is None or len(actions) != len(chances) or number_shown not in actions:
            return ""
        agrees = abs(chances[actions.index(number_shown)] - p) <= CLOSE
        return "" if agrees else "is not _label_probability for the action shown"

    def sentences(self) -> list[str]:
        return [
            f"p {sentence} in {len(places)} decision{'s' * (len(places) > 1)}, first in {places[0]}"
            for sentence, places in self.found.items()
        ]


UTF8 = ("utf-8", "surrogateescape")


def lines_of(block: Block) -> Iterator[tuple[int, str]]:
    """The lines of a block, with the place where each begins."""
    start = 0
    for line in bytes(block.data[: block.size]).split(b"\n")[:-1]:
        yield start, line.decode(*UTF8)
        start += len(line) + 1
