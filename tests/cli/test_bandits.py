"""Logged decisions against a plain twin, event by event, and what must be the same."""

import json
import random

import pytest
from oracle.bandit import TYPES, Bandit

from vwlite import policy_value

RATE = ("--sgd", "--power_t", "0", "-l", "0.02", "-b", "24")
CHANCES = (0.1, 0.2, 0.3, 0.4)
WAYS = {
    "plain": ("", {}),
    "clipped": ("--clip_p 0.25", {"clip_p": 0.25}),
    "offset": ("--cost_offset 0.75", {"offset": 0.75}),
    "highest": ("--cost_offset max", {"offset": None}),
}


def events(count, seed):
    """Features of the event, of its actions; the actions possible, the one shown, its cost and probability."""
    draw = random.Random(seed)
    for n in range(count):
        context = [(f"u{draw.randrange(5)}", 1.0), ("x", round(draw.uniform(-1, 1), 2))]
        own = [[(f"a{a}", 1.0), ("t", round(draw.uniform(0, 1), 2))] for a in range(draw.randint(1, 4))]
        possible = sorted(draw.sample(range(4), draw.randint(1, 4)))
        shown = None if n % 7 == 3 else (draw.choice(possible), draw.choice([-1, 0, 0.5, 2]), draw.choice(CHANCES))
        yield context, own, possible, shown


def words(features):
    return " ".join(f"{name}:{value}" for name, value in features)


def label(shown, first=0):
    return f"{shown[0] + first}:{shown[1]}:{shown[2]}" if shown else ""


def numbers(text):
    return {int(word.partition(":")[0]): float(word.partition(":")[2]) for word in text.split()}


def learned(vwlite, tmp_path, *options):
    """Best actions and predicted costs of all actions, as each event was met."""
    best = vwlite("train", "log", *options, *RATE, "-p", "-", "-r", "scores", "-f", "model", "--quiet").lines
    return [int(action) for action in best], [numbers(line) for line in (tmp_path / "scores").read_text().splitlines()]


def agree(best, scores, costs, possible):
    assert scores == {a: pytest.approx(costs[a], rel=1e-4, abs=1e-5) for a in scores} and {*scores} == {*possible}
    assert costs[best] == pytest.approx(min(costs[a] for a in possible), abs=1e-5)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", WAYS)
def test_the_same_actions_for_all(kind, way, vwlite, write, tmp_path):
    typed, how = WAYS[way]
    log, twin = list(events(120, 1)), Bandit(kind, 0.02, **how)
    lines = []
    for context, _, possible, shown in log:
        others = [str(a + 1) for a in possible if not shown or a != shown[0]]
        limited = len(others) != (3 if shown else 4) and len(possible) > 1
        named = [*([label(shown, 1)] if shown else []), *(others if limited else [])]
        lines.append(" ".join([*named, "|", words(context)]))
    write("log", "\n".join(lines) + "\n")
    best, scores = learned(vwlite, tmp_path, "--cb", "4", "--cb_type", kind, *typed.split())
    assert len(best) == len(log)
    for n, (context, _, possible, shown) in enumerate(log):
        possible = possible if len(possible) > 1 else range(4)
        actions = [[((name, a), value) for name, value in [*context, ("Constant", 1)]] for a in range(4)]
        agree(best[n] - 1, {a - 1: cost for a, cost in scores[n].items()}, twin.costs(actions), possible)
        if shown:
            twin.learn(actions, possible, *shown)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", WAYS)
def test_a_line_for_each_action(kind, way, vwlite, write, tmp_path):
    typed, how = WAYS[way]
    log, twin, text = [], Bandit(kind, 0.02, **how), []
    for context, own, _, shown in events(120, 2):
        shown = shown and (shown[0] % len(own), *shown[1:])
        log.append((context, own, shown))
        of_lines = [f"{label(shown) if shown and a == shown[0] else ''} |a {words(line)}" for a, line in enumerate(own)]
        text.append("\n".join([f"shared |u {words(context)}", *of_lines, "\n"]))
    write("log", "".join(text))
    best, scores = learned(vwlite, tmp_path, "--cb_adf", "--cb_type", kind, *typed.split())
    assert len(best) == len(log)
    for n, (context, own, shown) in enumerate(log):
        actions = [[*line, *context, ("Constant", 1)] for line in own]
        agree(best[n], scores[n], twin.costs(actions), range(len(own)))
        if shown:
            twin.learn(actions, range(len(own)), *shown)


