"""The curriculum within a pass: what is taken does not depend on how the data are cut, and is what a twin takes."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.curriculum import in_steps

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import StepwiseCurriculum

FEATURES = FeatureConfig()
FORMAT = text_format(FEATURES, skip_malformed=True)


def batches(lengths, cuts):
    """Batches of lines of so many features, the label their number, that begin at ``cuts`` too."""
    lines = [f"{number} |a {' '.join(f'x{n}' for n in range(length))}" for number, length in enumerate(lengths)]
    edges = sorted({0, len(lines), *(cut for cut in cuts if cut < len(lines))})
    return [parse_text("\n".join(lines[begin:end]).encode(), FORMAT) for begin, end in pairwise(edges)]


def run(config, given, held=lambda numbers: None, seed=3):
    """Numbers, labels, importance and features of what is taken, and the notes."""
    notes, result = [], []
    for batch in StepwiseCurriculum(config, seed, FEATURES, notes.append, held).chosen(given):
        sizes = np.diff(batch.namespace_start[batch.row_namespace].astype(int))
        result += zip(
            batch.numbers.tolist(), batch.label.tolist(), batch.importance.tolist(), sizes.tolist(), strict=True
        )
    return result, notes


def entropies(notes):
    return [float(note.rpartition("entropy ")[2].split()[0]) for note in notes if "entropy" in note]


SHARES = st.sampled_from(["1", "0.5", "0.25", "0.1", "0.3", "0.07"])
LENGTHS, CUTS = st.lists(st.integers(0, 9), min_size=1, max_size=60), st.lists(st.integers(1, 59), max_size=6)


@given(LENGTHS, CUTS, st.integers(1, 25), SHARES, st.sampled_from(["easy", "anti"]))
def test_examples_taken_are_those_of_the_twin(lengths, cuts, size, start, order):
    config = CurriculumConfig(order, start=float(start), steps=size)
    actual, _ = run(config, batches(lengths, cuts))
    expected = in_steps(lengths, size, Fraction(start), order == "anti")
    assert actual == [(row, row, 1, lengths[row]) for row in expected]


@given(LENGTHS, CUTS, st.integers(1, 25), SHARES, st.sampled_from(["linear", "logistic"]), st.booleans())
def test_batches_of_any_size_give_the_same_steps(lengths, cuts, size, start, weights, sample):
    config = CurriculumConfig("random", start=float(start), steps=size, weights=weights, sample=sample)
    assert run(config, batches(lengths, cuts)) == run(config, batches(lengths, []))


@pytest.mark.parametrize("weights", ["step", "linear", "logistic"])
def test_sizes_are_exact_and_the_entropy_never_falls(weights):
    config = CurriculumConfig("easy", start=0.1, steps=30, weights=weights)
    lengths = np.random.default_rng(0).integers(0, 12, 400).tolist()
    actual, notes = run(config, batches(lengths, [7, 100]))
    assert len(entropies(notes)) == 9 and (np.diff(entropies(notes)) >= 0).all()
    assert notes[-1] == "curriculum, step 10: all examples take part from here on"
    sizes = np.bincount([row // 30 for row, *_ in actual], minlength=14).tolist()
    if weights == "step":
        assert sizes == [3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 30, 30, 30, 10]
    summed = np.bincount([row // 30 for row, *_ in actual], [weight for _, _, weight, _ in actual])
    assert (np.diff(summed[:10]) > 0).all() and summed[9:13].tolist() == [30] * 4


def test_held_out_examples_are_unweighted():
    config = CurriculumConfig("easy", start=0.2, steps=10, weights="linear")
    actual, _ = run(config, batches(range(40), [13]), lambda numbers: (numbers % 10 == 9).astype(np.uint8))
    assert [weight for row, _, weight, _ in actual if row % 10 == 9] == [1, 1, 1, 1]


def test_data_that_end_before_all_take_part():
    _, notes = run(CurriculumConfig("easy", steps=10), batches(range(15), []))
    assert notes[-1] == "curriculum: the data end in step 2; all would take part in 4"


def test_notes_are_few():
    _, notes = run(CurriculumConfig("easy", start=0.001, steps=2), batches([1] * 3000, []))
    assert 20 <= len(notes) <= 22


def test_lines_without_the_namespace():
    config = CurriculumConfig("easy", "value:v", steps=2, start=0.5)
    lines = [parse_text(b"1 |v d:3\n1 |a x\n1 |v d:-1\n1 |a x", FORMAT)]
    actual, notes = run(config, lines)
    assert [row for row, *_ in actual] == [1, 2, 3]
    assert notes[-1] == "--curriculum-by value:v: 1 of 2 lines have no such namespace; 0 is taken"
    with pytest.raises(UsageError, match="value:w: none of the 2 lines that are ranked has a namespace"):
        run(CurriculumConfig("easy", "value:w", steps=2, start=0.5), [parse_text(b"1 |v d:3\n1 |a x\n1 |w y", FORMAT)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "rarest"}, "--curriculum-by rarest goes with passes"),
        ({"by": "margin:m"}, "by length or value:NAMESPACE"),
        ({"by": "loss:m"}, "by length or value:NAMESPACE"),
        ({"passes": 3}, "--curriculum-passes counts passes"),
        ({"steps": 0}, "--curriculum-steps"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        CurriculumConfig("easy", **{"steps": 10, **options})
