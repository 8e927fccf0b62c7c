"""Rates of their own for vectors and weights of dyadic models: beside a plain twin, and the laws they keep."""

import zipfile
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from oracle.dyadic_case import LOSSES, Case
from oracle.dyadic_rates import DyadicRates
from vwlite._native.dyadic import read_vectors

import vwlite
from vwlite.errors import UsageError
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.trees import FilterTreeConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.trees import FilterTree

RATES = {"dot_rates": "adaptive", "first_pass_t": None, "dot_l2": None, "rank": 2}


def lines(count, seed=1, labels=(1, 2, 4, 5)):
    draw = np.random.default_rng(seed)
    for label, u, i, x in zip(*draw.integers((0, 0, 0, 1), (len(labels), 4, 4, 9), (count, 4)).T, strict=True):
        yield f"{labels[label]} {x / 8} |a u{u}:{x / 4} |b i{i} g{i % 2}:{x / 4}"


def start_values(case):
    """Of an element of a vector that was never updated."""
    table = [[np.zeros((1 << 8, 8), np.float32) for _ in range(2)]]
    learner = SimpleNamespace(learning=True, weights=case.learner.weights, latent=table, scalars=np.zeros(12))

    def start(pair, side, slot, element):
        result = np.zeros((1, 2), np.float32)
        read_vectors(learner, case.learner.kernel, (pair, side), np.array([slot], np.uint32), result)
        return float(result[0, element])

    return start


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_row_by_row_as_the_twin(loss):
    case = Case(loss, learning_rate=0.5, dot_pass_l2=4.0, dot_init=0.5, **RATES)
    case.set_range()
    twin = DyadicRates(2, LOSSES[loss], start_values(case), 0.5, case.learner.config.decay, pass_l2=4.0)
    case.learner.watch(2, print, lambda: None)
    for number in range(2):
        twin.pass_number, twin.rate = number, case.learner.get("rate")
        for line in lines(25, labels=(1, 2, 4, 5) if loss == "squared" else (-1, 1)):
            label, weight = map(float, line.split()[:2])
            p = twin.learn(case.row(line), label, weight)
            assert case.run(line).raw[0] == pytest.approx(p, rel=5e-5, abs=5e-5)
        case.learner.end_pass()


@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_scales_of_labels_and_of_a_namespace_do_not_matter(loss):
    one, labels, namespace = (Case(loss, **RATES) for _ in range(3))
    for case in (one, labels, namespace):
        case.set_range()
    for line in lines(60):
        label, rest = line.split(" ", 1)
        one.run(line)
        labels.run(f"{float(label) * 1024} {rest}")
        namespace.run(" ".join(f"{w[:3]}{float(w[3:]) * 1024}" if w[0] == "u" else w for w in line.split()))
    expected = one.predict("|a u1:0.5 |b i1 g1:0.5")
    np.testing.assert_allclose(labels.predict("|a u1:0.5 |b i1 g1:0.5"), expected * 1024, rtol=1e-4)
    np.testing.assert_allclose(namespace.predict("|a u1:512 |b i1 g1:0.5"), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("loss", ["quantile", "hinge", "squared"])
def test_no_label_is_passed_whatever_the_importance(loss):
    case = Case(loss, **{**RATES, "dot_l2": 0.0})
    case.set_range()
    signs = (-1, 1) if loss == "hinge" else (1, 2, 4, 5)
    case.run("\n".join(lines(50, labels=signs)))
    for importance in (0.1, 10.0, 1e5):
        before = case.predict("|a u1 |b i1 g1")[0]
        case.run(f"1 {importance} |a u1 |b i1 g1")
        after = case.predict("|a u1 |b i1 g1")[0]
        assert abs(after - 1) <= abs(before - 1) + 1e-5 and (after - 1) * (before - 1) >= -1e-5


@pytest.mark.parametrize("text", ["0 |a u |b i", "3 |a u |b i\n3 |a u |b i", "0 0 |a u |b i\n-2 |a u |b i"])
def test_labels_without_a_spread(text):
    case = Case("squared", **RATES)
    assert np.isfinite(case.run(text).raw).all() and np.isfinite(case.predict("|a u |b i")).all()


def test_sums_of_squares_beyond_single_precision_end_no_run():
    case = Case("squared", **RATES)
    for line in lines(300, labels=(1e13, 2e13, 4e13, 5e13)):
        p = case.run(line).raw[0]
        assert np.isfinite(p)
    assert all(np.isfinite(table).all() for table in (case.learner.rates, *case.learner.latent[0]))
    assert case.predict("5e13 |a u1 |b i1")[0] == pytest.approx(3e13, rel=0.6)


@pytest.mark.parametrize("freeze", [("latent",), ("a",), ("linear",)], ids=str)
def test_what_is_frozen_stands(freeze):
    case = Case("squared", freeze=freeze, **RATES)
    case.fill(np.random.default_rng(1), 0.3)
    tables = [case.learner.weights, *(side[:, :2] for side in case.learner.latent[0])]
    old = [table.copy() for table in tables]
    case.run("2 |a u1 |b i1 g1")
    stands = ["linear" in freeze, "latent" in freeze or "a" in freeze, "latent" in freeze]
    assert [np.array_equal(a, b) for a, b in zip(old, tables, strict=True)] == stands


def test_going_on_is_as_in_one_go_and_the_rule_is_kept(tmp_path):
    text, saved = [f"{line}\n" for line in lines(80)], []
    for cuts in ([0, 80], [0, 31, 80]):
        model = vwlite.Model(dotproduct=["a,b"], rank=2, bits=9, dot_rates="adaptive")
        for begin, end in pairwise(cuts):
            model.learn(text[begin:end])
            model.save(tmp_path / "m")
            model = vwlite.Model.load(tmp_path / "m")
        with zipfile.ZipFile(tmp_path / "m") as archive:
            saved.append([archive.read(name) for name in archive.namelist() if name != "header.json"])
    assert saved[0] == saved[1]
    with pytest.raises(UsageError, match="--dot-rates global contradicts"):
        vwlite.Model.load(tmp_path / "m", dot_rates="global")


@pytest.mark.parametrize("sums", [{}, [[1, {}]], [1, 2], [["nan", 1]], [[-1, 1]], None])
def test_damaged_sums_are_refused(sums):
    learner = Case("squared", **RATES).learner
    with pytest.raises(ValueError, match="sums of adaptive rates are"):
        learner.take_header({"side_squares": sums}, True)


def test_nodes_of_a_tree_know_how_many_passes_there_are():
    base = DyadicConfig(LossConfig("hinge"), dot_rates="adaptive")
    tree = FilterTree(FilterTreeConfig(loss=LossConfig("hinge"), filter_tree=3, base=base, pairs=1), 8)
    tree.watch(4, print, lambda: None)
    tree.end_pass()
    assert [node.get("rate") for node in tree.nodes] == pytest.approx([0.5 * 0.75**0.5] * 2)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dot_rates": "adaptive", "first_pass_t": 9.0}, "--dot-first-t does not go with rates that are adaptive"),
        ({"dot_rates": "adaptive", "power_t": 0.5}, "--power_t does not go with"),
        ({"dot_rates": "global", "dot_pass_l2": 1.0}, "--dot-pass-l2 is for rates that are adaptive"),
    ],
)
def test_what_is_for_other_rates(options, said):
    with pytest.raises(UsageError, match=said):
        DyadicConfig(LossConfig("squared"), **options)
