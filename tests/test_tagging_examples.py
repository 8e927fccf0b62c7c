"""The tables of names, parts of speech and chunks, on small collections of the same form and parts of the real ones."""

import gzip
import io
import json
import random
import tarfile

import pytest

NAMES = [f"{first}{last}" for first in ("Ba", "Ko", "Li") for last in ("dor", "nim", "tus")]
ROWS = ["supervised", "co/self best", "words", "top-2", "words+top-2", "CRF", "CRF+words", "CRF+words+top-2"]
SMALL = ("--dim", 3, "--min-count", 2, "--rounds", 3, "--step", 20, "--json", "out.json")


def sentence(rng, of_words):
    return ["Yesterday", rng.choice(["Mr", "Mrs"]), rng.choice(NAMES), *of_words]


@pytest.fixture
def names(tmp_path):
    """Files like those of CoNLL-2003 and Reuters-21578, in ``tmp_path``."""
    rng = random.Random(2)

    def conll(count):
        blocks = ["-DOCSTART- -X- O O\n"]
        for _ in range(count):
            words = sentence(rng, ["spoke", "loudly", "."])
            blocks.append("".join(f"{word} X X {'I-PER' if word in NAMES else 'O'}\n" for word in words))
        return gzip.compress("\n".join(blocks).encode())

    for name, count in (("train", 30), ("testa", 20), ("testb", 20)):
        (tmp_path / f"eng.{name}.gz").write_bytes(conll(count))
    body = " ".join(" ".join(sentence(rng, ["spoke", "of", "Rome", "today", "."])) for _ in range(200))
    text = f"<REUTERS><BODY>{body}</BODY></REUTERS>".encode()
    with tarfile.open(tmp_path / "reuters21578.tar.gz", "w:gz") as tar:
        entry = tarfile.TarInfo("reut2-000.sgm")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
    return tmp_path


def test_names(example, names):
    done = example("conll2003.sh", ".", ".", "--words", 60, *SMALL, "--plot", "rounds.svg")
    report = json.loads((names / "out.json").read_text())
    assert [row["row"] for row in report["rows"]] == ROWS and "60 labelled" in done.stderr
    for row in report["rows"]:
        assert {"precision", "recall", "f1", "error"} == set(row["dev"]) == set(row["test"])
        assert row["test"]["f1"] > 80 and row["seconds"] >= 0 and row["peak_mib"] > 0
    best = report["rows"][1]["test"]["f1"]
    assert best == max(value for one in report["rounds"].values() for value in one)
    assert set(report["rounds"]) == {"co-training", "self-training"} and len(done.stdout.splitlines()) == 9
    plot = (names / "rounds.svg").read_text()
    assert plot.startswith("<svg") and plot.count("<polyline") == 2 + len(ROWS) - 1


def test_the_paper_stands_beside_its_sizes(example, names):
    done = example("conll2003.sh", ".", ".", "--words", 0, "--rows", "supervised,CRF", *SMALL)
    head, supervised, crf = done.stdout.splitlines()
    assert head.endswith("paper: dev   test") and supervised.endswith(" 90.53    85.45") and "85" not in crf[-9:]


@pytest.fixture
def chunks(tmp_path):
    """Files like those of CoNLL-2000, in ``tmp_path``."""
    rng = random.Random(3)

    def columns(count):
        tags = {"the": "DT", "big": "JJ", "dog": "NN", "cat": "NN", "cow": "NN", "ran": "VBD", "sat": "VBD", ".": "."}
        blocks = []
        for _ in range(count):
            words = [("the", "B-NP"), *[("big", "I-NP")] * rng.randint(0, 1)]
            words += [(rng.choice(["dog", "cat", "cow"]), "I-NP")]
            words += [(rng.choice(["ran", "sat"]), "B-VP"), (".", "O")]
            blocks.append("".join(f"{word} {tags[word]} {label}\n" for word, label in words))
        return gzip.compress("\n".join(blocks).encode())

    (tmp_path / "train.txt.gz").write_bytes(columns(100))
    (tmp_path / "test.txt.gz").write_bytes(columns(20))
    return tmp_path


def test_parts_of_speech(example, chunks):
    (chunks / "eng.train.gz").write_bytes(gzip.compress(b"a DT X O\ncow NN X O\n\n" * 9))
    done = example("pos.sh", ".", "--words", 40, "--conll2003", ".", *SMALL)
    report = json.loads((chunks / "out.json").read_text())
    assert [row["row"] for row in report["rows"]] == ["supervised", "left+curr", "top-1", "left+curr+top-1"]
    assert all(row["test"]["error"] < 20 for row in report["rows"]) and "0.0%    8.9    0.0%" in done.stdout
    assert report["words"]["unlabelled"] > 300 and report["words"]["labelled"] < 45


def test_chunks(example, chunks):
    done = example("chunks.sh", ".", "--words", 40, *SMALL)
    report = json.loads((chunks / "out.json").read_text())
    assert [row["row"] for row in report["rows"]] == ROWS and len(done.stdout.splitlines()) == 9
    assert all(row["test"]["f1"] > 80 for row in report["rows"])


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("conll2003.sh . .", "eng.train.gz: it is of the shared task of CoNLL-2003"),
        ("pos.sh .", "train.txt.gz: it is of the shared task of CoNLL-2000"),
        ("chunks.sh nowhere", "nowhere/train.txt.gz"),
    ],
)
def test_data_that_are_not_there(example, words, missing):
    assert missing in example(*words.split(), status=66).stderr


def test_what_does_not_go_together(example, names):
    assert "and no magic" in example("conll2003.sh", ".", ".", "--rows", "magic", status=2).stderr
    assert "--plot shows" in example("conll2003.sh", ".", ".", "--rows", "words", "--plot", "a", status=2).stderr
    assert "for parts of speech" in example("chunks.sh", ".", "--conll2003", ".", status=2).stderr


PART = ("--words", 2000, "--unlabeled", 4000, "--max-problems", 25, "--tested", 4000, "--json", "out.json")


@pytest.mark.parametrize(
    ("script", "folders", "rows", "least"),
    [
        ("conll2003.sh", ("conll2003", "reuters21578"), "supervised,words+top-2", 25),
        ("chunks.sh", ("conll2000",), "supervised,CRF+words", 80),
        ("pos.sh", ("conll2000",), "supervised,left+curr+top-1", 80),
    ],
)
def test_a_part_of_the_real_collections(example, data_dir, tmp_path, script, folders, rows, least):
    for name in folders:
        if not (data_dir / name).is_dir():
            pytest.skip(f"there is no {name} in {data_dir}")
    example(script, *(data_dir / name for name in folders), "--rows", rows, *PART)
    actual = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["row"] for row in actual] == rows.split(",")
    for figures in (row["test"] for row in actual):
        assert (100 - figures["error"] if script == "pos.sh" else figures["f1"]) > least