def test_equivalent_estimators_and_shifted_costs_give_the_same_model(vwlite, write, weights):
    """mtr is direct where every probability is 1 / actions; shifted costs are an offset; dr of no regressor is ips."""
    text = "".join(f"{1 + n % 3}:{{}}:{1 / 3} |u x{n % 4} y:{n % 5}\n" for n in range(60))
    write("log", text.format(*[n % 2 for n in range(60)]))
    write("shifted", text.format(*[n % 2 - 0.5 for n in range(60)]))
    for name, options in (("m", ""), ("d", "--cb_type direct"), ("o", "--cost_offset 0.5")):
        vwlite("train", "log", "-f", name, "--cb", "3", "--sgd", "--quiet", *options.split())
    vwlite("train", "shifted", "-f", "s", "--cb", "3", "--sgd", "--quiet")
    shown = {name: list(weights(name).values()) for name in "mdos"}
    assert shown["m"] == pytest.approx(shown["d"], rel=1e-5) and any(shown["m"])
    assert shown["o"] == pytest.approx(shown["s"], rel=1e-5)


BAD = {
    "1:1:2 |a b": "the probability of '1:1:2' is not above 0 and at most 1",
    "1:1:0 |a b": "the probability of '1:1:0' is not above 0 and at most 1",
    "1:1:-1 |a b": "the probability of '1:1:-1' is not above 0 and at most 1",
    "2:x:0.5 |a b": "bad label word '2:x:0.5', expected action:cost:probability, finite numbers",
    "2:1e40:0.5 |a b": "bad label word '2:1e40:0.5', expected action:cost:probability, finite numbers",
    "2:1:nan |a b": "bad label word '2:1:nan', expected action:cost:probability, finite numbers",
    "1:1:1:1 |a b": "bad label word '1:1:1:1', expected action:cost:probability",
    ":1:1 |a b": "bad label word ':1:1', expected action:cost:probability",
    "4:1:0.5 |a": "action 4 of '4:1:0.5' is none of 1 to 3",
    "0:1:0.5 |a": "action 0 of '0:1:0.5' is none of 1 to 3",
    "1:1:0.5 2:0:0.5 |a": "two costs of one event",
}
GOOD = "1:1:0.5 |a b\n2:0:0.5 |a c\n3:1:0.5 |a d\n"


@pytest.mark.parametrize("line", BAD)
def test_lines_that_are_left_out(line, vwlite, write, weights):
    write("good", GOOD)
    write("bad", GOOD + line + "\n")
    options = ("--cb", "3", "--max-bad-ratio", "1")
    vwlite("train", "good", "-f", "g", *options)
    done = vwlite("train", "bad", "-f", "m", "-p", "-", *options)
    assert f"bad line bad:4:1: {BAD[line]}: {line}\n" in done.stderr and len(done.lines) == 3
    assert weights("m") == weights("g")
    assert vwlite("predict", "-i", "m", "bad", "--max-bad-ratio", "1").lines[3:] == ["nan"]
    assert "bad:4:1" in vwlite("train", "bad", "-f", "m", *options, "--strict", status=65).stderr


BAD_GROUPS = {
    " |a b\n1:1:2 |a c\n |a d\n": (5, "the probability of '1:1:2' is not above 0 and at most 1"),
    "0:1:0.5 |a b\n1:0:0.5 |a c\n": (5, "two costs of one event"),
    "0:1:0.5 1:0:0.5 |a c\n": (4, "two costs of one event"),
    "shared |a b\n": (4, "a shared line without lines of actions"),
    " |a b\nshared |a c\n": (5, "a shared line that is not the group's first, or has a label"),
    "shared 1:1:0.5 |a b\n |a c\n": (4, "a shared line that is not the group's first, or has a label"),
    "0:1:0.5 |a b\n|a:x b\n": (5, "bad namespace value"),
}


@pytest.mark.parametrize("group", BAD_GROUPS)
def test_groups_that_are_left_out(group, vwlite, write, weights):
    """A group with a malformed line is left out whole, and predicted as one."""
    line, sentence = BAD_GROUPS[group]
    good = "0:1:0.5 |a b\n |a c\n\n"
    write("good", good + good)
    write("bad", good + group + "\n" + good)
    options = ("--cb_adf", "--max-bad-ratio", "1")
    vwlite("train", "good", "-f", "g", *options)
    done = vwlite("train", "bad", "-f", "m", *options)
    assert f"bad line bad:{line}:" in done.stderr and sentence in done.stderr and done.stderr.count("bad line") == 1
    assert weights("m") == weights("g")
    lines = vwlite("predict", "-i", "m", "bad", "--max-bad-ratio", "1").lines
    assert lines[1] == "nan" and len(lines) == 3


