"""Stopped and resumed: -i goes on exactly, and says so when it cannot."""

import json
import subprocess
import sys

import numpy as np
import pytest

from vwlite.storage.model_file import load

TEXT = "".join(f"{n % 2} |user u{n % 5} |item i{n % 7} x{n % 3}\n" for n in range(40))
HALF = len(TEXT.splitlines()) // 2


@pytest.fixture
def files(tmp_path):
    lines = TEXT.splitlines(keepends=True)
    for name, part in {"all": lines, "first": lines[:HALF], "second": lines[HALF:]}.items():
        (tmp_path / f"{name}.vw").write_text("".join(part))
    return tmp_path


def names_of(path):
    return load(path).arrays["name_text"].tobytes().decode()


def test_a_rate_that_decays_with_every_run_is_said(run_here, files):
    """Those of dot products do where nothing is typed: after some weeks of nights little is learned."""
    run_here("train", "first.vw", "-f", "part", "--dotproduct", "ui")
    done = run_here("train", "second.vw", "-i", "part", "-f", "part")
    assert "the learning rate has decayed to 0.03 over 1 passes, each run being one; -l sets another\n" in done.stderr
    assert "0.0225 over 2 passes" in run_here("train", "second.vw", "-i", "part", "-f", "other").stderr
    assert "to 0.04 over" in run_here("train", "second.vw", "-i", "part", "-f", "other", "-l", 0.04).stderr
    assert "decayed" not in run_here("train", "second.vw", "-i", "part", "-f", "other", "--quiet").stderr
    run_here("train", "first.vw", "-f", "part")
    assert "decayed" not in run_here("train", "second.vw", "-i", "part", "-f", "part").stderr


def test_names_are_kept_and_added_to(run_here, files):
    run_here("train", "all.vw", "-f", "whole", "--names")
    run_here("train", "first.vw", "-f", "part", "--names")
    run_here("train", "-i", "part", "-f", "part", stdin="1 |new n\n")
    assert "user^u1" in names_of(files / "part") and "new^n" in names_of(files / "part")
    assert "new^n" not in names_of(files / "whole")


CONTRADICTIONS = {
    "-q uu": "-q uu contradicts model, which was made with -q ui",
    "--cubic uii": "--cubic uii contradicts model, which was made without it",
    "--ignore u": "--ignore u contradicts model",
    "--noconstant": "--noconstant contradicts model, which was made without it",
    "-b 10": "-b 10 contradicts model, which was made with -b 18",
    "--link identity": "--link identity contradicts model, which was made with --link logistic",
    "--loss_function hinge": "--loss_function hinge contradicts model, which was made with --loss_function logistic",
    "--sgd": "--sgd contradicts model, which was made without it",
    "--initial_weight 0.5": "--initial_weight 0.5 contradicts model",
}


@pytest.mark.parametrize("options", CONTRADICTIONS)
def test_options_that_contradict_the_model(options, run_here, files):
    run_here("train", "all.vw", "-f", "model", "-q", "ui", "--loss_function", "logistic")
    before = (files / "model").read_bytes()
    done = run_here("train", "all.vw", "-i", "model", "-f", "model", *options.split(), status=2)
    assert CONTRADICTIONS[options] in done.stderr
    assert (files / "model").read_bytes() == before


OF_SHAPE = {
    "--oaa 3": ("--oaa 4", "--oaa 4 contradicts model, which was made with --oaa 3"),
    "--oaa 4": ("--csoaa 3", "--csoaa 3 contradicts model, which was made without it"),
    "--outputs 1": ("--outputs 2", "--outputs 2 contradicts model, which was made with --outputs 1"),
    "--multiclass 3": ("--multiclass 5", "--multiclass 5 contradicts model, which was made with --multiclass 3"),
    "--filter_tree 3": ("--filter_tree 4", "--filter_tree 4 contradicts model, which was made with --filter_tree 3"),
    "--ect 3": ("--ect 3 --error 2", "--error 2 contradicts model, which was made without it"),
    "-b 10": ("--filter_tree 3", "--filter_tree is no option of the model's learner, gd"),
    "-b 11": ("--dotproduct ui", "--dotproduct ui contradicts model, which was made without it"),
    "--dotproduct ui": ("--dotproduct uu", "--dotproduct uu contradicts model, which was made with --dotproduct ui"),
}


