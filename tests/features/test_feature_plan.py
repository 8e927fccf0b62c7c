"""Terms of an example: the kernel's expansion against its plain twin, and cases worked by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import BARS, FEATURES, feature_config, joined, sequences, text_options

from vwlite._native import expand as kernel
from vwlite.data.batch import BLANK
from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_names import term_names
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.hashing import hash_name
from vwlite.training.trainer import row_ranges

FNV, CONSTANT = 16777619, 11650396
examples = joined(st.sampled_from(BARS), sequences(FEATURES, FEATURES, BARS, most=8))
LETTERS = b"abux1 \xc3\xe4\x84\x85"
some_letters = st.lists(st.sampled_from(LETTERS), max_size=3).map(bytes)
interactions = st.lists(
    st.one_of(
        st.lists(st.sampled_from(b"aabbux1:"), min_size=2, max_size=3).map(bytes),
        st.lists(st.sampled_from(b"ab:"), min_size=2, max_size=4).map(bytes),
    ),
    max_size=3,
)


def numbered(most, least=0):
    """Options like ``2`` and ``a2``."""
    return st.lists(
        st.builds(lambda space, number: space + b"%d" % number, st.sampled_from([b"", b"a"]), st.integers(0, most)),
        min_size=least,
        max_size=2,
    )


pipelines = st.fixed_dictionaries(
    {
        "bits": st.sampled_from([1, 2, 4, 18, 31, 32]),
        "redefine": st.lists(st.sampled_from([b"a:=b", b"b:=a", b":=x", b"x:=:", b"u:=ab", b"a:=\xc3"]), max_size=2),
        "ignore": some_letters,
        "keep": st.one_of(st.none(), st.none(), st.sampled_from([b"a", b"ab", b" ux1"])),
        "ignore_linear": some_letters,
        "noconstant": st.booleans(),
        "feature_limit": st.one_of(st.just([]), numbered(3)),
        "interactions": interactions,
        "permutations": st.booleans(),
        "leave_duplicate_interactions": st.booleans(),
    }
)
grams = st.one_of(st.just(([], [])), st.tuples(numbered(4, least=1), numbered(2)))


def bits(values):
    values = np.asarray(values, np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), values).view(np.uint32).tolist()


def rows(text, config):
    """``(index, value, count)`` of every line, the plan told of namespaces as a run tells it."""
    plan = Plan(config)
    batch = parse_text(text, text_format(config, skip_malformed=False))
    result = []
    for begin, end in row_ranges(batch, plan):
        for row in range(begin, end):
            index, value, count, _ = kernel.expand_row(batch, plan, row)
            result.append((np.frombuffer(index, np.uint32).tolist(), np.frombuffer(value, np.float32), count))
    return result


@given(st.lists(examples, min_size=1, max_size=4), text_options, pipelines, grams)
def test_terms_are_the_twins(lines, options, changes, ngrams):
    for name, value in (*changes.items(), ("ngram", ngrams[0]), ("skips", ngrams[1])):
        setattr(options, name, value)
    seen = set()
    actual = rows(b"\n".join(lines), feature_config(options))
    for line, (index, value, count) in zip(lines, actual, strict=True):
        with np.errstate(all="ignore"):
            expected = expand(parse_line(line, options), options, seen)
        assert index == [term[0] for term in expected.terms]
        assert bits(value) == bits([term[1] for term in expected.terms])
        assert count == expected.count


def terms_in_one_buffer(batch, plan):
    """``(index, value)`` of every row, of rows that are expanded one after the other in the same buffer."""
    room, start = 1 << 16, np.zeros(len(batch) + 1, np.int64)
    index, value = np.zeros(room, np.uint32), np.zeros(room, np.float32)
    status, terms = kernel.flatten(batch, plan, start, index, value)
    assert status == 0 and terms == start[-1]
    return [(index[begin:end].tolist(), bits(value[begin:end])) for begin, end in pairwise(start)]


@given(
    st.lists(examples, min_size=1, max_size=3),
    st.lists(st.integers(0, 2), min_size=2, max_size=12),
    text_options,
    pipelines,
)
def test_terms_do_not_depend_on_the_rows_before(different, order, options, changes):
    for name, value in changes.items():
        setattr(options, name, value)
    config = feature_config(options)
    plan = Plan(config)
    lines = [different[number % len(different)] for number in order]
    batch = parse_text(b"\n".join(lines), text_format(config, skip_malformed=False))
    list(row_ranges(batch, plan))  # after which the plan knows all namespaces
    alone = [kernel.expand_row(batch, plan, row)[:2] for row in range(len(batch))]
    alone = [
        (np.frombuffer(index, np.uint32).tolist(), bits(np.frombuffer(value, np.float32))) for index, value in alone
    ]
    blank = (batch.flags & BLANK) != 0
    in_one = terms_in_one_buffer(batch, plan)
    assert [terms for terms, skip in zip(in_one, blank, strict=True) if not skip] == [
        terms for terms, skip in zip(alone, blank, strict=True) if not skip
    ]


def only(text, **options):
    """Terms of one line without a constant, as ``{index: value}``, and the number of terms."""
    ((index, value, count),) = rows(text, FeatureConfig(bits=32, noconstant=True, **options))
    return dict(zip(index, value.tolist(), strict=True)), count


def h(space, name):
    return hash_name(name, hash_name(space, 0))


def cross(*indices):
    result = 0
    for index in indices:
        result = (result * FNV ^ index) % 2**32
    return result


def test_whole_names_cross_only_their_own_blocks():
    text = b"|user u:2 |item i:3 j:5 |ux v:7 |items k:11"
    actual, count = only(text, interactions=("user,item",))
    u, i, j = h(b"user", b"u"), h(b"item", b"i"), h(b"item", b"j")
    linear = {u: 2, i: 3, j: 5, h(b"ux", b"v"): 7, h(b"items", b"k"): 11}
    assert actual == {**linear, cross(u, i): 6, cross(u, j): 10}
    assert count == 7


def test_a_whole_name_gathers_all_its_blocks():
    actual, count = only(b"|user u:2 |item i:3 |user w:4", interactions=("user,item",))
    assert actual[cross(h(b"user", b"u"), h(b"item", b"i"))] == 6
    assert actual[cross(h(b"user", b"w"), h(b"item", b"i"))] == 12
    assert count == 5


def test_a_whole_name_with_itself_gives_each_pair_once():
    x, y = h(b"user", b"x"), h(b"user", b"y")
    squares = {cross(x, x): 4, cross(x, y): 6, cross(y, y): 9}
    assert only(b"|user x:2 y:3", interactions=("user,user",)) == ({x: 2, y: 3, **squares}, 5)
    actual, count = only(b"|user x:2 y:3", interactions=("user,user",), permutations=True)
    assert (actual, count) == ({x: 2, y: 3, **squares, cross(y, x): 6}, 6)


def test_three_whole_names_and_names_of_numbers():
    actual, count = only(b"|user u:2 |0 z:3 |item i:5", interactions=("user,0,item",))
    assert actual[cross(h(b"user", b"u"), h(b"0", b"z"), h(b"item", b"i"))] == 30
    assert count == 4


def test_blocks_without_a_name_are_not_called_zero():
    actual, count = only(b"| u:2 |item i:5", interactions=("0,item",), affix="+1i")
    assert count == len(actual) == 3


def test_ignored_and_absent_namespaces_cross_nothing():
    text = b"|user u:2 |item i:5"
    assert only(text, interactions=("user,item",), ignore=("u",))[1] == 1
    assert only(text, interactions=("user,missing",))[1] == 2
    assert only(text, interactions=("user,item",), ignore_linear=("u", "i"))[1] == 3


def test_options_without_the_constant_and_with_sorting():
    config = FeatureConfig(bits=18, sort_features=True)
    ((index, value, count),) = rows(b"|a y:2 x:3 y:1 |b z", config)
    mask = 2**18 - 1
    x, y = sorted([(h(b"a", b"x") & mask, 3), (h(b"a", b"y") & mask, 1)])
    assert list(zip(index, value.tolist(), strict=True)) == [x, y, (h(b"b", b"z") & mask, 1), (CONSTANT & mask, 1)]
    assert count == 4


@pytest.mark.parametrize(
    ("quadratic", "cubic", "most"), [(("ab",), (), 1), (("ab", "ba"), (), 1), (("::",), (), 3), ((), ("abb",), 1)]
)
def test_quadratic_and_cubic_are_interactions(quadratic, cubic, most):
    text = b"|a x:2 y |b z:3\n|b q |c w"
    crossed = rows(text, FeatureConfig(quadratic=quadratic, cubic=cubic))
    same = rows(text, FeatureConfig(interactions=quadratic + cubic))
    assert [(index, value.tolist(), count) for index, value, count in crossed] == [
        (index, value.tolist(), count) for index, value, count in same
    ]
    assert crossed[0][2] > 4


@pytest.mark.parametrize(
    "wrong",
    [
        {"quadratic": ("abc",)},
        {"cubic": ("ab",)},
        {"interactions": ("a",)},
        {"interactions": ("user,",)},
        {"interactions": (",".join(f"name{i}" for i in range(65)),)},
        {"ngram": ("ab2",)},
        {"feature_limit": ("x",)},
        {"redefine": ("ab",)},
        {"affix": "+9a"},
        {"affix": ",".join(["1a"] * 17)},
    ],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(UsageError):
        text_format(Plan(FeatureConfig(**wrong)).config, skip_malformed=True)


def test_a_row_that_is_not_there():
    config = FeatureConfig()
    with pytest.raises(IndexError):
        kernel.expand_row(parse_text(b"|a x", text_format(config, skip_malformed=True)), Plan(config), 1)


MANY = b"|a" + b"".join(b" x%d" % i for i in range(500))


@pytest.mark.parametrize(
    "options",
    [
        {"interactions": ("a" * 30,)},
        {"cubic": ("aaa",), "permutations": True},
        {"ngram": ("18",), "skips": ("18",)},
        {"ngram": ("a64",), "skips": ("a64",), "feature_limit": ("10",)},
        {"ngram": ("2",), "skips": ("30",), "quadratic": ("aa",)},
    ],
)
def test_a_row_that_makes_too_many_features_is_refused_before_they_are_made(options):
    config = FeatureConfig(**options)
    with pytest.raises(OverflowError):
        kernel.expand_row(parse_text(MANY, text_format(config, skip_malformed=True)), Plan(config), 0)


def test_ngrams_that_fit_nowhere_take_no_time():
    """Neither in the kernel nor in the names of terms: there are as many patterns as there are ways to skip."""
    config = FeatureConfig(ngram=("64",), skips=("64",), noconstant=True)
    plan, text = Plan(config), b"|a" + b"".join(b" x%d" % i for i in range(12))
    batch = parse_text(text, text_format(config, skip_malformed=True, names=True))
    assert len(kernel.expand_row(batch, plan, 0)[0]) // 4 == 2**12 - 1 == len(term_names(batch, plan, 0))


def test_the_twin_and_the_config_agree_on_the_defaults():
    assert feature_config(Options()) == FeatureConfig()
