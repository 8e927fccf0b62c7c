"""``vwlite aso tasks``, and what takes its models."""

import json
import math
import random

import pytest


def lines(count, seed, people=30):
    rng, result = random.Random(seed), []
    for number in range(count):
        person = rng.randrange(people)
        taste = random.Random(person).gauss(0, 1)
        x = [rng.gauss(0, 1) for _ in range(8)]
        y = 3 + taste * (x[0] + x[1] - x[2]) + 0.2 * rng.gauss(0, 1)
        features = " ".join(f"f{at}:{value:.3f}" for at, value in enumerate(x))
        result.append(f"{y:.4f} 'e{number}|who p{person} |f {features}\n")
    return "".join(result)


@pytest.fixture(autouse=True)
def files(write):
    write("train.vw", lines(300, 1))
    write("test.vw", lines(100, 2))


def learn(vwlite, *options, **more):
    return vwlite("aso", "tasks", "train.vw", "--task", "who", "-f", "model", *options, **more)


def test_the_model_beats_its_baselines_and_the_others_take_it(vwlite, tmp_path, write):
    stderr = learn(vwlite, "--dim", "1", "--test", "test.vw", "--json", "facts").stderr
    facts = json.loads((tmp_path / "facts").read_text())
    error = facts["test"]
    assert error["tasks"] < 0.3 * error["independent"] and error["tasks"] < 0.3 * error["pooled"]
    assert "round 1: objective" in stderr and facts["tasks"] == 30
    report = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)
    assert report["mse"] == pytest.approx(error["tasks"]) and report["unknown_task"] == 0
    assert "mse" in vwlite("evaluate", "-i", "model", "test.vw", "--metric", "mse").stdout
    answers = vwlite("predict", "-i", "model", "test.vw", "--quiet").lines
    assert len(answers) == 100 and answers[3].endswith(" e3") and 0 < float(answers[3].split()[0]) < 6
    assert "row 1" in vwlite("inspect", "model").stdout
    write("new.vw", "|who stranger |f f0:1\n |f f0:1\n")
    done = vwlite("predict", "-i", "model", "new.vw")
    assert "2 examples are of no task" in done.stderr and done.lines[0] == done.lines[1]


def test_every_option_changes_the_model_and_defaults_do_not(vwlite, tmp_path):
    learn(vwlite, "--quiet")
    usual = (tmp_path / "model").read_bytes()
    learn(vwlite, "--constant", "--quiet")
    assert (tmp_path / "model").read_bytes() == usual
    many = ("--lambda 0.5", "--lambda-task p3=2", "--own f", "--noconstant", "--iterations 2", "--tolerance 0.5")
    for options in (*many, "--dim 0", "--centre", "--pooled"):
        learn(vwlite, *options.split(), "--quiet")
        assert (tmp_path / "model").read_bytes() != usual
        assert json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)["examples"] == 100


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ("--lambda-task p3", 2, "TASK=X"),
        ("--lambda-task p3=0", 2, "TASK=X"),
        ("--lambda-task q=1", 2, "no such task"),
        ("--pooled --own f", 2, "--pooled"),
        ("--pooled --centre", 2, "--pooled"),
        ("--own g", 2, "--own g"),
        ("--dim -1", 2, "--dim"),
        ("--lambda 0", 2, "--lambda"),
        ("--task shop", 65, "names its task by a feature of namespace shop"),
    ],
)
def test_wrong_options_and_data_are_refused(vwlite, options, status, said):
    assert said in learn(vwlite, *options.split(), status=status).stderr


def test_a_line_without_a_task_is_left_out_and_said(vwlite, write, tmp_path):
    learn(vwlite, "--quiet")
    usual = (tmp_path / "model").read_bytes()
    write("train.vw", lines(300, 1) + "4 |f f0:1\n")
    assert "1 examples name no task by a feature of namespace who" in learn(vwlite).stderr
    assert (tmp_path / "model").read_bytes() == usual


def test_features_that_are_too_large_are_refused(vwlite, write):
    write("big.vw", "".join(f"{n % 2} |a x{n % 7}:3e38 y{n % 5}:-3e38 z:3e38 |t t{n % 3}\n" for n in range(40)))
    stderr = vwlite("aso", "tasks", "big.vw", "--task", "t", "-f", "m", "--quiet", status=70).stderr
    assert stderr.startswith("vwlite: features are too large for their task to be solved")


def test_models_in_the_wrong_place(vwlite):
    learn(vwlite, "--quiet")
    assert "made by vwlite aso learn" in vwlite("aso", "inspect", "model", status=76).stderr
    shares = vwlite("predict", "-i", "model", "test.vw", "--probabilities", status=2)
    assert "needs a model of tasks with" in shares.stderr
    for typed in ("--scores", "-r raw", "--audit"):
        stderr = vwlite("predict", "-i", "model", "test.vw", *typed.split(), status=2).stderr
        assert "does not go with a model of tasks" in stderr


@pytest.mark.parametrize("loss", ["logistic", "modified_huber"])
def test_tasks_of_two_classes_are_learned_and_measured(loss, vwlite, write, tmp_path):
    for name, text in (("train.vw", lines(600, 1)), ("test.vw", lines(200, 2))):
        signs = (f"{1 if float(line.split()[0]) > 3 else -1} {line.split(' ', 1)[1]}" for line in text.splitlines(True))
        write(name, "".join(signs))
    how = ("--loss_function", loss, "--dim", "1", "--lambda", "0.01")
    stderr = learn(vwlite, *how, "--test", "test.vw", "--json", "facts").stderr
    share = json.loads((tmp_path / "facts").read_text())["test"]
    assert share["tasks"] > max(share["independent"], share["pooled"]) + 0.05 and "tasks: accuracy" in stderr
    report = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)
    assert report["accuracy"] == share["tasks"] > 0.8 and report["log_loss"] > 0 and "mse" not in report
    answers = vwlite("predict", "-i", "model", "test.vw", "--quiet").lines
    signs = [line.split()[0] for line in (tmp_path / "test.vw").read_text().splitlines()]
    agree = [(float(answer.split()[0]) > 0) == (sign == "1") for answer, sign in zip(answers, signs, strict=True)]
    assert sum(agree) / len(agree) == pytest.approx(report["accuracy"])
    shares = vwlite("predict", "-i", "model", "test.vw", "--quiet", "--probabilities").lines
    odds = [math.tanh(float(answer.split()[0]) / 2) for answer in answers]
    if loss == "modified_huber":
        odds = [min(max(float(answer.split()[0]), -1), 1) for answer in answers]
    odds = [(1 + odd) / 2 for odd in odds]
    assert [float(share.split()[0]) for share in shares] == pytest.approx(odds, abs=1e-5)
    write("train.vw", "2 |who a |f x\n")
    assert "are -1 and 1, and one is 2" in learn(vwlite, *how, status=65).stderr
