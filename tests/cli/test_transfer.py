"""--transfer: the bytes of the options that it stands for, predictions by its function, refusals."""

import numpy as np
import pytest

from vwlite import Model
from vwlite.errors import UsageError

SPELLED = {
    "identity": "--loss_function squared --link identity",
    "exp": "--loss_function poisson --link poisson",
    "sigmoid": "--loss_function logistic --logistic_min 0 --logistic_max 1 --link logistic",
    "tanh": "--loss_function logistic --logistic_min -1 --logistic_max 1 --link glf1",
}
OF_SUMS = {
    "identity": lambda z: z,
    "exp": np.exp,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": lambda z: np.tanh(z / 2),
}


def text_of(name, outputs):
    """80 rows of 4 inputs, with labels that the function makes of sums."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4))
    labels = OF_SUMS[name](x @ rng.normal(size=(4, outputs)) + rng.normal(size=outputs) / 4)
    rows = (" ".join(f"{place}:{value:.6g}" for place, value in enumerate(row)) for row in x)
    lists = (",".join(f"{value:.6g}" for value in row) for row in labels)
    return "".join(f"{label} |f {row}\n" for label, row in zip(lists, rows, strict=True))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", SPELLED)
def test_models_have_the_bytes_of_the_options_spelled_out(vwlite, write, tmp_path, name, outputs):
    write("d", text_of(name, outputs))
    several = ["--outputs", outputs] if outputs > 1 else []
    for model, options in (("short", f"--transfer {name}"), ("long", SPELLED[name])):
        vwlite("train", "d", "-f", model, "--passes", 3, "--quiet", *several, *options.split())
    content = (tmp_path / "short").read_bytes()
    assert content == (tmp_path / "long").read_bytes()
    sums, predictions = (
        np.array([line.split() for line in vwlite("predict", "d", "-i", "short", *raw).lines], float)
        for raw in ((("--raw",), ()))
    )
    np.testing.assert_allclose(predictions, OF_SUMS[name](sums), atol=2e-6, rtol=1e-5)
    vwlite("train", "d", "-i", "short", "-f", "more", "--transfer", name, "--quiet")
    vwlite("train", "d", "-i", "long", "-f", "more too", "--quiet")
    assert (tmp_path / "more").read_bytes() == (tmp_path / "more too").read_bytes()
    if outputs == 1:
        model = Model(f"--transfer {name}", holdout_off=True)
        model.learn(text_of(name, 1))
        assert np.isfinite(model.predict(text_of(name, 1))).all()
        other = next(transfer for transfer in SPELLED if transfer != name)
        assert "contradicts" in vwlite("train", "d", "-i", "short", "--transfer", other, "--quiet", status=2).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("exp --loss_function poisson", "exp goes with its own loss; --loss_function is not needed"),
        ("exp --link poisson", "exp goes with its own link; --link is not needed"),
        ("tanh --logistic_min -1", "tanh goes with its own limits; --logistic_min is not needed"),
        ("sigmoid --logistic_max 2", "sigmoid goes with its own limits; --logistic_max is not needed"),
        ("sigmoid --oaa 3", "--transfer is for numbers, not for the classes of --oaa"),
        ("exp --quantile_tau 0.9", "--quantile_tau does nothing without --loss_function quantile"),
        ("softmax", "--multiclass K --label_shares is it"),
        ("tan", "did you mean tanh?"),
    ],
)
def test_options_that_the_function_settles_are_refused_beside_it(vwlite, write, options, said):
    write("d", "0.5 |f a\n")
    assert said in vwlite("train", "d", "-f", "m", "--transfer", *options.split(), status=2).stderr
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        Model(f"--transfer {options}")


@pytest.mark.parametrize("several", [(), ("--outputs", 2)])
@pytest.mark.parametrize(
    ("name", "label", "rule"),
    [("exp", -1, "0 or more"), ("sigmoid", 1.5, "from 0 to 1"), ("tanh", -1.5, "from -1 to 1")],
)
def test_labels_outside_of_the_range_are_refused_with_it(vwlite, write, several, name, label, rule):
    write("d", "".join(f"{label}{',0.5' if several else ''} |f a\n" for _ in range(3)))
    assert f"labels must be {rule}" in vwlite("train", "d", "--transfer", name, *several, status=65).stderr


def test_an_environment_may_set_it(vwlite, write, tmp_path, monkeypatch):
    write("d", text_of("tanh", 1))
    vwlite("train", "d", "--transfer", "tanh", "-f", "typed", "--quiet")
    monkeypatch.setenv("VWLITE_TRAIN_TRANSFER", "tanh")
    vwlite("train", "d", "-f", "set", "--quiet")
    assert (tmp_path / "typed").read_bytes() == (tmp_path / "set").read_bytes()
