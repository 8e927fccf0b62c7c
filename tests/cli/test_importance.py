"""When an importance of 2 is two examples."""

import pytest

from vwlite.learners.losses import LOSSES

PLAIN = ("classic", "perceptron")  # their steps do not go by how the loss changes on the way
MORE = {"expectile": "--expectile_q 0.3", "quantile": "--quantile_tau 0.3"}


@pytest.mark.parametrize("loss", [name for name in LOSSES if name not in PLAIN])
def test_at_a_given_rate_an_importance_of_2_is_two_examples(vwlite, write, weights, loss):
    write("one", "1 2 | x y:0.5\n"), write("two", "1 | x y:0.5\n" * 2)
    rate = f"--invariant --power_t 0 -l 0.1 --initial_weight 0.05 --loss_function {loss} {MORE.get(loss, '')}"
    for options, equal in ((rate, True), (rate.replace("--invariant --power_t 0", ""), False)):
        for name in ("one", "two"):
            vwlite("train", name, "-f", f"{name}.m", "--quiet", *options.split())
        same = weights("two.m") == pytest.approx(weights("one.m"), rel=2e-6)
        assert same == equal and weights("one.m")
