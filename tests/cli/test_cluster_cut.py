"""``vwlite cluster --cut`` against the graph of the examples' dot products, and its models in other commands."""

import json
import re

import numpy as np
import pytest
from oracle.cut import cost, distances

from vwlite.solvers.clusters.model import ClusterModel
from vwlite.storage import model_file as files

GROUPS = 3
COLUMNS = 24


def counts(rows=150, seed=0):
    """Counts of words, more of those of a row's group; never none."""
    draw = np.random.default_rng(seed)
    own = np.arange(rows)[:, None] % GROUPS == np.arange(COLUMNS) % GROUPS
    x = draw.poisson(np.where(own, 1.5, 0.4)).astype(float)
    x[np.arange(rows), np.arange(rows) % COLUMNS] += 1
    return x


def text_of(x, weight=None):
    lines = []
    for number, row in enumerate(x.tolist()):
        head = f"c{number % GROUPS}" + (f" {weight[number]}" if weight is not None else "")
        lines.append(f"{head} 't{number} | " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row) if v))
    return "\n".join(lines) + "\n"


def clusters_in(done):
    return [int(line.split()[0]) for line in done.lines]


@pytest.fixture
def data(write):
    write("x.vw", text_of(counts()))


def test_no_move_to_a_nearer_centre_lowers_the_cut(data, vwlite, tmp_path):
    done = vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--cut")
    clusters = clusters_in(vwlite("predict", "-i", "m", "x.vw"))
    k = counts() @ counts().T
    cut = cost(k.tolist(), clusters, GROUPS)
    model = ClusterModel.load(str(tmp_path / "m"))
    assert model.solution.cut == pytest.approx(cut, rel=1e-6)
    assert done.stderr.splitlines()[-1] == f"normalised cut {model.solution.cut:.6g}"
    bounds = [float(number) for number in re.findall(r"normalised cut at most (\S+),", done.stderr)]
    assert bounds == sorted(bounds, reverse=True) and bounds[-1] == pytest.approx(cut, rel=1e-5)
    for own, distance in zip(clusters, distances(k.tolist(), clusters), strict=True):
        assert distance[own] <= min(distance.values()) + 1e-7
    assert cut <= cost(k.tolist(), [number % GROUPS for number in range(150)], GROUPS)


def test_new_text_goes_to_the_nearest_centre_of_the_graph(data, vwlite, tmp_path, write):
    """A new node's edges are its dot products with the examples, its degree their sum."""
    vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--cut", "--quiet")
    x, new = counts(), counts(40, seed=1)
    predictions = np.array(clusters_in(vwlite("predict", "-i", "m", "x.vw")))
    write("new.vw", text_of(new))
    k = x @ x.T
    edges = new @ x.T
    for row, cluster in enumerate(clusters_in(vwlite("predict", "-i", "m", "new.vw"))):
        expected = []
        for j in range(GROUPS):
            own = predictions == j
            volume = k[own].sum()
            expected.append(
                k[np.ix_(own, own)].sum() / volume**2 - 2 * edges[row, own].sum() / edges[row].sum() / volume
            )
        assert expected[cluster] <= min(expected) + 1e-9
    scores = vwlite("predict", "-i", "m", "new.vw", "--scores").lines[0].split()
    assert len(scores) == GROUPS + 1 and scores[-1] == "t0"


def test_importance_is_as_good_as_copies(vwlite, write, tmp_path):
    x, weight = counts(), np.arange(150) % 3 + 1
    write("weighted.vw", text_of(x, weight))
    write("copies.vw", text_of(np.repeat(x, weight, axis=0)))
    cuts = []
    for name in ("weighted", "copies"):
        vwlite("cluster", f"{name}.vw", "-f", name, "-k", "3", "--cut", "--quiet", "--passes", "50")
        cuts.append(ClusterModel.load(str(tmp_path / name)).solution.cut)
    assert cuts[0] == pytest.approx(cuts[1], rel=1e-3)
    k = (x @ x.T) * np.outer(weight, weight)
    clusters = clusters_in(vwlite("predict", "-i", "weighted", "weighted.vw"))
    assert cost(k.tolist(), clusters, GROUPS) == pytest.approx(cuts[0], rel=1e-6)


