"""What the command refuses, Python refuses with the same sentence."""

import re
import shlex

import numpy as np
import pytest

from vwlite import Model
from vwlite.api.keywords import from_string
from vwlite.errors import DataError, UsageError

LINES = b"1 |u a:2 |i x\n-1 |u b |i y:0.5\n" * 9
OPTIONS = [
    # learners that do not go together, or want others
    "--log_multi 3 --loss_function hinge", "--log_multi 3 --swap_resistance -1", "--swap_resistance 2", "--error 2",
    "--ect 3 --oaa 3", "--ect 3 --probabilities", "--ect 3 --error -1", "--log_multi 300 -b 4", "--oaa 3 --csoaa 3",
    "--loss_function multinomial", "--multiclass 3 --loss_function squared", "--multiclass 3 --oaa 3",
    "--multiclass 3 --l2 0.1", "--costs", "--filter_tree 3 --oaa 3", "--multiclass 300 -b 4", "--oaa 3 --binary",
    "--oaa 3 --dotproduct ab --oaa_subsample 1", "--multilabel_oaa 3 --sequential --set-loss f1",
    "--named_labels a,b", "--oaa 2 --named_labels a,,b", "--oaa 3 --oaa_subsample 3", "--coin --pistol",
    "--coin --l2 1", "--coin --bfgs --passes 2", "--coin --ftrl_alpha 0", "--lrq ui", "--lrq ui3 -b 2", "--oaa 0",
    "--lrq ui3 --ftrl", "--active --confidence", "--active --coin", "--confidence --bfgs", "--active --oaa 3",
    "--confidence --dotproduct ui", "--active --mellowness -1", "--simulation", "--confidence_after_training",
    "--csoaa_ldf m --wap_ldf m", "--csoaa_ldf m --oaa 3", "--csoaa_ldf m --classweight 1:2", "--csoaa_rank",
    "--csoaa_ldf m --binary", "--csoaa_ldf singleline", "--csoaa_ldf m --passes 2 --shuffle", "--rank 3", "--bfgs",
    "--shuffle-first --csoaa_ldf m", "--shuffle --passes 2 --wap_ldf m", "--mem 4", "--bfgs --oaa 2",
    # passes
    "--curriculum easy", "--passes 2 --curriculum easy --shuffle", "--passes 2 --curriculum easy --wap_ldf m",
    "--passes 2 --curriculum easy --curriculum-by colour", "--bfgs --passes 3 --curriculum easy",
    "--curriculum-by length", "--passes 0", "--holdout_off --passes 2 --early_terminate 1",
    "--holdout_off --holdout_after 3", "--holdout_off --passes 2 --holdout_period 5", "--curriculum-start 0.5",
    "--holdout_period 5", "--early_terminate 2",
    # what would do nothing
    "--quantile_tau 0.3", "--expectile_q 0.3", "--logistic_max 2 --loss_function hinge", "--permutations",
    "--filter_tree 3 --loss_function multinomial --expectile_q 0.3", "--skips 1",
    *(f"--bfgs --passes 3 {option}" for option in ("--sgd", "--adaptive", "-l1", "--power_t=1", "--shuffle-first")),
    "--conjugate_gradient --passes 3 --mem=3", "--coin -l1", "--coin --initial_weight=1", "--coin -C1",
    "--filter_tree=2 --pistol -l1", "--filter_tree=2 --pistol --normalized",
    # values
    "--passes 1_0", "--classweight 1", "--loss_function nonsense", "--format xml", "--hash md5", "--link x", "-l x",
    "-l 1e39", "--l2 -1", "-b 99", "--min_prediction -1e39", "-b 3.5", "--affix x", "--lrq ab0",
    "--interactions a", "-q abc", "--passes 2 --holdout_period 0", "--passes", "--sgd=1",
    "--max-bad-ratio 2", "--threads 0", "--feature_limit x",
    "--dual", "--dual --l2 1 -l1", "--dual --l2 1 --adaptive", "--dual --l2 1 --loss_function poisson", "--gap 0.1",
    "--dual --l2 1 --bfgs --passes 2", "--dual --l2 1 --ftrl", "--dual --l2 1 --dotproduct ui --rank 2",
    "--ksvm -q ui", "--ksvm --kernel cosine", "--ksvm -l1", "--ksvm --bfgs --passes 2", "--kernel rbf", "--budget 3",
    "--loss_function expectile",
]


def sentence(said):
    return re.sub(r" \('vwlite .*--help' lists what there is\)$", "", said.removeprefix("vwlite: ").strip())


@pytest.mark.parametrize("options", OPTIONS)
def test_wrong_options_have_the_sentence_of_the_command(options, run_here, tmp_path):
    (tmp_path / "data.vw").write_bytes(LINES)
    expected = sentence(run_here("train", "data.vw", "-f", "m", "--quiet", *shlex.split(options), status=2).stderr)
    with pytest.raises(UsageError) as raised:
        Model(options).learn(LINES)
    assert str(raised.value) == expected


AGAINST = {  # options of a model and those that contradict it
    "--loss_function logistic": ["--logistic_min -1 --logistic_max 1", "-b 20", "--loss_function hinge", "-q ui"],
    "--bfgs --passes 3": ["-l 3", "--sgd"],
    "": ["--quantile_tau 0.3 --loss_function squared", "--noconstant"],
    "--oaa 3": ["--oaa 4"],
}


@pytest.mark.parametrize(("made", "options"), [(made, refused) for made in AGAINST for refused in AGAINST[made]])
def test_options_beside_a_model_have_the_sentence_of_the_command(made, options, run_here, tmp_path):
    (tmp_path / "data.vw").write_bytes(LINES.replace(b"-1", b"2") if "oaa" in made else LINES)
    run_here("train", "data.vw", "-f", "m", "--quiet", *made.split())
    refused = run_here("train", "data.vw", "-i", "m", "-f", "n", "--quiet", *options.split(), status=2)
    typed = from_string(options)
    told = sentence(refused.stderr)
    with pytest.raises(UsageError) as raised:
        Model.load("m", **typed)
    assert str(raised.value) == told
    with pytest.raises(UsageError) as raised:
        Model.loads((tmp_path / "m").read_bytes(), **typed)
    assert str(raised.value) == told.replace(" m,", " the model,")


DATA = {  # options, and the labels of rows, the last of which is refused
    "--loss_function logistic": [1, 0.5],
    "--loss_function hinge": [1, -1, 0],
    "--loss_function poisson": [1, -2],
    "--oaa 3": [1, 4],
    "--csoaa 3": [7],
    "--loss_function logistic --oaa 2": [0.5],
    "--loss_function logistic --noconstant --passes 2": [1, 0, -1],
}


@pytest.mark.parametrize("options", DATA)
def test_wrong_labels_have_the_sentence_of_the_command(options, run_here, tmp_path):
    labels = DATA[options]
    text = "".join(f"{label} | 0:1\n" for label in labels)
    (tmp_path / "data.vw").write_text(text)
    refused = run_here("train", "data.vw", "-f", "m", "--strict", "--quiet", *options.split(), status=65).stderr
    told = sentence(refused)
    for data, columns in ((text, {}), (np.ones((len(labels), 1)), {"y": labels})):
        with pytest.raises(DataError) as raised:
            Model(f"{options} --strict").learn(data, **columns)
        place = f"row {len(labels) - 1}" if columns else f"<text>:{len(labels)}"
        assert str(raised.value).split(": ")[:2] == [place, told.split(": ")[1]]
