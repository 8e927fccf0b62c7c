"""Models as text, against hand-made states and against files that Vowpal Wabbit wrote."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest

from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.name_index import NameIndex
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.row_results import Results
from vwlite.storage.atomic_file import atomic_output
from vwlite.training.config import ProgressRule
from vwlite.training.counters import Counters
from vwlite.training.model_writer import ModelWriter
from vwlite.training.text_model import CHUNK, write_readable


def written(learner, features=None, counters=None, **options):
    """The file as lines, without those that name the version and the checksum."""
    file = io.BytesIO()
    state = (counters or Counters()).state()
    write_readable(file, learner, features or FeatureConfig(), state, **options)
    lines = file.getvalue().decode("utf-8", "surrogateescape").splitlines()
    assert lines[0].startswith("Version ")
    return [line for line in lines[1:] if not re.fullmatch(r"Checksum: \d+", line)]


def options_line(features=None, predict_only=False, **config):
    learner = Gd(GdConfig(**config), 4)
    return written(learner, features, predict_only=predict_only)[7]


def weight_lines(learner, **options):
    lines = written(learner, FeatureConfig(bits=learner.bits), **options)
    last = ":0" if options.get("predict_only") else "l2_state 1"
    return lines[lines.index(last) + 1 :]


def test_the_text_of_a_fresh_model_has_its_header_and_state():
    learner, counters = Gd(GdConfig(), 18), Counters(ProgressRule(additive=True, step=5.0))
    learner.set(norm_sum=660.1541, time=91, norm_weight=90, min_label=-0.25, gravity=1e-3)
    counters.example_number, counters.total_features = 1234567, 12345678
    counters.sum_loss, counters.labeled_weight = 49.820812, 1234567
    assert written(learner, counters=counters) == [
        "Id ", "Min label:-0.25", "Max label:0", "bits:18", "lda:0", "0 ngram:", "0 skip:",
        "options:", ":1", "initial_t 0", "norm normalizer 660.154", "t 91", "sum_loss 49.8208",
        "sum_loss_since_last_dump 0", "dump_interval 5", "min_label -0.25", "max_label 0",
        "weighted_labeled_examples 1.23457e+06", "weighted_labels 0",
        "weighted_unlabeled_examples 0", "example_number 1234567", "total_features 12345678",
        "total_weight 90", "sd::oec.weighted_labeled_examples 0", "current_pass 1",
        "l1_state 0.001", "l2_state 1",
    ]


def test_without_state_only_header_and_weights():
    learner = Gd(GdConfig(), 4)
    learner.weights[3] = 0.5, 2, 1, 7
    features = FeatureConfig(bits=4, ngram=("2", "a3"), skips=("a1",))
    assert written(learner, features, predict_only=True) == [
        "Id ", "Min label:0", "Max label:0", "bits:4", "lda:0", "2 ngram:2 a3 ", "1 skip:a1 ",
        "options:", ":0", "3:0.5",
    ]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (GdConfig(), ["1:0.333333 2 1", "2:0 3 0", "3:0 0 4", "15:-1e-09 0 0"]),
        (GdConfig(adaptive=True), ["1:0.333333 2", "2:0 3", "15:-1e-09 0"]),
        (GdConfig(normalized=True), ["1:0.333333 1", "3:0 4", "15:-1e-09 0"]),
    ],
)
def test_lines_show_what_the_update_keeps(config, expected):
    learner, table = Gd(config, 4), np.zeros((16, 4), np.float32)
    table[1], table[2], table[3], table[15] = (1 / 3, 2, 1, 9), (0, 3, 0, 9), (0, 0, 4, 9), (-1e-9, 0, 0, 0)
    table[7, 3] = 1  # the rate of the last process_example is not part of the model
    learner.weights[:] = table[:, : learner.stride]  # a narrow table has two columns
    assert weight_lines(learner) == expected
    assert weight_lines(learner, predict_only=True) == ["1:0.333333", "15:-1e-09"]


def test_names_stand_in_front_where_there_is_a_weight():
    learner = Gd(GdConfig(), 3)
    learner.weights[1:5, 0] = 1, 2, 0, 4
    learner.weights[1:5, 1] = 8
    names = {1: "a^x", 2: "", 3: "b^y"}
    named = weight_lines(learner, names=names)
    assert named == ["a^x:1:1 8 0", ":2:2 8 0", "3:0 8 0", "4:4 8 0"]
    only = weight_lines(learner, names=names, predict_only=True)
    assert only == ["a^x:1:1", ":2:2", ":4:4"]


def test_bytes_that_are_not_utf8_are_written_as_they_came():
    learner, file = Gd(GdConfig(sgd=True), 3), io.BytesIO()
    learner.weights[1, 0] = 1
    state = learner, FeatureConfig(bits=3), Counters().state()
    write_readable(file, *state, names={1: "caf\udce9"})
    assert file.getvalue().endswith(b"\ncaf\xe9:1:1\n")


@pytest.mark.parametrize("predict_only", [False, True])
def test_file_of_a_run(tmp_path, predict_only):
    learner, counters = Gd(GdConfig(), 18), Counters()
    learner.weights[77, 0] = 2
    output = SimpleNamespace(predict_only_model=predict_only, hexfloat_weights=False)
    config = SimpleNamespace(features=FeatureConfig(), output=output)
    saver = SimpleNamespace(learner=learner, saved_counters=counters.state, config=config, passes=3)
    ModelWriter.write_text(saver, str(tmp_path / "m.txt"), {77: "a^x"}, atomic_output)
    lines = (tmp_path / "m.txt").read_text().splitlines()
    assert lines[-1] == "a^x:77:2" + ("" if predict_only else " 0 0")
    assert ("current_pass 3" in lines) is not predict_only


def test_every_slot_is_found_across_chunks():
    learner = Gd(GdConfig(sgd=True), 18)
    slots = [0, 1, CHUNK - 1, CHUNK, 3 * CHUNK - 1, 4 * CHUNK - 1]
    learner.weights[slots, 0] = np.arange(1, 7)
    expected = [f"{slot}:{weight}" for weight, slot in enumerate(slots, 1)]
    assert weight_lines(learner) == expected


def test_kept_options_by_name_and_letters_last():
    features = FeatureConfig(
        **{"hash": "all", "hash_seed": 3, "noconstant": True, "affix": "+2a,-1"},
        **{"quadratic": ("ab", "ba"), "cubic": ("abc",), "interactions": ("abca",)},
        **{"spelling": ("a", "_"), "redefine": ("a:=b", "x:=:"), "permutations": True},
        **{"ignore": ("a", "cb"), "ignore_linear": ("c", "b"), "keep": ("x",)},
    )
    assert options_line(features, sgd=True, learning_rate=0.3) == (
        "options: --affix +2a,-1 --cubic abc --hash all --hash_seed 3 --interactions abca"
        " --learning_rate 0.300000011920929 --noconstant --quadratic ab --quadratic ba"
        " --redefine a:=b --redefine x:=: --sgd --spelling a --spelling _"
        " --ignore abc --ignore_linear bc --keep x"
    )


def test_update_options_are_kept_while_learning_may_go_on():
    chosen = {"adaptive": True, "invariant": True, "power_t": 0.3, "link": "logistic"}
    message = "options: --adaptive --invariant --link logistic --power_t 0.300000011920929"
    assert options_line(**chosen) == message
    assert options_line(predict_only=True, **chosen) == "options: --link logistic"
    assert options_line(learning_rate=0.5) == "options: --learning_rate 0.5"


def trained(text, features, config, step=None, passes=1):
    """Learner, counters and names after a run with ``-P step``."""
    learner = Gd(config, features.bits, vw_compat=True)
    counters = Counters(ProgressRule(additive=True, step=step) if step else None)
    batch = parse_text(text, text_format(features, skip_malformed=False, names=True))
    plan, results, book = Plan(features), Results(), NameIndex()
    results.reserve(len(batch))
    plan.see(plan.redefine[batch.namespace_char].tolist())
    book.add(batch, plan)
    for _ in range(passes):
        learner.run(batch, plan, results, 0, len(batch))
        row = 0
        while row < len(batch):
            row = counters.tally(batch, results, None, row, len(batch))
            if counters.row_due:
                counters.start_interval()
        learner.end_pass()
    return learner, counters, book.names


def numbers(line):
    """The words of a line, numbers as numbers."""
    number = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
    words = re.split(r"([: ])", line)
    return [float(word) if number.fullmatch(word) else word for word in words]


def check(lines, path):
    """Equal to a file of Vowpal Wabbit's but for the last digits."""
    wanted = path.read_text().splitlines()[1:]
    wanted = [line for line in wanted if not line.startswith("Checksum")]
    for line, expected in zip(lines, wanted, strict=True):
        ours, theirs = numbers(line), numbers(expected)
        assert [type(word) for word in ours] == [type(word) for word in theirs], (line, expected)
        for word, other in zip(ours, theirs, strict=True):
            assert word == (other if isinstance(other, str) else pytest.approx(other, 1e-3, 1e-4))


