"""Bandits played with labelled data, against a plain twin."""

import random

import pytest
from oracle.explorers import Explorer, drawn

RATE = ("--sgd", "--power_t", "0", "-l", "0.05", "-b", "24")


def rows(count):
    draw = random.Random(4)
    for _ in range(count):
        yield draw.randint(1, 3), [("x", round(draw.uniform(-1, 1), 2)), (f"u{draw.randrange(3)}", 1.0)]


def words(features):
    return " ".join(f"{name}:{value}" for name, value in features)


def chosen(pmf, costs, u):
    """The first action, by the cost predicted, whose cumulative probability exceeds ``u``."""
    total = 0.0
    for a in sorted(range(len(pmf)), key=lambda a: costs[a]):
        total += pmf[a]
        if total > u:
            return a
    return len(pmf) - 1


@pytest.mark.parametrize("way", ["classes", "costs", "groups"])
def test_as_the_twin(way, vwlite, write):
    data, twin = list(rows(150)), Explorer("softmax", "mtr", 0.05, **{"lambda": 3, "epsilon": 0})
    right, wrong = (-1, 0.5) if way == "classes" else (0, 1)
    costs = [[right if a + 1 == label else wrong for a in range(3)] for label, _ in data]
    if way == "groups":
        lines = [
            "".join(f"{a + 1}:{of[a]} |a a{a} {words(row)}\n" for a in range(3)) + "\n"
            for of, (_, row) in zip(costs, data, strict=True)
        ]
    else:
        listed = [" ".join(f"{a + 1}:{cost}" for a, cost in enumerate(of)) for of in costs]
        labels = listed if way == "costs" else [str(label) for label, _ in data]
        lines = [f"{label} | {words(row)}\n" for label, (_, row) in zip(labels, data, strict=True)]
    write("data", "".join(lines))
    asked = {
        "classes": ("--cbify", "3", "--loss0", "-1", "--loss1", "0.5"),
        "costs": ("--cbify", "3", "--cbify_cs"),
        "groups": ("--cbify_ldf",),
    }[way]
    shown = vwlite("train", "data", *asked, "--softmax", "--lambda", "3", *RATE, "-p", "-", "--quiet").lines
    for n, ((_, row), of) in enumerate(zip(data, costs, strict=True)):
        actions = [[((a, name), value) for name, value in [*row, ("Constant", 1)]] for a in range(3)]
        if way == "groups":
            actions = [[(f"a{a}", 1.0), *row, ("Constant", 1)] for a in range(3)]
        pmf = twin.pmf(actions)
        action = chosen(pmf, twin.scores(0, actions), drawn(0, n, 1 << 32))
        assert int(shown[n]) == action + (way != "groups")
        twin.learn(actions, action, of[action], pmf[action])


def test_what_is_told(vwlite, write):
    write("data", "".join(f"{1 + n % 2} | x{n % 2}\n" for n in range(400)))
    done = vwlite("train", "data", "--cbify", "2", "-f", "m", "--epsilon", "0.1")
    loss = float(done.stderr.split("average loss = ")[1].split()[0])
    assert loss < 0.15
    assert len(vwlite("predict", "-i", "m", "data").lines) == 400
    assert "do not go together" in vwlite("train", "data", "--cbify", "2", "--oaa", "2", status=2).stderr


def test_an_explorer_played_on_a_log(vwlite, write):
    """Its own probabilities are those of the log: it learns everything."""
    write("log", "".join(f"shared |u x{n % 3}\n0:{n % 2}:0.5 |a a\n|a b\n\n" for n in range(60)))
    typed = ("vw", "-d", "log", "--cb_explore_adf", "--epsilon", "1")
    plain = vwlite(*typed, "-p", "-", "--quiet").lines
    done = vwlite(*typed, "--explore_eval", "-p", "played")
    assert "weighted update count = 60" in done.stderr and "final multiplier = 1" in done.stderr
    assert vwlite(*typed, "--explore_eval", "-p", "-", "--quiet").lines == plain
    some = vwlite(*typed, "--explore_eval", "--target_rate", "0.2").stderr
    assert "targeted update count = 12" in some
    few = vwlite(*typed, "--explore_eval", "--multiplier", "0.3").stderr
    assert 5 < float(few.split("weighted update count = ")[1].split()[0]) < 32
