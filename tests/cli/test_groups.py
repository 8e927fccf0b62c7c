"""--csoaa_ldf and --wap_ldf: groups of lines in files, under ``vwlite vw`` and outside of it."""

import json

import pytest

GROUPS = [
    "".join(
        [
            *([f"shared 's{n} |s s{n % 3}\n"] if n % 4 else []),
            f"1:{n % 3 / 2} 't{n} |a x{n % 5}\n2:{(n + 1) % 2} |a y{n % 3} |b q\n",
            *(["3:0.7 |b z\n"] if n % 5 == 0 else []),
            "\n",
        ]
    )
    for n in range(40)
]
TEXT = "".join(GROUPS)
KINDS = ["--csoaa_ldf m", "--csoaa_ldf mc", "--wap_ldf multiline", "--csoaa_ldf mc --loss_function logistic -q sa"]


@pytest.fixture
def trained(vwlite, write):
    write("d", TEXT)
    vwlite("train", "d", "-f", "m", "--csoaa_ldf", "m", "-q", "sa", "--quiet")
    return "m"


@pytest.mark.parametrize("options", [*KINDS, "--csoaa_ldf mc --csoaa_rank", "--wap_ldf m --ldf_override mc"])
def test_two_passes_are_two_runs(options, vwlite, write, weights):
    write("all", TEXT)
    vwlite("train", "all", "-f", "m", "--quiet", "--passes", "2", "--holdout_off", *options.split())
    vwlite("train", "all", "-f", "n", "--quiet", *options.split())
    vwlite("train", "all", "-i", "n", "-f", "n", "--quiet")
    assert weights("m") == weights("n") != {}


def test_predictions_have_a_line_for_each_class_and_an_empty_one_for_each_group(vwlite, write, trained, tmp_path):
    write("e", "shared h|s s1\n1 one|a x1\n2:5 |a y1\n\n\n\n7 |a x3\n8 'last |b q")
    done = vwlite("predict", "-i", trained, "e", "-r", "r")
    rows = [line.split(" ") for line in done.lines]
    assert [words[1:] for words in rows] == [["one"], [], [], [], ["last"], []]
    assert sorted(rows[0][:1] + rows[1]) in (["0", "1"], ["0", "2"]) and rows[2] == rows[5] == [""]
    assert sorted(rows[3] + rows[4][:1]) in (["0", "7"], ["0", "8"])
    raw = (tmp_path / "r").read_text().splitlines()
    assert [line.partition(":")[0] for line in raw] == ["0", "1", "2", "7", "8"]
    assert raw[0] == "0:0 h" and raw[1].endswith(" one") and raw[4].endswith(" last")


def test_numbers_of_classes_are_of_32_bits_or_those_of_vw(vwlite, write):
    write("d", "4294967295:0 |a x\nfoo:1 |a y\n")
    options = ("--csoaa_ldf", "m", "-p", "-", "--quiet")
    assert vwlite("train", "d", *options).lines == ["4294967295", "0", ""]
    assert vwlite("vw", "d", *options).lines == ["4294967296", "0", ""]


def test_ranks_are_sorted_and_probabilities_shown(vwlite, write):
    write("d", TEXT)
    ranked = vwlite("train", "d", "--csoaa_ldf", "m", "--csoaa_rank", "-p", "-", "--quiet").lines
    assert ranked[:2] == ["1:0,2:0,3:0 t0", ""] and ranked[2].endswith(" s1")
    scores = [[float(part.split(":")[1]) for part in line.split()[0].split(",")] for line in ranked if line]
    assert all(row == sorted(row) for row in scores)
    options = ("--csoaa_ldf", "mc", "--probabilities", "--loss_function", "logistic")
    done = vwlite("train", "d", "-f", "m", *options)
    assert "average multiclass log loss = " in done.stderr
    lines = vwlite("predict", "-i", "m", "d").stdout.split("\n\n")
    sums = [sum(float(line.split()[0]) for line in group.splitlines()) for group in lines if group]
    assert len(sums) == 40 and sums == pytest.approx([1] * 40, abs=1e-5)
    report = json.loads(vwlite("evaluate", "-i", "m", "d", "--json", "-").stdout)
    assert report["examples"] == 40 and 0 < report["log_loss"] < 0.8 and 0 < report["loss"] < 0.5


def test_groups_are_held_out_whole(vwlite, write):
    write("d", TEXT)
    done = vwlite("train", "d", "-f", "m", "--csoaa_ldf", "m", "--passes", "3", "--holdout_period", "4")
    assert "number of examples per pass = 30" in done.stderr and " h\n" in done.stderr


def test_names_of_crossed_features_and_inspect(vwlite, write, tmp_path):
    write("d", TEXT)
    vwlite("train", "d", "-f", "m", "--csoaa_ldf", "m", "-q", "sa", "--names", "--invert_hash", "h", "--quiet")
    assert "s^s1*a^x1:" in (tmp_path / "h").read_text()
    assert "s^s1*a^" in vwlite("inspect", "m", "--top", "400").stdout


