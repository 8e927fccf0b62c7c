"""``--label-units`` of the commands: the bytes of models, and what is shown of them."""

import json

import numpy as np
import pytest
from friedman import friedman, lines_of
from in_process import call

import vwlite

RAW = ("--label-units", "raw")


def train(folder, *arguments, status=0):
    return call(folder, "train", *arguments, status=status)


def scalars(model):
    return model._writer().header()["scalars"]


SPREAD = ["", "--loss_function absolute", "--loss_function expectile --expectile_q 0.3",
          "-l 0.1 --l2 1e-4", "--levels 0..9", "--average", "--nn 2", "--outputs 1"]  # fmt: skip
OTHERS = [
    "--sgd", "--adaptive", "--normalized", "--invariant", "-C 3", "--initial_weight 0.1", "--ftrl", "--coin",
    "--dotproduct ff", "--lrq ff2", "--loss_function logistic", "--loss_function hinge",
    "--loss_function poisson", "--loss_function classic", "--link logistic", "--binary",
    "--bfgs --passes 2", "--active --simulation", "--oaa 3", "--dual --l2 1", "--ksvm",
]  # fmt: skip


@pytest.mark.parametrize("options", [*SPREAD, *OTHERS])
def test_labels_are_in_units_of_their_spread_by_default_for_some_learners(options, tmp_path):
    X, y = friedman(60)
    (tmp_path / "data").write_text(lines_of(X, 1 + (y > 14)))
    if any(name in options for name in ("logistic", "hinge", "binary", "active", "ksvm", "dual")):
        (tmp_path / "data").write_text(lines_of(X, np.where(y > 14, 1, -1)))
    train(tmp_path, "data", "-f", "model", *options.split())
    config = vwlite.load(str(tmp_path / "model"))._writer().header()["config"]
    assert config.get("label_units", "raw") == ("spread" if options in SPREAD else "raw")
    if "--outputs" not in options:
        assert "label_units" not in vwlite.Model(options).options
    if options in SPREAD:
        train(tmp_path, "data", "-f", "typed", "--label-units", "spread", *options.split())
        assert (tmp_path / "typed").read_bytes() == (tmp_path / "model").read_bytes()
        model = vwlite.Model(f"{options} --label-units raw")
        assert model.options["label_units"] == "raw"
        assert vwlite.Model(**model.options).options == model.options


def test_a_model_keeps_its_units(tmp_path):
    text = lines_of(*friedman())
    (tmp_path / "data").write_text(text)
    train(tmp_path, "data", "-f", "spread")
    train(tmp_path, "data", "-f", "raw", *RAW)
    header = vwlite.load(str(tmp_path / "raw"))._writer().header()
    assert "label_units" not in header["config"]
    assert not [name for name in header["scalars"] if name.startswith("label_")]
    for model, other in (("spread", "raw"), ("raw", "spread")):
        done = call(tmp_path, "train", "data", "-i", model, "-f", "more", "--label-units", other, status=None)
        assert done.status == 2
        assert f"--label-units {other} contradicts {model}" in done.stderr
    train(tmp_path, "data", "-i", "spread", "-f", "more")
    call(tmp_path, "train", "data", "-i", "spread", "-f", "again")
    assert (tmp_path / "more").read_bytes() == (tmp_path / "again").read_bytes()
    call(tmp_path, "train", "data", "-i", "raw", "-f", "more")
    assert "label_units" not in vwlite.load(str(tmp_path / "more"))._writer().header()["config"]


