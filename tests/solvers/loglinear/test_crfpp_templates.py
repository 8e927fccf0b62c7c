"""CoNLL columns to text."""

import pytest

from vwlite.errors import DataError, UsageError
from vwlite.solvers.loglinear.crfpp_templates import (
    CHUNK,
    NER,
    READY,
    ColumnsConfig,
    begun,
    convert,
    read_templates,
    usual,
    within,
)

TEXT = b"The DT B-NP\ncat NN I-NP\n\n\nsat VBD B-VP\n"


def text(template, data=TEXT, **options):
    made, how = read_templates(template), ColumnsConfig(**options)
    return "".join(convert(data.splitlines(keepends=True), "file", lambda columns: made, how))


def test_features_of_each_token_and_an_empty_line_after_each_sentence():
    assert text("U00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nU02:%x[2,1]\nB\n") == (
        "B-NP |U00 The |U01 _B-1/DT |U02 _B+1\n"
        "I-NP |U00 cat |U01 The/NN |U02 _B+2\n"
        "\n"
        "B-VP |U00 sat |U01 _B-1/VBD |U02 _B+2\n"
        "\n"
    )


def test_literal_templates_comments_and_blank_lines():
    assert text("# words\n\n  U1:x%x[0,0]y  \nU2\n").splitlines()[0] == "B-NP |U1 xThey |U2 "


def test_without_labels_the_last_column_is_one_more():
    assert text("U1:%x[0,2]", no := b"a b c\n", no_labels=True) == "|U1 c\n\n" and no


def test_what_the_text_cannot_hold_is_escaped():
    assert text("U:%x[0,0]", b"a:b|c% :\n") == "%3A |U a%3Ab%7Cc%25\n\n"


def test_names_begin_with_any_letter():
    assert text("word:%x[0,0]\nt1:%x[0,1]\n").splitlines()[0] == "B-NP |word The |t1 DT"
    first = [template.name[0] for template in read_templates(CHUNK)]
    assert first.count("w") == first.count("t") == 1 and set(first) == {"U", "w", "t"}


NO_NAMES = ["1:%x[0,0]", "\xe9:%x[0,0]", ":%x[0,0]", "U 1:%x[0,0]"]


@pytest.mark.parametrize("line", [*NO_NAMES, "U1:%x[0]", "U1:%y[0,0]", "U1%x[0,0]", "U1:%x[0,-1]"])
def test_no_template(line):
    with pytest.raises(UsageError, match="line 2 of the template"):
        read_templates(f"U0:%x[0,0]\n{line}\n")


def test_a_name_given_twice():
    with pytest.raises(UsageError, match="two lines named U1"):
        read_templates("U1:%x[0,0]\nU1:%x[1,0]\n")


def test_patterns_of_wapiti():
    assert text("*\n*1:%x[ 0,0]\nb\n", b"Ab X\n") == "X |u1 Ab |b1 Ab\n\n"
    assert text("u:w=%x[0,0]\nu:next w=%X[1,0]\n", b"Ab X\nCD Y\n") == (
        "X |u w=Ab |u next%20w=cd\nY |u w=CD |u next%20w=_B+1\n\n"
    )
    assert text('u:%t[0,0,"^\\u\\u*$"]\nv:%M[0,0,"[A-Z]+"]', b"AB X\nAb Y\n") == "X |u true |v ab\nY |u false |v a\n\n"
    with pytest.raises(UsageError, match="two lines named u:w="):
        read_templates("u:w=%x[0,0]\n*:w=%x[1,0]\n")


@pytest.mark.parametrize(
    ("regex", "found"),
    [
        (r"\u", "A"),
        (r"\l\l", "bc"),
        (r"\a*", "Abc"),
        (r"\p\d", "-1"),
        (r"\L\P", "Ab"),
        (r"\u0062", "b"),
        (r"[\w]*", "Abc"),
    ],
)
def test_classes_of_regular_expressions(regex, found):
    assert text(f'u:%m[0,0,"{regex}"]', b"Abc-1 X\n") == f"X |u {found}\n\n"


