"""Principal components against the exact decomposition, from files, pipes and models, and what projection writes."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.pca import components

from vwlite._native import spectral
from vwlite.storage import model_file as files

DIM = 4


def matrix(rows=200, columns=30, seed=0):
    """Sparse rows of DIM strong directions and noise."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows, DIM)) @ draw.normal(size=(DIM, columns)) * 5 + draw.normal(size=(rows, columns)) + 1
    return np.where(draw.random(x.shape) < 0.3, 0, x).astype(np.float32)


def text_of(x, weight=None):
    lines = []
    for number, row in enumerate(x.tolist()):
        head = f"c{number % 3}" + (f" {weight[number]}" if weight is not None else "")
        lines.append(f"{head} 't{number} |f " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row) if v))
    return "\n".join(lines) + "\n"


def projected(output):
    rows = [line.split("|pca ")[1].split() for line in output.splitlines()]
    return np.array([[float(pair.split(":")[1]) for pair in row] for row in rows])


@pytest.fixture
def data(tmp_path):
    (tmp_path / "x.vw").write_text(text_of(matrix()))
    return tmp_path


def test_components_of_a_slowly_falling_spectrum(tmp_path, run_here):
    """Products that are not shifted leave an error of 1.9% in the last value."""
    draw = np.random.default_rng(2)
    left, right = (np.linalg.qr(draw.normal(size=(size, 90)))[0] for size in (300, 90))
    x = (left * np.arange(1, 91) ** -0.3 @ right.T).astype(np.float32)
    (tmp_path / "x.vw").write_text(text_of(x))
    how = ["--dim", "30", "--oversample", "5", "--passes", "6"]
    report = json.loads(run_here("pca", "x.vw", "-f", "m", *how, "--json", "-", "--quiet").stdout)
    actual = np.array(report["singular_values"]) / np.arange(1, 31) ** -0.3
    assert (actual < 1 + 1e-5).all() and actual.min() > 0.988


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_components_are_those_of_the_exact_decomposition(center, weighted, tmp_path, run_here):
    x = matrix()
    weight = np.arange(len(x)) % 3 + 1 if weighted else np.ones(len(x), int)
    (tmp_path / "x.vw").write_text(text_of(x, weight))
    options = ["--center"] * center
    report = json.loads(
        run_here("pca", "x.vw", "-f", "m", "--dim", DIM, "--passes", "8", "--json", "-", "--quiet", *options).stdout
    )
    values, vectors, mean = components(x.astype(float), weight, DIM, center)
    assert report["singular_values"] == pytest.approx(values.tolist(), rel=1e-5)
    assert report["examples"] == len(x)
    whole = (weight[:, None] * (x - mean) ** 2).sum()
    assert report["share_of_squares"] == pytest.approx((values**2).sum() / whole, rel=1e-5)
    projection = projected(run_here("project", "-i", "m", "x.vw").stdout)
    expected = (x - mean) @ vectors
    assert np.abs(projection - expected).max() < 1e-4 * np.abs(expected).max()
    best = np.linalg.norm(x - mean - expected @ vectors.T)
    assert np.linalg.norm(x - mean - projection @ vectors.T) == pytest.approx(best, rel=1e-6)
    left = projected(run_here("project", "-i", "m", "x.vw", "--scale", "left").stdout)
    assert np.abs(left - expected / values).max() < 1e-5


def test_components_are_those_of_scikit_learn(tmp_path, run_here):
    decomposition = pytest.importorskip("sklearn.decomposition", reason="scikit-learn is not installed")
    x = matrix(seed=1)
    (tmp_path / "x.vw").write_text(text_of(x))
    stdout = run_here("pca", "x.vw", "--dim", DIM, "--passes", "8", "--json", "-", "--quiet", "--center").stdout
    peer = decomposition.PCA(DIM, svd_solver="randomized", random_state=0).fit(x)
    assert json.loads(stdout)["singular_values"] == pytest.approx(peer.singular_values_.tolist(), rel=1e-4)


