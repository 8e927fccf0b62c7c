"""``--ksvm``: models of the same bytes, reports, limits on support vectors, and the options that it refuses."""

import json

import numpy as np
import pytest

import vwlite
from vwlite.storage.model_file import load, save

RNG = np.random.default_rng(5)
ROWS = RNG.integers(0, 6, (300, 3))
SIGNS = np.where((ROWS[:, 0] - 2.5) * (ROWS[:, 1] - 2.5) + RNG.normal(size=300) > 0, 1, -1)
TEXT = "".join(
    f"{sign} 't{n} |u a:{a} b:{b} |i c{c}\n" for n, (sign, (a, b, c)) in enumerate(zip(SIGNS, ROWS, strict=True))
)
KSVM = ("--ksvm", "--kernel", "rbf", "--bandwidth", "0.3")


def vectors_of(path):
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    assert header == ["file", "line", "tag", "label", "a", "margin", "bound"]
    return rows


def accuracy(vwlite):
    """The accuracy of the model ``m`` on its training data."""
    return float(vwlite("evaluate", "-i", "m", "d", "--metric", "accuracy").stdout.split()[-1])


@pytest.fixture
def data(write):
    return write("d", TEXT)


def test_a_smaller_cache_gives_the_same_vectors(vwlite, data):
    for name, size in (("large", "256"), ("small", "1")):
        vwlite("train", "d", "-f", name, "--quiet", *KSVM, "--kernel_cache", size)
    first, second = (load(name).arrays for name in ("large", "small"))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_support_vectors_are_counted(vwlite, data):
    done = vwlite("train", "d", "-f", "m", *KSVM, "--json", "run.json")
    with open("run.json") as file:
        counts = json.load(file)["result"]["ksvm"]
    assert f"support vectors = {counts['support']}\n" in done.stderr
    assert f"kernels evaluated = {counts['kernels']}\n" in done.stderr
    assert "Lambda = 1\nKernel = rbf\nbandwidth = 0.3\n" in done.stderr
    inspected = json.loads(vwlite("inspect", "m", "--json", "-").stdout)["result"]["ksvm"]
    assert inspected == {"support": counts["support"]} and counts["merged"] == 0 and 50 < counts["support"] < 300


def test_kernels_separate_what_is_not_linearly_separable(vwlite, data):
    accuracies = {}
    for kernel, options in (("linear", ""), ("poly", "--l2 10 --degree 2"), ("rbf", "--bandwidth 0.3")):
        run = ("--passes", "5", "-c", "--quiet", *options.split())
        vwlite("train", "d", "-f", "m", "--ksvm", "--kernel", kernel, *run)
        accuracies[kernel] = accuracy(vwlite)
    assert accuracies["linear"] < 0.7 and accuracies["poly"] > 0.75 and accuracies["rbf"] > 0.75


def test_support_vectors_are_listed(vwlite, data, tmp_path):
    vwlite("train", "d", "-f", "m", *KSVM, "--passes", "40", "-c", "--holdout_off", "--quiet", "--support", "sv")
    rows = vectors_of(tmp_path / "sv")
    margins = [float(line) for line in vwlite("predict", "-i", "m", "d").stdout.split()[::2]]
    lines = [int(row[1]) for row in rows]
    assert lines == sorted(set(lines)) and [row[2] for row in rows] == [f"t{line - 1}" for line in lines]
    for line, row in zip(lines, rows, strict=True):
        assert float(row[5]) == pytest.approx(int(row[3]) * margins[line - 1], abs=1e-4)
        assert (float(row[4]) == 1) == (row[6] == "bound") and SIGNS[line - 1] == int(row[3])
        assert float(row[5]) < 1.05 and (row[6] == "bound" or float(row[5]) > 0.95)
    others = [SIGNS[line] * margins[line] for line in range(300) if line + 1 not in lines]
    assert min(others) > 0.95


def test_a_budget_is_kept_by_mergers(vwlite, data, tmp_path):
    done = vwlite("train", "d", "-f", "m", *KSVM, "--budget", "30", "--support", "sv")
    assert "support vectors = 30\nmergers = " in done.stderr
    rows = vectors_of(tmp_path / "sv")
    assert len(rows) == 30 and rows[0][:3] == ["", "0", ""]
    assert accuracy(vwlite) > 0.7


def test_a_model_continues_training(vwlite, write):
    lines = TEXT.splitlines(True)
    write("d", TEXT)
    write("a", "".join(lines[:150]))
    write("b", "".join(lines[150:]))
    vwlite("train", "d", "-f", "whole", *KSVM, "--quiet")
    vwlite("train", "a", "-f", "half", *KSVM, "--quiet")
    vwlite("train", "b", "-i", "half", "-f", "m", "--quiet")
    first, second = (load(name).arrays for name in ("whole", "m"))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    message = "--bandwidth 2 contradicts half"
    assert message in vwlite("train", "b", "-i", "half", "--bandwidth", "2", status=2).stderr


