"""Batch optimisation of several outputs and of classes: sums against a plain twin, minima against closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle.bfgs_vectors import Twin

from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.bfgs import BfgsMulticlass, BfgsOutputs
from vwlite.learners.configs.bfgs import BfgsMulticlassConfig, BfgsOutputsConfig
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results

BITS, INPUTS, COUNT = 8, 4, 3
FEATURES = FeatureConfig(bits=BITS, noconstant=True)
UNIT = dict(logistic_min=0.0, logistic_max=1.0, limited=True)
TRANSFERS = {
    "identity": LossConfig("squared"),
    "exp": LossConfig("poisson"),
    "sigmoid": LossConfig("logistic", **UNIT),
    "tanh": LossConfig("logistic", limited=True),
}
TWINS = {"multinomial": "softmax", "logistic": "sigmoid"}
CLASSES = [*TWINS]


def outputs(transfer, **options):
    return BfgsOutputs(BfgsOutputsConfig(TRANSFERS[transfer], outputs=COUNT, **options), BITS)


def classes(loss="multinomial", **options):
    return BfgsMulticlass(BfgsMulticlassConfig(multiclass=COUNT, class_loss=loss, **options), BITS)


def rows_of(learner, labels, x, weight):
    """A batch whose columns are features."""
    of_classes = isinstance(learner, BfgsMulticlass)
    shares = of_classes and learner.config.label_shares
    words = text_format(FEATURES, skip_malformed=True)
    if not of_classes or shares:
        words = words.of_words(lists=True) if shares else words.of_words(numbers=True)
    text = (
        f"{label}{'' if shares else f' {float(h)!r}'} | {' '.join(f'{n}:{v!r}' for n, v in enumerate(row))}"
        for label, h, row in zip(labels, weight, x.tolist(), strict=True)
    )
    batch = parse_text("\n".join(text).encode(), words)
    batch.label = learner.labels().check(batch)
    return batch


def run_pass(learner, batch, held=None, chunk=None, features=FEATURES):
    results = Results()
    results.reserve(len(batch))
    results.holdout_mask = None if held is None else np.array(held, np.uint8)
    chunk = chunk or len(batch)
    for begin in range(0, len(batch), chunk):
        learner.run(batch, Plan(features), results, begin, min(begin + chunk, len(batch)))
    return results


def optimise(learner, batch, passes=300):
    """Float64[inputs, COUNT] of the weights, and what was told."""
    told = []
    learner.watch(passes, told.append, lambda: None)
    while not learner.finished:
        run_pass(learner, batch)
        learner.end_pass()
    return of_inputs(learner, batch, learner.weights[:, 0]).astype(float), told


def of_inputs(learner, batch, slots):
    """[inputs, COUNT] of a vector of all slots."""
    width = 1 << learner.layout[0]
    features = batch.feature_hash[:INPUTS] & (1 << BITS - learner.layout[0]) - 1
    return slots[(features * width)[:, None] + np.arange(COUNT)]


def text_of(y):
    return [",".join("" if v != v else f"{v:.9g}" for v in row) for row in y.astype(np.float32).tolist()]


NUMBERS = {
    "identity": [-2.0, 0.0, 1.5, np.nan],
    "exp": [0.0, 1.0, 2.5, np.nan],
    "sigmoid": [0.0, 0.25, 1.0, np.nan],
    "tanh": [-1.0, 0.5, 1.0, np.nan],
}
INPUT = st.integers(-4, 4).map(lambda number: number / 2 or 0.25)


@st.composite
def problems(draw, labels):
    """Labels, inputs, importance, what is held out, weights, a direction, rows at a time."""
    rows = draw(st.integers(1, 7))
    some = {"min_size": rows, "max_size": rows}
    y = draw(st.lists(labels, **some))
    x = np.array(draw(st.lists(st.lists(INPUT, min_size=INPUTS, max_size=INPUTS), **some)))
    weight = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), **some))
    held = draw(st.one_of(st.none(), st.lists(st.integers(0, 1), **some)))
    start, along = np.random.default_rng(draw(st.integers(0, 99))).integers(-3, 4, (2, INPUTS, COUNT)) / 4
    return y, x, weight, held, start, along, draw(st.sampled_from([1, 3, 99]))


def compare(learner, labels, targets, problem, twin):
    """A pass for the gradient and one for the curvature, against the twin's sums of rows."""
    _, x, weight, held, start, along, chunk = problem
    batch = rows_of(learner, labels, x, weight)
    width, features = 1 << learner.layout[0], batch.feature_hash[:INPUTS] & (1 << BITS - learner.layout[0]) - 1
    slots = (features * width)[:, None] + np.arange(COUNT)
    learner.weights[slots, 0] = start
    expected = twin.sums(x, targets, weight, held, start, along)
    run_pass(learner, batch, held, chunk)
    close = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(of_inputs(learner, batch, learner.vectors[:, 0]), expected.gradient, **close)
    np.testing.assert_allclose(of_inputs(learner, batch, learner.vectors[:, 2]), expected.diagonal, **close)
    np.testing.assert_allclose(learner.sums, [expected.loss, expected.weight, 0], **close)
    learner.gradient = learner.first = False
    learner.vectors[slots, 1] = along
    run_pass(learner, batch, held, chunk)
    np.testing.assert_allclose(learner.sums[2], expected.curvature, **close)


