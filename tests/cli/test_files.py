"""No output of any command takes the place of another file; nobody forgets to say what an option's file is."""

import contextlib
import itertools
import json
import os
import subprocess

import click
import pytest
from commands import TYPED, command

from vwlite.cli.files import FileName, Reads, Writes, spelling_of
from vwlite.cli.output import OF_REPORTS, is_reported
from vwlite.evaluation.metric_table import TABLE

OVERWRITTEN = "and would be overwritten: give the output another name\n"
DATA = "1 |a x y z v w\n-1 |a z y x u\n" * 20
NEEDED = {  # what a command line must have beside the files that are tried
    "inspect": {"model": "other"},
    "predict": {"initial": "other"},
    "evaluate": {"initial": "other"},
    "explain": {"initial": "other"},
    "recommend": {"initial": "other", "of": "b"},
    "tune": {"files": "other", "tests": "other", "vary": "l 1|2"},
    "project": {"initial": "other"},
    "cut": {"clusters": "2"},
    "merge": {"model": "other"},
    "lm train": {"model": "other"},
    "lm rank": {"initial": "other"},
    "lm vectors": {"initial": "other"},
    "lm features": {"initial": "other", "namespaces": "w"},
    "aso learn": {"model": "other"},
    "aso tasks": {"model": "other"},
    "aso train": {"model": "other"},
    "aso cotrain": {"model": "made", "unlabeled": "other"},
    "aso apply": {"theta": "other"},
    "aso inspect": {"model": "other"},
}


def files_of(name):
    return [param for param in command(name).params if isinstance(param.type, FileName) and param.name != "data"]


def named_in(name):
    return [param.name for param in files_of(name)]


def line_of(name, values):
    """A command line: values by parameter."""
    params = {param.name: param for param in command(name).params}
    words = ["conll"] if name == "convert" else []
    for key, value in {**NEEDED.get(name, {}), **values}.items():
        typed = [] if isinstance(params[key], click.Argument) else [params[key].opts[-1]]
        words += [*typed, value]
    return [*name.split(), *words]


def as_value(param, path):
    lists = dict.fromkeys(("named_labels", "named_outputs", "stop_words", "view_words"), "@")
    before = {"curriculum_by": "loss:", "landmarks": "rbf:", **lists}
    return before.get(param.name, "") + path


@pytest.mark.parametrize("name", TYPED)
def test_every_option_that_names_a_file_is_known(name):
    """By what --help calls its value, or by a word in its help."""
    options = [param for param in command(name).params if isinstance(param, click.Option)]
    named = [o for o in options if any(word in (o.metavar or "") for word in ("FILE", "MODEL", "THETA"))]
    told = [o for o in options if not o.is_flag and any(word in (o.help or "").split() for word in ("file", "FILE"))]
    assert [o.name for o in (*named, *told) if not isinstance(o.type, FileName)] == []
    assert [param.name for param in files_of(name) if not isinstance(param.type, (Reads, Writes))] == []
    assert files_of(name)


SPELLINGS = {
    "the same": lambda path: path,
    "relative": lambda path: f"folder/../{path}",
    "whole": os.path.abspath,
    "symbolic": "symbolic",
    "hard": "hard",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "some").write_text(DATA)
    (tmp_path / "other").write_text(DATA)
    (tmp_path / "symbolic").symlink_to("some")
    (tmp_path / "hard").hardlink_to("some")
    return tmp_path


WRITING = [name for name in TYPED if any(isinstance(param.type, Writes) for param in files_of(name))]


@pytest.mark.parametrize("name", WRITING)
def test_no_output_takes_the_place_of_an_input_or_another_output(name, vwlite, folder):
    """Every output against every input, in all ways to name a file; these are looked at before anything is read."""
    params, tried = files_of(name), 0
    spellings = itertools.cycle(SPELLINGS.values())
    for written, other in itertools.product((param for param in params if isinstance(param.type, Writes)), params):
        goes_on = isinstance(other.type, Reads) and written.type.kind == other.type.kind
        if written is other or goes_on or other.name == "config_file":  # which is read first: see its own tests
            continue
        spelling = next(spellings)
        path = spelling if isinstance(spelling, str) else spelling("some")
        done = vwlite(*line_of(name, {written.name: path, other.name: as_value(other, "some")}), status=None)
        assert done.status == (1 if name == "vw" else 2), (written.opts, other.opts, done)
        assert "would be overwritten" in done.stdout + done.stderr or "same name" in done.stdout + done.stderr
        tried += 1
    assert (folder / "some").read_text() == (folder / "other").read_text() == DATA
    assert tried


