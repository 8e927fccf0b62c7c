"""A sequence ends where its file does, whether an empty line stands there or not."""

import json
import zipfile

import pytest

ONE = "B-A 't1|w x |v 1\nI-A 't2|w y |v 2\n\nO 't3|w z |v 3\nB-A |w x |v 1\n"
TWO = "B-A 't5|w y |v 2\nO |w z |v 3\n\nB-A |w x |v 4\nI-A |w q |v 2\n"
L1 = ("l1", "--model", "crf", "--edge", "v", "--passes", "4", "--quiet")
ASO = ("aso", "train", "--sequences", "--decode", "viterbi", "--label-features", "y1,y2,y-prev*w", "--quiet")


@pytest.fixture(autouse=True)
def files(write):
    for name, text in (("one.vw", ONE), ("two.vw", TWO), ("both.vw", f"{ONE}\n{TWO}"), ("run.vw", ONE + TWO)):
        write(name, text)


@pytest.fixture
def arrays(tmp_path):
    """What a model holds beside its header: ``{name: bytes}``."""

    def of(name):
        with zipfile.ZipFile(tmp_path / name) as model:
            return {name: model.read(name) for name in model.namelist() if name != "header.json"}

    return of


@pytest.mark.parametrize("command", [L1, (*L1, "--solver", "owlqn"), (*L1, "--curriculum", "easy"), ASO])
@pytest.mark.parametrize("how", [(), ("--threads", "2")])
def test_files_give_the_model_of_their_sequences(command, how, vwlite, arrays):
    """The last sequence of a file went on with the first of the next."""
    how = how if command[0] == "l1" else ()
    for name, files in (("files", ("one.vw", "two.vw")), ("both", ("both.vw",)), ("run", ("run.vw",))):
        vwlite(*command, *files, "-f", name, *how)
    assert arrays("files") == arrays("both") != arrays("run")
    answers = vwlite("predict", "-i", "both", "both.vw").lines
    assert vwlite("predict", "-i", "both", "one.vw", "two.vw").lines == answers[:5] + answers[6:]
    assert answers[5] == ""
    measured = vwlite("evaluate", "-i", "both", "both.vw").stdout
    assert measured == vwlite("evaluate", "-i", "both", "one.vw", "two.vw").stdout
    assert measured.split()[:2] == ["sequences", "4"]


@pytest.mark.parametrize("size", ["1", "40", "1000"])
def test_blocks_and_malformed_lines_do_not_matter(size, vwlite, write, arrays):
    write("two.vw", f"no bar\nno bar\n{TWO}")
    write("both.vw", f"{ONE}no bar\n\nno bar\n{TWO}")
    how = ("--block-size", size, "--max-bad-ratio", "1")
    for name, files in (("files", ("one.vw", "two.vw")), ("both", ("both.vw",))):
        vwlite(*L1, *files, "-f", name, *how)
    assert arrays("files") == arrays("both")
    answers = vwlite("predict", "-i", "both", "one.vw", "two.vw", *how).lines
    assert answers[5:7] == ["nan", "nan"]
    expected = vwlite("predict", "-i", "both", "both.vw", *how).lines
    assert answers[:5] + answers[7:] == expected[:5] + expected[8:]


def test_a_cache_knows_where_files_end(vwlite, arrays):
    cached = ("one.vw", "two.vw", "--cache_file", "kept", "--block-size", "30")
    vwlite(*L1, "both.vw", "-f", "both")
    for name in ("cold", "warm"):
        vwlite(*L1, *cached, "-f", name)
        assert arrays(name) == arrays("both")


def test_sequences_of_files_are_counted(vwlite):
    for files in (("both.vw",), ("one.vw", "two.vw")):
        report = json.loads(vwlite("check", *files, "--l1", "crf", "--json", "-", "--quiet").stdout)["result"]
        assert report["groups"] == 4
