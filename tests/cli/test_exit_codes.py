"""Every exit status that is promised, provoked by the command line as it is called from a shell."""

import gzip
import inspect
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vwlite import errors

GOOD = "1 |a x\n-1 |a y\n" * 20
PAGE = (Path(__file__).resolve().parents[2] / "docs/exit-codes.md").read_text()

STATUSES = {  # a command in sh; data, model and a writable folder are there
    0: "vwlite train good.vw -f out",
    2: "vwlite train good.vw --passes none",
    65: "echo 'x1 |a' | vwlite train -f out",
    66: "vwlite train nosuch.vw -f out",
    69: "PYTHONPATH=without:$PYTHONPATH vwlite train zstd.zst -f out",
    70: "vwlite train wild.vw --sgd -l 1e9 -f out",
    71: "ulimit -v 4000000; vwlite train good.vw --block-size 8000000000 -f out",
    73: "vwlite train good.vw -f no/such/folder",
    74: "vwlite train half.gz -f out",
    75: "flock out.lock vwlite train good.vw -f out",
    76: "head -c 300 model > cut; vwlite predict -i cut good.vw",
    141: "mkfifo p; vwlite predict -i model long.vw > p & sleep 0 < p; wait $!",
}
SIGNALS = {130: signal.SIGINT, 143: signal.SIGTERM}


@pytest.fixture
def folder(tmp_path, vwlite):
    (tmp_path / "good.vw").write_text(GOOD)
    (tmp_path / "long.vw").write_text(GOOD * 3000)
    (tmp_path / "wild.vw").write_text("1e38 |a b:1e30\n-1e38 |a b:1e30 c:1e38\n" * 40)
    (tmp_path / "half.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    (tmp_path / "zstd.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    (tmp_path / "without" / "backports").mkdir(parents=True)
    (tmp_path / "without" / "backports" / "zstd.py").write_text("raise ImportError")
    (tmp_path / "without" / "backports" / "__init__.py").write_text("")
    vwlite("train", "good.vw", "-f", "model", "--quiet")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "vwlite").write_text(f'#!/bin/sh\nexec {sys.executable} -m vwlite "$@"\n')
    (tmp_path / "own" / "vwlite").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("status", STATUSES)
def test_every_documented_status_is_returned(status, folder, cli_env, commands):
    own = status in (69, 71, 141)  # of how a process begins or ends
    env = {**cli_env, "PATH": f"{folder / 'own' if own else commands}{os.pathsep}{cli_env['PATH']}"}
    done = subprocess.run(["sh", "-c", STATUSES[status]], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    if status not in (0, 141):
        messages = done.stderr.splitlines()[-1]
        assert messages.startswith("vwlite: ") and len(messages) > 20
        assert not (folder / "out").exists()


@pytest.mark.parametrize("status", SIGNALS)
def test_status_after_a_signal(status, folder, cli_env):
    def hear():
        for number in SIGNALS.values():
            signal.signal(number, signal.SIG_DFL)

    command = [sys.executable, "-m", "vwlite", "train", "-f", "out"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, env=cli_env, preexec_fn=hear, **pipes) as process:
        assert any(line.startswith(b"Enabled") for line in iter(process.stderr.readline, b""))
        process.send_signal(SIGNALS[status])
        process.stderr.read()
        assert process.wait() == status


LATE = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *more):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
from vwlite.cli.program import program
program()
"""


@pytest.mark.parametrize("name", ["click", "vwlite.cli.root", "vwlite.errors"])
def test_interrupted_before_there_is_a_command(name, cli_env):
    """The interrupt comes while modules are imported."""
    done = subprocess.run([sys.executable, "-c", LATE, name], env=cli_env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "vwlite: interrupted\n")


def test_all_of_them_are_here_and_in_the_table():
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__]
    kinds = [kind for kind in classes if kind is not errors.VwliteError]
    promised = {0, *(kind.exit_code for kind in kinds), 130, 141, 143}
    assert promised == {*STATUSES, *SIGNALS}
    told = re.findall(r"^\| (\d+(?:, \d+)*) \|", PAGE, re.M)
    assert promised == {int(number) for row in told for number in row.split(", ")}


PYTHONS_OWN = {
    errors.DataError: ValueError,
    errors.ExtraMissing: ImportError,
    errors.InputMissing: FileNotFoundError,
    errors.Locked: TimeoutError,
    errors.ModelError: ValueError,
    errors.UsageError: ValueError,
}


@pytest.mark.parametrize("kind", PYTHONS_OWN)
def test_errors_are_also_those_of_python(kind):
    error = kind("one sentence")
    assert isinstance(error, PYTHONS_OWN[kind]) and isinstance(error, errors.VwliteError)
    assert (str(error), error.args) == ("one sentence", ("one sentence",))
    assert getattr(error, "errno", None) is None
