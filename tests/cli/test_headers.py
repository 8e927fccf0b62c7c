"""Tables whose first line is no line of names: told by the numbers in it, or said in --columns."""

import pytest

ROWS = ["1,0.5,0.3,0.8", "-1,0.1,0.9,0.2", "1,0.7,0.2,0.6", "-1,0.2,0.8,0.1", "1,0.9,0.1,0.9"]
LEARN = ("--loss_function", "logistic", "--quiet")


def told(source, cells):
    return (
        f"vwlite: {source}:1: the first line looks like data, not like names of columns ({cells}): in --columns, "
        "no-header calls the columns 1, 2 and so on, and header takes the line for names\n"
    )


@pytest.fixture(autouse=True)
def files(write):
    write("rows.csv", "\n".join(ROWS) + "\n")
    write("named.csv", "\n".join(["1,2,3,4", *ROWS]) + "\n")


@pytest.mark.parametrize("columns", ["", "label=y", "label=1", "label=1 =0.5:number ignore=0.3"])
@pytest.mark.parametrize("command", ["train -f m", "check", "convert csv", "l1 -f m", "crr -f m"])
def test_a_first_line_of_numbers_is_refused(command, columns, vwlite):
    """Else it would be lost, and its cells would be the names of features."""
    how = ("--columns", columns) if columns else ()
    done = vwlite(*command.split(), "rows.csv", *how, status=65)
    perhaps = "" if columns else "; perhaps --columns 'no-header label=4 =1:number,2:number,3:number'"
    assert done.stderr.endswith(f"{told('rows.csv', '1, 0.5, 0.3, 0.8').rstrip()}{perhaps}\n")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("setosa,5.1,3.5\nvirginica,6.3,3.3\n", True),
        ("5,0,0,0\n0,0,0,0\n", True),  # the same name twice
        ("red,7,12\nblue,8,3\n", True),
        ("1,red\n0,blue\n", True),
        ("-1,red\n1,blue\n", True),
        ("y,1,5\n1,3,4\n", False),  # a name over numbers
        ("y,0.5,0.9\n1,3,4\n", False),
        ("country,2019,2020\nnorway,3,4\n", False),  # numbers one after the other
        (",0,1,2\n,5,6,7\n", False),
        ("0,1,2\n5,6,7\n", False),
        ("red,paris\nblue,rome\n", False),  # nothing tells
        ("na,true\n1,2\n", False),
        ("1,0.5\n", False),  # no row tells
        ("12,x\nred,blue\n", False),
    ],
)
def test_a_first_line_that_looks_like_data_is_refused(text, refused, vwlite, write):
    write("t.csv", text)
    write("t.tsv", text.replace(",", "\t"))
    for name in ("t.csv", "t.tsv"):
        assert (f"{name}:1: the first line looks like data" in vwlite("check", name, status=65).stderr) == refused
    if refused:
        cells = ", ".join(text.splitlines()[0].split(","))
        stderr = vwlite("train", "t.csv", "-f", "m", status=65).stderr
        assert f"{told('t.csv', cells).rstrip()}; perhaps --columns 'no-header label=" in stderr
    assert "looks like" not in vwlite("check", "t.csv", "--columns", "no-header", status=65).stderr
    if "0,0" not in text:
        assert "looks like" not in vwlite("check", "t.csv", "--columns", "header", status=65).stderr


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("how", [(), ("--passes", "3", "-c"), ("--threads", "2", "--block-size", "20")])
def test_without_a_header_columns_are_numbered(kind, how, vwlite, write, header, tables):
    """The model is that of the same rows below the numbers, and reads other rows as it read these."""
    rows = "\n".join(ROWS) + "\n"
    for name, text in (("rows", f"\ufeff{rows}"), ("named", f"1,2,3,4\n{rows}"), ("test", rows)):
        write(f"{name}.{kind}", text.replace(",", "\t" if kind == "tsv" else ","))
    vwlite("train", f"rows.{kind}", "--columns", "no-header label=1", "-f", "m", *LEARN, *how)
    vwlite("train", f"named.{kind}", "--columns", "label=1", "-f", "n", *LEARN, *how)
    assert tables("m") == tables("n")
    assert header("m")["columns"] == "no-header label=1? =2:number,3:number,4:number ignore=*"
    answers = vwlite("predict", "-i", "n", f"named.{kind}").lines
    assert len(answers) == 5
    assert vwlite("predict", "-i", "m", f"test.{kind}", *how[:2] * (how[:1] == ("--threads",))).lines == answers
    vwlite("train", f"test.{kind}", "-i", "m", "-f", "m", *LEARN)
    vwlite("train", f"named.{kind}", "-i", "n", "-f", "n", *LEARN)
    vwlite("train", f"test.{kind}", "--columns", "label=1", "-i", "m", "-f", "o", *LEARN)
    assert tables("m") == tables("n") and header("o")["columns"] == header("m")["columns"]
    assert vwlite("convert", kind, f"rows.{kind}", "--columns", "no-header label=1").lines[0].startswith("1 | 2:0.5 3:")


def test_a_byte_order_mark_is_no_part_of_a_first_cell(vwlite, write, header):
    write("rows.csv", "\ufeff0.5,1,x\n0.25,-1,y\n")
    vwlite("train", "rows.csv", "--columns", "no-header label=2", "-f", "m", *LEARN)
    assert header("m")["columns"] == "no-header label=2? =1:number,3:text ignore=*"
    answers = vwlite("convert", "csv", "rows.csv", "rows.csv", "--columns", "no-header label=2").lines
    assert answers == ["1 | 1:0.5 3:x", "-1 | 1:0.25 3:y"] * 2


