"""SVMlight text to batches, against the plain reader of ``oracle.svmlight``."""

import gzip
import json
import re
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.svmlight import parse_line

from vwlite.data.batch import BLANK, TAGGED
from vwlite.data.text_format import FULL, Code, TextFormat, Workspace, parse_text, parser_of
from vwlite.errors import UsageError

PARSE = parser_of("svmlight")


def parse(text, **options):
    """``(batch, remarks)`` of the text; a remark is ``(line, code, at, from)``."""
    format = TextFormat(**options)
    text += b"\n" * (text[-1:] not in (b"", b"\n"))
    data, workspace = bytearray(text) + bytes(64), Workspace(0, format.names)
    while True:
        status, rows, segments, features, lines, bad = PARSE(data, len(text), format, workspace)
        if status != FULL:
            break
        workspace.grow(bad)
    assert status == 0
    assert lines == text.count(b"\n")
    columns = ("bad_line", "bad_code", "bad_at", "bad_from")
    remarks = zip(*(getattr(workspace, name)[:bad].tolist() for name in columns), strict=True)
    return workspace.batch(rows, segments, features, memoryview(data)), list(remarks)


def bits(number):
    return int(np.float32(number).view(np.uint32))


def row_of(batch, i):
    """Everything a row holds, as plain numbers and bytes."""
    segments = [
        (
            int(batch.namespace_char[j]),
            int(batch.namespace_hash[j]),
            batch.feature_hash[batch.namespace_start[j] : batch.namespace_start[j + 1]].tolist(),
            batch.value[batch.namespace_start[j] : batch.namespace_start[j + 1]].view(np.uint32).tolist(),
        )
        for j in range(batch.row_namespace[i], batch.row_namespace[i + 1])
    ]
    numbers = bits(batch.label[i]), bits(batch.importance[i]), bits(batch.initial_prediction[i])
    return (*numbers, int(batch.flags[i]), batch.tag(i), segments)


def row_of_example(example):
    segments = [
        (s.char, s.ns_hash, [hash for hash, _ in s.features], [bits(value) for _, value in s.features])
        for s in example.segments
    ]
    flags = BLANK * example.blank | TAGGED * bool(example.tag)
    numbers = bits(example.label), bits(example.importance), bits(example.base)
    return (*numbers, flags, example.tag, segments)


def expected(text, hash_mode="strings", hash_seed=0):
    """``(rows, bad)``: what a row holds by its line, and the malformed lines."""
    rows, bad = {}, []
    for number, line in enumerate(text.removesuffix(b"\n").split(b"\n") if text else []):
        try:
            example = parse_line(line, hash_mode, hash_seed)
        except ValueError:
            bad.append(number)
        else:
            rows |= {number: row_of_example(example)} if example else {}
    return rows, bad


def assert_agrees(text, hash_mode="strings", hash_seed=0):
    batch, remarks = parse(text, hash_all=hash_mode == "all", hash_seed=hash_seed)
    rows, bad = expected(text, hash_mode, hash_seed)
    assert [remark[0] for remark in remarks] == bad
    assert {int(batch.line[i]): row_of(batch, i) for i in range(len(batch))} == rows


numbers = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(-(2.0**100), 2.0**100, width=32).map(repr),
    st.floats(-9, 9).map("{:.4f}".format),
    st.sampled_from(["0", "-0", "+1", "1.", ".5", "1e3", "2E-2", "1e+2", "0.000000"]),
)
indices = st.one_of(st.integers(0, 130), st.integers(0, 2**70)).map(str)
gaps = st.sampled_from([" ", " ", "\t", "  ", " \t "])


@st.composite
def valid_lines(draw):
    words = [draw(numbers)]
    if draw(st.booleans()):
        words.append("qid:" + draw(st.text("019abé|:'", min_size=1, max_size=4)))
    words += [f"{index}:{value}" for index, value in draw(st.lists(st.tuples(indices, numbers), max_size=8))]
    line = draw(st.sampled_from(["", "", " ", "\ufeff"])) + words[0]
    line += "".join(draw(gaps) + word for word in words[1:])
    return (line + draw(st.sampled_from(["", "", " ", "#", " # 1:2", "\r"]))).encode()


oddities = st.sampled_from(
    b"0 1 -1 +1 1,3 nan inf 1e39 1e - + . 1e5 0x1p3 qid: qid:7 qid:a:b 1:1 2:0 3:-0.5 4: :4 5 a:1 +6:1 7:x 8:1:2 "
    b"9:nan 10:-inf 11:1e39 12:1e 13:- 14:. 15:0x10 16:1#17:2 # #1:1 | a|b \x00 18:1\x00 \xff \xef\xbb\xbf".split(b" ")
)
odd_lines = st.lists(st.tuples(oddities, gaps.map(str.encode)), max_size=6).map(
    lambda pairs: b"".join(word + gap for word, gap in pairs)
)
junk = st.binary(max_size=20).map(lambda line: line.replace(b"\n", b""))
files = st.lists(st.one_of(valid_lines(), odd_lines, junk), max_size=12)


