"""What the passes of a curriculum take, the penalty of their steps and the weights they make, beside a plain twin."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from l1_case import CORPUS, binary_part, chain_part, lines_of, text_of, twins
from oracle import curriculum as plain
from oracle import l1 as oracle

from vwlite.data.shuffle import order_of
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.solvers.loglinear.config import PENALTIES, L1Config
from vwlite.solvers.loglinear.sgd import Sgd, check_curriculum, difficulty_of, stages_of
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import Difficulties

PASSES = 5
WIDTH = 0.21371  # no rank is at the edge of it
ROW = st.tuples(st.sampled_from([-1, 1]), st.lists(st.sampled_from("abcdef"), max_size=4))
ROWS = st.lists(ROW, min_size=1, max_size=14)
SHARES = st.sampled_from(["1", "0.5", "0.25", "0.1", "0.3", "0.07"])
KINDS = st.sampled_from([("step", False), *((kind, sample) for kind in ("linear", "logistic") for sample in (0, 1))])


def curricula(steps=None):
    """Configurations with their start as a fraction."""

    def made(order, start, kind):
        weights = {"weights": kind[0], "sample": bool(kind[1]), "width": None if kind[0] == "step" else WIDTH}
        return CurriculumConfig(order, start=float(start), steps=steps, **weights), Fraction(start)

    return st.builds(made, st.sampled_from(["easy", "anti", "random"]), SHARES, KINDS)


def draws(config, rows, seed, number):
    return (order_of(rows, seed, -1 - number) + 0.5) / rows if config.sample else None


def ranked(config, places, difficulty, seed):
    if config.order == "random":
        return [places[place] for place in order_of(len(places), seed, -1)]
    sign = -1 if config.order == "anti" else 1
    return sorted(places, key=lambda place: sign * difficulty[place])


def wanted(config, start, difficulty, seed):
    """For each pass its rows in their order, with their weights."""
    everything, result = [*range(len(difficulty))], []
    for number in range(1, PASSES + 1):
        places = order_of(len(difficulty), seed, number - 1).tolist()
        if config.by_pass:
            order = ranked(config, everything, difficulty, seed)
            share = plain.share(number, PASSES, start)
            drawn = draws(config, len(difficulty), seed, number)
            result.append(plain.taken(places, order, share, config.weights, WIDTH, drawn))
        elif number == 1:
            result.append(within(config, start, difficulty, seed, places))
        else:
            result.append([(place, 1) for place in places])
    return result


def within(config, start, difficulty, seed, places):
    result = []
    for number, begin in enumerate(range(0, len(places), config.steps), 1):
        step, share = places[begin : begin + config.steps], min(number * start, 1)
        drawn = draws(config, len(step), seed, number)
        drawn = None if drawn is None or share == 1 else dict(zip(step, drawn, strict=True))
        result += plain.taken(step, ranked(config, step, difficulty, seed), share, config.weights, WIDTH, drawn)
    return result


def mean(stage):
    return sum(weight for _, weight in stage) / len(stage) if stage else 1


def check(part, config, curriculum, start, difficulty, gradient):
    """Stages, the penalty and the weights after every pass."""
    stages = wanted(curriculum, start, difficulty, config.seed)
    made = stages_of(config, curriculum, np.array(difficulty, float), lambda note: None)
    first, rows = order_of(len(difficulty), config.seed, 0), part.rows
    assert made.steps(PASSES, first) == sum(map(len, stages))
    sgd = Sgd(config, np.zeros((2, part.problem.weights)), stages=made)
    sgd.begin(len(rows))
    schedule = {"rate": config.rate, "eta": config.initial_learning_rate, "alpha": config.decay}
    options = {"penalty": config.penalty, **schedule}
    due = 0.0
    for number in range(1, PASSES + 1):
        stage = made.stage(number, order_of(len(difficulty), config.seed, number - 1))
        assert stage.places.tolist() == [place for place, _ in stages[number - 1]]
        weights = np.ones(len(stage.places)) if stage.weights is None else stage.weights
        np.testing.assert_allclose(weights, [weight for _, weight in stages[number - 1]], rtol=1e-6)
        sgd.run_pass(part.problem, rows)
        shares, iterates = [mean(one) / len(rows) for one in stages], []

        def weighted(w, step):
            return step[1] * gradient(w, rows[step[0]])

        start_at, made_of = np.zeros(part.problem.weights), stages[:number]
        last = oracle.sgd(start_at, weighted, made_of, options, config.l1, iterates, shares=shares)
        times = np.arange(size := len(stages[number - 1])) / max(size, 1) + number - 1
        due += config.strength * shares[number - 1] * sum(oracle.rate(schedule, time) for time in times)
        assert sgd.cumulative_penalty == pytest.approx(due, rel=1e-6, abs=1e-12)
        if config.average:
            before = config.steps_before_mean(sum(map(len, stages)))
            last = np.mean(iterates[before:], 0) if iterates[before:] else last
        np.testing.assert_allclose(sgd.weights, last, atol=1e-6)


def two_classes(rows):
    """The part, how many features each row has, and the gradient of log p."""
    part = binary_part("".join(f"{label} |w {' '.join(words)}\n" for label, words in rows))
    problem = part.problem
    dense = np.zeros((problem.examples, problem.weights))
    for row in range(problem.examples):
        here = problem.terms.row(row)
        np.add.at(dense[row], problem.terms.indices[here], problem.terms.values[here])
    return part, [len(words) for _, words in rows], oracle.logistic_gradient(dense, problem.label)


@pytest.mark.parametrize("penalty", PENALTIES)
@given(rows=ROWS, curriculum=curricula(), seed=st.integers(0, 5), rate=st.sampled_from(["harmonic", "exponential"]))
@settings(max_examples=15, deadline=None)
def test_passes_over_two_classes(penalty, rows, curriculum, seed, rate):
    part, difficulty, gradient = two_classes(rows)
    config = L1Config(l1=0.3, penalty=penalty, rate=rate, learning_rate=0.7, seed=seed, passes=PASSES)
    check(part, config, *curriculum, difficulty, gradient)


@given(rows=ROWS, curriculum=curricula(steps=4), seed=st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_steps_within_the_first_pass(rows, curriculum, seed):
    part, difficulty, gradient = two_classes(rows)
    config = L1Config(l1=0.3, learning_rate=0.7, seed=seed, passes=PASSES)
    check(part, config, *curriculum, difficulty, gradient)


@given(
    rows=ROWS,
    curriculum=st.one_of(curricula(), curricula(steps=3)),
    after=st.sampled_from([None, 0, 7, 99]),
    seed=st.integers(0, 5),
)
@settings(max_examples=30, deadline=None)
def test_the_mean_begins_after_half_of_the_steps_that_are_made(rows, curriculum, after, seed):
    part, difficulty, gradient = two_classes(rows)
    mean_of = {"penalty": "none", "average": True, "average_after": after}
    config = L1Config(learning_rate=0.7, seed=seed, passes=PASSES, **mean_of)
    check(part, config, *curriculum, difficulty, gradient)


@pytest.mark.parametrize("steps", [None, 2])
@given(corpus=CORPUS, data=st.data())
@settings(max_examples=8, deadline=None)
def test_sequences(steps, corpus, data):
    curriculum = data.draw(curricula(steps=steps))
    part = chain_part(text_of(corpus))
    sequences = twins(part.problem)
    config = L1Config(model="crf", l1=0.3, learning_rate=0.3, passes=PASSES)

    def gradient(w, row):
        return part.problem.weight[row] * sequences[row].gradient(w)

    check(part, config, *curriculum, [*map(len, corpus)], gradient)


SEQUENCES = "X |w a\nY |w b a |v d:2\n\nX |w a\nY |w a\nX |w a |v d:3\n\nY |w c a\n\n"


@pytest.mark.parametrize(
    ("model", "by", "wanted"),
    [
        ("crf", "length", [2, 3, 1]),
        ("crf", "rarest", [-1, -2, -1]),  # d of the namespace v is there twice
        ("crf", "value:v", [2, 3, np.nan]),
        ("tree", "length", [2, 3, 1]),
        ("tree", "value:v", [2, 3, np.nan]),
        ("multinomial", "length", [1, 3, 1, 1, 2, 2]),
        ("multinomial", "value:v", [np.nan, 2, np.nan, np.nan, 3, np.nan]),
    ],
)
def test_how_hard_sequences_are(model, by, wanted):
    ranked = Difficulties(by, FeatureConfig())
    ranked.add(parse_text(SEQUENCES.encode(), TextFormat(words=True)))
    lines, _ = lines_of(SEQUENCES)
    np.testing.assert_array_equal(difficulty_of(L1Config(model=model), by, ranked.values(), lines), wanted)


def test_unusable_lines_of_two_classes_are_not_ranked():
    text = "1 |w a b\n|w a b c\n-1 0 |w a b c d\n-1 |w a\n"
    ranked = Difficulties("length", FeatureConfig())
    ranked.add(parse_text(text.encode(), TextFormat()))
    lines, _ = lines_of(text, words=False)
    assert difficulty_of(L1Config(), "length", ranked.values(), lines).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("options", "curriculum", "message"),
    [
        ({"solver": "owlqn"}, {}, "does not go with --solver owlqn"),
        ({"solver": "fista"}, {}, "does not go with --solver fista"),
        ({"model": "crf", "loss": "margin", "l2": 1.0}, {}, "take --l1 in place of --l2"),
        ({"passes": 1}, {}, "needs --passes 2 or more, or --curriculum-steps N"),
        ({"model": "crf"}, {"by": "loss:m"}, "with --model crf take length, rarest or value:NAMESPACE"),
        ({"model": "multinomial"}, {"by": "margin:m"}, "needs labels that are numbers"),
    ],
)
def test_what_does_not_go_together(options, curriculum, message):
    with pytest.raises(UsageError, match=message):
        check_curriculum(L1Config(**options), CurriculumConfig("easy", **curriculum))
    check_curriculum(L1Config(**options), CurriculumConfig())
