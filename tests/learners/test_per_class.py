"""Classes, costs and sets of labels against their plain twins, row by row and bit by bit."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.per_class import PerClass as Twin
from oracle.per_class import cost_of_set
from oracle.pipeline import expand
from vwtext import feature_config, gd_config, joined, sequences

from vwlite.data.text_format import parse_text
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.base import label_range
from vwlite.learners.class_costs import Decisions
from vwlite.learners.configs.per_class import KINDS, LABEL_ORDERS, SET_LOSSES, PerClassConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig
from vwlite.learners.per_class import PerClass
from vwlite.learners.row_results import Results

from .test_gd import FEATURES, data, problems

COUNT = 3
COST_WORDS = [b"1:0.5", b"2:1", b"3:0", b"1", b"2:-1.5", b"0:2", b"3:4", b"7:1"]
SET_WORDS = [b"0", b"1,2", b"0,2", b"0,1,2", b"2,5"]


def lines_of(heads):
    return st.lists(joined(heads, st.just(b" |x"), sequences(FEATURES, most=5)), min_size=1, max_size=8)


LINES = {
    "oaa": data(b"1 2 3 0 7".split()),
    "csoaa": lines_of(st.lists(st.sampled_from(COST_WORDS), max_size=4, unique_by=lambda x: x[:1]).map(b" ".join)),
    "multilabel_oaa": lines_of(st.sampled_from([b"", *SET_WORDS])),
}


@st.composite
def cases(draw):
    """Kind, lines, options, what is held out."""
    kind = draw(st.sampled_from(KINDS))
    losses = ("squared", "logistic", "hinge") if kind != "csoaa" else ("squared", "quantile", "squared")
    lines, options, held = draw(problems(losses=losses, lines_of=LINES[kind]))
    options.constant = 0.0
    options.bits += 2
    options.link = draw(st.sampled_from(["identity", "logistic"]))
    return kind, lines, options, held


def config_of(kind, options, **more):
    plain = gd_config(options)
    plain_fields = {field.name: getattr(plain, field.name) for field in fields(plain)}
    return PerClassConfig(**plain_fields, **{kind: COUNT}, **more)


def learn(case, chunk=None, learner=None, **more):
    """``(rows, scores, learner)``: float32[n, 3] of prediction, loss, features; float32[n, COUNT]."""
    kind, lines, options, held = case
    features = feature_config(options)
    learner = learner or PerClass(config_of(kind, options, **more), options.bits, vw_compat=True)
    learner.want_scores()
    text = text_format(features, skip_malformed=False)
    lists = learner.config.label_words
    batch = parse_text(b"\n".join(lines), text if lists is None else text.of_words(lists))
    batch.label = learner.labels(log=lambda line: None).check(batch)
    results = Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    plan, chunk = Plan(features), chunk or len(batch)
    for begin in range(0, len(batch), chunk):
        learner.run(batch, plan, results, begin, min(begin + chunk, len(batch)))
    rows = np.column_stack([results.prediction, results.loss, results.features.astype(np.float32)])
    return rows, learner.score[: len(batch)].copy(), learner


def label_of(kind, line, example):
    words = line.partition(b"|")[0].split()
    if kind == "oaa":
        return None if np.isnan(example.label) else float(example.label)
    if not words:
        return None
    if kind == "multilabel_oaa":
        return [int(number) for number in words[0].split(b",")]
    pairs = [word.partition(b":") for word in words]
    return [(int(name), np.float32(cost) if colon else np.float32(np.inf)) for name, colon, cost in pairs]


def learn_like_twin(case, **more):
    kind, lines, options, held = case
    inner = replace(options, bits=options.bits - 2)
    twin, seen, rows, scores = Twin(kind, COUNT, inner, **more), set(), [], []
    for number, line in enumerate(lines):
        plain = line if kind == "oaa" else b"|" + line.partition(b"|")[2]
        example = parse_line(plain, inner)
        first = twin.twins[0]
        assume(first.t + example.importance > first.idle or first.adaptive)
        with np.errstate(all="ignore"):
            terms, count, squares = expand(example, inner, seen)
        label = label_of(kind, line, example)
        known = label is not None and not (kind == "csoaa" and all(np.isinf(cost) for _, cost in label))
        learns = known and not (held and held[number])
        result = twin.run(terms, squares, label, example.importance, example.base, learns)
        rows.append([result.number, result.loss, count])
        scores.append(result.scores)
    return np.array(rows, np.float32), scores, twin


SET_OPTIONS = st.sampled_from(
    [{}, *({"set_loss": loss, "label_order": order} for loss in SET_LOSSES[1:] for order in LABEL_ORDERS)]
)


@given(cases(), SET_OPTIONS)
def test_rows_weights_and_norms_are_the_twins(case, set_options):
    kind, _, options, _ = case
    more = set_options if kind == "multilabel_oaa" else {}
    rows, scores, twin = learn_like_twin(case, **more)
    tables = [np.column_stack([t.w, t.g, t.n] if t.adaptive or t.normalized else [t.w]) for t in twin.twins]
    assume(all(np.isfinite(table).all() for table in tables))
    if kind != "csoaa":
        assume(options.loss != "logistic" or (abs(np.array(scores)) < 16).all())
    actual, score, learner = learn(case, **more)
    np.testing.assert_array_equal(actual, rows)
    if kind != "csoaa":
        np.testing.assert_array_equal(score, np.array(scores, np.float32))
    table = learner.weights.reshape(-1, 4, learner.stride)[..., :3]
    for number, wanted in enumerate(tables):
        np.testing.assert_array_equal(table[:, number], wanted)
    assert not table[:, COUNT, 0].any() or options.initial_weight
    norms = [[t.length, t.total, float(t.ratio)] for t in twin.twins]
    np.testing.assert_array_equal(learner.norms, norms)
    shared = twin.twins[0]
    assert label_range(learner) == (shared.low, shared.high)
    assert (learner.get("gravity"), learner.get("contraction")) == (shared.gravity, shared.contraction)
    assert learner.get("first") == (-1 if twin.first is None else twin.first)


def test_sequential_is_the_loss_of_whole_sets():
    options = Options(bits=8, constant=0.0)
    case = "multilabel_oaa", [b"0,2 |x a b", b"1 |x a c", b"0,1,2 |x b c", b"1,2 |x a"] * 4, options, None
    one, other = learn(case, sequential=True), learn(case, set_loss="zero_one")
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[2].weights, other[2].weights)
    assert {*one[0][:, 1]} == {0, 1}


ROWS = st.lists(st.tuples(st.sets(st.integers(0, 2), min_size=1), sequences(FEATURES, most=5)), min_size=1, max_size=8)


@given(ROWS)
def test_labels_of_the_plain_loss_are_learned_each_by_itself(rows):
    options = Options(bits=10, constant=0.0, loss="logistic")
    text = [(",".join(map(str, sorted(labels))).encode(), b" |x" + features) for labels, features in rows]
    scores = learn(("multilabel_oaa", [b"".join(line) for line in text], options, None))[1]
    for number in range(COUNT):
        signs = [(b"0" if number in labels else b"1") + b" |x" + features for labels, features in rows]
        alone = learn(("multilabel_oaa", signs, options, None))[1]
        np.testing.assert_array_equal(alone[:, 0], scores[:, number])


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5))), min_size=1, max_size=6),
    st.permutations(range(6)),
    st.sampled_from(SET_LOSSES),
)
def test_mistakes_cost_together_what_the_set_costs(rows, order, loss):
    """What a filter tree's importances are for: those of the wrong decisions add up to the cost of the answer."""
    meant, answered = (
        np.array([[label in of for label in range(6)] for of in sets]) for sets in zip(*rows, strict=True)
    )
    decisions, spent = Decisions(loss, meant), np.zeros(len(rows))
    for label in order:
        weights = decisions.weights(label)
        assert (weights >= 0).all() and (loss != "hamming" or (weights == 1).all())
        spent += np.where(meant[:, label] != answered[:, label], weights, 0)
        decisions.decide(label, answered[:, label])
    costs = [cost_of_set(loss, *sets) for sets in zip(*reversed([*zip(*rows, strict=True)]), strict=True)]
    np.testing.assert_allclose(spent, costs, atol=1e-12)
    np.testing.assert_array_equal(decisions.costs(), costs)


