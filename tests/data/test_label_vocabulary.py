import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.batch import LabelVocabulary, tag_of
from vwlite.data.text_format import TextFormat, parse_text, parser_of

TEXT = (
    b"sci.space |w a\n'tag |w b\nrec 2 'tag|w c\n|w d\nsci.space |w e\n\nrec touching|w f\n\xff\xc3 0.5 |w\ntag|w g\n"
)
FORMAT = TextFormat().of_words()


def test_labels_are_numbered_as_they_come_and_tags_are_not_labels():
    book, batch = LabelVocabulary(["rec"]), parse_text(TEXT, FORMAT)
    assert book.numbers(batch).tolist() == [1, -1, 0, -1, 1, -1, 0, 2, -1]
    assert book.texts == ["rec", "sci.space", "\udcff\udcc3"]
    assert [tag_of(batch, row) for row in range(9)] == [b"", b"tag", b"tag", b"", b"", b"", b"touching", b"", b"tag"]
    assert batch.importance.tolist() == [1, 1, 2, 1, 1, 1, 1, 0.5, 1]


@pytest.mark.parametrize("head", [b"a -1", b"a b", b"a 1 2", b"a nan"])
def test_a_label_may_be_followed_by_one_importance(head):
    assert not len(parse_text(head + b" |w x\n", FORMAT))
    assert len(parse_text(head + b" |w x\n", TextFormat(skip_malformed=False).of_words())) == 1


def test_labels_of_svmlight_are_names_too():
    text = b"sci 1:2\n\n3 qid:7 1:1 # x\n1:2 2:1\nsci 4:1\n"
    book, batch = LabelVocabulary(), parse_text(text, FORMAT, parser_of("svmlight"))
    assert book.numbers(batch).tolist() == [0, -1, 1, 0] and book.texts == ["sci", "3"]
    assert not any(tag_of(batch, row) for row in range(4))


WORD = st.sampled_from(["a", "b", "ab", "b'", "\u00e9t\u00e9", "sci.space", "x" * 40, ""])
WORDS = st.lists(WORD, min_size=1, max_size=60)


@given(WORDS, WORDS)
def test_labels_of_several_batches_are_numbered_as_they_come(one, other):
    book, known = LabelVocabulary(), {}
    for words in (one, other):
        batch = parse_text("".join(f"{word} |w a\n" for word in words).encode(), FORMAT)
        numbers = [known.setdefault(word, len(known)) if word else -1 for word in words]
        assert book.numbers(batch).tolist() == numbers
    assert book.texts == list(known)


def test_a_label_outside_the_text_is_an_error():
    batch = parse_text(TEXT, FORMAT)
    batch.tag_end = batch.tag_end + np.uint32(1000)
    with pytest.raises(ValueError, match="outside the text"):
        LabelVocabulary().numbers(batch)
