"""vwlite report."""

import html
import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

DATA = "".join(
    f"{1 if (row * 7) % 5 < 2 + row % 3 // 2 else -1} |u u{row % 5} |i i{row % 7} i{row % 3}\n" for row in range(400)
)
CLASSES = "".join(f"{row % 4 + 1} |w w{row % 4} w{row % 7}\n" for row in range(200))
SVG = re.compile(r"<svg .*?</svg>", re.S)


@pytest.fixture(autouse=True)
def files(vwlite, write):
    write("data.vw", DATA)
    learn = ("train", "data.vw", "--loss_function", "logistic", "--quiet")
    vwlite(*learn, "-f", "model", "--names", "--passes", "3", "--json", "run.json")
    vwlite(*learn, "-l", "0.05", "--json", "slow.json")


def page(vwlite, tmp_path, *arguments):
    """The page's text, its titles of charts and its tables, each a list of rows of texts."""
    vwlite("report", *arguments, "-o", "report.html")
    text = (tmp_path / "report.html").read_text()
    charts = [ElementTree.fromstring(svg) for svg in SVG.findall(text)]
    titles = [chart.find("{http://www.w3.org/2000/svg}title").text for chart in charts]
    assert len(text) < 300_000
    assert not re.search(r"<script|<link|<img|https?://(?!www\.w3\.org/2000/svg)", text)
    return text, titles, [rows_of(table) for table in re.findall(r"<table>.*?</table>", text, re.S)]


def rows_of(table):
    cells = (re.findall(r"<t[hd]>(.*?)</t[hd]>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", table, re.S))
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in row] for row in cells]


def test_runs_are_laid_over_one_another(vwlite, tmp_path):
    text, titles, tables = page(vwlite, tmp_path, "run.json", "slow.json")
    assert titles == ["Average loss so far", "Loss since the row before", "Held-out loss at the end of each pass"]
    run, slow = (json.loads((tmp_path / name).read_text()) for name in ("run.json", "slow.json"))
    first = ElementTree.fromstring(SVG.findall(text)[0])
    lines = list(first.iter("{http://www.w3.org/2000/svg}polyline"))
    assert [len(line.get("points").split()) for line in lines] == [len(run["history"]), len(slow["history"])]
    assert tables[0][1][:2] == ["run", " ".join(run["command"])]
    assert tables[1] == [
        ["option", "run", "slow"],
        ["model", "model", ""],
        ["passes", "3", "1"],
        ["names", "yes", ""],
        ["learning_rate", "0.5", "0.05"],
    ]
    assert ["average_loss", f"{run['average_loss']:.6g}", f"{slow['average_loss']:.6g}"] in tables[2]
    assert tables[3][1][:5] == ["run", "data.vw", f"{len(DATA)}", "400", "0"]


def test_a_tested_model(vwlite, tmp_path):
    _, titles, tables = page(vwlite, tmp_path, "run.json", "--test", "data.vw", "-i", "model")
    assert titles[3:] == ["ROC", "Precision and recall", "Calibration", "Predictions by label", "Strongest features"]
    report = json.loads(vwlite("evaluate", "data.vw", "-i", "model", "--json", "-").stdout)["result"]
    for name in ("auc", "pr_auc", "log_loss", "accuracy"):
        assert any([name, f"{report[name]:.6g}"] in table for table in tables)
    (confusion,) = (table for table in tables if table[0][0] == "label \\ answer")
    expected = [[f"{value:.6g}" for value in row] for row in report["confusion_matrix"]["weight"]]
    assert [row[1:] for row in confusion[1:]] == expected
    text = (tmp_path / "report.html").read_text()
    strongest = json.loads(vwlite("inspect", "model", "--top", "20", "--json", "-").stdout)["top"]
    shown = [f">{feature['name']}<" in text and f">{feature['weight']:.4g}</text>" in text for feature in strongest]
    assert all(shown) and f"AUC {report['auc']:.4f}" in text