@given(
    problems(losses=("squared", "logistic", "hinge", "quantile"), lines_of=data(b"1 2 9 0 30 5".split())),
    st.integers(5, 36),
    st.sampled_from([b" a:1e-30 b:2e-20", b" a:1e30", b""]),
)
def test_classes_in_blocks_give_the_same_bytes(problem, count, odd):
    lines, options, held = problem
    options.rules, options.power_t, options.l1, options.l2, options.sparse_l2 = frozenset(), 0.5, 0.0, 0.0, 0.0
    options.bits = max(options.bits, 6)
    lines = [line + odd if number % 3 == 1 else line for number, line in enumerate(lines)] * 3
    held = held and held * 3
    config = replace(config_of("oaa", options), oaa=count)
    actual = []
    for simd_width in (16, 8, 0):
        learner = PerClass(config, options.bits, vw_compat=True)
        learner.kernel.simd_width = simd_width
        rows, scores, _ = learn(("oaa", lines, options, held), learner=learner)
        tester = PerClass(config, options.bits, vw_compat=True, learning=False)
        tester.kernel.simd_width = simd_width
        tester.weights = np.ascontiguousarray(learner.weights[:, :1])
        tester.set(min_label=-1, max_label=1)
        tested = learn(("oaa", lines, options, None), learner=tester)
        actual.append([rows, scores, learner.weights[:, :3], learner.norms, learner.scalars, *tested[:2]])
    for wide, narrow, alone in zip(*actual, strict=True):
        np.testing.assert_array_equal(wide, alone)
        np.testing.assert_array_equal(narrow, alone)


