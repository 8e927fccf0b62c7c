import json
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.data.batch import BLANK, SAVE, TAGGED
from vwlite.errors import ModelError, UsageError
from vwlite.options import FLOAT32_MAX
from vwlite.training.counters import (
    COUNT,
    INDEX,
    NO_HOLDOUT,
    Counters,
    ProgressRule,
    parse_progress,
)

NAN = float("nan")


@dataclass
class Rows:
    label: np.ndarray
    importance: np.ndarray
    flags: np.ndarray
    held: np.ndarray
    loss: np.ndarray
    features: np.ndarray

    def __len__(self):
        return len(self.label)


DTYPES = ("<f4", "<f4", "u1", "u1", "<f4", "<u4")


def rows(*examples):
    """Rows from tuples (label, importance, flags, held, loss, features)."""
    columns = zip(*examples, strict=True) if examples else [()] * 6
    return Rows(*(np.array(column, t) for column, t in zip(columns, DTYPES, strict=True)))


def run(counters, data, cuts=(), held=True):
    """Tally all rows, also cut at ``cuts``; the rows that were due and the sums they showed."""
    due = []
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for begin, end in pairwise(edges):
        row = begin
        while row < end:
            row = counters.tally(data, data, data.held if held else None, row, end)
            if counters.row_due:
                due.append((row - 1, counters.array.tobytes()))
                counters.start_interval()
    return due


weights = st.floats(0, 8, width=32)
example = st.tuples(
    st.one_of(st.just(NAN), st.sampled_from([-1.0, -0.0, 0.0, 1.0]), st.floats(-9, 9, width=32)),
    st.one_of(st.just(1.0), weights, st.just(-1.0)),
    st.sampled_from([0, 0, 0, TAGGED, BLANK, SAVE, SAVE | TAGGED]),
    st.sampled_from([0, 0, 1]),
    weights,
    st.integers(0, 2**32 - 1),
)
rules = st.builds(ProgressRule, st.booleans(), st.sampled_from([0.5, 1.0, 1.25, 2.0, 7.0]))


@settings(deadline=None)
@given(st.lists(example, max_size=40), st.lists(st.integers(0, 40)), rules)
def test_any_split_gives_the_same_counters_and_rows(examples, cuts, rule):
    whole, parts = Counters(rule), Counters(rule)
    data = rows(*examples)
    due = run(whole, data)
    assert run(parts, data, cuts) == due
    parts.row_due = whole.row_due  # belongs to the last call alone
    assert parts.array.tobytes() == whole.array.tobytes()


def plain_tally(data):
    """The counters by name, written as the definition reads."""
    sums = dict.fromkeys(INDEX, 0.0)
    seen = []
    for i in range(len(data)):
        if data.flags[i] & (BLANK | SAVE):
            continue
        label, weight = float(data.label[i]), float(data.importance[i])
        labelled = not math.isnan(label)
        if labelled and label not in seen:
            seen.append(label)
        if labelled and data.held[i]:
            for stretch in ("", "_since_dump", "_since_pass"):
                sums["holdout_weight" + stretch] += weight
                sums["holdout_loss" + stretch] += float(data.loss[i])
            continue
        sums["labeled_weight" if labelled else "unlabeled_weight"] += weight
        sums["weighted_labels"] += label * weight if labelled else 0
        sums["sum_loss"] += float(data.loss[i])
        sums["sum_loss_since_dump"] += float(data.loss[i])
        sums["total_features"] += int(data.features[i])
        sums["example_number"] += 1
    sums["first_label"], sums["second_label"] = [*seen[:2], NAN, NAN][:2]
    sums["more_labels"] = int(len(seen) > 2)
    return sums


@settings(deadline=None)
@given(st.lists(example, max_size=40))
def test_counters_equal_the_plain_definition(examples):
    data = rows(*examples)
    counters = Counters()
    counters.dump_interval = math.inf
    assert run(counters, data) == []
    expected = plain_tally(data)
    for name in ("dump_interval", "holdout_best_loss", "progress_step", "simple_labels"):
        expected[name] = getattr(counters, name)
    got = {name: getattr(counters, name) for name in INDEX}
    assert got == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def test_every_place_has_one_name():
    assert sorted(INDEX.values()) == list(range(COUNT))
    assert all(isinstance(getattr(Counters, name), property) for name in INDEX)


def test_classes_are_neither_summed_nor_remembered():
    counters = Counters(simple_labels=False)
    run(counters, rows((3, 2, 0, 0, 1, 5), (1, 1, 0, 1, 1, 5)))
    assert (counters.labeled_weight, counters.holdout_weight) == (2, 1)
    assert counters.weighted_labels == 0
    assert math.isnan(counters.first_label)


def test_integers_stay_exact_beyond_float32():
    counters = Counters()
    counters.total_features = 2**53 - 2**32
    run(counters, rows((1, 1, 0, 0, 0, 2**32 - 1)))
    assert counters.total_features == 2**53 - 1


def test_row_due_after_the_last_row_and_not_twice():
    data = rows((1, 1, 0, 0, 0, 1), (0, 1, BLANK, 0, 0, 0))
    counters = Counters(ProgressRule(True, 1.0))
    assert counters.tally(data, data, None, 0, 1) == 1
    assert counters.row_due
    # Still due as nobody took note, yet a blank line is no example to show.
    assert counters.tally(data, data, None, 1, 2) == 2
    assert not counters.row_due


