"""What vw 9.11.9 prints and writes, where ``vwlite vw`` once did otherwise."""

import pytest

CLASSES = "1 | a b\n2 | b c\n3 | c\n2 | a\n1 | a b\n3 | c a\n2 | b\n"
WEIGHED = "1 | a b\n-1 | b c\n1 2 | a c\n-1 | c\n2.5 | a\n"
SIDES = "1 |a x y |b z\n1 |a x\n0 |a x |b z\n1 |b w\n0 |b z w |a y\n1 |a x |b w\n"
COSTS = "1:0 2:1 3:2 4:1 5:3 | a b\n1:1 2:0 3:1 | b c\n1:2 2:1 5:0 4:2 | c d\n"
BARE = "4 5 2 1 | a b\n3 1 | a\n2:1 1 | a\n1 2:0 | b\n1:0 | b\n| b\n6 | a\n0 | a\n2 7 | a\n"


@pytest.fixture
def vw(vwlite, write, tmp_path):
    """Runs ``vwlite vw`` on these lines; answers what was printed and the predictions."""

    def run(lines, options):
        write("d", lines)
        done = vwlite("vw", "d", "-p", "p", *options.split())
        return done, [line.partition(" ")[0] for line in (tmp_path / "p").read_text().splitlines()]

    return run


def summary(done):
    return dict(line.split(" = ", 1) for line in done.stderr.splitlines() if " = " in line)


def test_class_weights_add_up_and_the_last_one_of_a_class_counts(vw):
    """A label belongs to the class of its whole part."""
    _, output = vw(WEIGHED, "--classweight 1:2,-1:.5 --classweight 1:3 2:4")
    assert output == ["0", "0.517913", "0.245596", "0.437000", "0.767213"]


def test_class_weights_are_of_what_is_learned(vw):
    done, _ = vw(WEIGHED, "--classweight 1:2,2:3 --passes 2 -k -c --holdout_period 2")
    assert summary(done)["weighted example sum"] == "18.000000"
    assert summary(done)["average loss"] == "2.338313 h"
    vw(WEIGHED, "-f m")
    done, _ = vw(WEIGHED, "-i m -t --classweight 1:5")
    assert summary(done)["average loss"] == "0.870735"


def test_an_option_may_be_given_again_with_the_same_value(vw, vwlite):
    _, output = vw(WEIGHED, "-b 9 -b 09 --hash all --hash all -l .1 -l .2 --l1_state .2 --l1_state 0.1")
    assert output == ["0", "0.106023", "0.011708", "0.067944", "0.150336"]
    done = vwlite("vw", "d", "-b", "9", "-b", "10", status=1)
    assert done.stdout == "[critical] vw: -b is given twice: give one value\n"


def test_a_sample_of_classes_leaves_the_rate_of_sgd_high(vw, tmp_path):
    """To vw its examples have no label, and do not count as time."""
    vw(CLASSES, "--oaa 3 --oaa_subsample 1 --sgd -l .1 -r r")
    assert (tmp_path / "r").read_text().splitlines()[3:5] == [
        " 1:-0.0595837 2:-0.373726 3:-0.0737258",
        " 1:0.0818377 2:-0.0589033 3:-0.92949",
    ]


def test_low_rank_factors_begin_where_the_other_side_is_missing(vw):
    assert vw(SIDES, "--lrq ab2")[1] == ["0", "0.240812", "1", "0.162538", "1", "0.763193"]
    assert vw(SIDES, "--lrq ab2 --lrqdropout")[1] == ["0", "0.308818", "0.937489", "0.160065", "0.843025", "1"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--coin --l1 .1 --l2 .1", ["0", "0", "0.666667", "0.444444", "0.369697", "0.900663"]),
        ("--ftrl -C .3", ["0", "0.666667", "1", "0.184556", "1", "0.383359"]),
    ],
)
def test_options_that_do_nothing_beside_others(options, wanted, vw):
    assert vw(SIDES, options)[1] == wanted


def test_the_log_loss_of_what_is_held_out_is_divided_by_the_weight_that_was_learned(vw):
    done, _ = vw(CLASSES, "--oaa 3 --probabilities --loss_function logistic -c -k --passes 2 --holdout_period 3")
    assert summary(done)["average multiclass log loss"] == "0.691899 h"


