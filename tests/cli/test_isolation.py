"""Python files beside the data are never run."""

import shlex
import subprocess
import sys

import pytest

HOSTILE = ("click", "numpy", "json", "tqdm", "mmh3", "subprocess", "optuna", "sitecustomize")
TUNE = "tune train.vw --test train.vw --vary '-l 0.1|0.2' --passes 1 --trials 1"
# As the console script: the folder is not searched.
CONSOLE = ("-P", "-c", "from vwlite.cli.program import program; program()")


@pytest.fixture
def beside(tmp_path, write, cli_env):
    """Runs Python in a folder with data and hostile files of these names; the exit status must be 0."""

    def run(names, *arguments, folder=tmp_path):
        write("train.vw", "".join(f"{n % 3} |a x{n % 3} y{n}\n" for n in range(30)))
        for name in names:
            write(f"{name}.py", f"open('ran-{name}', 'w').close()\nraise SystemExit(99)\n")
        command, unsafe = [sys.executable, *arguments], {**cli_env, "PYTHONSAFEPATH": ""}
        done = subprocess.run(command, cwd=folder, env=unsafe, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.mark.parametrize("command", ["train train.vw -f model --names", TUNE])
def test_as_a_module(command, beside, names_in):
    beside(HOSTILE, "-m", "vwlite", *shlex.split(command))
    assert [name for name in names_in() if name.startswith("ran-")] == []


def test_the_trials_of_tune(beside, names_in):
    done = beside((*HOSTILE, "vwlite", "pkgutil", "runpy"), *CONSOLE, *shlex.split(TUNE))
    assert done.stdout.startswith("vwlite train train.vw ") and "1 pass: 1 trial," in done.stderr
    assert [name for name in names_in() if name.startswith("ran-")] == []


def test_as_a_module_in_a_folder_that_is_gone(beside, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"rmdir '{gone}'; exec '{sys.executable}' -m vwlite --version"
    beside((), "-c", f"import os; os.execvp('sh', ['sh', '-c', {script!r}])", folder=gone)
