"""Models of classes, of costs and of sets of labels: train, predict, evaluate, go on, and vw's own words."""

import json

import pytest

NAMED = "cat |w fur tail\ndog 2 |w fur bark\nbird 'b1|w wing\n" * 8
NUMBERED = NAMED.replace("cat", "1").replace("dog", "2").replace("bird", "3")
COSTS = "1:0 2:1 3:2 |w a b\n1:2 2:0 3:1 t|w b c\n1:1.5 3:0 |w c d\n| a\n" * 6
SETS = "0,1 |w a b\n2 t|w c\n0 |w a\n|w a c\n" * 8
NAMES = ("--oaa", "3", "--named_labels", "cat,dog,bird")


def slots(path, tmp_path, vwlite):
    """Read the weights of a model written as text."""
    vwlite("inspect", path, "--readable_model", "text", "--json", "-")
    lines = (tmp_path / "text").read_text().splitlines()
    return lines[lines.index("l2_state 1") + 1 :]


def test_names_are_predicted_with_their_tags(vwlite, write):
    write("d", NAMED)
    vwlite("train", "d", "-f", "m", "--quiet", *NAMES)
    assert vwlite("predict", "-i", "m", "d").lines[:3] == ["cat", "dog", "bird b1"]


def test_names_and_numbers_learn_the_same(vwlite, write, tmp_path):
    write("names", NAMED), write("numbers", NUMBERED)
    vwlite("train", "names", "-f", "m", "--quiet", *NAMES)
    vwlite("train", "numbers", "-f", "n", "--quiet", "--oaa", "3")
    assert slots("m", tmp_path, vwlite) == slots("n", tmp_path, vwlite) != []


def test_scores_and_probabilities(vwlite, write):
    write("d", NUMBERED)
    vwlite("train", "d", "-f", "s", "--quiet", "--oaa", "3", "--scores")
    scores = dict(pair.split(":") for pair in vwlite("predict", "-i", "s", "d").lines[0].split())
    assert list(scores) == ["1", "2", "3"] and max(scores, key=lambda name: float(scores[name])) == "1"
    done = vwlite("train", "d", "-f", "p", "--oaa", "3", "--probabilities", "--loss_function", "logistic")
    assert "average multiclass log loss = " in done.stderr
    line = vwlite("predict", "-i", "p", "d").lines[2]
    assert line.endswith(" b1")
    assert sum(float(pair.split(":")[1]) for pair in line.split()[:3]) == pytest.approx(1, abs=1e-5)
    report = json.loads(vwlite("evaluate", "-i", "p", "d", "--json", "-").stdout)["result"]
    assert report["accuracy"] == report["macro_f1"] == 1 and 0 < report["log_loss"] < 1
    assert (report["examples"], report["weight"]) == (24, 32)


def test_measures_of_costs_and_sets(vwlite, write):
    write("c", COSTS), write("s", SETS)
    vwlite("train", "c", "-f", "cm", "--quiet", "--csoaa", "3", "--passes", "4", "--holdout_off")
    report = json.loads(vwlite("evaluate", "-i", "cm", "c", "--json", "-").stdout)["result"]
    assert report == {"examples": 18, "weight": 18, "loss": 0}
    vwlite("train", "s", "-f", "sm", "--quiet", "--multilabel_oaa", "3", "--passes", "4", "--holdout_off")
    assert vwlite("predict", "-i", "sm", "s").lines[:3] == ["0,1", "2 t", "0"]
    report = json.loads(vwlite("evaluate", "-i", "sm", "s", "--json", "-").stdout)["result"]
    assert (report["loss"], report["hamming_loss"], report["accuracy"], report["examples"]) == (0, 0, 1, 24)
    chosen = vwlite("evaluate", "-i", "sm", "s", "--metric", "accuracy", "--json", "-").stdout
    assert json.loads(chosen)["result"] == {"accuracy": 1}
    refused = vwlite("evaluate", "-i", "sm", "s", "--metric", "auc", status=2).stderr
    assert "a model of this kind has examples, weight, loss, accuracy, macro_f1, hamming_loss" in refused


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("--oaa", "--probabilities needs a model of --loss_function logistic, not squared"),
        ("--ect", "--probabilities: a tree of classes has only its answers, neither scores nor probabilities"),
    ],
)
def test_a_model_of_classes_without_probabilities_offers_no_log_loss(kind, reason, vwlite, write):
    write("d", NAMED)
    vwlite("train", "d", "-f", "m", "--quiet", kind, *NAMES[1:])
    stderr = vwlite("evaluate", "-i", "m", "d", "--metric", "log_loss", status=2).stderr
    means = "macro_precision, macro_recall, macro_f1"
    offered = f"examples, weight, accuracy, majority_accuracy, {means}, per_class, confusion_matrix"
    assert stderr == (
        f"vwlite: --metric log_loss: a model of this kind has {offered}{', p@K, recall@K' * (kind == '--oaa')}; "
        f"log_loss is of probabilities, and {reason}\n"
    )
    vwlite("evaluate", "-i", "m", "d", "--metric", offered.replace(" ", ""))
    unlabelled = vwlite("evaluate", "-i", "m", "--metric", "log_loss", stdin="|w a\n", status=65)
    assert "no labelled example" in unlabelled.stderr


