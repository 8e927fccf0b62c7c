"""Lines of JSON and tables without columns that a model or ``--columns`` names."""

import json

import pytest

ROWS = [{"click": i % 2, "app": f"a{i % 2}", "channel": f"c{i % 3}", "price": i % 5} for i in range(60)]
RENAMED = {"app": "Ap", "channel": "chanel"}
COLUMNS = ("--columns", "label=click =app,channel,price")
BOTH = "app (did you mean Ap?), channel (did you mean chanel?)"
ONE = "note: no line has the column app (did you mean Ap?)"


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def renamed(names, rows=ROWS):
    return [{names.get(name, name): value for name, value in row.items()} for row in rows]


@pytest.fixture(autouse=True)
def model(vwlite, write):
    write("good.jsonl", lines(ROWS))
    write("bad.jsonl", lines(renamed(RENAMED)))
    vwlite("train", "good.jsonl", *COLUMNS, "-f", "m", "--loss_function", "logistic", "--quiet")
    write("good.csv", "click,app,channel,price\n" + "".join(",".join(map(str, row.values())) + "\n" for row in ROWS))
    vwlite("train", "good.csv", *COLUMNS, "-f", "t", "--loss_function", "logistic", "--quiet")


@pytest.mark.parametrize("how", [(), ("--threads", "2", "--block-size", "300")])
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_members_that_no_line_has_are_told(command, how, vwlite):
    stderr = vwlite(command, "-i", "m", "bad.jsonl", *how).stderr
    assert f"note: no line has the columns {BOTH}\n" in stderr
    assert "no line" not in vwlite(command, "-i", "m", "good.jsonl", *how).stderr
    assert "no line" not in vwlite(command, "-i", "m", "bad.jsonl", "--quiet", *how).stderr


def test_one_line_of_one_file_is_enough(vwlite, write):
    write("last.jsonl", lines([*renamed({"app": "Ap"}), {"app": "a0"}]))
    assert "no line" not in vwlite("predict", "-i", "m", "bad.jsonl", "good.jsonl").stderr
    assert "no line" not in vwlite("predict", "-i", "m", "last.jsonl", "--block-size", "300").stderr
    assert ONE in vwlite("predict", "-i", "m", stdin=lines(renamed({"app": "Ap"}))).stderr


def test_columns_that_may_be_missing_are_not_told(vwlite):
    vwlite("train", "good.jsonl", "--columns", "label=click =app?,channel,price", "-f", "o", "--quiet")
    stderr = vwlite("predict", "-i", "o", "bad.jsonl").stderr
    assert "note: no line has the column channel (did you mean chanel?)\n" in stderr


def test_data_without_any_column_of_features_are_an_error(vwlite, write):
    write("none.jsonl", lines(renamed({**RENAMED, "price": "cost"})))
    for command in ("predict", "evaluate"):
        done = vwlite(command, "-i", "m", "none.jsonl", status=65)
        assert "none.jsonl: no line has a column of features that --columns or the model names: app" in done.stderr
    done = vwlite("train", "none.jsonl", *COLUMNS, "-f", "n", status=65)
    assert f"no line has a column of features that --columns or the model names: {BOTH}, price\n" in done.stderr
    assert vwlite("predict", "-i", "m", stdin="").stderr == ""


def test_training_tells_them_too(vwlite):
    assert f"note: no line has the columns {BOTH}\n" in vwlite("train", "bad.jsonl", *COLUMNS, "-f", "n").stderr
    passes = ("-c", "--passes", "2", "--holdout_off")
    assert vwlite("train", "bad.jsonl", *COLUMNS, "-f", "n", *passes).stderr.count("no line has") == 1
    options = ("--columns", "label=click weight=w =app")
    assert "note: no line has the column w\n" in vwlite("train", "good.jsonl", *options, "-f", "n").stderr


def test_check_tells_them_before_training(vwlite, write):
    done = vwlite("check", "bad.jsonl", *COLUMNS, "--json", "-")
    message = f"no line has the columns {BOTH}"
    assert f"warning: {message}\n" in done.stderr and message in json.loads(done.stdout)["result"]["warnings"]
    write("t.jsonl", lines(renamed({"click": "clicked"})))
    done = vwlite("check", "t.jsonl", *COLUMNS, status=65)
    assert "t.jsonl: no line has the column of labels, click (did you mean clicked?)\n" in done.stderr
    assert "no line" not in vwlite("check", "good.jsonl", *COLUMNS).stderr


@pytest.mark.parametrize(("command", "more"), [("evaluate", ()), ("train", ("-f", "n"))])
def test_tables_without_the_column_of_labels_are_told_at_once(command, more, vwlite, write):
    write("t.csv", (text := "clicked,app,channel,price\n1,a0,c1,1\n"))
    message = "t.csv has no column 'click' (it has app, channel, price, clicked; did you mean clicked?)"
    done = vwlite(command, "-i", "t", "t.csv", *more, status=65)
    assert done.stderr.endswith(f"vwlite: {message}\n") and done.stdout == ""
    assert len(vwlite("predict", "-i", "t", "t.csv").lines) == text.count("\n") - 1


@pytest.mark.parametrize(("command", "more"), [("evaluate", ("-i", "m")), ("train", (*COLUMNS, "-f", "n"))])
def test_lines_of_json_without_the_label_are_told(command, more, vwlite, write, tmp_path):
    write("t.jsonl", lines(renamed({"click": "clicked"})))
    done = vwlite(command, "t.jsonl", *more, status=65)
    assert "vwlite: t.jsonl: no line has the column of labels, click (did you mean clicked?)\n" in done.stderr
    assert not (tmp_path / "n").exists()
    assert "no line" not in vwlite("predict", "-i", "m", "t.jsonl").stderr


def test_lines_nested_beyond_measure_have_no_members_to_propose(vwlite, write):
    """They ended in a traceback."""
    write("t.jsonl", '{"click": 1, "Ap": ' + "[" * 10_000 + "]" * 10_000 + "}\n" + lines(renamed(RENAMED)))
    done = vwlite("train", "t.jsonl", "--columns", "label=click =app", "--max-bad-ratio", "1", "-f", "n", status=65)
    assert done.stderr.endswith(
        "t.jsonl: no line has a column of features that --columns or the model names: app (did you mean Ap?)\n"
    )
