"""The examples of alternating structure optimization, run on small collections of the same form."""

import argparse
import gzip
import json
import random
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
from newsgroups import format_table  # noqa: E402
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
    actual = list(documents(str(newsgroups)))
    assert len(actual) == 400
    assert not {"secret", "subject", "someone", "the", "and"} & {word for _, words in actual for word in words}
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
    table = format_table(rows, argparse.Namespace(labeled=[100, 500], methods=["co-training-best"]))
    assert table.splitlines()[1].split()[1:] == ["50.0", "+-", "1.0", "(49.6)", "50.0", "+-", "1.0", "(-)"]


def test_a_method_that_does_not_exist(example, newsgroups):
    assert "there are supervised" in example("newsgroups.sh", newsgroups, "--methods", "magic", status=2).stderr


REUTERS_WORDS = {"grain": "wheat corn tonnes crop", "crude": "oil barrel opec well", "ship": "port vessel cargo strike"}


def test_reuters_topics(example, tmp_path):
    rng = random.Random(3)
    texts = []
    for _ in range(500):
        topics = rng.sample(list(REUTERS_WORDS), rng.choice((1, 1, 2)))
        words = [word for topic in topics for word in rng.choices(REUTERS_WORDS[topic].split(), k=5)]
        named = "".join(f"<D>{topic}</D>" for topic in topics)
        body = f"<TEXT><TITLE>News</TITLE><BODY>The {' '.join(words)}</BODY></TEXT>"
        texts.append(f'<REUTERS TOPICS="YES"><TOPICS>{named}</TOPICS>{body}</REUTERS>')
    (tmp_path / "reut2-000.sgm").write_text("\n".join(texts) + "<REUTERS><TOPICS></TOPICS><TEXT>x</TEXT></REUTERS>")
    methods = "supervised,supervised+tuned,multi-k:auto,multi-k:auto+freq-k:10+idf+tuned"
    small = ("--runs", 2, "--labeled", "15,60", "--methods", methods, "--dim", 3, "--json", "out.json")
    done = example("reuters_topics.sh", ".", *small)
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [(row["labeled"], row["method"]) for row in rows] == [(n, m) for n in (15, 60) for m in methods.split(",")]
    assert all(row["micro_f1"] > 85 and row["macro_f1"] > 85 for row in rows) and "of RCV1: multi-3" in done.stdout


def test_topics_that_are_not_there(example):
    assert "there is no nowhere" in example("reuters_topics.sh", "nowhere", status=66).stderr
    assert "there are supervised" in example("reuters_topics.sh", ".", "--methods", "magic", status=2).stderr
