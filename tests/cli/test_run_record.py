"""What every --json has in common: schema 1."""

import json
import re
from pathlib import Path

import click
import pytest
from battery.estimators import COMMANDS as OF_THE_BATTERY
from json_schema import complaints

from vwlite.cli.output import check_own
from vwlite.cli.root import cli
from vwlite.version import __version__

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "run-1.schema.json").read_text())
DATA = "".join(f"{1 if row % 3 else -1} 't{row % 4} |u u{row % 5} |i i{row % 7} i{row % 3}\n" for row in range(40))
NAMED = "".join(f"{('sea', 'sun')[row % 2]} |w w{row % 2} w{row % 5} w{row % 3}\n" for row in range(40))
OWN = {"inspect": {"options"}, "l1": {"seconds", "history"}, "train --shard": {"seconds"}}  # of these names
LISTS = {"explain": "examples", "recommend": "lists"}  # which come before everything else
COMMANDS = {
    "train": "train data.vw -f m2 --quiet",
    "train --shard": "train data.vw --shard 1/2 -f delta --quiet",
    "train --workers": "train data.vw --workers 1 -f rounds --quiet",
    "simulate": "simulate played.vw --actions 2 --quiet",
    "merge": "merge model copy -f merged",
    "check": "check data.vw",
    "evaluate": "evaluate data.vw -i model",
    "explain": "explain data.vw -i model --examples 2",
    "recommend": "recommend data.vw -i vectors --of i --examples 2",
    "recommend --test": "recommend --test data.vw -i vectors --of i",
    "inspect": "inspect model",
    "tune": "tune data.vw --test data.vw --vary b_9|10 --trials 2 --quiet",
    "crr": "crr data.vw -f ranks --qid tag --steps 100 --quiet",
    "l1": "l1 data.vw -f sparse --quiet --passes 2",
    "pca": "pca data.vw -f components --dim 2 --quiet",
    "cut": "cut graph.vw -k 2 -p clusters --quiet",
    "cluster": "cluster data.vw -f clusters -k 2 --quiet",
    "lm train": "lm train named.vw --tokens blanks --window 2 -f words --quiet",
    "lm rank": "lm rank named.vw -i language --windows 9",
    "aso learn": "aso learn named.vw -f theta2 --dim 2 --aux freq --quiet",
    "aso train": "aso train named.vw --theta theta -f names2 --quiet",
    "aso cotrain": "aso cotrain named.vw --unlabeled named.vw -f names3 --quiet",
    "aso tasks": "aso tasks tasks.vw --task shop -f tasked --dim 1 --quiet",
    "aso inspect": "aso inspect theta",
}


def with_json(group=cli, words=()):
    """The commands that have --json."""
    context = click.Context(group)
    for name in group.list_commands(context):
        result = group.get_command(context, name)
        if isinstance(result, click.Group):
            yield from with_json(result, (*words, name))
        elif any("--json" in param.opts for param in result.params):
            yield " ".join((*words, name))


def test_all_commands_are_tried():
    """Here, or what learns in the battery."""
    assert {*with_json()} <= {name.partition(" --")[0] for name in COMMANDS} | {*OF_THE_BATTERY}


@pytest.fixture
def files(vwlite, write):
    write("data.vw", DATA)
    write("named.vw", NAMED)
    write("played.vw", "1 |a x\n2 |a y\n" * 3)
    write("graph.vw", "a |n b\nc |n d\n")
    write("tasks.vw", "1 |shop a |w x\n2 |shop b |w x y\n3 |shop a |w y\n")
    for name in ("model", "copy"):
        vwlite("train", "data.vw", "-f", name, "--quiet")
    vwlite("train", "data.vw", "-f", "vectors", "--dotproduct", "ui", "--quiet")
    vwlite("aso", "learn", "named.vw", "-f", "theta", "--dim", "2", "--aux", "freq", "--quiet")
    vwlite("lm", "train", "named.vw", "--tokens", "blanks", "--window", "2", "-f", "language", "--quiet")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_json_of_a_command_is_of_the_schema(command, vwlite, files, write):
    words = [*(word.replace("_", " ") for word in COMMANDS[command].split()), "--json", "-"]
    text = vwlite(*words).stdout
    run = json.loads(text[text.index("{\n") :])
    assert [*complaints(run, SCHEMA)] == []
    check_own(write("report", text[text.index("{\n") :]))
    assert run["vwlite"] == __version__ and run["command"] == ["vwlite", *words]
    if command in LISTS:
        assert len(run[LISTS[command]]) == 2
        return
    result = run["result"]
    assert {name: run[name] for name in result} == result
    assert {name for name in result if name in SCHEMA["properties"]} == OWN.get(command, set())


def read(vwlite, *words, **more):
    return json.loads(vwlite(*words, "--json", "-", **more).stdout)


