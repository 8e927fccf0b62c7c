"""Commands that are sent a signal, and how often which outcome was seen."""

import os
import subprocess
import time
from collections import Counter
from pathlib import Path


def format_counts(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))


def run_time(command: str, folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, check=True)
    return time.perf_counter() - start


def signalled(command: str, folder: Path, number: int, after: float) -> int:
    """Run a command and send it a signal; its exit status."""
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, number)
    return process.wait()
