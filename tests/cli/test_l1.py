"""``vwlite l1``."""

import json
import random

import numpy as np
import pytest
from l1_case import SENTENCES

from vwlite.solvers.loglinear.model_file import load

CHOICE = random.Random(3)
BINARY = "".join(
    f"{CHOICE.choice([0, 1]) if n % 5 == 0 else n % 2} |user u{n % 2} "
    f"|item x{CHOICE.randrange(6)} y:{CHOICE.random():.3f} {n % 4}\n"
    for n in range(120)
)
NAMED = "".join(f"{['red', 'blue', 'green'][n % 3]} |w {'abc'[n % 3]} {CHOICE.choice('defg')}\n" for n in range(90))


@pytest.fixture(autouse=True)
def files(write):
    write("binary.vw", BINARY)
    write("named.vw", NAMED)
    write("tags.vw", SENTENCES)


def l1(vwlite, data, *options, quiet=True, **more):
    model = () if {"-f", "--final_regressor"} & set(options) else ("-f", "m")
    return vwlite("l1", data, *model, *(["--quiet"] if quiet else []), *options, **more)


def crf(vwlite, *options, **more):
    return l1(vwlite, "tags.vw", "--model", "crf", *options, **more)


def multinomial(vwlite, *options, **more):
    return l1(vwlite, "named.vw", "--model", "multinomial", *options, **more)


def same(tmp_path, first, second):
    return (tmp_path / first).read_bytes() == (tmp_path / second).read_bytes()


def figures(done):
    return json.loads(done.stdout)


def test_two_classes_make_an_ordinary_model(vwlite, header):
    l1(vwlite, "binary.vw", "--names", "--l1", "0.5")
    assert header("m")["learner"] == "gd" and header("m")["l1"]["l1"] == 0.5
    assert all(0 <= float(line) <= 1 for line in vwlite("predict", "-i", "m", "binary.vw").lines)
    scores = json.loads(vwlite("evaluate", "-i", "m", "binary.vw", "--json", "-").stdout)
    assert scores["accuracy"] > 0.85
    assert "user^u1" in vwlite("inspect", "m").stdout
    vwlite("train", "binary.vw", "-i", "m", "-f", "n", "--quiet")


def test_sequences_are_learned_predicted_and_measured(vwlite, header):
    crf(vwlite, "--names", "--l1", "0.1")
    lines = vwlite("predict", "-i", "m", "tags.vw").lines
    assert lines[:5] == ["B-NP", "I-NP", "O", "", "B-NP"] and len(lines) == SENTENCES.count("\n")
    assert header("m")["labels"] == ["B-NP", "I-NP", "O"]
    done = vwlite("evaluate", "-i", "m", "tags.vw", "--metric", "conll,accuracy", "--json", "-")
    assert figures(done)["f1"] == 100 and figures(done)["accuracy"] == 1 and "log_loss" not in figures(done)
    stdout = vwlite("inspect", "m", "--top", "2").stdout
    assert "w^cat" in stdout and "after B-NP" in stdout
    metrics = figures(vwlite("inspect", "m", "--json", "-"))
    assert metrics["active"] <= metrics["weights"] and {entry["label"] for entry in metrics["top"]} <= {
        "B-NP",
        "I-NP",
        "O",
    }


def test_marginals_add_up(vwlite):
    crf(vwlite)
    for line in filter(None, vwlite("predict", "-i", "m", "tags.vw", "--probabilities").lines):
        label, *chances = line.split(" ")
        chances = {name: float(chance) for name, chance in (word.rsplit(":", 1) for word in chances)}
        assert sum(chances.values()) == pytest.approx(1, abs=1e-4) and len(chances) == 3 and label in chances


