"""``vwlite landmarks``, and ``--landmarks`` of the commands that learn."""

import json

import numpy as np
import pytest

from vwlite import Model
from vwlite.errors import UsageError
from vwlite.storage.model_file import load
from vwlite.training.model_loader import read_names

RINGS = "".join(
    f"{1 if radius == 1 else -1} | x:{radius * np.cos(angle):.4f} y:{radius * np.sin(angle):.4f}\n"
    for angle in np.linspace(0, 2 * np.pi, 60, endpoint=False)
    for radius in (1, 3)
)
HOW = ("--landmarks", "rbf:some.vw", "--gamma", "0.5", "--whiten", "--random_only", "--quiet")


@pytest.fixture(autouse=True)
def files(write, vwlite):
    write("rings.vw", RINGS)
    vwlite("landmarks", "rings.vw", "--count", "30", "-o", "some.vw", "--quiet")


def same(tmp_path, first, second):
    return (tmp_path / first).read_bytes() == (tmp_path / second).read_bytes()


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_second_file_is_refused(quiet, vwlite, write):
    write("others.vw", RINGS[:60])
    how = ("--landmarks", "rbf:some.vw", "--landmarks", "rbf:others.vw", "--gamma", "1")
    options = "--landmarks is given twice: one file has the lines of all landmarks"
    for command in ("train", "pca", "cluster"):
        assert vwlite(command, "rings.vw", "-f", "m", *how, *quiet, status=2).stderr == f"vwlite: {options}\n"
    with pytest.raises(UsageError, match=options):
        Model(" ".join(how))


def test_means_are_lines_of_slots(vwlite, write, tmp_path):
    write("numbers.vw", RINGS.replace("x:", "3:").replace("y:", "5:"))
    how = ("landmarks", "numbers.vw", "--by", "kmeans", "--count", "8", "--quiet")
    vwlite(*how, "-o", "means.vw", "-b", "10")
    lines = (tmp_path / "means.vw").read_text().splitlines()
    means = np.array([[float(pair.partition(":")[2]) for pair in line.split()[1:]] for line in lines])
    assert all(line.split()[0] == "|" and line.split()[1].startswith("3:") for line in lines) and means.shape == (8, 2)
    points = np.array([[float(pair.partition(":")[2]) for pair in line.split()[2:]] for line in RINGS.splitlines()])
    nearest = np.linalg.norm(points[:, None] - means, axis=2).min(axis=1)
    assert nearest.max() < 2.2 and nearest.mean() < 1
    piped = vwlite("landmarks", "--by", "kmeans", "--count", "8", stdin=(tmp_path / "numbers.vw").read_bytes()).stdout
    assert piped == (tmp_path / "means.vw").read_text()
    vwlite("train", "numbers.vw", "--landmarks", "rbf:means.vw", "-b", "10", "-f", "model", "--quiet")
    words = vwlite("landmarks", "rings.vw", "--by", "kmeans", "--count", "8", "--quiet").stdout
    write("words.vw", words)
    vwlite("train", "rings.vw", "--landmarks", "rbf:words.vw", "--gamma", "0.5", "--random_only", "-f", "m", "--quiet")
    assert len({*vwlite("predict", "-i", "m", "rings.vw").lines}) > 50  # names and slots meet


def test_wrong_options_and_data_are_refused_by_landmarks(vwlite, write):
    assert "-b does nothing without --by kmeans" in vwlite("landmarks", "rings.vw", "-b", "10", status=2).stderr
    few = vwlite("landmarks", "rings.vw", "--by", "kmeans", "--count", "121", status=2)
    assert "121 clusters are more than there are examples: 120" in few.stderr
    assert "no example" in vwlite("landmarks", write("empty.vw", ""), "--by", "kmeans", status=65).stderr


