"""Clusters of a graph's nodes, what is told of them, and lines that are none of a graph."""

import json

import numpy as np
import pytest
from graph_case import blocks, graph_from, moons, neighbours
from oracle.cut import components, cost, edges_of, matrix_of

from vwlite.solvers.cut.find import partition_of

TWO = """\
anna |n bert:1 carl:2
bert |n carl:1 anna:3
dora |n emil:2 fred
emil |n fred:0.5 carl:0.25
alone |n
"""


def clusters_of(output):
    return dict(line.split("\t") for line in output.splitlines())


def text_of(tail, head, name=str):
    others = {}
    for a, b in zip(tail.tolist(), head.tolist(), strict=True):
        others.setdefault(a, []).append(name(b))
    return "".join(f"{name(a)} |n {' '.join(others[a])}\n" for a in sorted(others))


def test_nodes_and_their_clusters(vwlite, write):
    write("graph.vw", TWO)
    done = vwlite("cut", "graph.vw", "-k", "2")
    assert done.stdout == "anna\t0\nbert\t0\ncarl\t0\ndora\t1\nemil\t1\nfred\t1\nalone\tnone\n"
    assert done.stderr.splitlines() == [
        "nodes: 7, edges: 7",
        "nodes without edges, whose cluster is 'none': 1",
        "edges with different weights at their two ends (--combine max|sum|mean): 1",
        "normalised cut 0.0548909",
    ]


@pytest.mark.parametrize("combine", ["max", "sum", "mean"])
def test_the_report_is_that_of_the_plain_graph(combine, vwlite, write):
    write("graph.vw", TWO)
    done = vwlite("cut", "graph.vw", "-k", "2", "--combine", combine, "-p", "out", "--json", "-", "--quiet")
    report = json.loads(done.stdout)["result"]
    nodes, weights = edges_of(TWO.splitlines(), combine)
    k = np.array(matrix_of(weights, len(nodes)))[:6, :6]
    expected = cost(k.tolist(), [0, 0, 0, 1, 1, 1], 2)
    volumes = [k[:3].sum(), k[3:].sum()]
    assert report["normalised_cut"] == pytest.approx(expected)
    assert report["clusters"] == [
        {"cluster": j, "nodes": 3, "cut": 0.25, "volume": pytest.approx(volumes[j]), "share_cut": 0.25 / volumes[j]}
        for j in range(2)
    ]
    root = np.sqrt(k.sum(axis=1))
    values = np.linalg.eigvalsh(k / root / root[:, None])[::-1]
    assert report["eigenvalues"] == pytest.approx(values[:2].tolist())
    assert [report[name] for name in ("nodes", "edges", "components", "without_edges", "different_weights")] == [
        7,
        7,
        1,
        1,
        1,
    ]
    assert (report["lines"], report["bad_lines"], done.stderr) == (5, 0, "")


def test_connected_components_are_said_first(vwlite, write, tmp_path):
    lines = ["a |n b:2", "c |n d", "e |n e:3", "f |n g h"]
    write("graph.vw", "\n".join(lines))
    done = vwlite("cut", "graph.vw", "-k", "4", "-p", "out", "--json", "report")
    message = "the graph has 4 connected components, between which there is nothing to cut"
    assert done.stderr.splitlines()[0] == message
    nodes, weights = edges_of(lines)
    report = json.loads((tmp_path / "report").read_text())
    assert report["components"] == components(weights, len(nodes)) == 4
    assert report["normalised_cut"] == 0 and report["eigenvalues"] == pytest.approx([1] * 4)
    clusters = clusters_of((tmp_path / "out").read_text())
    assert clusters == {"a": "0", "b": "0", "c": "1", "d": "1", "e": "2", "f": "3", "g": "3", "h": "3"}


def test_an_edge_may_stand_at_either_end(vwlite, write):
    write("one.vw", "a |n b:2 c:0.5\nb |n c:3 d\nd |n e f\ne |n f\n")
    write("other.vw", "b |n a:2\na |n\nc |m b:3 a:0.5\nd 'tag |n b:1\nf |n e:1 d:1\ne |n d:0.5\ne |n d:0.5\n")
    write("both.vw", "a |n b:2 c:0.5\nb |n c:3 d a:2\nd |n e f b:1\ne |n f d\nc |n a:0.5 b:3\nf |n d e\n")
    told = [
        vwlite("cut", name, "-k", "2", "-p", "out", "--json", "-", "--quiet").stdout
        for name in ("one.vw", "other.vw", "both.vw")
    ]
    cuts = [json.loads(text)["result"] for text in told]
    assert len({cut["normalised_cut"] for cut in cuts}) == 1
    assert {cut["different_weights"] for cut in cuts} == {0}