@pytest.mark.parametrize(
    ("case", "data", "config", "features"),
    [
        ("2014.m", "reg", {}, {}),
        ("2015.m", "reg", {"sgd": True}, {}),
        ("2017.m", "reg", {"normalized": True}, {}),
        ("2020.m", "reg", {"adaptive": True, "invariant": True}, {}),
        ("2022.m", "reg", {"adaptive": True, "normalized": True, "invariant": True}, {}),
        ("2025.m", "reg", {"normalized": True, "learning_rate": 0.3, "power_t": 0.3}, {}),
        ("2027.m", "reg", {"learning_rate": 0.3, "power_t": 0.7, "initial_t": 5}, {"bits": 8}),
        ("2130.m", "reg_head", {"sgd": True, "learning_rate": 0.2}, {}),
        ("2133.m", "reg_head", {"adaptive": True}, {}),
        ("2139.m", "reg_head", {"l2": 0.01}, {}),
    ],
)
def test_agrees_with_a_recorded_model(conformance_dir, case, data, config, features):
    text = (conformance_dir / f"data/gen/{data}.dat").read_bytes()
    features = FeatureConfig(**features)
    learner, counters, _ = trained(text, features, GdConfig(**config), step=5.0)
    lines = written(learner, features, counters)
    check(lines, conformance_dir / f"ref/gen/{case}.txt")


@pytest.mark.parametrize(
    ("case", "data", "features"),
    [
        ("2001", "parse", {}),
        ("2068", "reg", {"hash": "all"}),
        ("2070", "reg", {"hash_seed": 9}),
        ("2080", "reg", {"redefine": (":=b",)}),
        ("2084", "reg", {"affix": "-2c", "spelling": ("b",)}),
        ("2091", "reg", {"quadratic": ("aa",), "permutations": True}),
        ("2099", "reg", {"interactions": ("abca",)}),
        ("2110", "text", {"ngram": ("3",), "skips": ("2",)}),
    ],
)
def test_agrees_with_recorded_names(conformance_dir, case, data, features):
    text = (conformance_dir / f"data/gen/{data}.dat").read_bytes()
    features = FeatureConfig(**features)
    learner, _, names = trained(text, features, GdConfig())
    learner.apply_shrinkage()
    lines = written(learner, features, predict_only=True, names=names)
    check(lines, conformance_dir / f"ref/gen/{case}.m.txt")
