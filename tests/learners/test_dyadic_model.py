"""Dyadic models around the update: start values, namespaces, positional pairs, batches, files."""

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.dyadic import Dyadic as Twin
from oracle.dyadic_case import LOSSES, Case, parse

from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.model_loader import start
from vwlite.training.predict import predict
from vwlite.training.train import train

RATINGS = "".join(
    f"{1 + (3 * u + 5 * i) % 5} '{u}-{i} |u {u} |i {i} g{i % 3}:0.5\n" for u in range(9) for i in range(7)
)


def start_values(slots, **options):
    """float32[slots, rank] start values of both sides of the first pair, as a step of next to nothing stores them."""
    case = Case("squared", bits=8, learning_rate=1e-30, noconstant=True, **options)
    case.run("".join(f"9 |a {slot} |b {slot}\n" for slot in range(slots)))
    a, b = int(parse("|a 0").feature_hash[0]), int(parse("|b 0").feature_hash[0])
    at = np.arange(slots)
    left, right = case.learner.latent[0]
    return left[(a + at) & 255, : case.learner.rank], right[(b + at) & 255, : case.learner.rank]


def test_start_values_are_uniform_or_normal_of_the_given_scale():
    for kind, spread in (("uniform", 0.3 / 3**0.5), ("normal", 0.3)):
        values = np.concatenate(start_values(250, rank=16, dot_init=0.3, dot_init_kind=kind)).ravel()
        assert values.mean() == pytest.approx(0, abs=0.02)
        assert values.std() == pytest.approx(spread, rel=0.05)
        assert len(np.unique(values)) > 0.99 * len(values)
        assert (np.abs(values).max() <= 0.3) == (kind == "uniform")


def test_start_values_differ_by_side_and_seed_and_scale_with_dot_init():
    left, right = start_values(50, rank=4)
    other, _ = start_values(50, rank=4, random_seed=1)
    wider, _ = start_values(50, rank=4, dot_init=0.1)
    assert not np.any(left == right)
    assert not np.any(left == other)
    np.testing.assert_allclose(wider, 2 * left, rtol=1e-6)


def test_start_values_depend_neither_on_rank_nor_on_order():
    narrow, _ = start_values(50, rank=2, dot_init=0.1)
    wide, _ = start_values(50, rank=7, dot_init=0.1)
    assert np.array_equal(narrow, wide[:, :2])
    few, _ = start_values(20, rank=2, dot_init=0.1)
    assert np.array_equal(narrow[:20], few)


def test_the_first_update_starts_from_the_start_values():
    left, right = start_values(1, rank=3)
    case = Case("squared", rank=3, learning_rate=0.1, noconstant=True, no_dot_linear=True)
    case.set_range()
    case.run("5 2 |a 0:2 |b 0")
    row = case.row("|a 0:2 |b 0")
    values = {(0, 0): left[0], (0, 1): right[0]}
    twin = Twin(3, LOSSES["squared"], lambda pair, side, slot, j: float(values[pair, side][j]), 0.1)
    twin.learn(row, 5.0, 2.0)
    np.testing.assert_allclose(case.parameters(row), case.twin_parameters(twin, row), rtol=2e-6)


def test_untouched_slots_stay_zero_and_out_of_the_model():
    case = Case("squared", bits=10)
    case.run("3 |a x y |b z\n|a u |b v\n3 0 |a u |b w\n3 |a p\n")
    left, right = case.learner.latent[0]
    assert (np.count_nonzero(left.any(axis=1)), np.count_nonzero(right.any(axis=1))) == (2, 1)
    slots, vectors = case.learner.factors(0, 0)
    assert sorted(slots.tolist()) == sorted(slot for slot, _ in case.row("|a x y |b z").pairs[0][0])
    assert vectors.shape == (2, 10)


def test_updates_are_counted():
    case = Case("squared", rank=2)
    case.run("3 |a x |b y\n3 |a x |b z\n4 |a x |b y\n")
    assert sorted(case.learner.latent[0][0][:, 2][case.learner.latent[0][0][:, 2] > 0]) == [3]
    assert sorted(case.learner.latent[0][1][:, 2][case.learner.latent[0][1][:, 2] > 0]) == [1, 2]


