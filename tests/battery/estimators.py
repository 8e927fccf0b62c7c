"""Everything that learns, each with a text and the command line that learns it: the table of the battery.

Those of ``golden/make.py``, where every learner and solver that writes models has its line, and a few that keep no
golden model. A new one stands there, and inherits all laws of ``laws.py`` that are for what it is.
"""

import json
import random
import shlex
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
VARIANTS = {  # other ways of them, by the command and its text
    "train signs": (
        "--loss_function logistic --l1 1e-3 --passes 3 --holdout_off --decay_learning_rate 0.8",
        "--sgd --l1 1e-4 --l2 1e-3 --initial_t 5 --power_t 0.3",
        "--passes 4 --holdout_period 3 --early_terminate 1",
        "--passes 4 --shuffle --holdout_off --seed 3 --names -q ui",
        "--shuffle-first --passes 2",
        "--passes 4 --curriculum easy --curriculum-weights logistic --curriculum-sample",
        "--curriculum easy --curriculum-steps 15",
        "--classweight 1:2,-1:0.5 --interactions ui,ii",
        "-q :: --ngram 2 --skips 1 --affix +2u,-1i --feature_limit i1",
        "--average --average_after 9 --sgd -l 0.1 --passes 3 --holdout_off",
        "--loss_function logistic --binary",
        "--loss_function logistic --confidence --confidence_after_training",
        "--bfgs --passes 5 --l1 0.1 --holdout_off",
        "--ksvm --kernel rbf --budget 9 --reprocess 3 --passes 2",
        "--nn 4,3 --dropout --inpass --passes 2",
        "--lrq ui2 --lrqdropout --passes 2",
        "--dotproduct ui --rank 3 --passes 4",
        "--dotproduct ui --rank 2 --negatives 2 --passes 2",
        "--dotproduct ui --rank 5 --als --unobserved 0.1 --dot-l2 u=0.1,i=0.02 --passes 4 --names",
        "--random_features rbf:64 --fold 64 --unit",
        "--landmarks poly2:signs.vw -b 9 --whiten --random_only",
        "--weight idf --min_df 2 --value log --unit --passes 3",
        "--mask-ids u=0.3 -q ui --passes 3",
        "--centred i -q ui --passes 3 --shuffle --average",
    ),
    "train mixed": (
        "",
        "--loss_function logistic -q ::",
        "--sgd --l1 1e-3 --noconstant --min_prediction 0.1 --max_prediction 0.8",
        "--ftrl --ftrl_alpha 0.1 --l1 0.01 --l2 0.1",
        "--sparse_l2 1e-3 --decay_learning_rate 0.8 --interactions a,bb",
        "--loss_function quantile --quantile_tau 0.3 --feature_limit a2 --hash all -b 8",
        "--normalized --average --spelling b",
        "--dotproduct a,bb --rank 2 --passes 3",
        "--random_features rbf:64 --gamma 0.5 --random_of a -q ::",
        "--oaa 2 --probabilities --loss_function logistic",
        "--coin --passes 3",
        "--names --passes 2 --holdout_off",
        "--label-units raw --loss_function absolute --l2 1e-4",
    ),
    "train numbers": (
        "--label-units spread -q ui --passes 3 --names",
        "--levels -1,-0.5,0,0.5,1,1.5,2,2.5,3 --min_prediction 0",
        "--dual --l2 1 --loss_function tube",
    ),
    "train classes": (
        "--oaa 3 --loss_function logistic --oaa_subsample 1 --passes 2 --holdout_off",
        "--oaa 3 --average --passes 2 --holdout_off",
        "--oaa 3 --dual --l2 1",
        "--oaa 3 --bfgs --l2 1 --loss_function logistic --passes 5",
        "--multiclass 3 --average --passes 2",
        "--multiclass 3 --smoothing 0.1 --probabilities",
        "--multiclass 3 --loss_function crammer_singer --passes 2",
        "--multiclass 3 --dual --l2 1",
        "--multiclass 3 --dotproduct ui --rank 2 --passes 3 --lfl-loss mse",
        "--multiclass 3 --nn 4 --dropout --passes 3",
        "--multiclass 3 --trace 0.02 --loss_function logistic --passes 3",
        "--filter_tree 3 --coin --passes 2",
        "--filter_tree 3 --lrq ui2 --lrqdropout",
        "--filter_tree 3 --scoring --loss_function hinge --passes 2",
        "--log_multi 3 --swap_resistance 0",
        "--ect 3 --error 2 --passes 2",
    ),
    "train names": ("--oaa 3 --named_labels a,b,c --theta theta -q ut --passes 3",),
    "train lists": ("--multilabel_oaa 3 --lrq ui2",),
    "train groups": ("--csoaa_ldf mc -q :: --loss_function logistic --probabilities --passes 2",),
    "train decisions": (
        "--cb 3 --cb_type dr -q ui --clip_p 0.6 --passes 2 --holdout_off",
        "--cb 3 --cb_type direct --ftrl",
        "--cb 3 --cb_type ips --cost_offset 1 --passes 3",
    ),
    "train decision-groups": (
        "--cb_adf -q ui --cost_offset max --passes 2 --holdout_off",
        "--cb_adf --cb_type dm --coin",
    ),
    "train targets": ("--outputs 3 --ftrl", "--outputs 3 --sparse_l2 0.01 --passes 3"),
    "crr signs": (
        "--qid none --steps 500 --pair-buffer 9",
        "--qid u --loss_function logistic --curriculum easy --curriculum-steps 200 --steps 500",
    ),
    "l1 signs": (
        "--solver owlqn", "--holdout 0.2 --curriculum easy --passes 4", "--penalty none --average --passes 3",
        "--l2 1 --solver sgd --passes 3",
    ),
    "l1 names": (
        "--model multinomial --solver fista --dense-pairs --group --l1 4",
        "--model multinomial --theta theta --passes 3",
    ),
    "l1 sequences": ("--model crf --solver owlqn --passes 5", "--model crf --edge i --holdout 5 --passes 4"),
    "aso train names": ("--theta theta --folds 3 --vary 'lambda 1e-4|1e-3'",),
    "aso train sequences": ("--sequences --decode viterbi --label-features y2,y-prev*i --memory 3 --beam 2",),
    "cluster names": (
        "-k 3 --restarts 3 --trim 0.1",
        "-k 3 --batch 7 --passes 2",
        "-k 3 --soft 0.5 --sparse_means 1.5 --unit",
    ),
    "pca names": ("--dim 3 --weight idf --min_df 1 --unit --passes 2 --random_features rbf:64 --fold 64",),
    "lm train names": ("--tokens blanks --vocabulary 20 --window 2 --dim 3 --hidden 4 --curriculum 10 --passes 3",),
    "cut graph": ("-k 3 --combine sum --shift 0.5",),
}
OF_WHOLE_PASSES = {"--als", "--bfgs", "--dual", "--ksvm"}  # a stopped run of these begins anew


