"""vwlite tune: what it finds, says and refuses."""

import gc
import json
import math
import shlex
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from vwlite.cli.runs.tune import TrialRunner, as_failure, read_fixed
from vwlite.errors import UsageError
from vwlite.evaluation.config import TuneConfig
from vwlite.evaluation.metric_table import TABLE
from vwlite.evaluation.tuning import (
    Dimension,
    Search,
    Trial,
    TrialFailed,
    better_when_larger,
    draw,
    passes_of_rungs,
    propose_trials,
)
from vwlite.learners.base import Learner

LINES = [f"{(n * 7 % 11) / 5 + n % 3} |a x{n % 3}:1 y:{(n * 7 % 11) / 5}\n" for n in range(80)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("-l 0.01..10", Dimension("-l", low=0.01, high=10)),
        ("-b 10..14", Dimension("-b", low=10, high=14, whole=True)),
        ("-q off|ui", Dimension("-q", ("off", "ui"))),
        ("--l2 1e-8..1e-2", Dimension("--l2", low=1e-8, high=0.01)),
        ("l 1|2", Dimension("-l", ("1", "2"))),
        ("l2 1|2", Dimension("--l2", ("1", "2"))),
    ],
)
def test_dimensions_are_read(text, wanted):
    assert Dimension.read(text) == wanted


@pytest.mark.parametrize("text", ["", "-l", "-- 1..2", "-l 3..2", "-l 1..2 3", "-q |"])
def test_wrong_dimensions_are_refused(text):
    with pytest.raises(UsageError, match="--vary takes"):
        Dimension.read(text)


def test_points_lie_in_the_space_and_differ():
    space = [Dimension.read(text) for text in ("-l 0.01..10", "-b 10..14", "--ftrl on|off")]
    points = draw(space, 40, 1)
    assert len({trial.text for trial in points}) == 40 and points[0].options == draw(space, 3, 1)[0].options
    for trial in points:
        words = trial.options
        assert 0.01 <= float(words[1]) <= 10 and 10 <= int(words[3]) <= 14 and words[4:] in ([], ["--ftrl"])
    assert sum(float(trial.options[1]) < 0.3 for trial in points) > 10  # by the logarithm
    assert len(draw([Dimension.read("-b 10|11")], 9, 0)) == 2


def test_the_best_third_goes_on():
    assert passes_of_rungs(27, 9) == [1, 3, 9] and passes_of_rungs(2, 9) == [9]
    assert passes_of_rungs(5, 20) == [6, 20] and passes_of_rungs(9, 1) == [1]
    made = []

    def run(trial, passes):
        made.append((trial.number, passes))
        if trial.number == 5:
            raise TrialFailed("diverged", 70)
        return abs(trial.number - 4) + 1 / passes

    trials = [Trial(number, [f"-{number}"]) for number in range(1, 10)]
    search = Search([trials[:4], trials[4:]], 9, 9, "mse", run)
    assert search.best() == (trials[3], 9) and str(trials[4].failure) == "diverged"
    assert [passes for number, passes in made if number] == [1] * 9 + [3] * 2 + [9]
    assert {passes for number, passes in made if not number} == {1, 3, 9} == set(search.defaults.scores)
    assert Search([[Trial(1, []), Trial(2, [])]], 2, 1, "auc", lambda trial, passes: trial.number).best()[0].number == 2


@pytest.mark.parametrize(
    ("score", "number", "passes"),
    [
        (lambda trial, passes: 1 + passes, 0, 1),  # more passes overfit, no option changes anything
        (lambda trial, passes: trial.number + 10 / passes, 0, 9),
        (lambda trial, passes: 1 + passes - trial.number, 9, 1),
        (lambda trial, passes: (passes - 3) ** 2 - trial.number, 9, 3),
        (lambda trial, passes: {0: 1, 5: 2}.get(trial.number, 3) + passes / 10, 0, 1),
    ],
)
def test_the_best_of_all_is_returned(score, number, passes):
    said = []
    trials = [Trial(place, [f"-{place}"]) for place in range(1, 10)]
    search = Search([trials], 9, 9, "loss", score, say=said.append)
    best, steps = search.best()
    assert (best.number, steps) == (number, passes)
    assert best.scores[steps] == min(value for trial in search.trials for value in trial.scores.values())
    assert ("nothing did better than the defaults: loss" in said[-1]) == (number == 0)
    assert f"{search.defaults.scores[1]:.6g} after 1 pass, {search.defaults.scores[3]:.6g} after 3 passes" in said[-1]