@pytest.mark.parametrize("text", ["|a x", "|b x", "|c x", "", "|a x:0 |b y"])
def test_a_pair_with_an_empty_side_adds_nothing(text):
    case = Case("squared")
    case.fill(np.random.default_rng(0))
    row, latent = case.row(text), [table.copy() for table in case.learner.latent[0]]
    linear = sum(case.learner.weights[slot, 0] * x for slot, x in row.linear)
    assert case.predict(text or "|")[0] == pytest.approx(linear, rel=1e-6)
    case.run(f"3 {text or '|'}")
    assert all(np.array_equal(old, new) for old, new in zip(latent, case.learner.latent[0], strict=True))


def test_letters_and_full_names():
    """A letter stands for all namespaces that begin with it, a full name for one."""
    by_letter, by_name = (Case("squared", (pair,), rank=2) for pair in ("ui", "user,item"))
    for case in (by_letter, by_name):
        case.fill(np.random.default_rng(0))
    plain, more = "|user x |item y", "|user x |item y |unit z |other w"
    assert by_letter.predict(plain)[0] == by_name.predict(plain)[0]
    difference = by_name.predict(more)[0] - by_name.predict(plain)[0]
    weights = {slot: by_name.learner.weights[slot, 0] for slot, _ in by_name.row("|unit z |other w").linear[:2]}
    assert difference == pytest.approx(sum(weights.values()), rel=1e-5)
    assert by_letter.predict(more)[0] - by_letter.predict(plain)[0] != pytest.approx(difference, rel=1e-3)


def test_a_namespace_in_two_pairs_has_vectors_for_each():
    case = Case("squared", ("ab", "ac"), rank=2, noconstant=True, no_dot_linear=True)
    case.run("5 |a x |b y |c z")
    assert len(case.learner.latent) == 2
    (first, _), (second, _) = case.learner.factors(0, 0), case.learner.factors(1, 0)
    assert first.tolist() == second.tolist()
    assert not np.array_equal(case.learner.factors(0, 0)[1], case.learner.factors(1, 0)[1])


def test_no_dot_linear_leaves_the_pairs_namespaces_without_linear_weights():
    with_linear, without = Case("squared"), Case("squared", no_dot_linear=True)
    for case in (with_linear, without):
        case.run("5 |a x |b y |c z")
    assert np.count_nonzero(with_linear.learner.weights) == 4
    touched = set(np.flatnonzero(without.learner.weights[:, 0]).tolist())
    assert touched == {slot for slot, _ in without.row("|c z").linear}


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=15)
@given(data=st.data())
def test_rank_0_pairs_features_by_position(loss, data):
    size, seed = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 99))
    rng = np.random.default_rng(seed)
    sides = [" ".join(f"{n}:{rng.uniform(0.2, 2):.3f}" for n in rng.permutation(20)[:size]) for _ in "ab"]
    case = Case(loss, rank=0, learning_rate=0.3)
    case.fill(rng, 0.5)
    case.set_range()
    line = f"1 2 |a {sides[0]} |b {sides[1]}"
    row, twin = case.row(line), case.twin()
    raw = case.run(line).raw[0]
    assert raw == pytest.approx(twin.learn(row, 1.0, 2.0), abs=2e-6)
    np.testing.assert_allclose(case.parameters(row), case.twin_parameters(twin, row), rtol=3e-6, atol=3e-7)


def test_rank_0_depends_on_the_order_in_the_line():
    case = Case("squared", rank=0, noconstant=True, no_dot_linear=True)
    case.fill(np.random.default_rng(0))
    assert case.predict("|a x y |b z w")[0] == pytest.approx(case.predict("|a y x |b w z")[0])
    assert case.predict("|a x y |b z w")[0] != pytest.approx(case.predict("|a y x |b z w")[0], rel=1e-3)


def test_rank_0_counts_lines_whose_sides_differ_in_length_and_learns_nothing_of_them():
    case = Case("squared", rank=0)
    case.fill(np.random.default_rng(0))
    old = case.learner.weights.copy()
    results = case.run("3 |a x y |b z\n3 |a x\n")
    assert case.learner.get("mismatched") == 2
    assert np.array_equal(case.learner.weights, old)
    assert results.prediction[:2].tolist() == [0, 0]


