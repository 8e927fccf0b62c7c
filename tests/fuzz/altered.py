"""Models, deltas and checkpoints that are damaged in ways that no digest tells, given to whatever opens one.

``python -m fuzz.altered --count 3000`` gives each of so many to all doors of its kind and to some others, in forks; the
tests try a few.
"""

import argparse
import contextlib
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from fuzz import forks
from fuzz.doors import CLASSES, EVERY, RESUMED, STOPPED, TEXT, commands_for, run, text_for
from fuzz.mutations import header_changed, json_changed
from fuzz.sealing import sealed_model, unsealed_model
from fuzz.seeds import made
from vwlite.cli.signals import Interrupts
from vwlite.interrupts import Interrupted

PEAK = 200 << 20  # bytes that a command may write to


class Find(Exception):
    """A command neither worked nor refused the model in words."""


def checkpoint() -> bytes:
    """Of a run that was stopped in its second pass, in the current folder."""
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


MADE = (  # by the command line: without the names of features, which keep models from being merged
    "train long.vw -f made -b 6",
    "train long.vw -f made -b 6 --sgd --loss_function logistic",
    "train many.vw -f made -b 6 --oaa 3",
    "train many.vw -f made -b 6 --multiclass 3 -q ab",
    "crr long.vw -f made -b 6 --qid none --steps 20",
    "train long.vw -f made -b 6 --dotproduct ab --rank 2 --names",
    "l1 long.vw -f made --model binary",
)


def models() -> Iterator[bytes]:
    for command in MADE:
        assert run(f"{command} --quiet").status == 0, command
        yield Path("made").read_bytes()


def deltas() -> bytes:
    """One of the two of a model ``base``; the current folder has the ``other.delta``."""
    run("train long.vw -f base -b 6 --quiet")
    for number, name in enumerate(("one.delta", "other.delta"), 1):
        run(f"train long.vw --shard {number}/2 -i base -f {name} --quiet")
    return Path("one.delta").read_bytes()


def attempt(data: bytes, command: str, learner: str, memory: int = forks.MEMORY) -> int:
    """The exit status of a command, run in the current folder, with this model. Raises Find."""
    Path("text").write_bytes(text_for(learner))
    Path("base.ckpt" if command == RESUMED else "model").write_bytes(data)
    done = run(command, memory)
    if done.status < 0:
        raise Find(f"signal {-done.status}")
    if "Traceback" in done.said or (done.status == 1 and "[critical]" not in done.said):
        *_, last = done.said.strip().splitlines() or ["nothing"]
        at = [line for line in done.said.splitlines() if line.lstrip().startswith("File")][-1:]
        raise Find(f"{last[:160]} {' '.join(at).replace(', in', '').strip()[-90:]}")
    if done.status and not done.said.strip():
        raise Find(f"status {done.status} without a word")
    if done.peak > PEAK:
        raise Find(f"{done.peak >> 20} MiB of memory")
    return done.status


def altered(draw: random.Random, seed: bytes) -> bytes:
    """Of what ``sealed_model`` takes: mostly what the header says of the learner, else any of it."""
    if not draw.randrange(4):
        return header_changed(draw, seed)
    header, arrays = parts_of(seed)
    header["model"] = json.loads(json_changed(draw, json.dumps(header["model"]).encode()))
    return seed_of(header, arrays)


def parts_of(seed: bytes) -> tuple[dict, list[bytes]]:
    """The header, and the data of each array in it."""
    size = int.from_bytes(seed[:4], "little")
    header, rest, arrays = json.loads(seed[4 : 4 + size]), seed[4 + size :], []
    for item in header["arrays"]:
        nbytes = int(np.prod(item["shape"], dtype=np.int64)) * int(item["dtype"][2:])
        arrays.append(rest[:nbytes])
        rest = rest[nbytes:]
    return header, arrays


def seed_of(header: dict, arrays: list[bytes]) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + b"".join(arrays)


