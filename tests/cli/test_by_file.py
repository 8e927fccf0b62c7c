"""vwlite train --progressive-by-file."""

import json

import pytest

LEARN = ("--loss_function", "logistic")


def night(turned, rows=150):
    """Clicks that follow a user's number, or the opposite of it."""
    return "".join(f"{1 if (row % 7 < 3) != turned else -1} |u u{row % 7} |i i{row % 5}\n" for row in range(rows))


@pytest.fixture
def nights(write):
    return [write(f"night{place}.vw", night(turned, 150 - place)) for place, turned in enumerate((False, False, True))]


@pytest.mark.parametrize(
    "options",
    [
        LEARN, ("-q", "::"), ("--passes", "3", "--holdout_off"), ("--average",), ("--dotproduct", "ui", "--rank", "2"),
        ("--coin", "--noconstant"), ("--oaa", "auto"),
    ],
    ids=" ".join,
)
def test_files_are_measured_before_they_are_learned(options, vwlite, nights, tmp_path):
    """Figures are those of evaluate with the model of the files before; the model is what it would be without."""
    stderr = vwlite("train", *nights, *options, "-f", "m", "--progressive-by-file", "--json", "run.json").stderr
    plain = vwlite("train", *nights, *options, "-f", "plain").stderr
    assert (tmp_path / "m").read_bytes() == (tmp_path / "plain").read_bytes()
    run = json.loads((tmp_path / "run.json").read_text())
    first, second, third = run["files"]
    assert [file["file"] for file in run["files"]] == nights and first["examples"] == 150 > second["examples"]
    assert stderr.replace("= m\n", "= plain\n").startswith(plain) and "each file before it was learned" in stderr
    if "--passes" not in options and "--oaa" not in options:
        vwlite("train", *nights[:2], *options, "-f", "two", "--quiet")
        report = json.loads(vwlite("evaluate", "-i", "two", nights[2], "--json", "-").stdout)["result"]
        for name in {*third} - {"file", "progressive"}:
            assert third[name] == pytest.approx(report[name], rel=1e-6), name
        total = sum(file["progressive"] * file["weight"] for file in run["files"])
        assert total / run["examples"] == pytest.approx(run["average_loss"], rel=1e-6)
    assert third["accuracy"] < second["accuracy"] - 0.1 if "--oaa" in options else third["loss"] > 1.2 * second["loss"]


def test_drift_is_drawn(vwlite, nights, tmp_path):
    vwlite("train", *nights, *LEARN, "-f", "m", "--quiet", "--progressive-by-file", "--json", "run.json")
    vwlite("report", "run.json", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(f"{name} by file" in page for name in ("loss", "accuracy", "auc"))
    assert "night2.vw" in page and "while it was learned" in page
    nightly = ("-i", "n", "-f", "n", "--skip-seen", *LEARN, "--quiet", "--progressive-by-file", "--json")
    for place, name in enumerate(nights):  # the same, night by night
        vwlite("train", name, *nightly, f"{place}.json")
    vwlite("report", "0.json", "1.json", "2.json", "-o", "nights.html")
    assert "loss by file" in (tmp_path / "nights.html").read_text()
    files = [json.loads((tmp_path / f"{place}.json").read_text())["files"][0] for place in range(3)]
    assert files == json.loads((tmp_path / "run.json").read_text())["files"]


def test_a_file_without_labels_has_no_figures(vwlite, nights, write, tmp_path):
    write("none.vw", "|u u1\n" * 20)
    vwlite("train", nights[0], "none.vw", *LEARN, "-f", "m", "--progressive-by-file", "--json", "run.json")
    actual = json.loads((tmp_path / "run.json").read_text())["files"][1]
    assert (actual["file"], actual["examples"], actual["loss"], actual["progressive"]) == ("none.vw", 0, None, None)


def test_tables_are_read_as_training_reads_them(vwlite, write, tmp_path):
    names = [write(f"{n}.csv", "y,x,w\n" + "".join(f"{row % 3},{row},a{row % 3}\n" for row in range(60))) for n in "ab"]
    vwlite("train", *names, "--columns", "label=y", "-f", "m", "--progressive-by-file", "--json", "run.json")
    first, second = json.loads((tmp_path / "run.json").read_text())["files"]
    assert first["examples"] == second["examples"] == 60 and second["rmse"] < first["rmse"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--bfgs", "does not go with --bfgs, which learns all files at once"),
        ("--shuffle-first", "does not go with --shuffle-first: files are read as text, one after the other"),
        ("-c", "does not go with --cache: files are read as text"),
        ("-d -", "reads each file twice, which <stdin> does not allow: name files"),
        ("--workers 2", "does not go with shards, which are learned at the same time"),
    ],
)
def test_options_that_do_not_go_with_it_are_refused(options, message, vwlite, nights):
    stderr = vwlite("train", *nights, "-f", "m", "--progressive-by-file", *options.split(), status=2).stderr
    assert f"--progressive-by-file {message}" in stderr
