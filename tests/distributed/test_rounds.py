"""Rounds of shards: one model, whatever learns the shards and whatever happens to it."""

import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress
from multiprocessing import get_context

import numpy as np
import pytest

from vwlite.data.config import InputConfig
from vwlite.distributed import rounds as module
from vwlite.distributed.engines import Here, Processes, engine_for
from vwlite.distributed.merge import write
from vwlite.distributed.plan import base_of
from vwlite.distributed.rounds import Rounds, Settings
from vwlite.errors import DataError, InputDamaged, ModelError, UsageError, WorkerLost
from vwlite.interrupts import Guard, Interrupted
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.losses import LossConfig
from vwlite.storage.atomic_file import capture_bytes
from vwlite.training.config import OutputConfig, RunConfig
from vwlite.training.listener import Display


def lines(count=600, seed=1):
    random = np.random.default_rng(seed)
    for _ in range(count):
        a, b = random.integers(0, 30, 2)
        yield f"{1 if a + random.normal(0, 9) > b else -1} |a x{a} z{random.integers(0, 5)}:0.5 |b y{b}\n"


class Heard(Display):
    def __init__(self):
        self.lines = []

    def line(self, text):
        self.lines.append(text)

    message = line


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "t.vw"
    path.write_text("".join(lines()))
    return str(path)


def config_of(path, model=None, **output):
    learner = GdConfig(loss=LossConfig("logistic"), link="logistic")
    return RunConfig(input=InputConfig((path,)), learner=learner, output=OutputConfig(model=model, **output))


def made(config, engine, settings=None, **more):
    settings = settings or Settings(4, 2)
    with closing(Rounds(config, settings, base_of(config, settings.shards), engine, **more)) as rounds:
        model = rounds.run()
        return capture_bytes(lambda open_output: write("m", model, open_output)), rounds


@pytest.fixture(scope="module")
def expected(data):
    return made(config_of(data), Here())[0]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_number_of_processes_is_of_no_effect(data, expected, workers):
    assert made(config_of(data), Processes(workers))[0] == expected