def head_of(kind, count, rng, mixed):
    """Costs of all classes in any order, where ``mixed`` of some or of one twice; a set of labels; or nothing."""
    numbers = rng.permutation(count)
    if rng.random() < 0.1:
        return b""
    if kind == "multilabel_oaa":
        return ",".join(map(str, numbers[: rng.integers(1, count + 1)])).encode()
    if mixed and rng.random() < 0.5:
        numbers[0] = rng.choice([numbers[0], numbers[-1], count + 3])
        numbers = numbers[: rng.choice([count, 2])]
    return " ".join(f"{number}:{rng.choice([0, 0.5, 1, 3, -2])}" for number in numbers).encode()


@pytest.mark.parametrize("kind", ["csoaa", "multilabel_oaa"])
@given(
    problem=problems(losses=("squared", "logistic", "hinge", "quantile"), lines_of=lines_of(st.just(b""))),
    count=st.integers(5, 36),
    seed=st.integers(0, 1 << 30),
    mixed=st.booleans(),
    odd=st.sampled_from([b" a:1e-30 b:2e-20", b" a:1e30", b""]),
)
def test_costs_and_sets_in_blocks_give_the_same_bytes(kind, problem, count, seed, mixed, odd):
    lines, options, held = problem
    options.rules, options.power_t, options.l1, options.l2, options.sparse_l2 = frozenset(), 0.5, 0.0, 0.0, 0.0
    options.bits, options.constant, rng = max(options.bits, 6), 0.0, np.random.default_rng(seed)
    if kind == "csoaa" and options.loss == "hinge":
        options.loss = "squared"
    lines = [head_of(kind, count, rng, mixed) + line + odd * (k % 3 == 1) for k, line in enumerate(lines * 3)]
    config, actual = replace(config_of(kind, options), **{kind: count}), []
    for simd_width in (16, 8, 0):
        learner = PerClass(config, options.bits, vw_compat=True)
        learner.kernel.simd_width = simd_width
        rows, scores, _ = learn((kind, lines, options, held and held * 3), learner=learner)
        actual.append([rows, scores, learner.raw, learner.weights[:, :3], learner.norms, learner.scalars])
        assert not learner.is_transposed.any()
    for wide, narrow, alone in zip(*actual, strict=True):
        np.testing.assert_array_equal(wide, alone)
        np.testing.assert_array_equal(narrow, alone)


