"""``vwlite train --shard`` and ``vwlite merge``: the bytes of ``vwlite train``, and what is refused."""

import gzip
import json
import shutil

import numpy as np
import pytest

from vwlite import Model
from vwlite.distributed import delta as deltas
from vwlite.errors import ModelError
from vwlite.storage.model_file import load


def text(count=400, seed=1):
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        a, b = random.integers(0, 30, 2)
        lines.append(f"{1 if a + random.normal(0, 9) > b else -1} |a x{a} z{random.integers(0, 5)}:0.5 |b y{b}\n")
    return "".join(lines)


@pytest.fixture
def shards(run_here, tmp_path):
    """Learns ``of`` shards of files and merges them into ``model``."""

    def learn(files, of, model, *options, base=None, numbers=None):
        going_on = ["-i", base] if base else []
        for number in range(1, of + 1):
            outputs = ["-f", f"{number}.delta", "--quiet"]
            run_here("train", *files, "--shard", f"{number}/{of}", *going_on, *outputs, *options)
        paths = [f"{number}.delta" for number in numbers or range(1, of + 1)]
        run_here("merge", *(["--base", base] if base else []), *paths, "-f", model)
        return (tmp_path / model).read_bytes()

    (tmp_path / "t.vw").write_text(text())
    return learn


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--loss_function", "logistic", "--l2", "1e-4", "--power_t", "0.4"],
        ["--loss_function", "hinge"],
        ["--sgd"],
        ["--sgd", "--normalized"],
        ["--adaptive"],
        ["-q", "ab", "--decay_learning_rate", "0.9"],
        ["--l1", "1e-4"],
    ],
    ids=" ".join,
)
def test_one_shard_is_what_train_learns(shards, run_here, tmp_path, options):
    run_here("train", "t.vw", "-f", "whole", "--quiet", *options)
    whole = (tmp_path / "whole").read_bytes()
    assert shards(["t.vw"], 1, "m", *options) == whole
    run_here("train", "t.vw", "-i", "whole", "-f", "twice", "--quiet")
    assert shards(["t.vw"], 1, "m", base="whole") == (tmp_path / "twice").read_bytes()


def test_the_order_of_labels_is_kept_by_a_shard_and_counted_over_shards(shards, run_here, tmp_path):
    lines = [f"{','.join(sorted({str(n % 3), str(n * n % 4)}))} |w a{n % 5} b{n % 7}" for n in range(50)]
    (tmp_path / "sets").write_text("\n".join(lines) + "\n")
    options = ["--multilabel_oaa", "4", "--set-loss", "jaccard", "--label-order", "rare"]
    run_here("train", "sets", "-f", "whole", "--quiet", *options)
    assert shards(["sets"], 1, "one", *options) == (tmp_path / "whole").read_bytes()
    shards(["sets"], 2, "two", *options)
    whole, two = (load(str(tmp_path / name)).header["label_order"] for name in ("whole", "two"))
    assert (two["rows"], two["counts"]) == (whole["rows"], whole["counts"]) == (50, two["counts"])


def test_the_order_of_the_deltas_is_of_no_effect(shards):
    options = ["--loss_function", "logistic", "-q", "ab"]
    assert shards(["t.vw"], 3, "m", *options) == shards(["t.vw"], 3, "n", *options, numbers=[3, 1, 2])


def test_everything_is_counted_once(shards, header, run_here):
    shards(["t.vw"], 4, "m")
    counters = header("m")["counters"]
    stdout = run_here("merge", *(f"{number}.delta" for number in (1, 2, 3, 4)), "-f", "again", "--json", "-").stdout
    assert json.loads(stdout)["examples"] == 400 and json.loads(stdout)["passes"] == 1
    assert counters["example_number"] == 400 and counters["labeled_weight"] == 400
    assert (counters["first_label"], counters["second_label"]) in ((1, -1), (-1, 1))
    shards(["t.vw"], 4, "n", base="m")
    assert header("n")["counters"]["example_number"] == 800 and header("n")["passes"] == 2
    assert header("n")["scalars"]["time"] == 800


