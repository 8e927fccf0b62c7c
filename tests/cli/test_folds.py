"""``vwlite train --folds``."""

import json
import os
import resource
import statistics
from itertools import pairwise

import pytest

from vwlite.data.shuffle import Folds

LEARN = ("--loss_function", "logistic", "-q", "ui", "--quiet")


def clicks(rows=60):
    return "".join(f"{1 if row % 7 < 3 else -1} 'r{row}|u u{row % 7} |i i{row % 5}\n" for row in range(rows))


def report(vwlite, *arguments):
    return json.loads(vwlite("train", *arguments, "--json", "-").stdout)["result"]


def test_of_as_many_units_as_there_are_folds_one_is_in_each():
    for seed in range(3):
        folds = Folds(5, seed)
        actual = [folds.fold(unit) for unit in range(40)]
        assert all(sorted(actual[begin:end]) == list(range(5)) for begin, end in pairwise(range(0, 41, 5)))
        assert actual == [Folds(5, seed).fold(unit) for unit in range(40)]
    assert len({tuple(Folds(5, seed).fold(unit) for unit in range(20)) for seed in range(9)}) == 9


@pytest.mark.parametrize("options", [(), ("--passes", "3"), ("--bfgs", "--passes", "4", "--l2", "1")], ids=" ".join)
def test_each_fold_is_measured_by_a_model_of_the_others(options, vwlite, write, tmp_path):
    text = clicks()
    write("d.vw", text)
    learn = (*LEARN, *options)
    actual = report(vwlite, "d.vw", "-f", "m", *learn, "--folds", "4", "-p", "p", "--random_seed", "3")["folds"]
    vwlite("train", "d.vw", "-f", "plain", *learn)
    assert (tmp_path / "m").read_bytes() == (tmp_path / "plain").read_bytes()
    folds, answers = Folds(4, 3), [""] * 60
    for number, fold in enumerate(actual["each"]):
        parts = [[], []]
        for row, line in enumerate(text.splitlines(True)):
            parts[folds.fold(row) == number].append(line)
        write("learned.vw", "".join(parts[0]))
        write("held.vw", "".join(parts[1]))
        vwlite("train", "learned.vw", "-f", "n", *learn)
        scores = json.loads(vwlite("evaluate", "-i", "n", "held.vw", "--json", "-").stdout)["result"]
        assert fold == {name: scores[name] for name in fold} and {"loss", "auc", "accuracy", "examples"} <= fold.keys()
        for line in vwlite("predict", "-i", "n", "held.vw").lines:
            answers[int(line.partition(" r")[2])] = line
    assert (tmp_path / "p").read_text().splitlines() == answers
    losses = [fold["loss"] for fold in actual["each"]]
    assert actual["count"] == 4 and actual["mean"]["loss"] == pytest.approx(statistics.mean(losses))
    assert actual["deviation"]["loss"] == pytest.approx(statistics.stdev(losses))


def test_the_summary_has_mean_and_deviation(vwlite, write):
    write("d.vw", clicks())
    stderr = vwlite("train", "d.vw", "-f", "m", "--folds", "3").stderr
    assert "3 folds, each measured by a model of the others" in stderr and "fold 3 of 3: examples 20, loss " in stderr
    assert [line.split() for line in stderr.splitlines() if "deviation" in line] == [["metric", "mean", "deviation"]]
    quiet = vwlite("train", "d.vw", "-f", "m", "--folds", "3", "--quiet")
    assert quiet.stderr.strip() == stderr[stderr.index("3 folds") :].strip()
    assert not vwlite("train", "d.vw", "-f", "m", "--folds", "3", "--quiet", "--json", "j").stderr


