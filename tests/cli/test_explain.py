"""``vwlite explain``: sums beside those that ``predict`` writes, for every learner; text, JSON, odd input."""

import json
import os
import subprocess

import pytest

from .test_predict_answers import CLASSES, COSTS, GROUPS, LOGISTIC, NUMBERS, SETS

DYADIC = "1 't |a x:2 y |b u\n-1 1 0.5 |a y z |b u v:0.5\n" * 9
SUMS = ["--ftrl", "--coin", "--pistol", "--lrq ab2", "--bfgs --passes 3", "--dotproduct ab", "-q ab --l1 1e-3"]
SUMS += ["--binary", "--average"]
SUMS += [f"{LOGISTIC} --ngram 2", "--active --simulation", "--dotproduct ab --dot-offset 0.2", "--noconstant -l 2"]
SUMS += ["--weight idf --min_df 1", "--value log -q ab", "--unit -q ::", "--weight degree", "--unit --coin"]
SUMS += [f"--value {value} --random_features rbf:64 --gamma 1" for value in ("binary --unit", "log --random_only")]
CLASSIFIERS = [
    (CLASSES, "--oaa 3 --weight idf --min_df 1 --unit"), (CLASSES, "--multiclass 3 --value log"),
    (CLASSES, "--oaa 3"), (CLASSES, f"--oaa 3 {LOGISTIC} --probabilities"), (CLASSES, "--oaa 3 --coin"),
    (CLASSES, "--multiclass 3"), (CLASSES, "--multiclass 3 --average"),
    (CLASSES, "--multiclass 3 --group_l1 0.01"),
    (CLASSES, "--multiclass 3 --loss_function crammer_singer"), (COSTS, "--csoaa 3"),
    (SETS, "--multilabel_oaa 3"),
]  # fmt: skip


@pytest.fixture
def explained(vwlite, write):
    """Trains with some options; then the examples that ``explain --json -`` tells of, all terms of them."""

    def of(text, trained, *options, data="d"):
        vwlite("train", write("d", text), "-f", "m", "--quiet", "--holdout_off", *trained.split())
        done = vwlite("explain", "-i", "m", data, "--top", "1000", "--quiet", "--json", "-", *options)
        return json.loads(done.stdout)["examples"]

    return of


def check(score):
    """The products and the base make the sum; of factors the products are of several terms of the kernel."""
    total = score["base"] + sum(term["product"] for term in score["terms"])
    size = abs(score["base"]) + sum(abs(term["product"]) for term in score["terms"])
    slack = 8 if any(term["slot"] is None for term in score["terms"]) else 1
    assert abs(total - score["value"]) <= slack * (len(score["terms"]) + 2) * 2**-24 * size + 1e-37
    return score["value"]


@pytest.mark.parametrize("options", SUMS)
def test_sums_are_the_raw_predictions(options, explained, vwlite, write, tmp_path):
    examples = explained(DYADIC, options)
    answers = vwlite("predict", "-i", "m", "d", "-r", "sums").lines
    raw = [float(line.split()[0]) for line in (tmp_path / "sums").read_text().splitlines()]
    assert [check(example["sums"][0]) for example in examples] == pytest.approx(raw, rel=1e-5, abs=1e-6)
    assert [example["prediction"] for example in examples] == pytest.approx(
        [float(line.split()[0]) for line in answers], rel=1e-5, abs=1e-6
    )
    assert [example["tag"] for example in examples] == ["t", ""] * 9
    assert [example["location"] for example in examples] == [f"d:{line}" for line in range(1, 19)]
    assert any(example["sums"][0]["base"] == 0.5 for example in examples)
    assert all(len(example["sums"]) == 1 for example in examples)


@pytest.mark.parametrize(("text", "options"), CLASSIFIERS)
def test_classes_have_a_sum_each_the_answers_first(text, options, explained, vwlite, write, tmp_path):
    plain = "".join("|" + line.partition("|")[2] + "\n" for line in text.splitlines())
    examples = explained(text, options, "--classes", "3", data=write("u", plain))
    vwlite("predict", "-i", "m", "u", "-p", "answers")
    raw = vwlite("predict", "-i", "m", "u", "--raw").lines
    answers = (tmp_path / "answers").read_text().splitlines()
    for example, line, answer in zip(examples, raw, answers, strict=True):
        actual = {score["name"]: check(score) for score in example["sums"]}
        low, high = (-50, 50) if "logistic" in options else (-1, 1) if "oaa 3" in options else (-1e9, 1e9)
        shown = dict(word.split(":") for word in line.split())
        if "csoaa" not in options:
            assert {k: min(max(v, low), high) for k, v in actual.items()} == pytest.approx(
                {name: float(value) for name, value in shown.items()}, rel=1e-4, abs=1e-5
            )
        if "prob" not in options:
            assert example["prediction"] == answer
        names = [score["name"] for score in example["sums"]]
        if text is SETS:
            assert names[: len(answer.split(","))] == answer.split(",") or not answer
        else:
            assert names[0] == example["prediction"]
            values = list(actual.values())
            assert values == sorted(values, reverse="csoaa" not in options)
    two = vwlite("explain", "-i", "m", "u", "--json", "-").stdout
    assert [len(example["sums"]) for example in json.loads(two)["examples"]] == [2] * len(examples)