@given(st.lists(valid_lines(), max_size=12), st.sampled_from(["strings", "all"]), st.sampled_from([0, 7]))
def test_valid_lines_are_read_as_the_oracle_reads_them(lines, hash_mode, hash_seed):
    text = b"\n".join(lines)
    assert expected(text)[1] == []
    assert_agrees(text, hash_mode, hash_seed)


@given(files, st.sampled_from([b"\n", b"\r\n"]))
def test_malformed_lines_are_left_out_and_no_others(lines, newline):
    assert_agrees(b"".join(line + newline for line in lines))


@given(st.text(alphabet="01:.#-e qidnafx|,\t\r\n\ufeff", max_size=80).map(str.encode))
def test_any_text_is_read_as_the_oracle_reads_it(text):
    assert_agrees(text)


SETS = {b"1,0 2:3": b"1,0", b" 2:3 4:5": b"", b"2:3": b"", b"qid:7 2:3": b"", b" , 2:3": b",", b"\t2:3 # none": b""}


def test_a_line_of_sets_that_begins_with_a_feature_has_the_empty_set():
    batch, remarks = parse(b"# multilabel\n" + b"\n".join(SETS), words=True, lists=True)
    assert remarks == [] and batch.label.tolist() == [1.0] * len(SETS)
    assert [batch.tag(row) for row in range(len(batch))] == [*SETS.values()]
    assert np.diff(batch.namespace_start).tolist() == [1, 2, 1, 1, 1, 1]
    _, remarks = parse(b" 2:3", words=True)
    assert [code for _, code, _, _ in remarks] == [Code.BAD_LABEL_NUMBER]


def to_vw(line):
    """The Vowpal Wabbit line of a valid SVMlight line."""
    words = line.partition(b"#")[0].removeprefix(b"\xef\xbb\xbf").split()
    tag = b"'" + words.pop(1)[4:] if len(words) > 1 and words[1].startswith(b"qid:") else b""
    return b"%s %s| %s" % (words[0], tag, b" ".join(words[1:]))


@given(
    st.lists(valid_lines().filter(lambda line: b"|" not in line), min_size=1, max_size=8),
    st.booleans(),
    st.sampled_from([0, 7]),
)
def test_same_batch_as_the_converted_text(lines, hash_all, hash_seed):
    batch, _ = parse(b"\n".join(lines), hash_all=hash_all, hash_seed=hash_seed)
    format = TextFormat(hash_all=hash_all, hash_seed=hash_seed)
    other = parse_text(b"".join(to_vw(line) + b"\n" for line in lines), format)
    assert len(batch) == len(lines)
    assert [row_of(batch, i) for i in range(len(batch))] == [row_of(other, i) for i in range(len(other))]


def members(model):
    with zipfile.ZipFile(model) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("options", [[], ["--hash", "all", "--hash_seed", "7", "-q", "::"]])
