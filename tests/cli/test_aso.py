"""``vwlite aso``."""

import json

import numpy as np
import pytest

from vwlite.features.theta import load_theta

TOPICS = {"sport": ["ball", "goal", "team", "win", "score"], "sea": ["wave", "ship", "fish", "salt", "sail"]}


def documents(count, seed, several=False):
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(count):
        names = sorted({("sport", "sea")[k] for k in rng.integers(2, size=2 if several else 1)})
        words = [word for name in names for word in rng.choice(TOPICS[name], 3)]
        lines.append(f"{','.join(names)} 'd{number}|w {' '.join(words)} |v x{rng.integers(9)}\n")
    return "".join(lines)


def bare(text):
    return "".join(line.split(" ", 1)[1] for line in text.splitlines(keepends=True))


@pytest.fixture(autouse=True)
def files(write):
    write("un.vw", bare(documents(150, 1)))
    write("few.vw", documents(12, 2))
    write("test.vw", documents(60, 3))
    write("many.vw", documents(60, 4, several=True))


def learn(vwlite, *options, data="un.vw", aux=("--aux", "freq-k:2"), **more):
    return vwlite("aso", "learn", data, "-f", "theta", *aux, "--quiet", *options, **more)


def same(tmp_path, first, second):
    return (tmp_path / first).read_bytes() == (tmp_path / second).read_bytes()


def test_two_commands_and_the_others_take_the_model(vwlite, header):
    learn(vwlite, "--dim", "3", "--dim", "v/1=2", "--threads", "1")
    assert header("theta")["learner"] == "aso-theta"
    vwlite("aso", "train", "few.vw", "--theta", "theta", "-f", "model", "--quiet", "--json", "facts")
    scores = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)
    assert scores["accuracy"] > 0.95 and scores["accuracy"] == scores["micro_f1"]
    chosen = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--metric", "Accuracy", "--json", "-").stdout)
    assert chosen["result"] == {"accuracy": scores["accuracy"]}
    predicted = vwlite("predict", "-i", "model", "test.vw", "-r", "raw").lines
    assert len(predicted) == 60 and predicted[0].split()[0] in TOPICS and predicted[0].endswith(" d0")
    assert "ball" in vwlite("inspect", "model", "--top", "10").stdout


def test_multilabel_models_are_learned_and_measured(vwlite):
    learn(vwlite)
    vwlite("aso", "train", "many.vw", "--theta", "theta", "-f", "model", "--multilabel", "--quiet")
    scores = json.loads(vwlite("evaluate", "-i", "model", "many.vw", "--json", "-").stdout)
    assert scores["micro_f1"] > 0.95 and scores["micro_recall"] > 0.9 and scores["micro_precision"] > 0.9
    assert any(line.split()[0] == "sea,sport" for line in vwlite("predict", "-i", "model", "many.vw").lines)
    learn(vwlite, "--labeled", "many.vw", "--multilabel", aux=("--aux", "multi-k:2"))
    vwlite("aso", "train", "many.vw", "-f", "model", "--multilabel", "--threshold", "tuned", "--quiet")
    assert json.loads(vwlite("evaluate", "-i", "model", "many.vw", "--json", "-").stdout)["macro_f1"] > 0.95


KINDS = ["top-k:2", "top-1", "multi-k:1", "multi-k:auto", "range:2", "pivot:4:w", "more:0:w", "confidence", "top-k:1:v"]
KINDS += ["freq", "mask:w", "labels"]


@pytest.mark.parametrize("aux", KINDS)
def test_inspect_shows_the_theta_of_each_kind_of_problem(vwlite, aux):
    labeled = () if aux.split(":")[0] in ("freq", "mask", "more", "labels") else ("--labeled", "few.vw")
    learn(vwlite, *labeled, "--json", "facts", data="test.vw", aux=("--aux", aux))
    lines = vwlite("aso", "inspect", "theta", "--rows", "1", "-n", "3").lines
    assert "row 1" in lines[0] and lines[1].startswith("  +  ")


CHANGES = ["--max-problems 2", "--min-count 40", "--no-positive", "--passes 1", "--loss_function logistic", "--dim 1"]
CHANGES += ["--lambda 0.1", "--learning_rate 0.01", "--random_seed 5", "--no-unit", "--group w,v"]
CHANGES += ["--iterations 2", "--idf", "--stop-words ball,ship"]


