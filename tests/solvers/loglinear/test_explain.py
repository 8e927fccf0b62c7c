"""Terms of labels' scores beside the twin's scores of paths, and beside probabilities."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from l1_case import CORPUS, text_of, twins

from vwlite.data.text_format import parse_text
from vwlite.evaluation.explain import Explanation
from vwlite.solvers.loglinear import model_file
from vwlite.solvers.loglinear.examples import text_format_of
from vwlite.solvers.loglinear.inspection import Explained

HERE = {"suppress_health_check": [HealthCheck.function_scoped_fixture], "max_examples": 10, "deadline": None}


@pytest.fixture
def taught(tmp_path, run_here):
    """An ``Explained`` over a text that it has learned, with edge features."""

    def of(text, *options):
        (tmp_path / "d").write_text(text)
        run_here("l1", "d", "-f", "m", "--quiet", "--l1", "0.01", "--passes", "20", *options)
        model = model_file.load(str(tmp_path / "m"))
        batch = parse_text(text.encode(), text_format_of(model.config, model.features, names=True))
        return Explained(model, [batch])

    return of


@pytest.mark.parametrize("order", ["1", "2"])
@given(corpus=CORPUS)
@settings(**HERE)
def test_sums_of_the_answers_are_the_score_of_the_path(order, corpus, taught):
    tagger = taught(text_of(corpus, edge=True), "--model", "crf", "--edge", "e", "--order", order)
    for part in tagger.run():
        actual = list(tagger.of_part(part, None, None))
        assert len(actual) == len(part.best)
        for twin, begin in zip(twins(part.chains), part.chains.sequence.tolist(), strict=False):
            end = begin + len(twin.state)
            path = tuple(part.best[begin:end].tolist())
            score = sum(tagger.weights[number] * value for number, value in twin.counts(path).items())
            assert sum(one.sums[0].value for one in actual[begin:end]) == pytest.approx(score, abs=1e-9)
        for one in actual:
            check(one, tagger.pairs.names)


def check(one: Explanation, names):
    """The terms make the sums; the answer comes first, the others by their sums."""
    assert sorted(s.name for s in one.sums) == sorted(names) and one.sums[0].name == one.prediction
    values = [s.value for s in one.sums[1:]]
    assert values == sorted(values, reverse=True)
    for s in one.sums:
        assert s.value == pytest.approx(sum(term.weight * term.value for term in s.terms), abs=1e-12)
        assert all(term.weight and term.name for term in s.terms) and s.others == 0
        assert len({(term.name, term.slot) for term in s.terms}) == len(s.terms)


def test_probabilities_are_those_of_the_scores(taught, run_here):
    text = "".join(f"{'xyz'[n % 3]} '{n} |a w{n % 3} v{n % 4}:0.5 v{n % 4} |b u{n % 2}\n" for n in range(40))
    tagger = taught(text, "--model", "multinomial", "-q", "ab")
    answers = run_here("predict", "-i", "m", "d", "--probabilities").stdout.splitlines()
    done = run_here("explain", "-i", "m", "d", "--json", "-", "--classes", 9, "--top", 99).stdout
    examples = json.loads(done)["examples"]
    assert len(examples) == len(answers) == 40
    for number, (answer, one) in enumerate(zip(answers, examples, strict=True)):
        label, *chances, tag = answer.split()
        assert (one["prediction"], one["tag"], one["location"]) == (label, tag, f"d:{number + 1}")
        powers = {s["name"]: math.exp(s["value"]) for s in one["sums"]}
        expected = {name: power / sum(powers.values()) for name, power in powers.items()}
        assert {c.split(":")[0]: float(c.split(":")[1]) for c in chances} == pytest.approx(expected, abs=1e-5)
    terms = [term["name"] for s in examples[0]["sums"] for term in s["terms"]]
    assert "a^w0" in terms and tagger.pairs.names == ["x", "y", "z"]


def test_text_of_a_sequence(run_here, tmp_path):
    (tmp_path / "d").write_text("B 'one |w the the\nI |w dog\n\nB |w a\nI |w cat\n" * 9)
    run_here("l1", "d", "-f", "m", "--quiet", "--l1", "0.1", "--model", "crf")
    completed = run_here("explain", "-i", "m", "d", "--top", 5).stdout.split("\n\n")
    assert completed[0].startswith("d:1  one  prediction B\n  B  sum ") and "            2  w^the" in completed[0]
    assert "            1  after B" in completed[1] and completed[1].startswith("d:2  prediction I\n")
    assert completed[2].startswith("d:4  prediction B\n") and "after" not in completed[2]
    (tmp_path / "odd").write_text("|w dog\n|w x:nan\n|w the\n")
    done = run_here("explain", "-i", "m", "odd", "--max-bad-ratio", 0, status=65)
    assert "odd:2:" in done.stderr and done.stdout.count("prediction") == 2


def test_what_such_models_cannot_take_is_refused(run_here, tmp_path):
    (tmp_path / "d").write_text("one |a x\ntwo |a y\n" * 5)
    run_here("l1", "d", "-f", "m", "--quiet", "--model", "multinomial")
    stderr = run_here("predict", "-i", "m", "d", "--audit", status=2).stderr
    assert "--audit does not go with a model of named labels: use 'vwlite explain'" in stderr
