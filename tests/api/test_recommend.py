"""``Model.recommend``: what ``vwlite recommend`` lists, of text and of rows."""

import logging

import pytest

from vwlite import DataError, Model, UsageError

TEXT = "".join(f"{n % 4 + 1} |u u{n % 5} |i i{n % 7}\n" for n in range(60))
PEOPLE = "|u u1\n|u u3\n|u nobody\n"


@pytest.fixture
def model():
    model = Model("--dotproduct ui --rank 3", names=True)
    model.learn(TEXT)
    return model


def test_lists_are_those_of_the_command(model, run_here, tmp_path):
    model.save(tmp_path / "model")
    (tmp_path / "people").write_text(PEOPLE)
    (tmp_path / "seen").write_text("1 |u u1 |i i2 i3\n")
    files = ["--exclude", tmp_path / "seen", tmp_path / "people"]
    done = run_here("recommend", "-i", tmp_path / "model", "--of", "i", "--top", 6, *files)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    for loaded in (model, Model.load(tmp_path / "model")):
        for data, seen in ((PEOPLE, "|u u1 |i i2 i3"), (tmp_path / "people", tmp_path / "seen")):
            actual = loaded.recommend(data, "i", top=6, exclude=seen)
            assert [len(part) for part in actual] == [5, 6, 6]
            names, scores = zip(*(item for part in actual for item in part), strict=True)
            assert list(names) == [name for _, _, name in rows]
            assert list(scores) == pytest.approx([float(score) for _, score, _ in rows], rel=1e-5)


def test_items_are_those_of_examples(model):
    actual = model.recommend("|u u1\n", "i", items="|i i3 price:2\n|i i2\n|i i3\n")
    assert sorted(item.name for item in actual[0]) == ["i2", "i3"]
    (wanted,) = model.predict("|u u1 |i i3 price:2\n", raw=True)
    assert dict(actual[0])["i3"] == pytest.approx(wanted, rel=1e-6)


def test_rows_have_lists_and_malformed_lines_empty_ones(model, caplog):
    (wanted,) = model.recommend("|u u3", "i", top=3)
    assert model.recommend([{"u": {"u3": 1}}], "i", top=3)[0] != []
    with caplog.at_level(logging.ERROR, "vwlite"):
        actual = model.recommend("|u u1:nan\n|u u3\n|u u3:nan\n", "i", top=3, bad_lines=1)
    assert actual == [[], wanted, []]
    with pytest.raises(DataError):
        model.recommend("|u u1:nan\n|u u3\n", "i")
    assert model.recommend("", "i") == []


def test_learning_goes_on_as_if_nothing_was_asked(model):
    other = Model.loads(model.dumps())
    model.recommend(PEOPLE, "i")
    model.learn(TEXT)
    other.learn(TEXT)
    assert model.dumps() == other.dumps()


@pytest.mark.parametrize(
    ("options", "of", "top", "message"),
    [
        ("", "i", 1, "the model has no latent vectors: train with --dotproduct"),
        ("--dotproduct ui", "x", 1, "no pair has a namespace 'x'; the model's pairs are ui"),
        ("--dotproduct ui", "i", 0, "--top takes 1 or more, not 0"),
    ],
)
def test_wrong_calls_are_refused(options, of, top, message):
    with pytest.raises(UsageError) as error:
        Model(options).recommend(PEOPLE, of, top=top)
    assert str(error.value) == message
