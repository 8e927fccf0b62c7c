"""What ``vwlite check`` says of labels that are not just numbers."""

import json
import os
import shlex

import pytest

from vwlite.data.config import InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.text_format import TextFormat

NAMES = "sports |a x\narts 2 |a y\nsports tag|a x\n|a z\n"
SEQUENCES = "The |a x\nDT |a y\n\nNN |a x\nDT |a z\n"
COSTS = "1:0 2:1 |a x\n2:0.5 1:1 tag|a y\n3 1:0 |a z\n"
LISTS = "3,17 |a x\n2 |a y\n0,1,2 tag|a z\n"
GROUPS = "shared |u x\n1:0 |a y\n2:1 |a z\n\nshared |u x\n1:1 |a y\n2:0 |a z\n"

OR_L1 = ", or vwlite l1 --model multinomial"


def test_the_same_names_keep_their_meaning_for_commands_that_learn(run_here, write):
    """Commands share a process in the tests, and may elsewhere."""
    write("odd.vw", "0:0 1:1 |a b\n" * 9)
    for command in ("train", "check", "train"):
        run_here(command, "odd.vw", "--csoaa", 2)


@pytest.fixture
def report(vwlite):
    def run(text, *arguments, **more):
        return json.loads(vwlite("check", *arguments, "--json", "-", stdin=text, **more).stdout)["result"]

    return run


@pytest.mark.parametrize(
    ("text", "form", "counts", "advice"),
    [
        (NAMES, "names", {"sports": 2, "arts": 1}, f"--oaa 2 --named_labels sports,arts{OR_L1}"),
        ("3.5,,-1 |a\n,2,1e3 't|a\n", "names", {"3.5,,-1": 1, ",2,1e3": 1}, "--outputs 3"),
        (SEQUENCES, "sequences of names", {"The": 1, "DT": 2, "NN": 1}, "vwlite l1 --model crf"),
        (COSTS, "costs", {"1": 3, "2": 2, "3": 1}, "--csoaa 3"),
        ("cat:0 dog:1 |a\n", "costs", {"cat": 1, "dog": 1}, "--csoaa 2 --named_labels cat,dog"),
        (LISTS, "lists", {"0": 1, "1": 1, "2": 2, "3": 1, "17": 1}, "--multilabel_oaa 18"),
        (GROUPS, "groups of lines with costs", {"1": 2, "2": 2}, "--csoaa_ldf mc"),
        (GROUPS.replace("shared |u x\n", ""), "groups of lines with costs", {"1": 2, "2": 2}, "--csoaa_ldf mc"),
        ("1 2 0.5 |a\n\n2 |a\n3 tag|a\n", "numbers", {"1": 1, "2": 1, "3": 1}, None),
    ],
)
def test_labels_are_recognised(text, form, counts, advice, report):
    figures = report(text)
    assert (figures["bad_lines"], figures["labels_are"], figures["learn_with"]) == (0, form, advice)
    assert (figures["labels"], figures["classes"]) == (counts, None if form == "numbers" else len(counts))
    assert figures["losses"] == (["squared", "quantile", "poisson"] if form == "numbers" else [])
    assert figures == report(text, "--block-size", 16, "--threads", 2)


def test_labels_may_hold_no_break_spaces(report):
    assert report("a\u00a0b |x\nc |x\n")["labels"] == {"a\u00a0b": 1, "c": 1}
    costs = report("a\u00a0b:1 c:2 |x\n" * 3)
    assert (costs["labels_are"], costs["labels"], costs["bad_lines"]) == ("costs", {"a\u00a0b": 3, "c": 3}, 0)


def test_sequences_and_groups_are_counted(report):
    assert report(SEQUENCES)["groups"] == report(GROUPS)["groups"] == 2 and report(NAMES)["groups"] is None
    figures = report(NAMES)
    assert (figures["examples"], figures["unlabelled"], figures["tagged"], figures["total_importance"]) == (4, 1, 1, 5)
    assert (figures["label_min"], figures["label_mean"], figures["label_max"]) == (None, None, None)


