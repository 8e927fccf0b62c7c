"""``vwlite train``: what only it does, and what it says and returns when something is wrong."""

import json
import os
import re
from contextlib import ExitStack

import pytest

from vwlite.storage.output_checks import lock

DATA = "1 'one |user ann |item tea:2\n-1 'two |user bob |item tea\n1 |user ann |item cup\n"
BAD = "1 |a x\n1 a\n0 |a:z y\n"
SAID = (
    "bad line {0}:2:1: no '|', expected one between label and features: 1 a",
    "bad line {0}:3:6: bad namespace value, expected a number after ':': 0 |a:z y",
)


@pytest.fixture(autouse=True)
def data(write):
    return write("data.vw", DATA)


def test_json_has_no_infinity(vwlite, write, tmp_path):
    write("huge.vw", "1 |a\n" * 9 + "1e30 |a\n")
    vwlite("train", "huge.vw", "--passes", "2", "--json", "run.json")
    history = json.loads((tmp_path / "run.json").read_text(), parse_constant=pytest.fail)["history"]
    assert history[-1]["holdout"] is None and history[-1]["loss"] is not None


def test_json_counts_and_losses(vwlite, tmp_path):
    vwlite("train", "data.vw", "--json", "run.json")
    report = json.loads((tmp_path / "run.json").read_text())["result"]
    assert report == {
        "examples": 3,
        "passes": 1,
        "weighted_examples": 3,
        "weighted_labels": 1,
        "average_loss": pytest.approx(report["average_loss"]),
        "holdout_loss": None,
        "best_constant": pytest.approx(1 / 3),
        "best_constant_loss": pytest.approx(8 / 9),
        "features": 9,
        "lines": 3,
        "bad_lines": 0,
        "min_label": -1,
        "max_label": 1,
        "loss_function": "squared",
    }
    assert 0.5 < report["average_loss"] < 3


def test_json_on_stdout_is_all_there_is(vwlite):
    done = vwlite("train", "data.vw", "--passes", "2", "--holdout_period", "3", "--json", "-")
    report = json.loads(done.stdout)
    assert report["passes"] == 2 and report["holdout_loss"] > 0
    assert "finished run" in done.stderr


def test_predictions_are_made_before_each_update_and_have_tags(vwlite):
    done = vwlite("train", "data.vw", "-p", "-", "--quiet")
    first, second, third = done.lines
    assert (first, second.split()[1]) == ("0 one", "two")
    assert -1 < float(third) < 1


def test_names_are_kept_for_inspect(vwlite):
    vwlite("train", "data.vw", "-f", "model", "--names", "-q", "ui", "--label-units", "raw")
    names = {entry["name"] for entry in json.loads(vwlite("inspect", "model", "--json", "-").stdout)["top"]}
    assert {"Constant", "user^ann", "item^tea", "user^ann*item^tea"} <= names


def test_names_stay_when_going_on(vwlite, write):
    vwlite("train", "data.vw", "-f", "model", "--names")
    vwlite("train", write("more.vw", "1 |user eve\n"), "-i", "model", "-f", "model", "--names")
    assert "user^eve" in vwlite("inspect", "model").stdout


@pytest.mark.parametrize("low", ["0", "-1"])
def test_two_class_labels_may_be_0_or_minus_1(low, vwlite, write, weights):
    vwlite("train", write("low.vw", DATA.replace("-1", low)), "-f", "model", "--loss_function", "logistic")
    vwlite("vw", "data.vw", "-f", "vw", "--loss_function", "logistic", "--link", "logistic")
    assert weights("model") == weights("vw")


def test_bad_lines_are_shown_counted_and_left_out(vwlite, write, weights):
    done = vwlite("train", write("bad.vw", BAD), "-f", "model", "--max-bad-ratio", "0.7")
    said = [line for line in done.stderr.splitlines() if line.startswith("vwlite: ")]
    assert said == [
        *(f"vwlite: {line.format('bad.vw')}" for line in SAID),
        "vwlite: 2 of 3 lines were malformed and left out",
    ]
    vwlite("train", write("good.vw", "1 |a x\n"), "-f", "good")
    assert weights("model") == weights("good")


def test_too_many_bad_lines_leave_no_model(vwlite, write, names_in):
    write("bad.vw", BAD)
    done = vwlite("train", "bad.vw", "-f", "model", "--max-bad-ratio", "0.6", "--quiet", status=65)
    first = SAID[0].format("bad.vw").removeprefix("bad line ")
    message = f"2 of 3 lines are malformed, more than --max-bad-ratio 0.6 allows; the first: {first}"
    assert done.stderr == f"vwlite: {message}\n"
    assert names_in() == ["bad.vw", "data.vw"]
    assert vwlite("train", "bad.vw", status=65).stderr.count("bad line") == 2


