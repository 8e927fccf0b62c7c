"""What policies cost: against numbers of another program, formulas, and how often the intervals hold."""

import json
import random

import numpy as np
import pytest

from vwlite.errors import UsageError
from vwlite.evaluation import policy_value
from vwlite.evaluation.config import ValueConfig
from vwlite.evaluation.policy_value import Weighted

P = [0.5, 0.25, 0.25, 0.5, 0.1, 0.4] * 50
MATCH = [1, 0, 1, 0, 0, 1, 0, 1, 1, 0] * 30
COST = [0, 1, 0.5, 1, 0, 0, 1, 0, 1, 0.5, 1, 0, 1, 0, 0] * 20


def logged(low, high, add=0.0):
    return Weighted(np.array(MATCH) / P, np.array(COST) + add, low, high, 10.0)


def test_the_interval_is_that_of_vw_estimators():
    """Its cressieread.Interval(wmin=0, wmax=10), with costs as negative rewards."""
    assert policy_value.cv(logged(0, 1))[1:] == pytest.approx((0.2980646217957307, 0.6921413907176219), abs=1e-6)
    assert policy_value.cv(logged(-1, 2))[1:] == pytest.approx((0.2980646217957307, 0.6921413907176219), abs=1e-6)


def test_estimators_follow_their_formulas():
    of = logged(0, 1)
    terms = of.weight * of.cost
    assert policy_value.ips(of).value == pytest.approx(terms.mean())
    assert policy_value.snips(of).value == pytest.approx(terms.sum() / of.weight.sum())
    slope = np.cov(of.weight, terms)[0, 1] / of.weight.var(ddof=1)
    assert policy_value.cv(of).value == pytest.approx(terms.mean() + (1 - of.weight.mean()) * slope)
    low, value, high = (policy_value.ips(of)[place] for place in (1, 0, 2))
    assert high - value == pytest.approx(value - low) == pytest.approx(1.96 * terms.std(ddof=1) / 300**0.5, rel=1e-4)


def test_a_constant_added_to_costs_is_added_to_the_value():
    plain, more = policy_value.cv(logged(0, 1)), policy_value.cv(logged(7, 8, add=7))
    assert np.array(more) - 7 == pytest.approx(np.array(plain))


def test_quantiles_of_students_distribution_are_close():
    assert [policy_value.student(n) for n in (4, 10, 1000)] == pytest.approx([2.7764, 2.2281, 1.9623], abs=1e-3)


def test_few_costs_that_differ_widen_the_interval():
    terms = np.array([0.9] * 50)
    plain = Weighted(np.ones(50), np.array([0.0, 1.0] * 25), 0, 1, 4)
    rare = plain._replace(cost=np.array([0.0] * 48 + [1.0] * 2))
    assert policy_value.robust(terms, plain).high < policy_value.robust(terms, rare).high
    assert policy_value.robust(terms, plain).value == policy_value.robust(terms, rare).value


def test_switch_is_dr_but_for_what_was_rarely_shown():
    terms, expected, p = np.array([1.0, 2.0, 9.0]), np.array([0.3, 0.4, 0.5]), np.array([0.5, 0.25, 0.1])
    assert policy_value.switch(terms, expected, p, 2)[0] == pytest.approx(np.mean([1, 2, 0.5]))
    assert policy_value.switch(terms, expected, p, np.array([2, 1, 5]))[0] == pytest.approx(np.mean([1, 0.4, 9]))
    made = policy_value.policy_value([0, 1, 0], [0, 1, 1], [1, 0, 1], p, q=np.full((3, 2), 0.5))
    assert made["switch"].value == pytest.approx(np.mean([0.5 + 0.5 / 0.5, 0.5 - 0.5 / 0.25, 0.5]))


@pytest.mark.parametrize("chances", [[0.1], [0.02, 0.1, 0.8]])
def test_intervals_hold_the_true_value_as_often_as_they_say(chances):
    draw, hits = np.random.default_rng(1), 0
    for _ in range(100):
        p = draw.choice(chances, 500)
        match = draw.random(500) < p
        cost = (draw.random(500) < np.where(match, 0.2, 0.5)).astype(float)
        _, low, high = policy_value.cv(Weighted(match / p, cost, 0, 1, 1 / min(chances)))
        hits += low <= 0.2 <= high
    assert hits >= 90


def test_ranges_of_costs():
    assert ValueConfig(cost_range="-1,0").span == (-1, 0) and ValueConfig().span is None
    for wrong in ("1", "1,0", "a,b", "0,1,2"):
        with pytest.raises(UsageError, match="--cost_range takes two numbers"):
            ValueConfig(cost_range=wrong)


