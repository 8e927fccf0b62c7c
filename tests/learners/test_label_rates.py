"""Rates of their own for vectors and weights of labels: beside a plain twin, and the laws they keep."""

import zipfile
from copy import copy
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from oracle.dyadic import merged
from oracle.label_rates import LabelRates
from oracle.lfl_case import LflCase
from vwlite._native.dyadic import read_vectors

import vwlite
from vwlite.errors import UsageError
from vwlite.learners.configs.label_vectors import LflConfig
from vwlite.learners.losses import LossConfig

RATES = {"dot_rates": "adaptive", "dot_l2": 0.35, "linear_l2": 0.1}


def lines(count, seed=1, values=True):
    draw = np.random.default_rng(seed)
    for label, u, i, x in zip(*draw.integers((1, 0, 0, 1), (4, 4, 4, 9), (count, 4)).T, strict=True):
        number = f":{x / 4}" if values else ""
        yield f"{label} {0.5 + x / 4 if values else 1} |a u{u}{number} |b i{i} g{i % 2}{number}"


def test_row_by_row_as_the_twin():
    case = LflCase(3, rank=2, learning_rate=0.3, **RATES)
    twin = LabelRates(3, 2, 0.3, 0.35, 0.1, 0.25, partial(start_vectors, case))
    for line in lines(40):
        row, (label, weight) = case.row(line), line.split()[:2]
        linear, sides = merged(row.linear), [merged(one) for one in row.pairs[0]]
        expected = twin.scores(linear, sides)
        case.run(line)
        np.testing.assert_allclose(case.learner.raw[0], expected, rtol=2e-5, atol=2e-5)
        twin.learn(linear, sides, int(label) - 1, float(weight), steps=40)


def start_vectors(case, side, slot):
    """float64[3, 2] of a feature that was never updated: of all labels one vector, as of a dyadic model of rank 6."""
    table = [[np.zeros((1 << 7, 8), np.float32) for _ in range(2)]]
    untouched = SimpleNamespace(learning=True, weights=np.zeros((1 << 7, 1), np.float32), latent=table)
    kernel, result = copy(case.learner.kernel), np.zeros((1, 6), np.float32)
    kernel.rank = 6
    read_vectors(untouched, kernel, (0, side), np.array([slot], np.uint32), result)
    return result.reshape(3, 2).astype(float)


@pytest.mark.parametrize("base", [None, "2"])
def test_the_label_becomes_more_probable_and_weights_of_the_base_stand(base):
    case = LflCase(4, rank=3, base_label=base, **{**RATES, "dot_l2": 0.0, "linear_l2": 0.0})
    case.run("\n".join(lines(50)))
    for weight in (0.1, 10.0, 1e5):
        before = case.scores("1 |a u1 |b i1 g1")[0].astype(float)
        case.run(f"3 {weight} |a u1 |b i1 g1")
        after = case.scores("1 |a u1 |b i1 g1")[0].astype(float)
        share = [np.exp(z[2]) / np.exp(z).sum() for z in (before, after)]
        assert np.isfinite(after).all() and share[1] >= share[0] * (1 - 1e-5)
    assert base is None or not case.linear[:, 1].any()


def test_the_scale_of_a_namespace_does_not_matter():
    one, other = LflCase(3, rank=2, **RATES), LflCase(3, rank=2, **RATES)
    for line in lines(60):
        one.run(line)
        scaled = [f"{w.split(':')[0]}:{float(w.split(':')[1]) * 1024}" if w[0] == "u" else w for w in line.split()]
        other.run(" ".join(scaled))
    message = "1 |a u1:{} |b i1 g1:0.5"
    np.testing.assert_allclose(one.scores(message.format(0.5)), other.scores(message.format(512)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("freeze", [("latent",), ("a",), ("linear",)], ids=str)
def test_what_is_frozen_stands(freeze):
    case = LflCase(3, rank=2, freeze=freeze, **RATES)
    case.fill(np.random.default_rng(1), 0.3)
    old = [case.linear.copy(), *(case.vectors(0, side)[0].copy() for side in range(2))]
    case.run("2 |a u1 |b i1 g1")
    stands = ["linear" in freeze, "latent" in freeze or "a" in freeze, "latent" in freeze]
    now = [case.linear, *(case.vectors(0, side)[0] for side in range(2))]
    assert [np.array_equal(a, b) for a, b in zip(old, now, strict=True)] == stands


def test_going_on_is_as_in_one_go_and_the_rule_is_kept(tmp_path):
    text = [f"{line}\n" for line in lines(80)]
    options = {"multiclass": 3, "dotproduct": ["a,b"], "rank": 2, "bits": 9}
    saved = []
    for cuts in ([0, 80], [0, 31, 80]):
        model = vwlite.Model(**options)
        for begin, end in pairwise(cuts):
            model.learn(text[begin:end])
            model.save(tmp_path / "m")
            model = vwlite.Model.load(tmp_path / "m")
        with zipfile.ZipFile(tmp_path / "m") as archive:
            saved.append([archive.read(name) for name in archive.namelist() if name != "header.json"])
    assert saved[0] == saved[1]
    with pytest.raises(UsageError, match="--dot-rates global contradicts"):
        vwlite.Model.load(tmp_path / "m", dot_rates="global")


def test_the_rate_falls_over_the_passes():
    case = LflCase(3, rank=2, learning_rate=0.3, **RATES)
    case.learner.watch(4, print, lambda: None)
    actual = []
    for _ in range(5):
        actual.append(case.learner.get("rate"))
        case.learner.end_pass()
    np.testing.assert_allclose(actual, 0.3 * np.sqrt([1, 0.75, 0.5, 0.25, 1]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"first_pass_t": 9.0}, "--dot-first-t does not go with rates that are adaptive"),
        ({"power_t": 0.5}, "--power_t does not go with"),
        ({"dot_rates": "adaptive", "lfl_loss": "mse"}, "--lfl-loss mse does not go with"),
    ],
)
def test_what_is_for_a_global_rate(options, said):
    with pytest.raises(UsageError, match=said):
        LflConfig(LossConfig("logistic"), multiclass=3, **options)


def test_more_importance_teaches_more_and_whole_importance_as_rows_of_one():
    """Decay undid a step of great importance."""
    shares = []
    for text in ("1 {} |a u |b i", "1 |a u |b i\n" * 10):
        for importance in (1, 10, 100, 1000) if "{}" in text else (1,):
            case = LflCase(3, rank=2, learning_rate=0.3, **RATES)
            case.run(text.format(importance))
            scores = case.scores("1 |a u |b i")[0].astype(float)
            shares.append(np.exp(scores[0]) / np.exp(scores).sum())
    assert shares[0] < shares[1] < shares[2] and min(shares[2:4]) > 0.9  # where decay holds it
    assert shares[1] == pytest.approx(shares[4], abs=0.03)
