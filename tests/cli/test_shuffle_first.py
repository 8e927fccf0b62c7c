"""--shuffle-first: every pass in random order, through the cache."""

import json

import pytest

from vwlite.data.shuffle import order_of

LINES = [f"{1 if n < 60 else -1} |w f{n * 7 % 11} g{n % 5} s{n // 60}\n" for n in range(120)]  # sorted by label
QUIET = ("train", "--quiet", "--shuffle-first")


@pytest.fixture
def trained(vwlite, write, tmp_path):
    """The bytes of a model of the sorted lines."""
    write("data.vw", "".join(LINES))

    def run(name, *options, data=("data.vw",), stdin=b""):
        vwlite(*QUIET, *data, "-f", name, *map(str, options), stdin=stdin)
        return (tmp_path / name).read_bytes()

    return run


def test_the_order_is_the_seed_s_whatever_else(trained, vwlite, tmp_path, write):
    first = trained("m")
    vwlite("train", "data.vw", "-f", "plain", "--quiet")
    assert first != (tmp_path / "plain").read_bytes() and first == trained("m")
    assert first != trained("m", "--seed", 1) == trained("m", "--random_seed", 1)
    for options in ("--threads 1", "--threads 3 --block-size 300", "--cache_file c", "--cache_file c", "--shuffle"):
        assert trained("m", *options.split()) == first, options
    assert trained("m", data=(), stdin="".join(LINES)) == first
    write("a.vw", "".join(LINES[:50]))
    write("b.vw", "".join(LINES[50:]))
    assert trained("m", data=("a.vw", "b.vw")) == first


def test_every_pass_has_an_order_of_its_own(trained, vwlite, tmp_path):
    options = ("--passes", 2, "--holdout_off")
    every, both = trained("every", *options), trained("both", *options, "--shuffle")
    vwlite("train", "data.vw", "--quiet", *options, "--shuffle", "-f", "later")
    assert every == both != (tmp_path / "later").read_bytes()
    trained("once")
    vwlite("train", "data.vw", "--quiet", "-i", "once", "-f", "twice", "--shuffle")
    assert every == (tmp_path / "twice").read_bytes()


