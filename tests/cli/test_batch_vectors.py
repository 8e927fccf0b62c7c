"""``--bfgs`` beside ``--outputs`` and ``--multiclass`` on the command line."""

import json

import numpy as np
import pytest

ROWS = [(n % 7, n % 3, n % 5 / 2) for n in range(90)]
FEATURES = [f"|w a{a} b{b} |x c:{c}" for a, b, c in ROWS]
NUMBERS = "".join(
    f"{a / 2 - c},{'' if a % 5 == 3 else b},{c * b} {1 + b} 't{n} {row}\n"
    for n, ((a, b, c), row) in enumerate(zip(ROWS, FEATURES, strict=True))
)
CLASSES = "".join(
    f"{(a * a + b) % 3 + 1} {1 + b} 't{n} {row}\n"
    for n, ((a, b, c), row) in enumerate(zip(ROWS, FEATURES, strict=True))
)
SHARES = "".join(f"1:{a} 2:{b + 1} 3:{c} {row}\n" for (a, b, c), row in zip(ROWS, FEATURES, strict=True))
BATCH = ("--passes", "20", "--holdout_off", "--quiet")
BOTH = [("--bfgs --outputs 3", NUMBERS), ("--bfgs --multiclass 3", CLASSES)]
RUNS = [
    *BOTH,
    ("--bfgs --multiclass 3 --label_shares", SHARES),
    ("--conjugate_gradient --outputs 3", NUMBERS),
    ("--conjugate_gradient --multiclass 3 --loss_function logistic", CLASSES),
]


@pytest.mark.parametrize(("options", "text"), RUNS)
def test_going_on_begins_at_the_models_weights(vwlite, write, options, text):
    write("d", text)
    learned = ("--passes", "60", "--holdout_off", "--termination", "1e-9")
    vwlite("train", "d", "-f", "m", *options.split(), "--l2", "1", *learned)
    stderr = vwlite("train", "d", "-i", "m", "-f", "n", *learned).stderr
    losses = [float(line.split()[1]) for line in stderr.splitlines() if line.split()[:1] and line.split()[0].isdigit()]
    assert len(losses) <= 4 and losses[0] == pytest.approx(losses[-1], abs=2e-5)


@pytest.mark.parametrize(("options", "text"), BOTH)
def test_an_importance_is_so_many_examples(vwlite, write, options, text):
    """Up to rounding: the sums are of as many examples, in another order."""
    write("d", text)
    write(
        "twice",
        "".join(
            line.replace(f" {weight} '", " '", 1) + "\n"
            for line in text.splitlines()
            for weight in [int(line.split()[1])]
            for _ in range(weight)
        ),
    )
    exact = ("--l2", "1", "--termination", "0", "--passes", "60", "--holdout_off", "--quiet")
    for name in ("d", "twice"):
        vwlite("train", name, "-f", f"{name}.model", *options.split(), *exact)
    one, other = (vwlite("predict", "d", "-i", f"{name}.model", "--raw").lines for name in ("d", "twice"))
    for first, second in zip(one, other, strict=True):
        cells = [[float(word.partition(":")[2] or word) for word in line.split()[:3]] for line in (first, second)]
        np.testing.assert_allclose(cells[0], cells[1], rtol=1e-4, atol=1e-5)


def test_predictions_are_those_of_gradient_descents_kind(vwlite, write):
    write("d", NUMBERS)
    vwlite("train", "d", "-f", "m", "--bfgs", "--outputs", "3", "--named_outputs", "u,v,w", *BATCH)
    assert len(vwlite("predict", "d", "-i", "m").lines[0].split()) == 4
    first = json.loads(vwlite("predict", "d", "-i", "m", "--jsonl").lines[0])
    assert [*first["prediction"]] == ["u", "v", "w"]
    report = json.loads(vwlite("evaluate", "d", "-i", "m", "--metric", "r2", "--json", "-").stdout)
    assert report["r2"] > 0.5
    write("c", CLASSES)
    vwlite("train", "c", "-f", "n", "--bfgs", "--multiclass", "3", *BATCH)
    assert vwlite("predict", "c", "-i", "n").lines[0].split()[0] in "123"
    shares = vwlite("predict", "c", "-i", "n", "--probabilities").lines[0].split()[:3]
    assert sum(float(share.partition(":")[2]) for share in shares) == pytest.approx(1, abs=1e-5)


def test_the_minimum_is_better_than_that_of_as_many_passes_of_steps(vwlite, write):
    write("d", CLASSES)
    losses = {}
    for how in ("--bfgs", "--average"):
        exact = ("--termination", "0") if how == "--bfgs" else ()
        vwlite("train", "d", "-f", "m", "--multiclass", "3", how, "-q", "wx", *exact, *BATCH)
        stdout = vwlite("evaluate", "d", "-i", "m", "--metric", "log_loss", "--json", "-").stdout
        losses[how] = json.loads(stdout)["log_loss"]
    assert losses["--bfgs"] < losses["--average"]


