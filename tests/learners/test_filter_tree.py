"""Filter trees against a tournament played example by example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.trees import FilterTreeConfig
from vwlite.learners.dyadic import Dyadic
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results
from vwlite.learners.trees import FilterTree

HINGE = LossConfig("hinge")
WORDS = ["a", "b", "c:2", "d", "e"]
lines = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(["", " 2", " 0"]), st.sampled_from(WORDS), st.sampled_from(WORDS)),
    min_size=1,
    max_size=12,
).map(lambda drawn: [f"{label or ''}{weight if label else ''} |u {a} |i {b}".encode() for label, weight, a, b in drawn])
held_out = st.lists(st.integers(0, 1), min_size=12, max_size=12)


def parts(dyadic):
    features = FeatureConfig(bits=8, dotproduct=("ui",) if dyadic else ())
    base = DyadicConfig(loss=HINGE, rank=2, pairs=1) if dyadic else GdConfig(loss=HINGE)
    return features, base


def learn(text, classes, dyadic, held=None, chunk=None):
    features, base = parts(dyadic)
    config = FilterTreeConfig(loss=HINGE, filter_tree=classes, base=base, pairs=int(dyadic), indexing=1)
    learner = FilterTree(config, 8)
    batch, results = parse_text(b"\n".join(text), text_format(features, skip_malformed=True)), Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held[: len(batch)], np.uint8)
    batch.label = learner.labels().check(batch)
    for begin in range(0, len(batch), chunk or len(batch)):
        learner.run(batch, Plan(features), results, begin, min(begin + (chunk or len(batch)), len(batch)))
    return learner, results


def play(text, classes, dyadic, held=None):
    """The nodes' learners and the answers, a contest at a time."""
    features, base = parts(dyadic)
    kind = Dyadic if dyadic else Gd
    nodes = {number: kind(base, 8) for number in range(1, classes)}
    answers, results = [], Results()
    results.reserve(1)
    for row, line in enumerate(text):
        head, _, rest = line.partition(b"|")
        words = head.split()
        costs = [0.0 if words and int(words[0]) == c + 1 else 1.0 for c in range(classes)]
        weight = float(words[1]) if len(words) > 1 else 1.0
        winner = {classes + c: c for c in range(classes)}
        for number in range(classes - 1, 0, -1):
            left, right = winner[2 * number], winner[2 * number + 1]
            apart = costs[left] - costs[right]
            label = f"{1 if apart < 0 else -1} {abs(apart) * weight}" if words else ""
            batch = parse_text(f"{label} |".encode() + rest, text_format(features, skip_malformed=True))
            results.holdout_mask = np.array([held[row]], np.uint8) if held else None
            nodes[number].run(batch, Plan(features), results, 0, 1)
            winner[number] = left if results.raw[0] > 0 else right
        answers.append(winner[1] + 1)
    return nodes, answers


@given(lines, st.integers(2, 5), st.booleans(), st.one_of(st.none(), held_out), st.sampled_from([None, 1, 5]))
def test_the_tournament_is_that_of_single_examples(text, classes, dyadic, held, chunk):
    text = [line if line[:1] in b" " or int(line[:1]) <= classes else b"1" + line[1:] for line in text]
    learner, results = learn(text, classes, dyadic, held, chunk)
    nodes, answers = play(text, classes, dyadic, held)
    assert results.prediction.tolist() == answers
    kept = slice(None if dyadic else 3)  # a slot's last column is scratch
    for number, node in enumerate(learner.nodes, 1):
        assert node.weights[:, kept].tobytes() == nodes[number].weights[:, kept].tobytes()
    given = [line.split(b"|")[0].split() for line in text]
    weights = [float(words[1]) if len(words) > 1 else 1.0 for words in given]
    wrong = [
        weight * (bool(words) and int(words[0]) != answer)
        for words, weight, answer in zip(given, weights, answers, strict=True)
    ]
    assert results.loss.tolist() == wrong


@pytest.mark.parametrize("label", ["0", "3"])
def test_the_first_class_is_told_as_with_one_against_all(label):
    features, base = parts(False)
    learner = FilterTree(FilterTreeConfig(loss=HINGE, filter_tree=3, base=base), 8)
    text = f"1 | a\n{label} | b\n1 | a".encode()
    batch, results = parse_text(text, text_format(features, skip_malformed=True)), Results()
    results.reserve(3)
    batch.label = learner.labels().check(batch)
    learner.run(batch, Plan(features), results, 0, 3)
    first = 0 if label == "0" else 1
    assert learner.get("first") == first and results.raw.tolist() == [1, 1, first]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter_tree": 1}, "takes 2 to 4096 classes"),
        ({"base": GdConfig(loss=LossConfig("poisson"))}, "needs a loss of two classes"),
        ({"binary": True}, "does not go with"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError, match=message):
        FilterTreeConfig(**{"filter_tree": 3, "base": GdConfig(loss=HINGE), **options})
