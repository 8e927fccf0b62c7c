"""Pivot features: frequent in two texts, and telling the classes of one (Blitzer, Dredze and Pereira, ACL 2007)."""

import numpy as np

from vwlite.errors import UsageError
from vwlite.features.sparse_rows import Rows
from vwlite.features.vocabulary import Vocabulary
from vwlite.solvers.aso.auxiliary import Aux, View, in_spaces
from vwlite.solvers.aso.rows import Targets


def mutual_information(rows: Rows, made: Targets, features: int) -> np.ndarray:
    """float64[p], in nats: of a feature's presence and the class, over all pairs of a row and a class that it has."""
    classes = len(made.names)
    pairs = rows.terms.take(made.positive.owner)  # a row for each of its classes
    label = made.positive.indices.astype(np.int64)
    both = np.bincount(pairs.indices.astype(np.int64) * classes + label[pairs.owner], minlength=features * classes)
    both = both.reshape(features, classes).astype(float)
    total, size = float(len(label)), np.bincount(label, minlength=classes)
    held, information = both.sum(1, keepdims=True), np.zeros(features)
    for joint, of_feature in ((both, held), (size - both, total - held)):
        expected = of_feature * size / total
        information += (joint / total * np.log(np.where(joint > 0, joint, 1) / np.where(joint > 0, expected, 1))).sum(1)
    return information


def pivots(aux: Aux, words: Vocabulary, known: Rows, made: Targets, least: int) -> View:
    """The ``aux.k`` features that say most of the classes of ``known``, hidden, and all others, seen.

    They are those of ``aux.spaces`` (of all namespaces) that ``least`` of the labelled rows hold at least; all
    ``words`` are in as many of the others. Of equal ones the first by key. Raises UsageError where there are fewer.
    """
    among = in_spaces(words, aux.spaces) if aux.spaces else np.ones(len(words), bool)
    among &= known.presence(len(words)) >= least
    if among.sum() < aux.k:
        where = f"namespace {', '.join(aux.spaces)}" if aux.spaces else "all namespaces"
        raise UsageError(
            f"--aux {aux.text}: {where} has {among.sum()} features that {least} examples of both texts hold; "
            "a smaller number or a smaller --min-count is needed"
        )
    information = np.where(among, mutual_information(known, made, len(words)), -np.inf)
    hidden = np.zeros(len(words), bool)
    hidden[np.argsort(-information, kind="stable")[: aux.k]] = True
    return View(~hidden, hidden)
