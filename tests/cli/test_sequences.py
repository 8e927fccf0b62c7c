"""``vwlite aso train --sequences``: labels of sequences chosen together."""

import json
import random

import pytest

FIRST, LAST = ["Ann", "Bob", "Cy"], ["Dorn", "Ernst", "Falk"]


def sentences(count, seed):
    """People of two words, whose second one is a place when it stands alone."""
    rng = random.Random(seed)
    lines = []
    for number in range(count):
        words = [("said", "O")] * rng.randint(0, 2)
        if rng.random() < 0.6:
            words += [(rng.choice(FIRST), "B-PER"), (rng.choice(LAST), "I-PER")]
        else:
            words += [("in", "O"), (rng.choice(LAST), "B-LOC")]
        words += [(".", "O")]
        for place, (word, label) in enumerate(words):
            before = words[place - 1][0] if place else "-"
            lines.append(f"{label} 's{number}|w {word} |b {before if before in ('in', '-') else 'other'}\n")
        lines.append("\n")
    return "".join(lines)


@pytest.fixture(autouse=True)
def files(write):
    write("train.vw", sentences(60, 1))
    write("test.vw", sentences(40, 2))


def train(vwlite, *options, data="train.vw", **more):
    return vwlite("aso", "train", data, "-f", "model", "--quiet", "--sequences", *options, **more)


def f1(vwlite, data="test.vw"):
    return json.loads(vwlite("evaluate", "-i", "model", data, "--metric", "conll", "--json", "-").stdout)["f1"]


@pytest.mark.parametrize("decode", [(), ("--decode", "bio"), ("--decode", "viterbi"), ("--decode", "none")])
def test_sequences_are_learned(decode, vwlite, header):
    train(vwlite, *decode)
    assert header("model")["sequences"]["decode"] == (decode or ("", "bio"))[1]
    assert f1(vwlite) > 90
    assert f"decode      {(decode or ('', 'bio'))[1]}" in vwlite("inspect", "model").stdout


def test_every_line_has_a_line(vwlite, write):
    train(vwlite)
    text = sentences(3, 5)
    write("some.vw", text)
    lines = vwlite("predict", "-i", "model", "some.vw").lines
    for line, answer in zip(text.splitlines(), lines, strict=True):
        assert answer.endswith(line.partition("'")[2].partition("|")[0].strip()) and bool(answer) == bool(line)
    scores = vwlite("predict", "-i", "model", "some.vw", "--scores").lines
    assert [bool(line) for line in scores] == [bool(line) for line in lines] and "B-LOC:" in scores[0]


def test_a_phrase_never_goes_on_without_a_beginning(vwlite, write):
    words = "|w Dorn\n|w Ernst\n|w Falk |b other\n\n|w Falk\n"
    write("odd.vw", words)
    train(vwlite, "--decode", "none")
    free = vwlite("predict", "-i", "model", "odd.vw").lines
    train(vwlite, "--decode", "bio")
    lines = vwlite("predict", "-i", "model", "odd.vw").lines
    assert "I-PER" in free and lines[3] == free[3] == ""
    before = "O"
    for label in lines:
        assert not label.startswith("I-") or before[1:] == label[1:]
        before = label or "O"


def test_a_wide_beam_finds_what_the_exact_search_finds(vwlite, write):
    write("more.vw", sentences(40, 9))
    how = ("--decode", "viterbi", "--label-features", "y1,y2")
    train(vwlite, *how)
    exact = vwlite("predict", "-i", "model", "more.vw").lines
    train(vwlite, *how, "--beam", "100")
    assert vwlite("predict", "-i", "model", "more.vw").lines == exact
    train(vwlite, *how, "--beam", "1")
    assert len(vwlite("predict", "-i", "model", "more.vw").lines) == len(exact)


def test_malformed_lines_are_left_out_of_their_sequence(vwlite, write):
    train(vwlite, "--decode", "viterbi", "--label-features", "y1,y2")
    good = sentences(4, 8)
    write("good.vw", good)
    lines = good.splitlines(keepends=True)
    lines[2:2] = ["|w a:inf\n"]
    write("bad.vw", "".join(lines))
    expected = vwlite("predict", "-i", "model", "good.vw").lines
    done = vwlite("predict", "-i", "model", "bad.vw", "--max-bad-ratio", "1")
    assert done.lines == [*expected[:2], "nan", *expected[2:]]


def named_once(count, seed):
    """Names of which only the first sentence with one tells what it names."""
    rng = random.Random(seed)
    lines = []
    for number in range(count):
        name, kind = f"n{seed}x{number}", rng.choice(("PER", "LOC"))
        word = "Mr" if kind == "PER" else "in"
        lines.append(f"O |w {word}\nB-{kind} |w {name} |b {word}\n\n")
        lines += [f"O |w {word}\nB-{kind} |w {name} |b other\n\n" for word in ("saw", "and")]
    return "".join(lines)


