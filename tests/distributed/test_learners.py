"""Every learner of the battery is learned in shards with the laws that these have, or refused with a reason."""

import pytest
from battery.case import Case
from battery.estimators import ESTIMATORS

import vwlite
from vwlite.distributed.plan import AVERAGED, why_not
from vwlite.learners import CLASSES
from vwlite.storage.model_file import read_header

DELTAS = ("1.delta", "2.delta", "3.delta")
COUNTED = {"counters": ("example_number", "labeled_weight"), "scalars": ("time", "highest_cost")}
LEARNERS = {
    one.name: one.online if one.is_online else one for one in ESTIMATORS.values() if one.command == "train"
}


@pytest.fixture
def learn(request, tmp_path):
    """A case, and the words that learn it into a file."""
    one = LEARNERS[request.param]
    return Case(one, tmp_path), ("train", one.data, *one.options, "--quiet", "-f")


@pytest.mark.parametrize("learn", LEARNERS, indirect=True)
def test_one_shard_is_one_pass_and_several_are_counted_once(learn):
    case, words = learn
    done = case.run(*words, "1.delta", "--shard", "1/1", status=None)
    if case.one.config:
        assert (why_not(case.one.kind) in done.stderr) == (case.one.kind not in AVERAGED)
    if done.status:
        assert done.status == 2 and "shard" in done.stderr and not case.left()
        return
    case.run(*words, "whole")
    case.run("merge", "1.delta", "-f", "one")
    assert case.made("one") == case.made("whole")
    for number, name in enumerate(DELTAS, 1):
        done = case.run(*words, name, "--shard", f"{number}/3", status=None)
        if done.status:
            assert done.status == 2 and "several shards" in done.stderr
            return
    case.run("merge", *DELTAS, "-f", "three")
    case.run("merge", *reversed(DELTAS), "-f", "again")
    with case.here():
        rounds = vwlite.train(case.one.data, " ".join(case.one.options), shards=3, rounds=1).dumps()
        whole, three = map(read_header, ("whole", "three"))
    assert rounds == case.made("three") == case.made("again")
    for counts, names in COUNTED.items():
        for name in whole[counts].keys() & {*names}:
            assert three[counts][name] == whole[counts][name]
    assert case.run("predict", "-i", "three", case.one.data, "--quiet").stdout


def test_every_learner_that_is_averaged_is_in_the_battery():
    assert {*AVERAGED} <= {one.kind for one in LEARNERS.values()} and {*AVERAGED} <= {*CLASSES}
