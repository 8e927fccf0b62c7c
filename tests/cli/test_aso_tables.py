"""vwlite aso on tables: what they learn of the same words as lines of text."""

import csv
import io
import json

import pytest

WORDS = {"food": "bread oven salt", "cars": "engine road brakes", "space": "orbit moon rocket"}
ROWS = [
    (kind, f"{words.split()[n % 3]} {words.split()[(n + 1) % 3]} w{n % 5} the", n)
    for n in range(30)
    for kind, words in WORDS.items()
]
COLUMNS = ("--columns", "label=kind words=words:words ignore=*")


def as_csv():
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("kind", "words", "n"), *ROWS])
    return out.getvalue()


def as_lines():
    return "".join(json.dumps({"kind": kind, "words": words, "n": n}) + "\n" for kind, words, n in ROWS)


def as_parquet(path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    kinds, words, numbers = zip(*ROWS, strict=True)
    parquet.write_table(arrow.table({"kind": list(kinds), "words": list(words), "n": list(numbers)}), path)


@pytest.fixture(params=["d.csv", "d.jsonl", "d.parquet", "d.table"])
def table(request, write, tmp_path):
    """The name of the table and how it is read; the same as text is in d.vw."""
    write("d.vw", "".join(f"{kind} |words {words}\n" for kind, words, _ in ROWS))
    if request.param == "d.parquet":
        as_parquet(tmp_path / request.param)
    else:
        write(request.param, as_lines() if request.param == "d.jsonl" else as_csv())
    return request.param, (*COLUMNS, *(("--format", "csv") if request.param == "d.table" else ()))


def test_classes_of_tables_are_learned_as_those_of_their_text(table, vwlite):
    name, columns = table
    vwlite("aso", "learn", "d.vw", "--aux", "freq", "--dim", "2", "-f", "t0", "--quiet")
    told = vwlite("aso", "learn", name, *columns, "--aux", "freq", "--dim", "2", "-f", "t1").stderr
    assert "note: columns: label=kind words=words:words" in told
    for theta, data in (("t0", ("d.vw",)), ("t1", (name, *columns))):
        vwlite("aso", "train", *data, "--theta", theta, "-f", f"{theta}.m", "--quiet")
    answers = vwlite("predict", "-i", "t0.m", "d.vw", "--scores").lines
    reads = ("--format", "csv") if name == "d.table" else ()  # whose name says nothing
    assert vwlite("predict", "-i", "t1.m", name, "--scores").lines == answers
    assert vwlite("predict", "-i", "t1.m", name, "--scores", *columns).lines == answers
    assert vwlite("predict", "-i", "t1.m", "--scores", "d.vw").lines == answers
    told = [vwlite("evaluate", "-i", model, *data).stdout for model, data in (("t0.m", ("d.vw",)), ("t1.m", (name,)))]
    assert told[0] == told[1]
    lines = [vwlite("aso", "apply", "--theta", "t0", *data).lines for data in (("d.vw",), (name, *columns))]
    assert lines[0] == lines[1] and " |theta_words/1 0:" in lines[0][0]
    listed = [vwlite("aso", "problems", "--aux", "freq", *data).stdout for data in (("d.vw",), (name, *columns))]
    assert listed[0] == listed[1] != "" and (reads == () or vwlite("aso", "train", name, "-f", "x", status=65))


def test_going_on_and_other_files(table, vwlite):
    """A model of a table reads the next one as its own; files beside are tables, or text, by their names."""
    name, columns = table
    vwlite("aso", "train", name, *columns, "-f", "m", "--quiet")
    vwlite("aso", "train", "d.vw", "-f", "n", "--quiet")
    for model, data in (("m", name), ("n", "d.vw")):
        vwlite("aso", "train", data, "-i", model, "-f", model, "--quiet")
    answers = vwlite("predict", "-i", "n", "d.vw", "--scores").lines
    assert vwlite("predict", "-i", "m", name, "--scores").lines == answers
    for unlabelled in (name, "d.vw"):
        vwlite("aso", "cotrain", name, *columns, "--unlabeled", unlabelled, "-f", "c", "--quiet")
        assert set(vwlite("predict", "-i", "c", name).lines) == {*WORDS}
    online = ("--online", "--keep-weights", "--aux", "freq-k:2", "--warmup", "40", "--quiet")
    vwlite("aso", "learn", name, *columns, *online, "-f", "t")
    vwlite("aso", "learn", "d.vw", *online, "-f", "u")
    vwlite("aso", "learn", name, "-i", "t", "-f", "t", "--keep-weights", "--quiet")
    vwlite("aso", "learn", "d.vw", "-i", "u", "-f", "u", "--keep-weights", "--quiet")
    assert vwlite("aso", "inspect", "t").stdout == vwlite("aso", "inspect", "u").stdout


def test_tasks_of_tables_are_learned_as_those_of_their_text(write, vwlite):
    rows = [(n * 7 % 5, f"s{n % 4}", n % 3, n % 5) for n in range(80)]
    write("d.csv", "y,shop,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    write("d.vw", "".join(f"{y} |shop {shop} | a:{a} b:{b}\n" for y, shop, a, b in rows))
    options = ("--task", "shop", "--dim", "1", "--quiet")
    vwlite("aso", "tasks", "d.csv", "--format", "csv", "--columns", "label=y shop=shop:words", *options, "-f", "m")
    vwlite("aso", "tasks", "d.vw", *options, "-f", "n", "--test", "d.vw")
    assert vwlite("evaluate", "-i", "m", "d.csv").stdout == vwlite("evaluate", "-i", "n", "d.vw").stdout
    assert vwlite("predict", "-i", "m", "d.csv").lines == vwlite("predict", "-i", "n", "d.vw").lines


def test_svmlight_is_refused(write, vwlite):
    write("d.svm", "1 1:2\n")
    refused = vwlite("aso", "train", "d.svm", "-f", "m", status=2).stderr
    assert refused == "vwlite: vwlite aso reads text and tables, not svmlight\n"
