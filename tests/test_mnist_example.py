"""examples/mnist.sh and mnist_to_vw.py, on small idx files and against plain Python."""

import gzip
import json
import random
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
from mnist_to_vw import REGIONS, SHAPES, lines  # noqa: E402

sys.path.remove(str(EXAMPLES))


def pictures(count, seed, size=28):
    """Images with a thick bar across, a bar down, or both, at places of their own, with some noise."""
    rng = random.Random(seed)
    pixels, labels = np.zeros((count, size, size), np.uint8), np.zeros(count, np.uint8)
    for number in range(count):
        labels[number] = kind = rng.randrange(3)
        across, down = rng.randrange(5, 15), rng.randrange(5, 15)
        if kind != 1:
            pixels[number, across : across + 3, 4:24] = 200
        if kind != 0:
            pixels[number, 4:24, down : down + 3] = 200
        for _ in range(20):
            pixels[number, rng.randrange(size), rng.randrange(size)] = rng.choice((60, 255))
    return pixels, labels


def idx(path, data, opened=open):
    with opened(path, "wb") as file:
        file.write(bytes((0, 0, 8, data.ndim)) + struct.pack(f">{data.ndim}I", *data.shape) + data.tobytes())


@pytest.fixture
def mnist(tmp_path):
    for part, count in (("train", 300), ("t10k", 60)):
        pixels, labels = pictures(count, part)
        idx(tmp_path / f"{part}-images-idx3-ubyte.gz", pixels, gzip.open)
        idx(tmp_path / f"{part}-labels-idx1-ubyte", labels)
    return tmp_path


def counted(image, threshold):
    """Per region and shape the counts of patterns, place by place."""
    rows, columns = len(image), len(image[0])
    bags = {(region, shape): Counter() for region in REGIONS for shape in SHAPES}
    for shape, pixels in SHAPES.items():
        high, wide = max(row for row, _ in pixels) + 1, max(column for _, column in pixels) + 1
        for top in range(rows - high + 1):
            for left in range(columns - wide + 1):
                bits = [image[top + row][left + column] >= threshold for row, column in pixels]
                region = ("B" if top + high / 2 >= rows / 2 else "T") + ("R" if left + wide / 2 >= columns / 2 else "L")
                if any(bits):
                    bags[region, shape][f"{sum(1 << bit for bit, black in enumerate(bits) if black):04x}"] += 1
    return bags


@pytest.mark.parametrize("size", [28, 15, 21])
def test_features_are_those_of_plain_python(size):
    rng = np.random.default_rng(size)
    pixels = rng.choice([0, 90, 120], (3, size, size), p=[0.7, 0.1, 0.2]).astype(np.uint8)
    pixels[2] = 0
    for image, line in zip(pixels, lines(pixels, np.arange(3), 100), strict=True):
        label, *parts = line.split("|")
        actual = {part.split()[0]: dict(word.split(":") for word in part.split()[1:]) for part in parts}
        assert list(actual) == list(REGIONS) and int(label) < 3
        expected = {region: {} for region in REGIONS}
        for (region, shape), bag in counted(image.tolist(), 100).items():
            length = sum(count**2 for count in bag.values()) ** 0.5
            expected[region] |= {f"{shape}{pattern}": count / length for pattern, count in bag.items()}
        for region in REGIONS:
            assert {name: float(value) for name, value in actual[region].items()} == pytest.approx(
                expected[region], rel=1e-4
            )


def test_every_shape_has_sixteen_pixels():
    assert all(len(set(pixels)) == 16 and min(min(pixel) for pixel in pixels) == 0 for pixels in SHAPES.values())


def test_the_table(example, mnist, tmp_path):
    done = example("mnist.sh", mnist, "--runs", 2, "--labeled", "6,30", "--dim", 5, "--json", "out.json")
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [(row["labeled"], row["method"]) for row in rows] == [
        (count, method) for count in (6, 30) for method in ("supervised", "ASO")
    ]
    error = {(row["labeled"], row["method"]): row["mean"] for row in rows}
    assert error[30, "ASO"] < 15 and error[6, "ASO"] <= error[6, "supervised"] and "paper: ASO" in done.stdout


def test_text_for_vwlite(mnist, run_cli, tmp_path):
    for part in ("train", "t10k"):
        files = [mnist / f"{part}-images-idx3-ubyte.gz", mnist / f"{part}-labels-idx1-ubyte"]
        done = subprocess.run([sys.executable, EXAMPLES / "mnist_to_vw.py", *files], capture_output=True, check=True)
        (tmp_path / f"{part}.vw").write_bytes(done.stdout)
    run_cli("aso", "train", tmp_path / "train.vw", "-f", tmp_path / "model", "--quiet")
    completed = run_cli("evaluate", "-i", tmp_path / "model", tmp_path / "t10k.vw", "--json", "-", "--quiet")
    assert json.loads(completed.stdout)["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("damage", "status", "said"),
    [
        ("missing", 66, "there is no t10k-labels-idx1-ubyte"),
        ("text", 65, "is no idx file of bytes with 1 dimensions"),
        ("short", 65, "says 60 and has 59 bytes of data"),
        ("fewer", 65, "has 60 images and"),
        ("size", 65, "are 20x28, not 28x28; give --size 20x28"),
        ("gzip", 74, "the compressed data are damaged"),
    ],
)
def test_bad_input(example, mnist, damage, status, said):
    labels, images = mnist / "t10k-labels-idx1-ubyte", mnist / "t10k-images-idx3-ubyte.gz"
    if damage == "missing":
        labels.unlink()
    elif damage == "text":
        labels.write_text("1 |w a\n")
    elif damage == "short":
        labels.write_bytes(labels.read_bytes()[:-1])
    elif damage == "fewer":
        idx(labels, np.zeros(59, np.uint8))
    elif damage == "size":
        idx(images, np.zeros((60, 20, 28), np.uint8), gzip.open)
    else:
        images.write_bytes(images.read_bytes()[:-50])
    done = example("mnist.sh", mnist, "--runs", 1, "--labeled", 6, status=status)
    assert said in done.stderr and done.stderr.count("\n") == 1