def test_several_classes_are_learned_and_measured(vwlite):
    multinomial(vwlite, "--l1", "0.1")
    metrics = figures(vwlite("evaluate", "-i", "m", "named.vw", "--json", "-"))
    means = ["macro_precision", "macro_recall", "macro_f1"]
    shares = ["accuracy", "majority_accuracy", *means]
    assert list(metrics["result"]) == ["examples", *shares, "log_loss", "per_class", "confusion_matrix"]
    assert metrics["accuracy"] == metrics["macro_f1"] == 1
    assert [row["class"] for row in metrics["per_class"]] == metrics["confusion_matrix"]["classes"]
    asked = figures(vwlite("evaluate", "-i", "m", "named.vw", "--metric", "Macro-F1", "--json", "-"))
    assert list(asked["result"]) == ["examples", "macro_f1"]
    assert vwlite("predict", "-i", "m", stdin="|w a\n\nx |w b\n").lines == ["red", "", "blue"]


def test_malformed_lines_keep_their_place(vwlite):
    crf(vwlite)
    text = "|w the\n|w cat\nsat\n\n|w a\nO |w:x dog\n"
    done = vwlite("predict", "-i", "m", "--max-bad-ratio", "1", stdin=text)
    assert done.lines == ["B-NP", "I-NP", "nan", "", "B-NP", "nan"] and done.stderr.count("bad line ") == 2


def test_tags_are_said_again(vwlite):
    crf(vwlite)
    text = "|w the\n'second|w cat\nsat\n\nB-NP 1 third|w a\n|w the\n"
    done = vwlite("predict", "-i", "m", "--max-bad-ratio", "1", "--block-size", "16", stdin=text)
    assert done.lines[1:5] == ["I-NP second", "nan", "", "B-NP third"]
    assert [len(line.split()) for line in done.lines] == [1, 2, 1, 0, 2, 1]


def test_streams_are_cut_where_sequences_end(vwlite):
    crf(vwlite)
    whole = vwlite("predict", "-i", "m", "tags.vw").stdout
    assert vwlite("predict", "-i", "m", "tags.vw", "--block-size", "64").stdout == whole


CHANGES = {  # options: options without
    "--l1 0.1": "--l1 2",
    "--solver owlqn": "",
    "--solver owlqn --tolerance 0.1": "--solver owlqn",
    "--solver owlqn --passes 2": "--solver owlqn",
    "--solver fista": "--solver owlqn",
    "--solver fista --tolerance 0.5": "--solver fista",
    "--penalty clipping": "",
    "--penalty naive": "",
    "--penalty none": "",
    "--penalty none --average": "--penalty none",
    "--penalty none --average --average_after 9": "--penalty none --average",
    "--rate harmonic": "",
    "-l 0.3": "",
    "--learning_rate 0.3": "",
    "--decay_learning_rate 0.5": "",
    "--passes 7": "",
    "--holdout 0.25": "",
    "--holdout 3": "",
    "--no-shuffle": "",
    "--seed 5": "",
    "--random_seed 5": "",
    "-b 5": "",
    "--bit_precision 5": "",
    "--hash all": "",
    "--hash_seed 9": "",
    "--noconstant": "",
    "-q ui": "",
    "--quadratic ui": "",
    "--cubic uii": "",
    "--interactions user,item": "",
    "--permutations -q ii": "-q ii",
    "-q ui -q iu --leave_duplicate_interactions": "-q ui -q iu",
    "--ignore i": "",
    "--keep i": "",
    "--ignore_linear i -q ui": "-q ui",
    "--redefine x:=i --ignore x": "",
    "--ngram 2": "",
    "--ngram 2 --skips 1": "--ngram 2",
    "--feature_limit 1": "",
    "--affix +1i": "",
    "--spelling i": "",
    "--examples 50": "",
    "--holdout 3 --early_terminate 1 -l 30 --passes 60": "--holdout 3 --early_terminate 50 -l 30 --passes 60",
}


@pytest.mark.parametrize("options", CHANGES)
def test_changes_what_is_learned(options, vwlite, tmp_path):
    l1(vwlite, "binary.vw", *options.split(), "-f", "one")
    l1(vwlite, "binary.vw", *CHANGES[options].split(), "-f", "two")
    assert learned("one") != learned("two")


