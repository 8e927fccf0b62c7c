"""The same input and options give the same bytes of model and predictions, however the input is read."""

import gzip
import json
import random
import re
import zipfile

import pytest

from vwlite.api.run_configs import input_config
from vwlite.data.config import HoldoutConfig, InputConfig, available_cores
from vwlite.features.config import FeatureConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig
from vwlite.training.config import RunConfig
from vwlite.training.model_loader import start
from vwlite.training.output_config import OutputConfig
from vwlite.training.predict import predict
from vwlite.training.train import train

OPTIONS = {  # of the learner, of the features
    "default": ({}, {}),
    "sgd": ({"sgd": True}, {}),
    "adaptive": ({"adaptive": True}, {}),
    "normalized": ({"normalized": True}, {}),
    "initial_t": ({"sgd": True, "initial_t": 5.0, "power_t": 0.3}, {}),
    "l1 and l2": ({"l1": 1e-4, "l2": 1e-3}, {}),
    "sgd, l1": ({"sgd": True, "l1": 1e-3, "learning_rate": 0.1}, {}),
    "sparse_l2": ({"sparse_l2": 1e-3}, {}),
    "ftrl": ({"ftrl": True, "ftrl_alpha": 0.1, "l1": 0.01, "l2": 0.1}, {}),
    "wildcards": ({}, {"quadratic": ("::",)}),
    "random features": ({}, {"random_features": "rbf:64", "quadratic": ("::",), "random_of": ("a",)}),
    "ngram": ({}, {"ngram": ("2",), "skips": ("1",)}),
    "affix": ({}, {"affix": "+2a,-1b", "spelling": ("b",)}),
    "limits": ({"min_prediction": 0.1, "max_prediction": 0.8}, {"feature_limit": ("a2",)}),
    "logistic": ({"loss": LossConfig("logistic"), "link": "logistic"}, {}),
    "poisson": ({"loss": LossConfig("poisson"), "link": "poisson"}, {"bits": 8, "hash": "all"}),
    "quantile": ({"loss": LossConfig("quantile", quantile_tau=0.3)}, {"noconstant": True}),
    "decay": ({"decay_learning_rate": 0.8}, {"interactions": ("a,b",)}),
}


def text(rows=150):
    """Labels 0 and 1, every 11th line without one, importance, base, tags, blank lines, new namespaces now and then."""
    draw = random.Random(3)
    lines = []
    for n in range(rows):
        label = "" if n % 11 == 5 else str(draw.randrange(2)) + draw.choice(["", "", " 2", " 0.5", " 0", " 1 0.25"])
        words = " ".join(f"w{draw.randrange(30)}:{draw.random():.3f}" for _ in range(draw.randrange(6)))
        new = f" |{chr(99 + n // 30)} z" if n % 30 > 20 else ""
        lines.append(f"{label} 't{n}|a {words} |bb u{draw.randrange(9)} 7{new}" if n % 13 else "")
    return "\n".join(lines) + "\n"


TEXT = text()


