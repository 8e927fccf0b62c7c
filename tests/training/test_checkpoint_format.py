"""Checkpoints of earlier versions can be resumed: what stands in them keeps its names and defaults."""

from vwlite.data.config import InputConfig
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.training.checkpoint import deciding_options
from vwlite.training.config import RunConfig
from vwlite.training.model_header import Run
from vwlite.training.namespace_report import NamespaceReport, Sightings


def test_a_stopped_run_is_kept_under_the_same_names():
    where = {"told", "inputs", "partials", "passes_done", "failures", "fresh", "rows", "checksum", "matched"}
    assert set(Run.__annotations__) == {*where, "counters", "totals", "sightings", "known", "best"}


def test_namespaces_are_kept_where_they_are_read():
    report = NamespaceReport.__new__(NamespaceReport)
    report.sightings = Sightings.__new__(Sightings)
    report.sightings.met = b"ab"
    assert report.state() == {"sightings": [97, 98]}


def test_a_run_without_a_curriculum_is_told_the_same():
    config = RunConfig(input=InputConfig(("data",)), features=FeatureConfig(), learner=GdConfig())
    weights = {"weights": "step", "width": None, "sample": False, "steps": None}
    curriculum = deciding_options(config)["curriculum"]
    assert curriculum == {"order": None, "by": "length", "start": 0.25, "passes": 0, **weights}
