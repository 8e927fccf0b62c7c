"""Labels of the same word in the sequences before."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import label_viterbi
from tests.oracle.recall import given_before
from vwlite.data.batch import offsets
from vwlite.data.block_parser import read
from vwlite.data.malformed_lines import BadLines
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.label_features import VALUE, Decoder, Recall, label_features, labels_given, recalled_space
from vwlite.solvers.aso.tagger import one_by_one

SIZES = st.lists(st.integers(1, 3), min_size=1, max_size=12)


@given(seed=st.integers(0, 2**32 - 1), sizes=SIZES, most=st.integers(1, 5))
def test_labels_are_those_that_a_look_at_all_examples_finds(seed, sizes, most):
    rng = np.random.default_rng(seed)
    sequence, count = offsets(sizes), sum(sizes)
    words, labels = rng.integers(4, size=count).astype(np.uint64), rng.integers(-1, 3, size=count)
    found = labels_given(words, labels, sequence, most)
    assert found.tolist() == given_before(words.tolist(), labels.tolist(), sequence.tolist(), most)


@given(seed=st.integers(0, 2**32 - 1), sizes=SIZES, most=st.integers(1, 5), cuts=st.sets(st.integers(1, 11)))
def test_sequences_are_decoded_with_what_was_found_before_in_whatever_parts(seed, sizes, most, cuts):
    rng = np.random.default_rng(seed)
    sequence, count, labels = offsets(sizes), sum(sizes), 3
    words = rng.integers(4, size=count).astype(np.uint64)
    score = rng.normal(size=(count, labels)).astype(np.float32)
    pair = rng.normal(size=(count, labels + 1, labels)).astype(np.float32)
    table = rng.normal(size=(labels + 1, labels)).astype(np.float32)
    table[-1] = 0
    allowed = np.ones((labels + 1, labels), np.uint8)
    expected = []
    for begin, end in zip(sequence[:-1].tolist(), sequence[1:].tolist(), strict=True):
        before = given_before(words[:end], [*expected, *[0] * (end - begin)], sequence[sequence <= end], most)
        own = slice(begin, end)
        expected += label_viterbi.best(score[own] + table[before[own]], pair[own], None, allowed)[0]
    recall, found = Recall(most), []
    edges = [0, *sorted(cut for cut in cuts if cut < len(sizes)), len(sizes)]
    for first, last in pairwise(edges):
        own = slice(sequence[first], sequence[last])
        piece = score[own], sequence[first : last + 1] - sequence[first], pair[own]
        found += one_by_one(Decoder(allowed), piece, recall.meet(words[own]), recall, table).tolist()
    assert found == expected


def test_words_are_what_examples_have_in_the_namespace(tmp_path):
    path = tmp_path / "text.vw"
    path.write_text("|w a b |v c\n|w b a |v d\n|v a b\n|w a\n|w2 a\n| w:3 |w a:2\n")
    corpus = Corpus(BadLines(None, None), space="w")
    corpus.take(part.batch for part in read([str(path)], text_format(), threads=1))
    words = corpus.words.tolist()
    assert words[0] == words[1] != words[3] and words[2] == words[4] == 0 and words[3] == words[5]
    assert not len(Corpus(BadLines(None, None)).words)


def test_rows_of_training_are_scored_as_tables_do():
    from tests.solvers.aso.test_label_features import WORDS, rows_of

    features = label_features(("y1", "y-prev*w"), 3, WORDS)
    rows = rows_of(np.random.default_rng(1), 4)
    given_labels, first = np.array([2, -1, 0, 1]), np.array([3, 0, -1, 1])
    more = features.added(rows, first, first, len(WORDS), given_labels).terms
    new = more.indices >= len(WORDS)
    weights = np.random.default_rng(2).normal(size=(int(features.starts[-1]), 3)).astype(np.float32)
    expected = np.zeros((4, 3))
    np.add.at(expected, more.owner[new], np.float32(VALUE) * weights[more.indices[new] - len(WORDS)])
    table = np.concatenate((weights[:4] * np.float32(VALUE), np.zeros((1, 3))))
    assert np.allclose(expected, table[first] + features.recalled(weights)[given_labels], atol=1e-6)
    assert recalled_space("y1,y-prev*w") == "w" and recalled_space("y1*w") is recalled_space(None) is None
