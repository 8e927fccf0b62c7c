"""``--threshold tuned``, ``multi-k:auto`` and macro-averaged F, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.cuts import best_f, f_at, macro_f
from tests.solvers.aso.test_theta import TOPICS, corpus
from vwlite.errors import UsageError
from vwlite.solvers.aso.answers import agreement
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.classifier import FOLDS, best_cut, fit, folds_of, labels_of, out_of_fold, train
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.sgd import targets
from vwlite.solvers.aso.train import learn

SCORED = st.lists(st.tuples(st.integers(-8, 8), st.booleans()), min_size=1, max_size=20)


def several(count, seed):
    """Documents of one or two topics, most of them of one."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        names = sorted({("sport", "sea")[k] for k in rng.integers(2, size=1 + (rng.random() < 0.3))})
        words = [word for name in names for word in rng.choice(TOPICS[name], 3)]
        lines.append(f"{','.join(names)} |w {' '.join(words)} x{rng.integers(9)} x{rng.integers(9)}")
    return lines


@given(SCORED)
def test_no_cut_has_a_larger_f(pairs):
    scores, true = [score / 4 for score, _ in pairs], [label for _, label in pairs]
    cut = best_cut(np.array(scores, np.float32), np.array(true))
    assert f_at(cut, scores, true) == pytest.approx(best_f(scores, true))


def test_of_equal_cuts_the_one_nearest_to_0():
    scores = np.array([2, 1, -1, -4], np.float32)
    assert best_cut(scores, np.array([True, True, False, False])) == 0


@given(st.integers(0, 40), st.integers(0, 5))
def test_folds_are_of_one_size(rows, seed):
    sizes = np.bincount(folds_of(rows, seed), minlength=1)
    assert sizes.sum() == rows and len(sizes) == max(min(FOLDS, rows), 1) and sizes.max() - sizes.min() <= 1


def test_scores_are_those_of_models_without_the_fold(tmp_path):
    data = corpus(tmp_path, several(40, 1))
    target = train(data, None, TargetConfig(), several=True)
    rows, made = data.rows(target.words), labels_of(data, target.classes)[1]
    fold, scores = folds_of(40, 0), out_of_fold(rows, made, SolverConfig())
    rest, held = np.flatnonzero(fold != 2), np.flatnonzero(fold == 2)
    part = made.positive.take(rest)
    model = fit(rows.take(rest), targets(part.owner, part.indices, len(rest), made.names), SolverConfig())
    kept = rows.take(held).select(np.arange(len(target.words)) < len(model.w))
    np.testing.assert_allclose(scores[held], model.scores(kept), atol=1e-6)


def test_a_tuned_model_differs_by_its_bias_only(tmp_path):
    data = corpus(tmp_path, several(80, 2))
    plain, tuned = (train(data, None, TargetConfig(), several=True, tuned=on) for on in (False, True))
    assert plain.weights.w.tobytes() == tuned.weights.w.tobytes()
    assert (plain.weights.bias != tuned.weights.bias).all()
    again = train(data, None, TargetConfig(solver=SolverConfig(passes=20, threads=2)), several=True, tuned=True)
    assert again.weights.bias.tobytes() == tuned.weights.bias.tobytes()


def test_auto_is_the_rounded_mean_number_of_labels(tmp_path):
    data, two = corpus(tmp_path, several(60, 3)), [f"sea,sport |w ball wave x{n}" for n in range(9)]
    for lines, k in ((several(30, 4), 1), (two, 2)):
        labelled = corpus(tmp_path, lines, "few.vw")
        thetas = [
            learn(LearnConfig((read_aux(aux),), dim=3, several=True), data, labelled).theta
            for aux in ("multi-k:auto", f"multi-k:{k}")
        ]
        assert thetas[0].matrix.tobytes() == thetas[1].matrix.tobytes()
    with pytest.raises(UsageError, match="takes a number, like top-k:2"):
        read_aux("top-k:auto")


BITS = st.lists(st.tuples(*[st.booleans()] * 6), min_size=1, max_size=12)


@given(BITS)
def test_macro_f_is_the_mean_of_the_classes(rows):
    chosen, true = np.array(rows)[:, :3], np.array(rows)[:, 3:]
    report = agreement(chosen, true, np.ones(len(rows)), true.sum(1))
    assert report["macro_f1"] == pytest.approx(macro_f(chosen.tolist(), true.tolist()))