def test_tables_of_classes(vwlite, write):
    write("d", NAMED)
    vwlite("train", "d", "-f", "m", "--quiet", *NAMES)
    write("e", "cat |w fur tail\ncat 3 |w fur bark\nbird |w wing\nbird |w wing\n")
    report = json.loads(vwlite("evaluate", "-i", "m", "e", "--json", "-").stdout)
    assert report["confusion_matrix"] == {
        "classes": ["cat", "dog", "bird"],
        "weight": [[1, 3, 0], [0, 0, 0], [0, 0, 2]],
    }
    assert [row["recall"] for row in report["per_class"]] == [0.25, None, 1]
    assert report["per_class"][0] == {"class": "cat", "precision": 1, "recall": 0.25, "f1": 0.4, "weight": 4}
    assert (report["macro_precision"], report["macro_recall"]) == pytest.approx((2 / 3, 1.25 / 3))
    lines = vwlite("evaluate", "-i", "m", "e", "--metric", "Confusion-Matrix,ACCURACY").lines
    assert [line.split() for line in lines] == [
        ["accuracy", "0.5"], [], ["confusion_matrix", "(a", "row", "a", "label,", "a", "column", "an", "answer)"],
        ["cat", "dog", "bird"], ["cat", "1", "3", "0"], ["dog", "0", "0", "0"], ["bird", "0", "0", "2"],
    ]  # fmt: skip
    vwlite("train", "d", "-f", "m", "--quiet", "--oaa", "11", "--named_labels", ",".join(["cat,dog,bird", *"abcdefgh"]))
    report = json.loads(vwlite("evaluate", "-i", "m", "e", "--json", "-").stdout)
    assert "macro_f1" in report and not {"per_class", "confusion_matrix"} & {*report}
    assert "per_class" in vwlite("evaluate", "-i", "m", "e", "--metric", "per_class").stdout


def test_measures_of_sets_count_labels(vwlite, write):
    write("s", SETS)
    vwlite("train", "s", "-f", "m", "--quiet", "--multilabel_oaa", "3", "--passes", "4", "--holdout_off")
    write("t", "0,1 |w a b\n1 |w a\n 2 |w a\n0 3 |w a\n")
    answers = [{0, 1}, {0}, {0}, {0}]
    assert [set(map(int, line.split(","))) for line in vwlite("predict", "-i", "m", "t").lines] == answers
    write("u", "0,1 |w a b\n1 |w a\n0,2 |w a\n")
    report = json.loads(vwlite("evaluate", "-i", "m", "u", "--json", "-").stdout)
    assert (report["micro_precision"], report["micro_recall"], report["micro_f1"]) == (3 / 4, 3 / 5, 6 / 9)
    assert report["macro_f1"] == pytest.approx((2 * 2 / 5 + 2 * 1 / 3 + 0) / 3)


EMPTY = {  # the same rows in each format; the second one has the empty set
    "d.svm": "# multilabel\n1,0 2:2.5\n 2:3.5 11:26\n1,2 20:27\n" * 9,
    "d.vw": "1,0 | 2:2.5\n, | 2:3.5 11:26\n1,2 | 20:27\n" * 9,
}


LRQ = ("--redefine", "w:=:", "--lrq", "ww2")


