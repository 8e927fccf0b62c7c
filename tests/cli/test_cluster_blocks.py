"""Clusters do not depend on the blocks in which text is read."""

import numpy as np
import pytest


@pytest.mark.parametrize("options", [
    "", "--spherical", "--soft 0.5", "--batch 40", "--sparse_means 2", "--trim 0.1", "--cut", "-i base",
])
def test_blocks_of_any_size_make_the_same_model(options, tmp_path, vwlite):
    """Blocks meet the many features in orders of their own."""
    rng = np.random.default_rng(0)
    words, values = rng.integers(0, 900, (300, 30)), rng.uniform(0.1, 3, (300, 30)).round(3)
    lines = [" ".join(f"w{word}:{x}" for word, x in zip(*row, strict=True)) for row in zip(words, values, strict=True)]
    (tmp_path / "x.vw").write_text("".join(f"| {line}\n" for line in lines))
    (tmp_path / "base.vw").write_text("".join(f"| {line}\n" for line in lines[200:]))
    vwlite("cluster", "base.vw", "-k", "3", "-f", "base", "--quiet", "--soft", "0.5")

    def made(size):
        clusters = () if "-i" in options else ("-k", "3")
        vwlite("cluster", "x.vw", "-f", "m", *clusters, "--quiet", "--block-size", size, *options.split())
        return (tmp_path / "m").read_bytes()

    assert made("300") == made("1000000")
