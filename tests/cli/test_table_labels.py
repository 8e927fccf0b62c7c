"""Labels of tables: truth values, words for what is absent, names with blanks; names in sets."""

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
        report = json.loads(vwlite("check", name, *how, "--json", "-", "--quiet").stdout)["result"]
        assert (report["labels_are"], report["labels"], report["unlabelled"]) == ("numbers", {"0": 1, "1": 1}, 2)
        assert "logistic" in report["losses"]
        vwlite("train", name, *how, "-f", f"{name}.m", "--quiet", "--loss_function", "logistic")
    assert tables(f"{file}.m") == tables("t.vw.m")


def test_truth_values_beside_names_are_names(vwlite, write):
    write("t.csv", "y,a\n" + "True,1\nyes,2\nno,2\n" * 3)
    report = json.loads(vwlite("check", "t.csv", "--columns", "label=y", "--json", "-").stdout)["result"]
    assert report["labels"] == {"True": 3, "yes": 3, "no": 3}
    named = ("--oaa", "2", "--named_labels", "True,False")
    write("t.csv", TRUTH["csv"].replace("nan", ""))
    vwlite("train", "t.csv", "--columns", "label=y", *named, "-f", "m", "--quiet")
    assert set(vwlite("predict", "-i", "m", "t.csv").lines) <= {"True", "False"}


CITIES = ("New York", "San Jose", "New_York", " Rome ", None)
WORDS = ("New_York", "San_Jose", "New_York", "Rome", "")
BLANKS = {
    "csv": 'y,a,id\nNew York,1,r0\n"San Jose",2,\nNew_York,3,r2\n Rome ,4,r3\n ,5,r4\n',
    "tsv": "y\ta\tid\nNew York\t1\tr0\nSan Jose\t2\t\nNew_York\t3\tr2\n Rome \t4\tr3\n\t5\tr4\n",
    "jsonl": """{"y": "New York", "a": 1, "id": "r0"}
{"a": 2, "y": "San\\tJose"}
{"y": "New_York", "a": 3, "id": "r2"}
{"y": " Rome ", "a": 4, "id": "r3"}
{"y": "", "a": 5, "id": "r4"}
""",
}


@pytest.mark.parametrize("kind", [*BLANKS, "parquet"])
@pytest.mark.parametrize("tagged", [False, True])
def test_classes_of_two_words_are_one_with_underscores(kind, tagged, vwlite, write, tmp_path):
    """They ended the run."""
    if kind in BLANKS:
        write(f"t.{kind}", BLANKS[kind])
    else:
        pyarrow = pytest.importorskip("pyarrow", reason="pip install 'vwlite[arrow]'")
        from pyarrow import parquet

        columns = {"y": CITIES, "a": [1, 2, 3, 4, 5], "id": ["r0", "", "r2", "r3", "r4"]}
        parquet.write_table(pyarrow.table(columns), str(tmp_path / f"t.{kind}"))
    table = (f"t.{kind}", "--columns", "label=y tag=id =a:number" if tagged else "label=y =a:number ignore=id")
    tags = [" 'r0", "", " 'r2", " 'r3", "'r4"] if tagged else [""] * 5
    lines = [
        f"{word}{tag}| a{'' if a == 1 else f':{a}'}" for a, (word, tag) in enumerate(zip(WORDS, tags, strict=True), 1)
    ]
    text = vwlite("convert", kind, *table).lines
    assert [line.replace(" |", "|") for line in text] == lines
    assert "names (3 classes); New_York: 2, San_Jose: 1, Rome: 1" in vwlite("check", *table).stdout
    vwlite("train", *table, "--oaa", "3", "--named_labels", "New_York,Rome,San_Jose", "-f", "m", "--quiet")
    stderr = vwlite("train", *table, "--oaa", "auto", "-f", "n").stderr
    note = "; a blank within a name counts as _, also in predictions" * (kind in BLANKS)  # whose first lines tell
    assert f"3 classes: New_York, Rome, San_Jose{note}\n" in stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert json.loads(vwlite("evaluate", "-i", "m", f"t.{kind}", "--json", "-").stdout)["examples"] == 4
    assert {line.split()[0] for line in vwlite("predict", "-i", "m", f"t.{kind}").lines} <= {*WORDS}


@pytest.mark.parametrize("kind", BLANKS)
def test_the_advice_on_labels_of_two_words_has_whole_labels(kind, vwlite, write):
    """The advice has whole labels, not their first words."""
    write(f"t.{kind}", BLANKS[kind].replace(" Rome ", "San Jose"))
    done = vwlite("train", f"t.{kind}", "--columns", "label=y", "-f", "m", status=65)
    assert "labels that are names (New York, San" in done.stderr
    assert "New_York,San_Jose" in done.stderr and "or vwlite l1: 'vwlite check' prints the options" in done.stderr
    vwlite("l1", f"t.{kind}", "--columns", "label=y", "-f", "m", "--model", "multinomial", "--passes", 2)


def test_sets_of_named_labels_are_learned_and_others_refused(vwlite, write):
    """The last name is a class, too, and numbers are not learned as sets without labels."""
    write("sets", "cat,dog |f a\ncat |f b\ndog |f c\n, |f d\n" * 5)
    options = ("--multilabel_oaa", "2", "--named_labels", "cat,dog", "--quiet")
    vwlite("train", "sets", "-f", "m", *options, "--passes", "5", "--holdout_off")
    assert vwlite("predict", "-i", "m", "sets").stdout.split("\n")[:4] == ["cat,dog", "cat", "dog", ""]
    assert vwlite("predict", "-i", "m", "sets", "--scores").stdout.startswith("cat:0.9")
    for label in ("0,1", "bird"):
        done = vwlite("train", write("d", f"{label} |f a\n"), *options, status=65)
        assert f"label {label} names no class: --named_labels has cat, dog" in done.stderr


def test_examples_without_a_set_are_told(vwlite, write):
    for name, label in (("empty", ", "), ("without", "")):
        write(name, f"0,1 |w a\n{label}|w b\n")
        stderr = vwlite("train", name, "-f", "m", "--multilabel_oaa", "3").stderr
        assert ("note: examples without a label were not learned: the empty set is" in stderr) == (name == "without")
