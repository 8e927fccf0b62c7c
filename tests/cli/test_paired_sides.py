"""``--rank 0`` pairs features by position: lines whose sides differ in length are malformed."""

import json

import pytest

GOOD = "3 'g |u a b |i x y\n"
BAD = "1 'short |u a b |i x\n"
PLACE = "--dotproduct ui has sides of 2 and 1 features, --rank 0 needs as many: 1 'short |u a b |i x"
RANK = ("--dotproduct", "ui", "--rank", 0)


def learn(vwlite, model, text, *more, status=0):
    return vwlite("train", text, *RANK, "-f", model, *more, status=status).stderr


def test_lines_of_other_lengths_are_told_with_their_place_and_left_out(vwlite, write, tmp_path):
    write("t", GOOD * 150 + BAD + GOOD * 150)
    write("good", GOOD * 300)
    done = learn(vwlite, "m", "t")
    assert f"bad line t:151:1: {PLACE}\n" in done and "1 of 301 lines were malformed and left out" in done
    learn(vwlite, "good.m", "good")
    raw = [vwlite("predict", "-i", model, "good", "--raw").stdout for model in ("m", "good.m")]
    assert raw[0] == raw[1]


@pytest.mark.parametrize("more", [("--passes", 3, "-k", "-c"), ("--multiclass", 3), ("--oaa", 3), ("--block-size", 64)])
def test_lines_of_other_lengths_count_against_the_ratio(vwlite, write, tmp_path, more):
    write("t", (GOOD + BAD) * 5)
    done = learn(vwlite, "m", "t", *more, status=65)
    assert "5 of 10 lines are malformed, more than --max-bad-ratio 0.01 allows" in done
    assert not (tmp_path / "m").exists()
    assert f"t:2:1: {PLACE} (--strict)" in learn(vwlite, "m", "t", "--strict", *more, status=65)


def test_predictions_stay_beside_their_lines(vwlite, write):
    write("t", GOOD * 9)
    write("mixed", f"{GOOD}oops |\n{BAD}{GOOD}\n{BAD}")
    learn(vwlite, "m", "t", "--quiet")
    done = vwlite("predict", "-i", "m", "mixed", "--max-bad-ratio", "0.6")
    lines = done.stdout.splitlines()
    assert lines == [lines[0], "nan", "nan", lines[0], "nan"] and lines[0].endswith(" g")
    assert done.stderr.count(PLACE) == 2
    completed = vwlite("evaluate", "-i", "m", "mixed", "--max-bad-ratio", "0.6", "--json", "-")
    assert json.loads(completed.stdout)["result"]["examples"] == 2


def test_vectors_need_no_sides_of_one_length(vwlite, write):
    write("t", (GOOD + BAD) * 5)
    assert "malformed" not in vwlite("train", "t", "--dotproduct", "ui", "--rank", 2, "-f", "m").stderr
