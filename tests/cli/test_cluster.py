"""Clusters against k-means in plain Python, from files, pipes and models, and what other commands do with them."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.kmeans import distance, lloyd, nearest, projected, soft, unit

from vwlite.solvers.clusters.model import ClusterModel
from vwlite.solvers.clusters.train import project
from vwlite.storage import model_file as files

COLUMNS = 9


def blobs(rows=120, seed=0, spread=0.6):
    """Rows around three centres."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(3, COLUMNS)) * 3
    x = centres[np.arange(rows) % 3] + draw.normal(size=(rows, COLUMNS)) * spread
    return np.where(draw.random(x.shape) < 0.2, 0, x).astype(np.float32)


def text_of(x, weight=None):
    lines = []
    for number, row in enumerate(x.tolist()):
        head = f"c{number % 3}" + (f" {weight[number]}" if weight is not None else "")
        lines.append(f"{head} 't{number} |f " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row) if v))
    return "\n".join(lines) + "\n"


def means_of(path):
    """The means of a model of rows of ``blobs``, whose features are numbers, by cluster."""
    result = ClusterModel.load(str(path)).solution
    means = np.zeros((COLUMNS, result.means.shape[1]))
    means[result.slots] = result.means
    return means.T.tolist()


def distances_in(stderr):
    return [float(number) for number in re.findall(r"average squared distance (\S+),", stderr)]


@pytest.fixture
def data(tmp_path):
    (tmp_path / "x.vw").write_text(text_of(blobs()))
    return tmp_path


@pytest.mark.parametrize("spherical", [False, True])
@pytest.mark.parametrize(("weighted", "trim"), [(False, 0), (True, 0), (False, 12)])
def test_clusters_are_those_of_the_alternation_in_plain_python(spherical, weighted, trim, tmp_path, vwlite):
    """From the means of another model; features that are numbers are their own slots."""
    x = blobs(seed=1, spread=2.0)
    weight = (np.arange(len(x)) % 4 + 0.5 if weighted else np.ones(len(x))).tolist()
    (tmp_path / "x.vw").write_text(text_of(x, weight).replace("|f", "|"))
    options = ["--spherical"] * spherical
    vwlite("cluster", "x.vw", "-f", "start", "-k", "4", "--passes", "1", "--seed", "3", "--quiet", *options)
    done = vwlite("cluster", "x.vw", "-i", "start", "-f", "m", "--passes", "100", "--trim", trim / len(x) + 1e-6)
    expected = lloyd(x.astype(float).tolist(), weight, means_of(tmp_path / "start"), spherical, trim)
    assert distances_in(done.stderr) == pytest.approx([average for _, average in expected], rel=1e-5)
    assert len(expected) > 3
    assert [int(line.split()[0]) for line in vwlite("predict", "-i", "m", "x.vw").lines] == expected[-1][0]


def test_clusters_are_those_of_scikit_learn(tmp_path, vwlite):
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is not installed")
    x = blobs(seed=2, spread=2.5)
    (tmp_path / "x.vw").write_text(text_of(x).replace("|f", "|"))
    vwlite("cluster", "x.vw", "-f", "start", "-k", "5", "--passes", "1", "--quiet")
    vwlite("cluster", "x.vw", "-i", "start", "-f", "m", "--passes", "100", "--quiet")
    start = np.array(means_of(tmp_path / "start"))
    peer = cluster.KMeans(5, init=start, n_init=1, tol=0, max_iter=100).fit(x.astype(float))
    predictions = [int(line.split()[0]) for line in vwlite("predict", "-i", "m", "x.vw").lines]
    assert predictions == peer.labels_.tolist()


def test_rows_that_have_no_room_are_read_again(data, vwlite, monkeypatch):
    vwlite("cluster", "x.vw", "-f", "whole", "-k", "3", "--quiet")
    monkeypatch.setattr("vwlite.solvers.clusters.train.Lloyd.room", lambda self, slots: 1000)
    vwlite("cluster", "x.vw", "-f", "read", "-k", "3", "--quiet", "--block-size", "999")
    assert (data / "whole").read_bytes() == (data / "read").read_bytes()


