"""``vwlite convert``."""

import csv
import gzip
import json

import pytest

COLUMNS = "The DT B-NP\ncat NN I-NP\n\nsat VBD B-VP\n"


BOM = b"\xef\xbb\xbf"


def test_a_byte_order_mark_is_no_character(vwlite, write):
    columns, template = b"a DT B\nb NN I\n", b"w:%x[0,0]\nt:%x[0,1]\n"
    write("bom", BOM + columns)
    write("plain", columns)
    write("bom.t", BOM + template)
    write("t", template)
    expected = "B |w a |t DT\nI |w b |t NN\n\n"
    for data in ("bom", "plain"):
        for named in ("bom.t", "t"):
            assert vwlite("convert", "conll", data, "--template", named).stdout == expected
    assert vwlite("convert", "conll", "bom", "bom", "--template", "t").stdout == 2 * expected
    write("words.t", "w:%x[0,0]\n")
    done = vwlite("convert", "conll", "--lines", "--template", "words.t", stdin=BOM + b"a b\n")
    assert done.stdout == "|w a\n|w b\n\n"


def test_blanks_and_tabs_alone_part_columns(vwlite, write):
    """A no-break space, an ideographic one and a line separator are characters of words."""
    write("t", "w:%x[0,0]\nl:%x[0,1]x\u2028y\n")
    text = "10\u00a0000 \t CD\u3000x  B-NP\r\nNew\u2028York\x85\x0b NNP\tI-NP\n\n"
    done = vwlite("convert", "conll", write("data", text), "--template", "t")
    assert done.stdout.split("\n") == [
        "B-NP |w 10\u00a0000 |l CD\u3000xx\u2028y",
        "I-NP |w New\u2028York\x85\x0b |l NNPx\u2028y",
        "",
        "",
    ]
    write("words.t", "w:%x[0,0]\n")
    done = vwlite("convert", "conll", "--lines", "--template", "words.t", stdin="a\u00a0b c\n")
    assert done.stdout == "|w a\u00a0b\n|w c\n\n"


def test_conll_to_standard_output(vwlite, write):
    write("data.txt", COLUMNS)
    done = vwlite("convert", "conll", "data.txt")
    assert done.lines[0].startswith("B-NP |U00 _B-2 |U01 _B-1 |w The |U03 cat |U04 _B+1 |U10")
    assert [line.partition(" ")[0] for line in done.lines] == ["B-NP", "I-NP", "", "B-VP", ""]


def test_options_pick_the_word_itself(vwlite, write):
    write("data.txt", COLUMNS * 9)
    vwlite("convert", "conll", "data.txt", "-o", "data.vw")
    vwlite("l1", "data.vw", "--model", "crf", "--affix", "+1w,-2t", "--l1", "0", "--names", "-f", "m", "--quiet")
    names = {entry["name"] for entry in json.loads(vwlite("inspect", "m", "--top", "500", "--json", "-").stdout)["top"]}
    expected = {"affix^w+1=T", "affix^w+1=c", "affix^w+1=s", "affix^t-2=DT", "affix^t-2=NN", "affix^t-2=BD"}
    assert {name for name in names if name and name.startswith("affix")} == expected


def test_template_out_and_compressed_input(vwlite, write, tmp_path):
    write("data.gz", gzip.compress(COLUMNS.encode()))
    write("t", "U1:%x[0,1]\n")
    vwlite("convert", "conll", "data.gz", "--template", "t", "-o", "out.vw")
    assert (tmp_path / "out.vw").read_text() == "B-NP |U1 DT\nI-NP |U1 NN\n\nB-VP |U1 VBD\n\n"


def test_the_columns_choose_a_template_that_is_not_typed(vwlite, write):
    write("words", "Bob B-PER\nruns O\n")
    write("tags", COLUMNS)
    stdout = vwlite("convert", "conll", "words").stdout
    assert stdout.startswith("B-PER |wL2 _B-2 |wL1 _B-1 |wC Bob |wR1 runs |wR2 _B+1 |tC Aa+")
    assert stdout == vwlite("convert", "conll", "words", "--template", "ner").stdout
    tags = vwlite("convert", "conll", "tags").stdout
    assert tags == vwlite("convert", "conll", "tags", "--template", "chunk").stdout
    assert " |lC the " in vwlite("convert", "conll", "tags", "--template", "pos").lines[0]


