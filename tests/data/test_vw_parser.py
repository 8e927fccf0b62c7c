"""The text parser against its plain twin ``oracle.parse``, line by line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from vwtext import clean_lines, feature_config, lines, text_options

from vwlite.data.batch import BLANK, SAVE, TAGGED
from vwlite.data.text_format import FULL, Code, TextFormat, Workspace, parser_of
from vwlite.features import feature_plan

PARSE = parser_of("vw")
KINDS = {
    "too many label words": Code.BAD_LABEL_WORDS,
    "not a float": Code.BAD_LABEL_NUMBER,
    "namespace name expected": Code.BAD_NAMESPACE_START,
    "namespace value expected": Code.BAD_NAMESPACE_VALUE,
    "namespace value is NaN": Code.NAN_NAMESPACE_VALUE,
    "space or bar expected": Code.AFTER_FEATURE,
    "bar or end expected": Code.AFTER_NAMESPACES,
    "feature value is NaN": Code.NAN_FEATURE_VALUE,
}


def parse(text, format, size=None):
    """Batch and remarks ``(line, code)`` of a text that ends in a newline, from a workspace for ``size`` bytes."""
    data, workspace = bytearray(text) + bytes(64), Workspace(len(text) if size is None else size, format.names)
    if size == 0:
        workspace.rows, workspace.segments, workspace.features, workspace.max_issues = 2, 5, 16, 1
        workspace.allocate()
    while True:
        status, rows, segments, features, count, remarks = PARSE(data, len(text), format, workspace)
        if status != FULL:
            break
        workspace.grow(remarks)
    assert status == 0
    assert count == text.count(b"\n")
    result = list(zip(workspace.bad_line[:remarks].tolist(), workspace.bad_code[:remarks].tolist(), strict=True))
    return workspace.batch(rows, segments, features, data), result


def text_format(options, skip_malformed):
    return feature_plan.text_format(feature_config(options), skip_malformed=skip_malformed)


def bits(values):
    """Floats as integers, all NaNs alike."""
    values = np.atleast_1d(np.asarray(values, np.float32))
    return np.where(np.isnan(values), np.float32(np.nan), values).view(np.uint32).tolist()


def row_of(batch, row):
    """Everything a batch says of a row, comparable."""
    segments = []
    for segment in range(batch.row_namespace[row], batch.row_namespace[row + 1]):
        part = slice(batch.namespace_start[segment], batch.namespace_start[segment + 1])
        segments.append(
            (
                int(batch.namespace_char[segment]),
                int(batch.namespace_hash[segment]),
                batch.feature_hash[part].tolist(),
                bits(batch.value[part]),
            )
        )
    head = bits([batch.label[row], batch.importance[row], batch.initial_prediction[row]])
    return head, int(batch.flags[row]), batch.tag(row), segments


def row_of_twin(example):
    segments = [
        (segment.char, segment.ns_hash, [h for h, _ in segment.features], bits([v for _, v in segment.features]))
        for segment in example.segments
    ]
    flags = BLANK * example.blank + TAGGED * bool(example.tag) + SAVE * example.is_save
    return bits([example.label, example.importance, example.base]), flags, example.tag, segments


def kinds(example):
    """The remarks of a line: one for all its bad label words."""
    codes = [KINDS[warning] for warning in example.warnings]
    labels = [code for code in codes if code == Code.BAD_LABEL_NUMBER]
    return codes[max(0, len(labels) - 1) :]


def is_bad(example, line):
    """Whether the strict parser must leave the line out."""
    values = [value for segment in example.segments for _, value in segment.features]
    numbers = [example.importance, example.base, *values]
    unlabeled = np.isnan(example.label)
    return bool(
        example.warnings
        or (b"|" not in line and not example.blank)
        or not np.isfinite(numbers).all()
        or not (unlabeled or np.isfinite(example.label))
        or example.importance < 0
    )


def joined(some_lines):
    return b"".join(line + b"\n" for line in some_lines)


@given(st.lists(lines, min_size=1, max_size=5), text_options)
def test_lenient_rows_and_remarks_are_the_twins(some_lines, options):
    batch, remarks = parse(joined(some_lines), text_format(options, skip_malformed=False))
    assert batch.line.tolist() == list(range(len(some_lines)))
    for row, line in enumerate(some_lines):
        example = parse_line(line, options)
        assert row_of(batch, row) == row_of_twin(example), line
        assert [code for at, code in remarks if at == row] == kinds(example), line


@given(st.lists(lines, max_size=6), text_options)
def test_strict_manners_leave_bad_lines_out_whole(some_lines, options):
    format = text_format(options, skip_malformed=True)
    batch, remarks = parse(joined(some_lines), format)
    bad = dict(remarks)
    assert len(bad) == len(remarks)  # one remark a line
    kept = batch.line.tolist()
    assert sorted([*kept, *bad]) == list(range(len(some_lines)))
    for row, number in enumerate(kept):
        example = parse_line(some_lines[number], options)
        assert not is_bad(example, some_lines[number]), some_lines[number]
        assert row_of(batch, row) == row_of_twin(example)
    good = [some_lines[number] for number in kept]
    again, remarks = parse(joined(good), format)
    assert remarks == []
    assert [row_of(again, row) for row in range(len(again))] == [row_of(batch, row) for row in range(len(batch))]


@given(st.lists(clean_lines, min_size=1, max_size=5), text_options)
def test_strict_manners_take_every_clean_line(some_lines, options):
    batch, remarks = parse(joined(some_lines), text_format(options, skip_malformed=True))
    assert remarks == []
    for row, line in enumerate(some_lines):
        assert row_of(batch, row) == row_of_twin(parse_line(line, options))


@given(st.lists(lines, max_size=12), text_options, st.booleans())
def test_any_workspace_gives_the_same(some_lines, options, skip_malformed):
    text, format = joined(some_lines), text_format(options, skip_malformed)
    batch, remarks = parse(text, format)
    small, small_remarks = parse(text, format, size=0)
    assert small_remarks == remarks
    assert [row_of(small, row) for row in range(len(small))] == [row_of(batch, row) for row in range(len(batch))]


@given(st.binary(max_size=400), st.booleans(), st.booleans())
def test_arbitrary_bytes_are_rows_or_bad_lines(noise, skip_malformed, names):
    text = noise + b"\n"
    format = feature_plan.text_format(feature_config(Options()), skip_malformed=skip_malformed, names=names)
    batch, remarks = parse(text, format)
    bad = {line for line, _ in remarks} if skip_malformed else set()
    assert len(batch) + len(bad) == text.count(b"\n")
    assert batch.row_namespace[-1] == len(batch.namespace_char)
    assert batch.namespace_start[-1] == len(batch.value) == len(batch.feature_hash)


def test_a_line_of_many_features_and_many_lines():
    text = b"1 |" + b" x" * 5000 + b"\n" + b"2 |a y|b z\n" * 3000 + b"|a x:1:2\n" * 500
    batch, remarks = parse(text, text_format(Options(), skip_malformed=True), size=0)
    assert len(batch) == 3001
    assert remarks == [(line, Code.AFTER_FEATURE) for line in range(3001, 3501)]
    assert batch.namespace_start[1] == 5000


BOTH = Options(affix="+1a", spelling=b"a")


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (b"\r1 |a x", Options()),  # white space that only the C library's strtof skips
        (b"1 |a x:\r5 y:\x0b5 z:\t5", Options()),
        (b"|a :1 :", Options()),  # the last feature is the second one without a name
        (b"|a :", Options(hash="all")),
        (b"|a :1 :\t", Options()),
        (b"|a :1 :\r\r", Options()),
        (b"|a :0 b", BOTH),  # affixes come first unless the first feature has no name
        (b"|a b:0 :1 c", BOTH),
        (b"|a :t b", BOTH),
        (b"|\x84w x |\x85w y |\x80w z |a y", BOTH),  # numbers of made-up namespaces
        (b"|a " + b"long" * 80 + b" \xff" + b"L0ng." * 80, BOTH),
        (b"|a x" + b"1" * 400 + b" " + b"1" * 400, BOTH),
    ],
)
def test_rare_lines_are_read_as_by_the_twin(line, options):
    batch, _ = parse(line + b"\n", text_format(options, skip_malformed=False))
    assert row_of(batch, 0) == row_of_twin(parse_line(line, options))


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(FLOATS, FLOATS.filter(lambda value: value >= 0), FLOATS, FLOATS.filter(bool))
def test_strict_lines_have_hexadecimal_numbers_wherever_there_are_numbers(label, importance, base, value):
    words = " ".join(number.hex() for number in (label, importance, base))
    text = f"{words} 'tag|a x:{value.hex()} y:{value.hex().upper()}\n|b:{value.hex()} x\n".encode()
    batch, remarks = parse(text, TextFormat())
    assert remarks == []
    assert bits([batch.label[0], batch.importance[0], batch.initial_prediction[0]]) == bits([label, importance, base])
    assert bits(batch.value) == bits([value] * 3)


NO_NUMBERS = b"0x10 0x 0x.p1 0x1p 0x1p+ 0x1.8p-3x 0x1p128 x1p3 0x1pf".split()


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_strict_lines_have_no_other_hexadecimal_numbers(number):
    text = b"1 |a x:%b\n%b |a\n1 %b |a\n|a:%b x\n" % ((number,) * 4)
    batch, remarks = parse(text, TextFormat())
    assert [line for line, _ in remarks] == ([1, 2, 3] if number == b"x1p3" else [0, 1, 2, 3])
    assert len(batch) == (number == b"x1p3")


def test_a_bad_line_is_noted_once():
    text = b"1 |a x\n2 |b x|a:nan\n3 |a:inf\n3 4 5 6 |a:nan x:1:2\nx -1 |a\n4 |a y\n"
    batch, remarks = parse(text, text_format(Options(), skip_malformed=True))
    assert [line for line, _ in remarks] == [1, 2, 3, 4]
    assert batch.label.tolist() == [1, 4]


@pytest.mark.parametrize("slack", [0, 63])
def test_a_block_without_slack_or_newline_is_refused(slack):
    with pytest.raises(ValueError, match="slack"):
        PARSE(bytearray(b"|a\n") + bytes(slack), 3, TextFormat(), Workspace(3))
    with pytest.raises(ValueError, match="newline"):
        PARSE(bytearray(b"|a ") + bytes(64), 3, TextFormat(), Workspace(3))
