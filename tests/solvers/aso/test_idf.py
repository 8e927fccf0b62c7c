"""``--idf``: weights of terms, against plain Python, in learning, in models and in files."""

import json
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.term_idf import weighted, weights
from tests.solvers.aso.test_theta import corpus, documents
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import parse_text
from vwlite.errors import DataError, ModelError, UsageError
from vwlite.features.sparse_rows import inverse_frequencies
from vwlite.features.theta import load_theta, save_theta
from vwlite.solvers.aso.auxiliary import most_frequent, read_aux, views
from vwlite.solvers.aso.classifier import train
from vwlite.solvers.aso.config import LearnConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.model_file import content, load_target
from vwlite.solvers.aso.train import learn
from vwlite.storage.model_file import save

NAMES = st.sampled_from("abcdefgh")
ROWS = st.lists(st.dictionaries(NAMES, st.integers(1, 9), max_size=6), min_size=1, max_size=12)
IDF = LearnConfig((read_aux("freq-k:2"),), dim=3, idf=True)


def parsed(rows):
    text = "".join("|w " + " ".join(f"{name}:{value}" for name, value in row.items()) + " \n" for row in rows)
    return Corpus(BadLines(None, None), tags=True).take([parse_text(text.encode(), text_format())])


@given(ROWS, ROWS, st.integers(1, 3), st.booleans())
def test_values_are_those_of_plain_python(learned, others, least, unit):
    words = parsed(learned).vocabulary(least, idf=True)
    actual = weights(learned, least)
    assert dict(zip([*words.names, None], words.idf.tolist(), strict=True)) == pytest.approx(actual, abs=1e-6)
    made = parsed(others).rows(words, unit).terms
    expected = [weighted(row, actual, unit) for row in others]
    for number, row in enumerate(expected):
        place = slice(made.indptr[number], made.indptr[number + 1])
        got = {words.names[at]: value for at, value in zip(made.indices[place], made.values[place], strict=True)}
        assert got == pytest.approx(row, abs=1e-5)


@given(st.lists(st.integers(0, 50), max_size=9))
def test_what_fewer_rows_hold_weighs_more(held):
    actual = inverse_frequencies(np.array(held, int), 50)
    assert (actual >= 0).all() and actual[-1] == actual.max()
    for one, count in enumerate(held):
        assert all(actual[one] > actual[other] for other, more in enumerate(held) if more > count)


def test_problems_are_made_of_weighted_values():
    data = parsed([{"the": 5, name: 2, **{f"x{n}": 1 for n in range(9)}} for name in "abab"])
    chosen = {}
    for idf in (False, True):
        words = data.vocabulary(2, idf)
        chosen[idf] = {
            name
            for view in views(read_aux("freq"), words, 0)
            for name in most_frequent(data.rows(words, unit=False), view, words, 10).names
        }
    assert "the" in chosen[False] and "the" not in chosen[True]


def test_theta_hands_its_weights_to_the_model_and_both_to_their_files(tmp_path):
    path, data = str(tmp_path / "file"), corpus(tmp_path, documents(60))
    theta = learn(IDF, data, None).theta
    save_theta(path, theta, {})
    read, _ = load_theta(path)
    assert read.words.idf.tobytes() == theta.words.idf.tobytes()
    few = corpus(tmp_path, [*documents(10, 2), "sea |w never_seen ball"])
    target = train(few, read, TargetConfig())
    own = dict(zip(target.words.names, target.words.idf.tolist(), strict=False))
    assert own["never_seen"] == np.float32(np.log(61)) == target.words.idf[-1]
    assert all(own[name] == weight for name, weight in zip(theta.words.names, theta.words.idf.tolist(), strict=False))
    save(path, *content(target, {}))
    again = load_target(path)
    assert again.scores(data).tobytes() == target.scores(data).tobytes()
    plain = learn(LearnConfig((read_aux("freq-k:2"),), dim=3), data, None).theta
    assert plain.words.idf is None and not np.array_equal(plain.matrix, theta.matrix)
    with pytest.raises(UsageError, match="learned without --idf"):
        train(few, plain, TargetConfig(idf=True))


def test_without_theta_the_weights_are_those_of_the_labelled_text(tmp_path):
    few = corpus(tmp_path, documents(12))
    target = train(few, None, TargetConfig(idf=True))
    assert target.words.idf.tobytes() == few.vocabulary(idf=True).idf.tobytes()
    assert target.scores(few).tobytes() != train(few, None, TargetConfig()).scores(few).tobytes()


def test_a_model_without_weights_says_nothing_of_them(tmp_path):
    path = tmp_path / "model"
    save(str(path), *content(train(corpus(tmp_path, documents(12)), None, TargetConfig()), {}))
    with zipfile.ZipFile(path) as file:
        assert not any("idf" in name for name in file.namelist())
        header = json.loads(file.read(next(name for name in file.namelist() if name.endswith("json"))))
    assert "idf" not in json.dumps(header)


def test_weights_below_0_in_a_file_are_refused(tmp_path):
    target = train(corpus(tmp_path, documents(12)), None, TargetConfig(idf=True))
    target.words.idf[0] = -1
    save(str(tmp_path / "model"), *content(target, {}))
    with pytest.raises(ModelError, match="the weights of its features"):
        load_target(str(tmp_path / "model"))


def test_negative_values_are_refused_by_name(tmp_path):
    data = corpus(tmp_path, ["a |w one:2 two", "b |w one two:-0.5", "b |w three:-1"])
    with pytest.raises(DataError, match=r"--idf needs values of 0 or more, and two has -0.5 in example 2"):
        train(data, None, TargetConfig(idf=True))
