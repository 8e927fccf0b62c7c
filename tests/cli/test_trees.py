"""--log_multi and --ect: they learn, go on exactly, behave like vw, and are refused where they make no sense."""

import zipfile

import numpy as np
import pytest

from vwlite.storage import model_file
from vwlite.storage.model_file import load

LINES = [
    f"{1 + n * n % 11 % 6}{' 2' if n % 9 == 4 else ''} 't{n} |a x{n * n % 11} y{n % 4} |b z{n % 3}:0.5\n"
    for n in range(400)
]
KINDS = [
    "--log_multi 7",
    "--log_multi 6 --swap_resistance 0",
    "--ect 6",
    "--ect 7 --error 3 --loss_function logistic -q ab",
]


@pytest.mark.parametrize("kind", ["--log_multi", "--ect"])
def test_names_of_classes(kind, vwlite, write):
    write("d", "cat |w fur tail\ndog |w fur bark\nbird 'b1|w wing\n" * 20)
    vwlite("train", "d", "-f", "m", "--quiet", kind, "3", "--named_labels", "cat,dog,bird")
    assert vwlite("predict", "-i", "m", "d").lines[-3:] == ["cat", "dog", "bird b1"]


def test_every_option_learns_something_else(vwlite, write, tmp_path):
    write("all", "".join(f"{1 + n * n % 101 % 6} |a x{n % 5} |b y{n % 3}\n" for n in range(400)))
    actual = set()
    for options in (*KINDS, "--log_multi 6", "--ect 6 --error 2", "--ect 7 --error 3 -q ab"):
        vwlite("train", "all", "-p", "p", "--quiet", *options.split())
        actual.add((tmp_path / "p").read_bytes())
    assert len(actual) == len(KINDS) + 3


