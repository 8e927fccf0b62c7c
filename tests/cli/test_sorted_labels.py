"""What is noted of labels at the end of the first pass: that they are sorted, that they are two classes."""

from itertools import pairwise

import numpy as np
import pytest

from vwlite.training.label_sample import LabelOrder

SORTED = "".join(f"{label} |words w{n % 7}\n" for n, label in enumerate([1] * 90 + [-1] * 60))
SAID = "the lines are sorted by label: it changes once, 72 times in random order; the last examples count most"
ORDERS = [[], ["--block-size", 64], ["--passes", 3, "-k", "-c"], ["--loss_function", "logistic"]]


@pytest.mark.parametrize("more", ORDERS)
def test_sorted_lines_are_said_once(vwlite, write, more):
    write("sorted.vw", SORTED)
    stderr = vwlite("train", "sorted.vw", "-f", "model", *more).stderr
    assert stderr.count(f"note: {SAID}: shuffle them, or --shuffle-first\n") == 1
    assert "sorted" not in vwlite("train", "sorted.vw", "-f", "model", *more, "--quiet").stderr


def test_sorted_names_are_said_too(vwlite, write):
    write("sorted.vw", SORTED.replace("-1", "dog").replace("1 |", "cat |"))
    stderr = vwlite("train", "sorted.vw", "--oaa", 2, "--named_labels", "cat,dog").stderr
    assert f"note: {SAID}: shuffle them, or --shuffle-first\n" in stderr


@pytest.mark.parametrize("more", [["--shuffle-first"], ["--bfgs", "--passes", 3, "-k", "-c"]])
def test_runs_that_do_not_learn_in_this_order_say_nothing(vwlite, write, more):
    write("sorted.vw", SORTED)
    assert "sorted by label" not in vwlite("train", "sorted.vw", *more).stderr
    assert "sorted by label" not in vwlite("vw", "sorted.vw").stderr


@pytest.mark.parametrize("labels", [[1, -1] * 200, [1] * 399 + [-1], list(range(400)), [3] * 400, [1] * 40 + [-1] * 40])
def test_other_orders_are_not(vwlite, write, labels):
    """Mixed, seldom of one class (1 change of 2 expected), values, one label, too few."""
    write("other.vw", "".join(f"{label} |a b\n" for label in labels))
    assert "sorted by label" not in vwlite("train", "other.vw").stderr


def test_mixed_labels_are_soon_no_longer_counted(vwlite, write, monkeypatch):
    """A run pays for its first examples only; lines that are sorted after one label are still found."""

    monkeypatch.setattr("vwlite.training.namespace_report.FIRST_LOOK", 100)
    counted = []
    add = LabelOrder.add
    monkeypatch.setattr(LabelOrder, "add", lambda order, labels: (counted.append(len(labels)), add(order, labels)))
    for size in (64, 1 << 16):
        counted.clear()
        write("mixed.vw", "".join(f"{n % 2} |a b\n" for n in range(1000)))
        vwlite("train", "mixed.vw", "--block-size", size)
        assert sum(counted) == 100
        counted.clear()
        write("sorted.vw", "".join(f"{n // 500} |a b\n" for n in range(1000)))
        assert "it changes once, 500 times" in vwlite("train", "sorted.vw", "--block-size", size).stderr
        assert sum(counted) == 1000


@pytest.mark.parametrize("sizes", [(1000,), (1, 2, 997), (500, 500)])
def test_counts_are_those_of_a_loop(sizes):
    rng = np.random.default_rng(1)
    labels = rng.choice(np.array([0, 1, 5, np.nan], np.float32), 1000)
    order = LabelOrder()
    for part in np.split(labels, np.cumsum(sizes)[:-1]):
        order.add(part)
        kept = LabelOrder()
        kept.restore(order.state())
        order = kept
    known = [label for label in labels.tolist() if label == label]
    assert order.changes == sum(label != other for label, other in pairwise(known))
    assert order.counts == {label: known.count(label) for label in set(known)}


ADVICE = "note: --loss_function logistic may learn these data better\n"


@pytest.mark.parametrize(("labels", "options", "told"), [
    ((-1, 1), "", True),
    ((0, 1), "--passes 3 -k -c", True),
    ((-1, 1), "--holdout_after 120 --passes 2 -k -c", True),
    ((-1, 1), "--quiet", False),
    ((-1, 1), "--loss_function squared", False),
    ((-1, 1), "--loss_function hinge", False),
    ((-1, 1), "--link logistic", False),
    ((0, 1), "--levels 0,1", False),
    ((-1, 1), "--coin", False),
    ((-1, 2), "", False),
    ((-1, 0, 1), "", False),
    ((1,), "", False),
])
def test_labels_of_two_classes_without_a_loss_are_told_of_the_logistic_one(labels, options, told, vwlite, write):
    rows = [(labels[n % len(labels)], n % 7 + 1) for n in range(160)]
    write("t.vw", "".join(f"{label} |a x{value}\n" for label, value in rows))
    write("t.svm", "".join(f"{label} 1:{value}\n" for label, value in rows))
    write("t.jsonl", "".join(f'{{"y": {label}, "x": {value}}}\n' for label, value in rows))
    for file, more in (("t.vw", ()), ("t.svm", ()), ("t.jsonl", ("--columns", "label=y"))):
        stderr = vwlite("train", file, "-f", "m", *more, *options.split()).stderr
        assert stderr.count("may learn") == stderr.count(ADVICE) == told
        assert "may learn" not in vwlite("train", file, "-i", "m", "-f", "n", *more).stderr
    assert "may learn" not in vwlite("vw", "t.vw").stderr


def test_labels_that_are_absent_make_no_third_class(vwlite, write):
    write("t.csv", "y,x\n" + "".join(f"{['1', '0', 'NA', ''][n % 4]},{n % 5}\n" for n in range(200)))
    stderr = vwlite("train", "t.csv", "--columns", "label=y").stderr
    assert stderr.count("note: --loss_function logistic --passes 20") == stderr.count("may learn") == 1


def test_few_labels_of_two_classes_are_not_told_of_the_logistic_loss(vwlite):
    assert "may learn" not in vwlite("train", "-f", "m", stdin="1 |a x\n0 |a y\n" * 49).stderr


@pytest.mark.parametrize(("options", "told"), [("", True), ("--loss_function squared", False)])
def test_tables_of_two_classes_are_told_before_they_are_learned(options, told, vwlite, write):
    write("t.csv", "y,x\n" + "".join(f"{n % 2},{n % 7}.5\n" for n in range(100)))
    stderr = vwlite("train", "t.csv", "--columns", "label=y", *options.split()).stderr
    assert stderr.count("--loss_function logistic") == told and stderr.count("may learn these data better") == 1