def test_classes_share_the_norm_of_coin(vw, tmp_path):
    vw(CLASSES, "--oaa 3 --coin --readable_model m")
    assert "norm normalizer 54\n" in (tmp_path / "m").read_text()


def test_costs_tested_on_bare_class_numbers(vw, tmp_path):
    """An unknown cost is the largest number, what is no class is the last one, and no label has no raw predictions."""
    vw(COSTS, "--csoaa 5 -f m")
    done, output = vw(BARE, "--csoaa 5 -i m -t -r r -P 1")
    assert output == ["1", "1", "1", "2", "1", "2", "5", "5", "2"]
    assert (tmp_path / "r").read_text().splitlines() == [
        "4:0.781896 5:0.743119 2:0.600557 1:0.580867",
        "3:0.519134 1:0.38774",
        "2:0.465959 1:0.38774",
        "1:0.580867 2:0.40743",
        "1:0.580867",
        "",
        "5:0.492375",
        "5:0.492375",
        "2:0.465959 5:0.492375",
    ]
    assert done.stdout.splitlines() == [
        "[info] label 5 found -- labels are now considered 1-indexed.",
        "[warning] label 6 is not in {1,5}. This won't work for 1-indexed actions.",
        "[warning] label 0 is not in {1,5}. This won't work for 1-indexed actions.",
        "[warning] label 7 is not in {1,5}. This won't work for 1-indexed actions.",
    ]
    rows = [line for line in done.stderr.splitlines() if line.startswith(("n.a.", "34", "17"))]
    assert rows[2:4] == [
        "34028234 34028234            3            3.0          known              1        2",
        "17014117 0.000000            4            4.0          known              2        2",
    ]


@pytest.mark.parametrize(
    "options",
    [
        "--oaa 3 --scores",
        "--oaa 3 --probabilities --loss_function logistic",
        "--multilabel_oaa 4",
    ],
)
def test_without_raw_predictions_their_file_is_empty(options, vw, tmp_path):
    vw(CLASSES, f"{options} -r r")
    assert (tmp_path / "r").read_text() == ""


def test_the_first_class_is_told_when_a_label_shows_it(vw):
    assert vw("0 | a\n1 | b\n3 | c\n", "--oaa 3")[0].stdout.splitlines() == [
        "[info] label 0 found -- labels are now considered 0-indexed.",
        "[warning] label 3 is not in {0,2}. This won't work for 0-indexed actions.",
    ]
    assert vw("0 | a\n", "--oaa 3 --indexing 1")[0].stdout.splitlines() == [
        "[warning] label 0 is not in {1,3}. This won't work for 1-indexed actions.",
    ]
    assert vw("0 | a\n", "--oaa 3 -t")[0].stdout == ""


@pytest.mark.parametrize(
    ("link", "wanted", "loss"),
    [
        ("logistic", ["1", "1", "1", "1", "1"], "1.012117"),
        ("identity", ["-1", "1", "-1", "1", "1"], "1.512117"),
    ],
)
def test_two_classes_are_told_by_the_sign_of_the_linked_prediction(link, wanted, loss, vw):
    """A label that is neither has the loss function's loss."""
    done, output = vw(WEIGHED, f"--binary --link {link}")
    assert (output, summary(done)["average loss"]) == (wanted, loss)


def test_a_batch_of_which_nothing_is_held_out_says_so(vw):
    done, _ = vw(WEIGHED, "--bfgs --l2 .1 --passes 3 -c -k")
    rows = [line for line in done.stderr.splitlines() if line[:1] == " "]
    assert rows[1].startswith(" 3 h unknown    1.73335   \t104.00103 \t 0.500000")


