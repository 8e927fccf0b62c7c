"""What labels with vectors share with dyadic models: offsets, decays, ``--freeze``, confidences, ``--rank 0``."""

import json
import zipfile

import numpy as np
import pytest
from oracle.dyadic import merged
from oracle.dyadic_case import parse
from oracle.label_updates import close
from oracle.lfl import full_flow
from oracle.lfl_case import LflCase
from oracle.scoring_tree_case import ScoringCase

import vwlite
from vwlite.learners.row_results import Results

LINE = "|a x:0.5 y:-1.5 |b z:2 |c v"
KINDS = {
    "log": (LflCase, {"lfl_loss": "log"}),
    "mse": (LflCase, {"lfl_loss": "mse"}),
    **{loss: (ScoringCase, {"loss": loss}) for loss in ("hinge", "logistic", "squared")},
}


def made(kind, seed=0, labels=4, rank=3, **options):
    case, own = KINDS[kind]
    result = case(labels, rank=rank, learning_rate=0.2, **own, **options)
    result.fill(np.random.default_rng(seed), 0.4)
    return result


def state(case):
    return [case.learner.weights.copy(), *(table.copy() for sides in case.learner.latent for table in sides)]


@pytest.mark.parametrize("kind", KINDS)
def test_an_offset_is_a_part_of_vectors(kind):
    """A model whose vectors have it in them learns the same, and answers the same but for a constant."""
    one, other = (made(kind, dot_offset=offset, dot_l2=0.1) for offset in (0.5, 0.0))
    for side in range(2):
        other.vectors(0, side)[0][:] = one.vectors(0, side)[0] + 0.5
    line = "2 3 |a x |b z"
    for case in (one, other):
        case.run(line)
    np.testing.assert_allclose(one.scores(line) + 3 * 0.25, other.scores(line), rtol=1e-5, atol=1e-5)
    row = one.row(line)
    for side in range(2):
        slots = [*merged(row.pairs[0][side])]
        np.testing.assert_allclose(one.vectors(0, side)[0][slots] + 0.5, other.vectors(0, side)[0][slots], atol=2e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", [0.0, 0.7])
def test_decay_as_a_step_of_its_own_is_that_of_the_flow(kind, offset):
    """Decays by namespace that are as good as equal."""
    more = {"linear_l2": 0.02} if kind in ("log", "mse") else {}
    one = made(kind, dot_l2=0.05, dot_offset=offset, **more)
    other = made(kind, dot_l2="a=0.05,b=0.0500001", dot_offset=offset, **more)
    row, old = one.row(f"2 {LINE}"), one.parameters(one.row(f"2 {LINE}"))
    for case in (one, other):
        case.run(f"2 2 {LINE}")
    close(other.parameters(row), one.parameters(row), old, 2e-5, of_largest=1e-5)


@pytest.mark.parametrize("loss", ["log", "mse"])
@pytest.mark.parametrize("freeze", [(), ("latent",), ("linear",), ("a",), ("b", "Constant")], ids=str)
def test_agrees_with_the_full_flow_of_decays_by_namespace_and_of_what_is_free(loss, freeze):
    case = made(loss, freeze=freeze, dot_l2="a=0.3,b=0.05", linear_l2=0.1)
    row, twin = case.row(f"3 {LINE}"), case.twin()
    old, tables = case.parameters(row), state(case)
    slots = {name: {*merged(case.row(f"3 |{name} {words}").linear)} for name, words in (("a", "x y"), ("b", "z"))}
    constant = {*merged(case.row("3 |q").linear)}
    still = {name: slots[name] - constant for name in ("a", "b") if name in freeze}

    def free(pair, which):
        if pair is None:
            stands = "linear" in freeze or any(which in one for one in still.values())
            return not (stands or ("Constant" in freeze and which in constant))
        return not ("latent" in freeze or "ab"[which] in freeze)

    actual = full_flow(twin, row, 2, 1.5, 300, l2=lambda pair, side: (0.3, 0.05)[side], free=free)
    case.run(f"3 1.5 {LINE}")
    close(case.parameters(row), case.twin_parameters(actual, row), old, 3e-5, of_largest=3e-6)
    for side, name in enumerate("ab"):
        stands = "latent" in freeze or name in freeze
        assert np.array_equal(tables[1 + side], case.learner.latent[0][side]) == stands
    assert np.array_equal(tables[0], case.learner.weights) == ("linear" in freeze)


@pytest.mark.parametrize("kind", ["hinge", "logistic", "squared"])
def test_frozen_vectors_count_as_a_part_of_the_linear_sum(kind):
    """As where every label's dot product is the weight of a feature that is frozen itself."""
    one, other = made(kind, freeze=("latent",)), made(kind, freeze=("d",), pairs=())
    other.linear[:] = one.linear
    line = f"2 {LINE}"
    dots = one.scores(f"{LINE} |d new")[0] - made(kind, pairs=()).scores(f"{LINE} |d new")[0]
    slot = next(iter({*merged(other.row("2 |d new").linear)} - {*merged(other.row("2 |q").linear)}))
    for case in (one, other):
        case.linear[slot] = 0
    other.linear[slot] = dots
    before = state(one)
    for case in (one, other):
        case.run(f"2 2 {LINE} |d new" if case is other else f"2 2 {LINE}")
    touched = [*merged(one.row(line).linear)]
    close(one.linear[touched].ravel(), other.linear[touched].ravel(), before[0].ravel()[:1], 2e-5)
    assert all(np.array_equal(a, b) for a, b in zip(before[1:], state(one)[1:], strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_rare_features_decay_more_with_a_power(kind):
    shrunk = []
    for power in (0.0, 1.0):
        case = made(kind, dot_l2=0.5, dot_l2_power=power, dot_l2_of="sums")
        vectors, updates = case.vectors(0, 0)
        rare, often = (next(iter(merged(case.row(f"1 |a {word}").pairs[0][0]))) for word in ("x", "y"))
        updates[rare], updates[often] = 1, 1000
        vectors[rare] = vectors[often] = 1.0
        case.run("1 1 |a x:1e-3 y:1e-3 |b z")
        shrunk.append([1 - float(np.abs(vectors[slot]).min()) for slot in (rare, often)])
    assert shrunk[0][0] == pytest.approx(shrunk[0][1], rel=0.05)
    assert shrunk[1][0] == pytest.approx(shrunk[0][0] / 2, rel=0.1) and shrunk[1][1] < shrunk[1][0] / 50


def flips(case, text):
    batch, results = parse(text), Results()
    batch.label = case.learner.labels().check(batch)
    results.want_flip_importance()
    results.reserve(len(batch))
    case.learner.learning = False
    case.learner.run(batch, case.plan, results, 0, len(batch))
    case.learner.learning = True
    return results.flip_importance[: len(batch)].astype(float), case.learner.raw[: len(batch)].copy()


@pytest.mark.parametrize("kind", ["log", "hinge", "logistic", "squared"])
@pytest.mark.parametrize("seed", range(4))
def test_with_the_importance_told_the_second_best_overtakes(kind, seed):
    """A scoring tree of two classes has one contest."""
    labels = 4 if kind == "log" else 2
    told, scores = flips(made(kind, seed, labels, dot_l2=0.01), f"1 {LINE}")
    best, second = np.argsort(-scores[0])[:2]
    after = []
    for share in (0.98, 1.02):
        case = made(kind, seed, labels)
        case.run(f"{second + 1} {told[0] * share:.9g} {LINE}")
        after.append(case.scores(f"1 {LINE}")[0])
    assert after[0][best] > after[0][second] and after[1][second] > after[1][best]


def test_nothing_is_known_of_a_side_that_was_never_learned():
    case = LflCase(3, rank=2)
    case.run("1 |a x |b z")
    told, _ = flips(case, "1 |a x |b z\n1 |a new |b z")
    assert told[0] > 0 and told[1] == 0


@pytest.mark.parametrize("kind", ["hinge", "logistic"])
def test_rank_0_of_a_scoring_tree_pairs_by_position(kind):
    """As dot products of one feature a side, of rank 1."""
    one, other = made(kind, pairs=("ab",), rank=0), made(kind, pairs=("ab",), rank=1)
    one.run("2 |a x y |b z w")
    for features in ("|a x |b z", "|a y |b w"):
        assert np.isfinite(other.scores(features)).all()
    alone = [made(kind, pairs=("ab",), rank=0, noconstant=True).scores(text) for text in ("|a x |b z", "|a y |b w")]
    both = made(kind, pairs=("ab",), rank=0, noconstant=True).scores("|a x y |b z w")
    np.testing.assert_allclose(both, sum(alone), rtol=1e-5, atol=1e-6)
    before = state(one)
    one.run("2 |a x y |b z")
    assert one.learner.get("mismatched") == 1 and one.learner.warnings()
    assert all(np.array_equal(a, b) for a, b in zip(before, state(one), strict=True))


def text(count=600):
    draw = np.random.default_rng(2)
    pairs = draw.integers(0, 12, (count, 2)).tolist()
    return [f"{1 + (u * i) % 3} |user u{u} |item i{i}\n" for u, i in pairs]


MODELS = {"multiclass": {"multiclass": 3}, "scoring": {"filter_tree": 3, "scoring": True, "loss_function": "logistic"}}


@pytest.mark.parametrize("name", MODELS)
def test_fewer_labels_with_less_mellowness_and_any_cut_gives_the_same(name, tmp_path):
    lines = text()

    def model_of(lines, mellowness, **more):
        asked = {"active": True, "simulation": True, "mellowness": mellowness, "decay_learning_rate": 1, **more}
        model = vwlite.Model(dotproduct=["user,item"], rank=3, bits=10, **MODELS[name], **asked)
        model.learn(lines)
        return model

    whole, parts = model_of(lines, 1e-4), model_of(lines[:1], 1e-4)
    for begin, end in ((1, 30), (30, 600)):
        parts.learn(lines[begin:end])
    saved = []
    for model in (whole, parts):
        model.save(tmp_path / "m")
        with zipfile.ZipFile(tmp_path / "m") as archive:
            saved.append([archive.read(name) for name in archive.namelist() if name != "header.json"])
    again = vwlite.Model.load(tmp_path / "m")
    assert again.predict(lines[:20]).tolist() == whole.predict(lines[:20]).tolist()

    def queries(mellowness):
        model_of(lines, mellowness).save(tmp_path / "m")
        with zipfile.ZipFile(tmp_path / "m") as archive:
            return json.loads(archive.read("header.json"))["model"]["asked"]["queries"]

    asked = [*map(queries, (1.0, 1e-4, 1e-6))]
    assert asked[0] == 600 > asked[1] > asked[2] > 0 and saved[0] == saved[1]
