"""The table of metrics, and reports of them for people and programs."""

import json
import math

import numpy as np
import pytest
from evaluation.test_metrics import ALL_KINDS, measure, single

from vwlite.evaluation.metric_table import (
    BY_NAME,
    LADDER,
    TABLE,
    as_json,
    as_table,
    canonical_name,
    metrics_of_list,
    names_of,
    row_of,
    sections,
    to_finite,
)
from vwlite.evaluation.metrics import COMPUTED


def test_the_table_names_everything_once_and_what_is_computed_is_in_it():
    assert len(BY_NAME) == len(TABLE)
    assert {*COMPUTED, "matching_loss"} == set(names_of(*LADDER))  # which needs the model's link
    assert all(row.of and row.about and not row.about.endswith(".") for row in TABLE)
    listed = [name for records in sections().values() for name, about in records if about != "as above"]
    assert sorted(listed) == sorted(BY_NAME)


@pytest.mark.parametrize("name", COMPUTED)
def test_every_metric_can_be_asked_for(name):
    report = measure([1, 0], [0.75, 0.5], metrics=[name], loss=0.5)
    assert list(report) == ["examples", "weight", name]


def test_names_however_they_are_typed():
    assert canonical_name(" Log-Loss") == "log_loss"
    assert metrics_of_list("AUC,f1,PR-AUC,auc") == ["auc", "f1", "pr_auc"]
    assert metrics_of_list(None) is metrics_of_list("") is None
    assert row_of("ndcg@10").name == "ndcg@K" and row_of("ndcg@0") is None


def test_loss_is_reported_only_when_the_caller_knows_it():
    assert "loss" not in measure([1, 0], [0.75, 0.5])
    assert measure([1, 0], [0.75, 0.5], loss=0.25)["loss"] == 0.25


@pytest.mark.parametrize(("task", "output"), ALL_KINDS)
def test_reports_hold_plain_numbers_in_the_order_of_the_registry(task, output):
    report = measure([1, 0], [0.75, 0.5], task=task, output=output, loss=0.5)
    names = list(report)[2:]
    assert names == [name for name in BY_NAME if name in names]
    values = list(single(report).values())
    values += [v for row in report.get("calibration_bins", []) for v in row.values()]
    assert {type(value) for value in values} == {int, float}


def test_json_has_null_for_what_is_not_finite():
    report = measure([1, 1], [0.5, 0.5], loss=math.inf)
    decoded = json.loads(as_json(report))
    assert list(decoded) == list(report)
    assert decoded["auc"] is None
    assert decoded["loss"] is None
    assert decoded["log_loss"] == report["log_loss"]
    assert to_finite({"a": (np.float32(0.5), np.int64(3), np.float32("nan"))}) == {"a": [0.5, 3, None]}


def test_table_is_aligned():
    report = measure([1, 1], [0.5, 0.5], metrics=["auc", "log_loss"])
    assert as_table(report).splitlines() == [
        "examples         2",
        "weight           2",
        "auc           n.a.",
        "log_loss  0.693147",
    ]


def test_table_shows_bins_below():
    lines = as_table(measure([1, 0], [0.75, 0.5], metrics=["calibration_bins"])).splitlines()
    assert lines[2:5] == [
        "",
        "calibration_bins",
        "mean_prediction  observed_rate  weight",
    ]
    assert lines[5] == "            0.5              0     0.2"
    assert len(lines) == 15


def test_table_prints_great_weights_in_full():
    assert "1250000" in as_table({"weight": 1_250_000.0})