def test_strict_fails_at_the_first_bad_line(vwlite, write, names_in):
    done = vwlite("train", write("bad.vw", BAD), "-f", "model", "--strict", "--quiet", status=65)
    assert done.stderr == "vwlite: " + SAID[0].format("bad.vw").removeprefix("bad line ") + " (--strict)\n"
    assert names_in() == ["bad.vw", "data.vw"]


def test_bad_lines_file_keeps_them_as_they_are(vwlite, write, tmp_path):
    lines = [b"1 a\xff\r", b"0 |a:z y", "1 |ä:Ł x".encode()]
    write("bad.vw", b"1 |a x\n" + b"\n".join(lines))
    vwlite("train", "bad.vw", "--bad-lines", "kept", "--max-bad-ratio", "1")
    assert (tmp_path / "kept").read_bytes() == b"\n".join(lines) + b"\n"


def test_only_the_first_ten_bad_lines_are_shown(vwlite, write):
    done = vwlite("train", write("bad.vw", "1 a\n" * 25 + "1 |a x\n"), "--max-bad-ratio", "1")
    assert done.stderr.count("vwlite: bad line bad.vw:") == 10
    assert "vwlite: further bad lines are counted, not shown (--bad-lines FILE keeps them all)\n" in done.stderr
    assert "25 of 26 lines were malformed" in done.stderr


def test_line_numbers_begin_anew_in_each_file(vwlite, write):
    write("bad.vw", BAD)
    done = vwlite("train", "data.vw", "bad.vw", "--max-bad-ratio", "1", "--block-size", "9")
    assert [line for line in done.stderr.splitlines() if "bad line" in line] == [
        f"vwlite: {line.format('bad.vw')}" for line in SAID
    ]


def test_several_passes_need_no_cache_and_leave_none(vwlite, names_in, tmp_path, monkeypatch, weights):
    import tempfile

    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    vwlite("train", "data.vw", "--passes", "3", "--holdout_off", "-f", "model")
    assert names_in() == ["data.vw", "model", "model.ledger", "scratch"] and not list((tmp_path / "scratch").iterdir())
    vwlite("train", "data.vw", "--passes", "3", "--holdout_off", "-f", "cached", "-c")
    assert weights("cached") == weights("model")


def test_a_cache_of_other_data_is_made_again_and_that_is_said(vwlite, write, weights):
    vwlite("train", "data.vw", "-c", "-f", "old")
    write("data.vw", DATA.replace("tea", "tee"))
    done = vwlite("train", "data.vw", "-c", "-f", "new")
    note = "note: data.vw.cache was made from other data or options and is made again\n"
    assert note in done.stderr.partition("average  since")[0]
    vwlite("train", "data.vw", "-f", "fresh")
    assert weights("new") == weights("fresh") != weights("old")
    assert "note:" not in vwlite("train", "data.vw", "-c", "-b", "10", "-q", "ui").stderr
    assert "note:" in vwlite("train", "data.vw", "-c", "--hash", "all").stderr


@pytest.mark.parametrize("typed", [("-b", "10"), ("-b10",), ("-b=10",), ("--bit_precision=10",)])
def test_values_follow_their_option_in_any_of_the_usual_ways(vwlite, typed):
    assert "Num weight bits = 10\n" in vwlite("train", "data.vw", *typed).stderr


def test_save_commands_in_the_data_are_obeyed_by_vw_alone(vwlite, write, weights, names_in):
    head, *rest = DATA.splitlines(keepends=True)
    write("save.vw", "".join([head, "'save_early |\n", *rest]))
    vwlite("train", "save.vw", "-f", "model")
    assert names_in() == ["data.vw", "model", "model.ledger", "save.vw"]
    vwlite("train", "data.vw", "-f", "plain")
    assert weights("model") == weights("plain")
    vwlite("vw", "save.vw", "-f", "model")
    vwlite("vw", write("one.vw", head), "-f", "one")
    assert weights("early") == weights("one") != weights("model")


def test_that_no_model_will_be_saved_is_said_first(vwlite):
    message = "vwlite: the model will not be saved: give -f MODEL to save it"
    assert vwlite("train", "data.vw").stderr.splitlines()[0] == message
    for kept in (("-f", "model"), ("-p", "p"), ("--json", "-"), ("--quiet",)):
        assert message not in vwlite("train", "data.vw", *kept).stderr