class Runs:
    """Trains in a folder of its own; ``bytes_of`` a name are those of the model and of its predictions."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "data.vw").write_text(TEXT)

    def train(self, name, options, *, initial=None, passes=1, names=False, holdout_off=True, **reading):
        learner, features = OPTIONS[options]
        reading = {"paths": (str(self.folder / "data.vw"),), **reading}
        config = RunConfig(
            input=InputConfig(**reading),
            features=FeatureConfig(**features),
            learner=GdConfig(**learner),
            output=OutputConfig(model=self.path(name), predictions=self.path(f"{name}.p"), quiet=True, names=names),
            holdout=HoldoutConfig(off=holdout_off),
            passes=passes,
        )
        config, model = start(config, self.path(initial) if initial else None)
        train(config, model)
        return self.bytes_of(name)

    def path(self, name):
        return str(self.folder / name)

    def bytes_of(self, name):
        return tuple((self.folder / file).read_bytes() for file in (name, f"{name}.p"))

    def header(self, name):
        with zipfile.ZipFile(self.path(name)) as archive:
            return json.loads(archive.read("header.json"))

    def arrays(self, name):
        with zipfile.ZipFile(self.path(name)) as archive:
            return {member: archive.read(member) for member in archive.namelist() if member != "header.json"}


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


@pytest.mark.parametrize("options", OPTIONS)
def test_block_sizes_threads_compression_and_cache(options, runs):
    plain = runs.train("plain", options)
    assert len(plain[1].splitlines()) == TEXT.count("\n") - TEXT.count("\n\n") - TEXT.startswith("\n")
    (runs.folder / "data.gz").write_bytes(gzip.compress(TEXT.encode()))
    ways = [
        {"block_size": 1},
        {"block_size": 7},
        {"block_size": 4096},
        {"threads": 2, "block_size": 100},
        {"threads": 4, "block_size": 300},
        {"paths": (runs.path("data.gz"),)},
        {"cache": runs.path("cache"), "block_size": 500},
        {"cache": runs.path("cache")},
    ]
    different = [way for way in ways if runs.train("other", options, **way) != plain]
    assert different == []


@pytest.mark.parametrize("options", OPTIONS)
def test_passes_do_not_depend_on_blocks_either(options, runs):
    plain = runs.train("plain", options, passes=3, holdout_off=False)
    ways = [
        {"block_size": 1},
        {"block_size": 99, "threads": 3},
        {"cache": runs.path("cache")},
        {"cache": runs.path("cache")},
    ]
    different = [way for way in ways if runs.train("other", options, passes=3, holdout_off=False, **way) != plain]
    assert different == []


@pytest.mark.parametrize("options", OPTIONS)
def test_one_run_of_two_passes_and_two_runs_of_one(options, runs):
    """Everything a model predicts and learns with is equal to the bit; counters are those of the last run."""
    predictions = runs.train("twice", options, passes=2)[1]
    first = runs.train("once", options)[1]
    second = runs.train("model", options, initial="once")[1]
    assert first + second == predictions
    assert runs.arrays("model") == runs.arrays("twice")
    ours, theirs = runs.header("model"), runs.header("twice")
    assert ours["arrays"] == theirs["arrays"]
    for header in (ours, theirs):
        header["model"].pop("counters")
    assert ours == theirs


def test_the_first_of_two_passes_is_a_run_of_one(runs, tmp_path):
    runs.train("once", "default")
    config = RunConfig(
        input=InputConfig(paths=(runs.path("data.vw"),)),
        output=OutputConfig(model=runs.path("model"), save_per_pass=True, quiet=True),
        holdout=HoldoutConfig(off=True),
        passes=2,
    )
    train(config)
    assert (tmp_path / "model.1").read_bytes() == (tmp_path / "once").read_bytes()
    assert (tmp_path / "model.2").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("options", OPTIONS)
def test_predicting_does_not_depend_on_blocks(options, runs):
    runs.train("model", options, names=True)

    def predicted(name, **reading):
        output = OutputConfig(predictions=runs.path(name), raw_predictions=runs.path(f"{name}.p"), quiet=True)
        inputs = InputConfig(**{"paths": (runs.path("data.vw"),), **reading})
        config, model = start(RunConfig(input=inputs, output=output, learning=False), runs.path("model"))
        predict(config, model)
        return runs.bytes_of(name)

    plain = predicted("plain")
    ways = [{"block_size": 1}, {"block_size": 4096}, {"threads": 3, "block_size": 200}]
    assert [way for way in ways if predicted("other", **way) != plain] == []


@pytest.mark.parametrize("options", ["default", "wildcards"])
def test_names_do_not_depend_on_blocks(options, runs):
    plain = runs.train("plain", options, names=True)
    ways = [{"block_size": 1}, {"threads": 2, "block_size": 77}]
    assert [way for way in ways if runs.train("other", options, names=True, **way) != plain] == []


@pytest.mark.parametrize(
    "other",
    [
        re.sub(r"(?<=.)\n", " \n", TEXT),
        re.sub(r"(?<=.)\n", "\t\n", TEXT),
        TEXT.replace("\n", "\r\n"),
        TEXT.removesuffix("\n"),
        "\ufeff" + TEXT,
        TEXT.replace(" |", "   |"),
        TEXT.replace(" w", "  w"),
    ],
    ids=["spaces", "tabs", "crlf", "no last newline", "bom", "spaces before bars", "spaces between features"],
)
def test_white_space_that_means_nothing(other, runs):
    plain = runs.train("plain", "wildcards")
    (runs.folder / "other.vw").write_bytes(other.encode())
    assert runs.train("other", "wildcards", paths=(runs.path("other.vw"),)) == plain


@pytest.mark.parametrize(
    "options",
    ["", "--passes 2 --threads 2", "-q :: --loss_function logistic", "--dotproduct ab --passes 3 --no-shuffle"],
)
def test_file_and_pipe(options, run_cli, tmp_path):
    options = options.split()
    (tmp_path / "data.vw").write_text(TEXT)
    run_cli("train", "data.vw", "-f", "file", "-p", "file.p", "--quiet", *options)
    run_cli("train", "-f", "pipe", "-p", "pipe.p", "--quiet", *options, stdin=TEXT)
    run_cli("train", "-", "-f", "gz", "-p", "gz.p", "--quiet", *options, stdin=gzip.compress(TEXT.encode()))
    for name in ("pipe", "gz"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "file").read_bytes()
        assert (tmp_path / f"{name}.p").read_bytes() == (tmp_path / "file.p").read_bytes()


def test_all_cores_by_default():
    assert input_config({}).threads == available_cores() >= 1
