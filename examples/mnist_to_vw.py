"""Images in idx files, as those of MNIST, as VW text for vwlite aso: bags of pixel blocks in four regions.

    python examples/mnist_to_vw.py train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz >train.vw

Ando and Zhang (2005), section 7.5: a block is a pattern of 16 black or white pixels in one of seven shapes. Patterns
are counted by the region that the block's centre is in, those without a black pixel left out; the counts of a shape in
a region are scaled to length 1. Regions are the namespaces TL, TR, BL, BR; a feature is a shape and its pattern in hex.
"""

import argparse
import gzip
import math
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

SHAPES = {  # (row, column) of each pixel
    "square": [(row, column) for row in range(4) for column in range(4)],
    "wide": [(row, column) for row in range(2) for column in range(8)],
    "high": [(row, column) for row in range(8) for column in range(2)],
    "down": [(step, step + beside) for step in range(8) for beside in range(2)],
    "up": [(step, 8 - step - beside) for step in range(8) for beside in range(2)],
    "dots-across": [(2 * row, 2 * column) for row in range(2) for column in range(8)],
    "dots-down": [(2 * row, 2 * column) for row in range(8) for column in range(2)],
}
REGIONS = ("TL", "TR", "BL", "BR")
CHUNK = 1000  # images at once


def fail(status: int, sentence: str) -> None:
    print(f"mnist: {sentence}", file=sys.stderr)
    sys.exit(status)


def idx(path: Path, dimensions: int) -> np.ndarray:
    """uint8 of an idx file, compressed or not; ends the program where there is none."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except OSError as error:
        fail(66 if isinstance(error, FileNotFoundError) else 74, f"{path}: {error.strerror or error}")
    except (EOFError, zlib.error):
        fail(74, f"{path}: the compressed data are damaged or end too early")
    begin = 4 + 4 * dimensions
    if data[:4] != bytes((0, 0, 8, dimensions)) or len(data) < begin:
        fail(65, f"{path} is no idx file of bytes with {dimensions} dimensions")
    sizes = struct.unpack(f">{dimensions}I", data[4:begin])
    if len(data) != begin + math.prod(sizes):
        fail(65, f"{path} says {' x '.join(map(str, sizes))} and has {len(data) - begin} bytes of data")
    return np.frombuffer(data, np.uint8, offset=begin).reshape(sizes)


def labelled_images(images: Path, labels: Path, size: tuple[int, int] = (28, 28)) -> tuple[np.ndarray, np.ndarray]:
    """uint8[n, rows, columns] and uint8[n]."""
    pixels, classes = idx(images, 3), idx(labels, 1)
    if len(pixels) != len(classes):
        fail(65, f"{images} has {len(pixels)} images and {labels} {len(classes)} labels")
    if pixels.shape[1:] != size:
        found = "x".join(map(str, pixels.shape[1:]))
        fail(65, f"the images of {images} are {found}, not {'x'.join(map(str, size))}; give --size {found}")
    if min(size) < 15:
        fail(65, f"the images of {images} are smaller than 15x15, the size of the largest block")
    return pixels, classes


def patterns(black: np.ndarray, shape: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """uint16[n, r, c], bit k for pixel k of the block at each place, and int64[r, c], its region."""
    n, rows, columns = black.shape
    high, wide = (max(axis) + 1 for axis in zip(*shape, strict=True))
    codes = np.zeros((n, rows - high + 1, columns - wide + 1), np.uint16)
    for bit, (row, column) in enumerate(shape):
        codes |= black[:, row : row + codes.shape[1], column : column + codes.shape[2]] << np.uint16(bit)
    below = 2 * np.arange(codes.shape[1]) + high >= rows  # where the block's centre is
    right = 2 * np.arange(codes.shape[2]) + wide >= columns
    return codes, 2 * below[:, None] + right.astype(np.int64)


def blocks(pixels: np.ndarray, threshold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per feature of the images: its image, its key and its value, in the order of images and keys.

    A key has the number of the region, that of the shape in 4 bits, and the pattern in 16 bits.
    """
    black = (pixels >= threshold).astype(np.uint16)
    columns = []
    for number, shape in enumerate(SHAPES.values()):
        codes, region = patterns(black, shape)
        image, row, column = np.nonzero(codes)
        bag = image * len(REGIONS) + region[row, column]
        held, counts = np.unique(bag << 16 | codes[image, row, column], return_counts=True)
        bag = held >> 16
        lengths = np.sqrt(np.bincount(bag, counts.astype(float) ** 2))
        key = (bag % len(REGIONS) << 4 | number) << 16 | held & 0xFFFF
        columns.append((bag // len(REGIONS), key, counts / lengths[bag]))
    image, key, value = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = np.lexsort((key, image))
    return image[order], key[order].astype(np.uint32), value[order].astype(np.float32)


def feature(key: int) -> tuple[str, str]:
    """Namespace and name."""
    return REGIONS[key >> 20], f"{list(SHAPES)[key >> 16 & 15]}{key & 0xFFFF:04x}"


def lines(pixels: np.ndarray, classes: np.ndarray, threshold: int) -> Iterator[str]:
    for begin in range(0, len(pixels), CHUNK):
        image, key, value = blocks(pixels[begin : begin + CHUNK], threshold)
        ends = np.searchsorted(image, np.arange(len(pixels[begin : begin + CHUNK]) + 1)).tolist()
        keys, values = key.tolist(), value.tolist()
        for number, (first, last) in enumerate(pairwise(ends)):
            parts = {region: f"|{region}" for region in REGIONS}
            for place in range(first, last):
                region, name = feature(keys[place])
                parts[region] += f" {name}:{values[place]:.5g}"
            yield f"{classes[begin + number]} {' '.join(parts.values())}"


def size_of(text: str) -> tuple[int, int]:
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", text):
        raise argparse.ArgumentTypeError(f"takes ROWSxCOLUMNS, like 28x28, not {text!r}")
    rows, columns = map(int, text.split("x"))
    return rows, columns


def main() -> None:
    parser = argparse.ArgumentParser(prog="mnist_to_vw.py", description=__doc__)
    parser.add_argument("images", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--size", type=size_of, default=(28, 28), metavar="ROWSxCOLUMNS", help="of the images (28x28)")
    parser.add_argument("--threshold", type=int, default=100, help="pixels of this value and above are black (100)")
    options = parser.parse_args()
    for line in lines(*labelled_images(options.images, options.labels, options.size), options.threshold):
        print(line)


if __name__ == "__main__":
    main()
