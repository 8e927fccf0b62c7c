"""Theta from text that is learned as it comes: problems and features of a beginning, steps over all that follows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.errors import DataError, Diverged, ModelError
from vwlite.features.sparse_rows import Rows, Vocabulary, Weights
from vwlite.features.theta import Theta
from vwlite.solvers.aso.auxiliary import Aux, View, frequent, held, views
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.sgd import Passes, Targets, targets
from vwlite.solvers.aso.train import Problems, decompose, group_features, make_problems, solve_problems, state_memory
from vwlite.training.listener import Monitor

SPAN = 4096  # examples between two looks at features that were not known


@dataclass(slots=True)
class Part:
    """The problems of a view: they predict the features ``source``, uint32[m] hashes.

    Row i of ``weights.w`` is that of the feature ``keys[i]``; the weights are ``scale`` times these.
    """

    aux: Aux
    number: int  # of the view among those of ``aux``, from 0
    kind: str
    names: list[str]
    source: np.ndarray
    keys: np.ndarray  # uint32[features seen]
    weights: Weights
    step: int
    scale: float = 1.0
    view: View | None = None
    row: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))  # of each feature
    problem: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # of each feature, -1 for none

    def seen(self, words: Vocabulary, seed: int) -> np.ndarray:
        """bool[p]: what the problems are predicted from. Raises ValueError for a view that is not there."""
        masks = views(self.aux, words, seed)
        if self.number >= len(masks):
            raise ValueError("the views of its problems")
        self.view = masks[self.number]
        return self.view.seen

    def meet(self, words: Vocabulary, seed: int, most: int) -> None:
        """Give the features of ``words`` that are new, and seen, rows of zeros, of at most ``most``."""
        keys = words.key[self.seen(words, seed)]
        new = keys[~np.isin(keys, self.keys)]
        self.keys = np.concatenate((self.keys, new))
        self.weights.w = widen_table(self.weights.w, len(self.keys), most)
        order = np.argsort(self.keys)
        self.row = np.zeros(len(words), np.uint32)
        self.row[words.find(self.keys[order])] = order
        self.problem = np.full(len(words), -1)
        self.problem[words.find(self.source)] = np.arange(len(self.source))

    def made(self, rows: Rows, presence: np.ndarray) -> Targets:
        """For which problems the rows are positive."""
        if self.aux.kind.startswith("freq"):
            owner, index = frequent(rows, self.view, presence, self.aux.k)
        else:
            owner, index = held(rows, self.view, self.aux.above if self.aux.kind == "more" else None)
        own = self.problem[index] >= 0
        return targets(owner[own], self.problem[index[own]], len(rows), self.names)

    def learn(self, config: LearnConfig, rows: Rows, presence: np.ndarray) -> None:
        """A step for each row, in order. Raises Diverged."""
        own = rows.numbered(self.view.seen, self.row)
        own = own.unit() if config.unit else own
        made, order = self.made(rows, presence), np.arange(len(rows))
        used = WholeStep(self.weights.w[: len(self.keys)], self.weights.v, self.weights.bias)
        with Passes(replace(config.solver, shared_rate=0.0), len(self.names)) as passes:
            self.step, self.scale = passes.make(own, made, used, order, self.step, self.scale)
        if not np.isfinite(self.weights.bias).all():
            raise Diverged(f"the weights are not finite numbers after {self.step} steps; try a smaller -l")

    def fold(self) -> None:
        """Multiply the weights by their scale."""
        self.weights.w[: len(self.keys)] *= np.float32(self.scale)
        self.scale = 1.0

    def table(self) -> np.ndarray:
        """float32[features seen, m]: a copy of the weights, but for their scale, in the order of the features."""
        table: np.ndarray = self.weights.w[self.row[self.view.seen]]
        return table


class WholeStep(Weights):
    """Weights that a kernel makes a whole step on, whatever is asked meanwhile."""

    stop = bytes(1)


def widen_table(table: np.ndarray, rows: int, most: int) -> np.ndarray:
    """A table of at least this number of rows; those of now come first, zeros follow.

    It has ``most`` rows at once, which take no memory before they are written to.
    """
    if rows <= len(table):
        return table
    new = np.zeros((most, table.shape[1]), np.float32)
    new[: len(table)] = table
    return new


class Decomposed:
    """The rows of a part's weights, or their positive parts, as an array has them by a bool mask."""

    def __init__(self, part: Part, positive: bool) -> None:
        self.part, self.positive = part, positive
        self.shape = len(part.keys), len(part.names)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """float32[rows, problems], a copy."""
        part = self.part
        table: np.ndarray = part.weights.w[part.row[part.view.seen][rows]]
        table *= np.float32(part.scale)
        return np.maximum(table, 0, out=table) if self.positive else table