def test_the_report_shows_kinds_of_labels(vwlite):
    names = vwlite("check", stdin=NAMES).stdout
    assert "labels      names (2 classes); sports: 2, arts: 1\nlearn with  --oaa 2 " in names
    assert "labels      sequences of names (3 classes, 2 sequences); The" in vwlite("check", stdin=SEQUENCES).stdout
    many = "".join(f"n{n}\x1b |a\n" for n in range(30))
    assert "labels      names (30 classes)\n" in vwlite("check", stdin=many).stdout
    assert "labels      names (1 class); n1\\x1b: 1" in vwlite("check", stdin="n1\x1b |a\n").stdout


@pytest.mark.parametrize(
    ("text", "options", "line", "said"),
    [
        (NAMES, [], "arts x |a\n", "bad label, expected a number (a name, then its importance)"),
        (COSTS, [], "1:0 2:x |a\n", "bad label word '2:x': expected class:cost words"),
        (LISTS, [], "3,x |a\n", "label 3,x: expected whole numbers like 1,3"),
        (LISTS, [], "3,,4 |a\n", "bad label word '': expected classes like 1,3"),
        (GROUPS, [], "3:1 4:1 |a\n", "bad label '3:1 4:1': expected one word class:cost, or class"),
        ("1 |a\n3 |a\n", ["--oaa", 3], "4 |a\n", "label 4 is no class: expected whole numbers from 1 to 3"),
        ("1 |a\n3 |a\n", ["--oaa", 3], "x |a\n", "bad label, expected a number (--named_labels?)"),
        (NAMES, ["--oaa", 2, "--named_labels", "arts,sports"], "\x1b |a\n", "label \\x1b is no class: --named_labels"),
        (NAMES, ["--multiclass", 2, "--named_labels", "arts,sports"], "b |a\n", "label b is no class: --named_labels"),
        ("1 |a\n3 |a\n", ["--multiclass", 3], "4 |a\n", "label 4 is no class: expected whole numbers from 1 to 3"),
        ("1,2 |a\n2, |a\n", ["--outputs", 2], "1,2,3 |a\n", "2 outputs expected, 3 found"),
        ("1,2 |a\n,2.5 |a\n", ["--outputs", 2], "1,x |a\n", "element 'x' of the label is not a number"),
        (COSTS, ["--csoaa", 3], "5:1 |a\n", "label 5:1 names no class: expected whole numbers from 1 to 3"),
        (LISTS, ["--multilabel_oaa", 18], "18 |a\n", "label 18 names no class: expected whole numbers from 0 to 17"),
        (GROUPS, ["--csoaa_ldf", "m"], "|a x\n", "no label: expected one word class:cost, or class"),
        ("1 |a\n-1 |a\n", ["--l1", "binary"], "0 |a\n", "label 0: labels of two classes must be -1/1"),
        ("1 |a\n", ["--l1", "binary"], "2 |a\n", "label 2: labels of two classes must be 0/1 or -1/1"),
        (SEQUENCES, ["--l1", "crf"], "B -1 |a\n", "negative importance"),
    ],
)
def test_wrong_labels_are_malformed_lines(text, options, line, said, vwlite, tmp_path):
    text += "\n" * ("shared" in text)
    done = vwlite("check", *options, "--bad-lines", "bad", stdin=text + line + "\n" + text, status=65)
    place = f"bad line <stdin>:{text.count(chr(10)) + 1}:"
    assert place in done.stderr and said in done.stderr
    assert f"(1 malformed, {2 * text.count(chr(10) * 2) + 1} empty)" in done.stdout
    assert (tmp_path / "bad").read_text() == line
    assert "(--strict)" in vwlite("check", *options, "--strict", stdin=text + line, status=65).stderr
    vwlite("check", *options, "--max-bad-ratio", 0.5, stdin=text + line)
    vwlite("check", *options, stdin=text)


@pytest.mark.parametrize(
    ("form", "options"), [("names", ["--l1", "multinomial"]), ("sequences of names", ["--l1", "crf"])]
)
def test_numbers_are_names_where_that_is_said(form, options, report):
    figures = report("1 |a\n10 |a\n2 |a\n", *options)
    assert (figures["labels_are"], list(figures["labels"]), figures["learn_with"]) == (form, ["1", "2", "10"], None)


