"""Deltas and their merge, beside ``oracle.merge`` and the bytes of ``vwlite train``."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.merge import float32
from oracle.merge import merge as oracle_merge

from vwlite._native import merge_rows
from vwlite.data.config import BadLinesConfig
from vwlite.distributed import delta as deltas
from vwlite.distributed.merge import merge_deltas, merge_split, rate_factor
from vwlite.distributed.plan import base_of, digest_of, plan, rule_of
from vwlite.distributed.task import learn, open_piece
from vwlite.errors import InputDamaged
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import COLUMNS
from vwlite.learners.losses import LossConfig
from vwlite.storage.archive_reader import is_delta
from vwlite.storage.model_file import load
from vwlite.storage.weight_table import Table
from vwlite.training.config import RunConfig

NUMBERS = st.floats(-9, 9, width=32, allow_subnormal=False)
ROWS = st.tuples(NUMBERS, NUMBERS.map(abs), NUMBERS.map(abs))
TABLES = st.dictionaries(st.integers(0, 15), ROWS, max_size=6)


def text(count=400, seed=1):
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        a, b = random.integers(0, 30, 2)
        lines.append(f"{1 if a + random.normal(0, 9) > b else -1} |a x{a} z{random.integers(0, 5)}:0.5 |b y{b}\n")
    return "".join(lines)


def table(rows):
    values = np.zeros((16, 4), np.float32)
    for slot, row in rows.items():
        values[slot, :3] = row
    return values


@given(TABLES, st.lists(TABLES, min_size=2, max_size=5), st.sampled_from([0.5, 0.25, 1.0]))
def test_slots_are_merged_as_in_plain_python(base, changes, power):
    rule = rule_of(GdConfig(loss=LossConfig("logistic"), power_t=power), len(changes))
    begun = table(base)
    divided = begun.copy()
    divided[:, 1] /= np.float32(len(changes))
    before = deltas.Snapshot(Table(divided, COLUMNS))
    actual = []
    for number, change in enumerate(changes, 1):
        after = divided.copy()
        for slot, row in change.items():
            after[slot, :3] = row
        actual.append(deltas.Delta(deltas.Task(number, len(changes), ""), {}, *before.changes(after)))
    shards = [{slot: tuple(map(float, values)) for slot, values in base.items()} for _ in changes]
    for shard, change in zip(shards, changes, strict=True):
        for slot, (w, g, n) in shard.items():
            shard[slot] = w, float(np.float32(g) / np.float32(len(changes))), n
        shard.update(change)
    merge_split(begun, actual, rule)
    np.testing.assert_array_equal(begun, table(oracle_merge(base, shards, power)))


def rows_of(table):
    """{slot: (w, G, N)} of a model's tables or of a delta's columns."""
    slots = np.flatnonzero(table.values.any(axis=1)) if isinstance(table, Table) else table.slots
    columns = table.values[slots].T if isinstance(table, Table) else np.array(table.columns)
    return {slot: tuple(map(float, row)) for slot, row in zip(slots.tolist(), columns.T, strict=True)}


@pytest.mark.parametrize("options", ["--multiclass 3", "--multiclass 10 --loss_function logistic"])
def test_classes_in_tables_of_their_own_are_merged_as_in_plain_python(options, run_here, tmp_path):
    draw = np.random.default_rng(4)
    lines = [f"{1 + n % 3} |a x{n % 5}:{draw.random():.3f} y{n % 7} |b z{n // 20}\n" for n in range(150)]
    (tmp_path / "t.vw").write_text("".join(lines))
    base, typed = {}, options.split()
    for number in (1, 2):
        for shard in (1, 2, 3):
            files = ("train", "t.vw", "--shard", f"{shard}/3", "-f", f"{shard}.delta", "--quiet")
            run_here(*files, *(["-i", "m1"] if base else ["-b", "12", *typed]))
        run_here("merge", *(["--base", "m1"] if base else []), "1.delta", "2.delta", "3.delta", "-f", f"m{number}")
        started = {slot: (w, float32(g / np.float32(3)), n) for slot, (w, g, n) in base.items()}
        ends = [started | rows_of(deltas.load(tmp_path / f"{shard}.delta")) for shard in (1, 2, 3)]
        model = load(tmp_path / f"m{number}")
        expected = {slot: row for slot, row in oracle_merge(base, ends).items() if any(row)}
        base = rows_of(deltas.joined(model.arrays))
        assert base == expected
    assert model.header["counters"]["example_number"] == 300 and len(base) > 50


@given(st.integers(0, 3), st.data())
def test_tables_with_a_row_for_several_slots_are_joined_and_parted(shift, data):
    numbers = st.lists(NUMBERS, min_size=16, max_size=16)
    draw = {name: np.array([data.draw(numbers)], np.float32).T for name in ("weights", "squares")}
    tables = {**draw, "scale": np.array([data.draw(numbers)], np.float32).T[: 16 >> shift].copy()}
    arrays = {name: Table(values.copy(), (name[0],)) for name, values in sorted(tables.items())} | {"other": slice(3)}
    wide = deltas.joined(arrays)
    assert wide.names == ("w", "s", "s") and wide.values.shape == (16, 3)
    for column, name in enumerate(("weights", "squares", "scale")):
        np.testing.assert_array_equal(wide.values[:, column], np.repeat(tables[name], 16 // len(tables[name])))
    deltas.part(wide.values * 2, arrays)
    for name, values in tables.items():
        np.testing.assert_array_equal(arrays[name].values, values * 2)


def test_a_single_table_is_joined_with_nothing():
    values = np.ones((8, 4), np.float32)
    arrays = {"weights": Table(values, COLUMNS), "seen": np.zeros(3)}
    assert deltas.joined(arrays).values is values and deltas.joined(arrays).names == COLUMNS
    deltas.part(values, arrays)
    assert values.all()


def test_a_delta_of_no_change_changes_nothing():
    base = table({3: (1.5, 2.0, 1.0), 7: (-1.0, 0.3, 2.0)})
    divided = base.copy()
    divided[:, 1] /= np.float32(3)
    nothing = deltas.Snapshot(Table(divided, COLUMNS)).changes(divided)
    actual = [deltas.Delta(deltas.Task(number, 3, ""), {}, *nothing) for number in (1, 2, 3)]
    assert len(deltas.known_slots(actual)) == 0
    after = base.copy()
    merge_split(after, actual, rule_of(GdConfig(), 3))
    np.testing.assert_array_equal(after, base)


def test_the_common_factor_is_the_kernels(run_here, tmp_path):
    (tmp_path / "t").write_text(text())
    for options in ([], ["--power_t", "0.3"], ["--sgd", "--normalized"]):
        run_here("train", "t", "-f", "m", "--quiet", *options)
        header = load(tmp_path / "m").header
        scalars = header["scalars"]
        config = GdConfig(
            sgd=bool(options[:1] == ["--sgd"]),
            normalized="--normalized" in options,
            power_t=header["config"]["power_t"],
        )
        actual = rate_factor(scalars["norm_sum"], scalars["norm_weight"], config)
        assert actual == pytest.approx(scalars["multiplier"], rel=1e-6)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 9))
def test_any_text_in_any_number_of_shards(tmp_path_factory, widths, of):
    folder = tmp_path_factory.mktemp("any")
    lines = [f"{n % 2} |a " + " ".join(f"f{n % 5}{i}" for i in range(width * 40)) for n, width in enumerate(widths)]
    (folder / "t").write_bytes("\r\n".join(lines).encode())
    config = RunConfig()
    base = base_of(config, of)
    actual = [learn(base, shard, config.input, BadLinesConfig()) for shard in plan([str(folder / "t")], of)]
    assert {delta.task.base for delta in actual} == {digest_of(base)}
    merged = merge_deltas(actual, None)
    assert merged.header["counters"]["example_number"] == len(widths)
    again = folder / "again"
    deltas.save(again, actual[0])
    restored = deltas.load(again)
    np.testing.assert_array_equal(restored.columns, actual[0].columns)
    assert restored.header == actual[0].header and is_delta(str(again))


def test_a_file_that_changed_is_refused(tmp_path):
    (tmp_path / "t").write_text(text(20))
    (tmp_path / "z.gz").write_bytes(gzip.compress(text(20).encode()))
    pieces = [piece for shard in plan([str(tmp_path / "t"), str(tmp_path / "z.gz")], 2) for piece in shard.pieces]
    for name in ("t", "z.gz"):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() * 2)
    for piece in pieces:
        with pytest.raises(InputDamaged, match="has changed since its shards were laid out"):
            open_piece(piece)


def test_the_kernel_refuses_arrays_that_do_not_fit():
    table, divisor = np.zeros((8, 3), np.float32), np.ones(2)
    slots, values = np.array([1, 7], np.uint32), np.ones((3, 2), np.float32)
    merge_rows.merge_split(table, [slots], [values], divisor)
    assert table[[1, 7], 0].tolist() == [1, 1] and table.sum() == 6
    with pytest.raises(ValueError, match="a divisor"):
        merge_rows.merge_split(table, [slots, slots], [values, values], divisor)
    with pytest.raises(ValueError, match="three columns"):
        merge_rows.merge_split(table, [slots], [values[:2]], divisor)
    with pytest.raises(ValueError, match="a number for each"):
        merge_rows.merge_split(table, [slots], [values[:, :1].copy()], divisor)
    with pytest.raises(ValueError, match="slots of the table"):
        merge_rows.merge_split(table, [slots + np.uint32(1)], [values], divisor)


@pytest.mark.parametrize("shards", [2, 3, 5])
def test_merging_many_blocks_of_slots(shards):
    draw = np.random.default_rng(shards)
    table = draw.random((20_000, 4)).astype(np.float32)
    divisor = shards**0.5 * np.arange(shards + 1.0) ** 0.5
    slots = [np.flatnonzero(draw.random(20_000) < draw.choice([0.001, 0.5])).astype(np.uint32) for _ in range(shards)]
    slots[0] = np.array([0, 4095, 4096, 19_999], np.uint32)
    values = [draw.random((len(changed), 3)).astype(np.float32) for changed in slots]
    base = {slot: tuple(map(float, table[slot, :3])) for slot in range(len(table))}
    ends = []
    for changed, rows in zip(slots, values, strict=True):
        started = {slot: (w, float32(g / shards), n) for slot, (w, g, n) in base.items()}
        ends.append(started | {slot: tuple(map(float, row)) for slot, row in zip(changed.tolist(), rows, strict=True)})
    merge_rows.merge_split(table, slots, [rows.T.copy() for rows in values], divisor)
    expected = oracle_merge(base, ends)
    assert {slot: tuple(map(float, table[slot, :3])) for slot in expected} == expected
