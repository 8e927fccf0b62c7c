"""``L1Model`` and ``CRFModel``: the bytes and the answers of ``vwlite l1``."""

import copy
import pickle

import numpy as np
import pytest

from vwlite.api.loglinear_models import CRFModel, L1Model
from vwlite.data.text_format import parse_text
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.solvers.loglinear.config import HeldOutConfig, L1Config

NUMBERS = "".join(f"{n // 3 % 2 * 2 - 1} {n % 2 + 1} |u u{n % 5} x:{n % 4} |i i{n % 7}\n" for n in range(90))
BITS = NUMBERS.replace("-1 ", "0 ")
NAMED = "".join(f"{('cat', 'dog', 'bird')[n % 3]} 't{n} |u u{n % 5} |i i{n % 7}\n" for n in range(60))
SENTENCE = "B-NP 2 |w a b |e x\nI-NP |w a |e y\n\nO |w c d:-1 |e x\nB-NP |w a b c |e x\nO |w d |e y\n\n"
TREES = "B 'b^a |w x\nA 'a |w y\nC 'c^b |w z\nB 'd^a |w x\n\nA 2 'a |w y\nB 'b^a |w z\n\n" * 4
TAGS = SENTENCE * 4 + "O |w a\n"
CASES = {
    "binary": (L1Model, {"model": "binary"}, NUMBERS),
    "binary of 0 and 1": (L1Model, {"model": "binary", "solver": "owlqn"}, BITS),
    "multinomial": (L1Model, {"model": "multinomial", "l1": 0.3}, NAMED),
    "crf": (CRFModel, {"model": "crf", "l1": 0.1, "seed": 5}, TAGS),
    "crf with edges": (CRFModel, {"model": "crf", "edge": ("e",), "l1": 0.1}, TAGS),
    "tree": (CRFModel, {"model": "tree", "l1": 0.1}, TREES),
    "crf by l2": (CRFModel, {"model": "crf", "solver": "owlqn", "l1": 0.1, "l2": 0.5}, TAGS),
    "crf by owlqn": (CRFModel, {"model": "crf", "solver": "owlqn", "l1": 0.1}, TAGS),
}
cases = pytest.mark.parametrize("case", CASES)


def parsed(model, text, lines=7):
    """Batches of so many lines."""
    split = text.splitlines(keepends=True)
    parts = ["".join(split[at : at + lines]) for at in range(0, len(split), lines)]
    return [parse_text(part.encode(), model.text_format) for part in parts]


def fitted(case):
    kind, options, text = CASES[case]
    model = kind(L1Config(**options, passes=6))
    return model.fit(parsed(model, text)), text


@pytest.fixture
def command(run_here, tmp_path):
    """The bytes of the model of ``vwlite l1``; what ``vwlite predict`` writes."""

    def run(case, *more):
        _, options, text = CASES[case]
        (tmp_path / "data.vw").write_text(text)
        typed = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        typed = ["e" if word == "('e',)" else word for word in typed]
        run_here("l1", "data.vw", "-f", "model", "--passes", "6", "--quiet", *typed, *more)
        return (tmp_path / "model").read_bytes()

    return run


@cases
def test_the_model_has_the_bytes_of_the_commands(case, command):
    model, _ = fitted(case)
    assert model.dumps() == command(case)


@cases
def test_going_on_is_that_of_the_command(case, command, run_here, tmp_path):
    model, text = fitted(case)
    command(case)
    run_here("l1", "data.vw", "-i", "model", "-f", "next", "--passes", "6", "--quiet")
    assert model.go_on(parsed(model, text)).dumps() == (tmp_path / "next").read_bytes()


@cases
def test_batches_can_be_taken_again(case):
    model, text = fitted(case)
    batches = parsed(model, text)
    assert model.fit(batches).dumps() == model.fit(batches).dumps() == model.fit(model.batches(text)).dumps()


@cases
def test_answers_are_those_of_the_command(case, command, run_here, tmp_path):
    model, text = fitted(case)
    command(case)
    run_here("predict", "-i", "model", "data.vw", "-p", "answers", "--quiet")
    lines = (tmp_path / "answers").read_text().split("\n")
    if isinstance(model, CRFModel):
        labels = [line.partition(" ")[0] for line in lines]  # before tags
        expected = [block.split("\n") for block in "\n".join(labels).strip().split("\n\n")]
        assert model.predict(parsed(model, text)) == expected
        marginals = model.marginals(parsed(model, text))
        assert [len(rows) for rows in marginals] == [len(rows) for rows in expected]
        np.testing.assert_allclose(np.concatenate(marginals).sum(axis=1), 1)
    elif model.config.model == "binary":
        upper = model.probabilities(parsed(model, text))[:, 1]
        np.testing.assert_allclose(upper, np.array(lines[:-1], float), atol=1e-6)
        assert model.predict(parsed(model, text)).tolist() == [model.classes[int(p > 0.5)] for p in upper]
    else:
        words = [line.split()[0] for line in lines[:-1]]
        assert model.predict(parsed(model, text)).tolist() == words
        best = model.probabilities(parsed(model, text)).argmax(axis=1)
        assert [model.classes[index] for index in best] == words


