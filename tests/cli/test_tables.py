"""Tables with named columns: --format csv and its kin, and --columns, in every command that reads data."""

import gzip
import json
import zipfile

import numpy as np
import pytest

ROWS = [(i % 2, i % 7, ["red", "green", "12"][i % 3], f"some {i % 5} words", f"r{i}") for i in range(60)]
CSV = "click,age,color,text,id\n" + "".join(f'{y},{n},{c},"{t}",{i}\n' for y, n, c, t, i in ROWS)
TEXT = "".join(
    f"{y} '{i}|user{f' age:{n}' if n else ''} color:{'_12' if c == '12' else c} |words {t}\n" for y, n, c, t, i in ROWS
)
COLUMNS = "label=click tag=id user=age,color words=text:words"
AS_TABLE = ("--format", "csv", "--columns", COLUMNS)
LEARN = ("--loss_function", "logistic", "--quiet")


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "data.csv").write_text(CSV)
    (tmp_path / "data.vw").write_text(TEXT)


def content(path):
    """What a model holds beside the way its data were read."""
    with zipfile.ZipFile(path) as model:
        header = json.loads(model.read("header.json"))
        kept = {name: header["model"].pop(name, None) for name in ("kind", "columns")}
        arrays = {name: model.read(name) for name in model.namelist() if name != "header.json"}
        return kept, {**header["model"], **arrays}


@pytest.mark.parametrize(
    "options", ["", "-q uw", "--passes 3 --holdout_off", "--names", "-c", "--threads 1 --block-size 100"]
)
def test_a_table_gives_the_model_of_its_text(options, vwlite, tmp_path):
    vwlite("train", "data.csv", *AS_TABLE, "-f", "table", *LEARN, *options.split())
    vwlite("train", "data.vw", "-f", "text", *LEARN, *options.split())
    (table, same), (text, expected) = content(tmp_path / "table"), content(tmp_path / "text")
    assert same == expected
    assert table == {
        "kind": "csv",
        "columns": "label=click? tag=id? user=age:number,color:text words=text:words ignore=*",
    }
    assert text == {"kind": "vw", "columns": None}
    answers = vwlite("predict", "-i", "text", "data.vw")
    assert vwlite("predict", "-i", "table", "data.csv") == answers
    assert len(answers.lines) == 60 and answers.lines[0].endswith(" r0")
    assert vwlite("evaluate", "-i", "table", "data.csv").stdout == vwlite("evaluate", "-i", "text", "data.vw").stdout
    assert vwlite("predict", "-i", "table", "data.vw", "--format", "vw") == answers
    audit = vwlite("predict", "-i", "text", "data.vw", "--audit").stdout
    assert vwlite("predict", "-i", "table", "data.csv", "--audit").stdout == audit


def test_tabs_compression_and_pipes(vwlite, write, tmp_path):
    vwlite("train", "data.csv", *AS_TABLE, "-f", "m", *LEARN)
    answers = vwlite("predict", "-i", "m", "data.csv").lines
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(CSV.encode()))
    assert vwlite("predict", "-i", "m", "data.csv.gz", "--threads", "2").lines == answers
    assert vwlite("predict", "-i", "m", stdin=CSV).lines == answers
    write("data.tsv", CSV.replace(",", "\t"))
    assert vwlite("predict", "-i", "m", "data.tsv", "--format", "tsv").lines == answers
    vwlite("train", "-f", "piped", *AS_TABLE, *LEARN, stdin=CSV)
    assert content(tmp_path / "piped") == content(tmp_path / "m")


def test_a_model_reads_columns_as_it_learned_them(vwlite, write):
    """It does so whatever order they stand in, and though a few rows would look like another type."""
    vwlite("train", "data.csv", *AS_TABLE, "-f", "m", *LEARN)
    (red, number) = vwlite("predict", "-i", "m", stdin="color,text,age\n12,,0\nred,,0\n").lines
    assert number != red
    assert vwlite("predict", "-i", "m", stdin="new,text,color,age,x\n5,,12,0,0\n").lines == [red]
    assert vwlite("predict", "-i", "m", stdin="text,color\n,12\n", status=65).stderr == (
        "vwlite: <stdin> has no column 'age' (it has text, color)\n"
    )
    other = vwlite("predict", "-i", "m", "--columns", "user=color:text", stdin="color\n12\n").lines
    assert other == [red]


