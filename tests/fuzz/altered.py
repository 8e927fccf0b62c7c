"""Sealed models with something else in their header, given to every command that takes a model, in this process.

``python -m fuzz.altered --count 100000`` tries many; the tests try a few.
"""

import argparse
import io
import json
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from battery.estimators import texts

from fuzz.mutations import header_changed, json_changed
from fuzz.sealing import sealed_model, unsealed_model
from fuzz.seeds import made
from fuzz.targets import folder
from vwlite.cli.signals import Interrupts
from vwlite.interrupts import Interrupted

TEXT = b"1 |a b c:2 |b x |s d |user u\n-1 't |a x |b y z\n"
CLASSES = TEXT.replace(b"-1", b"3")
TARGETS = b"1,-2 |a b |c x:2\n,3.5 2 |a c:2 |b d\n"
GROUPS = b"1:0 |a c |s d\n2:0.5 |a d\n\n"
NAMED = b"B-NP 'x |a b c:2 |w x\nI-NP 'y^x |a b |w y\n\n"  # a tree as well
COMMANDS = (
    "predict -i model text --quiet",
    "predict -i model text --raw --quiet",
    "predict -i model text --probabilities --quiet",
    "predict -i model text --confidence --quiet",
    "evaluate -i model text --json - --quiet",
    "inspect model --top 5",
    "inspect model --json - --readable_model out.txt",
    "inspect model --factors a",
    "train text -i model -f out --quiet",
    "train text -i model -f out --names --passes 2 --quiet",
    "l1 text -i model -f out --quiet",
    "vw -d text -i model -f out",
    "vw -d text -i model -f out -q ab --save_resume --preserve_performance_counters",
    "vw -d text -i model -t -p out.txt",
    "vw -d text -i model -t --invert_hash out.txt --quiet",
)
OF_THETA = (
    "aso inspect model",
    "aso train text --theta model -f out --quiet",
    "inspect model",
    "aso learn text -i model -f out --keep-weights --quiet",
)
OF_NAMED = (*COMMANDS[0:11:2], "vw -d text -i model -t")
OF_COMPONENTS = (
    "project -i model text --quiet",
    "project -i model text --scale left --quiet",
    "pca text -i model -f out --quiet",
    *(COMMANDS[number] for number in (0, 4, 5, 6, 8)),
)
OF_CLUSTERS = (*OF_COMPONENTS[3:], *COMMANDS[1:3], "cluster text -i model -f out --quiet")
OF_WORDS = (
    "lm rank -i model text --quiet",
    "lm vectors -i model",
    "lm features -i model text --namespace a --quiet",
    "lm train text -i model -f out --quiet",
    *(COMMANDS[number] for number in (0, 4, 5, 6, 8)),
)
STOPPED = "train long.vw -f base -p base.p -q ab --passes 3 --names --quiet --block-size 100"
RESUMED = f"{STOPPED} --resume"  # the model is base.ckpt
MEMORY = 2 << 30  # bytes of address space that a command may take
PEAK = 200 << 20  # bytes of it that it may write to
SECONDS = 5  # of processor time a command may take


class Find(Exception):
    """A command neither worked nor refused the model in words."""


def text_for(learner: str) -> bytes:
    named = dict.fromkeys(("l1", "aso", "aso-theta"), NAMED)
    of_classes = (
        *("many", "multiclass", "lfl", "filter_tree", "scoring_tree", "log_multi", "ect", "nn_classes"),
        "bfgs_multiclass",
    )
    of_outputs = dict.fromkeys(("outputs", "bfgs_outputs", "factored"), TARGETS)
    words = {"lm": texts()["numbers"].encode()}  # whose model knows them
    return {"ldf": GROUPS, **words, **of_outputs, **named, **dict.fromkeys(of_classes, CLASSES)}.get(learner, TEXT)


def commands_for(learner: str) -> tuple[str, ...]:
    own = {"aso-theta": OF_THETA, **dict.fromkeys(("aso", "aso-tasks", "l1"), OF_NAMED)}
    return {**own, "pca": OF_COMPONENTS, "cluster": OF_CLUSTERS, "lm": OF_WORDS}.get(learner, COMMANDS)


def in_memory(name: str) -> int:
    """Bytes, as ``/proc/self/status`` has them."""
    return int(re.search(rf"^{name}:\s*(\d+)", Path("/proc/self/status").read_text(), re.M)[1]) << 10