@pytest.mark.parametrize(
    ("step", "said"),
    [("0", "a step below 1 is taken as 1"), ("0.5", "a factor of 1.0 or less gets 1.0 added: 1.5")],
)
def test_progress_is_warned_of(step, said, vwlite):
    done = vwlite("train", "data.vw", "-f", "model", "-P", step)
    assert done.stderr.splitlines()[0] == f"vwlite: -P {step}: {said}"
    assert vwlite("train", "data.vw", "-f", "model", "-P", step, "--quiet").stderr == ""
    assert "vwlite:" not in vwlite("train", "data.vw", "-f", "model", "-P", "1").stderr


def test_a_model_another_process_writes_is_refused(vwlite, run_cli, tmp_path, names_in):
    with lock(str(tmp_path / "model")):
        done = run_cli("train", "data.vw", "-f", "model", "--quiet", status=75)
        holder = f"locked by another training (process {os.getpid()})"
        assert done.stderr == f"vwlite: model is {holder}; --lock-wait waits for it\n"
        done = run_cli("train", "data.vw", "-f", "model", "--quiet", "--lock-wait", "0.01", status=75)
        assert done.stderr == f"vwlite: model is still {holder} after 0.01 seconds\n"
        assert names_in() == ["data.vw", "model.lock"]
        run_cli("train", "data.vw", "-f", "other", "--quiet")


def test_waiting_for_the_other_training_ends_when_that_ends(vwlite, tmp_path, names_in, monkeypatch):
    with ExitStack() as other:
        other.enter_context(lock(str(tmp_path / "model")))
        pauses = []

        def sleep(seconds):
            pauses.append(seconds)
            other.close()

        monkeypatch.setattr("vwlite.storage.output_checks.time.sleep", sleep)
        vwlite("train", "data.vw", "-f", "model", "--quiet", "--lock-wait", "60")
    assert len(pauses) == 1
    assert names_in() == ["data.vw", "model", "model.ledger"]