def test_same_model_as_from_the_converted_text(run_here, tmp_path, options):
    lines = [b"%d qid:%d 1:%d.5 7:-2 %d:1e-1 9:0 # c" % (i % 3, i // 5, i, 10**i) for i in range(20)]
    (tmp_path / "a.svm").write_bytes(b"# a comment\n" + b"\n".join(lines))
    (tmp_path / "a.vw").write_bytes(b"\n".join(map(to_vw, lines)))
    run_here("train", "a.svm", "--format", "svmlight", "-f", "svm.model", *options)
    run_here("train", "a.vw", "-f", "vw.model", *options)
    ours, theirs = members(tmp_path / "svm.model"), members(tmp_path / "vw.model")
    headers = [json.loads(model.pop("header.json")) for model in (ours, theirs)]
    assert ours == theirs
    assert [header["model"].pop("kind") for header in headers] == ["svmlight", "vw"]
    assert headers[0] == headers[1]


@pytest.mark.parametrize(
    ("line", "code", "at"),
    [
        (b"foo 1:1", Code.BAD_LABEL_NUMBER, 0),
        (b"1,3 5:1", Code.BAD_LABEL_NUMBER, 0),
        (b" 5:1 6:1", Code.BAD_LABEL_NUMBER, 1),
        (b"- 1:1", Code.BAD_LABEL_NUMBER, 0),
        (b"nan 1:1", Code.BAD_LABEL_NUMBER, 0),
        (b"inf 1:1", Code.NOT_FINITE, 0),
        (b"1 qid: 1:1", Code.BAD_VALUE, 6),
        (b"1 1:1 qid:3", Code.BAD_INDEX, 6),
        (b"1 x:1", Code.BAD_INDEX, 2),
        (b"1 -3:1", Code.BAD_INDEX, 2),
        (b"1 :1", Code.BAD_INDEX, 2),
        (b"1 1:1 2 3:1", Code.EXPECTED_COLON, 6),
        (b"1 1:1 2# 3:1", Code.EXPECTED_COLON, 6),
        (b"1 1: 3:1", Code.BAD_VALUE, 4),
        (b"1 1:\r", Code.BAD_VALUE, 4),
        (b"1 1:#2", Code.BAD_VALUE, 4),
        (b"1 1:2:3", Code.BAD_VALUE, 4),
        (b"1 1:0x10", Code.BAD_VALUE, 4),
        (b"1 1:0x1p3 2:0x1p", Code.BAD_VALUE, 12),
        (b"1 1:nan", Code.NOT_FINITE, 4),
        (b"1 1:1e39", Code.NOT_FINITE, 4),
    ],
)
def test_malformed_lines_are_named_and_placed(line, code, at):
    batch, remarks = parse(b"1 1:1\n" + line + b"\n2 2:2", skip_malformed=False)
    start = 6 + len(line) - len(line.lstrip())
    assert remarks == [(1, code, 6 + at, start)]
    assert batch.line.tolist() == [0, 2]
    assert batch.feature_hash.tolist() == [1, 2]


def test_comments_are_no_rows_and_blank_lines_are():
    batch, remarks = parse(b"# head\n1 1:1 # tail\n\n \t\r\n  #\n2")
    assert remarks == []
    assert batch.line.tolist() == [1, 2, 3, 5]
    assert batch.flags.tolist() == [0, BLANK, BLANK, 0]
    np.testing.assert_array_equal(batch.label, np.float32([1, np.nan, np.nan, 2]))


def test_names_of_features_are_kept_on_request():
    batch, _ = parse(b"1 qid:q 007:2 8:0 9:1#", names=True)
    names = batch.names
    typed = [bytes(batch.text[i:j]) for i, j in zip(names.start, names.end, strict=True)]
    assert typed == [b"007", b"9"]
    assert batch.feature_hash.tolist() == [7, 9]
    assert names.kind.tolist() == names.detail.tolist() == [0, 0]
    assert names.namespace_start.tolist() == names.namespace_end.tolist()
    assert parse(b"1 1:1")[0].names is None


def test_workspace_grows_to_what_the_text_needs():
    long = b"1 " + b" ".join(b"%d:1" % i for i in range(5000))
    batch, remarks = parse(b"\n".join([long, *[b"2"] * 3000, *[b"x"] * 900]), names=True)
    assert len(batch) == 3001
    assert len(remarks) == 900
    assert batch.feature_hash.tolist() == list(range(5000))


def test_options_of_names_are_refused():
    affix = np.zeros(256, np.uint64)
    affix[32] = 3
    with pytest.raises(UsageError, match="only numbers"):
        parse(b"1 1:1", affix=affix)
    with pytest.raises(UsageError, match="vw, svmlight"):
        parser_of("xml")
    with pytest.raises(ValueError, match="slack"):
        PARSE(bytearray(66), 3, TextFormat(), Workspace(3))
    with pytest.raises(ValueError, match="newline"):
        PARSE(bytearray(b"1") + bytes(64), 1, TextFormat(), Workspace(1))


def test_adult_is_read_whole(data_dir):
    source = data_dir / "a9a" / "a9a.gz"
    if not source.is_file():
        pytest.skip(f"{source} is not there")
    text = gzip.decompress(source.read_bytes())
    batch, remarks = parse(text)
    assert remarks == []
    assert len(batch) == 32561
    assert np.unique(batch.label).tolist() == [-1, 1]
    indices = np.array(re.findall(rb"(\d+):1\b", text), np.uint32)
    np.testing.assert_array_equal(batch.feature_hash, indices)
    assert (batch.value == 1).all()


def test_learning_to_rank_data(data_dir):
    source = data_dir / "mq2008" / "Fold1" / "test.txt.gz"
    if not source.is_file():
        pytest.skip(f"{source} is not there")
    text = gzip.decompress(source.read_bytes())
    batch, remarks = parse(text)
    assert remarks == []
    lines = text.splitlines()
    assert [batch.tag(i) for i in range(len(batch))] == [line.split()[1][4:] for line in lines]
    assert_agrees(b"\n".join(lines[::50]))