def test_any_executor_makes_the_same_bytes(data, expected):
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2, get_context("spawn")) as processes:
        for executor in (threads, processes):
            assert made(config_of(data), engine_for(executor))[0] == expected


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_makes_the_same_bytes_though_a_worker_is_killed(data, expected):
    pytest.importorskip("dask", reason="pip install 'vwlite[dask]'")  # without it, distributed is a folder of tests
    import distributed

    with (
        distributed.LocalCluster(3, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert made(config_of(data), engine_for(client))[0] == expected
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        assert made(config_of(data), engine_for(client))[0] == expected


class Killing(Processes):
    """Kills a process ``times`` times, at a moment ``when``."""

    def __init__(self, when, times=1):
        super().__init__(2)
        self.when, self.times = when, times

    def kill(self):
        pids = list(self.pool._processes) if self.pool else []
        if pids and self.times > 0:
            self.times -= 1
            with suppress(ProcessLookupError):
                os.kill(pids[0], signal.SIGKILL)

    def started(self):
        pool = super().started()
        if self.when == "before" and self.times:
            pool.submit(os.getpid).result()
            self.kill()
        return pool

    def run(self, work, base, shards, how, check):
        stop = threading.Event()
        if self.when == "in":
            threading.Thread(target=lambda: stop.wait(0.002) or self.kill(), daemon=True).start()
        for delta in super().run(work, base, shards, how, check):
            if self.when == "after":
                self.kill()
            yield delta
        stop.set()
        if self.when == "merging":
            self.kill()


# A race in the standard library: a pool that breaks while it still starts processes may end its thread by an error.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("when", ["before", "in", "after", "merging"])
def test_a_killed_process_is_of_no_effect(data, expected, when):
    engine = Killing(when)
    assert made(config_of(data), engine)[0] == expected
    assert engine.times == 0 or when == "in"


def test_a_shard_that_kills_every_process_is_named(data):
    with pytest.raises(WorkerLost, match=r"shard \d of 4 was begun 3 times and never ended: its process was killed"):
        made(config_of(data), Killing("before", times=20))


class Failing:
    """An executor whose tasks fail, so many times."""

    def __init__(self, times, error):
        self.times, self.error = times, error

    def submit(self, function, *arguments):
        future = Future()
        if self.times > 0:
            self.times -= 1
            future.set_exception(self.error)
        else:
            future.set_result(function(*arguments))
        return future


def test_work_that_fails_on_an_executor_is_begun_again(data, expected):
    actual, rounds = made(config_of(data), engine_for(Failing(5, OSError("gone"))))
    assert actual == expected and [report.retries for report in rounds.state.reports] == [5, 0]
    with pytest.raises(WorkerLost, match="begun 3 times and never ended: OSError: gone"):
        made(config_of(data), engine_for(Failing(99, OSError("gone"))))
    with pytest.raises(InputDamaged, match="half"):
        made(config_of(data), engine_for(Failing(1, InputDamaged("half"))))


class After(Guard):
    """Interrupts before round ``number``."""

    def __init__(self, number, shards=4):
        self.left = (number - 1) * shards + 1

    def check(self):
        self.left -= 1
        if self.left < 0:
            raise Interrupted(2)


def test_stopped_rounds_go_on_to_the_same_bytes(data, expected, tmp_path):
    model = str(tmp_path / "m")
    config = config_of(data, model)
    with pytest.raises(Interrupted, match="keeps round 1, --resume goes on"):
        made(config, Here(), guard=After(2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.ckpt"]
    heard = Heard()
    settings = Settings(4, 2, resume=True)
    assert made(config, Here(), settings, display=heard)[0] == expected == (tmp_path / "m").read_bytes()
    assert "going on after round 1 of 2" in heard.lines
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    made(config, Here(), settings, display=heard)
    assert f"there is no {model}.ckpt to resume: training starts from the beginning" in heard.lines


def test_other_options_and_changed_files_are_not_gone_on_with(tmp_path):
    (tmp_path / "t").write_text("".join(lines(60)))
    config = config_of(str(tmp_path / "t"), str(tmp_path / "m"))
    with pytest.raises(Interrupted):
        made(config, Here(), guard=After(2))
    with pytest.raises(UsageError, match="but rounds was 2 there and is 3 here"):
        made(config, Here(), Settings(4, 3, resume=True))
    with (tmp_path / "t").open("a") as file:
        file.write("1 |a more\n")
    with pytest.raises(ModelError, match="the input has changed since"):
        made(config, Here(), Settings(4, 2, resume=True))


def test_a_file_that_changes_between_rounds_ends_them(tmp_path, monkeypatch):
    (tmp_path / "t").write_text("".join(lines(60)))
    keep = Rounds.keep

    def changing(self, *arguments):
        keep(self, *arguments)
        (tmp_path / "t").write_text("1 |a x\n")

    monkeypatch.setattr(module.Rounds, "keep", changing)
    with pytest.raises(InputDamaged, match="has changed since its shards were laid out"):
        made(config_of(str(tmp_path / "t")), Here())


def test_the_best_round_is_kept(data, tmp_path, monkeypatch):
    (tmp_path / "held").write_text("".join(lines(200, 9)))
    losses = iter([0.5, 0.3, 0.4, 0.4, 0.4])
    monkeypatch.setattr(Rounds, "measured", lambda self, path: next(losses))
    actual, rounds = made(config_of(data, str(tmp_path / "m")), Here(), Settings(4, 9, str(tmp_path / "held")))
    assert (rounds.state.best, rounds.state.done) == (2, 5)  # after three rounds without gain
    assert actual == made(config_of(data), Here(), Settings(4, 2))[0] == (tmp_path / "m").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "m"]


def test_the_holdout_loss_is_that_of_evaluate(data, tmp_path, run_here):
    (tmp_path / "held").write_text("".join(lines(200, 9)))
    model = str(tmp_path / "m")
    rounds = made(config_of(data, model), Here(), Settings(4, 1, str(tmp_path / "held")))[1]
    stdout = run_here("evaluate", "-i", "m", "held", "--metric", "loss").stdout
    assert f"{rounds.state.reports[0].holdout_loss:.6g}" in stdout


def test_sorted_labels_and_little_data_are_noted(tmp_path):
    (tmp_path / "t").write_text("".join(sorted(lines(400))))
    heard = Heard()
    made(config_of(str(tmp_path / "t")), Here(), display=heard)
    assert any("shards differ, the labels' mean goes from -1 to 1" in line for line in heard.lines)
    assert any("averages of so little are poor" in line for line in heard.lines)
    heard = Heard()
    (tmp_path / "t").write_text("".join(lines(400)))
    made(config_of(str(tmp_path / "t")), Here(), display=heard)
    assert not any("shards differ" in line for line in heard.lines)


def test_malformed_lines_are_counted_over_all_shards(tmp_path):
    (tmp_path / "t").write_text("".join(lines(30)) + "odd\n" + "".join(lines(30)))
    with pytest.raises(DataError, match="1 of 61 lines are malformed"):
        made(config_of(str(tmp_path / "t")), Here())
