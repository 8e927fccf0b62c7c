"""No output is written over an input, whatever either is called, and every file that is opened is declared."""

import random
from functools import cache

import pytest
from fuzz import overwrites

COUNT = 100


@cache
def cases():
    return random.Random(1).sample(list(overwrites.cases()), COUNT)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("line", overwrites.LINES)
def test_all_files_that_a_command_opens_are_declared(line):
    assert overwrites.undeclared(line) == set()


@pytest.mark.parametrize("number", range(COUNT))
def test_no_output_takes_the_place_of_an_input(number):
    """A few of those that ``python -m fuzz.overwrites`` tries."""
    overwrites.attempt(cases()[number], number)