def test_calibration_has_the_bins_of_evaluate(vwlite, tmp_path):
    vwlite("evaluate", "data.vw", "-i", "model", "--json", "scores.json")
    bins = json.loads((tmp_path / "scores.json").read_text())["calibration_bins"]
    for arguments in (("scores.json",), ("slow.json", "--test", "data.vw", "-i", "model")):
        text, titles, _ = page(vwlite, tmp_path, *arguments)
        chart = ElementTree.fromstring(SVG.findall(text)[titles.index("Calibration")])
        dots = list(chart.iter("{http://www.w3.org/2000/svg}circle"))
        assert len(dots) == len(bins) == 10
        places = [float(dot.get("cx")) for dot in dots]
        means = [entry["mean_prediction"] for entry in bins]
        scale = (places[-1] - places[0]) / (means[-1] - means[0])
        assert places == pytest.approx([places[0] + scale * (mean - means[0]) for mean in means], abs=0.2)


def test_classes_numbers_and_log_linear_models(vwlite, write, tmp_path):
    write("classes.vw", CLASSES)
    vwlite("train", "classes.vw", "--oaa", "4", "-f", "classes", "--quiet", "--json", "c.json")
    _, titles, tables = page(vwlite, tmp_path, "c.json", "--test", "classes.vw", "-i", "classes")
    assert titles[2:] == ["Strongest features"]
    assert any(row[:1] == ["4"] and len(row) == 5 for table in tables for row in table)
    few = page(vwlite, tmp_path, "c.json", "--test", "classes.vw", "-i", "classes", "--examples", "50")[2]
    assert any(["examples", "50"] in table for table in few)
    write("numbers.vw", "".join(f"{row % 9 / 2} |a x{row % 9}\n" for row in range(200)))
    vwlite("train", "numbers.vw", "-f", "numbers", "--quiet", "--json", "n.json")
    assert page(vwlite, tmp_path, "n.json", "--test", "numbers.vw", "-i", "numbers")[1][2:] == [
        "Calibration",
        "Strongest features",
    ]
    vwlite("l1", "data.vw", "--passes", "4", "--quiet", "--json", "l1.json")
    assert page(vwlite, tmp_path, "l1.json")[1] == ["Objective by pass"]


@pytest.mark.parametrize("options", ["--dotproduct uw --rank 2", "", "--nn 4"])
def test_classes_are_measured_as_by_evaluate(options, vwlite, write, tmp_path):
    """Their probabilities are used, which latent models show to evaluate alone."""
    write("classes.vw", CLASSES.replace("|w", "|u a |w"))
    learned = ("train", "classes.vw", "--multiclass", "4", *options.split())
    vwlite(*learned, "-f", "classes", "--quiet", "--json", "c.json")
    figures = json.loads(vwlite("evaluate", "-i", "classes", "classes.vw", "--json", "-").stdout)
    tables = page(vwlite, tmp_path, "c.json", "--test", "classes.vw", "-i", "classes")[2]
    shown = {row[0]: row[1] for table in tables for row in table if len(row) == 2}
    assert float(shown["log_loss"]) == pytest.approx(figures["log_loss"], rel=1e-4)
    assert float(shown["accuracy"]) == pytest.approx(figures["accuracy"], rel=1e-4)


@pytest.mark.parametrize("command", ["check data.vw", "inspect model", "crr data.vw --qid none --steps 9"])
def test_every_report_has_a_page(command, vwlite, tmp_path):
    vwlite(*command.split(), "--json", "one.json", status=None)
    _, titles, tables = page(vwlite, tmp_path, "one.json")
    assert titles == [] and len(tables) >= 2


