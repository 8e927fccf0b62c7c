"""The example about raters and tasks: what it draws and prints, what it reads and refuses."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
raters = pytest.importorskip("raters")
FEW = ("--tasks", "150", "--raters", "12", "--passes", "3")


@pytest.fixture
def run(tmp_path, cli_env, commands):
    def to(*words):
        return subprocess.run(
            ["sh", EXAMPLES / "raters.sh", *words], cwd=tmp_path, env={**cli_env, "PYTHON": str(commands / "python")},
            capture_output=True, text=True,
        )  # fmt: skip

    return to


def test_every_task_has_five_raters_and_no_pair_is_there_twice():
    drawn = [*raters.drawn(300, 20, 1)]
    assert {*Counter(task for _, task, _ in drawn).values()} == {raters.EACH}
    assert len({(rater, task) for rater, task, _ in drawn}) == 300 * raters.EACH
    assert {label for *_, label in drawn} == {*"123456"}
    assert drawn == [*raters.drawn(300, 20, 1)] != [*raters.drawn(300, 20, 2)]


def test_what_is_printed_is_what_is_written_and_better_than_a_constant(run, tmp_path):
    done = run(*FEW, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert [row["k"] for row in report["rows"]] == [None, 1, 2, 3] and report["classes"] == 6
    lines = [line.split()[-3:] for line in done.stdout.splitlines()[1:]]
    expected = [[report["constant"]] * 3, *([row[name] for name in raters.LEARNERS] for row in report["rows"])]
    assert lines == [[f"{value:.3f}" for value in row] for row in expected]
    assert all(row["scores"] < report["constant"] for row in report["rows"])


def test_labels_of_a_file(run, tmp_path):
    lines = ["\t".join((f"a{n % 5}", f"b{n // 5}", "yes" if n // 5 % 2 else "no")) for n in range(200)]
    (tmp_path / "answers.tsv").write_text("\n".join(lines) + "\n")
    done = run("answers.tsv", "--passes", "10", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["classes"] == 2 and report["rows"][0]["scores"] < 0.2
    (tmp_path / "answers.tsv").write_text("a\tb\n")
    assert "answers.tsv:1: not rater, task and label" in run("answers.tsv").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--raters", "4"], "--raters 5 or more"),
        (["--tasks", "1"], "--tasks takes 2 or more"),
        (["nowhere.tsv"], "No such file"),
    ],
)
def test_what_is_refused(words, message, run):
    done = run(*words)
    assert done.returncode != 0 and message in done.stderr and done.stdout == ""
