"""Several passes over tables: their batches are learned again, and no cache is written."""

import numpy as np
import pytest
from model_runs import csr_of

from vwlite import Model
from vwlite.data import dataset
from vwlite.errors import DataError

ROWS = np.random.default_rng(7).integers(0, 4, (300, 6)).astype(np.float32)
Y = np.where(ROWS[:, 0] + ROWS[:, 3] > 3, 1.0, -1.0)
TEXT = "".join(
    f"{y:g} | " + " ".join(f"{column}:{value:g}" for column, value in enumerate(row) if value) + "\n"
    for y, row in zip(Y, ROWS, strict=True)
)
CLASSES = np.arange(300) % 3 + 1
TEXT_OF_CLASSES = "".join(
    f"{label} {line.partition(' ')[2]}\n" for label, line in zip(CLASSES, TEXT.splitlines(), strict=True)
)
RUNS = [
    "--passes 3", "--passes 4 --holdout_off", "--passes 4 --shuffle --seed 2", "--passes 3 --curriculum easy",
    "--shuffle-first", "--bfgs --passes 4", "--passes 3 --classweight 1:3", "--passes 3 --examples 200",
    "--curriculum easy --curriculum-steps 50",
    "--loss_function logistic --passes 9 --holdout_period 3", "--passes 3 --binary --loss_function logistic",
]  # fmt: skip
OF_CLASSES = ["--oaa 3 --passes 3", "--ect 3 --passes 3", "--oaa 3 --oaa_subsample 1 --passes 4"]


@pytest.fixture
def no_files(monkeypatch):
    monkeypatch.setattr(dataset, "temporary_file", pytest.fail)


def forms():
    """The same rows in every form."""
    return {
        "dense": ROWS,
        "csr": csr_of(ROWS),
        "dicts": [{str(j): float(value) for j, value in enumerate(row) if value} for row in ROWS],
    }


@pytest.mark.parametrize("options", RUNS + OF_CLASSES)
@pytest.mark.parametrize("form", ["dense", "csr", "dicts"])
def test_the_bytes_are_those_of_a_run_over_text(options, form, monkeypatch):
    classes = options in OF_CLASSES
    expected = Model(options)
    told = expected.learn(TEXT_OF_CLASSES if classes else TEXT)
    monkeypatch.setattr(dataset, "temporary_file", pytest.fail)
    y = Y if not classes else CLASSES
    given = y.copy()
    model = Model(options)
    learned = model.learn(forms()[form], y)
    assert model.dumps() == expected.dumps()
    assert learned.average_loss == told.average_loss
    assert learned.holdout_loss == told.holdout_loss
    assert np.array_equal(y, given)


@pytest.mark.usefixtures("no_files")
def test_a_second_call_goes_on():
    one, two = Model("--holdout_off"), Model("--holdout_off")
    one.learn(ROWS, Y, passes=2)
    one.learn(ROWS, Y, passes=2)
    for _ in range(4):
        two.learn(ROWS, Y)
    assert np.array_equal(one.weights, two.weights)


def test_an_iterator_of_dicts_is_kept_in_a_temporary_cache():
    rows = forms()["dicts"]
    one, two = Model("--passes 3"), Model("--passes 3")
    one.learn(rows, Y)
    two.learn(iter(rows), Y)
    assert one.dumps() == two.dumps()


@pytest.mark.usefixtures("no_files")
@pytest.mark.parametrize("options", ["--passes 2", "--passes 2 --shuffle", "--shuffle-first", "--passes 2 --bfgs"])
def test_errors_name_the_row(options):
    y = Y.copy()
    y[217] = 0.5
    with pytest.raises(DataError, match=r"^row 217: label 0\.5 does not fit"):
        Model(f"--loss_function logistic {options}").learn(ROWS, y)
