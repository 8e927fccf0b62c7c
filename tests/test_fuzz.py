"""What fuzzing begins with and what it once found, given to every target; and a short walk from there."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.inputs import FORMATS
from fuzz.mutations import mutated
from fuzz.seeds import HERE, make_seeds, seeds
from fuzz.targets import TARGETS, Unraisable, attempt

CORPUS = 1 << 20  # bytes at most


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_taken_or_refused(target):
    for data in seeds(target):
        attempt(target, data)
    assert any(attempt(target, data) == "" for data in make_seeds()[target])


@pytest.mark.parametrize("target", TARGETS)
def test_a_short_walk_finds_nothing(target):
    draw, corpus = random.Random(1), seeds(target)
    for _ in range(1000 if target in ("vw", "svmlight") else 100):
        attempt(target, mutated(draw, corpus, target))


def test_finds_are_found(monkeypatch):
    """Neither an exception nor one that a kernel could not pass on gets lost."""

    def wrong(data):
        raise ZeroDivisionError

    class Lost:
        def __del__(self):
            raise ZeroDivisionError

    monkeypatch.setitem(TARGETS, "vw", wrong)
    with pytest.raises(ZeroDivisionError):
        attempt("vw", b"")
    monkeypatch.setitem(TARGETS, "vw", lambda data: Lost() and None)
    with pytest.raises(Unraisable):
        attempt("vw", b"")


def test_the_corpus_is_small():
    kept = sum(path.stat().st_size for path in (HERE / "regressions").iterdir())
    assert kept + sum(len(data) for target in TARGETS for data in make_seeds()[target]) <= CORPUS


def fuzz_commands(tmp_path, *arguments, spoiled=""):
    """``python -m fuzz.commands``, a process that has no threads; ``spoiled``: Python that is run before."""
    code = f"import os, signal, sys, time; from fuzz import commands; {spoiled or 'pass'}; commands.main()"
    tests = Path(__file__).resolve().parent
    paths = os.pathsep.join([str(tests), str(tests.parent)])
    command = [sys.executable, "-c", code, "--folder", str(tmp_path / "finds"), *arguments]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_commands_take_or_refuse_spoiled_inputs(tmp_path):
    status, said = fuzz_commands(tmp_path, "--inputs", "3", spoiled="from fuzz import forks; forks.imported()")
    assert (status, said.count(" 0 finds") + said.count("without the extras")) == (0, len(FORMATS)), said


@pytest.mark.parametrize(
    ("work", "found"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV at "),
        ("{}['no']", "KeyError: 'no' at "),
        ("commands.sys.exit(3)", "status 3: "),
        ("sys.exit(65)", "status 65: ''"),
        ("[0 for _ in iter(int, 1)]", "takes too long at "),
        ("time.sleep(99)", "takes too long at "),
        ("bytearray(b'x' * (150 << 20))", " MiB of memory"),
    ],
)
def test_finds_of_commands_are_found(work, found, tmp_path):
    main = f"sys.modules['vwlite.cli.root'].main = lambda: {work}"
    limits = "commands.SECONDS, commands.WALL, commands.MEMORY = 2, 4, 100 << 20"
    prepare = "commands.Runs.prepare = lambda self: (os.mkdir('seeds'), os.mknod('seeds/0'))"
    spoiled = f"import vwlite.cli.root; {prepare}; {main}; {limits}"
    status, said = fuzz_commands(tmp_path, "--inputs", "0", "vw", spoiled=spoiled)
    assert (status, said.count("FIND"), found in said) == (1, 1, True), said
    assert len(list((tmp_path / "finds").iterdir())) == 1
