"""--multiclass on the command line: losses, names, going on, and what it refuses."""

import json

import pytest

TEXT = "cat |w fur tail\ndog 2 |w fur bark\nbird 'b1|w wing\n" * 20
NAMES = ("--multiclass", "3", "--named_labels", "cat,dog,bird")


@pytest.mark.parametrize("loss", ["multinomial", "logistic", "crammer_singer"])
def test_each_loss_learns_goes_on_and_is_measured(loss, vwlite, write, tmp_path):
    lines = TEXT.splitlines(keepends=True)
    write("whole", TEXT)
    write("one", "".join(lines[:31]))
    write("two", "".join(lines[31:]))
    done = vwlite("train", "whole", "-f", "m", "--loss_function", loss, *NAMES)
    assert f"average {loss} loss = " in done.stderr
    vwlite("train", "one", "-f", "n", "--quiet", "--loss_function", loss, *NAMES)
    vwlite("train", "two", "-i", "n", "-f", "n", "--quiet")
    assert vwlite("predict", "-i", "m", "whole").stdout == vwlite("predict", "-i", "n", "whole").stdout
    assert vwlite("predict", "-i", "n", "whole").lines[:3] == ["cat", "dog", "bird b1"]
    assert json.loads(vwlite("evaluate", "-i", "m", "whole", "--json", "-").stdout)["accuracy"] == 1
    report = json.loads(vwlite("inspect", "m", "--json", "-").stdout)
    assert report["learner"] == "multiclass" and report["options"]["multiclass"] == 3


ROWS = "".join(
    f"{1 + (n * 7 % 3)} |w x{n * 7 % 3} noise{n % 11} noise{n * 3 % 11} noise{n * 5 % 11} |v y{n % 2}\n"
    for n in range(600)
)


def kept(vwlite, model):
    """Count the weights of every feature that has any, by slot."""
    report = json.loads(vwlite("inspect", model, "--top", "1000", "--json", "-").stdout)
    rows = {}
    for entry in report["top"]:
        rows.setdefault(entry["slot"] >> 3, []).append(entry["weight"])
    return rows, report["norms"]["2,1"]


@pytest.mark.parametrize("more", ["", "-q wv", "--loss_function logistic -c", "--loss_function crammer_singer"])
def test_the_weights_of_a_feature_vanish_together(more, vwlite, write, tmp_path):
    write("d", ROWS)
    options = ("--passes", "4", "--holdout_off", "-c", "-k", "--quiet", *more.split(), "--multiclass", "3")
    sizes, lengths = [], []
    for price in ("0", "0.003", "0.03", "10"):
        vwlite("train", "d", "-f", "m", *options, "--group_l1", price)
        rows, norm = kept(vwlite, "m")
        assert all(len(row) == 3 for row in rows.values())
        sizes.append(len(rows))
        lengths.append(norm)
    assert sizes == sorted(sizes, reverse=True) and 3 <= sizes[2] < sizes[0] and sizes[3] == 0
    assert lengths[1:] == sorted(lengths[1:], reverse=True)  # without a price rates are others
    vwlite("train", "d", "-f", "p", *options, "--group_l1", "0.03", "--predict_only_model")
    vwlite("train", "d", "-f", "m", *options, "--group_l1", "0.03")
    assert vwlite("predict", "-i", "m", "d", "--raw").stdout == vwlite("predict", "-i", "p", "d", "--raw").stdout
    assert (tmp_path / "p").stat().st_size < (tmp_path / "m").stat().st_size


def test_without_a_price_the_model_has_the_bytes_of_before(vwlite, write, tmp_path, header):
    write("d", ROWS)
    vwlite("train", "d", "-f", "m", "--multiclass", "3", "--group_l1", "0", "--quiet")
    vwlite("train", "d", "-f", "n", "--multiclass", "3", "--quiet")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
    assert "group_l1" not in header("m")["config"]


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
    write("whole", text)
    write("one", "".join(lines[:50]))
    write("two", "".join(lines[50:]))
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
        ("--group_l1 0.1", "--group_l1 needs --multiclass"),
        ("--oaa 3 --group_l1 0.1", "--group_l1 needs --multiclass"),
        ("--multiclass 3 --nn 4 --group_l1 0.1", "--group_l1 does not go with --nn"),
        ("--multiclass 3 --dotproduct ww --group_l1 0.1", "--group_l1 does not go with --multiclass and --dotproduct"),
        ("--multiclass 3 --bfgs --passes 2 --group_l1 0.1", "--group_l1 does not go with"),
        ("--multiclass 3 --group_l1 0.1 --average", "--group_l1 does not go with --average"),
        ("--multiclass 3 --group_l1 -1", "--group_l1 takes a number of 0 or more, not -1"),
        ("--multiclass 1 --group_l1 1", "--multiclass 1 has one"),
        ("--multiclass 3 --loss_function squared", "goes with --loss_function multinomial, logistic, crammer_singer"),
        ("--multiclass 3 --oaa 3", "--oaa and --multiclass do not go together"),
        ("--multiclass 3 --l2 0.1", "--l2 does not go with --multiclass: it has no such penalty; --oaa, a learner for"),
        ("--multiclass 3 --sgd", "--sgd does not go with --multiclass: it has rates of its own; --oaa, a learner"),
        ("--multiclass 3 --min_prediction 0", "--min_prediction does not go with --multiclass: it answers"),
        ("--multiclass 3 --dot-first-t 1", "--dot-first-t needs --dotproduct"),
        ("--costs", "--costs needs --filter_tree"),
        ("--scoring", "--scoring needs --filter_tree"),
        ("--filter_tree 3 --readable_model t", "models of --filter_tree are not written"),
        ("--multiclass 3 --invert_hash t", "models of --multiclass are not written"),
        ("--filter_tree 3 -r r", "has only its answers"),
        ("--filter_tree 3 --loss_function multinomial --expectile_q 0.3", "--expectile_q does nothing without"),
        ("--filter_tree 3 --oaa 3", "--filter_tree plays with learners of two classes"),
        ("--multiclass 3 -b 1", "3 classes need more than the 2 slots"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("d", TEXT)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


@pytest.mark.parametrize("learner", ["--multiclass 3", "--filter_tree 3", "--dotproduct ab --rank 2"])
def test_only_linear_models_of_vw_are_written_as_its_text(learner, vwlite, write):
    write("d", "1 |a x |b y\n1 |a z |b w\n")
    vwlite("train", "d", "-f", "m", *learner.split())
    assert "are not written as vw's text" in vwlite("inspect", "m", "--readable_model", "t", status=2).stderr
    stdout = vwlite("vw", "d", *learner.split(), "--output_feature_regularizer_text", "t", status=1).stdout
    assert "are not written as vw's text" in stdout