def test_probabilities_are_there_whatever_the_loss(vwlite, write):
    """Those of vw 9.11, which warns that they are made for the logistic loss."""
    write("d", "1 |a x\n2 |a y\n3 |a z\n1 |a x y\n")
    done = vwlite("vw", "-d", "d", "--oaa", 3, "--probabilities", "-p", "p", "-f", "m")
    rows = ["0.333333 0.333333 0.333333", "0.391817 0.304092 0.304092", "0.363384 0.350455 0.286162"]
    rows = [row.split() for row in [*rows, "0.369019 0.366238 0.264743"]]
    shown = [
        [pair.partition(":")[2] for pair in line.split()]
        for line in vwlite("vw", "-d", "d", "--oaa", 3, "--probabilities", "-p", "-", "--quiet").lines
    ]
    assert shown == rows
    assert "should be used only with --loss_function=logistic, currently using: squared" in done.stdout + done.stderr
    assert vwlite("predict", "-i", "m", "d").lines[0].count(":") == 3
    stderr = vwlite("train", "d", "--oaa", 3, "--probabilities", "-f", "n", status=2).stderr
    assert "--probabilities needs --loss_function logistic" in stderr


def test_probabilities_by_themselves_do_nothing(vwlite, write):
    write("d", "1 |a x\n-1 |a y\n")
    plain = vwlite("vw", "-d", "d", "-p", "-", "--quiet").stdout
    assert vwlite("vw", "-d", "d", "-p", "-", "--quiet", "--probabilities").stdout == plain != ""


@pytest.mark.parametrize("options", ["--coin", "--pistol", "--ftrl", "--noconstant --pistol"])
def test_models_as_text_name_the_update_rule(options, vwlite, write, tmp_path):
    vwlite("vw", "-d", write("d", "1 |a x\n-1 |a y\n"), *options.split(), "--readable_model", "t", "--quiet")
    assert f"options: {options}" in (tmp_path / "t").read_text().splitlines()


RANKED = "-q ab --rank 2 -l 0.5 --l2 0.01"


def test_matrix_factorisation_is_learned_saved_and_gone_on_with(vw):
    """Models of vw keep neither the time nor ``--l2``."""
    done, output = vw(SIDES, f"{RANKED} -f m")
    assert output == ["0.144847", "0.452920", "0.830506", "0.182899", "0.697597", "0.447656"]
    assert done.stderr.startswith("note: 'vwlite train --dotproduct ab --rank 2' learns the same kind of model")
    assert "creating quadratic features for pairs: ab\n" in done.stderr and "total feature number" in done.stderr
    assert vw(SIDES, "-i m -t")[1] == ["0.649370", "0.543090", "0.512408", "0.361920", "0.469799", "0.643768"]
    _, output = vw(SIDES, "-i m -q ab --l2 0.01")
    assert output == ["0.649370", "0.689704", "0.841129", "0.359782", "0.663557", "0.646882"]


def test_several_pairs_of_matrix_factorisation_move_as_the_first(vw):
    _, output = vw(SIDES, "-q ab -q ba --interactions aa --rank 2 --power_t 0 -l 0.3")
    assert output == ["0.168924", "0.403024", "0.781075", "0.152810", "0.698229", "0.399155"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rank 2", "--rank takes -q with two letters of namespaces, like ui, not none"),
        ("--rank 2 -q a:", "--rank takes -q with two letters of namespaces, like ui, not a:"),
        ("--rank 2 -q ab --oaa 3", "--oaa does not go with --rank, vw's matrix factorisation"),
        ("--rank 3 -i m", "--rank 3 contradicts the model, which was made with --rank 2"),
        ("-q ba -i m", "-q ba contradicts the model, which was made with -q ab"),
    ],
)
def test_options_that_do_not_go_with_matrix_factorisation_are_refused(options, message, vw, vwlite):
    vw(SIDES, f"{RANKED} -f m --quiet")
    done = vwlite("vw", "d", *options.split(), status=1)
    assert done.stdout == f"[critical] vw: {message}\n" and not done.stderr


def test_networks_of_ftrl(vw):
    _, output = vw(SIDES, "--nn 2 --ftrl --l1 0.01")
    expected = [0, 0.402299, 0.743269, 0.334273, 0.588306, 0.331888]
    assert [float(value) for value in output] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("options", "loss"), [("", "0.284575"), (" --loss_function logistic", "0.488533")])
def test_a_network_forgets_its_loss(options, loss, vw):
    vw(SIDES, "--nn 2 --loss_function logistic -f m")
    done, _ = vw(SIDES, f"-i m -t{options}")
    assert summary(done)["average loss"] == loss