@pytest.mark.parametrize("options", OF_SHAPE)
def test_a_model_keeps_its_shape(options, run_here, files):
    """Under ``vwlite vw``, too."""
    (files / "c.vw").write_text("".join(f"{n % 3 + 1} |user u{n % 5} |item i{n % 3}\n" for n in range(12)))
    raw = () if "--dotproduct" in options else ("--label-units", "raw")
    run_here("train", "c.vw", "-f", "model", *raw, *options.split())
    other, message = OF_SHAPE[options]
    assert message in run_here("train", "c.vw", "-i", "model", *other.split(), status=2).stderr
    assert message in run_here("vw", "c.vw", "-i", "model", *other.split(), status=1).stdout
    run_here("vw", "c.vw", "-i", "model", *options.split())


NIGHTLY = (
    "--loss_function logistic --link logistic -q ui --cubic uii -b 17 --power_t 0.4 --ignore z -l 0.3 --initial_t 2 "
    "--min_prediction -3 --decay_learning_rate 0.9 --passes 2 --holdout_off"
)


def test_a_nightly_job_uses_one_command_line(run_here, files):
    options = NIGHTLY.split()
    run_here("train", "all.vw", "-f", "model", *options)
    rate = load(files / "model").header["scalars"]["rate"]
    run_here("train", "all.vw", "-i", "model", "-f", "model", *options)
    assert load(files / "model").header["scalars"]["rate"] == pytest.approx(rate * 0.9**2)


def test_a_dyadic_job_uses_one_command_line(run_here, files):
    options = ["--dotproduct", "ui", "--rank", "3", "--seed", "4", "--dot-init", "0.2"]
    run_here("train", "all.vw", "-f", "model", *options)
    run_here("train", "all.vw", "-i", "model", "-f", "model", *options)
    assert "--rank 4 contradicts" in run_here("train", "all.vw", "-i", "model", "--rank", 4, status=2).stderr


def test_a_predict_only_model_does_not_go_on(run_here, files):
    run_here("train", "all.vw", "-f", "model", "--predict_only_model")
    assert "cannot be trained further" in run_here("train", "all.vw", "-i", "model", "-f", "other", status=76).stderr
    assert not (files / "other").exists()


@pytest.mark.parametrize("text", ["", "\n\n", "|w no label\n"])
def test_nothing_to_learn_from_leaves_the_model_alone(text, run_here, files):
    run_here("train", "all.vw", "-f", "model")
    before = (files / "model").read_bytes()
    assert "no labelled example" in run_here("train", "-f", "model", stdin=text, status=65).stderr
    assert (files / "model").read_bytes() == before
    run_here("train", "-i", "model", "-f", "model", stdin=text)


@pytest.mark.parametrize("options", ["--sgd -l 1e20", "-l 1e30 --decay_learning_rate 1e30 --passes 3 --holdout_off"])
def test_diverged_models_are_not_saved(options, run_here, tmp_path):
    (tmp_path / "data.vw").write_text("1 |a x:1e20\n")
    done = run_here("train", "data.vw", "-f", "model", *options.split(), status=70)
    assert done.stderr.splitlines()[-1].startswith("vwlite: ") and not (tmp_path / "model").exists()


def test_a_model_is_not_saved_where_only_a_sum_is_not_finite(run_here, tmp_path):
    (tmp_path / "data.vw").write_text("1 | a:1e19\n" * 4)
    done = run_here("train", "data.vw", "-f", "model", "--label-units", "raw", status=70)
    assert "a number in the model is not finite, so it is not saved" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["data.vw"]


def test_norms_of_classes_stay_finite_at_the_largest_importance(run_here, tmp_path):
    (tmp_path / "data.vw").write_text("1 | a:1\n" + "2 1e38 | a:1e-5\n" * 4)
    run_here("train", "data.vw", "-f", "model", "--oaa", 3, "--noconstant", "--loss_function", "logistic")
    assert np.isfinite(load(str(tmp_path / "model")).arrays["weights"].values).all()