@pytest.mark.parametrize("options", [["--oaa", "4"], ["--csoaa", "4"], ["--oaa", "4", "--loss_function", "logistic"]])
def test_classes_are_merged_as_numbers_are(shards, run_here, tmp_path, header, options):
    costs = options[0] == "--csoaa"
    lines = [f"{1 + n % 4}{':0.0' if costs else ''} |f a{n % 4} b{n % 7}\n" for n in range(300)]
    (tmp_path / "c.vw").write_text("".join(lines))
    run_here("train", "c.vw", "-f", "whole", "--quiet", *options)
    assert shards(["c.vw"], 1, "m", *options) == (tmp_path / "whole").read_bytes()
    shards(["c.vw"], 3, "m", *options)
    assert len(header("m")["norms"]) == 4 and header("m")["scalars"]["first"] == header("whole")["scalars"]["first"]
    told = run_here("evaluate", "-i", "m", "c.vw", "--json", "-").stdout if not costs else '"accuracy": 1.0'
    assert '"accuracy": 1.0' in told


@pytest.mark.parametrize("options", ["--cb 3", "--cb_explore 3 --cb_type dr", "--cb 3 --cost_offset 1 --cb_type ips"])
def test_costs_and_decisions_are_counted_over_shards(options, shards, header, run_here, tmp_path):
    lines = [f"{1 + n % 3}:{n * 7 % 5 / 2}:0.25 |f a{n % 3}\n" for n in range(90)]
    (tmp_path / "d.vw").write_text("".join(lines))
    run_here("train", "d.vw", "-f", "whole", "--quiet", *options.split())
    shards(["d.vw"], 3, "m", *options.split())
    shards(["d.vw"], 3, "two", base="m")
    whole, once, twice = (header(name)["scalars"] for name in ("whole", "m", "two"))
    assert once["events"] == whole["events"] == 90 and once["actions"] == whole["actions"] == 270
    assert once["highest_cost"] == whole["highest_cost"] == 2
    assert twice["events"] == 180 and twice["regressor_norm_weight"] >= once["regressor_norm_weight"]
    assert once.get("learned", 90) == 90 and once["multiplier"] > 0


def test_groups_of_lines_stay_whole(shards, header, run_here, tmp_path):
    groups = [f"shared |u u{n % 3}\n1:{n % 2} |i a{n}\n2:{1 - n % 2} |i b{n}\n" for n in range(40)]
    options = ["--csoaa_ldf", "m", "-q", "ui"]
    for name, blank in (("a", "\n"), ("b", "\r\n")):
        (tmp_path / f"{name}.vw").write_text(blank.join(groups), newline="")
        run_here("train", f"{name}.vw", "-f", "whole", "--quiet", *options)
        shards([f"{name}.vw"], 7, f"{name}.m", *options)
        for count in ("example_number", "labeled_weight"):
            assert header(f"{name}.m")["counters"][count] == header("whole")["counters"][count] > 0


def test_decisions_as_json_are_cut_at_lines(shards, header, tmp_path):
    actions = {"_multi": [{"i": "a"}, {"i": "b"}]}
    label = ({"_label_cost": n % 2, "_label_probability": 0.5, "_labelIndex": n % 2} for n in range(30))
    (tmp_path / "d.dsjson").write_text("".join(json.dumps({**one, "c": actions}) + "\n" for one in label))
    shards(["d.dsjson"], 3, "m", "--cb_adf", "--format", "dsjson")
    assert header("m")["scalars"]["events"] == 30
    sizes = {len(deltas.load(tmp_path / f"{number}.delta").slots) for number in (1, 2, 3)}
    assert 0 not in sizes


def test_compressed_files_go_whole_to_a_shard(shards, header, tmp_path):
    halves = text(200, 1), text(200, 2)
    for name, half in zip("ab", halves, strict=True):
        (tmp_path / f"{name}.vw").write_text(half)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(half.encode()))
    assert shards(["a.vw", "b.vw"], 2, "m") == shards(["a.gz", "b.gz"], 2, "n")
    shards(["a.gz", "b.vw"], 5, "o")
    assert header("o")["counters"]["example_number"] == 400