@pytest.mark.parametrize("name", [name for name in TYPED if name != "vw"])
def test_the_empty_name_is_no_file(name, vwlite, folder):
    """A variable of the shell that is not set is an empty name."""
    for param in files_of(name):
        if param.name == "curriculum_by":  # whose values are words
            continue
        done = vwlite(*line_of(name, {param.name: ""}), status=2)
        assert done.stderr == f"vwlite: {spelling_of(param)} is empty, as a variable that is not set: name a file\n"
    assert sorted(os.listdir(folder)) == ["folder", "hard", "other", "some", "symbolic"]


def test_a_model_may_be_replaced_by_what_goes_on_from_it(vwlite, folder):
    vwlite("train", "some", "-f", "m", "--quiet")
    vwlite("train", "other", "-i", "m", "-f", "m", "--quiet")
    vwlite("train", "other", "-i", "m", "-f", "./m", "--save_per_pass", "--quiet")
    vwlite("train", "other", "-i", "m.3", "-f", "m", "--save_per_pass", "--quiet")
    vwlite("train", "other", "-f", "m", "--quiet", "--label-units", "raw")
    vwlite("vw", "-d", "some", "-i", "m", "--feature_mask", "m", "-f", "m")
    stdout = vwlite("vw", "-d", "some", "--feature_mask", "m", "-f", "m", status=1).stdout
    assert stdout == f"[critical] vw: m is the mask of --feature_mask {OVERWRITTEN}"


BESIDE = {  # what comes with files that are named, against what is named
    "train some -f m -p m.lock": "two outputs have the same name: the lock of -f m and -p m.lock",
    "train some -f m -p m.ckpt": "two outputs have the same name: the checkpoint of -f m and -p m.ckpt",
    "train some -f m --json m.ledger": "two outputs have the same name: the ledger of -f m and --json m.ledger",
    "train some -f m -p p -r p.ckpt": "two outputs have the same name: the checkpoint of -p p and -r p.ckpt",
    "train some -f m -p m.ckpt.best": "two outputs have the same name: the best pass of -f m and -p m.ckpt.best",
    "train some -i m -f n -p m.ledger": "m.ledger is the ledger of -i m and would be overwritten: give the output",
    "train m.lock -f m": "m.lock is the input and would be overwritten by the lock of -f m: give the output",
    "train m.ckpt -f m": "m.ckpt is the input and would be overwritten by the checkpoint of -f m: give the output",
    "train m.2 -f m --save_per_pass": "m.2 is the input and would be overwritten by the model of a pass of -f m",
    "train link -f folder/m": "link is the input and would be overwritten by the model of a pass",
    "train some some.cache -c": "some.cache is the input and would be overwritten by the cache of -c",
    "train some -c -p ./some.cache": "two outputs have the same name: -p ./some.cache and the cache of -c",
    "l1 some -f m --json m.lock": "two outputs have the same name: the lock of -f m and --json m.lock",
    "aso learn some --aux freq -f m --json m.lock": "two outputs have the same name: the lock of -f m and --json",
    "train some -p - --json -": "two outputs have the same name: -p - and --json -",
    "train some -p /dev/stdout -r stdout": "two outputs have the same name: -p /dev/stdout and -r stdout",
    "train some --curriculum easy --curriculum-by margin:m -f m": "m is the model of difficulty of --curriculum-by",
    "train some --curriculum easy --curriculum-by loss:m -f m": "m is the model of difficulty of --curriculum-by",
    "train some --curriculum easy --curriculum-by loss:m -f n --json m --force": "m is the model of difficulty of",
    "train some --scheduler m.2 -f m.2": "m.2 is the scheduler's file of --scheduler and would be overwritten",
}


@pytest.mark.parametrize("typed", BESIDE)
def test_files_beside_others_take_part(typed, vwlite, folder):
    for name in ("m.lock", "m.ckpt", "m.2", "some.cache"):
        (folder / name).write_text(DATA)
    (folder / "folder" / "m.7").write_text(DATA)
    (folder / "link").symlink_to("folder/m.7")
    more = ("--save_per_pass",) if "link" in typed else ()
    done = vwlite(*typed.split(), *more, "--quiet", status=2)
    assert done.stderr.startswith(f"vwlite: {BESIDE[typed]}")
    assert {path.read_text() for path in folder.iterdir() if path.is_file()} == {DATA}


def test_devices_may_be_shared(vwlite, folder):
    vwlite("train", "some", "-p", "/dev/null", "-r", "/dev/null", "--json", "/dev/null", "--quiet")


@contextlib.contextmanager
def redirected(descriptor, path, flags):
    """A standard stream of this process as the shell's ``< path`` or ``>> path``."""
    kept, file = os.dup(descriptor), os.open(path, flags | os.O_CREAT)
    os.dup2(file, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)
        os.close(file)