@contextmanager
def bounds(memory: int) -> Iterator[None]:
    """Address space beyond ``memory`` is refused, and a command that takes too long or much ends in a Find."""
    Path("/proc/self/clear_refs").write_text("5")  # what was the most is forgotten
    used, start = in_memory("VmSize"), in_memory("VmRSS")
    before = resource.getrlimit(resource.RLIMIT_AS)

    def late(number, frame):
        raise Find(f"{SECONDS} s of processor time")

    handler = signal.signal(signal.SIGPROF, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, before[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, handler)
    if (taken := in_memory("VmHWM") - start) > PEAK:
        raise Find(f"{taken >> 20} MiB of memory")


def run(command: str, memory: int = MEMORY) -> tuple[int, str]:
    """The exit status of ``vwlite COMMAND`` and what it said."""
    from vwlite.cli.root import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace") for _ in range(2))
    before, sys.argv = sys.argv, ["vwlite", *command.split()]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with redirect_stdout(out), redirect_stderr(err), bounds(memory):
            status = status_of(main)
    finally:
        sys.argv = before
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return status, "".join(stream.buffer.getvalue().decode("utf-8", "replace") for stream in flushed(out, err))


def status_of(main: Callable[[], None]) -> int:
    try:
        main()
    except SystemExit as left:
        return left.code
    return 0


def flushed(*streams: io.TextIOWrapper) -> tuple[io.TextIOWrapper, ...]:
    for stream in streams:
        stream.flush()
    return streams


def checkpoint() -> bytes:
    """Of a run that was stopped in its second pass, in the current folder."""
    Path("long.vw").write_bytes(TEXT * 20)
    looks, check = iter(range(20)), Interrupts.check

    def stop(self: Interrupts) -> None:
        if next(looks, None) is None:
            raise Interrupted(15)

    Interrupts.check = stop
    try:
        run(STOPPED)
    finally:
        Interrupts.check = check
    return Path("base.ckpt").read_bytes()


def attempt(data: bytes, command: str, learner: str, memory: int = MEMORY) -> int:
    """The exit status of a command, run in the current folder, with this model. Raises Find."""
    Path("text").write_bytes(text_for(learner))
    Path("base.ckpt" if command == RESUMED else "model").write_bytes(data)
    try:
        status, said = run(command, memory)
    except Find:
        raise
    except BaseException as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise Find(f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}") from error
    if not (status == 0 or said.strip()) or "Traceback" in said:
        raise Find(f"status {status}: {said[-300:]!r}")
    return status


def altered(draw: random.Random, seed: bytes) -> bytes:
    """Of what ``sealed_model`` takes: mostly what the header says of the learner, else any of it."""
    if not draw.randrange(4):
        return header_changed(draw, seed)
    size = int.from_bytes(seed[:4], "little")
    header = json.loads(seed[4 : 4 + size])
    header["model"] = json.loads(json_changed(draw, json.dumps(header["model"]).encode()))
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + seed[4 + size :]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="Keep models that were finds there.")
    options = parser.parse_args()
    draw, found, ended, worst = random.Random(options.seed), Counter(), Counter(), 0.0
    os.chdir(folder())
    corpora = made()["sealed_model"], [unsealed_model(checkpoint())]
    started = time.monotonic()
    for number in range(options.count):
        resumed = draw.randrange(10) == 0
        seed = draw.choice(corpora[resumed])
        learner = learner_of(seed)
        command = RESUMED if resumed else draw.choice(commands_for(learner))
        data, before = sealed_model(altered(draw, seed)), time.process_time()
        try:
            ended[attempt(data, command, learner)] += 1
        except Find as find:
            what = f"{find} <- {learner}: {command}"
            if not found[str(find)] and options.keep:
                options.keep.mkdir(exist_ok=True)
                (options.keep / f"{len(found)}").write_bytes(data)
                print(f"find {len(found)} after {number}: {what}", flush=True)
            found[str(find)] += 1
        worst = max(worst, time.process_time() - before)
    print(
        f"{options.count} models in {time.monotonic() - started:.0f} s; statuses {dict(sorted(ended.items()))}; "
        f"the slowest {worst:.1f} s; peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB"
    )
    for find, count in found.most_common():
        print(count, find)
    raise SystemExit(bool(found))


def learner_of(seed: bytes) -> str:
    size = int.from_bytes(seed[:4], "little")
    return json.loads(seed[4 : 4 + size])["model"]["learner"]


if __name__ == "__main__":
    main()