ERRORS = {  # arguments: status, what is said
    "absent": (66, "no such file: absent (- is standard input)"),
    "dat.vw": (66, "no such file: dat.vw (did you mean data.vw?)"),
    "nofolder/data.vw": (66, "no such file: nofolder/data.vw (there is no folder nofolder)"),
    "folder": (66, "the folder folder has no file to read (hidden files and folders in it do not count)"),
    "-i nope data.vw": (66, "cannot open the model nope: No such file or directory"),
    "-i data.vw data.vw": (76, "data.vw is not a vwlite model: give one that vwlite wrote"),
    "-i folder data.vw": (76, "folder is a directory: give the file of a vwlite model"),
    "-i model data.vw -b 10": (2, "-b 10 contradicts model, which was made with -b 18"),
    "-i model data.vw --hash all": (2, "--hash all contradicts model, which was made with --hash strings"),
    "-i model data.vw --hash_seed 1": (2, "--hash_seed 1 contradicts model, which was made with --hash_seed 0"),
    "-i model data.vw --sgd": (2, "--sgd contradicts model, which was made without it"),
    "-i model data.vw --initial_t 1": (2, "--initial_t 1 contradicts model, which was made without it"),
    "-i model data.vw --loss_function hinge": (
        2,
        "--loss_function hinge contradicts model, which was made with --loss_function squared",
    ),
    "data.vw -f nofolder/m": (73, "cannot write nofolder/m: there is no folder {folder}/nofolder; create it first"),
    "data.vw -f folder": (73, "cannot write folder: it is a directory"),
    "data.vw -p folder": (73, "cannot write folder: it is a directory"),
    "data.vw --bad-lines folder": (73, "cannot write folder: it is a directory"),
    "data.vw --json folder": (73, "cannot write folder: it is a directory"),
    "data.vw -f data.vw/m": (73, "cannot write data.vw/m: {folder}/data.vw is not a folder"),
    "data.vw -f m -p m": (2, "two outputs have the same name: -f m and -p m"),
    "data.vw -f m --readable_model m": (2, "two outputs have the same name: -f m and --readable_model m"),
    "data.vw -c -f data.vw.cache": (2, "two outputs have the same name: -f data.vw.cache and the cache of -c"),
    "data.vw -q u": (2, "-q takes 2 namespaces, not 1: 'u'"),
    "data.vw -q u,": (2, "-q u,: a namespace name is empty"),
    "data.vw --cubic uu": (2, "--cubic takes 3 namespaces, not 2: 'uu'"),
    "data.vw --interactions u": (2, "--interactions takes 2 to 64 namespaces, not 1: 'u'"),
    "data.vw --skips 1": (2, "--skips needs --ngram"),
    "data.vw --ngram x": (2, "--ngram takes a number up to 64, or a namespace letter and a number: 'x'"),
    "data.vw --affix 9a": (2, "--affix takes specifications like +2a or -3, lengths 1 to 7: '9a'"),
    "data.vw --redefine a": (2, "--redefine takes N:=S, :=S or N:=, not 'a'"),
    "data.vw -b 33": (2, "-b takes 1 to 32 bits, not 33"),
    "data.vw -b 0": (2, "-b takes 1 to 32 bits, not 0"),
    "data.vw --hash_seed -1": (2, "--hash_seed takes 0 to 4294967295, not -1"),
    "data.vw --passes 0": (2, "--passes takes 1 or more, not 0"),
    "data.vw --l1 -1": (2, "--l1 takes a number of 0 or more, not -1"),
    "data.vw -l nan": (
        2,
        "-l: 'nan' is not a finite number ('vwlite train --help' lists what there is)",
    ),
    "data.vw -l -1": (2, "-l takes a number of 0 or more, not -1"),
    "data.vw --max-bad-ratio 2": (2, "--max-bad-ratio takes a number from 0 to 1, not 2"),
    "data.vw --threads 0": (2, "--threads takes 1 or more, not 0"),
    "data.vw --early_terminate 0 --passes 2": (2, "--early_terminate takes 1 or more, not 0"),
    "data.vw -P x": (2, "-P x: give an integer (a step, as 1000) or a number with a dot (a factor, as 2.0)"),
    "data.vw -c --names": (2, "--names does nothing without -f"),
    "data.vw --lock-wait 5": (2, "--lock-wait does nothing without -f"),
    "data.vw -c --names -f m": (2, "--names needs the names in the text, which a cache does not keep: drop -c"),
    "data.vw -c --invert_hash h": (
        2,
        "--invert_hash needs the names in the text, which a cache does not keep: drop -c",
    ),
    "data.vw --loss_function expectile": (
        2,
        "--loss_function expectile needs --expectile_q, a number above 0 and up to 0.5",
    ),
    "data.vw --rank 3": (2, "--rank needs --dotproduct"),
    "data.vw --dotproduct ui --sgd": (2, "--sgd does not go with --dotproduct"),
    "data.vw --dotproduct ui --rank -1": (2, "--rank takes 0 to 4096, not -1"),
    "data.vw --dotproduct ui --dot-pass-l2 1": (
        2,
        "--dot-pass-l2 is for rates that are adaptive: add --dot-rates adaptive",
    ),
    "data.vw --dotproduct ui --dot-first-t -1": (2, "--dot-first-t takes a number of 0 or more, not -1"),
    "data.vw -f data.vw": (2, "data.vw is the input and would be overwritten: give the output another name"),
    "./data.vw -p data.vw": (2, "data.vw is the input and would be overwritten: give the output another name"),
    "data.vw -f m -p ./m": (2, "two outputs have the same name: -f m and -p ./m"),
    "data.vw --quantile_tau 2": (2, "--quantile_tau does nothing without --loss_function quantile"),
    "data.vw --loss_function quantile --quantile_tau 2": (2, "--quantile_tau takes a number from 0 to 1, not 2"),
    "- -": (2, "standard input (-) can be read only once"),
    "data.vw --loss_function poisson": (
        65,
        "data.vw:2: label -1 does not fit --loss_function poisson: labels must be 0 or more",
    ),
    "two.vw --loss_function logistic": (
        65,
        "two.vw:1: label 2 does not fit --loss_function logistic: labels must be 0/1 or -1/1; "
        "'vwlite train' takes others between limits, such as --logistic_min -1 --logistic_max 1",
    ),
    "two.vw --loss_function hinge": (
        65,
        "two.vw:1: label 2 does not fit --loss_function hinge: labels must be 0/1 or -1/1",
    ),
    "data.vw --loss_function logistic --logistic_min 0": (
        65,
        "data.vw:2: label -1 does not fit --loss_function logistic: labels must be from 0 to 1",
    ),
    "mixed.vw --loss_function logistic": (
        65,
        "mixed.vw:3: label -1 after 0/1 labels: use either 0/1 or -1/1, not both",
    ),
    "data.vw mixed.vw --loss_function hinge": (
        65,
        "mixed.vw:2: label 0 after -1/1 labels: use either 0/1 or -1/1, not both",
    ),
}