@pytest.mark.parametrize("count", [7, 12, 20])
@pytest.mark.parametrize("bases", [(0,), (0, 20, -20), (0, 100, 900, -900)])
@pytest.mark.parametrize(
    ("rate", "rules"), [(0.5, frozenset()), (1e-7, frozenset()), (0.5, frozenset({"adaptive", "normalized"}))]
)
def test_rows_of_usual_terms_in_blocks_give_the_same_bytes(count, bases, rate, rules):
    """Terms that ascend or not, that share slots with each other or the constant; predictions in and out of reach."""
    rng = np.random.default_rng(count)
    constants = 12, 28  # where the constant is, of 32 or 16 and of 64 features
    lines = []
    for number in range(300):
        names = rng.permutation([*range(8), *constants])[: rng.integers(1, 9)]
        names = sorted(names) if number % 3 else [*names, *names[:2]]
        terms = " ".join(f"{name}:{rng.choice([0.5, 1, 2])}" for name in names)
        lines.append(f"{rng.integers(1, count + 1)} {rng.choice([1, 2])} {rng.choice(bases)} | {terms}".encode())
    options = Options(bits=9, loss="logistic", min_prediction=-1000.0, max_prediction=1000.0)
    options.learning_rate, options.rules = rate, rules
    actual = []
    for simd_width in (16, 8, 0):
        learner = PerClass(replace(config_of("oaa", options), oaa=count), options.bits)
        learner.kernel.simd_width = simd_width
        rows, scores, _ = learn(("oaa", lines, options, None), learner=learner)
        actual.append([rows, scores, learner.weights[:, :3], learner.norms, learner.scalars])
        assert not learner.is_transposed.any()
    assert np.abs(actual[0][1]).max() > max(0.9 * max(bases), 1e-7)
    for wide, narrow, alone in zip(*actual, strict=True):
        np.testing.assert_array_equal(wide, alone)
        np.testing.assert_array_equal(narrow, alone)


def test_classes_that_diverge_in_blocks_give_the_same_bytes():
    """A scale without bounds times a reach of 0 is not a number."""
    options = Options(bits=4, loss="logistic", learning_rate=10.0, noconstant=True)
    actual = []
    for simd_width in (16, 8, 0):
        learner = PerClass(replace(config_of("oaa", options), oaa=5), options.bits, vw_compat=True)
        learner.kernel.simd_width = simd_width
        learn(("oaa", [b"1 3e38 5 | 1:3", b"1 1 | 1:3"], options, None), learner=learner)
        actual.append(learner.weights[:, :3])
    assert np.isnan(actual[2]).any()
    np.testing.assert_array_equal(actual[0], actual[2])
    np.testing.assert_array_equal(actual[1], actual[2])


def test_classes_learn_nothing_of_an_example_without_features():
    options = Options(bits=6, noconstant=True)
    for simd_width in (16, 8, 0):
        learner = PerClass(config_of("oaa", options), options.bits)
        learner.kernel.simd_width = simd_width
        learn(("oaa", [b"1 |x", b"2 |x"], options, None), learner=learner)
        assert not learner.weights[:, 0].any() and np.isfinite(learner.norms).all()


@given(cases())
def test_two_classes_one_against_all_learn_one_model_and_its_negative(case):
    _, lines, options, held = case
    options.sparse_l2 = options.initial_weight = 0.0
    options.loss, options.link, options.min_prediction, options.max_prediction = "squared", "identity", None, None
    learner = PerClass(PerClassConfig(oaa=2), options.bits, vw_compat=True)
    learn(("oaa", [b"2 |x" + line.partition(b"|x")[2] for line in lines], options, held), learner=learner)
    table = learner.weights.reshape(-1, 2, 4)
    np.testing.assert_array_equal(table[:, 0, 0], -table[:, 1, 0])
    np.testing.assert_array_equal(table[:, 0, 1:3], table[:, 1, 1:3])