FLOATS = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0, 0.0, 1e10, -1.0)
INTEGERS = (0, 1, 2, 7, 255, 2**16, 2**31 - 1, 2**32 - 1, 2**63 - 1, -1)
TYPES = ("|i1", "|u1", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


def refilled(draw: random.Random, seed: bytes) -> bytes:
    """Other numbers in some arrays: NaN, infinity, what no place has, a bit that is flipped, another array's."""
    header, arrays = parts_of(seed)
    for _ in range(draw.choice((1, 1, 2, 4))):
        number = draw.randrange(len(arrays))
        values = np.frombuffer(arrays[number], header["arrays"][number]["dtype"]).copy()
        if not len(values):
            continue
        how, place = draw.randrange(5), draw.randrange(len(values))
        special = draw.choice(FLOATS if values.dtype.kind == "f" else INTEGERS)
        with np.errstate(over="ignore"):
            special = np.array(special).astype(values.dtype)
        if how == 0:
            values[:] = special
        elif how < 3:
            values[place : place + draw.choice((1, 1, 2, len(values)))] = special
        elif how == 3:
            values.view(np.uint8)[draw.randrange(values.nbytes)] ^= 1 << draw.randrange(8)
        else:
            draw.shuffle(values)
        arrays[number] = values.tobytes()
    return seed_of(header, arrays)


def reshaped(draw: random.Random, seed: bytes) -> bytes:
    """An array of another shape, type or name, without it, or with one more; each has data for its shape."""
    header, arrays = parts_of(seed)
    specs = header["arrays"]
    number = draw.randrange(len(specs))
    item, how = specs[number], draw.randrange(8)
    shape = list(item["shape"])
    if how == 0:
        del specs[number], arrays[number]
        return seed_of(header, arrays)
    if how == 1:
        item["dtype"] = draw.choice(TYPES)
    elif how == 2 and shape:
        shape.pop(draw.randrange(len(shape)))
    elif how == 3:
        shape.insert(draw.randrange(len(shape) + 1), draw.choice((1, 2)))
    elif how == 4:
        shape.reverse()
    elif how == 5:
        item["name"] = draw.choice([*(one["name"] for one in specs), "other", "zz", "weights.w"])
    elif shape:
        place = draw.randrange(len(shape))
        shape[place] = max(draw.choice((0, 1, shape[place] - 1, shape[place] + 1, 2 * shape[place])), 0)
    item["shape"] = shape
    nbytes = int(np.prod(shape, dtype=np.int64)) * int(item["dtype"][2:])
    data = arrays[number] or b"\0"
    arrays[number] = (data * (nbytes // len(data) + 1))[:nbytes]
    order = sorted(range(len(specs)), key=lambda one: specs[one]["name"])
    header["arrays"] = [specs[one] for one in order]
    return seed_of(header, [arrays[one] for one in order])


def cut(draw: random.Random, data: bytes) -> bytes:
    """Of a whole file: its beginning, or one with another bit or byte somewhere."""
    how, place = draw.randrange(3), draw.randrange(len(data))
    if how == 0:
        return data[:place]
    other = data[place] ^ (1 << draw.randrange(8)) if how == 1 else draw.randrange(256)
    return data[:place] + bytes([other]) + data[place + 1 :]


DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # too much to be changed again


def hostile(draw: random.Random, seed: bytes) -> bytes:
    """A model file."""
    how = draw.randrange(10)
    if how == 0:
        return cut(draw, sealed_model(seed))
    changes = (altered,) * 4 + (refilled,) * 3 + (reshaped,) * 2
    seed = changes[how - 1](draw, seed)
    if not draw.randrange(6):
        with contextlib.suppress(*DAMAGED):
            seed = draw.choice((altered, refilled, reshaped))(draw, seed)
    return sealed_model(seed)


def kind_of(seed: bytes) -> str:
    size = int.from_bytes(seed[:4], "little")
    header = json.loads(seed[4 : 4 + size])
    return "delta" if "delta" in header else learner_of(seed)


def learner_of(seed: bytes) -> str:
    size = int.from_bytes(seed[:4], "little")
    return json.loads(seed[4 : 4 + size])["model"]["learner"]


@cache
def material() -> tuple[list[tuple[str, bytes]], dict[str, bytes]]:
    """Kinds and seeds, and the files that their commands need."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("long.vw").write_bytes(TEXT * 20)
        Path("many.vw").write_bytes(CLASSES * 20)
        run("train long.vw --json run.json --quiet")
        seeds = [*made()["sealed_model"], *map(unsealed_model, (*models(), deltas()))]
        found = [*((kind_of(seed), seed) for seed in seeds), ("checkpoint", unsealed_model(checkpoint()))]
        return found, {path.name: path.read_bytes() for path in Path().iterdir()}


def corpus() -> list[tuple[str, bytes]]:
    """Kinds and seeds; the current folder gets the files that their commands need."""
    seeds, files = material()
    for name, content in files.items():
        Path(name).write_bytes(content)
    return seeds


def trial(draw: random.Random, doors: int) -> tuple[bytes, list[str], str]:
    """A model, the commands that open it, and its kind; ``doors``: so many at most, 0 for all of its kind."""
    kind, seed = draw.choice(corpus())
    Path("good").write_bytes(sealed_model(seed))
    own = commands_for(kind)
    chosen = [*own, *draw.sample(EVERY, len(EVERY) // 5)] if not doors else draw.choices([*own, *own, *EVERY], k=doors)
    return hostile(draw, seed), list(dict.fromkeys(chosen)), kind


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100, help="models")
    parser.add_argument("--doors", type=int, default=0, help="commands for each; all of its kind, and others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="Keep models that were finds there.")
    options = parser.parse_args()
    keep = options.keep and options.keep.resolve()
    found, ended, runs, worst, started = Counter(), Counter(), 0, 0.0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number in range(options.count):
            draw = random.Random(f"{options.seed} {number}")
            data, commands, kind = trial(draw, options.doors)
            for command in commands:
                before, runs = time.monotonic(), runs + 1
                try:
                    ended[attempt(data, command, kind)] += 1
                except Find as find:
                    found[f"{find} <- {kind}: {command}"] += 1
                    if keep and found.total() < 1000:
                        keep.mkdir(exist_ok=True)
                        (keep / f"{number}").write_bytes(data)
                    print(f"model {number}: {find} <- {kind}: {command}", flush=True)
                worst = max(worst, time.monotonic() - before)
    print(
        f"{options.count} models, {runs} runs in {time.monotonic() - started:.0f} s; statuses "
        f"{dict(sorted(ended.items()))}; the slowest {worst:.1f} s; {found.total()} finds"
    )
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