@pytest.mark.parametrize("arguments", ERRORS)
def test_errors_leave_the_folder_as_it_was(arguments, vwlite, write, tmp_path, names_in):
    """One sentence, the right status, and nothing new in the folder."""
    vwlite("train", "data.vw", "-f", "model")
    (tmp_path / "folder").mkdir()
    write("two.vw", "2 |a x\n")
    write("mixed.vw", "1 |a x\n0 |a y\n-1 |a z\n")
    before = names_in()
    status, said = ERRORS[arguments]
    done = vwlite("train", *arguments.split(), "--quiet", status=status)
    assert (done.stdout, done.stderr) == ("", f"vwlite: {said.format(folder=tmp_path)}\n")
    assert names_in() == before


def test_labels_of_a_continued_model_must_be_of_the_same_kind(vwlite, write):
    vwlite("train", "data.vw", "-f", "model", "--loss_function", "logistic")
    done = vwlite("train", write("zero.vw", "0 |a x\n"), "-i", "model", "--quiet", status=65)
    assert done.stderr == "vwlite: zero.vw:1: label 0 after -1/1 labels: use either 0/1 or -1/1, not both\n"


@pytest.mark.parametrize(
    ("option", "value"), [("--loss_function", "nonsense"), ("--format", "xml"), ("--hash", "md5"), ("--link", "x")]
)
def test_unknown_choices_name_the_known(option, value, vwlite):
    done = vwlite("train", "data.vw", option, value, status=2)
    (said,) = done.stderr.splitlines()
    assert said.startswith(f"vwlite: {option}: '{value}' is not one of ")
    assert said.endswith(" ('vwlite train --help' lists what there is)")


def test_an_unknown_option_is_one_sentence(vwlite):
    done = vwlite("train", "data.vw", "--no-such", status=2)
    assert re.match(r"vwlite: no such option:? '?--no.such", done.stderr)
    assert done.stderr.endswith(" ('vwlite train --help' lists what there is)\n")
    assert len(done.lines + done.stderr.splitlines()) == 1


def test_divergence_leaves_no_model(vwlite, write, names_in):
    write("huge.vw", "1e30 |a x:1e30\n" * 50)
    options = ("--sgd", "-l", "1e30", "--loss_function", "classic", "-f", "model", "--quiet")
    done = vwlite("train", "huge.vw", *options, status=70)
    assert "not a finite number; try a smaller learning rate (-l) or scale the features" in done.stderr
    assert names_in() == ["data.vw", "huge.vw"]


def test_the_share_of_bad_lines_does_not_depend_on_blocks(vwlite, write):
    write("bad.vw", "1 |a x\n" * 989 + "1 a\n" * 12 + "1 |a x\n" * 1000)
    sizes = (1, 5000, 1 << 20)
    done = [vwlite("train", "bad.vw", "--quiet", "--block-size", size, status=None) for size in sizes]
    assert {(run.status, run.stderr) for run in done} == {
        (
            65,
            "vwlite: 11 of 1000 lines are malformed, more than --max-bad-ratio 0.01 allows; "
            "the first: bad.vw:990:1: no '|', expected one between label and features: 1 a\n",
        )
    }


def test_too_many_bad_lines_leave_no_model_of_the_first_pass(vwlite, write, names_in):
    write("bad.vw", DATA + "1 a\n")
    vwlite("train", "bad.vw", "-f", "model", "--passes", "3", "--save_per_pass", "--quiet", status=65)
    assert names_in() == ["bad.vw", "data.vw"]


def test_batch_optimisation_begins_anew_when_it_was_stopped(vwlite, write):
    write("data.vw", "1 |w a\n-1 |w b\n" * 9)
    for option in ("--resume", "--checkpoint-every=1m"):
        refused = vwlite("train", "data.vw", "-f", "m", "--bfgs", "--passes", "4", option, status=2).stderr
        assert "a stopped run of it begins anew" in refused
    assert "at least 2 passes" in vwlite("train", "data.vw", "-f", "m", "--bfgs", status=2).stderr
    assert "--mem needs --bfgs" in vwlite("train", "data.vw", "-f", "m", "--mem", "4", status=2).stderr
    together = vwlite("train", "data.vw", "-f", "m", "--bfgs", "--csoaa", "2", status=2).stderr
    assert "--csoaa does not go with --bfgs for classes: --oaa does" in together
