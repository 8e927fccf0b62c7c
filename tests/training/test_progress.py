import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from training.test_counters import BLANK, NAN, SAVE, TAGGED, rows

from vwlite.learners.best_constant import best_constant
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import value_text
from vwlite.training import run_report
from vwlite.training.config import ProgressRule
from vwlite.training.counters import Counters
from vwlite.training.run_report import format_row, summary

# Printed by Vowpal Wabbit 9.11 with -P 1 for seven examples of which the labels are
# -1, -0.25, none, 5, none, none, none.
MIXED = """\
average  since         example        example        current        current  current
loss     last          counter         weight          label        predict features
1.000000 1.000000            1            1.0        -1.0000         0.0000        2
0.533007 0.066014            2            2.0        -0.2500        -0.5069        2
0.533007 n.a.                3            3.0        unknown        -0.3795        2
10.00180 28.93938            4            4.0         5.0000        -0.3795        2
10.00180 n.a.                5            5.0        unknown         0.1360        2
10.00180 n.a.                6            6.0        unknown         0.1360        1
10.00180 n.a.                7            7.0        unknown         0.1360        1

finished run
number of examples = 7
weighted example sum = 7.000000
weighted label sum = 3.750000
average loss = 10.001801
best constant = 1.250000
total feature number = 12
"""

# Three passes with --holdout_period 3 over six examples, a blank line and a save command; the one
# held-out example weighs nothing, another one -1.
WEIGHED = """\
1.000000 1.000000            1            2.0         1.0000         0.0000        2
unknown  unknown             6            4.5         1.0000         0.5131        2 h
unknown  unknown            11            7.0         1.0000         0.7012        2 h

finished run
number of examples per pass = 5
passes used = 3
weighted example sum = 7.500000
weighted label sum = -4.500000
average loss = undefined (no holdout)
best constant = -1.000000
total feature number = 30
"""


def table(counters, data, predictions, holdout=False):
    text, at = "", 0
    while at < len(data):
        at = counters.tally(data, data, data.held, at, len(data))
        if counters.row_due:
            label, prediction = value_text(data.label[at - 1]), value_text(predictions[at - 1])
            features = int(data.features[at - 1])
            text += format_row(counters, label, prediction, features, holdout) + "\n"
            counters.start_interval(holdout)
    return text


def test_table_and_summary_are_vowpal_wabbits():
    labels = (-1, -0.25, NAN, 5, NAN, NAN, NAN)
    losses = (1, 0.066014, 0, 28.939389, 0, 0, 0)
    features = (2, 2, 2, 2, 2, 1, 1)
    predictions = (0, -0.5069, -0.3795, -0.3795, 0.1360, 0.1360, 0.1360)
    data = rows(*((labels[i], 1, TAGGED, 0, losses[i], features[i]) for i in range(7)))
    counters = Counters(ProgressRule(True, 1.0))
    text = run_report.HEADER + "\n" + table(counters, data, predictions)
    assert text + summary(counters, best=best_constant(LossConfig(), counters.labels(), (-1, 5))) == MIXED


def test_passes_with_holdout_are_vowpal_wabbits():
    counters = Counters(ProgressRule(True, 1.0))
    text = ""
    for number, (first, loss) in enumerate([(0.0, 1), (0.513077, 0.3), (0.701217, 0.1)], start=1):
        data = rows(
            (1, 2, 0, 0, 2 * loss, 2),
            (3, -1, 0, 0, 0, 2),
            (2, 0, 0, 1, 0, 2),
            (NAN, 1, BLANK, 0, 0, 0),
            (-1, 0.5, 0, 0, 1, 2),
            (NAN, 1, SAVE | TAGGED, 1, 0, 0),
            (NAN, 1, 0, 0, 0, 2),
            (0, 0, TAGGED, 0, 0, 2),
        )
        text += table(counters, data, [first] * 8, holdout=number > 1)
        counters.end_pass(number)
    best = best_constant(LossConfig(), counters.labels(), (-50, 50))
    assert text + summary(counters, passes=3, holdout=True, best=best) == WEIGHED


def counted(**values):
    counters = Counters()
    for name, value in values.items():
        setattr(counters, name, value)
    return counters


