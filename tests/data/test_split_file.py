"""Text is split into what is learned and what is measured on, and nothing is torn apart or lost."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.shuffle import split_files
from vwlite.errors import DataError, UsageError


def parts(folder, *texts, kind="vw", columns="", pack=bytes):
    paths = [folder / f"data{number}" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(pack(text.encode()))
    (folder / "out").mkdir(exist_ok=True)
    learned, measured = split_files([str(path) for path in paths], kind, columns, folder / "out")
    return [Path(name).read_text() for name in (learned, measured)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_fifth_line_is_measured_on(tmp_path, pack):
    lines = [f"{n} |a x{n}\n" for n in range(12)]
    learned, measured = parts(tmp_path, "".join(lines[:7]), "".join(lines[7:]).rstrip("\n"), pack=pack)
    assert measured.splitlines(True) == [lines[4], lines[9]]
    assert learned.splitlines(True) == [line for n, line in enumerate(lines) if n % 5 != 4]


@given(st.lists(st.integers(1, 4), min_size=5, max_size=23), st.integers(1, 2), st.booleans())
def test_groups_stay_whole(tmp_path_factory, sizes, blanks, ended):
    groups = ["".join(f"{n}:{row} |a g{n}\n" for row in range(size)) for n, size in enumerate(sizes)]
    text = ("\n" * blanks).join(groups) + "\n" * ended
    learned, measured = parts(tmp_path_factory.mktemp("split"), text)
    actual = [[part for part in side.split("\n\n") if part.strip()] for side in (learned, measured)]
    assert [part.strip("\n") for part in actual[1]] == [group.strip("\n") for group in groups[4::5]]
    assert len(actual[0]) + len(actual[1]) == len(groups)


def test_groups_of_several_files_do_not_flow_together(tmp_path):
    text = "1:0 |a b\n2:1 |a c\n\n" * 3
    learned, measured = parts(tmp_path, text.rstrip("\n"), text)
    assert measured == "1:0 |a b\n2:1 |a c\n\n" and learned.count("\n\n") == 5


def test_a_header_goes_to_both_and_queries_stay_whole(tmp_path):
    rows = "".join(f"{n},1\n" for n in range(10))
    learned, measured = parts(tmp_path, f"y,a\n{rows}", f"y,a\n{rows}", kind="csv")
    assert measured == "y,a\n4,1\n9,1\n4,1\n9,1\n" and learned.count("y,a") == 1
    assert parts(tmp_path, rows, kind="csv", columns="no-header label=c1")[1] == "4,1\n9,1\n"
    queries = [f"1 qid:{n} 1:1\n0 qid:{n} 1:2\n" for n in range(5)]
    assert parts(tmp_path, "".join(queries), kind="svmlight")[1] == queries[4]


def test_too_few_examples_and_tables_that_are_no_text(tmp_path):
    with pytest.raises(DataError, match="fewer than 5 examples"):
        parts(tmp_path, "1 |a\n" * 4)
    with pytest.raises(UsageError, match="--test FILE is needed with --format parquet"):
        parts(tmp_path, "", kind="parquet")
