"""Vectors that were never learned, or seldom, in predictions of dyadic models; the scale of their start values."""

import numpy as np
import pytest
from oracle.dyadic_case import Case

from vwlite.errors import UsageError
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.dyadic import Dyadic

LINES = "3 |a x |b u\n5 |a x |b v\n1 |a y |b u\n"


def learned(**options):
    case = Case("squared", rank=3, **options)
    case.run(LINES)
    return case


def linear(case, text):
    return sum(float(case.learner.weights[slot, 0]) * x for slot, x in case.row(text).linear)


@pytest.mark.parametrize("text", ["|a new |b u", "|a x |b new", "|a new |b other"])
def test_a_vector_that_was_never_updated_adds_nothing(text):
    case = learned()
    assert case.predict(text)[0] == pytest.approx(linear(case, text), rel=1e-6)
    before = learned(dot_unseen="start")
    assert before.predict(text)[0] != pytest.approx(linear(before, text), rel=1e-6)


def test_beside_others_of_its_side_it_is_left_out_of_the_sum():
    case = learned()
    text = "|a x new |b u"
    known = case.predict("|a x |b u")[0] - linear(case, "|a x |b u")
    assert case.predict(text)[0] - linear(case, text) == pytest.approx(known, abs=1e-6)


def test_learning_goes_the_same_way():
    """Progressive predictions and all numbers are those of start values."""
    cases = [Case("squared", rank=3, dot_unseen=unseen, min_updates=1) for unseen in ("zero", "start")]
    raw = [case.run(LINES).raw[:3].tobytes() for case in cases]
    assert raw[0] == raw[1]
    assert cases[0].learner.weights.tobytes() == cases[1].learner.weights.tobytes()
    for ours, theirs in zip(cases[0].learner.latent[0], cases[1].learner.latent[0], strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_min_updates():
    case = learned(min_updates=2)
    assert case.predict("|a x |b u")[0] != pytest.approx(linear(case, "|a x |b u"), rel=1e-6)
    for text in ("|a y |b u", "|a x |b v"):  # y and v were updated once
        assert case.predict(text)[0] == pytest.approx(linear(case, text), rel=1e-6)


def test_vectors_are_told_as_predictions_use_them():
    case = learned()
    case.learner.learning = False
    slots = np.array([case.row("|a x |b u").pairs[0][0][0][0], case.row("|a new |b u").pairs[0][0][0][0]], np.uint32)
    actual = case.learner.vectors(0, 0, slots)
    assert actual[0].all() and not actual[1].any()


def test_the_offset_is_no_part_of_an_unseen_vector():
    case = learned(dot_offset=0.5)
    text = "|a new |b u"
    ((slot, _),) = case.row(text).pairs[0][1]
    b = case.learner.latent[0][1][slot, :3].astype(float)
    assert case.predict(text)[0] - linear(case, text) == pytest.approx(0.5 * b.sum(), abs=1e-6)


@pytest.mark.parametrize(("rank", "scale"), [(0, 0.1), (1, 0.1), (4, 0.05), (100, 0.01)])
def test_the_scale_of_start_values_falls_with_the_rank(rank, scale):
    assert DyadicConfig(rank=rank).dot_init == pytest.approx(scale)
    assert DyadicConfig(rank=rank, dot_init=0.3).dot_init == 0.3


def test_models_from_before_predict_with_start_values():
    """And an offset adds its square to each element of a dot product."""
    stored = Dyadic(DyadicConfig(rank=2), 4).header()["config"]
    old = {name: value for name, value in stored.items() if name not in ("revision", "dot_unseen", "min_updates")}
    assert DyadicConfig.restore(stored, {}) == DyadicConfig(rank=2)
    config = DyadicConfig.restore({**old, "dot_init": 0.1, "dot_offset": 2.0}, {})
    assert (config.fewest_updates, config.dot_init, config.revision) == (0, 0.1, 0)
    assert Dyadic(config, 4).kernel.offset_square == 0
    assert Dyadic(DyadicConfig(rank=2, dot_offset=2.0), 4).kernel.offset_square == 8


def test_with_an_offset_a_model_begins_at_0():
    case = Case("squared", rank=10, dot_offset=1.0, dot_init=0.0, noconstant=True)
    assert case.run("3 |a x |b u").raw[0] == pytest.approx(0, abs=1e-12)
    assert case.learner.latent[0][0].any()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"dot_init": 0.0}, "never learns"),
        ({"min_updates": 0}, "min-updates"),
        ({"dot_unseen": "start", "min_updates": 2}, "contradict"),
        ({"revision": 2}, "later version"),
    ],
)
def test_what_cannot_be_is_refused(options, what):
    with pytest.raises(UsageError, match=what):
        DyadicConfig(**options)
