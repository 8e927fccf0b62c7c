"""Completion: what a shell with the script proposes for the last word of a command line."""

import re
import shutil
import subprocess

import click
import pytest
from commands import TYPED, command

SHELLS = ["bash", "zsh", "fish"]
ASK = {
    "bash": """
        source ./script
        compopt() { echo FILES; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _vwlite
        for word in "${COMPREPLY[@]}"; do echo "$word"; done
    """,
    "zsh": """
        compdef() { }
        source ./script
        _files() { print FILES; }
        _message() { }
        compset() { PREFIX=${PREFIX#*=}; }
        compadd() { shift; for word in $@; do [[ $word == $PREFIX* ]] && print -r -- $word; done; true; }
        _describe() {
            for word in $options; do
                word=${word%%:*}
                [[ ${word//-/_} == ${PREFIX//-/_}* ]] && print -r -- $word
            done; true
        }
        words=("$@"); CURRENT=$#; PREFIX=${@[-1]}
        _vwlite
    """,
    "fish": "source script; complete -C (string join ' ' -- $argv)",
}


@pytest.fixture(params=SHELLS)
def propose(request, vwlite, tmp_path):
    """The proposals of a shell, in the order it shows them."""
    shell = request.param
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(vwlite("completion", shell).stdout)
    before = ["--no-config"] if shell == "fish" else ["-f"] if shell == "zsh" else ["--norc"]

    def run(*words):
        name = [] if shell == "fish" else [shell]
        asked = [shell, *before, "-c", ASK[shell], *name, "vwlite", *words]
        done = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    run.shell = shell
    return run


def is_files(proposals):
    return "FILES" in proposals or "script" in proposals  # fish looks itself


def test_commands_are_proposed(propose):
    assert propose("tr") == ["train"]
    assert propose("aso", "l") == ["learn"]
    assert propose("help", "ev") == ["evaluate"]
    assert propose("completion", "z") == ["zsh"]


def test_options_are_proposed_in_both_spellings(propose):
    assert propose("train", "--loss_f") == ["--loss_function"]
    (proposal,) = propose("train", "--loss-f")
    assert proposal in ("--loss-function", "--loss_function")  # zsh puts the declared one in place of what is typed
    assert propose("aso", "learn", "--au") == ["--aux"]
    assert propose("train", "--no-shu") == ["--no-shuffle"]
    assert propose("--vers") == ["--version"]


def test_values_of_options_are_proposed(propose):
    assert sorted(propose("train", "--loss-function", "l")) == ["logistic", "lp"]
    assert propose("train", "data.vw", "--loss_function", "poi") == ["poisson"]
    assert propose("vw", "--predict_only_model", "--loss_function", "hi") == ["hinge"]


def test_values_after_an_equals_sign_are_proposed(propose):
    words = {"bash": ["--loss_function", "=", "poi"]}.get(propose.shell, ["--loss_function=poi"])
    assert propose("train", *words)[0].rpartition("=")[2] == "poisson"


def test_files_and_models(propose):
    for words in (["train", "sc"], ["predict", "-i", "sc"], ["vw", "-d", "s"]):
        assert is_files(propose(*words))


def test_nothing_is_proposed_for_free_values(propose):
    assert propose("train", "--l1", "") == []
    assert not is_files(propose("tr"))


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_that_is_shown_stands_in_the_script(shell, vwlite):
    words = set(re.split(r"[\s'\"()|;:\\]+", vwlite("completion", shell).stdout))
    options = {
        name
        for typed in TYPED
        for param in command(typed).params
        if isinstance(param, click.Option) and not param.hidden
        for name in (*param.opts, *param.secondary_opts)
    }
    assert options and options - words == set()


def test_the_script_starts_no_program(vwlite):
    assert "vwlite train" not in vwlite("completion", "bash").stdout.replace("'", "")
    assert "$(" not in vwlite("completion", "bash").stdout.replace("$((", "")


def test_an_unknown_shell_is_refused(vwlite):
    assert "did you mean bash?" in vwlite("completion", "bas", status=2).stderr