def test_several_numbers_are_read_as_train_reads_them(vwlite, write, report):
    """Whole numbers, too, which are otherwise taken for sets of classes."""
    text = "1,2 |a x\n3,4.5 t|a y\n,7 2|a x\n"
    figures = report(text, "--outputs", 2)
    assert (figures["labels_are"], figures["bad_lines"], figures["labels"]) == ("lists of numbers", 0, {"0": 2, "1": 3})
    assert (figures["losses"], figures["label_min"], figures["learn_with"]) == ([], None, None)
    stdout = vwlite("check", "--outputs", 2, stdin=text).stdout
    assert "labels      lists of numbers (2 outputs); 0: 2, 1: 3\n" in stdout
    for options in ("--outputs 2", "--multiclass 3 --named_labels a,b,c"):
        write("d", text if "outputs" in options else "a |x y\nb |x z\n")
        line = vwlite("check", "d", *options.split(), "--command", "--quiet").stdout
        assert line == f"vwlite train d {options} -f model\n"
        vwlite(*line.split()[1:], "--quiet")


def test_the_names_of_classes_are_ready_to_be_typed(report, vwlite, write):
    """All of them, and as a shell takes them, but not those of labels that can be no classes."""
    names = [f"rec.sport.{n}" for n in range(100)]
    text = "".join(f"{name} |a b{n}\n" for n, name in enumerate(names))
    option = f"--oaa 100 --named_labels {','.join(names)}"
    assert report(text)["learn_with"] == f"{option}{OR_L1}"
    write("many.vw", text)
    vwlite("train", "many.vw", *option.split(), "--quiet")
    assert report("r&d |a b\nq$ |a c\n")["learn_with"] == f"--oaa 2 --named_labels 'r&d,q$'{OR_L1}"
    ids = "".join(f"customer-{n} |a b\n" for n in range(2000))
    assert report(ids)["learn_with"] == f"--oaa 2000{OR_L1}"


@pytest.mark.parametrize("more", [[], ["--loss_function", "logistic"]])
def test_training_on_names_says_which_options_learn_them(more, vwlite, write):
    write("names.vw", NAMES)
    stderr = vwlite("train", "names.vw", "-f", "model", "--quiet", *more, status=65).stderr
    option = "--oaa 2 --named_labels sports,arts"
    assert f"; labels that are names (sports, arts) need {option}, or vwlite l1: 'vwlite check' prints" in stderr
    vwlite("train", "names.vw", "-f", "model", "--quiet", *option.split())
    write("table.csv", "label,a\nsports,1\narts,2\n")
    assert f"need {option}, or vwlite l1" in vwlite("train", "table.csv", "--columns", "label=label", status=65).stderr


def test_names_in_that_message_are_few(vwlite):
    stderr = vwlite("train", stdin="".join(f"n{n}\x1b |a\n" for n in range(30)), status=65).stderr
    assert "; labels that are names (n0\\x1b, n1\\x1b, " in stderr
    assert "n9\\x1b, ...) need --oaa auto, or" in stderr
    assert "named_labels" not in vwlite("train", stdin=f"{LISTS}{COSTS}", status=65).stderr
    assert "named_labels" not in vwlite("train", stdin="x |a\n" * 3 + "1 ?a\n" * 4, status=65).stderr


def test_a_model_that_was_learnt_keeps_its_labels(vwlite, write):
    """To go on with names, or to test on them, no option helps."""
    write("names.vw", NAMES)
    vwlite("train", "-f", "model", stdin="1 |a x\n")
    assert "--oaa" not in vwlite("train", "names.vw", "-i", "model", status=65).stderr
    assert "--oaa" not in vwlite("evaluate", "names.vw", "-i", "model", status=65).stderr


def test_sorted_names_are_to_be_shuffled(report):
    figures = report("arts |a\n" * 80 + "money |a\n" * 40)
    message = "the lines are sorted by label: it changes once, 53 times in random order"
    assert figures["warnings"] == [f"{message}: shuffle them, or train --shuffle-first; the last examples count most"]


def test_options_that_contradict_are_refused(vwlite):
    assert "--oaa and --l1 do not go together" in vwlite("check", "--oaa", 2, "--l1", "crf", stdin="", status=2).stderr
    stderr = vwlite("check", "--named_labels", "a,b", stdin="", status=2).stderr
    assert "--named_labels needs --oaa, --multiclass, --csoaa or --multilabel_oaa" in stderr
    assert "--multiclass and --outputs do not go" in vwlite(
        "check", "--outputs", 2, "--multiclass", "3", stdin="", status=2
    ).stderr