def test_later_text_is_added(data, run_here):
    """The parts of the data, the second of slots that the first had not, come to what the whole has."""
    x = matrix()
    x[:100, 25:] = 0
    for name, rows in (("a.vw", x[:100]), ("b.vw", x[100:])):
        (data / name).write_text(text_of(rows))
    options = ("--center", "--oversample", "26", "--dim", DIM, "--quiet")
    run_here("pca", "a.vw", "-f", "m", "--lock-wait", "5", *options)
    done = run_here("pca", "b.vw", "-i", "m", "-f", "m2", "--passes", "3", "--json", "-", "--quiet")
    report = json.loads(done.stdout)
    values, vectors, mean = components(x.astype(float), np.ones(len(x)), DIM, True)
    assert report["examples"] == 200
    assert report["singular_values"] == pytest.approx(values.tolist(), rel=1e-4)
    (data / "x.vw").write_text(text_of(x))
    actual, expected = projected(run_here("project", "-i", "m2", "x.vw").stdout), (x - mean) @ vectors
    assert np.abs(actual - expected).max() < 1e-3 * np.abs(expected).max()


def test_one_pass_is_rough_and_more_are_better(data, run_here):
    values = components(matrix().astype(float), np.ones(200), DIM)[0]
    errors = []
    for passes in (1, 2, 4):
        stdout = run_here("pca", "x.vw", "--dim", DIM, "--passes", passes, "--json", "-", "--quiet").stdout
        errors.append(np.abs(json.loads(stdout)["singular_values"] / values - 1).max())
    assert errors[0] < 0.2 and errors == sorted(errors, reverse=True)


def test_lines_keep_label_importance_and_tag(data, run_here):
    run_here("pca", "x.vw", "-f", "m", "--dim", "2", "--quiet")
    stdin = "c1 2.5 'tag |f 0:1\n|f 1:2\nc2 't|f unseen\n\n"
    one, two, three = run_here("project", "-i", "m", stdin=stdin).stdout.splitlines()
    assert one.startswith("c1 2.5 'tag |pca 0:")
    assert two.startswith("|pca 0:")
    assert three == "c2 't |pca 0:0 1:0"
    run_here("project", "-i", "m", "x.vw", "-p", "x.pca")
    run_here("train", "x.pca", "--oaa", "3", "--named_labels", "c0,c1,c2", "-f", "classifier", "--quiet")


def test_every_malformed_line_gives_a_line(data, run_here):
    run_here("pca", "x.vw", "-f", "m", "--dim", "2", "--quiet")
    run_here("cluster", "x.vw", "-f", "clusters", "-k", "2", "--quiet")
    text = "|f 0:1\n" + 2 * "x |f 0:nan\n" + "|f 1:1\nx |f 0:nan\n"
    done = run_here("project", "-i", "m", stdin=text, status=65)
    assert [line[:5] for line in done.stdout.split("\n")] == ["|pca ", "", "", "|pca ", "", ""]
    lines = run_here("predict", "-i", "clusters", stdin=text, status=65).stdout.splitlines()
    assert len(lines) == 5 and [lines[row] for row in (1, 2, 4)] == ["nan"] * 3


def test_examples_that_are_all_their_mean_have_no_component(run_here):
    run_here("pca", "--center", "--dim", "1", "-f", "m", stdin="1 | a b:2\n" * 3)
    assert "0  " in run_here("inspect", "m").stdout.splitlines()[-1]
    for scale in ("none", "left"):
        assert run_here("project", "-i", "m", "--scale", scale, stdin="1 | a b:2\n").stdout == "1 |pca 0:0\n"


@pytest.mark.parametrize("center", [[], ["--center"]], ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as the program does
def test_features_whose_products_are_not_finite_are_refused(center, tmp_path, run_here):
    (tmp_path / "big.vw").write_text("".join(f"|a x{n % 7}:3e38 y{n % 5}:-3e38\n" for n in range(40)))
    stderr = run_here("pca", "big.vw", "-f", "m", "--dim", "2", *center, status=70).stderr
    assert stderr.splitlines()[-1] == (
        "vwlite: products of features are not finite numbers: features, or weights, are too large"
    )
    assert "Warning" not in stderr and not (tmp_path / "m").exists()


def test_components_are_shown_by_name(data, run_here):
    (data / "words.vw").write_text("|w apple apple pear\n|w apple pear\n|w zebra\n|w zebra zebra:2\n")
    run_here("pca", "words.vw", "-f", "m", "--dim", "2", "--names", "--quiet")
    lines = run_here("inspect", "m", "--top", "1").stdout.splitlines()
    assert lines[-2].split() == ["3.16228", "w^zebra:1"]
    assert lines[-1].split()[1].startswith("w^apple:0.8")
    report = json.loads(run_here("inspect", "m", "--top", "1", "--json", "-").stdout)
    assert [component["features"][0]["name"] for component in report["components"]] == ["w^zebra", "w^apple"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["pca", "x.vw", "--dim", "31"], 2, "--dim 31 is more than there is: 200 examples, 30 slots"),
        (["pca", "x.vw", "--dim", "20", "--max-memory", "1e-6"], 2, "30 slots that occur, 30 numbers each"),
        (["pca", "x.vw", "--noconstant"], 2, "neither a constant"),
        (["pca", "x.vw", "-i", "m", "--dim", "3"], 2, "--dim 3 contradicts m"),
        (["pca", "x.vw", "-i", "m", "--unit"], 2, "--unit contradicts m"),
        (["pca", "x.vw", "-i", "linear"], 76, "was not made by 'vwlite pca'"),
        (["predict", "-i", "m", "x.vw"], 2, "use 'vwlite project'"),
        (["evaluate", "-i", "m", "x.vw"], 2, "use 'vwlite project'"),
        (["project", "-i", "linear", "x.vw"], 76, "was not made by 'vwlite pca'"),
    ],
)
def test_wrong_commands_are_refused(arguments, status, said, data, run_here):
    run_here("pca", "x.vw", "-f", "m", "--dim", "2", "--quiet")
    run_here("train", "-f", "linear", "--quiet", stdin="1 |a b\n")
    assert said in run_here(*arguments, status=status).stderr


