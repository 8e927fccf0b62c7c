"""What rounds over shards cost in quality: losses on held-out data beside those of one sequential pass.

    python examples/shards.py TRAIN TEST [--shards 4,16,64] [--rounds 3] [--workers 2] [--json OUT] [-- OPTIONS]

OPTIONS are those of 'vwlite train' for all runs, as in '-- --loss_function logistic -b 22'. Printed are the loss of one
pass and, for each number of shards, how many percent the loss is above it after each round.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def vwlite(*arguments):
    """What the command reports, as JSON data."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments), "--json", "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def losses(options, work):
    """The loss of one pass, and for each number of shards those after the rounds."""
    train = ("train", options.train, *options.learner, "--quiet", "-f")
    vwlite(*train, work / "sequential")
    metric = ("--metric", "loss", "--quiet")
    alone = vwlite("evaluate", "-i", work / "sequential", options.test, *metric)["loss"]
    by_shards = {}
    for shards in options.shards:
        how = ("--workers", min(options.workers, shards), "--shards", shards, "--rounds", options.rounds)
        run = vwlite(*train, work / f"{shards}", *how, "--holdout", options.test)
        by_shards[shards] = [one["holdout_loss"] for one in run["rounds"]]
    return alone, by_shards


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--shards", default="4,16,64", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--workers", default=2, type=int)
    parser.add_argument("--json", type=Path)
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:cut])
    options.learner = words[cut + 1 :]
    with tempfile.TemporaryDirectory() as work:
        alone, sharded = losses(options, Path(work))
    print("| shards | loss of one pass | above it after each round, % |\n|---|---|---|")
    for shards, after in sharded.items():
        print(f"| {shards} | {alone:.4f} | {' '.join(f'{100 * (loss / alone - 1):+.1f}' for loss in after)} |")
    if options.json:
        figures = {"sequential": alone, "rounds": {str(shards): after for shards, after in sharded.items()}}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