def test_going_on_from_a_model_reads_columns_as_it_did(vwlite, write, tmp_path):
    write("more.csv", "text,age,click,color\na b,1,1,7\n")
    write("more.vw", "1 |user age:1 color:_7 |words a b\n")
    vwlite("train", "data.csv", *AS_TABLE, "-f", "m", *LEARN)
    vwlite("train", "more.csv", "--format", "csv", "-i", "m", "-f", "table", *LEARN)
    vwlite("train", "more.csv", "-i", "m", "-f", "untold", *LEARN)
    vwlite("train", "more.vw", "--format", "vw", "-i", "m", "-f", "text", *LEARN)
    assert content(tmp_path / "table")[1] == content(tmp_path / "text")[1]
    assert content(tmp_path / "table") == content(tmp_path / "untold")
    vwlite("train", "more.csv", "--format", "csv", "--columns", "label=click =color", "-i", "m", "-f", "o", *LEARN)
    assert content(tmp_path / "o")[0]["columns"] == "label=click? =text:text,age:number,color:text ignore=*"


def test_the_first_look_is_told(vwlite):
    message = "columns: label=click tag=id user=age:number,color:text words=text:words\n"
    assert f"note: {message}" in vwlite("train", "data.csv", *AS_TABLE, "-f", "m").stderr
    assert message in vwlite("check", "data.csv", *AS_TABLE).stderr
    assert vwlite("check", "data.csv", *AS_TABLE, "--quiet").stderr == ""
    message = "columns: label=click =id:text color=color:text ignore=age,text\n"
    done = vwlite("check", "data.csv", "--format", "csv", "--columns", "label=click ignore=age,text color=color")
    assert message in done.stderr


def test_check_tells_the_same_as_of_text(vwlite):
    table = json.loads(vwlite("check", "data.csv", *AS_TABLE, "--json", "-").stdout)["result"]
    text = json.loads(vwlite("check", "data.vw", "--json", "-").stdout)["result"]
    assert table.pop("lines") == text.pop("lines") + 1
    assert table == text
    done = vwlite("check", "data.csv", "--format", "csv", "--columns", "label=color weight=age", "--json", "-")
    assert json.loads(done.stdout)["labels"] == {"12": 20, "green": 20, "red": 20}


def test_names_are_labels_of_tables(vwlite, write, tmp_path):
    named = ("--oaa", "3", "--named_labels", "red,green,12", "--quiet")
    columns = "label=color tag=id =age words=text:words ignore=click"
    vwlite("train", "data.csv", "--format", "csv", "--columns", columns, "-f", "table", *named)
    lines = [f"{c} '{i}|{f' age:{n}' if n else ''} |words {t}\n" for y, n, c, t, i in ROWS]
    vwlite("train", write("names.vw", "".join(lines)), "-f", "text", *named)
    assert content(tmp_path / "table")[1] == content(tmp_path / "text")[1]
    assert vwlite("predict", "-i", "table", "data.csv") == vwlite("predict", "-i", "text", "names.vw")


@pytest.mark.parametrize("model", ["binary", "multinomial"])
def test_log_linear_models_of_tables(model, vwlite, write, tmp_path):
    vwlite("l1", "data.csv", *AS_TABLE, "--model", model, "-f", "table", "--quiet", "--passes", "3")
    vwlite("l1", "data.vw", "--model", model, "-f", "text", "--quiet", "--passes", "3")
    assert content(tmp_path / "table")[1] == content(tmp_path / "text")[1]
    assert content(tmp_path / "table")[0]["columns"].startswith("label=click? ")
    assert vwlite("predict", "-i", "table", "data.csv") == vwlite("predict", "-i", "text", "data.vw")


def test_rankings_of_tables(vwlite, tmp_path):
    columns = COLUMNS.replace("tag=id", "tag=age").replace("age,", "")
    vwlite("crr", "data.csv", "--format", "csv", "--columns", columns, "-f", "m", "--steps", "100", "--quiet")
    message = "label=click? tag=age? =id:text user=color:text words=text:words ignore=*"
    assert content(tmp_path / "m")[0]["columns"] == message
    done = vwlite("evaluate", "-i", "m", "data.csv", "--metric", "map", "--qid", "tag", "--json", "-")
    assert json.loads(done.stdout)["queries"] == 7


