"""Terms of sums, by name, against the plain twins of the learners and of what names features."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracle.dyadic_case import Case
from oracle.lrq import Lrq as LrqTwin
from oracle.options import Options
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import clean_lines, feature_config, gd_config

from vwlite.data.text_format import TextFormat, parse_text
from vwlite.evaluation.explain import Explainer
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.base import collect_non_finite
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.lrq import LrqConfig
from vwlite.learners.gd import Gd
from vwlite.learners.lrq import Lrq
from vwlite.training.trainer import Trainer

F32 = np.float32


class Source:
    def __init__(self, batch):
        self.batch = batch

    def batches(self, number):
        yield self.batch


def explained(learner, plan, text, format=None, **options):
    """The explanations of all lines."""
    result = []
    batch = parse_text(text, format or TextFormat(names=True))
    Trainer(learner, plan, Source(batch), [Explainer(result.append, **options)], row_by_row=True).run()
    return result


def total(score):
    return score.base + sum(term.product for term in score.terms) + score.others_product


def bound(score, products=None):
    """Bound how far the kernel's float32 sum may be from the exact one: see ``vwlite.evaluation.explain.Sum``.

    ``products``: of the terms as the kernel has them, where terms of one name are shown as one.
    """
    sizes = [abs(term.product) for term in score.terms] if products is None else np.abs(products).tolist()
    return (len(sizes) + 2) * 2**-24 * (abs(score.base) + sum(sizes)) + 1e-37


def random_table(learner, seed=5):
    learner.weights[:, 0] = np.random.default_rng(seed).normal(size=len(learner.weights))
    return learner


text_options = st.builds(
    Options,
    bits=st.just(8),
    noconstant=st.booleans(),
    interactions=st.lists(st.sampled_from([b"ab", b"aa", b"abu", b"::"]), max_size=2),
    ngram=st.lists(st.sampled_from([b"a2", b"2"]), max_size=1),
    ignore=st.sampled_from([b"", b"b"]),
    ignore_linear=st.sampled_from([b"", b"a"]),
)


BEYOND = Options(bits=8, noconstant=False, interactions=[b"aa"], ngram=[], ignore=b"", ignore_linear=b"")


@given(st.lists(clean_lines, min_size=1, max_size=4), text_options)
@example([b"0 |a x:12345678901234567890 x:12345678901234567890 x"], BEYOND)  # the sum of its squares is infinite
def test_terms_and_sums_are_the_twins(lines, options):
    features = feature_config(options)
    learner = random_table(Gd(gd_config(options), options.bits, learning=False))
    collect_non_finite(learner)
    text = text_format(features, skip_malformed=True, names=True)
    explanations = explained(learner, Plan(features), b"\n".join(lines), text)
    seen, w, expected = set(), learner.weights[:, 0], []
    with np.errstate(all="ignore"):
        for line in lines:
            example = parse_line(line, options)
            terms, raw = expand(example, options, seen).terms, example.base
            for slot, x, _ in terms:
                raw = raw + w[slot] * x
            sums = {}
            for slot, x, name in terms:
                key = name.decode("utf-8", "surrogateescape"), slot
                sums[key] = sums.get(key, 0.0) + float(x)
            shown = [(*key, float(F32(x))) for key, x in sums.items()]
            products = [float(w[slot]) * float(x) for slot, x, _ in terms]
            expected.append((raw, float(example.base), sorted(shown), products))
    assert len(explanations) == len(expected)
    for explanation, (raw, base, terms, products) in zip(explanations, expected, strict=True):
        (score,) = explanation.sums
        if np.isfinite(raw):
            assert F32(score.value).tobytes() == F32(raw).tobytes()
            if all(np.isfinite(value) for *_, value in terms):
                assert abs(total(score) - score.value) <= bound(score, products)
            else:  # terms of one feature, finite each, whose sum is beyond float32
                assert not np.isfinite(total(score))
        else:
            assert np.isnan(score.value)
        assert (score.base, sorted(term[:3] for term in score.terms)) == (base, terms)
        assert all(term.weight == w[term.slot] and term.product == term.weight * term.value for term in score.terms)
        sizes = [abs(term.product) for term in score.terms]
        assert sizes == sorted(sizes, reverse=True)


def test_top_terms_and_what_the_others_add():
    learner = random_table(Gd(GdConfig(), 8, learning=False))
    text, plan = b"'t |a x:2 y z |b u:-1\n\n |\n", Plan(FeatureConfig(bits=8))
    (whole, _), (cut, empty) = explained(learner, plan, text), explained(learner, plan, text, top=2)
    (all_terms,), (few,) = whole.sums, cut.sums
    assert (cut.tag, cut.location, len(all_terms.terms), len(few.terms), few.others) == ("t", "example 1", 5, 2, 3)
    assert few.terms == all_terms.terms[:2]
    assert few.others_product == pytest.approx(sum(term.product for term in all_terms.terms[2:]))
    assert [term.name for term in empty.sums[0].terms] == ["Constant"]
    assert explained(learner, plan, text, top=0)[0].sums[0].others == 5


def test_text_without_names_has_slots():
    learner = random_table(Gd(GdConfig(), 8, learning=False))
    (score,) = explained(learner, Plan(FeatureConfig(bits=8)), b"|a x y", TextFormat())[0].sums
    assert sorted(term.name for term in score.terms) == ["", "", "Constant"]
    assert abs(total(score) - score.value) <= bound(score)


def test_shrinkage_that_is_due_is_in_the_weights():
    features, config = FeatureConfig(bits=8), GdConfig(sgd=True, learning_rate=0.05, l1=0.02, l2=0.01)
    learner, text = Gd(config, 8), b"1 |a x:2 y\n0 |a y\n"
    learner.run(parse_text(text, TextFormat()), Plan(features), results_of(2), 0, 2)
    assert learner.get("gravity") > 0
    (first,) = explained(unlabelled(learner), Plan(features), b"|a x y")[0].sums
    before = {term.name: term.weight for term in first.terms}
    learner.apply_shrinkage()
    after = explained(unlabelled(learner), Plan(features), b"|a x y")[0].sums[0]
    assert {term.name: term.weight for term in after.terms} == pytest.approx(before)
    assert abs(total(after) - after.value) <= bound(after)


def results_of(rows):
    from vwlite.learners.row_results import Results

    results = Results()
    results.reserve(rows)
    return results


def unlabelled(learner):
    """Runs of it learn nothing."""
    learner.learning = False
    return learner


LRQ_LINES = ["|x a:2 b |y c:-0.5 d |z k", "0.25 |x a |z k", "|y c", "1 1 0.5 |x a b a |y d"]


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("specs", [("xy2",), ("xx1", "zy3")])
def test_lrq_crosses_features_by_their_factors(specs, dropout):
    options = Options(bits=10)
    config = LrqConfig(lrq=specs, lrqdropout=dropout)
    learner = random_table(Lrq(config, 10, learning=False))
    twin = LrqTwin(options, [(ord(spec[0]), ord(spec[1]), int(spec[2:])) for spec in specs], dropout, True)
    twin.gd.w[:] = learner.weights[:, 0]
    explanations = explained(learner, Plan(FeatureConfig(bits=10)), "\n".join(LRQ_LINES).encode())
    for line, explanation in zip(LRQ_LINES, explanations, strict=True):
        example = replace(parse_line(line.encode(), options), label=F32(np.nan))
        _, raw, _ = twin.process_example(example, expand(example, options, set()), False)
        (score,) = explanation.sums
        assert score.value == raw
        assert total(score) == pytest.approx(raw, rel=1e-5, abs=1e-5)
    crossed = {term.name for term in explanations[0].sums[0].terms if term.slot is None}
    assert crossed == ({"x^a*y^c", "x^a*y^d", "x^b*y^c", "x^b*y^d"} if specs == ("xy2",) else crossed)
    assert "x^a*x^b" in crossed or specs == ("xy2",)


DYADIC_LINES = ["|a x:2 y |b u v:-3", "1 1 0.5 |a x x |b u", "|a x", "|a x:1 x:-1 |b u", "|b u |a x y:0.1 z"]


@pytest.mark.parametrize("untouched", [False, True])
@pytest.mark.parametrize(
    "options", [{}, {"dot_offset": 0.5}, {"no_dot_linear": True}, {"pairs": ("ab", "ba", "bb")}, {"pairs": ("a,b",)}]
)
def test_dot_products_are_crossed_features(options, untouched):
    case = Case("squared", rank=3, noconstant=True, **options)
    if not untouched:
        case.fill(np.random.default_rng(3))
    explanations = explained(unlabelled(case.learner), case.plan, "\n".join(DYADIC_LINES).encode())
    for line, explanation in zip(DYADIC_LINES, explanations, strict=True):
        (score,) = explanation.sums
        assert total(score) == pytest.approx(score.value, rel=1e-6, abs=1e-6)
        if not untouched and "x:-1" not in line:
            row = case.row(line)
            assert score.value == pytest.approx(case.twin().predict(row) + score.base, rel=1e-5, abs=1e-5)
    names = {term.name for term in explanations[0].sums[0].terms}
    assert {"a^x*b^u", "a^x*b^v", "a^y*b^u", "a^y*b^v"} <= names
    assert ("a^x" in names) == ("no_dot_linear" not in options)
    assert ("a^x*Offset" in names) == ("dot_offset" in options)
    assert ("b^u*a^x" in names) == ("ba" in options.get("pairs", ()))


def test_rank_0_pairs_by_position_and_a_line_that_cannot_be_paired_has_no_terms():
    case = Case("squared", rank=0, noconstant=True)
    case.fill(np.random.default_rng(3))
    good, bad = explained(unlabelled(case.learner), case.plan, b"|a x:2 y |b u v\n|a x y |b u")
    assert {term.name for term in good.sums[0].terms if term.slot is None} == {"a^x*b^u", "a^y*b^v"}
    assert total(good.sums[0]) == pytest.approx(good.sums[0].value, rel=1e-6)
    assert (bad.sums[0].terms, total(bad.sums[0])) == ([], bad.sums[0].value)