def test_predict_shows_actions_scores_and_tags(vwlite, write):
    write("d", GOOD * 9)
    write("e", "1 3 'one|a b\n |a c\n2:1 3|a d\n")
    vwlite("train", "d", "-f", "m", "--cb", "3", "--quiet")
    assert vwlite("predict", "-i", "m", "e").lines == ["3 one", "2", "2 3"]
    lines = vwlite("predict", "-i", "m", "e", "--scores").lines
    assert [word.partition(":")[0] for word in lines[0].split()] == ["1", "3", "one"]
    top = vwlite("predict", "-i", "m", "e", "--scores", "--top", "2").lines[1].split()
    assert top[0].startswith("2:") and len(top) == 2
    assert [word[:2] for word in vwlite("predict", "-i", "m", "e", "--raw").lines[1].split()] == ["1:", "2:", "3:"]
    first = json.loads(vwlite("predict", "-i", "m", "e", "--jsonl").lines[0])
    assert (first["action"], first["tag"], len(first["actions"])) == (3, "one", 2)
    assert "--scores has predicted costs" in vwlite("predict", "-i", "m", "e", "--probabilities", status=2).stderr


def test_predict_shows_rankings_of_groups(vwlite, write):
    write("d", "0:1:0.5 |a b\n |a c\n\n |a b\n1:0:0.5 |a c\n\n" * 9)
    write("e", "shared tag|s x\n|a b\n|a c\n\n|a b\n")
    vwlite("train", "d", "-f", "m", "--cb_adf", "--quiet")
    assert vwlite("predict", "-i", "m", "e").lines == ["1 tag", "0"]
    ranked = vwlite("predict", "-i", "m", "e", "--scores").lines
    assert [[word.partition(":")[0] for word in line.split()] for line in ranked] == [["1", "0", "tag"], ["0"]]
    raw = vwlite("predict", "-i", "m", "e", "--raw").lines
    assert [[word.partition(":")[0] for word in line.split()] for line in raw] == [["0", "1", "tag"], ["0"]]


def test_vw_answers_from_0_with_an_empty_line_behind(vwlite, write):
    write("d", GOOD)
    write("g", "shared |s x\n0:1:0.5 |a b\n |a c\n\n")
    assert vwlite("vw", "d", "--cb", "3", "-p", "-", "--quiet").lines == ["0", "", "1", "", "1", ""]
    assert vwlite("vw", "g", "--cb_adf", "-p", "-", "--quiet").lines == ["0", ""]
    assert vwlite("vw", "g", "--cb_adf", "--rank_all", "-p", "-", "--quiet").lines == ["0:0,1:0", ""]
    done = vwlite("vw", "d", "--cb", "3", "-P", "1").stderr
    assert "2.000000 2.000000            1            1.0        0:1:0.5            0:0        6\n" in done
    assert "cb_type = mtr\n" in done and "Input label = CB\nOutput pred = MULTICLASS\n" in done
    lenient = "1:1:7 |a b\n2:x:0.5 |a c\n"
    write("e", lenient)
    assert "0:1:1 " in vwlite("vw", "e", "--cb", "3", "-P", "1").stderr


def test_vw_ranks_with_any_model(vwlite, write):
    write("g", "0:1:0.5 |a b\n |a c\n\n")
    vwlite("vw", "g", "--cb_adf", "-f", "m", "--quiet")
    assert vwlite("vw", "-t", "-i", "m", "g", "--rank_all", "-p", "-", "--quiet").lines[0].startswith("1:")
    assert vwlite("vw", "-t", "-i", "m", "g", "-p", "-", "--quiet").lines == ["1", ""]


@pytest.mark.parametrize("options", ["", "--cb_type dr", "--sgd", "--l2 0.01", "--l1 0.001", "--coin"])
def test_a_score_does_not_depend_on_the_lines_beside_it(options, vwlite, write):
    """Some of the 37 lines are scored together."""
    draw = random.Random(4)
    lines = [
        " |a " + " ".join(f"x{draw.randrange(9)}:{draw.uniform(-2, 2):.3f}" for _ in range(n % 7)) for n in range(37)
    ]
    together = "shared |u a b\n" + "\n".join(lines) + "\n\n"
    apart = "".join(f"shared |u a b\n{line}\n\n" for line in lines)
    write("log", "".join(f"shared |u a b\n0:{n % 3}:0.5{line}\n{lines[0]}\n\n" for n, line in enumerate(lines)))
    vwlite("train", "log", "--cb_adf", "-q", "ua", *options.split(), "-f", "m", "--quiet")
    scores = [vwlite("predict", "-i", "m", "-", "--scores", stdin=text).lines for text in (together, apart)]
    assert sorted(word.partition(":")[2] for word in scores[0][0].split()) == sorted(line[2:] for line in scores[1])


