"""``ASOTransformer``: Theta of ``vwlite aso learn``, of lines, dicts, frames and tables, and its features."""

import random

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwlite.errors import DataError, UsageError
from vwlite.sklearn import ASOTransformer, TextHasher


@parametrize_with_checks([ASOTransformer(), ASOTransformer(aux=["freq-k:2"], dim=2, unit=False, positive=False)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


CHOICE = random.Random(3)
TOPICS = np.array([0, 1, 2] * 40)
WORDS = [[f"w{topic * 6 + CHOICE.randrange(8)}" for _ in range(6)] for topic in TOPICS]
LINES = [f"|w {' '.join(words)} |l {words[0]}" for words in WORDS]
DICTS = [{"w": words, "l": [words[0]]} for words in WORDS]
NAMES = [f"c{topic}" if row < 60 else None for row, topic in enumerate(TOPICS)]
SETTINGS = {
    "default": (ASOTransformer(), None, ""),
    "set": (
        ASOTransformer(
            aux=["freq-k:2", "mask:l"],
            dim=4,
            dims={"l": 2},
            max_problems=9,
            min_count=3,
            iterations=2,
            positive=False,
            loss="logistic",
            penalty=1e-3,
            learning_rate=0.2,
            passes=2,
            unit=False,
        ),
        None,
        "--aux mask:l --dim 4 --dim l=2 --max-problems 9 --min-count 3 --iterations 2 --no-positive "
        "--loss_function logistic --lambda 1e-3 -l 0.2 --passes 2 --no-unit",
    ),
    "grouped": (ASOTransformer(groups=[["w", "l"]], dim=3), None, "--group w,l --dim 3"),
    "labelled": (ASOTransformer(aux=["top-k:2"], dim=3), NAMES, "--dim 3 --labeled data.vw"),
    "lists": (
        ASOTransformer(aux=["multi-k:1"], dim=3),
        [name and [name, "all"] for name in NAMES],
        "--dim 3 --labeled data.vw --multilabel",
    ),
    "own problems": (ASOTransformer(aux=["labels"], dim=3), [[topic, 3] for topic in TOPICS], "--dim 3"),
}


def text_of(label, line):
    return f"{','.join(map(str, label)) if isinstance(label, list) else label or ''} {line}\n"


@pytest.mark.parametrize("rows", [LINES, DICTS], ids=["lines", "dicts"])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_that_of_the_command(name, rows, run_here, tmp_path, monkeypatch):
    estimator, y, options = SETTINGS[name]
    fitted = clone(estimator).fit(rows, y)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.vw").write_text("".join(map(text_of, y or [None] * 120, LINES)))
    seed = str(check_random_state(0).randint(2**31))
    aux = ["--aux", estimator.aux[0]]
    run_here("aso", "learn", "data.vw", "-f", "theta", "--seed", seed, "--quiet", *aux, *options.split())
    assert fitted.model_.dumps() == (tmp_path / "theta").read_bytes()


def test_lines_have_labels_of_their_own():
    own = [text_of(label, line) for label, line in zip(NAMES, LINES, strict=True)]
    given = ASOTransformer(aux=["top-k:1"], dim=2).fit(LINES, NAMES)
    assert ASOTransformer(aux=["top-k:1"], dim=2).fit(own).model_.dumps() == given.model_.dumps()
    assert ASOTransformer(aux=["top-k:1"], dim=2).fit(own, NAMES).model_.dumps() == given.model_.dumps()
    ignored = ASOTransformer(dim=2).fit(LINES, TOPICS)
    assert ignored.model_.dumps() == ASOTransformer(dim=2).fit(LINES).model_.dumps()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_a_frame(kind):
    library = pytest.importorskip(kind, reason=f"{kind} is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = library.DataFrame({"w": WORDS, "l": [words[0] for words in WORDS]})
    rows = [{"w": words, "l": {"l": words[0]}} for words in WORDS]
    fitted = ASOTransformer(namespaces={"l": ["l"]}, dim=4).fit(frame)
    expected = ASOTransformer(dim=4).fit(rows)
    assert kind == "polars" or fitted.feature_names_in_.tolist() == ["w", "l"]
    assert fitted.features_ == expected.features_ and np.array_equal(fitted.transform(frame), expected.transform(rows))


TABLE = CountVectorizer(dtype=np.float32).fit_transform([" ".join(words) for words in WORDS])


def test_tables_have_a_component_for_each_column():
    fitted = ASOTransformer(dim=4, unit=False).fit(TABLE)
    assert fitted.components_.shape == (8, TABLE.shape[1]) and fitted.components_.dtype == np.float32
    features = fitted.transform(TABLE)
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, TABLE @ fitted.components_.T, atol=1e-5)
    assert np.array_equal(ASOTransformer(dim=4, unit=False).fit(TABLE.toarray()).transform(TABLE.toarray()), features)
    lines = ["| " + " ".join(f"{j}:{x}" for j, x in zip(row.indices, row.data, strict=True)) for row in TABLE]
    assert ASOTransformer(dim=4, unit=False).fit(lines).model_.dumps() == fitted.model_.dumps()
    assert np.all(np.diff(fitted.singular_values_.reshape(2, 4)) <= 0)  # of both halves


def test_a_frame_of_numbers_is_a_table():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(TABLE.toarray()).add_prefix("word")
    fitted = ASOTransformer(dim=4).fit(frame)
    assert fitted.model_.dumps() == ASOTransformer(dim=4).fit(TABLE).model_.dumps()
    assert fitted.feature_names_in_[0] == "word0"


def test_every_row_has_features():
    fitted = ASOTransformer(dim=3).fit(LINES)
    assert fitted.transform(["|w w1", "", "spam 0 |w w2", "|w new"]).shape == (4, 12)
    assert np.array_equal(fitted.transform(["|w w1", ""])[1], np.zeros(12))
    assert np.allclose(2 * fitted.transform(LINES), fitted.set_params(scale=2).transform(LINES))


def test_names_and_output_as_a_frame():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    fitted = ASOTransformer(dim=2).fit(LINES)
    assert fitted.get_feature_names_out().tolist() == [f"asotransformer{number}" for number in range(8)]
    frame = fitted.set_output(transform="pandas").transform(LINES)
    assert isinstance(frame, pandas.DataFrame) and frame.columns.tolist() == fitted.get_feature_names_out().tolist()


def test_a_union_of_words_and_shared_features():
    shared = FrozenEstimator(ASOTransformer(aux=["freq-k:3"], dim=3).fit(LINES))
    union = FeatureUnion([("words", TextHasher(bits=12)), ("shared", shared)])
    model = make_pipeline(union, LogisticRegression()).fit(LINES[:6], TOPICS[:6])
    alone = make_pipeline(TextHasher(bits=12), LogisticRegression()).fit(LINES[:6], TOPICS[:6])
    assert model.score(LINES[6:], TOPICS[6:]) > alone.score(LINES[6:], TOPICS[6:])
    whole = make_pipeline(CountVectorizer(), FeatureUnion([("same", "passthrough"), ("more", ASOTransformer(dim=3))]))
    assert whole.fit_transform([" ".join(words) for words in WORDS]).shape == (120, TABLE.shape[1] + 6)


@pytest.mark.parametrize(
    ("parameters", "X", "y", "error", "message"),
    [
        ({"aux": ["often"]}, LINES, None, UsageError, "--aux is freq"),
        ({"dim": 0}, LINES, None, UsageError, "--dim takes numbers of 1 or more"),
        ({"loss": "poisson"}, LINES, None, UsageError, "--loss_function: 'poisson' is not one of"),
        ({"aux": ["top-k:1"]}, LINES, None, DataError, "classes"),
        ({"namespaces": {"w": ["a"]}}, LINES, None, UsageError, "namespaces: these are of data frames"),
        ({"aux": ["top-k:1"]}, LINES, NAMES[:5], (DataError, ValueError), ""),
        ({}, ["|w a", "no bar"], None, DataError, "row 1, column 0: no '|'"),
        ({}, "|w a", None, DataError, "expected an iterable of lines, not a single text"),
        ({}, np.ones((1, 4)), None, ValueError, "1 sample"),
    ],
)
def test_refusals_of_fit(parameters, X, y, error, message):
    with pytest.raises(error) as raised:
        ASOTransformer(**parameters).fit(X, y)
    assert message in str(raised.value)


def test_rows_are_of_the_kind_that_fit_had():
    with pytest.raises(ValueError, match="X is a table of numbers, and was lines, dicts or a frame in fit"):
        ASOTransformer(dim=2).fit(LINES).transform(csr_matrix(np.eye(3)))
    with pytest.raises(ValueError, match="X is lines, dicts or a frame, and was a table of numbers in fit"):
        ASOTransformer(dim=2).fit(TABLE).transform(LINES)
