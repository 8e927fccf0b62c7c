"""``vwlite.merge`` is the command ``vwlite merge``."""

from concurrent.futures import ThreadPoolExecutor

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
    merged = vwlite.merge([first, second])
    assert merged.counters["example_number"] == 60
    run_here("merge", "a", "--base", "b", "-f", "m")
    assert vwlite.merge([tmp_path / "a"], base=second).dumps() == (tmp_path / "m").read_bytes()


def test_models_with_other_options_are_refused():
    with pytest.raises(vwlite.UsageError, match="nothing to merge"):
        vwlite.merge([])
    with pytest.raises(vwlite.ModelError, match=r"other options \(bits\)"):
        vwlite.merge([vwlite.Model(), vwlite.Model(bits=10)])


def test_an_executor_learns_the_shards(run_here, tmp_path):
    (tmp_path / "t.vw").write_text("".join(f"{line}\n" for line in LINES * 5))
    run_here("train", "t.vw", "-f", "m", "--workers", "2", "--shards", "3", "--rounds", "2", "-b", "10", "--quiet")
    expected, path = (tmp_path / "m").read_bytes(), tmp_path / "t.vw"
    options = {"shards": 3, "rounds": 2, "bits": 10}
    assert vwlite.train(path, **options).dumps() == expected
    with ThreadPoolExecutor(2) as executor:
        assert vwlite.train(path, executor=executor, **options).dumps() == expected
        model = vwlite.train(path, executor=executor, final_regressor=str(tmp_path / "n"), **options)
        assert (tmp_path / "n").read_bytes() == model.dumps() == expected
        with pytest.raises(vwlite.UsageError, match="drop one"):
            vwlite.train(path, executor=executor, workers=2)
