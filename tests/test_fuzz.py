"""What fuzzing begins with and what it once found, given to every target; and a short walk from there."""

import random

import pytest
from fuzz.mutations import mutated
from fuzz.seeds import HERE, made, seeds
from fuzz.targets import TARGETS, Unraisable, attempt

CORPUS = 1 << 20  # bytes at most


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_taken_or_refused(target):
    for data in seeds(target):
        attempt(target, data)
    assert any(attempt(target, data) == "" for data in made()[target])


@pytest.mark.parametrize("target", TARGETS)
def test_a_short_walk_finds_nothing(target):
    draw, corpus = random.Random(1), seeds(target)
    for _ in range(1000 if target in ("vw", "svmlight") else 100):
        attempt(target, mutated(draw, corpus, target))


def test_finds_are_found(monkeypatch):
    """Neither an exception nor one that a kernel could not pass on gets lost."""

    def wrong(data):
        raise ZeroDivisionError

    class Lost:
        def __del__(self):
            raise ZeroDivisionError

    monkeypatch.setitem(TARGETS, "vw", wrong)
    with pytest.raises(ZeroDivisionError):
        attempt("vw", b"")
    monkeypatch.setitem(TARGETS, "vw", lambda data: Lost() and None)
    with pytest.raises(Unraisable):
        attempt("vw", b"")


def test_the_corpus_is_small():
    kept = sum(path.stat().st_size for path in (HERE / "regressions").iterdir())
    assert kept + sum(len(data) for target in TARGETS for data in made()[target]) <= CORPUS
