"""mask:NS+NS, more:N, pivot:N, range:K, --where and --problems against plain Python on random rows."""

import numpy as np
import pytest

from tests.oracle.aux_problems import above, combined, holds, information, of_two, ranges
from tests.solvers.aso.test_theta import corpus
from vwlite.errors import DataError, UsageError
from vwlite.solvers.aso.auxiliary import behaviour, read_aux
from vwlite.solvers.aso.config import LearnConfig
from vwlite.solvers.aso.problem_list import as_text, holding, read_condition, read_list
from vwlite.solvers.aso.train import learn, prepare_problems

SPACES = {"l": "abcd", "m": "abcde", "r": "vwxyz"}


def random_rows(count, seed):
    rng = np.random.default_rng(seed)
    return [
        {
            (space, str(name)): int(rng.integers(1, 4))
            for space, names in SPACES.items()
            for name in rng.choice(list(names), rng.integers(3), replace=False)
        }
        for _ in range(count)
    ]


def line(row, label=""):
    parts = [f"|{space} " + " ".join(f"{f[1]}:{v}" for f, v in row.items() if f[0] == space) for space in SPACES]
    return f"{label} {' '.join(parts)}".strip()


def made(tmp_path, rows, aux, labelled=None, **more):
    config = LearnConfig((read_aux(aux),), least=1, **more)
    return prepare_problems(config, corpus(tmp_path, map(line, rows)), labelled)


def positives(one):
    owner, problem = one.made.positive.owner, one.made.positive.indices
    return {name: set(owner[problem == place].tolist()) for place, name in enumerate(one.made.names)}


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_two_namespaces(tmp_path, seed):
    rows = random_rows(50, seed)
    words, _, (one,) = made(tmp_path, rows, "mask:l+m")
    assert positives(one) == combined(rows, "l", "m") and {kind for kind in one.kinds} == {"mask:l+m"}
    assert {words.spaces[place] for place in words.space[one.seen]} == {"r"}


@pytest.mark.parametrize(("text", "least"), [("0", 0), ("1", 1), ("1.5", 1.5)])
def test_values_above_a_number(tmp_path, text, least):
    rows = random_rows(50, 7)
    words, _, (one,) = made(tmp_path, rows, f"more:{text}:m")
    assert positives(one) == above(rows, "m", least)
    assert {words.spaces[place] for place in words.space[one.seen]} == {"l", "r"}
    if not least:
        assert positives(made(tmp_path, rows, "mask:m")[2][0]) == positives(one)


def test_values_above_a_number_of_random_halves(tmp_path):
    rows = random_rows(50, 8)
    words, _, (one, other) = made(tmp_path, rows, "more:1")
    assert (one.seen ^ other.seen).all() and one.kinds[0] == "more:1/1" and other.kinds[0] == "more:1/2"
    hidden = [(words.spaces[words.space[at]], words.names[at]) for at in np.flatnonzero(~one.seen)]
    expected = [{n for n, row in enumerate(rows) if row.get(feature, 0) > 1} for feature in hidden]
    actual = [set(one.made.positive.owner[one.made.positive.indices == p].tolist()) for p in range(len(one.kinds))]
    assert sorted(map(sorted, actual)) == sorted(sorted(rows) for rows in expected if len(rows) >= 2)


@pytest.mark.parametrize(("k", "seed"), [(2, 1), (3, 2), (7, 3)])
def test_ranges_of_scores(k, seed):
    scores = np.random.default_rng(seed).normal(size=(50, 3))
    actual = behaviour(read_aux(f"range:{k}"), scores, ["a", "b", "c"], 99)
    owner, problem = actual.positive.owner, actual.positive.indices
    got = {name: set(owner[problem == place].tolist()) for place, name in enumerate(actual.names)}
    assert got == ranges(scores.tolist(), ["a", "b", "c"], k)


@pytest.mark.parametrize(("spaces", "seed"), [("", 1), (":m", 2), (":l,r", 3)])
def test_pivots_say_most_of_the_labels(tmp_path, spaces, seed):
    rows, known = random_rows(50, seed), random_rows(50, seed + 9)
    rng = np.random.default_rng(seed)
    labels = ["yes" if ("m", "a") in row or rng.random() < 0.2 else "no" for row in known]
    texts = [line(row, label) for row, label in zip(known, labels, strict=True)]
    words, _, (one,) = made(tmp_path, rows, f"pivot:3{spaces}", corpus(tmp_path, texts, "known.vw"))
    hidden = {(words.spaces[words.space[at]], words.names[at]) for at in np.flatnonzero(~one.seen)}
    among = spaces[1:].split(",") if spaces else list(SPACES)
    features = {(space, name) for space in among for name in SPACES[space]}
    ranked = sorted((information(known, labels, feature) for feature in features), reverse=True)
    assert len(hidden) == 3 and hidden <= features
    assert sorted((information(known, labels, f) for f in hidden), reverse=True) == pytest.approx(ranked[:3])
    presence = [{n for n, row in enumerate(rows) if f in row} for f in hidden]
    actual = [set(one.made.positive.owner[one.made.positive.indices == p].tolist()) for p in range(len(one.kinds))]
    assert sorted(map(sorted, actual)) == sorted(map(sorted, of_two(dict(enumerate(presence))).values()))


