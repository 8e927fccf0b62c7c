"""Figures of one job by night."""

from xml.etree import ElementTree

import pytest

from vwlite.reporting.curves import auc_interval, effective_number, wilson
from vwlite.reporting.page import of_nights, runs_by_time
from vwlite.reporting.runs import Run


def night(place, command="evaluate", **figures):
    about = {"started": f"2026-01-0{place}T02:00:00+00:00"}
    result = {"examples": 100, "weight": 100.0, "mean_label": 0.4, **figures}
    return Run("", f"n{place}", ("vwlite", command), {}, [{"path": f"{place}.vw"}], [], result, about)


def test_runs_on_other_data_are_nights_in_the_order_of_time():
    runs = [night(3, auc=0.8), night(1, auc=0.6), night(2, auc=0.7)]
    assert [run.name for run in runs_by_time(runs)] == ["n1", "n2", "n3"]
    assert runs_by_time(runs[:1]) == []
    assert runs_by_time([runs[0], night(2, command="train")]) == []
    assert runs_by_time([runs[0], runs[0]]) == []


def test_a_chart_of_each_figure_that_all_have():
    runs = [night(1, auc=0.6, accuracy=0.7, log_loss=0.5, best_constant_log_loss=0.6), night(2, auc=0.7, log_loss=0.4)]
    charts = [ElementTree.fromstring(text) for text in of_nights(runs)]
    assert [chart.find("{*}title").text for chart in charts] == ["log_loss by run", "auc by run"]
    dots = list(charts[1].iter("{http://www.w3.org/2000/svg}circle"))
    told = [dot.find("{*}title").text for dot in dots]
    assert len(dots) == 2 and "n1, 2026-01-01" in told[0] and "auc 0.7" in told[1] and "95%: " in told[1]
    assert charts[1].find(".//{*}polygon") is not None and charts[0].find(".//{*}polygon") is None


def test_values_of_policies_by_night():
    of = [{"estimate": "cv", "value": 0.2, "low": 0.1, "high": 0.3}, {"estimate": "dm", "value": 0.4, "low": None}]
    valued = {"estimates": of, "policies": [{"policy": "logged", "value": 0.6, "low": 0.5, "high": 0.7}]}
    runs = [night(1, **valued), night(2, **valued)]
    chart = ElementTree.fromstring(of_nights(runs)[0])
    told = [dot.find("{*}title").text for dot in chart.iter("{http://www.w3.org/2000/svg}circle")]
    assert len(told) == 2 and "value 0.2" in told[0] and "95%: 0.1 to 0.3" in told[0]
    assert [text.text for text in chart.iter("{http://www.w3.org/2000/svg}text")][-3:] == ["95%", "logged", "value"]


def test_intervals_of_shares_and_areas_are_those_of_the_literature():
    assert wilson(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson(0.3, 0) == (0.0, 1.0)
    low, high = auc_interval(0.8, 50, 50)
    assert (high - low) / 2 == pytest.approx(1.959964 * 0.0446, abs=1e-3) and low + high == pytest.approx(1.6)
    assert auc_interval(0.8, 0, 10) == (0.0, 1.0)


def test_rows_of_equal_weight():
    import numpy as np

    assert effective_number(np.ones(7)) == pytest.approx(7)
    assert effective_number(np.array([1.0, 0.0, 0.0])) == pytest.approx(1)


def test_damaged_values_of_policies():
    row = {"examples": 1, "value": 1.0, "low": 0.5, "high": 2.0, "logged": 3.0}
    rows = [row, {**row, "value": 1e308}, {**row, "low": None}, {"examples": 2}, "x", None]
    assert night(1, series=rows).series == [row] and night(1, series=7).series == []
    estimates = [{"estimate": "cv", "value": "x"}, 3, {"value": 1.0, "low": True}]
    actual = night(1, estimates=estimates, policies={}).intervals
    assert actual("estimate") == [("None", 1.0, None, None)] and actual("policy") == []