def test_importance_is_so_many_examples(tmp_path, vwlite):
    x, weight = blobs(30, spread=2.0), [number % 3 + 1 for number in range(30)]
    (tmp_path / "x.vw").write_text(text_of(x, weight))
    (tmp_path / "repeated.vw").write_text(text_of(np.repeat(x, weight, axis=0)))
    vwlite("cluster", "x.vw", "-f", "start", "-k", "3", "--passes", "1", "--quiet")
    told = [
        json.loads(vwlite("cluster", name, "-i", "start", "--passes", "9", "--json", "-", "--quiet").stdout)
        for name in ("x.vw", "repeated.vw")
    ]
    assert told[0]["average_squared_distance"] == pytest.approx(told[1]["average_squared_distance"], rel=1e-5)
    assert sum(told[0]["sizes"]) == 30 and sum(told[1]["sizes"]) == sum(weight)


def test_empty_clusters_take_the_farthest_examples(tmp_path, vwlite):
    lines = ["|w a"] * 8 + ["|w b", "|w c:5", "|w d:9"]
    (tmp_path / "x.vw").write_text("\n".join(lines) + "\n")
    for seed in range(5):
        done = vwlite("cluster", "x.vw", "-k", "4", "-f", "m", "--seed", seed)
        assert distances_in(done.stderr)[-1] == 0
    seen = [line.split()[0] for line in vwlite("predict", "-i", "m", "x.vw").lines]
    assert len({*seen[:8]}) == 1 and len({*seen}) == 4
    vwlite("cluster", "-k", "2", "-f", "two", "--quiet", stdin="|w a\n|w b\n")
    done = vwlite("cluster", "-i", "two", stdin="|w a\n|w a\n|w a:2\n")
    assert "1 empty clusters take the examples farthest from their means" in done.stderr


def test_examples_without_length_count_for_nothing(tmp_path, vwlite):
    (tmp_path / "x.vw").write_text("|w a:2\n|w a b:0.1\n|\n|w c\n\n|w c:3 b:0.1\n|\n")
    done = vwlite("cluster", "x.vw", "-k", "2", "-f", "m", "--spherical", "--json", "told")
    assert "note: 2 examples have no length and count for nothing" in done.stderr
    assert json.loads((tmp_path / "told").read_text())["examples"] == 4
    answers = vwlite("predict", "-i", "m", "x.vw").lines
    assert len(answers) == 6 and answers[2] == answers[5] == "0" and answers[0] == answers[1] != answers[3]
    assert vwlite("predict", "-i", "m", "x.vw", "--scores").lines[2] == "0:1 1:1"


@pytest.mark.parametrize("room", [True, False])
def test_batches_make_the_same_model_however_the_data_come(room, data, vwlite, monkeypatch):
    """In memory rows are shuffled, else they are taken as they come."""
    if not room:
        monkeypatch.setattr("vwlite.solvers.clusters.train.Lloyd.room", lambda self, slots: -1.0)

    def made(name, *more, **given):
        done = vwlite("cluster", "-f", name, "-k", "3", "--batch", "16", *more, **given)
        assert ("there is no room" in done.stderr) is not room
        return (data / name).read_bytes()

    expected = made("one", "x.vw", "--threads", "1")
    assert expected == made("many", "x.vw", "--threads", "5") == made("pipe", stdin=text_of(blobs()))
    assert expected == made("cache", "x.vw", "-c") == made("again", "x.vw", "-c")
    assert expected == made("blocks", "x.vw", "--block-size", "999")
    report = json.loads(vwlite("evaluate", "-i", "one", "x.vw", "--json", "-").stdout)
    exact = json.loads(vwlite("cluster", "x.vw", "-k", "3", "--quiet", "--json", "-").stdout)
    actual, least = report["mean_squared_distance"], exact["average_squared_distance"]
    assert least * (1 - 1e-6) <= actual < 1.2 * least


def test_later_batches_move_means_as_little_as_they_are_few(tmp_path, vwlite):
    (tmp_path / "a.vw").write_text("| 0:1\n" * 50 + "| 1:1\n" * 50)
    vwlite("cluster", "a.vw", "-k", "2", "--batch", "10", "-f", "m", "--quiet")
    later = "| 0:2\n" * 25 + "| 1:1\n"
    vwlite("cluster", "-i", "m", "-f", "n", "--batch", "10", "--passes", "1", "--quiet", stdin=later)
    actual = ClusterModel.load(str(tmp_path / "n")).solution.means
    assert sorted(actual.max(axis=0).tolist()) == pytest.approx([1, 1 + 25 / 75], rel=1e-3)


