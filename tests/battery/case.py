"""An estimator in a folder of its own: how it is called there, stopped, and what it leaves."""

import contextlib
import faulthandler
import gc
import os
import signal
import sys
import warnings
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from battery.estimators import COMMANDS, Estimator, texts
from in_process import call

from vwlite.data import block_parser
from vwlite.storage.model_file import load
from vwlite.storage.output_checks import LEDGER, lock

SHARED = TemporaryDirectory()  # with the texts and a Theta
OPENERS = (  # of a model m and its text d, beside the commands that go on with models; all that are there are tried
    "predict -i m d", "evaluate -i m d", "explain -i m d", "inspect m", "vw -d d -i m -t",
    "merge m m -f out", "recommend -i m --of i d", "evaluate -i m d --against m --qid u", "project -i m d",
    "lm vectors -i m", "lm rank -i m d", "lm features -i m d --namespace u",
    "aso train d --theta m -f out", "aso apply --theta m d", "aso inspect m",
    "aso cotrain d --unlabeled d --rounds 1 --theta m -f out", "l1 d --model multinomial --theta m -f out",
    "train d --oaa 3 --named_labels a,b,c --theta m -f out", "report run.json -o out --test d -i m",
    "train d --curriculum easy --curriculum-by margin:m --passes 2 -f out",
)


@cache
def shared():
    folder = Path(SHARED.name)
    for name, text in texts().items():
        (folder / f"{name}.vw").write_text(text)
    call(folder, "aso", "learn", "names.vw", "--aux", "mask:u", "--dim", "2", "--quiet", "-f", "theta")
    return folder


@cache
def whole(one):
    """The files that it makes of its text when nothing happens, by name."""
    with TemporaryDirectory() as folder:
        case = Case(one, Path(folder))
        case.learn()
        return case.outputs()


@cache
def openers(command):
    """The command lines that open models of a command."""
    folder, one = shared(), COMMANDS[command]
    (folder / "m").write_bytes(whole(one)["model"])
    (folder / "d").write_text((folder / one.data).read_text())
    call(folder, "train", "signs.vw", "--json", "run.json", "--quiet", "-f", "out")
    going_on = (one.command for one in COMMANDS.values() if "initial" in one.typed and one.command != "vw")
    lines = [line.split() for line in (*OPENERS, *(f"{one} d -i m -f out" for one in going_on))]
    return [words for words in lines if call(folder, *words, status=None).status == 0]


def load_parts(path):
    """Header and arrays of a model, without what the number of runs changes."""
    model = load(path)
    header = {name: value for name, value in model.header.items() if name not in ("passes", "counters")}
    arrays = {name: memoryview(getattr(one, "values", one)).tobytes() for name, one in model.arrays.items()}
    return header, arrays


def assert_answers(answers, lines):
    """What Python answers is what the command writes before the tags."""
    texts = [line.split(" r")[0].strip() for line in lines if line]
    if isinstance(answers, list):  # sets of classes
        assert [",".join(map(str, one)) for one in answers] == texts
    elif answers.dtype == np.float32:
        written = [[float(word.rpartition(":")[2]) for word in text.split()] for text in texts]
        np.testing.assert_allclose(answers.reshape(len(answers), -1), written, rtol=1e-5, atol=1e-6)
    else:
        assert [str(one) for one in answers.tolist()] == [text.split(" ")[0] for text in texts]


