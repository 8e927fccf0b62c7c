"""Any options in any combination: vwlite runs, or says why it does not."""

import importlib
import shutil

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_process import call

TEXTS = {
    "two": "1 |a x y:2 |b z\n-1 |a y |b w:0.5\n1 t|a x\n" * 4,
    "classes": "1 |a x y:2 |b z\n2 |a y |b w:0.5\n3 t|a x\n" * 4,
    "weighted": "0 |a x\n3 2 |a y |b z\n7 'u|b z:3\n" * 4,
    "costs": "1:0 2:1.5 3:2|a x\n1:3 2:0|b y z\n|a x\n" * 3,
    "groups": "1:0 |a x\n2:1 |a y |b z\n\n1:2 |b x\n2:0 |a y\n\n",
    "broken": "abc |a\n1 |a x:nan\n\n|a b\n1 1e400 |a x\nsave_x |a x\n",
    "empty": "",
}
MODELS = {
    "gd": ("two", ""),
    "oaa": ("classes", "--oaa 3"),
    "csoaa": ("costs", "--csoaa 3"),
    "multiclass": ("classes", "--multiclass 3"),
    "tree": ("classes", "--filter_tree 3"),
    "log": ("classes", "--log_multi 3"),
    "ect": ("classes", "--ect 3"),
    "dyadic": ("two", "--dotproduct ab --rank 2"),
    "lfl": ("classes", "--multiclass 3 --dotproduct ab --rank 2"),
    "scoring": ("classes", "--filter_tree 3 --scoring --dotproduct ab --rank 2"),
    "lrq": ("two", "--lrq ab2"),
    "nn": ("two", "--nn 3,2 --inpass"),
    "nn classes": ("classes", "--multiclass 3 --nn 3"),
    "groups": ("groups", "--csoaa_ldf m"),
    "short": ("two", "--predict_only_model"),
    "dual": ("two", "--dual --l2 1"),
    "ksvm": ("two", "--ksvm --kernel rbf"),
}
VALUES = {
    "initial": tuple(f"{name}.model" for name in MODELS),
    "dotproduct": ("ab", "aa", "a,b", "b", ""),
    "lrq": ("ab2", "aa1", "a2", ""),
    "nn": ("3", "4,2", "0", ""),
}
LETTERS = (
    "quadratic", "cubic", "interactions", "ignore", "keep", "ignore_linear", "redefine", "affix", "ngram", "skips",
)
LEARNERS = {
    "oaa", "csoaa", "multiclass", "multilabel_oaa", "filter_tree", "log_multi", "ect", "csoaa_ldf", "wap_ldf", "lrq",
    "dotproduct", "ftrl", "coin", "pistol", "bfgs", "dual", "ksvm", "active", "confidence", "binary", "initial",
    "nn",
}
NUMBERS = ("0", "1", "2", "3", "5", "10", "0.5", "-1", "1e-3", "1e10", "x", "")
# Options that wait, serve, or do not concern learners.
APART = ("help", "version", "lock_wait", "checkpoint_every", "workers", "daemon", "port", "pid_file")


def options_of(command):
    params = importlib.import_module(f"vwlite.cli.{command}").command.params
    return [option for option in params if isinstance(option, click.Option) and option.name not in APART]


def values_of(option):
    if option.name in VALUES:
        return VALUES[option.name]
    if isinstance(option.type, click.Choice):
        return tuple(option.type.choices)
    if option.name in LETTERS:
        return ("ab", "::", "a", "aab", "b:=a", "+2a", "a2", "")
    if option.metavar in ("FILE", "MODEL"):
        return ("out1", "out2", "-", "/dev/stdout", "/dev/null")
    return NUMBERS


@st.composite
def typed(draw, command):
    options = options_of(command)
    learners = [option for option in options if option.name in LEARNERS] or options
    chosen = draw(st.lists(st.sampled_from(learners), max_size=2))
    chosen += draw(st.lists(st.sampled_from(options), max_size=4))
    words = []
    for option in chosen:
        words.append(draw(st.sampled_from((*option.opts, *option.secondary_opts))))
        if not option.is_flag:
            words.append(draw(st.sampled_from(values_of(option))))
    return words


TAILS = {  # what follows the options, of a model and a text
    "train": "-d {text} -b 8 --threads 1",
    "vw": "-d {text} -b 8 --threads 1",
    "predict": "-i {model} {text}",
    "evaluate": "-i {model} {text}",
    "inspect": "{model}",
    "check": "{text}",
    "crr": "{text} -b 8",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    for name, (text, options) in MODELS.items():
        call(folder, "train", text, "-f", f"{name}.model", "-b", "8", "--quiet", *options.split())
    return folder


@pytest.mark.parametrize("command", TAILS)
def test_any_options_end_in_words(command, made, vwlite, tmp_path):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(typed(command), st.sampled_from(sorted(TEXTS)), st.sampled_from(VALUES["initial"]), st.booleans())
    def check(words, text, model, saves):
        new = ("-f", "new.model") if saves and command in ("train", "vw", "crr") else ()
        done = vwlite(command, *words, *new, *TAILS[command].format(text=text, model=model).split(), status=None)
        assert done.status in (0, 1, 2, 65, 66, 69, 70, 73, 74, 76)
        assert done.status == 0 or done.stderr.strip() or done.stdout.strip()

    check()
