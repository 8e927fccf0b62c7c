"""What was probably meant is said with what went wrong."""

import bz2
import gzip
import importlib
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vwlite.cli.root import COMMANDS

LINES = "1 |w a b\n0 |w c\n" * 4


@pytest.fixture
def model(run_here, tmp_path):
    (tmp_path / "data.vw").write_text(LINES)
    run_here("train", "data.vw", "-f", "model")
    return "model"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "text"), [("t.vw", LINES), ("t.csv", "y,a\n1,x\n0,z\n"), ("t.jsonl", '{"y": 1}\n'), ("t.svm", "1 1:2\n")]
)
def test_text_in_utf_16_is_named(encoding, name, text, run_here, tmp_path):
    mark = "" if encoding == "utf-16" else "\ufeff"
    (tmp_path / name).write_bytes((mark + text).encode(encoding))
    for command in (("train", "-f", "m"), ("check",)):
        stderr = run_here(*command, name, status=65).stderr
        assert f"{name} is in UTF-16, not UTF-8: 'iconv -f UTF-16 -t UTF-8' converts it\n" in stderr


def test_decisions_as_json_are_told_from_other_objects(run_here):
    decision = '{"_label_cost": 0, "_label_probability": 0.5, "_labelIndex": 0, "c": {"_multi": [{"a": 1}]}}\n'
    assert "(--format dsjson?)" in run_here("train", "--cb_adf", "-f", "m", stdin=decision, status=65).stderr
    assert "(--format jsonl?)" in run_here("train", "-f", "m", stdin='{"y": 1}\n', status=65).stderr
    assert "(did you mean --format dsjson?)" in run_here("train", "--dsjson", stdin=decision, status=2).stderr


@pytest.mark.parametrize(
    ("typed", "meant"), [("log_loss", "logistic"), ("squared_error", "squared"), ("mae", "absolute"), ("hing", "hinge")]
)
def test_losses_of_other_programs_are_named(typed, meant, run_here):
    stderr = run_here("train", "--loss_function", typed, stdin=LINES, status=2).stderr
    assert f"(did you mean {meant}?)" in stderr


def test_svmlight_taken_for_vw_and_the_reverse(run_here, tmp_path):
    assert "(--format svmlight?)" in run_here("train", "-f", "m", stdin="1 3:1 11:1\n", status=65).stderr
    assert "(--format vw?)" in run_here("train", "-f", "m", "--format", "svmlight", stdin=LINES, status=65).stderr
    assert "?" not in run_here("train", "-f", "m", stdin="1 no bar\n", status=65).stderr
    ranked = "2 qid:1 1:0.5 7:1 # doc 1\n"
    assert "(--format svmlight?)" in run_here("train", "-f", "m", stdin=ranked, status=65).stderr
    with_times = "192967,2,364,2017-11-08 09:35:17,,0\n"
    assert "(--format csv?)" in run_here("train", "-f", "m", stdin=with_times, status=65).stderr


def test_files_of_other_tools(run_here):
    attributes = "B-NP\tw[0]=The\tpos[0]=DT\t__BOS__\n"
    for command in (("train", "-f", "m"), ("check",), ("l1", "-f", "m", "--model", "crf")):
        assert "see 'vwlite convert crfsuite'" in run_here(*command, stdin=attributes, status=65).stderr
    for command in (("train", "-f", "m"), ("check",), ("l1", "-f", "m", "--model", "multinomial")):
        for text in ("__label__pos great film\n", "__label__pos great | film\n", "__label__a __label__b x\n"):
            assert "see 'vwlite convert fasttext'" in run_here(*command, stdin=text, status=65).stderr
    assert "fastText" not in run_here("train", "-f", "m", stdin="__label__pos | a\n", status=65).stderr
    for format in ("vw", "svmlight"):
        stderr = run_here("train", "-f", "m", "--format", format, stdin="1 0:3:0.5 1:7:1\n", status=65).stderr
        assert "see 'vwlite convert libffm'" in stderr


def test_the_model_knows_its_format(run_here):
    run_here("train", "-f", "model", "--format", "svmlight", stdin="1 3:1\n-1 4:1\n" * 9)
    bare = run_here("predict", "-i", "model", stdin="1 3:1\n").stdout
    assert bare == run_here("predict", "-i", "model", "--format", "svmlight", stdin="1 3:1\n").stdout != "nan\n"
    assert "no '|'" in run_here("predict", "-i", "model", "--format", "vw", stdin="1 3:1\n", status=65).stderr


@pytest.mark.parametrize("outer", [gzip, bz2])
def test_compressed_twice(outer, run_here, tmp_path):
    (tmp_path / "twice.gz").write_bytes(outer.compress(gzip.compress(LINES.encode())))
    assert "twice.gz: there is gzip data inside" in run_here("train", "twice.gz", "-f", "m", status=65).stderr


def test_a_model_is_no_data(run_here, model):
    assert "not data: are -i and the data swapped?" in run_here("predict", "-i", model, model, status=65).stderr


