"""Comma- and tab-separated values, against Python's reader of them, lines of text and data frames."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.csv_rows import Malformed, row_of
from tabletext import assert_same, formats, line, names_of, parsed

from vwlite.data.batch import BLANK, TAGGED
from vwlite.data.block_parser import read
from vwlite.data.blocks import Block
from vwlite.data.columns import TEXT, TOKENS, WORDS, read_columns
from vwlite.data.csv_table import CsvTable, delimiter_of, detect_columns, header_of
from vwlite.data.table_formats import IDENTIFIERS, find_doubtful, is_counted
from vwlite.data.tables import table_batches
from vwlite.data.text_format import FULL, Code, TextFormat, Workspace, parser_of
from vwlite.errors import DataError, UsageError

HEADER = ["y", "w", "n", "t", "b", "z", "id", "o"]
COLUMNS = "label=y weight=w base=o tag=id user=n:number,t:text text=b:words =z:text"


def parse(text, format, columns=COLUMNS, kind="csv"):
    """``(batch, issues)`` of a table; an issue is ``(line, code, column)``."""
    text += b"\n" * (text[-1:] not in (b"", b"\n"))
    delimiter = delimiter_of(text, kind)
    table = CsvTable(header_of(text, delimiter, "here"), read_columns(columns), delimiter, format, "here")
    data, workspace = bytearray(text) + bytes(64), Workspace(0, format.names)
    while True:
        arguments = table.arguments(Block(data, len(text), "", 0))
        status, rows, segments, features, lines, bad = parser_of(kind)(data, len(text), format, workspace, *arguments)
        if status != FULL:
            break
        workspace.grow(bad)
    assert status == 0
    assert lines == text.count(b"\n")
    result = zip(*(getattr(workspace, f"bad_{name}")[:bad].tolist() for name in ("line", "code", "at")), strict=True)
    issues = [(number, code, at - (text.rfind(b"\n", 0, at) + 1)) for number, code, at in result]
    return workspace.batch(rows, segments, features, workspace.whole_text(data, len(text))), issues


def expected(text, format, columns, delimiter):
    """The batch of the lines that say the same, and the numbers of malformed lines."""
    lines = text.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    placed = read_columns(columns).placed(HEADER, "here")
    rows, bad = {}, []
    for number, content in enumerate(lines[1:], 1):
        try:
            rows[number] = row_of(content, HEADER, delimiter, placed, format.words)
        except Malformed:
            bad.append(number)
    made = [line("'x ", row.blocks) if not row.blank else "" for row in rows.values()]
    batch = parsed(made, TextFormat(format.hash_all, format.hash_seed, names=format.names)) if made else None
    return rows, bad, batch


def assert_agrees(text, format, columns=COLUMNS, kind="csv"):
    result, issues = parse(text, format, columns, kind)
    rows, bad, batch = expected(text, format, columns, delimiter_of(text, kind))
    assert [issue[0] for issue in issues] == bad
    assert result.line.tolist() == list(rows)
    if not rows:
        return
    given_rows = list(rows.values())
    labels = [np.nan if row.label is None else 1 if format.words else row.label for row in given_rows]
    assert np.array_equal(result.label, np.array(labels, np.float32), equal_nan=True)
    assert result.importance.tolist() == [np.float32(row.importance) for row in given_rows]
    assert result.initial_prediction.tolist() == [np.float32(row.base) for row in given_rows]
    assert result.flags.tolist() == [BLANK * row.blank | TAGGED * bool(row.tag) for row in given_rows]
    for number, row in enumerate(given_rows):
        span = [row.label] if format.words and row.label else []
        span += ["'" * bool(span) + row.tag] if row.tag else []
        assert result.tag(number).decode("utf-8", "surrogateescape") == " ".join(span)
    for name in ("label", "importance", "initial_prediction", "flags", "line", "tag_start", "tag_end"):
        setattr(batch, name, getattr(result, name))
    batch.text, text_of = result.text, batch.text
    found_names, batch_names = result.names, batch.names
    result.names = batch.names = None
    assert_same(result, batch)
    if found_names:
        result.names, batch.names, batch.text = found_names, batch_names, text_of
        assert names_of(result) == names_of(batch)


numbers = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(width=32).map(repr),
    st.floats(-9, 9).map("{:.4f}".format),
    st.sampled_from(
        ["", " 7 ", "-0", "+1", "1.", ".5", "1e3", "2E-2", "0.7", "123456789", "12345678.1234567",
         "1234567890.12345678",
         "00000000000000000000001.5", "9007199254740993", "1e-45", "1e39", "1e400", "nan", "NA", "null", "None", "n/a",
         "true", "FALSE", "inf", "-Infinity", "1e", "-", ".", "1e+", "0x10", "1 2", "x", "1,5", "e5", "++1"]
    ),
)  # fmt: skip
texts = st.one_of(
    st.sampled_from(
        ["", "red", "12", "-", "1e5", "nano", "inf", "a:b", "a b|c", " x", "é", "exactly15letter", "exactly16letters",
         "123456789012345", "1234567890123456", "2017-11-07 09:30:38", "x" * 300, "\x01x", "x\x01", "E", "n",
         '"', "a\rb", "The END\u2019s near, DON'T: A b C3 x_y", "ÉTÉ ÀÇ", "ΣΑΣ ЁЖ",
         "İI \u212a\u1e9e", "cafe\u0301s", "\U0001f600hi"]
    ),
    st.text(),
).map(lambda text: text.replace("\n", ""))  # fmt: skip
labels = st.one_of(numbers, st.sampled_from(["", "1", "-1", "spam", "'x", "a|b"]))
tags = st.sampled_from(["", "", "r1", "a b", "é", "save", "x|y", "'q"])


def quoted(cell, delimiter, always=False):
    special = always or delimiter in cell or cell.startswith('"')
    return '"' + cell.replace('"', '""') + '"' if special else cell


@st.composite
def lines(draw, delimiter=","):
    cells = [
        draw(labels),
        draw(st.sampled_from(["", "1", "2.5", "0", "-1", "x"])),
        draw(numbers),
        draw(texts),
        draw(st.lists(texts, max_size=3).map(" ".join)),
        draw(texts),
        draw(tags),
        draw(st.sampled_from(["", "0.25"])),
    ]
    if not draw(st.integers(0, 15)):
        cells = cells[: draw(st.integers(0, 9))] + ["more"] * draw(st.integers(0, 2))
    text = delimiter.join(quoted(cell, delimiter, draw(st.booleans())) for cell in cells)
    return draw(st.sampled_from(["", "", "", "\ufeff"])) + text + draw(st.sampled_from(["", "", "", "\r"]))


junk = st.text('",;\r xa1é', max_size=30)
word_formats = st.builds(TextFormat, words=st.booleans(), names=st.booleans(), hash_all=st.booleans())


@given(st.lists(st.one_of(lines(), lines(), junk, st.just("")), max_size=8), st.one_of(formats, word_formats))
def test_rows_are_those_of_the_twin(some, format):
    text = "\n".join([",".join(HEADER), *some]).encode("utf-8", "surrogatepass") + b"\n"
    assert_agrees(text, format, COLUMNS.replace("base", "ignore") if format.words else COLUMNS)


@given(st.lists(st.one_of(lines(), lines(), junk), max_size=8), st.one_of(formats, word_formats))
def test_words_in_lower_case_agree_with_the_twin(some, format):
    text = "\n".join([",".join(HEADER), *some]).encode("utf-8", "surrogatepass") + b"\n"
    columns = COLUMNS.replace("b:words", "t:tokens,b:tokens").replace("user=n:number,t:text", "user=n:number")
    assert_agrees(text, format, columns.replace("base", "ignore") if format.words else columns)


@given(st.lists(lines("\t"), max_size=5), formats)
def test_tabs_part_fields_as_commas_do(some, format):
    text = "\n".join(["\t".join(HEADER), *some]).encode("utf-8", "surrogatepass") + b"\n"
    assert_agrees(text, format, kind="tsv")


@given(st.sampled_from(";|\t"), st.data(), formats)
def test_the_first_line_tells_what_parts_fields(mark, data, format):
    some = data.draw(st.lists(lines(mark), max_size=5))
    text = "\n".join([mark.join(HEADER), *some]).encode("utf-8", "surrogatepass") + b"\n"
    assert_agrees(text, format)


@pytest.mark.parametrize(
    ("first", "delimiter"),
    [
        *[("a,b", ","), ("a;b", ";"), ("a|b", "|"), ("a\tb", "\t"), ("a", ","), ('"a;b"', ","), ("a;b,c", ",")],
        *[("1,5;2;x", ";"), ("-,5;1", ";"), ("1,5;a,b", ","), ("1 |a b", ","), ("a;b|c", ";"), ('"a', ","), ("", ",")],
    ],
)
def test_the_delimiter_is_that_of_the_first_line(first, delimiter):
    for text in (f"{first}\n1,2\n", f"\ufeff{first}\r\n"):
        assert delimiter_of(text.encode(), "csv") == delimiter
    assert delimiter_of(first.encode() + b"\n", "tsv") == "\t"


def test_decimal_commas_make_numbers_between_semicolons():
    head = b'price;area;town;n\n1,5;"10,25";a,b;1.5\n-,5;;"Bonn";2\n'
    assert (
        detect_columns(head, "csv", read_columns("label=price"), "").shown()
        == "label=price =area:number,town:text,n:number"
    )
    bad = b"1.234,5;1;x;1\n1;1,2,3;x;1\n1;" + b"1" * 80 + b",5;x;1\n"
    batch, issues = parse(head + bad, TextFormat(), "label=price =area:number ignore=*")
    assert batch.label.tolist() == [1.5, -0.5] and batch.value.tolist() == [10.25]
    assert [(number, code) for number, code, _ in issues] == [
        (3, Code.BAD_LABEL_NUMBER),
        (4, Code.BAD_CELL),
        (5, Code.BAD_CELL),
    ]


@given(st.binary(max_size=60), formats)
def test_any_bytes_are_a_row_or_malformed(data, format):
    text = ",".join(HEADER).encode() + b"\n" + data + b"\n"
    assert_agrees(text, format)


frame_cells = {
    "n": st.none() | st.floats(-1e9, 1e9) | st.sampled_from([0.0, 0.1, 0.7, 1e-40]),
    "t": st.none() | st.text(st.characters(exclude_characters='\n\r\0"', codec="utf-8"), min_size=1),
    "z": st.none() | st.sampled_from(["red", "12", "a b", "é"]),
    "y": st.none() | st.sampled_from([0.0, 1.0, 0.3]),
    "id": st.none() | st.sampled_from(["r1", "é"]),
}


@given(st.lists(st.fixed_dictionaries(frame_cells), min_size=1, max_size=5), formats)
def test_rows_are_those_of_a_data_frame(rows, format):
    pa = pytest.importorskip("pyarrow")
    kinds = {name: pa.float64() if name in "ny" else pa.string() for name in frame_cells}
    table = pa.table({name: pa.array([row[name] for row in rows], kinds[name]) for name in frame_cells})
    given_columns = {"y": "y", "tags": "id", "namespaces": {"user": ["n", "t"]}}
    (frame,) = table_batches(table, **given_columns, text_format=format)
    shown = [["" if row[name] is None else quoted(str(row[name]), ",", True) for name in frame_cells] for row in rows]
    text = "\n".join([",".join(frame_cells), *map(",".join, shown)]).encode() + b"\n"
    actual, issues = parse(text, format, "label=y tag=id user=n:number,t:text =z:text")
    assert not issues
    assert actual.line.tolist() == list(range(1, len(rows) + 1))
    actual.line = frame.line
    actual.names, names = None, actual.names
    frame.names, frame_names = None, frame.names
    assert_same(actual, frame)
    assert (names is None) == (frame_names is None)


def test_malformed_lines_are_told_by_code_and_column():
    text = b"""y,w,n,t,b,z,id,o