@pytest.mark.parametrize("transfer", TRANSFERS)
@given(st.data())
def test_a_pass_of_outputs_sums_what_the_twin_sums(transfer, data):
    list_of = st.lists(st.sampled_from(NUMBERS[transfer]), min_size=COUNT, max_size=COUNT)
    problem = data.draw(problems(list_of))
    y = np.array(problem[0])
    compare(outputs(transfer), text_of(y), y, problem, Twin(transfer))


@pytest.mark.parametrize("count", [6, 8, 15, 16, 21, 40])
@given(problems(st.lists(st.sampled_from(NUMBERS["sigmoid"]), min_size=COUNT, max_size=COUNT)))
def test_many_outputs_are_summed_as_few(count, problem):
    """To the same bytes, of columns that repeat: eight and more are summed side by side."""
    numbers, x, weight, held, start, along, chunk = problem
    y, columns, found, bits = np.array(numbers), np.arange(count) % COUNT, [], 12
    table = FeatureConfig(bits=bits, noconstant=True)
    for size in (COUNT, count):
        learner = BfgsOutputs(BfgsOutputsConfig(TRANSFERS["sigmoid"], outputs=size), bits)
        batch = rows_of(learner, text_of(y[:, columns[:size]]), x, weight)
        features = batch.feature_hash[:INPUTS] & (1 << bits - learner.layout[0]) - 1
        slots = (features << learner.layout[0])[:, None] + np.arange(size)
        learner.weights[slots, 0] = start[:, columns[:size]]
        run_pass(learner, batch, held, chunk, table)
        first = learner.vectors[slots].copy()
        learner.gradient = learner.first = False
        learner.vectors[slots, 1] = along[:, columns[:size]]
        run_pass(learner, batch, held, chunk, table)
        found.append((first[:, columns if size == COUNT else np.arange(size)], learner.sums[2]))
        assert not np.delete(learner.vectors, slots, axis=0).any()
    assert np.array_equal(found[0][0], found[1][0])
    if count % COUNT == 0:
        assert found[1][1] == pytest.approx(found[0][1] * count / COUNT, rel=1e-12)


@pytest.mark.parametrize("loss", CLASSES)
@pytest.mark.parametrize("first", [0, 1])
@given(st.data())
def test_a_pass_of_classes_sums_what_the_twin_sums(loss, first, data):
    problem = data.draw(problems(st.integers(0, COUNT - 1)))
    learner = classes(loss, indexing=first)
    labels = [number + first for number in problem[0]]
    compare(learner, labels, np.eye(COUNT)[problem[0]], problem, Twin(TWINS[loss]))


SHARES = st.dictionaries(st.integers(1, COUNT), st.sampled_from([0.25, 0.5, 1.0, 3.0]), min_size=1)


@given(problems(SHARES), st.sampled_from([0.0, 0.25]))
def test_a_pass_of_shares_sums_what_the_twin_sums(problem, smoothing):
    y = np.array([[shares.get(c + 1, 0) / sum(shares.values()) for c in range(COUNT)] for shares in problem[0]])
    y = np.where((y == 1).any(axis=1)[:, None], (1 - smoothing) * y + smoothing / COUNT, y)
    labels = [" ".join(f"{c}:{share}" for c, share in shares.items()) for shares in problem[0]]
    learner = classes(label_shares=True, smoothing=smoothing, indexing=1)
    problem = (*problem[:2], [1.0] * len(labels), *problem[3:])
    compare(learner, labels, y, problem, Twin("softmax"))


def data(rows=80, seed=0):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, INPUTS)), 3)
    return x, x @ rng.normal(size=(INPUTS, COUNT)), rng.integers(1, 4, rows).astype(float), rng


KINDS = [{}, {"hessian_on": True}, {"conjugate_gradient": True}, {"mem": 2}]