@pytest.mark.parametrize("change", CHANGES)
def test_options_of_learn_change_theta(vwlite, tmp_path, change):
    learn(vwlite)
    vwlite("aso", "learn", "un.vw", "--theta", "other", "--aux", "freq-k:2", "--quiet", *change.split())
    assert not same(tmp_path, "theta", "other")


def test_stop_words_are_no_features(vwlite, write):
    write("stop", "ball\n\nship\n")
    for stop in ("ball,ship", "@stop"):
        learn(vwlite, "--stop-words", stop)
        assert {"goal", "wave"} <= set(load_theta("theta")[0].words.names).difference(["ball", "ship"])
        assert not {"ball", "ship"} & set(load_theta("theta")[0].words.names)
        listed = vwlite("aso", "problems", "un.vw", "--aux", "mask:w", "--stop-words", stop).lines
        assert len(listed) == 1 + 8 and not any("ball" in line for line in listed)


def test_the_words_of_a_view(vwlite, write):
    write("words", "ball\ngoal\nwave\n")
    for asked in ("ball,goal,wave", "@words"):
        listed = vwlite("aso", "problems", "un.vw", "--aux", "freq", "--view-words", asked).lines[1:]
        problems = [line.split("\t")[:2] for line in listed]
        assert [name for kind, name in problems if kind == "freq/1"] == ["ball", "goal", "wave"]
        others = {name for kind, name in problems if kind == "freq/2"}
        assert others and not others & {"ball", "goal", "wave"}
    learn(vwlite, "--view-words", "@words")
    theta, _ = load_theta("theta")
    second = theta.group == theta.names.index("w/2")
    assert {theta.words.names[at] for at in np.flatnonzero(second).tolist()} == {"ball", "goal", "wave"}
    assert "no feature of the text" in learn(vwlite, "--view-words", "moon", status=2).stderr
    alone = learn(vwlite, "--view-words", "ball", aux=("--aux", "mask:w"), status=2)
    assert "--view-words does nothing without" in alone.stderr


def test_a_tolerance_needs_iterations(vwlite):
    learn(vwlite, "--iterations", "9", "--no-positive", "--tolerance", "0.5", "--json", "facts")
    assert len(json.loads(vwlite("aso", "inspect", "theta", "--json", "-").stdout)["objective"]) == 2
    assert "does nothing without --iterations" in learn(vwlite, "--tolerance", "0.5", status=2).stderr


@pytest.mark.parametrize("change", ["--theta-scale 2", "--passes 3", "--lambda 0.1", "-l 0.1", "--seed 3", "--no-unit"])
def test_options_of_train_change_the_model(vwlite, tmp_path, change):
    learn(vwlite)
    for name, options in (("one", ()), ("two", change.split())):
        vwlite("aso", "train", "few.vw", "--theta", "theta", "--final_regressor", name, "--quiet", *options)
    assert not same(tmp_path, "one", "two")


def test_apply_makes_features_for_other_learners(vwlite, tmp_path):
    learn(vwlite, "--dim", "3")
    stdout = vwlite("aso", "apply", "--theta", "theta", "few.vw").stdout
    assert vwlite("aso", "apply", "--theta", "theta", stdin=(tmp_path / "few.vw").read_text()).stdout == stdout
    vwlite("aso", "apply", "--theta", "theta", "few.vw", "-o", "more.vw", "--threads", "1")
    assert (tmp_path / "more.vw").read_text() == stdout and "|theta_w/1 0:" in stdout
    vwlite("aso", "apply", "--theta", "theta", "test.vw", "--out", "more-test.vw")
    right = {}
    for options in ((), ("--keep", "t")):  # all features, and those of Theta alone
        vwlite("train", "more.vw", "--oaa", "2", "--named_labels", "sport,sea", "-f", "m", "--quiet", *options)
        report = vwlite("evaluate", "-i", "m", "more-test.vw", "--json", "-").stdout
        right[options] = json.loads(report)["accuracy"]
    assert min(right.values()) > 0.9