def test_trials_that_fail_later_are_told_and_keep_their_scores():
    said = []

    def run(trial, passes):
        if passes > 1 or trial.number in (0, 2):
            raise TrialFailed(f"{trial.number} diverged after {passes}", 70)
        return 1 / trial.number

    points = [Trial(number, [f"-{number}"]) for number in range(1, 10)]
    best, passes = Search([points], 9, 9, "mse", run, say=said.append).best()
    assert (best.number, passes) == (9, 1)
    assert said == [
        "1 pass: 8 trials, best mse 0.111111 with -9; 1 failed, the first: 2 diverged after 1",
        "3 passes: 0 trials; 2 failed, the first: 9 diverged after 3",
        "best mse 0.111111 after 1 pass with -9",
        "the defaults: mse no score: 0 diverged after 1",
    ]


def test_every_metric_says_which_of_two_is_better_or_is_refused():
    neither = {"mean_label", "mean_prediction", "calibration", "calibration_bins", "best_constant_log_loss"}
    neither |= {"majority_accuracy", "best_constant_loss", "confusion_matrix", "per_class", "conll", "outputs"}
    assert better_when_larger("auc") and better_when_larger("ndcg@10") and not better_when_larger("rmse")
    assert neither < {row.name for row in TABLE}
    for name in {row.name for row in TABLE}:
        if name in neither:
            with pytest.raises(UsageError, match="does not say which of two models is better"):
                better_when_larger(name)
        else:
            smaller = ("mse", "rmse", "rmse_raw", "mae", "mae_raw", "ece", "mean_squared_distance", "hamming")
            assert better_when_larger(name) != ("loss" in name or name in smaller)


def test_estimated_points_draw_near_the_best():
    pytest.importorskip("optuna")
    space = [Dimension.read(text) for text in ("-l 0.0001..100", "-b 10..18", "--ftrl on|off")]

    def run(trial, passes):
        if "--ftrl" in trial.options:
            raise TrialFailed("no", 65)
        return abs(math.log(float(trial.options[1]))) + abs(int(trial.options[3]) - 14)

    def points(metric="loss"):
        return [list(portion) for portion in noted(propose_trials(space, 42, 3, metric), run)]

    actual = points()
    assert [len(portion) for portion in actual] == [4] * 10 + [2]
    assert [trial.number for portion in actual for trial in portion] == list(range(1, 43))
    assert [trial.text for portion in points() for trial in portion] == [t.text for portion in actual for t in portion]
    rates = [abs(math.log(float(trial.options[1]))) for portion in actual for trial in portion]
    assert sum(rates[-20:]) < sum(rates[:20])


def noted(portions, run):
    for portion in portions:
        for trial in portion:
            with suppress(TrialFailed):
                trial.scores[1] = run(trial, 1)
        yield portion


def test_estimating_needs_the_extra(vwlite, write, monkeypatch):
    write("train.vw", "".join(LINES))
    options = ("--test", "train.vw", "--vary", "-l 0.1..1", "--sampler", "tpe", "--trials", "3", "--passes", "1")
    monkeypatch.setitem(sys.modules, "optuna", None)
    done = vwlite("tune", "train.vw", *options, status=69)
    assert "pip install 'vwlite[tune]'" in done.stderr


