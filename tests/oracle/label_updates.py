"""Random updates of models in which labels have vectors of their own, and how exactly kernels agree with twins."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from .dyadic_updates import NAMES, PAIRS, numbers
from .lfl_case import LflCase


@dataclass
class Update:
    """A model in a random state, and one line for it."""

    case: LflCase
    features: str
    true: int
    importance: float

    def learn(self, importance=None):
        return self.case.run(f"{self.true + 1} {importance or self.importance:.9g} {self.features}")

    @property
    def row(self):
        return self.case.row(f"1 {self.features}")


@st.composite
def updates(
    draw, make, decays=(0.0,), rates=(-3, 1), importances=(-3, 3), values=(-1, 0.5), scale=(-2, 0.3), copies=1,
    ranks=(1, 4), most=6, pairs=PAIRS,
):  # fmt: skip
    """Updates of the cases that ``make(draw, options)`` makes; ranges are powers of ten.

    With ``copies`` > 1 a tuple of equal ones.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    exponent = draw(st.floats(*values))
    features = ""
    for name in NAMES:
        slots = rng.integers(0, 40, draw(st.integers(1, 3)))
        words = (f"{slot}:{x}" for slot, x in zip(slots, numbers(rng, exponent, len(slots)), strict=True))
        features += f"|{name} {' '.join(words)} "
    labels = draw(st.integers(2, most))
    options = {
        "labels": labels,
        "pairs": draw(st.sampled_from(pairs)),
        "rank": draw(st.integers(*ranks)),
        "dot_l2": draw(st.sampled_from(decays)),
        "learning_rate": 10 ** draw(st.floats(*rates)),
        "noconstant": draw(st.booleans()),
    }
    true, importance = draw(st.integers(0, labels - 1)), float(np.float32(10 ** draw(st.floats(*importances))))
    state, size = rng.integers(2**32), 10 ** draw(st.floats(*scale))
    made = []
    first = make(draw, options)
    for case in (first, *(first.again() for _ in range(copies - 1))):
        case.fill(np.random.default_rng(state), size)
        case.tame(case.row(f"1 {features}"), 12)
        made.append(Update(case, features, true, importance))
    return made[0] if copies == 1 else tuple(made)


def close(got, wanted, old, relative=3e-6, of_largest=0.0):
    """Equal but for the rounding of float32 and for what that does to a step."""
    assert np.isfinite(got).all()
    scale = np.maximum(np.maximum(np.abs(wanted), np.abs(old)), np.abs(got))
    worst = np.abs(got - wanted) - relative * scale - relative * np.abs(wanted - old).max() - 1e-9
    worst -= of_largest * scale.max()
    assert worst.max() <= 0, (np.abs(got - wanted).max(), np.abs(wanted - old).max(), scale.max())