def test_a_group_with_a_malformed_line_is_predicted_but_not_learned(vwlite, write, weights):
    write("d", TEXT)
    write("e", TEXT + "1:9 |a x1\n2:8 |a x:nan\n3:9 |b q\n")
    vwlite("train", "d", "-f", "m", "--csoaa_ldf", "m", "--quiet")
    done = vwlite("train", "e", "-f", "n", "--csoaa_ldf", "m", "--max-bad-ratio", "0.1")
    assert "1 of 161 lines were malformed" in done.stderr
    assert weights("m") == weights("n")
    assert vwlite("predict", "-i", "m", "e", "--max-bad-ratio", "0.1").lines[-3] == "nan"


def test_a_shared_line_that_no_line_follows(vwlite, write, weights):
    write("d", TEXT)
    write("e", "shared |s s1\n\n" + TEXT)
    for name in "de":
        vwlite("train", name, "-f", f"{name}.model", "--csoaa_ldf", "m", "--quiet")
    assert weights("d.model") == weights("e.model")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--csoaa_ldf m --wap_ldf m", "--csoaa_ldf and --wap_ldf do not go together"),
        ("--csoaa_ldf m --oaa 3", "do not go together"),
        ("--csoaa_ldf m --classweight 1:2", "--classweight does not go with groups of lines"),
        ("--csoaa_ldf m --binary", "--binary does not go with groups of lines"),
        ("--csoaa_ldf singleline", "'singleline' is not one of"),
        ("--csoaa_ldf m --passes 2 --shuffle", "--shuffle-first and --curriculum do not go with"),
        ("--csoaa_rank", "--csoaa_rank needs --csoaa_ldf or --wap_ldf"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, vwlite, write):
    write("d", TEXT)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


def test_lines_without_a_class_are_bad_data(vwlite, write, trained):
    write("e", "1:0 |a x\n1:0|a y\n")
    for command in (("train", "e", "-f", "n", "--csoaa_ldf", "m"), ("predict", "-i", trained, "e")):
        assert "e:2: no label: expected one word class:cost, or class" in vwlite(*command, status=65).stderr


@pytest.mark.parametrize("command", [("predict", "-i"), ("vw", "-t", "--quiet", "-p", "-", "-i")])
def test_lines_of_groups_without_labels_are_of_the_classes_from_1_on(command, vwlite, write, trained):
    labelled = write("e", "shared |a z\n1 |a x\n2 'tag |a y\n\n1 |a y\n2 |a x\n3 |a x y\n\n5 |a y\n7 |a x\n")
    bare = write("f", "shared |a z\n|a x\n'tag |a y\n\n|a y\n|a x\n|a x y\n\n5 |a y\n7 |a x\n")
    stdout = vwlite(*command, trained, bare).stdout
    assert stdout == vwlite(*command, trained, labelled).stdout and {"1", "2", "3"} & {*stdout.split()}


def test_vw_shows_every_line_that_it_scores(vwlite, write):
    write("d", "shared |S x1\n1:0 |T a\n2:1 'tag |T b\n")
    done = vwlite("vw", "d", "--csoaa_ldf", "m", "--audit", "--noconstant", "-P", "1")
    first, second = "\tT^a:46478:1:0@0\tS^x1:141312:1:0@0", "\tT^b:11051:1:0@0\tS^x1:141312:1:0@0"
    assert done.lines == ["0", first, "0 tag", second] * 2
    assert "Enabled learners: gd, scorer-identity, csoaa_ldf, shared_feature_merger\nInput label = CS\n" in done.stderr
    assert "0.000000 0.000000            1            1.0          known              1        4\n" in done.stderr
    negative = vwlite("vw", "d", "--wap_ldf", "m", "--audit").lines[-1].split("\t")
    assert negative[1:5] == ["T^a:46478:1:0@0", "Constant:116060:1:0@0", "S^x1:141312:1:0@0", ":11051:-1:0@0"]


def test_vw_gives_unknown_costs_the_largest_number(vwlite, write):
    write("d", "1:1 |a x\n2:0 |a y\n\n1 |a x\n2 |a z\n\n7:1 |b x\n8 |b y\n\n")
    done = vwlite("vw", "d", "--csoaa_ldf", "m", "-P", "1")
    assert "34028234 n.a.                2" in done.stderr
    assert done.lines == ["[warning] ldf example has mix of train/test data; assuming test"]


def test_vw_options_beside_a_model(vwlite, write):
    write("d", TEXT)
    vwlite("vw", "d", "-f", "m", "--csoaa_ldf", "mc", "--quiet")
    ranked = vwlite("vw", "-t", "-i", "m", "d", "--csoaa_rank", "-p", "-", "--quiet").lines
    shares = vwlite("vw", "-t", "-i", "m", "d", "--probabilities", "-p", "-", "--quiet").lines
    assert ranked[0].count(":") == 3 and 0 < float(shares[0].split()[0]) < 1
    before = vwlite("vw", "-i", "m", "d", "-r", "-", "--quiet").stdout
    assert vwlite("vw", "-i", "m", "d", "--ldf_override", "m", "-r", "-", "--quiet").stdout != before
    assert "contradicts" in vwlite("vw", "-i", "m", "d", "--csoaa_ldf", "m", status=1).stdout
