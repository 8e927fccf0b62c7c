"""Labels of tables: truth values, words for what is absent, names with blanks."""

import json

import pytest

TRUTH = {
    "csv": "y,a\nTrue,1\nFalse,2\n,3\nnan,4\n",
    "tsv": "y\ta\nTRUE\t1\nfalse\t2\n\t3\nN/A\t4\n",
    "jsonl": '{"y": true, "a": 1}\n{"y": false, "a": 2}\n{"a": 3}\n{"y": null, "a": 4}\n',
}
TEXT = "1 | a\n0 | a:2\n| a:3\n| a:4\n"


@pytest.fixture(params=[*TRUTH, "arrow", "parquet"])
def table(request, write, tmp_path):
    """A format, and the name of a file of it whose labels are truth values."""
    if request.param in TRUTH:
        return request.param, write(f"t.{request.param}", TRUTH[request.param])
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'vwlite[arrow]'")
    from pyarrow import feather, parquet

    made = pyarrow.table({"y": [True, False, None, None], "a": [1, 2, 3, 4]})
    writer = {"parquet": parquet.write_table, "arrow": feather.write_feather}[request.param]
    writer(made, str(tmp_path / f"t.{request.param}"))
    return request.param, f"t.{request.param}"


def test_truth_values_are_numbers_in_every_command(table, vwlite, write, tables):
    """``check`` and ``convert`` took them for names, where ``train`` learns 1 and 0."""
    kind, file = table
    write("t.vw", TEXT)
    assert vwlite("convert", kind, file, "--columns", "label=y").stdout == TEXT
    for name, how in ((file, ("--columns", "label=y")), ("t.vw", ())):
        found = json.loads(vwlite("check", name, *how, "--json", "-", "--quiet").stdout)["result"]
        assert (found["labels_are"], found["labels"], found["unlabelled"]) == ("numbers", {"0": 1, "1": 1}, 2)
        assert "logistic" in found["losses"]
        vwlite("train", name, *how, "-f", f"{name}.m", "--quiet", "--loss_function", "logistic")
    assert tables(f"{file}.m") == tables("t.vw.m")


def test_truth_values_beside_names_are_names(vwlite, write):
    write("t.csv", "y,a\n" + "True,1\nyes,2\nno,2\n" * 3)
    found = json.loads(vwlite("check", "t.csv", "--columns", "label=y", "--json", "-").stdout)["result"]
    assert found["labels"] == {"True": 3, "yes": 3, "no": 3}
    named = ("--oaa", "2", "--named_labels", "True,False")
    write("t.csv", TRUTH["csv"].replace("nan", ""))
    vwlite("train", "t.csv", "--columns", "label=y", *named, "-f", "m", "--quiet")
    assert set(vwlite("predict", "-i", "m", "t.csv").lines) <= {"True", "False"}


BLANKS = {
    "csv": 'y,a\nNew York,1\n"San Jose",2\nNew York,3\n',
    "tsv": "y\ta\nNew York\t1\nSan Jose\t2\nNew York\t3\n",
    "jsonl": '{"y": "New York", "a": 1}\n{"a": 2, "y": "San Jose"}\n{"y": "New York", "a": 3}\n',
}


@pytest.mark.parametrize("kind", BLANKS)
def test_what_to_do_with_labels_of_two_words_is_said(kind, vwlite, write):
    """The advice was of their first words, and ``check`` advised ``--oaa 0``."""
    write(f"t.{kind}", BLANKS[kind])
    done = vwlite("train", f"t.{kind}", "--columns", "label=y", "-f", "m", status=65)
    assert done.stderr.endswith(
        "labels that are names (New York, San Jose) must be single words, such as New_York, and need --oaa 2 "
        "--named_labels New_York,San_Jose, or vwlite l1: 'vwlite check' prints the options for all of the data\n"
    )
    for command in (("check",), ("convert", kind), ("l1", "-f", "m", "--model", "multinomial")):
        done = vwlite(*command, f"t.{kind}", "--columns", "label=y", status=65)
        assert done.stderr.count("bad label, expected one word, such as New_York") == 3
        assert "learn with" not in done.stdout
    write(f"t.{kind}", BLANKS[kind].replace("w Y", "w_Y").replace("n J", "n_J"))
    vwlite("train", f"t.{kind}", "--columns", "label=y", "--oaa", "2", "--named_labels", "New_York,San_Jose", "-f", "m")
