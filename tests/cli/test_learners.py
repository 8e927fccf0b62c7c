"""--coin, --pistol and --lrq: they learn, go on exactly, and are refused where they make no sense."""

import json

import pytest

LINES = [f"{(n * 7 % 5) / 2 + n % 2} |u u{n % 4} |i i{n % 6} | x:{1 + n % 3}\n" for n in range(60)]
BETTING = ["--coin", "--pistol", "--coin --ftrl_alpha 2", "--pistol --ftrl_beta 0.9"]
KINDS = [*BETTING, "--lrq ui3", "--lrq ui3 --lrqdropout", "--lrq ui2 --lrq iu4 -q ui"]


@pytest.mark.parametrize("options", KINDS)
def test_going_on_changes_nothing_and_it_learns(options, vwlite, write, weights):
    write("all", "".join(LINES)), write("one", "".join(LINES[:23])), write("two", "".join(LINES[23:]))
    for command in ("train", "vw") if options in BETTING[:2] else ("train",):  # vw keeps fewer options
        vwlite(command, "all", "-f", "m", "--quiet", *options.split())
        vwlite(command, "one", "-f", "n", "--quiet", *options.split())
        vwlite(command, "two", "-i", "n", "-f", "n", "--quiet")
        assert weights("m") == weights("n") != {}
    assert vwlite("predict", "-i", "m", "all").stdout == vwlite("predict", "-i", "n", "all").stdout
    assert json.loads(vwlite("evaluate", "-i", "m", "all", "--metric", "mse", "--json", "-").stdout)["mse"] < 1.2


OF_CLASSES = [
    "--oaa 3",
    "--oaa 3 --oaa_subsample 1",
    *(f"--multiclass 3 --loss_function {loss}" for loss in ("multinomial", "logistic", "crammer_singer")),
    "--filter_tree 3",
    "--filter_tree 3 --coin",
    "--filter_tree 3 --lrq ui2",
    "--filter_tree 3 --lrq ui2 --lrqdropout",
    "--filter_tree 3 --dotproduct ui --rank 2 --no-shuffle",
]


@pytest.mark.parametrize("options", [*KINDS, "--ftrl", "--curriculum easy --curriculum-start 1", *OF_CLASSES])
def test_two_passes_are_one_and_another(options, vwlite, write, tables):
    of_classes = options in OF_CLASSES
    lines = [f"{n % 3 + 1} |u u{n % 4} |i i{n % 6} | x:{1 + n % 3}\n" for n in range(57)] if of_classes else LINES[:57]
    write("all", "".join(lines))
    vwlite("train", "all", "-f", "m", "--quiet", "--passes", "2", "--holdout_off", *options.split())
    vwlite("train", "all", "-f", "n", "--quiet", *options.split())
    vwlite("train", "all", "-i", "n", "-f", "n", "--quiet")
    assert tables("m") == tables("n")


def test_each_option_learns_something_else(vwlite, write, weights):
    write("all", "".join(LINES))
    found = set()
    for options in [*KINDS, ""]:
        vwlite("train", "all", "-f", "m", "--quiet", *options.split())
        found.add(tuple(sorted(weights("m").items())))
    assert len(found) == len(KINDS) + 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--coin --pistol", "--coin and --pistol do not go together"),
        ("--coin --l2 1", "do not go with --ftrl, --binary and regularisation"),
        ("--coin --bfgs --passes 2", "do not go together"),
        ("--coin --ftrl_alpha 0", "--ftrl_alpha takes a number above 0"),
        ("--lrq ui", "--lrq takes two letters and a rank"),
        ("--lrq ui3 -b 2", "needs more than the 4 slots"),
        ("--lrq ui3 --binary", "--lrq does not go with"),
    ],
)
def test_what_is_refused(options, message, vwlite, write):
    write("all", "".join(LINES))
    assert message in vwlite("train", "all", "-f", "m", *options.split(), status=2).stderr


def test_vw_reads_limits_that_are_none(vwlite, write):
    write("all", "".join(LINES))
    plain = vwlite("vw", "all", "--confidence_after_training").stderr
    assert vwlite("vw", "all", "--feature_limit", "u:1").stderr == plain