def mixed():
    """Labels 0 and 1, some missing, importance, base, tags, blank lines, new namespaces now and then."""
    draw, lines = random.Random(3), []
    for n in range(150):
        label = "" if n % 11 == 5 else str(draw.randrange(2)) + draw.choice(["", "", " 2", " 0.5", " 0", " 1 0.25"])
        words = " ".join(f"w{draw.randrange(30)}:{draw.random():.3f}" for _ in range(draw.randrange(6)))
        new = f" |{chr(99 + n // 30)} z" if n % 30 > 20 else ""
        lines.append(f"{label} 'r{n}|a {words} |bb u{draw.randrange(9)} 7{new}" if n % 13 else "")
    return "\n".join(lines[1:]) + "\n"


MIXED = mixed()
GRAPH = "".join(f"n{a} |n n{a * 3 % 20}:2 n{(a + 1) % 20}:{1 + 4 * (a % 5 < 4)}\n" for a in range(20))


def texts():
    return {**make.texts(), "mixed": MIXED, "graph": GRAPH}


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
    def answers(self):
        """Whether it tells predictions while it learns, in the order of the text."""
        ordered = not {"--shuffle", "--shuffle-first", "--curriculum"} & {*self.options}
        shuffled = {"--dotproduct", "--passes"} <= {*self.options} and "--als" not in self.options
        return self.command in ("train", "vw") and ordered and not shuffled

    @property
    def golden(self):
        """Its golden model; None where it has none."""
        return GOLDEN / f"{self.name}.model" if self.name in make.LEARNERS else None

    @cached_property
    def kind(self):
        """The learner in its golden model's header; its name where it has none."""
        if not self.golden:
            return self.name
        with zipfile.ZipFile(self.golden) as archive:
            return json.loads(archive.read("header.json"))["model"]["learner"]

    @property
    def config(self):
        """The class of its options; None for what is no learner of the registry, and for variants."""
        return config_class(self.kind) if self.command in ("train", "vw") and self.golden else None

    @property
    def applied(self):
        """The command that uses its model, with the options that it needs."""
        return make.APPLIED.get(self.command, "predict").split()

    def words(self, *more, data=None, output="model"):
        """The command line, without the program: it learns ``data``, "" for standard input."""
        data = self.data if data is None else data
        answers = ["-p", "answers"] if self.answers else []
        return [*self.command.split(), *([data] if data else []), *self.options, self.output, output, *answers, *more]

    def going_on(self, *more, initial="model"):
        """The command line that learns the same data with a model, whose options it has."""
        passes = ("--passes", "4") if "--bfgs" in self.options else ()
        return [*self.command.split(), self.data, "-i", initial, *passes, *more]

    @property
    def is_online(self):
        """Whether it is a learner that takes one example after the other, and no notice of others."""
        others = {"--weight", "--curriculum", "--shuffle-first", "--mask-ids", "--classweight", *OF_WHOLE_PASSES}
        return self.command == "train" and not others & {*self.options}

    @property
    def online(self):
        """The same with one pass, whose rate does not fall with every run."""
        options = list(self.options)
        for name, size in (("--passes", 2), ("--holdout_period", 2), ("--early_terminate", 2), ("--holdout_off", 1)):
            if name in options:
                del options[(at := options.index(name)) : at + size]
        falls = {"--dotproduct", "--scoring", "--decay_learning_rate"} & {*options}
        more = ("--decay_learning_rate", "1") if falls else ()
        return Estimator(self.name, self.text, self.command, (*options, *more))


def table():
    for name, (text, learns, *options) in GIVEN.items():
        yield Estimator(name, text, learns, tuple(options))
    for of, ways in VARIANTS.items():
        learns, _, text = of.rpartition(" ")
        for options in ways:
            yield Estimator(f"{of} {options}".strip(), text, learns, tuple(shlex.split(options)))


GIVEN = {**make.LEARNERS, **OTHERS}
ESTIMATORS = {one.name: one for one in table()}
COMMANDS = {one.command: one for one in reversed(ESTIMATORS.values())}  # the first of each command
KINDS = {(one.command, one.kind): one for one in reversed(ESTIMATORS.values())}  # and of each kind of model