def test_a_rate_is_found_and_the_command_printed(vwlite, write, tmp_path):
    write("train.vw", "".join(LINES[:60]))
    write("test.vw", "".join(LINES[60:]))
    options = ("--metric", "mse", "--trials", "6", "--passes", "3", "--vary", "-l 0.0001..2")
    options += ("--with", "--noconstant -b 10")
    done = vwlite("tune", "train.vw", "--test", "test.vw", *options, "-f", "best", "--json", "all.json")
    words = shlex.split(done.stdout)
    assert words[:4] == ["vwlite", "train", "train.vw", "--noconstant"] and words[-2:] == ["-f", "best"]
    report = json.loads((tmp_path / "all.json").read_text())
    scores = {(trial["trial"], passes): s for trial in report["trials"] for passes, s in trial["scores"].items()}
    assert len(report["trials"]) == 7 and report["trials"][0]["options"] == ""
    assert {passes for number, passes in scores if number == 0} == {"1", "3"}
    assert scores[report["best"], str(report["passes"])] == report["score"] == min(scores.values())
    vwlite(*words[1:-1], "again", "--quiet", "--threads", "1")
    measured = (vwlite("evaluate", "-i", model, "test.vw", "--json", "-").stdout for model in ("best", "again"))
    one, other = (json.loads(text)["mse"] for text in measured)
    assert one == other == report["score"]
    alone = vwlite("tune", "train.vw", "--test", "test.vw", *options, "--jobs", "1", "--seed", "0", "--quiet")
    assert alone.stdout.replace("-f model", "-f best") == done.stdout and alone.stderr == ""


def noisy(seed):
    """Labels that one feature tells of, and eight at random beside it."""
    for n in range(80):
        words = " ".join(f"x{(n * n * k + seed * n) % 61}" for k in range(1, 9))
        yield f"{(n * 37 + seed) % 11 - 5 + 4 * (n % 2)} |a s{n % 2} {words}\n"


def test_more_passes_that_overfit_are_not_recommended(vwlite, write, tmp_path):
    write("train.vw", "".join(noisy(1)))
    write("test.vw", "".join(noisy(7)))
    learner = ("--vary", "-l 1..4", "--with", "--label-units raw")
    options = ("--metric", "mse", "--trials", "3", "--passes", "3", *learner, "--json", "all.json")
    done = vwlite("tune", "train.vw", "--test", "test.vw", *options, "-f", "best")
    report = json.loads((tmp_path / "all.json").read_text())
    assert report["passes"] < 3 and ["--passes", str(report["passes"])] == shlex.split(done.stdout)[-5:-3]
    seen = [score for trial in report["trials"] for score in trial["scores"].values()]
    assert json.loads(vwlite("evaluate", "-i", "best", "test.vw", "--json", "-").stdout)["mse"] == min(seen)
    assert "the defaults" in done.stderr


