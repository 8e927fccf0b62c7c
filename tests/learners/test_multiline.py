"""Groups of lines against their plain twin, line by line and bit by bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from oracle.multiline import Multiline as Twin
from oracle.multiline import read_line
from oracle.options import Options
from vwtext import feature_config, gd_config, joined, sequences

from vwlite.data.batch import INNER
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.errors import DataError, UsageError
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.base import label_range
from vwlite.learners.configs.per_class import MultilineConfig
from vwlite.learners.multiline import Multiline
from vwlite.learners.row_results import Results

from .test_gd import FEATURES, problems

PLAIN = Options(bits=10)
KINDS = {
    "costs": {"csoaa_ldf": "m"},
    "classifier": {"csoaa_ldf": "multiline-classifier"},
    "pairs": {"wap_ldf": "m"},
    "overridden": {"csoaa_ldf": "m", "ldf_override": "mc"},
}
LABELS = st.sampled_from([b"1:0 |x", b"2:1 |x", b"3:0.5 |y b |x", b"4:2 |y", b"5:0 |x", b"6:-1 |x", b"2 |y b |x"])
LINE = joined(LABELS, sequences(FEATURES, most=4))
SHARED = joined(st.sampled_from([b"shared |x", b"shared |s z |x", b"shared |y"]), sequences(FEATURES, most=3))
GROUPS = st.lists(
    st.tuples(st.one_of(st.none(), SHARED), st.lists(LINE, min_size=1, max_size=4)), min_size=1, max_size=4
)


@st.composite
def cases(draw):
    """Kind, groups, options."""
    losses = ("squared", "logistic", "hinge", "quantile")
    groups, options, _ = draw(problems(losses=losses, lines_of=GROUPS))
    options.interactions = draw(st.sampled_from([[], [b"xs"], [b"xy", b"xx"]]))
    options.constant, options.link = 0.0, "identity"
    return draw(st.sampled_from(sorted(KINDS))), groups, options


def text_of(groups):
    return b"\n\n".join(b"\n".join([*([shared] if shared else []), *lines]) for shared, lines in groups) + b"\n"


def batches_of(text, options, folder, **reading):
    """The batches of whole groups that a run would see."""
    (folder / "groups.vw").write_bytes(text)
    format = text_format(feature_config(options), skip_malformed=False).of_words(True, True)
    inputs = Inputs(InputConfig(paths=(str(folder / "groups.vw"),), **reading), format)
    return [part.batch for part in inputs.texts()]


def learn(case, folder, **reading):
    """``(rows, learner)``: float32[n, 4] of prediction, raw, loss and features."""
    kind, groups, options = case
    plain = gd_config(options)
    inherited = {field.name: getattr(plain, field.name) for field in fields(plain)}
    learner = Multiline(MultilineConfig(**inherited, **KINDS[kind]), options.bits, vw_compat=True)
    plan, results, rows = Plan(feature_config(options)), Results(), []
    labels = learner.labels(log=lambda line: None)
    for batch in batches_of(text_of(groups), options, folder, **reading):
        batch.label = labels.check(batch)
        results.reserve(len(batch))
        learner.run(batch, plan, results, 0, len(batch))
        columns = (results.prediction, results.raw, results.loss, results.features.astype(np.float32), batch.flags)
        rows += np.column_stack(columns).tolist()
    return np.array(rows, np.float32).reshape(-1, 5), learner


def learn_like_twin(case):
    kind, groups, options = case
    twin = Twin(options, classifier=kind in ("classifier", "overridden"), pairs=kind == "pairs")
    rows, seen = [], set()
    for shared, lines in groups:
        if twin.t + 0.001 <= twin.idle and not twin.adaptive:
            reject()
        read = [read_line(line, shared, options, seen) for line in lines]
        result = twin.run(read)
        if shared:
            rows.append([0, 0, 0, 0])
        for line, score in zip(read, result.scores, strict=True):
            rows.append([result.number if line.number == result.number else 0, score, 0, 0])
        rows[-1][2:] = result.loss, result.count
        rows.append([0, 0, 0, 0])
    return np.array(rows[:-1], np.float32), twin


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("groups")


@given(case=cases())
def test_rows_and_weights_are_the_twins(case, folder):
    wanted, twin = learn_like_twin(case)
    table = np.column_stack([twin.w, twin.g, twin.n] if twin.adaptive or twin.normalized else [twin.w])
    assume(np.isfinite(table).all())
    assume(case[2].loss != "logistic" or (abs(wanted[:, 1]) < 16).all())
    rows, learner = learn(case, folder)
    np.testing.assert_array_equal(rows[:, :4], wanted)
    np.testing.assert_array_equal(learner.weights[:, :3], table)
    assert label_range(learner) == (twin.low, twin.high)
    assert learner.get("unlabeled_weight") == twin.idle
    assert [learner.get(name) for name in ("norm_sum", "norm_weight")] == [twin.length, twin.total]


def line_number(number):
    words = b" ".join(b"%c%d" % (97 + number % 3, number * k % 17) for k in range(5))
    return b"%d:%d |x %s |y b%d" % (number, number % 4, words, number % 5)


@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_long_groups_are_learned_as_the_twin_does(kind, folder):
    """Groups of more lines than are kept expanded."""
    groups = [(b"shared |s z", [line_number(number) for number in range(1, count)]) for count in (5, 34, 36, 71, 3)]
    case = (kind, groups, PLAIN)
    wanted, twin = learn_like_twin(case)
    rows, learner = learn(case, folder)
    np.testing.assert_array_equal(rows[:, :4], wanted)
    np.testing.assert_array_equal(learner.weights[:, :3], np.column_stack([twin.w, twin.g, twin.n]))


@pytest.mark.parametrize("kind", KINDS)
def test_long_lines_are_learned_as_the_twin_does(kind, folder):
    """Lines of more terms than are kept, between short ones."""
    long = [b" ".join(b"%c%d" % (first, k) for k in range(130)) for first in b"ab"]
    lines = [b"1:1 |x a", b"2:0 |x %b |y %b" % tuple(long), b"3:2 |x b |y c", b"4:1 |x %b |y %b" % (long[1], long[0])]
    case = (kind, [(None, lines)] * 2, Options(bits=10, interactions=[b"xy"]))
    wanted, twin = learn_like_twin(case)
    rows, learner = learn(case, folder)
    np.testing.assert_array_equal(rows[:, :4], wanted)
    np.testing.assert_array_equal(learner.weights[:, :3], np.column_stack([twin.w, twin.g, twin.n]))


def test_the_last_line_of_a_group_stands_for_it(folder):
    groups = [(b"shared |s a", [b"1:1 |x a", b"2:0 |x b"]), (None, [b"7:3 |x c"])]
    rows, _ = learn(("costs", groups, PLAIN), folder)
    assert [bool(flags & INNER) for flags in rows[:, 4].astype(int)] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"csoaa_ldf": "m", "wap_ldf": "m"}, "do not go together"),
        ({"csoaa_ldf": "singleline"}, "is not one of m, multiline, mc, multiline-classifier"),
        ({"csoaa_ldf": "m", "ldf_override": "x"}, "--ldf_override: 'x' is not one of m"),
        ({"csoaa_ldf": "m", "binary": True}, "--binary does not go"),
    ],
)
def test_configurations_that_make_no_sense(options, message):
    with pytest.raises(UsageError, match=message):
        MultilineConfig(**options)


@pytest.mark.parametrize(
    "line", [b"|x a", b"1:1 2:1 |x a", b"1:x |x a", b"1:inf |x", b"2:nan |x", b"1:2:3 |x a", b"shared |x a"]
)
def test_labels_that_are_none(line, folder):
    batch = batches_of(b"1:0 |x a\n" + line + b"\n", PLAIN, folder)[0]
    with pytest.raises(DataError, match="expected one word class:cost"):
        Multiline(MultilineConfig(csoaa_ldf="m"), 4).labels().check(batch)


def test_classes_are_numbers_or_hashed_names(folder):
    batch = batches_of(b"4294967295:1 |x a\nfoo:2 |x b\nlabel:3 |x c\n", PLAIN, folder)[0]
    label = Multiline(MultilineConfig(csoaa_ldf="m"), 4).labels().check(batch)
    assert label.tolist() == [1, 1, 1]
    assert batch.lists.indices.tolist() == [4294967295, 4138058784, 0]
    assert batch.lists.values.tolist() == [1, 2, 3]


def test_arrays_that_do_not_fit_are_refused(folder):
    learner = Multiline(MultilineConfig(csoaa_ldf="m"), 10)
    batch = batches_of(b"1:0 |x a\n2:1 |x b\n", PLAIN, folder)[0]
    batch.label = learner.labels().check(batch)
    results = Results()
    results.reserve(2)
    plan = Plan(feature_config(PLAIN))
    batch.lists.indptr = np.array([0, 3, 2])
    with pytest.raises(ValueError, match="out of order"):
        learner.run(batch, plan, results, 0, 2)
    batch.lists.indptr = np.array([0, 1, 9])
    with pytest.raises(ValueError, match="do not fit"):
        learner.run(batch, plan, results, 0, 2)
