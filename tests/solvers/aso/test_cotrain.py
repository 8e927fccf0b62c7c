"""Co-training: which examples get which labels, and what is learned of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.config import BadLinesConfig
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.features.sparse_rows import Rows
from vwlite.solvers.aso.config import CotrainConfig, SolverConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.cotrain import cotrain, drawn, held_out, most_confident, surest
from vwlite.solvers.aso.sgd import Targets, solve
from vwlite.training.listener import Monitor


class Said(Monitor):
    """Keeps what is remarked."""

    def __init__(self, remarks):
        self.remark = remarks.append


WORDS = {"sport": 30, "sea": 30, "law": 30}


@pytest.fixture
def corpus(tmp_path):
    def read(lines):
        path = tmp_path / "lines.vw"
        path.write_text("".join(line + "\n" for line in lines))
        return Corpus(BadLines(None, None, BadLinesConfig(max_ratio=1))).read([str(path)])

    return read


def lines_of(count, seed, label=True):
    """Documents of three topics with 30 words each, six words a document, half of them in a second namespace."""
    rng, lines = np.random.default_rng(seed), []
    for _ in range(count):
        topic = list(WORDS)[rng.integers(3)]
        words = [f"{topic}{rng.integers(WORDS[topic])}" for _ in range(5)] + [f"any{rng.integers(50)}"]
        lines.append(f"{topic if label else ''} |a {' '.join(words[:3])} |b {' '.join(words[3:])}")
    return lines


SCORES = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=n, max_size=n)
)


@given(SCORES, st.lists(st.integers(0, 2), max_size=15), st.integers(0, 2**12 - 1))
def test_each_class_takes_the_free_example_with_its_largest_score(scores, classes, mask):
    scores = np.array(scores, np.float32)
    free = np.array([mask >> place & 1 for place in range(len(scores))], bool)
    left, expected = set(np.flatnonzero(free).tolist()), []
    for number in classes:
        if not left:
            break
        place = max(sorted(left), key=lambda place: scores[place, number])
        left.remove(place)
        expected.append((place, number))
    assert most_confident(scores, free, iter(classes)) == expected
    assert set(np.flatnonzero(free).tolist()) == left


@given(SCORES, st.integers(0, 14), st.integers(0, 2**12 - 1))
def test_the_surest_have_their_best_class(scores, count, mask):
    scores = np.array(scores, np.float32)
    free = np.array([mask >> place & 1 for place in range(len(scores))], bool)
    ranked = sorted(np.flatnonzero(free).tolist(), key=lambda place: (-scores[place].max(), place))[:count]
    before = set(np.flatnonzero(free).tolist())
    assert surest(scores, free, count) == [(place, int(scores[place].argmax())) for place in ranked]
    assert set(np.flatnonzero(free).tolist()) == before - set(ranked)


def test_classes_are_drawn_as_often_as_the_labels_have_them():
    prior, count = np.array([0.5, 0.0, 0.2, 0.3]), 20000
    shares = np.bincount(list(drawn(prior, count, 7)), minlength=4) / count
    assert (abs(shares - prior) <= 4 * np.sqrt(prior * (1 - prior) / count)).all()
    assert list(drawn(prior, 50, 7)) == list(drawn(prior, 50, 7)) != list(drawn(prior, 50, 8))


def test_held_out_examples_are_a_share_of_all():
    assert held_out(10, 0.0, 1).tolist() == []
    held = held_out(100, 0.25, 1)
    assert len(np.unique(held)) == 25 and held.tolist() == held_out(100, 0.25, 1).tolist()
    assert held.tolist() != held_out(100, 0.25, 2).tolist()


CONFIG = CotrainConfig(pool=200, step=20)
TARGET = TargetConfig(SolverConfig(passes=20))


def trained(corpus, config=CONFIG, target=TARGET, **more):
    few, others = corpus(lines_of(9, 1)), corpus(lines_of(600, 2, label=False))
    return cotrain(few, others, config, target, test=corpus(lines_of(500, 3)), **more)


@pytest.mark.parametrize("one_view", [False, True])
def test_proposed_labels_teach_words_that_no_labelled_example_has(corpus, one_view):
    done = trained(corpus, CotrainConfig(pool=200, step=20, one_view=one_view))
    first, last = (done.history[place]["accuracy"] for place in (0, -1))
    assert last > first + 0.1, (first, last)


def test_every_example_is_labelled_once(corpus):
    history = trained(corpus).history
    assert [entry["round"] for entry in history] == list(range(len(history)))
    totals = [entry["labelled"] for entry in history]
    assert totals == np.cumsum([9, *(entry["added"] for entry in history[1:])]).tolist()
    assert totals[-1] == 609 and max(entry["added"] for entry in history) == 40
    assert all(0 <= entry["agreement"] <= 1 for entry in history[:-1]) and history[-1]["agreement"] is None


def test_rounds_end_where_they_are_told_to(corpus):
    done = trained(corpus, CotrainConfig(pool=200, step=20, rounds=3))
    assert [entry["labelled"] for entry in done.history] == [9, 49, 89, 129]
    assert done.best == 3


def test_the_round_that_is_best_on_what_is_held_out_is_kept(corpus):
    few = corpus(lines_of(60, 1))
    others, config = corpus(lines_of(300, 2, label=False)), CotrainConfig(pool=100, step=20, holdout=0.5)
    done = cotrain(few, others, config, TARGET)
    shares = [entry["holdout"] for entry in done.history]
    assert done.best == shares.index(max(shares)) and done.history[0]["labelled"] == 30
    again = CotrainConfig(pool=100, step=20, holdout=0.5, rounds=max(done.best, 1))
    if done.best:
        assert np.array_equal(cotrain(few, others, again, TARGET).target.weights.w, done.target.weights.w)


def test_the_answer_is_the_sum_of_the_views(corpus):
    """With a view of one namespace and one of the other, their weights stand beside each other."""
    few, none = corpus(lines_of(30, 1)), corpus(["|c nothing"])
    both = cotrain(few, none, CotrainConfig(rounds=1), TARGET, spaces=[("a",)]).target
    assert both.words.spaces == ["a", "b", "c"]
    rows = few.rows(both.words)
    for space in (0, 1):
        own = rows.select(seen := both.words.space == space)
        alone = type(both.weights)(*(np.zeros(shape, np.float32) for shape in ((int(seen.sum()), 3), (0, 3), 3)))
        made = Targets(both_targets(few, both), both.classes.names)
        solve(TARGET.solver, Rows(own.terms, own.importance, own.extra), made, alone)
        found = both.weights.w[seen]
        assert found.shape == alone.w.shape and np.corrcoef(found.ravel(), alone.w.ravel())[0, 1] > 0.99


def both_targets(few, target):
    from vwlite.solvers.aso.classifier import labels_of

    return labels_of(few, target.classes)[1].positive


def test_the_result_does_not_depend_on_threads_and_does_on_the_seed(corpus):
    found = [
        trained(corpus, target=TargetConfig(SolverConfig(passes=5, threads=threads, seed=seed))).target.weights.w
        for threads, seed in ((1, 0), (2, 0), (1, 1))
    ]
    assert np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])


def test_a_proposed_label_counts_by_its_weight(corpus):
    light = trained(corpus, CotrainConfig(pool=200, step=20, weight=1e-6))
    alone = light.history[0]["accuracy"]
    assert abs(light.history[-1]["accuracy"] - alone) < 0.1 < trained(corpus).history[-1]["accuracy"] - alone


def test_remarks(corpus):
    said = []
    lines = [*lines_of(60, 2), "sea |b only", "|c x"]
    cotrain(corpus(lines_of(9, 1)), corpus(lines), CONFIG, TARGET, spaces=[("a",)], monitor=Said(said))
    assert said == [
        "the labels of the unlabelled examples are not used",
        "2 of 71 examples have no feature of one view, which labels none of them",
    ]


def test_bad_input(corpus):
    few, others = corpus(lines_of(9, 1)), corpus(lines_of(20, 2, label=False))
    one = corpus([line for line in lines_of(30, 1) if line.startswith("sea")])
    with pytest.raises(DataError, match="the labels name 1 classes"):
        cotrain(one, others, CONFIG, TARGET)
    with pytest.raises(DataError, match="one class only: a smaller --holdout"):
        cotrain(few, others, CotrainConfig(holdout=0.9), TARGET)
    with pytest.raises(DataError, match="no example has a feature of one of the views"):
        cotrain(few, others, CONFIG, TARGET, spaces=[("a", "b")])
    with pytest.raises(UsageError, match="namespace 'x'"):
        cotrain(few, others, CONFIG, TARGET, spaces=[("x",)])
    with pytest.raises(UsageError, match="twice at most"):
        cotrain(few, others, CONFIG, TARGET, spaces=[("a",), ("b",), ("a",)])
    with pytest.raises(UsageError, match="--one-view"):
        cotrain(few, others, CotrainConfig(one_view=True), TARGET, spaces=[("a",)])
    with pytest.raises(UsageError, match="GiB"):
        cotrain(few, others, CONFIG, TARGET, memory=10)