def test_a_file_named_like_a_ready_made_template(vwlite, write):
    write("words", "Bob B-PER\n")
    write("ner", "mine:%x[0,0]\n")
    assert vwlite("convert", "conll", "words", "--template", "./ner").lines[0] == "B-PER |mine Bob"
    assert "|wC Bob" in vwlite("convert", "conll", "words", "--template", "ner").stdout


def test_labels_and_documents(vwlite, write):
    write("words", "-DOCSTART- O\n\nBob I-PER\nruns O\n")
    assert vwlite("convert", "conll", "words", "--iob2").lines[0].startswith("B-PER |wL2 _B-2")
    lines = vwlite("convert", "conll", "words", "--keep-docstart").lines
    assert lines[0].startswith("O |wL2 _B-2 |wL1 _B-1 |wC -DOCSTART-") and lines[2].startswith("I-PER")


def test_plain_lines_have_no_labels(vwlite, write):
    write("t", "w:%x[0,0]\nn:%x[1,0]\n")
    done = vwlite("convert", "conll", "--lines", "--template", "t", stdin="Bob runs .\n\nOh\n")
    assert done.lines == ["|w Bob |n runs", "|w runs |n .", "|w . |n _B+1", "", "|w Oh |n _B+1", ""]
    assert "|wC Bob |wR1 runs |wR2 ." in vwlite("convert", "conll", "--lines", stdin="Bob runs .\n").lines[0]


def test_no_labels_and_standard_input(vwlite, write):
    write("t", "U1:%x[0,2]\n")
    assert vwlite("convert", "conll", "--template", "t", "--no-labels", stdin="a b c\n").lines == ["|U1 c", ""]


def test_wrong_templates_and_data_are_refused(vwlite, write):
    write("data.txt", COLUMNS)
    write("t", "U1:%x[0,7]\n")
    write("empty", "\n\n")
    write("macros", "U1:%x[0,0]\nU2:%q[0,0]\n")
    stderr = vwlite("convert", "conll", "data.txt", "--template", "macros", status=2).stderr
    assert "line 2 of the template: there is no macro %q" in stderr
    assert "column 7" in vwlite("convert", "conll", "data.txt", "--template", "t", status=65).stderr
    assert "overwritten" in vwlite("convert", "conll", "data.txt", "-o", "data.txt", status=2).stderr
    assert "no sentence" in vwlite("convert", "conll", "empty", status=65).stderr
    assert "no such file" in vwlite("convert", "conll", "nowhere", status=66).stderr
    assert "did you mean csv" in vwlite("convert", "cvs", status=2).stderr


CSV = "click,age,color,text,id\n" + "".join(
    f'{n % 2},{n % 7}.5,{("red", "dark blue", "12")[n % 3]},"some {n % 5} words",{n}\n' for n in range(40)
)
COLUMNS_OF = "label=click tag=id user=age,color words=text:words"


