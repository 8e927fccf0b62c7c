"""``vwlite predict``."""

import math

import pytest

DATA = "1 'one |user ann |item tea:2\n-1 'two |user bob |item tea\n1 |user ann |item cup\n"


@pytest.fixture(autouse=True)
def model(vwlite, write):
    """A model, and a logistic one, of ``data.vw``."""
    write("data.vw", DATA)
    vwlite("train", "data.vw", "-f", "model", "--quiet")
    vwlite("train", "data.vw", "-f", "logistic", "--loss_function", "logistic", "--quiet")


def values(done):
    return [float(line.split()[0]) for line in done.lines]


def test_one_line_an_example_with_its_tag(vwlite):
    done = vwlite("predict", "-i", "model", "data.vw")
    assert [line.split()[1:] for line in done.lines] == [["one"], ["two"], []]
    one, two, three = values(done)
    assert -1 <= two < 0 < one < three <= 1
    assert done.stderr == ""


def test_predicts_as_training_would_have(vwlite, write):
    again = vwlite("train", "data.vw", "-i", "model", "-p", "-", "--quiet").lines[0]
    assert vwlite("predict", "--initial_regressor", "model", "data.vw", "--examples", "1").lines == [again]


def test_labels_do_not_matter(vwlite, write):
    plain = vwlite("predict", "-i", "logistic", "data.vw").lines
    write("other.vw", DATA.replace("-1 'two", "77 3 'two").replace("1 |user", "|user"))
    assert vwlite("predict", "-i", "logistic", "other.vw").lines == plain


def test_probabilities_and_margins(vwlite):
    linked = values(vwlite("predict", "-i", "logistic", "data.vw"))
    raw = values(vwlite("predict", "-i", "logistic", "data.vw", "--raw"))
    assert all(0 < p < 1 for p in linked)
    assert linked == pytest.approx([1 / (1 + math.exp(-x)) for x in raw], abs=2e-6)


def test_raw_predictions_are_not_clipped(vwlite, write, tmp_path):
    write("far.vw", "|user ann:100\n|user bob:-100\n")
    done = vwlite("predict", "-i", "model", "far.vw", "-r", "sums", "-p", "clipped")
    assert done.stdout == ""
    sums, clipped = ([float(x) for x in (tmp_path / name).read_text().split()] for name in ("sums", "clipped"))
    assert clipped == [max(-1, min(1, x)) for x in sums] != sums


def test_files_named_stdout(vwlite, write, tmp_path):
    plain = vwlite("predict", "-i", "model", "data.vw").stdout
    for name in ("-", "stdout", "/dev/stdout"):
        assert vwlite("predict", "-i", "model", "-d", "data.vw", "--predictions", name).stdout == plain
    vwlite("predict", "-i", "model", "--data", "data.vw", "--predictions", "p", "--raw_predictions", "r")
    assert (tmp_path / "p").read_text() == plain


def test_malformed_lines_are_nan_at_their_place_and_blank_ones_nothing(vwlite, write):
    lines = DATA.splitlines()
    write("bad.vw", "\n".join(["x", lines[0], "1 a", "1 |a:z b", lines[1], "", lines[2], "last"]))
    good = vwlite("predict", "-i", "model", "data.vw").lines
    for size in (1, 40, 1 << 20):
        options = ("--max-bad-ratio", "1", "--block-size", size)
        done = vwlite("predict", "-i", "model", "bad.vw", *options)
        assert done.lines == ["nan", good[0], "nan", "nan", good[1], good[2], "nan"]
    stderr = done.stderr.splitlines()
    assert stderr[0] == "vwlite: bad line bad.vw:1:1: no '|', expected one between label and features: x"
    assert stderr[-1] == "vwlite: 4 of 8 lines were malformed and left out"


def test_quiet_does_not_show_bad_lines(vwlite, write):
    write("bad.vw", "x\n" + DATA)
    done = vwlite("predict", "-i", "model", "bad.vw", "--quiet", "--max-bad-ratio", "0.5", "--bad-lines", "kept")
    assert (len(done.lines), done.stderr) == (4, "")