def test_a_label_of_costs_does_not_matter(explained, write):
    with_label, without = explained(COSTS, "--csoaa 3", data=write("u", "2:1 |a x y\n|a x y\n"))
    assert with_label["sums"] == without["sums"] and len(without["sums"]) == 2


@pytest.mark.parametrize("options", ["--log_multi 3", "--ect 3"])
def test_a_tree_shows_the_contests_on_the_way(options, explained, vwlite):
    examples = explained(CLASSES, options)
    assert all(check(score) is not None for example in examples for score in example["sums"])
    assert {score["name"][:8] for example in examples for score in example["sums"]} == {"contest "}
    audits = vwlite("predict", "-i", "m", "d", "--audit").lines[::2]
    values = [min(max(score["value"], -1), 1) for example in examples for score in example["sums"]]
    assert values == pytest.approx([float(line.split()[0]) for line in audits], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("options", ["--csoaa_ldf m", "--wap_ldf m"])
def test_every_line_of_a_group_has_its_sum(options, explained, vwlite):
    shared = GROUPS.replace("1:0 't|", "shared |s q\n1:0 't|")
    examples = explained(shared, options)
    scores = [line for line in vwlite("predict", "-i", "m", "d", "--scores").lines if line]
    values = [dict(word.split(":") for word in line.split()[0].split(",")) for line in scores]
    values = [float(of[name]) for of in values for name in sorted(of)]
    assert [check(example["sums"][0]) for example in examples] == pytest.approx(values, rel=1e-5, abs=1e-6)
    assert "s^q" in {term["name"] for term in examples[0]["sums"][0]["terms"]}


def test_text_shows_the_strongest_terms_and_what_the_others_add(vwlite, write):
    text = "1 't |a x:2 y\x1bz\n0 1 0.5 |a y w\n\n"
    vwlite("train", write("d", text), "-f", "m", "--quiet", "--initial_weight", "0.25", "-l", "0")
    done = vwlite("explain", "-i", "m", "d", "--top", "2", "--quiet")
    assert done.lines == [
        "d:1  t  prediction 1",
        "  sum 1",
        "       product       weight        value  name",
        "           0.5         0.25            2  a^x",
        r"          0.25         0.25            1  a^y\x1bz",
        "          0.25                            1 more",
        "",
        "d:2  prediction 1",
        "  sum 1.25",
        "       product       weight        value  name",
        "          0.25         0.25            1  a^y",
        "          0.25         0.25            1  a^w",
        "          0.25                            1 more",
        "           0.5                            initial prediction",
    ]
    assert vwlite("explain", "-i", "m", "d", "--top", "0", "--quiet").lines[:3] == [
        "d:1  t  prediction 1",
        "  sum 1",
        "             1                            3 more",
    ]


def test_json_goes_to_a_file_and_replaces_its_own(vwlite, write, tmp_path):
    vwlite("train", write("d", NUMBERS), "-f", "m", "--quiet")
    for _ in range(2):
        assert vwlite("explain", "-i", "m", "d", "--json", "why").lines[0] == "d:1  t  prediction 0.685211"
    assert len(json.loads((tmp_path / "why").read_text())["examples"]) == 18
    write("other", "mine")
    vwlite("explain", "-i", "m", "d", "--json", "other", status=2)
    assert (tmp_path / "other").read_text() == "mine"


def test_an_empty_file_has_no_explanations(vwlite, write):
    vwlite("train", write("d", NUMBERS), "-f", "m", "--quiet")
    assert vwlite("explain", "-i", "m", write("e", "")).stdout == ""
    assert json.loads(vwlite("explain", "-i", "m", "e", "--json", "-").stdout)["examples"] == []


def test_all_good_lines_are_explained_and_the_status_tells_of_others(vwlite, write):
    vwlite("train", write("d", NUMBERS), "-f", "m", "--quiet")
    done = vwlite("explain", "-i", "m", write("odd", "|a x\n|a x:nan\n|a y\n"), "--json", "-", status=65)
    assert [example["location"] for example in json.loads(done.stdout)["examples"]] == ["odd:1", "odd:3"]
    assert "odd:2:6: feature value is NaN" in done.stderr
    done = vwlite("explain", "-i", "m", write("huge", "|a x:3e38 y:3e38\n|a y\n"), "--json", "-", status=None)
    assert [example["sums"][0]["value"] for example in json.loads(done.stdout)["examples"]][1] is not None


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        (CLASSES, "--filter_tree 3", "explain does not go with --filter_tree: its predictions are no sums"),
        (NUMBERS, "", "explain does not go with a model of principal components"),
    ],
)
def test_models_whose_predictions_are_no_sums_are_refused(text, options, reason, vwlite, write):
    command = ["train", *options.split()] if options else ["pca", "--dim", "2"]
    vwlite(*command, write("d", text), "-f", "m", "--quiet")
    assert reason in vwlite("explain", "-i", "m", "d", status=2).stderr


