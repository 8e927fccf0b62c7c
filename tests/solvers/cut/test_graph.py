"""Edges of text become the graph that the plain version makes of them."""

import numpy as np
import pytest
from graph_case import names_of
from hypothesis import given
from hypothesis import strategies as st
from oracle.cut import components, edges_of, matrix_of

from vwlite._native import spectral
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError
from vwlite.solvers.cut import edges as numbering
from vwlite.solvers.cut.edges import NodeNames, read_edges
from vwlite.solvers.cut.graph import graph_of, undirected

words = st.text("ab1é", min_size=1, max_size=3)
weights = st.sampled_from(["", ":0", ":0.5", ":2", ":1e-3"])
lines = st.builds(
    lambda node, tag, others: f"{node} {tag}|n{''.join(f' {other}{weight}' for other, weight in others)}",
    words,
    st.sampled_from(["", "'tag "]),
    st.lists(st.tuples(words, weights), max_size=5),
)


def read(path, block_size=1 << 19):
    inputs = Inputs(InputConfig((str(path),), block_size=block_size), TextFormat(names=True).of_words())
    return read_edges(inputs, BadLines(None, None), lambda total: None)


combined = st.sampled_from(["max", "sum", "mean"])


@given(st.lists(lines, min_size=1, max_size=12), combined, st.sampled_from([40, 1 << 19]))
def test_it_is_the_plain_graph(tmp_path_factory, texts, combine, block_size):
    path = tmp_path_factory.mktemp("graph") / "graph.vw"
    path.write_text("\n".join(texts) + "\n")
    edges = read(path, block_size)
    nodes, wanted = edges_of(texts, combine)
    assert [name.decode() for name in edges.names.all()] == nodes
    actual = undirected(edges, combine)
    made = dict(zip(zip(actual.low.tolist(), actual.high.tolist(), strict=True), actual.weight.tolist(), strict=True))
    assert made == pytest.approx(wanted)
    connected = actual.connected(len(nodes))
    graph = graph_of(actual, connected)
    k = np.array(matrix_of(wanted, len(nodes)))[np.ix_(connected, connected)]
    dense = np.zeros_like(k)
    dense[np.repeat(np.arange(len(graph)), np.diff(graph.indptr)), graph.index] = graph.value
    assert dense == pytest.approx(k) and graph.degree == pytest.approx(k.sum(axis=1))
    assert all((np.diff(graph.index[a:b]) > 0).all() for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True))
    assert graph.components() == components(wanted, len(nodes)) - int((~connected).sum())


def test_many_names_are_kept_whole():
    """Some of them share their 32-bit hash with another, if they are hashed as features are."""
    texts = [f"n{number * 7919}" for number in range(300_000)]
    names, numbers = names_of([*texts, texts[5], "n", "", texts[-1]])
    assert numbers.tolist() == [*range(300_000), 5, 300_000, 300_001, 299_999]
    assert names.all() == [*(text.encode() for text in texts), b"n", b""]
    assert len(names) == 300_002


def test_there_are_numbers_for_so_many_nodes(monkeypatch):
    monkeypatch.setattr(numbering, "MOST", 3)
    with pytest.raises(DataError, match="the graph has more than 3 nodes"):
        names_of("abcd")


def test_kernels_refuse_what_does_not_fit():
    names = NodeNames()
    one = np.zeros(1, np.uint32)
    for start, end in ((one, one + 2), (one + 1, one)):
        with pytest.raises(IndexError, match="outside the text"):
            spectral.number_names(b"a", start, end, names.table, names.ends, names.text, 0, np.zeros(1, np.int32))
    with pytest.raises(IndexError, match="does not fit"):
        spectral.number_names(b"a", one, one, names.table[:1], names.ends, names.text, 0, np.zeros(1, np.int32))
    with pytest.raises(IndexError, match="so many names"):
        spectral.number_names(b"a", one, one, names.table, names.ends[:1], names.text, 0, np.zeros(1, np.int32))
    with pytest.raises(IndexError, match="names' bytes"):
        spectral.number_names(b"a", one, one + 1, names.table, names.ends, names.text[:0], 0, np.zeros(1, np.int32))
    with pytest.raises(IndexError, match="does not fit"):
        spectral.enter_names(names.table[:3], names.ends, names.text, 0)
    rows = np.array([0, 1], np.int64), np.zeros(1, np.int32), np.ones(1)
    x, cluster, value = np.ones((1, 2)), np.zeros(1, np.int32), np.ones(1)
    spectral.inside(*rows, cluster, value)
    assert value.tolist() == [1]
    for bad in (
        *((rows[0], rows[1] + by, rows[2]) for by in (1, -1)),
        (rows[0] + 1, *rows[1:]),
        (*rows[:2], np.ones(2)),
    ):
        with pytest.raises(IndexError):
            spectral.components(*bad, cluster)
    with pytest.raises(IndexError, match="matrices"):
        spectral.multiply(*rows, x, x[:, :1].copy(), 1, 0, 0, 0, 1)
    with pytest.raises(IndexError, match="do not fit the graph"):
        spectral.multiply(*rows, x, x.copy(), 1, 0, 0, 0, 2)
    with pytest.raises(IndexError, match="as many numbers"):
        spectral.inside(*rows, cluster, np.ones(2))
    with pytest.raises(IndexError, match="as many numbers"):
        spectral.components(*rows, np.zeros(2, np.int32))
    several = value, cluster + 1, np.ones(1), np.ones(1), 0.0, np.zeros(1), cluster, value, 0, 1
    with pytest.raises(IndexError, match="no such cluster"):
        spectral.nearest(*rows, *several)
    with pytest.raises(IndexError, match="differ in length"):
        spectral.nearest(*rows, value, cluster, np.ones(2), *several[3:])
    with pytest.raises(IndexError, match="needs a cluster"):
        spectral.nearest(*rows, value, np.zeros(2, np.int32), *several[2:])
