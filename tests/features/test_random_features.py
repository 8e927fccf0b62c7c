"""Random features: against their plain twin, and against the kernels that their dot products stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.random_features import features as twin

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import KERNELS, FeatureConfig
from vwlite.features.feature_names import term_names
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.gamma import find_gamma
from vwlite.features.term_weights import terms_of, terms_of_row
from vwlite.solvers.row_solver import MemoryRows
from vwlite.training.model_loader import plan_of

LINES = "1 |a x y:2 |b z\n-1 |b z:0.5 |c w\n1 |a x\n0 | 3 \n"


def parsed(lines, config, names=False):
    return parse_text(lines.encode(), text_format(config, skip_malformed=True, names=names))


def numbers_of(matrix):
    rows = (" ".join(f"{column}:{value:.9g}" for column, value in enumerate(row)) for row in matrix)
    return "".join(f"1 | {row}\n" for row in rows)


def mapped(matrix, kernel, size, gamma=None, **more):
    """float64[rows, size]: the random features of the rows of a matrix."""
    config = FeatureConfig(random_features=f"{kernel}:{size}", gamma=gamma, random_only=True, noconstant=True, **more)
    terms = terms_of(parsed(numbers_of(matrix), config), Plan(config))
    return terms.values.reshape(len(matrix), size).astype(np.float64)


def split(lines, config):
    """Of each row the terms before the random features, and these: pairs of slots and values."""
    plan = Plan(config)
    terms = terms_of(parsed(lines, config), plan)
    pairs = list(zip(terms.indices.tolist(), terms.values.tolist(), strict=True))
    rows = [pairs[terms.row(row)] for row in range(len(terms))]
    return [row[: -plan.random.size] for row in rows], [row[-plan.random.size :] for row in rows]


ROWS = st.lists(
    st.lists(st.tuples(st.sampled_from(["a", "b", "7", "63", "64", "200"]), st.floats(-3, 3, width=16)), max_size=5),
    min_size=1,
    max_size=3,
)


@given(
    ROWS,
    st.sampled_from(KERNELS),
    st.sampled_from([64, 192]),
    st.sampled_from([64, 128]),
    st.sampled_from([0, 5]),
    st.sampled_from([(), ("::",)]),
    st.booleans(),
)
@settings(deadline=None, max_examples=30)
def test_features_are_those_of_the_twin(rows, kernel, size, fold, seed, quadratic, noconstant):
    gamma = 0.3 if kernel in ("rbf", "laplace") else None
    lines = "".join(f"1 |w {' '.join(f'{name}:{value:.6g}' for name, value in row)}\n" for row in rows)
    config = FeatureConfig(
        random_features=f"{kernel}:{size}",
        gamma=gamma,
        fold=fold,
        hash_seed=seed,
        quadratic=quadratic,
        noconstant=noconstant,
        bits=12,
    )
    plain, random = split(lines, config)
    for before, actual in zip(plain, random, strict=True):
        terms = [term for term in before if term != (11650396 % 2**12, 1.0)] if not noconstant else before
        expected = twin(terms, kernel, size, gamma=gamma or 1.0, fold=fold, seed=seed)
        values = np.array([value for _, value in actual], np.float32)
        if kernel == "laplace":  # the twin's directions are made by another tangent
            assert values == pytest.approx(expected, abs=2e-3)
        else:
            assert values.tolist() == expected.tolist()
        slots = [slot for slot, _ in actual]
        assert slots == [(slots[0] + j) % 2**12 for j in range(size)]


SETS = {"rbf": 0.5, "laplace": 0.1, "poly2": None, "poly3": None, "arccos": None}


def kernel_matrix(x, kernel, gamma):
    products, gaps = x @ x.T, x[:, None] - x[None]
    if kernel == "rbf":
        return np.exp(-gamma * (gaps**2).sum(axis=2))
    if kernel == "laplace":
        return np.exp(-gamma * np.abs(gaps).sum(axis=2))
    if kernel == "arccos":
        lengths = np.sqrt(np.outer(np.diag(products), np.diag(products)))
        angle = np.arccos(np.clip(products / lengths, -1, 1))
        return lengths / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    return products ** int(kernel[4:])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("size", [256, 2048])
def test_dot_products_are_about_those_of_the_kernel(kernel, size):
    """Over 10,000 pairs the mean error is at most 1.1 / sqrt(D): that of D independent directions, or less."""
    x = np.random.default_rng(3).normal(size=(142, 40))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    z = mapped(x, kernel, size, SETS[kernel])
    above = np.triu_indices(len(x), 1)
    error = np.abs(z @ z.T - kernel_matrix(x, kernel, SETS[kernel]))[above]
    assert len(error) > 10_000
    assert error.mean() <= 1.1 / np.sqrt(size)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_estimate_has_no_bias(kernel):
    """The mean over 60 seeds is nearer than any one."""
    x = np.random.default_rng(4).normal(size=(12, 6)) / 2
    kernels = [z @ z.T for z in (mapped(x, kernel, 64, SETS[kernel], fold=64, hash_seed=s) for s in range(60))]
    expected = kernel_matrix(x, kernel, SETS[kernel])
    one = np.mean([np.abs(k - expected).mean() for k in kernels])
    assert np.abs(np.mean(kernels, axis=0) - expected).mean() < one / 4


@given(st.lists(st.floats(-100, 100, width=32), min_size=3, max_size=3), st.integers(0, 20))
@settings(deadline=None, max_examples=15)
def test_features_of_rbf_tell_distances_only(shift, seed):
    x = np.random.default_rng(seed).normal(size=(6, 3))
    plain, moved = (mapped(rows, "rbf", 4096, 0.2) for rows in (x, x + np.array(shift)))
    assert np.abs(plain @ plain.T - moved @ moved.T).max() < 0.2


def test_polynomials_of_sparse_text_are_crossed_features():
    """Of unit vectors of different slots most sketches are orthogonal, of the same ones the product is 1."""
    z = mapped(np.eye(20), "poly2", 4096)
    products = z @ z.T
    assert (products == np.eye(20)).mean() > 0.98
    assert np.diag(products).tolist() == [1] * 20


A, B, CROSSED, BOTH = ["a^x", "a^y"], ["b^z"], ["a^x*b^z", "a^y*b^z"], ("ab",)


@pytest.mark.parametrize(
    ("options", "kept", "sources"),
    [
        ({}, [*A, *B, "Constant"], 3),
        ({"quadratic": BOTH}, [*A, *B, "Constant", *CROSSED], 5),
        ({"random_only": True}, ["Constant"], 3),
        ({"random_only": True, "quadratic": BOTH}, ["Constant"], 5),
        ({"random_only": True, "noconstant": True}, [], 3),
        ({"random_of": ("a",)}, [*A, *B, "Constant"], 2),
        ({"random_of": ("a",), "quadratic": BOTH}, [*A, *B, "Constant", *CROSSED], 2),
        ({"random_of": ("a",), "random_only": True}, [*B, "Constant"], 2),
        ({"random_of": ("b",), "random_only": True, "quadratic": BOTH}, [*A, "Constant", *CROSSED], 1),
        ({"random_of": ("ab",), "random_only": True, "noconstant": True}, [], 3),
        ({"random_of": ("a",), "random_only": True, "ignore_linear": ("a",)}, [*B, "Constant"], 2),
        ({"ignore": ("a",)}, [*B, "Constant"], 1),
    ],
)
def test_what_is_mapped_and_what_stays(options, kept, sources):
    """``kept``: names of the other terms. ``sources``: how many terms the random features are made from."""
    line = "1 |a x y:2 |b z\n"
    config = FeatureConfig(random_features="rbf:64", gamma=0.1, **options)
    plan, batch = Plan(config), parsed(line, config, names=True)
    slots, values, count, _ = terms_of_row(batch, plan, 0)
    names = term_names(batch, plan, 0)
    assert names == [*kept, *(f"rbf^{number}" for number in range(64))]
    assert len(slots) == len(values) == 4 * len(names)
    assert count == len(names) + (2 if "ignore_linear" in options else 0)  # as vw counts them
    plain = {"random_features": "", "gamma": None, "random_only": False, "random_of": (), "noconstant": True}
    alone = {"keep": options["random_of"], "quadratic": (), "ignore_linear": ()} if "random_of" in options else {}
    source = FeatureConfig(**{**options, **plain, **alone})
    terms = terms_of(parsed(line, source), Plan(source))
    assert len(terms.values) == sources
    expected = twin(list(zip(terms.indices.tolist(), terms.values.tolist(), strict=True)), "rbf", 64, gamma=0.1)
    assert np.frombuffer(values, np.float32)[-64:].tolist() == expected.tolist()


def test_random_features_are_those_of_the_numbers_of_a_namespace():
    """The slot of ``rbf^5`` is that of the feature 5 of a namespace of this name in the text."""
    config = FeatureConfig(random_features="rbf:64", gamma=1.0, random_only=True, noconstant=True)
    slots = terms_of(parsed("1 |a x\n", config), Plan(config)).indices
    assert slots[5] == terms_of(parsed("1 |rbf 5\n", FeatureConfig()), Plan(FeatureConfig(noconstant=True))).indices[0]


def test_gamma_is_one_over_the_median_squared_distance():
    x = np.random.default_rng(0).normal(size=(300, 5))
    config = FeatureConfig(random_features="rbf:64")
    plan = Plan(config)
    assert plan.random.waiting
    find_gamma(plan, [parsed(numbers_of(x), config)])
    gaps = ((x[:, None] - x[None]) ** 2).sum(axis=2)[np.triu_indices(300, 1)]
    assert plan.random.gamma == pytest.approx(1 / np.median(gaps), rel=0.1)
    assert not plan.random.waiting


def test_gamma_does_not_depend_on_how_rows_are_batched():
    x = np.random.default_rng(1).normal(size=(2500, 3))
    config = FeatureConfig(random_features="laplace:64", unit=True)
    actual = []
    for size in (2500, 700, 64):
        plan = plan_of(config)
        parts = (numbers_of(x[begin : begin + size]) for begin in range(0, len(x), size))
        find_gamma(plan, (parsed(part, config) for part in parts))
        actual.append(plan.random.gamma)
    assert actual[0] == actual[1] == actual[2]


@pytest.mark.parametrize("lines", ["", "1 | \n", "1 | 5\n1 | 5\n", "1 | 5:1e-30\n1 | 5\n"])
def test_gamma_of_next_to_nothing_is_a_positive_number(lines):
    config = FeatureConfig(random_features="rbf:64")
    plan = Plan(config)
    find_gamma(plan, [parsed(lines, config)])
    assert 0 < plan.random.gamma < np.inf


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"random_features": "rfb:64"}, "did you mean rbf"),
        ({"random_features": "rbf"}, "KERNEL:D"),
        ({"random_features": "rbf:0"}, "KERNEL:D"),
        ({"random_features": "rbf:-5"}, "KERNEL:D"),
        ({"random_features": "rbf:99999999"}, "KERNEL:D"),
        ({"random_features": "rbf:4096", "bits": 10}, "give a larger -b"),
        ({"random_features": "rbf:64", "gamma": 0.0}, "above 0"),
        ({"random_features": "rbf:64", "gamma": -1.0}, "above 0"),
        ({"random_features": "poly2:64", "gamma": 1.0}, "--gamma does nothing with"),
        ({"gamma": 1.0}, "--gamma does nothing without"),
        ({"random_features": "rbf:64", "fold": 100}, "power of two"),
        ({"random_features": "rbf:64", "fold": 32}, "64 to 65536"),
        ({"random_features": "laplace:131072"}, "D times --fold"),
        ({"random_features": "rbf:64", "unit": True, "random_of": ("a",)}, "leave no namespaces"),
        ({"random_features": "rbf:64", "random_only": True, "dotproduct": ("ab",)}, "no features for --dotproduct"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(UsageError, match=said):
        FeatureConfig(**options)


def test_other_models_say_nothing_of_random_features():
    assert not {"random_features", "gamma", "fold"} & set(FeatureConfig().header())
    header = FeatureConfig(random_features="rbf:64", fold=128).header()
    assert (header["random_features"], header["fold"], "gamma" in header) == ("rbf:64", 128, False)


def test_projections_of_huge_values_are_finite():
    for kernel in ("rbf", "laplace"):
        assert np.isfinite(mapped(np.array([[1e38, -1e38, 3e38]]), kernel, 64, 1.0)).all()


def test_components_are_those_of_the_random_features():
    """``vwlite pca`` takes its rows from them."""
    config = FeatureConfig(random_features="rbf:64", gamma=0.2, random_only=True, noconstant=True, unit=True)
    source = MemoryRows(config, [], [])
    terms = source.part(parsed(LINES, config)).terms
    assert terms.sizes.tolist() == [64] * 4
