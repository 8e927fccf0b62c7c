"""Normalised cuts of text against the graph of the examples' dot products."""

from random import Random

import numpy as np
import pytest
from oracle.cut import cost

from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.solvers.cut.text import DegreeRows, eigenvectors, spectral_partitions, spectral_vectors
from vwlite.training.listener import Monitor

MEMORY = 1e9


def clusters_of(source, clusters, seed=0, threads=1, memory=MEMORY):
    """The first partition of several."""
    vectors = spectral_vectors(source, clusters, seed, memory, threads, Monitor())
    return next(spectral_partitions(vectors, clusters, Random(seed)))


def matrix(rows=90, columns=24, groups=3, seed=0):
    """Counts, more of them in the columns of a row's group."""
    draw = np.random.default_rng(seed)
    own = np.arange(rows)[:, None] % groups == np.arange(columns) % groups
    return draw.poisson(np.where(own, 1.5, 0.3)).astype(float)


def text_of(x, weight=None):
    heads = [f"c{row % 3}" + ("" if weight is None else f" {weight[row]}") for row in range(len(x))]
    values = (" ".join(f"w{column}:{value!r}" for column, value in enumerate(row) if value) for row in x.tolist())
    return "".join(f"{head} |w {words}\n" for head, words in zip(heads, values, strict=True))


@pytest.fixture
def source(tmp_path):
    opened = []

    def of(text, **features):
        (tmp_path / "x.vw").write_text(text)
        config = FeatureConfig(noconstant=True, **features)
        format = text_format(config, skip_malformed=True).of_words()
        inputs = Inputs(InputConfig((str(tmp_path / "x.vw"),)), format, several_passes=True)
        opened.append(inputs)
        return DegreeRows(config, inputs, BadLines(None, None, BadLinesConfig(max_ratio=1)), [])

    yield of
    for inputs in opened:
        inputs.close()


def graph_of(x):
    k = x @ x.T
    return k, k.sum(axis=1)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_divided_by_their_degrees(weighted, source):
    x = matrix()
    weight = np.arange(90) % 3 if weighted else np.ones(90, int)
    rows = source(text_of(x, weight))
    rows.count_terms()
    found = [part for part in rows.parts()]
    degree = x @ (weight @ x)
    assert np.concatenate([part.weight for part in found]) == pytest.approx(weight * degree, rel=1e-6)
    sums = np.concatenate([np.bincount(part.terms.owner, part.terms.values, len(part.terms)) for part in found])
    assert sums == pytest.approx(x.sum(axis=1) / degree, rel=1e-6)
    assert rows.examples == (weight > 0).sum()


def test_eigenvectors_are_those_of_the_graph(source):
    x = matrix()
    rows = source(text_of(x))
    rows.count_terms()
    found = eigenvectors(rows, 8, 0, MEMORY, 1, Monitor())
    k, degree = graph_of(x)
    root = np.sqrt(degree)
    values, vectors = np.linalg.eigh(k / root / root[:, None])
    assert found.values[0] == pytest.approx(1, abs=1e-6)
    assert found.values == pytest.approx(values[::-1][:8], abs=1e-4)
    q = found.rows * root[:, None]
    assert np.abs(np.abs(q[:, 0]) - root / np.linalg.norm(root)).max() < 1e-6
    angles = np.linalg.svd(vectors[:, ::-1][:, :3].T @ q[:, :3])[1]
    assert angles == pytest.approx(np.ones(3), abs=1e-4)


def test_groups_are_found(source):
    x = matrix(300, 30)
    found = clusters_of(source(text_of(x)), 3)
    k, _ = graph_of(x)
    own, true = (cost(k.tolist(), one.tolist(), 3) for one in (found, np.arange(300) % 3))
    assert own == pytest.approx(true, rel=0.02)


def test_other_values_come_first(source):
    """Degrees are of the values that --weight idf and --unit make."""
    x = matrix()
    rows = source(text_of(x), weight="idf", unit=True, min_df=1)
    rows.count_terms()
    weighted = x * np.log(90 / (x > 0).sum(axis=0))
    unit = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    assert np.concatenate([part.weight for part in rows.parts()]) == pytest.approx(unit @ unit.sum(axis=0), rel=1e-5)


def test_the_partition_does_not_depend_on_threads_and_batches(source):
    text = text_of(matrix(200))
    one = source(text)
    assert (clusters_of(one, 4, seed=1) == clusters_of(source(text), 4, seed=1, threads=3)).all()


def test_lines_without_features_are_of_the_first_cluster(source):
    found = clusters_of(source("|w a\n|w\n\n|w b\n|w a a\n|w b\n"), 2)
    assert found[[1, 2]].tolist() == [0, 0] and found[0] == found[4] != found[3] == found[5]


def test_one_feature_makes_no_clusters_but_no_error(source):
    assert {*clusters_of(source("|w a\n|w a\n|w a:2\n"), 2).tolist()} == {0, 1}


def test_what_cannot_be_cut(source):
    with pytest.raises(DataError, match=r"x\.vw:2: --cut needs values of 0 or more"):
        clusters_of(source("|w a\n|w a:-1\n"), 2)
    with pytest.raises(UsageError, match="3 clusters are more than there are examples with features: 2"):
        clusters_of(source("|w a\n|w b\n|w\n"), 3)
    with pytest.raises(UsageError, match="90 examples, 24 numbers each"):
        clusters_of(source(text_of(matrix())), 3, memory=2e4)