def test_curves_for_terminals(vwlite):
    lines = vwlite("report", "run.json", "slow.json", "--text").lines
    assert lines[0] == "run: loss" and lines[16] == "slow: loss" and lines[15] == ""
    assert any(character > "⠀" for character in lines[5])
    vwlite("l1", "data.vw", "--passes", "4", "--quiet", "--json", "l1.json")
    assert vwlite("report", "l1.json", "--text").lines[0] == "l1: objective"
    vwlite("check", "data.vw", "--json", "check.json")
    assert "no report has the progress of a training" in vwlite("report", "check.json", "--text", status=65).stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("", 2, "report needs RUN.json"),
        ("run.json", 2, "report needs -o FILE, --text or both"),
        ("run.json -o r --test data.vw", 2, "--test goes with -i MODEL"),
        ("run.json -o r -i model", 2, "--test goes with -i MODEL"),
        ("run.json --text --test data.vw -i model", 2, "-o FILE writes it"),
        ("run.json -o run.json", 2, "run.json"),
        ("run.json -o model --test data.vw -i model", 2, "model"),
        ("run.json -o data.vw --test data.vw -i model", 2, "data.vw"),
        ("none.json -o r", 66, "none.json"),
        ("data.vw -o r", 65, "data.vw is not JSON"),
        ("list.json -o r", 65, "list.json is not the report of a run"),
        ("old.json -o r", 65, "old.json is not the report of a run"),
        ("newer.json -o r", 65, "newer.json is a report of schema 2; this vwlite knows 1"),
        ("damaged.json -o r", 65, "damaged.json is a damaged report"),
        ("deep.json -o r", 65, "deep.json is not JSON"),
        ("run.json -o r --test data.vw -i data.vw", 76, "data.vw"),
        ("run.json -o r --test empty.vw -i model", 65, "no labelled example"),
        ("run.json -o r --test named.vw -i named", 2, "does not go with a model of named labels"),
        ("run.json -o none/r", 73, "none"),
    ],
)
def test_wrong_reports_are_refused(arguments, status, said, vwlite, write, names_in):
    write("list.json", "[1, 2]")
    write("old.json", '{"examples": 3}')
    write("newer.json", '{"vwlite": "9.0.0", "schema": 2}')
    write("damaged.json", '{"vwlite": "0.1.0", "schema": 1, "command": [], "options": {}, "data": [7], "history": []}')
    write("deep.json", "[" * 200_000)
    write("empty.vw", "|a b\n")
    write("named.vw", "sea |w a\nsun |w b\n" * 20)
    vwlite("l1", "named.vw", "--model", "multinomial", "-f", "named", "--quiet")
    before = names_in()
    assert said in vwlite("report", *arguments.split(), status=status).stderr
    assert names_in() == before


def test_odd_reports_have_a_page(vwlite, write, tmp_path):
    """Values of other types than vwlite writes are shown or left out; texts stay texts."""
    odd = {
        "vwlite": "0.1.0",
        "schema": 1,
        "command": ["<script>", 7],
        "options": {"</td>": "&"},
        "data": [{}],
        "history": [{"pass": "a", "examples": 10**400, "loss": 1}, {"loss": None}, {"examples": 2, "loss": 3}],
        "result": {"confusion_matrix": {"classes": ["a"], "weight": [[1, 2]]}, "calibration_bins": [3], "\0": "\ud800"},
    }
    write("odd.json", json.dumps(odd))
    text, _, _ = page(vwlite, tmp_path, "odd.json")
    assert "&lt;script&gt; 7" in text and "&lt;/td&gt;" in text