def test_explanations_of_tables(vwlite):
    vwlite("train", "data.csv", *AS_TABLE, "-f", "m", *LEARN)
    (example, *_) = json.loads(vwlite("explain", "-i", "m", "data.csv", "--json", "-").stdout)["examples"]
    assert {term["name"] for term in example["sums"][0]["terms"]} >= {"user^color^red", "words^some", "Constant"}


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_file_that_was_cut_off_is_reported_even_of_a_quiet_run(quiet, vwlite, write):
    write("whole.csv", "click,age\n" + "1,2\n" * 200)
    write("half.csv", "click,age\n" + "1,2\n" * 200 + "1")
    for name, count in (("whole.csv", 0), ("half.csv", 1)):
        learned = vwlite("train", name, "--columns", "label=click", "-f", "m", *quiet)
        for done in (learned, vwlite("predict", "-i", "m", name, *quiet)):
            assert done.stderr.count("half.csv:202:2: wrong number of fields, expected as many as the first") == count
            assert done.stderr.count("1; the file ends within this line: it may have been cut off\n") == count


def test_malformed_lines_are_told_and_kept(vwlite, write, tmp_path):
    write("bad.csv", 'click,age,color,text,id\n1,x,red,a,r\n1,2\n1,2,"red\nblue",a,r\n1,2,red,a,r s\n')
    options = ("--columns", "label=click tag=id user=age:number,color", "--max-bad-ratio", "1", "--bad-lines", "kept")
    done = vwlite("check", "bad.csv", "--format", "csv", *options, status=65)
    assert [line for line in done.stderr.splitlines() if "bad line" in line] == [
        "vwlite: bad line bad.csv:2:3: bad number, expected one in a column of numbers (column 'age'; age:text takes "
        "any): 1,x,red,a,r",
        "vwlite: bad line bad.csv:3:4: wrong number of fields, expected as many as the first line has (2 of 5): 1,2",
        "vwlite: bad line bad.csv:4:5: no closing quote, expected it on the line where the field begins (line breaks "
        'within a field are not read: write JSON lines): 1,2,"red',
        "vwlite: bad line bad.csv:5:10: wrong number of fields, expected as many as the first line has (3 of 5): "
        'blue",a,r',
        "vwlite: bad line bad.csv:6:11: bad tag, expected one word, as in text (column 'id'): 1,2,red,a,r s",
    ]
    assert (tmp_path / "kept").read_text() == "".join((tmp_path / "bad.csv").read_text().splitlines(True)[1:])
    done = vwlite("train", "bad.csv", "--format", "csv", "--columns", "=age:number", "--strict", "-f", "m", status=65)
    assert "bad.csv:2:3: bad number" in done.stderr and "(--strict)" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "vw", "--columns", "x"), "arrow, parquet), not with vw: add --format csv"),
        (("--format", "csv", "--columns", "click"), "--columns: expected items like label=click user=age,city:text, "),
        (("--format", "csv", "--affix", "+2u"), "--affix and --spelling read names in text"),
        (("--format", "csv", "--csoaa_ldf", "m"), "groups of lines are read from text only"),
    ],
)
def test_options_that_tables_do_not_have_are_refused(arguments, message, vwlite):
    assert message in vwlite("train", "data.csv", "-f", "m", *arguments, status=2).stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "<stdin>: there is no first line with the names of the columns"),
        ("a,b", "there is no labelled example to learn from in <stdin> (--columns label=... names the column"),
        ("a,a\n1,2\n", "<stdin> has two columns 'a'"),
    ],
)
def test_tables_of_which_nothing_is_learned(text, message, vwlite):
    done = vwlite("train", "--format", "csv", "-f", "m", "--quiet", stdin=text, status=65)
    assert done.stderr.startswith(f"vwlite: {message}")


def test_a_cache_is_of_its_columns(vwlite, tmp_path):
    vwlite("train", "data.csv", *AS_TABLE, "--cache_file", "c", "-f", "one", *LEARN)
    before = (tmp_path / "c").stat().st_mtime_ns
    assert "using cache_file" in vwlite("train", "data.csv", *AS_TABLE, "--cache_file", "c", "-f", "two").stderr
    assert (tmp_path / "c").stat().st_mtime_ns == before
    done = vwlite("train", "data.csv", *AS_TABLE[:3], "label=click", "--cache_file", "c", "-f", "other")
    assert "c was made from other data or options and is made again" in done.stderr
    assert content(tmp_path / "two")[0] == content(tmp_path / "one")[0]


def test_text_that_looks_like_a_table_is_told(vwlite):
    assert "(--format csv?)" in vwlite("check", stdin=CSV, status=65).stderr


