"""``vwlite inspect`` shows norms of the weights of several classes."""

import json

import numpy as np
import pytest

from vwlite.solvers.loglinear.model_file import load

CLASSES = "".join(f"{1 + n % 3} |w {'abc'[n % 3]} {'de'[n % 2]}\n" for n in range(60))


@pytest.mark.parametrize("classes", ["--oaa", "--multiclass"])
def test_inspect_shows_those_of_classes(classes, vwlite, write):
    write("data.vw", CLASSES)
    vwlite("train", "data.vw", "-f", "m", classes, "3", "--quiet")
    report = json.loads(vwlite("inspect", "m", "--json", "-", "--top", "99").stdout)
    table = {}
    for entry in report["top"]:
        table.setdefault(entry["slot"] >> (3 if classes == "--multiclass" else 2), {})[entry["class"]] = entry["weight"]
    matrix = np.array([[row.get(name, 0.0) for name in "123"] for row in table.values()])
    assert report["norms"]["2,1"] == pytest.approx(np.linalg.norm(matrix, axis=1).sum(), rel=1e-5)
    assert report["norms"]["trace"] == pytest.approx(np.linalg.norm(matrix, "nuc"), rel=1e-5)


def test_numbers_have_none(vwlite):
    vwlite("train", "-", "-f", "m", "--quiet", stdin="1 |w a\n")
    assert "norms" not in vwlite("inspect", "m").stdout


def test_inspect_shows_those_of_labels(vwlite, write):
    write("data.vw", CLASSES)
    vwlite("l1", "data.vw", "--model", "multinomial", "--dense-pairs", "--l1", "0.5", "-f", "m", "--quiet")
    matrix = load("m").weights.reshape(-1, 3)
    line = next(line for line in vwlite("inspect", "m").lines if line.startswith("norms"))
    names, values = line.split()[1::2], [float(value) for value in line.split()[2::2]]
    assert names == ["2,1", "trace", "Frobenius"]
    exact = (np.linalg.norm(matrix, axis=1).sum(), np.linalg.norm(matrix, "nuc"), np.linalg.norm(matrix))
    assert values == pytest.approx(exact, rel=1e-5)
