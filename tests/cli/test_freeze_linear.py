"""``vwlite train --freeze`` for gradient descent and FTRL: namespaces stand while others learn."""

import random
import zipfile

import numpy as np
import pytest

draw = random.Random(3)
PARTS = (-1, 1), (1, 2), range(7), [n / 9 for n in range(9)], range(4)
ROWS = [tuple(map(draw.choice, PARTS)) for _ in range(150)]
LINES = [f"{label} {weight} |u u{u} x:{x:.2f} |g g{g}\n" for label, weight, u, x, g in ROWS]
UPDATES = ["", "--sgd -l 0.1", "--adaptive --invariant", "--ftrl", "--loss_function logistic", "--sparse_l2 0.01"]


@pytest.fixture
def train(vwlite, write):
    write("d", "".join(LINES))
    write("later", "".join(LINES[::-1]))

    def to(name, *options, status=0, data="later"):
        return vwlite("train", data, "-f", name, "--quiet", "--no-shuffle", "--holdout_off", *options, status=status)

    return to


@pytest.fixture
def arrays(tmp_path):
    """The columns of a model's table by slot: float32[columns] each."""

    def of(name):
        with zipfile.ZipFile(tmp_path / name) as archive:
            columns = {
                member: np.load(archive.open(member)) for member in archive.namelist() if member.startswith("weights.")
            }
        slots = columns.pop("weights.slots.npy").tolist()
        values = np.array([columns[member] for member in sorted(columns, reverse=True)], np.float32).T
        return dict(zip(slots, values, strict=True))

    return of


@pytest.mark.parametrize("update", UPDATES)
def test_frozen_weights_keep_their_bytes_and_others_learn(update, train, arrays):
    options = update.split()
    train("u", *options, "--ignore", "g", data="d")  # to find the slots of u and the Constant
    train("g", *options, "--ignore", "u", "--noconstant", data="d")
    train("one", *options, data="d")
    train("two", "-i", "one", "--freeze", "u,Constant", "-q", "ug")
    before, after = arrays("one"), arrays("two")
    assert all(before[slot].tobytes() == after[slot].tobytes() for slot in arrays("u"))
    assert all(before[slot].tobytes() != after[slot].tobytes() for slot in arrays("g"))
    train("none", "-i", "two", "--freeze", "none")
    assert any(after[slot].tobytes() != arrays("none")[slot].tobytes() for slot in arrays("u"))


@pytest.mark.parametrize("update", UPDATES)
def test_frozen_weights_count_as_the_initial_prediction(update, train, arrays, vwlite, write):
    limits = ("--min_prediction", "-99", "--max_prediction", "99")  # so that none is cut
    train("one", *update.split(), *limits, "--label-units", "raw", data="d")
    rows = [line.replace("|g", "| |g").partition("|") for line in LINES[::-1]]
    write("known", "".join(f"|u{rest.partition('|')[0][1:]}\n" for _, _, rest in rows))
    constant = float(vwlite("predict", "-i", "one", "--raw", "-", stdin="| nothing:0\n").lines[0])
    base = [float(line) - constant for line in vwlite("predict", "-i", "one", "--raw", "known").lines]
    texts = [f"{head}{value:.9g} |{rest.rpartition('|')[2]}" for (head, _, rest), value in zip(rows, base, strict=True)]
    write("based", "".join(texts))
    train("stands", "-i", "one", "--freeze", "u")
    train("given", "-i", "one", data="based")
    stands, given = arrays("stands"), arrays("given")
    assert stands.keys() == given.keys()
    for slot, values in stands.items():
        np.testing.assert_allclose(values, given[slot], rtol=2e-3, atol=2e-5)


def test_any_blocks_and_a_resumed_run_give_the_same_bytes(train, tmp_path):
    train("one", data="d")
    train("whole", "-i", "one", "--freeze", "u")
    train("blocks", "-i", "one", "--freeze", "u", "--block-size", "100", "--threads", "1")
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "whole").read_bytes()
    (tmp_path / "first").write_text("".join(LINES[::-1][:70]))
    (tmp_path / "rest").write_text("".join(LINES[::-1][70:]))
    train("two", "-i", "one", "--freeze", "u", data="first")
    train("two", "-i", "two", data="rest")
    assert weights_of(tmp_path / "two") == weights_of(tmp_path / "whole")


def weights_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "header.json"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--freeze latent", "--freeze latent and linear are parts of a dyadic model: they need --dotproduct"),
        ("--freeze linear", "--freeze latent and linear are parts of a dyadic model: they need --dotproduct"),
        ("--freeze u --l2 0.1", "--l2 shrinks all weights, those of --freeze too"),
        ("--freeze u --oaa 2", "--freeze does not go with --oaa"),
        ("--freeze u --coin", "--freeze does not go with --coin"),
        ("--freeze u --lrq ug2", "--freeze does not go with --lrq"),
        ("--freeze u --shards 2 --workers 1", "--freeze does not go with shards"),
    ],
)
def test_wrong_options_are_refused(options, message, train):
    assert message in train("m", *options.split(), status=2).stderr