def test_names_are_kept_as_they_are(vwlite, write):
    """Numbers are names, too: 1 and 01 are two nodes."""
    write("graph.vw", "1 |n 01:5\n-3:x |n é\n名 |n é 1:0.01\n-3:x |n\n")
    clusters = clusters_of(vwlite("cut", "graph.vw", "-k", "2").stdout)
    assert clusters == {"1": "0", "01": "0", "-3:x": "1", "é": "1", "名": "1"}


def cuts(name, tail, head, clusters, vwlite, write, tmp_path):
    """The command's normalised cut, and scikit-learn's of the same matrix."""
    peer = pytest.importorskip("sklearn.cluster", reason="scikit-learn is not installed")
    from scipy.sparse import csr_matrix

    write(name, text_of(tail, head))
    vwlite("cut", name, "-k", clusters, "-p", "out", "--json", "report", "--quiet")
    graph = graph_from(tail, head)
    matrix = csr_matrix((graph.value, graph.index, graph.indptr))
    result = peer.SpectralClustering(clusters, affinity="precomputed", random_state=0).fit_predict(matrix)
    told = json.loads((tmp_path / "report").read_text())["normalised_cut"]
    own = clusters_of((tmp_path / "out").read_text())
    cluster = np.array([int(own[str(node)]) for node in range(len(graph))], np.int32)
    assert told == pytest.approx(partition_of(graph, cluster, clusters).cost)
    return told, partition_of(graph, result.astype(np.int32), clusters).cost


@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_the_cut_of_two_moons_is_not_above_that_of_scikit_learn(noise, vwlite, write, tmp_path):
    points = moons(np.random.default_rng(1), 1000, noise)
    own, peer = cuts("moons.vw", *neighbours(points, 10), 2, vwlite, write, tmp_path)
    assert 0 < own <= peer


def test_the_cut_of_random_blocks_is_not_above_that_of_scikit_learn(vwlite, write, tmp_path):
    own, peer = cuts("blocks.vw", *blocks(np.random.default_rng(2), 800, 4, 6000, 0.6), 4, vwlite, write, tmp_path)
    assert 1 < own <= peer


def test_blocks_are_found(vwlite, write):
    tail, head = blocks(np.random.default_rng(0), 1200, 3, 12000, 0.8)
    write("graph.vw", text_of(tail, head))
    clusters = clusters_of(vwlite("cut", "graph.vw", "-k", "3", "--quiet").stdout)
    assert len(clusters) == 1200
    assert len({(int(node) % 3, cluster) for node, cluster in clusters.items()}) == 3 and clusters["0"] == "0"


def test_options_of_the_search(vwlite, write):
    """More starts and a smaller shift find lower cuts, if others."""
    points = moons(np.random.default_rng(3), 700, 0.15)
    write("moons.vw", text_of(*neighbours(points, 8)))

    def cut(*more):
        done = vwlite("cut", "moons.vw", "--clusters", "6", "-p", "out", "--json", "-", *more)
        return json.loads(done.stdout)["result"]["normalised_cut"], done.stderr

    assert cut("--restarts", "8")[0] <= cut("--restarts", "1")[0]
    assert cut("--shift", "0", "--restarts", "1")[0] < cut("--shift", "1", "--restarts", "1")[0]
    assert cut("--random_seed", "5", "--restarts", "1")[0] > 0
    assert "the eigenvectors have not settled" in cut("--products", "12")[1]


