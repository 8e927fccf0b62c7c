"""What is made of many rows a few at a time is what is made of all of them at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.batch import Csr, offsets
from vwlite.data.block_parser import read
from vwlite.data.malformed_lines import BadLines
from vwlite.features import sparse_rows
from vwlite.features.sparse_rows import Rows
from vwlite.solvers.aso import auxiliary
from vwlite.solvers.aso.auxiliary import View, frequent
from vwlite.solvers.aso.corpus import Corpus, text_format

SIZES = st.lists(st.integers(0, 5), max_size=9)


def rows_of(sizes, seed):
    rng = np.random.default_rng(seed)
    indices = [np.sort(rng.choice(7, size, replace=False)) for size in sizes]
    terms = Csr(
        offsets(sizes),
        np.concatenate([np.zeros(0), *indices]).astype(np.uint32),
        rng.integers(1, 4, sum(sizes)).astype(np.float32),
    )
    return Rows(terms, np.ones(len(sizes), np.float32), np.zeros((len(sizes), 0), np.float32))


@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1), chunk=st.integers(1, 10))
def test_rows_of_length_one(sizes, seed, chunk):
    rows = rows_of(sizes, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_rows, "CHUNK", chunk)
        found = rows.unit().terms.values
    expected = []
    for row in range(len(sizes)):
        own = rows.terms.values[rows.terms.row(row)].astype(np.float64)
        expected += (own / np.sqrt((own**2).sum())).astype(np.float32).tolist()
    assert found.dtype == np.float32 and found.tolist() == pytest.approx(expected, rel=1e-7)
    assert found.tobytes() == rows.unit().terms.values.tobytes()


@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1), chunk=st.integers(1, 10), k=st.integers(1, 3))
def test_most_frequent_features(sizes, seed, chunk, k):
    rows, hidden = rows_of(sizes, seed), np.array([1, 0, 1, 1, 0, 1, 1], bool)
    presence = rows.presence(7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auxiliary, "CHUNK", chunk)
        owner, index = frequent(rows, View(~hidden, hidden), presence, k)
    expected = []
    for row in range(len(sizes)):
        own = rows.terms.row(row)
        pairs = zip(rows.terms.indices[own].tolist(), rows.terms.values[own].tolist(), strict=True)
        ranked = sorted((-value, presence[index], index) for index, value in pairs if hidden[index])
        expected += [(row, index) for *_, index in ranked[:k]]
    assert list(zip(owner.tolist(), index.tolist(), strict=True)) == expected


@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1))
def test_entries_that_are_kept(sizes, seed):
    terms = rows_of(sizes, seed).terms
    kept = terms.keep(terms.values > 1)
    rows = [terms.values[terms.row(row)] for row in range(len(terms))]
    assert [kept.values[kept.row(row)].tolist() for row in range(len(kept))] == [row[row > 1].tolist() for row in rows]
    assert kept.indptr.dtype == np.int64


def test_rows_of_a_text_in_blocks(tmp_path):
    path = tmp_path / "text.vw"
    path.write_text("".join(f"|w a{n % 5} b{n % 3}:2 c{n}\n" for n in range(300)))
    whole, parts = (
        Corpus(BadLines(None, None)).take(
            part.batch for part in read([str(path)], text_format(), threads=1, block_size=size)
        )
        for size in (10**6, 200)
    )
    assert len(parts.parts) > 9 > len(whole.parts)
    one, other = (corpus.rows(corpus.vocabulary(2, idf=True)) for corpus in (whole, parts))
    for name in ("indptr", "indices", "values"):
        assert getattr(one.terms, name).tobytes() == getattr(other.terms, name).tobytes()