@pytest.mark.parametrize(("option", "value"), [("--top", "-1"), ("--classes", "0")])
def test_counts_have_bounds(option, value, vwlite, write):
    vwlite("train", write("d", NUMBERS), "-f", "m", "--quiet")
    assert option in vwlite("explain", "-i", "m", "d", option, value, status=2).stderr


def test_a_model_that_takes_too_much_is_refused(vwlite, write):
    vwlite("train", write("d", NUMBERS), "-f", "m", "--quiet")
    done = vwlite("explain", "-i", "m", "d", "--max-memory", "0.0001", status=2)
    assert "more than --max-memory 0.0001" in done.stderr


def test_data_are_read_as_by_predict(vwlite, write, tmp_path):
    vwlite("train", write("d", NUMBERS), "-f", "m", "--quiet")
    stdout = vwlite("explain", "-i", "m", "-d", "d", "--examples", "1", "--threads", "1").stdout
    svmlight = vwlite("explain", "-i", "m", write("s", "1 5:2 7:1\n"), "--format", "svmlight", "--json", "-").stdout
    (example,) = json.loads(svmlight)["examples"]
    assert {term["name"]: term["value"] for term in example["sums"][0]["terms"]} == {"5": 2, "7": 1, "Constant": 1}
    write("x", NUMBERS[:14] + "|a x:nan\n")
    assert "x:2:6: feature value is NaN" in vwlite("explain", "-i", "m", "x", "--strict", status=65).stderr
    options = ["--max-bad-ratio", "1", "--bad-lines", "kept", "--force", "--json", write("other", "mine")]
    assert vwlite("explain", "-i", "m", "x", *options).stdout == stdout.replace("d:1", "x:1")
    assert (tmp_path / "kept").read_text() == "|a x:nan\n"
    assert len(json.loads((tmp_path / "other").read_text())["examples"]) == 1


@pytest.mark.parametrize("options", [[], ["--json", "-"]])
def test_a_reader_that_goes_away_ends_it(options, vwlite, write, cli_env, commands, tmp_path):
    vwlite("train", write("d", NUMBERS * 500), "-f", "m", "--quiet")
    command = [commands / "vwlite", "explain", "-i", "m", "d", *options]
    reader, writer = os.pipe()
    process = subprocess.Popen(command, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path, env=cli_env)
    os.close(writer)
    assert os.read(reader, 100)
    os.close(reader)
    assert (process.communicate()[1], process.returncode) == (b"", 141)


def test_a_repeated_word_is_one_term(explained):
    text = "1 |w a b a b b |n a:0.5 a:2\n-1 |w b\n" * 5
    for options in ("", "--weight idf --min_df 1", "-q wn"):
        first = explained(text, options)[0]["sums"][0]
        check(first)
        names = [term["name"] for term in first["terms"]]
        assert len(set(names)) == len(names) and first["others"] == 0
        if not options:
            values = {term["name"]: term["value"] for term in first["terms"]}
            assert values == {"w^a": 2, "w^b": 3, "n^a": 2.5, "Constant": 1}


def test_weighed_terms_of_one_slot_have_all_its_names(explained):
    terms = explained("1 |w a b c d e f\n-1 |w a b c\n" * 5, "--value log -b 2 --noconstant")[0]["sums"][0]["terms"]
    names = [name for term in terms for name in term["name"].split("+")]
    assert len(terms) <= 4 and sorted(names) == [f"w^{name}" for name in "abcdef"]


@pytest.mark.parametrize("options", ["--weight idf --min_df 1 --unit", "--value log -q ab", "--weight degree"])
def test_audits_show_the_values_that_are_weighed(options, vwlite, write, tmp_path):
    write("d", "1 't |a x:2 y x |b u\n-1 |a y z |b u v:0.5\n" * 9)
    vwlite("train", "d", "-f", "m", "--quiet", *options.split())
    lines = vwlite("predict", "-i", "m", "d", "--audit", "-r", "raw").lines
    raw = [float(line.split()[0]) for line in (tmp_path / "raw").read_text().splitlines()]
    audits = [line.split("\t")[1:] for line in lines if line.startswith("\t")]
    numbers = [[item.partition("@")[0].split(":")[2:] for item in audit] for audit in audits]
    sums = [sum(float(value) * float(weight) for value, weight in terms) for terms in numbers]
    assert sums == pytest.approx(raw, rel=1e-4, abs=1e-4)
    assert audits[0][0].split(":")[0] in ("Constant", "a^x", "a^y", "b^u", "a^x*b^u", "a^y*b^u")
