"""Shards are the lines of all files, each line once, in order; groups of lines are whole."""

import gzip
import os
import re
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.distributed import plan as module
from vwlite.distributed.plan import AVERAGED, END_OF_GROUP, next_start, plan
from vwlite.errors import InputMissing, UsageError
from vwlite.learners import config_class

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=12)
ENDS = st.sampled_from([b"\n", b"\r\n", b""])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shards")


def text_of(piece):
    with open(piece.path, "rb") as file:
        return file.read()[piece.begin : piece.end]


@given(st.lists(st.tuples(LINES, ENDS), min_size=1, max_size=3), st.integers(1, 9))
def test_shards_in_order_are_all_text_cut_at_lines(folder, files, of):
    paths, texts = [], []
    for number, (lines, end) in enumerate(files):
        text = b"\n".join(b"x" + line for line in lines) + (end if lines else b"")
        paths.append(str(folder / f"{number}.vw"))
        (folder / f"{number}.vw").write_bytes(text)
        texts.append(text)
    total = sum(map(len, texts))
    shards = plan(paths, of)
    assert [shard.number for shard in shards] == list(range(1, of + 1)) and {shard.of for shard in shards} == {of}
    assert b"".join(text_of(piece) for shard in shards for piece in shard.pieces) == b"".join(texts)
    assert sum(shard.size for shard in shards) == total
    starts = {path: sum(map(len, texts[:number])) for number, path in enumerate(paths)}
    for shard in shards:
        for piece in shard.pieces:
            begin = piece.begin
            assert starts[piece.path] + begin >= total * (shard.number - 1) // of
            last = text_of(piece).rstrip(b"\n").rfind(b"\n") + 1
            assert starts[piece.path] + begin + last < total * shard.number // of
            assert begin == 0 or (folder / os.path.basename(piece.path)).read_bytes()[begin - 1 : begin] == b"\n"


def test_lines_are_where_their_first_bytes_are(tmp_path):
    (tmp_path / "a").write_bytes(b"12345678\n1\n2\n")
    shards = plan([str(tmp_path / "a")], 4)  # cuts at 3, 6 and 9
    assert [[text_of(piece) for piece in shard.pieces] for shard in shards] == [[b"12345678\n"], [], [], [b"1\n2\n"]]


@given(st.lists(st.sampled_from([b"a", b"bb", b" ", b"", b"\r", b"c\r"])), st.booleans(), st.integers(1, 5))
def test_groups_are_cut_behind_a_blank_line_alone(folder, lines, ended, searched):
    text = b"\n".join(lines) + b"\n" * ended
    path = folder / "groups.vw"
    path.write_bytes(text)
    with open(path, "rb") as file, patch.object(module, "SEARCHED", searched):
        for place in range(len(text) + 1):
            behind = (q for q in range(place, len(text)) if re.search(rb"\n\r?\n\Z", text[:q]))
            expected = next(behind, len(text)) if place else 0
            assert next_start(file, place, len(text), END_OF_GROUP) == expected


def test_a_group_belongs_to_the_shard_in_which_it_begins(tmp_path):
    (tmp_path / "a").write_bytes(b"1 |\n2 |\n\n" * 3 + b"1 |\n")
    shards = plan([str(tmp_path / "a")], 4, groups=True)  # cuts at 7, 15 and 23
    group = b"1 |\n2 |\n\n"
    assert [[text_of(piece) for piece in shard.pieces] for shard in shards] == [[group], [group], [group], [b"1 |\n"]]
    (tmp_path / "a").write_bytes(b"1 |\n" * 9)
    assert [len(shard.pieces) for shard in plan([str(tmp_path / "a")], 3, groups=True)] == [1, 0, 0]


def test_the_page_names_every_learner_that_is_averaged():
    page = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
    options = {f"`--{option}`" for name in AVERAGED for option in config_class(name).selected_by}
    assert {option for option in options if option not in page} == set()


def test_a_compressed_file_is_whole_where_its_middle_lies(tmp_path):
    (tmp_path / "a").write_bytes(b"x\n" * 50)
    (tmp_path / "b.gz").write_bytes(gzip.compress(os.urandom(300)))
    shards = plan([str(tmp_path / "a"), str(tmp_path / "b.gz"), str(tmp_path / "a")], 4)
    actual = [[os.path.basename(piece.path) for piece in shard.pieces] for shard in shards]
    assert sum(names.count("b.gz") for names in actual) == 1 and "b.gz" in actual[1] + actual[2]
    assert actual[0] == ["a"] and actual[3] == ["a"]


def test_pipes_and_devices_are_refused(tmp_path):
    with pytest.raises(UsageError, match="which <stdin> is not"):
        plan(["-"], 2)
    with pytest.raises(UsageError, match="which /dev/null is not"):
        plan(["/dev/null"], 2)
    with pytest.raises(InputMissing, match="no such file"):
        plan([str(tmp_path / "none")], 2)
