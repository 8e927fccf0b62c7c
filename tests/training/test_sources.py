"""A run over batches that are held in memory, and the order in which its listeners hear of it."""

import pytest

from vwlite.data.config import HoldoutConfig, InputConfig
from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import text_format
from vwlite.learners.configs.dyadic import DyadicConfig
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.configs.per_class import PerClassConfig
from vwlite.training.assembly import EarlyStopping, malformed_line_policy
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.counters import Counters
from vwlite.training.file_batches import Holdout
from vwlite.training.listener import Display, Listener
from vwlite.training.model_loader import begin_learner
from vwlite.training.model_writer import ModelWriter
from vwlite.training.run_report import Counting
from vwlite.training.train import BadLinesConfig, train
from vwlite.training.trainer import Trainer

LINES = [b"%d |u u%d |i i%d x:%d.5\n" % ((-1) ** (n // 3 % 2), n % 5, n % 7, n % 4) for n in range(60)]
CLASSES = [b"%d |u u%d |i i%d\n" % (n % 3 + 1, n % 5, n % 7) for n in range(60)]
RUNS = {
    "linear": (GdConfig(), {"quadratic": ("ui",)}, LINES),
    "wildcards": (GdConfig(), {"interactions": ("::",)}, LINES),
    "dyadic": (DyadicConfig(pairs=1), {"dotproduct": ("ui",)}, LINES),
    "classes": (PerClassConfig(oaa=3), {}, CLASSES),
}


class Memory:
    """Batches that stay as they are, a ``BatchSource``."""

    def __init__(self, batches, holdout):
        self.held, self.holdout = batches, holdout

    def batches(self, number):
        self.holdout.start_pass()
        for batch in self.held:
            batch.holdout_mask = self.holdout.mark(len(batch))
            yield batch


def configured(name, folder, holdout_off):
    learner, features, lines = RUNS[name]
    (folder / "data.vw").write_bytes(b"".join(lines))
    return RunConfig(
        input=InputConfig(paths=(str(folder / "data.vw"),), block_size=500),
        features=FeatureConfig(bits=12, **features),
        learner=learner,
        output=OutputConfig(model=str(folder / "model")),
        holdout=HoldoutConfig(off=holdout_off, period=7, early_terminate=2),
        passes=5,
    )


@pytest.mark.parametrize("holdout_off", [True, False])
@pytest.mark.parametrize("name", RUNS)
def test_memory_gives_the_model_that_a_file_gives(name, holdout_off, tmp_path):
    config = configured(name, tmp_path, holdout_off)
    counts = train(config).parts.counters.totals()
    model = (tmp_path / "model").read_bytes()
    (tmp_path / "model").unlink()

    learner, plan = begin_learner(config, None)
    policy = malformed_line_policy(config, learner, None, BadLinesConfig(), None)
    pieces = [b"".join(RUNS[name][2][begin : begin + 13]) for begin in range(0, 60, 13)]
    text = text_format(config.features, skip_malformed=True)
    batches = [policy.relabel(parse_text(piece, text)) for piece in pieces]
    counters = Counters(simple_labels=learner.simple_labels)
    writer = ModelWriter(config, learner, plan, counters, labels=policy.labels)
    stopping = EarlyStopping(config, counters, writer, Display())
    source = Memory(batches, Holdout(config.holdout, config.holds_out))
    Trainer(learner, plan, source, [Counting(learner, counters), writer, stopping], passes=config.passes).run()
    assert (tmp_path / "model").read_bytes() == model
    assert counters.totals() == counts


class Recorder(Listener):
    """Writes down what it hears, ``name`` first."""

    def __init__(self, name, heard, last):
        self.name, self.heard, self.last = name, heard, last

    def begin(self, run):
        self.heard.append((self.name, "begin", run.passes_done))

    def begin_pass(self, number):
        self.heard.append((self.name, "begin_pass", number))

    def before(self, batch, begin, end):
        self.heard.append((self.name, "before", begin, end))

    def batch(self, batch, results, begin, end):
        self.heard.append((self.name, "batch", begin, end))

    def between(self):
        self.heard.append((self.name, "between"))

    def pass_read(self, number):
        self.heard.append((self.name, "pass_read", number))

    def end_pass(self, number):
        self.heard.append((self.name, "end_pass", number))
        return number == self.last

    def end(self):
        self.heard.append((self.name, "end"))


@pytest.mark.parametrize("row_by_row", [False, True])
def test_listeners_hear_of_everything_in_their_order_until_one_ends_the_run(row_by_row, tmp_path):
    config = configured("linear", tmp_path, True)
    learner, plan = begin_learner(config, None)
    batch, heard = parse_text(b"".join(LINES[:2]), text_format(config.features, skip_malformed=True)), []
    source = Memory([batch], Holdout(config.holdout, config.holds_out))
    listeners = [Recorder("a", heard, last=2), Listener(), Recorder("b", heard, last=3)]
    Trainer(learner, plan, source, listeners, passes=5, row_by_row=row_by_row).run()
    rows = [(0, 1), (1, 2)] if row_by_row else [(0, 2)]
    learned = [(event, *stretch) for stretch in rows for event in ("before", "batch")]
    passes = [
        event
        for number in (1, 2)
        for event in (
            ("begin_pass", number), *learned, ("between",),
            ("pass_read", number), ("end_pass", number),
        )
    ]
    wanted = [("begin", 0), *passes, ("end",)]
    assert heard == [(name, *event) for event in wanted for name in ("a", "b")]
