"""Every command explains itself, and every option stands in a test of its command."""

import ast
import re
from functools import cache
from pathlib import Path

import click
import pytest
from commands import TYPED, command

from vwlite.cli.root import COMMANDS
from vwlite.cli.settings import plain_name
from vwlite.cli.tune import TUNED

HERE = Path(__file__).resolve().parent
OF_ALL = (
    "test_files.py", "test_max_memory.py", "test_config_file.py", "test_tables.py", "test_shared_options.py",
    "../battery/estimators.py", "../battery/laws.py", "../golden/make.py",
)
SHARED = {
    "check": ["test_check_labels.py"],
    "aso tasks": ["test_aso_tables.py", "test_aso_tasks.py", "test_solver_run.py"],
    "aso learn": ["test_aso_tables.py", "test_aso_online.py", "test_aso_resume.py", "test_solver_run.py"],
    "aso train": [
        "test_aso_tables.py", "test_aso_selection.py", "test_sequences.py", "test_aso_continued.py",
        "test_solver_run.py",
    ],
    "simulate": [
        "test_train.py", "test_bar.py", "test_learners.py", "test_bandits.py",
        "test_exploration.py",
    ],
    "recommend": ["test_recommend_items.py"],
    "tune": ["test_tune_command.py", "test_phrases.py"],
    "l1": [
        "test_l1_group.py", "test_l1_theta.py", "test_l1_losses.py", "test_l1_order.py", "test_l1_curriculum.py",
        "test_l1_tree.py", "test_phrases.py", "test_solver_run.py", "test_importance.py",
    ],
    "evaluate": [
        "test_levels.py", "test_mask_ids.py", "test_phrases.py",
        "../evaluation/test_policy_value.py",
    ],
    "predict": [
        "test_exploration.py",
        "test_predict_jsonl.py", "test_l1.py", "test_predict_answers.py", "test_levels.py", "test_mask_ids.py",
        "test_asked_and_drawn.py", "test_nbest.py",
    ],
    "crr": ["test_crr_curriculum.py", "test_train_theta.py"],
    "train": [
        "test_bar.py", "test_checkpoint.py", "test_classes.py", "test_curriculum.py",
        "test_ledger.py", "test_learners.py", "test_multiclass.py", "test_trees.py", "test_groups.py",
        "test_merge.py", "test_rounds.py", "test_dual.py", "test_average.py", "test_ksvm.py",
        "test_lfl.py", "test_levels.py", "test_mask_ids.py", "test_freeze.py", "test_train_theta.py", "test_folds.py",
        "test_asked_and_drawn.py", "test_outputs.py", "test_label_shares.py", "test_scoring_tree.py",
        "test_transfer.py", "test_factored.py", "test_bandits.py", "test_by_file.py",
        "test_centred.py",
        "test_exploration.py", "test_simulate.py", "test_json_events.py", "test_label_units.py",
    ],
    "vw": [
        "test_classes.py", "test_learners.py", "test_multiclass.py", "test_trees.py",
        "test_groups.py", "test_dual.py", "test_average.py", "test_ksvm.py", "test_lfl.py", "test_levels.py",
        "test_mask_ids.py", "test_asked_and_drawn.py", "test_outputs.py", "test_label_shares.py",
        "test_factored.py", "test_scoring_tree.py", "test_bandits.py",
        "test_exploration.py", "test_simulate.py", "test_json_events.py", "test_label_units.py",
        "test_serve.py", "test_centred.py",
    ],
}


@cache
def words_of(file):
    """The words of all strings of a Python file, docstrings aside."""
    tree = ast.parse((HERE / file).read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return {word for node in strings if isinstance(node.value, str) for word in node.value.split()}


@pytest.mark.parametrize("name", TYPED)
def test_every_option_is_named_in_the_tests_of_its_command(name):
    own = f"test_{name.split()[0]}.py"
    files = [*([own] if (HERE / own).exists() else []), *OF_ALL, *SHARED.get(name, ())]
    exercised = {plain_name(word.lstrip("-")) for file in files for word in words_of(file) if word.startswith("-")}
    options = [option for option in command(name).params if isinstance(option, click.Option)]
    untested = [option.opts for option in options if not exercised & {plain_name(o.lstrip("-")) for o in option.opts}]
    assert len(options) > 2 and untested == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_an_example(name, vwlite):
    done = vwlite(name, "--help")
    assert done.stderr == ""
    assert command(name).short_help == COMMANDS[name]
    assert re.search(rf"^ +.*\bvwlite {name} ", done.stdout, re.M)
    assert vwlite(name, "-h").stdout == done.stdout


@pytest.mark.parametrize("name", TYPED)
def test_every_shown_option_has_help(name):
    silent = [o.opts for o in command(name).params if isinstance(o, click.Option) and not (o.hidden or o.help)]
    assert silent == []


@pytest.mark.parametrize("name", TYPED)
def test_examples_of_the_help_use_options_that_exist(name):
    names = (name, *TUNED[:-1], "aso train") if name == "tune" else (name,)  # which takes the options of what it tunes
    known = {plain_name(o) for name in names for param in command(name).params for o in param.opts}
    examples = re.findall(rf"vwlite {name} ([^|\n]*)", command(name).help)
    used = {plain_name(word) for line in examples for word in line.split() if word.startswith("-") and word != "-"}
    assert examples and used <= known


def test_help_lists_the_commands(vwlite):
    stdout = vwlite("--help").stdout
    for name, about in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(about)}$", stdout, re.M)