def log_of(seed, count=400, groups=False):
    draw, lines = random.Random(seed), []
    for _ in range(count):
        user, action = draw.randrange(3), draw.choices(range(3), (2, 1, 1))[0]
        seen = f"{int(draw.random() > (0.8 if action == user else 0.2))}:{(0.5, 0.25, 0.25)[action]}"
        if groups:
            of_actions = [f"{f'{a}:{seen} ' if a == action else ''}|a a{a}" for a in range(3)]
            lines.append("\n".join([f"shared |u u{user}", *of_actions, ""]))
        else:
            lines.append(f"{action + 1}:{seen} |u u{user}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("groups", [False, True])
def test_the_command_and_python_have_the_same_values(groups, run_here, tmp_path):
    (tmp_path / "log").write_text(log_of(1, groups=groups))
    (tmp_path / "later").write_text(log_of(2, groups=groups))
    options = ("--cb_adf", "-q", "ua") if groups else ("--cb", "3")
    run_here("train", "log", "-f", "new", *options, "--quiet")
    run_here("train", "log", "-f", "old", *options, "--quiet", "--cb_type", "dm", "-l", "0")
    report = json.loads(run_here("evaluate", "-i", "new", "later", "--value", "--against", "old", "--json", "-").stdout)
    actual = {row["estimate"]: row for row in report["estimates"]}
    answers = [int(line) for line in run_here("predict", "-i", "new", "later").lines]
    lines = (tmp_path / "later").read_text().splitlines()
    labels = [line.split()[0].split(":") for line in lines if line[:1].isdigit()]
    assert len(answers) == len(labels) == report["examples"] == 400
    weight = [(int(a) == answer) / float(p) for (a, _, p), answer in zip(labels, answers, strict=True)]
    costs = [float(c) for _, c, _ in labels]
    assert actual["ips"]["value"] == pytest.approx(np.mean(np.array(weight) * costs), rel=1e-6)
    assert report["matched"] == sum(map(bool, weight)) and report["mean_weight"] == pytest.approx(np.mean(weight))
    for name in ("cv", "ips", "snips", "dr"):
        assert actual[name]["low"] < 0.2 < actual[name]["high"]
    assert actual["dm"]["low"] is actual["dm"]["interval"] is None
    assert [actual[name]["interval"] for name in ("cv", "ips", "dr")] == ["likelihood", "normal", "normal"]
    policies = {row["policy"]: row for row in report["policies"]}
    assert policies["logged"]["value"] == pytest.approx(np.mean(costs))
    assert policies["constant"]["value"] > actual["cv"]["high"] and policies["uniform"]["value"] > actual["cv"]["high"]
    other, difference = report["against"]
    assert other["value"] > actual["cv"]["value"] and difference["high"] < 0


def values(run_here, *words):
    report = json.loads(run_here("evaluate", *words, "--json", "-").stdout)
    return report, {row["estimate"]: row["value"] for row in report["estimates"]}


@pytest.mark.parametrize("groups", [False, True])
def test_types_that_predict_no_costs_have_a_model_of_costs_by_two_folds(groups, run_here, tmp_path):
    (tmp_path / "log").write_text(log_of(1, groups=groups))
    (tmp_path / "later").write_text(log_of(2, groups=groups))
    options = ("--cb_explore_adf", "-q", "ua") if groups else ("--cb", "3")
    run_here("train", "log", "-f", "m", *options, "--cb_type", "ips", "--quiet")
    report, estimates = values(run_here, "-i", "m", "later")
    assert report["cost_model"] == "two folds" and "warnings" not in report
    assert report["estimates"][3]["low"] < 0.24 and report["estimates"][3]["high"] > 0.2
    assert estimates["dm"] == pytest.approx(estimates["dr"], abs=0.1)
    (tmp_path / "bad").write_text((tmp_path / "later").read_text() + "1:1:7 |u u1\n")
    done = run_here("evaluate", "-i", "m", "bad", "--max-bad-ratio", "0", status=65)
    assert done.stderr.count(f"bad line bad:{2001 if groups else 401}") == 1
    piped = run_here("evaluate", "-i", "m", stdin=(tmp_path / "later").read_text()).stdout
    assert "there is no dr, whose model of costs needs data that can be read twice" in piped and " dm " not in piped


@pytest.mark.parametrize("groups", [False, True])
def test_no_decision_is_scored_by_a_model_that_learned_it(groups, run_here, tmp_path):
    """Every decision has features of its own: what others teach says nothing of it."""
    rows = [(number, number % 3, number % 2) for number in range(30)]
    lines = [f"{a + 1}:{c + 1}:0.25 |u u{n}\n" for n, a, c in rows]
    if groups:
        lines = ["".join(f"{f'0:{c + 1}:0.25 ' * (x == a)}|a u{n}x{x}\n" for x in range(3)) + "\n" for n, a, c in rows]
    (tmp_path / "log").write_text("".join(lines))
    how = ("--cb_adf",) if groups else ("--cb", "3")
    run_here("train", "log", "-f", "ips", *how, "--noconstant", "--cb_type", "ips", "--quiet")
    run_here("train", "log", "-f", "mtr", *how, "--noconstant", "--quiet")
    for model in ("ips", "mtr"):
        report, estimates = values(run_here, "-i", model, "log")
        assert report["cost_model"] == "two folds" and estimates["dm"] == 1  # 0, cut to the costs' range
        assert "log was learned before (" in report["warnings"][0]["warning"]


def test_a_model_of_costs_of_ones_own(run_here, tmp_path):
    (tmp_path / "log").write_text(log_of(1))
    (tmp_path / "later").write_text(log_of(2))
    run_here("train", "log", "-f", "own", "--cb", "3", "--quiet")
    run_here("train", "log", "-f", "ips", "--cb", "3", "--cb_type", "ips", "--quiet")
    run_here("train", "log", "-f", "four", "--cb", "4", "--quiet")
    run_here("train", "later", "-f", "later.model", "--cb", "3", "--quiet")
    own, brought = (values(run_here, "-i", "own", "later", *more) for more in ((), ("--regressor", "own")))
    assert own[1] == brought[1] and (own[0]["cost_model"], brought[0]["cost_model"]) == ("policy", "regressor")
    of_ips = values(run_here, "-i", "ips", "later", "--regressor", "own")[1]
    assert of_ips["dr"] == pytest.approx(own[1]["dr"], abs=0.05)
    for model, status, message in (
        ("ips", 2, "--regressor takes a model of costs: one of --cb or --cb_adf with --cb_type mtr or direct"),
        ("later.model", 2, "--regressor takes a model that has not learned the data: later was learned before"),
        ("four", 65, "the model of costs has other actions than the policy"),
    ):
        done = run_here("evaluate", "-i", "own", "later", "--regressor", model, status=status)
        assert message in done.stderr
    done = run_here("evaluate", "-i", "own", "--regressor", "own", stdin=b"1:1:0.5 |u a\n", status=2)
    assert "--regressor reads the data twice" in done.stderr


def test_wrong_probabilities_are_told(run_here, tmp_path):
    (tmp_path / "log").write_text(log_of(1).replace(":0.5 ", ":0.1 "))
    run_here("train", "log", "-f", "m", "--cb", "3", "--quiet")
    assert "are the probabilities right?" in run_here("evaluate", "-i", "m", "log").stdout


def test_tune_goes_by_the_value(run_here, tmp_path):
    (tmp_path / "log").write_text(log_of(1))
    (tmp_path / "later").write_text(log_of(2))
    options = ("--vary", "learning_rate 0|0.5", "--trials", "2", "--passes", "1", "--json", "-", "--quiet")
    tuned = json.loads(run_here("tune", "log", "--test", "later", "--with", "--cb 3", *options).stdout)
    assert tuned["metric"] == "loss" and tuned["score"] < 0.3


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("-i m log --metric auc", 2, "--metric auc does not go with a policy"),
        ("-i m log --qid u", 2, "--qid does not go with a policy"),
        ("-i m log --cost_range 0,0.5", 2, "--cost_range 0,0.5: costs are 0 to 1"),
        ("-i m none", 65, "there is no logged decision"),
        ("-i m log --against gd", 2, "--against takes another model of --cb or --cb_adf"),
        ("-i gd numbers --value", 2, "--value is for models of --cb and --cb_adf"),
        ("-i gd numbers --regressor m", 2, "--regressor is for models of --cb and --cb_adf"),
        ("-i gd numbers --cost_range 0,1", 2, "--cost_range is for models of --cb and --cb_adf"),
    ],
)
def test_wrong_commands_are_refused(words, status, message, run_here, tmp_path):
    (tmp_path / "log").write_text(log_of(1))
    (tmp_path / "none").write_text("|u u1\n|u u2\n")
    (tmp_path / "numbers").write_text("1 |u u1\n0 |u u2\n")
    run_here("train", "log", "-f", "m", "--cb", "3", "--quiet")
    run_here("train", "numbers", "-f", "gd", "--quiet")
    assert message in run_here("evaluate", *words.split(), status=status).stderr


def test_a_model_of_names_takes_no_model_of_costs(run_here, tmp_path):
    (tmp_path / "names").write_text("a |u u1\nb |u u2\n")
    run_here("l1", "names", "-f", "m", "--model", "multinomial", "--quiet")
    done = run_here("evaluate", "-i", "m", "names", "--regressor", "m", status=2)
    assert "--regressor does not go with" in done.stderr