@pytest.mark.parametrize("args", ["", "-b 10"])
def test_weights_are_shown_in_units_of_the_labels(tmp_path, args):
    X, y = friedman()
    text = lines_of(X, y)
    (tmp_path / "data").write_text(text)
    train(tmp_path, "data", "-f", "model", "--names", *args.split())
    call(tmp_path, "inspect", "model", "--json", "facts", "--readable_model", "text")
    facts = json.loads((tmp_path / "facts").read_bytes())
    model = vwlite.load(str(tmp_path / "model"))
    assert (facts["label_units"], facts["options"].get("label_units")) == ("spread", None)
    assert facts["label_mean"] == pytest.approx(y.mean(), abs=y.std())
    assert facts["label_spread"] == pytest.approx(y.std(), rel=0.2)
    weights = {entry["name"]: entry["weight"] for entry in facts["top"]}
    sums = X.round(6) @ [weights[f"f^x{place}"] for place in range(10)] + weights["Constant"]
    np.testing.assert_allclose(sums, model.predict(text, raw=True), rtol=1e-4)
    slot = model.slot("x3", "f")
    assert model.weights[slot] == np.float32(weights["f^x3"])
    assert f"\n{slot}:{weights['f^x3']:g} " in (tmp_path / "text").read_text()
    for terms, value in zip(model.explain(text), model.predict(text, raw=True), strict=True):
        assert sum(term.product for term in terms) == pytest.approx(value, rel=1e-5)
        assert {term.name: np.float32(term.weight) for term in terms} == {
            name: np.float32(weight) for name, weight in weights.items()
        }


def test_predictions_and_losses_of_tiny_labels_have_digits(tmp_path):
    X, y = friedman()
    (tmp_path / "data").write_text(lines_of(X, y * 1e-6))
    stderr = train(tmp_path, "data", "-f", "model", "-p", "first").stderr
    lines = call(tmp_path, "predict", "-i", "model", "data").stdout.split()
    model = vwlite.load(str(tmp_path / "model"))
    assert [np.float32(line) for line in lines] == model.predict(tmp_path / "data").tolist()
    assert len({*(tmp_path / "first").read_text().split()}) > 350
    losses = dict(line.split(" = ") for line in stderr.splitlines() if " = " in line)
    assert float(losses["best constant's loss"]) == pytest.approx(y.var() * 1e-12, rel=1e-4)
    assert 0 < float(losses["average loss"]) < y.var() * 1e-12
    for options in (["--with-labels"], ["--importance-to", "1e-05"]):
        pairs = [
            line.split() for line in call(tmp_path, "predict", "-i", "model", "data", *options).stdout.splitlines()
        ]
        assert [pair[0] for pair in pairs] == lines and len({pair[1] for pair in pairs}) > 60
    assert call(tmp_path, "predict", "-i", "model", "data", "--audit").stdout.splitlines()[::2] == lines
    train(tmp_path, "data", "-f", "model", *RAW)
    assert {*map(len, call(tmp_path, "predict", "-i", "model", "data").stdout.split())} <= {len("0.000001"), 1}


def test_predictions_of_tiny_labels_by_adaptive_dyads_have_digits(tmp_path):
    (tmp_path / "data").write_text("".join(f"{1 + n % 3}e-9 |u u{n % 5} |i i{n % 3}\n" for n in range(30)))
    train(tmp_path, "data", "-f", "model", "--dotproduct", "u,i", "--dot-rates", "adaptive", "-b", "8")
    lines = call(tmp_path, "predict", "-i", "model", "data").stdout.split()
    assert [np.float32(line) for line in lines] == vwlite.load(str(tmp_path / "model")).predict(
        tmp_path / "data"
    ).tolist()


def test_the_summary_tells_of_the_labels(tmp_path):
    (tmp_path / "data").write_text(lines_of(*friedman()))
    lines = train(tmp_path, "data", "-f", "model").stderr.splitlines()
    facts = vwlite.load(str(tmp_path / "model"))._learner
    assert f"labels: mean {facts.label_mean:.6g}, spread {facts.spread:.6g}" in lines
    assert "labels:" not in train(tmp_path, "data", "-f", "raw", *RAW).stderr


def test_vw_learns_labels_as_they_are(tmp_path):
    (tmp_path / "data").write_text(lines_of(*friedman()))
    call(tmp_path, "vw", "data", "-p", "vw", "--quiet")
    train(tmp_path, "data", "-f", "model", "-p", "raw", *RAW, "--quiet")
    assert (tmp_path / "vw").read_bytes() == (tmp_path / "raw").read_bytes()
    call(tmp_path, "vw", "data", "--label-units", "spread", status=1)
    train(tmp_path, "data", "-f", "model")
    for testing in ([], ["-t"]):
        done = call(tmp_path, "vw", "data", "-i", "model", *testing, status=1)
        assert "--label-units spread is none of vw's options" in done.stdout