@pytest.mark.parametrize("l2", [0.5, 5.0, 50.0])
@pytest.mark.parametrize("options", KINDS)
def test_ridge_regression_of_outputs_has_its_closed_form(options, l2):
    x, z, weight, rng = data()
    y = (z + rng.normal(size=z.shape)).astype(np.float32)
    y[::7, 1] = np.nan
    learner = outputs("identity", l2=l2, termination=0.0, **options)
    actual, told = optimise(learner, rows_of(learner, text_of(y), x, weight))
    for c in range(COUNT):
        known = ~np.isnan(y[:, c])
        scaled = x[known].T * weight[known]
        best = np.linalg.solve(scaled @ x[known] + l2 / 2 * np.eye(INPUTS), scaled @ y[known, c])
        np.testing.assert_allclose(actual[:, c], best, rtol=1e-6, atol=1e-6 * abs(best).max())
    assert told[-1] == "note: no step lowers the loss any further"


LABELS = {
    "identity": lambda z, rng: z + rng.normal(size=z.shape),
    "exp": lambda z, rng: rng.poisson(np.exp(np.clip(z, -3, 1.5))),
    "sigmoid": lambda z, rng: 1 / (1 + np.exp(-z - rng.normal(size=z.shape))),
    "tanh": lambda z, rng: np.tanh(z + rng.normal(size=z.shape)),
}


@pytest.mark.parametrize("l2", [0.5, 5.0])
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_at_the_minimum_of_a_transfer_the_plain_gradient_is_zero(transfer, l2):
    x, z, weight, rng = data()
    y = LABELS[transfer](z, rng).astype(np.float32)
    learner = outputs(transfer, l2=l2, termination=0.0)
    actual, _ = optimise(learner, rows_of(learner, text_of(y), x, weight))
    assert_stationary(Twin(transfer), x, y.astype(float), weight, actual, l2)


@pytest.mark.parametrize("l2", [0.5, 5.0])
@pytest.mark.parametrize("loss", CLASSES)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_at_the_minimum_of_classes_the_plain_gradient_is_zero(loss, l2, first, smoothing):
    """Whether classes are numbered from 0 is told by labels, perhaps late in the first pass."""
    x, z, weight, rng = data()
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    if loss == "logistic":
        smoothing = 0.0
    learner = classes(loss, l2=l2, termination=0.0, smoothing=smoothing)
    labels = (y + first).tolist()
    at = next(row for row, label in enumerate(labels) if label in (0, COUNT))
    labels = [*labels[at + 1 :], *labels[: at + 1]]  # the telling one comes last or early
    x, weight, y = (np.roll(array, -at - 1, axis=0) for array in (x, weight, y))
    actual, _ = optimise(learner, rows_of(learner, labels, x, weight))
    target = (1 - smoothing) * np.eye(COUNT)[y] + smoothing / COUNT
    assert_stationary(Twin(TWINS[loss]), x, target, weight, actual, l2)


def assert_stationary(twin, x, y, weight, found, l2):
    """The distance to the minimum, by Newton's step in float64, is 1e-6 of the weights' size at most."""
    sums = twin.sums(x, y, weight, None, found, found)
    gradient = sums.gradient + l2 * found
    step = np.linalg.solve(twin.hessian(x, y, weight, found) + l2 * np.eye(found.size), gradient.ravel())
    assert abs(step).max() < 1e-6 * abs(found).max()


@pytest.mark.parametrize("transfer", ["identity", "sigmoid", "exp", "softmax"])
def test_slopes_of_the_twin_are_differences_of_its_losses(transfer):
    rng = np.random.default_rng(1)
    x, y, weight = rng.normal(size=(9, INPUTS)), rng.dirichlet(np.ones(COUNT), 9), rng.integers(1, 3, 9)
    w, along, step = rng.normal(size=(INPUTS, COUNT)), rng.normal(size=(INPUTS, COUNT)), 1e-5
    ahead, behind = (Twin(transfer).sums(x, y, weight, None, w + sign * step * along, along) for sign in (1, -1))
    here = Twin(transfer).sums(x, y, weight, None, w, along)
    assert (ahead.loss - behind.loss) / (2 * step) == pytest.approx((here.gradient * along).sum(), rel=1e-7)
    curved = ((ahead.gradient - behind.gradient) * along).sum() / (2 * step)
    bend = along.ravel() @ Twin(transfer).hessian(x, y, weight, w) @ along.ravel()
    assert curved == pytest.approx(bend, rel=1e-6)


def test_two_examples_have_the_minimum_of_their_mean():
    """Labels 1 and 3 of importance 0.7 and 0.3, and one label of these shares."""
    x, _, _, rng = data(40)
    actual = []
    share = rng.choice([0.25, 0.5, 0.75], 40)
    one, two = classes(l2=1.0, termination=0.0), classes(l2=1.0, termination=0.0, label_shares=True)
    batch = rows_of(one, [1] * 40 + [3] * 40, np.vstack([x, x]), [*share, *(1 - share)])
    actual.append(optimise(one, batch)[0])
    batch = rows_of(two, [f"1:{a} 3:{1 - a}" for a in share], x, [1.0] * 40)
    actual.append(optimise(two, batch)[0])
    np.testing.assert_allclose(actual[0], actual[1], rtol=1e-5, atol=1e-6)


