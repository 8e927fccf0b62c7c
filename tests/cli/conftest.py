"""What the tests of the command line ask for."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def vwlite(run_here):
    """Calls ``vwlite ARGUMENTS`` in ``tmp_path``; the exit status must be ``status`` unless that is None."""
    return run_here


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
    """A function that lists what stands in ``tmp_path``, hidden files included."""
    return lambda: sorted(path.name for path in Path(tmp_path).iterdir())