def test_the_label_is_no_feature():
    with pytest.raises(DataError, match="column 2"):
        text("U1:%x[0,2]")
    assert len(within(read_templates(CHUNK), 1)) == 7


def test_a_line_of_another_width():
    with pytest.raises(DataError, match="file:2: 2 columns where lines before have 3"):
        text("U1:%x[0,0]", b"a b c\nd e\n")


def test_tokens_without_a_feature_are_lines_too():
    assert text("p:%p[0,0,2]", b"ab\nc\n", no_labels=True) == "|p ab\n|\n\n"
    assert text("p:%p[0,0,2]", b"ab X\nc Y\n") == "X |p ab\nY\n\n"


def test_a_range_makes_a_feature_of_each_length():
    assert text("p:%p[0,0,1-3]/%t[0,0]\ns:%s[0,0,2]", b"Ab X\n") == "X |p A/Aa Ab/Aa |s Ab\n\n"


def test_chunks_nearby():
    chunks = b"the B-NP\nbig I-NP\ndog I-NP\nbarks B-VP\n. O\n! O\n"
    lines = text("k:%k[0,1]\nl:%k[-1,1]\nr:%k[1,1]", chunks, no_labels=True).splitlines()
    assert lines[1] == "|k the big dog |r barks" and lines[3] == "|k barks |l the big dog |r ."
    assert lines[4] == "|k . |l barks |r !"


DOCUMENTS = b"-DOCSTART- O\n\nEU I-ORG\nUN B-ORG\n\n-DOCSTART- O\nto O\n"


def test_marks_between_documents_are_left_out():
    assert text("w:%x[0,0]", DOCUMENTS) == "I-ORG |w EU\nB-ORG |w UN\n\nO |w to\n\n"
    kept = text("w:%x[0,0]", DOCUMENTS, keep_docstart=True)
    assert kept.startswith("O |w -DOCSTART-\n\nI-ORG") and kept.count("DOCSTART") == 2


def test_phrases_begin_with_b():
    assert text("w:%x[0,0]", DOCUMENTS, iob2=True).startswith("B-ORG |w EU\nB-ORG |w UN\n")
    assert begun(["I-A", "I-A", "B-A", "I-B", "O", "I-B"]) == ["B-A", "I-A", "B-A", "B-B", "O", "B-B"]
    assert begun(["i_a", "i_a", "o", "I", "I", "I-"]) == ["b_a", "i_a", "o", "B", "I", "I-"]


def test_plain_lines():
    assert text("w:%x[0,0]\nr:%x[1,0]", b"a  b\t\n\n c\n", lines=True) == "|w a |r b\n|w b |r _B+1\n\n|w c |r _B+1\n\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("U:%y[0,0]", "there is no macro %y"),
        ("U:%p[0,0]", "not like %p\\[0,0,3\\]"),
        ("U:%x[0,0,3]", "not like %x"),
        ("U:%s[0,0,0]", "from 1 to"),
        ("U:%s[0,0,4-2]", "from 1 to"),
        ("U:%p[0,0,1-9999999999]", "from 1 to"),
        ("U:%m[0,0,3]", "not like %m"),
        ('U:%m[0,0,"("]', "not a regular expression"),
        ('U:%m[0,0,"a{99999999999}"]', "not a regular expression"),
        ("U:%p[0,0,x]", "has a % that is not like"),
    ],
)
def test_no_macro(line, said):
    with pytest.raises(UsageError, match=f"line 2 of the template.*{said}"):
        read_templates(f"U0:%x[0,0]\n{line}\n")


def test_sets_that_python_may_read_otherwise_one_day_are_read_without_a_warning():
    assert text('m:%m[0,0,"[[a-z]+"]', b"[ab] X\n") == "X |m [ab\n\n"


def test_ready_made_templates():
    assert usual(1) == NER and usual(2) == usual(3) == CHUNK
    for name, template in READY.items():
        made = text(template, b"U.N. NNP B-NP\n" if name == "chunk" else b"U.N. NNP\n")
        assert made.count("\n") == 2 and "U.N." in made
    assert "|tC A.A. |" in text(NER, b"U.N. NNP\n") and " |sC N. .N. U.N. |" in text(NER, b"U.N. NNP\n")
