"""``vwlite check``."""

import json

import pytest

DATA = "0 |user ann age:2.5 |item tea\n1 2 'tag |user bob |item tea cup\n\n|user ann\n1 | 7:0 x:-1\n"


@pytest.fixture
def report(vwlite, write):
    write("data.vw", DATA)

    def run(*arguments, **more):
        return json.loads(vwlite("check", *arguments, "--json", "-", **more).stdout)["result"]

    return run


def test_all_is_counted(report):
    figures = report("data.vw")
    assert (figures["lines"], figures["bad_lines"], figures["examples"], figures["blank_lines"]) == (5, 0, 4, 1)
    assert (figures["unlabelled"], figures["tagged"], figures["importance_not_1"], figures["total_importance"]) == (
        1,
        1,
        1,
        5,
    )
    assert figures["labels"] == {"0": 1, "1": 2}
    assert figures["losses"] == ["squared", "quantile", "logistic", "hinge", "poisson"]
    assert figures["features_per_example"] == {"count": 4, "min": 1, "mean": 2, "max": 3}
    assert figures["values"] == {"count": 8, "min": -1, "mean": 7.5 / 8, "max": 2.5, "ones": 6}
    assert figures["namespaces"] == [
        {"name": "user", "lines": 3, "features": 4},
        {"name": "item", "lines": 2, "features": 3},
        {"name": "", "lines": 1, "features": 1},
    ]
    assert (figures["distinct_features"], figures["bits"]) == (6, 18)


def test_standard_input_and_d_are_inputs(report):
    assert report(stdin=DATA) == report("-d", "data.vw") == report("--data", "data.vw", "--quiet")


def test_the_report_is_a_table(vwlite, write):
    done = vwlite("check", write("data.vw", DATA))
    assert "lines       5 (0 malformed, 1 empty)\n" in done.stdout
    assert "collisions  0.00% of them share a slot at -b 18; which is enough\n" in done.stdout
    assert "(no name)" in done.stdout and done.stderr == ""


ONE = "are one feature at any -b: of names of digits the number counts, modulo 2^32 (--hash all makes names of them)"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("1 4294967297", "4294967297 and 1 {}"),
        ("a 4294967297 1", "4294967297 and 1 {}"),
        ("8589934593 4294967297 4294967297", "4294967297 and 8589934593 {}"),
        ("7 007 x", "007 and 7 {}"),
        ("7 007 8 08 9 009", "007 and 7 (and 2 more such names) {}"),
        ("4294967297 2 007 7a 10000000000x", ""),
        ("4294967297 4294967297", ""),
    ],
)
@pytest.mark.parametrize("size", [16, 1000])
def test_numbers_that_are_one_feature_are_told(names, said, size, vwlite, write):
    for space in ("", "f"):
        text = "".join(f"1 |{space} {name}\n" for name in names.split())
        done = vwlite("check", write("data.vw", text), "--block-size", size)
        assert done.stderr == (f"vwlite: warning: {said.format(ONE)}\n" if said else "")
        assert vwlite("check", "data.vw", "--hash", "all").stderr == ""
    report = json.loads(vwlite("check", "-", "--json", "-", "--quiet", stdin="1 |a 4294967297 1\n").stdout)
    assert report["distinct_features"] == 1 and report["warnings"] == [f"4294967297 and 1 {ONE}"]


def test_bits_to_choose(vwlite, write, report):
    write("wide.vw", "1 |a" + "".join(f" {n * 7919}" for n in range(200_000)) + "\n")
    figures = report("wide.vw", "--hash", "all")
    shares = {int(bits): share for bits, share in figures["share_of_features_that_share_a_slot"].items()}
    assert 199_900 < figures["distinct_features"] <= 200_000  # two names may have one hash of 32 bits
    assert shares[18] == pytest.approx(1 - 2.718281828 ** (-200_000 / 2**18), abs=0.01)
    assert shares[figures["bits"]] <= 0.1 < shares[figures["bits"] - 1]
    assert f"-b {figures['bits']} is enough" in vwlite("check", "wide.vw", "--hash", "all", "-b", 19).stdout
    assert "-b takes 18 to 30" in vwlite("check", "wide.vw", "--bit_precision", 9, status=2).stderr
    assert report("wide.vw", "--hash", "all", "--hash_seed", 5)["bits"] == figures["bits"]


def test_malformed_lines_are_shown_kept_and_fail(vwlite, write, tmp_path):
    write("data.vw", DATA + "x1 |a\n")
    done = vwlite("check", "data.vw", "--bad-lines", "bad", "--json", "found", status=65)
    assert "bad line data.vw:6:1: bad label" in done.stderr
    assert "1 of 6 lines are malformed" in done.stderr.splitlines()[-1]
    assert json.loads((tmp_path / "found").read_text())["bad_lines"] == 1
    assert (tmp_path / "bad").read_text() == "x1 |a\n"
    assert vwlite("check", "data.vw", "--max-bad-ratio", "0.2", "--quiet").stderr == ""
    assert "(--strict)" in vwlite("check", "data.vw", "--strict", status=65).stderr


@pytest.mark.parametrize("text", ["", "\n", "|a\n"])
def test_nothing_to_learn_from_fails(text, vwlite):
    assert "no labelled example" in vwlite("check", stdin=text, status=65).stderr


def test_other_formats_lengths_and_threads(report, write):
    write("data.svm", "1 1:2 7:1\n-1 3:1\n3.5 1:1\n")
    figures = report("data.svm", "--format", "svmlight", "--threads", 2, "--examples", 2, "--block-size", 16)
    assert (figures["examples"], figures["labels"], figures["losses"][-1]) == (2, {"-1": 1, "1": 1}, "hinge")


def test_many_labels_and_namespaces_are_not_listed(report, vwlite, write):
    write("data.vw", "".join(f"{n} |n{n} x\n" for n in range(1100)))
    figures = report("data.vw", "--block-size", 1000)
    assert figures["labels"] is None
    assert (figures["label_min"], figures["label_mean"], figures["label_max"]) == (0, 549.5, 1099)
    assert len(figures["namespaces"]) == 1000 and figures["further_namespaces"] == 100
    assert figures["losses"] == ["squared", "quantile", "poisson"]
    assert "0 to 1099, mean 549.5" in vwlite("check", "data.vw").stdout


def test_lines_sorted_by_label_are_said(report, vwlite, write):
    lines = ["1 |a x\n"] * 60 + ["-1 |a y\n"] * 60
    write("sorted.vw", "".join(lines))
    write("mixed.vw", "".join(lines[number * 7 % 120] for number in range(120)))
    message = "the lines are sorted by label: it changes once, 60 times in random order"
    assert message in vwlite("check", "sorted.vw", "--block-size", 100).stderr
    assert message in report("sorted.vw")["warnings"][0]
    assert "shuffle them, or train --shuffle-first" in report("sorted.vw")["warnings"][0]
    assert report("mixed.vw")["warnings"] == []
    assert vwlite("check", "sorted.vw", "--quiet").stderr == ""


def test_labels_that_are_tags_are_said(vwlite):
    text = "1 |a b\n1|a b\n-1|a c\n'2 |a d\n mail |a d\n 0 |a\n"
    stderr = vwlite("check", stdin=text.replace(" mail ", "mail")).stderr
    assert "2: '1|' is an example without a label, tagged 1 (2 such lines): a label needs a blank" in stderr


def test_namespaces_that_differ_by_case_are_said(vwlite):
    stderr = vwlite("check", stdin="1 |User x |item y\n0 |user x\n").stderr
    assert "the namespaces User and user differ by case only" in stderr
