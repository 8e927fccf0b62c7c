"""``vwlite tune --command``: what learns by a solver of its own."""

import json
import shlex

import pytest
from golden.make import texts
from l1_case import SENTENCES

PAIRS = "".join(f"{n % 3} |q q{n // 6} |f x:{n % 3 + n % 7 / 10} y:{n % 5}\n" for n in range(60))
CLICKS = "".join(f"{n % 2} |u u{n % 2} |i i{n % 5}\n" for n in range(60))
MIXED = SENTENCES.replace("I-NP |w cat", "O |w cat", 3)


def tune(vwlite, *options, status=0):
    return vwlite("tune", *options, "--trials", "3", "--passes", "3", "--json", "-", status=status)


@pytest.mark.parametrize(
    ("text", "command", "metric", "fixed", "vary"),
    [
        (MIXED, "l1", "f1", "--model crf", "l 0.05..1"),
        (MIXED, "l1", "log_loss", "--model crf --l1 0.5", "rate harmonic|exponential"),
        (MIXED, "l1", "accuracy", "--model crf --loss mira", "aggressiveness 0.001..1"),
        (MIXED, "l1", "macro_f1", "--model multinomial", "l1 0.1..4"),
        (CLICKS, "l1", "auc", "", "l1 0.1..4"),
        (CLICKS, "crr", "log_loss", "--qid none --loss_function logistic", "alpha 0.1..0.9"),
        (PAIRS, "crr", "ndcg@3", "--qid q", "lambda 0.001..0.1"),
    ],
)
def test_the_command_found_gives_the_model_found(text, command, metric, fixed, vary, vwlite, write, tmp_path):
    write("d", text)
    options = ("d", "--test", "d", "--command", command, "--metric", metric, "--vary", vary, "-f", "best", "--quiet")
    with_fixed = ("--with", fixed) if fixed else ()
    report = json.loads(tune(vwlite, *options, *with_fixed).stdout)
    words = shlex.split(vwlite("tune", *options, *with_fixed, "--trials", "3", "--passes", "3").stdout)
    assert words[:3] == ["vwlite", command, "d"] and words[-2:] == ["-f", "best"]
    assert ("--steps" in words) == (command == "crr") and ("--passes" in words) == (command == "l1")
    vwlite(*words[1:-2], "-f", "again", "--quiet")
    assert (tmp_path / "best").read_bytes() == (tmp_path / "again").read_bytes()
    assert not any(trial["failure"] for trial in report["trials"]) and len(report["trials"]) >= 2
    message = "conll" if metric == "f1" else metric
    measured = json.loads(vwlite("evaluate", "-i", "best", "d", "--metric", message, "--json", "-").stdout)
    assert measured[metric] == pytest.approx(report["score"])