@pytest.mark.parametrize("typed", [["m=a|b"], ["m!=[ab]"], ["m=a", "r!=v"], ["l=.*"]])
def test_where_is_learning_from_those_lines(tmp_path, typed):
    rows = random_rows(50, 4)
    where = tuple(map(read_condition, typed))
    own = [row for row in rows if all(holds(row, c.space, c.pattern.pattern, c.wanted) for c in where)]
    assert 0 < len(own) < len(rows)
    thetas = []
    for part, conditions in ((rows, where), (own, ())):
        config = LearnConfig((read_aux("mask:r"),), dim=2, where=conditions)
        thetas.append(learn(config, corpus(tmp_path, map(line, part)), None).theta)
    assert thetas[0].matrix.tobytes() == thetas[1].matrix.tobytes() and thetas[0].words.names == thetas[1].words.names


@pytest.mark.parametrize(
    ("typed", "error", "said"),
    [
        ("m", UsageError, "NS=REGEX"),
        ("m=", UsageError, "NS=REGEX"),
        ("m=(", UsageError, "--where 'm=\\('"),
        ("m=a{99999999999}", UsageError, "--where 'm=a.99999999999.'"),
        ("m=[[z]", DataError, "no feature of namespace 'm' has such a name"),
        ("q=a", DataError, "nothing is in namespace 'q' .there are l, m, r"),
        ("m=zzz", DataError, "no feature of namespace 'm' has such a name"),
        ("m!=.*", DataError, "no example is like that"),
    ],
)
def test_conditions_that_cannot_be(tmp_path, typed, error, said):
    rows = [{("l", "a"): 1, ("m", "b"): 1, ("r", "v"): 1}] * 3
    with pytest.raises(error, match=said):
        holding(corpus(tmp_path, map(line, rows)), [read_condition(typed)])


@pytest.mark.parametrize("text", ["mask:a+b+c", "mask:a+", "mask:a+a", "mask:a+b,c", "more", "more:x", "more:-1",
                                  "more:nan", "range:1", "pivot", "pivot:0", "range"])  # fmt: skip
def test_kinds_that_cannot_be(text):
    with pytest.raises(UsageError, match="--aux"):
        read_aux(text)


def test_more_pivots_than_features(tmp_path):
    known = corpus(tmp_path, ["yes |m a", "no |m b", "no |m c"], "known.vw")
    with pytest.raises(UsageError, match="namespace m has 3 features that 1 examples of both texts hold"):
        made(tmp_path, random_rows(50, 1), "pivot:4:m", known)
    with pytest.raises(UsageError, match="needs --labeled"):
        made(tmp_path, random_rows(50, 1), "pivot:4:m")


def test_a_list_is_taken_back(tmp_path):
    rows, path = random_rows(50, 5), tmp_path / "list"
    _, _, (one, other) = made(tmp_path, rows, "freq-k:2")
    listed = [*one.listed(), *other.listed()]
    assert [row.positives for row in one.listed()] == [len(own) for own in positives(one).values()]
    lines = as_text(listed).splitlines()
    path.write_text("\ufeff" + "\n".join([lines[0], "-" + lines[1], *lines[2:-1]]))
    _, _, again = made(tmp_path, rows, "freq-k:2", chosen=read_list(str(path)))
    assert [row for part in again for row in part.listed()] == listed[1:-1]
    expected = {name: own for name, own in positives(one).items() if name != listed[0].name}
    assert positives(again[0]) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("freq-k:2/1\ta\n", "4 fields"),
        ("-x\ty\t1\t1\n", "leaves no problem"),
        ("mask:m\tq\t3\t4\n", "no problem mask:m q"),
    ],
)
def test_lists_that_cannot_be(tmp_path, text, said):
    path = tmp_path / "list"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        made(tmp_path, random_rows(50, 5), "mask:m", chosen=read_list(str(path)))