@dataclass(slots=True)
class Newcomers:
    """Features that are not known: their hashes, ascending, and how many examples had them; names of those that had
    enough of them.
    """

    key: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    count: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    names: dict[int, tuple[str, str]] = field(default_factory=dict)  # namespace and name

    def add(self, keys: np.ndarray, least: int, known: dict[int, tuple[str, str]]) -> None:
        """The features of examples, one an example; ``known``: namespace and name of each."""
        new, counts = np.unique(keys, return_counts=True)
        merged, place = np.unique(np.concatenate((self.key, new)), return_inverse=True)
        total = np.zeros(len(merged), np.uint32)
        np.add.at(total, place.reshape(-1), np.concatenate((self.count, counts.astype(np.uint32))))
        self.key, self.count = merged, total
        for key in new[total[np.searchsorted(merged, new)] >= least].tolist():
            self.names.setdefault(key, known[key])

    def take(self, most: int) -> dict[int, tuple[tuple[str, str], int]]:
        """Remove and return the features with enough examples, the ``most`` of the smallest hashes: names and
        counts."""
        taken = sorted(self.names)[:most]
        counts = self.count[np.searchsorted(self.key, np.array(taken, np.uint32))].tolist()
        taken_features = {key: (self.names[key], count) for key, count in zip(taken, counts, strict=True)}
        remaining = ~np.isin(self.key, np.array(sorted(self.names), np.uint32))
        self.key, self.count, self.names = self.key[remaining], self.count[remaining], {}
        return taken_features


def add_words(words: Vocabulary, new: dict[int, tuple[tuple[str, str], int]]) -> tuple[Vocabulary, np.ndarray]:
    """``words`` with new ones, and the places of all in the two, one behind the other."""
    spaces = sorted({*words.spaces, *(space for (space, _), _ in new.values())})
    number = {space: place for place, space in enumerate(spaces)}
    keys = np.concatenate((words.key, np.array(list(new), np.uint32)))
    names = [*words.names, *(name for (_, name), _ in new.values())]
    old = np.array([number[space] for space in words.spaces], np.int32)
    space = np.concatenate((old[words.space], np.array([number[pair[0]] for pair, _ in new.values()], np.int32)))
    order = np.argsort(keys)
    idf = words.idf
    if idf is not None:
        idf = np.append(np.append(idf[:-1], np.full(len(new), idf[-1]))[order], idf[-1]).astype(np.float32)
    return Vocabulary(keys[order], space[order], [names[place] for place in order.tolist()], spaces, idf), order


