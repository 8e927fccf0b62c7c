"""``examples/kernels.sh`` on images of its own: rings and discs, which no line parts."""

import gzip
import json
import struct

import numpy as np
import pytest

RANDOM = np.random.default_rng(0)


def images(count):
    """uint8[count, 12, 12] and their labels: a square (0) or its frame (1) anywhere on a dark ground."""
    labels = RANDOM.integers(0, 2, count).astype(np.uint8)
    drawn = np.zeros((count, 12, 12), np.uint8)
    for image, label in zip(drawn, labels, strict=True):
        top, left = RANDOM.integers(0, 6, 2)
        image[top : top + 6, left : left + 6] = 200
        if label:
            image[top + 2 : top + 4, left + 2 : left + 4] = 0
    return drawn, labels


def write_idx(path, array):
    header = struct.pack(f">4B{array.ndim}i", 0, 0, 8, array.ndim, *array.shape)
    data = header + array.tobytes()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def folder(tmp_path):
    for part, count, end in (("train", 1500, ".gz"), ("t10k", 300, "")):
        drawn, labels = images(count)
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{end}", drawn)
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{end}", labels)
    return tmp_path


def test_the_table(example, folder):
    methods = ["linear", "rbf-auto", "poly2", "landmarks"]
    done = example("kernels.sh", folder, "--size", "512", "--methods", ",".join(methods), "--json", "out.json")
    rows = json.loads((folder / "out.json").read_text())
    assert [row["method"] for row in rows] == methods == [line.split()[0] for line in done.stdout.splitlines()[1:]]
    linear, rbf, _, landmarks = (row["accuracy"] for row in rows)
    assert landmarks > linear
    assert rbf > 0.95 > 0.8 > linear


def test_what_it_refuses(example, folder, tmp_path_factory):
    assert "there is no method magic" in example("kernels.sh", folder, "--methods", "magic", status=2).stderr
    empty = tmp_path_factory.mktemp("empty")
    assert "there is no train-images-idx3-ubyte in" in example("kernels.sh", empty, status=1).stderr