def test_runs_of_one_name_keep_their_folders(vwlite, write, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text((tmp_path / "slow.json").read_text())
    _, _, tables = page(vwlite, tmp_path, "run.json", "other/run.json")
    assert tables[1][0] == ["option", "run.json", "other/run.json"]


def test_pages_in_a_pipe(vwlite, cli_env, tmp_path):
    assert vwlite("report", "run.json", "-o", "-").stdout.startswith("<!DOCTYPE html>")
    command = f'"{sys.executable}" -m vwlite report run.json -o - --text; echo $? >status'
    subprocess.run(["sh", "-c", f"({command}) | head -c 1 >/dev/null"], cwd=tmp_path, env=cli_env, check=True)
    assert (tmp_path / "status").read_text() in ("0\n", "141\n")


def test_a_page_of_many_runs_is_small(vwlite, tmp_path):
    vwlite("train", "data.vw", "-P", "1", "--passes", "9", "--holdout_off", "--quiet", "--json", "long.json")
    page(vwlite, tmp_path, *["long.json"] * 2, "run.json", "--test", "data.vw", "-i", "model")


def test_values_of_policies(vwlite, write, tmp_path):
    write("log", "".join(f"{row % 3 + 1}:{row * 7 % 5 % 2}:0.25 |u u{row % 4}\n" for row in range(300)))
    vwlite("train", "log", "-f", "policy", "--cb", "3", "--quiet")
    write("later", "".join(f"{row * 2 % 3 + 1}:{row * 3 % 4 % 2}:0.25 |u u{row % 4}\n" for row in range(300)))
    stdout = vwlite(
        "evaluate", "-i", "policy", "later", "--value", "--against", "policy", "--json", "value.json"
    ).stdout
    assert "series" not in stdout
    result = json.loads((tmp_path / "value.json").read_text())["result"]
    series, cv = result["series"], result["estimates"][0]
    assert len(series) == 64 and {name: series[-1][name] for name in ("value", "low", "high")} == {
        name: cv[name] for name in ("value", "low", "high")
    }
    assert series[-1]["examples"] == 300 and series[-1]["logged"] == result["policies"][0]["value"]
    assert vwlite("report", "value.json", "--text").lines[0] == "value: value up to a place of the log"
    text, titles, tables = page(vwlite, tmp_path, "value.json")
    assert titles == ["Value up to a place of the log", "Values by the whole log: value"]
    over, beside = (ElementTree.fromstring(svg) for svg in SVG.findall(text))
    assert over.find(".//{*}polygon") is not None
    dots = list(beside.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(dots) == len(result["estimates"]) + len(result["policies"]) + 1  # and that of the other model
    assert ["value", f"{cv['value']:.6g}"] in tables[1]
    tested = page(vwlite, tmp_path, "run.json", "--test", "later", "-i", "policy")[1]
    assert tested[3:5] == [titles[0], "Values by the whole log: policy"] and "<p>warning: " not in text
    text = page(vwlite, tmp_path, "run.json", "--test", "log", "-i", "policy")[0]
    assert "<p>warning: log was learned before (300 lines): a policy looks better than it is" in text
    vwlite("evaluate", "-i", "policy", "log", "--value", "--json", "log.json")
    assert "<p>log: warning: log was learned before" in page(vwlite, tmp_path, "log.json")[0]


def test_rounds_of_aso(vwlite, write, tmp_path):
    lines = [f"{'ab'[row % 2]} |w {'xy'[row % 2]}{row % 5} z{row % 3}\n" for row in range(80)]
    write("few.vw", "".join(lines[:8]))
    write("more.vw", "".join(line.partition(" ")[2] for line in lines[8:]))
    how = ("--unlabeled", "more.vw", "--step", "9", "--test", "few.vw", "-f", "m", "--quiet")
    vwlite("aso", "cotrain", "few.vw", *how, "--json", "co.json")
    learn = ("--aux", "freq", "--iterations", "3", "-f", "theta", "--quiet", "--json", "theta.json")
    vwlite("aso", "learn", "more.vw", *learn)
    _, titles, _ = page(vwlite, tmp_path, "co.json", "theta.json")
    assert titles[0].startswith("Accuracy by examples") and titles[1].startswith("Share of the pool")
    assert titles[2] == "Objective by iteration"
    output = vwlite("report", "co.json", "theta.json", "--text").lines
    assert output[0] == "co: accuracy" and "theta: objective" in output