def test_vw_writes_no_raw_predictions_and_takes_any_loss_for_log_multi(vwlite, write, tmp_path):
    write("d", "".join(LINES))
    plain = vwlite("vw", "d", "--log_multi", "6", "-p", "p", "-f", "m").stderr
    odd = ("--loss_function", "hinge", "--no_progress", "-r", "r")
    other = vwlite("vw", "d", "--log_multi", "6", "-p", "q", "-f", "m", *odd).stderr
    assert other.splitlines()[-6:] == plain.splitlines()[-6:]
    assert (tmp_path / "r").read_bytes() == b"" and (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    assert "gd, scorer-identity, log_multi" in plain
    vwlite("vw", "-t", "-i", "m", "d", "-p", "q", "--loss_function", "hinge")
    assert len((tmp_path / "q").read_text().splitlines()) == len(LINES)


def test_the_audit_shows_every_set_that_is_asked_and_taught(vwlite, write):
    write("d", "1 | a\n2 | a\n3 't| b\n")
    lines = vwlite("vw", "d", "--log_multi", "3", "--audit", "--quiet").lines
    slots = [[item.split(":")[:2] for item in line.split("\t")[1:]] for line in lines]
    assert len(lines) % 2 == 0 and slots[0] == [] and [name for name, _ in slots[1]] == ["a", "Constant"]
    before, after = lines[1].split("\t")[1:], lines[3].split("\t")[1:]
    assert all(item.endswith(":0@0") for item in before) and not any(item.endswith(":0@0") for item in after)
    assert [line for line in lines if "\t" not in line][:2] == ["0", "0.707107"]
    assert vwlite("vw", "d", "--ect", "3", "--error", "1", "--audit", "--quiet").lines[4:] != []


def test_models_as_text(vwlite, write, tmp_path):
    write("d", "".join(LINES))
    vwlite("vw", "d", "--ect", "6", "--error", "2", "--readable_model", "r", "--invert_hash", "i", "--quiet")
    lines = (tmp_path / "r").read_text().splitlines()
    assert "options: --ect 6 --error 2" in [line.replace("--error 2 --ect 6", "--ect 6 --error 2") for line in lines]
    assert float(next(line for line in lines if line.startswith("norm normalizer ")).split()[2]) > 0
    assert "a^x0" in (tmp_path / "i").read_text()


def test_vw_counts_an_example_as_the_contests_of_winners_weigh(vwlite, write):
    write("d", "".join(f"{n * 7 % 11 % 8 + 1} |x a{n % 3} b{n % 5}\n" for n in range(200)))
    stderr = vwlite("vw", "d", "--ect", "8", "--error", "3").stderr
    weight = float(stderr.partition("weighted example sum = ")[2].split()[0])
    assert weight > 200
    assert "weighted example sum = 200" in vwlite("train", "d", "--ect", "8", "--error", "3").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--log_multi 3 --loss_function hinge", "--log_multi has a loss of its own"),
        ("--log_multi 3 --swap_resistance -1", "--swap_resistance takes 0 to"),
        ("--log_multi 3 -r r", "has only its answers"),
        ("--swap_resistance 2", "--swap_resistance needs --log_multi"),
        ("--error 2", "--error needs --ect"),
        ("--ect 3 --oaa 3", "--oaa and --ect do not go together"),
        ("--ect 3 --probabilities", "--probabilities does not go with --ect"),
        ("--ect 3 --error -1", "--error takes 0 to"),
        ("--log_multi 300 -b 4", "299 sets of weights need more than the 16 slots"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("d", "".join(LINES))
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


def test_a_label_that_is_no_class_ends_training(vwlite, write):
    write("d", "".join(LINES))
    for kind in ("--log_multi", "--ect"):
        assert "label 5 is no class" in vwlite("train", "d", "-f", "m", kind, "4", status=65).stderr


def changed(path, **changes):
    """The model with other arrays."""
    model = model_file.load(path)
    model_file.save(path, model.header, {**model.arrays, **changes})


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": np.zeros((3, 9), np.uint32)},
        {"nodes": np.zeros((4, 10), np.uint32)},
        {"nodes": np.zeros((99, 10), np.uint32)},
        {"nodes": np.full((13, 10), 1, np.uint32)},
        {"nodes": np.full((13, 10), 2**32 - 1, np.uint32)},
        {"node_margins": np.full(13, np.nan)},
        {"node_margins": np.zeros(12)},
        {"entries": np.full((5, 4), 2**32 - 1, np.uint32)},
        {"entry_margins": np.zeros(3)},
        {"entries": np.zeros((5, 4), np.int64)},
    ],
)
def test_a_tree_that_is_none_is_refused(change, vwlite, write):
    write("d", "".join(LINES))
    vwlite("train", "d", "-f", "m", "--quiet", "--log_multi", "7")
    changed("m", **change)
    assert "is not a model of this version" in vwlite("predict", "-i", "m", "d", status=76).stderr
    assert "is not a model of this version" in vwlite("train", "-i", "m", "-f", "n", "d", status=76).stderr


def test_the_parent_of_the_root_is_not_read_from_a_model(vwlite, write, tmp_path):
    write("d", "".join(f"{1 + n % 5 if n % 40 else 6} |a x{n % 3} y{n * n % 7}\n" for n in range(300)))
    vwlite("vw", "d", "-f", "m", "--quiet", "--log_multi", "6", "--swap_resistance", "0", "--examples", "30")
    nodes = np.array(load(tmp_path / "m").arrays["nodes"])
    assert nodes[0, 4] == 1
    nodes[0, 0] = 2**32 - 1
    vwlite("vw", "d", "-i", "m", "-f", "one", "--quiet")
    changed("m", nodes=nodes)
    vwlite("vw", "d", "-i", "m", "-f", "other", "--quiet")
    one, other = (load(tmp_path / name).arrays["nodes"][1:] for name in ("one", "other"))
    np.testing.assert_array_equal(one, other)


def test_a_model_keeps_no_entry_of_nodes_that_began_anew(vwlite, write, tmp_path):
    write("d", "".join(LINES))
    vwlite("train", "d", "-f", "m", "--quiet", "--log_multi", "6", "--swap_resistance", "0")
    entries = load(tmp_path / "m").arrays["entries"]
    assert entries[:, 0].max() < 11 and len(np.unique(entries[:, :2], axis=0)) == len(entries)
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert {"nodes.npy", "node_margins.npy", "entries.npy", "entry_margins.npy"} <= set(archive.namelist())