def test_doubling_and_additive_rows():
    ones = rows(*[(1, 1, 0, 0, 0, 1)] * 20)
    assert [row for row, _ in run(Counters(), ones)] == [0, 1, 3, 7, 15]
    assert [row for row, _ in run(Counters(ProgressRule(True, 7.0)), ones)] == [6, 13]


def test_dump_interval_is_rounded_to_float32():
    counters = Counters(ProgressRule(False, float(np.float32(1.1))))
    counters.labeled_weight = 16777217.0
    counters.start_interval()
    assert counters.dump_interval == float(np.float32(16777216) * np.float32(1.1))
    counters = Counters(ProgressRule(True, 1.0))
    counters.labeled_weight = 16777217.0
    counters.start_interval()
    assert counters.dump_interval == 16777216.0


def test_holdout_stretch_ends_only_with_a_row_that_showed_it():
    counters = Counters()
    run(counters, rows((1, 2, 0, 1, 3, 1)))
    counters.start_interval()
    assert counters.holdout_loss_since_dump == 3
    counters.start_interval(holdout=True)
    assert (counters.holdout_loss_since_dump, counters.holdout_weight_since_dump) == (0, 0)
    assert counters.holdout_loss == 3


def test_end_pass_keeps_the_best_average():
    counters = Counters()
    assert counters.end_pass(1)
    assert counters.holdout_best_loss == NO_HOLDOUT
    assert not counters.end_pass(2)
    run(counters, rows((1, 2, 0, 1, 0.2, 1)))
    assert counters.end_pass(3)
    assert counters.holdout_best_loss == np.float32(float(np.float32(0.2)) / 2)
    run(counters, rows((1, 2, 0, 1, 0.3, 1)))
    assert not counters.end_pass(4)
    assert (counters.holdout_best_pass, counters.holdout_loss_since_pass) == (3, 0)


@pytest.mark.parametrize("short", ["label", "importance", "flags", "held", "loss", "features"])
def test_short_arrays_are_refused(short):
    data = rows(*[(1, 1, 0, 0, 0, 1)] * 3)
    setattr(data, short, getattr(data, short)[:2].copy())
    counters = Counters()
    before = counters.array.copy()
    with pytest.raises(ValueError, match=r"rows 0:3"):
        counters.tally(data, data, data.held, 0, 3)
    np.testing.assert_array_equal(counters.array, before)


def test_wrong_number_of_counters_is_refused():
    data = rows((1, 1, 0, 0, 0, 1))
    counters = Counters()
    counters.array = np.zeros(COUNT - 1)
    with pytest.raises(ValueError, match="counters"):
        counters.tally(data, data, None, 0, 1)


@settings(deadline=None)
@given(st.lists(example, max_size=20), st.lists(example, max_size=20), rules)
def test_stopped_and_resumed_equals_one_run(first, second, rule):
    whole, before, after = Counters(rule), Counters(rule), Counters(rule)
    run(whole, rows(*first, *second), [len(first)])
    run(before, rows(*first))
    after.restore(json.loads(json.dumps(before.state())))
    run(after, rows(*second))
    after.row_due = whole.row_due
    assert after.array.tobytes() == whole.array.tobytes()


def test_reset_keeps_only_the_rule():
    counters = Counters(ProgressRule(True, 5.0), simple_labels=False)
    fresh = counters.array.copy()
    run(counters, rows(*[(1, 1, 0, 0, 1, 1)] * 9, (2, 1, 0, 1, 1, 1)))
    assert counters.example_number == 9
    counters.reset()
    np.testing.assert_array_equal(counters.array, fresh)
    assert (counters.dump_interval, counters.holdout_best_loss) == (5.0, FLOAT32_MAX)


@pytest.mark.parametrize(
    "state",
    [
        None,
        [],
        {"example_numbers": 1},
        {"row_due": 1},
        {"example_number": None},
        {"example_number": -1},
        {"example_number": 1.5},
        {"more_labels": True},
        {"sum_loss": "1"},
        {"sum_loss": 10**400},
    ],
)
def test_damaged_state_is_refused_and_changes_nothing(state):
    counters = Counters()
    run(counters, rows((1, 1, 0, 0, 1, 1)))
    before = counters.array.copy()
    with pytest.raises(ModelError):
        counters.restore(state)
    np.testing.assert_array_equal(counters.array, before)


@pytest.mark.parametrize(
    ("text", "additive", "step", "warning"),
    [
        ("1", True, 1, None),
        ("1000", True, 1000, None),
        ("+3", True, 3, None),
        ("1e5", True, 100000, None),
        ("2E1", True, 20, None),
        ("5e-1", True, 1, "below 1"),
        ("0", True, 1, "below 1"),
        ("-3", True, 1, "below 1"),
        ("2.0", False, 2, None),
        ("1.33333", False, float(np.float32(1.33333)), None),
        ("0.5", False, 1.5, "1.0 added"),
        (".5", False, 1.5, "1.0 added"),
        ("1.", False, 2, "1.0 added"),
        ("1.0", False, 2, "1.0 added"),
        ("-0.5", False, 0.5, "1.0 added"),
        ("1.1e1", False, 11, "above 9.0"),
    ],
)
def test_progress_rules_are_read(text, additive, step, warning):
    rule, said = parse_progress(text)
    assert rule == ProgressRule(additive, step)
    assert said is None if warning is None else warning in said


@pytest.mark.parametrize("text", ["", "abc", "5x", "1.5x", "1e", "1e99", "inf", "nan", " 3", "٣", "9" * 99])
def test_other_progress_rules_are_usage_errors(text):
    with pytest.raises(UsageError, match="-P"):
        parse_progress(text)
