"""``vwlite l1 --theta``: the features that Theta makes of examples, against those of ``vwlite aso apply``."""

import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.solvers.aso.test_theta import corpus
from vwlite.data import block_parser
from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import ModelError, UsageError
from vwlite.features.config import ApplyConfig, FeatureConfig, check_plan
from vwlite.features.theta import FeatureMap, digest_of
from vwlite.solvers.aso.apply import apply_theta
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.corpus import text_format
from vwlite.solvers.aso.train import learn

WORDS = ["a", "b", "c", "d", "e", "f"]


@pytest.fixture(scope="module")
def theta(tmp_path_factory):
    rng = np.random.default_rng(0)
    lines = [f"|w {' '.join(rng.choice(WORDS, 3))} |v {' '.join(rng.choice(WORDS, 2))} 7" for _ in range(80)]
    config = LearnConfig((read_aux("mask:w"), read_aux("mask:v")), dim=3, least=1)
    return learn(config, corpus(tmp_path_factory.mktemp("theta"), lines), None).theta


def batches(path, names=False):
    policy = BadLines(None, None)
    form = replace(text_format(), names=names)
    return [policy.examine(part) for part in block_parser.read([str(path)], form, block_size=1 << 16)]


word = st.sampled_from([*WORDS, "x:2", "y", "3:0.5"])
space = st.tuples(st.sampled_from(["w", "v", "", "other"]), st.lists(word, max_size=4))
line = st.lists(space, max_size=3).map(
    lambda spaces: "k 't |" + " |".join(f"{name} {' '.join(words)}" for name, words in spaces)
)
OPTIONS = [{}, {"unit": False, "scale": 0.5}, {"dim": 1}, {"groups": ("v",)}]


@given(st.lists(line | st.just(""), min_size=1, max_size=8), st.sampled_from(OPTIONS))
def test_batches_have_the_columns_of_the_text_that_apply_writes(theta, tmp_path_factory, lines, options):
    folder, config = tmp_path_factory.mktemp("map"), ApplyConfig(**options)
    (folder / "text").write_text("\n".join([*lines, "k |w a |v a"]) + "\n")
    policy = BadLines(None, None)
    with closing(Inputs(InputConfig((str(folder / "text"),)), text_format())) as inputs:
        (folder / "more").write_bytes(b"".join(apply_theta(theta, inputs, policy, config)))
    made = FeatureMap(theta.kept(config), config, "")
    for one, other in zip(batches(folder / "text", names=True), batches(folder / "more", names=True), strict=True):
        actual = made.extend(one)
        for name in ("row_namespace", "namespace_char", "namespace_hash", "namespace_start", "feature_hash"):
            assert getattr(actual, name).tolist() == getattr(other, name).tolist(), name
        assert actual.value == pytest.approx(other.value, rel=1e-5)
        for place in range(len(actual.value)):
            assert name_at(actual, "start", "end", place) == name_at(other, "start", "end", place)
        for place in range(len(actual.namespace_char)):
            ends = ("namespace_start", "namespace_end")
            assert name_at(actual, *ends, place) == name_at(other, *ends, place)


def name_at(batch, start, end, place):
    return bytes(batch.text[getattr(batch.names, start)[place] : getattr(batch.names, end)[place]])


def test_the_digest_is_of_all_that_features_are_made_of(theta):
    assert digest_of(theta) == digest_of(replace(theta)) != digest_of(theta.cut(2))
    assert digest_of(replace(theta, matrix=-theta.matrix)) != digest_of(theta)


@pytest.mark.parametrize(
    ("features", "config", "said"),
    [({"hash": "all"}, {}, "--hash"), ({"hash_seed": 1}, {}, "--hash"), ({"affix": "+2w"}, {"unit": False}, "--affix")],
)
def test_features_that_theta_does_not_go_with(features, config, said):
    with pytest.raises(UsageError, match=said):
        check_plan(FeatureConfig(**features), ApplyConfig(**config).unit)


def test_what_a_model_keeps_is_checked(theta):
    made = FeatureMap(theta, ApplyConfig(groups=("w", "v")), digest_of(theta))
    header, arrays = made.content()
    again = FeatureMap.of(json.loads(json.dumps(header)), arrays)
    assert (again.digest, again.config) == (made.digest, made.config) and digest_of(again.theta) == made.digest
    wrong = [({**header["theta"], name: value}, {}) for name, value in (("digest", 1), ("h", [3]), ("config", 0))]
    wrong += [(header["theta"], {"theta": theta.matrix[:, :2]}), (header["theta"], {"theta_group": theta.group + 9})]
    for told, changed in wrong:
        with pytest.raises((ModelError, ValueError)):
            FeatureMap.of({"theta": told}, {**arrays, **changed})
