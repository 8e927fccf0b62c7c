"""``vwlite.train``: what the command ``vwlite train`` does, files included."""

import logging
import shlex
from pathlib import Path

import numpy as np
import pytest

import vwlite
from vwlite.errors import InputMissing, ModelError, UsageError

LINES = [f"{(-1) ** (n // 3 % 2)} 't{n} |u u{n % 5} x:{n % 4}.5 |i i{n % 7}\n" for n in range(90)]
DATA = {"data.vw", "more.vw", "classes.vw"}
RUNS = [
    ("-f m", {"final_regressor": "m"}),
    ("-f m -c --passes 3", {"final_regressor": "m", "cache": True, "passes": 3}),
    ("-f m --cache_file kept -k", {"final_regressor": "m", "cache_file": "kept", "kill_cache": True}),
    ("-f m --passes 9 --holdout_period 3 --readable_model r", None),
    ("-f m -p p -r q --oaa 3", None),
    ("-f m --passes 3 --save_per_pass --holdout_off", None),
    ("-f m --predict_only_model --names", {"final_regressor": "m", "predict_only_model": True, "names": True}),
    ("-f m --loss_function logistic -q ui --invert_hash h", None),
    ("-f m --dotproduct ui --rank 2 --passes 4", None),
    ("-f m --block-size 300", {"final_regressor": "m", "block_size": 300, "checkpoint_every": 60}),
    ("-f m --bad-lines bad --max-bad-ratio 0.5", None),
    ("-f m --curriculum easy --passes 3 --curriculum-by value:u", None),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the data are, and where commands and Python run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.vw").write_text("".join(LINES) + "x |bad\n")
    (tmp_path / "more.vw").write_text("".join(reversed(LINES)))
    (tmp_path / "classes.vw").write_text("".join(line.replace("-1 ", "2 ") for line in LINES))
    return tmp_path


def content(folder):
    """All files; ledgers and caches say whether their inputs were new, which time alone changes."""
    result = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, data in result.items():
        if data.startswith(b"vwlite cache"):
            result[name] = data.partition(b'"settled"')[0]
        elif name.endswith(".ledger"):
            result[name] = data.replace(b'"settled": false', b'"settled": true')
    return result


def taken_away(folder):
    """Take away what a run has left there, and return it."""
    result = content(folder)
    for name in result.keys() - DATA:
        (folder / name).unlink()
    return result


@pytest.mark.parametrize(("options", "keywords"), RUNS)
def test_the_same_files_appear(options, keywords, folder, run_here):
    name = "classes.vw" if "oaa" in options else "data.vw"
    run_here("train", name, *options.split(), "--quiet", "--max-bad-ratio", "0.5")
    expected = taken_away(folder)
    if keywords:
        model = vwlite.train(name, "--max-bad-ratio 0.5", **keywords)
    else:
        model = vwlite.train([name], f"{options} --max-bad-ratio 0.5")
    assert content(folder) == expected
    assert np.array_equal(model.weights, vwlite.load("m").weights)


@pytest.mark.parametrize("options", ["", "--passes 9 --holdout_period 3", "-c --passes 3", "--bfgs --passes 4"])
def test_without_a_file_the_model_has_the_bytes_of_the_file(options, folder, run_here):
    run_here("train", "more.vw", *options.split(), "-f", "m", "--quiet")
    expected = taken_away(folder)["m"]
    model = vwlite.train("more.vw", options)
    assert model.dumps() == expected
    assert {*taken_away(folder)} - {"more.vw.cache"} == DATA
    model.learn("1 |u u1")


def test_a_model_goes_on_and_knows_what_it_has_seen(folder, run_here, caplog):
    caplog.set_level(logging.INFO, "vwlite")
    command = ("train", "-i", "m", "-f", "m", "--skip-seen", "--max-bad-ratio", "0.5", "--quiet")
    runs = (["data.vw"], ["data.vw", "more.vw"], ["more.vw"])
    for names in runs:
        run_here(*command, *names)
    expected = taken_away(folder)
    for names in runs:
        model = vwlite.train(names, initial_regressor="m", final_regressor="m", skip_seen=True, max_bad_ratio=0.5)
    assert content(folder) == expected
    assert model.dumps() == expected["m"]
    assert "there is no m yet: training starts from the beginning" in caplog.messages
    assert [line for line in caplog.messages if line.endswith(": skipped")]
    assert vwlite.train("more.vw", initial_regressor="m", skip_seen=True).dumps() == model.dumps()  # nothing new


REFUSED = [
    "-f data.vw", "-f -", "-f ''", "-f m -p m", "--save_per_pass", "--predict_only_model", "--resume", "--skip-seen",
    "-k", "-f m --checkpoint-every soon", "-f m --bfgs --passes 3 --resume", "-f m --shuffle-first -p p",
    "-f m --names -c", "-f m --invert_hash h -c", "-f m --passes 2 --curriculum easy -p p",
    "-f m --filter_tree 3 --readable_model t", "-f m --log_multi 3 -r r", "--invert_hash -",
    "-f m --max-memory 1e-9",
]


@pytest.mark.parametrize("options", REFUSED)
def test_wrong_options_have_the_sentence_of_the_command(options, folder, run_here):
    stderr = run_here("train", "data.vw", *shlex.split(options), "--quiet", status=2).stderr
    assert taken_away(folder).keys() == DATA
    with pytest.raises(UsageError) as raised:
        vwlite.train("data.vw", options)
    assert stderr.removeprefix("vwlite: ").split(" ('vwlite")[0].strip() == str(raised.value)
    assert content(folder).keys() == DATA


@pytest.mark.usefixtures("folder")
def test_wrong_files_and_keywords_are_refused():
    with pytest.raises(UsageError, match="no such option quiet"):
        vwlite.train("more.vw", quiet=True)
    with pytest.raises(UsageError, match="no files"):
        vwlite.train([])
    with pytest.raises(InputMissing):
        vwlite.train("absent.vw", final_regressor="m")
    with pytest.raises(UsageError, match="a model keeps its options"):
        vwlite.train("more.vw", "-b 12", model=vwlite.Model())
    for keyword, instead in {
        "model": "model takes a Model that goes on learning: final_regressor=FILE writes",
        "save": r"no such option save \(did you mean final_regressor\?\)",
        "load": r"no such option load \(did you mean initial_regressor\?\)",
        "output": r"no such option output \(did you mean final_regressor\?\)",
        "test": r"no such option test \(did you mean holdout\?\)",
        "sep": r"no such option sep \(did you mean format='csv', which finds",
    }.items():
        with pytest.raises(UsageError, match=instead):
            vwlite.train("more.vw", **{keyword: "m"})
    model = vwlite.train("more.vw", final_regressor="m", predict_only_model=True)
    with pytest.raises(ModelError, match="cannot be trained further"):
        model.learn("1 |u u1")


@pytest.mark.usefixtures("folder")
def test_a_url_is_learned_as_its_file():
    system = pytest.importorskip("fsspec").filesystem("memory")
    system.pipe({"/more.vw": Path("more.vw").read_bytes()})
    url = "memory://more.vw"
    model = vwlite.train(url)
    assert model.dumps() == vwlite.train("more.vw").dumps()
    assert vwlite.predict(model, [url]).tolist() == vwlite.predict(model, "more.vw").tolist()
    assert vwlite.evaluate(model, url) == vwlite.evaluate(model, "more.vw")
    with pytest.raises(UsageError, match="only data are read from URLs"):
        vwlite.train("more.vw", final_regressor="s3://b/m")


def test_names_of_classes_are_found_in_files(folder):
    Path("named.vw").write_text("".join(f"{('dog', 'cat', 'owl')[n % 3]} |u u{n % 3}\n" for n in range(60)))
    model = vwlite.train("named.vw", oaa="auto", loss_function="logistic")
    assert list(model.classes) == ["cat", "dog", "owl"]
    assert model.predict(["|u u0\n", "|u u1\n"]).tolist() == ["dog", "cat"]
    with pytest.raises(UsageError, match="--oaa auto: vwlite train counts the classes in its files"):
        vwlite.Model(oaa="auto")
