"""Classes of one against all that several threads learn: the same bytes as by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite import Model
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import Diverged
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.learners.base import STOPPED
from vwlite.learners.class_threads import BLOCK, ClassThreads, parts_of
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.learners.per_class import PerClass, kernel
from vwlite.learners.row_results import Results

ROWS = 300
SCRATCH = 3  # the column of the table that no model keeps
NEEDS_BLOCKS = pytest.mark.skipif(
    not kernel.can_split(PerClass(PerClassConfig(oaa=40), 12), PerClass(PerClassConfig(oaa=40), 12).kernel),
    reason="classes are learned in blocks only by processors with vector instructions",
)


def text(classes, first, rows=ROWS, seed=1):
    """Rows of all classes, some without a label, without importance, blank or as long as a page."""
    random = np.random.default_rng(seed)
    lines = []
    for row in range(rows):
        label = first + row % classes if row % 9 else ""
        importance = ("", " 0", " 2.5")[row % 7 % 3] if label != "" else ""
        words = " ".join(f"w{n}:{n / 10}" for n in random.integers(0, 60, 5 + 80 * (row % 31 == 0)))
        lines.append(f"{label}{importance} |a {words} |b b{row % 11}" if row % 50 else "")
    return "\n".join(lines) + "\n"


@given(st.integers(1, 3000), st.integers(1, 40))
def test_parts_are_whole_blocks_that_make_up_all_classes(classes, threads):
    parts = parts_of(classes, threads)
    assert [number for begin, count in parts for number in range(begin, begin + count)] == list(range(classes))
    assert 1 <= len(parts) <= threads
    assert len(parts) == 1 or min(count for _, count in parts) >= BLOCK // 2
    assert all(begin % BLOCK == 0 for begin, _ in parts)


def learned(threads, args, lines):
    model = Model(args, threads=threads)
    answers = model.learn(lines, keep_predictions=True).predictions
    return model.dumps(), answers


@NEEDS_BLOCKS
@pytest.mark.parametrize("classes", [32, 50, 66])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("more", ["", "-q ab", "--loss_function hinge --noconstant", "-b 9 --sgd", "--ftrl"])
def test_any_number_of_threads_gives_the_same_model(classes, first, more):
    args, lines = f"--oaa {classes} {more}", text(classes, first)
    bytes_of_one, answers_of_one = learned(1, args, lines)
    for threads in (2, 3):
        bytes_of_all, answers = learned(threads, args, lines)
        assert bytes_of_all == bytes_of_one
        assert np.array_equal(answers, answers_of_one)


def learner_of(classes, native=None, **more):
    learner = PerClass(PerClassConfig(oaa=classes, **more), 12)
    if native:
        learner.native = native
    return learner


def losses_of(learner, batch):
    plan, results = Plan(FeatureConfig(bits=12)), Results()
    results.reserve(len(batch))
    results.holdout_mask = (np.arange(len(batch)) % 5 == 3).astype(np.uint8)
    assert learner.run(batch, plan, results, 0, len(batch)) == len(batch)
    return [results.prediction, results.raw, results.loss, results.features]


@NEEDS_BLOCKS
@pytest.mark.parametrize("vw_compat", [False, True])
def test_results_scalars_and_norms_are_those_of_one_thread(vw_compat):
    actual = []
    for threads in (1, 2, 4):
        learner = PerClass(PerClassConfig(oaa=60), 12, vw_compat=vw_compat)
        learner.use_threads(threads)
        batch = parse_text(text(60, 1, rows=2500).encode(), TextFormat())
        actual.append([*losses_of(learner, batch), learner.scalars, learner.norms, learner.weights[:, :SCRATCH]])
    for other in actual[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(actual[0], other, strict=True))


class Counted:
    """The kernel, which tells of what it was called for."""

    def __init__(self):
        self.parts = []

    def run_rows(self, state, config, *arguments):
        self.parts.append(config.part)
        return kernel.run_rows(state, config, *arguments)

    can_split = staticmethod(kernel.can_split)


@NEEDS_BLOCKS
def test_each_thread_has_its_classes():
    native = Counted()
    batch = parse_text(text(50, 1).encode(), TextFormat())
    losses_of(learner_of(50, ClassThreads(native, 3)), batch)
    assert sorted(native.parts) == [(0, 16), (16, 16), (32, 18)]


@pytest.mark.parametrize("more", [{"l2": 1e-3}, {"l1": 1e-3}, {"scores": True}, {"oaa_subsample": 4}, {"ftrl": True}])
def test_what_threads_would_share_is_learned_by_one(more):
    native = Counted()
    losses_of(learner_of(50, ClassThreads(native, 3), **more), parse_text(text(50, 1).encode(), TextFormat()))
    assert native.parts == [None]


@NEEDS_BLOCKS
def test_a_request_to_stop_waits_until_all_are_at_the_same_row():
    learner = learner_of(50, ClassThreads(kernel, 2))
    plan, results = Plan(FeatureConfig(bits=12)), Results()
    batch = parse_text(text(50, 1, rows=2500).encode(), TextFormat())
    results.reserve(len(batch))
    plan.stop = np.ones(1, np.uint8)
    assert learner.native.run_rows(learner, learner.kernel, plan, batch, results, 7, (len(batch), True)) == (STOPPED, 7)
    assert not learner.weights.any()


@NEEDS_BLOCKS
@settings(max_examples=5)
@given(st.integers(0, 49))
def test_a_class_that_diverges_is_told_with_its_row(wrong):
    lines = text(50, 1, rows=100) + f"{wrong + 1} |a w1:1e38 w2:1e38 w3:1e38\n" * 3
    told = []
    for threads in (1, 2):
        with pytest.raises(Diverged) as raised:
            Model("--oaa 50 --loss_function squared -l 1e30", threads=threads).learn(lines)
        told.append(str(raised.value))
    assert told[0] == told[1]


def test_a_part_of_other_reductions_is_refused():
    learner = PerClass(PerClassConfig(csoaa=40), 12)
    learner.kernel.part = (16, 16)
    with pytest.raises(ValueError, match="by themselves"):
        losses_of(learner, parse_text(b"1:0 2:1 |a x\n", TextFormat()))
