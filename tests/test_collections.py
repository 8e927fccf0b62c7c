"""The examples on LETOR and Reuters-21578, run on small collections of the same form."""

import gzip
import json
import random
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
METHODS = ["regression", "ranking", "crr"]


def letor_text(rng, queries):
    """Feature 1 tells the grade within a query, feature 2 what the query adds to everything."""
    lines = []
    for query in range(queries):
        level = rng.random()
        for _ in range(6):
            grade = rng.randrange(3)
            noise = rng.gauss(0, 0.1)
            lines.append(f"{grade} qid:{query} 1:{grade / 2 + level + noise:.4f} 2:{level:.4f} #docid = x\n")
    return "".join(lines)


def test_letor_table(example, tmp_path):
    rng = random.Random(1)
    (tmp_path / "mq" / "Fold1").mkdir(parents=True)
    for part, queries in (("train", 40), ("vali", 10)):
        (tmp_path / "mq" / "Fold1" / f"{part}.txt").write_text(letor_text(rng, queries))
    (tmp_path / "mq" / "Fold1" / "test.txt.gz").write_bytes(gzip.compress(letor_text(rng, 20).encode()))
    done = example("letor.sh", "mq", "--json", "out.json", "--steps", "5000", "--lambdas", "0.01")
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    methods = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert [row["method"] for row in rows] == methods == [*METHODS, "lambda-ndcg", "lambda-map"]
    actual = {row["method"]: row for row in rows}
    assert {"map", "ndcg", "ndcg@10", "mse"} <= set(actual["crr"])
    assert min(row["map"] for row in rows) > 0.9
    assert actual["regression"]["mse"] <= actual["crr"]["mse"] < actual["ranking"]["mse"]
    assert max(actual[method]["mse"] for method in ("lambda-ndcg", "lambda-map")) < actual["ranking"]["mse"]
    assert "Fold1 crr: 0.01 is best" in done.stderr
    done = example("letor.sh", "mq", "--methods", "lambda-map", "--rates", "0.2")
    assert "Fold1 lambda-map: 0.2 is best" in done.stderr and len(done.stdout.splitlines()) == 2


def test_letor_without_folds_is_one_sentence(example, tmp_path):
    assert example("letor.sh", tmp_path, status=1).stderr.startswith("letor: there is no Fold*")
    (tmp_path / "Fold1").mkdir()
    assert "train.txt" in example("letor.sh", tmp_path, status=1).stderr


def test_clicks_table(example, tmp_path):
    rng = random.Random(3)
    rows = [(rng.randrange(5), rng.randrange(4), rng.randrange(24)) for _ in range(600)]
    (tmp_path / "clicks.csv").write_text(
        "..ip,app,device,os,channel,click_time,attributed_time,is_attributed\n" + "".join(
            f"{ip},{app},1,2,3,2017-11-07 {hour:02}:30:38,,{int(ip == 0 and app < 2)}\n" for ip, app, hour in rows
        )
    )  # fmt: skip
    options = ("--steps", "20000", "--seeds", "2", "--lambda", "0.001")
    done = example("clicks.sh", "clicks.csv", *options, "--json", "out.json")
    actual = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == list(actual) == [*METHODS, "calibrated"]
    assert all(len(runs) == 2 and runs[0]["auc_loss"] < 0.05 for runs in actual.values())
    assert all(run["mse"] < 0.1 for method in ("regression", "calibrated") for run in actual[method])
    (tmp_path / "text.vw").write_text("".join(f"{1 if ip == 0 else -1} |i ip{ip}\n" for ip, _, _ in rows))
    assert "calibrated" in example("clicks.sh", "text.vw", *options, "--seeds", "1").stdout
    assert example("clicks.sh", "none.csv", status=1).stderr.startswith("clicks: there is no file none.csv")


def reuters_text(rng, split, count):
    return "".join(
        f'<REUTERS TOPICS="YES" LEWISSPLIT="{split}" NEWID="{n}">\n'
        f"<TOPICS>{'<D>wheat</D>' if n % 4 == 0 else ''}</TOPICS>\n"
        f"<TEXT><TITLE>{'WHEAT GRAIN' if n % 4 == 0 else 'SHIP LOAN'}</TITLE><BODY>"
        f"{' '.join(rng.choices(['bank', 'year', 'price', 'said', 'mln'], k=6))} &lt;X></BODY></TEXT>\n</REUTERS>\n"
        for n in range(count)
    )


def test_reuters_table(example, tmp_path):
    rng = random.Random(2)
    (tmp_path / "reuters").mkdir()
    (tmp_path / "reuters" / "reut2-000.sgm").write_text(reuters_text(rng, "TRAIN", 80))
    (tmp_path / "reuters" / "reut2-001.sgm").write_text(
        reuters_text(rng, "TEST", 60) + reuters_text(rng, "TEST", 9).replace('"YES"', '"NO"')
    )
    done = example("reuters.sh", "reuters", "--json", "out.json", "--steps", "4000", "--least", "10")
    rows = {row["topic"]: row for row in json.loads((tmp_path / "out.json").read_text())["rows"]}
    assert rows["wheat"]["positive"] == 0.25 and set(rows["wheat"]) >= set(METHODS)
    assert all(rows["wheat"][method]["auc_loss"] < 0.01 for method in METHODS)
    assert done.stdout.splitlines()[-1].startswith("crr best or within 0.001")


def test_reuters_without_files_is_one_sentence(example, tmp_path):
    assert example("reuters.sh", tmp_path, status=1).stderr.startswith("reuters: there is no .sgm file")


def test_reuters_sets(example, tmp_path):
    rng = random.Random(4)
    for number, split in enumerate(("TRAIN", "TEST")):
        (tmp_path / f"reut2-00{number}.sgm").write_text(reuters_text(rng, split, 60))
    done = example("reuters_sets.sh", ".", "--json", "out.json", "--passes", "2")
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    losses = ["hamming", *(loss for loss in ("zero_one", "f1", "jaccard") for _ in range(2))]
    assert [row["loss"] for row in rows] == losses and [row["order"] for row in rows] == ["-", *["given", "rare"] * 3]
    assert all(row["subset_accuracy"] == row["jaccard"] == 1 for row in rows) and "samples_f1" in done.stdout
