"""The examples run as a newcomer would run them, and show what they promise."""

import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def demo(tmp_path_factory, cli_env):
    """The finished demo: what it printed (stdout, stderr) and the folder it wrote."""
    folder = tmp_path_factory.mktemp("a demo")
    done = subprocess.run(
        ["sh", EXAMPLES / "demo.sh", "demo-out"],
        cwd=folder,
        env={**cli_env, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr, folder / "demo-out"


def test_demo_recognises_held_out_lines(demo):
    stdout, _, out = demo
    scores = json.loads((out / "scores.json").read_text())
    assert scores["accuracy"] > 0.88
    assert "accuracy" in stdout


def test_demo_predicts_a_probability_and_the_tag_of_every_held_out_line(demo):
    _, _, out = demo
    predictions = [line.split(" ") for line in (out / "test.pred").read_text().splitlines()]
    examples = (out / "test.vw").read_text().splitlines()
    tags = [re.search(r"'(\S+?)\|", line)[1] for line in examples]
    assert [tag for _, tag in predictions] == tags
    assert all(0 <= float(probability) <= 1 for probability, _ in predictions)
    assert len(examples) == (out / "test.txt").read_text().count("\n")


def test_demo_names_the_features_it_goes_by(demo):
    stdout, _, _ = demo
    named = set(re.findall(r"words\^(\w+)", stdout.partition("vwlite inspect")[2]))
    asyncio = {"Future", "_sock", "futures", "loop", "protocol", "task", "timeout"}
    email = {"charset", "email", "domain", "header", "headers", "message", "payload", "token"}
    assert named & asyncio and named & email


def test_demo_shows_progress_on_stderr_only(demo):
    stdout, stderr, _ = demo
    assert re.search(r"average\s+since", stderr)
    assert not re.search(r"average\s+since", stdout)


def test_demo_echoes_every_command(demo):
    stdout, _, _ = demo
    commands = re.findall(r"^\$ vwlite (\w+)", stdout, re.M)
    assert commands == ["train", "predict", "evaluate", "inspect"]


def test_demo_ends_with_a_command_that_works(demo):
    stdout, _, out = demo
    command = stdout.splitlines()[-1]
    done = subprocess.run(command, shell=True, cwd=out.parent, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert 0.5 < float(done.stdout) < 1
    assert command.split(" | ")[1].split()[0] == str(Path(sys.executable).with_name("vwlite"))


def convert(folder, *options):
    command = [sys.executable, EXAMPLES / "stdlib_to_vw.py", folder, *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_stdlib_lines_come_in_the_same_order_every_time(tmp_path):
    for name in ("one", "two"):
        assert convert(tmp_path / name, "--packages", "json", "http").returncode == 0
    for file in ("train.vw", "test.vw", "test.txt"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_stdlib_lines_are_never_both_learned_and_held_out(tmp_path):
    convert(tmp_path, "--packages", "json", "http")
    learned = (tmp_path / "train.vw").read_text().splitlines()
    held_out = (tmp_path / "test.vw").read_text().splitlines()
    assert not set(learned) & set(held_out)
    assert 0.1 < len(held_out) / (len(learned) + len(held_out)) < 0.3


def test_stdlib_without_the_package_is_one_sentence(tmp_path):
    done = convert(tmp_path / "out", "--packages", "json", "nosuchpackage")
    assert done.returncode == 1
    assert "nosuchpackage" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not shutil.which("dash"), reason="no dash here to check the syntax with")
def test_demo_is_plain_posix_shell():
    done = subprocess.run(["dash", "-n", EXAMPLES / "demo.sh"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def polars_csv(tmp_path, cli_env):
    """Runs examples/polars_csv.py in ``tmp_path``."""
    pytest.importorskip("polars", reason="polars is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")

    def run(*arguments):
        command = [sys.executable, EXAMPLES / "polars_csv.py", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=cli_env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_csv_file_is_learned_measured_and_explained(polars_csv, tmp_path):
    shown = polars_csv()
    measured = {name: float(value) for name, value in re.findall(r"^(\w+) +([\d.]+)$", shown, re.M)}
    assert measured["accuracy"] > 0.75 and measured["auc"] > 0.85 and measured["log_loss"] < 0.55
    probability = float(re.search(r"probability ([\d.]+), because of", shown)[1])
    terms = [float(one) for one in re.findall(r"^ +([+-][\d.]+)  ", shown, re.M)]
    assert 1 / (1 + math.exp(-sum(terms))) == pytest.approx(probability, abs=0.002)
    assert [abs(one) for one in terms] == sorted(map(abs, terms), reverse=True)
    assert polars_csv("people.csv") == shown


def test_a_csv_file_of_ones_own(polars_csv, tmp_path):
    rows = [f"{color},{n % 7},{1 if color == 'red' else -1}" for n in range(200) for color in ("red", "blue")]
    (tmp_path / "own.csv").write_text("\n".join(["color,size,label", *rows]))
    assert re.search(r"^accuracy +1.000$", polars_csv("own.csv"), re.M)
    assert not (tmp_path / "people.csv").exists()


def test_shards_beside_one_pass(tmp_path, cli_env, commands):
    text = "".join(f"{1 if n % 3 else -1} |a x{n % 3} y{n % 11} z{n % 7}\n" for n in range(600))
    (tmp_path / "train").write_text(text)
    (tmp_path / "test").write_text(text[: len(text) // 2].rpartition("\n")[0] + "\n")
    command = [commands / "python", EXAMPLES / "shards.py", "train", "test", "--shards", "2,3", "--rounds", "2"]
    learner = ["--json", "out", "--", "--loss_function", "logistic", "-b", "10"]
    done = subprocess.run([*command, *learner], cwd=tmp_path, env=cli_env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out").read_text())
    assert report["rounds"].keys() == {"2", "3"} and all(len(after) == 2 for after in report["rounds"].values())
    rows = [line.split("|")[1:4] for line in done.stdout.splitlines()[2:]]
    for shards, alone, after in rows:
        assert float(alone) == pytest.approx(report["sequential"], abs=1e-4)
        expected = [100 * (loss / report["sequential"] - 1) for loss in report["rounds"][shards.strip()]]
        assert [float(one) for one in after.split()] == pytest.approx(expected, abs=0.06)
