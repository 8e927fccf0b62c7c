"""Dyadic models that ask for labels, beside a plain-Python twin; confidences of pairs that were never learned."""

import json
import math
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.asking import Asking
from oracle.dyadic_case import Case, loss_config, parse

import vwlite
from vwlite.errors import UsageError
from vwlite.learners.active import ActiveDyadic
from vwlite.learners.configs.active import ActiveDyadicConfig
from vwlite.learners.row_results import Results

ROWS = st.tuples(st.sampled_from([-1, 1]), st.integers(0, 3), st.integers(0, 3))
OPTIONS = {"rank": 3, "dot_l2": 0.0, "first_pass_t": 0.0, "dot_init": 0.3, "random_seed": 4}
ASKING = {"active": True, "simulation": True}


@settings(max_examples=10, deadline=None)
@given(st.data(), st.sampled_from([1e-3, 1e-2, 0.1]), st.sampled_from(["hinge", "logistic"]))
def test_asks_and_learns_as_the_twin(data, mellowness, loss):
    rows = data.draw(st.lists(ROWS, min_size=20, max_size=40))
    lines = [(label, f"|a u{u} |b i{i} {'x' * (i % 2)}") for label, u, i in rows]
    config = ActiveDyadicConfig(loss_config(loss), mellowness=mellowness, **OPTIONS, **ASKING)
    learner, case = ActiveDyadic(config, 8), Case(loss, **OPTIONS)
    twin, results = Asking(case, mellowness, OPTIONS["random_seed"]), Results()
    batch = parse("".join(f"{label} {features}\n" for label, features in lines))
    results.reserve(len(batch))
    learner.run(batch, case.plan, results, 0, len(batch))
    counted, expected = learner.counted(batch), []
    for label, features in lines:
        importance, distance = twin.learn(label, features)
        if distance < 1e-3:  # either answer is right
            return
        expected.append(importance)
    np.testing.assert_allclose(counted.importance, expected, rtol=0.01)
    assert (np.isnan(counted.label) == (np.array(expected) == 0)).all()
    assert learner.queried == np.count_nonzero(expected) == learner.counts[2]
    np.testing.assert_allclose(learner.weights, case.learner.weights, rtol=0.02, atol=2e-3)
    np.testing.assert_allclose(results.loss[results.loss > 0].sum(), twin.chance.sum_loss, rtol=0.01)


def text(count=400):
    draw = np.random.default_rng(2)
    pairs = draw.integers(0, 12, (count, 2)).tolist()
    return [f"{1 if (u * i) % 5 < 2 else -1} |user u{u} |item i{i}\n" for u, i in pairs]


def model_of(lines, **options):
    asked = {"active": True, "simulation": True, "mellowness": 1e-4, **options}
    model = vwlite.Model(dotproduct=["user,item"], loss_function="logistic", rank=3, bits=10, **asked)
    model.learn(lines)
    return model


def arrays(model, folder):
    model.save(folder / "model")
    with zipfile.ZipFile(folder / "model") as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "header.json"}


def queries(model, folder):
    model.save(folder / "model")
    with zipfile.ZipFile(folder / "model") as archive:
        return json.loads(archive.read("header.json"))["model"]["asked"]["queries"]


def test_fewer_labels_with_less_mellowness_and_any_cut_gives_the_same(tmp_path):
    lines, options = text(), {"decay_learning_rate": 1}
    whole = model_of(lines, **options)
    parts = model_of(lines[:1], **options)
    for begin, end in ((1, 30), (30, 31), (31, 400)):
        parts.learn(lines[begin:end])
    assert arrays(parts, tmp_path) == arrays(whole, tmp_path)
    again = vwlite.Model.load(tmp_path / "model")
    for one in (again, whole):
        one.learn(lines[:50])
    assert arrays(again, tmp_path) == arrays(whole, tmp_path)
    asked = [queries(model_of(lines, mellowness=one), tmp_path) for one in (1.0, 1e-4, 1e-7)]
    assert asked[0] == 400 > asked[1] > asked[2] > 0


def test_nothing_is_known_of_a_pair_that_was_never_learned():
    case = Case("logistic", **OPTIONS)
    case.run("".join(f"{1 if u % 2 else -1} |a u{u} |b i{i}\n" for u in range(3) for i in range(3)))
    case.learner.learning = False
    told = flips(case, ["|a u1 |b i1", "|a new |b i1", "|a u1 |b new", "|a u1 new |b i1", "|a u1"])
    assert told[1:3] == [0, 0] and told[0] > 0 and told[3] > 0 and told[4] > 0


def flips(case, lines):
    batch, results = parse("".join(f"{one}\n" for one in lines)), Results()
    results.want_flip_importance()
    results.reserve(len(batch))
    case.learner.run(batch, case.plan, results, 0, len(batch))
    return results.flip_importance.tolist()


def test_confidences_are_told_for_a_rate():
    usual, other = Case("logistic", **OPTIONS), Case("logistic", **OPTIONS, confidence_rate=0.05)
    told = []
    for case in (usual, other):
        case.run("".join(f"{1 if u % 2 else -1} |a u{u} |b i{i}\n" for u in range(3) for i in range(3)))
        for _ in range(10):
            case.learner.end_pass()  # the rate falls, and is not what is told
        case.learner.learning = False
        told += flips(case, ["|a u1 |b i1"])
    assert told[1] == pytest.approx(told[0] * 0.2 / 0.05, rel=1e-5) and math.isfinite(told[0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"simulation": False}, "--active with --dotproduct needs --simulation"),
        ({"negatives": 2}, "--negatives does not go with --active"),
        ({"rank": 0}, "--active does not go with --rank 0"),
        ({"confidence": True}, "do not go together"),
        ({"filter_tree": 3}, "filter_tree"),
        ({"levels": [-1, 1]}, "levels"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    asked = {"active": True, "simulation": True, "loss_function": "logistic", "rank": 3, **options}
    asked = {name: value for name, value in asked.items() if value is not False}
    with pytest.raises(UsageError, match=said):
        vwlite.Model(dotproduct=["user,item"], **asked).learn(text(5))
