"""Hypothesis strategies: lines of Vowpal Wabbit text, good and odd, and the options that read them."""

from hypothesis import strategies as st
from oracle.options import Options

from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig

MADE = b"\x80\x84\x85"  # numbers of the namespaces of the constant, affixes and spellings
BOM = b"\xef\xbb\xbf"
NUMBERS = b"0 1 -1 2 0.5 .25 -3. 10 1e2 -1.5E-3 0.1 1.7 -0.0 12345.678 16777217 12345678901234567890".split()
ODD_NUMBERS = [
    *b"nan -nan nan(2) inf -INF infinity +1 1e e5 -.e- - + . -. 0x1p3 -0 1e400 -1e400 1e-400 1e-45".split(),
    *b"1e38 1e99999999999 3e4294967297 1b 1..2 --1 1e+5 1_0 00000000000000000000001 16777161 0.016777161 5'".split(),
    b"1e-37", b"1e-38", b"4e38", b"1e256", b"1e-128",
    b"0." + b"0" * 40 + b"1", b"1" * 45, b"." + b"123456789" * 5, b"1." + b"0" * 17 + b"1",
]
NAMES = [
    *b"x y a b user the 12 007 item-7 +1_. 123456789012345678901234 exactly16letters seventeen-letters a1 A".split(),
    *(name.encode() for name in ("é", "人", "Año", "a-name-of-more-than-thirty-two-letters-é")),
]
SPACES = b"a b a b u user x 1 12 \xc3\xa9 affixed".split()

# Pieces of lines.
FEATURES = [
    *(b" " + name for name in NAMES),
    *(b" x:" + number for number in NUMBERS),
    b"\ty:2", b"  b", " é:t".encode(),
]
BARS = [*(b" |" + name for name in SPACES), b" |", b" |a:2", b" |b:.5", b" |x:-1e1"]
ODDITIES = [
    *(bar.lstrip() for bar in BARS),
    *(b" y:" + number for number in ODD_NUMBERS),
    *(b"|a:" + number for number in ODD_NUMBERS),
    *b" |:~|:~::~|:1~ :~ :3~ x:~ x: 5~ x:\t5~ x:\r5~ x:\v5~ x::~ x:1:2~ x|b~ x:t|b~\r~\xff~\x00~ \x01x\x02".split(b"~"),
    *b"\t~'~save_x~ ~ :~ :0~ :t~ x:-5t~ \x0bq\x0c~ |b:~|a:nan~\xe2\x80\xa8~ 'x~ x:nan".split(b"~"),
]
HEADS = [
    *(number + b" " for number in NUMBERS),
    b"", b"", b"1 2 'tag", b"-1 0.5 3 'tag", b"'tag", b"2 1 0.25 ", b"1 2 3 'tag ",
]
ODD_HEADS = [
    *(number + b" " for number in ODD_NUMBERS),
    *(b"x " + number + b" t" for number in ODD_NUMBERS),
    BOM, BOM + b"1 ", b"0\t1 ", b"1\t2\t3 ", b"1 2 3 4 ", b"1 2 3 4 'tag ", b"\r1 ",
    b"-1 0.5 3 tag", b"save", b"1 save_x", b"1 -2 ", b"1",
]

names = st.one_of(st.sampled_from(NAMES), st.text("abXY059. '\x01é", max_size=40).map(str.encode))
digits = st.text("0123456789", max_size=22)
signs = st.sampled_from(["", "-"])
spelled = st.builds("{}{}.{}".format, signs, digits, digits)
exponents = st.builds("{}{}{}".format, spelled, st.sampled_from(["e", "E", "e-", "E+"]), st.integers(0, 400))
HEXADECIMAL = r"\A[+-]?0[xX]([0-9a-fA-F]{1,9}\.?[0-9a-fA-F]{0,9}|\.[0-9a-fA-F]{1,9})([pP][+-]?[0-9]{1,3})?\Z"
hexadecimals = st.from_regex(HEXADECIMAL).map(str.encode)
numbers = st.one_of(st.sampled_from(ODD_NUMBERS + NUMBERS), spelled.map(str.encode), exponents.map(str.encode))