def test_features_of_earlier_labels_of_a_word_raise_f1(vwlite, write):
    write("names.vw", named_once(200, 1))
    write("more.vw", named_once(100, 2))
    how = ("--decode", "viterbi", "--label-noise", "0", "--label-features")
    train(vwlite, *how, "y1", data="names.vw")
    plain = f1(vwlite, "more.vw")
    train(vwlite, *how, "y1,y-prev*w", data="names.vw")
    recalled = f1(vwlite, "more.vw")
    assert plain < 90 and recalled > plain + 20
    train(vwlite, *how, "y-prev*w", "--memory", "1", data="names.vw")
    assert f1(vwlite, "more.vw") > plain + 20
    answers = vwlite("predict", "-i", "model", "more.vw").lines
    labels = [line.split(" ")[0] if line else "" for line in named_once(100, 2).splitlines()]
    assert sum(map(str.__eq__, answers, labels)) > 0.9 * len(labels)


def test_a_sequence_that_does_not_end(vwlite, write, tmp_path, monkeypatch):
    from vwlite.data.block_parser import read
    from vwlite.data.malformed_lines import BadLines
    from vwlite.errors import DataError
    from vwlite.solvers.aso import tagger
    from vwlite.solvers.aso.corpus import text_format
    from vwlite.solvers.aso.model_file import load_target

    train(vwlite)
    write("endless.vw", sentences(30, 4).replace("\n\n", "\n"))
    monkeypatch.setattr(tagger, "USUAL_MEMORY", 1000)
    parts = read([str(tmp_path / "endless.vw")], text_format(), threads=1)
    with pytest.raises(DataError, match="do empty lines end the sequences"):
        list(tagger.tag_sequences(tagger.tagger_of(load_target(str(tmp_path / "model"))), parts, BadLines(None, None)))


def test_phrases_and_labels_are_measured(vwlite):
    train(vwlite)
    report = json.loads(vwlite("evaluate", "-i", "model", "test.vw", "--json", "-").stdout)
    assert report["sequences"] == 40 and report["accuracy"] > 0.9 and report["types"][0]["type"] == "LOC"
    assert "conll" not in report and report["phrases"] == 40
    stderr = vwlite("evaluate", "-i", "model", "test.vw", "--metric", "auc", status=2).stderr
    assert "sequences, examples, accuracy, micro_f1, conll" in stderr


def test_unlabelled_lines_are_not_measured(vwlite, write):
    train(vwlite)
    write("part.vw", "|w said\nB-LOC |w Dorn |b in\n\n")
    assert json.loads(vwlite("evaluate", "-i", "model", "part.vw", "--json", "-").stdout)["examples"] == 1
    write("none.vw", "|w said\n\n")
    assert "no labelled example" in vwlite("evaluate", "-i", "model", "none.vw", status=65).stderr


def test_labels_that_are_no_phrases(vwlite, write, header):
    write("tags.vw", "".join(f"{tag} |w {word}\n" for word, tag in [("a", "DT"), ("dog", "NN"), ("ran", "V")] * 9))
    train(vwlite, data="tags.vw")
    assert header("model")["sequences"]["decode"] == "none"
    stderr = train(vwlite, "--decode", "bio", data="tags.vw", status=2).stderr
    assert "--decode bio needs labels O, B-X and I-X, and there is DT" in stderr
    train(vwlite, "--decode", "viterbi", "--label-features", "y1,y2,y1*w", data="tags.vw")
    assert vwlite("predict", "-i", "model", "tags.vw").lines[:3] == ["DT", "NN", "V"]


def test_phrases_without_beginnings(vwlite, write, header):
    write("iob1.vw", "I-PER |w Ann\nI-PER |w Dorn\nO |w ran\n\n" * 9)
    train(vwlite, data="iob1.vw")
    assert header("model")["sequences"]["decode"] == "none"
    stderr = train(vwlite, "--decode", "bio", data="iob1.vw", status=2).stderr
    assert "I-PER of example 1 continues no phrase" in stderr and "--iob2" in stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--decode bio", "--decode does nothing without --sequences"),
        ("--sequences --label-features y1", "--label-features does nothing without --decode viterbi"),
        ("--sequences --decode bio --label-noise 0.1", "--label-noise does nothing without --decode viterbi"),
        ("--sequences --decode viterbi --label-features y3", "y1, y2, y1*NS and y-prev*NS, not 'y3'"),
        ("--sequences --decode viterbi --label-features y1*q", "no feature of the text is in namespace 'q'"),
        ("--sequences --decode viterbi --label-features y-prev*q", "no feature of the text is in namespace 'q'"),
        ("--sequences --decode viterbi --label-features y-prev*w,y-prev*b", "y-prev of two namespaces"),
        ("--sequences --decode viterbi --memory 9", "--memory does nothing without --label-features y-prev*NS"),
        ("--sequences --memory 9", "--memory does nothing without --decode viterbi"),
        ("--sequences --decode viterbi --label-noise 2", "--label-noise"),
        ("--sequences --beam 9", "--beam does nothing without --decode viterbi"),
        ("--sequences --decode viterbi --label-features y1 --beam 9", "--beam does nothing without --label-features"),
        ("--sequences --multilabel", "drop --multilabel"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, said, vwlite):
    done = vwlite("aso", "train", "train.vw", "-f", "model", "--quiet", *options.split(), status=2)
    assert said in done.stderr


def test_theta_and_idf_go_with_sequences(vwlite):
    vwlite("aso", "learn", "train.vw", "--aux", "mask:w", "--dim", "3", "-f", "theta", "--quiet")
    for options in (("--theta", "theta"), ("--idf",)):
        train(vwlite, *options, "--decode", "viterbi")
        assert f1(vwlite) > 80
