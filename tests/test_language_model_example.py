"""``examples/language_model.sh`` on texts of its own."""

import gzip
import json
import random
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
AFTER = {"red": "apple", "fast": "car", "blue": "sky", "old": "house"}


def test_it_prints_curves_and_paired_tests(tmp_path, cli_env, commands):
    draw = random.Random(1)
    with gzip.open(tmp_path / "20news.txt.gz", "wt", encoding="latin-1") as file:
        for number in range(200):
            words = [word for one in draw.choices(list(AFTER), k=20) for word in ("the", one, AFTER[one])]
            file.write(f"train | x | {number} | From: a@b\tLines: 2\t\t{' '.join(words)}\n")
    done = subprocess.run(
        ["sh", EXAMPLES / "language_model.sh", tmp_path, "--updates", "40000", "--vocabulary", "9", "--stage", "5",
         "--seeds", "2", "--windows", "300", "--json", tmp_path / "out"],
        env={**cli_env, "PYTHON": str(commands / "python")}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((tmp_path / "out").read_text())
    assert report["tokens"] == 190 * 60 and report["windows"] == 190 * 56 and report["ranked"] == 300
    assert report["bigrams"] < report["frequency"]
    assert [(one["seed"], one["way"]) for one in report["curve"]] == [
        (seed, way) for seed in (0, 1) for way in ("none", "curriculum") for _ in range(4)
    ]
    last = report["curve"][3::4]
    assert all(one["updates"] == 4 * 190 * 56 and one["mean_log_rank"] < report["frequency"] for one in last)
    gaps = [last[seed + 1]["mean_log_rank"] - last[seed]["mean_log_rank"] for seed in (0, 2)]
    assert report["seeds"][0] == pytest.approx(sum(gaps) / 2) and report["of_windows"][0] == pytest.approx(gaps[0])
    assert "curriculum less none, 2 seeds:" in done.stdout