def test_shards_that_go_on_with_lbfgs_have_raw_labels(tmp_path):
    (tmp_path / "data").write_text(lines_of(*friedman()))
    shards = ("--workers", "1", "--shards", "2", "--rounds", "1", "--then-bfgs", "2")
    train(tmp_path, "data", "-f", "model", *shards)
    train(tmp_path, "data", "-f", "raw", *shards, *RAW)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "raw").read_bytes()
    done = train(tmp_path, "data", "-f", "no", *shards, "--label-units", "spread", status=2)
    assert "--label-units spread does not go with --bfgs" in done.stderr


def test_confidence_needs_labels_as_they_are(tmp_path):
    (tmp_path / "data").write_text(lines_of(*friedman()))
    train(tmp_path, "data", "-f", "model")
    done = call(tmp_path, "predict", "-i", "model", "data", "--confidence", status=None)
    assert done.status == 2
    assert "--label-units raw" in done.stderr


def test_frozen_parts_keep_what_they_are_worth(tmp_path):
    X, y = friedman()
    (tmp_path / "data").write_text(lines_of(X, y))
    (tmp_path / "other").write_text(lines_of(X, 3 * y + 50))
    train(tmp_path, "data", "-f", "model")
    call(tmp_path, "train", "other", "-i", "model", "-f", "frozen", "--freeze", "f")
    before, after = (vwlite.load(str(tmp_path / name)) for name in ("model", "frozen"))
    names = [f"x{place}" for place in range(10)]
    np.testing.assert_array_equal(before.coefficients(names, "f"), after.coefficients(names, "f"))
    assert after.weights.sum() != before.weights.sum()


PASSES = ("--passes", "3", "--holdout_off", "-c", "-k")


def learned(folder, X, y, *options):
    (folder / "data").write_text(lines_of(X, y))
    train(folder, "data", "-f", "model", *options)
    return vwlite.load(str(folder / "model"))


@pytest.mark.parametrize("options", ["", "--loss_function quantile --quantile_tau 0.3", "-q ff --l1 1e-5 --l2 1e-5"])
def test_scale_and_offset_of_the_labels_do_not_matter_to_train(options, tmp_path):
    X, y = friedman(1000)
    y = np.round(y)  # so that text has them exactly
    test, options = lines_of(X[::3], y[::3]), [*options.split(), *PASSES]
    plain = learned(tmp_path, X, y, *options)
    expected = np.asarray(plain.predict(test), float)
    actual = learned(tmp_path, X, y * 2.0**20, *options)
    np.testing.assert_array_equal(actual.weights, plain.weights * np.float32(2.0**20))
    np.testing.assert_array_equal(actual.predict(test), (expected * 2.0**20).astype(np.float32))
    for factor, offset, within in ((1e6, 0, 1e-5), (1e-6, 0, 1e-5), (1, 1000, 1e-3)):
        actual = learned(tmp_path, X, (y + offset * y.std()) * factor, *options)
        again = np.asarray(actual.predict(test), float) / factor - offset * y.std()
        np.testing.assert_allclose(again, expected, atol=5 * within * y.std())


@pytest.mark.parametrize("row", [0, 5, 100])
def test_a_label_far_off_costs_a_trained_model_little(row, tmp_path):
    X, y = friedman(5000)
    spoiled = y.copy()
    spoiled[row] += 1e3 * y.std()
    rest = lines_of(X[4000:], y[4000:])
    clean, actual = (learned(tmp_path, X[:4000], labels[:4000]).evaluate(rest)["rmse"] for labels in (y, spoiled))
    assert actual <= 1.03 * clean


def test_labels_that_are_nearly_all_equal(tmp_path):
    X, _ = friedman(5000)
    model = learned(tmp_path, X, np.full(5000, 3930.5))
    assert (np.asarray(model.predict(lines_of(X[:9], np.zeros(9)))) == 3930.5).all()
    few = np.where(np.arange(5000) % 500 == 250, 3931.5, 3930.5)
    actual = learned(tmp_path, X, few).evaluate(lines_of(X, few))["rmse"]
    assert actual <= 1.005 * few.std()
