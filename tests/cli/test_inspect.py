"""``vwlite inspect``."""

import json
import re

import pytest

DATA = "-1 |user bob |item tea\n1 |user ann |item tea:2\n1 |user ann |item cup\n"


@pytest.fixture(autouse=True)
def model(vwlite, write):
    """``named``, a model with names, and ``plain``, one without."""
    write("data.vw", DATA)
    texts = ("--readable_model", "trained.txt", "--invert_hash", "trained.names")
    vwlite("train", "data.vw", "-f", "named", "--names", "-q", "ui", *texts, "--quiet")
    vwlite("train", "data.vw", "-f", "plain", "--loss_function", "logistic", "--quiet")


def test_the_report_has_the_facts_of_the_model(vwlite, weights):
    report = json.loads(vwlite("inspect", "plain", "--json", "-").stdout)["result"]
    top = report.pop("top")
    assert report == {
        "path": "plain",
        "learner": "gd",
        "loss_function": "logistic",
        "link": "logistic",
        "options": {},
        "bits": 18,
        "weights": 5,
        "examples": 3,
        "passes": 1,
        "average_loss": pytest.approx(0.69, abs=0.2),
        "can_go_on": True,
        "names": 0,
    }
    assert {entry["slot"]: entry["weight"] for entry in top} == weights("plain")
    assert {entry["name"] for entry in top} == {None}
    assert "min_label" in json.loads(vwlite("inspect", "named", "--json", "-").stdout)["result"]


def test_text_says_the_same(vwlite):
    text = vwlite("inspect", "named").stdout
    facts = dict(re.findall(r"^(\w+)  +(.*)$", text.partition("\n\n")[0], re.M))
    assert facts["options"] == '{"quadratic": ["ui"]}'
    assert (facts["examples"], facts["can_go_on"]) == ("3", "yes")
    header, *rows = text.partition("\n\n")[2].splitlines()
    assert header.split() == ["weight", "slot", "name"]
    sizes = [abs(float(row.split()[0])) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert {row.split()[2] for row in rows} >= {"Constant", "user^ann", "user^ann*item^tea"}


@pytest.mark.parametrize("option", ["-n", "--top"])
def test_top_limits_the_features_shown(option, vwlite):
    everything = json.loads(vwlite("inspect", "named", "--json", "-").stdout)["top"]
    for count in (0, 1, 3, 99):
        inspection = json.loads(vwlite("inspect", "named", option, count, "--json", "-").stdout)["top"]
        assert inspection == everything[:count]
    done = vwlite("inspect", "named", option, "-1", status=2)
    assert done.stderr == "vwlite: --top takes 0 or more\n"


def test_json_beside_the_text(vwlite, tmp_path):
    text = vwlite("inspect", "named").stdout
    assert vwlite("inspect", "named", "--json", "facts.json").stdout == text
    assert json.loads((tmp_path / "facts.json").read_text())["names"] == 8


def test_texts_are_those_that_training_writes(vwlite, tmp_path):
    vwlite("inspect", "named", "--readable_model", "r.txt", "--invert_hash", "names.txt")
    assert (tmp_path / "r.txt").read_text() == (tmp_path / "trained.txt").read_text()
    assert (tmp_path / "names.txt").read_text() == (tmp_path / "trained.names").read_text()


def test_texts_of_a_model_that_went_on(vwlite, tmp_path):
    vwlite("train", "data.vw", "-i", "named", "-f", "more", "--passes", "2", "--readable_model", "r.txt", "--quiet")
    vwlite("inspect", "more", "--readable_model", "again.txt")
    text = (tmp_path / "r.txt").read_text()
    assert (tmp_path / "again.txt").read_text() == text
    assert "\nexample_number 9\n" in text and "\ncurrent_pass 3\n" in text


def test_names_are_missing(vwlite, names_in):
    before = names_in()
    done = vwlite("inspect", "plain", "--invert_hash", "h.txt", status=2)
    assert done.stderr == "vwlite: plain holds no names: train with --names to see them\n"
    assert (done.stdout, names_in()) == ("", before)


@pytest.mark.parametrize("train", [("train", "data.vw"), ("l1", "data.vw", "--model", "multinomial", "--l1", "0.01")])
def test_a_note_says_how_a_model_gets_names(train, vwlite):
    vwlite(*train, "-f", "model", "--quiet")
    message = "vwlite: note: model holds no names, and slots stand for them: train with --names to see names\n"
    assert vwlite("inspect", "model").stderr == vwlite("inspect", "model", "--json", "-").stderr == message
    assert vwlite("inspect", "model", "--top", "0").stderr == ""
    vwlite(*train, "-f", "model", "--names", "--quiet")
    assert vwlite("inspect", "model").stderr == ""


def test_names_in_unicode_are_shown(vwlite, write):
    write("unicode.vw", "1 |größe straße:2 日本\n2 |größe straße 日本\n")
    vwlite("train", "unicode.vw", "-f", "unicode", "--names", "--quiet")
    assert {"größe^straße", "größe^日本"} <= set(vwlite("inspect", "unicode").stdout.split())


def test_predict_only_model(vwlite):
    vwlite("train", "data.vw", "-f", "small", "--predict_only_model", "--quiet")
    assert re.search(r"^can_go_on +no$", vwlite("inspect", "small").stdout, re.M)


def test_a_model_of_nothing(vwlite, write):
    """train writes none; vw does."""
    vwlite("vw", write("empty", ""), "-f", "nothing", "--quiet")
    report = json.loads(vwlite("inspect", "nothing", "--json", "-").stdout)
    assert (report["examples"], report["average_loss"], report["top"]) == (0, None, [])
    assert re.search(r"^average_loss +n\.a\.$", vwlite("inspect", "nothing").stdout, re.M)


@pytest.mark.parametrize(("labels", "loss"), [(["3e38", "-3e38"], "inf"), (["0", "0"], 0)])
def test_losses_beyond_all_numbers_and_none(vwlite, write, labels, loss):
    vwlite("vw", write("odd", "".join(f"{label} |a x\n" for label in labels)), "-f", "m", "--quiet")
    assert json.loads(vwlite("inspect", "m", "--json", "-").stdout)["average_loss"] == loss
    assert re.search(rf"^average_loss +{loss}", vwlite("inspect", "m").stdout, re.M)


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("absent", 66, "cannot open the model absent: No such file or directory"),
        ("data.vw", 76, "data.vw is not a vwlite model: give one that vwlite wrote"),
        (".", 76, ". is a directory: give the file of a vwlite model"),
    ],
)
def test_files_that_are_no_models_are_refused(name, status, said, vwlite):
    done = vwlite("inspect", name, status=status)
    assert (done.stdout, done.stderr) == ("", f"vwlite: {said}\n")


