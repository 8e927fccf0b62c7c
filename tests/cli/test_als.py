"""``vwlite train --dotproduct --als``: whom a model does not know, what is skipped, and what it refuses."""

import numpy as np
import pytest

CHOSEN = "".join(f"1 |user u{n} age=30 |item i{n * k % 7} |genre g{n % 2}\n" for n in range(12) for k in range(1, 4))


def test_whom_the_model_does_not_know_is_predicted_as_the_mean(vwlite, write):
    write("chosen.vw", CHOSEN)
    bounds = ("--min_prediction", -9, "--max_prediction", 9, "--names", "--quiet")
    vwlite("train", "chosen.vw", "-f", "m", "--dotproduct", "user,item", "--rank", 2, "--als", *bounds)
    items = [f"i{n}" for n in range(7)]
    write("all.vw", "".join(f"|user u{n} age=9 |item {item}\n" for item in items for n in range(12)))
    write("new.vw", "".join(f"|user somebody |item {item}\n" for item in items))
    known = np.array([float(line) for line in vwlite("predict", "-i", "m", "all.vw", "--raw").lines]).reshape(7, 12)
    new = np.array([float(line) for line in vwlite("predict", "-i", "m", "new.vw", "--raw").lines])
    assert new == pytest.approx(known.mean(axis=1), abs=1e-5)
    write("nothing.vw", "|user somebody |item something\n")
    assert float(vwlite("predict", "-i", "m", "nothing.vw").lines[0]) == 0
    done = vwlite("recommend", "-i", "m", "--of", "item", "new.vw", "--top", 1)
    assert done.lines[0].split()[-1] == items[int(new.argmax())]


def test_somebody_unknown_has_the_same_list_whoever_asks(vwlite, write):
    """Named, on a line of a file of names, and in a file of examples."""
    write("chosen.vw", CHOSEN)
    table = "label,user,item\n" + "".join(f"1,u{n},i{n * k % 7}\n" for n in range(12) for k in range(1, 4))
    write("chosen.csv", table)
    pair = ("--dotproduct", "user,item", "--rank", 2, "--als", "--names", "--quiet")
    vwlite("train", "chosen.vw", "-f", "m", *pair)
    vwlite("train", "chosen.csv", "--columns", "label=label user=user item=item", "-f", "n", *pair)
    write("new.vw", "|user somebody\n")
    write("new.csv", "user\nsomebody\n")
    write("ids", "user=somebody\nuser=u1\n")
    for model, file in (("m", "new.vw"), ("n", "new.csv")):
        ask = ("recommend", "-i", model, "--of", "item", "--top", 3)
        expected, named = vwlite(*ask, file), vwlite(*ask, "--for", "user=somebody")
        lists = [[line.split()[1:] for line in done.lines] for done in (expected, named)]
        assert lists[0] == lists[1] and len(lists[0]) == 3 and named.stderr == expected.stderr
        assert "all lists are those of an unknown person" in named.stderr
        done = vwlite(*ask, "--for-file", "ids")
        assert [line.split()[1:] for line in done.lines[:3]] == lists[0] and len(done.lines) == 6 and done.stderr == ""
        done = vwlite(*ask, "--for", "age=9", status=2)
        assert "age" in done.stderr


def test_no_dot_linear_keeps_the_vectors_as_they_are(vwlite, write):
    write("chosen.vw", CHOSEN)
    options = ("--dotproduct", "user,item", "--rank", 2, "--als", "--quiet")
    vwlite("train", "chosen.vw", "-f", "m", *options)
    vwlite("train", "chosen.vw", "-f", "n", *options, "--no-dot-linear")
    one, two = ([float(line) for line in vwlite("predict", "-i", model, "chosen.vw", "--raw").lines] for model in "mn")
    assert one == pytest.approx(two, abs=1e-5)
    write("new.vw", "|user somebody |item i1\n")
    assert float(vwlite("predict", "-i", "n", "new.vw").lines[0]) == 0


def test_examples_without_ids_are_skipped(vwlite, write):
    write("some.vw", CHOSEN + "1 |user 3:2 |item i1\n1 |item i1\n")
    options = ("--dotproduct", "user,item", "--rank", 2, "--als", "-f", "m")
    done = vwlite("train", "some.vw", *options)
    assert "2 examples without an id on both sides of --dotproduct were skipped" in done.stderr
    lines = done.stderr.splitlines()
    assert "passes used = 10" in lines and f"total feature number = {5 * 36 + 3 + 2}" in lines
    write("none.vw", "1 |user :2 |item i1\n")
    done = vwlite("train", "none.vw", *options, status=65)
    assert "no example has an id on both sides of --dotproduct: a feature without a number" in done.stderr


@pytest.mark.parametrize("pair", ["user,item", "u,i"])
@pytest.mark.parametrize("options", [("--ignore", "u"), ("--keep", "i")])
def test_namespaces_that_are_ignored_have_no_ids(vwlite, write, pair, options):
    write("chosen.vw", CHOSEN)
    done = vwlite("train", "chosen.vw", "--dotproduct", pair, "--rank", 2, "--als", *options, "-f", "m", status=65)
    assert "no example has an id on both sides of --dotproduct: a feature without a number" in done.stderr


def test_importance_is_as_good_as_repetition(vwlite, write):
    options = ("--dotproduct", "user,item", "--rank", 3, "--als", "--unobserved", 0.1, "--passes", 5, "--quiet")
    write("often.vw", CHOSEN + CHOSEN)
    write("heavy.vw", CHOSEN.replace("1 |", "1 2 |"))
    for name in ("often", "heavy"):
        vwlite("train", f"{name}.vw", "-f", name, *options)
    names = ("often", "heavy")
    one, two = ([float(line) for line in vwlite("predict", "-i", name, "heavy.vw").lines] for name in names)
    assert one == pytest.approx(two, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--als", "--als needs --dotproduct"),
        ("--dotproduct ui --unobserved 1", "--unobserved needs --als beside --dotproduct"),
        ("--dotproduct ui --als --loss_function logistic", "--als takes --loss_function squared, not logistic"),
        ("--dotproduct ui --dotproduct ug --als", "--als takes one --dotproduct"),
        ("--dotproduct ui --als --rank 0", "--als does not go with --rank 0"),
        ("--dotproduct ui --als --negatives 3", "--negatives does nothing with --als: drop one of the two"),
        ("--dotproduct ui --als -q ui", "-q does nothing with --als: drop one of the two"),
        ("--dotproduct ui --als -l 0.1", "-l does nothing with --als: drop one of the two"),
        ("--dotproduct ui --als --unobserved 0", "--unobserved takes a number above 0, not 0"),
        ("--dotproduct ui --als --resume", "--als does not go with --resume and --checkpoint-every"),
        ("--dotproduct ui --als --shard 1/2", "--als does not go with shards: its examples stay in memory together"),
    ],
)
def test_what_it_refuses(vwlite, write, options, message):
    write("chosen.vw", CHOSEN)
    assert message in vwlite("train", "chosen.vw", "-f", "m", *options.split(), status=2).stderr