def test_half_a_compressed_file_is_said(run_here, tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(text().encode())[:-40])
    done = run_here("train", "a.gz", "--shard", "1/2", "-f", "d", status=None)
    done2 = run_here("train", "a.gz", "--shard", "2/2", "-f", "d", status=None)
    assert sorted([done.returncode, done2.returncode]) == [0, 74]
    assert "a.gz: the gzip data ends too early" in done.stderr + done2.stderr


REFUSED = {
    "--lrq ab2": "--lrq does not go with shards: latent vectors",
    "--dotproduct ab": "--dotproduct does not go with shards: latent vectors",
    "--log_multi 3": "--log_multi does not go with shards: trees",
    "--ftrl": "--ftrl does not go with several shards",
    "--l1 1e-3": "--l1 does not go with several shards",
    "--csoaa_ldf m --ftrl": "--ftrl does not go with several shards",
    "--coin": "--coin does not go with shards",
    "--cb 3 --coin": "--cb does not go with shards",
    "--cb 3 --cost_offset max": "--cost_offset max does not go with several shards: the highest cost that a shard",
    "--cb_explore_adf --cover 2": "--cover does not go with several shards: its policies learn what those before",
    "--cbify 3": "--cbify does not go with shards: what it plays depends on all that came before",
    "--multiclass 3 --average": "--average does not go with several shards: a mean of the rounds' models is one",
    "--multiclass 3 --group_l1 1e-3": "--group_l1 does not go with several shards: averages of sparse weights",
    "--passes 2": "--passes does not go with shards",
    "-c": "--cache does not go with shards",
    "--names": "--names does not go with shards",
    "--resume": "--resume does not go with --shard",
}


@pytest.mark.parametrize("options", REFUSED)
def test_learners_that_do_not_average_are_refused(run_here, tmp_path, options):
    (tmp_path / "t.vw").write_text(text(20))
    done = run_here("train", "t.vw", "--shard", "1/2", "-f", "d", *options.split(), status=2)
    assert REFUSED[options] in done.stderr


def test_shards_are_named_as_they_are_typed(run_here, tmp_path):
    (tmp_path / "t.vw").write_text(text(20))
    for typed in ("0/2", "3/2", "2", "a/b", "1/0"):
        assert "as 3/16" in run_here("train", "t.vw", "--shard", typed, "-f", "d", status=2).stderr
    assert "which <stdin> is not" in run_here("train", "--shard", "1/2", "-f", "d", stdin=text(3), status=2).stderr
    assert "without -f" in run_here("train", "t.vw", "--shard", "1/2", status=2).stderr


def test_deltas_that_do_not_fit_are_refused(shards, run_here, tmp_path):
    shards(["t.vw"], 3, "m")
    shutil.copy(tmp_path / "2.delta", tmp_path / "again")

    def refused(*arguments, status=76):
        return run_here("merge", *arguments, "-f", "x", status=status).stderr

    assert "shard 2 of 3 is missing" in refused("1.delta", "3.delta")
    assert "shards 1 and 3 of 3 are missing" in refused("2.delta")
    assert "shard 2 of 3 is given twice" in refused("1.delta", "2.delta", "3.delta", "again")
    assert "was learned from another base" in refused("--base", "m", "1.delta", "2.delta", "3.delta")
    assert "m is none" in refused("1.delta", "m", status=2)
    assert "nothing to merge" in refused(status=2)
    assert "m is merged already" not in refused("m", status=2)
    run_here("train", "t.vw", "--shard", "1/2", "-f", "other", "--quiet")
    assert "is one of" in refused("other", "2.delta", "3.delta")
    damaged = bytearray((tmp_path / "1.delta").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "1.delta").write_bytes(damaged)
    assert "1.delta is damaged" in refused("1.delta", "2.delta", "3.delta")


def test_a_delta_of_another_version_is_refused_by_name(shards, monkeypatch, run_here, tmp_path):
    shards(["t.vw"], 2, "m")
    actual = deltas.load(tmp_path / "1.delta")
    deltas.save(tmp_path / "1.delta", actual._replace(task=actual.task._replace(writer="0.0.1")))
    assert "shard 1 was made by vwlite 0.0.1" in run_here("merge", "1.delta", "2.delta", "-f", "x", status=76).stderr