@pytest.mark.parametrize("command", [("pca", "--dim", "2"), ("cluster", "-k", "2")])
def test_options_that_did_nothing_are_told(command, data, run_here):
    features = ("-q", "fz", "--random_features", "rbf:50", "--random_of", "fy")
    stderr = run_here(*command, "x.vw", *features).stderr.splitlines()
    notes = [line for line in stderr if line.startswith("note: ")]
    assert notes[0] == "note: --random_features rbf:50 makes 64, a multiple of 64"
    assert notes[1].startswith("note: --gamma 0.")
    assert notes[2:] == [
        "note: -q fz never matched: no line has both f and z (seen: f)",
        "note: --random_of y never matched: no line has y (seen: f)",
    ]
    cached = [run_here(*command, "x.vw", "-c", "-q", "fz").stderr.splitlines()[-1] for _ in range(2)]
    assert cached == ["note: -q fz never matched: no line has both f and z (seen: f)"] * 2
    assert "note" not in run_here(*command, "x.vw", *features, "--quiet").stderr
    assert "note" not in run_here(*command, "x.vw", "-q", "ff").stderr


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("pca_slot", lambda slots: slots[::-1].copy()),
        ("pca_slot", lambda slots: slots.astype(np.float64)),
        ("pca_vectors", lambda vectors: np.full_like(vectors, np.nan)),
        ("pca_values", lambda values: -values),
        ("pca_total", lambda total: np.full_like(total, np.inf)),
        *[(name, lambda array: array[:-1]) for name in ("pca_slot", "pca_vectors", "pca_values", "pca_total")],
    ],
)
def test_damaged_models_are_refused(name, wrong, data, run_here):
    run_here("pca", "x.vw", "-f", "m", "--dim", "2", "--quiet")
    model = files.load(data / "m")
    files.save(data / "bad", model.header, {**model.arrays, name: wrong(np.asarray(model.arrays[name]))})
    done = run_here("project", "-i", "bad", "x.vw", status=76)
    assert "is not a model of this version's vwlite pca" in done.stderr


@given(st.integers(1, 40), st.integers(1, 90), st.integers(0, 2**32 - 1), st.data())
def test_products_are_those_of_numpy_whatever_the_shares(rows, columns, seed, data):
    draw = np.random.default_rng(seed)
    dense = (draw.random((rows, 12)) * (draw.random((rows, 12)) < 0.4)).astype(np.float32)
    indptr = np.concatenate(([0], np.cumsum((dense != 0).sum(axis=1)))).astype(np.int64)
    where, weight = np.nonzero(dense), draw.random(rows).astype(np.float32)
    terms = indptr, where[1].astype(np.int64), dense[where]
    z = draw.normal(size=(12, columns)).astype(np.float32)
    whole, shared = np.zeros_like(z), np.zeros_like(z)
    spectral.add_products(*terms, weight, z, whole, 0, columns)
    cut = data.draw(st.integers(0, columns))
    for begin, end in ((cut, columns), (0, cut)):
        spectral.add_products(*terms, weight, z, shared, begin, end)
    assert (whole == shared).all()
    assert np.abs(whole - dense.T @ (weight[:, None] * (dense @ z))).max() < 1e-3
    with pytest.raises(IndexError):
        spectral.add_products(*terms, weight, z[:1], whole[:1], 0, columns + 1)
