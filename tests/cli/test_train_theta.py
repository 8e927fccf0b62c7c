"""``--theta`` of ``vwlite train`` and ``crr``: against the text that ``aso apply`` writes."""

import json
import pickle

import pytest

import vwlite as package
from tests.cli.test_aso import bare, documents, learn
from vwlite.api.loglinear_models import L1Model
from vwlite.api.solver_model import CRRModel
from vwlite.errors import DataError, UsageError
from vwlite.features.config import FeatureConfig
from vwlite.storage import model_file


def numbered(text):
    """The labels -1 and 1 in place of the two topics."""
    return "".join(line.replace("sport ", "1 ", 1).replace("sea ", "-1 ", 1) for line in text.splitlines(True))


def grouped(text):
    """Groups of three lines, of which those of the first topic cost nothing, with words that they share."""
    lines = []
    for number, line in enumerate(numbered(text).splitlines()):
        cost, rest = line.split(" ", 1)
        lines += ["", "shared |s ship x1"] if number % 3 == 0 else []
        lines.append(f"{1 + number % 3}:{int(cost == '-1')} {rest}")
    return "\n".join(lines[1:]) + "\n\n"


@pytest.fixture(autouse=True)
def files(write, vwlite):
    write("un.vw", bare(documents(150, 1)))
    write("few.vw", documents(60, 2))
    write("test.vw", documents(60, 3))
    for name in ("few", "test"):
        text = documents(60, 2 if name == "few" else 3)
        write(f"{name}-numbers.vw", numbered(text))
        write(f"{name}-groups.vw", grouped(text))
    learn(vwlite)


NAMES = ("--named_labels", "sea,sport")
LOGISTIC = ("--loss_function", "logistic")
LEARNERS = {  # the data, and the options
    "gd": ("-numbers", *LOGISTIC, "--passes", "2", "-c"),
    "ftrl": ("-numbers", *LOGISTIC, "--ftrl", "--l1", "0.1"),
    "coin": ("-numbers", "--coin"),
    "average": ("-numbers", "--average"),
    "bfgs": ("-numbers", *LOGISTIC, "--bfgs", "--passes", "5", "--l2", "1"),
    "dual": ("-numbers", "--dual", "--l2", "1"),
    "ksvm": ("-numbers", "--ksvm", "--kernel", "rbf", "--l2", "1"),
    "interactions": ("-numbers", "-q", "wt", "-q", "tt"),
    "wildcard": ("-numbers", "-q", "::"),
    "part": ("-numbers", "--keep", "t"),
    "random": ("-numbers", "--random_features", "rbf:64", "--gamma", "0.5", "--random_of", "t"),
    "unit": ("-numbers", "--unit"),
    "dyadic": ("-numbers", "--dotproduct", "w,theta_v/1", "--rank", "2"),
    "oaa": ("", "--oaa", "2", *NAMES),
    "multiclass": ("", "--multiclass", "2", *NAMES),
    "dual of classes": ("", "--multiclass", "2", "--dual", "--l2", "1", *NAMES),
    "tree": ("", "--filter_tree", "2", *NAMES),
    "crr": ("-numbers", "--qid", "none", "--alpha", "0.5", "--steps", "2000"),
    "crr of a sample": ("-numbers", "--qid", "none", "--pair-buffer", "20", "--steps", "2000", "--names"),
    "groups": ("-groups", "--csoaa_ldf", "mc", "-q", "st"),
}


OPTIONS = ("--theta-unit", "--theta-scale", "0.5", "--theta-dim", "2", "--theta-groups", "w/1,v/1")
PLAIN = ("dyadic", "oaa", "crr", "groups")


def numbers(lines):
    """Read what is predicted, or the scores of the first class of each."""
    return [float(line.split()[0].rpartition(":")[2]) for line in lines if line.strip()]