def test_a_penalty_on_absolute_weights_leaves_zeros():
    x, z, weight, rng = data()
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    learner = classes(l1=10.0, termination=0.0)
    actual, _ = optimise(learner, rows_of(learner, (y + 1).tolist(), x, weight))
    slope = Twin("softmax").sums(x, np.eye(COUNT)[y], weight, None, actual, actual).gradient
    assert 0 < np.count_nonzero(actual) < actual.size
    assert abs(slope[actual == 0]).max() <= 10 + 1e-4
    np.testing.assert_allclose(slope[actual != 0], -10 * np.sign(actual[actual != 0]), rtol=1e-4)


def test_one_output_is_batch_optimisation_of_one_number():
    from vwlite.learners.bfgs import Bfgs
    from vwlite.learners.configs.bfgs import BfgsConfig

    x, z, weight, _ = data()
    one = BfgsOutputs(BfgsOutputsConfig(outputs=1, l2=1.0, termination=0.0), BITS)
    batch = rows_of(one, text_of(z[:, :1]), x, weight)
    optimise(one, batch)
    plain = Bfgs(BfgsConfig(l2=1.0, termination=0.0), BITS)
    batch.label = z[:, 0].astype(np.float32)
    plain.watch(50, lambda line: None, lambda: None)
    while not plain.finished:
        run_pass(plain, batch)
        plain.end_pass()
    np.testing.assert_allclose(one.weights, plain.weights, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (BfgsMulticlassConfig, {"multiclass": 3, "class_loss": "crammer_singer"}, "has a solver of its own"),
        (BfgsMulticlassConfig, {"multiclass": 3, "average": True}, "--average does not go with --multiclass"),
        (BfgsMulticlassConfig, {"multiclass": 3, "ftrl": True}, "--ftrl does not go with --bfgs"),
        (BfgsOutputsConfig, {"outputs": 3, "loss": LossConfig("perceptron")}, "perceptron does not go with --bfgs"),
        (BfgsOutputsConfig, {"outputs": 3, "loss": LossConfig("hinge")}, "takes losses of numbers"),
        (BfgsOutputsConfig, {"outputs": 3, "binary": True}, "--binary does not go with --bfgs"),
    ],
)
def test_what_does_not_go_with_it(kind, options, message):
    with pytest.raises(UsageError, match=message):
        kind(**options)


def test_more_outputs_than_slots_are_refused():
    with pytest.raises(UsageError, match="3 outputs need more than the 2 slots"):
        BfgsOutputs(BfgsOutputsConfig(outputs=3), 1)
    with pytest.raises(UsageError, match="at least 2 passes"):
        outputs("identity").watch(1, print, lambda: None)


@pytest.mark.parametrize("kind", [lambda: outputs("identity", l2=1.0), lambda: classes(l2=1.0)])
def test_predicting_between_passes_changes_nothing(kind):
    x, z, weight, _ = data(20)
    learner = kind()
    labels = text_of(z) if isinstance(learner, BfgsOutputs) else (z.argmax(axis=1) + 1).tolist()
    batch = rows_of(learner, labels, x, weight)
    learner.watch(9, lambda line: None, lambda: None)
    run_pass(learner, batch)
    before = [array.copy() for array in (learner.weights, learner.vectors, learner.sums, learner.scalars)]
    tester = learner.tester()
    run_pass(tester, batch)
    assert tester.native is learner.predictor
    for one, other in zip(before, (learner.weights, learner.vectors, learner.sums, learner.scalars), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_model_that_does_not_know_the_first_class_goes_on_from_its_weights():
    """Of two runs the second finds that classes are numbered from 0: what was 1 in the first is 1 in it."""
    x, z, weight, _ = data(60)
    y = z[:, :2].argmax(axis=1) + 1  # neither 0 nor the number of classes
    learner = classes(l2=1.0, termination=0.0)
    actual, _ = optimise(learner, rows_of(learner, y.tolist(), x, weight))
    assert learner.get("first") == -1
    again = classes(l2=1.0, termination=0.0)
    again.weights[:] = learner.weights
    again.watch(2, lambda line: None, lambda: None)
    batch = rows_of(again, [0, *y.tolist()], np.vstack([x[:1] * 0, x]), [1.0, *weight])
    run_pass(again, batch)
    assert again.get("first") == 0
    rotated = of_inputs(again, batch, again.weights[:, 0])
    np.testing.assert_array_equal(rotated, np.roll(actual.astype(np.float32), 1, axis=1))
