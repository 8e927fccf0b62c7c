"""Explorers against a plain twin, event by event, and what their probabilities always are."""

import json
import random

import pytest
from oracle.explorers import Explorer

from vwlite import Model
from vwlite.errors import UsageError

RATE = ("--sgd", "--power_t", "0", "-l", "0.05", "-b", "24")
WAYS = {  # options, of the explorer and of the twin
    "epsilon": ("--epsilon 0.1", {"epsilon": 0.1}),
    "epsilon, the first of ties": ("--first_only", {"first_only": True}),
    "first": ("--first 20 --epsilon 0.2", {"first": 20, "epsilon": 0.2}),
    "softmax": ("--softmax --lambda 4", {"lambda": 4}),
    "bag": ("--bag 3", {"bag": 3}),
    "bag, greedify": (
        "--bag 3 --greedify --seed 5 --epsilon 0.1",
        {
            "bag": 3,
            "greedify": True,
            "seed": 5,
            "epsilon": 0.1,
        },
    ),
    "squarecb": ("--squarecb --gamma_scale 5 --gamma_exponent 0.4", {"gamma_scale": 5, "gamma_exponent": 0.4}),
    "squarecb, elim": ("--squarecb --elim --cb_max_cost 2", {"elim": True, "mellowness": 0.001, "cost_range": (0, 2)}),
    "regcb": ("--regcb --mellowness 0.01 --cb_min_cost -1", {"mellowness": 0.01, "cost_range": (-1, 1)}),
    "regcb, optimistic": ("--regcbopt --mellowness 0.01", {"mellowness": 0.01, "optimistic": True}),
    "cover": ("--cover 3", {"cover": 3}),
    "cover, none of no policy": (
        "--cover 3 --nounif --psi 0.5 --epsilon 0.1",
        {
            "cover": 3,
            "nounif": True,
            "psi": 0.5,
            "epsilon": 0.1,
        },
    ),
}

AUDITS = {  # the actions scored, each with the place of its set of weights, for an event with a cost and one without
    "--cb_adf": "a0 b0 a0 a0 b0",
    "--cb_adf --cb_type dr": "a1 b1 a0 b0 a0 b0 a0 b0",
    "--cb_explore_adf": "a0 b0 a0 a0 b0 a0 b0",
    "--cb_explore_adf --cb_type ips": "a0 b0 a0 b0 a0 b0",
    "--cb_explore_adf --bag 2 --greedify": "a0 b0 a1 b1 a0 a0 b0 a1 b1 a0 b0 a1 b1",
    "--cb_explore_adf --bag 2 --greedify --cb_type dr": "a0 b0 a2 b2 a1 b1 a0 b0 a0 b0 a0 b0 a2 b2 a0 b0 a2 b2",
    "--cb_explore_adf --squarecb": "a0 b0 a0 b0 a0 a0 b0 a0 b0",
    "--cb_explore_adf --cover 2": "a1 b1 a0 b0 a0 a2 b2 a2 b2 a0 b0 a2 b2",
    "--cb_explore_adf --cover 2 --cb_type dr": "a1 b1 a1 b1 a0 b0 a0 b0 a2 b2 a2 b2 a0 b0 a2 b2",
    "--cb_explore_adf --explore_eval --cb_type ips": "a0 b0 a0 b0 a0 b0 a0 b0",
    "--cb_explore_adf --softmax -t": "a0 b0 a0 b0",
}


def events(count, seed):
    """The event's features; of each of three actions; the action shown, its cost and probability, or None."""
    draw = random.Random(seed)
    for n in range(count):
        context = [(f"u{draw.randrange(3)}", 1.0), ("x", round(draw.uniform(-1, 1), 2))]
        cost = round(draw.uniform(-0.5, 1.2), 2)
        yield context, None if n % 7 == 3 else (draw.randrange(3), cost, draw.choice([0.2, 0.3, 0.5]))


def words(features):
    return " ".join(f"{name}:{value}" for name, value in features)


def label(action, shown):
    return f"{action}:{shown[1]}:{shown[2]}" if shown else ""


def text_of(log, grouped):
    if not grouped:
        return "".join(f"{label(shown[0] + 1, shown) if shown else ''} | {words(c)}\n" for c, shown in log)
    lines = []
    for context, shown in log:
        lines.append(f"shared |u {words(context)}")
        lines += [f"{label(0, shown if shown and shown[0] == a else None)} |a a{a}" for a in range(3)]
        lines.append("")
    return "\n".join(lines) + "\n"