@pytest.mark.parametrize("options", [(), ("--set-loss", "f1", "--passes", "9"), ("--ftrl",), LRQ, ("-c",)])
def test_the_empty_set_is_learned(options, vwlite, write, tables):
    for name, text in EMPTY.items():
        write(name, text)
        vwlite("train", name, "-f", f"{name}.m", "--multilabel_oaa", "3", "--quiet", "--holdout_off", *options)
        done = vwlite("check", name)
        assert "labels      lists (3 classes); 0: 9, 1: 18, 2: 9" in done.stdout and "malformed" not in done.stderr
        assert vwlite("predict", "-i", f"{name}.m", name).lines[:3] == ["0,1", "", "1,2"]
        report = json.loads(vwlite("evaluate", "-i", f"{name}.m", name, "--json", "-").stdout)
        assert (report["examples"], report["accuracy"]) == (27, 1)
    assert tables("d.svm.m") == tables("d.vw.m")
    assert vwlite("convert", "svmlight", "d.svm").stdout == EMPTY["d.vw"]


def test_the_empty_set_of_tables(vwlite, write):
    write("d.csv", 'y,a,t\n"0,1",2,x\n",",3,y\n,4,z\n"1,2",9,\n')
    write("d.jsonl", '{"y":"0,1","a":2,"t":"x"}\n{"y":",","a":3,"t":"y"}\n{"a":4,"t":"z"}\n{"y":"1,2","a":9}\n')
    for name in ("csv", "jsonl"):
        done = vwlite("convert", name, f"d.{name}", "--columns", "label=y tag=t")
        assert done.stdout == "0,1 'x| a:2\n, 'y| a:3\n'z| a:4\n1,2 | a:9\n"
    vwlite("train", write("t", done.stdout), "-f", "m", "--multilabel_oaa", "3", "--quiet", "--holdout_off")
    report = json.loads(vwlite("evaluate", "-i", "m", "t", "--json", "-").stdout)
    assert report["examples"] == 3  # without the one that has no label


def test_labels_in_turn_learn_something_else(vwlite, write, tmp_path):
    write("s", SETS)
    for command in ("train", "vw"):
        vwlite(command, "s", "-f", "plain", "--quiet", "--multilabel_oaa", "3")
        vwlite(command, "s", "-f", "turns", "--quiet", "--multilabel_oaa", "3", "--sequential")
        assert slots("plain", tmp_path, vwlite) != slots("turns", tmp_path, vwlite) != []


def test_sets_are_learned_by_the_loss_asked_for(vwlite, write, tmp_path):
    write("s", SETS), write("two", SETS * 2)
    options = ("--quiet", "--multilabel_oaa", "3", "--set-loss", "f1", "--label-order", "rare")
    for base in ((), ("--lrq", "ww2", "--holdout_off"), ("--ftrl",)):
        vwlite("train", "two", "-f", "once", *options, *base)
        vwlite("train", "s", "-f", "half", *options, *base)
        vwlite("train", "s", "-i", "half", "-f", "twice", "--quiet")
        raw = [vwlite("predict", "-i", model, "s", "--raw").stdout for model in ("once", "twice")]
        assert raw[0] == raw[1] != ""
        vwlite("train", "s", "-i", "half", "-f", "same", "--set-loss", "f1", "--label-order", "rare", "--quiet")
    for other in (("--set-loss", "jaccard"), ("--label-order", "given")):
        refused = vwlite("train", "s", "-i", "half", "-f", "other", *other, status=2).stderr
        assert f"{' '.join(other)} contradicts half, which was made with {other[0]}" in refused
    assert "contradicts" not in vwlite("evaluate", "-i", "half", "s").stderr


