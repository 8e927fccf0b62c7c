"""What is proposed in place of an unknown option or choice."""

import shlex

import pytest


def test_an_unknown_choice_is_answered_with_the_one_that_is_spelled_most_like_it(vwlite):
    done = vwlite("train", "data.vw", "--loss_function", "logstic", status=2)
    assert "--loss_function: 'logstic' is not one of squared, " in done.stderr
    assert " (did you mean logistic?)" in done.stderr


@pytest.mark.parametrize(
    ("command", "typed", "proposed"),
    [
        ("l1", "--holdout-metric accurracy", "accuracy"),
        ("tune", "--sampler tp", "tpe"),
        ("check", "--l1 multi", "multinomial"),
        ("vw", "--driver_output sdtout", "stdout"),
        ("vw", "--log_level warning", "warn"),
    ],
)
def test_every_command_proposes_a_choice(command, typed, proposed, vwlite):
    done = vwlite(command, "data.vw", *typed.split(), status=1 if command == "vw" else 2)
    assert f" (did you mean {proposed}?)" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "typed", "said"),
    [
        ("predict", "--oaa 3", "--oaa ('vwlite train' has it, whose options the model keeps)"),
        ("serve", "-q ab", "-q ('vwlite train' has it, whose options the model keeps)"),
        (
            "evaluate",
            "--loss-function logistic",
            "--loss_function ('vwlite train' has it, whose options the model keeps)",
        ),
        ("check", "--passes 3", "--passes ('vwlite train' has it)"),
        ("l1", "--multiclass 3", "--multiclass ('vwlite train' has it)"),
    ],
)
def test_an_option_of_training_is_not_answered_with_another(command, typed, said, vwlite):
    stderr = vwlite(command, "data.vw", *typed.split(), status=2).stderr
    assert stderr == f"vwlite: no such option {said} ('vwlite {command} --help' lists what there is)\n"


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("--passe", " (did you mean --passes?)"),
        ("--los", " (did you mean --loss_function, --loss_scale, --loss0 or --loss1?)"),
        ("--dot-in", " (did you mean --dot-init or --dot-init-kind?)"),
        ("--lerning_rate", " (did you mean --learning_rate?)"),
        ("--xyz", ""),
    ],
)
def test_an_unknown_option_is_answered_with_those_that_begin_like_it(typed, proposed, vwlite):
    stderr = vwlite("train", "data.vw", typed, "3", status=2).stderr
    name = f"--{typed[2:].replace('-', '_')}"
    assert stderr == f"vwlite: no such option {name}{proposed} ('vwlite train --help' lists what there is)\n"


def table(header, *rows):
    return "".join(f"{line}\n" for line in (header, *rows))


SMALL = " --passes 20 --shuffle-first --centred _"  # for tables of few rows
PROPOSED = {
    "usual names of labels": (
        table("age,Class,city", *(f"{n % 7}.5,{n % 2},{'ab'[n % 2]}" for n in range(9))),
        "--columns 'label=Class =age:number text=city:text' --loss_function logistic",
    ),
    "else the last column": (table("a,b", "1,2.5", "2,4.5"), "--columns 'label=b =a:number'"),
    "row numbers, identifiers, tags and text": (
        table(
            "rownames,zip,key,note,kind",
            *(f"{n},{1000 + n // 2},k{n},word{n} of some text,{'xyz'[n % 3]}" for n in range(1, 31)),
        ),
        "--columns 'label=kind tag=key =zip:text words=note:words ignore=rownames' --oaa auto",
    ),
    "European numbers": (table("x;y", "1,5;2,5", "2,5;3,0"), "--columns 'label=y =x:number'"),
    "many columns": (
        table(",".join([*map("c{}".format, range(25)), "user", "y"]), *(f"{'1.5,' * 25}{n // 2},2" for n in range(9))),
        "--columns 'label=y text=user:text'",
    ),
    "texts that differ in all rows are no labels": (
        table("temp,kind,date", *(f"{n % 7}.5,{'abc'[n % 3]},2010/01/{n} 00:00" for n in range(1, 31))),
        "--columns 'label=kind =temp:number text=date:text' --oaa auto",
    ),
    "times are no labels": (
        table("user,rating,timestamp", *(f"u{n % 3},{n % 4}.5,{978300760 + 1000 * n}" for n in range(9))),
        "--columns 'label=rating =user:text ignore=timestamp'",
    ),
    "dates are none either": (
        table("user,rating,day", *(f"u{n % 3},{n % 4}.5,2020-01-{n // 4 + 1:02}" for n in range(9))),
        "--columns 'label=rating =user:text,day:text'",
    ),
    "two names": (
        table("age,left", *(f"{n % 7}.5,{('No', 'Yes')[n % 2]}" for n in range(9))),
        "--columns 'label=left =age:number' --oaa auto --loss_function logistic",
    ),
    "names with blanks": (
        table("a b,is good", "1,true", "2,false"),
        """--columns 'label="is good" ="a b":number' --loss_function logistic""",
    ),
}


