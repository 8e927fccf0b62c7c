"""Random updates of dyadic models, and how exactly a kernel has to agree with the twin on them."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from .dyadic_case import Case
from .dyadic_flow import OF_MARGIN

LABELS = {"hinge": (-1, 1), "logistic": (-1, 0.5, 1), "poisson": (1, 4), **dict.fromkeys(OF_MARGIN, (-1, 1))}
PAIRS = [("ab",), ("ab", "cd"), ("ab", "ac"), ("ab", "ac", "bc"), ("user,item",), ("user,item", "ab")]
NAMES = ("a", "b", "c", "d", "user", "item")


@dataclass
class Update:
    """A drawn update: a model in a random state, and one line for it."""

    case: Case
    features: str
    label: float
    importance: float

    def learn(self, importance=None):
        self.case.run(f"{self.label} {importance or self.importance:.9g} {self.features}")

    @property
    def row(self):
        return self.case.row(f"{self.label} {self.features}")

    @property
    def error(self):
        """How inexactly a prediction may be met: the tolerance of the root search and float32 rounding."""
        return 1e-9 * max(1, abs(self.label)) + self.case.rounding(self.row)


def numbers(rng, exponent, size):
    values = rng.choice([-1, 1], size) * 10 ** (exponent + rng.uniform(-0.7, 0.7, size))
    return [f"{value:.5g}" for value in values]


@st.composite
def updates(
    draw, loss, decays=(0.0,), rates=(-4, 4), importances=(-6, 6), values=(-3, 3), linear=None, copies=1, labels=None
):
    """Updates of ``loss``; ranges are powers of ten. With ``copies`` > 1 a tuple of equal ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    exponent = draw(st.floats(*values))
    features = ""
    for name in NAMES:
        slots = rng.integers(0, 40, draw(st.integers(1, 4)))
        words = (f"{slot}:{x}" for slot, x in zip(slots, numbers(rng, exponent, len(slots)), strict=True))
        features += f"|{name} {' '.join(words)} "
    options = {
        "pairs": draw(st.sampled_from(PAIRS)),
        "rank": draw(st.integers(1, 5)),
        "dot_l2": draw(st.sampled_from(decays)),
        "dot_offset": draw(st.sampled_from((0.0, 0.0, 1.0))) if loss != "poisson" else 0.0,
        "learning_rate": 10 ** draw(st.floats(*rates)),
        "noconstant": draw(st.booleans()) if linear is None else not linear,
    }
    options["no_dot_linear"] = bool(linear is None and "u" not in str(options["pairs"]) and draw(st.booleans()))
    label, importance = (
        draw(st.sampled_from(labels or LABELS.get(loss, (-3, 0.5, 7)))),
        10 ** draw(st.floats(*importances)),
    )
    importance = float(np.float32(importance))
    state, scale = rng.integers(2**32), 10 ** draw(st.floats(-2, 0.3))
    made = []
    for _ in range(copies):
        case = Case(loss, **options)
        case.fill(np.random.default_rng(state), scale)
        case.set_range()
        if loss in ("poisson", "logistic", *OF_MARGIN):
            case.tame(case.row(features), 12)
        made.append(Update(case, features, label, importance))
    return made[0] if copies == 1 else tuple(made)


def close(update, got, wanted, old, tangents, more=0.0):
    """Equal to 2e-6 relative, but for what the tolerated error of the prediction does to the parameters."""
    scale = np.maximum(np.maximum(np.abs(wanted), np.abs(got)), np.abs(old))
    tolerance = 4e-9 * max(1, abs(update.label)) + more
    assert np.isfinite(got).all()
    worst = np.abs(got - wanted) - 2e-6 * scale - tolerance * np.maximum(*tangents)
    assert worst.max() <= 0, (got, wanted)


def check_against_twin(update):
    case, row = update.case, update.row
    twin, old, before = case.twin(), case.parameters(row), case.tangent(row)
    rounding = case.rounding(row)  # of values that share a slot, too
    raw = case.run(f"{update.label} {update.importance:.9g} {update.features}").raw[0]
    try:
        p = twin.learn(row, update.label, update.importance)
    except (ArithmeticError, OverflowError):
        assume(False)
    assert raw == pytest.approx(p, rel=1e-6, abs=rounding)
    amplified = 5 * rounding  # both factors grow with each other, and with them what was rounded before
    close(update, case.parameters(row), case.twin_parameters(twin, row), old, (before, case.tangent(row)), amplified)


def check_invariance(data, loss, decays=(0.0,), **ranges):
    """An importance in one update or in two leads to the same parameters."""
    once, twice = data.draw(updates(loss, decays, copies=2, **ranges))
    first = float(np.float32(once.importance * data.draw(st.floats(0.05, 0.95))))
    row, old, before = once.row, once.case.parameters(once.row), once.case.tangent(once.row)
    once.learn()
    twice.learn(first)
    rounding = twice.case.rounding(row)
    if loss in ("hinge", "quantile") and any(decays):  # at the label rounding decides whether decay goes on
        assume(abs(twice.case.predict(f"{twice.features}")[0] - twice.label) > 2 * twice.error)
    twice.learn(once.importance - first)
    tangents = (before, once.case.tangent(row))
    close(once, twice.case.parameters(row), once.case.parameters(row), old, tangents, 2 * rounding)
    return once, twice
