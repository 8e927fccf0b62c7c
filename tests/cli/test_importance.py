"""When an importance of 2 is two examples."""

import pytest

from vwlite.learners.losses import LOSSES

PLAIN = ("classic", "perceptron")  # their steps do not go by how the loss changes on the way
MORE = {"expectile": "--expectile_q 0.3", "quantile": "--quantile_tau 0.3"}


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in PLAIN])
def test_at_a_given_rate_an_importance_of_2_is_two_examples(vwlite, write, weights, loss):
    write("one", "1 2 | x y:0.5\n")
    write("two", "1 | x y:0.5\n" * 2)
    rate = f"-b 6 --invariant --power_t 0 -l 0.1 --initial_weight 0.05 --loss_function {loss} {MORE.get(loss, '')}"
    for options, equal in ((rate, True), (rate.replace("--invariant --power_t 0", ""), False)):
        for name in ("one", "two"):
            vwlite("train", name, "-f", f"{name}.m", "--quiet", *options.split())
        same = weights("two.m") == pytest.approx(weights("one.m"), rel=2e-6)
        assert same == equal and weights("one.m")


LABELS = ["2 1 2 2 1 3 1 2", "-1 1 -1 -1 1 -1 1 1"]


@pytest.mark.parametrize(
    ("labels", "command", "weights"),
    [
        (LABELS[0], "l1 --model multinomial --solver owlqn", "2:3,1:0.5"),
        (LABELS[0].replace("2", "red"), "l1 --model multinomial --solver sgd", "red:3,1:0.5"),
        (LABELS[1], "l1 --solver owlqn", "-1:3,1:0.5"),
        (LABELS[1], "crr --steps 500 --alpha 0.5 --loss_function logistic", "-1:3,1:0.5"),
    ],
)
def test_the_weight_of_a_class_is_the_importance_of_its_lines(vwlite, write, tmp_path, labels, command, weights):
    words = [f"{label} | f{n % 3} g{n % 2} x:{n}\n" for n, label in enumerate(labels.split())]
    importance = {"2": 3, "red": 3, "-1": 3, "1": 0.5}
    weighed = [line.replace(" ", f" {importance.get(line.split()[0], 1)} ", 1) for line in words]
    write("plain", "".join(words))
    write("weighed", "".join(weighed))
    vwlite(*command.split(), "weighed", "-f", "m", "--quiet")
    vwlite(*command.split(), "plain", "-f", "n", "--quiet", "--classweight", weights)
    vwlite(*command.split(), "plain", "-f", "o", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes() != (tmp_path / "o").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--model multinomial --classweight green:2", "--classweight green: no such label"),
        ("--model crf --classweight red:2", "--classweight does not go with sequences"),
        ("--classweight red:2", "--classweight red: labels are numbers with --model binary"),
        ("--model multinomial --classweight red:-1", "'red:-1' is not like red:2,blue:0.5"),
    ],
)
def test_weights_of_classes_that_would_do_nothing(vwlite, write, options, message):
    write("data", "red | a\nblue | b\n")
    assert message in vwlite("l1", "data", "-f", "m", *options.split(), status=2).stderr


@pytest.mark.parametrize("command", ["train", "l1", "crr --qid none", "train --oaa 3"])
def test_weights_of_labels_that_never_occur_are_noted(vwlite, write, command):
    write("data", "1 | a\n-1 | b\n" if "oaa" not in command else "1 | a\n2 | b\n")
    stderr = vwlite(*command.split(), "data", "-f", "m", "--classweight", "1:2,7:3,0.5:2").stderr
    assert "note: --classweight: no example has the label 7, 0.5\n" in stderr
