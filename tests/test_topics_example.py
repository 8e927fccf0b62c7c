"""``examples/topics.sh`` on texts of its own, about three subjects."""

import gzip
import random
import re
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SUBJECTS = {"sci.space": "orbit moon shuttle", "rec.autos": "engine brakes wheel", "misc.food": "salt bread oven"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data in the form of 20 newsgroups."""
    place, draw = tmp_path_factory.mktemp("news"), random.Random(1)
    with gzip.open(place / "20news.txt.gz", "wt", encoding="latin-1") as file:
        for number in range(300):
            group = sorted(SUBJECTS)[number % 3]
            words = draw.choices(SUBJECTS[group].split(), k=12) + draw.choices(["people", "things", "year"], k=6)
            file.write(f"train | {group} | {number} | From: a@b\tLines: 2\t\t{' '.join(words)}\n")
    return place


def example(cli_env, commands, *arguments):
    return subprocess.run(
        ["sh", EXAMPLES / "topics.sh", *map(str, arguments)],
        env={**cli_env, "PYTHON": str(commands / "python")},
        capture_output=True,
        text=True,
    )


def test_it_shows_the_words_of_the_subjects(folder, cli_env, commands):
    done = example(cli_env, commands, folder, 3, 4)
    assert (done.returncode, done.stderr) == (0, "")
    words, _, rest = done.stdout.partition("\ncomponents\n")
    components, _, projected = rest.partition("\nclusters of the components\n")
    strongest = [{*re.findall(r"w\^(\w+)", line)[:2]} for line in words.splitlines() if "w^" in line]
    assert len(strongest) == 3
    assert all(any(actual <= {*subject.split()} for actual in strongest) for subject in SUBJECTS.values())
    assert [float(value) for value in re.findall(r"nmi +(\S+)", done.stdout)] == [1, 1]
    assert "share_of_squares" in components and "adjusted_rand" in projected


def test_it_says_what_it_lacks(cli_env, commands):
    done = example(cli_env, commands)
    assert done.returncode != 0 and "DATA is 20news.txt.gz, or its folder" in done.stderr