def test_a_delta_takes_the_place_of_no_model(run_here, tmp_path):
    (tmp_path / "t.vw").write_text(text(20))
    run_here("train", "t.vw", "-f", "base", "--quiet")
    (tmp_path / "link").symlink_to("base")
    before = (tmp_path / "base").read_bytes()
    for number, name in enumerate(("base", "./base", "link"), 1):
        typed = ("train", "t.vw", "--shard", f"{number}/3", "-i", "base", "--quiet")
        stderr = run_here(*typed, "-f", name, status=2).stderr
        assert stderr == f"vwlite: {name} is the model of -i and would be overwritten: give the output another name\n"
        assert (tmp_path / "base").read_bytes() == before
        run_here(*typed, "-f", f"{number}.delta")
    delta = (tmp_path / "1.delta").read_bytes()
    deltas = [f"{number}.delta" for number in (1, 2, 3)]
    stderr = run_here("merge", "--base", "base", *deltas, "-f", "1.delta", status=2).stderr
    assert stderr == "vwlite: 1.delta is the delta and would be overwritten: give the output another name\n"
    assert (tmp_path / "1.delta").read_bytes() == delta
    run_here("merge", "--base", "base", *deltas, "-f", "base")
    assert (tmp_path / "base").read_bytes() != before


NO_MODEL = (
    "predict -i d t.vw", "evaluate -i d t.vw", "evaluate -i m t.vw --against d", "explain -i d t.vw", "inspect d",
    "recommend -i d --of b t.vw", "serve -i d --port 0", "train t.vw -i d -f x", "train t.vw --theta d -f x",
    "train t.vw -f x --passes 2 --curriculum easy --curriculum-by loss:d", "train t.vw --shard 1/2 -i d -f x",
    "train t.vw --workers 1 -i d -f x", "crr t.vw -i d -f x", "l1 t.vw -i d -f x", "pca t.vw -i d -f x",
    "cluster t.vw -i d -f x", "project -i d t.vw", "lm rank -i d t.vw", "aso inspect d", "aso apply t.vw --theta d",
    "aso train t.vw -i d -f x", "merge m m --base d -f x",
)  # fmt: skip


@pytest.mark.parametrize("typed", NO_MODEL)
def test_whatever_opens_a_model_knows_a_delta(typed, run_here, tmp_path):
    (tmp_path / "t.vw").write_text(text(20))
    run_here("train", "t.vw", "-f", "m", "--quiet")
    run_here("train", "t.vw", "--shard", "1/2", "-i", "m", "-f", "d", "--quiet")
    messages = run_here(*typed.split(), status=76).stderr.splitlines()[-1]
    advice = "'vwlite merge' makes a model of all deltas of a round"
    assert messages == f"vwlite: d is a delta, what one shard has changed of its base, and no model: {advice}"


def test_python_knows_a_delta(run_here, tmp_path):
    (tmp_path / "t.vw").write_text(text(20))
    run_here("train", "t.vw", "--shard", "1/2", "-f", "d", "--quiet")
    with pytest.raises(ModelError, match="d is a delta, what one shard has changed of its base"):
        Model.load(tmp_path / "d")
    with pytest.raises(ModelError, match="is a delta, what one shard has changed of its base"):
        Model.loads((tmp_path / "d").read_bytes())


def test_too_many_malformed_lines_are_judged_by_the_merge(run_here, tmp_path):
    (tmp_path / "t.vw").write_text(text(30) + "odd\n" + text(30))
    for number in (1, 2):
        done = run_here("train", "t.vw", "--shard", f"{number}/2", "-f", f"{number}.delta")
        assert ("bad line t.vw:31:1: " in done.stderr) == (number == 1)
    stderr = run_here("merge", "1.delta", "2.delta", "-f", "m", status=65).stderr
    assert "1 of 61 lines are malformed" in stderr and "the first: bad line t.vw:31:1" in stderr
    run_here("merge", "1.delta", "2.delta", "--final_regressor", "m", "--max-bad-ratio", "0.5")