def test_the_command_found_gives_the_model_found(vwlite, write, tmp_path):
    text = "".join(f"{(n * 7 % 11) / 5} |u a{n % 7} |i b{n % 5}\n" for n in range(80))
    options = ("--with", "--dotproduct ui --shuffle", "--vary", "-l 0.1|0.2|0.3", "--trials", "3", "--passes", "3")
    done = vwlite("tune", write("train.vw", text), "--test", "train.vw", *options, "-f", "best", "--quiet")
    words = shlex.split(done.stdout)
    assert words[-5:-2] == ["--passes", "3", "--holdout_off"]
    vwlite(*words[1:-1], "again", "--quiet", "--threads", "1")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "best").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("d --test d --vary '--passes 1|2'", "--passes is not for tune to vary"),
        ("d --test d --vary 'cache-file x|y'", "--cache-file is not for tune to vary"),
        ("d --test d --vary '-l 1..2' --with --final-regressor=m", "-f is not for tune to hand on"),
        ("d --test d --vary '-l 1..2' --metric calibration", "does not say which of two models is better"),
        ("d --test d --vary 'loss_function squared|hinge'", "losses of different --loss_function do not compare"),
        ("d --test d --vary 'ftrl off'", "nothing to try but the defaults"),
        ("- --test t --vary '-l 1..2'", "name files, not standard input"),
        ("d --test d --vary '-l 1..2' --with '-f m'", "-f is not for tune"),
        ("d --test d --vary 'invert_hash x|y'", "--vary: --invert_hash is not for tune to vary"),
        ("d --test d --vary 'help on'", "--help is not for tune to vary"),
        ("d --test d --vary '-l 1..2' --trials 0", "--trials takes 1 or more"),
        ("d --test d --vary '-l 1..2' --with \"'\"", "--with: No closing quotation"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("d", "oh\n")
    assert message in vwlite("tune", *shlex.split(options), status=2).stderr


@pytest.mark.parametrize(
    ("made", "status", "reason"),
    [
        ("bad", 65, "1 of 1 lines are malformed"),
        ("wild", 70, "is not a finite number"),
        ("cached", 73, "cannot write cached.cache: it is a directory"),
    ],
)
def test_the_status_of_trials_that_all_failed_is_theirs(made, status, reason, vwlite, write, tmp_path, monkeypatch):
    write("bad", "oh\n")
    write("wild", "1e38 |a b:1e30\n-1e38 |a b:1e30 c:1e38\n" * 40)
    write("cached", "1 |a b\n")
    (tmp_path / "cached.cache").mkdir()
    monkeypatch.setenv("VWLITE_TRAIN_CACHE", "1")
    (tmp_path / "bad.cache").unlink(missing_ok=True)
    rate = "l 1e9|1e8" if made == "wild" else "l 1|2"
    stderr = vwlite("tune", made, "--test", "bad", "--with", "--sgd", "--vary", rate, status=status).stderr
    assert "every trial failed; the first: vwlite: " in stderr and reason in stderr


FILES = {
    "--readable_model r": "--readable_model",
    "--quiet --invert-hash=r": "--invert_hash",
    "-fr": "-f",
    "-pr": "-p",
    "-r r": "-r",
    "--json r": "--json",
    "--bad-lines r": "--bad-lines",
    "-cb 9": "-c",
    "--cache_file r": "--cache_file",
    "-i r": "-i",
    "--l2 1 --help": "-h",
}


@pytest.mark.parametrize("words", FILES)
def test_no_trial_writes_a_file_of_its_own(words, vwlite, write, names_in):
    write("d", "".join(LINES))
    done = vwlite("tune", "d", "--test", "d", "--vary", "-l 1|2", "--with", words, status=2)
    assert done.stderr == f"vwlite: --with: {FILES[words]} is not for tune to hand on\n"
    assert names_in() == ["d"]


def test_data_and_what_is_no_option_are_not_handed_on(vwlite, write):
    write("d", "".join(LINES))
    common = ("tune", "d", "--test", "d", "--vary", "-l 1|2", "--with")
    for words in ("d", "-d d", "--l2 1e-9 --data=d"):
        assert "d is no option: name data as FILE of tune" in vwlite(*common, words, status=2).stderr
    items = vwlite(*common, "--l2 1e-9 --columns label=y a=app:text =x", status=2).stderr
    assert "a=app:text is no option: tune itself takes --columns" in items
    assert items.endswith("--columns 'label=y a=app:text =x'\n")
    assert "--with: no such option --l2o (did you mean --l2?)" in vwlite(*common, "--l2o 3", status=2).stderr


def test_a_model_of_margins_is_handed_on():
    words = "--curriculum easy --curriculum-by margin:m --l2 1e-9"
    assert read_fixed(words) == words.split()


WILD = "1e38 |a b:1e30\n-1e38 |a b:1e30 c:1e38\n" * 40
FAILING = ["--l2 x", "--nosuch 3", "--ftrl --coin", "--oaa 3", "--bfgs --resume", "--rank 3", "-b 99", "--sgd -l 1e9"]


@pytest.mark.parametrize("words", FAILING)
def test_failing_trials_give_the_message_of_the_command(words, vwlite, write):
    write("d", WILD if "--sgd" in words else "".join(LINES))
    *others, last, value = ("", "", *words.split())
    varied = f"{last} {value}" if value[0] != "-" else f"{value} on"
    options = ("--with", shlex.join(filter(None, others + [last] * (value[0] == "-"))), "--vary", varied)
    done = vwlite("tune", "d", "--test", "d", *options, "--trials", "1", "--passes", "3", status=None)
    learn = ("train", "d", *words.split(), "--passes", "3", "--holdout_off", "-f", "m", "--quiet")
    stderr = vwlite(*learn, status=None).stderr
    assert stderr.startswith("vwlite: ") and stderr.count("\n") == 1 and f"the first: {stderr}" in done.stderr


def test_one_trial_without_memory_does_not_end_the_others(vwlite, write, tmp_path, monkeypatch):
    train = TrialRunner.train

    def starved(self, words):
        if "0.3" in words:
            raise MemoryError("Unable to allocate 9 EiB")
        train(self, words)

    monkeypatch.setattr(TrialRunner, "train", starved)
    options = ("--vary", "l 0.1|0.2|0.3", "--trials", "3", "--passes", "1", "--json", "all.json", "--quiet")
    vwlite("tune", write("d", "".join(LINES)), "--test", "d", *options)
    failures = [trial["failure"] for trial in json.loads((tmp_path / "all.json").read_text())["trials"]]
    assert sorted(failures) == ["", "", "", "vwlite: not enough memory: Unable to allocate 9 EiB"]


@pytest.mark.parametrize("words", ["", "--dotproduct ab --shuffle", "--bfgs", "--curriculum easy", "--names", "-l 1e9"])
def test_the_memory_of_a_trial_is_free_when_it_is_over(words, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("d", WILD if "1e9" in words else "".join(line.replace("y:", "|b y:") for line in LINES))
    gc.collect()
    gc.disable()
    try:
        with suppress(TrialFailed):
            config = TuneConfig(tests=("d",), vary=("l 1..2",))
            TrialRunner(tmp_path, ["d"], [], config, print).run(Trial(1, words.split()), 2)
        learners = [candidate for candidate in gc.get_objects() if isinstance(candidate, Learner)]
    finally:
        gc.enable()
    assert learners == []


def test_a_failure_nobody_had_a_sentence_for():
    failed = as_failure(KeyError("x"))
    assert (str(failed), failed.exit_code) == ("KeyError: 'x'", 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_trials(number, write, tmp_path, cli_env):
    write("d", "".join(LINES) * 50)
    command = [sys.executable, "-m", "vwlite", "tune", "d", "--test", "d", "--vary", "-l 0.1..1", "--trials", "9"]
    command += ["--passes", "900000", "--jobs", "3"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    hear = lambda: signal.signal(number, signal.SIG_DFL)  # noqa: E731  (a job in the background ignores SIGINT)
    (tmp_path / "tmp").mkdir()
    env = {**cli_env, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(command, cwd=tmp_path, env=env, preexec_fn=hear, **pipes) as process:
        while not list(tmp_path.glob("tmp/vwlite-tune-*/*")):  # files of a trial that runs
            assert process.poll() is None
        process.send_signal(number)
        out, said = process.communicate(timeout=120)
    assert (process.returncode, out) == (128 + number, b"")
    assert said.strip() == (b"vwlite: interrupted" if number == signal.SIGINT else b"vwlite: terminated")
    assert list(tmp_path.glob("tmp/vwlite-tune-*")) == []


def test_tables_are_read_as_by_train(vwlite, write):
    rows = [f"{1 if n % 3 else -1},x{n % 3},{n}\n" for n in range(60)]
    write("d.csv", "y,a,n\n" + "".join(rows))
    write("held.jsonl", "".join(f'{{"y": {1 if n % 3 else -1}, "a": "x{n % 3}", "n": {n}}}\n' for n in range(9)))
    search = ["--test", "held.jsonl", "--vary", "l 0.1|1", "--trials", "2", "--passes", "1", "--quiet", "--jobs", "1"]
    columns = "label=y s=a,n:number"
    stdout = vwlite("tune", "d.csv", *search, "--columns", columns, "--metric", "accuracy", "-f", "best").stdout
    words = shlex.split(stdout)
    assert words[:5] == ["vwlite", "train", "d.csv", "--columns", columns]
    handed = vwlite("tune", "d.csv", *search, "--with", f"--columns '{columns}'", "--metric", "accuracy").stdout
    assert stdout.replace(" -f best", "") == handed.replace(" -f model", "")
    vwlite(*words[1:], "--quiet")
    assert "accuracy" in vwlite("evaluate", "-i", "best", "held.jsonl", "--metric", "accuracy").stdout
    write("d", "y,a,n\n" + "".join(rows))
    typed = ["--format", "csv", "--columns", columns]
    assert "--format csv" in vwlite("tune", "d", *search, *typed).stdout
    stderr = vwlite("tune", "d", *search, *typed, "--with", "--format csv", status=2).stderr
    assert "--format is there twice: drop it from --with" in stderr
