"""``vwlite.merge`` is the command ``vwlite merge``."""

import pytest

import vwlite

LINES = ["1 |f both a", "-1 |f both b", "1 |f a c"] * 20


def test_models_in_memory_and_in_files_are_merged(run_here, tmp_path):
    first, second = vwlite.Model(), vwlite.Model()
    first.learn(LINES[:30])
    second.learn(LINES[30:])
    first.save(tmp_path / "a")
    second.save(tmp_path / "b")
    run_here("merge", "a", "b", "-f", "m")
    expected = (tmp_path / "m").read_bytes()
    assert vwlite.merge([first, second]).dumps() == vwlite.merge([first, tmp_path / "b"]).dumps() == expected
    both = vwlite.merge([first, second])
    assert both.counters["example_number"] == 60
    run_here("merge", "a", "--base", "b", "-f", "m")
    assert vwlite.merge([tmp_path / "a"], base=second).dumps() == (tmp_path / "m").read_bytes()


def test_what_does_not_fit_is_refused():
    with pytest.raises(vwlite.UsageError, match="nothing to merge"):
        vwlite.merge([])
    with pytest.raises(vwlite.ModelError, match=r"other options \(bits\)"):
        vwlite.merge([vwlite.Model(), vwlite.Model(bits=10)])