def predictions(vwlite, *data):
    vwlite("train", *data, "-f", "m", "--loss_function", "logistic", "--quiet")
    return vwlite("predict", "-i", "m", *data[:1]).lines


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_text_of_a_table_predicts_as_the_table(form, vwlite, write, tmp_path):
    write("data.csv", CSV)
    rows = list(csv.DictReader(CSV.splitlines()))
    if form == "tsv":
        write("data.tsv", "\n".join("\t".join(row) for row in [rows[0], *(row.values() for row in rows)]) + "\n")
    elif form == "jsonl":
        typed = [{**row, "click": int(row["click"]), "age": float(row["age"]), "id": row["id"]} for row in rows]
        write("data.jsonl", "".join(json.dumps(row) + "\n" for row in typed))
    elif form == "parquet":
        arrow = pytest.importorskip("pyarrow", reason="pip install 'vwlite[arrow]'")
        from pyarrow import csv as reader
        from pyarrow import parquet

        assert arrow and not parquet.write_table(reader.read_csv(tmp_path / "data.csv"), tmp_path / "data.parquet")
    done = vwlite("convert", form, f"data.{form}", "--columns", COLUMNS_OF, "-o", "out.vw")
    assert done.stdout == "" and (form == "jsonl") == ("color:text" not in done.stderr)
    lines = (tmp_path / "out.vw").read_text().splitlines()
    assert lines[1] == "1 '1|user age:1.5 color:dark_blue |words some 1 words"
    expected = predictions(vwlite, f"data.{form}", "--format", form, "--columns", COLUMNS_OF)
    assert predictions(vwlite, "out.vw") == expected and len(expected) == 40


def test_svmlight_and_back(vwlite, write):
    text = "1 qid:3 1:0.5 7:2\n-1 qid:3 2:-1.25\n0 2:1 # note\n"
    write("data.svm", text)
    assert vwlite("convert", "svmlight", "data.svm", "--to", "svmlight").stdout == text.replace(" # note", "")
    assert vwlite("convert", "svmlight", "data.svm").lines == ["1 '3| 1:0.5 7:2", "-1 '3| 2:-1.25", "0 | 2"]


def test_names_become_slots_in_svmlight(vwlite, write):
    write("data.vw", "1 'a|u x y:2 x\n\n|u y\n")
    done = vwlite("convert", "vw", "data.vw", "--to", "svmlight", "-b", "10")
    first, second = done.lines
    label, one, two, mark, tag = first.split()
    values = dict(entry.split(":") for entry in (one, two))
    assert (label, mark, tag, sorted(values.values())) == ("1", "#", "a", ["2", "2"])
    assert [int(slot) for slot in values] == sorted(map(int, values)) and max(map(int, values)) < 1024
    assert second.startswith("0 ") and "1 examples have no label" in done.stderr
    audit = vwlite("vw", "data.vw", "-b", "10", "--audit", "--noconstant", "--quiet").stdout
    assert all(f":{slot}:" in audit for slot in values)


def test_malformed_lines_of_a_table(vwlite, write, tmp_path):
    write("bad.csv", "y,x:q\n1,2\n1,2,3\n".replace("x:q", "x"))
    columns = ("--columns", "label=y")
    assert "bad.csv:3" in vwlite("convert", "csv", "bad.csv", *columns, status=65).stderr
    done = vwlite("convert", "csv", "bad.csv", *columns, "--max-bad-ratio", "1", "--bad-lines", "kept")
    assert done.lines == ["1 | x:2"] and (tmp_path / "kept").read_text() == "1,2,3\n"
    vwlite("convert", "csv", "bad.csv", *columns, "--strict", "-o", "never", status=65)
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("conll t --to svmlight", 2, "--to does not go with conll"),
        ("conll t --threads 1", 2, "--threads does not go with conll"),
        ("conll t --examples 1", 2, "--examples does not go with conll"),
        ("conll t --lines --no-labels", 2, "--no-labels does nothing with --lines"),
        ("conll t --lines --keep-docstart", 2, "--keep-docstart does nothing with --lines"),
        ("conll t --lines --iob2", 2, "--iob2 does nothing with --lines"),
        ("conll t --lines --template chunk", 65, "the template takes column 1"),
        ("csv t --iob2", 2, "--iob2 does not go with csv"),
        ("csv t --template t", 2, "--template does not go with csv"),
        ("csv t --named_labels a", 2, "--named_labels does not go with csv"),
        ("libffm t --named_labels a", 2, "--named_labels does not go with libffm"),
        ("fasttext t --columns label=a", 2, "--columns does not go with fasttext"),
        ("csv t --no-labels", 2, "--no-labels does not go with csv"),
        ("vw names --to svmlight", 2, "takes labels that are numbers, and these are names"),
        ("vw heavy --to svmlight", 65, "heavy:2: SVMlight has no importance"),
        ("vw names -b 9", 2, "-b does nothing without --to svmlight"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words, status, said, vwlite, write):
    write("t", COLUMNS)
    write("names", "cat | a\ndog | b\n")
    write("heavy", "1 | a\n1 2 | a\n")
    assert said in vwlite("convert", *words.split(), status=status).stderr