def test_rings_are_told_apart(vwlite):
    vwlite("train", "rings.vw", *HOW, "-f", "model", "--passes", "20", "--holdout_off", "--loss_function", "logistic")
    vwlite(
        "train", "rings.vw", "-f", "plain", "--passes", "20", "--holdout_off", "--loss_function", "logistic", "--quiet"
    )
    actual = [
        json.loads(vwlite("evaluate", "-i", model, "rings.vw", "--metric", "accuracy", "--json", "-").stdout)[
            "accuracy"
        ]
        for model in ("model", "plain")
    ]
    assert actual[0] == 1 and actual[1] < 0.7


def test_the_model_holds_the_landmarks(vwlite, tmp_path, write):
    vwlite("train", "rings.vw", *HOW, "-f", "model")
    before = vwlite("predict", "-i", "model", "rings.vw").stdout
    (tmp_path / "some.vw").unlink()
    assert vwlite("predict", "-i", "model", "rings.vw").stdout == before
    vwlite("train", "rings.vw", "-i", "model", "-f", "more", "--quiet")
    assert vwlite("predict", "-i", "more", "rings.vw").stdout != before
    refused = vwlite("train", "rings.vw", "-i", "model", "-f", "more", "--landmarks", "linear:rings.vw", status=2)
    assert "--landmarks" in refused.stderr


def test_whitened_landmarks_of_all_examples_are_kernel_ridge_regression(vwlite, write):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 3))
    y = np.sin(x @ [1.0, -2.0, 0.5]) + x[:, 0]
    lines = [
        f"{label:.7f} | " + " ".join(f"{place}:{value:.5f}" for place, value in enumerate(row)) + "\n"
        for label, row in zip(y, x, strict=True)
    ]
    write("train.vw", "".join(lines))
    how = ("--landmarks", "rbf:train.vw", "--gamma", "2", "--whiten", "--random_only", "--noconstant")
    ridge = ("--dual", "--loss_function", "squared", "--l2", "1", "--gap", "1e-12", "--passes", "3000")
    vwlite("train", "train.vw", *how, *ridge, "-f", "model", "--quiet")
    x = np.round(x, 5)
    squares = (x**2).sum(1)
    kernel = np.exp(-2 * (squares[:, None] + squares - 2 * x @ x.T))
    predictions = np.array([float(line) for line in vwlite("predict", "-i", "model", "train.vw").lines])
    errors = [
        abs(predictions - kernel @ np.linalg.solve(kernel + strength * np.eye(200), y)).max() for strength in (1.0, 0.5)
    ]
    assert min(errors) < 1e-5, errors


def test_crr_pca_and_cluster_take_them_too(vwlite, tmp_path):
    vwlite(
        "pca", "rings.vw", "--landmarks", "rbf:some.vw", "--gamma", "0.5", "--random_only", "--dim", "2", "-f", "parts"
    )
    assert len(vwlite("project", "-i", "parts", "rings.vw").lines) == 120
    vwlite(
        "crr", "rings.vw", "--qid", "none", "--steps", "50", "--landmarks", "poly2:some.vw", "-f", "ranker", "--quiet"
    )
    assert len(vwlite("predict", "-i", "ranker", "rings.vw").lines) == 120


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--landmarks", "rbf:nothing.vw"), 66, "nothing.vw"),
        (("--landmarks", "circle:some.vw"), 2, "circle"),
        (("--landmarks", "rbf:odd.vw"), 65, "odd.vw:1"),
        (("--landmarks", "rbf:some.vw", "--ignore", " "), 65, "no landmark with a feature"),
        (("--whiten",), 2, "--landmarks"),
        (("--nearest", "3"), 2, "--landmarks"),
    ],
)
def test_wrong_options_and_files_are_refused(options, status, said, vwlite, write):
    write("odd.vw", "1 | x:nan\n")
    assert said in vwlite("train", "rings.vw", *options, "-f", "m", "--quiet", status=status).stderr


