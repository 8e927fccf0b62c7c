"""A side of a dot product that is one number, not an id: the run tells it at the end of the first pass."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.training.assembly import NumberedSides
from vwlite.training.config import RunConfig
from vwlite.training.listener import Display
from vwlite.training.namespace_report import NumberSides

ROWS = [(1 + n % 5, n % 17, n * 7 % 50) for n in range(200)]
CSV = "rating,user,item\n" + "".join(f"{label},{user},{item}\n" for label, user, item in ROWS)
ROLES = "label=rating user=user item=item"
PAIR = ("--dotproduct", "user,item", "-f", "m")


def remark(name, remedy):
    return f"note: namespace {name} has one feature, with different values: if they are ids, {remedy}"


def test_ids_that_are_read_as_numbers_are_told_with_the_columns_to_type(vwlite, write):
    write("r.csv", CSV)
    stderr = vwlite("train", "r.csv", "--columns", ROLES, *PAIR, "--passes", 2).stderr
    assert stderr.count(remark("user", "--columns user=user:text")) == 1
    assert stderr.count(remark("item", "--columns item=item:text")) == 1
    stderr = vwlite("train", "r.csv", "--columns", "label=rating user=user:text item=item", *PAIR).stderr
    assert "namespace user" not in stderr and "namespace item" in stderr
    texts = "label=rating user=user:text item=item:text"
    assert "one feature" not in vwlite("train", "r.csv", "--columns", texts, *PAIR).stderr


@pytest.mark.parametrize("model", [("--dotproduct", "ui"), ("--lrq", "ui4"), ("--lrq", "ui4", "--lrqdropout")])
def test_ids_in_text_are_told_to_be_names(vwlite, write, model):
    write("r", "".join(f"{label} |user id:{user + 1} |item {item}\n" for label, user, item in ROWS))
    stderr = vwlite("train", "r", *model, "-f", "m").stderr
    assert stderr.count(remark("u", "make them names: 17, not id:17")) == 1 and "namespace i " not in stderr


@pytest.mark.parametrize("feature", ["id:3", "share:0.{user}", "{user}", "a:{user} b:{item}"])
def test_sides_of_one_value_of_fractions_and_of_names_are_passed_over(vwlite, write, feature):
    lines = (f"{label} |u {feature} |i i{item}\n".format(user=user, item=item) for label, user, item in ROWS)
    write("r", "".join(lines))
    assert "one feature" not in vwlite("train", "r", "--dotproduct", "ui", "-f", "m").stderr


def test_no_word_of_it_without_pairs_or_learning_or_as_vw(vwlite, write):
    write("r", "".join(f"{label} |u id:{user} |i id:{item}\n" for label, user, item in ROWS))
    vwlite("train", "r", "--dotproduct", "ui", "-f", "m", "--quiet")
    for words in (("train", "r"), ("predict", "-i", "m", "r"), ("vw", "r", "--lrq", "ui2")):
        assert "one feature" not in vwlite(*words).stderr


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ("", "--dot-rates adaptive, or divide them, so that they are about 1"),
        ("--filter_tree 5 --scoring --indexing 1 --loss_function hinge", "divide them, so that they are about 1"),
        ("--dot-rates adaptive", ""),
        ("--multiclass 5 --indexing 1", ""),
    ],
)
def test_large_values_beside_ids_are_told_with_the_cure(vwlite, write, options, cure):
    write("r", "".join(f"{label} |u u{user} age:{item} |i i{item} share:3\n" for label, user, item in ROWS))
    stderr = vwlite("train", "r", "--dotproduct", "ui", *options.split(), "-f", "m").stderr
    expected = f"note: namespace u has values up to 49, for which one learning rate is too large: {cure}"
    assert stderr.count("values up to") == bool(cure) and (not cure or stderr.count(expected) == 1)


def test_a_checkpoint_keeps_the_values_seen():
    config = RunConfig(features=FeatureConfig(dotproduct=("ui",)), learner=DyadicConfig(pairs=1), learning=True)
    plan = Plan(config.features)
    notes = []
    one, other = (NumberSides(config, plan, SimpleNamespace(note=notes.append), "") for _ in range(2))
    one.sides[0].add(np.array([7], np.uint32), np.array([3], np.float32))
    other.restore(json.loads(json.dumps(one.state())))
    other.sides[0].add(np.array([7], np.uint32), np.array([4], np.float32))
    other.pass_read(1)
    other.pass_read(2)
    assert notes == [remark("u", "make them names: 4, not id:4").removeprefix("note: ")]


BLOG = ("|r r_{0} r2_{0} |t t_{1} t2_{1}", "|r latent_0_{0} latent_1_{0} |t latent_0_{1} latent_1_{1}")
NUMBERS = "|r 1:.{0}1 2:.3 |t 1:.{1}1 2:.5"


@pytest.mark.parametrize(
    ("form", "told"),
    [
        *((form, True) for form in (*BLOG, NUMBERS)),
        ("|r r{0} |t t{1}", False),
        ("|r r{0} of |t t{1} of", False),  # what many have beside an id
        ("|r r_{0} r2_{0} |t t{1}", False),
        ("|r 1:.{0}1 3:.3 |t 1:.{1}1 3:.5", False),
    ],
)
def test_numbered_latent_features_are_told_of_rank_0(form, told, vwlite, write):
    write("r", "".join(f"{label} {form.format(user, item)}\n" for label, user, item in ROWS))
    stderr = vwlite("train", "r", "--dotproduct", "r,t", "-f", "m").stderr
    expected = "note: --dotproduct r,t has 2 features on each side, in every line the same ones together: if they are "
    assert (expected + "numbered latent features, --rank 0 pairs them in their order\n" in stderr) == told
    assert ("--rank 0" in stderr) == told
    for more in (("--rank", 0), ("--quiet",)) if told else ():
        assert "--rank 0" not in vwlite("train", "r", "--dotproduct", "r,t", "-f", "m", *more).stderr


@pytest.mark.parametrize("state", [5, [], [1, {}], [True, []]])
def test_damaged_states_of_a_checkpoint_are_refused(state):
    with pytest.raises(ValueError, match="numbered sides are"):
        NumberedSides(None, Display()).restore({"numbered_sides": state})
