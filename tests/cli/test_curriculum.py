"""--curriculum on the command line."""

import json
from fractions import Fraction

import pytest
from oracle.curriculum import in_steps

WORDS = [" ".join(f"f{n * k % 11}" for k in range(1, 2 + n % 6)) for n in range(60)]
TEXT = "".join(f"{1 if n % 3 else -1} |w {words}\n" for n, words in enumerate(WORDS))


def examples(done):
    return float(done.stderr.partition("weighted example sum = ")[2].split()[0])


@pytest.mark.parametrize("order", ["easy", "anti", "random"])
def test_passes_grow_until_all_take_part(order, vwlite, write):
    write("data.vw", TEXT)
    options = ("--holdout_off", "--passes", "4", "--curriculum", order, "--curriculum-start", "0.5")
    done = vwlite("train", "data.vw", "-f", "m", *options, "--curriculum-passes", "2")
    assert examples(done) == 30 + 60 + 60 + 60
    alone = vwlite("train", "data.vw", "-f", "n", "--passes", "4", "--curriculum", order, "--curriculum-start", "1")
    plain = vwlite("train", "data.vw", "-f", "p", "--passes", "4")
    assert examples(alone) == examples(plain) == 4 * 54


def test_a_start_of_all_examples_changes_nothing(vwlite, write, tmp_path):
    write("data.vw", TEXT)
    vwlite("train", "data.vw", "-f", "m", "--passes", "3", "--curriculum", "easy", "--curriculum-start", "1")
    vwlite("train", "data.vw", "-f", "p", "--passes", "3")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "p").read_bytes()


def test_each_difficulty_learns_another_model(vwlite, write, weights):
    write("data.vw", TEXT.replace("|w", "|d x:2 |w", 20))
    vwlite("train", "data.vw", "-f", "first", "--loss_function", "logistic", "--quiet")
    common = ("train", "data.vw", "--quiet", "--loss_function", "logistic", "--passes", "3", "--holdout_off")
    hard = (("m", "margin:first"), ("v", "value:d"), ("l", "length"), ("r", "rarest"), ("o", "loss:first"))
    for name, by in hard:
        vwlite(*common, "-f", name, "--curriculum", "easy", "--curriculum-by", by)
    assert weights("o") == weights("m")  # the logistic loss falls with the margin
    assert len({tuple(sorted(weights(name).items())) for name in "mvlr"}) == 4


def test_weights_between_0_and_1_are_importance(vwlite, write, weights):
    """Two passes, of which the second has all: a first pass of the weights as importance, then one of all."""
    write("data.vw", TEXT)
    common = ("--sgd", "--power_t", "0", "-l", "0.05", "--holdout_off")
    easy = ("--curriculum", "easy", "--curriculum-start", "0.5", "--curriculum-weights", "linear")
    done = vwlite("train", "data.vw", "-f", "m", "--passes", "2", *common, *easy, "--curriculum-width", "0.4")
    assert "note: curriculum, pass 1: weights add up to 30 of 60, entropy " in done.stderr
    assert examples(done) == pytest.approx(90, abs=1e-4)
    lengths = [len(words.split()) for words in WORDS]
    order = sorted(range(60), key=lambda row: lengths[row])
    weight = {row: min(max((0.5 - rank / 59) / 0.4 + 0.5, 0), 1) for rank, row in enumerate(order)}
    lines = TEXT.splitlines()
    weighted = [lines[row].replace(" |", f" {weight[row]!r} |") + "\n" for row in range(60) if weight[row]]
    write("twice.vw", "".join(weighted) + TEXT)
    vwlite("train", "twice.vw", "-f", "n", *common)
    assert weights("m") == pytest.approx(weights("n"), abs=1e-5)


def test_sampled_examples_have_their_own_importance(vwlite, write):
    write("data.vw", TEXT)
    options = ("--passes", "2", "--holdout_off", "--curriculum", "easy", "--curriculum-weights", "logistic")
    done = vwlite("train", "data.vw", "-f", "m", *options, "--curriculum-sample")
    assert examples(done) == int(examples(done)) and 60 < examples(done) < 120


STEPS = ("--curriculum", "easy", "--curriculum-steps", "10")


def test_steps_of_one_pass_learn_what_the_twin_takes(vwlite, write, weights):
    write("data.vw", TEXT)
    done = vwlite("train", "data.vw", "-f", "m", *STEPS)
    assert "note: curriculum, step 4: all examples take part from here on" in done.stderr
    lines = TEXT.splitlines(keepends=True)
    taken = in_steps([len(words.split()) for words in WORDS], 10, Fraction(1, 4))
    write("taken.vw", "".join(lines[row] for row in taken))
    vwlite("train", "taken.vw", "-f", "n", "--quiet")
    assert examples(done) == len(taken) == 3 + 5 + 8 + 30 and weights("m") == weights("n")


