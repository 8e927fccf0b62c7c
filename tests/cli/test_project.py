"""What options of reading and of malformed lines do to ``vwlite project``."""

import pytest

TEXT = "1 'a |f 0:1 1:2\n2 'b |f 0:2 1:-1\n1 |f 1:1 2:3\n"


@pytest.fixture(autouse=True)
def model(tmp_path, run_here):
    (tmp_path / "x.vw").write_text(TEXT)
    run_here("pca", "x.vw", "-f", "m", "--dim", "2", "--random_seed", "3", "--quiet")


def test_names_of_files_and_numbers_of_examples(run_here):
    whole = run_here("project", "-i", "m", "x.vw").stdout
    assert run_here("project", "-i", "m", "-d", "x.vw", "--threads", "2").stdout == whole
    assert run_here("project", "-i", "m", "--examples", "2", stdin=TEXT).stdout == "".join(whole.splitlines(True)[:2])
    left = run_here("project", "-i", "m", "x.vw", "--scale", "left").stdout
    assert left != whole and left.startswith("1 'a |pca 0:")


def test_text_of_svmlight(run_here):
    done = run_here("project", "-i", "m", "--format", "svmlight", stdin="2.5 0:1 1:2\n")
    assert done.stdout.startswith("2.5 |pca 0:")


def test_malformed_lines_have_an_empty_line(tmp_path, run_here):
    bad = TEXT + "1 |f x:nan\n"
    done = run_here("project", "-i", "m", "--max-bad-ratio", "0.5", "--bad-lines", "bad", "--quiet", stdin=bad)
    assert done.stdout.endswith("\n\n") and done.stderr == ""
    assert (tmp_path / "bad").read_text() == "1 |f x:nan\n"
    assert "--strict" in run_here("project", "-i", "m", "--strict", stdin=bad, status=65).stderr
