"""What steps draw while a curriculum admits more: rows by their weights, pairs of far labels, beside plain twins."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import curriculum as plain
from oracle.crr import Twin, every_pair, uniform
from solvers.crr.test_train import BITS, CONSTANT, as_svmlight, assert_fits, chi_square, descent, random_text, read

from vwlite.errors import DataError, UsageError
from vwlite.solvers.crr import train
from vwlite.solvers.crr.pair_sampling import (
    CurriculumStages,
    RowColumns,
    check_curriculum,
    least_difference,
    pair_index,
    select_far_pairs,
)
from vwlite.training.config import CurriculumConfig
from vwlite.training.curriculum import StepRanking
from vwlite.training.listener import LineMonitor

PHI = 0x9E3779B97F4A7C15


def differences(queries, labels):
    """Of every pair of rows that have a query in common and other labels."""
    return {(i, j): abs(float(labels[i]) - float(labels[j])) for i, j in every_pair(queries, labels)}


def wanted_pairs(queries, labels, share):
    """As many of the largest differences as the share, or all of the largest one; equal ones go together."""
    result = differences(queries, labels)
    for least in sorted(set(result.values())):
        far = [pair for pair, difference in result.items() if difference >= least]
        if len(far) <= share * len(result):
            return far
    return [pair for pair, difference in result.items() if difference == max(result.values())]


def index_of(queries, labels, importance=None, sampling="pairs"):
    n = len(labels)
    importance = np.ones(n) if importance is None else importance
    columns = (np.array(queries, np.uint64), np.array(labels, np.float32), importance)
    return pair_index(*columns, (np.zeros(n), np.arange(n)), sampling)


def far(queries, labels, share, importance=None, sampling="pairs"):
    ranking = StepRanking(CurriculumConfig("easy", "difference", start=share, steps=1), 0, lambda note: None)
    return select_far_pairs(index_of(queries, labels, importance, sampling), sampling, ranking)


def drawn_plainly(index, seed, step):
    """The rows of a pair: a query, one of its groups by the pairs it leads, a far one by its weight, a row of each."""
    u = [uniform(seed, step, number) for number in range(6)]
    place = int(x := u[1] * len(index.query_start))
    query = place if x - place < index.alias_prob[place] else index.alias_index[place]
    groups, weights = range(index.query_start[query], index.query_end[query]), np.diff(index.cumulative_weight)

    def partners(group):
        return [g for g in groups if not index.near_start[group] <= g < index.near_end[group]]

    def chosen(options, sizes, share):
        return next(one for one, sum in zip(options, accumulate(sizes), strict=True) if sum > share * np.sum(sizes))

    a = chosen(groups, [weights[g] * sum(weights[p] for p in partners(g)) for g in groups], u[2])
    b = chosen(partners(a), weights[partners(a)], u[3])

    def row(group, share):
        rows = range(index.group_start[group], index.group_start[group + 1])
        if index.cumulative_importance is None:
            return rows[int(share * len(rows))]
        return chosen(rows, np.diff(index.cumulative_importance)[rows], share)

    return [row(a, u[4]), row(b, u[5])]


GRADES, NUMBERS = st.integers(0, 4), st.floats(-3, 3, width=32)
LABELS = st.one_of(st.lists(GRADES, min_size=2, max_size=25), st.lists(NUMBERS, min_size=2, max_size=15))
SHARES, SAMPLINGS = st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.8]), st.sampled_from(["pairs", "query"])


@given(LABELS, st.integers(1, 4), SHARES, SAMPLINGS, st.booleans())
@settings(max_examples=60, deadline=None)
def test_pairs_of_far_labels(labels, queries, share, sampling, weighted):
    queries = [row % queries for row in range(len(labels))]
    importance = np.random.default_rng(len(labels)).integers(1, 9, len(labels)) / 4 if weighted else None
    labels = np.array(labels, np.float32)
    whole = index_of(queries, labels)
    if not len(whole.query_start):
        return
    actual = differences(queries, labels)
    assert whole.count(5e-324) == len(actual)
    for difference in set(actual.values()):
        assert whole.count(difference) == sum(other >= difference for other in actual.values())
    expected = wanted_pairs(queries, labels, share)
    assert whole.count(least_difference(whole, share)) == len(expected)
    index = far(queries, labels, share, importance, sampling)
    weights = np.ones(len(labels)) if importance is None else importance
    assert index.candidates == pytest.approx(sum(weights[i] * weights[j] for i, j in expected))
    for step, pair in enumerate(index.draw(7 * PHI % 2**64, 1, 40).tolist(), 1):
        assert pair == drawn_plainly(index, 7, step)
        assert tuple(sorted(index.row[pair].tolist())) in expected


@pytest.mark.parametrize("sampling", ["pairs", "query"])
def test_far_pairs_are_drawn_alike(sampling):
    rng = np.random.default_rng(4)
    queries, labels = rng.integers(0, 4, 40), rng.integers(0, 5, 40).astype(np.float32)
    index, pairs = far(queries, labels, 0.4, sampling=sampling), wanted_pairs(queries, labels, 0.4)
    size = {q: sum(queries[i] == q for i, _ in pairs) if sampling == "query" else 1 for q in range(4)}
    assert 20 < len(pairs) < 0.4 * len(every_pair(queries, labels))
    assert_fits(*chi_square(index, {pair: 1 / size[int(queries[pair[0]])] for pair in pairs}))


def test_weights_of_rows_are_importance():
    rng = np.random.default_rng(4)
    queries, labels = rng.integers(0, 3, 30).astype(np.uint64), rng.integers(0, 3, 30).astype(np.float32)
    importance, weights = rng.integers(1, 4, 30).astype(float), rng.random(30).astype(np.float32)
    columns = RowColumns(queries, labels, importance, (np.zeros(30), np.arange(30)))
    rows = np.arange(5, 30)
    index = columns.index("pairs", rows, weights)
    product = importance * weights
    expected = {(i, j): product[i] * product[j] for i, j in every_pair(queries, labels) if i >= 5}
    assert index.candidates == pytest.approx(sum(expected.values()))
    assert_fits(*chi_square(index, expected))


@pytest.mark.parametrize("by", ["length", "difference"])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_steps_are_those_of_the_twin(tmp_path, by, alpha):
    rows = [
        (y, q, dict([*x.items()][: 1 + n % 5]))
        for n, (y, q, x) in enumerate(random_text(np.random.default_rng(5), 60, 6, [0, 1, 2, 3]))
    ]
    curriculum = CurriculumConfig("easy", by, start=0.3, steps=70)
    config = train.CrrConfig(alpha=alpha, penalty=0.05, seed=3, steps=400, sampling="pairs")
    data = read(tmp_path, as_svmlight(rows), config, "svmlight")
    notes, queries = [], np.concatenate(data.columns["query"])
    learner = descent(config, data, LineMonitor(notes.append), curriculum=curriculum).learner
    twin = Twin("squared", alpha, 0.05, [], None, seed=3)
    labels, seed = [y for y, _, _ in rows], 3 * PHI % 2**64
    ranked = sorted(range(60), key=lambda row: len(rows[row][2]))
    for number in range(1, 5):
        share = min(number * 0.3, 1)
        taken = [row for row, _ in plain.taken(range(60), ranked, share)] if by == "length" else [*range(60)]
        index = index_of([queries[row] for row in taken], [labels[row] for row in taken])
        twin.examples = [(rows[taken[row]][0], {**rows[taken[row]][2], CONSTANT: 1.0}) for row in index.row.tolist()]
        if by == "difference" and share < 1:
            index = far(queries, labels, share)
        twin.pairs = lambda i, index=index: index.draw(seed, i, 1)[0].tolist()
        for i in range(70 * (number - 1) + 1, 401 if number == 4 else 70 * number + 1):
            twin.step(i)
    expected = np.zeros(2**BITS)
    for slot, w in twin.w.items():
        expected[slot] = w
    np.testing.assert_allclose(learner.weights[:, 0], expected, atol=2e-5, rtol=2e-4)
    assert notes[1].startswith("note: curriculum, step 1: weights add up to")
    assert "note: curriculum, step 4: all examples take part from here on" in notes


def test_stages_end_where_the_steps_do():
    notes, whole = [], index_of([0] * 6, range(6))
    curriculum = CurriculumConfig("easy", "difference", steps=10)
    stages = CurriculumStages(curriculum, train.CrrConfig(), whole, 100, 125)
    assert [end for _, end in stages.remaining(0, None, None, notes.append)] == [110, 120, 125]
    assert notes == [
        "curriculum, step 1: weights add up to 3 of 15 pairs, entropy 1.5850 bits",
        "curriculum, step 2: weights add up to 6 of 15 pairs, entropy 2.5850 bits",
        "curriculum, step 3: weights add up to 10 of 15 pairs, entropy 3.3219 bits",
        "curriculum, step 4: all examples take part from here on",
    ]
    stages = CurriculumStages(curriculum, train.CrrConfig(), whole, 100, 115)
    assert [end for _, end in stages.remaining(0, None, None, notes.append)] == [110, 115]
    assert notes[-1] == "curriculum: --steps ends in step 2; all would take part in 4"


def test_a_stage_without_pairs():
    columns = RowColumns(np.zeros(4, np.uint64), np.array([0, 0, 1, 1], np.float32), np.ones(4), (np.zeros(4),) * 2)
    curriculum = CurriculumConfig("easy", start=0.5, steps=10)
    stages = CurriculumStages(curriculum, train.CrrConfig(), index_of([0] * 4, [0, 0, 1, 1]), 0, 30)
    with pytest.raises(DataError, match="of the 2 easiest examples no query has two different labels: a larger"):
        next(stages.remaining(0, columns, np.arange(4.0), lambda note: None))
    stages.config = train.CrrConfig(alpha=1.0)
    assert len(next(stages.remaining(0, columns, np.arange(4.0), lambda note: None))[0].row) == 2


@pytest.mark.parametrize(
    ("options", "curriculum", "message"),
    [
        ({"pairing": "lambda-ndcg"}, {"steps": 5}, "--pairs lambda-ndcg takes whole queries: drop one"),
        ({}, {}, "--curriculum needs --curriculum-steps N"),
        ({"alpha": 1.0}, {"by": "difference", "steps": 5}, "--alpha 1 learns from none"),
    ],
)
def test_what_does_not_go_together(options, curriculum, message):
    with pytest.raises(UsageError, match=message):
        check_curriculum(train.CrrConfig(**options), CurriculumConfig("easy", **curriculum))
    check_curriculum(train.CrrConfig(**options), CurriculumConfig())


@pytest.mark.parametrize("options", [{"order": "anti"}, {"order": "random"}, {"order": "easy", "weights": "linear"}])
def test_far_pairs_come_first_and_are_alike(options):
    with pytest.raises(UsageError, match="--curriculum-by difference takes pairs of far labels first"):
        CurriculumConfig(by="difference", steps=5, **options)
