"""Lloyd's alternation on random rows: kernels against plain Python, and distances that never rise."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.kmeans import mini_batch, nearest, unit

from vwlite._native import nearest_means
from vwlite.data.batch import Csr, offsets
from vwlite.solvers.clusters.config import SEEDING, ClusterConfig
from vwlite.solvers.clusters.mini_batch import MiniBatch, split
from vwlite.solvers.clusters.numbered_rows import Piece, scalable, trimmed
from vwlite.solvers.clusters.train import Lloyd
from vwlite.solvers.rows import Part
from vwlite.training.listener import Monitor

BITS = 6


def csr(dense):
    return Csr(
        offsets((dense != 0).sum(axis=1)), np.nonzero(dense)[1].astype(np.uint32), dense[dense != 0].astype(np.float32)
    )


class Source:
    """Dense rows as a source of two parts."""

    plan = SimpleNamespace(bits=BITS)

    def __init__(self, x, weight):
        self.x, self.weight = x, weight

    def count_terms(self):
        """There are no weights of terms."""

    def parts(self):
        half = len(self.x) // 2
        for rows in (slice(0, half), slice(half, None)):
            yield Part(None, csr(self.x[rows]), self.weight[rows].copy())


class History(Monitor):
    def __init__(self):
        self.rows = []

    def row(self, text, **figures):
        self.rows.append(figures)


@given(st.integers(5, 40), st.integers(2, 5), st.booleans(), st.sampled_from(SEEDING), st.integers(0, 2**32 - 1))
def test_the_average_distance_never_rises(rows, clusters, spherical, seeding, seed):
    draw = np.random.default_rng(seed)
    x = np.where(draw.random((rows, 12)) < 0.5, 0, draw.normal(size=(rows, 12))).astype(np.float32)
    x[:, 0] = 1 + np.arange(rows)  # so that all rows differ and have a length
    weight = draw.integers(1, 4, rows).astype(np.float32)
    said = History()
    config = ClusterConfig(clusters, spherical, seeding=seeding, seed=seed)
    found = Lloyd(config, Source(x, weight), None, 2**30, 2).run(said)
    told = [row["average_squared_distance"] for row in said.rows]
    assert all(after <= before * (1 + 1e-5) + 1e-9 for before, after in pairwise(told))
    assert found.totals[0].sum() == rows and found.totals[1].sum() == weight.sum()
    assert (found.totals[0] > 0).all() and np.isfinite(found.means).all()
    if spherical:
        assert np.linalg.norm(found.means, axis=0) == pytest.approx(np.ones(clusters), rel=1e-5)


@given(st.integers(1, 30), st.integers(1, 40), st.integers(0, 2**32 - 1), st.data())
def test_kernels_are_the_twin(rows, clusters, seed, data):
    draw = np.random.default_rng(seed)
    x = np.where(draw.random((rows, 11)) < 0.4, 0, draw.normal(size=(rows, 11))).astype(np.float32)
    means, weight = draw.normal(size=(11, clusters)).astype(np.float32), draw.integers(0, 3, rows).astype(np.float32)
    terms, squares = csr(x), (means.astype(float) ** 2).sum(axis=0)
    arrays = terms.indptr, terms.indices, terms.values
    cluster, found, cut = np.full(rows, -1, np.int32), np.zeros(rows), data.draw(st.integers(0, rows))
    for begin, end in ((cut, rows), (0, cut)):
        nearest_means.assign(*arrays, means, np.ones(clusters), squares, cluster, found, begin, end)
    wanted = nearest(x.astype(float).tolist(), means.T.astype(float).tolist())
    assert found == pytest.approx(np.array([one for _, one in wanted]), rel=1e-5, abs=1e-5)
    every = np.zeros((rows, clusters))
    nearest_means.distances(*arrays, means, squares, every)
    assert (every[np.arange(rows), cluster] == found).all() and (every.min(axis=1) == found).all()
    sums, totals = np.zeros((11, clusters)), np.zeros((3, clusters))
    nearest_means.add_members(*arrays, weight, cluster, found, sums, totals)
    member = (np.arange(clusters) == cluster[:, None]) * weight[:, None]
    assert sums == pytest.approx(x.T.astype(float) @ member, abs=1e-9)
    assert totals == pytest.approx(np.array([(member > 0).sum(axis=0), member.sum(axis=0), found @ member]), abs=1e-9)


def test_kernels_refuse_what_does_not_fit():
    terms, means, squares = csr(np.eye(3, dtype=np.float32)), np.zeros((3, 2), np.float32), np.zeros(2)
    arrays = terms.indptr, terms.indices, terms.values
    cluster, distance = np.zeros(3, np.int32), np.zeros(3)
    for wrong in (means[:2], means[:, :0].copy()):
        with pytest.raises(IndexError):
            nearest_means.assign(*arrays, wrong, np.ones(2), squares, cluster, distance, 0, 3)
    with pytest.raises(IndexError):
        nearest_means.assign(*arrays, means, np.ones(2), squares, cluster, distance, 0, 4)
    with pytest.raises(IndexError):
        nearest_means.distances(*arrays, means, squares[:1], np.zeros((3, 2)))
    with pytest.raises(IndexError):
        nearest_means.add_members(
            *arrays, np.ones(3, np.float32), cluster + 2, distance, np.zeros((3, 2)), np.zeros((3, 2))
        )


@given(st.integers(1, 12), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_seeds_are_different_examples_where_there_are_so_many(values, clusters, seed):
    draw = np.random.default_rng(seed)
    x = (1.0 + draw.integers(0, values, (30, 1))).astype(np.float32)
    lloyd = Lloyd(ClusterConfig(clusters, seed=seed), Source(x, np.ones(30, np.float32)), None, 2**30, 1)
    lloyd.read(Monitor())
    chosen = scalable(lloyd.rows, lloyd.nearest_of, clusters, 0.0, seed)
    assert len(chosen) == clusters
    assert len({*chosen.values.tolist()}) == min(clusters, len({*x[:, 0].tolist()}))


@given(st.integers(6, 40), st.integers(2, 4), st.integers(1, 50), st.booleans(), st.integers(0, 2**32 - 1))
def test_batches_in_the_order_of_the_data_are_the_twin(rows, clusters, size, spherical, seed):
    draw = np.random.default_rng(seed)
    x = np.where(draw.random((rows, 7)) < 0.4, 0, draw.normal(size=(rows, 7))).astype(np.float32)
    x[:, 0] = 1 + np.arange(rows)
    weight = draw.integers(0, 3, rows).astype(np.float32)
    weight[:clusters] = 1
    solver = MiniBatch(
        ClusterConfig(clusters, spherical, batch=size, seeding="random", seed=seed), Source(x, weight), None, 2**30, 1
    )
    solver.room = lambda slots: -1.0
    solver.rows.room = solver.room
    solver.read(Monitor())
    solver.start(0)
    means = solver.means.T.astype(float)[:, np.argsort(solver.rows.rows.slots)].tolist()
    solver.learn(1, Monitor())
    cost = solver.totals[2].sum() / solver.totals[1].sum()
    examples = x[:, np.sort(solver.rows.rows.slots)].astype(float).tolist()
    examples = [unit(row) for row in examples] if spherical else examples
    wanted, average = mini_batch(examples, weight, means, size, spherical)
    found = (solver.sums * solver.scale).T[:, np.argsort(solver.rows.rows.slots)]
    assert found == pytest.approx(np.array(wanted), rel=1e-4, abs=1e-4)
    assert cost == pytest.approx(average, rel=1e-4, abs=1e-4)
    assert solver.squares == pytest.approx((found**2).sum(axis=1), rel=1e-5)


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 12))
def test_pieces_are_cut_to_one_size(lengths, size):
    x = np.arange(1, sum(lengths) + 1, dtype=np.float32)[:, None]
    cuts = np.cumsum(lengths, dtype=int)[:-1] if lengths else []
    pieces = [Piece(csr(part), part[:, 0]) for part in np.split(x, cuts)]
    found = list(split(pieces, size))
    assert all(len(piece.weight) == size for piece in found[:-1])
    assert all(0 < len(piece.weight) <= size for piece in found)
    for of in (lambda piece: piece.weight, lambda piece: piece.terms.values):
        assert np.concatenate([np.zeros(0), *map(of, found)]).tolist() == x[:, 0].tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1), st.floats(0, 0.5))
def test_what_is_trimmed_is_the_farthest_share(rows, share):
    weight, distance = (np.array(one, np.float32) for one in zip(*rows, strict=True))
    left = trimmed(weight, distance, share)
    gone = (left == 0) & (weight > 0)
    assert (left[~gone] == weight[~gone]).all() and weight[gone].sum() <= share * float(weight.sum())
    kept = left > 0
    if gone.any() and kept.any():
        assert distance[gone].min() >= distance[kept].max()
    if kept.any():
        assert float(weight[gone].sum() + weight[kept][distance[kept].argmax()]) > share * float(weight.sum())