def test_a_class_alone_is_a_share_of_one(vwlite, write, tmp_path):
    for name, share in {"one": "", "two": ":1", "three": ":0.5"}.items():
        rows = (f"{line[0]}{share} |{line.partition('|')[2]}" for line in CLASSES.splitlines(True))
        write(f"{name}.vw", "".join(rows))
        vwlite("train", f"{name}.vw", "-f", name, "--bfgs", "--multiclass", 3, "--label_shares", "--l2", "1", *BATCH)
    one, *others = ((tmp_path / name).read_bytes() for name in ("one", "two", "three"))
    assert [one, one] == others


def test_held_out_examples_end_it(vwlite, write):
    write("d", NUMBERS)
    stderr = vwlite(
        "train", "d", "-f", "m", "--bfgs", "--outputs", "3", "--passes", "30", "--holdout_period", "3"
    ).stderr
    assert " h" in stderr and "average loss = " in stderr


REFUSED = {
    "--bfgs --outputs 3 --no-shared_rates": "--shared_rates does nothing with --bfgs: drop one of the two",
    "--bfgs --outputs 3 -l 1": "-l does nothing with --bfgs: drop one of the two",
    "--conjugate_gradient --outputs 3 --mem 3": "--mem does nothing with --conjugate_gradient: drop one of the two",
    "--bfgs --outputs 3 --ftrl": "--ftrl does not go with --bfgs",
    "--bfgs --outputs 3 --sparse_l2 1": "--sparse_l2 does nothing with --bfgs: drop one of the two",
    "--bfgs --multiclass 3 --shuffle": "--shuffle does nothing with --bfgs: drop one of the two",
    "--bfgs --multiclass 3 --loss_function crammer_singer": "crammer_singer does not go with --bfgs: it has kinks",
    "--bfgs --multiclass 3 --group_l1 1": "--group_l1 does not go with --bfgs: its steps are of single examples",
    "--bfgs --multiclass 3 --average": "--bfgs and --multiclass and --average do not go together",
    "--bfgs --multiclass 3 --nn 3": "--nn and --multiclass and --bfgs do not go together",
    "--bfgs --multiclass 3 --outputs 3": "do not go together",
    "--bfgs --outputs 3 --l1 1 --loss_function absolute": "--l1 with --bfgs needs a loss without kinks",
    "--bfgs --outputs 3 --checkpoint-every 10": "--bfgs does not go with --resume and --checkpoint-every",
    "--named_outputs a,b": "--named_outputs needs --outputs",
    "--smoothing 0.1 --bfgs": "--smoothing needs --multiclass",
}


@pytest.mark.parametrize("options", REFUSED)
def test_wrong_options_are_refused(vwlite, write, names_in, options):
    write("d", NUMBERS)
    stderr = vwlite("train", "d", "-f", "m", "--passes", "5", *options.split(), status=2).stderr
    assert REFUSED[options] in stderr
    assert names_in() == ["d"]


def test_one_pass_is_too_few_and_shards_are_refused(vwlite, write):
    write("d", NUMBERS)
    assert "at least 2 passes" in vwlite("train", "d", "--bfgs", "--outputs", "3", "-f", "m", status=2).stderr
    sharded = ("--workers", "1", "--shards", "2")
    stderr = vwlite("train", "d", "--bfgs", "--outputs", "3", "-f", "m", *sharded, status=2).stderr
    assert "does not go with shards: its passes need all data at once" in stderr


def test_two_classes_are_one_number_whose_penalty_is_half(vwlite, write):
    """w = w1 - w2 = 2 w1: l2 / 2 (|w1|^2 + |w2|^2) is l2 / 4 |w|^2."""
    two = "".join(f"{1 + (n % 7 < 3)}{line[1:]}\n" for n, line in enumerate(CLASSES.splitlines()))
    signs = "".join(f"{1 if line[0] == '1' else -1}{line[1:]}\n" for line in two.splitlines())
    write("two", two)
    write("signs", signs)
    exact = ("--bfgs", "--passes", "60", "--holdout_off", "--termination", "0", "--quiet")
    vwlite("train", "two", "-f", "m", "--multiclass", "2", "--l2", "2", *exact)
    vwlite("train", "signs", "-f", "n", "--loss_function", "logistic", "--link", "logistic", "--l2", "1", *exact)
    shares = [line.split()[0] for line in vwlite("predict", "two", "-i", "m", "--probabilities").lines]
    predictions = [line.split()[0] for line in vwlite("predict", "signs", "-i", "n").lines]
    expected = np.array(predictions, float)
    np.testing.assert_allclose([float(share.partition(":")[2]) for share in shares], expected, atol=2e-6)