def test_a_single_class_of_many_is_plain_gradient_descent():
    lines, options = b"0 |x a b:2\n0 |x b c\n0 |y a", Options(bits=10)
    features = feature_config(options)
    many, plain = PerClass(PerClassConfig(multilabel_oaa=1), 10), Gd(gd_config(options), 10)
    text = text_format(features, skip_malformed=True)
    sets, ones = parse_text(lines, text.of_words(lists=True)), parse_text(lines.replace(b"0 ", b"1 "), text)
    sets.label = many.labels().check(sets)
    for learner, batch in ((many, sets), (plain, ones)):
        results = Results()
        results.reserve(3)
        learner.run(batch, Plan(features), results, 0, 3)
    assert many.weights.tobytes() == plain.weights.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "take the number of classes, 1 or more"),
        ({"oaa": 3, "csoaa": 3}, "--oaa and --csoaa do not go together"),
        ({"oaa": -1}, "takes 1 to"),
        ({"oaa": 3, "named_labels": ("a", "b")}, "2 names for 3 classes"),
        ({"oaa": 2, "named_labels": ("a", "a")}, "names a class twice"),
        ({"oaa": 2, "indexing": 2}, "takes 0 or 1, not 2"),
        ({"csoaa": 2, "scores": True}, "--scores does not go with --csoaa"),
        ({"csoaa": 2, "probabilities": True, "loss": LossConfig("logistic")}, "--probabilities does not go with"),
        ({"oaa": 2, "cs_absolute_loss": True}, "needs --csoaa"),
        ({"oaa": 2, "sequential": True}, "needs --multilabel_oaa"),
        ({"csoaa": 2, "set_loss": "f1"}, "--set-loss needs --multilabel_oaa"),
        ({"oaa": 2, "label_order": "rare"}, "--label-order needs --multilabel_oaa"),
        ({"multilabel_oaa": 2, "label_order": "rare"}, "--label-order does nothing with --set-loss hamming"),
        ({"multilabel_oaa": 2, "set_loss": "f1", "sequential": True}, "--sequential is --set-loss zero_one, not f1"),
        ({"multilabel_oaa": 2, "set_loss": "f2"}, "'f2' is not one of hamming, zero_one, f1, jaccard"),
    ],
)
def test_bad_options_are_usage_errors(options, message):
    with pytest.raises(UsageError, match=message):
        PerClassConfig(**options)


def test_more_classes_than_slots_are_refused():
    with pytest.raises(UsageError, match="5 classes need more than the 4 slots of -b 2"):
        PerClass(PerClassConfig(oaa=5), 2)


@pytest.mark.parametrize(
    ("options", "lines", "message"),
    [
        ({"oaa": 3}, b"1 |\n4 |", "example 2: label 4 is no class: expected whole numbers from 0 to 2 or from 1 to 3"),
        ({"oaa": 3}, b"1.5 |", "label 1.5 is no class"),
        ({"oaa": 3}, b"3 |\n0 |", "example 2: label 0 is no class: expected whole numbers from 1 to 3"),
        ({"oaa": 3, "indexing": 0}, b"0 |\n3 |", "example 2: label 3 is no class: expected whole numbers from 0 to 2"),
        ({"oaa": 2, "named_labels": ("a", "b")}, b"a |\nc |", "2: label c is no class: --named_labels has a, b"),
        ({"csoaa": 2}, b"1:0 2:x |", "bad label word '2:x': expected class:cost"),
        ({"csoaa": 2}, b"1:0 3:1 |", "label 1:0 3:1 names no class: expected whole numbers from 0 to 1 or from 1 to 2"),
        ({"multilabel_oaa": 2}, b"0,1 |\n0,2 |", "2: label 0,2 names no class: expected whole numbers from 0 to 1"),
        ({"multilabel_oaa": 2}, b"0,a:1 |", "bad label word 'a:1': expected classes like 1,3"),
    ],
)
def test_labels_that_are_no_class_end_the_run(options, lines, message):
    learner = PerClass(PerClassConfig(**options), 5)
    text = text_format(feature_config(Options()), skip_malformed=True)
    lists = learner.config.label_words
    batch = parse_text(lines, text if lists is None else text.of_words(lists))
    with pytest.raises(DataError, match=message):
        learner.labels().check(batch)
