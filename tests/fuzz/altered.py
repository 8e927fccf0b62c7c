"""Models, deltas and checkpoints with damage that no digest detects, opened by every command that reads such files.

``python -m fuzz.altered --count 3000`` makes 3,000 damaged files and opens each with all commands for its kind and with
some others, in forked processes; the tests try a few.
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
from fuzz.mutations import change_header, change_json
from fuzz.sealing import sealed_model, unsealed_model
from fuzz.seeds import make_seeds
from vwlite.cli.signals import Interrupts
from vwlite.interrupts import Interrupted

PEAK_MEMORY = 200 << 20  # bytes that a command may write to


class Find(Exception):
    """A command neither worked nor refused the model in words."""


def checkpoint() -> bytes:
    """The checkpoint of a run that is stopped in its second pass, in the current folder."""
    checks, check = iter(range(20)), Interrupts.check

    def stop(self: Interrupts) -> None:
        if next(checks, None) is None:
            raise Interrupted(15)

    Interrupts.check = stop
    try:
        run(STOPPED)
    finally:
        Interrupts.check = check
    return Path("base.ckpt").read_bytes()


MODEL_COMMANDS = (  # most without --names: models with the names of features cannot be merged
    "train long.vw -f made-model -b 6",
    "train long.vw -f made-model -b 6 --sgd --loss_function logistic",
    "train many.vw -f made-model -b 6 --oaa 3",
    "train many.vw -f made-model -b 6 --multiclass 3 -q ab",
    "crr long.vw -f made-model -b 6 --qid none --steps 20",
    "train long.vw -f made-model -b 6 --dotproduct ab --rank 2 --names",
    "l1 long.vw -f made-model --model binary",
)


def models() -> Iterator[bytes]:
    """The model that each of MODEL_COMMANDS writes."""
    for command in MODEL_COMMANDS:
        assert run(f"{command} --quiet").status == 0, command
        yield Path("made-model").read_bytes()


def delta() -> bytes:
    """One of two deltas of a model; writes the model ``base`` and ``other.delta`` to the current folder."""
    run("train long.vw -f base -b 6 --quiet")
    for number, name in enumerate(("one.delta", "other.delta"), 1):
        run(f"train long.vw --shard {number}/2 -i base -f {name} --quiet")
    return Path("one.delta").read_bytes()


def attempt(data: bytes, command: str, learner: str, memory: int = forks.MEMORY) -> int:
    """Run a command in the current folder with this model, and return its exit status. Raises Find."""
    Path("text").write_bytes(text_for(learner))
    Path("base.ckpt" if command == RESUMED else "model").write_bytes(data)
    done = run(command, memory)
    if done.status < 0:
        raise Find(f"signal {-done.status}")
    if "Traceback" in done.output or (done.status == 1 and "[critical]" not in done.output):
        *_, last = done.output.strip().splitlines() or ["nothing"]
        frame = [line for line in done.output.splitlines() if line.lstrip().startswith("File")][-1:]
        raise Find(f"{last[:160]} {' '.join(frame).replace(', in', '').strip()[-90:]}")
    if done.status and not done.output.strip():
        raise Find(f"status {done.status} without a message")
    if done.peak > PEAK_MEMORY:
        raise Find(f"{done.peak >> 20} MiB of memory")
    return done.status


def change_header_or_learner(draw: random.Random, seed: bytes) -> bytes:
    """Change the header of a seed: three times in four the part that describes the learner, otherwise any part."""
    if not draw.randrange(4):
        return change_header(draw, seed)
    header, arrays = split_seed(seed)
    header["model"] = json.loads(change_json(draw, json.dumps(header["model"]).encode()))
    return join_seed(header, arrays)


def split_seed(seed: bytes) -> tuple[dict, list[bytes]]:
    """The header, and the data of each array in it."""
    size = int.from_bytes(seed[:4], "little")
    header, rest, arrays = json.loads(seed[4 : 4 + size]), seed[4 + size :], []
    for item in header["arrays"]:
        nbytes = int(np.prod(item["shape"], dtype=np.int64)) * int(item["dtype"][2:])
        arrays.append(rest[:nbytes])
        rest = rest[nbytes:]
    return header, arrays


def join_seed(header: dict, arrays: list[bytes]) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(4, "little") + text + b"".join(arrays)


FLOATS = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0, 0.0, 1e10, -1.0)
INTEGERS = (0, 1, 2, 7, 255, 2**16, 2**31 - 1, 2**32 - 1, 2**63 - 1, -1)
TYPES = ("|i1", "|u1", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


def change_values(draw: random.Random, seed: bytes) -> bytes:
    """Change numbers in some arrays: to NaN, infinity or an extreme value, by a flipped bit, or by shuffling them."""
    header, arrays = split_seed(seed)
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
    return join_seed(header, arrays)


def change_arrays(draw: random.Random, seed: bytes) -> bytes:
    """Change the shape, type or name of one array, or remove it; the data fit the new shape."""
    header, arrays = split_seed(seed)
    specs = header["arrays"]
    number = draw.randrange(len(specs))
    item, how = specs[number], draw.randrange(8)
    shape = list(item["shape"])
    if how == 0:
        del specs[number], arrays[number]
        return join_seed(header, arrays)
    if how == 1:
        item["dtype"] = draw.choice(TYPES)
    elif how == 2 and shape:
        shape.pop(draw.randrange(len(shape)))
    elif how == 3:
        shape.insert(draw.randrange(len(shape) + 1), draw.choice((1, 2)))
    elif how == 4:
        shape.reverse()
    elif how == 5:
        item["name"] = draw.choice([*(spec["name"] for spec in specs), "other", "zz", "weights.w"])
    elif shape:
        place = draw.randrange(len(shape))
        shape[place] = max(draw.choice((0, 1, shape[place] - 1, shape[place] + 1, 2 * shape[place])), 0)
    item["shape"] = shape
    nbytes = int(np.prod(shape, dtype=np.int64)) * int(item["dtype"][2:])
    data = arrays[number] or b"\0"
    arrays[number] = (data * (nbytes // len(data) + 1))[:nbytes]
    order = sorted(range(len(specs)), key=lambda index: specs[index]["name"])
    header["arrays"] = [specs[index] for index in order]
    return join_seed(header, [arrays[index] for index in order])


def damage_bytes(draw: random.Random, data: bytes) -> bytes:
    """Truncate a file, or change one bit or byte of it."""
    how, place = draw.randrange(3), draw.randrange(len(data))
    if how == 0:
        return data[:place]
    other = data[place] ^ (1 << draw.randrange(8)) if how == 1 else draw.randrange(256)
    return data[:place] + bytes([other]) + data[place + 1 :]


NOT_A_SEED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # raised by a second change


def damage_model(draw: random.Random, seed: bytes) -> bytes:
    """A model file with one or two kinds of damage."""
    how = draw.randrange(10)
    if how == 0:
        return damage_bytes(draw, sealed_model(seed))
    changes = (change_header_or_learner,) * 4 + (change_values,) * 3 + (change_arrays,) * 2
    seed = changes[how - 1](draw, seed)
    if not draw.randrange(6):
        with contextlib.suppress(*NOT_A_SEED):
            seed = draw.choice((change_header_or_learner, change_values, change_arrays))(draw, seed)
    return sealed_model(seed)


def kind_of(seed: bytes) -> str:
    size = int.from_bytes(seed[:4], "little")
    header = json.loads(seed[4 : 4 + size])
    return "delta" if "delta" in header else learner_of(seed)


def learner_of(seed: bytes) -> str:
    size = int.from_bytes(seed[:4], "little")
    return json.loads(seed[4 : 4 + size])["model"]["learner"]


@cache
def seeds_and_files() -> tuple[list[tuple[str, bytes]], dict[str, bytes]]:
    """Pairs of kind and seed, and the contents of the files that the commands read, by name."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("long.vw").write_bytes(TEXT * 20)
        Path("many.vw").write_bytes(CLASSES * 20)
        run("train long.vw --json run.json --quiet")
        seeds = [*make_seeds()["sealed_model"], *map(unsealed_model, (*models(), delta()))]
        kinds = [*((kind_of(seed), seed) for seed in seeds), ("checkpoint", unsealed_model(checkpoint()))]
        return kinds, {path.name: path.read_bytes() for path in Path().iterdir()}