def test_features_counted_like_vw(vwlite, write):
    """Those of a shared line once, without what is ignored."""
    write("d", "shared |u a b |v c\n0:1:0.5 |a x\n|a y |v z\n\n" * 2)
    for options, count in {"": 18, "--ignore v": 14, "--ignore u": 14, "-q ua --ignore v": 22}.items():
        assert f"total feature number = {count}" in vwlite("vw", "-d", "d", "--cb_adf", *options.split()).stderr


VALUED = "1 1:1:0.5 tag| a b\n2 1:0:0.5 | a c\n3 2:0.7:0.25 | a b\n1 3:0.7:0.25 | c b\n2 2:0.4:0.1 | a b\n"


@pytest.mark.parametrize(
    ("kind", "losses"),
    [("mtr", "2.000000 0.000000 0.000000 0.160000 -5.00000"), ("ips", "2.000000 0.000000 0.000000 0.000000 4.000000")],
)
def test_given_actions_valued_like_vw(kind, losses, vwlite, write):
    """A label begins with the action to be valued, and types but ips are dr."""
    write("d", VALUED)
    typed = ("--cb_type", kind, "--sgd", "--power_t", "0", "-l", "0.1", "-p", "p", "-P", "1", "-f", "m")
    done = vwlite("vw", "d", "--cb", "3", "--eval", *typed)
    rows = [line.split() for line in done.stderr.splitlines() if line.count(":") == 2 and line[0] in "-0123456789"]
    assert " ".join(row[1] for row in rows) == losses
    assert [row[4:] for row in rows[:2]] == [["1:1:0.5", "1", "3"], ["1:0:0.5", "2", "3"]]
    with open("p", encoding="utf-8") as file:
        assert file.read().split("\n") == ["1 tag", "2", "3", "1", "2", ""]
    assert "--eval estimates costs while it learns them" in vwlite("vw", "-t", "-i", "m", "d", status=1).stdout


def test_policies_without_logged_decisions_cannot_be_valued(vwlite, write):
    write("d", VALUED)
    typed = ("--cb", "3", "--eval")
    assert "what dm says of a policy is biased" in vwlite("vw", "d", *typed, "--cb_type", "dm", status=1).stdout
    for line in (" | a", "1 | a", "1:1:0.5 | a", "1:1:0.5 2:1:0.5 | a"):
        write("wrong", line + "\n")
        stdout = vwlite("vw", "wrong", *typed, "--quiet", status=1).stdout
        assert "no action to be valued and, behind it, action:cost:probability" in stdout


def test_a_model_of_vw_keeps_its_slots(vwlite, write):
    write("d", "1:1:0.5 |a 1 2\n2:0:0.5 |a 3 4\n1:0:0.5 |a 5 6\n" * 5)
    vwlite("vw", "d", "--cb", "3", "-f", "m", "--quiet")
    of_vw = [int(line) + 1 for line in vwlite("vw", "-t", "-i", "m", "d", "-p", "-", "--quiet").lines if line]
    assert [int(line) for line in vwlite("predict", "-i", "m", "d").lines] == of_vw
    assert "--audit does not go with --cb" in vwlite("predict", "-i", "m", "d", "--audit", status=2).stderr
    assert "explain does not go with --cb" in vwlite("explain", "-i", "m", "d", status=2).stderr


def test_the_summary_has_the_estimates(vwlite, write):
    write("d", "1:1:0.5 |a b\n2:0.5:0.25 |a b\n |a b\n1:0:0.5 |a b\n")
    done = vwlite("train", "d", "--cb", "2", "-f", "m", "--json", "j")
    weights = [word for line in done.stderr.splitlines() if " = " in line for word in [line.split(" = ")]]
    shown = {name: value for name, value in weights if name in ("average loss", "ips", "snips", "cost")}
    assert shown["cost"] == "0.500000" and shown["ips"] == shown["average loss"] != "n.a."