class Case:
    def __init__(self, one: Estimator, folder: Path) -> None:
        self.one, self.folder = one, folder
        for name in {one.data, "theta", *(f"{text}.vw" for text in texts() if f"{text}.vw" in " ".join(one.options))}:
            (folder / name).write_bytes((shared() / name).read_bytes())
        self.given = {path.name for path in folder.iterdir()}

    @property
    def text(self):
        return texts()[self.one.text]

    @property
    def files(self):
        return whole(self.one)

    @property
    def whole(self):
        return self.files["model"]

    @cached_property
    def openers(self):
        result = openers(self.one.command)
        self.write("d", self.text)
        self.write("run.json", (shared() / "run.json").read_bytes())
        return result

    @property
    def malformed(self):
        """A line like the first one, but for a value that is not a number."""
        line = self.text.splitlines()[0].replace("'r0", "'bad").replace("'0", "'bad")
        return f"{line} x:nan"

    def here(self):
        return contextlib.chdir(self.folder)

    def write(self, name, content):
        (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        self.given.add(name)
        return name

    def half(self, number):
        """The file of the first half of the text, or of the second; groups of lines stay together."""
        parts = self.text.split("\n\n") if "\n\n" in self.text.strip() else self.text.splitlines()
        end, cut = "\n\n" if "\n\n" in self.text.strip() else "\n", len(parts) // 2
        return self.write(f"half{number}.vw", end.join(parts[cut:] if number else parts[:cut]).rstrip("\n") + end)

    def left(self):
        """What stands there that was not given, by name."""
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.name not in self.given}

    def clear(self):
        for name in self.left():
            (self.folder / name).unlink()

    def run(self, *words, **more):
        return call(self.folder, *words, **more)

    def made(self, output="model"):
        return (self.folder / output).read_bytes()

    def learn(self, *more, data=None, output="model", stdin=b""):
        """The bytes of what it makes."""
        self.run(*self.one.words(*more, data=data, output=output), stdin=stdin)
        return self.made(output)

    def outputs(self):
        """What it has made: everything but ledgers, which tell of times, and caches."""
        return {name: content for name, content in self.left().items() if name != "c" and not name.endswith(LEDGER)}

    def same(self, *more, **given):
        """It makes the same files as when nothing happens."""
        self.learn(*more, **given)
        assert self.outputs() == self.files

    @contextlib.contextmanager
    def blocks_of(self, size):
        """The options that have text parsed in such blocks; without such options, it is while this is entered."""
        if "block_size" in self.one.typed:
            yield "--block-size", size
        else:
            with patch.dict(block_parser.read.__kwdefaults__, block_size=size):
                yield ()

    def locked(self):
        """While entered, its model belongs to another process."""
        return lock(str(self.folder / "model"))

    def interrupt(self, number, share, *more, data=None):
        """The exit status of a run that gets a signal after this share of what it does once it has opened its data."""
        words = tuple(map(str, self.one.words(*more, data=data)))
        status = self.in_fork(words, number, int(share * self.counted(words)[0]))
        return status if status >= 0 else 128 - status  # as a shell has it

    def said(self):
        """What the run in a process of its own wrote to standard error."""
        return Path(f"{self.folder}.stderr").read_text()

    def uninterrupted(self, *more, data=None):
        """What such a run makes when nothing happens, as ``outputs`` has it."""
        return self.counted(tuple(map(str, self.one.words(*more, data=data))))[1]

    @cache  # noqa: B019
    def counted(self, words):
        """How many functions a run calls after it has opened its data, and what it makes; nothing of it stays."""
        before = self.left()
        status = self.in_fork(words, 0, -1)
        assert status == 0, status
        count = int((self.folder / "calls").read_text())
        (self.folder / "calls").unlink()
        made = self.outputs()
        self.clear()
        for name, content in before.items():
            (self.folder / name).write_bytes(content)
        return count, made

    def in_fork(self, words, number, at):
        """Runs the command in a process of its own, as from a shell; at the call ``at`` it sends itself a signal."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
            child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        try:
            begin(self.folder, words, number, at)
        finally:
            os._exit(99)


def begin(folder, words, number, at):
    from vwlite.cli.program import program

    os.chdir(folder)
    gc.freeze()  # what the process of the tests has is neither looked through nor copied
    streams = [open(os.devnull), open(os.devnull, "w"), open(f"{folder}.stderr", "w")]  # noqa: SIM115
    for descriptor, stream in enumerate(streams):
        os.dup2(stream.fileno(), descriptor)
    sys.stdin, sys.stdout, sys.stderr = streams
    faulthandler.dump_traceback_later(60, exit=True)  # a run that hangs ends with another status
    sys.argv, count = ["vwlite", *words], 0
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)

    def called(frame, event, argument):
        nonlocal count
        count += 1  # functions only: this is no tracer of what they do
        if count == at:
            os.kill(os.getpid(), number)

    def opened(event, arguments):
        if event == "open" and str(arguments[0]).endswith(".vw") and not sys.gettrace():
            sys.settrace(called)

    def end(status):
        sys.settrace(None)
        (folder / "calls").write_text(str(count)) if not number else None
        exit_(status)

    exit_, os._exit = os._exit, end
    sys.addaudithook(opened)
    program()
