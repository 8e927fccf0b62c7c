"""``vwlite l1 --theta`` from the command line."""

import json

import pytest

from tests.cli.test_aso import bare, documents, learn
from vwlite.api.loglinear_models import CRFModel
from vwlite.data.block_parser import read
from vwlite.data.malformed_lines import BadLines
from vwlite.storage import model_file

CRF = ("--model", "crf", "--passes", "4", "--quiet")


def sequences(count, seed):
    lines = documents(count, seed).splitlines()
    return "".join(line + ("\n\n" if number % 3 == 2 else "\n") for number, line in enumerate(lines))


@pytest.fixture(autouse=True)
def files(write, vwlite):
    write("un.vw", bare(documents(150, 1)))
    write("few.vw", sequences(60, 2))
    write("test.vw", sequences(60, 3))
    learn(vwlite)


def train(vwlite, *options, data="few.vw", **more):
    return vwlite("l1", data, "--theta", "theta", "-f", "model", *CRF, *options, **more)


APPLIED = [
    (), ("--theta-unit",), ("--theta-scale", "0.5", "--theta-dim", "2"),
    ("--no-theta-unit", "--theta-groups", "w/1,v/1"),
]


@pytest.mark.parametrize("options", APPLIED)
def test_it_learns_what_apply_and_l1_learn(vwlite, write, options):
    train(vwlite, *options)
    for name in ("few", "test"):
        write(f"{name}-more.vw", vwlite("aso", "apply", "--theta", "theta", f"{name}.vw", *options).stdout)
    vwlite("l1", "few-more.vw", "-f", "other", *CRF)
    by_theta = vwlite("predict", "-i", "model", "test.vw", "--probabilities").lines
    other = vwlite("predict", "-i", "other", "test-more.vw", "--probabilities").lines
    assert len(by_theta) == len(other)
    for left, right in zip(by_theta, other, strict=True):
        assert left.split()[:1] == right.split()[:1] and left.split()[-1:] == right.split()[-1:]
        shares = [[float(pair.rsplit(":", 1)[1]) for pair in line.split()[1:-1]] for line in (left, right)]
        assert shares[0] == pytest.approx(shares[1], abs=1e-3)
    measured = (("model", "test.vw"), ("other", "test-more.vw"))
    scores = [vwlite("evaluate", "-i", *arguments, "--metric", "accuracy").stdout for arguments in measured]
    assert scores[0] == scores[1]


def test_theta_helps_and_its_features_are_named(vwlite):
    train(vwlite, "--names")
    assert "theta_w/1^0" in vwlite("inspect", "model", "--top", "500").stdout
    assert "theta_w/1^0" not in json.dumps(vwlite("inspect", "model", "--top", "0", "--json", "-").stdout)
    train(vwlite, "--ignore", "t", "--names")
    assert "theta_w" not in vwlite("inspect", "model", "--top", "500").stdout


def test_going_on_keeps_theta_and_refuses_another(vwlite, tmp_path):
    train(vwlite)
    go_on = ("l1", "few.vw", "-i", "model", "-f", "again", "--passes", "8", "--quiet")
    vwlite(*go_on)
    expected = (tmp_path / "again").read_bytes()
    vwlite(*go_on, "--theta", "theta")
    assert (tmp_path / "again").read_bytes() == expected
    assert "theta" in model_file.load(str(tmp_path / "again")).header
    assert "another --theta-scale" in vwlite(*go_on, "--theta", "theta", "--theta-scale", "2", status=2).stderr
    learn(vwlite, "--random_seed", "9")
    assert "another Theta" in vwlite(*go_on, "--theta", "theta", status=2).stderr
    vwlite("l1", "few.vw", "-f", "model", *CRF)
    assert "another Theta" in vwlite(*go_on, "--theta", "theta", status=2).stderr


def test_models_in_python_keep_theta(vwlite, tmp_path):
    train(vwlite)
    model = CRFModel.loads((tmp_path / "model").read_bytes())
    policy = BadLines(None, None)
    text = [policy.examine(part) for part in read([str(tmp_path / "test.vw")], model.text_format, block_size=1 << 16)]
    said = [line.split()[0] for line in vwlite("predict", "-i", "model", "test.vw").lines if line.strip()]
    assert [name for sequence in model.predict(text) for name in sequence] == said
    model.go_on(text)
    model.save(str(tmp_path / "later"))
    assert "theta" in model_file.load(str(tmp_path / "later")).header


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", "binary", "--theta", "theta"), "--theta is for --model multinomial and crf"),
        (("--model", "crf", "--theta-scale", "2"), "--theta-scale does nothing without --theta"),
        (("--model", "crf", "--theta", "theta", "--theta-groups", "z"), "no group 'z'"),
        (("--model", "crf", "--theta", "theta", "--hash", "all"), "drop --hash"),
        (("--model", "crf", "--theta", "theta", "--no-theta-unit", "--affix", "+2w"), "--affix"),
    ],
)
def test_wrong_options_are_refused(vwlite, options, said):
    assert said in vwlite("l1", "few.vw", "-f", "model", "--quiet", *options, status=2).stderr


def test_text_that_theta_knows_nothing_of_is_refused(vwlite, write):
    write("other.vw", "x |z a\ny |z b\n\n" * 5)
    assert "no feature of the text is in Theta" in train(vwlite, data="other.vw", status=65).stderr