@pytest.mark.parametrize("how", ["-c", "--block_size 1 --threads 1", "--names", "pipe", "--passes 3"])
def test_steps_are_the_same_however_the_data_come(how, vwlite, write, tmp_path, weights):
    text = "".join(f"{1 if n % 3 else -1} |d x:{n * 7 % 31} |w f{n % 400} g{n % 13}\n" for n in range(20000))
    write("data.vw", text)
    common = ("-f", "m", "--quiet", "--holdout_off", *STEPS[:3], "4000", "--curriculum-by", "value:d")
    vwlite("train", "data.vw", *common, *(("--passes", "3") if how == "--passes 3" else ()))
    first, bytes_first = weights("m"), (tmp_path / "m").read_bytes()
    if how == "-c":
        vwlite("train", "data.vw", *common, "-c")
    if how == "pipe":
        vwlite("train", *common, stdin=text)
    elif how == "--passes 3":
        vwlite("train", *common, "--passes", "3", stdin=text)
    else:
        vwlite("train", "data.vw", *common, *how.split())
    assert weights("m") == first and (how == "--names" or (tmp_path / "m").read_bytes() == bytes_first)


def test_names_of_steps_are_learned_from_the_text(vwlite, write):
    write("data.vw", TEXT)
    vwlite("train", "data.vw", "-f", "plain", "--names", "--quiet")
    vwlite("train", "data.vw", "-f", "m", "--names", "--quiet", *STEPS)
    named = names_of(vwlite, "m")
    assert named.items() <= names_of(vwlite, "plain").items() and all(named.values()) and "w^f3" in named.values()


def names_of(vwlite, model):
    report = json.loads(vwlite("inspect", model, "--top", "9999", "--json", "-").stdout)
    return {entry["slot"]: entry["name"] for entry in report["top"]}


@pytest.mark.parametrize("features", ["", "-q ::", "-q ww --ngram 2"])
def test_names_are_learned_from_the_text_as_without_a_curriculum(features, vwlite, write, tmp_path):
    write("data.vw", TEXT.replace("|w", "|d x:2 |w", 20))
    common = ("train", "data.vw", "--quiet", "--passes", "2", "--holdout_off", *features.split())
    easy = ("--curriculum", "easy", "--curriculum-start", "0.3")
    vwlite(*common, "-f", "plain", "--names")
    vwlite(*common, *easy, "-f", "named", "--names", "--invert_hash", "text")
    vwlite(*common, *easy, "-f", "bare")
    plain, named = names_of(vwlite, "plain"), names_of(vwlite, "named")
    assert named.items() <= plain.items() and all(named.values()) and "w^f3" in named.values()
    assert {slot: None for slot in named} == names_of(vwlite, "bare")
    assert "w^f3:" in (tmp_path / "text").read_text()


def test_names_of_a_model_that_goes_on_shuffled_are_kept(vwlite, write):
    write("data.vw", TEXT)
    write("more.vw", TEXT.replace("|w", "|v"))
    vwlite("train", "data.vw", "-f", "m", "--names", "--quiet")
    vwlite("train", "more.vw", "-i", "m", "-f", "n", "--shuffle", "--quiet")
    assert {"v^f3", "w^f3"} <= set(names_of(vwlite, "n").values())


def test_lines_without_the_namespace_are_told(vwlite, write):
    write("data.vw", TEXT.replace("|w", "|diff x:2 |w", 20).replace("|w", "|day x:5 |w", 7))
    common = ("train", "data.vw", "-f", "m", "--passes", "2", "--curriculum", "easy", "--curriculum-by")
    assert "value:diff: 40 of 60 lines have no such namespace" in vwlite(*common, "value:diff").stderr
    assert "no such namespace" not in vwlite(*common, "value:w").stderr
    assert "value:d: no line has a namespace of this name" in vwlite(*common, "value:d", status=2).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--curriculum easy", "needs --passes 2 or more, or --curriculum-steps N"),
        ("--curriculum-steps 10", "--curriculum-steps does nothing without --curriculum"),
        ("--curriculum easy --curriculum-steps 0", "--curriculum-steps"),
        ("--curriculum easy --curriculum-steps 10 --curriculum-by rarest", "goes with passes"),
        ("--curriculum easy --curriculum-steps 10 --curriculum-by value:user", "that are ranked has a namespace"),
        ("--curriculum easy --curriculum-steps 10 --curriculum-passes 2", "--curriculum-passes counts passes"),
        ("--curriculum easy --curriculum-steps 10 -p -", "drop --shuffle, --shuffle-first, -p and -r"),
        ("--curriculum easy --curriculum-steps 10 --bfgs", "--curriculum does not go with --bfgs"),
        ("--curriculum-by length", "--curriculum-by does nothing without --curriculum"),
        ("--passes 2 --curriculum easy --curriculum-width 0.1", "needs weights between 0 and 1"),
        ("--passes 2 --curriculum easy --curriculum-sample", "--curriculum-sample needs weights between 0 and 1"),
        ("--passes 2 --curriculum-weights linear", "--curriculum-weights does nothing without --curriculum"),
        ("--passes 2 --curriculum easy -p -", "drop --shuffle, --shuffle-first, -p and -r"),
        ("--passes 2 --curriculum easy --shuffle", "drop --shuffle"),
        ("--passes 2 --curriculum easy --curriculum-by colour", "takes length, rarest"),
        ("--passes 2 --curriculum easy --csoaa_ldf m", "do not go with groups of lines"),
        ("--shuffle --passes 2 --wap_ldf m", "do not go with groups of lines"),
        ("--passes 2 --curriculum easy --curriculum-by loss:n --csoaa 3", "needs labels that are numbers, not names"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, write):
    write("data.vw", TEXT)
    assert message in vwlite("train", "data.vw", "-f", "m", *options.split(), status=2).stderr