@pytest.mark.parametrize("change", ["--theta-scale 2", "--theta-dim 1", "--no-theta-unit"])
def test_options_of_apply_change_the_text(vwlite, change):
    learn(vwlite)
    typed = ("--theta-unit", "--theta-scale", "1")
    texts = [vwlite("aso", "apply", "--theta", "theta", "few.vw", *how).stdout for how in (typed, change.split())]
    assert texts[0] != texts[1] and len(texts[0].splitlines()) == len(texts[1].splitlines())


def test_apply_keeps_the_groups_that_are_named(vwlite):
    learn(vwlite)
    whole = vwlite("aso", "apply", "--theta", "theta", "test.vw").lines
    for options in (("--theta-groups", "w/2,v/1"), ("--theta-groups", "v/1", "--theta-groups", "w/2")):
        lines = vwlite("aso", "apply", "--theta", "theta", "test.vw", *options).lines
        for line, every in zip(lines, whole, strict=True):
            head, *made = every.split(" |theta_")
            kept = [part for part in made if part.startswith(("w/2 ", "v/1 "))]
            assert line == " |theta_".join([head, *kept])


def test_theta_as_arrays(vwlite, tmp_path):
    learn(vwlite, "--idf", "--dim", "3", "--dim", "v/1=1")
    vwlite("aso", "inspect", "theta", "--out", "theta.npz")
    theta = load_theta(str(tmp_path / "theta"))[0]
    with np.load(tmp_path / "theta.npz", allow_pickle=False) as file:
        arrays = dict(file)
    assert arrays["feature"].tolist() == theta.words.names and set(arrays["namespace"]) == {"v", "w"}
    assert [arrays["groups"][group] for group in arrays["group"]] == [theta.names[group] for group in theta.group]
    assert (arrays["matrix"] == theta.matrix).all() and (arrays["idf"] == theta.words.idf[:-1]).all()
    for row, values in zip(arrays["singular_values"], theta.values, strict=True):
        assert row.tolist() == [*values, *[0] * (3 - len(values))]


def test_apply_keeps_malformed_lines_and_refuses_text_of_others(vwlite, write):
    learn(vwlite)
    write("bad.vw", "sea |w ball\nsea x1 |w ball\n\nsea |w goal\n")
    done = vwlite("aso", "apply", "--theta", "theta", "bad.vw", "--max-bad-ratio", "0.5", "--bad-lines", "kept")
    assert done.lines[1:3] == ["sea x1 |w ball", ""] and "bad line" in done.stderr
    assert vwlite("aso", "apply", "--theta", "theta", "bad.vw", status=65).lines == done.lines
    assert vwlite("aso", "apply", "--theta", "theta", "bad.vw", "--strict", status=65).stdout == ""
    write("other.vw", "|q what\n")
    completed = vwlite("aso", "apply", "--theta", "theta", "other.vw", status=65)
    assert completed.stdout == "" and "no feature of the text is in Theta" in completed.stderr


def test_idf_without_theta_and_of_theta(vwlite, tmp_path):
    learn(vwlite)
    stderr = vwlite("aso", "train", "few.vw", "--theta", "theta", "--idf", "-f", "m", status=2).stderr
    assert "Theta was learned without --idf" in stderr
    learn(vwlite, "--idf")
    for name, options in (("own", ()), ("counted", ("--idf",)), ("theirs", ("--theta", "theta"))):
        vwlite("aso", "train", "few.vw", "-f", name, "--quiet", *options)
    assert not same(tmp_path, "own", "counted")
    vwlite("aso", "train", "few.vw", "--theta", "theta", "--idf", "-f", "again", "--quiet")
    assert same(tmp_path, "theirs", "again")
    assert len(vwlite("predict", "-i", "theirs", "test.vw").lines) == 60


def test_negative_values_under_idf_are_one_sentence(vwlite, write):
    write("negative.vw", "|w ball goal\n|w ball team:-2\n")
    stderr = learn(vwlite, "--idf", data="negative.vw", status=65).stderr
    assert stderr.endswith("--idf needs values of 0 or more, and team has -2 in example 2\n")


