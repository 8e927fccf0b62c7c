"""Runs the command line inside the test's process: as exact as a process of its own, and a hundred times as fast."""

import io
import json
import signal
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from vwlite import interrupts
from vwlite.cli.root import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    stdout: str
    stderr: str

    @property
    def lines(self):
        return self.stdout.splitlines()


@pytest.fixture
def vwlite(tmp_path, monkeypatch):
    """Calls ``vwlite ARGUMENTS`` in ``tmp_path``; the exit status must be ``status`` unless that is None."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None, raising=False)
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments, stdin=b"", status=0):
        monkeypatch.setattr(sys, "argv", ["vwlite", *map(str, arguments)])
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with CliRunner().isolation(data) as (stdout, stderr, _):
            with pytest.raises(SystemExit) as left:
                main()
            sys.stderr.flush()
            done = Done(left.value.code, text_of(stdout), text_of(stderr))
        assert status is None or done.status == status, f"exited {done.status}: {done.stderr}{done.stdout}"
        return done

    yield run
    signal.signal(signal.SIGTERM, before)
    signal.set_wakeup_fd(-1)
    interrupts.forget()


def text_of(stream):
    return stream.getvalue().decode("utf-8", "surrogateescape")


@pytest.fixture
def write(tmp_path):
    """Writes text or bytes to a file of ``tmp_path``; returns its name."""

    def to(name, content):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return to


@pytest.fixture
def weights(tmp_path):
    """The weights of a model file: ``{slot: weight}`` of those that are not 0."""

    def of(name):
        from vwlite.storage.model_file import load

        column = load(tmp_path / name, want=("weights.w",)).arrays["weights.w"]
        return {int(slot): float(column[slot]) for slot in np.flatnonzero(column)}

    return of


@pytest.fixture
def tables(tmp_path):
    """All arrays of a model file: ``{name: bytes}``; some weight is not 0."""

    def of(name):
        from vwlite.storage.model_file import load

        arrays = {name: np.asarray(array.values).tobytes() for name, array in load(tmp_path / name).arrays.items()}
        assert any(any(content) for content in arrays.values())
        return arrays

    return of


@pytest.fixture
def header(tmp_path):
    """A model's header, read as a zip member and plain JSON."""

    def of(name):
        with zipfile.ZipFile(io.BytesIO((tmp_path / name).read_bytes())) as archive:
            return json.loads(archive.read("header.json"))["model"]

    return of


@pytest.fixture
def names_in(tmp_path):
    """What stands in ``tmp_path``, hidden files included."""
    return lambda: sorted(path.name for path in Path(tmp_path).iterdir())