def test_each_file_is_counted(vwlite, write, tmp_path):
    write("a.vw", DATA)
    write("b.vw", "1 |a b\nbad |\n-1 |c d\n")
    tolerant = ("a.vw", "b.vw", "--max-bad-ratio", "0.5", "--quiet")
    sizes = [(tmp_path / name).stat().st_size for name in ("a.vw", "b.vw")]
    for command in (("train", "-f", "m"), ("evaluate", "-i", "m"), ("check",), ("l1",), ("crr", "--alpha", "1")):
        data = read(vwlite, *command, *tolerant)["data"]
        facts = [(file["path"], file["size"], file["lines"], file["bad"]) for file in data]
        assert facts == [("a.vw", sizes[0], 40, 0), ("b.vw", sizes[1], 3, 1)], command
    digests = [file["digest"] for file in read(vwlite, "train", *tolerant, "-f", "m")["data"]]
    known = json.loads((tmp_path / "m.ledger").read_text())
    assert all(digest in json.dumps(known) for digest in digests) and len({*digests}) == 2


def test_standard_input_has_no_size(vwlite):
    (record,) = read(vwlite, "train", "--quiet", stdin=DATA)["data"]
    assert record == {"path": "<stdin>", "size": None, "lines": 40, "bad": 0, "digest": None}


def test_options_are_those_in_effect(vwlite, write, monkeypatch):
    write("data.vw", DATA)
    monkeypatch.setenv("VWLITE_TRAIN_POWER_T", "0.25")
    vwlite("train", "data.vw", "-f", "m", "-b", "10", "-q", "ui", "--loss_function", "logistic", "--quiet")
    options = read(vwlite, "train", "data.vw", "-i", "m", "-l", "0.1", "--quiet")["options"]
    chosen = {"bits": 10, "quadratic": ["ui"], "loss_function": "logistic", "learning_rate": 0.1, "power_t": 0.25}
    assert {name: options[name] for name in chosen} == chosen
    assert options["initial"] == "m" and "predictions" not in options
    first = read(vwlite, "train", "data.vw", "--quiet")["options"]
    assert first["learning_rate"] == 0.5 and first["passes"] == 1
    assert read(vwlite, "l1", "data.vw", "--quiet")["options"]["learning_rate"] == 0.05
    assert read(vwlite, "check", "data.vw")["options"]["max_bad_ratio"] == 0.01
    assert (
        read(vwlite, "evaluate", "data.vw", "-i", "m")["options"] | {"metrics": None, "quiet": False}
        == read(vwlite, "evaluate", "data.vw", "-i", "m")["options"]
    )


def test_the_history_has_the_table_and_the_end_of_each_pass(vwlite, write):
    write("data.vw", DATA)
    command = ("train", "data.vw", "--passes", "2", "-P", "12", "--holdout_period", "5")
    run = read(vwlite, *command)
    history = run["history"]
    places = [(entry["pass"], entry["examples"]) for entry in history]
    assert places == [(1, 12), (1, 24), (1, 32), (2, 36), (2, 48), (2, 60), (2, 64)]
    table = [line.split() for line in vwlite(*command).stderr.splitlines() if line[:2] in ("0.", "1.", "un")]
    first = [(f"{entry['loss']:.6f}", f"{entry['since_last']:.6f}") for entry in history[:2]]
    assert first == [tuple(row[:2]) for row in table[:2]]
    assert history[-1]["holdout"] == pytest.approx(run["holdout_loss"]) and history[2]["holdout"] is not None
    seen = before = 0.0
    for entry in history:
        seen += entry["since_last"] * (entry["examples"] - before)
        before = entry["examples"]
        assert entry["loss"] == pytest.approx(seen / before)


def test_a_long_history_is_thinned(vwlite, write):
    write("data.vw", DATA * 50)
    history = read(vwlite, "train", "data.vw", "-P", "1", "--quiet")["history"]
    counts = [entry["examples"] for entry in history]
    assert 256 <= len(counts) <= 513 and counts == sorted({*counts}) and counts[-1] == 2000


def test_models_know_nothing_of_times(vwlite, write, tmp_path):
    write("data.vw", DATA)
    vwlite("train", "data.vw", "-f", "m", "--quiet")
    vwlite("train", "data.vw", "-f", "n", "--quiet", "--json", "run.json")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


@pytest.mark.parametrize("name", ["ksvm", "dual"])
def test_figures_stand_where_the_page_says(name, vwlite, write):
    page = Path(__file__).resolve().parents[2] / "docs" / f"{name}.md"
    listed = re.search(rf"`--json` has under `{name}`:(.+?)\.\n", page.read_text(), re.S)[1]
    write("d", "1 | a b\n-1 | b c\n1 | a c:2\n")
    report = json.loads(vwlite("train", "d", f"--{name}", "--l2", "1", "--json", "-", "--quiet").stdout)
    assert set(re.findall(r"`(\w+)`", listed)) == set(report["result"][name])
