"""Features of the labels before: as rows have them in training, and as tables by which sequences are searched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.batch import Csr, offsets
from vwlite.errors import UsageError
from vwlite.features.sparse_rows import Rows, Vocabulary
from vwlite.solvers.aso.label_features import VALUE, label_features, labels_before, read_kinds

SPACES = ["v", "w"]
WORDS = Vocabulary(np.arange(6, dtype=np.uint32), np.array([0, 1, 1, 0, 1, 0], np.int32), list("abcdef"), SPACES)

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def rows_of(rng, count):
    held = rng.random((count, len(WORDS))) < 0.5
    terms = Csr(offsets(held.sum(1)), np.nonzero(held)[1].astype(np.uint32), np.ones(held.sum(), np.float32))
    return Rows(terms, np.ones(count, np.float32), np.zeros((count, 0), np.float32))


@pytest.mark.parametrize("kinds", ["y1", "y2", "y1*w", "y1,y2,y1*w,y1*v"])
@given(seed=st.integers(0, 2**32 - 1), labels=st.integers(1, 4), sizes=SIZES)
def test_tables_score_what_rows_would(kinds, seed, labels, sizes):
    rng = np.random.default_rng(seed)
    sequence, count = offsets(sizes), sum(sizes)
    rows, features = rows_of(rng, count), label_features(read_kinds(kinds), labels, WORDS)
    label = rng.integers(labels, size=count)
    one = labels_before(label, sequence, labels)
    two = labels_before(one, sequence, labels)
    weights = rng.normal(size=(int(features.starts[-1]), labels)).astype(np.float32)
    more = features.added(rows, one, two, len(WORDS)).terms
    assert (np.diff(more.indices.astype(np.int64))[np.diff(more.owner) == 0] > 0).all()
    new = more.indices >= len(WORDS)
    assert np.array_equal(more.indices[~new], rows.terms.indices)
    expected = np.zeros((count, labels))
    np.add.at(expected, more.owner[new], more.values[new, None] * weights[more.indices[new] - len(WORDS)])
    pairs, triples = features.pairs(rows, weights), features.triples(weights)
    found = pairs[np.arange(count), one] + (0 if triples is None else triples[two, one])
    assert np.allclose(found, expected, atol=1e-6) and (triples is None) == ("y2" not in kinds)


def test_labels_that_are_not_known_make_no_feature():
    rows, features = rows_of(np.random.default_rng(1), 3), label_features(("y1", "y2"), 2, WORDS)
    one, two = np.array([2, -1, 0]), np.array([2, 2, -1])
    more = features.added(rows, one, two, len(WORDS)).terms
    new = more.indices >= len(WORDS)
    assert list(zip(more.owner[new].tolist(), (more.indices[new] - len(WORDS)).tolist(), strict=True)) == [
        (0, 2),
        (0, 3 + 2 * 3 + 2),
        (2, 0),
    ]
    assert set(more.values[new].tolist()) == {np.float32(VALUE)}


def test_kinds():
    assert read_kinds("y1,y2,y1*w,y1") == ("y1", "y2", "y1*w")
    for bad in ("y3", "", "y1,,y2", "y1*", "y2*w", "y-prev", "y-prev*"):
        with pytest.raises(UsageError, match="y1, y2, y1"):
            read_kinds(bad)
    with pytest.raises(UsageError, match="namespace 'x'"):
        label_features(("y1*x",), 2, WORDS)
