"""Classes, costs and sets over other updates than gradient descent: like their twins, and like Vowpal Wabbit 9.11."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.coin import Coin, Pistol
from oracle.ftrl import Ftrl
from oracle.parse import parse_line
from oracle.per_class import OneAgainstAllOver
from oracle.pipeline import expand
from vwtext import gd_config

from vwlite.learners import config_class, learner_class

from .test_gd import problems
from .test_per_class import COUNT, LINES, label_of, learn

TWINS = {"coin": (Coin, 4, 1), "pistol": (Pistol, 1, 0.5), "ftrl": (Ftrl, 0.5, 1)}  # with alpha and beta


@st.composite
def cases(draw):
    """What learns; lines, options, what is held out."""
    lower = draw(st.sampled_from(sorted(TWINS)))
    losses = ("squared", "logistic", "hinge")
    lines, options, held = draw(problems(losses=losses, lines_of=LINES["oaa"]))
    options.rules = frozenset()
    options.l1 = options.l2 = options.sparse_l2 = options.initial_weight = options.constant = 0.0
    options.bits += 2
    return lower, lines, options, held


def learner_of(case, strict):
    lower, _, options, _ = case
    plain = gd_config(options)
    values = {field.name: getattr(plain, field.name) for field in fields(plain)}
    values |= {"ftrl_alpha": None, "ftrl_beta": None}
    name = "many" if lower == "ftrl" else "many+coin"
    config = config_class(name)(**values | {"oaa": COUNT, lower: True})
    return learner_class(name)(config, options.bits, vw_compat=not strict)


def scores_of_twin(case, strict):
    lower, lines, options, held = case
    inner, (make, alpha, beta) = replace(options, bits=options.bits - 2), TWINS[lower]
    twin, seen, scores = OneAgainstAllOver(COUNT, inner, lambda: make(inner, alpha, beta, False)), set(), []
    for one in twin.twins:  # labels are clipped as in vw in both cases
        one.strict = strict or lower == "ftrl"
    for number, line in enumerate(lines):
        example = parse_line(line, inner)
        label = label_of("oaa", line, example)
        assume(lower != "ftrl" or example.base == 0)  # its kernel clips by the labels before this one
        with np.errstate(all="ignore"):
            terms, _, squares = expand(example, inner, seen)
            learns = label is not None and not (held and held[number])
            answer = twin.run(terms, squares, label, example.importance, example.base, learns)
        scores.append(answer.scores)
    return np.array(scores, np.float32), twin


@given(cases(), st.booleans())
def test_scores_and_tables_are_the_twins(case, strict):
    if case[0] == "ftrl":
        strict = False
    scores, twin = scores_of_twin(case, strict)
    tables = [one.table() for one in twin.twins]
    assume(np.isfinite(scores).all() and all(np.isfinite(table).all() for table in tables))
    _, actual, learner = learn(("oaa", *case[1:]), learner=learner_of(case, strict))
    np.testing.assert_array_equal(actual, scores)
    table = learner.weights.reshape(-1, 4, learner.stride)
    for number, wanted in enumerate(tables):
        np.testing.assert_array_equal(table[:, number, : wanted.shape[1]], wanted)


FEATURES = 2 * [
    "|a x:2 y |b p", "|a x y:-1 |b q", "|a y z |b p q", "|a x:0.5 z:3 |b q", "|a z |b p", "|a x y z |b p q",
]
CLASSES = [1, 2, 3, 1, 3, 2, 2, 1, 3, 1, 2, 3]
LABELS = {
    "oaa": [f"{number}" for number in CLASSES],
    "csoaa": [
        f"{number}:0 {number % 3 + 1}:{1 + row % 3} {(number + 1) % 3 + 1}:0.5" for row, number in enumerate(CLASSES)
    ],
    "multilabel_oaa": [f"{n % 3}" if row % 3 else f"0,{1 + n % 2}" for row, n in enumerate(CLASSES)],
}
# What Vowpal Wabbit 9.11.2 answers to each line, and the raw predictions of the last one.
OF_VW = {
    ("oaa", "coin"): ("1 1 1 2 1 1 1 2 2 2 2 2", "1:-0.340538 2:-0.014966 3:-0.503519"),
    ("csoaa", "coin"): ("1 1 1 3 3 3 2 2 2 2 2 2", "3:0.485386 1:0.741115 2:0.204262"),
    ("multilabel_oaa", "coin"): ("- 0,2 0,2 0 0 0,2 2 2 0,1 0 0 0", ""),
    ("oaa", "pistol"): ("1 1 1 2 3 3 3 2 2 1 3 1", "1:-0.419056 2:-1 3:-1"),
    ("csoaa", "pistol"): ("1 1 1 2 2 3 1 1 1 1 3 2", "3:1.09101 1:7.81946 2:-0.465075"),
    ("multilabel_oaa", "pistol"): ("- 0,2 0,2 - 0,2 0 2 2 0,1 0,2 0 0,2", ""),
    ("oaa", "ftrl"): ("1 1 1 3 1 1 1 2 2 3 3 2", "1:-0.576515 2:0.129139 3:-0.9586"),
    ("csoaa", "ftrl"): ("1 1 1 2 3 3 1 2 2 2 3 2", "3:1.0678 1:1.17426 2:0.412997"),
    ("multilabel_oaa", "ftrl"): ("- 0,2 0,2 0 0,2 0,2 0,2 2 0 0 0 0,2", ""),
}


@pytest.mark.parametrize(("upper", "lower"), OF_VW)
@pytest.mark.parametrize("command", ["vw", "train"])
def test_numbers_are_vws(command, upper, lower, tmp_path, run_here):
    data = tmp_path / "data.vw"
    data.write_text("".join(f"{label} {line}\n" for label, line in zip(LABELS[upper], FEATURES, strict=True)))
    paths = "-p", tmp_path / "p", "-r", tmp_path / "r", "-f", tmp_path / "m"
    done = run_here(command, data, f"--{upper}", 3, f"--{lower}", "--quiet", *paths)
    assert done.returncode == 0, done.stderr
    answers, raw = OF_VW[upper, lower]
    assert [line.strip() or "-" for line in (tmp_path / "p").read_text().splitlines()] == answers.split()
    written = (tmp_path / "r").read_text().splitlines()
    assert bool(written) == bool(raw) or command == "train"
    for one, other in zip(written[-1].split() if raw else (), raw.split(), strict=True):
        (number, value), (wanted_number, wanted) = one.split(":"), other.split(":")
        assert number == wanted_number and float(value) == pytest.approx(float(wanted), abs=2e-6)


FTRL_OF_VW = [
    0, 0, 0.4, 4, 0.666667, 0.919314, 0.773083, 1.558679,
    0.556237, 2.020959, -0.794016, 15.518065, 0.442076, 1.898221, -0.638695, 3.191035,
]


def test_confidence_over_ftrl_is_vws(tmp_path, run_here):
    lines = 2 * ["1 |a x:2 y\n", "-1 |a x y:-1\n", "1 |a y z\n", "-1 |a x:0.5 z:3\n"]
    run_here("vw", "-", "--confidence", "--ftrl", "--quiet", "-p", tmp_path / "p", stdin="".join(lines))
    numbers = [float(word) for line in (tmp_path / "p").read_text().splitlines() for word in line.split()]
    np.testing.assert_allclose(numbers, FTRL_OF_VW, atol=2e-6)


def test_a_small_importance_moves_ftrl_as_far_as_its_confidence_says(tmp_path, run_here):
    lines = ["1 |a x:2 y\n", "-1 |a x y:-1\n", "1 |a y z\n", "-1 |a x:0.5 z:3\n"]
    (tmp_path / "data").write_text("".join(5 * lines))
    small, message = 1e-3, "|a x:0.7 z:2\n"
    run_here("train", "data", "--ftrl", "-f", "m", "--quiet")
    before, flip = map(float, run_here("predict", "-i", "m", "--confidence", stdin=message).stdout.split())
    label = -1 if before > 0 else 1
    run_here("train", "-i", "m", "-f", "n", "--quiet", stdin=f"{label} {small} {message}")
    moved = float(run_here("predict", "-i", "n", stdin=message).stdout) - before
    slope = 2 * (before - label)  # of the squared loss
    assert moved == pytest.approx(-slope * small * abs(before) / flip, rel=0.02)