def test_a_model_may_count_the_nearest_landmarks_alone(vwlite):
    vwlite("train", "rings.vw", "--landmarks", "rbf:some.vw", "--nearest", "3", "-f", "model", "--quiet")
    assert len(vwlite("predict", "-i", "model", "rings.vw").lines) == 120


@pytest.mark.parametrize("more", [(), ("--weight", "idf", "--min_df", "1"), ("--random_only", "--weight", "idf")])
@pytest.mark.parametrize("command", [("train",), ("crr", "--qid", "none", "--steps", "99"), ("pca", "--dim", "2")])
def test_landmarks_have_names(command, more, vwlite, write):
    """They have names, too, where they wait for weights of terms, which all examples are counted for."""
    write("text.vw", "".join(f"{n % 2} | w{n % 5} w{n % 7}\n" for n in range(35)))
    write("some.vw", "| w1 w2\n| w3\n| w4 w5\n")
    how = ("text.vw", "--landmarks", "linear:some.vw", "--names", "--quiet", "-f", "m")
    vwlite(*command, *how, *more)
    names = {name for name in read_names(load("m").arrays, 18).names.values() if name != "Constant"}
    only = "--random_only" in more
    assert names == {*(f"landmarks^{n}" for n in range(3)), *(f"w{n}" for n in range(0 if only else 7))}


def test_a_model_is_no_text(vwlite):
    vwlite("train", "rings.vw", "-f", "m", "--quiet")
    assert "m is a model or another zip file, not data" in vwlite("landmarks", "m", status=65).stderr


def test_a_number_draws_them_from_the_first_examples(vwlite, tmp_path):
    """Where there are fewer than 2,000, these are the lines of ``vwlite landmarks``."""
    more = ("--gamma", "0.5", "--whiten", "--random_only", "--quiet", "--passes", "3", "-k", "-c")
    vwlite("train", "rings.vw", "-f", "file", "--landmarks", "rbf:some.vw", *more)
    vwlite("train", "rings.vw", "-f", "drawn", "--landmarks", "rbf:30", *more)
    vwlite("train", "-", "-f", "piped", "--landmarks", "rbf:30", "--block-size", "64", *more, stdin=RINGS)
    answers = [vwlite("predict", "-i", model, "rings.vw", "--raw").stdout for model in ("file", "drawn", "piped")]
    assert answers[0] == answers[1] == answers[2] and len(set(answers[0].splitlines())) > 50
    again = ("train", "rings.vw", "-i", "drawn", "-f", "next", "--quiet", "--landmarks")
    vwlite(*again, "rbf:30")
    assert "contradicts" in vwlite(*again, "rbf:9", status=2).stderr
    model = Model("--landmarks rbf:30 --whiten --random_only", gamma=0.5)
    model.learn(RINGS, passes=3)
    np.testing.assert_allclose(model.predict(RINGS), list(map(float, answers[1].split())), atol=1e-6)


@pytest.mark.parametrize("command", ["crr --qid none --steps 99", "pca --dim 2", "cluster -k 2"])
def test_other_commands_draw_them_from_the_first_examples_too(command, vwlite):
    vwlite(*command.split(), "rings.vw", "-f", "m", "--landmarks", "rbf:9", "--random_only", "--quiet")


def test_more_than_there_are_is_all_and_none_is_refused(vwlite, tmp_path):
    vwlite("train", "rings.vw", "-f", "m", "--landmarks", "poly2:5000", "--whiten", "--quiet")
    assert len(load(tmp_path / "m").arrays["landmark_start"]) == 121
    assert "takes 1 or more" in vwlite("train", "rings.vw", "--landmarks", "rbf:0", "-f", "m", status=2).stderr


def test_nothing_to_draw_landmarks_from(vwlite, write):
    write("empty.vw", "1 |\n")
    stderr = vwlite("train", "empty.vw", "--landmarks", "rbf:5", "-f", "m", status=65).stderr
    assert stderr.endswith("--landmarks: the first examples have no features\n")