def test_costs_that_are_mostly_the_highest(vwlite, write):
    write("d", "1:1:0.5 |a b\n2:1:0.5 |a b\n1:1:0.5 |a b\n2:0:0.5 |a b\n")
    message = "75% of the costs are the highest, 1, and what was never shown counts as 0: --cost_offset max learns"
    assert message in vwlite("train", "d", "--cb", "2", "-f", "m").stderr
    assert "of the costs" not in vwlite("train", "d", "--cb", "2", "-f", "m", "--cost_offset", "max").stderr
    assert "of the costs" not in vwlite("vw", "d", "--cb", "2", "-f", "m").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--cb 3 --oaa 3", "--oaa and --cb do not go together; with --cb an example is a logged decision"),
        ("--cb 3 --cb_adf", "--cb and --cb_adf do not go together"),
        ("--cb 3 --binary", "--binary does not go with --cb"),
        ("--cb 3 --bfgs", "--bfgs and --cb do not go together"),
        ("--cb 3 --cost_offset most", "--cost_offset takes a number, or max, not 'most'"),
        ("--cb 3 --clip_p 2", "--clip_p takes a number from 0 to 1, not 2"),
        ("--cb 3 --cb_type sm", "--cb_type sm is for 'vwlite vw', since vw confuses the costs of actions in it"),
        ("--cb 300 -b 8", "300 actions need more than the 256 slots of -b 8"),
        ("--cb 3 --readable_model r", "models of --cb are not written as vw's text"),
        ("--cb_type dr", "--cb_type needs --cb"),
        ("--cb_adf --shuffle --passes 2", "do not go with groups of lines"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("d", GOOD)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


SOFTMAX = """shared |s a
0:1:0.5 |a x
|a y

shared |s b
|a x
1:-0.2:0.4 |a y
|a z

shared |s a
|a z
0:0.7:0.9 |a x

shared |s a
|a x
|a y
|a z

"""


def test_the_softmax_of_vw(vwlite, write):
    """The numbers are those of vw 9.11."""
    options = ("--cb_adf", "--cb_type", "sm", "--rank_all", "-p", "/dev/stdout", "--quiet")
    done = vwlite("vw", write("d", SOFTMAX), *options)
    assert done.lines[::2] == [
        "0:0,1:0", "1:-0.148489,2:0.019384,0:0.17203", "0:0.137803,1:0.195318", "1:-0.056711,2:0.043548,0:0.260438",
    ]  # fmt: skip


def test_vw_does_not_take_options_of_its_own(vwlite, write):
    write("d", GOOD)
    for options in ("--cb_type direct", "--cost_offset 1"):
        done = vwlite("vw", "d", "--cb", "3", *options.split(), status=1)
        assert "is none of vw's" in done.stdout + done.stderr


def test_options_of_a_model_stay(vwlite, write):
    write("d", GOOD)
    vwlite("train", "d", "-f", "m", "--cb", "3", "--quiet")
    done = vwlite("train", "d", "-i", "m", "-f", "n", "--cb_type", "dr", status=2)
    assert "--cb_type dr contradicts m, which was made with --cb_type mtr" in done.stderr


def test_the_value_from_arrays_is_the_same(vwlite, write):
    draw = random.Random(6)
    action, cost = [draw.randrange(3) for _ in range(200)], [draw.randrange(2) for _ in range(200)]
    rows = [f"{a + 1}:{c}:0.25 | x{n % 4}\n" for n, (a, c) in enumerate(zip(action, cost, strict=True))]
    write("train.vw", "".join(rows[:100]))
    write("test.vw", "".join(rows[100:]))
    vwlite("train", "train.vw", "--cb", "3", "-f", "m", "--quiet")
    best = [int(line) - 1 for line in vwlite("predict", "-i", "m", "test.vw").lines]
    report = json.loads(vwlite("evaluate", "-i", "m", "test.vw", "--value", "--json", "-", "--quiet").stdout)
    mine = policy_value(best, action[100:], cost[100:], [0.25] * 100)
    rows = {row["estimate"]: row for row in report["estimates"]}
    for name, interval in mine.items():
        assert interval == pytest.approx((rows[name]["value"], rows[name]["low"], rows[name]["high"]), rel=1e-4)


def test_shared_features_that_are_crossed_with_none(vwlite, write):
    write("g", "shared |u a\n0:1:0.5 |i x\n|i y\n\n")
    write("no", "0:1:0.5 |i x\n|i y\n\n")
    message = "features of shared lines are the same for all actions"
    assert message in vwlite("train", "g", "-f", "m", "--cb_adf").stderr
    assert message in vwlite("train", "g", "-f", "m", "--cb_explore_adf").stderr
    for words in ("train g --cb_adf -q ui", "train g --cb_adf -q ::", "train no --cb_adf", "vw g --cb_adf"):
        assert message not in vwlite(*words.split(),).stderr
