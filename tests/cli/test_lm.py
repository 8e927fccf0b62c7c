"""Language models from files, pipes and other models, and what is made of them."""

import gzip
import json

import numpy as np
import pytest
from oracle.window_network import Network, drawn, vocabulary, windows

from vwlite.features.hashing import key
from vwlite.solvers.lm import solver
from vwlite.solvers.lm.config import LmConfig
from vwlite.solvers.lm.model import STEP, LmModel, new_network

SUBJECTS, VERBS, PLACES = ("cat", "dog", "bird"), ("sat", "ran"), ("mat", "log", "hill")
LINES = [
    f"The {SUBJECTS[row % 3]} {VERBS[row % 2]} on the {PLACES[row * 7 % 5 % 3]}, {row} times." for row in range(60)
]
SMALL = ("--window", "3", "--dim", "5", "--hidden", "6", "--quiet")


@pytest.fixture
def data(tmp_path):
    (tmp_path / "text").write_text("\n".join(LINES) + "\n")
    return tmp_path


def test_learning_follows_the_twin(data, vwlite, monkeypatch):
    """Steps of two stages of a curriculum, from the text on."""
    monkeypatch.setattr(solver, "AT_ONCE", 64)
    vwlite(
        "lm", "train", "text", *SMALL, "-f", "m", "--vocabulary", "12", "--curriculum", "8", "--passes", "2", "--seed",
        "3", "-l", "0.2", "--layer_rate", "0.04", "--power_t", "1", "--initial_t", "256",
    )  # fmt: skip
    made, words = LmModel.load("m"), vocabulary(LINES, 12)
    assert made.words.texts == words and made.words.texts[:5] == ["the", ",", ".", "0", "on"]
    start = new_network(LmConfig(window=3, dim=5, hidden=6, seed=3), 12)
    twin = Network(start.words, start.inputs[:, :6], start.bias[:6], start.output[:6])
    size, step = len(windows(LINES, words, 3, 12)), 0
    for known in (8, 12):
        of = windows(LINES, words, 3, known)
        for _ in range(size):
            at, other = drawn(key(3, STEP), step, len(of), known)
            fallen = 1 / (1 + step // 64 * 64 / 256)
            twin.step(of[at], other, 0.2 * fallen, 0.04 * fallen)
            step += 1
    assert (made.steps, made.passes) == (step, 2)
    network = made.network
    for word, expected in zip((network.words, network.inputs[:, :6], network.bias[:6]), twin.arrays, strict=False):
        assert word == pytest.approx(expected, rel=1e-2, abs=1e-3)
    ranked = vwlite("lm", "rank", "-i", "m", "text", "--windows", "0", "-p", "ranks").stdout
    expected = [twin.rank(window) for window in windows(LINES, words, 3, 12)]
    actual = np.array((data / "ranks").read_text().split(), float)
    assert np.abs(actual - expected).max() <= 1 and (actual == expected).mean() > 0.9  # in single precision
    assert float(ranked.split()[5]) == pytest.approx(np.log(actual).mean(), rel=1e-5)


def test_files_pipes_and_models_give_the_same_bytes(data, vwlite, monkeypatch):
    monkeypatch.setattr(solver, "AT_ONCE", 100)  # rates fall within passes
    how = (*SMALL, "--curriculum", "9", "--vocabulary", "14", "--initial_t", "50")
    vwlite("lm", "train", "text", *how, "--passes", "3", "-f", "whole")
    with gzip.open(data / "text.gz", "wb") as file:
        file.write((data / "text").read_bytes())
    vwlite("lm", "train", *how, "-f", "parts", stdin=(data / "text.gz").read_bytes())
    vwlite("lm", "train", "text.gz", "-i", "parts", "-f", "parts", "--passes", "2", "--quiet")
    assert (data / "whole").read_bytes() == (data / "parts").read_bytes()
    vwlite("lm", "train", "text", *how, "--passes", "3", "-f", "other", "--random_seed", "1")
    assert (data / "whole").read_bytes() != (data / "other").read_bytes()


def test_several_draws_are_kept_and_gone_on_with(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "usual")
    vwlite("lm", "train", "text", *SMALL, "-f", "one", "--draws", "1")
    assert (data / "usual").read_bytes() == (data / "one").read_bytes()
    vwlite("lm", "train", "text", *SMALL, "-f", "whole", "--draws", "5", "--passes", "3")
    vwlite("lm", "train", "text", *SMALL, "-f", "parts", "--draws", "5")
    vwlite("lm", "train", "text", "-i", "parts", "-f", "parts", "--passes", "2", "--quiet")
    assert (data / "whole").read_bytes() == (data / "parts").read_bytes() != (data / "usual").read_bytes()
    assert LmModel.load("parts").config.draws == 5 and "draws" not in LmModel.load("usual").config.kept()


def test_a_byte_order_mark_is_no_word(data, vwlite):
    text = b"the cat sat on the mat\n" * 9
    (data / "plain").write_bytes(text)
    (data / "marked").write_bytes(b"\xef\xbb\xbf" + text)
    for name in ("plain", "marked"):
        vwlite("lm", "train", name, "--tokens", "blanks", *SMALL, "-f", f"{name}.m")
    assert (data / "plain.m").read_bytes() == (data / "marked.m").read_bytes()


def test_a_file_is_learned_once(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "m")
    (data / "copy").write_text((data / "text").read_text())
    done = vwlite("lm", "train", "copy", "-i", "m", "-f", "m", "--skip-seen", "--json", "-")
    assert "copy was learned before as text (60 lines): skipped" in done.stderr
    assert json.loads(done.stdout)["result"]["lines"] == 0
    for _ in range(2):
        vwlite("lm", "train", "text", "-f", "other", "--json", "report", "--quiet")
    report = json.loads((data / "report").read_text())
    assert (report["lines"], report["bad_lines"], report["data"][0]["lines"]) == (60, 0, 60)
    assert [(row["pass"], row["steps"]) for row in report["history"]] == [(1, report["steps"])]


def test_more_passes_rank_the_last_word_higher(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "first")
    vwlite("lm", "train", "text", *SMALL, "-f", "later", "--passes", "40")
    means = []
    for model in ("first", "later"):
        vwlite("lm", "rank", "-i", model, "text", "--json", "out.json", "--force", "--quiet")
        means.append(json.loads((data / "out.json").read_text())["result"]["mean_log_rank"])
    assert means[1] < 0.55 < means[0]


def test_windows_that_are_ranked_are_drawn_by_the_seed(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "m")
    actual = []
    for seed in ("0", "0", "1"):
        done = vwlite("lm", "rank", "-i", "m", "text", "--windows", "20", "--seed", seed, "-p", "ranks")
        assert done.stdout.split()[:2] == ["windows", "20"]
        actual.append((data / "ranks").read_text())
    assert actual[0] == actual[1] != actual[2] and len(actual[0].split()) == 20


def test_unknown_words_are_counted_apart(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "m")
    done = vwlite("lm", "rank", "-i", "m", stdin="the cat sat on the zebra .\nthe\n", status=0).stdout
    assert done.splitlines()[0].split() == ["windows", "3"] and done.splitlines()[1].split() == ["unknown_words", "2"]
    assert "no line has 3 known words" in vwlite("lm", "rank", "-i", "m", stdin="zebra the cat\n", status=65).stderr


def test_vectors_are_those_of_the_model(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "m")
    head, *lines = vwlite("lm", "vectors", "-i", "m").stdout.splitlines()
    made = LmModel.load("m")
    assert head.split() == [str(len(made.words)), "5"]
    assert [line.split()[0] for line in lines] == made.words.texts
    assert (np.array([line.split()[1:] for line in lines], np.float32) == made.network.words).all()
    vwlite("lm", "vectors", "-i", "m", "-p", "out", "--top", "2")
    assert (data / "out").read_text().splitlines() == ["2 5", *lines[:2]]


def values_of(line, name):
    tail = line.partition(f" |{name} ")[2].partition(" |")[0]
    return np.array([entry.partition(":")[2] for entry in tail.split()], float)


def test_features_are_means_of_vectors(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "m")
    text = "1 'a |w Cat\r\n\nx 2 |w cat:3 zebra dog:-1 |b sat\n|v cat\n|w zebra"
    shown = vwlite("lm", "features", "-i", "m", "--namespace", "w", stdin=text).stdout
    made = LmModel.load("m")
    cat, dog, sat = (made.network.words[made.words.number[word]] for word in ("cat", "dog", "sat"))
    lines = shown.split("\n")
    assert [line.partition(" |e")[0] for line in lines] == [*text.replace("\r", "").split("\n"), ""]
    assert lines[0].endswith("\r") and " |e" not in "".join([lines[1], *lines[3:]])
    assert values_of(lines[0], "e") == pytest.approx(cat, rel=1e-5)
    assert values_of(lines[2], "e") == pytest.approx((3 * cat - dog) / 4, rel=1e-5)
    several = vwlite("lm", "features", "-i", "m", "--namespace", "w", "--namespace", "b", "--scale", "2", stdin=text)
    second = several.stdout.split("\n")[2]
    assert values_of(second, "e_w") == pytest.approx((3 * cat - dog) / 2, rel=1e-5)
    assert values_of(second, "e_b") == pytest.approx(2 * sat, rel=1e-5)
    assert vwlite("lm", "features", "-i", "m", "--namespace", "w", "-p", "out", stdin=text).stdout == ""
    assert (data / "out").read_bytes().decode() == shown


def test_malformed_lines_stay_and_are_told(data, vwlite):
    vwlite("lm", "train", "text", *SMALL, "-f", "m")
    text = "1 |w cat\n1 cat x y z\n"
    how = ("lm", "features", "-i", "m", "--namespace", "w")
    done = vwlite(*how, "--max-bad-ratio", "1", "--bad-lines", "bad", stdin=text)
    assert done.stdout.splitlines()[1] == "1 cat x y z" and ":2:" in done.stderr
    assert (data / "bad").read_text() == "1 cat x y z\n"
    vwlite(*how, "--strict", stdin=text, status=65)


def test_the_vocabulary_the_progress_and_the_report_are_shown(data, vwlite):
    done = vwlite("lm", "train", "text", "--curriculum", "9", "--vocabulary", "500", "-f", "m", "--json", "out.json")
    known = len(vocabulary(LINES, None))
    assert f"the text has {known} different words, fewer than --vocabulary 500" in done.stderr
    assert "windows of 9 words, average loss" in done.stderr and "more passes take them all" in done.stderr
    facts = json.loads((data / "out.json").read_text())["result"]
    assert facts["vocabulary"] == known and facts["passes"] == 1 and facts["steps"] > 0
    assert vwlite("inspect", "m", "--top", "3").stdout.splitlines()[-1].split() == ["first_words", "the", ",", "."]
    assert json.loads(vwlite("inspect", "m", "--json", "-").stdout)["steps"] == facts["steps"]


@pytest.mark.parametrize(("power", "wanted"), [(0.5, (0.25, 0.001)), (0, (0.5, 0.002)), (1, (0.125, 0.0005))])
def test_rates_fall_with_the_windows_seen(power, wanted):
    assert LmConfig(power_t=power).rates(3_000_000) == pytest.approx(wanted)
    assert LmConfig(power_t=power).rates(0) == (0.5, 0.002)


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        ("lm train text -f m --window 1", 2, "--window takes 2 to 100, not 1"),
        ("lm train text -f m --curriculum 1", 65, "a larger --curriculum"),
        ("lm train text -f m --window 20", 65, "take a smaller --window"),
        ("lm train text -f m --dim 0", 2, "--dim takes 1 to"),
        ("lm train text -f m --layer_rate 1e38", 70, "a smaller -l or --layer_rate"),
        ("lm train text -f m --max-memory 1e-6", 2, "a smaller --vocabulary or --dim"),
        ("lm train text -f m --tokens x", 2, "not one of words, blanks"),
        ("lm train none -f m", 66, "no such file"),
        ("lm train known -f m", 65, "known is a model or another zip file, not data"),
        ("lm rank -i known known", 65, "known is a model or another zip file, not data"),
        ("lm train text -i known -f m --dim 7", 2, "--dim"),
        ("lm train text -i known -f m --hidden 7 --lock-wait 0", 2, "--hidden"),
        ("lm rank -i known text -p -", 2, "give -p a file"),
        ("lm features -i known text", 2, "--namespace"),
        ("lm features -i known text --namespace w --namespace w --max-bad-ratio 1", 2, "twice"),
        ("lm features -i known some.vw --namespace a", 65, "is a word of the model"),
        ("lm features -i known some.vw --namespace w --scale 0", 2, "--scale"),
        ("predict -i known some.vw", 2, "a language model: use 'vwlite lm rank'"),
        ("evaluate -i known some.vw", 2, "a language model"),
        ("inspect known --factors a", 2, "a language model"),
        ("lm rank -i other text", 76, "not made by 'vwlite lm'"),
        ("lm rank -i text text", 76, "text"),
    ],
)
def test_wrong_commands_are_refused(command, status, says, data, vwlite):
    (data / "some.vw").write_text("1 |w cat\n")
    vwlite("lm", "train", "text", *SMALL, "-f", "known")
    vwlite("train", "some.vw", "-f", "other", "--quiet")
    assert says in vwlite(*command.split(), status=status).stderr
    assert not (data / "m").exists()