@pytest.mark.parametrize(
    ("learner", "options"), [*((name, OPTIONS) for name in LEARNERS), *((name, ()) for name in PLAIN)]
)
def test_it_learns_what_apply_and_train_learn(learner, options, vwlite, write):
    data, *how = LEARNERS[learner]
    command = "crr" if "crr" in learner else "train"
    vwlite(command, f"few{data}.vw", "--theta", "theta", *options, "-f", "model", "--quiet", *how)
    for name in ("few", "test"):
        applied = vwlite("aso", "apply", "--theta", "theta", f"{name}{data}.vw", *options).stdout
        write(f"{name}-more.vw", applied)
    vwlite(command, "few-more.vw", "-f", "other", "--quiet", *how)
    write("theta", "the model needs it no more")
    raw = ("--scores",) if data == "" and learner != "tree" else ()
    by_theta = vwlite("predict", "-i", "model", f"test{data}.vw", *raw).lines
    other = vwlite("predict", "-i", "other", "test-more.vw", *raw).lines
    assert len(set(by_theta)) > 2
    if learner == "tree":
        assert by_theta == other
    else:
        assert numbers(by_theta) == pytest.approx(numbers(other), abs=2e-3)


def test_the_names_of_its_features(vwlite, tmp_path):
    vwlite("train", "few-numbers.vw", "--theta", "theta", "--names", "-f", "model", "--quiet", "--invert_hash", "text")
    assert "theta_w/1^0" in vwlite("inspect", "model", "--top", "500").stdout
    assert "theta_w/1^0" in vwlite("explain", "-i", "model", "test-numbers.vw", "--top", "50").stdout
    assert "theta_w/1^0" in vwlite("predict", "-i", "model", "test-numbers.vw", "--audit").stdout
    assert "theta_w/1^0" in (tmp_path / "text").read_text()
    of_pairs = ("--qid", "none", "--steps", "500")
    vwlite("crr", "few-numbers.vw", "--theta", "theta", "--names", *of_pairs, "-f", "ranker", "--quiet")
    assert "theta_w/1^0" in vwlite("inspect", "ranker", "--top", "500").stdout
    cached = ("--shuffle-first", "--passes", "2", "--names", "-f", "cached", "--quiet")
    vwlite("train", "few-numbers.vw", "--theta", "theta", *cached)
    assert "theta_w/1^0" in vwlite("inspect", "cached", "--top", "500").stdout


@pytest.mark.parametrize("command", ["train", "crr --qid none --steps 100"])
def test_going_on_keeps_theta_and_refuses_another(command, vwlite, tmp_path):
    vwlite(*command.split(), "few-numbers.vw", "--theta", "theta", "-f", "model", "--quiet")
    go_on = (*command.split(), "test-numbers.vw", "-i", "model", "-f", "again", "--quiet")
    vwlite(*go_on)
    expected = (tmp_path / "again").read_bytes()
    (tmp_path / "moved").write_bytes((tmp_path / "theta").read_bytes())
    vwlite(*go_on, "--theta", "moved")
    assert (tmp_path / "again").read_bytes() == expected
    assert "--theta-scale 2 contradicts" in vwlite(*go_on, "--theta-scale", "2", status=2).stderr
    learn(vwlite, "--random_seed", "9")
    assert "another Theta" in vwlite(*go_on, "--theta", "theta", status=2).stderr
    vwlite(*command.split(), "few-numbers.vw", "-f", "model", "--quiet")
    assert "another Theta" in vwlite(*go_on, "--theta", "moved", status=2).stderr
    (tmp_path / "other.vw").write_text("1 |z a\n-1 |z b\n")
    vwlite(*command.split(), "few-numbers.vw", "--theta", "theta", "-f", "model", "--quiet")
    vwlite(*command.split(), "other.vw", "-i", "model", "-f", "model", "--quiet")  # which it has learned with before


def test_models_in_python(vwlite, tmp_path):
    text = (tmp_path / "few-numbers.vw").read_text()
    vwlite("train", "few-numbers.vw", "--theta", "theta", *LOGISTIC, "-f", "model", "--quiet")
    model = package.Model(theta=tmp_path / "theta", loss_function="logistic")
    model.learn(text)
    tested = (tmp_path / "test-numbers.vw").read_text()
    expected = numbers(vwlite("predict", "-i", "model", "test-numbers.vw").lines)
    assert model.predict(tested).tolist() == pytest.approx(expected, abs=1e-6)
    small = package.Model(theta=str(tmp_path / "theta"), loss_function="logistic")
    for line in text.splitlines():
        small.learn(line)
    for copied in (small, pickle.loads(pickle.dumps(model)), package.Model.loads(model.dumps())):
        assert copied.predict(tested).tolist() == model.predict(tested).tolist()
        assert [copied.predict(line)[0] for line in tested.splitlines()[:3]] == model.predict(tested)[:3].tolist()
    (tmp_path / "rows.vw").write_text("1 |w ship:1 wave:1\n")
    rows = model.predict([{"w": {"ship": 1.0, "wave": 1.0}}])
    assert rows.tolist() == model.predict("|w ship wave").tolist()
    with pytest.raises(UsageError, match="Model only"):
        CRRModel(features=FeatureConfig(theta="theta"))
    with pytest.raises(UsageError, match="Model only"):
        L1Model(features=FeatureConfig(theta="theta"))
    many = package.Model(theta=tmp_path / "theta")
    with pytest.raises(DataError, match="no feature of the text is in Theta"):
        many.learn("1 |z a\n" * 10_001)


