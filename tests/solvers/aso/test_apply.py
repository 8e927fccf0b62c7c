"""``vwlite aso apply``: text with the features of Theta, against products of the arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.solvers.aso.test_theta import corpus, documents
from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError
from vwlite.features.config import ApplyConfig
from vwlite.solvers.aso.apply import PATIENCE, apply_theta
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import text_format
from vwlite.solvers.aso.train import learn

LINES = ["|w ball goal", "sea 2 'tag|w wave:2 ship |w2 x", "", "|w unknown", "sea x1 |w wave", "|w sail\r", "sport"]
LINES += ["a 'b|"]


@pytest.fixture(scope="module")
def theta(tmp_path_factory):
    lines = documents(200, labels=False)
    config = LearnConfig((read_aux("freq"),), dim=3, idf=True)
    return learn(config, corpus(tmp_path_factory.mktemp("theta"), lines), None).theta


@pytest.fixture(scope="module")
def apply(theta, tmp_path_factory):
    path = tmp_path_factory.mktemp("apply") / "text.vw"

    def apply(text, block_size=1 << 16, **options):
        path.write_bytes(text.encode())
        inputs = Inputs(InputConfig((str(path),), block_size=block_size), text_format())
        policy = BadLines(None, None, BadLinesConfig(max_ratio=1))
        return b"".join(apply_theta(theta, inputs, policy, ApplyConfig(**options))).decode()

    return apply


def expected(theta, values, config):
    """{namespace: {number: value}} of a row {name: value}, from the columns of Theta's arrays."""
    result = {}
    for group, name in enumerate(theta.names):
        product = np.zeros(min(len(theta.values[group]), config.dim or 99))
        length = np.sqrt(sum((value * weight(theta, word)) ** 2 for word, value in values.items()))
        for place, word in enumerate(theta.words.names):
            if theta.group[place] == group and word in values:
                product += values[word] * weight(theta, word) / length * theta.matrix[place, : len(product)]
        size = np.linalg.norm(product) if config.unit else 1
        if product.any():
            result[f"theta_{name}"] = dict(enumerate(config.scale * product / size))
    return result


def weight(theta, word):
    names = theta.words.names
    return float(theta.words.idf[names.index(word) if word in names else -1])


def added(line):
    """What ``expected`` gives, out of text."""
    spaces = [part.split() for part in line.split("|") if part.startswith("theta_")]
    return {words[0]: {int(w.split(":")[0]): float(w.split(":")[1]) for w in words[1:]} for words in spaces}


WORDS = st.sampled_from(["ball", "goal", "wave", "ship", "word3", "other"])
ROWS = st.lists(st.dictionaries(WORDS, st.integers(1, 5), min_size=1), max_size=5)


@given(ROWS, st.booleans(), st.sampled_from([0.5, 1.0]), st.sampled_from([None, 1, 2]))
def test_features_are_products_with_theta(apply, theta, rows, unit, scale, dim):
    rows = [{"ball": 1}, *rows]
    lines = ["|w " + " ".join(f"{word}:{value}" for word, value in row.items()) for row in rows]
    out = apply("\n".join(lines) + "\n", unit=unit, scale=scale, dim=dim).splitlines()
    for line, row, before in zip(out, rows, lines, strict=True):
        actual, made = added(line), expected(theta, row, ApplyConfig(unit=unit, scale=scale, dim=dim))
        assert line.startswith(before) and actual.keys() == made.keys()
        for name, values in made.items():
            assert actual[name] == pytest.approx({at: x for at, x in values.items() if x}, abs=1e-4)


@given(st.lists(st.sampled_from(LINES), max_size=30), st.integers(1, 200), st.booleans())
def test_lines_stay_as_they_are_and_blocks_do_not_matter(apply, lines, block_size, ended):
    text = "\n".join(["|w ball", *lines, ""])
    out = apply(text if ended or not lines or not lines[-1] else text[:-1])  # the last line gets its end
    assert apply(text, block_size) == out
    for before, after in zip(text.split("\n"), out.split("\n"), strict=True):
        known = "x1" not in before and any(word in before for word in ("ball", "wave", "sail"))
        end = "\r" * before.endswith("\r")
        assert after.startswith(before.removesuffix("\r")) and after.endswith(end)
        assert (after != before) == known


def test_text_that_theta_knows_nothing_of_is_refused(apply):
    assert apply("") == "" and apply("\n\n") == "\n\n"
    with pytest.raises(DataError, match="no feature of the text is in Theta"):
        apply("|w other\n")
    with pytest.raises(DataError, match="no feature of the text is in Theta"):
        apply("|w other\n" * (PATIENCE + 1000) + "|w ball\n", 1000)
    assert "theta_w" in apply("|w other\n" * (PATIENCE - 1000) + "|w ball\n", 1000)
