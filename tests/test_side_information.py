"""The example about people and items that are new: what it holds out, and what it prints."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
side_information = pytest.importorskip("side_information")
PEOPLE, ITEMS = 60, 50


@pytest.fixture
def files(tmp_path):
    draw = random.Random(1)
    pairs = [(user, item) for user in range(PEOPLE) for item in range(ITEMS) if draw.random() < 0.6]
    rated = [(user, item, 4 if user % 2 == (item % 3 > 0) else 2) for user, item in pairs]
    (tmp_path / "ratings.dat").write_text("".join(f"{user}::{item}::{rating}\n" for user, item, rating in rated))
    users = (f"{user}::{'MF'[user % 2]}::{18 + user % 2 * 7}::{user % 4}::0\n" for user in range(PEOPLE))
    (tmp_path / "users.dat").write_text("".join(users))
    items = (f"{item}::Title {item}::{('Drama', 'Comedy', 'War')[item % 3]}\n" for item in range(ITEMS))
    (tmp_path / "movies.dat").write_text("".join(items))
    return tmp_path


def test_new_ones_are_nowhere_else():
    part_of = side_information.part_of
    parts = {(user, item): part_of(user * ITEMS + item, user, item) for user in range(300) for item in range(200)}
    assert {*parts.values()} == {None, "train", "known", "new_people", "new_items"}
    for (user, item), part in parts.items():
        new = side_information.is_held_out("u", user), side_information.is_held_out("i", item)
        expected = {(True, True): (None,), (True, False): ("new_people",), (False, True): ("new_items",)}
        assert part in expected.get(new, ("train", "known"))
    new = sum(side_information.is_held_out("u", user) for user in range(3000))
    assert 250 < new < 350


def test_what_is_known_helps_with_new_ones(files, cli_env, commands):
    words = ["ratings.dat", "users.dat", "movies.dat", "--passes", "5", "--rank", "2", "--json", "out.json"]
    done = subprocess.run(
        ["sh", EXAMPLES / "side_information.sh", *words],
        cwd=files, env={**cli_env, "PYTHON": str(commands / "python")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((files / "out.json").read_text())
    rows = {row["model"]: row for row in report["rows"]}
    assert [*rows] == [*side_information.MODELS] and (report["rank"], report["passes"]) == (2, 5)
    lines = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [words[-3:] for words in lines] == [
        [f"{row[name]:.4f}" for name in side_information.TESTS] for row in report["rows"]
    ]
    ids, masked = rows["ids"], rows["the same, ids masked"]
    assert masked["new_items"] < 0.8 * ids["new_items"] and masked["new_people"] < 0.8 * ids["new_people"]


def test_files_that_are_missing_are_told(files, cli_env, commands):
    done = subprocess.run(
        ["sh", EXAMPLES / "side_information.sh", "none.dat", "users.dat", "movies.dat"], cwd=files,
        env={**cli_env, "PYTHON": str(commands / "python")}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode and "none.dat" in done.stderr and "Traceback" not in done.stderr