def test_later_text_begins_with_the_means_and_degrees_of_a_model(data, vwlite, write, tmp_path):
    vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--cut", "--quiet")
    done = vwlite("cluster", "x.vw", "-i", "m", "-f", "m2", "--passes", "9")
    assert "\npass 1: normalised cut at most " in done.stderr
    first, second = (ClusterModel.load(str(tmp_path / name)).solution for name in ("m", "m2"))
    assert second.cut == first.cut and (second.total == first.total).all()
    write("later.vw", text_of(counts(90, seed=2)) + "c0 | 77 78\n")
    vwlite("cluster", "later.vw", "-i", "m", "-f", "m3", "--quiet")
    third = ClusterModel.load(str(tmp_path / "m3")).solution
    known = np.isin(third.slots, first.slots)
    assert (third.total[known] == first.total).all() and not third.total[~known].any()


def test_of_several_starts_the_lowest_cut_is_kept(data, vwlite, tmp_path):
    done = vwlite("cluster", "x.vw", "-f", "m", "-k", "5", "--cut", "--restarts", "3")
    last = [float(re.findall(rf"start {number}, pass .*at most (\S+),", done.stderr)[-1]) for number in (1, 2, 3)]
    assert len({*last}) > 1
    kept, told = done.stderr.splitlines()[-2:]
    assert kept == f"kept: normalised cut at most {min(last):.6g}"
    clusters = clusters_in(vwlite("predict", "-i", "m", "x.vw"))
    assert float(told.split()[-1]) == pytest.approx(cost((counts() @ counts().T).tolist(), clusters, 5), rel=1e-5)


def test_reports_have_the_cut(data, vwlite, tmp_path):
    report = json.loads(vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--cut", "--json", "-", "--quiet").stdout)
    assert report["cut"] is True and 0 < report["normalised_cut"] < 3
    stdout = vwlite("inspect", "m").stdout
    assert re.search(r"^cut +yes$", stdout, re.M) and re.search(r"^normalised_cut +", stdout, re.M)
    measured = json.loads(vwlite("evaluate", "-i", "m", "x.vw", "--json", "-").stdout)
    assert measured["nmi"] > 0.6 and measured["examples"] == measured["weight"] == 150


def test_lines_without_features_count_for_nothing(data, vwlite, write):
    write("more.vw", text_of(counts()) + "c0 |\n\nc1 |\n")
    told = [
        json.loads(vwlite("cluster", name, "-k", "3", "--cut", "--json", "-", "--quiet").stdout)
        for name in ("x.vw", "more.vw")
    ]
    assert told[0]["normalised_cut"] == told[1]["normalised_cut"] and told[1]["examples"] == 150


def test_options_that_do_not_go_with_it_are_refused(data, vwlite, write):
    for more, said in (
        (["--spherical"], "--cut divides by degrees, --spherical by lengths: drop one of the two"),
        (["--batch", "9"], "--cut takes all examples before means move: drop --batch"),
        (["--seeding", "scalable"], "--seeding does nothing with --cut, which begins with eigenvectors"),
        (["--weight", "degree"], "--cut divides examples by their degrees: drop --weight degree"),
        (["--clusters", "151"], "151 clusters are more than there are examples with features: 150"),
    ):
        clusters = ["-k", "3"] * ("--clusters" not in more)
        done = vwlite("cluster", "x.vw", "--cut", *clusters, *more, status=2)
        assert done.stderr.startswith(f"vwlite: {said}")
    write("negative.vw", "| 1:2\n| 1 2:-1\n")
    done = vwlite("cluster", "negative.vw", "-k", "2", "--cut", status=65)
    assert done.stderr == "vwlite: negative.vw:2: --cut needs values of 0 or more\n"
    vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--quiet")
    assert "--cut" in vwlite("cluster", "x.vw", "-i", "m", "--cut", status=2).stderr
    vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--cut", "--quiet")
    assert vwlite("predict", "-i", "m", "negative.vw", status=65).stderr.endswith("--cut needs values of 0 or more\n")


@pytest.mark.parametrize("change", [{"normalised_cut": "x"}, {"normalised_cut": None}, {"cluster_degree": -1}])
def test_damaged_models_are_refused(change, data, vwlite, tmp_path):
    vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--cut", "--quiet")
    loaded = files.load(tmp_path / "m")
    header, arrays = dict(loaded.header), dict(loaded.arrays)
    if "cluster_degree" in change:
        arrays["cluster_degree"] = arrays["cluster_degree"] * change["cluster_degree"]
    elif change["normalised_cut"] is None:
        del header["normalised_cut"]
    else:
        header |= change
    files.save(tmp_path / "bad", header, arrays)
    stderr = vwlite("predict", "-i", "bad", "x.vw", status=76).stderr
    assert "bad is not a model of this version's vwlite cluster" in stderr
