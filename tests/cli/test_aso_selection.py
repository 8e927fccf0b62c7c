"""``vwlite aso train --folds --vary``: cross-validation of Theta's scale and other options."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_aso import bare, documents, learn
from vwlite.data.malformed_lines import BadLines
from vwlite.errors import DataError, UsageError
from vwlite.features.theta import load_theta
from vwlite.solvers.aso.classifier import labels_of, train
from vwlite.solvers.aso.config import SelectionConfig, TargetConfig
from vwlite.solvers.aso.corpus import Corpus
from vwlite.solvers.aso.model_file import load_target
from vwlite.solvers.aso.selection import EVERY, Point, best_of, error, folds_of, points_of, read_vary, select
from vwlite.storage import model_file

VARY = ("theta-scale 0.1|1", "lambda 1e-4|1e-2")
LATER = TargetConfig(theta_scale=1.0)


@pytest.fixture
def files(write):
    write("un.vw", bare(documents(150, 1)))
    write("few.vw", documents(24, 2))
    write("test.vw", documents(60, 3))
    write("many.vw", documents(60, 4, several=True))


def corpus(path):
    return Corpus(BadLines(None, None)).read([str(path)])


def by_hand(text, theta, point, folds, tmp_path, several=False):
    """Micro-averaged F of the point: each fold by a model that ``train`` makes of the other lines."""
    hits = said = meant = 0
    for fold in range(folds.max() + 1):
        lines = text.splitlines(keepends=True)
        for name, kept in (("known", folds != fold), ("held", folds == fold)):
            (tmp_path / name).write_text("".join(line for line, keep in zip(lines, kept, strict=True) if keep))
        made = theta.cut(point.dim) if point.dim else None
        target = train(corpus(tmp_path / "known"), made, point.config, several)
        held = corpus(tmp_path / "held")
        for label, row in zip(held.label, target.chosen(target.scores(held)), strict=True):
            named, true = {target.classes.names[at] for at in np.flatnonzero(row)}, set(held.texts[label].split(","))
            hits, said, meant = hits + len(named & true), said + len(named), meant + len(true)
    return 2 * hits / (said + meant)


@pytest.mark.parametrize(("name", "several"), [("few.vw", False), ("many.vw", True)])
def test_points_are_measured_as_models_of_the_other_folds_are(files, vwlite, tmp_path, name, several):
    learn(vwlite, "--dim", "4")
    theta, data = load_theta(str(tmp_path / "theta"))[0], corpus(tmp_path / name)
    config = SelectionConfig(folds=3, vary=(*VARY, "theta-dim 1|4"))
    selection = select(data, theta, TargetConfig(), config, several)
    folds = folds_of(data, *labels_of(data, train(data, None, TargetConfig(), several).classes), 3, 0)
    assert len(selection.points) == 10 and sum(point.dim is None for point in selection.points) == 2
    for point in selection.points:
        hand = by_hand((tmp_path / name).read_text(), theta, point, folds, tmp_path, several)
        assert point.score == pytest.approx(hand, abs=0.05)
    assert selection.measure == ("micro_f1" if several else "accuracy")


@given(st.lists(st.sampled_from("abc"), min_size=6, max_size=60), st.integers(2, 5), st.integers(0, 9))
def test_folds_are_even_for_each_label(tmp_path_factory, labels, folds, seed):
    if len(set(labels)) < 2:
        labels = [*labels, *({"a", "b"} - set(labels))]
    path = tmp_path_factory.mktemp("folds") / "d"
    path.write_text("".join(f"{label} |w x\n" for label in labels))
    data = corpus(path)
    labelled, made = labels_of(data, train(data, None, TargetConfig()).classes)
    actual = folds_of(data, labelled, made, folds, seed)
    for label in set(labels):
        own = actual[np.array(labels) == label]
        if len(own) == 1:
            assert own[0] == EVERY
        else:
            counts = np.bincount(own, minlength=folds)
            assert counts.max() - counts.min() <= 1
    assert (actual == folds_of(data, labelled, made, folds, seed)).all()


def point(hits, scale):
    counts = np.stack([np.array(hits, float), np.ones(len(hits)), np.ones(len(hits))])
    return Point(LATER, scale, 1 if scale else None, {}, counts)


def test_of_points_that_are_nearly_equal_the_smaller_scale_wins():
    none = point([1] * 50 + [0] * 50, 0)
    hardly = point([1] * 50 + [1, 0] * 5 + [0] * 40, 1)
    clearly = point([1] * 90 + [0] * 10, 1)
    assert best_of([none, clearly, hardly]) is clearly
    even = point([0] * 20 + [1] * 51 + [0] * 29, 1)  # one more, of 41 that differ
    assert error(even, none) == pytest.approx((even.counts[0] - none.counts[0]).std() / 10)
    assert best_of([none, even]) is none and best_of([even, none]) is none


def test_of_equal_points_the_first_wins():
    assert best_of([first := point([1, 1, 0], 0.5), point([1, 0, 0], 0.5)]) is first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bits 3|4", "cannot vary"),
        ("lambda 1e-4..1", "values like"),
        ("lambda x|1", "takes numbers"),
        ("lambda 2e9", "--lambda"),
        ("lambda -1|1", "--lambda"),
        ("theta-scale 0|1", "above 0"),
        ("theta-dim 1.5", "whole numbers"),
        ("loss_function none", "--loss_function"),
    ],
)
def test_options_that_cannot_vary_are_refused(text, said):
    with pytest.raises(UsageError, match=said):
        read_vary((text,), True)


def test_options_vary_once_and_theta_where_there_is_one():
    for texts, theta in ((("l 1|2", "learning_rate 3"), True), (("theta-scale 1",), False)):
        with pytest.raises(UsageError, match=r"twice|without --theta"):
            read_vary(texts, theta)
    assert read_vary(("l 0.1|0.2|0.1", "passes 3"), False) == {"rate": [0.1, 0.2], "passes": [3]}


def test_the_grid_without_theta_is_of_the_solver():
    options = [point.options for point in points_of({"passes": [1, 2], "loss": ["hinge"]}, None, LATER, None)]
    assert options == [{"passes": 1, "loss": "hinge"}, {"passes": 2, "loss": "hinge"}]


def test_the_model_is_that_of_the_chosen_options(files, vwlite, tmp_path):
    learn(vwlite, "--dim", "4")
    arguments = ("--vary", "theta-scale 0.1|1", "--vary", "theta-dim 2|4", "--vary", "passes 2|20")
    done = vwlite("aso", "train", "few.vw", "--theta", "theta", "--folds", "4", *arguments, "-f", "m", "--json", "j")
    facts = json.loads((tmp_path / "j").read_text())["result"]["selection"]
    assert len(facts["points"]) == 10 and facts["folds"] == 4 and facts["measure"] == "accuracy"
    chosen = facts["chosen"]
    assert model_file.load(str(tmp_path / "m")).header["aso"]["selection"] == facts
    assert sum(line.startswith("*") for line in done.stderr.splitlines()) == 1
    typed = [("--theta-scale", "theta_scale"), ("--theta-dim", "theta_dim"), ("--passes", "passes")]
    options = [word for option, name in typed if name in chosen for word in (option, f"{chosen[name]:g}")]
    given = ("--theta", "theta") if "theta" not in chosen else ()
    vwlite("aso", "train", "few.vw", *given, *options, "-f", "n", "--quiet")
    one, other = load_target(str(tmp_path / "m")), load_target(str(tmp_path / "n"))
    assert one.weights.w.tobytes() == other.weights.w.tobytes() and one.weights.v.tobytes() == other.weights.v.tobytes()


def test_a_theta_that_does_not_help_is_not_used(files, write, vwlite, tmp_path):
    write("noise.vw", "".join(f"|w ball goal wave ship x{number % 7} y{number % 5}\n" for number in range(60)))
    learn(vwlite, data="noise.vw")
    done = vwlite("aso", "train", "test.vw", "--theta", "theta", "--folds", "5", "-f", "m")
    assert "Theta does not help here: " in done.stderr and load_target(str(tmp_path / "m")).theta is None


def test_theta_dim_alone_cuts_theta(files, vwlite, tmp_path):
    learn(vwlite)
    vwlite("aso", "train", "few.vw", "--theta", "theta", "--theta-dim", "2", "-f", "m", "--quiet")
    assert max(map(len, load_target(str(tmp_path / "m")).theta.values)) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--folds", "1"), "--folds"),
        (("--folds", "25", "--vary", "l 1|2"), "only 24 labelled examples"),
        (("--vary", "l 1|2"), "--vary does nothing without --folds"),
        (("--folds", "2"), "nothing to choose"),
        (("--theta-dim", "2"), "--theta-dim does nothing without --theta"),
        (("--folds", "2", "--vary", "lambda 1e-3|1e-4", "--lambda", "1e-2"), "given and varied"),
        (("--folds", "2", "--vary", "l 0.1|0.2", "-l", "1"), "given and varied"),
    ],
)
def test_wrong_options_are_refused(files, vwlite, options, said):
    assert said in vwlite("aso", "train", "few.vw", "-f", "m", "--quiet", *options, status=2).stderr


def test_classes_of_one_example_alone_cannot_be_measured(tmp_path):
    (tmp_path / "d").write_text("a |w x\nb |w y\n")
    with pytest.raises(DataError, match="two examples"):
        select(corpus(tmp_path / "d"), None, replace(LATER), SelectionConfig(folds=2, vary=("passes 1|2",)))
