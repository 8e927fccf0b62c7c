"""``vwlite convert``."""

import gzip
import json

COLUMNS = "The DT B-NP\ncat NN I-NP\n\nsat VBD B-VP\n"


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
    wanted = {"affix^w+1=T", "affix^w+1=c", "affix^w+1=s", "affix^t-2=DT", "affix^t-2=NN", "affix^t-2=BD"}
    assert {name for name in names if name and name.startswith("affix")} == wanted


def test_template_out_and_compressed_input(vwlite, write, tmp_path):
    write("data.gz", gzip.compress(COLUMNS.encode()))
    write("t", "U1:%x[0,1]\n")
    vwlite("convert", "conll", "data.gz", "--template", "t", "-o", "out.vw")
    assert (tmp_path / "out.vw").read_text() == "B-NP |U1 DT\nI-NP |U1 NN\n\nB-VP |U1 VBD\n\n"


def test_no_labels_and_standard_input(vwlite, write):
    write("t", "U1:%x[0,2]\n")
    assert vwlite("convert", "conll", "--template", "t", "--no-labels", stdin="a b c\n").lines == ["|U1 c", ""]


def test_refusals(vwlite, write):
    write("data.txt", COLUMNS)
    write("t", "U1:%x[0,7]\n")
    write("empty", "\n\n")
    assert "column 7" in vwlite("convert", "conll", "data.txt", "--template", "t", status=65).stderr
    assert "overwritten" in vwlite("convert", "conll", "data.txt", "-o", "data.txt", status=2).stderr
    assert "no sentence" in vwlite("convert", "conll", "empty", status=65).stderr
    assert "no such file" in vwlite("convert", "conll", "nowhere", status=66).stderr
    assert vwlite("convert", "csv", status=2).stderr
