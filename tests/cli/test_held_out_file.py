"""``train --holdout FILE``: passes measured on a file of its own, against ``--holdout_after`` of one file."""

from pathlib import Path

import pytest

LEARN = ("train", "-b", "10", "--quiet")


@pytest.fixture(autouse=True)
def files(write):
    rows = [f"{1 if i * i % 7 < 3 else -1} |a f{i % 5} g{i * i % 7} |b h{i % 3}\n" for i in range(120)]
    write("data.vw", "".join(rows[:90]))
    write("held.vw", "".join(rows[90:]))
    write("both.vw", "".join(rows))


def model(vwlite, *arguments):
    vwlite(*LEARN, *arguments, "-f", "m")
    return vwlite("predict", "-i", "m", "both.vw").stdout


@pytest.mark.parametrize(
    "options",
    [
        [], ["--passes", "6"], ["--passes", "30", "-l", "8", "--early_terminate", "1"], ["--passes", "4", "-c", "-k"],
        ["--ftrl", "--passes", "3"], ["--oaa", "2", "--passes", "3"], ["--nn", "3", "--passes", "5"],
        ["--bfgs", "--passes", "6", "--l2", "0.1"], ["--dual", "--l2", "1", "--loss_function", "hinge"],
        ["--dotproduct", "a,b", "--rank", "2", "--passes", "3", "--no-shuffle"],
    ],
)  # fmt: skip
def test_a_held_out_file_counts_as_the_lines_after_the_data(options, vwlite, write):
    if "--oaa" in options:
        for name in ("data.vw", "held.vw", "both.vw"):
            Path(name).write_text(Path(name).read_text().replace("-1 |", "2 |"))
    loss = [] if {"--oaa", "--loss_function"} & {*options} else ["--loss_function", "logistic"]
    actual = model(vwlite, "data.vw", "--holdout", "held.vw", *loss, *options)
    assert actual == model(vwlite, "both.vw", "--holdout_after", "90", *loss, *options)


def test_shuffled_passes_are_measured_on_the_held_out_file(vwlite):
    options = ("--shuffle", "--passes", "4", "--loss_function", "logistic", "--json", "-")
    stdout = vwlite(*LEARN, "data.vw", "--validation", "held.vw", *options, "-f", "m").stdout
    assert '"holdout": 0.' in stdout


def test_tables_are_read_as_the_data_are(vwlite, write):
    write("t.csv", "y,x,c\n" + "".join(f"{i % 3},{i},{'ab'[i % 2]}\n" for i in range(30)))
    write("v.csv", "c,y,x\na,2,5\nb,1,4\n")
    stderr = vwlite("train", "t.csv", "--columns", "label=y", "--holdout", "v.csv", "--passes", "3", "-f", "m").stderr
    assert " h\n" in stderr


def test_missing_files_and_contradicting_options_are_refused(vwlite, write):
    write("empty.vw", "")
    assert "nothing.vw" in vwlite(*LEARN, "data.vw", "--holdout", "nothing.vw", "-f", "m", status=66).stderr
    for other in (["--holdout_off"], ["--holdout_after", "3"], ["--holdout_period", "3", "--passes", "2"]):
        done = vwlite(*LEARN, "data.vw", "--holdout", "held.vw", *other, "-f", "m", status=2)
        assert f"--holdout and {other[0]} contradict each other: drop one" in done.stderr
    stderr = vwlite("train", "data.vw", "--holdout", "empty.vw", "-f", "m").stderr
    assert "no labelled example was held out" in stderr
    assert "held-out data" in vwlite(*LEARN, "data.vw", "--holdout", "m", "-f", "m", status=2).stderr
