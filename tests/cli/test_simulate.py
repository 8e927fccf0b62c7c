"""Bandits played with labelled data, against a plain twin."""

import json
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
def test_predictions_and_losses_are_those_of_the_twin(way, vwlite, write):
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
    output = vwlite("train", "data", *asked, "--softmax", "--lambda", "3", *RATE, "-p", "-", "--quiet").lines
    for n, ((_, row), of) in enumerate(zip(data, costs, strict=True)):
        actions = [[((a, name), value) for name, value in [*row, ("Constant", 1)]] for a in range(3)]
        if way == "groups":
            actions = [[(f"a{a}", 1.0), *row, ("Constant", 1)] for a in range(3)]
        pmf = twin.pmf(actions)
        action = chosen(pmf, twin.scores(0, actions), drawn(0, n, 1 << 32))
        assert int(output[n]) == action + (way != "groups")
        twin.learn(actions, action, of[action], pmf[action])


def test_losses_of_the_actions_drawn_and_of_the_best(vwlite, write):
    write("data", "".join(f"{1 + n % 2} | x{n % 2}\n" for n in range(400)))
    typed = ("data", "--epsilon", "0.2", "--quiet", "--json", "-")
    report = json.loads(vwlite("simulate", *typed, "--actions", "2", "-f", "m").stdout)
    assert 0.08 < report["average_loss"] < 0.15 and report["best_action_loss"] < 0.02
    assert len(vwlite("predict", "-i", "m", "data").lines) == 400
    shifted = ("--loss0", "-1", "--loss1", "1")
    assert json.loads(vwlite("simulate", *typed, "--actions", "2", *shifted).stdout)["average_loss"] < 0.15
    trained = json.loads(vwlite("train", *typed, "--cbify", "2").stdout)
    assert trained["average_loss"] == report["average_loss"]
    other = json.loads(vwlite("simulate", *typed, "--actions", "2", "--random_seed", "7").stdout)
    assert other["average_loss"] != report["average_loss"]
    assert "best action's loss = 0.00" in vwlite("simulate", "data", "--actions", "2").stderr


def test_losses_of_groups_are_mean_costs(vwlite, write):
    write("data", "".join(f"1:{-n % 2} |a x{n % 2}\n2:0.25 |a y\n\n" for n in range(200)))
    report = json.loads(vwlite("simulate", "data", "--cbify_ldf", "--epsilon", "0", "--quiet", "--json", "-").stdout)
    assert abs(report["average_loss"] - report["best_action_loss"]) < 0.02 and report["best_action_loss"] < 0.15


def test_wrong_options_are_refused(vwlite, write):
    write("data", "1 | x\n")
    assert "do not go together" in vwlite("train", "data", "--cbify", "2", "--oaa", "2", status=2).stderr
    assert "--actions N says how many" in vwlite("simulate", "data", status=2).stderr


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


def test_probabilities_of_0_whose_others_round_to_less_than_1(vwlite, write):
    """They once went to and fro between the least share and a little more, for ever."""
    draw = random.Random(0)
    lines = ((draw.randint(1, 6), draw.random(), draw.random(), draw.randrange(3)) for _ in range(300))
    write("data", "".join(f"{k} | a:{a:.3f} b:{b:.3f} c{k} d{d}\n" for k, a, b, d in lines))
    typed = ("data", "--actions", "6", "--softmax", "--lambda", "300", "--loss0", "-1", "--loss1", "0")
    assert "average loss" in vwlite("simulate", *typed).stderr


@pytest.mark.parametrize("way", ["classes", "costs", "groups"])
def test_the_log_teaches_the_same(way, vwlite, write, weights, tmp_path):
    """Whoever learns the log with the same explorer has the same weights, but for what reading a number rounds."""
    lines = {
        "classes": [f"{label} 'n{n}|s {words(row)}\n" for n, (label, row) in enumerate(rows(90))],
        "costs": [f"{label}:0.25 3:1.5 'n{n}|s {words(row)}\n" for n, (label, row) in enumerate(rows(90)) if label < 3],
        "groups": [
            f"shared 't|s {words(row)}\n" + "".join(f"{a}:{a + label / 7:g} |i a{a}\n" for a in range(3)) + "\n"
            for label, row in rows(90)
        ],
    }[way]
    write("data", "".join(lines) + ("|s x:1\n" if way == "classes" else ""))
    how = ("--squarecb", "--mellowness", "0.1", *(("-q", "si") if way == "groups" else ()), "--quiet")
    asked = {"classes": ("--actions", "3"), "costs": ("--actions", "3", "--cbify_cs"), "groups": ("--cbify_ldf",)}
    loss = json.loads(vwlite("simulate", "data", *asked[way], *how, "--log", "log", "-f", "m", "--json", "-").stdout)
    learner = ("--cb_explore_adf",) if way == "groups" else ("--cb_explore", "3")
    vwlite("train", "log", *learner, *how, "-f", "n")
    assert weights("m") == pytest.approx(weights("n"), abs=1e-5) != {}
    report = json.loads(vwlite("check", "log", "--json", "-", "--quiet").stdout)
    assert report["decisions"]["costs"]["count"] == (len(lines) if way != "groups" else 90)
    assert report["decisions"]["costs"]["mean"] == pytest.approx(loss["average_loss"])
    assert report["tagged"] == (90 if way == "groups" else len(lines))
    assert vwlite("simulate", "data", *asked[way], *how, "--log", "-").stdout == (tmp_path / "log").read_text()


def test_examples_that_a_log_cannot_hold_are_refused(vwlite, write):
    write("data", "1 2 |a b\n")
    done = vwlite("simulate", "data", "--actions", "2", "--log", "log", status=65)
    assert "data:1: logged decisions have no importance: drop --log, or it" in done.stderr
    write("anonymous", "1 |a :2 b\n")
    done = vwlite("simulate", "anonymous", "--actions", "2", "--log", "log", status=65)
    assert "--log: only features that have a name of their own can be written as text" in done.stderr
