"""CoNLL columns to text."""

import pytest

from vwlite.errors import DataError, UsageError
from vwlite.solvers.loglinear.crfpp_templates import DEFAULT, convert, read_templates, within

TEXT = b"The DT B-NP\ncat NN I-NP\n\n\nsat VBD B-VP\n"


def text(template, lines=TEXT, **options):
    return "".join(convert(lines.splitlines(keepends=True), "file", read_templates(template), **options))


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
    assert text("U1:%x[0,2]", no := b"a b c\n", labels=False) == "|U1 c\n\n" and no


def test_what_the_text_cannot_hold_is_escaped():
    assert text("U:%x[0,0]", b"a:b|c% :\n") == "%3A |U a%3Ab%7Cc%25\n\n"


def test_names_begin_with_any_letter():
    assert text("word:%x[0,0]\nt1:%x[0,1]\n").splitlines()[0] == "B-NP |word The |t1 DT"
    first = [template.name[0] for template in read_templates(DEFAULT)]
    assert first.count("w") == first.count("t") == 1 and set(first) == {"U", "w", "t"}


NO_NAMES = ["1:%x[0,0]", "\xe9:%x[0,0]", ":%x[0,0]", "U 1:%x[0,0]"]


@pytest.mark.parametrize("line", [*NO_NAMES, "U1:%x[0]", "U1:%y[0,0]", "U1%x[0,0]", "U1:%x[0,-1]"])
def test_no_template(line):
    with pytest.raises(UsageError, match="line 2 of the template"):
        read_templates(f"U0:%x[0,0]\n{line}\n")


def test_a_name_given_twice():
    with pytest.raises(UsageError, match="two lines named U1"):
        read_templates("U1:%x[0,0]\nU1:%x[1,0]\n")


def test_the_label_is_no_feature():
    with pytest.raises(DataError, match="column 2"):
        text("U1:%x[0,2]")
    assert len(within(read_templates(DEFAULT), 1)) == 7


def test_a_line_of_another_width():
    with pytest.raises(DataError, match="file:2: 2 columns where lines before have 3"):
        text("U1:%x[0,0]", b"a b c\nd e\n")