def test_training_without_output_is_said_aloud(run_here, model):
    assert "give -f MODEL to save it" in run_here("train", "data.vw").stderr
    assert "-f MODEL" not in run_here("train", "data.vw", "-p", "p").stderr
    assert run_here("train", "data.vw", "--quiet").stderr == ""


def test_predict_takes_the_flag_of_vw(run_here, model):
    plain, flagged = (run_here("predict", *flag, "-i", model, "data.vw").stdout for flag in ((), ("-t",)))
    assert flagged == plain != ""


UNKNOWN = {
    "trian x": "vwlite: no command 'trian' (did you mean train?)",
    "xyz": "vwlite: no command 'xyz' (there are train, check",
    "train --learning_rat 1": "did you mean",
    "train --epochs 3": "no such option --epochs (did you mean --passes?)",
    "train --lr 1": "no such option --lr (did you mean -l?)",
    "train --model m": "no such option --model (did you mean -f?)",
    "train -o m": "no such option -o (did you mean -f?)",
    "train --no-header": "no such option --no_header (did you mean --columns no-header?)",
    "train --sep ;": "no such option --sep (did you mean --format csv, which finds the delimiter?)",
    "train --num-classes 3": "no such option --num_classes (did you mean --oaa K?)",
    "train --loss logistic": "no such option --loss (did you mean --loss_function?)",
    "train --batch-size 3": "no such option --batch_size ('vwlite train --help' lists",
    "train --target y": "no such option --target (did you mean --columns label=NAME?)",
    "predict --model m": "no such option --model (did you mean -i?)",
    "predict --output p": "no such option --output (did you mean -p?)",
    "train -l abc": "vwlite: -l: 'abc' is not a finite number",
    "train --loss_function abc": "vwlite: --loss_function: 'abc' is not one of",
    "predict": "vwlite: missing option",
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_mistakes_of_usage_are_one_line_in_one_style(line, run_here):
    stderr = run_here(*line.split(), status=2).stderr
    assert UNKNOWN[line].lower() in stderr.lower() and stderr.startswith("vwlite: ") and "--help" in stderr


def test_vw_refuses_unknown_options_like_vw(run_here):
    done = run_here("vw", "--nosuch", status=1)
    assert done.stdout == "[critical] vw: unrecognised option '--nosuch'\n" and done.stderr == ""
    assert run_here("vw", "--version").stdout.startswith("vwlite ")


ORDERS = ["a.vw -d b.vw", "-d a.vw b.vw", "-d a.vw -d b.vw", "--data=a.vw --data b.vw", "-da.vw b.vw"]


@pytest.mark.parametrize("files", ORDERS)
@pytest.mark.parametrize("command", ["train", "vw"])
def test_files_are_read_in_the_order_typed(command, files, run_here, tmp_path):
    (tmp_path / "a.vw").write_text("1 'a |w x\n")
    (tmp_path / "b.vw").write_text("0 'b |w y\n")
    run_here(command, *files.split(), "-p", "p")
    assert [line.split()[1] for line in (tmp_path / "p").read_text().splitlines()] == ["a", "b"]


def test_help_has_headings(run_here):
    """Its own, whatever other commands make of the same names."""
    for command in ("aso", "crr", "vw"):
        importlib.import_module(f"vwlite.cli.{command}")
    stdout = run_here("train", "--help=all").stdout
    assert [line for line in stdout.splitlines() if line in ("Input:", "Loss:", "Update:", "Features:")] == [
        "Input:", "Loss:", "Update:", "Features:",
    ]  # fmt: skip


def test_inspect_shows_a_fact_once(run_here, tmp_path):
    run_here("train", "-f", "model", "--loss_function", "logistic", stdin=LINES)
    facts = json.loads(run_here("inspect", "model", "--json", "-").stdout)
    assert facts["link"] == "logistic" and "link" not in facts["options"]


def test_few_examples_have_no_calibration_bins(run_here, tmp_path):
    run_here("train", "-f", "model", "--loss_function", "logistic", stdin=LINES)
    measured = json.loads(run_here("evaluate", "-i", "model", "--json", "-", stdin=LINES).stdout)
    assert "auc" in measured and "calibration_bins" not in measured
    measured = json.loads(run_here("evaluate", "-i", "model", "--json", "-", stdin=LINES * 13).stdout)
    assert measured["calibration_bins"]


def test_the_note_of_a_remade_cache_stands_before_the_table(run_here, model, tmp_path):
    run_here("train", "data.vw", "-c", "-f", "m")
    (tmp_path / "data.vw").write_text(LINES * 2)
    stderr = run_here("train", "data.vw", "-c", "-f", "m").stderr
    assert "made again" in stderr and stderr.index("made again") < stderr.index("average  since")


def test_names_are_shown_in_any_locale(run_cli, tmp_path):
    run_cli("train", "-f", "model", "--names", stdin="1 |w gr\u00fcn\n2 |w gr\u00fcn\n")
    for encoding in ("ascii", "utf-8"):
        done = run_cli("inspect", "model", PYTHONIOENCODING=encoding, PYTHONUTF8="0", text=False)
        assert b"gr\\xfcn" in done.stdout or "grün".encode() in done.stdout


def test_audit_keeps_bytes_that_are_no_text(run_cli):
    done = run_cli("vw", "-a", "--quiet", stdin=b"1 |w \xff\xfe\n", text=False)
    assert b"w^\xff\xfe:" in done.stdout


# What two lines of text may import beside click and NumPy, by room; what is not here is for other runs.
PREDICTING = """
vwlite: api cli config_check data errors features interrupts learners options storage training version
vwlite.api: option_values run_configs
vwlite.cli: build files options output parser predict root runs settings signals
vwlite.cli.runs: predict
vwlite.data: batch block_parser blocks config dataset input_stream malformed_lines text_format
vwlite.features: config feature_plan hashing interactions
vwlite.learners: abilities base best_constant configs gd label_check losses row_results
vwlite.learners.configs: base dyadic gd
vwlite.storage: archive_reader archive_writer atomic_file model_file named_files ordered_pool output_checks
    weight_table
vwlite.training: assembly config counters file_batches listener model_header model_loader predict prediction_writer
    predictions trainer
: bisect copy dataclasses fcntl fnmatch heapq json locale mmap mmh3 queue select signal zlib
"""
TRAINING = (
    PREDICTING
    + """
vwlite.api: train_files
vwlite.cli: train
vwlite.cli.runs: train
vwlite.learners.configs: active bandit bfgs dual explore label_vectors lrq nn outputs per_class trees
vwlite.training: checkpoint label_sample ledger model_writer namespace_report run_report train
"""
)


def modules_of(rooms):
    """The names of a text of lines ``room: module module``, which go on where a line is indented."""
    lines = rooms.strip().replace("\n    ", " ").splitlines()
    pairs = [line.partition(":")[::2] for line in lines if line]
    return {f"{room}.{name}".lstrip(".") for room, names in pairs for name in names.split()}


@pytest.mark.parametrize(
    ("arguments", "lines", "rooms"),
    [("predict -i model data.vw", 8, PREDICTING), ("train -b 18 -P 1 data.vw", 0, TRAINING)],
)
def test_no_more_is_imported_than_is_needed(model, tmp_path, cli_env, arguments, lines, rooms):
    program = "import sys, click, numpy\nbefore = {*sys.modules}\nimport vwlite.cli.root as c\n"
    program += f"sys.argv = ['vwlite', *{arguments.split()}]\n"
    program += "try: c.main()\nexcept SystemExit: print(*{*sys.modules} - before, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=cli_env)
    assert done.returncode == 0 and done.stdout.count("\n") == lines
    names = done.stderr.splitlines()[-1].split()
    actual = {name for name in names if name.startswith("vwlite.") or is_public(name)} - {"vwlite"}
    assert "vwlite.training.trainer" in actual
    assert {name for name in actual if "_native" not in name} - modules_of(rooms) == set()


CYTHON = ("cython_runtime", "shared")  # what kernels make, whatever they are


def is_public(name):
    """Whether it is a module of Python or of a library, and no part of another one."""
    return not name.startswith("_") and "." not in name and name not in CYTHON


def test_the_benchmark_measures_what_is_there(tmp_path, cli_env):
    (tmp_path / "text.vw").write_text("1 |w a b\n-1 |w c\n" * 50)
    command = [sys.executable, Path(__file__).parent / "bench/speed.py", tmp_path, "--rounds", "1"]
    env = {**cli_env, "PYTHONSAFEPATH": "", "VW": shlex.join([sys.executable, "-m", "vwlite", "vw"])}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    *_, row = done.stdout.splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[0] == "text" and min(map(float, cells[1:9])) > 0 and cells[9] == cells[10] != "-"


def test_help_needs_no_numpy(cli_env):
    lines = ["", "--version", "--help", "aso train --help", *(f"{x} --help" for x in COMMANDS)]
    program = f"import sys, vwlite.cli.root as c\nfor words in {lines}:\n sys.argv = ['vwlite', *words.split()]\n"
    program += " try: c.main()\n except SystemExit: print(words, 'numpy' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=cli_env)
    assert [one for one in done.stderr.splitlines() if one.endswith((" True", " False"))] == [
        f"{words} False" for words in lines
    ]


@pytest.mark.parametrize(
    ("words", "number", "proposed", "imported"),
    [("vwlite tr", 1, "train", set()), ("vwlite train --lea", 2, "--learning_rate", {"vwlite.cli.train"})],
)
def test_completion_imports_only_the_command_whose_options_it_proposes(words, number, proposed, imported, cli_env):
    asked = {**cli_env, "_VWLITE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    program = "import sys, vwlite.cli.root as c\nsys.argv = ['vwlite']\n"
    program += "try: c.main()\nexcept SystemExit: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=asked)
    *proposals, modules = done.stdout.splitlines()
    assert f"plain,{proposed}" in proposals and "numpy" not in modules.split()
    assert {f"vwlite.cli.{name}" for name in COMMANDS} & {*modules.split()} == imported