def test_vw_continues_as_vw_does(vwlite, data):
    """vw keeps the state of its random numbers, and forgets --l2."""
    vwlite("vw", "-d", "d", *KSVM, "--l2", "0.5", "-f", "m", "--quiet", "--pool_greedy", "--subsample", "2")
    done = vwlite("vw", "-d", "d", "-i", "m", "-p", "p", "--pool_size", "3", "--loss_function", "logistic", "--ksvm")
    assert "Lambda = 1\nKernel = rbf\nbandwidth = 0.3\n" in done.stderr and "Number of cache queries = " in done.stderr


def test_weights_of_lines_are_bounds(vwlite, write, tmp_path):
    write("d", TEXT.replace(" '", " 0.25 '"))
    vwlite("train", "d", *KSVM, "--quiet", "--support", "sv")
    assert {row[4] for row in vectors_of(tmp_path / "sv") if row[6]} == {"0.25"}


def test_unlabelled_lines_are_predicted(vwlite, data, write):
    vwlite("train", "d", "-f", "m", *KSVM, "--quiet")
    write("u", "|u a:1\n\n|u b:2\n")
    assert len(vwlite("predict", "-i", "m", "u").stdout.split()) == 2


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("numbers", lambda table: table[:3]),
        ("numbers", lambda table: -table),
        ("values", lambda values: values[1:]),
        ("indptr", lambda indptr: indptr[::-1]),
        ("indices", lambda indices: indices[::-1]),
    ],
)
def test_damaged_models_are_refused(vwlite, data, name, change):
    vwlite("train", "d", "-f", "m", *KSVM, "--quiet")
    model = load("m")
    save("broken", model.header, {**model.arrays, name: np.array(change(model.arrays[name]))})
    done = vwlite("predict", "-i", "broken", "d", status=76)
    assert "broken is not a model of this version's learners" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-q ui", "-q does not go with --ksvm, whose kernels cross features (--kernel poly)"),
        ("--interactions ui", "--interactions does not go with --ksvm"),
        ("--random_features rbf:64", "--random_features does not go with --ksvm"),
        ("--oaa 3", "--oaa and --ksvm do not go together"),
        ("--multiclass 3", "--multiclass and --ksvm do not go together"),
        ("--bfgs", "--bfgs and --ksvm do not go together"),
        ("--dual --l2 1", "--dual and --ksvm do not go together"),
        ("--ftrl", "--ftrl does not go with --ksvm"),
        ("-l 1", "-l does nothing with --ksvm"),
        ("--adaptive", "--adaptive does nothing with --ksvm"),
        ("--loss_function logistic", "--ksvm has --loss_function hinge, not logistic"),
        ("--kernel cosine", "--kernel"),
        ("--bandwidth 2", "--bandwidth does nothing without --kernel rbf"),
        ("--degree 3 --kernel rbf", "--degree does nothing without --kernel poly"),
        ("--bandwidth 0", "--bandwidth takes a number above 0, not 0"),
        ("--budget -1", "--budget takes 0 or more, not -1"),
        ("--kernel_cache 0", "--kernel_cache takes 1 or more, not 0"),
        ("--readable_model t", "models of --ksvm are not written as vw's text"),
        ("--workers 2 -f m", "--ksvm does not go with"),
    ],
)
def test_options_that_do_not_go_together_are_refused(vwlite, data, options, message):
    assert message in vwlite("train", "d", "--ksvm", *options.split(), status=2).stderr


def test_its_options_need_it(vwlite, data):
    assert "--bandwidth needs --ksvm" in vwlite("train", "d", "--bandwidth", "2", status=2).stderr


def test_later_calls_in_python_are_of_other_examples():
    """They are added as those of one call are, though their numbers start again."""
    lines = TEXT.splitlines()
    whole, parts = (vwlite.Model(ksvm=True, kernel="poly", l2=9) for _ in range(2))
    whole.learn(lines)
    for part in (lines[:100], lines[100:]):
        parts.learn(part)
    assert np.array_equal(whole.predict(lines), parts.predict(lines))


def test_a_batch_without_rows(vwlite, write):
    vwlite("train", write("data", "1 |a x\n-1 |a y\n"), "--ksvm", "-f", "m", "--quiet")
    done = vwlite("predict", "-i", "m", write("broken", "x |a\n1 |a x\n"), "--block-size", "1", status=65)
    assert done.lines[0] == "nan" and len(done.lines) == 2 and "1 of 2 lines are malformed" in done.stderr
