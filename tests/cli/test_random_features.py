"""``--random_features`` through training, caches, pipes, models, other learners, and Python."""

import json
import random

import numpy as np
import pytest

import vwlite
from vwlite.storage import model_file


def circles(rows, seed=1):
    """Two classes that no line parts: inside and outside of a circle."""
    draw, lines = random.Random(seed), []
    for _ in range(rows):
        x, y = draw.uniform(-1, 1), draw.uniform(-1, 1)
        lines.append(f"{1 if x * x + y * y < 0.6 else -1} |p 0:{x:.4f} 1:{y:.4f} |q z\n")
    return "".join(lines)


TEXT, NEW = circles(3000), circles(400, 2)
LOGISTIC = ("--loss_function", "logistic")


@pytest.fixture
def data(tmp_path):
    (tmp_path / "t.vw").write_text(TEXT)
    (tmp_path / "new.vw").write_text(NEW)
    return tmp_path


def accuracy(run_here, model):
    done = run_here("evaluate", "-i", model, "new.vw", "--metric", "accuracy", "--json", "-")
    return json.loads(done.stdout)["accuracy"]


@pytest.mark.parametrize(
    "options",
    [
        ["rbf:256"],
        ["rbf:256", "--gamma", "2"],
        ["arccos:256"],
        ["poly2:64", "--random_of", "p"],
        ["poly3:256"],
        ["rbf:256", "--random_only", "--fold", "64"],
    ],
)
def test_with_them_classes_are_parted_that_no_line_parts(options, data, run_here):
    run_here("train", "t.vw", "-f", "m", "--random_features", *options, *LOGISTIC, "--quiet")
    assert accuracy(run_here, "m") > 0.9


@pytest.mark.parametrize("kernel", ["laplace:256", "arccos:256"])
def test_a_pipe_a_cache_and_threads_make_the_same_model(kernel, data, run_here):
    """The kernels are those that the battery does not have."""
    options, text = ["--random_features", kernel, *LOGISTIC, "--quiet"], circles(300)
    (data / "t.vw").write_text(text)

    def trained(name, *more, **given):
        run_here("train", "-f", name, *options, *more, **given)
        return (data / name).read_bytes()

    file = trained("file", "t.vw")
    assert file == trained("pipe", stdin=text) == trained("cache", "t.vw", "-c") == trained("again", "t.vw", "-c")
    assert file == trained("threads", "t.vw", "--threads", "3")
    assert run_here("predict", "-i", "file", "new.vw").stdout == run_here("predict", "-i", "file", stdin=NEW).stdout


def test_without_them_no_line_parts_the_classes(data, run_here):
    run_here("train", "t.vw", "-f", "m", *LOGISTIC, "--quiet")
    assert accuracy(run_here, "m") < 0.7


