"""``ASOModel``: the bytes of ``vwlite aso learn``, and the features that Theta makes."""

import copy
import pickle
import random

import numpy as np
import pytest

from vwlite.api.aso_model import ASOModel
from vwlite.api.solver_model import CRRModel
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.solvers.aso.config import SolverConfig

CHOICE = random.Random(3)
LINES = [" ".join(f"w{topic * 6 + CHOICE.randrange(8)}" for _ in range(6)) for topic in [0, 1, 2] * 40]
TEXT = "".join(f"|w {words} |l {words.split()[0]}\n" for words in LINES)
LABELLED = "".join(f"c{n % 3} |w {words} |l {words.split()[0]}\n" for n, words in enumerate(LINES[:60]))
CASES = {
    "freq": (("freq",), {"dim": 4}, "--dim 4"),
    "mask": (("mask:l",), {"dim": 3, "dims": (("w", 2),), "iterations": 2}, "--dim 3 --dim w=2 --iterations 2"),
    "two kinds": (("freq-k:2", "mask:w"), {"most": 9, "positive": False}, "--max-problems 9 --no-positive"),
    "labelled": (("top-k:2",), {"dim": 3}, "--dim 3 --labeled labelled.vw"),
}
cases = pytest.mark.parametrize("case", CASES)


def parsed(model, text, lines=7):
    """Batches of so many lines."""
    split = text.splitlines(keepends=True)
    parts = ["".join(split[at : at + lines]) for at in range(0, len(split), lines)]
    return [parse_text(part.encode(), model.text_format) for part in parts]


def fitted(case):
    aux, options, _ = CASES[case]
    model = ASOModel(aux, solver=SolverConfig(seed=2), **options)
    return model.fit(parsed(model, TEXT), parsed(model, LABELLED) if case == "labelled" else None)


@cases
def test_the_model_has_the_bytes_of_the_commands(case, run_here, tmp_path):
    (tmp_path / "data.vw").write_text(TEXT)
    (tmp_path / "labelled.vw").write_text(LABELLED)
    aux, _, typed = CASES[case]
    kinds = [word for kind in aux for word in ("--aux", kind)]
    run_here("aso", "learn", "data.vw", "-f", "theta", "--seed", "2", "--quiet", *kinds, *typed.split())
    assert fitted(case).dumps() == (tmp_path / "theta").read_bytes()


@cases
def test_features_are_products_with_the_components(case):
    model = fitted(case)
    text = "|w w1 w2 w2 new |l w1\n\n|w w9\n"
    place = {name: number for number, name in enumerate(model.feature_names)}
    x = np.zeros((2, len(place)))
    x[0, place["w", "w1"]], x[0, place["w", "w2"]], x[0, place["l", "w1"]], x[1, place["w", "w9"]] = 1, 2, 1, 1
    plain = model.transform(parsed(model, text), unit=False)
    assert plain.dtype == np.float32
    np.testing.assert_allclose(plain, x @ model.components.T, atol=1e-6)
    ends = np.cumsum([len(values) for values in model.groups.values()])[:-1]
    scaled = model.transform(parsed(model, text), scale=2)
    for part, own in zip(np.split(scaled, ends, 1), np.split(plain, ends, 1), strict=True):
        length = np.sqrt((own**2).sum(1, keepdims=True))
        np.testing.assert_allclose(part, 2 * own / np.maximum(length, 1e-12), atol=1e-4)


def test_rows_without_importance_are_transformed_too():
    model = fitted("freq")
    assert len(model.transform(parsed(model, "c1 0 |w w1\nc2 1 |w w1\n|w\n"))) == 3
    assert len(model.transform([])) == 0


def test_models_are_pickled_copied_and_saved(tmp_path):
    model = fitted("mask")
    expected = model.transform(parsed(model, TEXT)).tolist()
    model.save(tmp_path / "saved")
    saved = ASOModel.loads((tmp_path / "saved").read_bytes())
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), saved):
        assert other.dumps() == model.dumps() and other.facts == model.facts
        assert other.transform(other.batches(TEXT)).tolist() == expected
    assert pickle.loads(pickle.dumps(ASOModel())).config == ASOModel().config


def test_wrong_calls_are_refused_and_change_nothing():
    model = fitted("freq")
    before = model.dumps()
    with pytest.raises(DataError, match="there is no example to learn from"):
        model.fit([])
    with pytest.raises(UsageError, match="no names of features"):
        model.fit([parse_text(b"|w a\n", TextFormat(words=True))])
    with pytest.raises(UsageError, match="needs --labeled"):
        ASOModel(("top-k:2",)).fit(parsed(model, TEXT))
    with pytest.raises(UsageError, match="--aux is freq"):
        ASOModel(("often",))
    assert model.dumps() == before
    with pytest.raises(UsageError, match="call fit"):
        ASOModel().transform([])
    ranker = CRRModel()
    with pytest.raises(ModelError, match="made by vwlite aso learn"):
        ASOModel.loads(ranker.fit(ranker.batches("1 |a b\n0 |a c\n")).dumps())
