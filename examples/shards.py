"""What rounds over shards cost in quality: losses on held-out data beside those of one sequential pass.

    python examples/shards.py TRAIN TEST [--shards 4,16,64] [--rounds 3] [--workers 2] [--metric loss] [--json OUT] \\
        [-- OPTIONS]

OPTIONS are those of 'vwlite train' for all runs, as in '-- --loss_function logistic -b 22'; a metric is one of 'vwlite
evaluate' that is better the lower it is. Printed are the loss of one pass and, for each number of shards, how many
percent the loss is above it after each round.
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

    def measured(model):
        done = vwlite("evaluate", "-i", model, options.test, "--metric", options.metric, "--quiet")
        return done[options.metric]

    train = ("train", options.train, "--quiet", "-f")
    vwlite(*train, work / "sequential", *options.learner)
    by_shards = {}
    for shards in options.shards:
        how = ("--workers", min(options.workers, shards), "--shards", shards, "--rounds", 1)
        model, after = work / f"{shards}", []
        for _ in range(options.rounds):
            vwlite(*train, model, *how, *(("-i", model) if after else options.learner))
            after.append(measured(model))
            Path(f"{model}.ledger").unlink()  # which would say that the data were learned before
        by_shards[shards] = after
    return measured(work / "sequential"), by_shards


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--shards", default="4,16,64", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--workers", default=2, type=int)
    parser.add_argument("--metric", default="loss")
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
