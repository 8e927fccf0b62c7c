"""Examples of many tasks: the rows of each, and the numbers that are their labels."""

from dataclasses import dataclass

import numpy as np

from vwlite.errors import DataError
from vwlite.escapes import escaped
from vwlite.features.sparse_rows import Rows
from vwlite.features.vocabulary import Vocabulary
from vwlite.solvers.aso.corpus import Corpus

TAG = "tag"


@dataclass(slots=True)
class TaskRows:
    """``task`` int64[n]: place in the names of tasks, -1 where unknown or not said; ``said``: bool[n], is it said?"""

    rows: Rows
    task: np.ndarray
    said: np.ndarray


def task_names(corpus: Corpus, source: str) -> list[str]:
    """The task of each row, "" where it has none; a row of several features in the namespace has the first by key."""
    if source == TAG:
        return [tag.decode("utf-8", "surrogateescape").removeprefix("'") for tag in corpus.tags]
    sizes, keys = (np.concatenate([part[column] for part in corpus.parts]) for column in (0, 1))
    own = np.array([key for key, (space, _) in corpus.known.items() if space == source], np.uint32)
    hits = np.flatnonzero(np.isin(keys, own))
    owner = np.repeat(np.arange(len(sizes)), sizes)[hits]
    names = [""] * len(sizes)
    for row, key in zip(owner[::-1].tolist(), keys[hits][::-1].tolist(), strict=True):
        names[row] = corpus.known[key][1]
    return names


def features(corpus: Corpus, source: str) -> Vocabulary:
    """All features but those that name tasks."""
    words = corpus.vocabulary()
    if source not in words.spaces:
        return words
    keep = words.space != words.spaces.index(source)
    names = [name for name, kept in zip(words.names, keep.tolist(), strict=True) if kept]
    return Vocabulary(words.key[keep], words.space[keep], names, words.spaces)


def task_rows(corpus: Corpus, words: Vocabulary, source: str, tasks: list[str]) -> TaskRows:
    index = {name: place for place, name in enumerate(tasks)}
    names = task_names(corpus, source)
    task = np.array([index.get(name, -1) for name in names], np.int64)
    return TaskRows(corpus.rows(words, unit=False), task, np.array([name != "" for name in names], bool))


def numbers_of(corpus: Corpus, loss: str) -> np.ndarray:
    """float64[n]: the labels, nan where there is none. Raises DataError for one that is none of the loss."""
    values = np.full(len(corpus.texts) + 1, np.nan)  # the last for rows without a label
    for place, text in enumerate(corpus.texts):
        try:
            values[place] = float(text)
        except ValueError:
            values[place] = np.inf
        if not np.isfinite(values[place]):
            raise DataError(f"labels of tasks are numbers, and one is {escaped(text)}")
        if loss == "logistic" and abs(values[place]) != 1:
            raise DataError(f"labels of --loss_function logistic are -1 and 1, and one is {escaped(text)}")
    return values[corpus.label]