def probabilities(line, first):
    pairs = [word.split(":") for word in line.split()]
    return {int(action) - first: float(p) for action, p in pairs}


@pytest.mark.parametrize("grouped", [True, False], ids=["groups", "same actions"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["mtr", "ips", "dr"])
def test_predictions_are_those_of_the_twin(way, kind, grouped, vwlite, write):
    explorer = way.split(",")[0]
    if explorer in ("squarecb", "regcb") and kind != "mtr":
        return
    typed, how = WAYS[way]
    log, twin = list(events(120, 1)), Explorer(explorer, kind, 0.05, **how)
    write("log", text_of(log, grouped))
    options = ("--cb_explore_adf",) if grouped else ("--cb_explore", "3")
    shows = ("--probabilities", "-p", "-", "--quiet")
    done = vwlite("train", "log", *options, "--cb_type", kind, *typed.split(), *RATE, *shows)
    assert len(done.lines) == len(log)
    for (context, shown), line in zip(log, done.lines, strict=True):
        if grouped:
            actions = [[(f"a{a}", 1.0), *context, ("Constant", 1)] for a in range(3)]
        else:
            actions = [[((a, name), value) for name, value in [*context, ("Constant", 1)]] for a in range(3)]
        actual = probabilities(line, 1 - grouped)
        assert actual == {a: pytest.approx(p, abs=2e-4) for a, p in enumerate(twin.pmf(actions))}, (context, shown)
        assert sum(actual.values()) == pytest.approx(1, abs=1e-5)
        if shown:
            twin.learn(actions, *shown)


def test_predict_shows_actions_probabilities_and_costs(vwlite, write):
    """The best action, probabilities, costs; one action alone has all; models go on with the same numbers."""
    log = list(events(60, 2))
    write("log", text_of(log, True))
    write("one", "0:1:0.5 |a x\n\n|a x\n\n")
    for typed in ("--bag 3", "--regcb", "--cover 2"):
        vwlite("train", "log", "--cb_explore_adf", *typed.split(), "-f", "m", "--quiet")
        best = vwlite("predict", "-i", "m", "log").lines
        pmf = vwlite("predict", "-i", "m", "log", "--probabilities").lines
        assert [line.split(":")[0] for line in pmf] == best
        assert len(vwlite("predict", "-i", "m", "log", "--probabilities", "--top", "2").lines[0].split()) == 2
        assert len(vwlite("predict", "-i", "m", "log", "--scores").lines[0].split()) == 3
        shows = ("--probabilities", "-p", "-", "--quiet")
        assert vwlite("train", "one", "--cb_explore_adf", *typed.split(), *shows).lines == ["0:1", "0:1"]
    write("half", text_of(log[:30], True))
    write("rest", text_of(log[30:], True))
    vwlite("train", "log", "--cb_explore_adf", "--bag", "3", "-f", "whole", "--quiet")
    vwlite("train", "half", "--cb_explore_adf", "--bag", "3", "-f", "first", "--quiet")
    vwlite("train", "rest", "-i", "first", "-f", "second", "--quiet")
    assert (
        vwlite("predict", "-i", "whole", "log", "--probabilities").stdout
        == vwlite("predict", "-i", "second", "log", "--probabilities").stdout
    )


def test_options_that_do_not_go_together_are_refused(vwlite, write):
    write("log", text_of(list(events(5, 1)), False))
    cases = {
        "--bag 2 --cover 2": "--bag and --cover do not go together: each is an explorer",
        "--cover 2 --cb_type dm": "--cover goes with --cb_type mtr, ips and dr, not dm",
        "--squarecb --cb_type dr": "--squarecb goes with --cb_type mtr, not dr",
        "--regcb --cb_min_cost 1": "--cb_min_cost must be below --cb_max_cost",
    }
    for typed, said in cases.items():
        done = vwlite("train", "log", "--cb_explore", "3", *typed.split(), status=2)
        assert said in done.stderr


def test_vw_prints_and_counts_actions_as_it_does(vwlite, write):
    """An empty line ends each event, actions count from 0, and options of other explorers are taken."""
    write("log", text_of(list(events(8, 1)), False))
    lines = vwlite("vw", "-d", "log", "--cb_explore", "3", "--first", "2", "-p", "-", "--quiet").lines
    assert lines[:2] == ["0:0.333333,1:0.333333,2:0.333333", ""] and len(lines) == 16


@pytest.mark.parametrize("typed", AUDITS)
def test_audits_are_those_of_vw(typed, vwlite, write):
    """Every score that vw makes, in its order."""
    write("log", "shared t| u\n0:1:0.5 x| a\n | b\n\n | a c\n | b\n\n")
    done = vwlite("vw", "-d", "log", *typed.split(), "--audit", "--quiet", "-b", "6", "--sgd", "--power_t", "0")
    lines = [
        {name: int(slot) for name, slot in (item.split(":")[:2] for item in line.split("\t")[1:])}
        for line in done.lines[1::2]
    ]
    first = min(slots["Constant"] for slots in lines)
    assert (
        " ".join(f"{(slots.keys() & set('ab')).pop()}{slots['Constant'] - first}" for slots in lines) == AUDITS[typed]
    )


def test_the_words_of_an_audit(vwlite, write):
    """What vw prints, to the byte: shared ones follow the action's own, the group's tag is that of its first line."""
    write("log", "shared t| u\n0:1:0.5 x| a\n | b\n\n |x u\n0:0.2:0.4 | b v\n\n")
    typed = ("--cb_explore_adf", "--cb_type", "dr", "-b", "6", "--sgd", "--power_t", "0", "-l", "0.1")
    assert vwlite("vw", "-d", "log", "--audit", "--quiet", *typed).lines[2:12] == [
        "0.800000",
        "\tu:1:1:0.4\tConstant:57:1:0.4\tb:7:1:0",
        "0 t",
        "\ta:36:1:0\tu:0:1:0\tConstant:56:1:0",
        "0",
        "\tb:6:1:0\tu:0:1:0\tConstant:56:1:0",
        "0 t",
        "\ta:36:1:0\tu:0:1:0\tConstant:56:1:0",
        "0.800000",
        "\tu:0:1:0.4\tConstant:56:1:0.4\tb:6:1:0",
    ]


def test_bounds_of_a_model_that_is_tested(vwlite, write):
    """With -t vw has no rates of the features: an update would change a score by l * t**-0.5 for each of them."""
    write("log", "0:0.8:0.5 | a\n | b\n\n | a\n1:0.4:0.5 | b\n\n0:0.9:0.5 | a\n | b\n\n")
    write("new", " | a\n | b\n\n")
    vwlite("vw", "-d", "log", "--cb_explore_adf", "--regcb", "--noconstant", "-f", "m", "--quiet")
    for mellowness, shown in {"0.0565": "1:1,0:0", "0.0572": "0:0.5,1:0.5"}.items():
        typed = ("-i", "m", "-t", "--cb_explore_adf", "--regcb", "--mellowness", mellowness, "--quiet")
        lines = vwlite("vw", "-d", "new", *typed, "-p", "-").lines[0]
        assert sorted(lines.split(",")) == sorted(shown.split(","))


def shown_last(vwlite, *typed):
    return probabilities(vwlite("vw", "-d", "log", *typed, "-p", "-", "--quiet").lines[-2].replace(",", " "), 0)


def test_a_model_learned_on_like_vw(vwlite, write):
    """vw keeps the norm of the first policy, not those of regressors and of other policies."""
    write("log", text_of(list(events(8, 1)), True))
    typed = ("--cb_explore_adf", "--softmax", "--cb_type", "dr", "--lambda", "5")
    vwlite("vw", "-d", "log", *typed, "-f", "m", "--quiet")
    assert shown_last(vwlite, "-i", "m") == pytest.approx({1: 0.513525, 2: 0.429202, 0: 0.057273}, rel=1e-3)


def test_options_of_a_model_of_vw(vwlite, write):
    """vw keeps --rank_all and --clip_p."""
    write("log", text_of(list(events(8, 1)), True))
    vwlite("vw", "-d", "log", *["--cb_adf", "--rank_all", "--clip_p", "0.4", "--cb_type", "ips", "-f", "m", "--quiet"])
    assert shown_last(vwlite, "-i", "m") == pytest.approx({1: -0.369768, 0: -0.015713, 2: 0.264648}, rel=1e-3)


def test_vw_holds_out_every_third_group_and_learns_it(vwlite, write):
    """Every third group, which it learns all the same; and nothing of bandits that are played."""
    log = list(events(8, 1))
    write("log", text_of(log, True))
    passes = ("-c", "-k", "--passes", "2", "--holdout_period", "3")
    done = vwlite("vw", "-d", "log", "--cb_explore_adf", *passes)
    assert "examples per pass = 6" in done.stderr and "average loss = -0.744167 h" in done.stderr
    write("labels", "".join(f"{shown[0] + 1 if shown else ''} | {words(context)}\n" for context, shown in log))
    done = vwlite("vw", "-d", "labels", "--cbify", "3", *passes)
    assert "examples per pass = 8" in done.stderr and "undefined (no holdout)" in done.stderr


def test_a_rate_is_of_events_with_a_cost(vwlite, write):
    write("log", "0:1:0.5 | a\n | b\n\n | a\n | b\n\n | a\n1:0.5:0.25 | b\n\n")
    done = vwlite("vw", "-d", "log", "--cb_explore_adf", "--explore_eval", "--target_rate", "0.5")
    assert "targeted update count = 1.000000" in done.stderr


def test_bounds_have_no_floor_in_vw(vwlite, write):
    write("log", text_of(list(events(8, 1)), True))
    assert shown_last(vwlite, "--cb_explore_adf", "--squarecb", "--elim", "--epsilon", "0.3") == {1: 1, 0: 0, 2: 0}
    done = vwlite("vw", "-d", "log", *["--cb_explore_adf", "--regcbopt", "--epsilon", "0.3", "-p", "-", "--quiet"])
    assert done.lines[0] == "0:1,1:1,2:1"
    vwlite("train", "log", "--cb_explore_adf", "--squarecb", "--elim", "--epsilon", "0.3", "-f", "m", "--quiet")
    assert "0.1" in vwlite("predict", "-i", "m", "log", "--probabilities").lines[-1]


def test_slots_of_bags_of_the_same_actions_like_vw(vwlite, write):
    """A hash is multiplied with a power of two; actions follow each other closely."""
    write("log", "1:1:1 |\n")
    vwlite("vw", "-d", "log", *["--cb_explore", "5", "--bag", "5", "-f", "m", "--quiet"])
    assert [line.split()[1] for line in vwlite("inspect", "m", "--top", "9").lines[-2:]] == ["142052", "142051"]


def test_slots_of_cover_like_vw(vwlite, write):
    """vw has twice as many sets of weights as there are policies and one, which shows where slots are few."""
    write("log", text_of(list(events(4, 1)), True))
    for kind, sets in {"mtr": 8, "dr": 8, "ips": 4}.items():
        typed = ("--cb_explore_adf", "--cover", "3", "--cb_type", kind, "-f", "m", "--invert_hash", "names", "--quiet")
        vwlite("vw", "-d", "log", *typed)
        with open("names", encoding="utf-8") as file:
            slots = [int(line.split(":")[-2]) for line in file if line.startswith("Constant")]
        assert {slot // sets for slot in slots} == {116060 * sets % (1 << 18) // sets}
        vwlite("vw", "-d", "log", "-i", "m", "-t", "--quiet")


@pytest.mark.parametrize("grouped", [True, False], ids=["groups", "same actions"])
def test_the_value_of_a_policy_that_explores(grouped, vwlite, write):
    """The mean of its probabilities divided by those of the log, times the costs."""
    log = [(context, shown) for context, shown in events(80, 3) if shown]
    write("log", text_of(log, grouped))
    write("new", text_of([(context, (*shown[:2], 0.5)) for context, shown in log], grouped))
    options = ("--cb_explore_adf",) if grouped else ("--cb_explore", "3")
    vwlite("train", "log", *options, "--softmax", "-f", "m", "--quiet")
    pmf = [probabilities(line, 1 - grouped) for line in vwlite("predict", "-i", "m", "new", "--probabilities").lines]
    expected = sum(of[shown[0]] / 0.5 * shown[1] for of, (_, shown) in zip(pmf, log, strict=True)) / len(log)
    report = json.loads(vwlite("evaluate", "-i", "m", "new", "--value", "--json", "-", "--quiet").stdout)
    ips = next(row["value"] for row in report["estimates"] if row["estimate"] == "ips")
    assert ips == pytest.approx(expected, rel=1e-4)


def test_the_likeliest_as_json(vwlite, write):
    write("log", text_of(list(events(40, 3)), False))
    vwlite("train", "log", "--cb_explore", "3", "--softmax", "-f", "m", "--quiet")
    typed = ("predict", "-i", "m", "log", "--probabilities", "--top", "2")
    for line, text in zip(vwlite(*typed).lines, vwlite(*typed, "--jsonl").lines, strict=True):
        actual = json.loads(text)["actions"]
        assert [f"{entry['action']}:{entry['probability']:.3g}" for entry in actual] == [
            f"{word.split(':')[0]}:{float(word.split(':')[1]):.3g}" for word in line.split()
        ]


@pytest.mark.parametrize("grouped", [True, False], ids=["groups", "same actions"])
def test_actions_are_drawn_as_often_as_their_probabilities_say(grouped, vwlite, write):
    """Draws are the same however the data come, as text, as JSON and in Python."""
    log = list(events(600, 4))
    write("log", text_of(log, grouped))
    options = ("--cb_explore_adf",) if grouped else ("--cb_explore", "3")
    vwlite("train", "log", *options, "--epsilon", "0.6", "-f", "m", "--quiet")
    typed = ("predict", "-i", "m", "log", "--sample", "7")
    drawn = vwlite(*typed).lines
    numbers = [(int(action), float(p)) for action, p in (line.split(":") for line in drawn)]
    assert sum(p < 0.5 for _, p in numbers) == pytest.approx(0.4 * 600, abs=40)
    assert vwlite(*typed, "--threads", "1").lines == drawn
    assert vwlite(*typed[:-1], "8").lines != drawn
    with open("log", "rb") as file:
        assert vwlite("predict", "-i", "m", "-", "--sample", "7", stdin=file.read()).lines == drawn
    pmf = vwlite("predict", "-i", "m", "log", "--probabilities").lines
    assert vwlite(*typed, "--probabilities").lines == [" ".join(pair) for pair in zip(drawn, pmf, strict=True)]
    for actual, (action, p) in zip(map(json.loads, vwlite(*typed, "--jsonl").lines), numbers, strict=True):
        assert actual["action"] == action
        assert actual["probability"] == pytest.approx(p, rel=1e-5)
        chances = [entry["probability"] for entry in actual["actions"] if entry["action"] == action]
        assert chances == [actual["probability"]]
    with open("log") as file:
        in_python = Model.load("m").predict(file.read(), sample=7)
    assert in_python == [(action, pytest.approx(p, rel=1e-5)) for action, p in numbers]


def test_decisions_as_json(vwlite, write):
    """Policies that do not explore have them as well; actions have the tags of their lines; what is malformed has no
    action.
    """
    write("log", "shared |u a\n0:1:0.5 'tea |i t\n'milk |i m\n\nshared |u a\n0:1:7 |i t\n\n")
    vwlite("train", "log", "--cb_adf", "-f", "m", "--quiet", "--max-bad-ratio", "1")
    first, second = map(json.loads, vwlite("predict", "-i", "m", "log", "--jsonl", status=None).lines)
    assert (first["action"], first["probability"], second) == (1, 1, {"action": None})
    assert [action["tag"] for action in first["actions"]] == ["milk", "tea"]
    assert [action["score"] for action in first["actions"]] == sorted(action["score"] for action in first["actions"])


def test_options_that_do_not_go_with_drawn_actions_are_refused(vwlite, write):
    write("log", "1:0:0.5 |a b\n")
    vwlite("train", "log", "--cb", "2", "-f", "best", "--quiet")
    vwlite("train", "log", "--cb_explore", "2", "-f", "m", "--quiet")
    for model, typed, said in (
        ("best", (), "--sample is for policies that explore"),
        ("best", ("--jsonl",), "--sample is for policies that explore"),
        ("m", ("--scores",), "--sample and --scores do not go together"),
        ("m", ("--raw",), "--sample and --raw do not go together"),
    ):
        assert said in vwlite("predict", "-i", model, "log", "--sample", "1", *typed, status=2).stderr
    with pytest.raises(UsageError, match="takes the place"):
        Model.load("m").predict("|a b", sample=1, probabilities=True)
