"""Ratings with many ids: the run tells what share of the features share a vector, and which -b would do."""

import re

import pytest

NOTE = re.compile(r"note: ([\d.]+)% of (at least )?(\d+) features share a slot, and so a vector, at -b (\d+): -b (\d+)")


def ratings(people):
    return "".join(f"{1 + n % 5} |u person{n % people} |i item{n * 7 % 50}\n" for n in range(people))


@pytest.mark.parametrize("learner", [(), ("--multiclass", 5), ("--oaa", 5), ("--filter_tree", 5)])
def test_the_share_and_the_bits_are_those_of_check(vwlite, write, learner):
    write("r", ratings(3000))
    stderr = vwlite(
        "train", "r", "--dotproduct", "ui", "--rank", 1, "-b", 12, "-f", "m", "--passes", 2, *learner
    ).stderr
    [(share, least, features, bits, enough)] = NOTE.findall(stderr)
    assert (least, features, bits) == ("", "3050", "12") and 50 < float(share) < 54
    assert "share a slot" not in vwlite("train", "r", "--dotproduct", "ui", "-b", enough, "-f", "m", *learner).stderr
    less = vwlite("train", "r", "--dotproduct", "ui", "-b", int(enough) - 1, "-f", "m", *learner).stderr
    assert float(NOTE.search(less)[1]) > 2
    stdout = vwlite("check", "r", "-b", 18).stdout
    at_18 = vwlite("train", "r", "--dotproduct", "ui", "-b", 18, "-f", "m", *learner).stderr
    share_at_18 = float(re.search(r"([\d.]+)% of them share", stdout)[1])
    assert ("share a slot" in at_18) == (share_at_18 > 2)


def test_with_more_features_than_slots_it_is_a_lower_bound(vwlite, write):
    write("r", ratings(40_000))
    stderr = vwlite("train", "r", "--dotproduct", "ui", "--rank", 1, "-b", 8, "-f", "m").stderr
    _, least, features, *_ = NOTE.search(stderr).groups()
    assert least and 256 <= int(features) < 40_000 and " or more would do" in stderr


def test_no_word_of_it_without_vectors_or_learning_or_as_vw(vwlite, write):
    write("r", ratings(3000))
    vwlite("train", "r", "--dotproduct", "ui", "--rank", 1, "-b", 12, "-f", "m", "--quiet")
    for words in (
        ("train", "r", "-b", 12),
        ("predict", "-i", "m", "r"),
        ("vw", "r", "-b", 12),
        ("train", "r", "--dotproduct", "ui", "-b", 12, "-f", "n", "--quiet"),
    ):
        assert "share a slot" not in vwlite(*words).stderr