def test_lines_of_fasttext_become_text(vwlite, write):
    write("one.txt", BOM + b"__label__pos great film : 10/10 | x\n\n__label__neg\tdull film\r\nno label\n")
    assert vwlite("convert", "fasttext", "one.txt").lines == [
        "pos |w great film %3A 10/10 %7C x",
        "neg |w dull film",
        "|w no label",
    ]
    several = write("several.txt", "a __label__pos b __label__drama\n__label__neg c\nd\n")
    done = vwlite("convert", "fasttext", several)
    assert done.lines == ["0,2 |w a b", "1 |w c", "|w d"]
    assert "--multilabel_oaa 3), numbered from 0 as by --named_labels drama,neg,pos" in done.stderr
    piped = vwlite("convert", "fasttext", "--named_labels", "drama,neg,pos", stdin="__label__pos __label__neg c\n")
    assert piped.lines == ["1,2 |w c"]
    vwlite("convert", "fasttext", several, "-o", "sets.vw")
    vwlite("train", "sets.vw", "-f", "m", "--multilabel_oaa", "3", "--quiet", "--passes", "20", "--holdout_off")
    assert vwlite("predict", "-i", "m", stdin="|w a b\n|w c\n").lines == ["0,2", "1"]


def test_lines_of_libffm_become_text(vwlite, write):
    write("ffm.txt", "1 0:3:0.5 12:7:1 0:4:1\n\n-1 1:3:1e-3\n0\n")
    assert vwlite("convert", "libffm", "ffm.txt").lines == ["1 |f0 3:0.5 4 |f12 7", "-1 |f1 3:1e-3", "0 |"]
    vwlite("convert", "libffm", "ffm.txt", "-o", "ffm.vw")
    vwlite("train", "ffm.vw", "-f", "m", "-q", "::", "--names", "--quiet", "--label-units", "raw")
    crossed = {entry["name"] for entry in json.loads(vwlite("inspect", "m", "--json", "-").stdout)["top"]}
    assert "f0^3*f12^7" in crossed


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        ("fasttext", "__label__a x\n__label__a __label__b x\n", "<stdin>:2: 2 labels: --named_labels lists"),
        ("fasttext", "__label__ x\n", "<stdin>:1: an empty label"),
        ("fasttext --named_labels a,b", "__label__c x\n", "<stdin>:1: --named_labels has no label c"),
        ("fasttext", "\n", "no example in the input"),
        ("libffm", "1 0:3:1\n1 0:3\n", "<stdin>:2: word 2 is not like field:index:value: 0:3"),
        ("libffm", "1 0:3:nan\n", "not like field:index:value: 0:3:nan"),
        ("crfsuite", "B\ta=b:c\n", "<stdin>:1: not like attribute:value"),
        ("crfsuite", "\ta\n", "<stdin>:1: an empty label"),
        ("crfsuite", "@weight:2\n", "<stdin>:1: weights of sequences"),
        ("libffm", "a 0:3:1\n", "<stdin>:1: bad label, expected a number: a"),
    ],
)
def test_malformed_lines_of_other_tools(format, text, said, vwlite):
    done = vwlite("convert", *format.split(), stdin=text, status=65)
    assert said in done.stderr


def test_lines_of_crfsuite_become_text(vwlite, write):
    text = "B-NP\tw[0]=a\\:b\\\\c d\tlength:0.5\t__BOS__\r\nO\tw[0]=x|y:1\n\nO\n"
    done = vwlite("convert", "crfsuite", write("train.txt", text))
    assert done.lines == ["B-NP | w[0]=a%3Ab\\c%20d length:0.5 __BOS__", "O | w[0]=x%7Cy", "", "O |"]
