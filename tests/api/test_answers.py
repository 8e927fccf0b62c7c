"""What ``predict`` can show of every kind of model: the answers, and the refusals, of the command."""

import numpy as np
import pytest
from model_runs import GROUPS, RUNS

from vwlite import Model
from vwlite.errors import UsageError

ids = [options or "defaults" for options, _ in RUNS]


def numbers_of(line):
    """The numbers of a line: those after colons, where there are any; none of an empty one."""
    words = line.replace(",", " ").split()
    return [float(word.rpartition(":")[2]) for word in words]


def read(lines, answers):
    """Lines as arrays or lists like ``answers``."""
    return np.array([numbers_of(line) for line in lines if line], np.float32).reshape(np.shape(answers))


@pytest.mark.parametrize("asked", ["probabilities", "scores"])
@pytest.mark.parametrize(("options", "text"), RUNS, ids=ids)
def test_answers_are_those_of_the_command(options, text, asked, run_here, tmp_path):
    if "ldf" in options or "adf" in options:
        pytest.skip("below")
    model = Model(options)
    model.learn(text)
    model.save(tmp_path / "m")
    (tmp_path / "d").write_bytes(text)
    done = run_here("predict", "-i", "m", "d", f"--{asked}", status=None)
    if done.returncode == 2:
        with pytest.raises(UsageError) as raised:
            model.predict(text, **{asked: True})
        assert str(raised.value) == done.stderr.removeprefix("vwlite: ").strip()
        return
    assert done.returncode == 0
    for threads in (None, 1):
        answers = model.predict(text, threads=threads, **{asked: True})
        expected = read(done.stdout.split("\n")[: len(answers)], answers)
        assert answers.dtype == np.float32
        np.testing.assert_allclose(answers, expected, rtol=2e-5, atol=2e-6)


def test_groups_of_lines(run_here, tmp_path):
    model = Model("--csoaa_ldf m")
    model.learn(GROUPS)
    model.save(tmp_path / "m")
    (tmp_path / "d").write_bytes(GROUPS)
    lines = run_here("predict", "-i", "m", "d", "--scores").stdout.split("\n\n")[:-1]
    ranked = model.predict(GROUPS, scores=True)
    assert len(ranked) == len(lines) == 40
    for line, ranking in zip(lines, ranked, strict=True):
        pairs = [word.split(":") for word in line.strip().split(",")]
        assert [int(number) for number, _ in pairs] == [number for number, _ in ranking]
        assert [float(score) for _, score in pairs] == pytest.approx([score for _, score in ranking], abs=1e-5)
    always = Model("--csoaa_ldf m --csoaa_rank")
    always.learn(GROUPS)
    assert always.predict(GROUPS) == ranked
    assert model.predict(GROUPS).shape == (80,)
    shares = model.predict(GROUPS, probabilities=True)
    assert shares.reshape(-1, 2).sum(axis=1) == pytest.approx(1, abs=1e-6)


def test_actions_that_are_lines(run_here, tmp_path):
    text = b"".join(b"0:%d:0.5 |a a%d\n|a b%d\n\n" % (n % 2, n % 5, n % 3) for n in range(40))
    model = Model("--cb_adf")
    model.learn(text)
    model.save(tmp_path / "m")
    (tmp_path / "d").write_bytes(text)
    ranked = model.predict(text, scores=True)
    for line, ranking in zip(run_here("predict", "-i", "m", "d", "--scores").lines, ranked, strict=True):
        pairs = [word.split(":") for word in line.split()]
        assert [int(action) for action, _ in pairs] == [action for action, _ in ranking]
        assert [float(cost) for _, cost in pairs] == pytest.approx([cost for _, cost in ranking], abs=1e-5)
    assert model.predict(text).tolist() == [ranking[0][0] for ranking in ranked]
    event = b'{"c": {"_multi": [{"a": {"a%d": true}}, {"a": {"b%d": true}}]}}\n'
    events = b"".join(event % (n % 5, n % 3) for n in range(40))
    assert model.predict(events, scores=True, kind="dsjson") == ranked


def test_two_kinds_at_once():
    with pytest.raises(UsageError, match="--probabilities and --raw do not go together"):
        Model("--loss_function logistic").predict("|a b", raw=True, probabilities=True)