def test_a_model_that_goes_on_is_shuffled_too(trained, vwlite, tmp_path):
    vwlite("train", "data.vw", "-f", "first", "--quiet")
    shuffled = trained("one", "-i", "first")
    vwlite("train", "data.vw", "-i", "first", "-f", "two", "--quiet")
    assert shuffled != (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("options", ["--holdout_after 60", "--passes 2", "--passes 2 --holdout_period 4 -c"])
def test_the_same_lines_are_held_out(options, trained, vwlite):
    options = options.split()
    here = vwlite("train", "data.vw", "-f", "m", "--shuffle-first", *options).stderr
    there = vwlite("train", "data.vw", "-f", "n", *options).stderr
    examples = [text.partition("weighted example sum = ")[2].split()[0] for text in (here, there)]
    assert examples[0] == examples[1] != "120"
    assert " h\n" in here  # a loss held out


def test_names_are_kept(trained, vwlite, tmp_path):
    trained("m", "--names", "--invert_hash", "text")
    report = json.loads(vwlite("inspect", "m", "--top", "99", "--json", "-").stdout)
    assert {"w^f3", "w^s0", "w^s1"} <= {entry["name"] for entry in report["top"]}
    assert "w^f3:" in (tmp_path / "text").read_text()


def test_malformed_lines_and_labels_are_told_once(vwlite, write):
    write("odd.vw", "1x |w a\n" + "".join(LINES))
    done = vwlite("train", "odd.vw", "-f", "m", "--shuffle-first", "--bad-lines", "bad", "--loss_function", "logistic")
    assert done.stderr.count("bad line odd.vw:1:1") == 1 and "1 of 121 lines were malformed" in done.stderr
    assert "weighted example sum = 120" in done.stderr


@pytest.mark.parametrize("passes", [[], ["--passes", 6]])
def test_sorted_lines_are_learned_as_well_as_mixed_ones(vwlite, write, passes):
    """Weights of what both labels have do not follow the last."""
    words = [f"|w f{n * 7 % 11} g{n % 600 % 50} s{n % 600 % 2 + n // 600}\n" for n in range(1200)]
    write("data.vw", "".join(f"{1 if n < 600 else -1} {word}" for n, word in enumerate(words)))
    common = ("train", "data.vw", "--quiet", "--loss_function", "logistic")
    losses = []
    for name, options in (("sorted", ["--no-shuffle"]), ("shuffled", ["--shuffle-first", *passes])):
        vwlite(*common, "-f", name, *options)
        stdout = vwlite("evaluate", "-i", name, "data.vw", "--metric", "log_loss", "--json", "-", "--quiet").stdout
        losses.append(json.loads(stdout)["log_loss"])
    assert losses[1] < 0.7 * losses[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--shuffle-first -p p", "out of order: drop -p and -r, or --shuffle-first"),
        ("--shuffle-first -r -", "--shuffle-first puts the predictions out of order"),
        ("--shuffle-first --passes 2 --curriculum easy", "drop --shuffle, --shuffle-first, -p and -r"),
        ("--shuffle-first --csoaa_ldf m", "--shuffle-first and --curriculum do not go with groups of lines"),
        ("-i m --shuffle -p p", "--shuffle puts the predictions of later passes out of order"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, write, names_in):
    write("data.vw", "".join(LINES))
    vwlite("train", "data.vw", "-f", "m", "--quiet")
    before = names_in()
    assert message in vwlite("train", "data.vw", "-f", "n", *options.split(), status=2).stderr
    assert names_in() == before


OF_LISTS = {
    "--csoaa 3": lambda n: f"1:{n % 2} 2:{n % 3}.5" + " 3:-1" * (n % 4 == 0),
    "--csoaa 3 --named_labels ant,bee,cow": lambda n: f"ant:{n % 2} cow:{n % 3}.5",
    "--multilabel_oaa 3": lambda n: ("0,2", "1", "2")[n % 3],
    "--filter_tree 3 --costs": lambda n: f"1:{n % 2} 2:{n % 3}.5 3:0",
    "--multiclass 3 --label_shares": lambda n: f"1:0.{n % 9 + 1} 3:0.2",
    "--outputs 2": lambda n: f"{n % 5},{n % 3}",
    "--oaa 3 --named_labels ant,bee,cow": lambda n: f"{('ant', 'bee', 'cow')[n % 3]} {1 + n % 2}",
}


@pytest.mark.parametrize("more", ["", "--holdout_off --passes 2 --shuffle -l 0.1"])
@pytest.mark.parametrize("options", OF_LISTS)
def test_labels_that_are_words_are_shuffled(options, more, vwlite, write, tables):
    """They are learned as the lines in this order, with tags and without labels, in passes after one another."""
    labels = [OF_LISTS[options](n) if n % 7 else "" for n in range(60)]
    tags = [f"'n{n}" if n % 3 == 0 else "" for n in range(60)]
    lines = [f"{label} {tags[n]}|u a{n % 4} |i b{n % 5}\n" for n, label in enumerate(labels)]
    write("data.vw", "".join(lines))
    vwlite(*QUIET, "data.vw", "-f", "m", *options.split(), *more.split())
    for number in range(2 if more else 1):
        write("ordered.vw", "".join(lines[row] for row in order_of(60, 0, number)))
        begin = options.split() if number == 0 else ["-i", "n"]
        vwlite("train", "--quiet", "ordered.vw", "-f", "n", *begin, *("-l", "0.1") * ("-l" in more))
    assert tables("m") == tables("n")


@pytest.mark.parametrize(
    "more",
    [
        "--shuffle-first", "--passes 3 --shuffle", "--passes 3 --curriculum easy", "--passes 3 --curriculum random",
        "--curriculum easy --curriculum-steps 10", "--dotproduct ui --passes 3",
        "--dotproduct ui --passes 3 --curriculum anti --curriculum-by rarest --curriculum-weights linear",
        "--passes 2 --shuffle --classweight 2:3",
    ],
)
def test_names_are_shuffled_as_numbers_are(more, vwlite, write, tables):
    words = [f"|u a{n % 4} |i b{n % 5}" + " c" * (n % 3) + "\n" for n in range(60)]
    write("numbers.vw", "".join(f"{n * 7 % 3 + 1} {word}" for n, word in enumerate(words)))
    write("names.vw", "".join(f"{('ant', 'bee', 'cow')[n * 7 % 3]} {word}" for n, word in enumerate(words)))
    vwlite("train", "numbers.vw", "-f", "m", "--quiet", "--oaa", 3, *more.split())
    vwlite("train", "names.vw", "-f", "n", "--quiet", "--oaa", 3, "--named_labels", "ant,bee,cow", *more.split())
    assert tables("m") == tables("n")


@pytest.mark.parametrize("command", ["train", "vw"])
def test_class_weights_are_of_the_numbers_of_names(command, vwlite, write, weights):
    words = [f"|u a{n % 4} |i b{n % 5}" + " c" * (n % 3) + "\n" for n in range(60)]
    write("names.vw", "".join(f"{('ant', 'bee', 'cow')[n * 7 % 3]} {word}" for n, word in enumerate(words)))
    named = ("--oaa", 3, "--named_labels", "ant,bee,cow", "--quiet", "-f", "m")
    vwlite(command, "names.vw", *named, "--classweight", "2:3")
    assert weights("m")[246070] == pytest.approx(0.622763, abs=1e-6)  # vw's
    vwlite(command, "names.vw", *named)
    assert weights("m")[246070] == pytest.approx(0.741936, abs=1e-6)


OF_PASSES = ["", "--passes 3", "--passes 3 --shuffle", "--passes 3 --curriculum easy"]


@pytest.mark.parametrize("options", ["--csoaa 3", "--multilabel_oaa 3", "--filter_tree 3 --costs"])
@pytest.mark.parametrize("more", [*OF_PASSES, "--curriculum easy --curriculum-steps 9"])
def test_dot_products_go_with_words(options, more, vwlite, write, tables):
    write("data.vw", "".join(f"{OF_LISTS[options](n)} |u a{n % 4} |i b{n % 5}\n" for n in range(60)))
    learned = ("train", "data.vw", "-b", "9", "--quiet", "--dotproduct", "ui", *options.split(), *more.split())
    vwlite(*learned, "-f", "m")
    vwlite(*learned, "-f", "n", "--no-shuffle")
    assert (tables("m") == tables("n")) == (more not in OF_PASSES[1:3])


@pytest.mark.parametrize("update", ["--coin", "--pistol"])
def test_learners_without_a_seed_of_their_own_are_shuffled_by_it_too(update, trained):
    first, *others = (trained("m", update, "--random_seed", seed) for seed in (0, 1, 2))
    assert first == trained("m", update) and first not in others and others[0] != others[1]


@pytest.mark.parametrize("options", ["--dotproduct ui", "--shuffle"])
def test_predictions_are_those_of_the_first_pass_where_later_ones_are_shuffled(options, vwlite, write, tmp_path):
    write("data.vw", "".join(f"{n % 5} 't{n} |u {n % 7} |i {n % 11}\n" for n in range(60)))
    common = ["train", "data.vw", "--quiet", "--holdout_off", *options.split()]
    vwlite(*common, "-f", "plain", "--passes", 3)
    vwlite(*common, "-f", "shown", "--passes", 3, "-p", "p", "-r", "r")
    vwlite(*common, "-p", "once")
    assert (tmp_path / "shown").read_bytes() == (tmp_path / "plain").read_bytes()
    assert (tmp_path / "p").read_text() == (tmp_path / "once").read_text()
    assert len((tmp_path / "r").read_text().splitlines()) == 60
    vwlite(*common, "--no-shuffle", "--passes", 3, "-p", "all")
    assert len((tmp_path / "all").read_text().splitlines()) == 180