def test_the_names_of_files_tell_their_format(vwlite, write, tmp_path):
    vwlite("train", "data.csv", *AS_TABLE, "-f", "typed", *LEARN)
    vwlite("train", "data.csv", "--columns", COLUMNS, "-f", "named", *LEARN)
    assert (tmp_path / "named").read_bytes() == (tmp_path / "typed").read_bytes()
    answers = vwlite("predict", "-i", "named", "data.csv").lines
    write("DATA.TSV", CSV.replace(",", "\t"))
    assert vwlite("predict", "-i", "named", "DATA.TSV").lines == answers
    write("data.svm", "1 1:2\n-1 2:1\n")
    assert "examples    2" in vwlite("check", "data.svm").stdout
    vwlite("train", "data.svm", "-f", "m", "--quiet")
    vwlite("pca", "data.svm", "--dim", "1", "-f", "components", "--quiet")
    write("plain", "1 1:2\n-1 2:1\n")
    for command in (["predict", "-i", "m"], ["project", "-i", "components"]):
        assert vwlite(*command, "plain").stdout == vwlite(*command, "data.svm").stdout


def test_a_typed_format_goes_before_the_name_of_a_file(vwlite, write):
    write("text.csv", TEXT)
    vwlite("train", "text.csv", "--format", "vw", "-f", "m", *LEARN)
    answers = vwlite("predict", "-i", "m", "text.csv", "--format", "vw").lines
    assert vwlite("predict", "-i", "m", "data.vw").lines == answers
    assert vwlite("vw", "-t", "-i", "m", "-d", "text.csv", "-p", "-", "--quiet").lines == answers


def test_names_that_say_two_formats_say_none(vwlite):
    assert "no '|'" in vwlite("check", "data.vw", "data.csv", "--strict", status=65).stderr


def test_the_lenient_command_takes_tables_too(vwlite):
    vwlite("vw", "-d", "data.csv", *AS_TABLE, "-f", "m", *LEARN)
    answers = vwlite("vw", "-t", "-i", "m", "-d", "data.csv", *AS_TABLE, "-p", "-", "--quiet").lines
    assert len(answers) == 60 and np.isfinite([float(line.split()[0]) for line in answers]).all()


OBJECTS = [{"click": y, "id": i, "user": {"age": n, "color": c}, "words": t.split()} for y, n, c, t, i in ROWS]
JSONL = "".join(json.dumps(row) + "\n" for row in OBJECTS)


def test_lines_of_json_give_the_model_of_their_text(vwlite, write, tmp_path):
    as_json = ("--format", "jsonl", "--columns", "label=click tag=id")
    vwlite("train", write("data.jsonl", JSONL), *as_json, "-f", "json", *LEARN)
    vwlite("train", "data.vw", "-f", "text", *LEARN)
    (json_kept, same), (_, expected) = content(tmp_path / "json"), content(tmp_path / "text")
    assert same == expected
    assert json_kept == {"kind": "jsonl", "columns": "label=click tag=id"}
    answers = vwlite("predict", "-i", "text", "data.vw")
    assert vwlite("predict", "-i", "json", "data.jsonl") == answers
    assert vwlite("predict", "-i", "json", stdin=JSONL) == answers
    audit = vwlite("predict", "-i", "text", "data.vw", "--audit").stdout
    assert vwlite("predict", "-i", "json", "data.jsonl", "--audit").stdout == audit
    table = json.loads(vwlite("check", "data.jsonl", *as_json, "--json", "-").stdout)["result"]
    assert table == json.loads(vwlite("check", "data.vw", "--json", "-").stdout)["result"]


def test_malformed_lines_of_json(vwlite, write):
    write("bad.jsonl", '{"y": 1, "a": {"b": {"c": 1}}}\n{"y": 1, "a": [1]}\n{"y": 1\n')
    done = vwlite("check", "bad.jsonl", "--format", "jsonl", "--columns", "label=y", "--max-bad-ratio", "1", status=65)
    assert [line for line in done.stderr.splitlines() if "bad line" in line] == [
        "vwlite: bad line bad.jsonl:1:21: bad value, expected a text here, or a number in an object: "
        '{"y": 1, "a": {"b": {"c": 1}}}',
        "vwlite: bad line bad.jsonl:2:16: bad value, expected a text here, or a number in an object: "
        '{"y": 1, "a": [1]}',
        'vwlite: bad line bad.jsonl:3:8: bad JSON, expected an object on each line: {"y": 1',
    ]
    assert "(--format jsonl?)" in vwlite("check", stdin='{"y": 1}\n', status=65).stderr