def learned(path):
    """Weights by slot."""
    model = load(path)
    return dict(zip(model.slots.tolist(), model.weights.tolist(), strict=True))


def test_dense_pairs_and_edges_have_weights_of_their_own(vwlite):
    sizes = []
    for options in ([], ["--dense-pairs"], ["--edge", "p"], ["--edge", "p", "--dense-pairs"]):
        crf(vwlite, *options)
        sizes.append(figures(vwlite("inspect", "m", "--json", "-"))["weights"])
    assert sizes[0] < sizes[1] and sizes[2] < sizes[3] and len(set(sizes)) == 4
    assert "after" in vwlite("inspect", "m").stdout


@pytest.mark.parametrize("run", [crf, multinomial])
@pytest.mark.parametrize("options", ["", "--penalty clipping", "--penalty naive --rate harmonic", "--penalty none"])
def test_going_on_is_exact(run, options, vwlite, tmp_path):
    run(vwlite, *options.split(), "--passes", "5", "-f", "half")
    data = "tags.vw" if run is crf else "named.vw"
    l1(vwlite, data, "--initial_regressor", "half", "--passes", "4", "-f", "whole")
    run(vwlite, *options.split(), "--passes", "9", "-f", "m")
    assert same(tmp_path, "whole", "m")


@pytest.mark.parametrize("run", [crf, multinomial])
def test_after_a_mean_the_last_weights_go_on(run, vwlite):
    data = "tags.vw" if run is crf else "named.vw"
    run(vwlite, "--penalty", "none", "--average", "--passes", "4", "-f", "mean")
    run(vwlite, "--penalty", "none", "--passes", "4", "-f", "last")
    mean, last = load("mean"), load("last")
    assert not np.allclose(mean.weights, last.weights)
    np.testing.assert_array_equal(mean.table[1], last.weights)
    for name in ("mean", "last"):
        l1(vwlite, data, "-i", name, "-f", f"{name}.9", "--passes", "5", "--penalty", "none")
    np.testing.assert_array_equal(load("mean.9").weights, load("last.9").weights)
    l1(vwlite, data, "-i", "mean", "-f", "again", "--passes", "5")
    assert load("again").config.average and not np.allclose(load("again").weights, load("last.9").weights)
    np.testing.assert_array_equal(load("again").table[1], load("last.9").weights)


def test_going_on_with_two_classes(vwlite, tmp_path):
    for name, passes, more in (("half", 5, ()), ("whole", 4, ("-i", "half")), ("m", 9, ())):
        l1(vwlite, "binary.vw", "-f", name, "--passes", passes, *more)
    assert same(tmp_path, "whole", "m")


def test_going_on_with_new_features_and_labels(vwlite, write):
    crf(vwlite, "--edge", "p")
    write("more.vw", "B-VP |w jumps |p j\nO |w now |p n\n\n")
    l1(vwlite, "more.vw", "-i", "m", "-f", "n", "--l1", "0", "--passes", "1", "-l", "1e-9")
    old, new = load("m"), load("n")
    np.testing.assert_allclose(new.weights[old.pairs.positions_in(new.pairs)], old.weights, atol=1e-6)
    assert new.pairs.names == [*old.pairs.names, "B-VP"]
    l1(vwlite, "more.vw", "-i", "m", "-f", "n", "--l1", "0.001", "--passes", "200", "-l", "30", "--rate", "harmonic")
    assert vwlite("predict", "-i", "n", "more.vw").lines[0] == "B-VP"


HELD_OUT = {  # options of several classes and of phrases: what a pass is judged by
    "--model multinomial": "accuracy",
    "--model multinomial --holdout-metric log_loss": "held_out",
    "--model crf": "f1",
    "--model crf --solver owlqn --passes 7": "f1",
    "--model crf --holdout-metric accuracy": "accuracy",
    "--model crf --holdout-metric log_loss": "held_out",
}


