"""--nn on the command line and in Python: learning what no linear model can, answers, models, refusals."""

import json

import numpy as np
import pytest

import vwlite as library
from vwlite.storage.model_file import load

PAIRS = [(n * 7 // 3 % 2, n % 5 % 2) for n in range(600)]
LINES = [f"{1 if a != b else -1} |p {'a' * a} {'b' * b}\n" for a, b in PAIRS]
NAMED = [f"{'odd' if line[0] == '1' else 'even'} {line.split(' ', 1)[1]}" for line in LINES]


def measured(vwlite, name, *metrics):
    return json.loads(vwlite("evaluate", "-i", "m", name, "--metric", ",".join(metrics), "--json", "-").stdout)


@pytest.mark.parametrize("options", ["--nn 4", "--nn 4,4", "--nn 8 --dropout", "--nn 4 --inpass"])
def test_exclusive_or_is_learned(options, vwlite, write):
    write("data", "".join(LINES))
    arguments = ("--loss_function", "logistic", "--passes", "3", "--holdout_off", "--quiet")
    vwlite("train", "data", "-f", "m", *arguments, *options.split())
    assert measured(vwlite, "data", "auc")["auc"] == 1
    vwlite("train", "data", "-f", "m", *arguments)
    assert measured(vwlite, "data", "auc")["auc"] < 0.8


def test_classes_with_names_and_probabilities(vwlite, write, tmp_path):
    write("data", "".join(NAMED))
    vwlite("train", "data", "-f", "m", "--multiclass", "2", "--named_labels", "odd,even", "--nn", "6", "--quiet")
    assert measured(vwlite, "data", "accuracy", "log_loss")["accuracy"] == 1
    lines = vwlite("predict", "-i", "m", "data", "--probabilities").lines
    shares = np.array([[float(word.split(":")[1]) for word in line.split()] for line in lines])
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    scores = vwlite("predict", "-i", "m", "data", "--raw").lines
    raw = np.array([[float(word.split(":")[1]) for word in line.split()] for line in scores])
    np.testing.assert_allclose(np.exp(raw[:, 0] - raw[:, 1]), shares[:, 0] / shares[:, 1], rtol=2e-3)
    model = library.load(tmp_path / "m")
    assert list(model.predict(tmp_path / "data")) == vwlite("predict", "-i", "m", "data").lines


def test_python_learns_the_same(vwlite, write, tmp_path):
    write("data", "".join(LINES))
    vwlite("train", "data", "-f", "m", "--nn", "5,3", "--dropout", "--seed", "3", "--quiet")
    model = library.train(tmp_path / "data", nn="5,3", dropout=True, random_seed=3)
    model.save(tmp_path / "n")
    theirs, ours = load(tmp_path / "m").arrays, load(tmp_path / "n").arrays
    for name in ("weights", "dense", "squares", "scale", "dense_squares"):
        np.testing.assert_array_equal(theirs[name].values, ours[name].values)
    for units in (4, [4, 3], "4,3"):
        assert library.train(tmp_path / "data", nn=units).predict(tmp_path / "data").shape == (len(LINES),)
    with pytest.raises(library.UsageError, match=r"--nn: 0\.5 is not a valid integer"):
        library.train(tmp_path / "data", nn=0.5)


def test_a_model_for_predicting_only_answers_the_same(vwlite, write):
    write("data", "".join(LINES))
    for options in (("-f", "m"), ("-f", "n", "--predict_only_model")):
        vwlite("train", "data", "--nn", "4,3", "--quiet", *options)
    assert vwlite("predict", "-i", "m", "data").stdout == vwlite("predict", "-i", "n", "data").stdout
    assert sorted(load("n").arrays) == ["dense", "weights"]


def test_importance_that_is_large_ends_where_it_should(vwlite, write):
    write("data", "1 1e6 |p a\n3 1e6 |p b\n" * 20)
    vwlite("train", "data", "-f", "m", "--nn", "4", "--quiet", "-l", "0.001")
    answers = [float(line) for line in vwlite("predict", "-i", "m", "data").lines]
    assert np.isfinite(answers).all()


def test_levels_and_bounds(vwlite, write):
    write("data", "1 |p a\n3 |p b\n5 |p a b\n" * 50)
    vwlite("train", "data", "-f", "m", "--nn", "8", "--levels", "1,3,5", "--quiet")
    assert vwlite("predict", "-i", "m", "data").lines[:3] == ["1", "3", "5"]
    vwlite("train", "data", "-f", "n", "--nn", "8", "--min_prediction", "2", "--max_prediction", "4", "--quiet")
    answers = [float(line) for line in vwlite("predict", "-i", "n", "data").lines]
    assert min(answers) == 2 and max(answers) == 4


def test_divergence_exits_with_70(vwlite, write, names_in):
    write("data", "".join(LINES))
    stderr = vwlite("train", "data", "--nn", "4,4", "-l", "1e38", "-f", "m", status=70).stderr
    assert "try a smaller learning rate (-l)" in stderr and "m" not in names_in()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--nn 0", "--nn takes the units of each hidden layer, 1 to 10000, as 100 or 300,300,300, not '0'"),
        ("--nn 3,0", "not '3,0'"),
        ("--nn 4 --bfgs", "--bfgs and --nn do not go together"),
        ("--nn 4 --dotproduct pp", "--dotproduct and --nn do not go together"),
        ("--nn 4 --lrq pp2", "--lrq and --nn do not go together"),
        ("--nn 4 --l1 1e-6", "--l1 does not go with --nn"),
        ("--nn 4 --l2 1e-6", "--l2 does not go with --nn"),
        ("--nn 4 --sgd", "--sgd does not go with --nn"),
        ("--nn 4 --ftrl", "--ftrl does not go with --nn"),
        ("--nn 4 --oaa 3", "of classes it takes --multiclass"),
        ("--nn 4 --average", "--average and --nn do not go together"),
        ("--nn 4 --multiclass 2 --loss_function hinge", "hinge"),
        ("--nn 4 --multiclass 2 --loss_function crammer_singer", "--loss_function multinomial, not crammer_singer"),
        ("--nn 4 --readable_model t", "models of --nn are not written as vw's text"),
        ("--nn 200 -b 7", "--nn 200 needs more than the 128 slots of -b 7"),
        ("--nn 4 --workers 2", "--nn does not go with shards"),
        ("--dropout", "--dropout needs --nn"),
        ("--inpass", "--inpass needs --nn"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, write, names_in):
    stderr = vwlite("train", write("data", "".join(LINES)), "-f", "m", *options.split(), status=2).stderr
    assert message in stderr and "m" not in names_in()


def test_sums_of_weights_are_not_shown(vwlite, write):
    write("data", "".join(LINES))
    vwlite("train", "data", "-f", "m", "--nn", "4", "--quiet")
    for command in ("predict", "explain"):
        stderr = vwlite(command, "-i", "m", "data", *["--audit"] * (command == "predict"), status=2).stderr
        assert "--nn: its predictions are no sums of features' weights" in stderr


def test_a_model_keeps_its_layers(vwlite, write):
    write("data", "".join(LINES))
    vwlite("train", "data", "-f", "m", "--nn", "4", "--quiet")
    for option in ("--nn 5", "--inpass"):
        stderr = vwlite("train", "data", "-i", "m", "-f", "m", *option.split(), status=2).stderr
        assert f"{option} contradicts m, which was made with" in stderr


IN_VW = """\
1 |a x y:0.5
0 |a y z
1 2 |a x z
0 |a y
|a x y z
1 |a x
""".splitlines()
OF_VW = {  # what vw 9.11 answers
    "--nn 1": [0, 0.479689, 0.253443, 0.654224, 0.483310, 0.475219],
    "--nn 3": [0, 0.465319, 0.240814, 0.704021, 0.472080, 0.457061],
    "--nn 2 --loss_function quantile": [0, 0.521453, 0.148394, 0.654389, 0.426143, 0.435436],
    "--nn 4 --random_seed 7 -l 0.2": [0, 0.225497, 0.160393, 0.403674, 0.373270, 0.355893],
    "--nn 2 --adaptive": [0, 1, 1, 1, 0, 0],
    "--nn 2 --invariant": [0, 1, 0.083943, 1, 0.026229, 0.022419],
    "--nn 2 --invariant -l 0.1 --power_t 0.2": [0, 0.160507, 0.136799, 0.354435, 0.309494, 0.308944],
    "--nn 2 --sgd": [0, 1, 0, 1, 1, 1],
    "--nn 2 --normalized": [0, 1, 1, 1, 0, 0],
    "--nn 3 --l2 0.01": [0, 0.463524, 0.238556, 0.695602, 0.463004, 0.448293],
    "--nn 2 --initial_weight 0.1": [0.148986, 1, 0.150734, 0.616376, 0.527233, 0.442069],
    "--nn 2 --random_weights --random_seed 3": [0, 0.884587, 0, 0.378997, 0.252795, 0.204169],
    "--nn 3 --binary": [-1, 1, 1, 1, 1, 1],
}


@pytest.mark.parametrize("options", OF_VW)
def test_vw_answers_the_same(options, vwlite, write, tmp_path):
    write("data", "\n".join(IN_VW) + "\n")
    vwlite("vw", "-d", "data", "-p", "p", "--quiet", *options.split())
    answers = list(map(float, (tmp_path / "p").read_text().split()))
    np.testing.assert_allclose(answers, OF_VW[options], atol=2e-6)


@pytest.mark.parametrize("rule", [(), ("--invariant",)])
def test_a_model_of_vw_goes_on_and_predicts(rule, vwlite, write, weights, tmp_path):
    write("all", "".join(LINES))
    write("one", "".join(LINES[:200]))
    write("two", "".join(LINES[200:]))
    vwlite("vw", "-d", "all", "-f", "m", "--nn", "3", "--quiet", *rule)
    vwlite("vw", "-d", "one", "-f", "n", "--nn", "3", "--quiet", *rule)
    vwlite("vw", "-d", "two", "-i", "n", "--nn", "3", "-f", "n", "--quiet")
    assert weights("m") == weights("n") != {}
    vwlite("vw", "-d", "all", "-t", "-i", "m", "-p", "p", "--quiet")
    assert (tmp_path / "p").read_text() == vwlite("predict", "-i", "n", "all").stdout
    stdout = vwlite("vw", "-d", "all", "-i", "m", "--nn", "4", status=1).stdout
    assert "--nn 4 contradicts the model, which was made with --nn 3" in stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--nn 2 --dropout", "--dropout does not go with --nn here (use 'vwlite train')"),
        ("--nn 2 --inpass", "--inpass does not go with --nn here"),
        ("--nn 2 -r raw", "--raw_predictions does not go with --nn here"),
        ("--nn 2 --oaa 3", "--oaa does not go with --nn here (use 'vwlite train' with --multiclass)"),
        ("--nn 2,3", "--nn takes one number of units, not 2,3"),
        ("--nn 0", "--nn takes the units"),
        ("--nn 2 --initial_t 3", "--initial_t does not go with --nn"),
        ("--nn 2 --audit", "--audit does not go with --nn"),
        ("--dropout", "--dropout needs --nn"),
        ("--nn 9 -b 3", "--nn 9 needs more than the 8 slots of -b 3"),
    ],
)
def test_options_that_vw_lite_lacks_are_refused(options, message, vwlite, write):
    assert message in vwlite("vw", "-d", write("data", "1 |a b\n"), *options.split(), status=1).stdout