def test_defaults_may_be_typed(vwlite, tmp_path):
    learn(vwlite, "--positive", "--unit")
    vwlite("aso", "learn", "un.vw", "-f", "other", "--aux", "freq-k:2", "--quiet")
    assert same(tmp_path, "theta", "other")


def test_inspect_as_json(vwlite):
    learn(vwlite)
    report = json.loads(vwlite("aso", "inspect", "theta", "--top", "2", "--json", "-").stdout)
    assert report["topics"][0]["row"] == 1 and all(len(topic["positive"]) <= 2 for topic in report["topics"])


def test_memory_is_said_and_limited(vwlite):
    assert "GiB of memory" in vwlite("aso", "learn", "un.vw", "-f", "t", "--aux", "freq").stderr
    assert "--max-memory" in learn(vwlite, "--max-memory", "1e-9", status=2).stderr


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("learn un.vw -f t", "--aux"),
        ("learn un.vw -f t --aux top-k:1", "--labeled"),
        ("learn un.vw -f t --aux freq --labeled few.vw", "--labeled"),
        ("learn un.vw -f t --aux freq --multilabel", "--multilabel"),
        ("learn un.vw -f t --aux freq --dim x", "--dim"),
        ("learn un.vw -f t --aux pivot:2", "--labeled"),
        ("learn un.vw -f t --aux mask:w+v", "hides all features"),
        ("learn un.vw -f t --aux pivot:99:w --labeled few.vw", "namespace w has"),
        ("learn un.vw -f t --aux freq --where w", "NS=REGEX"),
        ("problems un.vw", "--aux"),
        ("problems un.vw --aux range:2", "--labeled"),
        ("learn un.vw -f t --aux freq --threads 0", "--threads"),
        ("learn un.vw -f un.vw --aux freq", "overwritten"),
        ("learn un.vw -f - --aux freq", "-f -"),
        ("train few.vw -f m --theta-scale 2", "--theta-scale"),
        ("train few.vw -f m --threshold tuned", "--multilabel"),
        ("inspect theta --rows 0", "--rows"),
        ("apply few.vw", "--theta"),
        ("apply few.vw --theta theta --theta-scale 0", "--theta-scale"),
        ("apply few.vw --theta theta --theta-dim 0", "--theta-dim"),
        ("apply few.vw --theta theta -o few.vw", "overwritten"),
        ("apply few.vw --theta theta --theta-groups v/1,x", "no group 'x'"),
        ("inspect theta --out theta", "overwritten"),
        ("train few.vw -f m --json m", "same name"),
    ],
)
def test_usage_errors_say_what_is_wrong(vwlite, typed, said):
    learn(vwlite)
    assert said in vwlite("aso", *typed.split(), status=2).stderr


def test_problems_are_listed_chosen_and_shown(vwlite, tmp_path, write):
    how = ("un.vw", "--aux", "freq-k:2", "--where", "w!=ball", "--min-count", "3")
    lines = vwlite("aso", "problems", *how, "--quiet").lines
    assert lines[0].split() == ["kind", "problem", "positives", "features"] and len(lines) > 5
    learn = ("aso", "learn", *how, "-f", "theta", "--quiet")
    vwlite(*learn)
    assert vwlite("aso", "inspect", "theta", "--problems").lines == lines
    write("list", "\n".join([lines[0], f"-{lines[1]}", *lines[2:]]))
    vwlite(*learn, "--problems", "list", "--json", "facts")
    assert vwlite("aso", "inspect", "theta", "--problems", "--json", "again").lines == [lines[0], *lines[2:]]
    assert json.loads((tmp_path / "facts").read_text())["listed"][0][1] == lines[2].split("\t")[1]
    assert "no feature of namespace 'w' has" in vwlite(*learn, "--where", "w=zzz", status=65).stderr
    write("list", "mask:w\tnever\t2\t3\n")
    assert "no problem mask:w never" in vwlite(*learn, "--problems", "list", status=65).stderr