def test_shards_learn_with_it(vwlite, tmp_path):
    how = ("--theta", "theta", *LOGISTIC)
    vwlite("train", "few-numbers.vw", *how, "-f", "plain", "--quiet")
    vwlite("train", "few-numbers.vw", *how, "-f", "model", "--workers", "1", "--shards", "2", "--rounds", "2")
    assert "theta" in model_file.load(tmp_path / "model").header
    one, other = (
        json.loads(vwlite("evaluate", "-i", name, "test-numbers.vw", "--metric", "accuracy", "--json", "-").stdout)
        for name in ("plain", "model")
    )
    assert other["result"]["accuracy"] >= one["result"]["accuracy"] - 0.05
    bfgs = ("--workers", "1", "--shards", "2", "--rounds", "1", "--then-bfgs", "3")
    vwlite("train", "few-numbers.vw", *how, "-f", "model", *bfgs)
    assert "theta" in model_file.load(tmp_path / "model").arrays
    assert len(vwlite("predict", "-i", "model", "test-numbers.vw").lines) == 60


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--theta-scale", "2"), "--theta-scale does nothing without --theta"),
        (("--theta", "theta", "--theta-groups", "z"), "no group 'z'"),
        (("--theta", "theta", "--hash", "all"), "drop --hash"),
        (("--theta", "theta", "--hash_seed", "3"), "drop --hash"),
        (("--theta", "theta", "--no-theta-unit", "--affix", "+2w"), "--affix"),
        (("--theta", "theta", "--weight", "idf"), "--value and --weight"),
        (("--theta", "theta", "--value", "binary"), "--value and --weight"),
    ],
)
def test_wrong_options_are_refused(vwlite, options, said):
    assert said in vwlite("train", "few-numbers.vw", "-f", "model", "--quiet", *options, status=2).stderr


def test_text_that_theta_knows_nothing_of_is_refused(vwlite, write, tmp_path):
    write("other.vw", "1 |z a\n-1 |z b\n" * 5)
    done = vwlite("train", "other.vw", "--theta", "theta", "-f", "model", "--quiet", status=65)
    assert "no feature of the text is in Theta" in done.stderr and not (tmp_path / "model").exists()
    assert "is in Theta" in vwlite("crr", "other.vw", "--theta", "theta", "-f", "model", status=65).stderr
    assert vwlite("train", "other.vw", "--theta", "nothing", "-f", "model", status=66)
    assert vwlite("train", "other.vw", "--theta", "other.vw", "-f", "model", status=76)


def test_damaged_maps_are_refused(vwlite, tmp_path):
    vwlite("train", "few-numbers.vw", "--theta", "theta", "-f", "model", "--quiet")
    model = model_file.load(tmp_path / "model")
    told = model.header["theta"]
    for changed in ({"groups": ["w/1"]}, {"h": [1]}, {"digest": 1}, {"config": {"scale": -1}}):
        header = {**model.header, "theta": {**told, **changed}}
        model_file.save(tmp_path / "bad", header, model.arrays)
        assert vwlite("predict", "-i", "bad", "test-numbers.vw", status=76)
    for lost in ("theta", "theta_key"):
        arrays = {name: value for name, value in model.arrays.items() if name != lost}
        model_file.save(tmp_path / "bad", model.header, arrays)
        assert vwlite("predict", "-i", "bad", "test-numbers.vw", status=76)
    header = {name: value for name, value in model.header.items() if name != "theta"}
    model_file.save(tmp_path / "bad", header, model.arrays)
    assert vwlite("predict", "-i", "bad", "test-numbers.vw", status=76)