@pytest.mark.parametrize("case", PROPOSED)
def test_a_table_without_label_is_answered_with_options_before_it_is_read(case, vwlite, write):
    text, proposed = PROPOSED[case]
    small = SMALL if ":number" in proposed or case == "many columns" else SMALL.removesuffix(" --centred _")
    write("data.csv", text)
    stderr = vwlite("train", "data.csv", "-f", "m", status=65).stderr
    assert stderr.startswith(
        "vwlite: there is no labelled example to learn from in data.csv (--columns label=... names "
    )
    assert stderr.endswith(f"; perhaps {proposed}{small}); m is not written\n") and stderr.count("\n") == 1
    vwlite("train", "data.csv", "-f", "m", *shlex.split(proposed), "--quiet")
    assert len(vwlite("predict", "-i", "m", "data.csv").lines) == text.count("\n") - 1


def test_a_table_whose_label_is_named_is_learned_with_the_same_advice(vwlite, write):
    write("data.csv", PROPOSED["usual names of labels"][0])
    for columns, centred in (("label=Class", ""), ("label=Class n=age text=city", " --centred n")):
        advised = f"--loss_function logistic --passes 20 --shuffle-first{centred}"
        assert f"\nperhaps     {advised}\n" in vwlite("check", "data.csv", "--columns", columns).stdout
        line = vwlite("check", "data.csv", "--columns", columns, "--command").stdout
        assert line.startswith(f"vwlite train data.csv {advised} --columns ")
        stderr = vwlite("train", "data.csv", "--columns", columns, "-f", "m").stderr
        assert f"note: {advised} may learn these data better\n" in stderr
        assert "may learn" not in vwlite(*shlex.split(line)[1:]).stderr


def test_the_command_of_a_table_leaves_out_keys_and_numbers_of_rows(vwlite, write):
    write(
        "data.csv",
        table("row,order id,my key,age,y", *(f"{n},{n * 7 % 31},k-{n},{n % 7}.5,{n % 3}" for n in range(30))),
    )
    line = vwlite("check", "data.csv", "--columns", "label=y", "--command", "--quiet").stdout
    assert "--columns 'label=y ignore=\"my key\",row,\"order id\"' -f model\n" in line
    vwlite(*shlex.split(line)[1:], "--quiet")
    for columns in ('label=y k="my key" =row,"order id"', "label=y =*:text", 'label=y =age ignore=*'):
        line = vwlite("check", "data.csv", "--columns", columns, "--command", "--quiet").stdout
        assert f"--columns {shlex.quote(columns)} -f model\n" in line
    write("keys.csv", table("key,y", *(f"k{n},{n % 3}" for n in range(30))))
    line = vwlite("check", "keys.csv", "--columns", "label=y", "--command", "--quiet").stdout
    assert "--columns label=y -f model\n" in line


def test_a_second_key_is_left_out_of_a_table_without_label(vwlite, write):
    write("data.csv", table("key,other,age,y", *(f"k{n},o{n},{n % 7}.5,{n % 3}" for n in range(30))))
    stderr = vwlite("train", "data.csv", "-f", "m", status=65).stderr
    assert "--columns 'label=y tag=key =age:number ignore=other'" in stderr


@pytest.mark.parametrize(("typed", "meant"), [("logloss", "log_loss"), ("roc_auc", "auc"), ("accurcy", "accuracy")])
def test_an_unknown_metric_is_answered_with_the_one_that_may_be_meant(typed, meant, vwlite, write):
    write("d", "1 |f a\n-1 |f b\n")
    vwlite("train", "d", "-f", "m", "--loss_function", "logistic", "--quiet")
    stderr = vwlite("evaluate", "-i", "m", "d", "--metric", typed, status=2).stderr
    assert stderr.startswith(f"vwlite: metric '{typed}' is not one of loss, ") and f" (did you mean {meant}?)" in stderr


def test_a_namespace_that_is_spelled_like_the_label_is_named(vwlite, write):
    write("data.csv", PROPOSED["two names"][0])
    stderr = vwlite("train", "data.csv", "--columns", "lable=left n=age", "-f", "m", status=65).stderr
    assert "in data.csv (lable= is a namespace; --columns label=... names the column of labels, one of left" in stderr


