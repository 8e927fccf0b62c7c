"""--multiclass on the command line: losses, names, going on, and what it refuses."""

import json

import pytest

TEXT = "cat |w fur tail\ndog 2 |w fur bark\nbird 'b1|w wing\n" * 20
NAMES = ("--multiclass", "3", "--named_labels", "cat,dog,bird")


@pytest.mark.parametrize("loss", ["multinomial", "logistic", "crammer_singer"])
def test_each_loss_learns_goes_on_and_is_measured(loss, vwlite, write, tmp_path):
    lines = TEXT.splitlines(keepends=True)
    write("whole", TEXT), write("one", "".join(lines[:31])), write("two", "".join(lines[31:]))
    done = vwlite("train", "whole", "-f", "m", "--loss_function", loss, *NAMES)
    assert f"average {loss} loss = " in done.stderr
    vwlite("train", "one", "-f", "n", "--quiet", "--loss_function", loss, *NAMES)
    vwlite("train", "two", "-i", "n", "-f", "n", "--quiet")
    assert vwlite("predict", "-i", "m", "whole").stdout == vwlite("predict", "-i", "n", "whole").stdout
    assert vwlite("predict", "-i", "n", "whole").lines[:3] == ["cat", "dog", "bird b1"]
    assert json.loads(vwlite("evaluate", "-i", "m", "whole", "--json", "-").stdout)["accuracy"] == 1
    report = json.loads(vwlite("inspect", "m", "--json", "-").stdout)
    assert report["learner"] == "multiclass" and report["options"]["multiclass"] == 3


def test_softmax_is_the_default_and_gives_probabilities(vwlite, write):
    write("d", TEXT)
    vwlite("train", "d", "-f", "m", "--quiet", "--probabilities", *NAMES)
    line = vwlite("predict", "-i", "m", "d").lines[2].split()
    assert [pair.split(":")[0] for pair in line[:3]] == ["cat", "dog", "bird"] and line[3] == "b1"
    assert sum(float(pair.split(":")[1]) for pair in line[:3]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("base", ["", "--loss_function logistic", "--lrq ab2", "--dotproduct ab --rank 2 --no-shuffle"])
def test_a_filter_tree_of_any_learner(base, vwlite, write):
    text = "".join(f"{1 + n * 7 % 3} |a x{n * 7 % 3} |b y{n % 4}\n" for n in range(90))
    lines = text.splitlines(keepends=True)
    write("whole", text), write("one", "".join(lines[:50])), write("two", "".join(lines[50:]))
    vwlite("train", "whole", "-f", "m", "--quiet", "--filter_tree", "3", *base.split())
    vwlite("train", "one", "-f", "n", "--quiet", "--filter_tree", "3", *base.split())
    vwlite("train", "two", "-i", "n", "-f", "n", "--quiet")
    assert vwlite("predict", "-i", "m", "whole").stdout == vwlite("predict", "-i", "n", "whole").stdout
    if "lrq" not in base and "dot" not in base:
        assert json.loads(vwlite("evaluate", "-i", "m", "whole", "--json", "-").stdout)["accuracy"] == 1


def test_a_filter_tree_of_costs(vwlite, write):
    rows = [" ".join(f"{c}:{abs(c - 1 - n % 3)}" for c in (1, 2, 3)) + f" |a x{n % 3}\n" for n in range(60)]
    write("d", "".join(rows))
    vwlite("train", "d", "-f", "m", "--quiet", "--filter_tree", "3", "--costs", "--loss_function", "hinge")
    assert json.loads(vwlite("evaluate", "-i", "m", "d", "--json", "-").stdout)["loss"] == 0
    assert vwlite("predict", "-i", "m", "d").lines[:3] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--loss_function multinomial", "--loss_function multinomial needs --multiclass"),
        ("--multiclass 3 --loss_function squared", "goes with --loss_function multinomial, logistic, crammer_singer"),
        ("--multiclass 3 --oaa 3", "--oaa and --multiclass do not go together"),
        ("--multiclass 3 --l2 0.1", "--l2 does not go with --multiclass"),
        ("--costs", "--costs needs --filter_tree"),
        ("--scoring", "--scoring needs --filter_tree"),
        ("--filter_tree 3 --readable_model t", "models of --filter_tree are not written"),
        ("--multiclass 3 --invert_hash t", "models of --multiclass are not written"),
        ("--filter_tree 3 -r r", "has but its answers"),
        ("--filter_tree 3 --loss_function multinomial --expectile_q 0.3", "--expectile_q does nothing without"),
        ("--filter_tree 3 --oaa 3", "--filter_tree plays with learners of two classes"),
        ("--multiclass 300 -b 4", "300 classes need more than the 16 slots"),
    ],
)
def test_what_is_refused(options, message, vwlite, write):
    write("d", TEXT)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


@pytest.mark.parametrize("learner", ["--multiclass 3", "--filter_tree 3", "--dotproduct ab --rank 2"])
def test_only_linear_models_of_vw_are_written_as_its_text(learner, vwlite, write):
    write("d", "1 |a x |b y\n1 |a z |b w\n")
    vwlite("train", "d", "-f", "m", *learner.split())
    assert "are not written as vw's text" in vwlite("inspect", "m", "--readable_model", "t", status=2).stderr
    said = vwlite("vw", "d", *learner.split(), "--output_feature_regularizer_text", "t", status=1).stdout
    assert "are not written as vw's text" in said