def corpus() -> list[tuple[str, bytes]]:
    """Pairs of kind and seed; writes the files that the commands read to the current folder."""
    seeds, files = seeds_and_files()
    for name, content in files.items():
        Path(name).write_bytes(content)
    return seeds


def trial(draw: random.Random, doors: int) -> tuple[bytes, list[str], str]:
    """A damaged model, the commands that open it, and its kind; at most ``doors`` of them if not 0."""
    kind, seed = draw.choice(corpus())
    Path("good").write_bytes(sealed_model(seed))
    own = commands_for(kind)
    commands = draw.choices([*own, *own, *EVERY], k=doors) if doors else [*own, *draw.sample(EVERY, len(EVERY) // 5)]
    return damage_model(draw, seed), list(dict.fromkeys(commands)), kind


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100, help="number of models")
    parser.add_argument("--doors", type=int, default=0, help="commands for each model; 0: all of its kind, and more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the models that a command failed on")
    options = parser.parse_args()
    keep = options.keep and options.keep.resolve()
    finds, statuses, runs, slowest, started = Counter(), Counter(), 0, 0.0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number in range(options.count):
            draw = random.Random(f"{options.seed} {number}")
            data, commands, kind = trial(draw, options.doors)
            for command in commands:
                before, runs = time.monotonic(), runs + 1
                try:
                    statuses[attempt(data, command, kind)] += 1
                except Find as find:
                    finds[f"{find} <- {kind}: {command}"] += 1
                    if keep and finds.total() < 1000:
                        keep.mkdir(exist_ok=True)
                        (keep / f"{number}").write_bytes(data)
                    print(f"model {number}: {find} <- {kind}: {command}", flush=True)
                slowest = max(slowest, time.monotonic() - before)
    print(
        f"{options.count} models, {runs} runs in {time.monotonic() - started:.0f} s; statuses "
        f"{dict(sorted(statuses.items()))}; the slowest {slowest:.1f} s; {finds.total()} finds"
    )
    raise SystemExit(bool(finds))


if __name__ == "__main__":
    main()
