"""Models whose digests are right and whose contents are not: each is refused, or works, in little memory and time."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from fuzz import altered, doors
from fuzz.sealing import sealed_model, unsealed_model
from fuzz.seeds import make_seeds

FEW = 60


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def seed_of(learner, **options):
    """Change some options in ``config`` or ``features`` of the header of a learner's first model."""
    seed = next(seed for seed in make_seeds()["sealed_model"] if altered.learner_of(seed) == learner)
    size = int.from_bytes(seed[:4], "little")
    header = json.loads(seed[4 : 4 + size])
    for part in ("config", "features"):
        own = header["model"][part]
        own |= {name: value for name, value in options.items() if name in own}
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + seed[4 + size :]


def test_altered_headers_are_refused_or_work():
    draw, seeds, statuses = random.Random(1), make_seeds()["sealed_model"], set()
    for number in range(FEW):
        seed = seeds[number % len(seeds)]
        learner = altered.learner_of(seed)
        command = draw.choice(doors.commands_for(learner))
        statuses.add(altered.attempt(sealed_model(altered.change_header_or_learner(draw, seed)), command, learner))
    assert {0, 76} <= statuses <= {0, 1, 2, 65, 66, 70, 76}


def test_altered_checkpoints_are_refused_or_work():
    Path("long.vw").write_bytes(doors.TEXT * 20)
    draw, seed, statuses = random.Random(2), unsealed_model(altered.checkpoint()), set()
    assert altered.attempt(sealed_model(seed), doors.RESUMED, "gd") == 0
    for _ in range(FEW // 4):
        statuses.add(altered.attempt(sealed_model(altered.change_header_or_learner(draw, seed)), doors.RESUMED, "gd"))
    assert 76 in statuses <= {0, 2, 66, 70, 76}


def test_unaltered_models_work():
    altered.corpus()
    for seed in make_seeds()["sealed_model"]:
        learner = altered.learner_of(seed)
        assert altered.attempt(sealed_model(seed), doors.commands_for(learner)[0], learner) == 0


def test_damaged_models_are_refused_or_work_whatever_opens_them():
    """A few of the trials that ``python -m fuzz.altered`` makes."""
    statuses = set()
    for number in range(FEW // 5):
        data, commands, kind = altered.trial(random.Random(number), doors=2)
        statuses.update(altered.attempt(data, command, kind) for command in commands)
    assert 76 in statuses <= {0, 1, 2, 65, 66, 70, 71, 76}


SPOILED = (np.nan, np.inf, 3e38)


@pytest.mark.parametrize(
    "kind", ["gd", "many", "multiclass", "lfl", "factored", "scoring_tree", "l1", "pca", "cluster"]
)
@pytest.mark.parametrize("number", SPOILED)
def test_arrays_of_odd_numbers_end_nothing_with_a_traceback(kind, number):
    seed = next(seed for seed in make_seeds()["sealed_model"] if altered.learner_of(seed) == kind)
    header, arrays = altered.split_seed(seed)
    commands = {"pca": ["pca text -i model -f out --quiet"], "cluster": ["cluster text -i model -f out --quiet"]}
    for place, spec in enumerate(header["arrays"]):
        if spec["dtype"].startswith("<f"):
            spoiled = np.full(spec["shape"], number, spec["dtype"]).tobytes()
            data = sealed_model(altered.join_seed(header, [*arrays[:place], spoiled, *arrays[place + 1 :]]))
            for command in ("inspect model", "inspect model --json -", *commands.get(kind, [])):
                assert altered.attempt(data, command, kind) in (0, 2, 70, 76)


def changed(seed, path, value):
    """A seed with another value in its header, under the names in ``path``; None: without it."""
    header, arrays = altered.split_seed(seed)
    place = header
    *names, last = path.split(".")
    for name in names:
        place = place[name]
    place.pop(last) if value is None else place.update({last: value})
    return sealed_model(altered.join_seed(header, arrays))


WRONG = [
    ("model.kind", None), ("model.passes", None), ("model.config", 384), ("model.config.adaptive", None),
    ("model.counters", {}), ("model.counters.sum_loss", "inf"), ("model.scalars.norm_sum", None),
    ("model.scalars", {"rate": 1.0}), ("model.counters.weight", "w"), ("model.features.bits", 32),
    ("model.features.bits", 5), ("model.seen", "w"), ("model.learner", "dyadic"), ("model.resumable", "yes"),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_damaged_models_are_not_merged(path, value):
    kind, seed = next(entry for entry in altered.corpus()[::-1] if entry[0] == "gd")
    for command in ("merge model good -f out", "merge good --base model -f out", "merge model --base good -f out"):
        Path("good").write_bytes(sealed_model(seed))
        status = altered.attempt(changed(seed, path, value), command, kind)
        assert status in (2, 76) and not Path("out").exists()


OF_DELTAS = [
    ("delta.of", 2**40), ("delta.number", 0), ("delta.base", 5), ("delta.lines", "x"), ("delta.sums", ["a", []]),
    ("delta.shown", "x"), ("delta", []), ("delta.writer", None), ("model.kind", None), ("model.config", []),
    ("model.features.bits", 5), ("model.features.bits", 30), ("model.counters", {}), ("model.scalars", {}),
]


@pytest.mark.parametrize(("path", "value"), OF_DELTAS)
def test_damaged_deltas_are_not_merged(path, value):
    seed = next(seed for kind, seed in altered.corpus() if kind == "delta")
    for command in ("merge model other.delta --base base -f out", "merge model other.delta -f out"):
        assert altered.attempt(changed(seed, path, value), command, "delta") == 76


def test_a_delta_of_fewer_columns_than_its_base_is_refused():
    seed = next(seed for kind, seed in altered.corpus() if kind == "delta")
    header, arrays = altered.split_seed(seed)
    names = [spec["name"] for spec in header["arrays"]]
    del header["arrays"][names.index("column_2")], arrays[names.index("column_2")]
    data = sealed_model(altered.join_seed(header, arrays))
    assert altered.attempt(data, "merge model other.delta --base base -f out", "delta") == 76


BOMBS = [
    ("ect", {"ect": 2**23}),
    ("ect", {"error": 1023}),
    ("log_multi", {"log_multi": 2**24 - 1}),
    ("many", {"oaa": 2**24 - 1, "bits": 32}),
    ("filter_tree", {"filter_tree": 4096, "bits": 32}),
    ("multiclass", {"multiclass": 2**24 - 1, "bits": 32}),
    ("dyadic", {"rank": 4096, "bits": 32}),
    ("outputs", {"outputs": 2**16, "bits": 32}),
    ("bfgs_outputs", {"outputs": 2**16, "bits": 32}),
    ("factored", {"outputs": 2**16, "trace": 1.0, "bits": 32}),
    ("factored_classes", {"multiclass": 2**24 - 1, "bits": 32}),
    ("bfgs_multiclass", {"multiclass": 2**24 - 1, "bits": 32}),
    ("lfl", {"multiclass": 2**16, "rank": 1, "bits": 32}),
    ("scoring_tree", {"filter_tree": 4096, "rank": 16, "bits": 32}),
    ("gd", {"bits": 32}),
    ("lrq", {"bits": 32}),
    ("vw_rank", {"vw_rank": 1000, "bits": 32}),
    ("nn", {"bits": 32}),
    ("nn", {"nn": "8000,8000"}),
    ("vw_nn", {"vw_nn": 9999}),
    ("nn_classes", {"multiclass": 2**20, "bits": 32}),
]


@pytest.mark.parametrize(("learner", "options"), BOMBS, ids=lambda value: str(value))
def test_more_than_the_file_justifies_is_refused(learner, options):
    for command in ("predict -i model text --quiet", "inspect model", "train text -i model -f out --quiet"):
        assert altered.attempt(sealed_model(seed_of(learner, **options)), command, learner) == 76


@pytest.mark.parametrize("options", [{"ngram": ["64"], "skips": ["64"]}, {"interactions": [":" * 22]}])
def test_more_terms_than_a_row_may_have_end_it(options, monkeypatch):
    monkeypatch.setattr(doors, "TEXT", b"1 |a " + b" ".join(b"w%d" % n for n in range(200)) + b"\n")
    assert altered.attempt(sealed_model(seed_of("gd", **options)), "predict -i model text --quiet", "gd") == 65


WIDE = 1 << 40  # bytes of address space: a table takes memory only where something is written
OPTIONS = {
    "plain": "-b 30",
    "narrow": "-b 30 --predict_only_model",
    "shrunk": "-b 30 --l2 0.1 --l1 1e-3 --sgd",
    "dyadic": "-b 26 --dotproduct ab --rank 12",
}
ON_LARGE = [
    "inspect plain", "inspect plain --json - --readable_model out", "inspect narrow", "inspect dyadic --factors a",
    "predict -i plain text --quiet", "predict -i narrow text --quiet", "predict -i shrunk text --quiet",
    "evaluate -i plain text", "train text -i plain -f out --quiet", "vw -d text -i shrunk -t -p out --quiet",
]


@pytest.mark.parametrize("command", ON_LARGE)
def test_a_large_table_takes_what_is_set_in_it(command):
    Path("text").write_bytes(doors.TEXT)
    name = next(name for name in OPTIONS if name in command.split())
    assert doors.run(f"train text -f {name} {OPTIONS[name]} --quiet", WIDE)[:2] == (0, "")
    assert doors.run(command, WIDE).status == 0