def test_divergence_of_a_block_of_classes_ends_the_run(run_cli, tmp_path):
    """The first of two; its row is longer than those before it, so that nothing is ready for the second."""
    long = " ".join(f"y{number}" for number in range(700))
    (tmp_path / "data.vw").write_text(f"1 1e38 |a x\n2 1e38 |a x\n1 1e38 |a x\n1 1e38 |a {long}\n")
    options = ["--oaa", 17, "--loss_function", "hinge", "--noconstant"]
    memory = {"MALLOC_PERTURB_": "165"}  # without zeros by chance, where the library does as told
    done = run_cli("train", "data.vw", "-f", "m", *options, status=70, **memory)
    assert "data.vw:4: the prediction or the update is not a finite number" in done.stderr


def test_divergence_names_file_and_line(run_here, tmp_path):
    (tmp_path / "data.vw").write_text("\n\n\n1 |a x:1e20\n")
    done = run_here("train", "data.vw", "-f", "m", "-l", 1e30, "--label-units", "raw", status=70)
    assert "vwlite: data.vw:4: the prediction or the update is not a finite number" in done.stderr


NEVER = {
    "--lrq uz4": "--lrq uz4 never matched: no line has both u and z (seen: i u)",
    "--centred z": "--centred z never matched: no line has z (seen: i u)",
    "-q wz": "-q wz never matched: no line has both w and z (seen: i u)",
    "-q u: -q zz": "-q zz never matched: no line has z (seen: i u)",
    "--cubic uiz": "--cubic uiz never matched: no line has u, i and z (seen: i u)",
    "--interactions user,nobody": "--interactions user,nobody never matched: no line has both user and nobody",
    "-q z:": "-q z: never matched: no line has z (seen: i u)",
    "--dotproduct uz": "--dotproduct uz never matched: no line has both u and z (seen: i u)",
    "--keep z": "--keep z dropped every feature (seen: i u)",
    "--ignore u --ignore i": "--ignore u i dropped every feature (seen: i u)",
    "--ignore z": "--ignore z never matched: no line has z (seen: i u)",
    "--ignore user": "--ignore user is read letter by letter: no line has s, e or r (seen: i u)",
    "--keep uz": "--keep uz is read letter by letter: no line has z (seen: i u)",
    "--ignore_linear z -q ui": "--ignore_linear z never matched: no line has z (seen: i u)",
    "--ngram 2 --ngram z2": "--ngram z2 never matched: no line has z (seen: i u)",
    "--ngram 2 --skips z1": "--skips z1 never matched: no line has z (seen: i u)",
    "--feature_limit z2": "--feature_limit z2 never matched: no line has z (seen: i u)",
    "--spelling u --spelling zoo": "--spelling zoo never matched: no line has z",
    "--spelling _": "--spelling _ never matched: no line has the anonymous one (seen: i u)",
    "--redefine u:=z": "--redefine u:=z never matched: no line has z (seen: i u)",
    "--redefine z:=u --ignore u": "--ignore u never matched: no line has u (seen: i u)",
}


@pytest.mark.parametrize("options", NEVER)
def test_options_that_never_matched_are_said_aloud(options, run_here, files):
    assert NEVER[options] in run_here("train", "all.vw", "-f", "model", *options.split()).stderr


BY_LETTER = ["--ignore u", "--ngram u2", "--spelling u", "--redefine z:=u --keep z", "--feature_limit 3"]
MATCHED = [
    *BY_LETTER,
    "--redefine z:=:",
    "-q ui",
    "-q iu",
    "-q ::",
    "--interactions user,item",
    "--dotproduct ui",
    "--keep u",
]


@pytest.mark.parametrize("options", MATCHED)
def test_options_that_matched_are_not(options, run_here, files):
    stderr = run_here("train", "all.vw", "-f", "model", *options.split()).stderr
    assert not any(words in stderr for words in ("never matched", "dropped", "letter by letter"))


def test_matching_does_not_depend_on_blocks_or_wildcards(run_here, tmp_path):
    text = "1 |a x |b y\n" + "1 |c z\n" * 9
    done = run_here("train", "-q", "ab", "-q", ":a", "-q", "cd", "--block-size", 8, stdin=text)
    assert [line for line in done.stderr.splitlines() if "never" in line] == [
        "note: -q cd never matched: no line has both c and d (seen: a b c)"
    ]


