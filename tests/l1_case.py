"""Small corpora in memory, as ``vwlite l1`` sees them, beside their twins."""

import numpy as np
from hypothesis import strategies as st
from oracle import l1 as oracle

from vwlite.data.batch import LabelVocabulary
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.features.config import FeatureConfig
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.examples import Collector, plans
from vwlite.solvers.loglinear.held_out import binary_parts, chain_parts

FEATURES = FeatureConfig(bits=32)
WORDS = "abcd"
WORD_LISTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
TOKEN = st.tuples(st.sampled_from("XYZ"), WORD_LISTS, st.sampled_from("pq"))
CORPUS = st.lists(st.lists(TOKEN, min_size=1, max_size=4), min_size=1, max_size=4)

TAGS = {"the": "B-NP", "cat": "I-NP", "sat": "O", "dog": "I-NP", "a": "B-NP", "ran": "O"}
SENTENCES = "".join(
    "".join(f"{TAGS[word]} |w {word} |p {word[0]}\n" for word in sentence.split()) + "\n"
    for sentence in ["the cat sat", "a dog ran", "the dog sat the cat", "ran", "a cat"] * 8
)


def text_of(corpus, edge=False):
    lines = []
    for number, sequence in enumerate(corpus):
        for label, words, tag in sequence:
            features = " ".join(f"{word}:{1 + number / 2}" if word == "a" else word for word in words)
            lines.append(f"{label} {1 + number % 2} |w {features}" + (f" |e {tag}" if edge else ""))
        lines.append("")
    return "\n".join(lines) + "\n"


def lines_of(text, edge=(), words=True, features=FEATURES, tree=False):
    """``(lines, names)``."""
    book = LabelVocabulary() if words else None
    collector = Collector(*plans(features, edge), book, tree)
    batch = parse_text(text.encode(), TextFormat(words=words))
    return collector.lines(batch), book.texts if book else None


def chain_part(text, model="crf", edge=(), dense=False, features=FEATURES, order=1):
    """The training part of the text."""
    config = L1Config(model=model, edge=edge, dense_pairs=dense, order=order)
    lines, names = lines_of(text, edge, features=features, tree=model == "tree")
    return chain_parts(config, lines, None, 0, names, None)[0]


def binary_part(text):
    lines, _ = lines_of(text, words=False)
    return binary_parts(lines, None, 0, np.zeros(0, np.uint32))[0]


def weight_numbers(pairs):
    """Twin's ``place``: numbers of weights by hashes and labels."""
    state = {}
    for number, (feature, label) in enumerate(zip(pairs.state.feature, pairs.state.label, strict=True)):
        state[int(pairs.state.features[feature]), int(label)] = number
    edge = {}
    for number, (feature, way) in enumerate(zip(pairs.edges.feature, pairs.edges.label, strict=True)):
        edge[int(pairs.edges.features[feature]), int(way)] = pairs.first_edge + number
    histories = pairs.histories.tolist()

    def place(feature, label, before=None, earlier=None):
        if earlier is not None:
            way = earlier * pairs.labels + before
            first = pairs.first_transition + pairs.labels**2
            return first + histories.index(way) * pairs.labels + label if way in histories else None
        if before is None:
            return state.get((feature, label))
        way = before * pairs.labels + label
        return pairs.first_transition + way if feature is None else edge.get((feature, way))

    return place


def terms_at(terms, features, token):
    here = terms.row(token)
    found = {}
    for number, size in zip(terms.indices[here], terms.values[here], strict=True):
        found[int(features[number])] = found.get(int(features[number]), 0.0) + float(size)
    return found


def twins(problem):
    """An ``oracle.Chain`` for each sequence."""
    pairs, place = problem.pairs, weight_numbers(problem.pairs)
    made = []
    for start, end in zip(problem.sequence[:-1].tolist(), problem.sequence[1:].tolist(), strict=True):
        tokens = range(start, end)
        edge = [terms_at(problem.edge, pairs.edges.features, t) if problem.edge is not None else {} for t in tokens]
        made.append(
            oracle.Chain(
                [terms_at(problem.state, pairs.state.features, t) for t in tokens],
                edge,
                pairs.labels,
                problem.label[start:end].tolist(),
                place,
                pairs.transitions,
                problem.tree.parent[start:end].tolist() if problem.tree else None,
            )
        )
    return made
