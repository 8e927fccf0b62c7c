"""Models and texts whose labels are names: functions that load and read them, and valid inputs to start from."""

from contextlib import closing

from vwlite.data.block_parser import read as read_blocks
from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.features import theta as theta_file
from vwlite.features.config import FeatureConfig
from vwlite.solvers.aso import model_file
from vwlite.solvers.aso.apply import as_text, topics
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.tagger import tag_sequences, tagger_of
from vwlite.solvers.aso.task_data import task_rows
from vwlite.solvers.aso.tasks import load_tasks
from vwlite.solvers.loglinear import model_file as store
from vwlite.solvers.loglinear.config import L1Config
from vwlite.solvers.loglinear.crfpp_templates import ColumnsConfig, convert, read_templates
from vwlite.solvers.loglinear.held_out import Holdout
from vwlite.solvers.loglinear.inspection import facts, top
from vwlite.solvers.loglinear.tagger import Tagger, read_batches, texts
from vwlite.solvers.loglinear.train import Fit, Texts, TrainJob, TrainResult
from vwlite.training.listener import Monitor

TREES = b"A 'a |w x\nB 'b^a |w y\nB 'c^a |w z\nA 'd^c |w y\n\n"
LINES = b"B-NP 2 't|a b c:2 |w x\nI-NP |a b |w y\n\nO |a d:-1 |w z\nB-NP |a b c |w x\n\n"
TEMPLATE = b'U1:%x[-1,0]/%x[0,1]\nU2:%p[0,0,1-3]%t[1,0]\nk:%k[1,1]%l[0,0]\nm:%m[0,0,"[a-z]"]\nB\n'
COLUMNS = TEMPLATE + b"\0Big JJ B-NP\ndogs NNS I-NP\n\nbark VB O\n\n"


def reading() -> BadLines:
    return BadLines(None, len, BadLinesConfig(max_ratio=1))


def tag(path: str, text: str) -> None:
    model = store.load(path)
    facts(model), top(model, 3)
    tagger = Tagger(model, read_batches(model, InputConfig((text,)), reading()))
    b"".join(texts(tagger, tagger.probabilistic))


def score(path: str, text: str) -> None:
    target = model_file.load_target(path)
    if target.sequences:
        tagger = tagger_of(target)
        for part in tag_sequences(tagger, read_blocks([text], text_format()), reading()):
            part.lines([b""] * len(part.chosen))
    target.chosen(target.scores(Corpus(reading(), tags=True).read([text])))


def describe(path: str, text: str) -> None:
    as_text(topics(theta_file.load_theta(path)[0], 3, 3))


def regress(path: str, text: str) -> None:
    model = load_tasks(path)
    corpus = Corpus(reading(), tags=True).read([text])
    model.predict(task_rows(corpus, model.words, model.config.task, model.tasks))


LOADERS = {"l1": tag, "aso": score, "aso-theta": describe, "aso-tasks": regress}  # by learner


def read_columns(data: bytes) -> None:
    """A template, a zero byte, and a file of columns."""
    template, _, columns = data.partition(b"\0")
    templates, config = read_templates(template.decode("utf-8", "surrogateescape")), ColumnsConfig(iob2=True)
    text = "".join(convert(columns.splitlines(keepends=True), "fuzz", lambda width: templates, config))
    text.encode("utf-8", "surrogateescape")


CONFIGS = (  # the first byte of an input chooses
    L1Config(model="crf", passes=2, edge=("w",)),
    L1Config(model="crf", passes=2, solver="owlqn"),
    L1Config(model="crf", passes=1, dense_pairs=True, penalty="naive"),
    L1Config(model="multinomial", passes=2, penalty="clipping"),
    L1Config(model="multinomial", passes=2, solver="owlqn"),
    L1Config(model="crf", passes=2, edge=("w",), solver="fista", group=True),
    L1Config(model="multinomial", passes=2, group=True),
    L1Config(model="multinomial", passes=2, solver="fista", dense_pairs=True, trace=1.0),
    L1Config(model="binary", passes=2),
    L1Config(model="crf", passes=2, loss="perceptron", edge=("w",)),
    L1Config(model="crf", passes=2, loss="mira"),
    L1Config(model="crf", passes=2, loss="margin", l2=0.5, edge=("w",)),
    L1Config(model="crf", passes=2, loss="margin"),
    L1Config(model="crf", passes=2, order=2, edge=("w",)),
    L1Config(model="crf", passes=2, order=2, loss="mira"),
    L1Config(model="tree", passes=2, edge=("w",)),
    L1Config(model="tree", passes=2, loss="mira"),
    L1Config(model="tree", passes=2, loss="margin", l2=0.5, edge=("w",)),
)
LABELS = 200  # of a text, at most: the time of a chain grows with their square


def learn_named(data: bytes, path: str) -> None:
    """Train a log-linear model on the file ``path``, which has ``data`` without its first byte, and tag its text."""
    choice = data[0] if data else 0
    config = CONFIGS[choice % len(CONFIGS)]
    if len({line.partition(b"|")[0] for line in data.split(b"\n")}) > LABELS:
        return
    fit(job_of(config, path, choice >= 128)).save(f"{path}.model")
    if config.model != "binary":
        tag(f"{path}.model", path)


def fit(job: TrainJob) -> TrainResult:
    texts = Texts(job, BadLines(job.labels(), None, BadLinesConfig(max_ratio=1)))
    with closing(Inputs(job.input, texts.format)) as inputs:
        lines = texts.read(inputs)
    return Fit(job, texts, lines, None, None, Monitor()).run()


def job_of(config: L1Config, path: str, names: bool) -> TrainJob:
    return TrainJob(config, FeatureConfig(), InputConfig((path,)), Holdout(), 3, names, None)
