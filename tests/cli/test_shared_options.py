"""Every option that 'train' and 'vw' share has the effect its help promises, in both."""

import re

import pytest

from vwlite import Model
from vwlite.errors import UsageError

LINES = 24
FEATURES = 8  # a line: user 2, item 2, anonymous 3, the constant


def text(labels=("1", "-1")):
    """``LINES`` lines that every option can act on."""
    return "".join(
        f"{labels[n * n % 7 % len(labels)]} |user u{n % 5} age:0.{1 + n % 9} "
        f"|item Big{n % 3} 7{n % 4} | 3 ab{n % 6}:2 ab{n % 2}\n"
        for n in range(LINES)
    )


@pytest.fixture(params=["train", "vw"])
def learn(request, vwlite, write):
    """Learns ``text()`` with either command: what it printed, beside the model ``name``."""
    write("data.vw", text())
    write("counts.vw", text("0123"))

    def run(name, *options, data="data.vw"):
        return vwlite(request.param, data, "-f", name, *options)

    run.raw = ("--label-units", "raw") if request.param == "train" else ()
    return run


def features(done):
    return int(re.search(r"total feature number = (\d+)", done.stderr)[1])


MADE = {  # options, options without, features of a line more than without
    "-q ui": ("", 4),
    "--quadratic ui": ("", 4),
    "-q ::": ("", 28),
    "--cubic uii": ("", 6),
    "--interactions user,item": ("", 4),
    "--interactions uii": ("", 6),
    "-q uu --permutations": ("-q uu", 1),
    "-q ui -q iu --leave_duplicate_interactions": ("-q ui -q iu", 4),
    "--ignore u": ("", -2),
    "--ignore u --ignore i": ("", -4),
    "--keep u": ("", -5),
    "--redefine x:=u -q xi": ("", 4),
    "--ngram 2": ("", 4),
    "--ngram u2": ("", 1),
    "--ngram 2 --skips 1": ("--ngram 2", 1),
    "--feature_limit 1": ("", -4),
    "--feature_limit u1": ("", -1),
    "--affix +2u": ("", 2),
    "--affix +2u,-1i": ("", 4),
    "--spelling i": ("", 2),
    "--spelling _": ("", 3),
    "--noconstant": ("", -1),
}


@pytest.mark.parametrize("options", MADE)
def test_options_make_as_many_features_as_they_say(options, learn):
    without, more = MADE[options]
    plain = features(learn("plain", *without.split()))
    assert features(learn("model", *options.split())) - plain == more * LINES


def test_features_of_a_plain_line(learn):
    assert features(learn("model")) == FEATURES * LINES


CHANGES = {  # options: options without
    "-q ui --ignore_linear u": "-q ui",
    "--hash all": "",
    "--hash_seed 7": "",
    "-l 0.1": "",
    "--learning_rate 0.1": "",
    "--power_t 0.2": "",
    "--initial_t 3": "",
    "--sgd": "",
    "--adaptive": "",
    "--normalized": "",
    "--invariant": "",
    "--sgd --initial_t 4": "--sgd",
    "--l1 0.001": "",
    "--l2 0.01": "",
    "--sparse_l2 0.01": "",
    "--ftrl": "",
    "--ftrl --ftrl_alpha 0.1": "--ftrl",
    "--ftrl --ftrl_beta 0.3": "--ftrl",
    "--initial_weight 0.25": "",
    "-C 0.5": "",
    "--constant 0.5": "",
    "--passes 2 --holdout_off --cache_file c --decay_learning_rate 0.5": "--passes 2 --holdout_off --cache_file d",
    "--passes 2 --cache_file c": "",
    "--passes 2 --cache_file c --holdout_off": "--passes 2 --cache_file d",
    "--passes 2 --cache_file c --holdout_period 3": "--passes 2 --cache_file d",
    "--holdout_after 12": "",
    "--loss_function classic": "",
    "--loss_function hinge": "",
    "--loss_function logistic": "",
    "--loss_function quantile": "",
    "--loss_function quantile --quantile_tau 0.2": "--loss_function quantile",
    "--loss_function expectile --expectile_q 0.2": "--loss_function expectile --expectile_q 0.4",
    "--loss_function absolute": "",
    "--loss_function truncated --loss_scale 10": "",
    "--loss_function geman_mcclure": "",
    "--loss_function geman_mcclure --loss_scale 0.3": "--loss_function geman_mcclure",
    "--loss_function exponential": "",
    "--loss_function modified_huber": "",
    "--loss_function tanh": "",
    "--loss_function lp": "",
    "--loss_function lp --lp_power 1.2": "--loss_function lp",
    "--loss_function lp --lp_power 0.5 --loss_scale 0.3": "--loss_function lp --lp_power 0.5",
    "--loss_function squared_hinge": "",
    "--loss_function tube": "",
    "--loss_function perceptron": "",
    "--loss_function tube --tube 0.5": "--loss_function tube",
    "--loss_function logistic --logistic_min -2": "--loss_function logistic",
    "--loss_function logistic --logistic_max 3": "--loss_function logistic",
    "--classweight 1:3": "",
    "--min_prediction -0.1": "",
    "--passes 2 --cache_file c --holdout_off --shuffle": "--passes 2 --cache_file d --holdout_off",
    "--max_prediction 0.1": "",
}


