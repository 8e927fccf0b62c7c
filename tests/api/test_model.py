"""Models in Python: the bytes, the predictions and the refusals of the commands."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from model_runs import CLASSES, COSTS, LOGISTIC, NUMBERS, SETS

import vwlite as library
from vwlite import Model
from vwlite.errors import DataError, InputMissing, ModelError, UsageError
from vwlite.evaluation.metric_table import to_finite


@pytest.fixture
def command(tmp_path, run_here):
    """The bytes of the model of ``vwlite train`` and the lines that ``vwlite predict`` writes."""

    def run(options, text):
        (tmp_path / "data.vw").write_bytes(text)
        run_here("train", "data.vw", *options.split(), "-f", "model", "--quiet")
        run_here("predict", "-i", "model", "data.vw", "-p", "predictions", "--quiet")
        return (tmp_path / "model").read_bytes(), (tmp_path / "predictions").read_text().splitlines()

    return run


@pytest.mark.parametrize(
    "options", ["--dotproduct ui", "--decay_learning_rate 0.5", "--multiclass 3 --dotproduct ui --dot-rates global"]
)
@pytest.mark.parametrize("kind", [list, iter])
def test_a_learning_rate_that_falls_with_every_call_is_told_of(options, kind, caplog):
    text = CLASSES if "multiclass" in options else NUMBERS
    model, still = Model(options), Model(f"{options} --decay_learning_rate 1")
    message = "each call of learn being a pass: a stream is learned with decay_learning_rate=1"
    for number, line in enumerate(text.splitlines()[:25]):
        model.learn(kind([line]))
        still.learn(kind([line]))
        assert caplog.text.count(message) == min(number, 1)
    assert Model.loads(model.dumps()).learn(text).examples and caplog.text.count(message) == 2
    whole = Model(f"{options} --decay_learning_rate 1")
    whole.learn(text.splitlines()[:25])
    assert np.array_equal(still.predict(text), whole.predict(text))


def test_save_and_load(tmp_path, command):
    expected, _ = command(LOGISTIC, NUMBERS)
    model = Model(loss_function="logistic")
    model.learn(NUMBERS)
    model.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == expected
    assert Model.load(tmp_path / "saved").dumps() == expected
    model.save(tmp_path / "small", predict_only=True)
    small = Model.load(str(tmp_path / "small"))
    assert np.array_equal(small.predict(NUMBERS), model.predict(NUMBERS))
    with pytest.raises(ModelError, match="cannot be trained further"):
        small.learn(NUMBERS)
    with pytest.raises(InputMissing, match="cannot open the model"):
        Model.load(tmp_path / "absent")
    with pytest.raises(ModelError, match="is damaged"):
        Model.loads(expected[:-9])


def test_an_unknown_keyword_of_a_measurement_is_answered_with_the_one_that_may_be_meant():
    model = Model()
    model.learn(NUMBERS)
    with pytest.raises(UsageError, match=r"evaluate has no keyword metric \(did you mean metrics\?\)"):
        model.evaluate(NUMBERS, metric="mse")


def test_files_of_paths(tmp_path, command):
    expected, _ = command("--passes 3", NUMBERS)
    before = sorted(tmp_path.iterdir())
    model = library.train(tmp_path / "data.vw", "--passes 3")
    assert model.dumps() == expected
    assert sorted(tmp_path.iterdir()) == before
    assert np.array_equal(library.predict(model, [tmp_path / "data.vw"]), model.predict(NUMBERS))
    assert library.load(tmp_path / "model").dumps() == expected
    with pytest.raises(InputMissing):
        model.learn(Path(tmp_path / "absent.vw"))


@pytest.mark.parametrize(
    ("typed", "level", "said"),
    [
        ("--quiet -t -c --save_resume", logging.INFO, "--quiet, -t, -c and --save_resume do nothing in memory"),
        ("-P 100 --cache_file=x -k", logging.WARNING, "-P, --cache_file and -k do nothing in memory"),
        ("-f x.model", logging.WARNING, "-f does nothing in memory"),
    ],
)
def test_options_that_do_nothing_in_memory_are_taken(typed, level, said, caplog):
    with caplog.at_level(logging.INFO, "vwlite"):
        one, two = Model(f"--oaa 3 {typed} --l2 0.5"), Model("--oaa 3 --l2 0.5")
    assert one.options == two.options
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(level, said)]


def test_options_by_any_spelling():
    one = Model("--loss_function logistic -b 22 -q ui -q ab --random_seed 7", passes=2)
    two = Model(loss_function="logistic", bit_precision=22, quadratic=["ui", "ab"], seed=7, passes=2)
    assert (
        one.options
        == two.options
        == {
            "loss_function": "logistic",
            "bits": 22,
            "quadratic": ("ui", "ab"),
            "passes": 2,
            "link": "logistic",
        }
    )
    assert repr(one) == ("Model(link='logistic', loss_function='logistic', bits=22, quadratic=('ui', 'ab'), passes=2)")
    assert Model("", l1=np.float32(0.5)).options["l1"] == 0.5


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        ("--pases 3", {}, r"no such option --pases \(did you mean --passes\?\)"),
        ("--epochs 3", {}, r"no such option --epochs \(did you mean --passes\?\)"),
        ("", {"epochs": 3}, r"no such option epochs \(did you mean passes\?\)"),
        ("", {"lr": 3}, r"no such option lr \(did you mean learning_rate\?\)"),
        ("", {"pases": 3}, r"no such option pases \(did you mean passes\?\)"),
        ("", {"n_jobs": 3}, r"no such option n_jobs \(did you mean threads\?\)"),
        ("", {"target": "y"}, r"no such option target \(did you mean columns='label=NAME'\?\)"),
        ("", {"final_regressor": "m"}, r"no such option final_regressor: save\(FILE\) writes a model"),
        ("", {"model": "m"}, r"no such option model: save\(FILE\) writes a model"),
        ("", {"initial_regressor": "m"}, r"no such option initial_regressor: Model.load\(FILE\) opens a model"),
        ("", {"cache_file": "c"}, r"no such option cache_file: vwlite.train\(FILE, cache_file=...\)"),
        ("", {"lda": 3}, r"no such option lda \(not in vwlite: topics; use 'vwlite aso learn'"),
        ("--oaa 3 -i m", {}, r"no such option -i: Model.load\(FILE\) opens a model"),
        ("-d x --oaa 3", {}, r"no such option -d: learn\(Path\(FILE\)\) reads a file"),
        ("--quiet --lda 3", {}, r"no such option --lda \(not in vwlite: topics; use 'vwlite aso learn'"),
        ("--oaa 3 -P", {}, "option '-P' requires an argument"),
        ("--los logistic", {}, r"no such option --los \(did you mean --loss_function"),
        ("--loss_function logistik", {}, r"did you mean logistic\?"),
        ("-b 99", {}, "1 to 32"),
        ("--coin --ftrl", {}, "--coin and --pistol do not go with --ftrl"),
        ("--l1 nan", {}, "'nan' is not a finite number"),
        ("--passes 1.5", {}, "not a valid integer"),
        ("", {"sgd": 3}, "--sgd takes True or False"),
        ("--passes", {}, "option '--passes' requires an argument"),
        ("--rank 3", {}, "--rank needs --dotproduct"),
        ("'", {}, "No closing quotation"),
    ],
)
def test_wrong_options_are_refused(args, options, message):
    with pytest.raises(UsageError, match=message):
        Model(args, **options)


def test_malformed_lines_are_an_error_unless_allowed():
    model = Model()
    with pytest.raises(DataError, match="1 of 2 lines are malformed"):
        model.learn("1 |a b\nx |a b\n")
    learned = model.learn("1 |a b\nx |a b\n", bad_lines=0.5, keep_predictions=True)
    assert learned.bad_lines == 1
    assert np.isnan(learned.predictions[1])
    answers = model.predict(["1 |a b", "x |a:b", "1 |a c"], bad_lines=1)
    assert np.isnan(answers[1])
    assert not np.isnan(answers[[0, 2]]).any()


def test_text_that_names_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.vw").write_bytes(NUMBERS)
    with pytest.raises(UsageError, match=r"did you mean Path\('train.vw'\)\?"):
        Model().learn("train.vw")


def test_progressive_predictions_and_losses():
    model = Model()
    learned = model.learn("1 |a b\n\n2 |a b\n", keep_predictions=True)
    assert learned.predictions.dtype == np.float32
    assert learned.predictions.shape == (2,)
    assert learned.average_loss == pytest.approx((1 + (2 - learned.predictions[1]) ** 2) / 2)
    assert (learned.examples, learned.weight, learned.passes, learned.holdout_loss) == (2, 2.0, 1, None)
    assert Model().learn(NUMBERS, passes=3).holdout_loss > 0


@pytest.mark.parametrize("options", ["", "--bfgs", "--ftrl"])
def test_where_nothing_is_held_out_all_passes_count(options):
    few, one, other = NUMBERS.splitlines(True)[:9], Model(f"{options} --passes 20"), Model(f"{options} --holdout_off")
    learned = one.learn(b"".join(few))
    other.learn(b"".join(few), passes=20)
    assert learned.holdout_loss is None and one.dumps() == other.dumps()


def test_an_empty_list_is_the_empty_set():
    rows, y = [{"w": ["a"]}, {"w": ["b"]}, {"w": ["c"]}] * 9, [[0, 1], [], (2,)] * 9
    models = [Model("--multilabel_oaa 3") for _ in range(2)]
    models[0].learn(rows, y)
    models[1].learn("0,1 |w a\n, |w b\n2 |w c\n" * 9)
    assert models[0].dumps() == models[1].dumps()
    assert models[0].predict(rows[:3]) == [[0, 1], [], [2]]
    costs = Model("--csoaa 3")
    costs.learn([{"a": 1}] * 3, [{1: 0, 2: 1}, {}, []])
    assert costs.evaluate([{"a": 1}] * 3, [{1: 0, 2: 1}, {}, []])["examples"] == 1


@pytest.mark.parametrize("text", ["", b"", [], "\n", "1 |a b", "1 |a b\r\n", "|", iter(["1 |a b"])])
def test_texts_of_no_and_of_one_line_are_learned(text):
    model = Model()
    examples = model.learn(text).examples
    assert examples == (0 if text in ("", b"", [], "\n") else 1)
    assert model.predict("").shape == (0,)


def test_probabilities_and_scores():
    model = Model("--oaa 3 --loss_function logistic")
    model.learn(CLASSES)
    shares = model.predict(CLASSES, probabilities=True)
    assert shares.shape == (60, 3)
    assert shares.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert model.predict(CLASSES, scores=True).shape == (60, 3)
    assert model.classes == [1, 2, 3]
    assert set(model.predict(CLASSES)) <= {1, 2, 3}
    with pytest.raises(UsageError, match="--probabilities needs a model of --loss_function logistic"):
        Model().predict("|a b", probabilities=True)


def test_weights_by_name():
    model = Model("-b 10")
    model.learn("1 |words a b\n0 |words b\n")
    assert model.weights.shape == (1024,)
    assert model.coefficients(["a", "b"], "words").tolist() == [
        model.weights[model.slot("a", "words")],
        model.weights[model.slot("b", "words")],
    ]
    assert model.slot("7") == 7
    with pytest.raises(ValueError, match="read-only"):
        model.weights[0] = 1
    with pytest.raises(UsageError, match="not the name of a feature"):
        model.slot("a b")


def test_nothing_is_printed_and_no_signal_is_handled(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
    model = Model("--passes 3 --noconstant")
    model.learn(NUMBERS, keep_predictions=True)
    model.learn("x |a", bad_lines=1)
    model.predict(NUMBERS)
    assert capfd.readouterr() == ("", "")
    assert handlers == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
    assert os.listdir(tmp_path) == []


def test_two_threads_take_turns():
    model, alone = Model(), Model()
    for _ in range(20):
        alone.learn(NUMBERS)
    threads = [threading.Thread(target=lambda: [model.learn(NUMBERS) for _ in range(10)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.dumps() == alone.dumps()


def test_importing_takes_neither_numpy_nor_click():
    code = "import sys, vwlite; print([name for name in ('numpy', 'click') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [("", NUMBERS), (LOGISTIC, NUMBERS), ("--dotproduct ui --rank 3", NUMBERS), ("--oaa 3 " + LOGISTIC, CLASSES),
     ("--csoaa 3", COSTS), ("--multilabel_oaa 3", SETS), ("--coin", NUMBERS), ("--filter_tree 3", CLASSES)],
)  # fmt: skip
def test_metrics_are_those_of_the_command(options, text, command, run_here, tmp_path):
    command(options, text)
    expected = json.loads(run_here("evaluate", "-i", "model", "data.vw", "--json", "-").stdout)["result"]
    model = Model(options)
    model.learn(text)
    before = model.dumps()
    assert to_finite(model.evaluate(text)) == expected  # JSON has no NaN
    assert to_finite(library.evaluate(model, tmp_path / "data.vw", kind="vw")) == expected
    assert model.dumps() == before


def test_metrics_that_there_are_not():
    model = Model()
    model.learn("1 |a b")
    with pytest.raises(UsageError, match="accurracy"):
        model.evaluate("1 |a b", metrics=["accurracy"])
    with pytest.raises(DataError, match="no labelled example"):
        model.evaluate("|a b")
    rows = np.array([[1.0, 2.0], [2.0, 0.0]])
    assert model.evaluate(rows, [1, 2], weight=[2, 1], metrics="mean_label")["mean_label"] == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("-l x", "-l: 'x' is not a finite number"),
        ("-b 3.5", "-b: '3.5' is not a valid integer"),
        ("-b 77", "-b takes 1 to 32 bits, not 77"),
        ("'-b", "No closing quotation"),
    ],
)
def test_a_value_of_the_words_is_refused_with_the_sentence_of_the_keyword(typed, told):
    with pytest.raises(ValueError, match=told):
        Model(typed)


def test_predictions_that_no_feature_changes_are_told_of(caplog):
    model = Model()
    assert model.predict("|x a") == 0 and not caplog.records  # it has learned nothing
    model.learn("1 |x a\n0 |x b\n")
    model.predict("|other a")
    assert "no feature of the data changed a prediction" in caplog.text
    caplog.clear()
    model.predict("|other b")
    model.predict("|x a")
    assert not caplog.records
    model.predict(np.ones((2, 3)))
    assert "all 2 predictions are that of a line without features" in caplog.text


@pytest.mark.parametrize("data", [np.ones((2, 2)), [{"a": 1}], {"x": np.ones((2, 2))}])
def test_functions_of_files_say_what_learns_data_in_memory(data):
    with pytest.raises(UsageError, match=r"read files: Model\(\.\.\.\)\.learn\(data, y\) learns what is in memory"):
        library.train(data)


def test_a_single_row_goes_into_a_list():
    with pytest.raises(UsageError, match="a row that is a dict goes into a list"):
        Model().predict({"app": "3"})


def test_bytes_that_are_no_text_are_escaped_in_what_is_logged(caplog):
    """They could not be written to a log."""
    Model(cb=3, max_bad_ratio=1).learn([b"\xff |w", b"1:0:0.5 |w"])
    caplog.text.encode()
    assert r"action \xff of" in caplog.text