def test_names_are_labels_of_svmlight_too(report):
    figures = report("spam 1:1 2:1\nham 3:1\n", "--format", "svmlight")
    assert (figures["labels_are"], figures["labels"], figures["tagged"]) == ("names", {"spam": 1, "ham": 1}, 0)


def test_lines_sorted_by_name_are_said_but_not_tokens_of_sequences(report):
    lines = ["spam |a\n"] * 60 + ["ham |a\n"] * 60
    assert "the lines are sorted by label: it changes once" in report("".join(lines))["warnings"][0]
    assert report("\n".join(lines))["warnings"] == report("1:0 2:1 |a\n" * 120)["warnings"] == []


def test_a_few_odd_lines_do_not_make_another_kind(report, vwlite):
    assert report("1 |a\n" * 50 + "1,5 |a\n", "--max-bad-ratio", 0.1)["labels_are"] == "numbers"
    assert report("cat |a\n" * 50 + "7 |a\n\n" + "dog |a\n" * 400)["labels_are"] == "names"
    assert "read as numbers" in vwlite("check", stdin="|a\n", status=65).stdout


def test_no_more_is_waited_for_than_is_to_be_read():
    reading, writing = os.pipe()
    os.write(writing, b"1 |x\n2 |x\n")
    inputs = Inputs(InputConfig((f"/dev/fd/{reading}",), examples=2), TextFormat())
    assert inputs.head(1 << 16) == b"1 |x\n2 |x\n"
    assert len(next(inputs.texts()).batch) == 2
    os.close(writing)
    os.close(reading)


@pytest.mark.parametrize("odd", ["\x0b", "\x1c", "\u00a0", "\u2003"])
def test_only_blanks_part_the_words_of_labels(odd, report):
    """Python takes more for white space: a label of nothing else ended in a traceback."""
    figures = report(f"{odd} |a\nx{odd}y |a\n" * 3)
    assert (figures["labels_are"], figures["labels"]) == ("names", {odd: 3, f"x{odd}y": 3})
    assert report(f"{odd}# a\n1 1:2\n", "--format", "svmlight", status=65)["labels_are"] == "numbers"
    costs = f"a{odd}b:1 c:0 |a\n"
    assert report(costs)["labels"] == {f"a{odd}b": 1, "c": 1}


@pytest.mark.parametrize(("text", "labels", "advice"), [
    ("2:0.5:0.25 |a b\n1:1:0.5 2 3 |a c\n3 |a d\n", "logged decisions (2 actions); 1: 1, 2: 1", "--cb 2"),
    (
        "shared |u a\n|i x\n7:1:0.5 |i y\n\n2:0:0.5 |i x\n|i y\n\n",
        "groups of lines with logged decisions (2 actions, 2 groups); 0: 1, 1: 1", "--cb_adf -q ::",
    ),
    (
        "|i x\n7:1:0.5 |i y\n\n|i x\n\n", "groups of lines with logged decisions (1 action, 2 groups); 1: 1",
        "--cb_adf",
    ),
])
def test_logged_decisions_are_recognised_and_learners_proposed(text, labels, advice, vwlite):
    lines = vwlite("check", stdin=text).lines
    assert f"labels      {labels}" in lines and f"learn with  {advice}" in lines


def test_actions_that_are_not_those_of_their_lines(vwlite):
    def said(*named):
        groups = (f"|i x\n{f'{name}:1:0.5 ' if name else ''}|i y\n\n" for name in named)
        return vwlite("check", stdin="".join(groups)).stderr

    first = "first <stdin>:5, which names 7 on line 1"
    assert f"2 labels name another action than that of the line, {first}" in said(1, 7, 3)
    assert "1 label names another" in said("0", 2) and "name" not in said(0, 1, "", "0")


def test_probabilities_and_the_number_of_actions(vwlite):
    def check(p, *options):
        return vwlite("check", *options, stdin=f"0:1:{p} |i x\n|i y\n\n" * 9 + "|i x\n|i y\n0:0:0.34 |i z\n\n")

    message = "1 / probability is 9.294 on average, and the number of actions 2.1: are the probabilities right?"
    assert message in check(0.1).stderr and "number of actions" not in check(0.5).stderr
    assert json.loads(check(0.5, "--json", "-").stdout)["mean_actions"] == pytest.approx(2.1)
    assert "mean of 1 / probability 2.09412, of actions 2.1" in check(0.5).stdout