@pytest.mark.parametrize("options", CHANGES)
def test_options_change_what_is_learned(options, learn, weights):
    learn("model", *options.split())
    learn("plain", *CHANGES[options].split())
    assert weights("model") and weights("model") != weights("plain")


DYADIC = {  # options: options without; their effect on the linear weights shows that on the rest
    "--dotproduct ui": "",
    "--dotproduct user,item": "",
    "--dotproduct ui --dotproduct uu": "--dotproduct ui",
    "--dotproduct ui --rank 3": "--dotproduct ui",
    "--dotproduct ui --dot-l2 0.5": "--dotproduct ui",
    "--dotproduct ui --dot-l2 u=0.5,i=0.1": "--dotproduct ui",
    "--dotproduct ui --dot-l2 0.5 --dot-l2-power 1": "--dotproduct ui --dot-l2 0.5",
    "--dotproduct ui --linear-l2 0.5": "--dotproduct ui",
    "--dotproduct ui --dot-offset 0.2 --dot-l2-of weights": "--dotproduct ui --dot-offset 0.2",
    "--dotproduct ui --dot-first-t 2": "--dotproduct ui",
    "--dotproduct ui --dot-rates adaptive": "--dotproduct ui",
    "--dotproduct ui --dot-rates adaptive --passes 2 --cache_file e --dot-pass-l2 9": (
        "--dotproduct ui --dot-rates adaptive --passes 2 --cache_file f"
    ),
    "--dotproduct ui --dot-init 0.3": "--dotproduct ui",
    "--dotproduct ui --dot-init-kind normal": "--dotproduct ui",
    "--dotproduct ui --dot-offset 0.2": "--dotproduct ui",
    "--dotproduct ui --no-dot-linear": "--dotproduct ui",
    "--dotproduct ui --random_seed 3": "--dotproduct ui",
    "--dotproduct ui --passes 2 --cache_file c --no-shuffle": "--dotproduct ui --passes 2 --cache_file d",
}


@pytest.mark.parametrize("options", DYADIC)
def test_options_change_what_a_dyadic_model_learns(options, learn, weights):
    learn("model", *options.split())
    learn("plain", *DYADIC[options].split())
    assert weights("model") and weights("model") != weights("plain")


PASSES = "--passes 9 --cache_file c --holdout_off --l2 0.1"
BATCH = {  # options: options without
    "--bfgs": "",
    "--conjugate_gradient": "--bfgs",
    "--bfgs --hessian_on": "--bfgs",
    "--bfgs --mem 1": "--bfgs",
    "--bfgs --termination 0.5": "--bfgs",
}


@pytest.mark.parametrize("options", BATCH)
def test_options_change_what_passes_as_a_whole_learn(options, learn, weights):
    done = learn("model", *PASSES.split(), *options.split())
    learn("plain", *PASSES.split(), *BATCH[options].split())
    assert weights("model") and weights("model") != weights("plain")
    assert "## avg. loss" in done.stderr


def test_poisson_counts_never_below_zero(learn, vwlite):
    learn("model", "--loss_function", "poisson", "--link", "poisson", data="counts.vw")
    predictions = list(map(float, vwlite("predict", "-i", "model", "counts.vw").lines))
    assert len(predictions) == LINES and min(predictions) > 0


@pytest.mark.parametrize("link", ["identity", "logistic", "glf1", "poisson"])
def test_link_is_the_scale_of_predictions(link, learn, tmp_path, weights):
    from math import exp

    scale = {
        "identity": lambda x: x,
        "logistic": lambda x: 1 / (1 + exp(-x)),
        "glf1": lambda x: 2 / (1 + exp(-x)) - 1,
        "poisson": exp,
    }[link]
    learn("plain", "-p", "plain.p", *learn.raw)
    learn("model", "-p", "model.p", "--link", link, *learn.raw)
    assert weights("model") == weights("plain")
    plain, linked = ([float(line) for line in (tmp_path / f"{x}.p").read_text().split()] for x in ("plain", "model"))
    assert linked == pytest.approx(list(map(scale, plain)), abs=2e-6)


