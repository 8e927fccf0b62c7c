"""Landmark features: against their plain twin, and against the kernels and the ridge regression that they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.landmarks import features as twin

from vwlite.data.block_parser import read
from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import DataError, InputMissing, UsageError
from vwlite.features.config import LANDMARK_KERNELS, FeatureConfig
from vwlite.features.feature_names import term_names
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.gamma import find_gamma
from vwlite.features.landmarks import LandmarkMap, arrays_of, chosen_lines
from vwlite.features.term_weights import terms_of

EXAMPLES = st.lists(st.dictionaries(st.integers(0, 6), st.sampled_from([-2.0, 0.5, 1.0, 3.0]), max_size=4), max_size=5)
LANDMARKS = st.lists(
    st.dictionaries(st.integers(0, 6), st.sampled_from([-1.0, 0.25, 2.0]), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


def lines_of(examples):
    return "".join(f"1 | {' '.join(f'{slot}:{value}' for slot, value in one.items())}\n" for one in examples)


def parsed(lines, config, names=False):
    return parse_text(lines.encode(), text_format(config, skip_malformed=True, names=names))


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """A plan with the landmarks of these lines."""
    path = tmp_path_factory.mktemp("landmarks") / "landmarks.vw"

    def make(lines, kernel="linear", **options):
        path.write_text(lines)
        options = {"random_only": True, "noconstant": True, **options}
        plan = Plan(FeatureConfig(landmarks=f"{kernel}:{path}", **options))
        find_gamma(plan, ())
        return plan

    return make


def mapped(plan, examples):
    terms = terms_of(parsed(lines_of(examples), plan.config), plan)
    return terms.values.reshape(len(examples), plan.random.size)


@settings(max_examples=30, deadline=None)
@given(EXAMPLES, LANDMARKS, st.sampled_from(LANDMARK_KERNELS), st.integers(0, 3))
def test_features_are_kernels_with_the_landmarks(settled, examples, landmarks, kernel, nearest):
    gamma = 0.3 if kernel == "rbf" else None
    plan = settled(lines_of(landmarks), kernel, gamma=gamma, nearest=nearest)
    expected = [twin(kernel, one, landmarks, gamma, nearest) for one in examples]
    if not nearest:
        np.testing.assert_allclose(mapped(plan, examples).tolist(), np.array(expected).tolist(), rtol=2e-6, atol=1e-6)
    else:
        actual = mapped(plan, examples)
        assert (actual.sum(1) == min(nearest, len(landmarks))).all() and set(actual.ravel().tolist()) <= {0.0, 1.0}
        for one, row in zip(examples, actual, strict=True):  # as near as the twin's, whatever the last digits say
            similar = twin(kernel, one, landmarks, gamma)
            assert min(similar[row == 1]) >= sorted(similar)[-min(nearest, len(similar))] - 1e-5


@pytest.mark.parametrize("kernel", LANDMARK_KERNELS)
def test_dot_products_of_whitened_features_are_the_kernel_and_they_are_uncorrelated(settled, kernel):
    rng = np.random.default_rng(3)
    landmarks = [{int(slot): float(rng.normal()) for slot in rng.choice(9, 6, replace=False)} for _ in range(5)]
    gamma = 0.2 if kernel == "rbf" else None
    plan = settled(lines_of(landmarks), kernel, gamma=gamma, whiten=True)
    actual = mapped(plan, landmarks).astype(np.float64)
    exact = np.array([twin(kernel, one, landmarks, gamma) for one in landmarks])
    np.testing.assert_allclose(actual @ actual.T, exact, rtol=2e-3, atol=2e-3)
    strength = np.linalg.eigvalsh(exact)[::-1]
    np.testing.assert_allclose(actual.T @ actual, np.diag(strength), rtol=2e-3, atol=2e-3 * strength[0])
    other = [{0: 1.0, 3: -0.5}]
    np.testing.assert_allclose(
        mapped(plan, other)[0], twin(kernel, other[0], landmarks, gamma, whiten=True), rtol=2e-2, atol=2e-3
    )


def test_they_follow_the_other_terms_and_have_names(settled):
    plan = settled("1 |a x\n1 |a y |b z\n", "linear", random_only=False, noconstant=False)
    batch = parsed("1 |a x |b z:2\n", plan.config, names=True)
    terms = terms_of(batch, plan)
    assert terms.values.tolist() == [1, 2, 1, 1, 2]
    assert term_names(batch, plan, 0)[-2:] == ["landmarks^0", "landmarks^1"]
    assert terms.indices[-2:].tolist() == [(plan.random.first + place) % 2**18 for place in (0, 1)]


def test_of_some_namespaces(settled):
    plan = settled("1 |a x:2 |b z\n", "linear", random_of=("a",))
    assert terms_of(parsed("1 |a x |b z:7\n", plan.config), plan).values.tolist() == [7, 2]


def test_gamma_is_found_among_the_landmarks(settled):
    plan = settled("1 | 0:0.0001\n1 | 0:2.0001\n", "rbf")
    assert plan.random.gamma == pytest.approx(0.25)
    assert settled("1 | 0:1\n", "rbf").random.gamma == 1


def test_a_model_s_arrays_make_the_same_features(settled):
    plan = settled("1 | 0:1 3:2\n1 | 2:5\n1 |\n1 | 3:1 3:1\n", "rbf", whiten=True)
    assert plan.random.size == 3 and sorted(plan.random.arrays()) == sorted(arrays_of(plan.config))
    other = LandmarkMap(plan.config)
    other.load(plan.random.arrays())
    again = Plan(plan.config)
    again.random = other
    examples = [{0: 1.0}, {3: 2.0, 2: 1.0}, {}]
    assert np.array_equal(mapped(plan, examples), mapped(again, examples))


@pytest.mark.parametrize(
    "damage",
    [
        {"landmark_start": np.array([0, 1], np.int64)},
        {"landmark_start": np.array([0, 2, 2], np.int64)},
        {"landmark_slot": np.array([1, 2**20], np.uint32)},
        {"landmark_value": np.array([1, np.nan], np.float32)},
        {"landmark_whiten": np.zeros((1, 2), np.float32)},
        {"random_gamma": np.array([-1.0])},
    ],
)
def test_damaged_arrays_are_refused(settled, damage):
    plan = settled("1 | 0:1\n1 | 2:5\n", "rbf", whiten=True)
    with pytest.raises(ValueError, match=r"."):
        LandmarkMap(plan.config).load({**plan.random.arrays(), **damage})


def test_labels_of_landmarks_do_not_matter_and_malformed_lines_do(settled):
    assert settled("sea |a x\n1:0 2:3 |a y\n1,2 'tag|a z\n").random.size == 3
    with pytest.raises(DataError, match="value"):
        settled("1 |a x:nan\n")
    with pytest.raises(DataError, match="no landmark with a feature"):
        settled("1 |\n\n")
    with pytest.raises(DataError, match="no landmark with a feature"):
        settled("")
    with pytest.raises(DataError, match="no landmark with a feature"):
        settled("1 |a x\n", ignore=("a",))
    with pytest.raises(UsageError, match="give a larger -b"):
        settled("1 |a x\n1 |a y\n1 |a z\n", bits=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"landmarks": "circle:f"}, "'circle' is not one of"),
        ({"landmarks": "rbf"}, "KERNEL:FILE"),
        ({"landmarks": "rbf:"}, "KERNEL:FILE"),
        ({"landmarks": "linear:f", "gamma": 1.0}, "--gamma does nothing"),
        ({"landmarks": "linear:f", "random_features": "rbf:64"}, "do not go together"),
        ({"landmarks": "linear:f", "random_of": ("a",), "unit": True}, "--random_of"),
    ],
)
def test_refused(options, said):
    with pytest.raises(UsageError, match=said):
        FeatureConfig(**options)


def test_a_file_that_is_missing():
    with pytest.raises(InputMissing):
        find_gamma(Plan(FeatureConfig(landmarks="rbf:/nowhere/landmarks.vw")), ())


class TestChoice:
    def chosen(self, path, count, seed=0, block_size=1 << 20):
        parts = read([str(path)], TextFormat().of_words(lists=True), block_size=block_size)
        return chosen_lines(parts, BadLines(None, None, BadLinesConfig(max_ratio=1)), count, seed)

    def test_lines_stay_in_order_and_do_not_depend_on_blocks(self, tmp_path):
        path = tmp_path / "d.vw"
        lines = [f"{number} |a f{number}" for number in range(300)]
        path.write_text("\r\n".join(lines))
        actual = self.chosen(path, 40)
        numbers = [int(line.split()[0]) for line in actual]
        assert len(set(numbers)) == 40 and numbers == sorted(numbers)
        assert [line.decode() for line in actual] == [lines[number] for number in numbers]
        assert self.chosen(path, 40, block_size=100) == actual != self.chosen(path, 40, seed=1)
        assert [line.decode() for line in self.chosen(path, 1000)] == lines

    def test_all_are_equally_likely(self, tmp_path):
        path = tmp_path / "d.vw"
        path.write_text("".join(f"{number} |a x\n" for number in range(20)))
        counts = np.bincount([int(line.split()[0]) for seed in range(400) for line in self.chosen(path, 5, seed)])
        assert len(counts) == 20 and abs(counts - 100).max() < 5 * np.sqrt(100 * 0.75)

    def test_blank_and_malformed_lines_are_not_chosen(self, tmp_path):
        path = tmp_path / "d.vw"
        path.write_text("1 |a x\n\n1 |a y:nan\n1 |a z")
        assert self.chosen(path, 9) == [b"1 |a x", b"1 |a z"]
