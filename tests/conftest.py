"""Fixtures that every test may ask for."""

import gc
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import fork_server
import pytest
from hypothesis import settings

import vwlite

# A process that a test starts compiles no module that another has compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

PROJECT = Path(__file__).resolve().parent.parent

# No deadline: a loaded machine must not fail a test.
# Where CI is set the same examples are drawn every time: a change is judged by what it changed.
CI = bool(os.environ.get("CI"))
settings.register_profile("vwlite", deadline=None, print_blob=True, derandomize=CI, max_examples=40)
settings.load_profile("vwlite")


def fsync(file, flush=os.fsync):
    """Flush what is on no disk: what tests write to disks need not outlast the machine."""
    if not stat.S_ISREG(mode := os.fstat(file).st_mode) and not stat.S_ISDIR(mode):
        flush(file)


os.fsync = fsync


def pytest_collection_finish():
    """What was imported and collected is neither looked through for garbage again nor copied in forks."""
    gc.collect()
    gc.freeze()


def folder_of(variable, default):
    """The folder ``variable`` names, else ``default`` beside the project; skips when absent."""
    folder = Path(os.environ.get(variable) or PROJECT / default).resolve()
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there (set {variable} to the folder)")
    return folder


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the real data sets, named by VWLITE_DATA."""
    return folder_of("VWLITE_DATA", "../shared/data")


@pytest.fixture(scope="session")
def cases_dir():
    """Folder of small files that people brought, named by VWLITE_CASES."""
    return folder_of("VWLITE_CASES", "../shared/cases")


@pytest.fixture(scope="session")
def conformance_dir():
    """Folder of the conformance cases and their runner, named by VWLITE_CONFORMANCE."""
    return folder_of("VWLITE_CONFORMANCE", "../shared/conformance")


@pytest.fixture(scope="session")
def cli_env():
    """Environment in which ``python -m vwlite`` is the vwlite under test, whatever the folder."""
    place = str(Path(vwlite.__file__).resolve().parent.parent)
    others = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([place, others]) if others else place
    settled = {"PYTHONSAFEPATH": "1", "PYTHONUTF8": "1", "COLUMNS": "80"}
    return {**os.environ, **settled, "PYTHONPATH": path}


@pytest.fixture(scope="session")
def commands(cli_env):
    """A folder with ``vwlite`` and ``python``, which run the command line in forks (``fork_server.py``)."""
    with tempfile.TemporaryDirectory() as folder, fork_server.commands(folder, cli_env):
        yield Path(folder)


@pytest.fixture(scope="session")
def cli_path(commands, cli_env):
    """``cli_env`` with a PATH on which the ``vwlite`` and ``python`` of ``commands`` come first."""
    return {**cli_env, "PATH": f"{commands}{os.pathsep}{cli_env['PATH']}"}


@pytest.fixture
def run_cli(tmp_path, cli_env, commands):
    """Runs ``vwlite ARGUMENTS`` as its own process in ``tmp_path``; see ``run`` below."""

    def run(*arguments, stdin="", status=0, text=True, cwd=tmp_path, **environment):
        """Returns the CompletedProcess, with output as str, or as bytes unless ``text``.

        ``stdin`` is str or bytes; keywords are environment variables, and those of Python itself
        take a process that starts with them. The exit status must be ``status``, or may be any when that is None.
        """
        begins = any(name.startswith("PYTHON") for name in environment)
        program = [sys.executable, "-m", "vwlite"] if begins else [commands / "vwlite"]
        done = subprocess.run(
            [*program, *map(str, arguments)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd,
            env={**cli_env, **environment},
        )
        if status is not None and done.returncode != status:
            stderr = done.stderr.decode(errors="replace")
            pytest.fail(f"vwlite {' '.join(map(str, arguments))} exited {done.returncode}: {stderr}")
        if text:
            done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        return done

    return run


@pytest.fixture
def example(tmp_path, cli_env, commands):
    """Runs ``sh examples/NAME ARGUMENTS`` in ``tmp_path``."""

    def run(name, *arguments, status=0):
        done = subprocess.run(
            ["sh", PROJECT / "examples" / name, *map(str, arguments)],
            cwd=tmp_path,
            env={**cli_env, "PYTHON": str(commands / "python")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr
        return done

    return run


@pytest.fixture
def run_here(tmp_path, monkeypatch):
    """``run_cli`` within the process of the tests: less true, and a hundred times as fast."""
    from in_process import call

    monkeypatch.chdir(tmp_path)

    def run(*arguments, cwd=tmp_path, **more):
        monkeypatch.chdir(cwd)
        return call(cwd, *arguments, **more)

    return run