def test_seeds_far_from_one_another_find_all_groups(tmp_path, vwlite):
    """Ten of very different sizes, of which examples drawn at random miss some."""
    draw = np.random.default_rng(4)
    centres = draw.normal(size=(10, COLUMNS)) * 20
    x = (centres[np.minimum(np.arange(300) // 28, 9)] + draw.normal(size=(300, COLUMNS)) * 0.1).astype(np.float32)
    (tmp_path / "x.vw").write_text(text_of(x))
    actual = {}
    for seeding in ("scalable", "random"):
        options = ("-k", "10", "--seeding", seeding, "--json", "-", "--quiet")
        told = [json.loads(vwlite("cluster", "x.vw", "--seed", seed, *options).stdout) for seed in range(6)]
        actual[seeding] = [report["average_squared_distance"] for report in told]
    assert max(actual["scalable"]) < 0.1 and min(actual["scalable"]) * 100 < max(actual["random"])


def test_the_best_of_several_starts_is_kept(tmp_path, vwlite):
    (tmp_path / "x.vw").write_text(text_of(blobs(spread=2.0)))
    options = ("-k", "7", "--seeding", "random", "-f", "m", "--json", "told")
    done = vwlite("cluster", "x.vw", "--restarts", "5", *options)
    ends = {line.split(",")[0]: distances_in(line)[0] for line in done.stderr.splitlines() if line.startswith("start")}
    assert list(ends) == [f"start {number}" for number in range(1, 6)] and len({*ends.values()}) > 1
    told = json.loads((tmp_path / "told").read_text())["average_squared_distance"]
    assert told == pytest.approx(min(ends.values()), rel=1e-5)
    assert done.stderr.splitlines()[-1] == f"kept: average squared distance {told:.6g}"
    assert json.loads(vwlite("evaluate", "-i", "m", "x.vw", "--json", "-").stdout)["mean_squared_distance"] == (
        pytest.approx(told, rel=1e-5)
    )


@pytest.mark.parametrize("batch", [0, 100])
def test_outliers_move_no_mean_that_are_trimmed(batch, tmp_path, vwlite):
    x, draw = blobs(300, spread=0.3), np.random.default_rng(7)
    x[::20] = draw.normal(size=(15, COLUMNS)) * 100
    (tmp_path / "x.vw").write_text(text_of(x).replace("|f", "|"))
    labels, distances = np.arange(300) % 3, {}
    for trim in ("0", "0.1"):
        options = ("--restarts", "5", "--batch", batch, "--trim", trim, "--quiet", "--json", "-")
        report = json.loads(vwlite("cluster", "x.vw", "-k", "3", "-f", "m", *options).stdout)
        predictions = np.array([int(line.split()[0]) for line in vwlite("predict", "-i", "m", "x.vw").lines])
        usual = np.arange(300) % 20 > 0
        pure = sum(np.bincount(labels[usual & (predictions == k)], minlength=3).max() for k in range(3)) / usual.sum()
        distances[trim] = report["average_squared_distance"], pure
        assert sum(report["sizes"]) == (300 if trim == "0" else 270)
    assert distances["0"][0] > 100 * distances["0.1"][0]
    assert distances["0"][1] < 0.7 and distances["0.1"][1] > 0.95


@pytest.mark.parametrize("weighted", [False, True])
def test_soft_clusters_are_those_of_plain_python(weighted, tmp_path, vwlite):
    x = blobs(60, seed=2, spread=1.5)
    weight = (np.arange(len(x)) % 3 + 0.5 if weighted else np.ones(len(x))).tolist()
    (tmp_path / "x.vw").write_text(text_of(x, weight).replace("|f", "|"))
    how = ("-k", "3", "--soft", "2", "--quiet")
    vwlite("cluster", "x.vw", "-f", "start", "--passes", "1", "--seed", "4", *how)
    done = vwlite("cluster", "x.vw", "-i", "start", "-f", "m", "--passes", "6")
    rows = x.astype(float).tolist()
    numbers = [float(actual) for actual in re.findall(r"free energy ([-\d.e]+)", done.stderr)]
    means, energies = soft(rows, weight, means_of(tmp_path / "start"), 2.0, len(numbers))
    assert (
        len(numbers) > 3 and numbers == pytest.approx(energies, rel=1e-5) and numbers == sorted(numbers, reverse=True)
    )
    np.testing.assert_allclose(means_of(tmp_path / "m"), means, rtol=1e-4, atol=1e-4)
    for row, line in zip(rows, vwlite("predict", "-i", "m", "x.vw", "--probabilities").lines, strict=True):
        kept = [np.exp(-distance(row, mean) / 2) for mean in means]
        actual = [float(pair.split(":")[1]) for pair in line.split()[:3]]
        assert actual == pytest.approx([size / sum(kept) for size in kept], abs=1e-4)


@pytest.mark.parametrize("spherical", [False, True])
def test_soft_clusters_do_not_depend_on_threads_and_become_hard(spherical, data, vwlite):
    (data / "x.vw").write_text(text_of(blobs()).replace("|f", "|"))
    how = ("-k", "3", "--quiet", *["--spherical"] * spherical)
    for name, options in (("one", ("--threads", "1")), ("two", ("--threads", "2", "--block-size", "300"))):
        vwlite("cluster", "x.vw", "-f", name, "--soft", "0.3", *how, *options)
    assert (data / "one").read_bytes() == (data / "two").read_bytes()
    vwlite("cluster", "x.vw", "-f", "nearly", "--soft", "1e-6", *how)
    vwlite("cluster", "x.vw", "-f", "hard", *how)
    np.testing.assert_allclose(means_of(data / "nearly"), means_of(data / "hard"), atol=1e-4)


@pytest.mark.parametrize("options", [(), ("--batch", "20"), ("--soft", "1")])
def test_sparse_means_are_short(options, data, vwlite):
    (data / "x.vw").write_text(text_of(blobs()).replace("|f", "|"))
    vwlite("cluster", "x.vw", "-k", "3", "-f", "free", "--quiet", *options)
    vwlite("cluster", "x.vw", "-k", "3", "-f", "m", "--sparse_means", "2.5", "--quiet", *options)
    free, means = (np.abs(means_of(data / name)) for name in ("free", "m"))
    assert free.sum(axis=1).max() > 3 and means.sum(axis=1).max() <= 2.5 * (1 + 1e-5)
    assert (means == 0).sum() > (free == 0).sum() + 3


@given(
    st.lists(st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3), min_size=1, max_size=5),
    st.floats(0.125, 20),
)
def test_projections_are_those_of_plain_python(rows, radius):
    means = np.array(rows).T.copy()
    project(means, radius)
    for actual, row in zip(means.T, rows, strict=True):
        assert actual == pytest.approx(projected(row, radius), abs=1e-9 + 1e-9 * max(map(abs, row)))


def test_rings_are_clusters_of_random_features(tmp_path, vwlite):
    """Kernel k-means, which finds what means cannot."""
    draw = np.random.default_rng(1)
    angle, radius = draw.random(400) * 2 * np.pi, np.where(np.arange(400) % 2, 0.5, 1.5) + draw.normal(size=400) * 0.05
    points = zip(np.arange(400) % 2, radius * np.cos(angle), radius * np.sin(angle), strict=True)
    (tmp_path / "x.vw").write_text("".join(f"r{ring} | 0:{x:.5f} 1:{y:.5f}\n" for ring, x, y in points))
    right = []
    for options in ((), ("--random_features", "rbf:1024", "--random_only", "--gamma", "1", "--restarts", "5")):
        vwlite("cluster", "x.vw", "-k", "2", "-f", "m", "--quiet", *options)
        right.append(json.loads(vwlite("evaluate", "-i", "m", "x.vw", "--json", "-").stdout)["purity"])
    assert right[0] < 0.6 and right[1] == 1


@pytest.mark.parametrize("spherical", [False, True])
def test_scores_are_squared_distances(spherical, tmp_path, vwlite):
    x = blobs()
    (tmp_path / "x.vw").write_text(text_of(x).replace("|f", "|"))
    vwlite("cluster", "x.vw", "-f", "m", "-k", "3", "--quiet", *["--spherical"] * spherical)
    means = means_of(tmp_path / "m")
    rows = [unit(row) for row in x.astype(float).tolist()] if spherical else x.astype(float).tolist()
    report = json.loads(vwlite("evaluate", "-i", "m", "x.vw", "--json", "-").stdout)["result"]
    nearby = nearest(rows, means)
    assert report["mean_squared_distance"] == pytest.approx(np.mean([distance for _, distance in nearby]), rel=1e-5)
    for row, line in zip(rows, vwlite("predict", "-i", "m", "x.vw", "--scores").lines, strict=True):
        numbers = [float(pair.split(":")[1]) for pair in line.split()[:-1]]
        assert numbers == pytest.approx([distance(row, mean) for mean in means], rel=1e-4, abs=1e-5)
    unknown = vwlite("predict", "-i", "m", "--scores", stdin="|f unseen:3\n").stdout.split()
    lengths = [sum(value**2 for value in mean) for mean in means]
    expected = [length + (1 if spherical else 9) for length in lengths]
    assert [float(pair.split(":")[1]) for pair in unknown] == pytest.approx(expected, rel=1e-5)


def test_answers_stand_beside_their_lines(data, vwlite):
    vwlite("cluster", "x.vw", "-k", "3", "-f", "m", "--quiet")
    stdin = "c1 2.5 'tag |f 0:1\n|f 1:2\nx |f 0:nan\n\nc2 't|f unseen\nx |f 0:nan\n"
    done = vwlite("predict", "-i", "m", stdin=stdin, status=65)
    assert [re.sub(r"^\d", "N", line) for line in done.lines] == ["N tag", "N", "nan", "N t", "nan"]
    vwlite("predict", "-i", "m", "x.vw", "-p", "answers")
    assert len((data / "answers").read_text().splitlines()) == 120


def test_agreement_with_labels(data, vwlite):
    x = np.zeros((120, COLUMNS), np.float32)
    x[np.arange(120), np.arange(120) % 3] = 5 + np.arange(120) % 7
    text = text_of(x).replace("|f", "|")
    (data / "x.vw").write_text(text)
    vwlite("cluster", "x.vw", "-k", "3", "-f", "m", "--quiet", "--spherical")
    report = json.loads(vwlite("evaluate", "-i", "m", "x.vw", "--json", "-").stdout)["result"]
    assert report["nmi"] == pytest.approx(1) and report["purity"] == report["adjusted_rand"] == 1
    assert report["mean_squared_distance"] == pytest.approx(0, abs=1e-6)
    stdout = vwlite("evaluate", "-i", "m", "x.vw", "--metric", "purity").stdout
    assert stdout == "purity  1\n"
    mixed = [line.replace("c0", ("", "c1")[number % 2]) for number, line in enumerate(text.splitlines(True))]
    (data / "mixed.vw").write_text("".join(mixed))
    report = json.loads(vwlite("evaluate", "-i", "m", "mixed.vw", "--json", "-").stdout)["result"]
    assert report["examples"] == 120 and report["purity"] == 1 and 0.7 < report["nmi"] < 1


def test_clusters_are_shown_by_name(data, vwlite):
    (data / "words.vw").write_text("|w apple apple pear\n|w apple pear\n|w zebra\n|w zebra zebra:2\n")
    vwlite("cluster", "words.vw", "-f", "m", "-k", "2", "--names", "--spherical", "--quiet")
    lines = vwlite("inspect", "m", "--top", "1").lines
    words = {line.split()[3].partition(":")[0] for line in lines[-2:]}
    assert words == {"w^apple", "w^zebra"} and lines[2].startswith("spherical")
    report = json.loads(vwlite("inspect", "m", "--top", "1", "--json", "-").stdout)
    assert {cluster["features"][0]["name"] for cluster in report["top"]} == {"w^apple", "w^zebra"}
    assert [cluster["examples"] for cluster in report["top"]] == [2, 2]


def test_columns_of_other_formats(data, vwlite):
    (data / "x.csv").write_text("label,a,b\n1,0,1\n1,0,2\n2,9,1\n2,9,2\n")
    vwlite("cluster", "x.csv", "--format", "csv", "--columns", "label=label", "-k", "2", "-f", "m", "--quiet")
    done = vwlite("evaluate", "-i", "m", "x.csv", "--columns", "label=label", "--json", "-")
    report = json.loads(done.stdout)["result"]
    assert report["purity"] == 1 and report["mean_squared_distance"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["cluster", "x.vw"], 2, "-k N is needed: the number of clusters"),
        (["cluster", "x.vw", "-k", "1"], 2, "-k takes 2 to 100000, not 1"),
        (["cluster", "x.vw", "-k", "121"], 2, "121 clusters are more than there are examples: 120"),
        (["cluster", "same.vw", "-k", "3"], 2, "3 clusters are more than there are different examples: 2"),
        (
            ["cluster", "same.vw", "-k", "3", "--batch", "2"],
            2,
            "3 clusters are more than there are different examples: 2",
        ),
        (["cluster", "large.vw", "-k", "2", "--batch", "2"], 70, "distances are not finite numbers"),
        (["cluster", "x.vw", "-k", "3", "--cut", "--trim", "0.1"], 2, "--cut is that of a graph of all examples"),
        (["cluster", "nothing.vw", "-k", "3"], 65, "there is no example"),
        (["cluster", "x.vw", "-k", "20", "--max-memory", "1e-6"], 2, "9 slots that occur, 20 clusters"),
        (["cluster", "large.vw", "-k", "2"], 70, "distances are not finite numbers"),
        (["serve", "-i", "m"], 2, "a model of clusters is not served"),
        (["cluster", "x.vw", "-k", "2", "--noconstant"], 2, "clusters have neither a constant"),
        (["cluster", "x.vw", "-k", "2", "-c", "--names", "-f", "m2"], 2, "--names needs the names in the text"),
        (["cluster", "x.vw", "-i", "m", "-k", "3"], 2, "-k 3 contradicts m"),
        (["cluster", "x.vw", "-i", "m", "--spherical"], 2, "--spherical contradicts m"),
        (["cluster", "x.vw", "-i", "m", "--restarts", "2"], 2, "--restarts does nothing beside -i"),
        (["cluster", "x.vw", "-i", "m", "--unit"], 2, "--unit contradicts m"),
        (["cluster", "x.vw", "-i", "linear"], 76, "was not made by 'vwlite cluster'"),
        (
            ["predict", "-i", "m", "x.vw", "--probabilities"],
            2,
            "--probabilities are there for clusters that were found",
        ),
        (["cluster", "x.vw", "-k", "3", "--soft", "1", "--batch", "5"], 2, "--soft does not go with --batch"),
        (["cluster", "x.vw", "-k", "3", "--soft", "1", "--trim", "0.1"], 2, "--soft does not go with --trim"),
        (["cluster", "x.vw", "-k", "3", "--soft", "-1"], 2, "--soft"),
        (
            ["cluster", "x.vw", "-k", "3", "--sparse_means", "1", "--spherical"],
            2,
            "--sparse_means does not go with --sph",
        ),
        (["cluster", "x.vw", "-i", "m", "--soft", "2"], 2, "--soft 2 contradicts m"),
        (["evaluate", "-i", "m", "x.vw", "--metric", "auc"], 2, "a model of this kind has nmi, purity, adjusted_rand"),
        (["explain", "-i", "m", "x.vw"], 2, "explain does not go with a model of clusters"),
    ],
)
def test_wrong_commands_are_refused(arguments, status, said, data, vwlite):
    (data / "same.vw").write_text("|w a\n|w b\n" * 4)
    (data / "nothing.vw").write_text("")
    (data / "large.vw").write_text("|w a:1e30 b:1e30\n|w a:-1e30\n|w b:1e30\n")
    vwlite("cluster", "x.vw", "-f", "m", "-k", "2", "--quiet")
    vwlite("train", "-f", "linear", "--quiet", stdin="1 |a b\n")
    assert said in vwlite(*arguments, status=status).stderr


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("cluster_slot", lambda slots: slots[::-1].copy()),
        ("cluster_slot", lambda slots: slots.astype(np.float64)),
        ("cluster_means", lambda means: np.full_like(means, np.nan)),
        ("cluster_totals", lambda totals: -totals),
        *[(name, lambda array: array[:-1]) for name in ("cluster_slot", "cluster_means", "cluster_totals")],
    ],
)
def test_damaged_models_are_refused(name, wrong, data, vwlite):
    vwlite("cluster", "x.vw", "-f", "m", "-k", "2", "--quiet")
    model = files.load(data / "m")
    files.save(data / "bad", model.header, {**model.arrays, name: wrong(np.asarray(model.arrays[name]))})
    done = vwlite("predict", "-i", "bad", "x.vw", status=76)
    assert "is not a model of this version's vwlite cluster" in done.stderr