def test_the_version_is_printed(vwlite):
    from vwlite.version import __version__

    assert vwlite("--version").stdout == f"vwlite {__version__}\n"


def test_an_unknown_command_is_answered_with_the_known(vwlite):
    done = vwlite("nonsense", status=2)
    known = ", ".join(COMMANDS)
    message = f"no command 'nonsense' (there are {known}) ('vwlite --help' lists what there is)"
    assert (done.stdout, done.stderr) == ("", f"vwlite: {message}\n")
    assert "(did you mean train?)" in vwlite("trian", status=2).stderr


@pytest.mark.parametrize("group", [(), ("aso",)])
def test_no_command_shows_the_help_and_fails(group, vwlite):
    done = vwlite(*group, status=2)
    assert (done.stdout, done.stderr) == ("", vwlite(*group, "--help").stdout)
    assert "Commands:" in done.stderr


@pytest.mark.parametrize("name", ["", *COMMANDS, "aso learn"])
def test_help_shows_what_the_option_shows(name, vwlite):
    assert vwlite("help", *name.split()).stdout == vwlite(*name.split(), "--help").stdout


def test_help_of_what_there_is_not(vwlite):
    assert "no command 'trian' (did you mean train?)" in vwlite("help", "trian", status=2).stderr
    assert "vwlite train has no commands of its own" in vwlite("help", "train", "fast", status=2).stderr


def test_help_loads_nothing_heavy(run_cli):
    done = run_cli("--help", PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "click" in loaded and not loaded & {"numpy", "mmh3", "tqdm", "vwlite.training.trainer"}


def test_help_of_a_command_loads_no_numpy(run_cli):
    done = run_cli("train", "--help", PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "vwlite.cli.options" in loaded and not loaded & {"numpy", "mmh3", "tqdm"}


@pytest.mark.parametrize("name", TYPED)
def test_help_tells_every_default(name):
    context = click.Context(command(name))
    options = [o for o in command(name).params if isinstance(o, click.Option) and not (o.hidden or o.is_flag)]
    assert options
    default = {option: option.get_default(context) for option in options}
    set_ones = [o for o in options if isinstance(default[o], int | float | str) and default[o]]  # 0 is "not asked for"
    assert [o.opts for o in set_ones if "default" not in o.get_help_record(context)[1]] == []


@pytest.mark.parametrize("option", ["l1", "l2", "sparse_l2", "initial_weight", "constant", "initial_t"])
def test_help_of_train_tells_what_a_penalty_or_start_value_is_without_being_typed(option):
    actual = next(param for param in command("train").params if param.name == option)
    assert "[default: 0" in actual.help


SCREENS = [name for name in TYPED if command(name).screen]


@pytest.mark.parametrize("name", SCREENS)
def test_help_is_a_screen_of_what_most_people_need(name, vwlite):
    stdout = vwlite(name, "--help").stdout
    blocks = re.findall(r"^(\S.*):\n((?:  .*\n)+)", stdout, re.M)
    assert [heading for heading, _ in blocks[: len(command(name).screen)]] == list(command(name).screen)
    assert re.findall(r"^  (-\S+)", blocks[0][1], re.M)[:2] == ["-f,", "-i,"]
    assert len(stdout.splitlines()) < 100 < len(vwlite(name, "--help=all").stdout.splitlines())
    assert f"'vwlite {name} --help=all' shows all options" in stdout


@pytest.mark.parametrize("name", SCREENS)
def test_all_options_are_listed_once_by_subject(name, vwlite):
    sections = command(name).sections(click.Context(command(name)))
    sections.pop("Losses", None)
    listed = [typed.split()[0].rstrip(",") for records in sections.values() for typed, _ in records]
    params = command(name).get_params(click.Context(command(name)))
    options = [param for param in params if isinstance(param, click.Option)]
    assert len(listed) == len({*listed}) == len([option for option in options if not option.hidden])
    assert all(f"\n{heading}:\n" in vwlite(name, "--help=all").stdout for heading in sections)


def test_help_shows_a_part(vwlite):
    stdout = vwlite("train", "--help=losses").stdout
    assert re.search(r"^Losses:\n  squared +squared error", stdout, re.M) and "Cache:" not in stdout
    assert "Cache:" in vwlite("train", "--help=CACHE").stdout
    assert "(did you mean loss?)" in vwlite("train", "--help=lossy", status=2).stderr


def test_defaults_with_other_learners_are_told(vwlite):
    message = " ".join(vwlite("train", "--help=update").stdout.split())
    assert "Power of the rates' decay. [default: 0.5; with --dotproduct: 0]" in message


def test_bits_of_named_labels_are_told(vwlite):
    assert "the whole hash" in " ".join(vwlite("l1", "--help").stdout.split())


@pytest.mark.parametrize("name", ["pca", "cluster"])
def test_options_that_a_command_refuses_are_not_listed(name, vwlite, write):
    write("d", "|f a:1\n|f b:2\n")
    assert "noconstant" not in vwlite(name, "--help=all").stdout
    needed = ("--dim", "1") if name == "pca" else ("-k", "1")
    assert "neither a constant" in vwlite(name, "d", "-f", "m", "--noconstant", *needed, status=2).stderr
