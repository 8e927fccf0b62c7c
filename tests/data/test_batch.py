"""The columns of a batch are declared once: the arrays are of these types and lengths, and whoever copies them all
copies each of them.
"""

from dataclasses import fields

import numpy as np
import pytest

from vwlite._native import batch_rows
from vwlite.data.batch import COLUMNS, FEATURES, NAME_COLUMNS, NAMESPACES, ROWS, TEXT_OFFSETS, Batch, Names
from vwlite.data.block_parser import COMPUTED, STORED
from vwlite.data.multiline import join_batches, piece_of
from vwlite.data.text_format import TextFormat, Workspace, parse_text

TEXT = b"1 2 'tag|a x:2 y |b z\n\n-1 |a w\n2 'other| u v:3 |c\n"


@pytest.fixture
def batch():
    return parse_text(TEXT, TextFormat(names=True))


def test_every_array_of_a_batch_is_declared():
    declared = {field.name for field in fields(Batch) if field.type == "np.ndarray"}
    assert set(COLUMNS) == declared
    assert set(NAME_COLUMNS) == {field.name for field in fields(Names)}


@pytest.mark.parametrize("name", [*COLUMNS, *NAME_COLUMNS])
def test_parsed_arrays_are_as_declared(batch, name):
    counts = {ROWS: len(batch), NAMESPACES: int(batch.row_namespace[-1]), FEATURES: int(batch.namespace_start[-1])}
    for owner, columns in ((batch, COLUMNS), (batch.names, NAME_COLUMNS)):
        if name in columns:
            array = getattr(owner, name)
            assert (array.dtype, len(array)) == (columns[name].dtype, columns[name].length(counts))


def test_a_workspace_has_every_column():
    workspace = Workspace(1 << 10)
    assert all(getattr(workspace, name).dtype == column.dtype for name, column in COLUMNS.items())


def test_every_column_comes_back_from_a_cache():
    known = {column.name for column, _ in STORED} | {column.name for column in COMPUTED}
    of_tags = {name for name, column in COLUMNS.items() if column.entries is TEXT_OFFSETS}
    assert {*COLUMNS} <= known | of_tags


def test_every_column_is_shuffled():
    assert {*COLUMNS} - {*batch_rows.COLUMNS} == {"line", "tag_start", "tag_end"}  # not in a shuffled batch


@pytest.mark.parametrize("cut", range(5))
def test_a_batch_cut_in_two_can_be_joined(batch, cut):
    text = memoryview(batch.text)[: len(TEXT)]
    whole = join_batches([piece_of(batch, 0, cut, text), piece_of(batch, cut, len(batch), text)])
    for name in ("label", "importance", "row_namespace", "namespace_hash", "namespace_start", "feature_hash", "value"):
        assert np.array_equal(getattr(whole, name), getattr(batch, name), equal_nan=name == "label")
    assert [whole.tag(row) for row in range(len(whole))] == [batch.tag(row) for row in range(len(batch))]


def test_a_copy_has_arrays_of_its_own(batch):
    copied = batch.copy()
    for name in COLUMNS:
        assert np.array_equal(getattr(copied, name), getattr(batch, name), equal_nan=name == "label")
        assert not np.shares_memory(getattr(copied, name), getattr(batch, name))
