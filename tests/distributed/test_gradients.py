"""L-BFGS by gradients summed over shards."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from oracle.hashing import hash_name

from vwlite.data.config import BadLinesConfig, HoldoutConfig
from vwlite.distributed.engines import Here, Processes, engine_for
from vwlite.distributed.gradients import Optimiser, Then, with_final_step
from vwlite.distributed.merge import write
from vwlite.distributed.plan import base_of
from vwlite.distributed.rounds import Rounds, Settings
from vwlite.errors import UsageError
from vwlite.interrupts import Interrupted
from vwlite.learners.configs.per_class import MulticlassConfig
from vwlite.storage import model_file
from vwlite.storage.atomic_file import capture_bytes
from vwlite.training.model_loader import restore
from vwlite.training.train import train

from .test_rounds import After, Heard, Killing, config_of, lines


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "t.vw"
    path.write_text("".join(lines()))
    return str(path)


def made(config, engine, shards=4, passes=9, l2=1e-3, **more):
    settings = Settings(shards, 1, then=Then(passes, l2), **more.pop("settings", {}))
    with closing(Rounds(config, settings, base_of(config, shards), engine, **more)) as rounds:
        model = rounds.run()
        return capture_bytes(lambda open_output: write("m", model, open_output)), rounds, model


@pytest.fixture(scope="module")
def expected(data):
    return made(config_of(data), Here())[0]


def test_whatever_sums_and_dies_the_bytes_are_the_same(data, expected):
    with ThreadPoolExecutor(2) as threads:
        for engine in (Processes(3), engine_for(threads), *map(Killing, ("in", "after"))):
            assert made(config_of(data), engine)[0] == expected


def test_one_shard_is_optimised_as_by_bfgs(data, tmp_path):
    """On the summed loss, whose penalty is so many times larger."""
    start = str(tmp_path / "m")
    train(config_of(data, start))
    optimised = made(config_of(data), Here(), shards=1)[2]
    begun = restore(
        start,
        learning=True,
        vw_compat=False,
        learner_name="bfgs",
        feature_changes={},
        learner_changes={"l2": 600e-3, "termination": 0.0},
    )
    held = HoldoutConfig(off=True)
    train(replace(config_of(data, str(tmp_path / "b")), learner=begun.learner.config, passes=9, holdout=held), begun)
    actual = model_file.load(tmp_path / "b").arrays["weights"].values
    assert np.array_equal(actual, optimised.arrays["weights"].values)


def gradient_of_the_mean(weights, path, l2):
    """Compute in plain Python the gradient, float64[slots], of the logistic loss and its penalty."""
    gradient = l2 * weights
    with open(path) as file:
        rows = [line.split() for line in file]
    for row in rows:
        namespace, slots = 0, {11650396 % len(weights): 1.0}
        for word in row[1:]:
            name, _, value = word.partition(":")
            if name.startswith("|"):
                namespace = hash_name(name[1:].encode(), 0)
            else:
                slots[hash_name(name.encode(), namespace) % len(weights)] = float(value or 1)
        label = float(row[0])
        margin = label * sum(weights[slot] * value for slot, value in slots.items())
        for slot, value in slots.items():
            gradient[slot] -= label * value / (1 + math.exp(margin)) / len(rows)
    return gradient


@pytest.mark.parametrize("shards", [2, 4])
def test_the_minimum_is_that_of_all_data(data, shards):
    """The gradient over all data vanishes there, whatever the shards."""
    actual = made(config_of(data), Here(), shards=shards, passes=60)[2]
    gradient = gradient_of_the_mean(actual.arrays["weights"].values[:, 0].astype(float), data, 1e-3)
    begun = gradient_of_the_mean(np.zeros(1 << 18), data, 1e-3)
    assert np.abs(gradient).max() < 1e-6 < 1e-2 < np.abs(begun).max()


def test_rows_of_the_table_and_the_report(data, tmp_path):
    heard = Heard()
    _, rounds, model = made(config_of(data), Here(), passes=5, display=heard)
    table = [line for line in heard.lines if line[:3].strip().isdigit() and "\t" in line]
    assert [line.split()[0] for line in table] == ["1", "3", "4", "5"] and rounds.state.optimised["passes"] == 5
    losses = [float(line.split()[1]) for line in table]
    assert losses[-1] == min(losses) < losses[0]
    assert model.header["learner"] == "bfgs" and model.header["counters"]["example_number"] == 600 * 6
    assert model.header["config"]["l2"] == 1e-3 and "pass" not in model.header


def test_the_best_on_the_holdout_file_is_kept(data, tmp_path):
    held = tmp_path / "held"
    held.write_text("".join(lines(300, 2)))
    rounds_only = Settings(4, 1, str(held))
    with closing(Rounds(config_of(data), rounds_only, base_of(config_of(data), 4), Here())) as rounds:
        before = rounds.run()
    for l2, better in ((1e-3, True), (100.0, False)):
        heard = Heard()
        actual = made(config_of(data), Here(), l2=l2, passes=12, settings={"holdout": str(held)}, display=heard)
        assert (actual[2].header["learner"] == "bfgs") == better == actual[1].state.optimised["kept"]
        assert "after L-BFGS" in heard.lines[-1]
    assert np.array_equal(actual[2].arrays["weights"].values, before.arrays["weights"].values)


def test_a_run_stopped_while_it_is_optimised_goes_on_after_the_last_round(data, expected, tmp_path):
    config = config_of(data, str(tmp_path / "m"))
    with pytest.raises(Interrupted, match="keeps round 1, --resume goes on"):
        made(config, Here(), guard=After(4))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.ckpt"]
    heard = Heard()
    actual, rounds, _ = made(config, Here(), settings={"resume": True}, display=heard)
    assert "going on after round 1 of 1" in heard.lines
    assert actual == expected == (tmp_path / "m").read_bytes() and len(rounds.state.reports) == 1


def test_malformed_lines_are_left_out_of_gradients(data, tmp_path):
    text = "".join(lines())
    (tmp_path / "bad").write_text(text.replace("\n", "\nno label |a\n", 3))
    policy = BadLinesConfig(max_ratio=0.5)
    actual = made(config_of(str(tmp_path / "bad")), Here(), shards=1, bad_lines=policy)[2]
    whole = made(config_of(data), Here(), shards=1)[2]
    assert np.array_equal(actual.arrays["weights"].values, whole.arrays["weights"].values)


def test_options_that_cannot_follow_rounds_are_refused(data):
    config = config_of(data)
    changed, then = with_final_step(config, None, 7)
    assert then == Then(7, 0.0) and changed == config
    classes = replace(config, learner=MulticlassConfig(multiclass=3))
    with pytest.raises(UsageError, match="one set of weights: it does not go with --multiclass"):
        with_final_step(classes, None, 7)


def test_the_optimiser_needs_the_sums_of_all_shards(data, tmp_path):
    path = str(tmp_path / "m")
    train(config_of(data, path))
    with pytest.raises(UsageError, match="at least 2 passes"):
        Optimiser(path, Then(1, 0.0), print)