def test_of_many_folds_few_files_are_open(vwlite, write, tmp_path):
    write("d.vw", clicks())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 20, hard))
    try:
        vwlite("train", "d.vw", "--folds", "30", "-p", "p", "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [line.split()[1] for line in (tmp_path / "p").read_text().splitlines()] == [f"r{n}" for n in range(60)]


def test_folds_that_a_constant_would_do_better_on_are_told(vwlite, write):
    write("d.vw", "".join(f"{1 if n % 3 else -1} |a x{n}\n" for n in range(60)))
    stderr = vwlite("train", "d.vw", "-f", "m", "--folds", "3", "--loss_function", "logistic", "-l", "20").stderr
    assert "note: always predicting the best constant has a smaller loss" in stderr


def test_groups_of_lines_stay_whole(vwlite, write, tmp_path):
    text = "".join(
        "".join(f"{line}:{(line + n) % 2} |a x{line} y{n % 3}\n" for line in range(1, 3 + n % 2)) + "\n"
        for n in range(9)
    )
    write("d.vw", text)
    actual = report(vwlite, "d.vw", "--csoaa_ldf", "m", "--folds", "3", "-p", "p", "--quiet")["folds"]
    vwlite("train", "d.vw", "--csoaa_ldf", "m", "-p", "plain", "--quiet")
    blocks, others = ((tmp_path / name).read_text().split("\n\n") for name in ("p", "plain"))
    assert [len(block.split()) for block in blocks] == [len(block.split()) for block in others] and len(blocks) == 10
    assert sum(fold["examples"] for fold in actual["each"]) == 9


def test_queries_of_svmlight_stay_whole(vwlite, write, tmp_path):
    write("d.svm", "".join(f"{row % 2} qid:{row // 3} 1:{row}\n" for row in range(18)))
    actual = report(vwlite, "d.svm", "--folds", "3", "-p", "p", "--quiet")["folds"]
    assert [fold["examples"] for fold in actual["each"]] == [6, 6, 6]
    assert len((tmp_path / "p").read_text().splitlines()) == 18


def test_tables_with_headers_and_classes_by_name(vwlite, write, tmp_path):
    write("d.csv", "size,kind\n" + "".join(f"{row % 3},{'abc'[row % 3]}\n" for row in range(30)))
    options = ("--columns", "label=kind s=size:text", "--oaa", "auto", "--folds", "5", "-p", "p", "--quiet")
    actual = report(vwlite, "d.csv", *options)["folds"]
    assert actual["mean"]["accuracy"] > 0.7 and len(set((tmp_path / "p").read_text().split()) - set("abc")) == 0
    assert [fold["examples"] for fold in actual["each"]] == [6] * 5


def test_malformed_lines_are_nan(vwlite, write, tmp_path):
    write("d.vw", clicks(9) + "1 2 3 4 |a\n" + clicks(9))
    vwlite("train", "d.vw", "--folds", "3", "-p", "p", "--quiet", "--max-bad-ratio", "0.5")
    lines = (tmp_path / "p").read_text().splitlines()
    assert lines[9] == "nan" and len(lines) == 19 and all(line.endswith(f" r{n}") for n, line in enumerate(lines[:9]))


def test_refusals_of_folds(vwlite, write):
    write("d.vw", clicks(4))
    vwlite("train", "d.vw", "-f", "m", "--quiet")
    for options, why in (
        ("-i m", "every model begins anew"),
        ("-c", "data of its own"),
        ("-r raw", "only predictions"),
        ("--examples 3", "all of the data"),
        ("--cbify 2", "a simulated bandit"),
        ("--workers 2", "shards"),
        ("--cb 2", "--value"),
    ):
        assert why in vwlite("train", "d.vw", *options.split(), "--folds", "2", status=2).stderr
    assert "reads the data several times" in vwlite("train", "-", "--folds", "2", stdin="", status=2).stderr
    assert "there are fewer examples" in vwlite("train", "d.vw", "--folds", "5", "--quiet", status=65).stderr
    write("e.parquet", "")
    assert "vwlite convert" in vwlite("train", "e.parquet", "--folds", "2", status=2).stderr


def test_predictions_of_folds_are_in_order_whatever_the_order_of_learning(vwlite, write, tmp_path):
    write("d", "".join(f"{n % 3} 't{n} |a x{n % 3}\n" for n in range(30)))
    vwlite("train", "d", "--folds", "3", "--shuffle-first", "--passes", "2", "-p", "p", "--quiet")
    assert [line.split()[1] for line in (tmp_path / "p").read_text().splitlines()] == [f"t{n}" for n in range(30)]


def test_a_share_of_malformed_lines_is_that_of_all_the_data(vwlite, write):
    write("d", "".join(f"{n % 2} |a x{n % 3}\n" for n in range(299)) + "bad |a x\n")
    assert "fold 5 of 5" in vwlite("train", "d", "--folds", "5").stderr


def test_a_fold_without_labels_is_named(vwlite, write):
    write("d", "1 |a x\n" + " |a y\n" * 9)
    stderr = vwlite("train", "d", "--folds", "2", "--quiet", status=65).stderr
    assert "--folds 2: fold" in stderr and "/" not in stderr
