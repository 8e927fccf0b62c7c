"""``vwlite predict`` answers every line: malformed ones do not end it, their share is told by the exit status."""

import subprocess

import pytest

GOOD = "1 |a x\n-1 |a y\n" * 50
BAD = GOOD + "1 a\n" * 5
TOO_MANY = "5 of 105 lines are malformed, more than --max-bad-ratio 0.01 allows"
TRAINED = {
    "numbers": ("train", "", "1 |a x\n-1 |a y\n"),
    "classes": ("train", "--oaa 2", "1 |a x\n2 |a y\n"),
    "sequences": ("l1", "--model crf", "A |a x\nB |a y\n"),
    "names": ("l1", "--model multinomial", "A |a x\nB |a y\nC |a z\n"),
    "topics": ("aso train", "", "A |a x\nB |a y\n"),
}


@pytest.fixture
def trained(vwlite, write):
    """The model ``m`` of a kind."""

    def of(kind):
        command, options, text = TRAINED[kind]
        vwlite(*command.split(), write("train.vw", text * 50), "-f", "m", *options.split(), "--quiet")
        return "m"

    return of


def unlabelled(text):
    return text.replace("-1 |", "|").replace("1 |", "|")


@pytest.mark.parametrize("kind", TRAINED)
def test_files_keep_what_was_predicted(kind, vwlite, write, trained, tmp_path):
    write("good.vw", unlabelled(GOOD))
    write("bad.vw", unlabelled(BAD))
    good = vwlite("predict", "-i", trained(kind), "good.vw").lines
    done = vwlite("predict", "-i", "m", "bad.vw", "-p", "p", "--bad-lines", "kept", status=65)
    assert (tmp_path / "p").read_text().splitlines() == good + ["nan"] * 5 and len(good) == 100
    assert (tmp_path / "kept").read_text() == "1 a\n" * 5
    stderr = done.stderr.splitlines()
    assert stderr[0].startswith("vwlite: bad line bad.vw:101:1: ") and stderr[-1] == f"vwlite: {TOO_MANY}"
    assert vwlite("predict", "-i", "m", status=65, stdin=unlabelled(BAD)).lines == good + ["nan"] * 5


@pytest.mark.parametrize("kind", TRAINED)
def test_strictly_the_first_one_ends_it(kind, vwlite, write, trained, tmp_path):
    write("bad.vw", unlabelled(BAD))
    done = vwlite("predict", "-i", trained(kind), "bad.vw", "-p", "p", "--strict", status=65)
    assert "bad.vw:101:1: " in done.stderr and done.stderr.endswith(" (--strict)\n")
    assert not (tmp_path / "p").exists()


def test_raw_predictions_are_kept_too(vwlite, write, trained, tmp_path):
    write("bad.vw", BAD)
    vwlite("predict", "-i", trained("numbers"), "bad.vw", "-p", "p", "-r", "r", status=65)
    sums = (tmp_path / "r").read_text().splitlines()
    assert len(sums) == 105 and sums[100:] == ["nan"] * 5 != sums[:5]


def test_below_the_ratio_all_is_well(vwlite, write, trained):
    write("bad.vw", BAD)
    done = vwlite("predict", "-i", trained("numbers"), "bad.vw", "--max-bad-ratio", "0.05")
    assert len(done.lines) == 105
    assert done.stderr.splitlines()[-1] == "vwlite: 5 of 105 lines were malformed and left out"


@pytest.mark.parametrize("kind", ["numbers", "classes", "names", "topics"])
def test_a_long_lived_predictor_goes_on(kind, trained, tmp_path, cli_env, commands):
    """In a pipe 50 of 1,000 lines are malformed; the next line still has its answer."""
    command = [commands / "vwlite", "predict", "-i", trained(kind), "-"]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
    with subprocess.Popen(command, cwd=tmp_path, env=cli_env, **pipes) as process:
        for _ in range(10):
            process.stdin.write(("|a x\n" * 95 + "x\n" * 5).encode())
            process.stdin.flush()
            answers = [process.stdout.readline() for _ in range(100)]
            assert answers[95:] == [b"nan\n"] * 5 and b"nan\n" not in answers[:95]
        process.stdin.write(b"|a x\n")
        process.stdin.flush()
        assert process.stdout.readline() == answers[0]
        _, said = process.communicate()
    assert process.returncode == 65
    lines = said.decode().splitlines()
    assert sum("more than --max-bad-ratio 0.01 allows" in line for line in lines) == 2
    on = "; the run continues, and its exit status will be 65"
    assert f"vwlite: 50 of 1000 lines are malformed, more than --max-bad-ratio 0.01 allows{on}" in lines
    assert lines[-1] == "vwlite: 50 of 1001 lines are malformed, more than --max-bad-ratio 0.01 allows"


def test_measuring_still_needs_good_lines(vwlite, write, trained):
    write("bad.vw", BAD)
    done = vwlite("evaluate", "-i", trained("numbers"), "bad.vw", status=65)
    assert done.stdout == "" and done.stderr.endswith(f"vwlite: {TOO_MANY}\n")


@pytest.mark.parametrize("options", ["", "--oaa 2", "--multiclass 2", "--filter_tree 2"])
def test_a_prediction_without_bounds_ends_no_run(options, vwlite, write):
    vwlite("train", write("d", "1 |a x y\n2 |a y\n" * 9), "-f", "m", "--quiet", *options.split())
    write("odd", "|a x\n|a" + " x:3e38 y:3e38" * 9 + "\n|a y\n")
    done = vwlite("predict", "-i", "m", "odd", status=70)
    assert "1 prediction is not a finite number; the first: odd:2" in done.stderr
    answers = done.lines
    assert [answers[0], answers[2]] == vwlite("predict", "-i", "m", stdin="|a x\n|a y\n").lines
    assert len(answers) == 3 and (answers[1] == "nan") == (not options)


BOUNDLESS = "--loss_function poisson --max_prediction 1000"
BEYOND = ["", "--average", "--active", "--coin", "--lrq aa2", "--dotproduct aa", "--bfgs --passes 3", "--outputs 1"]


@pytest.mark.parametrize("options", BEYOND)
def test_an_exponential_beyond_all_numbers_is_no_prediction(options, vwlite, write):
    data, odd = write("d", "1 |a x\n2 |a x:2\n" * 9), write("odd", "|a x\n|a x:1e5\n")
    learned = ("-f", "m", "--quiet", *BOUNDLESS.split(), *options.split())
    vwlite("train", data, *learned)
    for more in ((), ("--jsonl",)):
        done = vwlite("predict", "-i", "m", odd, *more, status=70)
        assert "1 prediction is not a finite number; the first: odd:2" in done.stderr
        assert done.lines[1] in ("nan", '{"prediction": null}', '{"prediction": [null]}')
    held = write("held", "1 |a x\n2 |a x:2\n" * 9 + "2 |a x:1e5\n")
    for asked in ((), ("-p", "answers")):
        done = vwlite("train", held, "--holdout_after", 18, *asked, *learned, status=70)
        assert "19: the prediction or the update is not a finite number" in done.stderr


def test_labels_that_are_no_numbers_may_be_left_out(vwlite, write, trained):
    write("named.vw", GOOD.replace("-1 |", "no |"))
    stderr = vwlite("predict", "-i", trained("numbers"), "named.vw", status=65).stderr
    advice = "the model's labels are numbers, and these are not: leave them out, no label is needed here"
    assert stderr.endswith(f"; {advice}\n")
