"""What a terminal would raise_if_stopped is escaped wherever people read; data and JSON stay as they are."""

import json
import re

import pytest

from vwlite.errors import escaped, laid_out

RED, DELETE, CSI, OVER = "\x1b[31m", "\x7f", "\x9b", "\u202e"
ODD = f"{RED}x{DELETE}{CSI}{OVER}"
SHOWN = r"\x1b[31mx\x7f\x9b\u202e"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TEXT = f"1 'a |{ODD}n {ODD}f g\n-1 |{ODD}n h {ODD}f\n" * 3
NAMED = f"{ODD} |a b {ODD}f\nother |a c\n" * 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (ODD, SHOWN),
        ("\0\t\n\r", r"\x00\t\n\r"),
        ("\udcff\u2066\u2029", r"\xff\u2066\u2029"),
        ("é 日本 👍🏽 می‌خواهم", "é 日本 👍🏽 می‌خواهم"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    assert escaped(text) == shown
    assert laid_out(f"{text}\n\ta") == shown.replace(r"\t\n", "\t\n") + "\n\ta"


COMMANDS = {
    "inspect": ("inspect model", 0),
    "check": ("check text", 0),
    "labels": ("inspect tagger", 0),
    "class": ("train named -f out --oaa 2 --named_labels a,b --max-bad-ratio 1", 65),
    "Theta": ("aso inspect theta", 0),
    "classes": ("inspect classes", 0),
    "missing file": (f"train {ODD}", 66),
    "file": (f"train {ODD}.vw -f out", 0),
    "file of vw": (f"vw -d {ODD}.vw", 0),
    "missing file of vw": (f"vw -d {ODD} -i {ODD}m", 1),
    "ledger": ("train again.vw -i old -f out", 0),
    "option": (f"train --{ODD}", 2),
}


@pytest.fixture
def files(vwlite, write):
    write("text", TEXT)
    write("named", NAMED)
    write(f"{ODD}.vw", TEXT)
    write("again.vw", TEXT)
    vwlite("train", "text", "-f", "model", "--names", "--quiet")
    vwlite("l1", "named", "-f", "tagger", "--model", "multinomial", "--names", "--quiet")
    vwlite("aso", "learn", "named", "text", "--aux", "freq", "-f", "theta", "--min-count", 1, "--quiet", status=None)
    vwlite("aso", "train", "named", "-f", "classes", "--quiet")
    vwlite("train", f"{ODD}.vw", "-f", "old", "--quiet")


@pytest.mark.parametrize("name", COMMANDS)
def test_no_control_sequence_of_the_data_reaches_the_terminal(name, files, vwlite):
    command, status = COMMANDS[name]
    done = vwlite(*command.split(), status=status)
    stderr = done.stdout + done.stderr
    assert not OBEYED.search(stderr) and SHOWN[:8] in stderr


def test_json_and_data_stay_as_they_are(files, vwlite):
    assert json.loads(vwlite("inspect", "model", "--json", "-").stdout)["top"][0]["name"].count(RED)
    assert {space["name"] for space in json.loads(vwlite("check", "text", "--json", "-").stdout)["namespaces"]} == {
        f"{ODD}n"
    }
    assert vwlite("predict", "-i", "tagger", "-", stdin=f"1 '{ODD} |a b\n").stdout.count(RED)