def test_bad_lines_and_strict(vwlite, write, tmp_path):
    write("bad.vw", "x\n" + DATA)
    vwlite("predict", "-i", "model", "bad.vw", "--bad-lines", "kept", "--max-bad-ratio", "1")
    assert (tmp_path / "kept").read_text() == "x\n"
    done = vwlite("predict", "-i", "model", "bad.vw", "-p", "p", "--strict", status=65)
    assert done.stderr == ("vwlite: bad.vw:1:1: no '|', expected one between label and features: x (--strict)\n")
    assert not (tmp_path / "p").exists()
    done = vwlite("predict", "-i", "model", "bad.vw", "-p", "p", "--quiet", status=65)
    first = "bad.vw:1:1: no '|', expected one between label and features: x"
    message = f"1 of 4 lines are malformed, more than --max-bad-ratio 0.01 allows; the first: {first}"
    assert done.stderr == f"vwlite: {message}\n"


def test_options_of_reading_are_taken(vwlite, write):
    plain = vwlite("predict", "-i", "model", "data.vw").lines
    assert vwlite("predict", "-i", "model", "data.vw", "--examples", "2").lines == plain[:2]
    assert vwlite("predict", "-i", "model", "data.vw", "data.vw", "--threads", "2").lines == plain * 2


def test_the_format_is_the_models_unless_typed(vwlite, write):
    vwlite("train", write("data.svm", "1 3:1\n-1 4:1\n"), "--format", "svmlight", "-f", "svm", "--quiet")
    svm = vwlite("predict", "-i", "svm", "data.svm").lines
    assert len(set(svm)) == 2 and "nan" not in svm
    assert vwlite("predict", "-i", "svm", "--format", "svmlight", "data.svm").lines == svm
    assert vwlite("predict", "-i", "svm", "--format", "vw", write("svm.vw", "| 3\n| 4\n")).lines == svm
    assert vwlite("predict", "-i", "svm", "svm.vw").lines == svm  # as its name says
    vwlite("predict", "-i", "svm", write("other", "| 3\n| 4\n"), "--quiet", status=65)
    measured = vwlite("evaluate", "-i", "svm", "data.svm").stdout
    assert measured == vwlite("evaluate", "-i", "svm", "data.svm", "--format", "svmlight").stdout != ""


def test_empty_input_has_empty_output(vwlite, write):
    done = vwlite("predict", "-i", "model", write("empty", ""))
    assert (done.stdout, done.stderr) == ("", "")


def test_options_of_the_model_are_kept(vwlite):
    vwlite(
        "train",
        "data.vw",
        "-f",
        "crossed",
        "-q",
        "ui",
        "-b",
        "12",
        "--hash",
        "all",
        "--noconstant",
        "--quiet",
        "--label-units",
        "raw",
    )
    expected = vwlite("vw", "-t", "-i", "crossed", "data.vw", "-p", "-", "--quiet").stdout
    assert vwlite("predict", "-i", "crossed", "data.vw").stdout == expected


ERRORS = {
    "data.vw -i absent": (66, "cannot open the model absent: No such file or directory"),
    "data.vw -i data.vw": (76, "data.vw is not a vwlite model: give one that vwlite wrote"),
    "data.vw -i cut": (76, "cut is damaged (its header or its end): restore this model from a copy or make it again"),
    "data.vw -i empty": (76, "empty is empty: give a vwlite model"),
    "-i model absent": (66, "no such file: absent (- is standard input)"),
    "-i model data.vw -p nofolder/p": (
        73,
        "cannot write nofolder/p: there is no folder {folder}/nofolder; create it first",
    ),
    "-i model data.vw -p p -r p": (2, "two outputs have the same name: -p p and -r p"),
    "-i model data.vw --examples -1": (2, "--examples takes 0 or more, not -1"),
}


@pytest.mark.parametrize("arguments", ERRORS)
def test_errors_leave_the_folder_as_it_was(arguments, vwlite, write, tmp_path, names_in):
    write("cut", (tmp_path / "model").read_bytes()[:-9])
    write("empty", "")
    before = names_in()
    status, said = ERRORS[arguments]
    done = vwlite("predict", *arguments.split(), status=status)
    assert (done.stdout, done.stderr) == ("", f"vwlite: {said.format(folder=tmp_path)}\n")
    assert names_in() == before


def test_a_model_is_needed(vwlite):
    done = vwlite("predict", "data.vw", status=2)
    message = "missing option '-i' / '--initial_regressor' ('vwlite predict --help' lists what there is)"
    assert (done.stdout, done.stderr) == ("", f"vwlite: {message}\n")