@dataclass(slots=True)
class Stream:
    """The state of learning from a text. ``examples``: all that were learned."""

    config: LearnConfig
    most: int  # features
    words: Vocabulary
    presence: np.ndarray  # int64[p], examples that had each feature when it was met
    parts: list[Part]
    examples: int
    since: int = 0  # of these since the last look at new features
    newcomers: Newcomers = field(default_factory=Newcomers)
    listed: list[list[Any]] = field(default_factory=list)  # fields of ``problem_list.Listed``, of the first examples

    def facts(self, theta: Theta) -> JsonObject:
        """The report of the learning, as JSON data."""
        return {
            "aux": [aux.text for aux in self.config.aux],
            "problems": [len(part.names) for part in self.parts],
            "listed": self.listed,
            "groups": {name: values.tolist() for name, values in zip(theta.names, theta.values, strict=True)},
            "objective": [],
            "examples": self.examples,
            "seed": self.config.solver.seed,
        }

    def step(self, corpus: Corpus) -> None:
        """Examples up to the next look at new features, or fewer."""
        config = self.config
        rows = corpus.rows(self.words, unit=False)
        for part in self.parts:
            part.learn(config, rows, self.presence)
        keys = corpus.keys
        unknown = keys[self.words.find(keys) < 0]
        if len(self.words) < self.most:
            self.newcomers.add(unknown, config.least, corpus.known)
        self.examples, self.since = self.examples + len(rows), self.since + len(rows)
        if self.since >= SPAN:
            self.look()

    def look(self) -> None:
        """Take in the features that enough examples had by now."""
        self.since = 0
        for part in self.parts:
            part.fold()
        new = self.newcomers.take(self.most - len(self.words))
        if new:
            self.words, order = add_words(self.words, new)
            self.presence = np.concatenate((self.presence, [count for _, count in new.values()]))[order]
            self.meet()

    def meet(self) -> None:
        for part in self.parts:
            part.meet(self.words, self.config.solver.seed, self.most)

    def theta(self, say: Callable[[str], None]) -> Theta:
        group, names = group_features(self.config, self.words)
        empty = Theta(self.words, group, np.zeros((len(self.words), 0), np.float32), names, [np.zeros(0)] * len(names))
        tables = [(part.view.seen, Decomposed(part, self.config.positive)) for part in self.parts]
        return decompose(self.config, tables, empty, say)


def spans(corpora: Iterable[Corpus], first: int) -> Iterator[Corpus]:
    """The same examples in corpora of ``first``, then of ``SPAN`` or, at the end, fewer."""
    left, size = None, first
    for corpus in corpora:
        left = corpus if left is None else left.followed_by(corpus)
        while len(left.label) >= size:
            own = np.arange(len(left.label)) < size
            yield left.subset(own)
            left, size = left.subset(~own), SPAN
            left.known = {key: left.known[key] for key in np.unique(left.keys).tolist()}
    if left is not None and len(left.label):
        yield left


def begun(
    config: LearnConfig, most: int, corpus: Corpus, monitor: Monitor
) -> Stream:
    """A stream that begins with the first examples of a text, which are in memory. Raises as ``learn``."""
    if not len(corpus.label):
        raise DataError("there is no example to learn from")
    words, say = corpus.vocabulary(config.least, config.idf), monitor.remark
    rows = corpus.rows(words, unit=False)
    say(f"{len(words)} features; {words.rare} that fewer than {config.least} examples have are left out")
    stream = Stream(config, max(most, len(words)), words, rows.presence(len(words)), [], len(rows))
    stream.newcomers.add(corpus.keys[words.find(corpus.keys) < 0], config.least, corpus.known)
    group, _ = group_features(config, words)
    empty = Theta(words, group, np.zeros((len(words), 0), np.float32), [], [])
    problems = {aux: make_problems(replace(config, aux=(aux,)), rows, words, corpus, None) for aux in config.aux}
    state_memory(config, [one for several in problems.values() for one in several], stream.most / len(words), say)
    for aux, several in problems.items():
        for one in several:
            stream.parts.append(part_of(config, aux, words, rows, one, empty, monitor))
            stream.listed += [list(row.fields()) for row in one.listed()]
    stream.meet()
    return stream


def part_of(
    config: LearnConfig, aux: Aux, words: Vocabulary, rows: Rows, one: Problems, empty: Theta, monitor: Monitor
) -> Part:
    """The problems of a view, learned from the rows in memory."""
    seen_by = [view.seen for view in views(aux, words, config.solver.seed)]
    number = next(place for place, seen in enumerate(seen_by) if (seen == one.seen).all())
    weights, _ = solve_problems(config, rows, one, empty, None, monitor)
    step = config.solver.passes * int((rows.select(one.seen).terms.sizes > 0).sum())
    source = words.key[one.made.feature]
    return Part(aux, number, one.kinds[0], one.made.names, source, words.key[one.seen], weights, step)


def skip_examples(corpora: Iterable[Corpus], examples: int) -> Iterator[Corpus]:
    """The corpora without the first ``examples`` examples. Raises ModelError if there are fewer."""
    left = examples
    for corpus in corpora:
        count = len(corpus.label)
        if left < count:
            yield corpus.subset(np.arange(count) >= left) if left else corpus
        left = max(left - count, 0)
    if left:
        raise ModelError("the text is shorter than what was learned of it: start again without --resume")
