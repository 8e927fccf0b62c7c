"""Signals at random moments of every learner's passes, held-out examples among them, where a model stands already."""

import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

from signals import format_counts, run_time, signalled
from tool import TEXT, Tool

LINES = TEXT.splitlines(keepends=True)
CLASSES = "".join(f"{n % 4 + 1} {line.split(' ', 1)[1]}" for n, line in enumerate(LINES))
COSTS = "".join(f"1:{n % 3} 2:{n % 2} 3:1 {line.split(' ', 1)[1]}" for n, line in enumerate(LINES))
SETS = "".join(f"{n % 4},{n % 3 + 4} {line.split(' ', 1)[1]}" for n, line in enumerate(LINES))
GROUPS = "".join(f"{n % 2 + 1}:{n % 3 * 0.5} {line.split(' ', 1)[1]}" + "\n" * (n % 2) for n, line in enumerate(LINES))
NOT_VW = ("--dotproduct", "--pistol", "--multiclass", "--filter_tree", "--curriculum", "--bfgs")  # lacking
KINDS = [  # text, options
    *((TEXT, options) for options in ("", "-q ui", "--sgd --l1 1e-6", "--ftrl", "--coin", "--pistol", "--lrq ui2")),
    *((TEXT, options) for options in ("--dotproduct user,item --rank 4", "--dotproduct ui --rank 2 --shuffle")),
    *((TEXT, options) for options in ("--bfgs", "--active --simulation", "--curriculum easy")),
    *((CLASSES, f"{name} 4") for name in ("--oaa", "--multiclass", "--log_multi", "--ect", "--filter_tree")),
    (COSTS, "--csoaa 3"),
    (SETS, "--multilabel_oaa 7"),
    *((GROUPS, f"--{name}_ldf m") for name in ("csoaa", "wap")),
]
PASSES = "--passes 6 --early_terminate 2"
COPIES = 40  # of the text


class Kind:
    """A learner's command: the model that stands there, the one that an undisturbed run makes, the time that takes."""

    def __init__(self, tool: Tool, text: str, options: str, folder: Path) -> None:
        (folder / "long.vw").write_text(text * COPIES)
        own = " -c -k" if tool.name == "vw" else " --block-size 32768"
        begin = f"{tool.words['train']} -d long.vw {options} --quiet"
        self.folder, self.command = folder, f"exec {begin} {PASSES}{own} -f target"
        alone = "" if options != "--bfgs" else " --passes 2 -c"
        tool.run(f"{begin.replace('{', '{{')} --examples 500 -f target{alone}", folder)
        self.standing = self.left
        self.seconds = run_time(self.command, folder)
        self.whole = self.left

    def signalled(self, number: int, moment: float) -> int:
        """With the standing model in place again; the exit status."""
        for path in (*self.folder.glob("target*"), *self.folder.glob(".target*")):
            path.unlink()
        (self.folder / "target").write_bytes(self.standing)
        return signalled(self.command, self.folder, number, moment * self.seconds)

    @property
    def left(self) -> bytes:
        path = self.folder / "target"
        return path.read_bytes() if path.exists() else b""


def kinds(tool: Tool, trials: int):
    """The kind of each trial."""
    own = [kind for kind in KINDS if tool.name == "vwlite" or not any(word in kind[1] for word in NOT_VW)]
    for number, (text, options) in enumerate(own):
        times = len(range(number, trials, len(own)))
        if times:
            kind = Kind(tool, text, options, tool.fresh())
            yield from [kind] * times


def killed(tool: Tool, trials: int) -> str:
    draw, outcomes = random.Random(11), Counter()
    for kind in kinds(tool, trials):
        kind.signalled(signal.SIGKILL, draw.uniform(0.2, 1.02))
        outcomes[{kind.standing: "the old model", kind.whole: "the new model"}.get(kind.left, "**a third model**")] += 1
    return format_counts(outcomes)


def stopped(tool: Tool, trials: int) -> str:
    draw, outcomes = random.Random(13), Counter()
    for kind in kinds(tool, max(trials // 4, 1)):
        status = kind.signalled(signal.SIGTERM, draw.uniform(0.3, 0.95))
        if status and kind.left != kind.standing:
            outcomes["**a third model**"] += 1
            continue
        again = 0
        if status:
            resume = " --resume" if tool.name == "vwlite" and "--bfgs" not in kind.command else ""
            again = subprocess.run(["sh", "-c", kind.command + resume], cwd=kind.folder, capture_output=True).returncode
        same = again == 0 and kind.left == kind.whole
        outcomes["the same bytes as undisturbed" if same else f"**{again}**, other bytes"] += 1
    return format_counts(outcomes)
