"""Problems learned as examples come: against a plain twin, and over cuts of the text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.online_aso import OnlineProblems, largest

from vwlite.data.malformed_lines import BadLines
from vwlite.data.text_format import parse_text
from vwlite.errors import UsageError
from vwlite.solvers.aso import online
from vwlite.solvers.aso.auxiliary import read_aux
from vwlite.solvers.aso.config import LearnConfig, SolverConfig, check_kinds
from vwlite.solvers.aso.corpus import Corpus, text_format
from vwlite.solvers.aso.online import Newcomers, begun, spans
from vwlite.training.listener import Monitor

SPAN = 8


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(online, "SPAN", SPAN)


def corpus(lines):
    result = Corpus(BadLines(None, None))
    result.add(parse_text("\n".join(lines).encode(), text_format()))
    return result


def texts(count, seed, words=14):
    """Later examples have words that earlier ones do not."""
    rng = np.random.default_rng(seed)
    rows = [
        {f"w{w}": float(rng.integers(1, 4)) for w in rng.choice(6 + min(row // 6, words - 6), 4)}
        for row in range(count)
    ]
    return rows, ["|a " + " ".join(f"{name}:{value}" for name, value in row.items()) for row in rows]


def config_of(*aux, **options):
    solver = SolverConfig(passes=2, penalty=0.01)
    return LearnConfig(tuple(map(read_aux, aux)), dim=2, least=2, most=5, solver=solver, **options)


def learned(config, lines, warmup=24, most=100, cut=None):
    pieces = spans([corpus(lines[:cut])] if cut is None else [corpus(lines[:cut]), corpus(lines[cut:])], warmup)
    stream = begun(config, most, next(pieces), Monitor())
    for piece in pieces:
        stream.step(piece)
    return stream


@pytest.mark.parametrize("kind", ["freq-k:2", "freq"])
def test_weights_are_those_of_the_twin(kind):
    rows, lines = texts(70, 1)
    config = config_of(kind)
    start, end = learned(config, lines[:24]), learned(config, lines)
    assert len(start.words) < len(end.words) == len({name for row in rows for name in row})
    for before, after in zip(start.parts, end.parts, strict=True):
        twin = twin_of(start, before, config)
        follow(twin, rows, start, end, (before, after), config)
        names = [end.words.names[place] for place in np.flatnonzero(after.view.seen)]
        expected = [twin.weights[name] for name in names]
        np.testing.assert_allclose(after.table() * after.scale, expected, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(after.weights.bias, twin.bias, rtol=1e-3, atol=1e-5)
        assert after.step == twin.step


def twin_of(stream, part, config):
    names = [stream.words.names[place] for place in np.flatnonzero(part.view.seen)]
    weights = dict(zip(names, (part.table() * part.scale).astype(float).tolist(), strict=True))
    bias, solver = part.weights.bias.astype(float).tolist(), config.solver
    return OnlineProblems(weights, bias, part.names, part.step, solver.rate, solver.penalty)


def follow(twin, rows, start, end, parts, config):
    """The twin's steps over the rows behind the warm-up, with features taken in after each span."""
    every = {name: place for place, name in enumerate(end.words.names)}
    presence = dict(zip(start.words.names, start.presence.tolist(), strict=True))
    counts = {}
    for row in rows[:24]:
        for name in row:
            if name not in presence:
                counts[name] = counts.get(name, 0) + 1
    _, after = parts
    for number, row in enumerate(rows[24:], 1):
        known = {name: value for name, value in row.items() if name in presence}
        seen = {name for name in known if after.view.seen[every[name]]}
        hidden = {name for name in known if after.view.hidden[every[name]]}
        # among equals of as few examples the order is that of hashes
        order = {name: (presence[name], int(end.words.key[every[name]])) for name in hidden}
        twin.learn(known, seen, largest(known, hidden, order, config.aux[0].k))
        for name in row:
            if name not in presence:
                counts[name] = counts.get(name, 0) + 1
        if number % SPAN == 0:
            for name in [name for name, count in counts.items() if count >= config.least]:
                presence[name] = counts.pop(name)
                if after.view.seen[every[name]]:
                    twin.weights[name] = [0.0] * len(twin.problems)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 59), st.sampled_from(["freq-k:2", "mask:a", "more:1"]), st.booleans())
def test_where_the_text_is_cut_does_not_matter(cut, kind, idf):
    _, lines = texts(60, 2)
    lines = [line + f" |b x{number % 3}" for number, line in enumerate(lines)]
    config = config_of(kind, idf=idf)
    one, other = learned(config, lines), learned(config, lines, cut=cut)
    for left, right in zip(one.parts, other.parts, strict=True):
        assert left.table().tobytes() == right.table().tobytes() and left.scale == right.scale
    first, second = one.theta(lambda line: None), other.theta(lambda line: None)
    assert first.matrix.tobytes() == second.matrix.tobytes()


def test_no_more_features_than_there_is_room_for():
    _, lines = texts(200, 3)
    stream = learned(config_of("freq-k:2"), lines, most=10)
    assert len(stream.words) == 10


def test_newcomers():
    new, known = Newcomers(), {key: ("a", f"f{key}") for key in range(9)}
    new.add(np.array([3, 1, 3], np.uint32), 3, known)
    assert new.names == {}
    new.add(np.array([3, 7], np.uint32), 3, known)
    new.add(np.array([1, 1, 7], np.uint32), 3, known)
    assert new.take(1) == {1: (("a", "f1"), 3)}
    assert (new.key.tolist(), new.count.tolist(), new.names) == ([7], [2], {})


@pytest.mark.parametrize("kind", ["top-k:1", "labels", "confidence", "pivot:3", "mask:a+b"])
def test_kinds_that_are_refused(kind):
    with pytest.raises(UsageError, match="problems that predict features"):
        check_kinds((read_aux(kind),))
