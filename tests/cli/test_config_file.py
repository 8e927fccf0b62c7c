"""``--config FILE`` and ``VWLITE_*``: the command line counts before the environment, that before the file."""

import json

import pytest

DATA = "1 |user ann |item tea\n-1 |user bob |item tea\n"


@pytest.fixture
def data(write):
    return write("data.vw", DATA)


@pytest.fixture
def options(vwlite):
    """The options of the model, as inspect shows them, with the bits."""

    def of(model="model"):
        report = json.loads(vwlite("inspect", model, "--json", "-").stdout)
        return {**report["options"], "bits": report["bits"], "loss": report["loss_function"]}

    return of


CONFIG = """
[train]
loss_function = "logistic"
bit_precision = 12
q = ["ui"]
holdout-off = true
quiet = true

[predict]
raw = false
quiet = true
"""


def test_a_file_has_what_is_not_typed(vwlite, write, data, options):
    write("night.toml", "\ufeff" + CONFIG)
    assert vwlite("train", data, "-f", "model", "--config", "night.toml").stderr == ""
    assert options() == {"quadratic": ["ui"], "bits": 12, "loss": "logistic"}
    vwlite("train", data, "-f", "other", "--loss_function", "logistic", "-b", 12, "-q", "ui", "--quiet")
    shown = [vwlite("predict", "-i", model, data, "--config", "night.toml").stdout for model in ("model", "other")]
    assert shown[0] == shown[1] != ""


def test_typed_options_go_before_variables_and_these_before_the_file(vwlite, write, data, options, monkeypatch):
    write("night.toml", CONFIG)
    monkeypatch.setenv("VWLITE_CONFIG", "night.toml")
    monkeypatch.setenv("VWLITE_TRAIN_BITS", "13")
    monkeypatch.setenv("VWLITE_TRAIN_LOSS_FUNCTION", "hinge")
    vwlite("train", data, "-f", "model", "--loss-function", "squared", "-q", "uu")
    assert options() == {"quadratic": ["uu"], "bits": 13, "loss": "squared"}


@pytest.mark.parametrize(
    ("name", "value", "typed"),
    [
        ("Q", "", ""),
        ("QUADRATIC", "ui uu", "-q ui -q uu"),
        ("NOCONSTANT", "1", "--noconstant"),
        ("NOCONSTANT", "off", ""),
        ("SHUFFLE", "no", "--no-shuffle"),
        ("L2", "0.5", "--l2 0.5"),
        ("DOT_L2", "0.5", "--dot-l2 0.5 --dotproduct ui --rank 2"),
    ],
)
def test_a_variable_is_the_option(name, value, typed, vwlite, data, monkeypatch, tmp_path):
    vwlite("train", data, "-f", "typed", *typed.split())
    monkeypatch.setenv(f"VWLITE_TRAIN_{name}", value)
    if name == "DOT_L2":
        monkeypatch.setenv("VWLITE_TRAIN_DOTPRODUCT", "ui")
        monkeypatch.setenv("VWLITE_TRAIN_RANK", "2")
    vwlite("train", data, "-f", "set")
    assert (tmp_path / "set").read_bytes() == (tmp_path / "typed").read_bytes()


def test_commands_of_groups(vwlite, write, monkeypatch):
    write("text.vw", "|w red big |next apple\n|w red |next apple\n|w fast |next car\n|w fast big |next car\n")
    write("a.toml", '[aso.learn]\naux = ["mask:next"]\ndim = [2]\n')
    vwlite("aso", "learn", "text.vw", "-f", "theta", "--config", "a.toml", "--quiet")
    monkeypatch.setenv("VWLITE_ASO_INSPECT_ROWS", "1")
    assert vwlite("aso", "inspect", "theta").stdout == vwlite("aso", "inspect", "theta", "--rows", 1).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[train]\nbits = 'x'\n", "-b: 'x' is not a valid integer (a.toml [train] bits)"),
        ("[train]\nbits = true\n", "a.toml [train] bits: True is not a value of the option"),
        ("[train]\nquiet = 'x'\n", "a.toml [train] quiet: 'x' is not true or false"),
        ("[train]\npases = 3\n", "a.toml [train] pases: no such option pases (did you mean passes?)"),
        ("[train]\ndata = ['x.vw']\n", "a.toml [train] data: no such option data"),
        ("[trian]\npasses = 3\n", "a.toml: no such command trian (did you mean train?)"),
        ("train = 3\n", "a.toml: train is not a table: write [train]"),
        ("[train\n", "a.toml: "),
        pytest.param("a = " + "[" * 10_000 + "]" * 10_000 + "\n", "a.toml: ", id="deep"),
        ("[train]\nl2 = -1\n", "--l2 takes a number of 0 or more, not -1"),
    ],
)
def test_errors_in_a_file_are_told(text, said, vwlite, write, data):
    write("a.toml", text)
    assert said in vwlite("train", data, "--config", "a.toml", "--quiet", status=2).stderr


def test_errors_in_the_environment_are_told(vwlite, data, monkeypatch):
    assert "no.toml: No such file" in vwlite("train", data, "--config", "no.toml", status=66).stderr
    monkeypatch.setenv("VWLITE_TRAIN_PASES", "3")
    assert "$VWLITE_TRAIN_PASES: no such option pases (did you mean passes?)" in vwlite("train", data, status=2).stderr
    monkeypatch.delenv("VWLITE_TRAIN_PASES")
    monkeypatch.setenv("VWLITE_TRAIN_QUIET", "perhaps")
    assert "$VWLITE_TRAIN_QUIET: 'perhaps' is neither 1 nor 0" in vwlite("train", data, status=2).stderr


def test_an_open_quote_in_the_environment(vwlite, data, monkeypatch):
    monkeypatch.setenv("VWLITE_TRAIN_QUADRATIC", "a'b")
    assert vwlite("train", data, status=2).stderr == "vwlite: $VWLITE_TRAIN_QUADRATIC: No closing quotation\n"


def test_a_setting_counts_as_typed(vwlite, data, monkeypatch):
    monkeypatch.setenv("VWLITE_TRAIN_RANK", "3")
    assert "--rank needs --dotproduct" in vwlite("train", data, status=2).stderr


def test_the_configuration_is_not_overwritten(vwlite, write, data):
    write("a.toml", "[train]\n")
    assert "a.toml" in vwlite("train", data, "-f", "a.toml", "--config", "a.toml", status=2).stderr


def test_vw_takes_nothing_from_elsewhere(vwlite, data, monkeypatch):
    monkeypatch.setenv("VWLITE_VW_PASSES", "many")
    vwlite("vw", data)
    assert "unrecognised option '--config'" in vwlite("vw", data, "--config", "a.toml", status=1).stdout
