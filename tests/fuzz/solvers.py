"""Graphs, landmarks, components, clusters and words: what reads and loads them, and good ones to begin with."""

from contextlib import suppress

from vwlite.data.block_parser import read
from vwlite.data.blocks import blocks
from vwlite.data.config import BadLinesConfig, InputConfig
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import TextFormat
from vwlite.errors import DataError, Diverged
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.features.gamma import owned
from vwlite.features.term_weights import terms_of
from vwlite.solvers.clusters.model import ClusterModel
from vwlite.solvers.clusters.solver import Assignment
from vwlite.solvers.clusters.solver import strongest as strongest_words
from vwlite.solvers.cut.config import CutConfig
from vwlite.solvers.cut.edges import read_edges
from vwlite.solvers.cut.find import find
from vwlite.solvers.lm.config import FeaturesConfig, LmConfig, RankConfig
from vwlite.solvers.lm.model import LmModel, rank, vector_lines, with_vectors
from vwlite.solvers.lm.model import text_format as words_format
from vwlite.solvers.lm.solver import begin_training, continue_training
from vwlite.solvers.lm.words import text_of
from vwlite.solvers.pca.solver import PcaModel, Projection, top_features
from vwlite.solvers.rows import MemoryRows, Rows
from vwlite.training.listener import Monitor

GRAPH = b"a |n b:1 c:2\nb |n a:1 d:.5\nc 't|x e\nd |n e:1e3 a:-0\ne |\nd |n f g\n\ng |n g:2 h\n"
LANDMARKS = b"1 |a x y:2\n|b z:-1\n\0" + b"1 |a y:3 |b z\n-1 |a x w |b q:0.5\n"
MEMORY = 1e8  # bytes
LINES = b"c1 |a x y\nc2 |b z:2\nc1 |a x:3 |b z\n2 |a y |b q:0.5 z\n"
ROWS = (  # the first byte of an input chooses
    FeatureConfig(bits=6, noconstant=True),
    FeatureConfig(bits=6, noconstant=True, weight="idf", min_df=1, value="log", unit=True),
    FeatureConfig(bits=6, noconstant=True, quadratic=("ab",), random_features="rbf:64", fold=64, gamma=0.5),
)


def of_any_size(*_: object) -> None:
    """Where a solver asks whether there is room, or tells how far it is."""


def read_graph(path: str, data: bytes) -> None:
    """The graph of the text in the file ``path``, cut in two or three."""
    policy = BadLines(None, len, BadLinesConfig(max_ratio=1))
    inputs = Inputs(InputConfig((path,)), TextFormat(names=True).of_words())
    edges = read_edges(inputs, policy, of_any_size)
    find(edges, CutConfig(clusters=2 + len(data) % 2), MEMORY, 1, Monitor()).facts()


def rows_of(path: str, features: FeatureConfig, seen: list[int]) -> Rows:
    policy = BadLines(None, len, BadLinesConfig(max_ratio=1))
    form = text_format(features, skip_malformed=True).of_words(lists=True)
    return MemoryRows(features, [owned(policy.examine(part)) for part in read([path], form)], seen)


def use_landmarks(path: str, text: str, choice: int) -> None:
    """Features of the lines in ``text`` by landmarks in the file ``path``."""
    kernel = ("rbf", "linear", "poly2", "cosine")[choice % 4]
    how = {"nearest": choice % 3} if choice & 8 else {"whiten": bool(choice & 4)}
    features = FeatureConfig(bits=12, landmarks=f"{kernel}:{path}", quadratic=("ab",) if choice & 16 else (), **how)
    rows = rows_of(text, features, [])
    for part in rows.parts():
        terms_of(part.batch, rows.plan)


def project(path: str, text: str) -> None:
    model = PcaModel.load(path)
    model.facts(), top_features(model, 3)
    projection = Projection(model, left=True)
    rows = rows_of(text, model.features, model.seen)
    rows.plan.load(model.arrays)
    for part in rows.parts():
        projection.of(part)


def assign(path: str, text: str) -> None:
    model = ClusterModel.load(path)
    model.facts(), strongest_words(model, 3)
    if model.config.cut:
        return
    assignment, rows = Assignment(model), rows_of(text, model.features, model.seen)
    rows.plan.load(model.arrays)
    for part in rows.parts():
        assignment.nearest(part), assignment.distances(part)
        if assignment.softness:
            assignment.shares(part)


def read_plain_text(path: str) -> None:
    """Words of each kind and what they teach."""
    for kind in ("words", "blanks"):
        config = LmConfig(window=2, dim=3, hidden=3, vocabulary=9, tokens=kind)
        begin_training(config, blocks([path]), MEMORY, of_any_size).run(Monitor())


def use_words(path: str, text: str) -> None:
    model = LmModel.load(path)
    list(vector_lines(model))
    for use in (rank_words, add_vectors, learn_words_on):
        with suppress(DataError):  # a damaged vocabulary may know no word
            use(model, text)


def rank_words(model: LmModel, text: str) -> None:
    rank(RankConfig(), model.network, text_of(blocks([text]), model.config.tokens, model.words)).facts()


def add_vectors(model: LmModel, text: str) -> None:
    parts = read([text], words_format(), threads=1)
    policy = BadLines(None, len, BadLinesConfig(max_ratio=1))
    list(with_vectors(model, parts, policy, FeaturesConfig(namespaces=("a", "b"))))


def learn_words_on(model: LmModel, text: str) -> None:
    with suppress(Diverged):
        continue_training(model.config, model, blocks([text])).run(Monitor())


LOADERS = {"pca": project, "cluster": assign, "lm": use_words}  # by learner