def test_rows_without_a_header_are_counted_and_malformed_from_the_first_line_on(vwlite, write):
    write("rows.csv", "1,x,3\n1,2\n1,red,4\n")
    done = vwlite("check", "rows.csv", "--columns", "no-header label=1 =2:number", status=65)
    assert "vwlite: columns: no-header label=1 =2:number,3:number\n" in done.stderr
    assert "rows.csv:1:3: bad number, expected one in a column of numbers (column '2'; 2:text takes any)" in done.stderr
    assert "rows.csv:2:4: wrong number of fields, expected as many as the first line has (2 of 3)" in done.stderr
    assert "lines       3 (3 malformed, 0 empty)" in done.stdout


def test_day_by_day_without_headers(vwlite, write, tables, header):
    write("0.csv", "1,2.5,maps\n0,0.5,3\n")
    write("1.csv", "0,1,3\n1,5,8\n")
    for number, files in enumerate((["0.csv", "1.csv"], ["0.csv"])):
        vwlite("train", *files, "--columns", "no-header label=1", "-f", f"m{number}", *LEARN)
    vwlite("train", "1.csv", "-i", "m1", "-f", "m1", *LEARN)
    assert tables("m0") == tables("m1")
    assert header("m0")["columns"] == "no-header label=1? =2:number,3:text ignore=*"


def test_names_that_look_like_data_are_kept_as_names(vwlite, write, header):
    write("spectra.csv", "900,902.5,905\n1,0.3,0.2\n0,0.1,0.4\n")
    vwlite("train", "spectra.csv", "--columns", "header label=900", "-f", "m", *LEARN)
    assert header("m")["columns"] == "header label=900? =902.5:number,905:number ignore=*"
    assert len(vwlite("predict", "-i", "m", "spectra.csv").lines) == 2


def test_a_model_knows_its_columns_whatever_they_are_called(vwlite, write):
    vwlite("train", "named.csv", "--columns", "label=1", "-f", "m", *LEARN)
    write("other.csv", "4,2,3\n0.8,0.5,0.3\n")
    answers = vwlite("predict", "-i", "m", "named.csv").lines
    assert vwlite("predict", "-i", "m", "other.csv").lines == answers[:1]
    assert "has no column '2' (it has 1, 0.5, 0.3, 0.8)" in vwlite("predict", "-i", "m", "rows.csv", status=65).stderr


@pytest.mark.parametrize("item", ["header", "no-header"])
def test_only_tables_of_cells_have_headers(item, vwlite, write):
    write("t.jsonl", '{"1": 1, "2": 0.5}\n{"1": -1, "2": 0.1}\n')
    message = f"--columns: {item} goes with --format csv and tsv, not with jsonl"
    assert message in vwlite("train", "t.jsonl", "--columns", f"{item} label=1", "-f", "m", status=2).stderr
    vwlite("train", "rows.csv", "--columns", "no-header label=1 =2 ignore=*", "-f", "m", *LEARN)
    assert vwlite("predict", "-i", "m", "t.jsonl").lines == vwlite("predict", "-i", "m", "rows.csv").lines[:2]


@pytest.mark.parametrize(
    ("kind", "mark", "said"),
    [
        ("tsv", ",", "fields are parted by commas, not tabs: --format csv"),
        ("tsv", ";", "fields are parted by semicolons, not tabs: --format csv"),
    ],
)
def test_fields_that_something_else_parts_are_answered_with_what_to_type(kind, mark, said, vwlite, write):
    """Else such a line would be the name of a single column."""
    write(f"t.{kind}", "click,city\n1,oslo\n-1,rome\n".replace(",", mark))
    for how in ((), ("--columns", "label=click"), ("--columns", "no-header label=1")):
        done = vwlite("train", f"t.{kind}", "-f", "m", *how, status=65)
        assert done.stderr == f"vwlite: t.{kind}:1: {said}\n"


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_a_csv_that_something_else_parts_is_the_same_table(mark, vwlite, write):
    rows = "click,size,city\n" + "1,0.5,oslo\n-1,1.25,rome\n" * 3
    write("t.csv", rows)
    write("other.csv", rows.replace(",", mark))
    write("commas.csv", rows.replace(",", ";").replace(".", ","))
    for how in (("--columns", "label=click"), ("--columns", "label=click city=city")):
        vwlite("train", "t.csv", "-f", "m", *how)
        for name in ("other.csv", "commas.csv"):
            vwlite("train", name, "-f", "m2", *how)
            assert vwlite("predict", "-i", "m2", "t.csv").stdout == vwlite("predict", "-i", "m", name).stdout
    assert "size:number" in vwlite("check", "commas.csv", "--columns", "label=click").stderr


def test_labels_with_decimal_commas_are_numbers(vwlite, write):
    write("t.csv", "price;size\n" + "".join(f"{i},5;{i}\n" for i in range(20)))
    assert "labels      numbers" in vwlite("check", "t.csv", "--columns", "label=price").stdout
    assert vwlite("train", "t.csv", "--columns", "label=price", "-f", "m").status == 0


def test_a_quoted_name_may_have_the_marks_that_part_others(vwlite, write):
    """Such a header is not taken for one of another format."""
    write("t.csv", '"a;b"\n1\n2\n')
    assert "columns: =a;b:number" in vwlite("check", "t.csv", status=None).stderr
