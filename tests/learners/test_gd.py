"""Gradient descent against its plain twin, row by row and bit by bit."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.counters import Counters
from oracle.curved_losses import LOSSES as TWINS
from oracle.driver import one_example
from oracle.gd import Gd as Twin
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import feature_config, gd_config, joined, sequences

from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.hashing import hash_name
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.row_results import Results

FEATURES = [b" " + name for name in b"a b c d:2 a:-1.5 b:0.1 c:3 e:0.001 f:100 g:-1e-3 |y |y".split()]
RULES = ("sgd", "adaptive", "normalized", "invariant")

weights = st.sampled_from([b"", b"", b"", b" 2", b" 0.5", b" 0", b" -1", b" 3 0.25", b" 1 -2"])


def data(labels):
    """Lines with labels from these, or without."""
    head = st.one_of(joined(st.sampled_from(labels), weights), st.sampled_from(labels), st.just(b""))
    return st.lists(joined(head, st.just(b" |x"), sequences(FEATURES, most=6)), min_size=1, max_size=8)


LABELS = {"hinge": b"1 -1".split(), "logistic": b"1 -1 1 -1 0.5 0".split(), "poisson": b"0 1 2 7.5".split()}


@st.composite
def problems(draw, losses=tuple(TWINS), lines_of=None):
    """Lines, options and what is held out; ``lines_of`` draws other lines."""
    loss = draw(st.sampled_from(losses))
    lines = draw(data(LABELS.get(loss, b"0 1 2 -3.5 10".split())) if lines_of is None else lines_of)
    options = draw(
        st.builds(
            Options,
            bits=st.sampled_from([10, 10, 3]),
            loss=st.just(loss),
            rules=st.sets(st.sampled_from(RULES)).map(frozenset),
            learning_rate=st.sampled_from([None, None, 0.1, 1.0]),
            power_t=st.sampled_from([0.5, 0.5, 0.0, 0.3, 1.0]),
            initial_t=st.sampled_from([None, None, 0.0, 1.0, 2.7]),
            l1=st.sampled_from([0.0, 0.0, 1e-3, 0.1]),
            l2=st.sampled_from([0.0, 0.0, 1e-3, 0.1]),
            sparse_l2=st.sampled_from([0.0, 0.0, 0.01]),
            initial_weight=st.sampled_from([0.0, 0.0, 0.1]),
            constant=st.sampled_from([0.0, 0.0, 0.5]),
            quantile_tau=st.sampled_from([0.5, 0.1]),
            expectile_q=st.just(0.2),
            link=st.sampled_from(["identity", "logistic", "glf1", "poisson"]),
            min_prediction=st.sampled_from([None, None, -1.0]),
            max_prediction=st.sampled_from([None, None, 1.0]),
            noconstant=st.just(False) if loss == "poisson" else st.booleans(),  # its update of nothing is not VW's NaN
            ignore_linear=st.sampled_from([b"", b"", b"y"]),
            interactions=st.sampled_from([[], [], [b"xy"]]),
        )
    )
    held = draw(st.one_of(st.none(), st.lists(st.integers(0, 1), min_size=len(lines), max_size=len(lines))))
    return lines, options, held


@dataclass
class Outcome:
    """What a run made of each row, and what it left."""

    rows: np.ndarray  # float32[n, 4]: prediction, raw, loss, features
    table: np.ndarray  # float32[slots, columns]: w, and G and N where there are any
    scalars: dict[str, float]


def learn(lines, options, held=None, chunk=None, learner=None):
    """Run the kernel, ``chunk`` rows a time."""
    features = feature_config(options)
    learner = learner or Gd(gd_config(options), options.bits, vw_compat=True, learning=not options.test_only)
    batch = parse_text(b"\n".join(lines), text_format(features, skip_malformed=False))
    plan, results = Plan(features), Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, plan, results, begin, min(begin + (chunk or len(batch)), len(batch)))
    rows = np.column_stack([results.prediction, results.raw, results.loss, results.features.astype(np.float32)])
    scalars = {name: float(value) for name, value in learner.header()["scalars"].items()}
    return Outcome(rows, learner.weights[:, : min(3, learner.stride)], scalars), learner


def learn_like_twin(lines, options, held=None, twin=None):
    twin, seen, rows = twin or Twin(options), set(), []
    counters = Counters(options)
    for number, line in enumerate(lines):
        example = parse_line(line, options)
        assume(twin.t + example.importance > twin.idle or twin.adaptive)  # rates need a time above 0
        with np.errstate(all="ignore"):
            item = example, expand(example, options, seen)
            result = one_example(twin, counters, item, bool(held and held[number]))
        rows.append([result.pred, result.raw, result.loss, np.float32(result.features)])
    table = np.column_stack([twin.w, twin.g, twin.n] if twin.adaptive or twin.normalized else [twin.w])
    scalars = {
        "norm_sum": twin.length,
        "norm_weight": twin.total,
        "time": twin.t,
        "gravity": twin.gravity,
        "contraction": twin.contraction,
        "min_label": float(twin.low),
        "max_label": float(twin.high),
        "rate": float(twin.rate),
        "multiplier": float(twin.ratio),
    }
    return Outcome(np.array(rows, np.float32), table, scalars), twin


@given(problems())
def test_rows_weights_and_scalars_are_the_twins(problem):
    lines, options, held = problem
    wanted, twin = learn_like_twin(*problem)
    assume(np.isfinite(wanted.table).all())
    # Where the odds leave single precision the kernel is more exact than Vowpal Wabbit.
    assume(options.loss != "logistic" or (abs(wanted.rows[:, 1]) < 16).all())
    actual, _ = learn(lines, options, held)
    np.testing.assert_array_equal(actual.rows, wanted.rows)
    np.testing.assert_array_equal(actual.table, wanted.table[:, : actual.table.shape[1]])
    assert not wanted.table[:, actual.table.shape[1] :].any()  # what a narrow table leaves out
    idle = actual.scalars.pop("held_weight") + actual.scalars.pop("unlabeled_weight")
    assert idle == twin.idle
    assert actual.scalars == wanted.scalars


def same(one, other):
    np.testing.assert_array_equal(one.rows.view(np.uint32), other.rows.view(np.uint32))
    np.testing.assert_array_equal(one.table.view(np.uint32), other.table.view(np.uint32))
    assert one.scalars == other.scalars


@given(problems(), st.sampled_from([1, 2, 7]))
def test_any_chunks_give_the_same_bytes(problem, chunk):
    same(learn(*problem)[0], learn(*problem, chunk=chunk)[0])


@given(problems(), st.data())
def test_stopping_and_going_on_changes_nothing(problem, data):
    lines, options, held = problem
    assume(len(lines) > 1)
    cut = data.draw(st.integers(1, len(lines) - 1))
    whole, _ = learn(lines, options, held)
    first, learner = learn(lines[:cut], options, held and held[:cut])
    other = Gd(learner.config, options.bits, vw_compat=True)
    other.weights, other.scalars = learner.weights.copy(), learner.scalars.copy()
    if learner.stride == 4 and not options.sparse_l2:
        other.weights[:, 3] = np.nan  # scratch, which no model keeps
    second, _ = learn(lines[cut:], options, held and held[cut:], learner=other)
    same(whole, Outcome(np.concatenate([first.rows, second.rows]), second.table, second.scalars))


@given(problems(), st.integers(0, 2**31))
def test_masked_slots_are_never_learned(problem, seed):
    lines, options, held = problem
    options.l1 = options.l2 = 0.0
    learner = Gd(gd_config(options), options.bits, vw_compat=True)
    before = learner.weights.copy()
    mask = np.random.default_rng(seed).integers(0, 2, 1 << options.bits, np.uint8)
    learner.set_mask(mask)
    learn(lines, options, held, learner=learner)
    np.testing.assert_array_equal(learner.weights[mask == 0], before[mask == 0])


@given(problems())
def test_a_mask_of_ones_changes_nothing(problem):
    lines, options, held = problem
    learner = Gd(gd_config(options), options.bits, vw_compat=True)
    learner.set_mask(np.ones(1 << options.bits, np.uint8))
    same(learn(*problem)[0], learn(lines, options, held, learner=learner)[0])


@given(problems())
def test_only_testing_predicts_from_the_table_and_leaves_it(problem):
    lines, options, _ = problem
    _, learner = learn(lines, options)
    learner.apply_shrinkage()
    assume(np.isfinite(learner.weights).all())
    tester = Gd(learner.config, options.bits, learning=False, vw_compat=True)
    tester.weights = np.ascontiguousarray(learner.weights[:, :1])
    tester.weights.setflags(write=False)
    tester.set(min_label=learner.get("min_label"), max_label=learner.get("max_label"))
    actual, _ = learn(lines, options, learner=tester)
    held, _ = learn(lines, options, [1] * len(lines), learner=learner)
    np.testing.assert_array_equal(actual.rows, held.rows)


def test_sorted_features_are_those_that_sorted_lines_have():
    config = FeatureConfig(bits=18, sort_features=True)
    line = b"1 |x b a:3 c:-1 a:2 |y z"
    batch = parse_text(line, text_format(config, skip_malformed=True))
    learner, results = Gd(GdConfig(), 18), Results()
    results.reserve(1)
    learner.run(batch, Plan(config), results, 0, 1)
    order = sorted((hash_name(name, hash_name(b"x", 0)) % 2**18, name) for name in (b"a:2", b"b", b"c:-1"))
    plain = b"1 |x " + b" ".join(name for _, name in sorted(order)) + b" |y z"
    assert results.features[0] == 5
    assert learn([plain], Options(bits=18))[1].weights.tobytes() == learner.weights.tobytes()


@pytest.mark.parametrize("line", [b"1 |x a:1e38 b:1e38", b"1e38 |x a:1e38", b"3e38 3e38 |x a:1e-30"])
def test_strict_manners_stop_at_what_is_not_finite(line):
    options = Options(rules=frozenset({"sgd"}), bits=4)
    lines = [b"1 |x a b", b"2 |x b", *[line] * 9]
    learner, config = Gd(gd_config(options), 4), feature_config(options)
    batch, results = parse_text(b"\n".join(lines), text_format(config, skip_malformed=False)), Results()
    results.reserve(len(batch))
    with pytest.raises(Diverged, match="not a finite number"):
        learner.run(batch, Plan(config), results, 0, len(batch))
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("rules", [(), ("normalized",), ("normalized", "invariant"), ("adaptive",), ("sgd",)])
def test_examples_without_features_are_no_divergence(rules, tmp_path, run_here):
    (tmp_path / "data").write_text("0 |x\n1 |x\n")
    run_here("train", "data", "-f", "m", "--noconstant", *(f"--{rule}" for rule in rules))
    (tmp_path / "data").write_text("1 |x\n1 |x a\n")
    run_here("train", "data", "-i", "m", "-f", "m")
    assert float(run_here("predict", "-i", "m", "data").stdout.split()[1]) > 0


def test_what_does_not_belong_together_is_refused():
    batch, results = parse_text(b"1 |x a", text_format(FeatureConfig(), skip_malformed=True)), Results()
    results.reserve(1)
    learner = Gd(GdConfig(), 10)
    with pytest.raises(ValueError, match="belong together"):
        learner.run(batch, Plan(FeatureConfig(bits=11)), results, 0, 1)
    with pytest.raises(ValueError, match="belong together"):
        learner.run(batch, Plan(FeatureConfig(bits=10)), results, 0, 2)
    learner.set_mask(np.ones(8, np.uint8))
    with pytest.raises(ValueError, match="mask"):
        learner.run(batch, Plan(FeatureConfig(bits=10)), results, 0, 1)
    learner.mask = None
    learner.weights.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        learner.run(batch, Plan(FeatureConfig(bits=10)), results, 0, 1)
    assert not learner.weights.any()


def test_a_learning_rate_beyond_float32_is_infinite():
    assert GdConfig(sgd=True, initial_t=3e38, power_t=30.0).initial_learning_rate == float("inf")


NARROW_RUNS = (  # how a model begins, how it goes on
    ("train --adaptive --power_t 0 -l 0.1 --l2 1e-4 -b 6", "train"),
    ("train --adaptive --sgd --loss_function logistic -b 18 --initial_t 0.5", "train"),
    ("vw --adaptive --normal_weights --save_resume -b 8", "vw --save_resume"),
    ("vw --save_resume -b 10", "vw --save_resume --adaptive"),  # all columns of its table are used
)


@pytest.mark.parametrize(("first", "second"), NARROW_RUNS)
def test_narrow_and_wide_tables_make_the_same_files(first, second, tmp_path, run_here, monkeypatch):
    """Of rows short and long, some of whose slots are repeated; of a model that goes on, is shown and merged."""
    rng = np.random.default_rng(1)
    rows = [rng.integers(0, 400, size) for size in (1, 5, 9, 300, 30, 3)] * 3
    lines = [f"{1 - 2 * (k % 2)} {k % 3} |x " + " ".join(f"{a}:{a % 7 - 2}" for a in row) for k, row in enumerate(rows)]
    (tmp_path / "data").write_text("\n".join([*lines, "1 |x 2:1e-30 3"]) + "\n")
    found = []
    for columns in (2, 4):
        monkeypatch.setattr("vwlite.learners.gd.NARROW", columns)
        run_here(*first.split(), "data", "-f", "m")
        run_here(*second.split(), "data", "-i", "m", "-f", "n", "-p", "p", "--readable_model", "t")
        files = [(tmp_path / name).read_bytes() for name in "mnpt"]
        if second == "train":
            run_here("merge", "m", "n", "-f", "o")
            aimed = run_here("predict", "-i", "n", "data", "--importance-to", "0.5").stdout
            files += [(tmp_path / "o").read_bytes(), aimed]
        found.append(files)
    assert found[0] == found[1]
