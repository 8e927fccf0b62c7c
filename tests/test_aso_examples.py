"""The examples of alternating structure optimization, run on small collections of the same form."""

import argparse
import gzip
import io
import json
import random
import sys
import tarfile
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
from conll2003_to_vw import features, iob2, kind, sentences  # noqa: E402
from newsgroups import shown  # noqa: E402
from newsgroups_to_vw import documents, line  # noqa: E402

sys.path.remove(str(EXAMPLES))
GROUPS = {"rec.sport": "ball goal team win score", "sci.space": "orbit moon rocket launch star", "misc": "sale price"}


@pytest.fixture
def newsgroups(tmp_path):
    rng = random.Random(1)
    lines = []
    for number in range(400):
        group = rng.choice(list(GROUPS))
        words = rng.choices(GROUPS[group].split(), k=6)
        lines.append(f"train | {group} | {number} | from: someone\tsubject: secret\t\tThe {' and '.join(words)}.\t\n")
    path = tmp_path / "20news.txt.gz"
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


def test_headers_and_function_words_are_removed(newsgroups):
    found = list(documents(str(newsgroups)))
    assert len(found) == 400
    assert not {"secret", "subject", "someone", "the", "and"} & {word for _, words in found for word in words}
    assert line("misc", ["sale", "price", "sale"]) == "misc |w sale:1.69315 price:1"


def test_newsgroups(example, newsgroups, tmp_path):
    methods = "supervised,freq,top-1,top-2+freq,co-training-best,self-training-best+idf"
    small = ("--runs", 2, "--labeled", "8,30", "--methods", methods, "--dim", 3, "--max-problems", 20)
    done = example("newsgroups.sh", newsgroups, *small, "--json", "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [(row["labeled"], row["method"]) for row in rows] == [(n, m) for n in (8, 30) for m in methods.split(",")]
    assert all(row["mean"] > 60 and row["std"] >= 0 for row in rows)
    assert "freq by h" in done.stdout and "row 1" in done.stdout


def test_the_paper_s_figures_stand_beside_those_it_has():
    rows = [{"labeled": count, "method": "co-training-best", "mean": 50.0, "std": 1.0} for count in (100, 500)]
    table = shown(rows, argparse.Namespace(labeled=[100, 500], methods=["co-training-best"]))
    assert table.splitlines()[1].split()[1:] == ["50.0", "+-", "1.0", "(49.6)", "50.0", "+-", "1.0", "(-)"]


def test_a_method_that_does_not_exist(example, newsgroups):
    assert "there are supervised" in example("newsgroups.sh", newsgroups, "--methods", "magic", status=2).stderr


CONLL = "-DOCSTART- -X- O O\n\nEU N I-NP I-ORG\nrejects V I-VP O\nPeter N I-NP I-PER\nBlackburn N I-NP I-PER\n\n"


def test_tags_and_features_of_words(tmp_path):
    (tmp_path / "eng.gz").write_bytes(gzip.compress(CONLL.encode()))
    ((words, tags),) = sentences(str(tmp_path / "eng.gz"))
    assert words == ["EU", "rejects", "Peter", "Blackburn"] and tags == ["B-ORG", "O", "B-PER", "I-PER"]
    assert iob2(["I-PER", "B-PER", "I-LOC", "O"]) == ["B-PER", "B-PER", "B-LOC", "O"]
    assert kind("McDonald-12") == "AaAa+-0+"
    assert "|wC Peter |tC Aa+ |pC Pe Pet Pete |sC er ter eter" in features(words, 2)
    assert features(["a:b|"], 0).count("|") == features(["ab"], 0).count("|")


def test_conll2003(example, tmp_path):
    rng = random.Random(2)
    names = [f"{first}{last}" for first in ("Ba", "Ko", "Li") for last in ("dor", "nim", "tus")]

    def sentence(of_words):
        return ["Yesterday", rng.choice(["Mr", "Mrs"]), rng.choice(names), *of_words]

    def conll(count):
        blocks = []
        for _ in range(count):
            words = sentence(["spoke", "loudly", "."])
            blocks.append("".join(f"{w} X X {'I-PER' if w in names else 'O'}\n" for w in words))
        return gzip.compress("\n".join(blocks).encode())

    (tmp_path / "eng.train.gz").write_bytes(conll(30))
    (tmp_path / "eng.testb.gz").write_bytes(conll(20))
    body = " ".join(" ".join(sentence(["spoke", "of", "Rome", "today", "."])) for _ in range(200))
    text = f"<REUTERS><BODY>{body}</BODY></REUTERS>".encode()
    with tarfile.open(tmp_path / "reuters21578.tar.gz", "w:gz") as tar:
        entry = tarfile.TarInfo("reut2-000.sgm")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
    done = example("conll2003.sh", ".", ".", "--words", 60, "--dim", 3, "--min-count", 2, "--json", "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["method"] for row in rows] == ["supervised", "words", "top-2", "words+top-2"]
    assert all(row["f"] > 80 for row in rows) and "F " in done.stdout
