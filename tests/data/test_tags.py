"""A tag is a name, not a command, but for vw."""

import pytest

LINES = "1 'save_../pwned |\n0 'saved-mail-1 |\n1 'save |\n0 'x |w a\n"


@pytest.mark.parametrize("options", [(), ("--passes", 2), ("--shuffle", "--passes", 2)])
def test_training_writes_the_model_and_nothing_else(options, run_here, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    run_here("train", "-f", "model", *options, stdin=LINES, cwd=folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["here", "model"]


def test_predicting_writes_predictions_with_their_tags(run_here, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    run_here("train", "-f", "model", stdin="1 |w a\n", cwd=folder)
    done = run_here("predict", "-i", "model", stdin=LINES, cwd=folder)
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["save_../pwned", "saved-mail-1", "save", "x"]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["here", "model"]


def test_vw_still_saves_on_command(run_here, tmp_path):
    run_here("vw", "-f", "model", "--quiet", stdin="1 |w a\n 'save_other |\n0 |w b\n")
    assert (tmp_path / "other").exists()
