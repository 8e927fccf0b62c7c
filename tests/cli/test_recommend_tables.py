"""``vwlite recommend`` with models of tables, and with files of several formats."""

import json
import random

import pytest

from vwlite.cli.samples import make_files

COLUMNS = "label=rating tag=id user=uid item=film when=day"


def table(done):
    return [tuple(line.split("\t")) for line in done.lines]


@pytest.fixture
def rated(vwlite, write):
    """A CSV of ratings, the same as lines of JSON, and a model of the CSV; the films that everybody has met."""
    draw = random.Random(5)
    rows = [
        (draw.randrange(1, 6), f"r{n}", f"u{draw.randrange(9)}", f"f {draw.randrange(7)}", draw.randrange(9))
        for n in range(300)
    ]
    names = ("rating", "id", "uid", "film", "day")
    write("r.csv", "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    write("r.jsonl", "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    vwlite("train", "r.csv", "--columns", COLUMNS, "-f", "m", "--dotproduct", "user,item", "--names", "--quiet")
    met = {f"u{user}": set() for user in range(9)}
    for _, _, user, film, _ in rows:
        met[user].add(film.replace(" ", "_"))
    return met


def asked(vwlite, *words, status=0):
    return vwlite("recommend", "-i", "m", "--of", "item", "--top", 3, *words, status=status)


def test_users_alone_are_enough(rated, vwlite, write):
    write("u.csv", "uid\nu1\nu2\n")
    write("whole.csv", "id,uid,film,day,rating\na,u1,f 1,,\nb,u2,f 2,,\n")
    users, whole = asked(vwlite, "u.csv"), asked(vwlite, "whole.csv")
    assert [row[1:] for row in table(users)] == [row[1:] for row in table(whole)] != []
    assert [row[0] for row in table(users)] == ["u.csv:2"] * 3 + ["u.csv:3"] * 3
    assert users.stderr == ""
    write("odd.csv", "who\nu1\n")
    assert "odd.csv has no column 'uid' (it has who" in asked(vwlite, "odd.csv", status=65).stderr


def test_a_person_is_typed_by_the_column_or_its_namespace(rated, vwlite, write):
    write("u.csv", "uid\nu1\n")
    expected = [row[1:] for row in table(asked(vwlite, "u.csv"))]
    for typed in ("uid=u1", "user=u1"):
        rows = table(asked(vwlite, "--for", typed))
        assert [row[1:] for row in rows] == expected and {row[0] for row in rows} == {typed}
    write("day.csv", "uid,day\nu1,3\n")
    both = table(asked(vwlite, "--for", "uid=u1", "--for", "day=3"))
    assert [row[1:] for row in both] == [row[1:] for row in table(asked(vwlite, "day.csv"))] != expected
    for typed, said in (
        ("uid=u99", "--for uid=u99: the model does not know this feature"),
        ("who=u1", "--for who=u1: the model's table has no column 'who' (it has uid, film, day)"),
        ("day=soon", "--for day=soon: the column holds numbers, not 'soon'"),
    ):
        assert said in asked(vwlite, "--for", typed, status=2).stderr
        write("ids", f"uid=u1 day=3\n{typed}\n")
        done = asked(vwlite, "--for-file", "ids", status=0 if "u99" in typed else 65)
        assert f"ids:2: {said.removeprefix('--for ')}" in done.stderr
    assert [row[1:] for row in table(asked(vwlite, "--for", "uid=u1", "--for", "day=3"))] == [
        row[1:] for row in table(asked(vwlite, "--for-file", write("ids", "uid=u1 day=3\n")))
    ]


def test_numbers_that_are_names_join_with_the_table(vwlite, write):
    draw = random.Random(3)
    rows = "".join(f"{draw.randrange(1, 6)},{n % 5},{1866 + n % 7},-{n % 3},x\n" for n in range(140))
    write("n.csv", f"rating,s,d,t,u\n{rows}")
    columns = "label=rating user=s:text item=d:text,t:text ignore=u"
    vwlite("train", "n.csv", "--columns", columns, "-f", "m", "--dotproduct", "user,item", "--names", "--quiet")
    done = asked(vwlite, "--for", "user=1", "--top", 9)
    lists = json.loads(asked(vwlite, "--for", "user=1", "--top", 9, "--json", "-").stdout)["lists"]
    values = {item["name"]: item["value"] for item in lists[0]["items"]}
    assert {name for _, _, name in table(done)} == values.keys() and "d^_1866" in values
    assert {*values.values()} <= {*map(str, range(1866, 1873)), "-0", "-1", "-2"}
    expected = [row[1:] for row in table(done)]
    for printed in ("user=s^_1", "s=1"):
        assert [row[1:] for row in table(asked(vwlite, "--for", printed, "--top", 9))] == expected
    assert "does not know" in asked(vwlite, "--for", "user=s^_9", status=2).stderr
    assert len(vwlite("recommend", "-i", "m", "--of", "user", "--for", "item=d^_1866", "--top", 2).lines) == 2


def test_every_file_is_read_as_its_name_ends(rated, vwlite, write):
    write("u.csv", "uid\nu1\nu2\n")
    write("u.jsonl", '{"uid": "u1"}\n{"uid": "u2"}\n')
    write("u.vw", "|user uid:u1\n|user uid:u2\n")
    write("u.txt", "|user uid:u1\n|user uid:u2\n")
    people = (("u.csv",), ("u.jsonl",), ("u.vw",), ("u.txt", "--format", "vw"))
    lists = [[row[1:] for row in table(asked(vwlite, *person))] for person in people]
    assert lists[0] == lists[1] == lists[2] == lists[3] != []
    left = {}
    for seen in ("r.csv", "r.jsonl"):
        for person in people:
            left[seen, person] = [row[1:] for row in table(asked(vwlite, *person, "--exclude", seen, "-n", 9))]
    assert len({str(actual) for actual in left.values()}) == 1
    names = {name for _, name in left["r.csv", people[0]]}
    assert names <= {f"film^f_{n}" for n in range(7)} - {f"film^{f}" for f in rated["u1"] & rated["u2"]}
    assert "u.txt" in asked(vwlite, "u.txt", status=65).stderr


def test_lists_of_strangers_are_told(vwlite, write, tmp_path):
    write("ratings.vw", dict(make_files())["ratings.vw"])
    vwlite("train", "ratings.vw", "-f", "m", "--dotproduct", "user,item", "--names", "--quiet")
    write("u.csv", "user\nu1\n")
    done = asked(vwlite, "u.csv")
    assert "note: no example has a feature of user that the model has learned" in done.stderr
    assert "--columns 'user=COLUMN:words' makes features of lines" in done.stderr
    words = asked(vwlite, "u.csv", "--columns", "user=user:words")
    assert (words.stderr, [row[1:] for row in table(words)]) == (
        "",
        [row[1:] for row in table(asked(vwlite, "--for", "user=u1"))],
    )
    left_out = asked(vwlite, "u.csv", "--columns", "user=user:words", "--exclude", "ratings.vw")
    assert left_out.stdout == ""  # everybody has rated everything


def test_held_out_tables_need_persons_and_items_alone(rated, vwlite, write):
    write("held.csv", "rating,uid,film\n5,u1,f 1\n4,u2,f 3\n")
    write("more.csv", "rating,uid,film,day\n5,u1,f 1,3\n4,u2,f 3,3\n")
    held, more = (asked(vwlite, "--test", name, "--relevant", 4).stdout for name in ("held.csv", "more.csv"))
    assert held.startswith("people") and held == more
    write("bare.csv", "rating,uid\n5,u1\n")
    for words in (["--test", "bare.csv"], ["--exclude", "bare.csv", "--for", "uid=u1"]):
        assert "bare.csv has no column 'film'" in asked(vwlite, *words, status=65).stderr


def test_members_of_json_are_typed(vwlite, write):
    rows = [{"y": n % 5, "user": {"city": f"c{n % 4}"}, "ad": [f"a{n % 3}"]} for n in range(60)]
    write("d.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    vwlite("train", "d.jsonl", "--columns", "label=y", "-f", "m", "--dotproduct", "user,ad", "--names", "--quiet")
    write("one.jsonl", '{"user": {"city": "c1"}}\n')
    expected = table(vwlite("recommend", "-i", "m", "--of", "ad", "one.jsonl"))
    actual = table(vwlite("recommend", "-i", "m", "--of", "ad", "--for", "user=city=c1"))
    assert [row[1:] for row in actual] == [row[1:] for row in expected] != []
