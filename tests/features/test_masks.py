"""Namespaces left out of some of the examples that are learned."""

import numpy as np
import pytest

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.group_columns import Masks

TEXT = b"".join(b"1 |user u%d |item i%d |age a |item:2 more j%d\n" % (n, n, n) for n in range(4000))


def parsed(names=False):
    return parse_text(TEXT, TextFormat(names=names))


def masks(*mask_ids, seed=0, **options):
    return Masks(FeatureConfig(quadratic=("user,item",), mask_ids=mask_ids, **options), seed)


def features(batch):
    """For each row, what is in it: hashes and values."""
    result = []
    for row in range(len(batch)):
        first, last = batch.namespace_start[batch.row_namespace[[row, row + 1]]].tolist()
        result.append(list(zip(batch.feature_hash[first:last].tolist(), batch.value[first:last].tolist(), strict=True)))
    return result


@pytest.mark.parametrize("name", ["item", "i"])
def test_all_features_of_the_namespace_go_and_no_others(name):
    batch = parsed()
    whole, kept = features(batch), features(masks(f"{name}=0.3").apply(batch, 1, 0))
    assert [row for row in kept if len(row) not in (2, 5)] == []
    assert all(left == (row if len(left) == 5 else [row[0], row[2]]) for row, left in zip(whole, kept, strict=True))
    assert np.mean([len(left) == 2 for left in kept]) == pytest.approx(0.3, abs=0.02)


def test_names_stay_beside_their_features():
    batch = masks("item=0.5").apply(parsed(names=True), 1, 0)
    for row in range(20):
        first, last = batch.namespace_start[batch.row_namespace[[row, row + 1]]].tolist()
        names = [batch.text[batch.names.start[i] : batch.names.end[i]] for i in range(first, last)]
        whole = [b"u%d" % row, b"i%d" % row, b"a", b"more", b"j%d" % row]
        assert names in (whole, [whole[0], whole[2]])


def test_what_is_drawn_depends_on_seed_pass_and_number_alone():
    whole = masks("item=0.3")

    def drawn(made, number=1):
        return [len(row) for row in features(made.apply(parsed(), number, 0))]

    first = drawn(whole)
    assert drawn(masks("item=0.3")) == first
    assert drawn(whole, 2) != first and drawn(masks("item=0.3", seed=1)) != first
    part = parse_text(b"".join(TEXT.splitlines(True)[1000:]), TextFormat())
    assert [len(row) for row in features(whole.apply(part, 1, 1000))] == first[1000:]
    order = np.random.default_rng(0).permutation(3000) + 1000
    part.numbers = np.arange(1000, 4000)
    assert [len(row) for row in features(whole.apply(part, 1, 0))] == first[1000:]
    assert len(order) == len(part)


def test_namespaces_are_drawn_apart():
    rows = [len(row) for row in features(masks("item=0.5", "user=0.5").apply(parsed(), 1, 0))]
    assert {one: rows.count(one) > 800 for one in set(rows)} == dict.fromkeys((1, 2, 4, 5), True)


def test_rows_held_out_keep_everything():
    batch = parsed()
    batch.holdout_mask = (np.arange(len(batch)) % 2).astype(np.uint8)
    rows = [len(row) for row in features(masks("item=0.9").apply(batch, 1, 0))]
    assert set(rows[1::2]) == {5} and rows[::2].count(2) > 1500


def test_letters_are_those_of_redefine():
    made = masks("z=0.5", redefine=("z:=i",), interactions=("uz",))
    assert {len(row) for row in features(made.apply(parsed(), 1, 0))} == {2, 5}


@pytest.mark.parametrize(
    "mask", ["item=1", "item=-0.1", "item=nan", "item", "item=x", "=0.1", "age=0.1", "item=.1,item=.2"]
)
def test_what_cannot_be_is_refused(mask):
    with pytest.raises(UsageError, match="mask-ids"):
        masks(mask)


@pytest.mark.parametrize("crossed", [{"quadratic": ("ab",)}, {"quadratic": (":b",)}, {"dotproduct": ("age,b",)}])
def test_a_namespace_is_crossed_by_letter_or_name(crossed):
    assert FeatureConfig(mask_ids=("age=0.5",), **crossed).mask_ids == ("age=0.5",)