def test_costs_and_probabilities_of_decisions(vwlite, report):
    text = "1:1:0.5 | a\n2:0:0.25 1 2 | b\n1:1:1 | c\n3 | d\n1:1:1 | d\n"
    done = vwlite("check", stdin=text)
    message = "costs 0 to 1, mean 0.75; probabilities 0.25 to 1, mean 0.6875; mean of 1 / probability 2"
    assert f"decisions   {message}" in done.lines and "75% of the costs are the highest, 1" in done.stderr
    figures = report(text)["decisions"]
    assert (figures["costs"]["count"], figures["probabilities"]["min"]) == (4, 0.25)
    assert figures["mean_inverse_probability"] == 2
    assert report("1 | a\n")["decisions"] is None


@pytest.mark.parametrize(("text", "said"), [
    ("1:1:0.5 | a\n1:1:0.5 | b\n1:1:1.5 | c\n", "<stdin>:3: the probability of '1:1:1.5' is not above 0 and at most 1"),
    ("| a\n0:1:0.5 | b\n\n0:1:0.5 | a\n1:1:0.5 | b\n\n", "<stdin>:5: two costs of one event"),
])
def test_logged_decisions_that_are_malformed(text, said, vwlite):
    assert f"bad line {said}: " in vwlite("check", stdin=text, status=65).stderr


FORMS = {
    "--cb 3": "1:0.5:0.2 |a b\n3:1:0.5 |a c\n",
    "--cb_adf": "shared |u a\n0:1:0.5 |a b\n|a c\n\nshared |u b\n|a b\n1:1:0.5 |a c\n\n",
    "--csoaa 3": "1:0 2:1 |a x\n3:0 1:1 |a y\n",
    "--csoaa_ldf mc": "shared |u a\n1:0 |a b\n2:1 |a c\n\n",
    "--outputs 2": "3.5,2 |a b\n,1.5 2 't|a c\n-3,1 |a d\n",
    "--multilabel_oaa 6": "5,2 |a b\n0,1 |a c\n3 |a d\n",
}


@pytest.mark.parametrize("options", FORMS)
def test_training_on_other_forms_of_labels_says_which_option_learns_them(options, vwlite, write):
    write("data.vw", FORMS[options] * 3)
    stderr = vwlite("train", "data.vw", "-f", "model", "--quiet", status=65).stderr
    assert f" need {options}: 'vwlite check' prints the options" in stderr
    vwlite("train", "data.vw", "-f", "model", "--quiet", *options.split())


OTHERS = [NAMES, "1 |a b\n0 |a c\n", "2.5 |a b\n7 |a c\n", "a |w a\nb |w b\n\nb |w c\n"]


@pytest.mark.parametrize("text", [*FORMS.values(), *OTHERS])
def test_the_command_that_check_prints_runs(text, vwlite, write):
    write("my data.vw", text * 30)
    command = vwlite("check", "my data.vw", "--command", "--quiet").stdout
    program, *words = shlex.split(command)
    assert program == "vwlite" and words[1] == "my data.vw" and command.count("\n") == 1
    vwlite(*words, "--quiet")


def test_a_command_keeps_format_and_columns(vwlite, write):
    write("t.txt", "y,a\n1,2\n0,3\n" )
    said = vwlite("check", "t.txt", "--format", "csv", "--columns", "label=y =a", "--command", "--quiet").stdout
    few = "--passes 20 --shuffle-first --centred _"
    assert said == f"vwlite train t.txt --loss_function logistic {few} --format csv --columns 'label=y =a' -f model\n"
    said = vwlite("check", "t.txt", "--format", "csv", status=65).stderr
    assert "names the column of labels, one of y, a; perhaps --columns" in said
    typed = vwlite("check", "--command", "--oaa", 3, stdin="1 |a\n3 |b\n").stdout
    assert typed == "vwlite train --oaa 3 -f model\n"


def test_no_command_where_nothing_can_be_learned(vwlite):
    assert vwlite("check", "--command", "--quiet", stdin="|a b\n", status=65).stdout == ""


def test_tokens_in_columns_are_pointed_to_convert(vwlite):
    stderr = vwlite("train", "-f", "m", stdin="the DT B-NP\ndog NN I-NP\nbarks VB O\n", status=65).stderr
    assert stderr.count("see 'vwlite convert conll'") == 3
