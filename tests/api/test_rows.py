"""Rows of tables: a model learns and answers what it does of their text."""

import numpy as np
import pytest
from model_runs import csr_of

from vwlite import Model
from vwlite.errors import DataError

RANDOM = np.random.RandomState(1)
USERS, ITEMS = (RANDOM.randint(-2, 4, (40, 3)) * (RANDOM.rand(40, 3) < 0.7) for _ in range(2))
Y, CLASSES, WEIGHT = RANDOM.randint(0, 2, 40) * 2 - 1, RANDOM.randint(1, 4, 40), RANDOM.randint(1, 3, 40)


def text_of(labels, **spaces):
    for row, (label, weight) in enumerate(zip(labels.tolist(), WEIGHT.tolist(), strict=True)):
        line = f"{label} {weight} "
        for space, table in spaces.items():
            features = " ".join(f"{j}:{x}" for j, x in enumerate(table[row].tolist()) if x)
            line += f"|{'' if space == 'none' else space} {features} "
        yield line


DATA = {
    "array": (USERS, {"none": USERS}),
    "floats": (USERS.astype(float), {"none": USERS}),
    "sparse": (csr_of(USERS), {"none": USERS}),
    "namespaces": ({"user": USERS, "item": csr_of(ITEMS)}, {"user": USERS, "item": ITEMS}),
}


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("options", "labels"),
    [("--loss_function logistic -q ui", Y), ("--multiclass 3 --indexing 1", CLASSES), ("--oaa 3 --shuffle", CLASSES)],
)
def test_a_table_is_learned_as_its_text(options, labels, name, passes):
    data, spaces = DATA[name]
    from_rows, from_text = Model(options), Model(options)
    learned = from_rows.learn(data, labels, weight=WEIGHT, passes=passes)
    lines = [*text_of(labels, **spaces)]
    assert learned.average_loss == from_text.learn(lines, passes=passes).average_loss
    assert from_rows.dumps() == from_text.dumps()
    for raw in (False, True):
        assert np.array_equal(from_rows.predict(data, raw=raw), from_text.predict(lines, raw=raw))


def test_raw_answers_of_softmax_are_sums_of_weights():
    model = Model(multiclass=3, indexing=1, bits=18)
    model.learn(USERS, CLASSES)
    weights = np.stack([model.weights[model.slot(str(j)) : model.slot(str(j)) + 3] for j in range(3)])
    constant = model.weights[(11650396 << 3) % 2**18 :][:3]
    assert np.allclose(model.predict(USERS, raw=True), USERS @ weights + constant, atol=1e-5)


def test_wrong_values_are_named_and_nothing_is_learned():
    model = Model()
    broken = np.ones((3, 2))
    broken[1, 1] = np.nan
    with pytest.raises(DataError, match="row 1, column 1"):
        model.learn(broken, np.ones(3))
    with pytest.raises(DataError, match="y has 2 entries, the data have 3 rows"):
        model.learn(np.ones((3, 2)), [1, 2])
    assert not model.weights.any()
