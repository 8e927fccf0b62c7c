"""Every estimator keeps every law that is for what it is; what is missing is listed, and expected to fail."""

import pytest
from battery.case import Case
from battery.estimators import ESTIMATORS
from battery.laws import LAWS, laws_of
from battery.missing import reason

from vwlite.learners import CLASSES, ELSEWHERE


def marks(one, law):
    missing = reason(one, law)
    return pytest.mark.xfail(reason=missing) if missing else ()


CASES = [
    pytest.param(one, law, id=f"{one.name}-{law}", marks=marks(one, law))
    for one in ESTIMATORS.values()
    for law in laws_of(one)
]


@pytest.mark.parametrize(("one", "law"), CASES)
def test_it_keeps_the_law(one, law, tmp_path):
    LAWS[law][1](Case(one, tmp_path))


def test_every_learner_of_the_registry_is_in_the_table():
    assert {*CLASSES} <= {one.kind.partition("+")[0] for one in ESTIMATORS.values()}


def test_every_model_is_of_the_registry_or_of_another_command():
    kinds = {one.kind.partition("+")[0] for one in ESTIMATORS.values() if one.golden}
    assert kinds <= {*CLASSES, *ELSEWHERE}
