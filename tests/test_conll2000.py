"""The example about chunking: five rows for any corpus in columns, and for CoNLL-2000 what they promise."""

import gzip
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SENTENCES = ["the DT B-NP\ncat NN I-NP\nsat VB O\n", "a DT B-NP\ndog NN I-NP\n", "ran VB O\n: : O\n"] * 6
ROWS = ["owlqn", "naive", "clipping", "cumulative", "cumulative+exponential"]


@pytest.fixture
def table(tmp_path, cli_env, commands):
    """Runs conll2000.sh in ``tmp_path``."""

    def run(*arguments):
        command = ["sh", EXAMPLES / "conll2000.sh", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, cwd=tmp_path, env={**cli_env, "PYTHON": str(commands / "python")}, text=True
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


def test_five_rows_of_any_corpus(table, tmp_path):
    (tmp_path / "train.gz").write_bytes(gzip.compress("\n".join(SENTENCES).encode()))
    (tmp_path / "test.txt").write_text("\n".join(SENTENCES[:3]))
    done = table("train.gz", "test.txt", "--json", "out.json", "--l1", "0.1", "--passes", "5", "--iterations", "9")
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["row"] for row in rows] == ROWS
    assert all({"passes", "objective", "active", "seconds", "f1"} <= set(row) and row["f1"] > 90 for row in rows)
    assert "paper" not in done.stdout and len(done.stdout.splitlines()) == 6


def test_curves_of_every_row(table, tmp_path):
    for name in ("train", "test"):
        (tmp_path / name).write_text("\n".join(SENTENCES))
    fast = ["--passes", "4", "--iterations", "9", "--warm", "2", "--l1", "0.1", "--json", "-", "--plot", "curves.svg"]
    rows = json.loads(table("train", "test", *fast).stdout)["rows"]
    assert [len(row["history"]) for row in rows][1:] == [4] * 4
    assert all(row["history"][-1]["objective"] == row["objective"] for row in rows)
    drawn = ElementTree.parse(tmp_path / "curves.svg").getroot()
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["Objective by passes", "Active features by passes"]
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == 2 * len(ROWS)


def test_tags_with_features_of_the_command(table, tmp_path):
    for name in ("train", "test"):
        (tmp_path / name).write_text("\n".join(SENTENCES))
    options = ["--columns", "0,1", "--features", "--spelling w --affix +1w", "--iob2", "--l1", "0.1"]
    rows = json.loads(table("train", "test", *options, "--rows", "cumulative", "--json", "-").stdout)["rows"]
    assert rows[0]["accuracy"] == 100


def test_words_alone_and_a_template(table, tmp_path):
    plain = "\n".join(SENTENCES).replace(" DT", "").replace(" NN", "").replace(" VB", "").replace(": : O", ": O")
    for name in ("train", "test"):
        (tmp_path / name).write_text(plain)
    (tmp_path / "template").write_text("U1:%x[0,0]\nU2:%x[-1,0]\nB\n")
    fast = ["--l1", "0.1", "--passes", "3", "--rows", "cumulative", "--json", "-"]
    for template in ([], ["template"]):
        rows = json.loads(table("train", "test", *template, *fast).stdout)["rows"]
        assert len(rows) == 1 and rows[0]["accuracy"] > 90


def test_chunks_of_the_shared_task(table, data_dir):
    folder = data_dir / "conll2000"
    if not folder.is_dir():
        pytest.skip(f"there is no conll2000 in {data_dir}")
    fast = ["--passes", "3", "--rows", "cumulative+exponential", "--json", "-"]
    (row,) = json.loads(table(folder / "train.txt.gz", folder / "test.txt.gz", *fast).stdout)["rows"]
    assert row["f1"] > 91 and row["active"] < 60000
