"""``vwlite crr -i``: two runs make the model of one, and what contradicts the model is refused."""

import json

import numpy as np
import pytest
from cli.test_crr import DATA, SVMLIGHT

from vwlite.solvers.crr.config import CrrConfig
from vwlite.solvers.crr.dataset import GradedLabels
from vwlite.solvers.crr.weights import Weights
from vwlite.storage import model_file


@pytest.fixture(autouse=True)
def files(write):
    write("data.vw", DATA)
    write("data.svm", SVMLIGHT)


def crr(vwlite, *options, **more):
    return vwlite("crr", "data.vw", "--quiet", *options, **more)


WAYS = [
    "", "--alpha 0.2 --seed 4", "--project", "--l1 0.01", "--rate constant --l1 0.003 --lambda 0",
    "--rate invsqrt -l 0.1",
    "--average --average_after 500", "--average --average_after 1500 --rate constant", "--loss_function hinge",
    "--loss_function logistic --logistic_min 0 --logistic_max 2 --calibrate", "--calibrate", "--pair_loss absolute",
    "--pairs lambda-ndcg --average_after 700", "--pairs lambda-map --no-average",
    "--pairs all --alpha 0.3 --no-average",
    "--pairs all --rate constant --no-average", "-q ui", "--qid item", "--pair-sampling pairs", "-b 12 --names",
    "--weight idf", "--random_features rbf:64", "--rate constant -l 0.9 --lambda 1", "--pair-buffer 100",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_two_runs_are_one(vwlite, tmp_path, way):
    options = way.split()
    crr(vwlite, *options, "--steps", "3000", "-f", "whole")
    crr(vwlite, *options, "--steps", "1200" if "1500" not in way else "1800", "-f", "half")
    more = ["--pair-buffer", "100"] if "buffer" in way else []
    crr(vwlite, "-i", "half", *more, "--steps", "1800" if "1500" not in way else "1200", "-f", "both")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "both").read_bytes()
    assert vwlite("predict", "-i", "both", "data.vw").lines


def test_a_model_goes_on_with_newer_data_and_other_draws(vwlite, header, tmp_path):
    crr(vwlite, "--steps", "1000", "-f", "m")
    vwlite("crr", "data.svm", "--format", "svmlight", "-i", "m", "-f", "n", "--steps", "500", "--quiet")
    assert header("n")["crr"]["steps"] == 1500 and header("n")["crr"]["examples"] == 5
    crr(vwlite, "-i", "m", "-f", "m", "--steps", "500", "--alpha", "1", "--seed", "9", "--pair-sampling", "pairs")
    told = header("m")["crr"]
    assert (told["alpha"], told["seed"], told["steps"], told["sampling"]) == (1, 9, 1500, "pairs")
    done = vwlite("crr", "data.vw", "-i", "m", "--steps", "3000", "--json", "j")
    rows = [int(line.split()[0]) for line in done.stderr.splitlines() if line.split()[0].isdigit()]
    assert rows == [2048, 4096, 4500]
    assert json.loads((tmp_path / "j").read_text())["steps"] == 4500


def test_labels_are_those_of_before(vwlite, write):
    write("signs.vw", "-1 | a\n1 | b\n")
    write("zeros.vw", "0 | a\n1 | b\n")
    vwlite("crr", "signs.vw", "--loss_function", "logistic", "--steps", "9", "-f", "m", "--quiet")
    vwlite("crr", "signs.vw", "-i", "m", "--steps", "9", "-f", "n", "--quiet")
    assert "mix" in vwlite("crr", "zeros.vw", "-i", "m", "--steps", "9", status=65).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--lambda 0.1", "--lambda 0.1 contradicts m"), ("--pairs all", "--pairs all contradicts"),
        ("--l1 1", "--l1 1 contradicts"), ("--loss_function hinge", "--loss_function hinge contradicts"),
        ("-b 9", "-b 9 contradicts"), ("-q ui", "-q ui"), ("--pair_loss hinge", "--pair_loss"),
        ("--average", "--average contradicts"), ("--average_after 9", "--average"), ("-l 1", "-l"),
        ("--project", "--project contradicts"), ("--rate constant", "--rate constant contradicts"),
        ("--truncate 3", "--truncate"), ("--query_limit 3", "--query_limit"),
    ],
)  # fmt: skip
def test_options_that_contradict_the_model(vwlite, options, said, names_in):
    crr(vwlite, "--steps", "9", "-f", "m")
    assert said in crr(vwlite, "-i", "m", "-f", "n", *options.split(), status=2).stderr
    assert "n" not in names_in()
    crr(vwlite, "-i", "m", "-f", "n", "--steps", "9", "--lambda", "0.001", "--rate", "inverse", "--no-average")


def test_names_need_text(vwlite):
    crr(vwlite, "--steps", "9", "-f", "m", "--names")
    assert "names" in crr(vwlite, "-i", "m", "-c", status=2).stderr
    crr(vwlite, "-i", "m", "-f", "m", "--steps", "9")
    assert "item^" in vwlite("inspect", "m").stdout


def test_other_models_are_refused(vwlite):
    vwlite("train", "data.vw", "-f", "m", "--quiet")
    assert "was not made by 'vwlite crr'" in crr(vwlite, "-i", "m", status=76).stderr
    assert crr(vwlite, "-i", "none", status=66).stderr


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.pop("crr_state"), lambda a: a.pop("crr_slot"), lambda a: a.pop("crr_table"),
        lambda a: a.update(crr_state=a["crr_state"][:3]), lambda a: a.update(crr_slot=a["crr_slot"][::-1].copy()),
        lambda a: a.update(crr_slot=a["crr_slot"] + np.uint32(2**20)), lambda a: a.update(crr_table=a["crr_table"][1:]),
        lambda a: a.update(crr_table=a["crr_table"] * np.float32("nan")),
        lambda a: a.update(crr_state=-a["crr_state"]), lambda a: a.update(crr_table=a["crr_table"].astype(np.float64)),
    ],
)  # fmt: skip
def test_damaged_states_are_refused(vwlite, tmp_path, change):
    crr(vwlite, "--steps", "99", "-f", "m")
    model = model_file.load(tmp_path / "m")
    arrays = dict(model.arrays)
    change(arrays)
    model_file.save(tmp_path / "m", model.header, arrays)
    done = crr(vwlite, "-i", "m", "-f", "n", "--steps", "9", status=76)
    assert done.stderr.startswith("vwlite: ") and len(done.stderr.splitlines()) == 1


def test_the_saved_state_of_steps_is_exact():
    """So is -0, to which weights shrink that are too small for single precision."""
    config = CrrConfig(l1=0.1)
    one, other = (Weights(config, np.zeros((8, 1), np.float32), GradedLabels(config.loss), 9) for _ in range(2))
    one.table[[2, 5], 0], one.received[[5, 6]] = (-0.0, 0.5), (1.5, -0.0)
    assert one.arrays()["crr_slot"].tolist() == [2, 5, 6]
    other.load(one.arrays())
    assert (other.table.tobytes(), other.received.tobytes()) == (one.table.tobytes(), one.received.tobytes())