def test_l1_leaves_fewer_weights(learn, weights, vwlite):
    learn("plain", "--predict_only_model")
    learn("model", "--predict_only_model", "--l1", "0.01")
    assert 0 < len(weights("model")) < len(weights("plain"))


def test_bits_bound_the_slots(learn, weights, header):
    learn("model", "-b", "5")
    assert max(weights("model")) < 32
    assert header("model")["features"]["bits"] == 5
    learn("same", "--bit_precision", "5")
    assert weights("same") == weights("model")


def test_predictions_stay_within_bounds(learn, tmp_path):
    learn("model", "--min_prediction", "0.1", "--max_prediction", "0.2", "--predictions", "p")
    values = [float(line) for line in (tmp_path / "p").read_text().split()]
    assert min(values) == pytest.approx(0.1) and max(values) == pytest.approx(0.2)


def test_raw_predictions_are_neither_clipped_nor_linked(learn, tmp_path):
    learn("model", "--loss_function", "logistic", "--link", "logistic", "-p", "p", "-r", "r")
    learn("model", "--loss_function", "logistic", "--link", "identity", "-p", "margins")
    sums, margins, linked = ([*map(float, (tmp_path / name).read_text().split())] for name in ("r", "margins", "p"))
    assert sums == pytest.approx(margins, abs=1e-6) and sums != pytest.approx(linked, abs=1e-3)


def test_examples_reads_the_first_lines_only(learn, weights, write):
    write("head.vw", "".join(text().splitlines(keepends=True)[:5]))
    assert "number of examples = 5\n" in learn("model", "--examples", "5").stderr
    learn("head", data="head.vw")
    assert weights("model") == weights("head")


def test_svmlight_is_learned_as_its_text(learn, weights, write):
    write("data.svm", "1 3:0.5 7:2 # noted\n-1 3:1\n")
    write("data.svm.vw", "1 | 3:0.5 7:2\n-1 | 3:1\n")
    learn("svm", "--format", "svmlight", data="data.svm")
    learn("vw", data="data.svm.vw")
    assert weights("svm") == weights("vw") != {}


def test_seed_of_the_order_and_of_the_start_values(learn, tmp_path):
    options = ("--dotproduct", "ui", "--passes", "3", "--cache_file", "c")
    for name, seed in (("model", "5"), ("same", "5"), ("other", "6")):
        learn(name, *options, "--seed", seed)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "same").read_bytes()
    assert (tmp_path / "model").read_bytes() != (tmp_path / "other").read_bytes()


@pytest.mark.parametrize("spelling", ["--loss-function", "--loss_function"])
def test_dashes_and_underscores_are_the_same(spelling, learn, header):
    learn("model", spelling, "hinge", "--power-t", "0.25")
    assert header("model")["config"]["loss"]["name"] == "hinge"
    assert header("model")["config"]["power_t"] == 0.25


def test_data_option_is_a_bare_file(learn, write, tmp_path):
    write("more.vw", text(("-1", "1")))
    learn("model", "-d", "more.vw")
    learn("again", "--data", "more.vw")
    learn("plain")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes() != (tmp_path / "plain").read_bytes()


@pytest.mark.parametrize("option", ["-P", "--progress"])
def test_the_progress_option_says_which_rows_are_shown(option, learn):
    def counts(done):
        return [int(row.split()[2]) for row in re.findall(r"^-?[\d.]+ +-?[\d.]+ +\d+ .*$", done.stderr, re.M)]

    assert counts(learn("model", option, "5")) == [5, 10, 15, 20]
    assert counts(learn("model", option, "3.0")) == [1, 3, 9]
    assert counts(learn("model")) == [1, 2, 4, 8, 16]


def test_save_per_pass_keeps_every_pass(learn, weights, names_in):
    learn("model", "--save_per_pass", "--passes", "3", "--holdout_off", "--cache_file", "c")
    assert {"model", "model.1", "model.2", "model.3"} <= set(names_in())
    assert weights("model.3") == weights("model") != weights("model.2") != weights("model.1")
    learn("once")
    assert weights("model.1") == weights("once")


def test_predict_only_model_is_smaller_and_predicts_the_same(learn, vwlite, tmp_path):
    learn("whole")
    learn("small", "--predict_only_model")
    assert (tmp_path / "small").stat().st_size < (tmp_path / "whole").stat().st_size
    whole, small = (vwlite("predict", "-i", name, "data.vw").stdout for name in ("whole", "small"))
    assert whole == small


