"""``vwlite crr``."""

import json
import random

import pytest

CHOICE = random.Random(7)
DATA = "".join(
    f"{n % 3} 'q{n // 9}|user u{CHOICE.randrange(3)} age:{n % 3 + CHOICE.random():.3f} "
    f"|item Big{n % 2} 7 | x{n % 3}:{n % 5} y\n"
    for n in range(90)
)
SVMLIGHT = "2 qid:1 1:3 2:0.5 # best\n1 qid:1 1:2\n0 qid:1 1:1\n0 qid:2 2:1\n1 qid:2 1:1 2:1\n"


@pytest.fixture(autouse=True)
def files(write):
    write("data.vw", DATA)
    write("data.svm", SVMLIGHT)


def crr(vwlite, *options, data="data.vw", **more):
    model = () if {"-f", "--final_regressor"} & set(options) else ("-f", "m")
    return vwlite("crr", data, *model, "--steps", "2000", "--quiet", *options, **more)


def same(tmp_path, first, second):
    return (tmp_path / first).read_bytes() == (tmp_path / second).read_bytes()


def test_a_buffer_of_all_examples_is_as_good_as_a_cache(vwlite):
    crr(vwlite)
    crr(vwlite, "--pair-buffer", "1000", "-f", "n")
    predicted = [vwlite("predict", "-i", name, "data.vw").stdout for name in ("m", "n")]
    assert predicted[0] == predicted[1]


def test_the_model_is_one_for_the_other_commands(vwlite, header):
    crr(vwlite, "--alpha", "0.3", "--lambda", "0.01", "--names")
    assert len(vwlite("predict", "-i", "m", "data.vw").lines) == 90
    stdout = vwlite("inspect", "m", "--top", "3").stdout
    assert "alpha" in stdout and "^" in stdout
    assert header("m")["crr"]["lambda"] == 0.01
    scores = json.loads(vwlite("evaluate", "-i", "m", "data.vw", "--qid", "tag", "--json", "-").stdout)
    assert {"mse", "map", "ndcg", "ndcg@10"} <= set(scores) and scores["queries"] == 10


def test_a_model_ranks_well_what_can_be_ranked(vwlite):
    crr(vwlite, "--final_regressor", "m2")
    metrics = "mse,auc,map,ndcg,ndcg@10"
    done = vwlite("evaluate", "-i", "m2", "data.vw", "--metric", metrics, "--qid", "tag", "--json", "-")
    report = json.loads(done.stdout)
    assert list(report["result"]) == ["examples", "weight", "mse", "auc", "queries", "map", "ndcg", "ndcg@10"]
    assert report["map"] > 0.95 and report["auc"] > 0.9


def test_queries_of_svmlight_are_ranked_and_measured(vwlite):
    crr(vwlite, "--format", "svmlight", "--json", "facts.json", data="data.svm")
    done = vwlite("evaluate", "-i", "m", "data.svm", "--format", "svmlight", "--metric", "map", "--json", "-")
    assert json.loads(done.stdout)["queries"] == 2


def test_progress_doubles_and_goes_to_stderr(vwlite, write):
    done = vwlite("crr", "data.vw", "--steps", "5000", "--json", "-")
    steps = [int(line.split()[0]) for line in done.stderr.splitlines() if line.split()[0].isdigit()]
    assert steps == [1024, 2048, 4096, 5000]
    assert json.loads(done.stdout)["examples"] == 90


def test_steps_on_queries_depend_on_nothing_else(vwlite, tmp_path):
    options = ("--pairs", "lambda-ndcg", "--quiet", "--seed", "4")
    for name, more in (("whole", []), ("cached", ["-c"]), ("blocks", ["--block-size", "256", "--threads", "2"])):
        vwlite("crr", "data.vw", *more, *options, "-f", name)
    assert same(tmp_path, "whole", "cached") and same(tmp_path, "whole", "blocks")
    report = json.loads(vwlite("crr", "data.vw", *options[:2], "--json", "-").stdout)
    assert (report["pairing"], report["rate"], report["steps"], report["alpha"]) == ("lambda-ndcg", "adaptive", 300, 0)
    assert report["average"] and report["query_limit"] == 1000 and "l1" not in report


