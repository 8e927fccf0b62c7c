"""``vwlite recommend``: items with all their features, beside what ``predict`` says of whole lines."""

import itertools
import json
import random

import pytest

PEOPLE, ITEMS = 6, 9


def table(done):
    return [(who, float(score), name) for who, score, name in (line.split("\t") for line in done.lines)]


FILMS = ["comedy" if n % 2 else "drama" for n in range(ITEMS)]
RATED = [
    f"{1 + (person * item + n) % 5} |user u{person} age:0.{person} |item i{item} year:0.{item} |genre {FILMS[item]}\n"
    for n, (person, item) in enumerate(itertools.product(range(PEOPLE), range(ITEMS)))
    if (person + item) % 3
]
BUNDLES = [
    ("--dotproduct user,item --dotproduct user,genre", "item"),
    ("--dotproduct user,item --negatives 1 --negatives-of item,genre", "item"),
    ("--dotproduct user,item -q ug", "item,genre"),
    ("--dotproduct user,item --dotproduct user,genre --rank 2 -q ::", "item"),
]


@pytest.mark.parametrize(("options", "of"), BUNDLES)
def test_lists_of_whole_items_are_the_sorted_predictions_of_whole_lines(options, of, vwlite, write):
    write("data", "".join(RATED))
    vwlite("train", "data", "-f", "m", "--names", "--quiet", "--passes", 3, "--holdout_off", *options.split())
    items = [f"|item i{item} year:0.{item} |genre {FILMS[item]}" for item in range(ITEMS)]
    write(
        "films", "".join(f"{item}\n" for item in [*items, "|item new year:0.5 |genre comedy", "|item i0 |genre none"])
    )
    people = [f"|user u{person} age:0.{person}" for person in range(PEOPLE)]
    write("people", "".join(f"'{n} {person} |genre other\n" for n, person in enumerate(people)))
    write("all", "".join(f"{person} {item}\n" for person in people for item in items))
    raw = [float(line) for line in vwlite("predict", "-i", "m", "all", "--raw").lines]
    for source, known in (("films", ITEMS + 1), ("data", ITEMS)):
        rows = table(vwlite("recommend", "-i", "m", "--of", of, "people", "--items", source, "--top", 99))
        assert len(rows) == PEOPLE * known and sum(name == "new" for _, _, name in rows) == PEOPLE * (source == "films")
        scores = {(int(who), name): score for who, score, name in rows if name != "new"}
        expected = {(n // ITEMS, f"i{n % ITEMS}"): score for n, score in enumerate(raw)}
        assert scores == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert [score for who, score, _ in rows if who == "0"] == sorted(
            (score for who, score, _ in rows if who == "0"), reverse=True
        )
    left = table(vwlite("recommend", "-i", "m", "--of", of, "people", "--exclude", "data", "--items", "data", "-n", 99))
    met = {(line.split()[2], line.split()[5]) for line in RATED}
    assert {(f"u{who}", name) for who, _, name in left} == {
        (f"u{n}", f"i{item}") for n in range(PEOPLE) for item in range(ITEMS)
    } - met


def test_a_person_named_by_id_has_all_features_of_the_data(vwlite, write):
    write("data", "".join(RATED))
    options = ("--dotproduct", "user,item", "--names", "--quiet", "--rank", 2, "--passes", 3, "--holdout_off")
    vwlite("train", "data", "-f", "m", *options)
    command = ("recommend", "-i", "m", "--of", "item", "-n", 99)
    for more in (("--items", "data"), ("--exclude", "data")):
        whole = vwlite(*command, write("people", "'user=u3 |user u3 age:0.3\n'user=u9 |user u2 age:0.2\n"), *more).lines
        lines = vwlite(*command, "--for", "user=u3", *more).lines
        assert lines == [line for line in whole if "u3" in line] != []
        write("ids", "user=u3\n\nuser=u2\n")
        both = vwlite(*command, "--for-file", "ids", *more).lines
        assert [line.split("\t")[1:] for line in both] == [line.split("\t")[1:] for line in whole]
    alone, whole = vwlite(*command, "--for", "user=u3").lines, vwlite(*command, "people").lines
    assert alone == vwlite(*command, write("p", "'user=u3 |user u3\n")).lines != whole[: len(alone)]


def test_items_in_several_namespaces_are_those_of_what_is_left_out(vwlite, write):
    write("data", "".join(RATED))
    options = ("--dotproduct", "user,item", "--dotproduct", "user,genre", "--names", "--quiet", "--rank", 2)
    vwlite("train", "data", "-f", "m", *options)
    command = ("recommend", "-i", "m", "--of", "item", write("people", "|user u1\n"))
    done = vwlite(*command, "--exclude", "data")
    assert done.stdout == vwlite(*command, "--exclude", "data", "--items", "data").stdout and done.stderr == ""
    assert "note: items are features of item alone, without those of genre: --items FILE" in vwlite(*command).stderr
    stderr = vwlite("recommend", "-i", "m", "--of", "item,genre", "people", status=2).stderr
    assert "--of item,genre needs --items FILE, which says what of genre every item has" in stderr
    assert "no example has an item" in vwlite(*command, "--items", write("none", "|x y\n"), status=65).stderr
    assert (
        "--items does nothing with --near"
        in vwlite("recommend", "-i", "m", "--near", "item=i1", "--items", "data", status=2).stderr
    )


def test_ranked_whole_lines_find_what_genres_tell(vwlite, write):
    """Everybody likes one genre, and few rate an item."""
    draw = random.Random(4)
    rated = draw.sample([(person, item) for person in range(24) for item in range(24)], 300)
    lines = [
        f"{5 if (person + item) % 2 else 1} |user u{person} |item i{item} |genre g{item % 2}\n"
        for person, item in rated
    ]
    write("seen", "".join(lines[:200]))
    write("held", "".join(lines[200:]))
    options = ("--dotproduct", "user,item", "--dotproduct", "user,genre", "--rank", 4, "--passes", 10, "--holdout_off")
    vwlite("train", "seen", "-f", "m", "--quiet", *options)
    command = ("recommend", "-i", "m", "--of", "item", "--test", "held", "--top", 3, "--relevant", 4, "--json", "-")
    whole, alone = (
        json.loads(vwlite(*command, *more).stdout)["result"]["ndcg@3"] for more in (("--items", "seen"), ())
    )
    assert whole > alone + 0.03


def test_the_films_that_people_brought_are_ranked_as_whole_lines(vwlite, cases_dir):
    """Features of one namespace ranked alone had a precision of 0.54 or less."""
    seen, held = (cases_dir / f"recommend_genre_{part}.vw" for part in ("train", "test"))
    options = ("--dotproduct", "user,item", "--dotproduct", "user,genre", "--rank", 4, "--passes", 10, "--holdout_off")
    vwlite("train", seen, "-f", "m", "--quiet", *options)
    command = ("recommend", "-i", "m", "--of", "item", "--test", held, "--top", 3, "--relevant", 4, "--exclude", seen)
    for more in ((), ("--items", seen)):
        report = json.loads(vwlite(*command, *more, "--json", "-").stdout)["result"]
        assert report["p@3"] == pytest.approx(0.885, abs=0.001) and report["ndcg@3"] > report["popularity_ndcg@3"]


def test_the_person_whose_age_changed_has_exclusions(vwlite, write, cases_dir):
    data = cases_dir / "recommend_exclude.vw"
    vwlite("train", data, "-f", "m", "--names", "--quiet", "--dotproduct", "u,i", "--rank", 2)
    done = vwlite("recommend", "-i", "m", "--of", "i", "--exclude", data, write("p", "|u u1 age=31\n|u u9\n"))
    assert [line.split("\t")[2] for line in done.lines if line.startswith("p:1\t")] == ["t4"]
    assert "note: 1 of 2 persons have no items to leave out" in done.stderr
