"""Theta as a map: texts with the features it makes of them, for any other learner; its topics."""

from collections.abc import Iterator

import numpy as np

from vwlite.config_check import JsonObject
from vwlite.data.batch import BLANK
from vwlite.data.dataset import Inputs
from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_writer import TextWriter
from vwlite.errors import DataError, escaped
from vwlite.features.config import NOTHING_KNOWN, ApplyConfig
from vwlite.features.theta import PATIENCE, Theta
from vwlite.solvers.aso.corpus import Corpus
from vwlite.storage.atomic_file import atomic_output


def apply_theta(theta: Theta, inputs: Inputs, policy: BadLines, config: ApplyConfig) -> Iterator[bytes]:
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
        known_rows = corpus.rows(theta.words)
        known, lines, examples = known + len(known_rows.terms.indices), lines + part.lines, examples + len(known_rows)
        features = theta.project(known_rows, theta.words, config.scale, config.unit)
        rows = np.flatnonzero(batch.flags & BLANK == 0)
        text = writer.lines(batch) if writer else bytes(memoryview(part.block.data)[: part.block.size])
        held.append(append_tails(text, rows if writer else batch.line[rows], feature_texts(theta, features)))
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


def append_tails(text: bytes, owners: np.ndarray, tails: list[bytes]) -> bytes:
    """``text`` with ``tails`` at the ends of the lines whose numbers are ``owners``."""
    lines = text.split(b"\n")
    for line, tail in zip(owners.tolist(), tails, strict=True):
        body = lines[line].removesuffix(b"\r")
        lines[line] = body + tail + lines[line][len(body) :]
    return b"\n".join(lines)


def feature_texts(theta: Theta, features: np.ndarray) -> list[bytes]:
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


AMONG = 100  # a row shows features from this number of its largest positive and negative entries


def topics(theta: Theta, rows: int, count: int) -> list[JsonObject]:
    """Per group, for its first ``rows`` rows, ``count`` features of either sign.

    As in the paper a feature stands where it is largest: in the row where its entry, of all of its entries, has the
    greatest size, taken relative to the row's own largest entry.
    """
    groups = []
    for number, values in enumerate(theta.values):
        own = np.flatnonzero(theta.group == number)
        if not len(own):
            continue
        matrix = theta.matrix[own][:, : len(values)]
        sizes = np.abs(matrix)
        home = (sizes / np.maximum(sizes.max(0), 1e-30)).argmax(1) if len(values) else np.zeros(0, int)
        for row in range(min(rows, len(values))):
            entry: JsonObject = {"group": theta.names[number], "row": row + 1, "value": float(values[row])}
            for name, sign in (("positive", 1), ("negative", -1)):
                order = np.argsort(-sign * matrix[:, row], kind="stable")[:AMONG]
                places = [p for p in order.tolist() if sign * matrix[p, row] > 0 and (home[p] == row or row == 0)]
                entry[name] = [theta.words.names[own[place]] for place in places[:count]]
            groups.append(entry)
    return groups


def as_text(found: list[JsonObject]) -> str:
    lines = []
    for entry in found:
        lines.append(f"{escaped(entry['group'])} row {entry['row']}  singular value {entry['value']:.4g}")
        for name, sign in (("positive", "+"), ("negative", "-")):
            lines.append(f"  {sign}  {' '.join(map(escaped, entry[name]))}")
    return "\n".join(lines)


def write_arrays(path: str, theta: Theta) -> None:
    """Write ``arrays_of`` to ``path``. Raises OutputError."""
    arrays = arrays_of(theta)
    with atomic_output(path) as file:
        np.savez(file, **arrays)


def arrays_of(theta: Theta) -> dict[str, np.ndarray]:
    """``feature`` and ``namespace`` str[p], ``group`` int32[p], ``matrix`` float32[p, widest h], ``groups`` str[g].

    ``group`` is a place in ``groups``, -1 for none; a group's h columns of the matrix come first, the others are 0.
    ``singular_values`` float64[g, widest h] likewise. With ``idf`` float32[p] its weights, and ``idf_unknown``
    that of features that are not here.
    """
    words = theta.words
    values = np.zeros((len(theta.names), theta.matrix.shape[1]))
    for row, own in zip(values, theta.values, strict=True):
        row[: len(own)] = own
    arrays = {
        "feature": np.array(words.names, np.str_),
        "namespace": np.array([words.spaces[place] for place in words.space.tolist()], np.str_),
        "group": theta.group,
        "matrix": theta.matrix,
        "groups": np.array(theta.names, np.str_),
        "singular_values": values,
    }
    if words.idf is not None:
        arrays |= {"idf": words.idf[:-1], "idf_unknown": words.idf[-1:]}
    return arrays
