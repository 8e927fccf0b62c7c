"""``CRFTagger``: the models of ``vwlite l1 --model crf``, of sequences of dicts and of lines."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.utils import check_random_state

from vwlite.errors import DataError, UsageError
from vwlite.sklearn import CRFTagger

WORDS = "the/B-NP dog/I-NP barks/O|a/B-NP cat/I-NP sleeps/O here/O|she/B-NP sees/O the/B-NP cat/I-NP||it/B-NP sleeps/O"
PAIRS = [[word.split("/") for word in line.split()] for line in WORDS.split("|")] * 4
LINES = [[f"|w {word} |e {'x' if at else 'first'}" for at, (word, _) in enumerate(pairs)] for pairs in PAIRS]
DICTS = [[{"w": [word], "e": {"x" if at else "first": 1}} for at, (word, _) in enumerate(pairs)] for pairs in PAIRS]
LABELS = [[label for _, label in pairs] for pairs in PAIRS]
WEIGHT = np.arange(len(PAIRS)) % 3 + 1
SETTINGS = {
    "default": (CRFTagger(), []),
    "owlqn": (CRFTagger(solver="owlqn", tolerance=1e-4, passes=9), "--solver owlqn --tolerance 1e-4 --passes 9"),
    "warm": (CRFTagger(solver="owlqn", warm_passes=3, passes=4), "--solver owlqn --warm_passes 3 --passes 4"),
    "set": (
        CRFTagger(penalty="clipping", rate="harmonic", learning_rate=0.3, passes=5, dense_pairs=True, edge=["e"]),
        "--penalty clipping --rate harmonic -l 0.3 --passes 5 --dense-pairs --edge e",
    ),
    "in order": (CRFTagger(C=0.1, shuffle=False, decay=0.7), "--no-shuffle --decay_learning_rate 0.7"),
    "held out": (
        CRFTagger(C=0.1, early_stopping=True, validation_fraction=0.25, n_iter_no_change=2),
        "--holdout 4 --early_terminate 2",
    ),
    "rows": (CRFTagger(C=0.3, group=True), "--group"),
    "proximal": (CRFTagger(C=0.3, solver="fista", group=True), "--solver fista --group"),
    "two labels": (CRFTagger(C=0.1, order=2), "--order 2"),
    "perceptron": (CRFTagger(loss="perceptron"), "--loss perceptron"),
    "mira": (
        CRFTagger(loss="mira", cost="hamming", aggressiveness=0.1, passes=4),
        "--loss mira --cost hamming --aggressiveness 0.1 --passes 4",
    ),
    "margin": (CRFTagger(C=0.1, loss="margin", cost="zero-one"), "--loss margin --cost zero-one"),
    "dense": (CRFTagger(C=0, l2=0.1, solver="owlqn"), "--l2 0.1"),
    "ridge": (CRFTagger(C=0, l2=0.1), "--l2 0.1 --solver sgd"),
    "dual": (CRFTagger(loss="margin", l2=0.1, gap=0.01), "--loss margin --l2 0.1 --gap 0.01"),
}


def test_lists_of_names():
    """As python-crfsuite takes them; a name that is named twice has the value 2."""
    lists = [[[f"w={word}", f"e:{at > 0}", "bias", "bias"] for at, (word, _) in enumerate(pairs)] for pairs in PAIRS]
    dicts = [[{name: row.count(name) for name in row} for row in rows] for rows in lists]
    fitted = CRFTagger(C=0.1).fit(lists, LABELS)
    assert fitted.model_.dumps() == CRFTagger(C=0.1).fit(dicts, LABELS).model_.dumps()
    tuples = [[*map(tuple, rows)] for rows in lists]
    assert fitted.predict(tuples) == fitted.predict(dicts) == LABELS
    with pytest.raises(DataError, match="a list of features has names, not int"):
        fitted.predict([[["w=the", 0]]])


@pytest.mark.parametrize("sequences", [LINES, DICTS], ids=["lines", "dicts"])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_that_of_the_command(name, sequences, run_here, tmp_path):
    estimator, options = SETTINGS[name]
    fitted = clone(estimator).fit(sequences, LABELS, sample_weight=WEIGHT)
    (tmp_path / "data.vw").write_text(text())
    seed = ["--seed", str(check_random_state(0).randint(2**31))] if estimator.solver == "sgd" else []
    options = options.split() if options else []
    run_here(
        "l1", tmp_path / "data.vw", "-f", tmp_path / "model", "--model", "crf", "--quiet",
        *(() if estimator.C == 1 else ("--l1", str(estimator.C))),
        *seed, *options,
    )
    assert fitted.model_.dumps() == (tmp_path / "model").read_bytes()


def text():
    blocks = (
        "".join(f"{label} {weight} {line}\n" for line, label in zip(lines, labels, strict=True))
        for lines, labels, weight in zip(LINES, LABELS, WEIGHT, strict=True)
    )
    return "\n".join([*blocks, ""])


def test_answers_are_of_the_sequences():
    fitted = CRFTagger(C=0.1).fit(LINES, LABELS)
    assert fitted.predict(LINES) == fitted.predict(DICTS) == LABELS
    marginals = fitted.predict_marginals(LINES)
    assert [len(one) for one in marginals] == [len(labels) for labels in LABELS]
    best = [fitted.classes_[one.argmax(axis=1)].tolist() for one in marginals]
    assert best == LABELS and np.allclose(np.concatenate(marginals).sum(axis=1), 1)
    assert fitted.classes_.tolist() == ["B-NP", "I-NP", "O"] and fitted.n_iter_ == 30
    assert fitted.transitions_.argmax(axis=1)[0] == 1  # I-NP after B-NP
    assert fitted.predict([]) == [] and fitted.predict([[], []]) == [[], []]


def test_what_stands_before_the_features_of_a_line_is_not_used():
    labelled = [[f"WRONG 3 'tag{line}" for line in lines] for lines in LINES]
    of_bytes = [[line.encode() for line in lines] for lines in LINES]
    expected = CRFTagger().fit(LINES, LABELS)
    for other in (labelled, of_bytes):
        actual = CRFTagger().fit(other, LABELS)
        assert actual.model_.dumps() == expected.model_.dumps() and actual.predict(other) == expected.predict(LINES)


def test_scores():
    fitted = CRFTagger(C=0.1).fit(LINES, LABELS)
    assert fitted.score(LINES, LABELS) == 1
    assert fitted.score(LINES[:1], [["B-NP", "O", "O"]]) == 0
    assert fitted.score([LINES[0], LINES[4]], [["B-NP", "O", "O"], ["B-NP", "O"]]) == 0.5
    words = [["DET" if label[0] == "B" else "X" for label in labels] for labels in LABELS]
    assert CRFTagger(C=0.1).fit(LINES, words).score([LINES[4]], [["DET", "DET"]]) == 0.5


@pytest.mark.parametrize("kinds", [(3, 1, 2), (True, False, True), (1.0, 2.0, 7.0)])
def test_labels_may_be_numbers(kinds):
    by_name = dict(zip(("B-NP", "I-NP", "O"), kinds, strict=True))
    numbers = [[by_name[label] for label in labels] for labels in LABELS]
    fitted = CRFTagger(C=0.1).fit(DICTS, numbers)
    assert fitted.predict(DICTS) == numbers and type(fitted.predict(DICTS)[0][0]) is type(kinds[0])
    assert fitted.classes_.tolist() == sorted({*kinds}) and fitted.score(DICTS, numbers) == 1


@pytest.mark.parametrize("loss", ["perceptron", "mira", "margin"])
def test_the_best_sequence_alone_has_no_probabilities(loss):
    fitted = CRFTagger(loss=loss).fit(LINES, LABELS)
    assert fitted.predict(LINES) == LABELS and fitted.score(LINES, LABELS) == 1
    with pytest.raises(UsageError, match=f"--loss {loss}"):
        fitted.predict_marginals(LINES)


def test_order_two_has_the_same_transitions_and_triples_beside_them():
    fitted = CRFTagger(C=0.1, order=2).fit(LINES, LABELS)
    assert fitted.predict(DICTS) == LABELS and fitted.transitions_.shape == (3, 3)


@pytest.mark.parametrize("loss", ["log", "mira"])
def test_a_warm_start_goes_on(loss):
    fitted = CRFTagger(loss=loss, passes=3, warm_start=True).fit(LINES, LABELS)
    before, first = fitted.model_.dumps(), fitted.n_iter_
    assert fitted.fit(LINES, LABELS).n_iter_ == 2 * first and fitted.model_.dumps() != before


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (["|w the"], [["O"]], DataError, "sequence 0: expected a list of dicts or lines, not str"),
        ([["|w a"], {"w": "a"}], [["O"], ["O"]], DataError, "sequence 1: expected a list of dicts or lines, not dict"),
        ([["|w the"]], [["O", "O"]], DataError, "sequence 0: y has 2 labels for 1 rows"),
        ([["|w the"]], [["O"], ["O"]], DataError, "y has labels of 2 sequences, X has 1 sequences"),
        ([["|w the"], ["|w:x a"]], [["O"], ["B"]], DataError, "row 2, column 5: "),
        ([["|w the", "", "|w a"]], [["O", "O", "B"]], DataError, "there is an empty line within a sequence"),
        ([["|w the", 5]], [["O", "B"]], DataError, "row 1: expected a line of text, not int"),
        ([["|w the", "|w a"]], [["O", "two words"]], DataError, "label 'two words' is not one word"),
    ],
)
def test_refusals(X, y, error, message):
    with pytest.raises(error) as raised:
        CRFTagger().fit(X, y)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1}, "--l1"),
        ({"solver": "adam"}, "--solver: 'adam' is not one of sgd, owlqn, fista"),
        ({"loss": "hinge"}, "--loss: 'hinge' is not one of log, perceptron, mira, margin"),
        ({"loss": "perceptron", "C": 2}, "--l1 does nothing with --loss perceptron"),
        ({"loss": "mira", "group": True}, "--group does nothing with --loss mira"),
        ({"cost": "hamming"}, "--cost does nothing without --loss mira or --loss margin"),
        ({"l2": 0.1}, "--l2 and --l1 together need --solver owlqn or fista"),
        ({"warm_passes": 3}, "--warm_passes does nothing without --solver owlqn"),
        ({"order": 3}, "--order takes 1 or 2, not 3"),
        ({"early_stopping": True, "validation_fraction": 0.7}, "validation_fraction is a number above 0 and up to 0.5"),
    ],
)
def test_parameters_are_checked_in_fit(parameters, message):
    with pytest.raises(UsageError) as raised:
        CRFTagger(**parameters).fit(LINES, LABELS)
    assert message in str(raised.value)


def test_phrases_are_counted_by_their_scheme():
    words = [[f"|w {word}" for word in "nagp"]] * 4
    fitted = CRFTagger(C=0.1).fit(words, [["B-M", "I-M", "I-M", "E-M"]] * 4)
    neighbours = [["B-M", "E-M", "B-M", "E-M"]] * 4
    assert fitted.score(words, neighbours) == 0
    assert fitted.set_params(scheme="none").score(words, neighbours) == 0.5
    with pytest.raises(UsageError, match="--scheme bilou has labels"):
        fitted.set_params(scheme="bilou").score(words, neighbours)