@pytest.mark.parametrize("options", HELD_OUT)
@pytest.mark.parametrize("held", ["dev.vw", "4"])
def test_the_best_pass_by_the_held_out_part_is_kept(options, held, vwlite, write):
    named, judge = "multinomial" in options, HELD_OUT[options]
    mixed = NAMED.replace("blue |w c", "red |w c") if named else SENTENCES.replace("I-NP |w cat", "O |w cat")
    write("dev.vw", mixed + NAMED if named else mixed + SENTENCES)
    data = "named.vw" if named else "tags.vw"
    more = ("--holdout", held, "--early_terminate", "3", "--l1", "4", "--json", "-")
    done = l1(vwlite, data, *options.split(), *more, quiet=False)
    metrics = figures(done)
    rank = [(-entry[judge] if judge != "held_out" else 0, entry["held_out"]) for entry in metrics["history"]]
    kept = rank.index(min(rank))
    assert metrics["passes"] == kept + 1 and len(rank) in (kept + 4, 30, 7)
    best = metrics["history"][kept]
    assert (metrics["objective"], metrics["active"]) == (best["objective"], best["active"])
    assert done.stderr.splitlines()[-1].startswith(f"pass {kept + 1} is kept, the best on the held-out part by ")
    if held == "dev.vw":
        scores = figures(vwlite("evaluate", "-i", "m", held, "--json", "-"))
        name = "log_loss" if judge == "held_out" else judge
        assert scores[name] == pytest.approx(best[judge], rel=1e-12)


def test_progress_and_json(vwlite):
    done = l1(vwlite, "binary.vw", "--passes", "3", "--holdout", "0.1", "--json", "-", quiet=False)
    lines = done.stderr.splitlines()
    assert lines[0].split() == ["pass", "L(w)/N", "active", "seconds", "held-out"] and len(lines) == 5
    metrics = figures(done)
    assert metrics["examples"] == 108 and [entry["pass"] for entry in metrics["history"]] == [1, 2, 3]
    assert metrics["objective"] == metrics["history"][-1]["objective"] < 0


def test_svmlight_is_learned_and_predicted(vwlite, write):
    write("data.svm", "+1 1:1 2:1\n-1 1:1 3:1\n" * 9)
    l1(vwlite, "data.svm", "--format", "svmlight", "--l1", "0.1")
    assert [float(line) > 0.5 for line in vwlite("predict", "-i", "m", "data.svm").lines[:2]] == [True, False]


def test_malformed_lines_are_left_out_and_kept_in_a_file(vwlite, write, tmp_path):
    write("bad.vw", NAMED + "red 1 2 3 |w a\nblue nan |w a\n")
    more = {"--max-bad-ratio": "0.5", "--bad-lines": "kept"}
    l1(vwlite, "bad.vw", "--model", "multinomial", *[word for pair in more.items() for word in pair])
    assert len((tmp_path / "kept").read_text().splitlines()) == 2
    assert l1(vwlite, "bad.vw", "--model", "multinomial", "--strict", status=65).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--edge p", "crf"),
        ("--dense-pairs", "multinomial, crf or tree"),
        ("--tolerance 0.1", "owlqn or --solver fista"),
        ("--solver fista --l1 0", "it needs --l1 above 0"),
        ("--solver fista --rate harmonic", "sgd"),
        ("--solver owlqn --penalty naive", "sgd"),
        ("--solver fista --warm_passes 3", "owlqn"),
        ("--rate harmonic --decay_learning_rate 0.5", "exponential"),
        ("--early_terminate 2", "--holdout"),
        ("--holdout-metric log_loss", "--holdout"),
        ("--holdout 3 --holdout-metric accuracy", "it is log_loss"),
        ("--holdout 1", "share"),
        ("--holdout 2.5", "share"),
        ("--l1 -1", "--l1"),
        ("-l 0", "-l"),
        ("--passes 0", "--passes"),
        ("--decay_learning_rate 1", "above 0 and below 1"),
        ("--names -c", "--names"),
        ("--penalty clipped", "penalty"),
        ("--penalty none --l1 2", "--l1 does nothing without --penalty naive or --penalty clipping or"),
        ("--average", "--average needs --penalty none: a mean of sparse weights is not sparse"),
        ("--penalty none --average_after 3", "--average_after does nothing without --average"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite):
    assert message in l1(vwlite, "binary.vw", *options.split(), status=2).stderr