APPENDED = os.O_WRONLY | os.O_APPEND


@pytest.mark.parametrize("name", TYPED)
def test_no_command_appends_its_standard_output_to_a_file_that_it_names(name, vwlite, folder):
    for param in files_of(name):
        if param.name == "config_file":  # which is read first
            continue
        values = {param.name: as_value(param, "some")}
        with redirected(1, "hard", APPENDED):
            done = vwlite(*line_of(name, values), status=1 if name == "vw" else 2)
        stderr = done.stdout + done.stderr
        if isinstance(param.type, Writes):
            assert "two outputs have the same name: " in stderr and f"{spelling_of(param)} some" in stderr
        elif isinstance(param, click.Argument) or param.type.kind == "input":
            assert f"standard output is the {param.type.kind} {OVERWRITTEN}" in stderr
        else:
            assert f"standard output is the {param.type.kind} of {spelling_of(param)} {OVERWRITTEN}" in stderr
    assert (folder / "some").read_text() == DATA


@pytest.mark.parametrize("name", [name for name in TYPED if name != "tune" and "files" in named_in(name)])
def test_standard_input_is_an_input(name, vwlite, folder):
    with redirected(0, "some", os.O_RDONLY), redirected(1, "some", APPENDED):
        done = vwlite(*line_of(name, {}), status=1 if name == "vw" else 2)
        assert "standard output is the input and would be overwritten" in done.stderr + done.stdout
    for param in files_of(name):
        if isinstance(param.type, Writes):
            with redirected(0, "some", os.O_RDONLY):
                done = vwlite(*line_of(name, {param.name: "./some"}), status=1 if name == "vw" else 2)
            assert "./some is the input and would be overwritten" in done.stderr + done.stdout
    assert (folder / "some").read_text() == DATA