def sequences(*kinds, most=12):
    return st.lists(st.one_of(*map(st.sampled_from, kinds)), max_size=most).map(b"".join)


def joined(*parts):
    return st.tuples(*parts).map(b"".join)


noise = st.binary(max_size=20).map(lambda raw: raw.translate(None, b"\n" + MADE))
lines = joined(
    st.one_of(st.sampled_from(HEADS), st.sampled_from(HEADS), st.sampled_from(ODD_HEADS), noise),
    st.sampled_from(BARS).map(bytes.lstrip),
    sequences(FEATURES, FEATURES, FEATURES, BARS, ODDITIES),
    st.one_of(st.sampled_from([b"", b"", b"", b"\r", b"\r\r", b" ", b"\t"]), names, noise),
)
# What the strict parser must take.
clean_lines = joined(
    st.sampled_from(HEADS),
    st.sampled_from(BARS).map(bytes.lstrip),
    sequences(FEATURES, FEATURES, FEATURES, BARS),
    st.just(b" x"),
)

affix_specs = st.builds(
    "{}{}{}".format, st.sampled_from(["", "+", "-"]), st.integers(1, 7), st.sampled_from(["", "a", "b", "u", "x", "1"])
)
text_options = st.builds(
    Options,
    hash=st.sampled_from(["strings", "strings", "all"]),
    hash_seed=st.sampled_from([0, 0, 1, 7, 2**32 - 1]),
    affix=st.one_of(st.just(""), st.lists(affix_specs, max_size=4).map(",".join)),
    spelling=st.one_of(st.just(b""), st.sets(st.sampled_from(b"abux1 "), max_size=4).map(bytes)),
    redefine=st.lists(st.sampled_from([b"a:=b", b"b:=a", b":=x", b"x:=:", b"u:=ab", b"\xc3:=a"]), max_size=2),
)


def letters(raw):
    r"""An option's value with every byte written as ``\xHH``."""
    return "".join(f"\\x{byte:02x}" for byte in raw)


def feature_config(options):
    """vwlite's configuration of the twin's ``options``."""
    numbered = [tuple(part.decode() for part in getattr(options, n)) for n in ("ngram", "skips", "feature_limit")]
    return FeatureConfig(
        bits=options.bits,
        hash=options.hash,
        hash_seed=options.hash_seed,
        affix=options.affix,
        spelling=tuple(chr(byte).replace(" ", "_") for byte in options.spelling),
        redefine=tuple(rule_text(rule) for rule in options.redefine),
        ignore=(letters(options.ignore),) if options.ignore else (),
        keep=(letters(options.keep),) if options.keep is not None else (),
        ignore_linear=(letters(options.ignore_linear),) if options.ignore_linear else (),
        ngram=numbered[0],
        skips=numbered[1],
        feature_limit=numbered[2],
        noconstant=options.noconstant,
        interactions=tuple(map(letters, options.interactions)),
        permutations=options.permutations,
        leave_duplicate_interactions=options.leave_duplicate_interactions,
    )


def rule_text(rule):
    target, _, sources = rule.partition(b":=")
    return f"{letters(target)}:={letters(sources)}"


def gd_config(options):
    """vwlite's configuration of the twin's ``options``."""
    loss = LossConfig(
        options.loss,
        quantile_tau=options.quantile_tau,
        expectile_q=options.expectile_q or None,
        logistic_min=options.logistic_min,
        logistic_max=options.logistic_max,
    )
    names = "link learning_rate power_t initial_t decay_learning_rate l1 l2 sparse_l2 min_prediction max_prediction"
    same = {name: getattr(options, name) for name in [*names.split(), "initial_weight", "constant"]}
    return GdConfig(loss=loss, **same, **{rule: True for rule in options.rules})
