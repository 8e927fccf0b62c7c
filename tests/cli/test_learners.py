"""--coin, --pistol, --lrq, --active and --confidence learn, go on exactly, and are refused where they make no sense."""

import json

import pytest

LINES = [f"{(n * 7 % 5) / 2 + n % 2} |u u{n % 4} |i i{n % 6} | x:{1 + n % 3}\n" for n in range(60)]
BETTING = ["--coin", "--pistol", "--coin --ftrl_alpha 2", "--pistol --ftrl_beta 0.9"]
QUERYING = ["--active --simulation --mellowness 0.1", "--active -l 0.3", "--confidence --sgd -l 0.1"]
KINDS = [*BETTING, *QUERYING, "--confidence --ftrl", "--lrq ui3", "--lrq ui3 --lrqdropout", "--lrq ui2 --lrq iu4 -q ui"]


def test_each_option_learns_something_else(vwlite, write, weights):
    write("all", "".join(LINES))
    actual = set()
    for options in [*KINDS, ""]:
        vwlite("train", "all", "-f", "m", "--quiet", *options.split())
        actual.add(tuple(sorted(weights("m").items())))
    assert len(actual) == len(KINDS) + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--coin --pistol", "--coin and --pistol do not go together"),
        ("--coin --l2 1", "do not go with --ftrl and regularisation"),
        ("--coin --bfgs --passes 2", "do not go together"),
        ("--coin --ftrl_alpha 0", "--ftrl_alpha takes a number above 0"),
        ("--lrq ui", "--lrq takes two letters and a rank"),
        ("--lrq ui3 -b 2", "needs more than the 4 slots"),
        ("--lrq ui3 --ftrl", "--lrq does not go with"),
        ("--active --confidence", "--active and --confidence do not go together"),
        ("--active --coin", "--coin and --active do not go together; with --active"),
        ("--confidence --bfgs", "with --bfgs one set of weights is fitted"),
        ("--active --oaa 3", "do not go together"),
        ("--confidence --dotproduct ui", "--confidence and --dotproduct do not go together"),
        ("--active --mellowness -1", "--mellowness takes a number of 0 or more"),
        ("--simulation", "--simulation needs --active"),
        ("--oaa 0", "--oaa, --csoaa and --multilabel_oaa take the number of classes, 1 or more"),
        ("--confidence_after_training", "--confidence_after_training needs"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("all", "".join(LINES))
    assert message in vwlite("train", "all", "-f", "m", *options.split(), status=2).stderr


def test_predictions_have_confidences_and_importances_beside_them(vwlite, write, tmp_path):
    write("some", "1 'a|x a b:2 c\n-1 'b|x b c d:.5\n'u |x a d\n1 |x a e\n |x c:3 d\n0 2 'f|x d\n")

    def told(*options):
        vwlite("vw", "some", *options, "-p", "p", "--quiet")
        return (tmp_path / "p").read_text()

    message = "0.000000 a\n0.395075 b\n-0.252605 u 1.000000\n0.151741 \n-0.342022  1.000000\n-0.323156 f\n"
    assert told("--active") == message
    assert told("--confidence").splitlines()[1:3] == ["0.395075 1.140640 b", "-0.252605 1.042238 u"]
    assert told("--confidence", "--confidence_after_training").splitlines()[4] == "-0.342022 inf "
    assert told("--active", "--simulation", "--random_seed", "3").splitlines()[2] == "-0.252605 u"


def test_a_simulation_counts_its_queries_and_a_model_predicts_plainly(vwlite, write):
    write("all", "".join(LINES))
    queries = set()
    for mellowness in ("0.0001", "8"):
        arguments = ["all", "--active", "--simulation", "-f", "m", "--mellowness"]
        for command in ("vw", "train"):
            summary = vwlite(command, *arguments, mellowness).stderr
            queries.add(int(summary.split("total queries = ")[1]))
    assert len(queries) > 1 and max(queries) == len(LINES)
    assert all(len(line.split()) == 1 for line in vwlite("predict", "-i", "m", "all").stdout.splitlines())
    assert all(len(line.split()) == 1 for line in vwlite("vw", "-t", "-i", "m", "all", "-p", "-").stdout.splitlines())


def test_going_on_from_a_plain_model_asks_for_less(vwlite, write):
    write("all", "".join(LINES))
    vwlite("vw", "all", "-f", "plain", "--quiet")
    summary = vwlite("vw", "all", "-i", "plain", "--active", "--simulation", "--mellowness", "1").stderr
    assert 0 < int(summary.split("total queries = ")[1]) < len(LINES)


def test_vw_warns_that_confidence_needs_learning(vwlite, write):
    write("all", "".join(LINES))
    plain = vwlite("vw", "all", "-t", "-p", "-", "--quiet").stdout
    assert vwlite("vw", "all", "-t", "--confidence", "-p", "-", "--quiet").stdout == plain
    assert "[warning] --confidence" in vwlite("vw", "all", "-t", "--confidence").stdout
    vwlite("vw", "all", "--confidence", "-f", "m", "--quiet")
    assert len(vwlite("vw", "all", "-t", "-i", "m", "-p", "-", "--quiet").stdout.split()) == len(LINES)


def test_classes_go_on_twice_like_vw(vwlite, write):
    write("all", "1 |x a\n2 |x b\n")
    vwlite("vw", "all", "--oaa", "2", "-f", "m", "--quiet")
    for _ in range(2):
        vwlite("vw", "all", "-i", "m", "-f", "m", "--quiet")
    assert vwlite("vw", "all", "-t", "-i", "m", "-p", "-", "--quiet").stdout.split() == ["1", "2"]


def test_vw_reads_limits_that_are_none(vwlite, write):
    write("all", "".join(LINES))
    plain = vwlite("vw", "all", "--confidence_after_training").stderr
    assert vwlite("vw", "all", "--feature_limit", "u:1").stderr == plain


@pytest.mark.parametrize("options", ["--coin", "--pistol", "--lrq ui3", "--ftrl"])
def test_signs_of_any_learner_of_numbers(options, vwlite, write, tmp_path):
    write("all", "".join(f"{n % 2 * 2 - 1} |u u{n % 4} |i i{n % 6} | x:{1 + n % 3}\n" for n in range(60)))
    vwlite("train", "all", "-f", "m", "-p", "p", "--quiet", "--loss_function", "logistic", *options.split())
    done = vwlite("train", "all", "-f", "n", "-p", "q", "--binary", "--loss_function", "logistic", *options.split())
    signs = ["1" if float(line) > 0.5 else "-1" for line in (tmp_path / "p").read_text().split()]
    assert (tmp_path / "q").read_text().split() == signs
    wrong = sum(sign != str(n % 2 * 2 - 1) for n, sign in enumerate(signs))
    assert f"average loss = {wrong / 60:.6f}" in done.stderr
    assert set(vwlite("predict", "-i", "n", "all").lines) <= {"-1", "1"}


@pytest.mark.parametrize("options", ["--oaa 3 --lrq ui2", "--coin --binary"])
def test_vw_has_other_numbers(options, vwlite, write):
    write("all", "1 |u a |i b\n")
    done = vwlite("vw", "-d", "all", *options.split(), status=1)
    assert "(use 'vwlite train')" in done.stdout


def test_the_default_of_mellowness_is_that_of_vw(vwlite, write):
    """``vw`` 9.11 takes 1 for --active, as its --help says; other reductions of its own have 8 and .1."""
    write("all", "".join(LINES))
    models = []
    for options in ((), ("--mellowness", "1"), ("--mellowness", "8")):
        vwlite("vw", "all", "--ftrl", "--active", "--simulation", *options, "-f", "m", "--quiet")
        models.append(json.loads(vwlite("inspect", "m", "--json", "-").stdout)["options"]["mellowness"])
    assert models == [1, 1, 8]


OVERSHRINKING = ["", "--average", "--outputs 1", "--lrq ui2", "--active --simulation", "--l1 0.1"]
OVERSHRINKING_CLASSES = ["--oaa 3", "--ect 3", "--log_multi 3", "--filter_tree 3"]
TURNED = "note: --l2 2 turned the sign of all weights where a step's rate times 2 was above 1: a smaller --l2 or -l "


@pytest.mark.parametrize("options", OVERSHRINKING + OVERSHRINKING_CLASSES)
def test_weights_that_are_0_stay_so_whatever_l2_takes(options, vwlite, write, tmp_path):
    """Where a step takes more than there is, the sign of all weights turns; zeros, too, had one and filled models."""
    data = write("d", "".join(f"{n % 3 + 1} |u u{n % 4} |i i{n % 6}\n" for n in range(60)))
    for command, l2, told in (("train", 1e-3, 0), ("train", 2, 1), ("vw", 2, 0)):
        if command == "train" or options in ("", "--l1 0.1"):
            done = vwlite(command, data, "-f", "m", "-b", 20, "-l", 1, "--l2", l2, *options.split())
            assert done.stderr.count(TURNED) == told
            assert (tmp_path / "m").stat().st_size < 1e5


def test_a_model_of_two_lines_is_small_whatever_l2_takes(vwlite, write, tmp_path, weights):
    vwlite("train", write("d", "1 |f a b\n-1 |f c\n"), "-f", "m", "--l2", 2, "-l", 1, "--sgd", "-b", 22, "--quiet")
    assert (tmp_path / "m").stat().st_size < 5000
    assert len(weights("m")) == 4
