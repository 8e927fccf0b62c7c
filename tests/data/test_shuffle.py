"""Rows in random order: the order, the copies, and what is held out of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vwlite.data.batch import Batch
from vwlite.data.config import HoldoutConfig
from vwlite.data.shuffle import ROWS, Rows, order_of
from vwlite.data.text_format import TextFormat, Workspace, parse_text
from vwlite.training.file_batches import Holdout


@settings(max_examples=30)
@given(rows=st.integers(0, 300), seed=st.integers(-(2**40), 2**40), number=st.integers(0, 1000))
def test_an_order_is_a_permutation_that_depends_on_its_arguments_only(rows, seed, number):
    order = order_of(rows, seed, number)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(rows))
    assert np.array_equal(order, order_of(rows, seed, number))


def test_passes_and_seeds_have_orders_of_their_own():
    orders = {order_of(100, seed, number).tobytes() for seed in range(20) for number in range(20)}
    assert len(orders) == 400


def test_every_row_comes_to_every_place_about_equally_often():
    places = np.array([order_of(8, seed, 1) for seed in range(4000)])
    counts = np.array([np.bincount(column, minlength=8) for column in places.T])
    assert abs(counts - 500).max() < 120


def lines(rng, size):
    """Text with labelled, unlabelled, blank and featureless lines."""
    made = []
    for n in range(size):
        kind = rng.integers(8)
        words = " ".join(f"{rng.integers(50)}:{rng.uniform(-2, 2):.3f}" for _ in range(rng.integers(0, 5)))
        label = "" if kind == 1 else f"{n} {rng.integers(1, 4)} 0.5"
        made.append("" if kind == 0 else f"{label} |u {words} |item a{n}" if kind > 2 else f"{label} |u {words}")
    return "\n".join(made) + "\n"


def rows_of(batch: Batch):
    """Each row as plain values, its features by segment."""
    made = []
    for i in range(len(batch)):
        segments = []
        for j in range(batch.row_namespace[i], batch.row_namespace[i + 1]):
            cut = slice(batch.namespace_start[j], batch.namespace_start[j + 1])
            features = list(zip(batch.feature_hash[cut].tolist(), batch.value[cut].tolist(), strict=True))
            segments.append((int(batch.namespace_char[j]), int(batch.namespace_hash[j]), features))
        numbers = (float(batch.importance[i]), float(batch.initial_prediction[i]), int(batch.flags[i]))
        made.append((repr(float(batch.label[i])), *numbers, segments))
    return made


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_taken_rows_are_those_of_the_batches(seed, sizes):
    rng = np.random.default_rng(seed)
    batches = [parse_text(lines(rng, size).encode(), TextFormat()) for size in sizes]
    expected = [row for batch in batches for row in rows_of(batch)]
    rows = Rows(batches)
    assert len(rows) == len(expected)
    numbers = rng.integers(0, len(rows), rng.integers(1, 200))
    taken = rows.take(numbers)
    assert rows_of(taken) == [expected[number] for number in numbers]
    assert np.array_equal(taken.numbers, numbers)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 1000])
def test_rows_of_any_size_find_room(size):
    """The arrays grow, also when a batch fills them exactly."""
    text = " ".join(f"{n}:1.5" for n in range(size))
    batch = parse_text(f"1 |u {text}\n2 |u {text} |v x\n".encode(), TextFormat())
    rows = Rows([batch])
    workspace = Workspace(0)
    workspace.rows, workspace.segments, workspace.features = 64, 64, 64
    workspace.allocate()
    rows.free.put(workspace)
    numbers = np.arange(63, dtype=np.int64) % 2
    expected = rows_of(batch)
    assert rows_of(rows.take(numbers)) == [expected[number] for number in numbers]


def test_a_pass_visits_every_row_once_in_its_order():
    text = "".join(f"{n} |u x\n" for n in range(ROWS + 1000))
    rows = Rows([parse_text(text.encode(), TextFormat())])
    passes = [[batch.label.copy() for batch in rows.shuffled(5, number)] for number in (1, 2)]
    assert [len(part) for part in passes[0]] == [ROWS, 1000]
    labels = [np.concatenate(parts) for parts in passes]
    assert np.array_equal(np.sort(labels[0]), np.arange(ROWS + 1000))
    assert not np.array_equal(labels[0], labels[1])
    assert np.array_equal(labels[0], order_of(len(rows), 5, 1))


@pytest.mark.parametrize("threads", [2, 5])
def test_rows_gathered_ahead_are_the_same(threads):
    text = "".join(f"{n} |u {n}:0.5 b\n" for n in range(6 * ROWS + 7))
    rows = Rows([parse_text(text.encode(), TextFormat())])
    made = {1: [], threads: []}
    for count, parts in made.items():
        for batch in rows.shuffled(3, 1, count):
            parts.append((batch.label.tobytes(), batch.feature_hash.tobytes(), batch.numbers.tobytes()))
            batch.release()
    assert len(made[1]) == 7
    assert made[1] == made[threads]


@pytest.mark.parametrize("config", [HoldoutConfig(), HoldoutConfig(period=3), HoldoutConfig(after=40)])
def test_held_out_rows_are_the_same_lines_in_any_order(config):
    in_order, shuffled = Holdout(config, config.active(2)), Holdout(config, config.active(2))
    expected = in_order.mark(100)
    order = order_of(100, 1, 1)
    parts = [shuffled.mark(25, order[begin : begin + 25]) for begin in range(0, 100, 25)]
    assert np.array_equal(np.concatenate(parts), expected[order])
    assert 0 < expected.sum() < 100