def test_factors_of_a_namespace_are_shown(vwlite, tmp_path):
    vwlite("train", "data.vw", "-f", "dyadic", "--dotproduct", "ui", "--rank", "3", "--names", "--quiet")
    head, *rows = [row.split("\t") for row in vwlite("inspect", "dyadic", "--factors", "u").lines]
    assert head == ["pair", "feature", "updates", "weight", "v0", "v1", "v2"]
    assert {row[1]: row[2] for row in rows} == {"user^ann": "2", "user^bob": "1"}
    done = vwlite("inspect", "dyadic", "--factors", "u", "--out", "vectors.tsv")
    assert (tmp_path / "vectors.tsv").read_text().splitlines() == ["\t".join(row) for row in [head, *rows]]
    assert done.stdout == ""


def test_factors_that_are_not_there(vwlite):
    done = vwlite("inspect", "named", "--factors", "u", status=2)
    assert done.stderr == "vwlite: named has no latent vectors: train with --dotproduct\n"
    assert vwlite("inspect", "named", "--out", "x", status=2).stderr == "vwlite: --out needs --factors\n"


@pytest.mark.parametrize("loss", ["multinomial", "crammer_singer"])
def test_the_loss_of_classes_is_that_which_was_learnt(loss, vwlite, write):
    write("classes.vw", "1 |w a\n2 |w b\n")
    vwlite("train", "classes.vw", "-f", "classes", "--multiclass", "2", "--loss_function", loss, "--quiet")
    assert json.loads(vwlite("inspect", "classes", "--json", "-").stdout)["result"]["loss_function"] == loss


