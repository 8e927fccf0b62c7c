"""``CRRModel``: the bytes and the answers of ``vwlite crr``."""

import copy
import pickle
import random

import numpy as np
import pytest

from vwlite.api.loglinear_models import L1Model
from vwlite.api.solver_model import CRRModel
from vwlite.data.text_format import parse_text
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.features.config import FeatureConfig, QueryConfig
from vwlite.learners.losses import LossConfig
from vwlite.solvers.crr.config import CrrConfig

CHOICE = random.Random(7)
DATA = "".join(
    f"{n % 3} 'q{n // 9}|user u{CHOICE.randrange(3)} age:{n % 3 + CHOICE.random():.3f} "
    f"|item b{n % 2} | x{n % 3}:{n % 5}\n"
    for n in range(90)
)
CLASSES = DATA.replace("\n2 ", "\n1 ").removeprefix("2")
CASES = {
    "defaults": ({}, "", DATA),
    "mostly pairs": ({"alpha": 0.2, "penalty": 0.01, "seed": 3}, "--alpha 0.2 --lambda 0.01 --seed 3", DATA),
    "a sample": ({"pair_buffer": 2}, "--pair-buffer 2", DATA),
    "queries by namespace": ({"queries": QueryConfig("item")}, "--qid item", DATA),
    "logistic": ({"loss": LossConfig("logistic")}, "--loss_function logistic", CLASSES),
}
cases = pytest.mark.parametrize("case", CASES)


def parsed(model, text, lines=7):
    """Batches of so many lines."""
    split = text.splitlines(keepends=True)
    parts = ["".join(split[at : at + lines]) for at in range(0, len(split), lines)]
    return [parse_text(part.encode(), model.text_format) for part in parts]


def fitted(case):
    options, _, text = CASES[case]
    model = CRRModel(CrrConfig(steps=3000, **options))
    return model.fit(parsed(model, text)), text


@pytest.fixture
def command(run_here, tmp_path):
    """The bytes of the model of ``vwlite crr``."""

    def run(typed, text):
        (tmp_path / "data.vw").write_text(text)
        run_here("crr", "data.vw", "-f", "model", "--steps", "3000", "--quiet", *typed.split())
        return (tmp_path / "model").read_bytes()

    return run


@cases
def test_the_model_has_the_bytes_of_the_commands(case, command):
    model, text = fitted(case)
    assert model.dumps() == command(CASES[case][1], text)


@cases
def test_more_steps_make_the_model_of_all(case):
    model, text = fitted(case)
    options = CASES[case][0]
    part = CRRModel(CrrConfig(steps=1000, **options)).fit(parsed(model, text))
    more = CRRModel.loads(part.dumps()).go_on(parsed(model, text), 2000)
    assert more.dumps() == part.go_on(parsed(model, text), 2000).dumps() == model.dumps()
    with pytest.raises(UsageError, match="call fit"):
        CRRModel().go_on([])


@cases
def test_batches_can_be_taken_again(case):
    model, text = fitted(case)
    batches = parsed(model, text)
    assert model.fit(batches).dumps() == model.fit(batches).dumps() == model.fit(model.batches(text)).dumps()


@cases
def test_predictions_are_those_of_the_command(case, command, run_here, tmp_path):
    model, text = fitted(case)
    command(CASES[case][1], text)
    run_here("predict", "-i", "model", "data.vw", "-p", "answers", "--quiet")
    expected = [float(line.split()[0]) for line in (tmp_path / "answers").read_text().splitlines()]
    np.testing.assert_allclose(model.predict(parsed(model, text)), expected, atol=1e-6)


def test_names_and_wildcards(command):
    model = CRRModel(CrrConfig(steps=3000), FeatureConfig(quadratic=("::",)), names=True)
    assert model.fit(parsed(model, DATA)).dumps() == command("--names -q ::", DATA)


def test_rows_are_ranked_within_their_queries():
    model, text = fitted("mostly pairs")
    predictions, ranked = model.predict(parsed(model, text)), model.rank(parsed(model, text))
    assert len(ranked) == 10
    for number, rows in enumerate(ranked):
        assert sorted(rows.tolist()) == list(range(9 * number, 9 * number + 9))
        assert (np.diff(predictions[rows]) <= 0).all()
    assert model.rank([]) == []


def test_models_are_pickled_copied_and_saved(tmp_path):
    model, text = fitted("queries by namespace")
    expected = model.predict(parsed(model, text)).tolist()
    model.save(tmp_path / "saved")
    saved = CRRModel.loads((tmp_path / "saved").read_bytes())
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), saved):
        assert other.dumps() == model.dumps()
        assert other.predict(parsed(other, text)).tolist() == expected
        assert other.config == model.config
    assert pickle.loads(pickle.dumps(CRRModel())).config == CrrConfig()


def test_facts_and_weights():
    model, _ = fitted("defaults")
    assert model.facts["examples"] == 90 and model.facts["queries"] == 10
    assert model.weights.shape == (1 << 18,)
    slots = [*parse_text(b"|item b1\n", model.text_format).feature_hash, 11650396]
    score = model.weights[np.array(slots) % (1 << 18)].sum()
    np.testing.assert_allclose(model.predict(model.batches("|item b1")), [score], rtol=1e-6)
    assert len(model.predict([])) == 0


def test_wrong_calls_are_refused_and_change_nothing():
    model, _ = fitted("logistic")
    before = model.dumps()
    with pytest.raises(DataError, match="label 7 does not fit"):
        model.fit(model.batches("7 |a b\n"))
    with pytest.raises(DataError, match="no labelled example"):
        model.fit([])
    with pytest.raises(DataError, match="no query has two different labels"):
        model.fit(model.batches("1 'a|a b\n0 'b|a c\n"))
    assert model.dumps() == before
    with pytest.raises(UsageError, match="call fit"):
        CRRModel().predict([])
    two = L1Model()
    with pytest.raises(ModelError, match="not made by 'vwlite crr'"):
        CRRModel.loads(two.fit(two.batches("1 |a b\n-1 |a c\n")).dumps())
