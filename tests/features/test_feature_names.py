"""Every term of the native expansion has its name, as in the plain-Python twin."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand as oracle_expand
from vwlite._native.expand import expand_row

from vwlite.data.batch import BLANK, SAVE
from vwlite.data.text_format import TextFormat, parse_text
from vwlite.errors import ModelError
from vwlite.features import name_index
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_names import term_names, with_all_linear
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.hashing import hash_name
from vwlite.features.name_index import NameIndex, name_index_from_arrays


def read(text, config, names=True):
    """The batch of ``text`` and a plan that has seen it."""
    text, plan = text.removesuffix(b"\n") + b"\n", Plan(config)
    batch = parse_text(text, text_format(config, skip_malformed=False, names=names))
    plan.see(plan.redefine[batch.namespace_char].tolist())
    return batch, plan


def names_of(text, row=0, **options):
    return term_names(*read(text, FeatureConfig(**options)), row)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (
            b"|apple re:2 :3 foo |b x:y | anon q:v :5",
            {},
            "apple^re apple^ apple^foo b^x^y anon q^v  Constant",
        ),
        (
            b"|a :foo x: y |b :bar t:",
            {"quadratic": ("ab",), "noconstant": True},
            "a^^foo a^x^y b^^bar b^t a^^foo*b^^bar a^^foo*b^t a^x^y*b^^bar a^x^y*b^t",
        ),
        (b"|a x |ant y z:t", {"ngram": ("2",)}, "a^x ant^y ant^z^t a^x^y ant^y^z Constant"),
        (b"| a b c", {"ngram": ("3",), "skips": ("1",)}, "a b c a^b b^c a^c a^b^c Constant"),
        (
            b"|apple re fo |ant y | p",
            {"affix": "+2a,-1", "noconstant": True},
            "affix^a+2=re affix^a+2=fo affix^a+2=y affix^-1=p apple^re apple^fo ant^y p",
        ),
        (
            b"|a aB7 u.v- | x5",
            {"spelling": ("a", "_")},
            "spelling^a_aA0 spelling^a_a.a# spelling^a0 a^aB7 a^u.v- x5 Constant",
        ),
        (
            b"|apple foo |k z",
            {"redefine": ("k:=a",), "affix": "+1k", "spelling": ("k",)},
            "affix^k+1=f affix^k+1=z spelling^k_aaa spelling^k_a apple^foo k^z Constant",
        ),
        (
            b"|a x y |b t",
            {"quadratic": ("aa",), "cubic": ("aab",)},
            "a^x a^y b^t Constant a^x*a^x a^x*a^y a^y*a^y a^x*a^x*b^t a^x*a^y*b^t a^y*a^y*b^t",
        ),
        (
            b"|a x y",
            {"quadratic": ("aa",), "permutations": True, "ignore_linear": ("a",)},
            "Constant a^x*a^x a^x*a^y a^y*a^x a^y*a^y",
        ),
        (b"|a x:2 y:3 z:4 x:1 |c t", {"feature_limit": ("2",)}, "a^y a^x c^t Constant"),
        (
            b"|user u |item i |ident j",
            {"interactions": ("user,item",)},
            "user^u item^i ident^j Constant user^u*item^i",
        ),
    ],
)
def test_named_as_vowpal_wabbit_does(text, options, expected):
    assert names_of(text, **options) == expected.split(" ")


def test_bytes_that_are_not_utf8_come_back():
    names = names_of(b"|n\xff caf\xc3\xa9 \x80x", affix="-1n", noconstant=True)
    assert names[2:] == ["n\udcff^café", "n\udcff^\udc80x"]
    joined = [name.encode("utf-8", "surrogateescape") for name in names]
    assert joined == [b"affix^n-1=\xa9", b"affix^n-1=x", b"n\xff^caf\xc3\xa9", b"n\xff^\x80x"]


WORDS = st.sampled_from(["x", "y", "re", "foo", "7", "A.b1", "Ünï", "re:2", "foo:0.5", "x:t", "y:-1.5", ":3"])
SPACES = st.sampled_from(["", "a", "apple", "b", "c:2", "5"])
BLOCKS = st.tuples(SPACES, st.lists(WORDS, max_size=4))
LINES = st.lists(BLOCKS, max_size=4).map(
    lambda blocks: "1 " + "".join(f"|{space} {' '.join(words)} " for space, words in blocks)
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "bits": st.just(22),
        "noconstant": st.just(True),
        "quadratic": st.sampled_from([("ab",), ("aa", "ba"), ("::",), ("a:", " b")]),
        "cubic": st.sampled_from([("abc",), ("aba",), (":::",), ("aaa",)]),
        "interactions": st.sampled_from([("abca",), ("ab", "abc")]),
        "permutations": st.just(True),
        "leave_duplicate_interactions": st.just(True),
        "ignore": st.sampled_from([("a",), ("bc",)]),
        "keep": st.sampled_from([("a",), ("b ",)]),
        "ignore_linear": st.sampled_from([("a",), ("b", "c")]),
        "redefine": st.sampled_from([("b:=a",), (":=a",), ("a:=bc", "c:=5")]),
        "ngram": st.sampled_from([("2",), ("a3",), ("2", "b3")]),
        "feature_limit": st.sampled_from([("2",), ("a3",)]),
        "affix": st.sampled_from(["+1a", "-2a,+1b,+3", "+2a,-1a"]),
        "spelling": st.sampled_from([("a",), ("_", "b")]),
    },
).flatmap(
    lambda options: st.sampled_from([(), ("1",), ("a2",)]).map(
        lambda skips: options | ({"skips": skips} if skips and "ngram" in options else {})
    )
)


def oracle_terms(line, options, with_ignored):
    changed = {
        name: [word.encode() for word in options[name]]
        for name in ("redefine", "ngram", "skips", "feature_limit")
        if name in options
    }
    changed |= {
        name: "".join(options[name]).encode() for name in ("ignore", "keep", "ignore_linear") if name in options
    }
    if "spelling" in options:
        changed["spelling"] = "".join(options["spelling"]).replace("_", " ").encode()
    crossed = sum((options.get(name, ()) for name in ("quadratic", "cubic", "interactions")), ())
    plain = ("bits", "noconstant", "permutations", "leave_duplicate_interactions", "affix")
    changed |= {name: options[name] for name in plain if name in options}
    oracle = Options(**{"bits": 18, **changed, "interactions": [word.encode() for word in crossed]})
    expanded = oracle_expand(parse_line(line, oracle), oracle, set(), audit=with_ignored)
    return [(index, float(value), name.decode("utf-8", "surrogateescape")) for index, value, name in expanded.terms]


@given(LINES, OPTIONS, st.booleans())
def test_every_term_of_the_expansion_has_its_name(line, options, with_ignored):
    batch, plan = read(line.encode(), FeatureConfig(**options))
    if with_ignored:
        plan = with_all_linear(plan)
    index, value = expand_row(batch, plan, 0)[:2]
    slots, values = np.frombuffer(index, np.uint32), np.frombuffer(value, np.float32)
    names = term_names(batch, plan, 0)
    assert len(names) == len(slots)
    terms = zip(slots.tolist(), values.tolist(), names, strict=True)
    # The order of the affix and the spelling namespace may differ.
    assert Counter(terms) == Counter(oracle_terms(line.encode(), options, with_ignored))


PLAIN = st.from_regex(r"[a-z0-9_.]{1,6}", fullmatch=True)


@given(PLAIN, st.lists(PLAIN, min_size=1, max_size=6), st.booleans())
def test_hash_of_a_plain_name_is_its_slot(space, features, hash_all):
    config = FeatureConfig(hash="all" if hash_all else "strings", noconstant=True, hash_seed=3)
    batch, plan = read(f"|{space} {' '.join(features)}".encode(), config)
    slots = np.frombuffer(expand_row(batch, plan, 0)[0], np.uint32).tolist()
    for name, slot in zip(term_names(batch, plan, 0), slots, strict=True):
        shown_space, _, feature = name.encode().partition(b"^")
        seed = hash_name(shown_space, 3, hash_all)
        assert hash_name(feature, seed, hash_all) % 2**18 == slot


@given(LINES, OPTIONS)
def test_batch_without_names_has_only_the_constants(line, options):
    config = FeatureConfig(**options)
    batch, plan = read(line.encode(), config)
    nameless, _ = read(line.encode(), config, names=False)
    expected = [name if name == "Constant" else "" for name in term_names(batch, plan, 0)]
    assert term_names(nameless, plan, 0) == expected


def test_ignored_linear_terms_come_back_for_audits():
    plan = Plan(FeatureConfig(ignore_linear=("a",)))
    assert not with_all_linear(plan).nonlinear.any()
    assert plan.nonlinear.sum() == 1
    plain = Plan(FeatureConfig())
    assert with_all_linear(plain) is plain


def test_book_keeps_the_first_name_of_a_slot():
    batch, plan = read(b"|a x y\n\n'save\n|b p q r s t u\n", FeatureConfig(bits=1))
    book = NameIndex()
    book.add(batch, plan)
    slots = np.frombuffer(expand_row(batch, plan, 0)[0], np.uint32).tolist()
    assert set(slots) == {0, 1}
    first = dict(reversed(list(zip(slots, ["a^x", "a^y", "Constant"], strict=True))))
    assert book.names == first


SPACE = st.sampled_from([b"|a ", b"|ab ", b"|b:2 ", b"| ", b"|\xff "])
WORD = st.sampled_from([b"x", b"y:2", b"z^w", b":3", b"\xfe", b"7", b"t:u"])
BLOCK = st.tuples(SPACE, st.lists(WORD, max_size=4)).map(lambda block: block[0] + b" ".join(block[1]))
LINE = st.one_of(st.just(b""), st.just(b"'save |a x"), st.lists(BLOCK, max_size=5).map(b" ".join))


@given(st.lists(LINE, max_size=12), st.integers(1, 18), st.sampled_from([(0, 1), (2, 3)]), st.booleans(), st.data())
def test_book_of_many_rows_is_that_of_each_row(lines, bits, layout, constant, data):
    """Whichever name comes first, slots of several names included."""
    options = {"noconstant": not constant, "affix": data.draw(st.sampled_from(["", "+1a,-2b"]))}
    batch, plan = read(b"\n".join(lines), FeatureConfig(bits=bits, **options))
    begin = data.draw(st.integers(0, len(batch)))
    whole, parts = NameIndex(layout), NameIndex(layout)
    whole.add(batch, plan, begin)
    for row in range(begin, len(batch)):
        parts.add(batch, plan, row, row + 1)
    assert whole.names == parts.names
    assert np.flatnonzero(whole.known).tolist() == np.flatnonzero(parts.known).tolist()


CROSSED = [
    {"quadratic": ("ab",)}, {"quadratic": ("::",)}, {"quadratic": ("aa", "ba"), "permutations": True},
    {"cubic": ("aab",), "quadratic": ("bb",)}, {"quadratic": (":a",), "ignore_linear": ("a",)},
    {"quadratic": ("::",), "noconstant": True}, {"ignore_linear": ("b",)},
    {"dotproduct": ("ab",), "quadratic": ("ab",)}, {"dotproduct": ("ab",)}, {"dotproduct": ("ab,b",)},
    {"dotproduct": ("ab,b",), "quadratic": ("ab",), "noconstant": True},
    {"interactions": ("ab,b",), "dotproduct": ("ab,a",)},
]  # fmt: skip


@given(
    st.lists(LINE, max_size=12), st.integers(1, 18), st.sampled_from([(0, 1), (2, 3)]), st.sampled_from(CROSSED),
    st.integers(1, 60), st.data(),
)  # fmt: skip
def test_book_of_crossed_terms_is_that_of_each_row(lines, bits, layout, options, at_once, data):
    batch, plan = read(b"\n".join(lines), FeatureConfig(bits=bits, **options))
    begin = data.draw(st.integers(0, len(batch)))
    whole, parts = NameIndex(layout), NameIndex(layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_index, "TERMS_AT_ONCE", at_once)
        whole.add(batch, plan, begin)
    parts.known = np.zeros(1 << bits, bool)
    for row in np.flatnonzero(batch.flags & (BLANK | SAVE) == 0).tolist():
        if row >= begin:
            parts.add_row(batch, with_all_linear(plan), row)
    assert whole.names == parts.names
    assert np.flatnonzero(whole.known).tolist() == np.flatnonzero(parts.known).tolist()


def test_book_takes_the_rows_it_is_given():
    batch, plan = read(b"|a x\n|a y\n|c z\n", FeatureConfig(noconstant=True, ignore_linear=("c",)))
    book = NameIndex()
    book.add(batch, plan, 1, 2)
    assert list(book.names.values()) == ["a^y"]
    book.add(batch, plan, 2)
    assert list(book.names.values()) == ["a^y", "c^z"]
    book.add(read(b"|a x\n", FeatureConfig(), names=False)[0], plan)
    assert len(book.names) == 2


@given(st.dictionaries(st.integers(0, 2**32 - 1), st.text(max_size=5), max_size=5))
def test_book_survives_as_arrays(names):
    book = NameIndex()
    book.names = dict(names)
    arrays = book.arrays()
    assert name_index_from_arrays(arrays, 32).names == names
    assert arrays["name_slot"].tolist() == sorted(names)


def test_book_goes_on_where_it_was_stored():
    batch, plan = read(b"|a x y\n", FeatureConfig(noconstant=True))
    slots = np.frombuffer(expand_row(batch, plan, 0)[0], np.uint32).tolist()
    book = NameIndex()
    book.names = {slots[0]: "kept"}
    book = name_index_from_arrays(book.arrays(), 18)
    book.add(batch, plan)
    assert book.names == {slots[0]: "kept", slots[1]: "a^y"}


@pytest.mark.parametrize("change", [{"name_end": [2, 9]}, {"name_end": [3, 2]}, {"name_end": [2]}])
def test_damaged_names_are_refused(change):
    book = NameIndex()
    book.names = {1: "ab", 2: "c"}
    arrays = book.arrays() | {name: np.array(value) for name, value in change.items()}
    with pytest.raises(ModelError, match="names"):
        name_index_from_arrays(arrays, 18)


def test_sorted_features_keep_their_names():
    """``--sort_features`` puts features in another order and drops repeated ones; names follow."""
    plan = Plan(FeatureConfig(sort_features=True, bits=10))
    batch = parse_text(b"1 |w zeta:2 a b zeta:1 alpha", TextFormat(names=True))
    alone = Plan(FeatureConfig(bits=10, noconstant=True))
    slots = np.frombuffer(expand_row(batch, plan, 0)[0], np.uint32).tolist()
    names = term_names(batch, plan, 0)
    assert len(names) == len(slots) == 5

    def slot(name):
        single = parse_text(b"1 |w " + name.encode(), TextFormat(names=True))
        return np.frombuffer(expand_row(single, alone, 0)[0], np.uint32)[0]

    assert [slot(name.partition("^")[2]) for name in names[:-1]] == slots[:-1]


def test_the_namespace_named_0_is_not_the_anonymous_one():
    batch = parse_text(b"1 | x |0 y |u z", TextFormat(names=True))
    plan = Plan(FeatureConfig(interactions=("0,u",)))
    assert len(term_names(batch, plan, 0)) == len(expand_row(batch, plan, 0)[0]) // 4
    assert term_names(batch, plan, 0)[-1] == "0^y*u^z"