def test_calibrated_predictions_have_the_size_of_the_labels_in_the_same_order(vwlite, tmp_path):
    actual = {}
    for name, more in (("plain", []), ("calibrated", ["--calibrate"])):
        crr(vwlite, "--pairs", "lambda-ndcg", *more, "-f", name)
        done = vwlite("evaluate", "-i", name, "data.vw", "--metric", "mse,ndcg,map", "--qid", "tag", "--json", "-")
        actual[name] = json.loads(done.stdout)
    assert actual["calibrated"]["mse"] < actual["plain"]["mse"] and actual["calibrated"]["mse"] < 0.6
    assert actual["calibrated"]["ndcg"] == actual["plain"]["ndcg"]


def test_seed_changes_the_draws(vwlite, tmp_path):
    crr(vwlite, "--seed", "5")
    crr(vwlite, "--random_seed", "5", "-f", "again")
    crr(vwlite, "--seed", "6", "-f", "other")
    assert same(tmp_path, "m", "again") and not same(tmp_path, "m", "other")


def test_leaves_no_temporary_files(vwlite, names_in, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    crr(vwlite)
    assert names_in() == ["data.svm", "data.vw", "m", "m.ledger"]


@pytest.mark.parametrize(
    "options",
    [
        "-q ui", "--quadratic ::", "--cubic uii", "--interactions user,item", "--permutations -q uu",
        "--leave_duplicate_interactions -q ui -q iu", "--ignore u", "--keep u", "--ignore_linear u -q ui",
        "--redefine x:=u", "--ngram 2", "--ngram 2 --skips 1", "--feature_limit 1", "--affix +2u", "--spelling i",
        "--noconstant", "--hash all", "--hash_seed 3", "-b 12", "--bit_precision 10",
        "--loss_function hinge", "--loss_function logistic --logistic_min 0 --logistic_max 2",
        "--pair-sampling pairs", "--rate constant", "--rate invsqrt -l 0.1", "--rate constant --learning_rate 0.01",
        "--project", "--average", "--average --average_after 10", "--l1 0.01",
        "--calibrate", "--loss_function absolute", "--loss_function modified_huber", "--pair_loss hinge", "--pairs all",
        "--pairs lambda-ndcg", "--pairs lambda-map", "--pairs lambda-ndcg --truncate 2", "--pairs all --query_limit 3",
        "--pairs all --pair-sampling query", "--pairs lambda-map --no-average", "--pairs lambda-map --alpha 0.5",
        "--pairs lambda-map --average_after 7", "--pairs lambda-map --rate constant", "--pairs all -l 0.3",
        "--qid none", "--qid item", "--pair-buffer 2", "--examples 40", "--alpha 0", "--alpha 1",
    ],
)  # fmt: skip
def test_every_option_makes_another_model(vwlite, tmp_path, options):
    crr(vwlite)
    crr(vwlite, *options.split(), "-f", "other")
    assert not same(tmp_path, "m", "other")
    vwlite("predict", "-i", "other", "data.vw")


def test_queries_are_drawn_alike_unless_a_step_takes_all_pairs_of_one(vwlite, tmp_path):
    made = {"m": "", "n": "--pair-sampling query", "a": "--pairs all", "b": "--pairs all --pair-sampling pairs"}
    for name, typed in made.items():
        crr(vwlite, "-f", name, *typed.split())
    weights = {name: vwlite("inspect", name).stdout.partition("weight ")[2] for name in made}
    assert weights["m"] == weights["n"] != weights["a"] == weights["b"] != ""


def test_l1_leaves_few_weights_and_tells_how_many(vwlite, weights, tmp_path):
    left = {}
    for penalty in ("0.001", "0.05"):
        done = vwlite("crr", "data.vw", "-f", "m", "--steps", "20000", "--json", "j", "--l1", penalty)
        left[penalty] = json.loads((tmp_path / "j").read_text())["weights"]
        assert f"weights that are not 0: {left[penalty]}\n" in done.stderr and left[penalty] == len(weights("m"))
    assert left["0.05"] < left["0.001"]


def test_options_that_did_nothing_are_told(vwlite):
    features = ("-q", "uz", "--random_features", "rbf:50", "--random_of", "uk", "--steps", "10")
    notes = [line for line in vwlite("crr", "data.vw", *features).stderr.splitlines() if line.startswith("note: ")]
    assert notes[0] == "note: --random_features rbf:50 makes 64, a multiple of 64"
    assert notes[1].startswith("note: --gamma ")
    assert [note.partition(" (seen")[0] for note in notes[2:]] == [
        "note: -q uz never matched: no line has both u and z",
        "note: --random_of k never matched: no line has k",
    ]
    for more in ([], ["-c"], ["-c"], ["--pair-buffer", "1"]):
        done = vwlite("crr", "data.vw", "-q", "uz", "-q", "ui", "--steps", "10", *more)
        assert done.stderr.splitlines()[-1].startswith("note: -q uz never matched: no line has both u and z (seen: ")
    assert "note" not in vwlite("crr", "data.vw", *features, "--quiet").stderr
    assert "note" not in vwlite("crr", "data.vw", "-q", "ui", "--steps", "10").stderr


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ("--alpha 2", 2, "--alpha"), ("--lambda 0", 2, "--lambda"), ("--steps 0", 2, "--steps"), ("-l 1", 2, "-l goes"),
        ("--qid nothing", 65, "--qid"), ("--loss_function logistic", 65, "logistic_max"),
        ("-f data.vw", 2, "overwritten"),
        ("--pairs lambda-map --pair-buffer 9", 2, "whole queries"), ("--pairs lambda-map --l1 1", 2, "drop --l1"),
        ("--pairs lambda-ndcg --loss_function hinge", 2, "logistic"), ("--calibrate --noconstant", 2, "--noconstant"),
        ("--pairs all --pair_loss squared", 2, "logistic"), ("--calibrate --loss_function hinge", 2, "--calibrate"),
        ("--pairs lambda-ndcg --loss_function squared", 2, "--alpha"), ("--pairs all --lambda 0.1", 2, "--lambda does"),
        ("--pairs lambda-map --pair-sampling query", 2, "--pair-sampling"),
        ("--pairs all --truncate 3", 2, "--truncate"),
        ("--query_limit 3", 2, "--query_limit"), ("--rate adaptive", 2, "--pairs"), ("--pairs most", 2, "lambda-ndcg"),
        ("--pairs all --no-average --average_after 3", 2, "--average_after"), ("--pairs all --project", 2, "--project"),
        ("--pairs lambda-map --qid nothing", 65, "--qid"), ("--alpha 1 --pair_loss hinge", 2, "--pair_loss hinge does"),
        ("--alpha 1 --pairs all", 2, "--alpha 1"),
        ("--l1 -1", 2, "--l1"), ("--l1 1 --project", 2, "--l1 does not go with --project"),
        ("--l1 1 --average", 2, "--l1 does not go with --average"), ("--average_after 9", 2, "--average"),
        ("--average --average_after 2000", 2, "--average_after 2000 is not"),
        ("-c --pair-buffer 3", 2, "--pair-buffer"), ("-c --names", 2, "--names"), ("--logistic_min 0", 2, "logistic"),
        ("--json m", 2, "same name"), ("-f no/m", 73, "no folder"),
    ],
)  # fmt: skip
def test_impossible_requests_are_refused(vwlite, options, status, said, names_in):
    done = crr(vwlite, *options.split(), status=status)
    assert done.stderr.startswith("vwlite: ") and said in done.stderr
    assert "m" not in names_in()


def test_evaluate_refuses_queries_that_no_metric_needs(vwlite):
    crr(vwlite)
    assert "--qid" in vwlite("evaluate", "-i", "m", "data.vw", "--metric", "mse", "--qid", "tag", status=2).stderr


def test_a_column_that_names_the_query_is_told_to_be_a_tag(vwlite, write):
    rows = "".join(f"{n % 3},q{n // 6},{n}\n" for n in range(24))
    write("q.csv", f"grade,individual,x\n{rows}")
    message = "; individual is a column, no namespace: tag=individual in --columns, with --qid tag, makes queries of it"
    wrong = ("q.csv", "--columns", "label=grade f=x,individual", "-f", "m", "--qid", "individual")
    assert message in vwlite("crr", *wrong, status=65).stderr
    tagged = (
        "q.csv",
        "--columns",
        "label=grade f=x tag=individual",
        "-f",
        "m",
        "--qid",
        "tag",
        "--steps",
        50,
        "--quiet",
    )
    vwlite("crr", *tagged)
    command = ("evaluate", "-i", "m", "q.csv", "--metric", "ndcg", "--qid", "individual")
    assert message in vwlite(*command, status=65).stderr
