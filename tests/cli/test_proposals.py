"""What is proposed in place of an unknown option or choice."""

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


@pytest.mark.parametrize(("command", "typed", "said"), [
    ("predict", "--oaa 3", "--oaa ('vwlite train' has it, whose options the model keeps)"),
    ("serve", "-q ab", "-q ('vwlite train' has it, whose options the model keeps)"),
    ("evaluate", "--loss-function logistic", "--loss_function ('vwlite train' has it, whose options the model keeps)"),
    ("check", "--passes 3", "--passes ('vwlite train' has it)"),
    ("l1", "--multiclass 3", "--multiclass ('vwlite train' has it)"),
])
def test_an_option_of_training_is_not_answered_with_another(command, typed, said, vwlite):
    told = vwlite(command, "data.vw", *typed.split(), status=2).stderr
    assert told == f"vwlite: no such option {said} ('vwlite {command} --help' lists what there is)\n"


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
    said = vwlite("train", "data.vw", typed, "3", status=2).stderr
    name = f"--{typed[2:].replace('-', '_')}"
    assert said == f"vwlite: no such option {name}{proposed} ('vwlite train --help' lists what there is)\n"
