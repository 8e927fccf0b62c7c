"""Theta: singular vectors, the features they make, and the objective they lower."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import UsageError
from vwlite.features.theta import Theta
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.classifier import train
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.train import learn
from vwlite.solvers.tall_matrices import leading
from vwlite.training.listener import Monitor


class Said(Monitor):
    """Keeps what is remarked."""

    def __init__(self, remarks):
        self.remark = remarks.append


TOPICS = {"sport": ["ball", "goal", "team", "win", "score"], "sea": ["wave", "ship", "fish", "salt", "sail"]}


def corpus(tmp_path, lines, name="text.vw"):
    path = tmp_path / name
    path.write_text("".join(line + "\n" for line in lines))
    return Corpus(BadLines(None, None, BadLinesConfig(strict=True))).read([str(path)])


def documents(count, seed=1, labels=True):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        topic = ("sport", "sea")[rng.integers(2)]
        words = [*rng.choice(TOPICS[topic], 3), f"word{rng.integers(20)}"]
        lines.append(f"{topic if labels else ''} |w {' '.join(words)}".strip())
    return lines


def wordy(count, seed, labels):
    """Documents of six words each of a hundred that their topic has."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        topic = ("sport", "sea")[rng.integers(2)]
        words = " ".join(f"{topic}{n}" for n in rng.integers(100, size=6))
        lines.append(f"{topic if labels else ''} |w {words}".strip())
    return lines


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_singular_vectors_are_numpys(p, m, h, seed):
    u = np.random.default_rng(seed).normal(size=(p, m)).astype(np.float32)
    left, values = leading(u, h)
    expected, singular, _ = np.linalg.svd(u.astype(float), full_matrices=False)
    count = len(values)
    np.testing.assert_allclose(values, singular[:count], rtol=1e-3, atol=1e-4)
    assert count == min(h, p, m) or singular[count] < 1e-4 * singular[0]
    np.testing.assert_allclose(left.T @ left, np.eye(count), atol=2e-2)
    for k in range(count):
        others = np.delete(singular, k)
        if not len(others) or np.abs(others - singular[k]).min() > 0.05 * singular[0]:
            assert abs(left[:, k] @ expected[:, k]) == pytest.approx(1, abs=2e-2)


def test_zero_weights_have_no_structure():
    left, values = leading(np.zeros((5, 3), np.float32), 2)
    assert left.shape == (5, 0) and len(values) == 0


def test_without_theta_or_with_theta_zero_it_is_one_versus_rest(tmp_path):
    data = corpus(tmp_path, documents(40))
    words = data.vocabulary()
    zero = Theta(words, np.zeros(len(words), np.int32), np.zeros((len(words), 4), np.float32), ["w"], [np.ones(4)])
    plain, with_zero = (train(data, theta, TargetConfig()) for theta in (None, zero))
    assert plain.weights.w.tobytes() == with_zero.weights.w.tobytes()
    assert plain.scores(data).tobytes() == with_zero.scores(data).tobytes() and plain.weights.w.any()


@pytest.mark.parametrize("aux", ["labels", "freq"])
def test_the_objective_does_not_increase_over_iterations(tmp_path, aux):
    lines = [f"{n % 6},{n % 4} {line}" for n, line in enumerate(documents(80, labels=False))]
    solver = SolverConfig(penalty=0.01, rate=0.02, passes=150)
    config = LearnConfig((read_aux(aux),), dim=3, iterations=4, positive=False, solver=solver)
    objectives = learn(config, corpus(tmp_path, lines), None).objectives
    assert len(objectives) == 4
    assert all(later <= before * (1 + 1e-6) for before, later in pairwise(objectives))
    assert objectives[-1] < objectives[0]
    near = replace(config, tolerance=2 * (1 - objectives[1] / objectives[0]))
    assert learn(near, corpus(tmp_path, lines), None).objectives == objectives[:2]


def test_unlabelled_text_helps_where_labels_are_few(tmp_path):
    unlabelled, few, test = (wordy(*how) for how in ((2000, 2, False), (6, 5, True), (200, 4, True)))
    solver = SolverConfig(penalty=1e-3)
    config = LearnConfig((read_aux("freq-k:5"),), dim=2, solver=solver)
    theta = learn(config, corpus(tmp_path, unlabelled), None).theta
    true = corpus(tmp_path, test)
    accuracy = []
    for one in (None, theta):
        target = train(corpus(tmp_path, few, "few.vw"), one, TargetConfig())
        said = [target.classes.names[best] for best in target.scores(true).argmax(1)]
        accuracy.append(np.mean([name == true.texts[label] for name, label in zip(said, true.label, strict=True)]))
    assert accuracy[1] > 0.95 > 0.85 > accuracy[0]


def test_rows_of_theta_are_orthonormal_in_each_group(tmp_path):
    lines = [f"|w {' '.join(line.split()[2:])} |v x{n % 5}" for n, line in enumerate(documents(200))]
    theta = learn(LearnConfig((read_aux("freq"), read_aux("mask:v")), dim=3), corpus(tmp_path, lines), None).theta
    assert {name.split("/")[0] for name in theta.names} == {"w", "v"}
    for group in range(len(theta.names)):
        own = theta.matrix[theta.group == group][:, : len(theta.values[group])]
        np.testing.assert_allclose(own.T @ own, np.eye(own.shape[1]), atol=1e-3)


def test_too_much_memory_is_refused_before_it_is_taken(tmp_path):
    data, said = corpus(tmp_path, documents(100)), []
    with pytest.raises(UsageError, match="--max-memory"):
        learn(LearnConfig((read_aux("freq"),), memory=100.0), data, None, Said(said))
    assert any("GiB" in line for line in said)
