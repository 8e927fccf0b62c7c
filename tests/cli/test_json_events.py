"""Logged decisions as JSON: the same as their lines of text, and what is malformed."""

import json

import pytest

EVENT = {
    "_label_cost": -1.5, "_label_probability": 0.25, "_label_Action": 2, "_labelIndex": 1, "EventId": "e", "a": [2, 1],
    "p": [0.25, 0.75], "o": [{"v": 1}],
    "c": {
        "age": 0.5, "zero": 0, "yes": True, "no": False, "none": None, "town": "New York|x:y",
        "user": {"id": "ann", "deep": {"x": 2}, "_hidden": {"z": 1}, "_text": "two words\tmore"},
        "_multi": [{"_tag": "one", "item": {"id": 1, "v": [0.5, 0, 2]}}, {"item": [{"id": 2}, {"price": 3.5}]}],
    },
}
TEXT = (
    "shared | age:0.5 yes townNew_York_x_y |user idann two words more |deep x:2\n"
    "'one |item id:1 |v 0:0.5 2:2\n"
    "0:-1.5:0.25 |item id:2 price:3.5\n"
    "\n"
)
OTHER = {"c": {"age": 2, "_multi": [{"item": {"id": 3}}]}, "a": [1]}
OTHER_TEXT = "shared | age:2\n|item id:3\n\n"


def changed(**more):
    return json.dumps({**EVENT, **more})


def test_events_are_learned_as_their_text(vwlite, write, weights):
    write("log.dsjson", "\n".join([json.dumps(EVENT), json.dumps(OTHER), "", json.dumps(EVENT)]) + "\n")
    write("log.json", "\n".join(json.dumps({**event["c"], **{k: v for k, v in event.items() if k.startswith("_")}})
                                for event in (EVENT, OTHER, EVENT)) + "\n")
    write("log.vw", TEXT + OTHER_TEXT + TEXT)
    for name, kind in (("t", "vw"), ("j", "json"), ("d", "dsjson")):
        vwlite("train", f"log.{kind}", "--format", kind, "--cb_adf", "-q", "ui", "-f", name, "--quiet")
    assert weights("t") == weights("j") == weights("d")
    expected = vwlite("predict", "-i", "t", "log.vw", "--scores").stdout
    assert vwlite("predict", "-i", "d", "log.dsjson", "--scores").stdout == expected
    vwlite("train", "log.dsjson", "--cb_adf", "-q", "ui", "-f", "named", "--passes", "2", "--names", "--quiet")
    assert "item^id" in vwlite("inspect", "named", "--top", "50").stdout


def test_dropped_events_are_weighed_or_left_out(vwlite, write, weights):
    write("once.dsjson", changed() + "\n")
    write("dropped.dsjson", "\n".join([changed(pdrop=0.0), changed(_skipLearn=True)]) + "\n")
    write("weighted.dsjson", changed(pdrop=0.5) + "\n")
    for name in ("once", "dropped", "weighted"):
        vwlite("train", f"{name}.dsjson", "--cb_adf", "-f", name, "--quiet")
    assert weights("once") == weights("dropped") != weights("weighted")


@pytest.mark.parametrize("line, column, said", [
    ('{"c": {"_multi": [{}]', 22, "bad JSON"),
    ("[1]", 1, "no object"),
    (changed(_labelIndex=2, _label_Action=3), None, "there is no action 2 among 2"),
    (changed(_labelIndex=0), None, "of two actions"),
    (changed(_label_probability=0), None, "the probability is not above 0 and at most 1"),
    (changed(_label_probability=1.5), None, "the probability is not above 0 and at most 1"),
    (changed(_label_cost="NaN"), None, "_label_cost is not a number"),
    (changed(_label_cost=float("nan")), None, "NaN is not a number that JSON has"),
    (changed(_label_cost=1e39), None, "_label_cost is out of range"),
    (changed(_label_probability=1e-50), None, "the probability is not above 0 and at most 1"),
    (changed(pdrop=1), None, "pdrop is not from 0 to below 1"),
    (changed(c={}), None, "no list '_multi' of actions"),
    (changed(c=3), None, "no object 'c'"),
])
def test_malformed_events_are_told(line, column, said, vwlite, write):
    write("log.dsjson", "\n".join([json.dumps(EVENT), line, json.dumps(OTHER)]) + "\n")
    done = vwlite("train", "log.dsjson", "--cb_adf", "-f", "m", "--max-bad-ratio", "1")
    assert f"log.dsjson:2:{column or ''}" in done.stderr and said in done.stderr
    answers = vwlite("predict", "-i", "m", "log.dsjson", "--max-bad-ratio", "1").lines
    assert len(answers) == 3 and answers[1] == "nan"


def test_check_compares_the_probabilities_of_all_actions(vwlite, write):
    """They are those of the actions ``a``, in their order; what has none or other forms is not looked at."""
    told = {"_labelIndex": 1, "_label_Action": 2, "_label_probability": 0.25}
    chances = ([0.25, 0.75], [0.75, 0.25], [0.5, 0.6], "x", [0.25], None)
    lines = [changed(**told, a=[2, 1], p=p) for p in chances]
    write("log.dsjson", "\n".join([*lines, lines[2], "{"]) + "\n")
    done = vwlite("check", "log.dsjson", "--max-bad-ratio", "1")
    stderr = done.stderr
    assert ", 0 empty)" in done.stdout and "learn with  --cb_adf -q ::" in done.lines
    assert "warning: p is not _label_probability for the action shown in 1 decision, first in log.dsjson:2\n" in stderr
    assert "warning: p does not sum to 1 in 3 decisions, first in log.dsjson:3\n" in stderr


def test_events_are_read_by_policies_alone(vwlite, write):
    write("log.dsjson", json.dumps(EVENT) + "\n")
    assert "--format dsjson is read by --cb_adf" in vwlite("train", "log.dsjson", "-f", "m", status=2).stderr
    lines = vwlite("vw", "--dsjson", "-d", "log.dsjson", "--cb_adf", "--quiet", "-p", "-").lines
    write("plain.json", json.dumps({**EVENT["c"], "_label_cost": 1, "_label_probability": 1, "_labelIndex": 0}) + "\n")
    assert lines == vwlite("vw", "--json", "-d", "plain.json", "--cb_adf", "--quiet", "-p", "-").lines
