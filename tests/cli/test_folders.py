"""Folders and patterns in the place of files of data."""

import gzip
import json

import pytest
from commands import TYPED, command

import vwlite as library
from vwlite.cli.parser import DataOption
from vwlite.storage.named_files import DATA, FileToRead, expand_name


def clicks(day, rows=20):
    return "".join(f"{1 if row % 3 else -1} |a d{day} x{row % 4}\n" for row in range(rows))


@pytest.fixture(autouse=True)
def days(tmp_path):
    folder = tmp_path / "days"
    (folder / "old").mkdir(parents=True)
    (folder / "2.vw").write_text(clicks(2))
    (folder / "10.vw.gz").write_bytes(gzip.compress(clicks(10).encode()))
    (folder / ".hidden.vw").write_text("no line\n")
    (folder / "2.vw.cache").write_text("nor this\n")
    (folder / "old" / "1.vw").write_text(clicks(1))
    return ["days/10.vw.gz", "days/2.vw"]


@pytest.mark.parametrize("name", ["days", "days/", "days/*.vw*", "day?/[12]*w*"])
def test_a_folder_or_a_pattern_is_its_files_sorted_by_name(name, vwlite, days, tmp_path):
    stderr = vwlite("train", name, "-f", "m", "--json", "run.json").stderr
    assert [line.split("= days/")[1] for line in stderr.splitlines() if "datafile" in line] == ["10.vw.gz", "2.vw"]
    assert "num sources = 2" in stderr and "number of examples = 40" in stderr
    assert [file["path"] for file in json.loads((tmp_path / "run.json").read_text())["data"]] == days
    vwlite("train", *days, "-f", "plain", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "plain").read_bytes()


def test_folders_may_stand_among_files_and_hold_folders(vwlite, write):
    write("first.vw", clicks(0))
    vwlite("train", "first.vw", "-f", "m", "--quiet")
    assert len(vwlite("predict", "-i", "m", "first.vw", "-d", "days", "days/**/1.vw").lines) == 80
    assert len(vwlite("predict", "-i", "m", "days/old*").lines) == 20


def test_the_format_is_that_of_the_files_and_models_take_folders(vwlite, tmp_path):
    (tmp_path / "tables").mkdir()
    for day in (1, 2):
        (tmp_path / "tables" / f"{day}.csv").write_text("label,a\n" + f"1,{day}\n0,3\n" * 5)
    vwlite("train", "tables", "--columns", "label=label", "-f", "m", "--quiet")
    assert len(vwlite("predict", "-i", "m", "tables").lines) == 20
    assert json.loads(vwlite("evaluate", "-i", "m", "tables", "--json", "-").stdout)["result"]["examples"] == 20
    assert "was learned before" in vwlite("train", "tables", "-i", "m", "-f", "m", "--skip-seen").stderr


def test_folders_in_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(library.predict(library.train("days"), "days/*.vw")) == 20


def test_a_folder_or_a_pattern_without_files_is_an_error(vwlite, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".vw").write_text(clicks(1))
    stderr = vwlite("train", "empty", "-f", "m", status=66).stderr
    assert stderr == "vwlite: the folder empty has no file to read (hidden files and folders in it do not count)\n"
    assert vwlite("check", "days/*.csv", status=66).stderr == "vwlite: no file matches days/*.csv\n"


def test_a_file_of_the_name_of_a_pattern_is_that_file(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("day[1].vw", clicks(1))
    write("day1.vw", clicks(2))
    assert all(expand_name(name) == [name] for name in ("day[1].vw", "-", "absent"))


@pytest.mark.parametrize("name", TYPED)
def test_every_command_takes_them_where_several_files_of_data_may_stand(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for param in command(name).params:
        several = (param.multiple and not isinstance(param, DataOption)) or param.nargs == -1
        if several and isinstance(param.type, FileToRead) and param.type.kind in DATA:
            words = [*["conll"] * (name == "convert"), *([] if param.nargs == -1 else [param.opts[0]]), "days"]
            context = command(name).make_context(name, words, resilient_parsing=True)
            assert context.params[param.name] == (("days",) if name == "vw" else ("days/10.vw.gz", "days/2.vw"))
