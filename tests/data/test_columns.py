"""What ``--columns`` says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.columns import IGNORE, Column, Columns, read_columns
from vwlite.errors import DataError, UsageError

names = st.one_of(st.sampled_from(["a", "b c", "x:y", 'say "hi"', "=", ",", "é", "?", "*"]), st.text(min_size=1))


@given(st.lists(names, min_size=5, max_size=5, unique=True), st.sampled_from(["", "user", "a b"]), st.booleans())
def test_columns_written_as_text_are_read_back(given_names, space, all_others):
    label, one, two, three, four = given_names
    columns = Columns(
        {"label": Column(label, optional=True)},
        {space: (Column(one, "text"), Column(two)), "other": (Column(three, "words", True),)},
        (four,),
        IGNORE if all_others else "",
    )
    assert read_columns(str(columns)) == columns


def test_items_are_roles_and_namespaces():
    columns = read_columns(
        ' label=click user=age,city:text user=zip?  ="annual income":number ignore=id,day text=*:text'
    )
    assert columns == Columns(
        {"label": Column("click")},
        {
            "user": (Column("age"), Column("city", "text"), Column("zip", "", True)),
            "": (Column("annual income", "number"),),
            "text": (),
        },
        ("id", "day"),
        "text",
        "text",
    )
    assert read_columns("") == Columns({}, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("click", "--columns: expected items like label=click user=age,city:text, not 'click'"),
        ("user=a, b=c", "--columns: expected items like label=click user=age,city:text, not 'user=a, b=c'"),
        (
            "label='a b'",
            '--columns: expected items like label=click user=age,city:text, not "b\'"; a name with '
            'blanks stands in double quotes, as in label="a b"',
        ),
        ("label=a,b", '--columns: label is one column; several numbers for --outputs stand in one cell, as "2.5,7"'),
        (
            "label=a label=b",
            '--columns: label is one column; several numbers for --outputs stand in one cell, as "2.5,7"',
        ),
        ("tag=a,b", "--columns: tag is one column"),
        ("label=*", "--columns: label=* is not possible: label is one column"),
        ("user=a item=a", "--columns: column 'a' is named twice"),
        ("user=* item=*", "--columns: column '*' is named twice"),
        ("label=a:text", "--columns: label=a:text: a type goes with columns that are features"),
        ("user=a:txt", "--columns: 'txt' is not one of number, text, words, tokens (did you mean text?)"),
        ('user="a', "--columns: expected items like label=click user=age,city:text, not 'user=\"a'"),
    ],
)
def test_wrong_columns_are_refused(text, message):
    with pytest.raises(UsageError) as error:
        read_columns(text)
    assert str(error.value) == message


def test_columns_are_placed_in_the_order_of_the_table():
    columns = read_columns("label=y user=c,w:words,a ignore=i item=z?")
    placed = columns.placed(["i", "a", "", "w", "rest", "c", "y"], "here")
    assert str(placed) == "label=y =rest user=a,c,w:words ignore=i,*"
    assert str(placed.kept(columns)) == "label=y? =rest user=a,c,w:words ignore=*"
    asked = read_columns("tag=id user=late:text?,never? other=z:words?")
    kept = read_columns("user=a:text").placed(["a"], "here").kept(asked)
    assert str(kept) == "tag=id? user=a:text,late:text? other=z:words? ignore=*"


def test_columns_that_are_not_there_or_twice_are_refused():
    with pytest.raises(DataError, match="here has no column 'y' "):
        read_columns("label=y").placed(["x"], "here")
    with pytest.raises(DataError, match="here has two columns 'x'"):
        read_columns("").placed(["x", "x"], "here")
    assert read_columns("label=y?").placed(["x", "", ""], "here").roles == {}