1,1,5
1,1,5,t,b,z,id,0,more
1,1,"5,t,b,z,id,0
1,1,5,"t"x,b,z,id,0
1,1,five,t,b,z,id,0
1,1,inf,t,b,z,id,0
one,1,5,t,b,z,id,0
1,-1,5,t,b,z,id,0
1,1,5,t,b,z,i d,x
1,1,5,t,b,z,id,
"""
    batch, issues = parse(text, TextFormat())
    assert len(batch) == 1
    assert issues == [
        *[(1, Code.BAD_FIELDS, 5), (2, Code.BAD_FIELDS, 17), (3, Code.OPEN_QUOTE, 4), (4, Code.AFTER_QUOTE, 9)],
        *[(5, Code.BAD_CELL, 4), (6, Code.NOT_FINITE, 4), (7, Code.BAD_LABEL_NUMBER, 0), (8, Code.BAD_IMPORTANCE, 2)],
        (9, Code.BAD_CELL, 16),
    ]
    _, issues = parse(text, TextFormat().of_words(), COLUMNS.replace("base", "ignore"))
    assert issues[-1] == (9, Code.BAD_TAG, 12)


def test_a_label_of_several_words_is_a_list_or_one_class():
    text = b"y,id\n1:0.5 2:1,r\na b,r\n"
    batch, issues = parse(text, TextFormat().of_words(lists=True), "label=y tag=id")
    assert not issues and [batch.tag(row) for row in range(2)] == [b"1:0.5 2:1 'r", b"a b 'r"]
    batch, issues = parse(text, TextFormat().of_words(), "label=y tag=id")
    assert not issues and [batch.tag(row) for row in range(2)] == [b"1:0.5_2:1 'r", b"a_b 'r"]
    batch, issues = parse(b"y,id\n'a,r\n", TextFormat().of_words(), "label=y tag=id")
    assert [(number, code) for number, code, _ in issues] == [(1, Code.BAD_LABEL_NAME)]


@pytest.mark.parametrize("size", [1, 30, 1 << 19])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_and_threads_do_not_matter(tmp_path, size, threads):
    rows = "".join(f'{i % 2},"a ""{i}"", b",{i / 7}\n' for i in range(200))
    text = ("\ufeffy,t,n\n" + rows).replace("\n", "\r\n").encode().removesuffix(b"\r\n")
    (tmp_path / "one.csv").write_bytes(text)
    (tmp_path / "two.csv.gz").write_bytes(gzip.compress(b"n,skip,t,y\n" + b"3,5,x,1\n"))
    paths = [str(tmp_path / "one.csv"), str(tmp_path / "two.csv.gz")]
    columns = str(detect_columns(b"y,t,n\n1,x,1\n", "csv", read_columns("label=y"), "").kept(read_columns("")))
    rows, lines = [], []
    for part in read(paths, TextFormat(), "csv", columns=columns, threads=threads, block_size=size):
        assert not part.issues
        for row in range(len(part.batch)):
            first, last = part.batch.row_namespace[[row, row + 1]]
            begin, end = part.batch.namespace_start[[first, last]]
            rows.append((part.batch.label[row], *part.batch.value[begin:end].tolist()))
            lines.append(part.first_line + int(part.batch.line[row]))
        part.batch.release()
    assert lines == [*range(1, 201), 1]
    assert rows == [*((i % 2, 1, *([float(np.float32(i / 7))] if i else [])) for i in range(200)), (1, 3, 1)]


def test_the_first_look_tells_numbers_from_text():
    head = b"a,b,c,d,e,,f\n1,x,,true,1e5,9,2017-01-02\n 2 ,3,nan,no,.5,9,\nshort\n"
    actual = detect_columns(head, "csv", read_columns("label=a"), "here")
    assert str(actual) == "label=a =b:text,c:number,d:text,e:number,f:text ignore=*"
    assert actual.shown() == "label=a =b:text,c:number,d:text,e:number,f:text"
    again = read_columns(str(actual.kept(read_columns(""))))
    assert again == actual.kept(read_columns("")) and again.is_typed
    assert str(again.placed(["e", "new", "b", "c", "d", "f"], "x").typed({})) == (
        "=e:number,b:text,c:number,d:text,f:text ignore=new,*"
    )


@pytest.mark.parametrize(
    ("head", "columns", "message"),
    [
        (b"", "", "t.csv: there is no first line with the names of the columns"),
        (b"\n1,2\n", "", "t.csv: there is no first line with the names of the columns"),
        (b"a,b,a\n", "", "t.csv has two columns 'a'"),
        (b"a,b\n", "label=c", "t.csv has no column 'c' (it has a, b)"),
        (b"click,b\n", "label=clicks", "t.csv has no column 'clicks' (it has click, b; did you mean click?)"),
        (b'a,"b\n', "", "t.csv:1: the names of the columns cannot be read: a quote is not closed; line breaks"),
        (b'a,"b"c\n', "", "the names of the columns cannot be read: a quote is not closed, or text follows it"),
        (b"a,b\rc\n", "", "t.csv:1: the names of the columns cannot be read: there is a carriage return among them"),
        (b"a" * 140_000 + b",b\n", "", "the names of the columns cannot be read: one is longer than 131072 characters"),
        (b"1 'tag |a b c\n", "", "t.csv:1: a line of Vowpal Wabbit text, not the names of columns: --format vw"),
        (b"|a b c\n", "", "t.csv:1: a line of Vowpal Wabbit text, not the names of columns: --format vw"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(head, columns, message):
    with pytest.raises(DataError) as error:
        detect_columns(head, "csv", read_columns(columns), "t.csv")
    assert message in str(error.value)


def test_features_made_of_names_and_groups_are_refused():
    affix = np.zeros(256, np.uint64)
    affix[97] = 5
    for format in (TextFormat(affix=affix), TextFormat().of_words(True, groups=True)):
        with pytest.raises(UsageError):
            CsvTable(["a"], read_columns("=a:number"), ",", format, "")


def test_types_are_as_the_kernel_numbers_them():
    columns = read_columns("=a:number,b:text,c:words,d:tokens")
    table = CsvTable(["a", "b", "c", "d"], columns, ",", TextFormat(), "")
    assert table.type.tolist()[:4] == [0, 1, 2, 3]
    assert (TEXT, WORDS, TOKENS) == ("text", "words", "tokens")


class Counted(str):
    """A name that counts how often one is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_the_time_of_a_header_grows_with_its_columns(monkeypatch):
    """It does not grow with their square."""
    names = [Counted(f"c{number}") for number in range(2000)]
    for module in ("csv_table", "table_formats"):
        monkeypatch.setattr(f"vwlite.data.{module}.header_of", lambda *_: names)
    head = b"\n" + b",".join([b"12"] * 2000) + b"\n"
    asked = read_columns("label=c7 weight=c8 user=" + ",".join(f"c{number}" for number in range(20, 1000)))
    monkeypatch.setattr(Counted, "compared", 0)
    actual = detect_columns(head, "csv", asked, "")
    kept = read_columns(str(actual.kept(asked)))
    CsvTable(names, kept, ",", TextFormat(), "")
    find_doubtful(head, "csv", actual, asked)
    assert sum(map(len, kept.spaces.values())) == 1998
    assert Counted.compared < 20 * len(names)


