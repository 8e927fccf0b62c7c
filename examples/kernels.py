"""Random features of kernels and landmarks on MNIST beside a linear model and crossed features, by vwlite's commands.

DIR holds train-images-idx3-ubyte, train-labels-idx1-ubyte and the same of t10k, possibly with .gz. Pixels are
divided by 255. Every row of the table is one run of 'vwlite train': accuracy on the test images, seconds from text.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MAPPED = ["--random_only", "--random_features"]
METHODS = {
    "linear": [],
    "crossed": ["-q", "::", "-b", "24"],
    "rbf": [*MAPPED, "rbf:{size}", "--gamma", "0.01"],
    "rbf-auto": [*MAPPED, "rbf:{size}"],
    "laplace": [*MAPPED, "laplace:{size}"],
    "arccos": [*MAPPED, "arccos:{size}"],
    "poly2": [*MAPPED, "poly2:{size}"],
    "poly3": [*MAPPED, "poly3:{size}", "--unit"],
    "landmarks": ["--random_only", "--landmarks", "rbf:{landmarks}", "--whiten", "--gamma", "0.01"],
}
USUAL = [name for name in METHODS if name != "crossed"]  # which takes ten times as long


def vwlite(*arguments):
    """What the command prints."""
    command = [sys.executable, "-P", "-m", "vwlite", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def numbers(folder, name):
    """uint8 of an idx file: the images, a row each, or the labels."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            sizes = np.frombuffer(data, ">i4", data[3], 4)
            return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes[0], -1)
    sys.exit(f"kernels: there is no {name} in {folder}")


def write_text(folder, part, path, most):
    images, labels = (numbers(folder, f"{part}-{kind}-ubyte")[:most] for kind in ("images-idx3", "labels-idx1"))
    with open(path, "w", encoding="ascii") as out:
        for image, (label,) in zip(images, labels, strict=True):
            pixels = " ".join(f"{place}:{image[place] / 255:.4g}" for place in np.flatnonzero(image))
            out.write(f"{label + 1} | {pixels}\n")


def row(work, options, name):
    """The accuracy and the seconds of a method."""
    landmarks = work / "landmarks.vw"
    how = [word.format(size=options.size, landmarks=landmarks) for word in METHODS[name]]
    passes = ["--passes", options.passes, "--holdout_off"]
    begun = time.perf_counter()
    if name == "landmarks":  # a quarter of the features, which take the same time
        chosen = ["--by", "kmeans", "--count", options.size // 4, "-o", landmarks]
        vwlite("landmarks", work / "train.vw", *chosen, "--quiet")
    vwlite("train", work / "train.vw", "-f", work / "model", "--multiclass", 10, *how, *passes, "--quiet")
    seconds = time.perf_counter() - begun
    report = vwlite("evaluate", "-i", work / "model", work / "test.vw", "--metric", "accuracy", "--json", "-")
    return {"method": name, "accuracy": json.loads(report)["accuracy"], "seconds": seconds}


def main():
    parser = argparse.ArgumentParser(prog="kernels", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, default=20000, help="training images (20000)")
    parser.add_argument("--size", type=int, default=2048, help="random features (2048)")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--methods", default=",".join(USUAL), help=f"of {', '.join(METHODS)}")
    parser.add_argument("--json", help="write the rows there")
    options = parser.parse_args()
    methods = options.methods.split(",")
    if unknown := set(methods) - set(METHODS):
        parser.error(f"there is no method {', '.join(sorted(unknown))}: there are {', '.join(METHODS)}")
    rows = []
    with tempfile.TemporaryDirectory() as work:
        write_text(options.folder, "train", Path(work, "train.vw"), options.images)
        write_text(options.folder, "t10k", Path(work, "test.vw"), None)
        print(f"{'method':<18} {'accuracy':>8} {'seconds':>8}")
        for name in methods:
            rows.append(row(Path(work), options, name))
            print(f"{name:<18} {rows[-1]['accuracy']:8.4f} {rows[-1]['seconds']:8.1f}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
