"""--curriculum on the command line."""

import pytest

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


def test_the_whole_at_once_is_no_curriculum(vwlite, write, tmp_path):
    write("data.vw", TEXT)
    vwlite("train", "data.vw", "-f", "m", "--passes", "3", "--curriculum", "easy", "--curriculum-start", "1")
    vwlite("train", "data.vw", "-f", "p", "--passes", "3")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "p").read_bytes()


def test_margins_of_a_model_and_values(vwlite, write, weights):
    write("data.vw", TEXT.replace("|w", "|d x:2 |w", 20))
    vwlite("train", "data.vw", "-f", "first", "--loss_function", "logistic", "--quiet")
    common = ("train", "data.vw", "--quiet", "--loss_function", "logistic", "--passes", "3", "--holdout_off")
    for name, by in (("m", "margin:first"), ("v", "value:d"), ("l", "length"), ("r", "rarest")):
        vwlite(*common, "-f", name, "--curriculum", "easy", "--curriculum-by", by)
    assert len({tuple(sorted(weights(name).items())) for name in "mvlr"}) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--curriculum-by length", "--curriculum-by needs --curriculum"),
        ("--curriculum easy -p -", "drop --shuffle, -p and -r"),
        ("--curriculum easy --shuffle", "drop --shuffle"),
        ("--curriculum easy --curriculum-by colour", "takes length, rarest"),
        ("--curriculum easy --csoaa 3", "labels that are names or lists"),
        ("--shuffle --passes 2 --multilabel_oaa 3", "labels that are names or lists"),
    ],
)
def test_what_does_not_go_together(options, message, vwlite, write):
    write("data.vw", TEXT)
    assert message in vwlite("train", "data.vw", "-f", "m", *options.split(), status=2).stderr
