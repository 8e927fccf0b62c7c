"""Batches of whole groups of lines, whatever the blocks of text they come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data import multiline
from vwlite.data.batch import BLANK, INNER, SHARED
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.multiline import UNKNOWN_COST
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_names import term_names
from vwlite.features.feature_plan import Plan

PIECES = ["1:1 |a x", "2:0 'tag |a y:2 z", "2 |b", "|", "", "", "3:1 |a x |b:2 y", "1:1", "|a nan:nan"]
PIECES += ["shared |s q", "shared tag|"]


def parts_of(folder, texts, skip_malformed=False, names=False, **reading):
    paths = []
    for number, text in enumerate(texts):
        (folder / f"part{number}").write_text(text)
        paths.append(str(folder / f"part{number}"))
    format = TextFormat(skip_malformed=skip_malformed, names=names).of_words(True, True)
    return list(Inputs(InputConfig(paths=tuple(paths), **reading), format).texts())


def seen(parts):
    """List what the rows of all parts are, gaps and remarks in terms of all rows."""
    rows, gaps, remarks, before = [], [], [], 0
    plan = Plan(FeatureConfig())
    for part in parts:
        batch = part.batch
        gaps += [before + gap for gap in part.gaps]
        remarks += [(before + issue.row, part.first_line + issue.line, issue.code) for issue in part.issues]
        for row in range(len(batch)):
            place = part.first_line + int(batch.line[row])
            names = term_names(batch, plan, row) if batch.names else []
            rows.append((float(batch.label[row]).hex(), int(batch.flags[row]), batch.tag(row), place, *names))
        before += len(batch)
    return rows, gaps, remarks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("groups")


TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("\n".join), min_size=1, max_size=3)


@given(
    texts=TEXTS,
    size=st.integers(1, 60),
    threads=st.sampled_from([1, 4]),
    skip_malformed=st.booleans(),
    names=st.booleans(),
)
def test_any_blocks_give_the_same_rows(texts, size, threads, skip_malformed, names, folder):
    expected = seen(parts_of(folder, texts, skip_malformed, names))
    assert seen(parts_of(folder, texts, skip_malformed, names, block_size=size, threads=threads)) == expected


@given(texts=TEXTS, size=st.integers(1, 60))
def test_no_group_crosses_a_batch_or_a_file(texts, size, folder):
    for part in parts_of(folder, texts, block_size=size):
        flags = part.batch.flags
        assert not len(flags) or not flags[-1] & INNER
        assert not (flags[:-1][flags[:-1] & INNER != 0] & BLANK).any()
        assert not (flags[:-1][flags[1:] & SHARED != 0] & INNER).any()


def flags_of(text, folder, **more):
    parts = parts_of(folder, [text], **more)
    return [int(flag) & (BLANK | INNER | SHARED) for part in parts for flag in part.batch.flags]


def test_empty_and_shared_lines_end_a_group(folder):
    assert flags_of("1:1 |a x\n2:0 |a y\n\n\n3:1 |a x\n", folder) == [INNER, 0, BLANK, BLANK, 0]
    assert flags_of("1:1 |a x\n2 |\n2:1 |\n|\n1\n", folder) == [0, BLANK, 0, BLANK, 0]
    assert flags_of("shared |s\n1:1 |a x\n\nshared 'tag |s q\n", folder) == [SHARED | INNER, 0, BLANK, SHARED]
    assert flags_of("1:1 |a x\nsave_x\n2:1 |a y\n", folder) == [0, 0, 0]
    assert [len(part.batch) for part in parts_of(folder, ["1:1 |a x\n", "2:1 |a x"])] == [1, 1]


def test_a_group_that_lost_a_line_is_not_learned(folder):
    text = "1:1 |a x\n\n1:1 |a x\n2:1 |a x:nan\n\nshared |s x:nan\n1:0 |a x\n\n3:0 |a x\n3:1 |a x:nan"
    (part,) = parts_of(folder, [text], skip_malformed=True)
    known = {0: 1, 2: UNKNOWN_COST, 4: UNKNOWN_COST, 6: UNKNOWN_COST}
    assert {row: part.batch.label[row] for row in known} == known
    assert part.gaps == (3, 4, 7)


def test_a_group_without_end_is_refused(folder, monkeypatch):
    monkeypatch.setattr(multiline, "MAX_GROUP_BYTES", 100)
    with pytest.raises(DataError, match="part0:3: a group of lines of more than"):
        parts_of(folder, ["1:1 |a x\n\n" + "1:1 |a x\n" * 30], block_size=20)