def test_tables_are_not_learned_in_shards(vwlite):
    done = vwlite("train", "data.csv", *AS_TABLE, "--shard", "1/2", "-f", "m", status=2)
    assert "--format csv does not go with shards" in done.stderr


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_files_of_arrow_give_the_model_of_the_same_csv(kind, vwlite, tmp_path):
    csv = pytest.importorskip("pyarrow.csv", reason="pip install 'vwlite[arrow]'")
    from pyarrow import feather, parquet

    {"parquet": parquet.write_table, "arrow": feather.write_feather}[kind](csv.read_csv("data.csv"), f"data.{kind}")
    read = ("--format", kind, "--columns", "label=click tag=id user=age,color:text words=text:words")
    for options in ((), ("--passes", "3", "--holdout_off", "-c"), ("--names",)):
        vwlite("train", f"data.{kind}", *read, "-f", "one", *LEARN, *options)
        vwlite("train", "data.csv", *AS_TABLE, "-f", "other", *LEARN, *options)
        assert content(tmp_path / "one")[1] == content(tmp_path / "other")[1]
    assert vwlite("predict", "-i", "one", f"data.{kind}") == vwlite("predict", "-i", "other", "data.csv")
    assert "auc" in vwlite("evaluate", "-i", "one", f"data.{kind}").stdout
    assert "60 (0 without label, 60 with tag)" in vwlite("check", f"data.{kind}", *read).stdout
    (tmp_path / "copy").write_bytes((tmp_path / f"data.{kind}").read_bytes())
    done = vwlite("train", "copy", "-i", "one", "-f", "one", "--skip-seen")
    assert f"copy was learned before as data.{kind} (60 lines): skipped" in done.stderr
    assert "is a file of" in vwlite("train", "copy", "-f", "x", status=65).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-q ux", "-q ux never matched: no line has both u and x (seen: u w)"),
        ("--ignore x", "--ignore x never matched: no line has x (seen: u w)"),
        (
            "--interactions user,age",
            "--interactions user,age never matched: no line has both user and age (seen: u w); age is a column, no "
            "namespace: in --columns age=age makes it one",
        ),
        (
            "--ignore color",
            "--ignore color never matched: no line has c, o, l or r (seen: u w); color is a column, no namespace: in "
            "--columns ignore=color leaves it out",
        ),
    ],
)
def test_columns_that_are_no_namespaces_are_told(options, said, vwlite):
    for more in ((), ("-c",), ("-c",)):  # a cache knows the columns too
        assert f"note: {said}\n" in vwlite("train", "data.csv", *AS_TABLE, *options.split(), *more).stderr
    assert "never" not in vwlite("train", "data.csv", *AS_TABLE, "--interactions", "user,words").stderr


def test_a_model_of_a_table_reads_text_as_text(vwlite, tmp_path):
    """The name of the file tells its format; another name is not enough, and the error says what is."""
    vwlite("train", "data.csv", *AS_TABLE, "-f", "model", *LEARN)
    answers = vwlite("predict", "-i", "model", "data.csv").stdout
    (tmp_path / "data.vw.gz").write_bytes(gzip.compress(TEXT.encode()))
    (tmp_path / "data").write_text(TEXT)
    for typed in (["data.vw"], ["data.vw.gz"], ["data", "--format", "vw"]):
        assert vwlite("predict", "-i", "model", *typed).stdout == answers
        assert "accuracy" in vwlite("evaluate", "-i", "model", *typed).stdout
        vwlite("train", "-i", "model", "-f", "more", *typed, "--quiet")
    message = "data:1: a line of Vowpal Wabbit text, not the names of columns: --format vw reads it"
    assert message in vwlite("predict", "-i", "model", "data", status=65).stderr


def test_words_in_lower_case_are_kept_by_the_model(vwlite, write):
    """Then predict reads other capitals and other formats alike."""
    write("news.csv", "y,body\n" + '1,"Big NEWS, today!"\n-1,The end\n' * 9)
    vwlite("train", "news.csv", "--columns", "label=y w=body:tokens", "-f", "model", "--names", "--quiet")
    names = {line.split()[-1] for line in vwlite("inspect", "model").lines if "w^" in line}
    assert names == {"w^big", "w^news", "w^today", "w^the", "w^end"}
    write("other.csv", 'y,body\n,"BIG news: Today"\n,"the (End) a b"\n')
    write("other.jsonl", '{"body": "big news today"}\n{"body": ["THE", "end."]}\n')
    first = vwlite("predict", "-i", "model", "news.csv").lines[:2]
    assert vwlite("predict", "-i", "model", "other.csv").lines == first
    assert vwlite("predict", "-i", "model", "other.jsonl").lines == first
    assert vwlite("convert", "csv", "other.csv", "--columns", "w=body:tokens ignore=*").lines == [
        "|w big news today", "|w the end"
    ]  # fmt: skip
