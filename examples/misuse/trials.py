"""Misuse that has to be tried many times: damage at many places, signals at random moments."""

import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

from learners import killed, stopped
from signals import format_counts, run_time, signalled
from tool import TEXT, Tool

LOADS = "{predict} -d good.vw"


def model_cut(tool: Tool, trials: int) -> str:
    """At every tenth of its length."""
    folder = tool.fresh()
    whole = (folder / "model").read_bytes()
    cuts = [len(whole) * tenth // 10 for tenth in range(10)]
    return counted(tool, folder, (whole[:cut] for cut in cuts))


def bits_flipped(tool: Tool, trials: int) -> str:
    folder, draw = tool.fresh(), random.Random(7)
    whole = (folder / "model").read_bytes()

    def flipped() -> bytes:
        data = bytearray(whole)
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        return bytes(data)

    return counted(tool, folder, (flipped() for _ in range(trials)))


def counted(tool: Tool, folder: Path, models) -> str:
    """How predictions with these models ended."""
    right = tool.run(LOADS, folder).stdout
    outcomes: Counter[str] = Counter()
    for data in models:
        (folder / "model").write_bytes(data)
        done = tool.run(LOADS, folder)
        if done.returncode == 0:
            outcomes["loaded, same predictions" if done.stdout == right else "loaded, other predictions"] += 1
        else:
            outcomes[f"**{done.returncode}** {'refused' if done.returncode in (1, 76) else 'crashed'}"] += 1
    return format_counts(outcomes)


def killed_while_saving(tool: Tool, trials: int) -> str:
    """SIGKILL at random moments of a short run that saves a large model (-b 21, every weight set)."""
    folder, draw = tool.fresh(), random.Random(3)
    options = "-b 21 --initial_weight 0.1 --quiet"
    tool.run(f"{{train}} -d good.vw {options} -f old --l2 1e-3; {{train}} -d good.vw {options} -f new", folder)
    old, new = (folder / "old").read_bytes(), (folder / "new").read_bytes()
    command = f"exec {tool.words['train']} -d good.vw {options} -f target"
    seconds = run_time(command, folder)
    outcomes: Counter[str] = Counter()
    for _ in range(trials):
        (folder / "target").write_bytes(old)
        signalled(command, folder, signal.SIGKILL, draw.uniform(0.3, 1.02) * seconds)
        target = (folder / "target").read_bytes() if (folder / "target").exists() else b""
        outcomes["the old model" if target == old else "the new model" if target == new else "**a broken model**"] += 1
    left = len(list(folder.glob(".target.*")))
    return format_counts(outcomes) + (f"; {left} temporary file left, swept by the next run" if left else "")


def stopped_and_resumed(tool: Tool, trials: int) -> str:
    """SIGTERM at random moments of training, then the same command with --resume, against an uninterrupted run."""
    folder, draw = tool.fresh(), random.Random(5)
    (folder / "long.vw").write_text(TEXT * 150)
    options = "--passes 3 --holdout_off -b 16 -k -c --quiet" if tool.name == "vw" else (
        "--passes 3 --holdout_off -b 16 --dotproduct user,item --rank 4 --shuffle --block-size 65536 --quiet"
    )
    command = f"exec {tool.words['train']} -d long.vw {options} -f target"
    seconds = run_time(command, folder)
    whole = (folder / "target").read_bytes()
    outcomes: Counter[str] = Counter()
    for _ in range(max(trials // 4, 1)):
        (folder / "target").unlink(missing_ok=True)
        status = signalled(command, folder, signal.SIGTERM, draw.uniform(0.3, 0.95) * seconds)
        if status == 0:
            outcomes["finished before the signal"] += 1
            continue
        started = (folder / "target.ckpt").exists()
        again = 143 if tool.name == "vw" else subprocess.run(
            ["sh", "-c", f"{command} --resume"], cwd=folder, capture_output=True).returncode
        same = again == 0 and (folder / "target").read_bytes() == whole
        how = "resumed" if started else "stopped before the first batch, begun again"
        outcomes[f"{how}, the same bytes" if same else "ended, nothing to resume" if again else "**other bytes**"] += 1
    return format_counts(outcomes)


TRIALS = {
    "model cut at every 10% of its length": model_cut,
    "one bit flipped in a model, at 200 places": bits_flipped,
    "`kill -9` during save, 200 times at random moments": killed_while_saving,
    "SIGTERM in mid-training, then `--resume`, 50 times": stopped_and_resumed,
    "`kill -9` in the passes of every learner, over a model, 200 times": killed,
    "SIGTERM in the passes of every learner, then `--resume`, 50 times": stopped,
}
