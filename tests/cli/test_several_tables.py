"""Several files of a table, in one run and day by day: no look ahead goes on into the next file."""

import json

import pytest

LEARN = ("--loss_function", "logistic", "--quiet")
DAYS = (
    "click,age,app\n" + "".join(f"{i % 2},{i % 7 / 2},{'maps' if i % 3 else i}\n" for i in range(40)),
    "click,age,app\n" + "".join(f"{i % 2},{i % 5 / 2},{i % 9}\n" for i in range(40)),  # apps that look like numbers
)
CLICKS = ("--columns", "label=click ad=app")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("typed", [CLICKS, ()])
def test_day_by_day_gives_the_model_of_one_run(kind, typed, vwlite, write, header, tables):
    """The types are those of the first day, whatever the next file begins with, and with the same --columns again."""
    for number, day in enumerate(DAYS):
        write(f"{number}.csv", day)
        if kind == "jsonl":
            cells = [line.split(",") for line in day.splitlines()[1:]]
            rows = [{"click": int(y), "age": float(age), "app": app} for y, age, app in cells]
            write(f"{number}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        elif kind != "csv":
            csv = pytest.importorskip("pyarrow.csv", reason="pip install 'vwlite[arrow]'")
            from pyarrow import feather, parquet

            table = csv.read_csv(f"{number}.csv")
            {"parquet": parquet.write_table, "arrow": feather.write_feather}[kind](table, f"{number}.{kind}")
    first, second = f"0.{kind}", f"1.{kind}"
    vwlite("train", first, second, *CLICKS, "-f", "run", *LEARN)
    vwlite("train", first, *CLICKS, "-f", "day", *LEARN)
    vwlite("train", second, *typed, "-i", "day", "-f", "day", *LEARN)
    assert tables("run") == tables("day")
    message = "label=click ad=app" if kind == "jsonl" else "label=click? =age:number ad=app:text ignore=*"
    assert header("run")["columns"] == header("day")["columns"] == message
    answers = vwlite("predict", "-i", "run", first, second).stdout
    assert vwlite("predict", "-i", "day", first, second, *CLICKS).stdout == answers
    names = {line.split()[-1] for line in vwlite("explain", "-i", "run", second).lines if "ad^app" in line}
    assert "ad^app^_8" in names or kind == "jsonl"


@pytest.mark.parametrize(
    ("first", "told"), [("click,age,app\n", ""), ("", ""), ("click,age\n", "0.csv has no column 'app'")]
)
def test_a_first_file_without_rows_says_nothing_of_types(first, told, vwlite, write):
    files = [write("0.csv", first), "1.csv", "2.csv"]
    write("1.csv", DAYS[1])
    write("2.csv", DAYS[0])
    done = vwlite("train", *files, "-f", "m", *CLICKS, "--max-bad-ratio", "1", status=65 if told else 0)
    assert "columns: label=click =age:number ad=app:number\n" in done.stderr
    assert told in done.stderr


def test_labels_are_told_from_the_first_file_with_rows(vwlite, write):
    """A second file's names of columns are no labels, and its columns may stand in another order."""
    for number in range(3):
        write(f"{number}.csv", f"y,a\n{number % 2},1\n" if number % 2 else f"a,y\n1,{number % 2}\n")
    files = [f"{number}.csv" for number in range(3)]
    assert "labels      numbers; 0: 2, 1: 1" in vwlite("check", *files, "--columns", "label=y").stdout
    assert vwlite("convert", "csv", *files, "--columns", "label=y").lines == ["0 | a", "1 | a", "0 | a"]


def test_the_first_row_is_looked_at_however_long_the_names_are(vwlite, write):
    names = [f"column-{number}" for number in range(8000)]
    rows = [["1" if number % 2 else "0", "red", *["3.5"] * 7998] for number in range(4)]
    write("wide.csv", "".join(",".join(row) + "\n" for row in (["y", *names[1:]], *rows)))
    done = vwlite("train", "wide.csv", "--columns", "label=y", "-f", "m")
    assert "note: columns: label=y =column-1:text =*:number\n" in done.stderr
    write("none.csv", ",".join(names) + "\n")
    stderr = vwlite("train", "none.csv", "wide.csv", "--columns", "=*", "-f", "m", status=65).stderr
    assert "note: columns: =column-1:text =*:number\n" in stderr
