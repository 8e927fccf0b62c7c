"""--log_multi and --ect against their plain twins, row by row and bit by bit."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from oracle.trees import Ect as EctTwin
from oracle.trees import LogMulti as LogMultiTwin
from vwtext import feature_config, gd_config

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners import trees
from vwlite.learners.base import label_range
from vwlite.learners.configs.trees import EctConfig, LogMultiConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results
from vwlite.learners.trees import Ect, LogMulti, depth_of, draw

from .test_gd import data, problems

QUANTILE = LossConfig("quantile")
SQUARED = ("squared", "hinge", "quantile")
LINES = st.one_of(data(b"1 2 3 0 7".split()), data(b"1 2 3 4 5".split()).map(lambda lines: lines * 5))


@st.composite
def cases(draw, losses):
    """Lines, options, what is held out, the number of classes, how the tree is, in what chunks."""
    lines, options, held = draw(problems(losses=losses, lines_of=LINES))
    options.constant, options.quantile_tau = 0.0, 0.5
    options.bits = 12
    return lines, options, held, draw(st.integers(1, 9)), draw(st.integers(0, 5)), draw(st.sampled_from([None, 1, 3]))


def made(kind, options, **more):
    plain = gd_config(options)
    return kind(**{**{field.name: getattr(plain, field.name) for field in fields(plain)}, **more})


def learn(learner, lines, options, held=None, chunk=None):
    """float32[n, 4]: prediction, loss, features, the weight that vw counts."""
    features = feature_config(options)
    text, results = text_format(features, skip_malformed=not learner.vw_compat), Results()
    batch = parse_text(b"\n".join(lines), text)
    batch.label = learner.labels((lambda line: None) if learner.vw_compat else None).check(batch)
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    plan, chunk = Plan(features), chunk or len(batch)
    for begin in range(0, len(batch), chunk):
        learner.run(batch, plan, results, begin, min(begin + chunk, len(batch)))
    return np.column_stack([results.prediction, results.loss, results.features.astype(np.float32), batch.importance])


def learn_like_twin(twin, lines, options, shift, held):
    inner, seen, rows = replace(options, bits=options.bits - shift), set(), []
    for twin_of_set in twin.twins:
        twin_of_set.__init__(inner)
    for twin_of_set in twin.twins[1:]:
        twin_of_set.length = twin_of_set.total = 0.0
    for number, line in enumerate(lines):
        example = parse_line(line, inner)
        shared, asked = twin.twins[0], twin.asked
        if shared.t + example.importance <= shared.idle and not shared.adaptive:
            assume(False)
        with np.errstate(all="ignore"):
            terms, count, squares = expand(example, inner, seen)
        label = None if np.isnan(example.label) else float(example.label)
        learns = label is not None and not (held and held[number])
        result = twin.run(terms, squares, label, example.importance, example.base, learns)
        counted = result.scores[0] if result.scores else example.importance
        rows.append([result.number, result.loss, count if twin.asked > asked else np.nan, counted])
    return np.array(rows, np.float32)


def same_rows(found, wanted):
    unknown = np.isnan(wanted[:, 2])
    assert (found[unknown, 2] >= 0).all()
    wanted[unknown, 2] = found[unknown, 2]
    np.testing.assert_array_equal(found, wanted)


def same_weights(learner, twin):
    tables = [np.column_stack([t.w, t.g, t.n] if t.adaptive or t.normalized else [t.w]) for t in twin.twins]
    assume(all(np.isfinite(table).all() for table in tables))
    table = learner.weights.reshape(len(tables[0]), -1, learner.stride)[..., :3]
    for number, wanted in enumerate(tables):
        np.testing.assert_array_equal(table[:, number], wanted)
    np.testing.assert_array_equal(learner.norms, [[t.length, t.total, float(t.ratio)] for t in twin.twins])
    shared = twin.twins[0]
    assert label_range(learner) == (shared.low, shared.high)


def tree_of(learner, number=0):
    """As ``tree_of_twin``."""
    node = learner.nodes[number]
    if node[trees.INNER]:
        return (
            int(node[trees.LEAST]),
            tree_of(learner, int(node[trees.LEFT])),
            tree_of(learner, int(node[trees.RIGHT])),
        )
    entries = learner.live_entries()[0]
    counts = {int(e[1]): int(e[2]) for e in entries if e[trees.OWNER] == number}
    return int(node[trees.LEAST]), int(node[trees.MOST]), int(node[trees.ANSWER]), counts


def tree_of_twin(node):
    if node.children:
        return node.least, *map(tree_of_twin, node.children)
    return node.least, node.most, node.answer, {label: entry[0] for label, entry in node.labels.items()}


@given(cases(losses=("quantile",)))
def test_log_multi_is_its_twin(case):
    lines, options, held, count, resistance, chunk = case
    config = made(LogMultiConfig, options, log_multi=count, swap_resistance=resistance)
    learner = LogMulti(config, options.bits, vw_compat=True)
    twin = LogMultiTwin(count, options, resistance, cuts=True)
    expected = learn_like_twin(twin, lines, options, learner.layout[0], held)
    same_rows(learn(learner, lines, options, held, chunk), expected)
    same_weights(learner, twin)
    assert tree_of(learner) == tree_of_twin(twin.root)


def crowd(rows, labels, seed):
    """Many examples of few labels, one of which is rare."""
    draw = np.random.default_rng(seed)
    result = []
    for _ in range(rows):
        label = int(draw.integers(1, labels + 1)) if draw.random() > 0.02 else 9
        result.append(f"{label} |x a{label % 3} b{draw.integers(3)}".encode())
    return result


@pytest.mark.parametrize("vw_compat", [False, True])
@pytest.mark.parametrize("changes", [{}, {"sparse_l2": 1e-3}, {"power_t": 0.3}])
@pytest.mark.parametrize("count", [100, 20])
@pytest.mark.parametrize("kind", [LogMulti, Ect])
def test_copied_rows_give_the_same_bytes(kind, count, changes, vw_compat):
    """Many classes, whose slots are far apart; rows with terms that share slots, short rows and a long one."""
    loss = "logistic" if kind is Ect and count == 20 else "quantile"
    options, rng = Options(bits=12, loss=loss, quantile_tau=0.5), np.random.default_rng(5)
    for name, value in changes.items():
        setattr(options, name, value)
    more = {"log_multi": count, "swap_resistance": 1} if kind is LogMulti else {"ect": count, "error": 7}
    lines = []
    for number in range(200):
        label, size = rng.integers(1, count + 1), rng.choice([3, 20, 40]) if number != 100 else 2500
        words = " ".join(f"w{rng.integers(30) + label % 7}:{rng.choice([1, 2, 0.5])}" for _ in range(size))
        lines.append(f"{label} {rng.choice([1, 2])} |x {words}".encode())
    actual = []
    for simd_width in (16, 0):
        learner = kind(made(kind.config_type, options, **more), options.bits, vw_compat=vw_compat)
        learner.kernel.simd_width = simd_width
        rows = learn(learner, lines, options, [number % 9 == 0 for number in range(len(lines))], 150)
        actual.append([rows, learner.weights[:, :3], learner.norms, learner.scalars])
    for copied, alone in zip(*actual, strict=True):
        np.testing.assert_array_equal(copied, alone)


@pytest.mark.parametrize(
    "changes",
    [{}, {"l1": 1e-3}, {"l2": 1e-3}, {"sparse_l2": 1e-3}, {"power_t": 0.3}, {"rules": frozenset({"normalized"})}],
)
@pytest.mark.parametrize("kind", [LogMulti, Ect])
def test_sums_that_are_kept_give_the_same_bytes(kind, changes):
    options = Options(bits=12, loss="quantile", quantile_tau=0.5)
    for name, value in changes.items():
        setattr(options, name, value)
    more = {"log_multi": 9, "swap_resistance": 1} if kind is LogMulti else {"ect": 9, "error": 2}
    lines = [line.replace(b" |x", b" %d |x" % (k % 4)) if k % 3 else line for k, line in enumerate(crowd(600, 8, 3))]
    actual = []
    for simd_width in (16, 0):
        learner = kind(made(kind.config_type, options, **more), options.bits)
        learner.kernel.simd_width = simd_width
        rows = learn(learner, lines, options, [k % 7 == 0 for k in range(len(lines))], 100)
        actual.append([rows, learner.weights[:, :3], learner.norms, learner.scalars])
    for kept, again in zip(*actual, strict=True):
        np.testing.assert_array_equal(kept, again)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("count", "labels", "resistance"), [(3, 6, 1), (4, 5, 0), (6, 9, 1), (9, 9, 2), (12, 9, 0)])
def test_nodes_change_places_where_they_are_needed_more(count, labels, resistance, strict):
    options, cuts, swaps = Options(bits=12, loss="quantile"), 0, 0
    for seed in range(4):
        lines = crowd(300, labels, seed)
        config = LogMultiConfig(loss=QUANTILE, log_multi=count, swap_resistance=resistance, indexing=1)
        learner = LogMulti(config, 12, vw_compat=True)
        learner.vw_compat = learner.kernel.vw_compat = not strict
        twin = LogMultiTwin(count, options, resistance, cuts=not strict)
        expected = learn_like_twin(twin, lines, options, learner.layout[0], None)
        batch_rows = learn_unchecked(learner, lines, options)
        np.testing.assert_array_equal(batch_rows, expected[:, 0])
        assert tree_of(learner) == tree_of_twin(twin.root)
        swaps, cuts = swaps + twin.swapped, cuts + twin.cut
    assert swaps and bool(cuts) == (not strict and 3 < count < 9)


def learn_unchecked(learner, lines, options):
    """Predictions; labels need not be classes."""
    vw_compat, learner.vw_compat = learner.vw_compat, True
    rows = learn(learner, lines, options)
    learner.vw_compat = vw_compat
    return rows[:, 0]


def test_a_tree_needs_more_room_for_entries_in_the_midst():
    options = Options(bits=14, loss="quantile")
    config = LogMultiConfig(loss=QUANTILE, log_multi=60, swap_resistance=1)
    draw = np.random.default_rng(1)
    lines = [f"{n} |x a{n % 7} b{n % 11} c{draw.integers(5)}".encode() for n in draw.integers(1, 2000, 3000).tolist()]
    one, other = LogMulti(config, 14, vw_compat=True), LogMulti(config, 14, vw_compat=True)
    done = learn(one, lines, options)
    np.testing.assert_array_equal(learn(other, lines, options, chunk=7), done)
    assert one.used[trees.PREDICTORS] == 59 and len(one.entries) > 1 << 13
    for name in ("nodes", "margins", "weights", "norms"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for mine, its in zip(one.live_entries(), other.live_entries(), strict=True):
        np.testing.assert_array_equal(mine, its)
    assert not (one.live_entries()[0][:, trees.OWNER] == trees.NONE).any()


@given(cases(losses=SQUARED))
def test_ect_is_its_twin(case):
    lines, options, held, count, error, chunk = case
    learner = Ect(made(EctConfig, options, ect=count, error=error), options.bits, vw_compat=True)
    twin = EctTwin(count, options, error)
    expected = learn_like_twin(twin, lines, options, learner.layout[0], held)
    same_rows(learn(learner, lines, options, held, chunk), expected)
    same_weights(learner, twin)


@given(st.integers(2, 20), st.integers(0, 9))
def test_the_tournaments_are_those_of_the_twin(count, error):
    contests, finals = draw(count, error + 1)
    twin = EctTwin(count, Options(bits=1), error)
    assert len(contests) == twin.contests == count + (count - 1) * (error + 1)
    assert finals.tolist() == [contest.number for contest in twin.finals] and len(finals) == error + 1


def test_importance_counts_in_the_contests_of_winners_but_for_vw():
    lines = [line.replace(b" |", b" 0.25 |") for line in crowd(300, 8, 1)]
    strict, loose = (Ect(EctConfig(ect=9, error=2), 10, vw_compat=not strict) for strict in (True, False))
    options = Options(bits=10)
    assert set(learn(strict, lines, options)[:, 3]) == {0.25}
    assert set(learn(loose, lines, options)[:, 3]) > {0.25}
    assert strict.weights.tobytes() != loose.weights.tobytes()


@pytest.mark.parametrize("config", [
    LogMultiConfig(loss=QUANTILE, log_multi=3), EctConfig(ect=3, error=1)
])  # fmt: skip
def test_an_example_of_no_importance_teaches_nothing(config):
    kind = LogMulti if config.learner == "log_multi" else Ect
    one, other = kind(config, 8), kind(config, 8)
    options = Options(bits=8)
    learn(one, [b"1 |x a", b"2 |x b", b"3 |x a b"], options)
    learn(other, [b"1 |x a", b"2 0 |x b", b"2 |x b", b"3 |x a b"], options)
    assert one.weights.tobytes() == other.weights.tobytes()
    assert config.learner == "ect" or tree_of(one) == tree_of(other)


@pytest.mark.parametrize("first", [0, 1])
def test_classes_are_counted_from_0_or_1(first):
    lines = [f"{n % 3 + first} |x a{n % 3}".encode() for n in range(2, 40)]
    for learner in (Ect(EctConfig(ect=3), 8), LogMulti(LogMultiConfig(loss=QUANTILE, log_multi=3), 8)):
        done = learn(learner, lines, Options(bits=8))
        assert learner.get("first") == first and set(done[20:, 0]) <= {first, first + 1, first + 2}
        assert done[20:, 1].mean() < 0.4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LogMultiConfig(QUANTILE, log_multi=0), "--log_multi takes 1 to"),
        (lambda: LogMultiConfig(log_multi=3), "--log_multi has a loss of its own, quantile"),
        (lambda: LogMultiConfig(QUANTILE, log_multi=3, swap_resistance=-1), "--swap_resistance takes"),
        (lambda: EctConfig(ect=3, error=-1), "--error takes 0 to 1023"),
        (lambda: EctConfig(ect=1 << 20, error=99), "needs more than 16777216 contests"),
        (lambda: EctConfig(ect=3, scores=True), "--scores does not go with --ect"),
        (lambda: EctConfig(ect=3, binary=True), "--binary does not go with --ect"),
        (lambda: EctConfig(ect=2, named_labels=("a", "a")), "names a class twice"),
        (lambda: Ect(EctConfig(ect=5, error=1), 3), "9 sets of weights need more than the 8 slots of -b 3"),
    ],
)
def test_bad_options_are_usage_errors(make, message):
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((0, trees.LEFT, 9), "without children"),
        ((0, trees.LEFT, 0), "no tree"),
        ((0, trees.RIGHT, 1), "no tree"),
        ((1, trees.PARENT, 2), "no tree"),
        ((0, 3, 1), "without children"),
    ],
)
def test_nodes_that_are_no_tree(change, message):
    nodes = np.zeros((3, 10), np.uint32)
    nodes[0, [trees.LEFT, trees.RIGHT, trees.INNER]] = 1, 2, 1
    assert depth_of(nodes) == 1
    nodes[change[0], change[1]] = change[2]
    with pytest.raises(ValueError, match=message):
        depth_of(nodes)