def test_two_names_are_learned_with_probabilities(vwlite, write):
    write("data.csv", PROPOSED["two names"][0])
    logistic = "--loss_function logistic --passes 20 --shuffle-first"
    checked = vwlite("check", "data.csv", "--columns", "label=left n=age").stdout
    assert f"\nperhaps     --oaa auto {logistic} --centred n\n" in checked
    line = vwlite("check", "data.csv", "--columns", "label=left n=age", "--command").stdout
    assert line.startswith(f"vwlite train data.csv --oaa 2 --named_labels No,Yes {logistic} --centred n --columns ")
    done = vwlite(*shlex.split(line)[1:])
    assert "may learn" not in done.stderr
    assert "log_loss" in vwlite("evaluate", "-i", "model", "data.csv", "--metric", "accuracy,log_loss").stdout


def test_many_classes_of_few_numbers_are_learned_with_curves(vwlite, write):
    write("d", "".join(f"c{n % 4 * 4 + n // 4 % 4} |f x:{n % 4 + 0.3} y:{n // 4 % 4 + 0.3}\n" for n in range(96)))
    options = "--random_features rbf:512, as 16 classes of 2 numbers are seldom separated by straight lines"
    assert f"perhaps     {options}\n" in vwlite("check", "d").stdout
    write("words", "".join(f"c{n % 16} |f x{n % 4}\n" for n in range(96)))
    assert "perhaps" not in vwlite("check", "words").stdout


def test_tables_of_many_rows_are_learned_in_one_pass(vwlite, write):
    write("data.csv", table("a,label", *(f"{n % 7 + 0.5},{n % 3}" for n in range(180000))))
    stderr = vwlite("train", "data.csv", "-f", "m", status=65).stderr
    assert "; perhaps --columns 'label=label =a:number'); m is" in stderr
    write("far.csv", table("year,label", *(f"{n % 7 + 1950},{n % 3}" for n in range(180000))))
    stderr = vwlite("train", "far.csv", "-f", "m", status=65).stderr
    assert "; perhaps --columns 'label=label =year:number' --centred _); m is" in stderr


def test_a_table_without_header_is_answered_with_the_whole_line(vwlite, write):
    write("data.csv", table("1.5,0,a", *(f"{n % 5}.25,{n % 2},{'ab'[n % 2]}" for n in range(30))))
    stderr = vwlite("train", "data.csv", "-f", "m", status=65).stderr
    assert stderr.endswith("; perhaps --columns 'no-header label=3 =1:number,2:number'\n")
    vwlite("train", "data.csv", "-f", "m", "--quiet", "--oaa", "auto", *shlex.split(stderr.split("; perhaps ")[1]))


def test_a_first_line_of_another_size_than_all_others_is_no_part_of_the_table(vwlite, write):
    write("data.csv", table("30,4,good,bad", *(f"{n},{n % 3},{n % 2},0,1" for n in range(30))))
    stderr = vwlite("train", "data.csv", "--columns", "label=good", "-f", "m", status=65).stderr
    assert stderr == (
        "vwlite: data.csv:1: the first line has 4 fields, and all lines after it 5: leave it out, as 'tail -n +2' "
        "does, where it is no part of the table\n"
    )


def test_the_options_are_proposed_by_other_commands_too(vwlite, write):
    write("data.csv", PROPOSED["usual names of labels"][0])
    stderr = vwlite("check", "data.csv", status=65).stderr
    assert "; perhaps --columns 'label=Class =age:number text=city:text' --loss_function logistic --passes" in stderr
    vwlite("train", "data.csv", "--columns", "label=Class", "-f", "m", "--quiet")
    write("other.csv", "age,city\n1,a\n")
    assert "has no column 'Class'" in vwlite("train", "other.csv", "-i", "m", "-f", "m", status=65).stderr


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("fasttext", "('vwlite convert fasttext FILE > data.vw' turns it into text)"),
        ("FFM", "('vwlite convert libffm FILE > data.vw' turns it into text)"),
        ("crf++", "('vwlite convert conll FILE > data.vw' turns it into text)"),
        ("libsvm", "(it is called svmlight here)"),
        ("feather", "(it is called arrow here)"),
    ],
)
def test_formats_of_other_tools_are_answered_with_how_they_are_read(typed, said, vwlite):
    for command in ("train", "check"):
        assert said in vwlite(command, "data", "--format", typed, status=2).stderr