def test_standard_output_may_be_named(vwlite, folder):
    vwlite("train", "some", "-f", "m", "--quiet")
    for name in ("-", "stdout", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        with redirected(1, "out", APPENDED):
            vwlite("predict", "-i", "m", "some", "-p", name)
    assert len((folder / "out").read_text().splitlines()) == 2 * len(DATA.splitlines())  # others are Python's stream


def test_the_configuration_of_the_environment_is_an_input(vwlite, folder, monkeypatch):
    (folder / "c.toml").write_text("[train]\n")
    monkeypatch.setenv("VWLITE_CONFIG", "c.toml")
    stderr = vwlite("train", "some", "-f", "./c.toml", status=2).stderr
    assert stderr == f"vwlite: ./c.toml is the configuration of $VWLITE_CONFIG {OVERWRITTEN}"
    vwlite("vw", "-d", "some", "-f", "c.toml")  # which takes none


def test_tune_knows_the_models_that_it_hands_on(vwlite, folder):
    vwlite("train", "some", "-f", "m", "--quiet")
    typed = ("tune", "some", "--test", "other", "--passes", "2", "--trials", "1", "-f", "./m")
    before = (folder / "m").read_bytes()
    fixed = ("--with", "--curriculum easy --curriculum-by loss:m", "--vary", "l 1|2")
    varied = ("--with", "--curriculum easy", "--vary", "curriculum_by length|margin:m")
    for more in (fixed, varied):
        stderr = vwlite(*typed, *more, status=2).stderr
        assert stderr == f"vwlite: ./m is the model of difficulty of --curriculum-by {OVERWRITTEN}"
    assert (folder / "m").read_bytes() == before


@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_standard_output_is_no_input(mode, folder, vwlite, cli_env, commands):
    vwlite("train", "some", "-f", "m", "--quiet")
    with open("some", mode) as out:
        command = [commands / "vwlite", "predict", "-i", "m", "some"]
        done = subprocess.run(command, env=cli_env, stdout=out, stderr=subprocess.PIPE, text=True)
    message = "vwlite: standard output is the input and would be overwritten: give the output another name\n"
    assert (done.returncode, done.stderr) == (2, message)
    assert (folder / "some").read_text() == ("" if mode == "wb" else DATA)


REPORTS = {  # commands with --json
    "train": "train some",
    "check": "check some",
    "predict of nothing": "train some -i m --skip-seen -f m",
    "evaluate": "evaluate -i m some",
    "one metric": "evaluate -i m some --metric map --qid none",
    "inspect": "inspect m",
    "tune": "tune some --test some --vary l 1|2 --trials 2 --passes 1 --jobs 1",
    "crr": "crr some --steps 10",
    "l1": "l1 some --passes 1",
    "pca": "pca some --dim 2",
    "cut": "cut graph -k 2 -p clusters",
    "components": "inspect p",
    "cluster": "cluster some -k 2",
    "clusters": "inspect c",
    "aso learn": "aso learn some --aux freq -f theta",
    "aso train": "aso train some -f target",
    "aso cotrain": "aso cotrain some --unlabeled other -f target",
    "aso inspect": "aso inspect t",
}


@pytest.fixture
def models(vwlite, folder):
    vwlite("train", "some", "-f", "m", "--quiet")
    vwlite("aso", "learn", "some", "--aux", "freq", "-f", "t", "--quiet")
    vwlite("pca", "some", "-f", "p", "--dim", 2, "--quiet")
    (folder / "graph").write_text("a |n b\n")
    vwlite("cluster", "some", "-f", "c", "-k", 2, "--quiet")
    return folder


@pytest.mark.parametrize("name", REPORTS)
def test_json_replaces_its_own_reports_only(name, vwlite, models):
    """``--json data.json`` is vw's way to say what the input is."""
    words = REPORTS[name].replace("l 1|2", "l~1|2").split()
    words = [word.replace("~", " ") for word in words]
    foreign = json.dumps({"_label": 1, "a": {"x": 1}}) + "\n"
    for content in (foreign, json.dumps({"name": "x", "version": "1"}, indent=2) + "\n", "[]\n", DATA):
        (models / "data.json").write_text(content)
        done = vwlite(*words, "--json", "data.json", status=2)
        assert "data.json: vwlite did not write this file" in done.stderr
        assert (models / "data.json").read_text() == content
    (models / "empty").write_text("")
    for typed in (["--json", "data.json", "--force"], ["--json", "data.json"], ["--json", "empty"]):
        vwlite(*words, *typed)
        assert json.loads((models / typed[1]).read_text())


def test_every_metric_alone_is_a_report():
    names = {metric.name for metric in TABLE} | {"ndcg@7"} | OF_REPORTS
    assert len(names) > 20 and all(map(is_reported, names))
    assert not any(map(is_reported, ("_label", "name", "version", "label", "features", "dependencies")))


@pytest.mark.parametrize("name", ["train", "check", "evaluate", "inspect", "tune", "crr", "l1"])
def test_force_needs_json(name, vwlite, models):
    words = REPORTS[name].replace("l 1|2", "l").split()
    if name == "tune":
        words = line_of("tune", {})
    assert vwlite(*words, "--force", status=2).stderr == "vwlite: --force does nothing without --json\n"


PREDICTABLE = ("m.ledger", "m.ckpt", "p.ckpt", "m.1")


def test_links_at_predictable_names_are_not_followed(vwlite, folder):
    """What they point to stays as it is, and nothing is made elsewhere."""
    for name in PREDICTABLE:
        (folder / name).symlink_to("folder/made" if name == "m.1" else "other")
    options = ("--checkpoint-every", "0s", "--block-size", "50", "--save_per_pass", "--quiet")
    vwlite("train", "some", "-f", "m", "-p", "p", *options)
    assert (folder / "other").read_text() == DATA and os.listdir(folder / "folder") == []
    assert not any((folder / name).is_symlink() for name in PREDICTABLE)


@pytest.mark.parametrize("name", ["m.lock", "some.cache"])
def test_links_at_names_that_are_written_in_place_are_refused(name, vwlite, folder):
    (folder / name).symlink_to("folder/made")
    done = vwlite("train", "some", "-f", "m", "-c", "--quiet", status=73)
    assert f"{name}: it is a symbolic link, which is not followed here; remove it" in done.stderr
    assert os.listdir(folder / "folder") == [] and not (folder / "m").exists()


@pytest.mark.parametrize("make", ["hardlink_to", "write_text"])
def test_no_other_file_is_taken_for_a_lock(make, vwlite, folder):
    getattr(folder / "m.lock", make)("other")
    before = (folder / "m.lock").read_text()
    done = vwlite("train", "some", "-f", "m", "--quiet", status=73)
    assert done.stderr.endswith("m.lock: the file exists and is not the lock of a model; give -f another name\n")
    assert (folder / "m.lock").read_text() == before


def test_files_beside_a_private_file_are_private(vwlite, folder, monkeypatch):
    seen = {}

    def look(source, target, replace=os.replace):
        replace(source, target)
        seen.update({name: os.stat(name).st_mode & 0o777 for name in PREDICTABLE if os.path.exists(name)})

    for name in ("m", "p"):
        (folder / name).touch(0o600)
        (folder / name).chmod(0o600)
    monkeypatch.setattr(os, "replace", look)
    options = ("--checkpoint-every", "0s", "--block-size", "50", "--save_per_pass", "--quiet")
    vwlite("train", "some", "-f", "m", "-p", "p", *options)
    assert seen == dict.fromkeys(PREDICTABLE, 0o600)