@pytest.mark.parametrize(
    ("header", "cell", "told"),
    [
        ("n", lambda i: str(i % 21), True),
        ("n", lambda i: str(i % 21) if i % 2 else "", True),
        ("n", lambda i: str(i % 20), False),
        ("n", lambda i: f"{i}.0", False),
        ("n", lambda i: str(-i), False),
        ("n", lambda i: f"x{i}", False),
        ("n", lambda i: str(i) if i > 1000 else "", False),
        ("User_ID", lambda i: str(i % 3), True),
        ("zip", lambda i: str(i % 2), True),
        ("channel", lambda i: "7", True),
        ("ip", lambda i: "", False),
        ("id", lambda i: str(i / 4), False),
        ("width", lambda i: str(i % 3), False),
        ("identity", lambda i: str(i % 3), False),
    ],
)
def test_columns_of_whole_numbers_may_be_identifiers(header, cell, told):
    head = f"y,{header}\n".encode() + b"".join(f"{i},{cell(i)}\n".encode() for i in range(2000))

    def identifiers(columns):
        asked = read_columns(columns)
        return find_doubtful(head, "csv", detect_columns(head, "csv", asked, ""), asked)[IDENTIFIERS]

    assert identifiers("label=y") == ([header] if told else [])
    assert identifiers(f"label=y ={header}:number") == identifiers("label=y =*:number") == []


def test_a_table_without_rows_has_no_numbers_of_rows():
    assert not is_counted([])
    assert is_counted(["0", "1", "2"]) and is_counted(["1", "2", "3"]) and not is_counted(["0", "1"])