def test_models_in_the_wrong_place(vwlite):
    learn(vwlite)
    vwlite("aso", "train", "few.vw", "-f", "m", "--quiet")
    assert "made by vwlite aso learn" in vwlite("aso", "inspect", "m", status=76).stderr
    assert vwlite("predict", "-i", "theta", "test.vw", status=76).stderr
    assert "does not go with" in vwlite("predict", "-i", "m", "test.vw", "--jsonl", status=2).stderr
    options = "--metric map: a model of this kind has examples, accuracy, majority_accuracy, micro_f1"
    assert options in vwlite("evaluate", "-i", "m", "test.vw", "--metric", "map", status=2).stderr
    assert "'vwlite aso train --help'" in vwlite("aso", "train", "-i", "m", "few.vw", status=2).stderr
    assert "at least two" in vwlite("aso", "train", "un.vw", "-f", "n", "--quiet", status=65).stderr


@pytest.mark.parametrize(
    "line", ["aso train few.vw", "aso cotrain few.vw --unlabeled un.vw", "aso tasks few.vw", "merge few.vw"]
)
def test_where_a_model_goes_must_be_said(vwlite, line):
    assert "-f" in vwlite(*line.split(), status=2).stderr


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_no_examples_are_one_sentence(vwlite, write, text):
    write("none.vw", text)
    assert "no example" in learn(vwlite, data="none.vw", status=65).stderr
    assert "the data have 0 classes" in vwlite("aso", "train", "none.vw", "-f", "m", status=65).stderr
    vwlite("aso", "train", "few.vw", "-f", "m", "--quiet")
    assert vwlite("predict", "-i", "m", "none.vw").stdout == ""
    assert "no labelled example" in vwlite("evaluate", "-i", "m", "none.vw", status=65).stderr


def cotrain(vwlite, *options, **more):
    return vwlite("aso", "cotrain", "few.vw", "--unlabeled", "un.vw", "-f", "model", *options, **more)


def test_cotrain_prints_its_rounds_and_writes_a_model_like_any_other(vwlite, tmp_path):
    done = cotrain(vwlite, "--test", "test.vw", "--step", "20", "--pool", "100", "--json", "rounds.json")
    assert "round labelled added agreement accuracy" in " ".join(done.stderr.split())
    facts = json.loads((tmp_path / "rounds.json").read_text())["result"]
    assert facts["rounds"][-1]["labelled"] == 162 and facts["round"] == len(facts["rounds"]) - 1
    assert facts["unlabelled"] == 150 and facts["classes"] == ["sea", "sport"]
    scores = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)
    assert scores["accuracy"] == facts["rounds"][-1]["accuracy"] > 0.9
    assert vwlite("predict", "-i", "model", "test.vw").lines[0].endswith(" d0")


@pytest.mark.parametrize(
    "options",
    [
        ("--one-view", "--holdout", "0.25"),
        ("--views", "w"),
        ("--views", "w", "--views", "w,v", "--select", "confidence"),
        ("--weight", "0.5", "--idf", "--no-unit", "-l", "0.1", "--lambda", "1e-3", "--passes", "3", "--seed", "3"),
        ("--loss_function", "logistic", "--max-memory", "1", "--max-bad-ratio", "0.5", "--strict"),
        ("--bad-lines", "bad"),
    ],
)
def test_cotrain_takes_its_options(options, vwlite):
    cotrain(vwlite, *options, "--quiet", "--step", "30")
    assert set(line.split()[0] for line in vwlite("predict", "-i", "model", "test.vw").lines) <= set(TOPICS)


def test_cotrain_says_that_the_share_is_less_than_an_example(vwlite):
    assert "no labelled example was held out" in cotrain(vwlite, "--holdout", "0.01", "--step", "30").stderr


def test_cotrain_with_theta(vwlite):
    learn(vwlite)
    cotrain(vwlite, "--theta", "theta", "--theta-scale", "0.5", "--quiet", "--step", "40")
    assert vwlite("inspect", "model").stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--theta-scale", "1"), "--theta-scale does nothing without --theta"),
        (("--one-view", "--views", "w"), "--one-view has one classifier of all features"),
        (("--views", "w", "--views", "v", "--views", "w"), "--views is given twice at most"),
        (("--views", "z"), "no feature of the text is in namespace 'z'"),
        (("--holdout", "1"), "--holdout"),
        (("--step", "0"), "--step"),
    ],
)
def test_cotrain_refuses_wrong_options(options, said, vwlite):
    assert said in cotrain(vwlite, *options, status=2).stderr