LEARNERS = {
    "sgd": ["--sgd"],
    "ftrl": ["--ftrl"],
    "coin": ["--coin"],
    "bfgs": ["--bfgs", "--passes", "12", "-c", "--l2", "1"],
    "dual": ["--dual", "--l2", "0.1"],
    "oaa": ["--oaa", "2", "--named_labels", "1,-1"],
    "multiclass": ["--multiclass", "2", "--named_labels", "1,-1"],
    "active": ["--active", "--simulation"],
    "normalized": ["--normalized"],
    "crosses": ["-q", "pp"],
    "dyadic": ["--dotproduct", "pq"],
    "lrq": ["--lrq", "pq2"],
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_learns_them(name, data, run_here):
    options = [*LEARNERS[name], *(() if name in ("multiclass", "oaa") else LOGISTIC)]
    run_here("train", "t.vw", "-f", "m", "--random_features", "rbf:128", "--gamma", "1", *options, "--quiet")
    assert accuracy(run_here, "m") > 0.88


def test_gamma_is_found_once_and_kept(data, run_here):
    done = run_here("train", "t.vw", "-f", "m", "--random_features", "rbf:100", *LOGISTIC)
    gamma = float(model_file.load(data / "m").arrays["random_gamma"][0])
    assert f"note: --gamma {gamma:g} is that of the random features" in done.stderr
    assert "note: --random_features rbf:100 makes 128, a multiple of 64" in done.stderr
    report = json.loads(run_here("inspect", "m", "--json", "-").stdout)
    assert report["gamma"] == gamma
    assert report["options"]["random_features"] == "rbf:100"
    run_here("train", "new.vw", "-i", "m", "-f", "m2", "--quiet")
    assert float(model_file.load(data / "m2").arrays["random_gamma"][0]) == gamma
    x = np.array([[float(word.partition(":")[2]) for word in line.split()[2:4]] for line in TEXT.splitlines()[:2000]])
    gaps = ((x[:1000] - x[1000:]) ** 2).sum(axis=1)
    assert gamma == pytest.approx(1 / np.median(gaps), rel=0.15)


def test_several_passes_with_names(data, run_here):
    options = ("--random_features", "rbf:64", *LOGISTIC, "--passes", "3", "--names")
    run_here("train", "t.vw", "-f", "m", *options, "--quiet")
    top = json.loads(run_here("inspect", "m", "--top", "99", "--json", "-").stdout)["top"]
    names = {entry["name"] for entry in top}
    assert names == {"p^0", "p^1", "q^z", "Constant", *(f"rbf^{number}" for number in range(64))}


def test_audits_and_explanations_have_their_terms(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--random_features", "rbf:64", "--gamma", "1", *LOGISTIC, "--quiet")
    stdout = run_here("explain", "-i", "m", "new.vw", "--top", "99", "--json", "-").stdout
    assert all(f'"rbf^{number}"' in stdout for number in range(64))
    audit = run_here("predict", "new.vw", "-i", "m", "--audit").stdout
    assert "p^0:" in audit
    assert "rbf^63:" in audit


def test_python_makes_the_bytes_of_the_command(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--quiet", "--random_features", "rbf:128", "--random_only", *LOGISTIC)
    model = vwlite.Model(random_features="rbf:128", random_only=True, loss_function="logistic")
    model.learn(TEXT)
    assert model.dumps() == (data / "m").read_bytes()
    answers = [float(line) for line in run_here("predict", "-i", "m", "new.vw").stdout.split()]
    assert model.predict(NEW).tolist() == pytest.approx(answers, abs=1e-6)


def test_a_few_lines_at_a_time_in_python():
    lines = TEXT.splitlines(keepends=True)
    model = vwlite.Model(random_features="rbf:64", gamma=1.0, loss_function="logistic")
    for begin in range(0, 3000, 100):
        model.learn(lines[begin : begin + 100])
    whole = vwlite.Model(random_features="rbf:64", gamma=1.0, loss_function="logistic")
    whole.learn(TEXT)
    assert model.predict(NEW).tolist() == pytest.approx(whole.predict(NEW).tolist(), rel=1e-6)


def test_combined_regression_and_ranking(data, run_here):
    options = ("--random_features", "rbf:128", "--steps", "20000", *LOGISTIC, "--qid", "none", "--quiet")
    run_here("crr", "t.vw", "-f", "m", *options)
    run_here("crr", "-f", "pipe", *options, stdin=TEXT)
    assert (data / "m").read_bytes() == (data / "pipe").read_bytes()
    assert accuracy(run_here, "m") > 0.88
    typed = ("--gamma", "2", "--random_of", "p", "--random_only", "--fold", "64")
    run_here("crr", "t.vw", "-f", "m", *options, *typed)
    assert accuracy(run_here, "m") > 0.88


def test_components_of_a_kernel(data, run_here):
    """The first component of the kernel of points on a ring tells their distance from it."""
    typed = ("--random_only", "--random_of", "p", "--fold", "64")
    run_here("pca", "t.vw", "-f", "m", "--dim", "2", "--random_features", "rbf:128", *typed, "--quiet")
    first = run_here("project", "-i", "m", "new.vw").stdout
    run_here("pca", "-f", "pipe", "--dim", "2", "--random_features", "rbf:128", *typed, "--quiet", stdin=TEXT)
    assert run_here("project", "-i", "pipe", "new.vw").stdout == first
    assert "random_gamma" in model_file.load(data / "m").arrays
    run_here("pca", "t.vw", "-f", "m2", "--dim", "2", "--random_features", "rbf:128", "--gamma", "1", *typed, "--quiet")
    assert run_here("project", "-i", "m2", "new.vw").stdout != first


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--random_features", "rfb:64"], "'rfb' is not one of rbf, laplace, poly2, poly3, arccos (did you mean rbf?)"),
        (["--random_features", "rbf"], "--random_features takes KERNEL:D"),
        (["--random_features", "rbf:64", "--gamma", "0"], "--gamma takes a number above 0"),
        (["--random_features", "poly2:64", "--gamma", "1"], "--gamma does nothing with --random_features poly2"),
        (["--gamma", "1"], "--gamma does nothing without --random_features"),
        (["--random_only"], "--random_only does nothing without --random_features"),
        (["--fold", "128"], "--fold does nothing without --random_features"),
        (["--random_of", "p"], "--random_of does nothing without --random_features"),
        (["--random_features", "rbf:64", "--fold", "100"], "a power of two"),
        (["--random_features", "rbf:64", "--random_only", "--lrq", "pq2"], "no features for --lrq"),
        (["--random_features", "rbf:64", "--shard", "1/2", "-f", "m"], "shards need one --gamma"),
        (["--landmarks", "rbf:64", "--shard", "1/2", "-f", "m"], "shards need one file of --landmarks"),
    ],
)
def test_wrong_options_are_refused(options, said, data, run_here):
    assert said in run_here("train", "t.vw", *options, status=2).stderr


def test_another_map_beside_a_model_is_refused(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--random_features", "rbf:64", "--gamma", "1", "--quiet")
    for typed in (["--random_features", "rbf:128"], ["--gamma", "2"], ["--random_only"]):
        assert "contradicts m" in run_here("train", "t.vw", "-i", "m", *typed, status=2).stderr
    run_here("train", "t.vw", "-i", "m", "-f", "m2", "--random_features", "rbf:64", "--gamma", "1", "--quiet")


def test_vw_takes_the_model_with_its_features(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--random_features", "rbf:64", "--label-units", "raw", "--quiet")
    done = run_here("vw", "-t", "-i", "m", "-d", "new.vw", "-p", "/dev/stdout", "--quiet")
    assert done.stdout == run_here("predict", "-i", "m", "new.vw").stdout


@pytest.mark.parametrize("features", [("--random_features", "rbf:64"), ("--landmarks", "rbf:few.vw")], ids=" ".join)
def test_shards_with_one_gamma(features, data, run_here):
    (data / "few.vw").write_text("".join((data / "t.vw").read_text().splitlines(True)[:40]))
    options = (*features, "--gamma", "1", *LOGISTIC, "--quiet")
    for part in (1, 2):
        run_here("train", "t.vw", "-f", f"m{part}", "--shard", f"{part}/2", *options)
    run_here("merge", "m1", "m2", "-f", "m", status=0)
    assert accuracy(run_here, "m") > 0.88


def test_lists_of_items_are_refused_where_they_are_mapped(data, run_here):
    (data / "r.vw").write_text("5 |u a |i x\n1 |u b |i y\n3 |u a |i y\n" * 30)
    options = ("--dotproduct", "ui", "--names", "--quiet", "--random_features", "rbf:64", "--gamma", "1")
    run_here("train", "r.vw", "-f", "m", *options)
    refused = run_here("recommend", "-i", "m", "--of", "i", stdin="|u a\n", status=2).stderr
    assert "recommend does not go with --random_features of the namespace 'i'" in refused
    run_here("train", "r.vw", "-f", "m", *options, "--random_of", "u")
    assert run_here("recommend", "-i", "m", "--of", "i", stdin="|u a\n").stdout


def test_a_namespace_that_never_occurs_is_said(data, run_here):
    done = run_here("train", "t.vw", "--random_features", "rbf:64", "--random_of", "px")
    assert "note: --random_of x never matched: no line has x (seen: p q)" in done.stderr
    assert "--random_of p" not in done.stderr


def test_a_damaged_gamma_is_refused(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--random_features", "rbf:64", "--quiet")
    model = model_file.load(data / "m")
    for value in (-1.0, np.nan, 0.0):
        model_file.save(data / "bad", model.header, {**model.arrays, "random_gamma": np.array([value])})
        assert run_here("predict", "-i", "bad", "new.vw", status=76).stderr
    for change in ({"random_features": "fbr:64"}, {"random_features": "rbf"}, {"fold": 5}, {"fold": "big"}):
        header = {**model.header, "features": {**model.header["features"], **change}}
        model_file.save(data / "bad", header, model.arrays)
        assert run_here("predict", "-i", "bad", "new.vw", status=76).stderr
    kept = {name: array for name, array in model.arrays.items() if name != "random_gamma"}
    model_file.save(data / "bad", model.header, kept)
    assert run_here("predict", "-i", "bad", "new.vw", status=76).stderr


def test_groups_of_lines(data, run_here):
    """Lines of a group have random features of their own terms and of the shared line's."""
    draw, lines = random.Random(5), []
    for _ in range(800):
        x = draw.uniform(-1, 1)
        lines.append(f"shared |s 0:{x:.3f}\n")
        lines += [f"{k}:{(x * sign < 0) * 1} |p {k}:1\n" for k, sign in ((1, 1), (2, -1))]
        lines.append("\n")
    (data / "g.vw").write_text("".join(lines))
    options = ("--csoaa_ldf", "m", "--quiet", "--random_features", "rbf:128", "--gamma", "1")
    run_here("train", "g.vw", "-f", "m", *options)
    plain = json.loads(run_here("train", "g.vw", "--csoaa_ldf", "m", "--quiet", "--json", "-").stdout)
    learned = json.loads(run_here("train", "g.vw", *options, "--json", "-").stdout)
    assert learned["result"]["average_loss"] < plain["result"]["average_loss"] / 2