@cases
def test_models_are_pickled_copied_and_saved(case, tmp_path):
    model, text = fitted(case)
    expected = model.predict(parsed(model, text))
    model.save(tmp_path / "saved")
    saved = type(model).loads((tmp_path / "saved").read_bytes())
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), saved):
        assert other.dumps() == model.dumps()
        assert list(other.predict(parsed(other, text))) == list(expected)
    assert pickle.loads(pickle.dumps(type(model)())).config == type(model)().config


def test_the_best_label_sequences():
    model, text = fitted("crf")
    actual = model.nbest(parsed(model, text), 3)
    assert [paths[0][1] for paths in actual] == model.predict(parsed(model, text))
    assert all(score < 0 for paths in actual for score, _ in paths) and max(map(len, actual)) == 3
    with pytest.raises(ValueError, match="1 or more"):
        model.nbest(parsed(model, text), 0)


def test_weights_make_the_probabilities():
    model, _ = fitted("multinomial")
    batch = parse_text(b"|u u1 |i i3\n", model.text_format)
    chosen = np.isin(model.slots, [*batch.feature_hash, 11650396])
    scores = model.weights[:, chosen].sum(axis=1)
    np.testing.assert_allclose(model.probabilities([batch])[0], np.exp(scores) / np.exp(scores).sum())
    assert model.classes == ["cat", "dog", "bird"]


def test_weights_of_two_classes_make_the_probabilities():
    model, _ = fitted("binary of 0 and 1")
    batch = parse_text(b"|u u1 |i i3\n", model.text_format)
    chosen = np.isin(model.slots, np.array([*batch.feature_hash, 11650396]) % (1 << model.features.bits))
    score = model.weights[0, chosen].sum()
    np.testing.assert_allclose(model.probabilities([batch])[0, 1], 1 / (1 + np.exp(-score)), rtol=1e-5)
    assert model.classes == [0.0, 1.0]


def test_figures_of_the_training(command):
    model, _ = fitted("crf")
    assert model.passes == 6 == len(model.history)
    assert model.objective == model.history[-1]["objective"]
    assert model.transitions.shape == (3, 3)
    assert model.evaluate(parsed(model, TAGS), "accuracy")["accuracy"] > 0.5


def test_held_out_examples(command):
    model = L1Model(L1Config(model="multinomial", l1=0.3, passes=6), held_out=HeldOutConfig(holdout="0.2"))
    assert model.fit(parsed(model, NAMED)).dumps() == command("multinomial", "--holdout", "0.2")


def test_names_of_features(command):
    model = L1Model(L1Config(model="binary", passes=6), names=True)
    assert model.fit(parsed(model, NUMBERS)).dumps() == command("binary", "--names")


def test_wrong_calls_are_refused_and_change_nothing():
    model, text = fitted("binary")
    before = model.dumps()
    with pytest.raises(DataError, match="use either 0/1 or -1/1"):
        model.fit(parsed(model, "0 |a b\n-1 |a c\n"))
    with pytest.raises(DataError, match="there is no example in the data"):
        model.fit([])
    with pytest.raises(DataError, match="no labelled example"):
        model.fit(parsed(model, "|a b\n"))
    assert model.dumps() == before
    with pytest.raises(UsageError, match="call fit"):
        L1Model().predict([])
    with pytest.raises(UsageError, match="takes model=crf or tree, not binary"):
        CRFModel(L1Config())
    with pytest.raises(ModelError, match="the model is binary"):
        CRFModel.loads(before)
    with pytest.raises(UsageError, match="evaluated as linear models"):
        model.evaluate(parsed(model, text))


@cases
def test_no_rows_have_no_answers(case):
    model, _ = fitted(case)
    assert len(model.predict([])) == 0


@pytest.mark.parametrize("options", [{"loss": "mira"}, {"loss": "perceptron"}, {"loss": "margin", "l2": 0.1}])
def test_labels_of_the_best_sequence_alone(options):
    model = CRFModel(L1Config(model="crf", **options))
    model.fit(parsed(model, TAGS))
    assert model.predict(parsed(model, SENTENCE)) == [["B-NP", "I-NP"], ["O", "B-NP", "O"]]
    assert 0 < model.evaluate(parsed(model, TAGS), "accuracy")["accuracy"] <= 1
    with pytest.raises(UsageError, match=f"has no probabilities: --loss {options['loss']} learns labels alone"):
        model.marginals(parsed(model, SENTENCE))


def test_dual_variables_are_not_kept():
    model = CRFModel(L1Config(model="crf", loss="margin", l2=0.1))
    model.fit(parsed(model, TAGS))
    with pytest.raises(UsageError, match="cannot be continued"):
        model.go_on(parsed(model, TAGS))