def test_no_label_at_all_is_no_model(run_here, tmp_path):
    (tmp_path / "t.vw").write_text("|a x\n" * 9)
    for number in (1, 2):
        run_here("train", "t.vw", "--shard", f"{number}/2", "-f", f"{number}.delta", "--quiet")
    assert "no labelled example" in run_here("merge", "1.delta", "2.delta", "-f", "m", status=65).stderr


def test_models_made_apart_are_averaged_by_their_examples(run_here, tmp_path, weights, header):
    (tmp_path / "a.vw").write_text("1 |f both a\n" * 30)
    (tmp_path / "b.vw").write_text("-1 |f both b\n" * 10)
    for name in "ab":
        run_here("train", f"{name}.vw", "-f", name, "--quiet")
    run_here("merge", "a", "b", "-f", "m")
    a, b, m = map(weights, "abm")
    for slot, weight in m.items():
        known = [(count, model[slot]) for count, model in ((30, a), (10, b)) if slot in model]
        assert weight == pytest.approx(sum(n * w for n, w in known) / sum(n for n, _ in known), rel=1e-6)
    assert {*m} == {*a, *b} and header("m")["counters"]["example_number"] == 40
    run_here("train", "a.vw", "-f", "c", "-i", "m", "--quiet")
    run_here("merge", "c", "--base", "m", "-f", "alone")
    assert weights("alone") == pytest.approx(weights("c"))
    run_here("train", "a.vw", "-f", "d", "-l", "0.1", "--quiet")
    assert "with other options (learning_rate)" in run_here("merge", "a", "d", "-f", "x", status=76).stderr
    assert "one model is merged already" in run_here("merge", "a", "-f", "x", status=2).stderr


@pytest.fixture
def header(tmp_path):
    return lambda name: load(tmp_path / name).header


@pytest.fixture
def weights(tmp_path):
    def of(name):
        column = load(tmp_path / name, want=("weights.w",)).arrays["weights.w"]
        return {int(slot): float(column[slot]) for slot in np.flatnonzero(column)}

    return of


def test_models_of_crr_are_averaged_by_their_examples(run_here, tmp_path, weights, header):
    (tmp_path / "a.vw").write_text("1 |f both a\n-1 |f both c\n" * 30)
    (tmp_path / "b.vw").write_text("1 |f both b\n-1 |f both c\n" * 10)
    how = ("--qid", "none", "--steps", "500", "--quiet")
    for name in "ab":
        run_here("crr", f"{name}.vw", "-f", name, *how)
    run_here("merge", "a", "b", "-f", "m")
    a, b, m = map(weights, "abm")
    for slot in {*a, *b}:
        known = [(count, model[slot]) for count, model in ((60, a), (20, b)) if slot in model]
        expected = sum(n * w for n, w in known) / sum(n for n, _ in known)
        assert m.get(slot, 0) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert len(m) > 2 and "crr" not in header("m") and header("m")["counters"]["example_number"] == 80
    assert len(run_here("predict", "-i", "m", "a.vw").stdout.splitlines()) == 60
    assert "was not made by 'vwlite crr'" in run_here("crr", "a.vw", "-i", "m", "-f", "x", status=76).stderr
    run_here("merge", "a", "b", "--base", "a", "-f", "based")
    assert "crr_state" not in load(str(tmp_path / "based")).arrays


def test_models_of_crr_with_other_options_and_sparse_ones_are_refused(run_here, tmp_path):
    (tmp_path / "t.vw").write_text("1 |f both a\n-1 |f both c\n" * 30)
    how = ("--qid", "none", "--steps", "100", "--quiet")
    for name, command in {"a": "crr", "b": "crr --lambda 0.1", "c": "crr --l1 0.01", "d": "l1"}.items():
        first, *options = command.split()
        run_here(first, "t.vw", "-f", name, *options, *(how if first == "crr" else ["--quiet"]))
    assert "made with other options (lambda)" in run_here("merge", "a", "b", "-f", "m", status=76).stderr
    for name in "cd":
        said = run_here("merge", name, name, "-f", "m", status=2).stderr
        assert said == f"vwlite: {name} cannot be merged: averages of sparse weights are not sparse\n"