def test_tables_are_graphs_too(vwlite, write):
    rows = ({"node": "a", "n": {"b": 2, "c": 1}}, {"node": "d", "n": ["e"]}, {"node": "c", "n": ["b"]})
    write("graph.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    jsonl = ("cut", "graph.jsonl", "--format", "jsonl", "-k", "2")
    clusters = clusters_of(vwlite(*jsonl, "--columns", "label=node").stdout)
    assert clusters == {"a": "0", "b": "0", "c": "0", "d": "1", "e": "1"}
    stderr = vwlite(*jsonl, status=2).stderr
    assert "vwlite: the table has no column of nodes (--columns label=... names the column of labels" in stderr
    write("graph.csv", "label,a,b,c,d\na,0,1,0,0\nc,0,0,0,1.5\n")
    clusters = clusters_of(vwlite("cut", "graph.csv", "--format", "csv", "--columns", "label=label", "-k", "2").stdout)
    assert clusters == {"a": "0", "b": "0", "c": "1", "d": "1"}
    stderr = vwlite("cut", "graph.csv", "--format", "svmlight", "-k", "2", status=2).stderr
    assert stderr == "vwlite: --format svmlight has no names, which the nodes of a graph need\n"


def test_lines_that_are_no_nodes_are_malformed(vwlite, write, tmp_path):
    bad = ["|n a", "a|n b", "a 2 |n b", "a |n b:much", "a |n :3", "a b |n c", "a |n b:nan"]
    write("graph.vw", "".join(f"{line}\n" for line in [*bad, "", "a |n b", "c |n d"]))
    options = ("-k", "2", "--max-bad-ratio", "0.9", "--bad-lines", "bad")
    done = vwlite("cut", "graph.vw", *options)
    assert done.stdout == "a\t0\nb\t0\nc\t1\nd\t1\n" and "7 of 10 lines" in done.stderr
    assert sorted((tmp_path / "bad").read_text().splitlines()) == sorted(bad)
    for sentence in (
        "graph.vw:1: no name of a node, expected one before '|' and a space behind it: |n a",
        "graph.vw:3: a number behind the node's name, expected neighbours only: nodes have no importance: a 2 |n b",
        "graph.vw:4: the weight of an edge is not a number: a |n b:much",
        "graph.vw:5: an edge to a node without a name: a |n :3",
    ):
        assert f"vwlite: bad line {sentence}\n" in done.stderr
    done = vwlite("cut", "-k", "2", "--strict", status=65, stdin="|n a\n")
    assert done.stderr.endswith("and a space behind it: |n a (--strict)\n")


def test_a_negative_weight_ends_it(vwlite, write):
    write("graph.vw", "a |n b\n\nb |n c:1 d:-0.5 e:-1\n")
    done = vwlite("cut", "graph.vw", "-k", "2", status=65)
    message = "vwlite: graph.vw:3: the edge to d has the weight -0.5, and a cut needs weights of 0 or more\n"
    assert (done.stdout, done.stderr) == ("", message)


def test_graphs_that_cannot_be_cut_are_refused(vwlite, write):
    write("graph.vw", "a |n b c\nd |n\n")
    done = vwlite("cut", "graph.vw", "-k", "4", "--quiet", status=2)
    assert done.stderr == "vwlite: 4 clusters are more than there are nodes with edges: 3\n"
    assert vwlite("cut", "graph.vw", "-k", "3", "--quiet").stdout == "a\t0\nb\t1\nc\t2\nd\tnone\n"
    assert vwlite("cut", "graph.vw", "-k", "3", "--quiet", "--examples", "1").stdout == "a\t0\nb\t1\nc\t2\n"
    write("empty.vw", "a |n\n")
    for name in ("empty.vw", "/dev/null"):
        assert "there is no edge" in vwlite("cut", name, "-k", "2", "--quiet", status=65).stderr
    assert "-k takes 2 or more, not 1" in vwlite("cut", "graph.vw", "-k", "1", status=2).stderr
    assert "missing option '-k'" in vwlite("cut", "graph.vw", status=2).stderr


def test_memory_is_limited(vwlite, write):
    write("graph.vw", text_of(*blocks(np.random.default_rng(0), 500, 2, 5000, 0.8)))
    stderr = vwlite("cut", "graph.vw", "-k", "2", "--quiet", "--max-memory", "0.0001", status=2).stderr
    assert "5,000 edges read so far: 0.00 GiB are more than --max-memory 0.0001" in stderr
    stderr = vwlite("cut", "graph.vw", "-k", "400", "--quiet", "--max-memory", "0.005", status=2).stderr
    assert "500 nodes, " in stderr and "a smaller -k need" in stderr
