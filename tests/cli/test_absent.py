"""What vw has and vwlite has not is answered with what to use instead, the same in the documentation."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from commands import command

from vwlite.api.option_values import ABSENT, what_instead
from vwlite.cli.root import COMMANDS
from vwlite.cli.settings import plain_name

TABLE = (Path(__file__).resolve().parents[2] / "docs/coming-from-vw.md").read_text()
OPTIONS = [option for group in ABSENT for option in group.options]


def names(name):
    """List the names of a command's options."""
    return {plain_name(option.lstrip("-")) for param in command(name).params for option in param.opts}


def test_the_documented_table_has_the_answers_of_the_command():
    rows = [f"| {', '.join(f'`--{name}`' for name in g.options)} | {g.what} | {g.instead} |" for g in ABSENT]
    assert [line for line in TABLE.splitlines() if line.startswith("| `")] == rows


def test_no_option_is_in_two_groups_or_in_vwlite_vw():
    assert len(OPTIONS) == len(set(OPTIONS))
    assert [name for name in names("vw") for pattern in OPTIONS if fnmatchcase(name, pattern)] == []


def test_proposed_commands_and_options_exist():
    quoted = [part for group in ABSENT for part in group.instead.split("`")[1::2]]
    assert len(quoted) > len(ABSENT)
    for text in quoted:
        words = text.split()
        name = " ".join(words[1:3] if words[1:2] in (["aso"], ["lm"]) else words[1:2]) if words[0] == "vwlite" else "vw"
        assert name.split()[0] in COMMANDS, text
        typed = {plain_name(word.lstrip("-")) for word in words if word.startswith("-") and word != "-"}
        assert typed <= names(name), text


@pytest.mark.parametrize("option", OPTIONS)
def test_vw_answers_with_what_to_use(option, vwlite, write):
    option = "--" + option.replace("*", "")
    done = vwlite("vw", "-d", write("data.vw", "1 |a b\n"), option, "5", "-f", "model", status=1)
    assert done.stdout == f"[critical] vw: unrecognised option '{option}'{what_instead(option)}\n"
    assert "; use " in done.stdout and "`" not in done.stdout


def test_options_of_what_is_absent_may_stand_before_it(vwlite, write):
    write("d", "1 |a b\n")
    for typed in ("--batch_sz 10 --stage_poly", "--nonsense --minibatch 4 --lda 3", "--stage_size 2 -q ab --svrg=1"):
        absent = typed.split()[-1 if "stage" in typed else -2].partition("=")[0]
        done = vwlite("vw", "-d", "d", *typed.split(), status=1)
        assert done.stdout == f"[critical] vw: unrecognised option '{absent}'{what_instead(absent)}\n"


def test_own_commands_answer_too(vwlite):
    done = vwlite("train", "--lda", "5", status=2)
    assert "no such option --lda (not in vwlite: topics; use 'vwlite aso learn' for" in done.stderr
    assert "not in vwlite" not in vwlite("train", "--nonsense", status=2).stderr


@pytest.mark.parametrize("command", [("train", "--format"), ("check", "--format"), ("convert",)])
def test_formats_of_vw_are_answered_too(vwlite, command):
    done = vwlite(*command, "flatbuffer", "data.fb", status=2)
    assert "(not in vwlite: other formats of data; use text," in done.stderr
    assert "did you mean" not in done.stderr
    assert "(did you mean csv?)" in vwlite(*command, "csw", "data.csv", status=2).stderr


def test_vw_answers_a_format(vwlite):
    done = vwlite("vw", "-d", "data.fb", "--format", "flatbuffer", status=1)
    assert done.stdout.startswith("[critical] vw: ") and "other formats of data; use text" in done.stdout


def test_other_values_of_format_are_unknown_choices(vwlite):
    assert "not in vwlite" not in vwlite("train", "--loss_function", "json", "data.vw", status=2).stderr