@pytest.mark.parametrize("line", ["3 |a x x |b z w", "3 |a x y |b w:2 w", "3 |a x y x:-1 |b u v w"])
def test_rank_0_predicts_a_line_that_repeats_a_feature_and_learns_nothing_of_it(line):
    case = Case("squared", rank=0, noconstant=True, no_dot_linear=True)
    case.fill(np.random.default_rng(0))
    old = [side.copy() for side in case.learner.latent[0]]
    results = case.run(line)
    assert case.learner.get("mismatched") == 1
    assert all(np.array_equal(*tables) for tables in zip(old, case.learner.latent[0], strict=True))
    assert results.raw[0] == pytest.approx(case.twin().predict(case.row(line)), rel=1e-6)
    assert "1 examples so far" in case.learner.warnings()[0]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_sizes_of_batches_do_not_matter(loss):
    text = RATINGS if loss not in ("hinge", "logistic") else RATINGS.replace("\n5", "\n-1").replace("\n4", "\n1")
    text = "".join(line for line in text.splitlines(True) if loss not in ("hinge", "logistic") or line[0] in "-1")
    rows = len(text.splitlines())
    made = []
    for sizes in ([rows], [1] * rows, [7] * (rows // 7 + 1), [2, rows]):
        case = Case(loss, ("ui",), rank=3, dot_l2=0.1)
        results = case.run(text, sizes)
        tables = (case.learner.weights, *case.learner.latent[0], case.learner.scalars)
        made.append([results.raw[:rows].tobytes(), *(table.tobytes() for table in tables)])
    assert made[1:] == made[:1] * 3


def test_predictions_are_those_made_before_learning():
    case = Case("quantile", ("ui",), rank=3)
    case.run(RATINGS)
    line = RATINGS.splitlines()[17]
    before = case.predict(line)[0]
    assert case.run(line).raw[0] == before
    assert case.predict(line)[0] != before


def test_held_out_rows_are_predicted_only():
    case, batch, results = Case("squared", ("ui",)), parse(RATINGS), Results()
    results.reserve(len(batch))
    results.holdout_mask = np.ones(len(batch), np.uint8)
    case.learner.run(batch, case.plan, results, 0, len(batch))
    assert not case.learner.weights.any()
    assert results.loss[: len(batch)].all()


@pytest.mark.parametrize(
    "options",
    [
        {"rank": -1},
        {"rank": 5000},
        {"pairs": 17},
        {"dot_l2": -1.0},
        {"dot_init": float("inf")},
        {"dot_init_kind": "cauchy"},
    ],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(UsageError):
        DyadicConfig(**options)


class Runs:
    """Trains on RATINGS in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "data.vw").write_text(RATINGS)

    def config(self, name, passes=1, learning=True, learner=None, **reading):
        reading = {"paths": (str(self.folder / "data.vw"),), "shuffle": True, **reading}
        files = OutputConfig(
            model=str(self.folder / name) if learning else None, predictions=str(self.folder / f"{name}.p"), quiet=True
        )
        options = {"loss": LossConfig("quantile"), "rank": 3, "random_seed": reading.get("seed", 0), **(learner or {})}
        return RunConfig(
            input=InputConfig(**reading),
            features=FeatureConfig(dotproduct=("u,i",), bits=12),
            learner=DyadicConfig(**options),
            output=files,
            holdout=HoldoutConfig(off=True),
            passes=passes,
            learning=learning,
        )

    def train(self, name, passes=1, initial=None, **more):
        config, model = start(self.config(name, passes, **more), str(self.folder / initial) if initial else None)
        train(config, model)
        return self.arrays(name), (self.folder / f"{name}.p").read_bytes()

    def arrays(self, name):
        with zipfile.ZipFile(self.folder / name) as archive:
            return {member: archive.read(member) for member in archive.namelist() if member != "header.json"}

    def predict(self, model, name):
        config, restored = start(self.config(name, learning=False, shuffle=False), str(self.folder / model))
        predict(config, restored, quiet=True)
        return (self.folder / f"{name}.p").read_bytes()


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


LEARNERS = [{}, {"loss": LossConfig("squared"), "rank": 0}, {"dot_offset": 0.5, "power_t": 0.5, "initial_t": 10.0}]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("shuffle", [False, True])
def test_passes_in_one_run_or_several(runs, shuffle, learner):
    text = (
        RATINGS if learner.get("rank") != 0 else "".join(line.rsplit(" ", 1)[0] + "\n" for line in RATINGS.splitlines())
    )
    (runs.folder / "data.vw").write_text(text)
    whole, predictions = runs.train("whole", 3, shuffle=shuffle, learner=learner)
    cache = str(runs.folder / "cache")
    parts = [
        runs.train("one", 1, shuffle=shuffle, cache=cache, learner=learner)[1],
        runs.train("two", 1, "one", shuffle=shuffle, cache=cache, learner=learner)[1],
    ]
    last, end = runs.train("three", 1, "two", shuffle=shuffle, cache=cache, learner=learner)
    assert predictions == (parts[0] if shuffle else b"".join([*parts, end]))  # where later passes have other orders
    assert last == whole
    assert runs.train("two", 2, "one", shuffle=shuffle, learner=learner)[0] == whole


@pytest.mark.parametrize("loss", ["squared", "quantile", "logistic"])
def test_the_rate_falls_within_the_first_pass_alone(loss):
    """As the twin's, whose rate is set for each example; ``t`` is the importance learned."""
    lines = [(1.0, 1.0, "|a x y:2 |b u"), (0.0, 2.5, "|a y |b v:0.5"), (1.0, 0.5, "|a x |b u v")]
    case = Case(loss, rank=2, learning_rate=0.3, first_pass_t=4.0)
    case.fill(np.random.default_rng(1), 0.5)
    case.set_range()
    twin, t = case.twin(), 0.0
    for number in (1, 2):
        for label, weight, text in lines:
            row = case.row(text)
            twin.rate = case.learner.get("rate") * ((4 / (4 + t)) ** 0.5 if number == 1 else 1)
            twin.learn(row, label, weight)
            case.run(f"{label} {weight} {text}")
            t += weight
            np.testing.assert_allclose(case.parameters(row), case.twin_parameters(twin, row), rtol=2e-5, atol=2e-6)
        case.learner.end_pass()
        assert case.learner.get("later") == 1


def test_without_decay_no_pass_ends():
    case = Case("squared", decay_learning_rate=1.0)
    case.learner.end_pass()
    assert case.learner.get("later") == 0


def test_models_from_before_go_on_at_one_rate():
    case, other = (Case("squared", first_pass_t=4.0) for _ in range(2))
    case.run("3 |a x |b u\n")
    scalars = {name: case.learner.get(name) for name in case.learner.SCALARS if name != "later"}
    other.learner.load(case.learner.tables(False), scalars, whole=True)
    assert other.learner.get("later") == 1 and other.learner.get("rate") == case.learner.get("rate")


def test_the_seed_decides_start_values_and_order(runs):
    models = [
        runs.train(f"m{n}", 2, seed=seed, shuffle=shuffle)[0]
        for n, (seed, shuffle) in enumerate([(0, True), (0, True), (1, True), (0, False)])
    ]
    assert models[0] == models[1]
    assert models[0] != models[2]
    assert models[0] != models[3]


def test_a_loaded_model_predicts_as_the_learner_in_memory(runs):
    runs.train("model", 2, shuffle=False)
    predictions = runs.predict("model", "p").splitlines()
    _, going_on = runs.train("more", 1, "model", shuffle=False)
    assert len(set(predictions)) > 50
    assert predictions[0] == going_on.splitlines()[0]  # made before anything more is learned


def test_a_predict_only_model_predicts_the_same(runs, run_here):
    options = ["--dotproduct", "u,i", "--rank", "3", "--passes", "2", "--quiet"]
    for name, more in (("full", []), ("small", ["--predict_only_model"])):
        run_here("train", runs.folder / "data.vw", "-f", name, *options, *more, cwd=runs.folder)
    outputs = [run_here("predict", "-i", name, "data.vw", cwd=runs.folder).stdout for name in ("full", "small")]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == len(RATINGS.splitlines())


def test_the_one_loss_that_is_refused():
    with pytest.raises(UsageError, match="perceptron does not go with --dotproduct: its exact update ends"):
        DyadicConfig(LossConfig("perceptron"))