def test_losses_of_sets_are_measured(vwlite, write):
    write("s", SETS)
    options = ("--multilabel_oaa", "3", "--set-loss", "f1")
    vwlite("train", "s", "-f", "m", "--quiet", *options, "--passes", "4", "--holdout_off")
    write("t", "0,1 |w a b\n1 |w a\n0,2 |w a\n")  # answered 0,1 and 0 and 0
    names = "hamming,hamming_loss,subset_accuracy,samples_f1,jaccard,loss"
    report = json.loads(vwlite("evaluate", "-i", "m", "t", "--metric", names, "--json", "-").stdout)["result"]
    assert report["hamming"] == report["hamming_loss"] == pytest.approx(3 / 9)
    assert report["subset_accuracy"] == pytest.approx(1 / 3)
    assert report["samples_f1"] == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert report["jaccard"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert report["loss"] == pytest.approx(1 - report["samples_f1"])
    stdout = vwlite("evaluate", "-i", "m", "t").stdout
    assert "jaccard" in stdout and "subset_accuracy" not in stdout


def test_binary_predictions_are_signs(vwlite, write):
    write("d", "1 |w a\n-1 |w b\n" * 9)
    for loss in ("squared", "logistic"):
        done = vwlite("train", "d", "-f", "m", "--binary", "--loss_function", loss, "-p", "-")
        assert set(done.lines) == {"1", "-1"}
        errors = sum(line != ("1", "-1")[place % 2] for place, line in enumerate(done.lines))
        assert 0 < errors < 4 and f"average loss = {errors / 18:.6f}" in done.stderr
    assert vwlite("predict", "-i", "m", "d").lines[:2] == ["1", "-1"]


def test_the_first_class_may_be_said(vwlite, write):
    write("d", "1 |w a\n2 |w b\n" * 9)
    for command in ("train", "vw"):
        for first, known in (("0", "0"), ("1", "1")):
            done = vwlite(command, "d", "-p", "-", "--quiet", "--oaa", "3", "--indexing", first)
            assert done.lines[0] == known and done.lines[-2:] == ["1", "2"]


def test_costs_may_count_as_they_are(vwlite, write):
    write("d", COSTS.replace(":0", ":5").replace(":1", ":6").replace(":2", ":7"))
    for command in ("train", "vw"):
        above, all_of_it = (
            float(vwlite(command, "d", "--csoaa", "3", *more).stderr.partition("average loss = ")[2].split()[0])
            for more in ((), ("--cs_absolute_loss",))
        )
        assert all_of_it == pytest.approx(above + 5, abs=1e-5)
    assert vwlite("vw", "d", "--csoaa", "3", "--csoaa_rank", "-p", "-", "--quiet").lines


def test_a_sample_of_classes_learns_each_example(vwlite, write, tmp_path):
    write("d", NUMBERED)
    vwlite("train", "d", "-f", "all", "--quiet", "--oaa", "3")
    for name, seed in (("one", "1"), ("two", "1"), ("three", "2")):
        vwlite("train", "d", "-f", name, "--quiet", "--oaa", "3", "--oaa_subsample", "1", "--random_seed", seed)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() != (tmp_path / "three").read_bytes()
    assert vwlite("predict", "-i", "one", "d").lines[:3] == ["1", "2", "3 b1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--oaa 3 --csoaa 3", "do not go together"),
        ("--oaa 3 --dotproduct ab --oaa_subsample 1", "--oaa_subsample does not go with --dotproduct"),
        ("--oaa 3 --lrq ab2 --oaa_subsample 1", "--oaa_subsample does not go with --lrq"),
        ("--multilabel_oaa 3 --set-loss f1 --dual --l2 1", "--set-loss f1 does not go with --dual: a label is learned"),
        ("--set-loss f1", "--set_loss needs --oaa or --csoaa or --multilabel_oaa"),
        ("--named_labels a,b", "--named_labels needs --oaa or --csoaa or --multilabel_oaa"),
        ("--oaa 2 --named_labels a,,b", "has an empty name"),
        ("--oaa 3 --oaa_subsample 3", "takes 1 to one less than the classes"),
        ("--oaa 3 --binary", "--binary does not go with --oaa"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, write):
    write("d", NUMBERED)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


def test_a_wrong_class_ends_training_and_no_model_appears(vwlite, write, tmp_path):
    write("d", NUMBERED + "4 |w a\n")
    assert "d:25: label 4 is no class" in vwlite("train", "d", "-f", "m", "--oaa", "3", status=65).stderr
    assert not (tmp_path / "m").exists()


def test_names_where_numbers_were_expected_are_explained(vwlite, write):
    stderr = vwlite("train", "-", "-f", "m", "--oaa", "3", stdin=NAMED, status=65).stderr
    assert "(--named_labels?)" in stderr and "need --oaa 3 --named_labels cat,dog,bird" in stderr


@pytest.mark.parametrize(
    ("data", "options", "names"),
    [
        ({"d": NAMED}, "--oaa 3", "bird,cat,dog"),
        ({"d": NAMED}, "--oaa auto --ngram 2", "bird,cat,dog"),
        ({"d": NAMED, "e": "owl |w wing\n"}, "--multiclass auto --passes 2 -c", "bird,cat,dog,owl"),
        ({"d": NAMED.replace("cat", "10").replace("dog", "9")}, "--ect auto", "10,9,bird"),
        ({"d": NUMBERED.replace("1 ", "10 ")}, "--oaa auto", "2,3,10"),
        ({"d.csv": "kind,x,word\ncat,1,a\ndog,2,b\n,3,c\n"}, "--columns label=kind --log_multi auto", "cat,dog"),
        ({"d.jsonl": '{"kind":"cat","x":1}\n{"kind":"dog","x":2}\n'}, "--columns label=kind --oaa 2", "cat,dog"),
    ],
)
def test_names_that_nobody_typed_are_found_in_the_files(data, options, names, vwlite, write, tmp_path):
    files = [write(name, content) for name, content in data.items()]
    stderr = vwlite("train", *files, *options.split(), "-f", "found").stderr
    assert f"{len(names.split(','))} classes: {names.replace(',', ', ')}" in stderr
    write("names", "\n".join(names.split(",")) + "\n")
    for typed in (names, "@names"):
        vwlite("train", *files, *options.split(), "--named_labels", typed, "-f", "typed", "--quiet")
        assert (tmp_path / "found").read_bytes() == (tmp_path / "typed").read_bytes()


def test_a_nightly_command_keeps_the_classes_of_its_first_night(vwlite, write, tmp_path):
    write("d", NAMED), write("e", "dog |w bark\n")
    nightly = ("--oaa", "auto", "-i", "m", "-f", "m", "--skip-seen", "--quiet")
    vwlite("train", "d", *nightly), vwlite("train", "e", *nightly)
    vwlite("train", "d", "e", "--oaa", "auto", "-f", "n", "--quiet")
    assert vwlite("predict", "-i", "m", "d").lines == vwlite("predict", "-i", "n", "d").lines
    write("f", "cow |w moo\n")
    assert "label cow is no class: --named_labels has bird" in vwlite("train", "f", *nightly, status=65).stderr


@pytest.mark.parametrize(
    ("arguments", "text", "status", "message"),
    [
        ("d --oaa 4", NAMED, 2, "d has 3 classes, not 4: --oaa auto takes all of them, --named_labels lists those"),
        ("- --oaa auto", NAMED, 2, "a pipe does not allow: name the files, compressed or not, or type --oaa N --na"),
        ("d --oaa auto", COSTS, 2, "--oaa auto: labels are costs, not one class for each example"),
        ("d --csoaa auto", COSTS, 2, "--csoaa: 'auto' is not a valid integer"),
        ("d --oaa auto", "|w a\n", 65, "there is no labelled example to learn from in d"),
        ("d --oaa auto --named_labels @e", NAMED, 2, "--named_labels: cannot read e: No such file"),
        ("d --oaa auto --named_labels @d", NAMED, 2, "a name is a single word, such as cat_|w"),
    ],
)
def test_classes_that_cannot_be_found(arguments, text, status, message, vwlite, write):
    write("d", text)
    assert message in vwlite("train", *arguments.split(), "-f", "m", stdin=text, status=status).stderr


def test_line_breaks_within_fields_are_named_as_the_cause(vwlite, write):
    """Empty lines within texts made the labels sequences of names."""
    write("f.csv", "topic,text\n" + 'news,short\nsport,"a goal\n\nat night, late"\n' * 9)
    done = vwlite("train", "f.csv", "--columns", "label=topic text=text:tokens", "--oaa", "auto", "-f", "m", status=65)
    assert "f.csv:3: no closing quote" in done.stderr and "line breaks within a field are not read" in done.stderr
    assert "sequences" not in done.stderr


def test_a_file_of_names_is_not_written_over(vwlite, write):
    write("d", NAMED), write("names", "bird\ncat\ndog\n")
    stderr = vwlite("train", "d", "--oaa", "3", "--named_labels", "@names", "-f", "names", status=2).stderr
    assert "file of names" in stderr


def test_commands_that_do_not_train_on_files_refuse_oaa_auto(vwlite, write):
    write("d", NAMED)
    for command in ("check", "vw"):
        done = vwlite(command, "d", "--oaa", "auto", status=None)
        assert "--oaa auto: vwlite train counts the classes in its files: give" in done.stdout + done.stderr


def test_tune_finds_the_names_before_it_sets_examples_aside(vwlite, write, tmp_path):
    write("d", NAMED + "owl |w hoot\n")
    options = ("--oaa", "auto", "--metric", "accuracy", "--trials", "2", "--passes", "2", "--quiet")
    words = vwlite("tune", "d", *options).stdout.split()
    assert words[words.index("--oaa") :][:4] == ["--oaa", "4", "--named_labels", "bird,cat,dog,owl"]
    vwlite(*words[1:-1], "m", "--quiet")


def test_labels_may_be_any_bytes_and_numbers_any_length(vwlite, write):
    write("d", b"\xff\xfe:1 2:0 |a x\n" + b"9" * 5000 + b":1 |a x\n")
    assert "[warning]" in vwlite("vw", "d", "--csoaa", "2", "-p", "-").stdout
    assert "d:2: bad label word" in vwlite("train", "d", "--csoaa", "2", "-f", "m", status=65).stderr


def test_a_class_that_is_none_is_shown_with_the_score_it_is_given(vwlite, write, tmp_path):
    """``vwlite vw`` takes the first class counting from 0, the last from 1, whatever was scored before."""
    for first, shown in ((0, 0), (1, 3)):
        costs = " ".join(f"{first + place}:{place * place + 1}" for place in range(4))
        write("d", f"{costs} |a x\n" * 20)
        write("e", f"|a x {'a' * 80}\n" + f"9:1 |a x {'a' * 80}\n" * 2)
        vwlite("vw", "-d", "d", "--csoaa", "4", "-f", "m", "--quiet")
        write("f", f"{first + shown}:1 |a x {'a' * 80}\n")
        vwlite("vw", "-t", "-i", "m", "-d", "f", "-r", "r", "--quiet")
        alone = (tmp_path / "r").read_text().strip()
        for size in ("64", "1000000"):
            vwlite("vw", "-t", "-i", "m", "-d", "e", "-r", "r", "--threads", "1", "--quiet", "--block-size", size)
            scores, *others = (tmp_path / "r").read_text().splitlines()
            assert scores == "" and others == [alone] * 2


@pytest.mark.parametrize("option", ["--oaa", "--multiclass", "--log_multi", "--ect"])
def test_an_endless_label_is_told_as_unknown(vwlite, write, option):
    done = vwlite("vw", write("d", "inf |a x\n1 |a x\n"), option, "3")
    assert "unknown" in done.stderr


@pytest.mark.parametrize(("named", "value"), [("dotproduct", "ab"), ("filter_tree", "3")])
def test_an_audit_of_a_learner_without_one_is_refused(vwlite, write, named, value):
    done = vwlite("vw", write("d", "1 |a x |b y\n"), f"--{named}", value, "--audit", status=1)
    assert f"--audit does not go with --{named}" in done.stdout


def test_the_majority_class_stands_beside_the_results(vwlite, write, tmp_path):
    """It is a share of the weight, held-out examples aside; a model that is no better is told so."""
    names = ("cat", "cat", "cat", "dog", "bird")
    write("d", "".join(f"{names[n * 7 % 5]} {1 + n % 2} |w x{n}\n" for n in range(2000)))
    stderr = vwlite("train", "d", "--oaa", "auto", "-f", "m", "-l", "1e-9", "--json", "run.json").stderr
    weights = {name: sum(1 + n % 2 for n in range(2000) if names[n * 7 % 5] == name) for name in names}
    least = 1 - max(weights.values()) / sum(weights.values())
    most = max(weights, key=weights.get)
    assert f"majority class = {most}\nmajority class's loss = {least:.6f}\n" in stderr
    assert f"note: always answering {most} has a smaller loss, {least:g}" in stderr
    run = json.loads((tmp_path / "run.json").read_text())["result"]
    assert (run["majority_class"], run["majority_class_loss"]) == (most, pytest.approx(least))
    done = vwlite("evaluate", "-i", "m", write("e", "dog |w y\nbird |w y\nbird |w z\n"), "--json", "-")
    report = json.loads(done.stdout)["result"]
    assert report["majority_accuracy"] == pytest.approx(2 / 3) and report["accuracy"] < 2 / 3
    assert "note: always giving the most frequent answer has a higher accuracy, 0.666667" in done.stderr
    assert "majority" not in vwlite("vw", "d", "--oaa", "3", "--named_labels", "cat,dog,bird").stderr


def test_empty_sets_of_labels_are_learned_and_predicted(vwlite, cases_dir):
    data = cases_dir / "multilabel_empty_set.svm"
    options = ("--format", "svmlight", "--multilabel_oaa", 3, "--passes", 20, "--holdout_off", "-q", "::")
    vwlite("train", data, "-f", "m", "--quiet", *options)
    done = vwlite("predict", "-i", "m", "--format", "svmlight", data, "--with-labels")
    assert done.lines == ["0,1 0,1", ", ,", "1,2 1,2"]
