"""What is noted of the columns of a table."""

import pytest


@pytest.mark.parametrize("command", [("train", "-f", "m"), ("check",)])
def test_columns_that_may_be_identifiers_are_named(vwlite, write, command):
    write("r.csv", "y,user,item no,age\n" + "".join(f"{i % 2},{i % 5},{i % 30},{i % 9}\n" for i in range(100)))
    message = "columns of whole numbers: user, item no; if they are identifiers, --columns with =user:text makes"
    assert vwlite(*command, "r.csv", "--columns", "label=y").stderr.count(message) == 1
    message = 'columns of whole numbers: item no; if they are identifiers, --columns with ="item no":text makes'
    assert message in vwlite(*command, "r.csv", "--columns", "label=y user=user:text").stderr
    for columns in ('label=y user=user:text "item no"="item no":number', "label=y =*:text"):
        assert "identifiers" not in vwlite(*command, "r.csv", "--columns", columns).stderr
    assert vwlite(*command, "r.csv", "--columns", "label=y", "--quiet").stderr == ""


def test_a_model_that_goes_on_is_told_nothing_of_identifiers(vwlite, write):
    write("r.csv", "y,user\n" + "".join(f"{i % 2},{i % 5}\n" for i in range(100)))
    vwlite("train", "r.csv", "--columns", "label=y", "-f", "m", "--quiet")
    for typed in ((), ("--columns", "label=y")):
        assert "identifiers" not in vwlite("train", "r.csv", "-i", "m", "-f", "n", *typed).stderr


@pytest.mark.parametrize("command", [("train", "-f", "m", "--oaa", "auto"), ("check",)])
def test_columns_of_text_that_teach_nothing_as_whole_cells_are_named(vwlite, write, command):
    cells = (f"{['no', 'yes'][n % 2]},k{n},a film of {n} minutes,{'ab'[n % 2]}" for n in range(60))
    write("r.csv", "y,key,my review,kind\n" + "".join(f"{row}\n" for row in cells))
    texts = 'columns of longer text: my review; each cell is one feature: --columns with ="my review":words makes'
    keys = "columns of text that differ in nearly every row: key; --columns with tag=key or ignore=key"
    stderr = vwlite(*command, "r.csv", "--columns", "label=y").stderr
    assert stderr.count(texts) == stderr.count(keys) == 1
    stderr = vwlite(*command, "r.csv", "--columns", 'label=y k=key n="my review"').stderr
    assert texts in stderr and keys not in stderr
    for columns in ('label=y tag=key w="my review":words', "label=y =*:text"):
        assert "columns of" not in vwlite(*command, "r.csv", "--columns", columns).stderr
    assert vwlite(*command, "r.csv", "--columns", "label=y", "--quiet").stderr == ""


@pytest.mark.parametrize("command", [("train", "-f", "m", "--dotproduct", "user,item"), ("check",)])
@pytest.mark.parametrize("unit", [1, 1000, 1_000_000])
def test_time_stamps_are_named(vwlite, write, command, unit):
    rows = "".join(f"{n % 5},u{n % 4},i{n % 7},{(978300760 + 977 * n) * unit}\n" for n in range(60))
    write("r.csv", f"rating,user,item,at\n{rows}")
    columns = "label=rating user=user:text item=item:text"
    note = "columns of time stamps: at; beside their size what else is in a row hardly counts: --columns with ignore=at"
    stderr = vwlite(*command, "r.csv", "--columns", columns).stderr
    assert stderr.count(note) == 1 and "whole numbers" not in stderr
    for typed in (f"{columns} ignore=at", f"{columns} =at:number"):
        assert "time stamps" not in vwlite(*command, "r.csv", "--columns", typed).stderr
    line = vwlite("check", "r.csv", "--columns", columns, "--command", "--quiet").stdout
    assert f"--columns '{columns} ignore=at'" in line


def test_numbers_with_other_marks_among_them_are_named(vwlite, write):
    write("r.csv", "y,power,code\n" + "".join(f"{n % 2},{n % 9 if n % 10 else '?'},{n % 9}a\n" for n in range(60)))
    stderr = vwlite("check", "r.csv", "--columns", "label=y").stderr
    assert "columns of text that is a number in most rows: power; where these measure something, leave" in stderr
    assert "in most rows" not in vwlite("check", "r.csv", "--columns", "label=y =power:text").stderr


@pytest.mark.parametrize(
    "cells",
    ["1,{:03}", "$1,{:03}.50", "{}%", "€ {}", "-${}.5", "{} 000", "1'{:03}", "1.{:03},5", "2\u202f{:03}\u202f000"],
)
def test_numbers_with_marks_are_named(vwlite, write, cells):
    """Thousands, amounts of money and percents are no numbers, nor are points for thousands between semicolons."""
    delimiter = ";" if cells.startswith("1.") else ","
    write("r.csv", f"y{delimiter}price\n" + "".join(f'{n % 2}{delimiter}"{cells.format(n)}"\n' for n in range(60)))
    stderr = vwlite("check", "r.csv", "--columns", "label=y").stderr
    assert "columns of numbers with other marks, as in 1,234 or $5 or 12%: price; each is read as a name" in stderr
    assert stderr.count("columns of") == 1
    assert "columns of" not in vwlite("check", "r.csv", "--columns", "label=y =price:text").stderr


@pytest.mark.parametrize(
    "cells", ["192.168.1.{}", "k{}", "12:{:02}", "{}k", "{}-{}", "1,23,{}", "{} m", "1,234,{:03}.5.6"]
)
def test_other_names_of_digits_are_not_numbers_with_marks(vwlite, write, cells):
    write("r.csv", "y,name\n" + "".join(f'{n % 2},"{cells.format(n, n)}"\n' for n in range(60)))
    assert "other marks" not in vwlite("check", "r.csv", "--columns", "label=y").stderr


@pytest.mark.parametrize("cells", ["2024-01-{:02}", "{:02}/01/2024 10:00", "{}.1.2024", "2024-01-{:02}T10:00:00Z"])
def test_dates_are_named(vwlite, write, cells):
    write("r.csv", "y,day\n" + "".join(f"{n % 2},{cells.format(n % 28 + 1)}\n" for n in range(60)))
    stderr = vwlite("check", "r.csv", "--columns", "label=y").stderr
    assert "columns of dates: day; each is a name, which rows of other days do not have" in stderr
    assert "columns of" not in vwlite("check", "r.csv", "--columns", "label=y ignore=day").stderr


def test_the_note_of_many_columns_is_short_and_means_them(vwlite, write):
    names = [f"c{n}" for n in range(40)]
    write("r.csv", f"y,id,{','.join(names)},k\n" + f"1,a,{'0.5,' * 40}b\n0,c,{'2.5,' * 40}d\n" * 3)
    asked = ("label=y", "label=y n=* =id", f"label=y n={','.join(names)} ignore=id,k", "label=y =id,k,c3 ignore=*")
    shown = (
        "=id:text,k:text =*:number", "=id:text n=k:text n=*:number", "ignore=id,k n=*:number",
        "=id:text,c3:number,k:text ignore=*",
    )  # fmt: skip
    for columns, items in zip(asked, shown, strict=True):
        note = f"label=y {items}"
        stderr = vwlite("train", "r.csv", "--columns", columns, "-f", "m").stderr
        assert f"note: columns: {note}\n" in stderr
        vwlite("train", "r.csv", "--columns", note, "-f", "n", "--quiet")
        assert vwlite("predict", "-i", "m", "r.csv").lines == vwlite("predict", "-i", "n", "r.csv").lines