def test_jobs_change_nothing(vwlite, write, tmp_path):
    write("d", MIXED)
    options = ("d", "--test", "d", "--command", "l1", "--metric", "f1", "--with", "--model crf", "--vary", "l 0.05..1")
    runs = (tune(vwlite, *options, "--jobs", jobs, "-f", f"m{jobs}").stdout for jobs in ("1", "3"))
    one, three = (json.loads(run)["trials"] for run in runs)
    assert one == three and (tmp_path / "m1").read_bytes() == (tmp_path / "m3").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--command l1 --with '--dotproduct ab' --metric auc", "--with: no such option --dotproduct"),
        ("--command l1 --with '--passes 3' --metric auc", "--with: --passes is not for tune to hand on"),
        ("--command crr --with '--steps 3' --metric auc", "--with: --steps is not for tune to hand on"),
        ("--command l1 --with '-i m' --metric auc", "--with: -i is not for tune to hand on"),
        ("--command l1 --vary 'steps 1..3' --metric auc", "the first: vwlite: no such option --steps"),
        ("--command l1 --with '--model crf'", "--metric loss: a model of this kind has accuracy"),
        ("--command l1 --with '--model crf --loss margin' --metric log_loss", "has no log_loss"),
        ("--command pca --metric auc", "'pca' is not one of train, l1, crr, aso"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("d", MIXED)
    stderr = tune(vwlite, "d", "--test", "d", "--vary", "l1 0.1..1", *shlex.split(options), status=2).stderr
    assert message in stderr


def test_options_of_the_command_are_taken_as_they_are(vwlite, write):
    write("t.vw", "".join(f"{n % 2} |a x{n % 4} |b y{n % 3}\n" for n in range(60)))
    shared = ("tune", "t.vw", "--metric", "log_loss", "--trials", 2, "--passes", 1, "--vary", "l 0.1..1", "--quiet")
    typed = vwlite(*shared, "--loss_function=logistic", "-qab", "--noconstant", "-b", 20).stdout
    handed = vwlite(*shared, "--with", "--loss_function=logistic -qab --noconstant -b 20").stdout
    assert typed == handed
    assert "--loss_function=logistic -qab --noconstant -b 20 -l" in typed
    mixed = vwlite(*shared, "--with", "--noconstant", "--loss_function", "logistic").stdout
    assert "--noconstant --loss_function logistic -l" in mixed
    stderr = vwlite(*shared, "-f", "m", "-i", "other", status=2).stderr
    assert "-i is not for tune to hand on" in stderr
    sequence = ("tune", "t.vw", "--vary", "alpha 0|0.25", "--trials", 2, "--passes", 1, "--quiet", "--lambda", "0.1")
    both = [vwlite(*sequence, *words).stdout for words in (("--command=crr",), ("--command", "crr"))]
    assert both[0] == both[1] and both[0].startswith("vwlite crr t.vw --lambda 0.1 ")
    assert "no such option --bogus" in vwlite(*shared, "--bogus", 3, status=2).stderr


@pytest.mark.parametrize("options", ["", "--command l1 --model binary", "--command crr"])
def test_data_and_space_are_found_where_nothing_is_said(options, vwlite, write):
    write("t.vw", "".join(f"{n % 2} |a x{n % 4} y{n % 3}\n" for n in range(60)))
    done = vwlite("tune", "t.vw", *options.split(), "--trials", 3, "--passes", 1, "-f", "m")
    assert "note: loss is measured on every fifth example, set aside (--test names others)" in done.stderr
    program, *words = done.stdout.split()
    assert program == "vwlite" and "t.vw" in words
    vwlite(*words, "--quiet")
    fixed = "-l 1 --power_t 0.5 --l2 1e-8"
    stderr = vwlite("tune", "t.vw", *fixed.split(), "--trials", 3, status=2).stderr
    assert "name others with --vary" in stderr


@pytest.mark.parametrize(("low", "typed", "told"), [
    ("-1", "", True),
    ("0", "", True),
    ("-1", "--metric accuracy", True),
    ("-2", "", False),
    ("-1", "--loss_function hinge", False),
    ("-1", "--loss_function squared", False),
    ("-1", "--dual", False),
    ("-1", "--quiet", False),
    ("-1", "--metric accuracy --vary 'loss_function squared|logistic'", False),
])
def test_two_classes_without_a_loss_are_told_of_the_logistic_one(low, typed, told, vwlite, write):
    write("t.vw", "".join(f"{(low, 1)[n % 2]} |a x{n % 4} y{n % 3}\n" for n in range(60)))
    write("t.csv", "label,x\n" + "".join(f"{(low, 1)[n % 2]},x{n % 4}\n" for n in range(60)))
    for file, columns in (("t.vw", ()), ("t.csv", ("--columns", "label=label"))):
        done = vwlite("tune", file, *columns, *shlex.split(typed), "--trials", 2, "--passes", 1)
        note = "note: --loss_function logistic may learn these data better\n"
        assert done.stderr.count("may learn") == done.stderr.count(note) == told


def test_classes_with_theta(vwlite, write, tmp_path):
    text = "".join(f"{'ab'[n % 2]} |w {'xy'[n % 2]}{n % 5} z{n % 3} |v u{n % 4}\n" for n in range(60))
    write("d", text)
    write("un", text.replace("a |", " |").replace("b |", " |"))
    vwlite("aso", "learn", "un", "--aux", "mask:v", "-f", "theta", "--dim", "2", "--quiet")
    how = ("--command", "aso", "--metric", "macro_f1", "--theta", "theta")
    options = ("d", "--test", "d", *how, "--quiet", "-f", "best")
    words = shlex.split(vwlite("tune", *options, "--trials", "3", "--passes", "3").stdout)
    assert words[:4] == ["vwlite", "aso", "train", "d"] and "theta" in words and words[-2:] == ["-f", "best"]
    vwlite(*words[1:-2], "-f", "again", "--quiet")
    assert (tmp_path / "best").read_bytes() == (tmp_path / "again").read_bytes()
    varied = ("--vary", "theta-scale 0.1|1", "--with", "--sequences")
    assert vwlite("tune", "d", "--command", "aso", "--metric", "accuracy", *varied, "--theta", "theta").stdout
    assert "Theta of --theta and would be overwritten" in vwlite("tune", *options, "-f", "theta", status=2).stderr


VARIED = {  # options of a learner, and the data: what is varied of it
    ("train numbers", "--sgd --l1 1e-4"): "-l --power_t --l2",
    ("train signs", "--ftrl --loss_function logistic"): "--ftrl_alpha --l2",
    ("train numbers", "--coin"): "--ftrl_alpha",
    ("train signs", "--passive_aggressive pa-i --loss_function hinge"): "--aggressiveness",
    ("train signs", "--bfgs --loss_function logistic"): "--l2",
    ("train signs", "--dual"): "--l2",
    ("train signs", "--ksvm --kernel poly"): "--l2",
    ("train numbers", "--dotproduct ui --rank 2"): "-l --power_t",
    ("train classes", "--multiclass 3"): "-l",
    ("train names", "--multiclass auto"): "-l",
    ("train names", "--oaa auto"): "-l --power_t --l2",
    ("train classes", "--multiclass 3 --dotproduct ui --rank 2"): "-l",
    ("train classes", "--filter_tree 3 --scoring --dotproduct ui --rank 2"): "-l --power_t",
    ("train numbers", "--nn 4"): "-l",
    ("train targets", "--outputs 3 --trace 0.01 --rank 2"): "-l",
    ("train classes", "--multiclass 3 --trace 0.01 --rank 2"): "-l",
    ("l1 signs", ""): "--l1 -l",
    ("l1 sequences", "--model crf --loss mira"): "--aggressiveness",
    ("l1 signs", "--solver owlqn"): "--l1",
    ("crr signs", "--qid none"): "--lambda --alpha",
}


@pytest.mark.parametrize("case", VARIED, ids=" ".join)
def test_the_default_space_suits_the_learner(case, vwlite, write):
    """No trial is refused for an option that the learner does not take."""
    (command, text), options = case[0].split(), case[1].split()
    write("d.vw", texts()[text])
    metric = {"train": (), "l1": ("--metric", "accuracy"), "crr": ("--metric", "rmse")}[command]
    done = vwlite("tune", "d.vw", "--test", "d.vw", "--command", command, *metric, *options, "--trials", 4,
                  "--passes", 2 if "--bfgs" in options else 1, "--json", "-", "--quiet")  # fmt: skip
    trials = json.loads(done.stdout)["trials"][1:]
    assert [trial["failure"] for trial in trials] == [""] * len(trials)
    varied = {word for trial in trials for word in trial["options"].split() if word.startswith("-")}
    assert varied <= {*VARIED[case].split()} and {*VARIED[case].split()} - varied <= {"--l2"}  # which may be off