CLASSES = "cat |w purr soft\ndog |w bark wet\nbird |w sing soft\n" * 9
NAMED = ("--named_labels", "cat,dog,bird")


@pytest.mark.parametrize("options", [("--oaa", "3"), ("--multiclass", "3"), ("--oaa", "3", "--coin")])
def test_every_class_has_its_strongest_features(options, vwlite, write, weights):
    write("c", CLASSES)
    vwlite("train", "c", "-f", "m", "--quiet", "--names", *options, *NAMED)
    inspection = json.loads(vwlite("inspect", "m", "--by-class", "--top", 2, "--json", "-").stdout)["top"]
    assert [entry["class"] for entry in inspection] == ["cat"] * 2 + ["dog"] * 2 + ["bird"] * 2
    everything = json.loads(vwlite("inspect", "m", "--top", 99, "--json", "-").stdout)["top"]
    assert {entry["slot"]: entry["weight"] for entry in everything} == weights("m")
    assert {(entry["class"], entry["name"]) for entry in everything} == {
        (label, name)
        for label in ("cat", "dog", "bird")
        for name in ("Constant", *(f"w^{word}" for word in ("purr", "soft", "bark", "wet", "sing")))
    }
    for label in ("cat", "dog", "bird"):
        of_class, of_all = ([entry for entry in some if entry["class"] == label] for some in (inspection, everything))
        assert of_class == of_all[:2]
    table = vwlite("inspect", "m", "--by-class", "--top", 1).stdout.partition("\n\n")[2].splitlines()
    assert table[0].split() == ["weight", "slot", "class", "name"]
    assert [row.split()[2:] for row in table[1:]] == [[entry["class"], entry["name"]] for entry in inspection[::2]]
    vwlite("train", "c", "-f", "m", "--quiet", *options, *NAMED)  # without names
    (entry,) = json.loads(vwlite("inspect", "m", "--top", 1, "--json", "-").stdout)["top"]
    assert entry["class"] in ("cat", "dog", "bird") and entry["name"] is None


@pytest.mark.parametrize(
    ("text", "options", "classes"),
    [
        ("0 |a x\n1 |a y\n", "--oaa 2", "01"), ("1 |a x\n2 |a y\n", "--multiclass 2", "12"),
        ("1:0 2:1 |a x\n1:1 2:0 |a y\n", "--csoaa 2", "12"), ("0 |a x\n0,1 |a y\n", "--multilabel_oaa 2", "01"),
    ],
)  # fmt: skip
def test_numbers_of_classes(text, options, classes, vwlite, write):
    vwlite("train", write("n", text * 5), "-f", "m", "--quiet", *options.split())
    inspection = json.loads(vwlite("inspect", "m", "--by-class", "--top", 1, "--json", "-").stdout)["top"]
    assert [entry["class"] for entry in inspection] == list(classes)


def test_weights_of_no_class_are_not_shown_by_class(vwlite, write):
    write("c", CLASSES)
    for options in ((), ("--ect", "3", *NAMED), ("--oaa", "3", "--lrq", "ww2", *NAMED)):
        vwlite("train", "c" if options else "data.vw", "-f", "m", "--quiet", *options)
        stderr = vwlite("inspect", "m", "--by-class", status=2).stderr
        assert "--by-class goes with classes that have weights of their own" in stderr
    vwlite("l1", "c", "--model", "multinomial", "-f", "m", "--quiet")
    assert vwlite("inspect", "m", "--by-class").stdout == vwlite("inspect", "m").stdout


def test_factors_of_names_that_are_no_utf8_keep_their_bytes(vwlite, tmp_path):
    (tmp_path / "data.vw").write_bytes(b"1 |u caf\xe9 |i tea\n2 |u b |i coffee\n" * 5)
    vwlite("train", "data.vw", "-f", "m", "--dotproduct", "ui", "--rank", "2", "--names", "--quiet")
    vwlite("inspect", "m", "--factors", "u", "--out", "out.tsv")
    assert b"caf\xe9" in (tmp_path / "out.tsv").read_bytes()