def test_f1_needs_labels_of_phrases(vwlite):
    done = multinomial(vwlite, "--holdout", "3", "--holdout-metric", "f1", status=2)
    assert "it is accuracy or log_loss" in done.stderr


def test_wrong_data_are_refused(vwlite, write):
    write("mixed.vw", "0 |a b\n-1 |a b\n")
    assert "0/1" in l1(vwlite, "mixed.vw", status=65).stderr
    assert "no labelled example" in l1(vwlite, "-", "--model", "crf", stdin="|a b\n", status=65).stderr
    assert "no example" in l1(vwlite, "-", stdin="", status=65).stderr


def test_models_of_other_kinds(vwlite):
    crf(vwlite)
    assert "contradicts" in l1(vwlite, "tags.vw", "-i", "m", "--model", "multinomial", status=2).stderr
    assert "contradicts" in l1(vwlite, "tags.vw", "-i", "m", "-b", "9", status=2).stderr
    assert "log-linear" in vwlite("train", "tags.vw", "-i", "m", status=76).stderr
    for options in ("predict --raw", "predict --active", "evaluate --qid tag", "evaluate --metric auc"):
        command, *rest = options.split()
        assert vwlite(command, "-i", "m", "tags.vw", *rest, status=2).stderr
    assert "named labels" in vwlite("inspect", "m", "--readable_model", "r", status=2).stderr
    vwlite("train", "binary.vw", "-f", "plain", "--quiet")
    assert "vwlite l1" in l1(vwlite, "binary.vw", "-i", "plain", status=76).stderr
    assert (
        "needs a model of --loss_function logistic"
        in vwlite("predict", "-i", "plain", "binary.vw", "--probabilities", status=2).stderr
    )


ENDED = {
    "--solver owlqn --l1 0.01": ("binary.vw", "--tolerance 1e-07"),
    "--solver fista --l1 0.01": ("binary.vw", "--tolerance 0.001"),
    "--model crf --loss margin --l2 0.01 --gap 1e-6": ("tags.vw", "--gap 1e-06"),
}


@pytest.mark.parametrize("options", ENDED)
def test_a_solver_that_ends_at_passes_says_what_it_has_not_reached(options, vwlite):
    data, left = ENDED[options]
    message = f"note: {left} was not reached: --passes allows more\n"
    assert message in l1(vwlite, data, *options.split(), "--passes", "2", quiet=False).stderr
    loose = options.replace("--gap 1e-6", "--gap 0.9")
    assert "was not reached" not in l1(vwlite, data, *loose.split(), "--passes", "2000", quiet=False).stderr


def test_a_period_beyond_the_data_holds_nothing_out(vwlite, tmp_path):
    stderr = l1(vwlite, "binary.vw", "--l1", "1", "--holdout", "121", quiet=False).stderr
    assert "note: no labelled example was held out, so the model is that of the last pass\n" in stderr
    l1(vwlite, "binary.vw", "--l1", "1", "-f", "all")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "all").read_bytes()


@pytest.mark.parametrize("options", [(), ("--solver", "owlqn"), ("--holdout", 0.1), ("--edge", "e")])
def test_a_model_of_too_many_labels_says_what_it_needs(options, vwlite, write):
    sequences = "".join(f"L{n % 60} |w x{n}\n" + "\n" * (n % 5 == 4) for n in range(300))
    write("data.vw", sequences.replace("\n", " |e y\n").replace("\n |e y\n", "\n\n"))
    run = ("l1", "data.vw", "--model", "crf", "-f", "model", "--passes", 1, *options)
    stderr = vwlite(*run, "--max-memory", 0.0001, status=2).stderr
    assert "weights of 60 labels, and the longest sequence, of 5 lines: 0.00 GiB are more than --max-memory" in stderr
    vwlite(*run)