def test_cache_beside_the_data(learn, names_in, weights):
    assert "creating cache_file = data.vw.cache" in learn("model", "-c").stderr
    assert "data.vw.cache" in names_in()
    assert "using cache_file = data.vw.cache" in learn("cached", "--cache").stderr
    assert weights("cached") == weights("model")
    assert "creating cache_file = data.vw.cache" in learn("model", "-c", "-k").stderr
    assert "creating cache_file = data.vw.cache" in learn("model", "-c", "--kill_cache").stderr


def test_early_termination_keeps_the_best_pass(learn, write, weights):
    """Label noise: the held-out loss is best after the first pass and never again."""
    noise = "".join(f"{1 if (n * 7919) % 13 > 5 else -1} |a x{n % 10 == 9} u{n}\n" for n in range(40))
    write("noise.vw", noise)
    options = ("--passes", "20", "--early_terminate", "2", "--cache_file", "c", "--save_per_pass", *learn.raw)
    done = learn("model", *options, data="noise.vw")
    used = int(re.search(r"passes used = (\d+)", done.stderr)[1])
    assert 2 < used < 20
    assert weights("model") == weights(f"model.{used - 2}") != weights(f"model.{used}")


def test_readable_model_and_names(learn, tmp_path, weights):
    learn("model", "--readable_model", "r.txt", "--invert_hash", "h.txt", "-q", "ui")
    readable, named = (tmp_path / "r.txt").read_text(), (tmp_path / "h.txt").read_text()
    assert "bits:18\n" in readable and "--quadratic ui" in readable
    slots = [int(line.split(":")[0]) for line in readable.partition("\n:1\n")[2].splitlines() if line[0].isdigit()]
    assert slots == sorted(weights("model"))
    assert re.search(r"^user\^u0:\d+:\S+", named, re.M)
    assert re.search(r"^user\^u0\*item\^Big0:\d+:\S+", named, re.M)
    assert re.search(r"^Constant:116060:\S+", named, re.M)


LETTERS = [  # é has two bytes, and shares the first one with ô and ñ
    "--ignore é", "--keep aé", "--ignore_linear é", "--spelling é", "--affix +2é", "--ngram é2",
    "--ngram 2 --skips é1", "--feature_limit é2", "--redefine é:=a", "--redefine a:=é", "-q é", "-q aé",
    "--cubic abé", "--interactions éa", "--dotproduct é", "--dotproduct aé", "--lrq aé2",
    "--random_features rbf:64 --random_of é",
]


@pytest.mark.parametrize("options", LETTERS)
def test_letters_of_several_bytes_are_refused(options, vwlite, write):
    write("d", "1 |ô a\n-1 |ñ x\n1 |œ y\n-1 |п z\n1 |р w\n1 |п z\n")
    value = options.rpartition(" ")[2]
    stderr = vwlite("train", "d", *options.split(), status=2).stderr
    assert f"{value}: namespaces are distinguished by the first byte of their names, of which é has 2" in stderr
    assert vwlite("vw", "d", "--quiet", *options.split(), status=None).status in (0, 1)
    assert "namespaces, not 5" in vwlite("vw", "d", "--quiet", "--dotproduct", r"\xc3b", status=1).stdout
    with pytest.raises(UsageError, match="of which é has 2"):
        Model(options)


def test_whole_names_may_begin_with_any_character(vwlite, write, weights):
    write("d", "1 |é a |b c\n-1 |ñ x |b d\n1 |é a |b c\n")
    vwlite("train", "d", "--quiet", "--noconstant", "-q", "é,b", "-f", "m")
    vwlite("train", "d", "--quiet", "--noconstant", "-f", "plain")
    assert len(weights("m")) == len(weights("plain")) + 1
    vwlite("train", "d", "--quiet", "-i", "plain", "--freeze", "é", "-f", "frozen")
    before, after = weights("plain"), weights("frozen")
    assert sum(before[slot] == after[slot] for slot in before) == 1
    raw = ("--ignore", r"\xc3", "--noconstant")
    vwlite("train", "d", "--quiet", *raw, "-f", "bytes")
    assert len(weights("bytes")) == 2


@pytest.mark.parametrize("options", [("--edge", "é"), ("-q", "ée"), ("--ignore", "é")])
def test_letters_of_taggers(options, vwlite, write):
    write("tags", "A |é a\nB |e b\n\n")
    stderr = vwlite("l1", "tags", "--model", "crf", *options, status=2).stderr
    assert "of which é has 2" in stderr
