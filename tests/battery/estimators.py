"""Everything that learns, each with a text and the command line that learns it: the table of the battery.

Those of ``golden/make.py``, where every learner and solver that writes models has its line, and a few that keep no
golden model. A new one stands there, and inherits all laws of ``laws.py`` that are for what it is.
"""

import json
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from commands import command
from golden import make

from vwlite.learners import config_class
from vwlite.version import __version__

GOLDEN = Path(make.__file__).parent / __version__
ASO = ("names", "aso learn", "--aux", "mask:u", "--dim", "2")
OTHERS = {
    "aso-learn": (*ASO, "--online", "--warmup", "20", "--keep-weights"),
    "aso-learn-in-memory": ASO,
    "aso-cotrain": ("names", "aso cotrain", "--unlabeled", "names.vw", "--rounds", "2", "--step", "5", "--passes", "3"),
    "lines-for-landmarks": ("signs", "landmarks", "--count", "7"),
    "means-for-landmarks": ("signs", "landmarks", *make.BITS, "--count", "4", "--by", "kmeans"),
    "cut": ("graph", "cut", "-k", "2"),
}
GRAPH = "".join(f"n{a} |n n{a * 3 % 20}:2 n{(a + 1) % 20}:{1 + 4 * (a % 5 < 4)}\n" for a in range(20))


def texts():
    return {**make.texts(), "graph": GRAPH}


@dataclass(frozen=True)
class Estimator:
    """``text`` is what it learns; ``command`` and ``options`` are how."""

    name: str
    text: str
    command: str
    options: tuple[str, ...]

    @property
    def data(self):
        return f"{self.text}.vw"

    @cached_property
    def typed(self):
        """The options of its command as they are typed, by their names."""
        return {param.name: param.opts[0] for param in command(self.command).params if param.opts}

    @property
    def output(self):
        """The option that names what it makes."""
        return next(self.typed[name] for name in ("model", "out", "predictions") if name in self.typed)

    @property
    def makes_model(self):
        return "model" in self.typed

    @property
    def golden(self):
        """Its golden model; None where it has none."""
        return GOLDEN / f"{self.name}.model" if self.name in make.LEARNERS else None

    @cached_property
    def kind(self):
        """The learner in its golden model's header; its command where it has none."""
        if not self.golden:
            return self.command
        with zipfile.ZipFile(self.golden) as archive:
            return json.loads(archive.read("header.json"))["model"]["learner"]

    @property
    def config(self):
        """The class of its options; None for what is no learner of the registry."""
        return config_class(self.kind) if self.command in ("train", "vw") else None

    @property
    def applied(self):
        """The command that uses its model, with the options that it needs."""
        return make.APPLIED.get(self.command, "predict").split()

    def words(self, *more, data=None, output="model"):
        """The command line, without the program: it learns ``data``, "" for standard input."""
        data = self.data if data is None else data
        return [*self.command.split(), *([data] if data else []), *self.options, self.output, output, *more]

    def going_on(self, *more, initial="model"):
        """The command line that learns the same data with a model, whose options it has."""
        passes = ("--passes", "4") if "--bfgs" in self.options else ()
        return [*self.command.split(), self.data, "-i", initial, *passes, *more]

    @property
    def is_online(self):
        """Whether it is a learner that takes one example after the other, and no notice of others."""
        return self.command == "train" and self.config.whole_passes is not True and "--weight" not in self.options

    @property
    def online(self):
        """The same with one pass, whose rate does not fall with every run."""
        options = list(self.options)
        if "--passes" in options:
            del options[(at := options.index("--passes")) : at + 2]
        more = ("--decay_learning_rate", "1") if "--dotproduct" in options else ()
        return Estimator(self.name, self.text, self.command, (*options, *more))


ESTIMATORS = {name: Estimator(name, text, command, tuple(options)) for name, (text, command, *options) in
              {**make.LEARNERS, **OTHERS}.items()}
COMMANDS = {one.command: one for one in reversed(ESTIMATORS.values())}  # one for each command