IDLE = {
    "--quantile_tau 0.3": "--quantile_tau does nothing without --loss_function quantile",
    "--expectile_q 0.3": "--expectile_q does nothing without --loss_function expectile",
    "--logistic_max 2 --loss_function hinge": "--logistic_max does nothing without --loss_function logistic",
    "--loss_function lp --loss_scale 2": "--loss_scale does nothing with the lp loss unless --lp_power is below 1",
    "-k": "-k does nothing without -c",
    "--names": "--names does nothing without -f",
    "--save_per_pass": "--save_per_pass does nothing without -f",
    "--predict_only_model": "--predict_only_model does nothing without -f",
    "--holdout_off --holdout_after 3": "--holdout_off and --holdout_after contradict each other",
    "--permutations": "--permutations does nothing without -q",
    "-f -": "-f - would be a file called -",
    "--invert_hash -": "--invert_hash - would be a file called -",
}


@pytest.mark.parametrize("options", IDLE)
def test_options_without_effect_are_refused(options, run_here, files):
    before = sorted(files.iterdir())
    assert IDLE[options] in run_here("train", "all.vw", *options.split(), status=2).stderr
    assert sorted(files.iterdir()) == before


def test_the_last_of_repeated_options_counts_and_that_is_said(run_here, files):
    plain = run_here("train", "all.vw", "-f", "plain", "-b", 12, "-l", 0.7, "--ignore", "u", "--ignore", "x")
    options = ("-b", 9, "--bit-precision=12", "-l", 0.1, "-l0.5", "--learning_rate", 0.7)
    done = run_here("train", "all.vw", "-f", "absent", "-f", "model", *options, "--ignore", "u", "--ignore", "x")
    said = [line for line in done.stderr.splitlines() if "more than once" in line]
    assert said == [
        f"vwlite: note: {name} is given more than once: the last one counts ({value})"
        for name, value in (("-f", "model"), ("-b", "12"), ("-l", "0.7"))
    ]
    assert (files / "model").read_bytes() == (files / "plain").read_bytes() and not (files / "absent").exists()
    assert "more than once" not in plain.stderr
    run_here("train", "all.vw", "-f", "quiet", *options, "--ignore", "u", "--ignore", "x", "--quiet")
    assert (files / "quiet").read_bytes() == (files / "plain").read_bytes()


def test_the_last_of_repeated_options_counts_in_every_command(run_here, files):
    run_here("train", "all.vw", "-f", "model", "--quiet")
    done = run_here("evaluate", "-i", "absent", "-i", "model", "all.vw", "--metric", "auc", "--metric", "rmse")
    assert "rmse " in done.stdout and "auc" not in done.stdout
    assert "--metric is given more than once: the last one counts (rmse)" in done.stderr


LIMITS = {"--min_prediction 0.3": (0.3, 1e9), "--max_prediction -0.3": (-1e9, -0.3)}


@pytest.mark.parametrize("options", LIMITS)
def test_a_bound_that_is_not_given_is_free(options, run_here, tmp_path):
    sign = "-" if "max" in options else ""
    run_here("train", "-f", "model", "-p", "p", *options.split(), stdin=f"{sign}7 |a\n{sign}5 |a\n" * 20)
    predictions = [float(line) for line in (tmp_path / "p").read_text().split()]
    low, high = LIMITS[options]
    assert all(low - 1e-6 <= p <= high + 1e-6 for p in predictions) and len(set(predictions)) > 2


def test_bounds_must_be_in_order(run_here):
    options = ("--min_prediction", 2, "--max_prediction", 1)
    assert "must be below" in run_here("train", *options, stdin="1 |a\n", status=2).stderr


NOT_FINITE = [
    "--min_prediction nan",
    "--max_prediction inf",
    "--initial_weight nan",
    "--power_t nan",
    "-C inf",
    "-l inf",
]


@pytest.mark.parametrize("command", ["train", "vw"])
@pytest.mark.parametrize("options", NOT_FINITE)
def test_numbers_must_be_finite(options, command, run_here):
    done = run_here(command, *options.split(), stdin="1 |a\n", status=1 if command == "vw" else 2)
    assert "finite number" in done.stdout + done.stderr and "Traceback" not in done.stderr


def test_training_goes_on_when_nobody_reads_standard_error(files, cli_env):
    command = [sys.executable, "-m", "vwlite", "train", "all.vw", "-f", "model", "--json", "-"]
    with subprocess.Popen(
        command, cwd=files, env=cli_env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stderr.close()
        report = json.loads(process.stdout.read())
    assert process.returncode == 0
    assert report["examples"] == 2 * HALF and (files / "model").exists()