def test_active_says_what_would_flip_each_prediction(vwlite):
    vwlite("train", "data.vw", "-f", "dyadic", "--dotproduct", "ui", "--loss_function", "hinge", "--quiet")
    plain = vwlite("predict", "-i", "dyadic", "data.vw").lines
    rows = [line.split() for line in vwlite("predict", "-i", "dyadic", "data.vw", "--active").lines]
    assert [row[0] for row in rows] == [line.split()[0] for line in plain]
    assert all(float(row[1]) > 0 for row in rows)


@pytest.mark.parametrize("options", ["", "--sgd -l 0.1", "--ftrl", "--active --simulation", "--loss_function logistic"])
def test_linear_models_tell_importance_whatever_the_labels(options, vwlite, write):
    write("labelled", "1 |a x y:2\n-1 |a y z\n" * 4)
    write("plain", "|a x y:2\n|a y z\n" * 4)
    vwlite("train", "labelled", "-f", "m", "--quiet", "--label-units", "raw", *options.split())
    lines = vwlite("predict", "-i", "m", "plain", "--confidence").lines
    assert lines == vwlite("predict", "-i", "m", "labelled", "--active").lines
    assert [line.split()[0] for line in lines] == vwlite("predict", "-i", "m", "plain").lines
    assert all(0 < float(line.split()[1]) < 1e6 for line in lines)


@pytest.mark.parametrize("options", ["--predict_only_model", "--coin", "--lrq ui2"])
def test_not_every_model_knows_how_sure_it_is(options, vwlite):
    vwlite("train", "data.vw", "-f", "m", "--quiet", "--label-units", "raw", *options.split())
    assert "--confidence needs a model" in vwlite("predict", "-i", "m", "data.vw", "--confidence", status=2).stderr


def test_each_file_has_predictions_of_its_own(vwlite, write, tmp_path):
    for folder in ("days", "out"):
        (tmp_path / folder).mkdir()
    write("days/1.vw", DATA.splitlines()[0])
    write("days/2.vw", DATA)
    for _ in range(2):  # again, what the first run wrote into the folder is no input
        vwlite("predict", "-i", "model", "days", "--each", "{}.pred")
    vwlite("predict", "-i", "model", "days/1.vw", "-d", "days/2.vw", "--each", "out/{/}.txt")
    for name in ("1", "2"):
        alone = vwlite("predict", "-i", "model", f"days/{name}.vw").stdout
        assert (tmp_path / f"days/{name}.vw.pred").read_text() == alone
        assert (tmp_path / f"out/{name}.vw.txt").read_text() == alone
    assert sorted(path.name for path in (tmp_path / "days").iterdir()) == ["1.vw", "1.vw.pred", "2.vw", "2.vw.pred"]


def test_with_each_a_file_draws_and_meets_namespaces_as_alone(vwlite, write, tmp_path):
    rows = "".join(f"{n % 3 + 1} |u u{n % 4} |i i{n % 5}\n" for n in range(40))
    write("a.vw", rows + "1 |other x |u u1\n")
    write("b.vw", rows)
    for options in (["--cbify", "3", "--epsilon", "0.5"], ["-q", "::"]):
        vwlite("train", "a.vw", "-f", "m", "--quiet", *options)
        vwlite("predict", "-i", "m", "a.vw", "b.vw", "--each", "{}.p")
        assert (tmp_path / "b.vw.p").read_text() == vwlite("predict", "-i", "m", "b.vw").stdout


def test_with_each_a_file_that_fails_loses_no_other(vwlite, write, tmp_path):
    write("bad.vw", "x\n" + DATA)
    done = vwlite("predict", "-i", "model", "no.vw", "bad.vw", "data.vw", "--each", "{}.p", status=66)
    assert done.stderr.splitlines()[-1] == "vwlite: 2 of 3 files failed"
    alone = vwlite("predict", "-i", "model", "data.vw").lines
    assert (tmp_path / "bad.vw.p").read_text().split("\n")[0] == "nan"
    assert (tmp_path / "data.vw.p").read_text().splitlines() == alone


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("data.vw --each {}", "data.vw is the input and would be overwritten"),
        ("data.vw ./data.vw --each {/}.p", "two outputs have the same name"),
        ("data.vw --each pred", "neither {} nor {/}"),
        ("- --each {}.p", "<stdin>"),
        (". --each {}.vw", "would be overwritten"),
        ("data.vw --each {}.p -p p", "-p"),
        ("data.vw --each {}.p --bad-lines p", "--bad-lines"),
    ],
)
def test_each_refuses_what_is_not_of_each_file(vwlite, write, arguments, said):
    write("data", DATA)
    assert said in vwlite("predict", "-i", "model", *arguments.split(), status=2).stderr
