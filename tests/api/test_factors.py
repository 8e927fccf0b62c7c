"""``Model.factors``: the latent vectors that ``vwlite inspect --factors`` writes."""

import numpy as np
import pytest

from vwlite import Model
from vwlite.errors import UsageError

TEXT = b"".join(b"%d |u u%d |i i%d\n" % (n % 4 + 1, n % 5, n % 7) for n in range(60))


@pytest.mark.parametrize("options", ["", "--names", "--dotproduct iu --rank 2"])
@pytest.mark.parametrize("namespace", ["u", "i"])
def test_factors_are_those_of_the_command(options, namespace, run_here, tmp_path):
    model = Model(f"--dotproduct ui --rank 3 {options}")
    model.learn(TEXT)
    model.save(tmp_path / "model")
    run_here("inspect", tmp_path / "model", "--factors", namespace, "--out", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as wanted:
        for actual in (model.factors(namespace), Model.load(tmp_path / "model").factors(namespace)):
            assert [*actual] == [*wanted]
            for name, column in actual.items():
                assert column.dtype == wanted[name].dtype and np.array_equal(column, wanted[name])
    if options == "--names":
        assert sorted(actual["feature"]) == [f"{namespace}^{namespace}{n}" for n in range({"u": 5, "i": 7}[namespace])]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "the model has no latent vectors: train with --dotproduct"),
        ("--dotproduct ui", "no pair has a namespace 'x'; the model's pairs are ui"),
    ],
)
def test_factors_that_are_not_there(options, message):
    with pytest.raises(UsageError) as error:
        Model(options).factors("x")
    assert str(error.value) == message
