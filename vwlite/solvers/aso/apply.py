"""Theta as a map: texts with the features it makes of them, for any other learner."""

from collections.abc import Iterator

import numpy as np

from vwlite.data.batch import BLANK
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_writer import TextWriter
from vwlite.errors import DataError
from vwlite.features.config import NOTHING_KNOWN, ApplyConfig
from vwlite.features.theta import Theta
from vwlite.features.theta_map import PATIENCE
from vwlite.solvers.aso.corpus import Corpus


def applied(theta: Theta, inputs: Inputs, policy: BadLines, config: ApplyConfig) -> Iterator[bytes]:
    """The text of each part, every example followed by its features of Theta; all other lines are as they came.

    Rows of tables become lines of text. A group GROUP has a namespace ``theta_GROUP``, its features are numbered from
    0, and those of value 0 are left out. Raises DataError for text without a feature of Theta, and as ``policy`` does.
    """
    theta = theta.kept(config)
    held: list[bytes] = []  # until a feature is known
    known, lines, examples = 0, 0, 0
    writer = None if inputs.config.kind == "vw" else TextWriter(inputs.format)
    for part in inputs.texts():
        batch = policy.examine(part)
        corpus = Corpus(policy, tags=True, names=False)
        corpus.add(batch)
        found = corpus.rows(theta.words)
        known, lines, examples = known + len(found.terms.indices), lines + part.lines, examples + len(found)
        features = theta.project(found, theta.words, config.scale, config.unit)
        rows = np.flatnonzero(batch.flags & BLANK == 0)
        text = writer.lines(batch) if writer else bytes(memoryview(part.block.data)[: part.block.size])
        held.append(extended(text, rows if writer else batch.line[rows], shown(theta, features)))
        if batch.release:
            batch.release()
        if known:
            yield from held
            held.clear()
        elif lines >= PATIENCE:
            break
    if examples and not known:
        raise DataError(NOTHING_KNOWN)
    yield from held
    policy.finish()


def extended(text: bytes, owners: np.ndarray, tails: list[bytes]) -> bytes:
    """``text`` with ``tails`` at the ends of the lines whose numbers are ``owners``."""
    lines = text.split(b"\n")
    for line, tail in zip(owners.tolist(), tails, strict=True):
        body = lines[line].removesuffix(b"\r")
        lines[line] = body + tail + lines[line][len(body) :]
    return b"\n".join(lines)


def shown(theta: Theta, features: np.ndarray) -> list[bytes]:
    """float32[n, sum of h] as namespaces of text, 6 digits of each value."""
    tails = [b""] * len(features)
    begin = 0
    for name, values in zip(theta.names, theta.values, strict=True):
        bar = b" |theta_" + name.encode("utf-8", "surrogateescape")
        for row, part in enumerate(features[:, begin : begin + len(values)].tolist()):
            words = " ".join(f"{number}:{value:.6g}" for number, value in enumerate(part) if value)
            if words:
                tails[row] += bar + b" " + words.encode()
        begin += len(values)
    return tails