def test_losses_are_cut_not_rounded():
    counters = counted(sum_loss=12.3456789, labeled_weight=1.0, sum_loss_since_dump=15241579434.0)
    assert format_row(counters, "1", "1", 1).startswith("12.34567 15241579 ")
    assert format_row(counters, "1", "1", 1, small=True).startswith("12.34567 1.52e+10 ")


def test_a_run_without_labels_has_no_loss():
    counters = counted(unlabeled_weight=2.0, example_number=2)
    assert format_row(counters, value_text(NAN), "0.5000", 3) == (
        "n.a.     n.a.                2            2.0        unknown         0.5000        3"
    )
    assert "average loss = n.a.\ntotal feature" in summary(counters)


def test_rows_of_held_out_losses_end_in_h():
    counters = counted(holdout_loss=0.972226, holdout_weight=2.0, example_number=40)
    assert format_row(counters, "0.0000", "0.2838", 3, holdout=True) == (
        "0.486113 unknown            40            0.0         0.0000         0.2838        3 h"
    )


def test_weights_that_cancel_do_not_raise():
    counters = counted(holdout_loss=1.0, holdout_weight=0.0, holdout_loss_since_dump=-1.0)
    assert format_row(counters, "1", "1", 1, holdout=True).startswith("inf      -inf     ")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.float32(1e30), "10000000150..."),
        (np.float32(-1234567936), "-1234567936..."),
        (np.float32(-123456792), "-123456792...."),
        (np.float32(1000000), "  1000000.0000"),
        (np.float32(-0.0), "       -0.0000"),
    ],
)
def test_long_values_end_in_dots(value, shown):
    assert format_row(Counters(), value_text(value), "0.0000", 2)[46:60] == shown


def test_names_may_stand_for_labels_and_predictions():
    text = format_row(counted(sum_loss=31.0, labeled_weight=81.0), "a_rather_long_name", "3(64%)", 6)
    assert text.endswith(" a_rather_lo...         3(64%)        6")


@settings(deadline=None)
@given(
    st.floats(0, 1e30, allow_nan=False),
    st.floats(-1e9, 1e9),
    st.integers(0, 2**53),
    st.text(st.characters(codec="ascii"), max_size=30),
)
def test_columns_never_move(loss, weight, number, name):
    counters = counted(sum_loss=loss, labeled_weight=weight, example_number=number)
    text = format_row(counters, name, name, number)
    widths = (8, 8, 12, 14, 14, 14, 8)
    assert len(text) == sum(widths) + 6
    assert all(text[sum(widths[:i]) + i - 1] == " " for i in range(1, 7))


def test_summary_of_a_holdout_run():
    counters = counted(
        example_number=144,
        labeled_weight=144.0,
        weighted_labels=48.0,
        holdout_best_loss=0.456671,
        first_label=0.0,
        second_label=1.0,
        total_features=432,
    )
    best = best_constant(LossConfig(), counters.labels(), (-50, 50))
    extra = [("average multiclass log loss", 0.5)]
    assert summary(counters, passes=4, holdout=True, best=best, extra=extra) == (
        "\nfinished run\n"
        "number of examples per pass = 36\n"
        "passes used = 4\n"
        "weighted example sum = 144.000000\n"
        "weighted label sum = 48.000000\n"
        "average loss = 0.456671 h\n"
        "average multiclass log loss = 0.500000\n"
        "best constant = 0.333333\n"
        "best constant's loss = 0.222222\n"
        "total feature number = 432\n"
    )


def test_data_without_any_label_show_no_rows_before_the_error(run_here, tmp_path):
    (tmp_path / "u.vw").write_text("| a\n" * 40)
    done = run_here("train", "u.vw", "-f", "m", status=65)
    assert "there is no labelled example" in done.stderr and "n.a." not in done.stderr + done.stdout
    (tmp_path / "l.vw").write_text("| a\n| b\n1 | a\n")
    done = run_here("train", "l.vw", "-f", "m")
    rows = [line for line in (done.stderr + done.stdout).splitlines() if " unknown " in line]
    assert len(rows) == 2 and all(row.startswith("n.a.") for row in rows)
