"""What is typed or written as a number is one of ASCII digits, or none: Python reads more."""

import pytest

from vwlite.options import is_count, read_decimal, read_whole

NONE = ["", " 1", "1 ", "1_0", "\u0661", "\uff11", "nan", "inf", "-infinity", "1e", "1e1.5", "--1", "0x1", "1j", "."]


@pytest.mark.parametrize("text", NONE)
def test_other_texts_are_refused_as_numbers(text):
    for read in (read_whole, read_decimal):
        with pytest.raises(ValueError, match="is not a"):
            read(text)
    assert not is_count(text)


def test_numbers_are_read():
    assert [read_whole(text) for text in ("0", "-7", "+12", "007")] == [0, -7, 12, 7]
    decimals = {"1": 1, "-1.5": -1.5, "+.5": 0.5, "5.": 5, "1e3": 1000, "2.5E-1": 0.25, "1e999": float("inf")}
    assert {text: read_decimal(text) for text in decimals} == decimals
    with pytest.raises(ValueError, match="is not a whole number"):
        read_whole("9" * 1001)


TYPED = [
    "-l", "-b", "--passes", "--power_t", "--classweight", "--oaa", "-P", "--checkpoint-every", "--ngram",
    "--feature_limit", "--hash_seed", "--random_seed", "--block-size", "--holdout_period", "--max-bad-ratio",
]


@pytest.mark.parametrize("option", TYPED)
@pytest.mark.parametrize("number", ["1_0", "\u0661\u0660", "10 "])
def test_options_refuse_numbers_of_other_forms(option, number, vwlite, write):
    write("data.vw", "1 |a x\n")
    typed = f"1:{number}" if option == "--classweight" else number
    vwlite("train", "data.vw", option, typed, "-f", "model", status=2)


@pytest.mark.parametrize(
    "command",
    [
        "aso learn data.vw --aux freq -f out --dim 1_0", "aso learn data.vw --aux freq-k:\u0661 -f out",
        "tune data.vw -f out --vary -l\u00a01_0..20", "check data.vw -b 1_8", "inspect data.vw --top 1_0",
        "vw data.vw -l 1_0", "vw data.vw --limit_output 1_0",
    ],
)
def test_options_of_other_commands_refuse_numbers_of_other_forms(command, vwlite, write):
    write("data.vw", "1 |a x\n" * 6)
    words = [word.replace("\u00a0", " ") for word in command.split(" ")]
    vwlite(*words, status=1 if words[0] == "vw" else 2)


LABELS = {
    "--csoaa 12": ["1:1_0", "1:\u0661", "1_0:1", "1:nan", ":1", "1: 2:1", "1:0x1"],
    "--multilabel_oaa 12": ["1_0", "1,,2", ",1", "\u0661", "1,"],
    "--csoaa_ldf m": ["1:1_0", "1:\u0661", ":1", "1:"],
    "--filter_tree 3 --costs": ["1:1_0", "1:\u0661", ":1"],
}


@pytest.mark.parametrize(("options", "label"), [(options, label) for options in LABELS for label in LABELS[options]])
def test_labels_of_other_forms_are_malformed(options, label, vwlite, write):
    write("data.vw", f"{label} |a x\n")
    stderr = vwlite("train", "data.vw", *options.split(), "-f", "model", "--strict", status=65).stderr
    assert "data.vw:1" in stderr and "label" in stderr


@pytest.mark.parametrize("number", ["1_0", "\u0661", "0x1", "1e"])
@pytest.mark.parametrize("line", ["{} |a x", "1 {} |a x", "1 1 {} |a x", "1 |a:{} x"])
def test_numbers_of_lines(line, number, vwlite, write):
    write("data.vw", line.format(number) + "\n")
    vwlite("train", "data.vw", "--strict", "-f", "model", status=65)


@pytest.mark.parametrize("line", ["{} 1:2", "1 1:{}", "1 {}:2"])
def test_numbers_of_svmlight(line, vwlite, write):
    write("data.txt", line.format("1_0") + "\n")
    vwlite("train", "data.txt", "--format", "svmlight", "--strict", "-f", "model", status=65)
