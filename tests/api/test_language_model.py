"""Language models in Python: the bytes of the command, and what is made of them."""

import pickle

import numpy as np
import pytest

from vwlite.api.solver_model import LanguageModel
from vwlite.errors import DataError, ModelError, UsageError

LINES = [f"the {['cat', 'dog', 'bird'][row % 3]} sat on the {['mat', 'log'][row % 2]} ." for row in range(40)]
SMALL = {"window": 3, "dim": 4, "hidden": 5, "seed": 2}


def test_a_model_in_python_has_the_bytes_of_the_command(tmp_path, run_here):
    (tmp_path / "text").write_text("\n".join(LINES))
    run_here("lm", "train", "text", "--window", 3, "--dim", 4, "--hidden", 5, "--seed", 2, "--passes", 2, "-f", "m")
    model = LanguageModel(**SMALL, passes=2).fit(LINES)
    assert model.dumps() == (tmp_path / "m").read_bytes()
    assert LanguageModel(**SMALL).fit(LINES).fit_more(iter(LINES)).dumps() == model.dumps()
    model.save(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == model.dumps()
    ranks = run_here("lm", "rank", "text", "-i", "m", "--windows", 30, "--seed", 4, "-p", "ranks") and model.ranks(
        LINES, windows=30, seed=4
    )
    assert ranks.tolist() == [float(rank) for rank in (tmp_path / "ranks").read_text().split()]


def test_a_model_is_pickled_and_loaded_whole():
    model = LanguageModel(**SMALL).fit(LINES)
    for other in (pickle.loads(pickle.dumps(model)), LanguageModel.loads(model.dumps())):
        assert other.words == model.words and (other.vectors == model.vectors).all()
        assert other.fit_more(LINES).dumps() == LanguageModel(**SMALL, passes=2).fit(LINES).dumps()
    assert model.words[:3] == ["the", ".", "on"]
    assert (model.vector("Cat") == model.vectors[model.words.index("cat")]).all()
    with pytest.raises(KeyError):
        model.vector("zebra")


def test_after_an_error_the_model_is_as_it_was():
    model = LanguageModel(**SMALL)
    with pytest.raises(UsageError, match="fit"):
        model.words  # noqa: B018
    before = model.fit(LINES).dumps()
    for call in (model.fit, model.fit_more):
        with pytest.raises(DataError, match="known words"):
            call(["zebra"])
    assert model.dumps() == before and isinstance(model.ranks(LINES), np.ndarray)
    with pytest.raises(UsageError, match="--window"):
        LanguageModel(window=1)
    with pytest.raises(ModelError):
        LanguageModel.loads(before[:-9] + b"x" * 9)
