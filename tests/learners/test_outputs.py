"""Several outputs against their plain twins, row by row and bit by bit; and against a learner for each."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle.options import Options
from oracle.outputs import Outputs as Twin
from oracle.parse import parse_line
from oracle.pipeline import expand
from vwtext import feature_config, gd_config, joined, sequences

from vwlite.data.text_format import parse_text
from vwlite.errors import Diverged, UsageError
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.outputs import OutputsConfig
from vwlite.learners.gd import SCALARS, Gd
from vwlite.learners.losses import LossConfig
from vwlite.learners.outputs import Outputs
from vwlite.learners.row_results import Results

from .test_gd import FEATURES, problems

COUNT = 3  # whose weights are in slots of four
NUMBERS = b"0 1 2 -3.5 10".split()
LOSSES = ("squared", "classic", "quantile", "expectile", "poisson")


def lists_of(numbers):
    elements = st.lists(st.sampled_from([*numbers, b""]), min_size=COUNT, max_size=COUNT)
    return elements.map(b",".join)


@st.composite
def cases(draw):
    """Lines, options, what is held out, whether rates are shared."""
    loss = draw(st.sampled_from(LOSSES))
    head = st.one_of(
        joined(
            lists_of(NUMBERS[:3] if loss == "poisson" else NUMBERS),
            st.sampled_from([b" ", b" ", b" 2 ", b" 0.5 ", b" 0 "]),
        ),
        st.just(b""),
    )
    lines = st.lists(joined(head, st.just(b"|x"), sequences(FEATURES, most=6)), min_size=1, max_size=8)
    lines, options, held = draw(problems(losses=(loss,), lines_of=lines))
    options.own, options.bits = True, options.bits + 2
    return lines, options, held, draw(st.booleans()) and not options.sparse_l2


def config_of(options, shared, taus=None, monotone=False):
    plain = gd_config(options)
    plain_fields = {field.name: getattr(plain, field.name) for field in fields(plain)}
    if taus:
        plain_fields["loss"] = LossConfig("quantile", quantile_tau=taus)
    return OutputsConfig(**plain_fields, outputs=COUNT, shared_rates=shared, monotone=monotone)


def learn(case, chunk=None, **own):
    """``(rows, score, raw, learner)``: float32[n, 2] of loss and features; float32[n, COUNT] twice."""
    lines, options, held, shared = case
    features = feature_config(options)
    learner = Outputs(config_of(options, shared, **own), options.bits)
    batch = parse_text(b"\n".join(lines), text_format(features, skip_malformed=False).of_words(numbers=True))
    labels = learner.labels()
    batch.label = labels.check(batch)
    assert not labels.malformed
    results = Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    plan, chunk = Plan(features), chunk or len(batch)
    for begin in range(0, len(batch), chunk):
        learner.run(batch, plan, results, begin, min(begin + chunk, len(batch)))
    rows = np.column_stack([results.loss, results.features.astype(np.float32)])
    return rows, learner.score[: len(batch)].copy(), learner.raw[: len(batch)].copy(), learner


def learn_like_twin(case):
    lines, options, held, shared = case
    inner = replace(options, bits=options.bits - 2)
    twin, seen, rows, answers = Twin(COUNT, inner, shared), set(), [], []
    for number, line in enumerate(lines):
        head, _, body = line.partition(b"|")
        label, weight = [*head.split(), b"", b"1"][:2] if head.split()[1:] else ([*head.split(), b""][0], b"1")
        labels = [np.float32(one) if one else None for one in label.split(b",")] if label else [None] * COUNT
        example = parse_line(b"|" + body, inner)
        first = twin.twins[0]
        assume(first.adaptive or all(one.t + float(weight) > one.idle for one in twin.twins))
        with np.errstate(all="ignore"):
            terms, count, squares = expand(example, inner, seen)
            learns = any(one is not None for one in labels) and not (held and held[number])
            result = twin.run(terms, squares, labels, np.float32(weight), learns)
        loss = np.float32(0)
        for _, _, one in result:
            loss = loss + one
        rows.append([loss, count])
        answers.append(result)
    return np.array(rows, np.float32), np.array(answers, np.float32), twin


def scalars_of(twin):
    idle = {"held_weight": 0.0, "unlabeled_weight": twin.idle}
    return {
        "time": twin.t,
        "gravity": twin.gravity,
        "contraction": twin.contraction,
        **idle,
        "min_label": float(twin.low),
        "max_label": float(twin.high),
        "rate": float(twin.rate),
    }


@given(cases())
def test_rows_weights_and_scalars_are_the_twins(case):
    rows, answers, twin = learn_like_twin(case)
    assume(np.isfinite(answers).all() and all(np.isfinite(one.w).all() for one in twin.twins))
    try:
        actual, score, raw, learner = learn(case)
    except Diverged:
        assume(False)
    np.testing.assert_array_equal(actual, rows)
    np.testing.assert_array_equal(score, answers[:, :, 0])
    np.testing.assert_array_equal(raw, answers[:, :, 1])
    table = learner.weights.reshape(-1, 4, learner.stride)
    rated = twin.twins[0].adaptive or twin.twins[0].normalized
    for number, one in enumerate(twin.twins):
        np.testing.assert_array_equal(table[:, number, 0], one.w)
        if rated and not case[3]:
            np.testing.assert_array_equal(table[:, number, 1:3], np.column_stack([one.g, one.n]))
        own = dict(zip(SCALARS, learner.output_scalars[number].tolist(), strict=True))
        own["unlabeled_weight"] += own.pop("held_weight")
        expected = scalars_of(one)
        assert {name: own[name] for name in expected if name in own} == {
            name: value for name, value in expected.items() if name in own
        }
    if rated and case[3]:
        np.testing.assert_array_equal(learner.rates[:, 1:3], np.column_stack([twin.rates.g, twin.rates.n]))
        norms = twin.rates.length, twin.rates.total, float(twin.rates.ratio)
        assert tuple(learner.output_scalars[0, :3]) == norms


TAUS = (0.1, 0.5, 0.75)


@given(cases(), st.sampled_from([None, TAUS]))
def test_rates_of_their_own_are_those_of_a_learner_each(case, taus):
    lines, options, held, _ = case
    if taus:
        options = replace(options, loss="quantile")
    try:
        _, score, raw, learner = learn((lines, options, held, False), taus=taus)
    except Diverged:
        assume(False)
    features = feature_config(replace(options, bits=options.bits - 2))
    for number in range(COUNT):
        plain = gd_config(options)
        own = LossConfig("quantile", quantile_tau=taus[number]) if taus else plain.loss
        single = Gd(replace(plain, loss=own), features.bits)
        text = b"\n".join(only(number, line) for line in lines)
        batch = parse_text(text, text_format(features, skip_malformed=False))
        results = Results()
        results.reserve(len(batch))
        results.holdout_mask = None if held is None else np.array(held, np.uint8)
        single.run(batch, Plan(features), results, 0, len(batch))
        np.testing.assert_array_equal(score[:, number].view(np.uint32), results.prediction.view(np.uint32))
        np.testing.assert_array_equal(raw[:, number].view(np.uint32), results.raw.view(np.uint32))
        columns = min(single.stride, 3)  # two where the largest input is not kept
        table = learner.weights.reshape(-1, 4, learner.stride)[:, number, :columns]
        np.testing.assert_array_equal(table, single.weights[:, :columns])
        np.testing.assert_array_equal(learner.output_scalars[number], single.scalars)


def loss_sums(lines, held, score, taus):
    """The sum of pinball losses of each line."""
    result = []
    for number, line in enumerate(lines):
        words = line.partition(b"|")[0].split()
        weight, total = np.float32(words[1] if words[1:] else 1), np.float32(0)
        for place, element in enumerate(words[0].split(b",") if words else ()):
            if element and weight > 0:
                error = np.float32(element) - score[number, place]
                tau = np.float32(taus[place])
                total += weight * np.float32(error * tau if error > 0 else -error * (np.float32(1) - tau))
        result.append(total)
    return np.array(result, np.float32)


@given(cases())
def test_monotone_predictions_are_sorted_ones_and_so_are_their_losses(case):
    lines, options, held, shared = case
    case = lines, replace(options, loss="quantile", link="identity"), held, shared
    try:
        rows, score, raw, learner = learn(case, taus=TAUS, monotone=True)
        _, crossing, wanted, other = learn(case, taus=TAUS)
    except Diverged:
        assume(False)
    np.testing.assert_array_equal(score, np.sort(crossing, axis=1))
    np.testing.assert_array_equal(raw, wanted)
    np.testing.assert_array_equal(learner.weights, other.weights)
    np.testing.assert_allclose(rows[:, 0], loss_sums(lines, held, score, TAUS), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": 3, "taus": (0.1, 0.9)}, "--quantile_tau has 2 numbers for 3 outputs"),
        ({"outputs": 2, "taus": (0.9, 0.1), "monotone": True}, "--quantile_tau must be ascending"),
        ({"outputs": 2, "taus": (0.9, 1.1)}, "takes a number from 0 to 1, not 1.1"),
    ],
)
def test_quantiles_that_are_none(options, message):
    with pytest.raises(UsageError, match=message):
        OutputsConfig(LossConfig("quantile", quantile_tau=options.pop("taus")), **options)


def test_several_quantiles_are_for_outputs():
    with pytest.raises(UsageError, match="beside --outputs only"):
        Gd(GdConfig(LossConfig("quantile", quantile_tau=TAUS)), 4)


def only(number, line):
    """The line with one element of its label; without, as an unlabelled line of the same importance cannot be written,
    of importance 1 at most."""
    head, bar, body = line.partition(b"|")
    words = head.split()
    element = words[0].split(b",")[number] if words else b""
    assume(element or len(words) < 2 or words[1] == b"1")
    return (b" ".join([element, *words[1:], b""]) if element else b"") + bar + body


def test_one_output_with_shared_rates_is_plain_gradient_descent():
    rows = b"\n".join(b"%d |x a:%d b:0.5 c%d" % (n % 4, n % 7, n % 3) for n in range(50))
    plain, one = Gd(OutputsConfig(outputs=1), 8), Outputs(OutputsConfig(outputs=1), 8)
    for learner in (plain, one):
        config = feature_config(Options(bits=8))
        text = text_format(config, skip_malformed=True)
        batch = parse_text(rows, text if learner is plain else text.of_words(numbers=True))
        if learner is one:
            batch.label = one.labels().check(batch)
        results = Results()
        results.reserve(len(batch))
        learner.run(batch, Plan(config), results, 0, len(batch))
    np.testing.assert_array_equal(plain.weights[:, 0], one.weights[:, 0])
    np.testing.assert_array_equal(plain.weights[:, 1:3], one.rates[:, 1:3])
    np.testing.assert_array_equal(plain.scalars, one.scalars)


LISTS = {
    b"1,2,3 |": [1, 2, 3],
    b"1,,3 't|": [1, np.nan, 3],
    b"1e1,-.5,+2 2 tag|": [10, -0.5, 2],
    b",,-1 |": [np.nan, np.nan, -1],
    b"|": [np.nan] * 3,
    b",, |": [np.nan] * 3,
}
WRONG = {
    b"1,2 |": "3 outputs expected, 2 found",
    b"1,2,3,4 |": "3 outputs expected, 4 found",
    b"5 |": "3 outputs expected, 1 found",
    b"1,x,3 |": "element 'x' of the label is not a number",
    b"1,2,nan |": "element 'nan' of the label is not a number",
    b"1,1e99,3 |": "element '1e99' of the label is not a number",
    b"1,-2,3 |": "label -2 does not fit --loss_function poisson: labels must be 0 or more",
}


def checked(lines, loss="squared"):
    batch = parse_text(
        b"\n".join(lines), text_format(feature_config(Options()), skip_malformed=True).of_words(numbers=True)
    )
    learner = Outputs(OutputsConfig(LossConfig(loss), outputs=3), 6)
    labels = learner.labels()
    batch.label = labels.check(batch)
    return batch, labels, learner


def test_labels_are_lists_in_which_some_are_missing():
    batch, labels, learner = checked(LISTS)
    assert not labels.malformed
    for row, wanted in enumerate(LISTS.values()):
        np.testing.assert_array_equal(learner.label_of(batch, row), np.float32(wanted))
    assert np.isnan(batch.label).tolist() == [np.isnan(wanted).all() for wanted in LISTS.values()]
    assert batch.importance.tolist() == [1, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("line", WRONG)
def test_other_labels_are_malformed(line):
    batch, labels, _ = checked([b"1,2,3 |", line], "poisson")
    assert labels.malformed == {1: WRONG[line]}
    assert np.isnan(batch.label).tolist() == [False, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": 0}, "takes the number of outputs"),
        ({"outputs": 70000}, "takes 1 to 65536 outputs"),
        ({"outputs": 2, "binary": True}, "--binary does not go with --outputs"),
        ({"outputs": 2, "ftrl": True, "shared_rates": True}, "--ftrl does not go with --shared_rates"),
        ({"outputs": 2, "sparse_l2": 0.1, "shared_rates": True}, "--sparse_l2 does not go with --shared_rates"),
        ({"outputs": 2, "named_outputs": ("a",)}, "has 1 names for 2 outputs"),
        ({"outputs": 2, "named_outputs": ("a", "a")}, "names an output twice"),
        ({"outputs": 2, "loss": LossConfig("hinge")}, "takes losses of numbers, not --loss_function hinge"),
    ],
)
def test_what_does_not_go_together(options, message):
    with pytest.raises(UsageError, match=message):
        OutputsConfig(**options)


def test_a_table_has_room_for_all_outputs():
    with pytest.raises(UsageError, match="9 outputs need more than the 8 slots of -b 3"):
        Outputs(OutputsConfig(outputs=9), 3)
    assert len(Outputs(OutputsConfig(outputs=9), 4).rates) == 1
