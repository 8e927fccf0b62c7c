"""``vwlite recommend``: lists beside the sorted predictions of ``predict``; metrics computed by hand; unusual input."""

import json
import math
import random

import numpy as np
import pytest

from vwlite.features.hashing import hash_name

PERSONS, ITEMS = 6, 9
MODELS = [
    "--dotproduct ui --rank 3",
    "--dotproduct user,item --rank 5",
    "--dotproduct user,item --dotproduct time,item --rank 2 --dot-offset 0.3",
    "--dotproduct item,user --loss_function quantile --rank 4",
    "--dotproduct ui --no-dot-linear --rank 3",
    "--dotproduct user,item --ignore_linear i --noconstant --redefine t:=x",
    "--dotproduct user,item -q ut --rank 3",
]


def lines(count=150, seed=1):
    draw = random.Random(seed)
    for _ in range(count):
        person, item = draw.randrange(PERSONS), draw.randrange(ITEMS)
        rating = 1 + (person * item + draw.randrange(2)) % 5
        yield f"{rating} |user u{person} age:0.{person} |item i{item} |time t{person % 2} |info x"


@pytest.fixture
def ratings(write):
    return write("ratings", "".join(f"{line}\n" for line in lines()))


def blocks(person, item=None):
    features = f"|user u{person} age:0.{person} |time t{person % 2} |info x"
    return features if item is None else f"{features} |item {item}"


def table(done):
    return table_of(done.lines)


def table_of(lines):
    return [(who, float(score), name) for who, score, name in (line.split("\t") for line in lines)]


def item_namespace(options):
    return "i" if "ui" in options else "item"


@pytest.mark.parametrize("options", MODELS)
def test_lists_are_the_sorted_predictions_of_all_completions(options, vwlite, write):

    def write_rows(name, rows):  # the group i has all namespaces that begin with it
        text = "".join(f"{row}\n" for row in rows)
        return write(name, text.replace("|info", "|other") if "ui" in options else text)

    write_rows("data", lines())
    vwlite("train", "data", "-f", "m", "--names", "--quiet", "--passes", 3, "--holdout_off", *options.split())
    names = [f"i{item}" for item in range(ITEMS)]
    write_rows("all", (blocks(person, name) for person in range(PERSONS) for name in names))
    raw = [float(line) for line in vwlite("predict", "-i", "m", "all", "--raw").lines]
    write_rows("people", (f"'p{person} {blocks(person)}" for person in range(PERSONS)))
    actual = table(vwlite("recommend", "-i", "m", "--of", item_namespace(options), "people", "--top", 5))
    for person in range(PERSONS):
        scores = dict(zip(names, raw[person * ITEMS : (person + 1) * ITEMS], strict=True))
        listed = actual[5 * person : 5 * person + 5]
        assert {who for who, _, _ in listed} == {f"p{person}"}
        assert [score for _, score, _ in listed] == pytest.approx(sorted(scores.values())[:-6:-1], rel=1e-5)
        assert {name: score for _, score, name in listed} == pytest.approx(
            {name: scores[name] for _, _, name in listed}, rel=1e-5
        )


@pytest.fixture
def model(ratings, vwlite):
    vwlite("train", ratings, "-f", "m", "--names", "--quiet", "--dotproduct", "user,item", "--rank", 3)
    return "m"


def test_items_of_the_line_do_not_matter_and_lines_without_tag_have_their_place(model, vwlite, write):
    with_item = vwlite("recommend", "-i", model, "--of", "item", write("a", f"3 {blocks(1, 'i2')}\n"), "-n", 2)
    alone = vwlite("recommend", "-i", model, "--among", "item", write("b", f"{blocks(1)}\n"), "-n", 2)
    assert with_item.stdout == alone.stdout.replace("b:1\t", "a:1\t")
    assert [who for who, _, _ in table(with_item)] == ["a:1"] * 2
    for same in (["-d", "b"], ["--for", "b"], ["-"]):
        done = vwlite("recommend", "-i", model, "--of", "item", *same, "-n", 2, stdin=f"{blocks(1)}\n")
        assert [row[1:] for row in table(done)] == [row[1:] for row in table(alone)]


def test_a_line_of_items_alone_has_the_list_of_an_unknown_person(model, vwlite, write):
    rows = table(vwlite("recommend", "-i", model, "--of", "item", write("x", "|item i2\n\n|item i1\n"), "-n", 20))
    assert len(rows) == 2 * ITEMS and [row[1:] for row in rows[:ITEMS]] == [row[1:] for row in rows[ITEMS:]]


def test_for_makes_a_line_of_features_that_the_model_has_learned(model, vwlite, write):
    done = vwlite("recommend", "-i", model, "--of", "item", "--for", "user=u1", "--for", "time=t1")
    expected = vwlite("recommend", "-i", model, "--of", "item", write("x", "'user=u1,time=t1 |user u1 |time t1\n"))
    assert done.stdout == expected.stdout != ""
    stderr = vwlite("recommend", "-i", model, "--of", "item", "--for", "user=u99", status=2).stderr
    assert "--for user=u99: the model does not know this feature" in stderr
    stderr = vwlite("recommend", "-i", model, "--of", "item", "--for", "user=", status=2).stderr
    assert "is not the name of a feature" in stderr


def test_each_line_of_a_file_is_a_person(model, vwlite, write, tmp_path):
    write("ids", "user=u1 time=t1\n\nuser=u2\n")
    done = vwlite("recommend", "-i", model, "--of", "item", "--for-file", "ids", "-n", 3)
    expected = write("x", "'user=u1,time=t1 |user u1 |time t1\n'user=u2 |user u2\n")
    assert done.stdout == vwlite("recommend", "-i", model, "--of", "item", expected, "-n", 3).stdout != ""
    ids = (tmp_path / "ids").read_text()
    piped = vwlite("recommend", "-i", model, "--of", "item", "--for-file", "-", "-n", 3, stdin=ids)
    assert piped.stdout == done.stdout and done.stderr == piped.stderr == ""


def test_ids_of_a_file_may_hold_other_blanks_than_spaces(vwlite, write):
    rows = "".join(f"{n % 5} |user u\u00a0{n % 3} |item i{n % 4}\n" for n in range(40))
    vwlite("train", write("d", rows), "-f", "m", "--names", "--quiet", "--dotproduct", "user,item")
    ids = "\ufeffuser=u\u00a01\r\nuser=u\u00a02\n"
    done = vwlite("recommend", "-i", "m", "--of", "item", "--for-file", write("ids", ids), "-n", 1)
    assert [who for who, _, _ in table(done)] == ["user=u\u00a01", "user=u\u00a02"] and done.stderr == ""


def test_lines_of_unknown_persons_in_a_file_are_reported_and_have_no_list(model, vwlite, write):
    command = ("recommend", "-i", model, "--of", "item", "--for-file", "ids", "-n", 1)
    write("ids", "user=u99\nuser=u1\n")
    done = vwlite(*command)
    assert [who for who, _, _ in table(done)] == ["user=u1"]
    assert "ids:1: user=u99: the model does not know this feature" in done.stderr
    assert "1 of 2 lines of ids have no list" in done.stderr
    write("ids", "user=u99\n")
    assert "ids: the model knows no person of its 1 lines" in vwlite(*command, status=65).stderr
    write("ids", "user=u1\n|user u1\n")
    refused = vwlite(*command, status=65)
    assert "ids:2: a line has features like user=u17" in refused.stderr and refused.stdout == ""
    assert "no such file: none" in vwlite(*command[:5], "--for-file", "none", status=66).stderr


def test_items_that_a_person_has_are_left_out(model, vwlite, write):
    write("people", f"{blocks(1)}\n{blocks(2)}\n")
    seen = [f"1 {blocks(1, f'i{item}')}\n" for item in (0, 3, 99)]
    write("seen", "".join(seen) + "2 |item i5 |user age:9 u1\n| x\n")
    left_out = ["--exclude", "seen"]
    rows = table(vwlite("recommend", "-i", model, "--of", "item", "people", *left_out, "-n", 20))
    names = {who: {name for owner, _, name in rows if owner == who} for who, _, _ in rows}
    all_items = {f"i{item}" for item in range(ITEMS)}
    assert names == {"people:1": all_items - {"i0", "i3", "i5"}, "people:2": all_items}
    write("more", f"|user u2 age |item {' '.join(f'i{item}' for item in range(ITEMS))}\n")
    rows = table(vwlite("recommend", "-i", model, "--of", "item", "people", *left_out, "--exclude", "more", "-n", 20))
    assert {who for who, _, _ in rows} == {"people:1"}


def test_a_person_is_the_first_feature_whatever_the_others_are(vwlite, write):
    """The age of a person has changed, and --for names the id alone."""
    rows = ["10 |u u1 age=30 |i t1", "1 |u u1 age=30 |i t2", "10 |u u2 age=40 |i t2", "1 |u u2 age=40 |i t1"]
    write("d", "\n".join([*rows, "10 |u u1 age=30 |i t3", "10 |u u2 age=40 |i t4"]) + "\n")
    vwlite("train", "d", "-f", "m", "--names", "--quiet", "--dotproduct", "u,i", "--rank", 2)
    command = ("recommend", "-i", "m", "--of", "i", "--exclude", "d")
    for line in ("|u u1 age=31", "|u age=31:2 u1", "|u u1", "|u u1 age=30"):
        done = vwlite(*command, write("people", f"{line}\n"))
        assert ([name for _, _, name in table(done)], done.stderr) == (["t4"], "")
    assert [name for _, _, name in table(vwlite(*command, "--for", "u=u1"))] == ["t4"]
    write("people", "|u u1 age=31\n|u u3 age=30\n|u u3 age=31\n|u u4\n|x nobody\n")
    note = "vwlite: note: 2 of 3 persons have no items to leave out; the first feature of u identifies a person\n"
    assert vwlite(*command, "people").stderr == note and vwlite(*command, "people", "--quiet").stderr == ""
    write("held", "10 |u u1 age=31 |i t4\n10 |u u1 age=32 |i t3 t4\n10 |u u5 |i t1 t2\n")
    done = vwlite("recommend", "-i", "m", "--of", "i", "--exclude", "d", "--test", "held", "--json", "-")
    metrics = json.loads(done.stdout)["result"]
    assert (metrics["people"], metrics["relevant"]) == (2, 3)
    assert "note: 1 of 2 persons have no items to leave out" in done.stderr


def test_the_namespace_with_the_most_features_tells_people_apart(vwlite, write):
    rows = [f"{n % 5} |time t{n % 2} |user u{n % 7} |item i{n % 5}" for n in range(70)]
    write("d", "\n".join(rows) + "\n")
    options = ("--dotproduct", "time,item", "--dotproduct", "user,item")
    vwlite("train", "d", "-f", "m", "--names", "--quiet", "--rank", 2, *options)
    write("seen", "|time t0 |user u1 |item i1\n|time t1 |user u1 |item i2\n|time t1 |user u2 |item i0 i3\n")
    command = ("recommend", "-i", "m", "--of", "item", "--exclude", "seen")
    done = vwlite(*command, write("people", "|time t1 |user u1\n"))
    assert {name for _, _, name in table(done)} == {"i0", "i3", "i4"} and done.stderr == ""
    done = vwlite(*command, write("people", "|time t1\n"))
    assert len(table(done)) == 5 and "note: 1 of 1 persons" in done.stderr


def test_metrics_are_those_of_the_lists(model, vwlite, write):
    draw = random.Random(3)
    rows = [(person, item, draw.randrange(1, 6)) for person in range(PERSONS) for item in draw.sample(range(12), 5)]
    write("held", "".join(f"{rating} {blocks(person, f'i{item}')}\n" for person, item, rating in rows))
    seen = [(person, person + 1) for person in range(PERSONS)]
    write("seen", "".join(f"{blocks(person, f'i{item}')}\n" for person, item in seen))
    write("people", "".join(f"'{person} {blocks(person)}\n" for person in range(PERSONS)))
    command = ["--of", "item", "--top", 4, "--exclude", "seen"]
    lists = table(vwlite("recommend", "-i", model, "people", *command))
    measures = []
    for person in range(PERSONS):
        relevant = {f"i{item}" for rater, item, rating in rows if rater == person and rating >= 3}
        relevant -= {f"i{item}" for owner, item in seen if owner == person}
        hits = [name in relevant for who, _, name in lists if who == str(person)]
        best = sum(1 / math.log2(2 + place) for place in range(min(4, len(relevant))))
        gain = sum(1 / math.log2(2 + place) for place, hit in enumerate(hits) if hit)
        if relevant:
            measures.append((sum(hits) / 4, sum(hits) / len(relevant), gain / best, float(any(hits)), len(relevant)))
    done = vwlite("recommend", "-i", model, "--test", "held", *command, "--relevant", 3, "--json", "-", "--quiet")
    means = [sum(column) / len(measures) for column in zip(*measures, strict=True)]
    expected = dict(zip(("p@4", "recall@4", "ndcg@4", "hr@4"), means[:4], strict=True))
    relevant = sum(row[-1] for row in measures)
    metrics = json.loads(done.stdout)["result"]
    assert 0 <= metrics.pop("popularity_ndcg@4") <= 1
    assert metrics == pytest.approx({"people": len(measures), "relevant": relevant, **expected})
    text = vwlite("recommend", "-i", model, "--test", "held", *command, "--relevant", 3, "--json", "out")
    assert text.lines[0].split() == ["people", str(len(measures))]
    vwlite("recommend", "-i", model, "--test", "held", *command, "--json", "out")  # over a report of its own
    stderr = vwlite("recommend", "-i", model, "--test", "held", *command, "--relevant", 9, status=65).stderr
    assert "no person has a relevant item in the held-out data: see --relevant" in stderr


@pytest.mark.parametrize("negatives", [0, 1])
def test_the_list_of_the_most_frequent_items_is_a_baseline(negatives, vwlite, write):
    """Two users have rated t4 and t5, and high; all users rate t1 to t3, one after the other."""
    ratings = [(f"u{n}", f"t{1 + (n + k) % 3}", 3 - k) for n in range(30) for k in range(2)]
    ratings += [("u0", "t4", 9), ("u1", "t5", 9), ("u0", "t4", 9)]
    write("seen", "".join(f"{rating} |u {user} |i {item}\n" for user, item, rating in ratings))
    write("held", "".join(f"3 |u u{n} |i t{1 + (n + 2) % 3}\n" for n in range(30)))
    options = ("--dotproduct", "u,i", "--rank", 2, "--quiet", *(["--negatives", 1] if negatives else []))
    vwlite("train", "seen", "-f", "m", "--passes", 5, "--holdout_off", *options)
    command = ("recommend", "-i", "m", "--of", "i", "--test", "held", "--top", 2)
    done = vwlite(*command, "--exclude", "seen")
    metrics = dict(line.split() for line in done.stdout.splitlines())
    assert float(metrics["popularity_ndcg@2"]) == 1
    note = "note: the most frequent items rank better, ndcg@2 1: a model of ratings does not predict"
    assert (float(metrics["ndcg@2"]) < 1) == (note in done.stderr) == (not negatives)
    assert note not in vwlite(*command, "--exclude", "seen", "--quiet").stderr
    assert ("popularity" in vwlite(*command).stdout) == (not negatives)


@pytest.mark.parametrize("options", MODELS[:4])
def test_near_are_the_largest_cosines_of_all_vectors(options, ratings, vwlite, tmp_path):
    vwlite("train", ratings, "-f", "m", "--names", "--quiet", *options.split())
    vwlite("inspect", "m", "--factors", item_namespace(options), "--out", "f.npz")
    with np.load(tmp_path / "f.npz") as file:
        parts = sorted(name for name in file.files if name.startswith("vector"))
        vectors = np.concatenate([file[name].astype(float) for name in parts], axis=1)
        names = [name.removeprefix("item^") for name in file[parts[0].replace("vector", "feature")]]
    lengths = np.linalg.norm(vectors, axis=1)
    expected = dict(
        zip(names, vectors @ vectors[names.index("i2")] / lengths / lengths[names.index("i2")], strict=True)
    )
    del expected["i2"]
    rows = table(vwlite("recommend", "-i", "m", "--near", "item=i2", "-n", 5, "--json", "out"))
    assert {who for who, _, _ in rows} == {"item=i2"} and len(rows) == 5
    assert [score for _, score, _ in rows] == pytest.approx(sorted(expected.values())[:-6:-1], rel=1e-5)
    assert {name: score for _, score, name in rows} == pytest.approx({n: expected[n] for _, _, n in rows}, rel=1e-5)
    (listed,) = json.loads((tmp_path / "out").read_text())["lists"]
    assert listed["tag"] == "item=i2" and [item["name"] for item in listed["items"]] == [name for _, _, name in rows]


def test_near_of_several_features_are_several_lists(model, vwlite):
    both = vwlite("recommend", "-i", model, "--near", "item=i2", "--near", "user=u1", "-n", 2).lines
    alone = [vwlite("recommend", "-i", model, "--near", point, "-n", 2).lines for point in ("item=i2", "user=u1")]
    assert both == [*alone[0], *alone[1]] and "u1" not in {name for _, _, name in table_of(both[2:])}


def test_json_holds_the_lists(model, vwlite, write, tmp_path):
    write("people", f"'a {blocks(1)}\n\n{blocks(2)}\n")
    text = table(vwlite("recommend", "-i", model, "--of", "item", "people", "-n", 2, "--json", "out"))
    lists = json.loads((tmp_path / "out").read_text())["lists"]
    assert [(entry["tag"], entry["location"]) for entry in lists] == [("a", "people:1"), ("", "people:3")]
    shown = [(item["name"], item["score"]) for entry in lists for item in entry["items"]]
    assert [name for name, _ in shown] == [name for _, _, name in text]
    assert [score for _, score in shown] == pytest.approx([score for _, score, _ in text], rel=1e-5)
    write("other", "mine")
    vwlite("recommend", "-i", model, "--of", "item", "people", "--json", "other", status=2)
    vwlite("recommend", "-i", model, "--of", "item", "people", "--json", "other", "--force")


def test_slots_stand_for_unknown_names(ratings, vwlite, write):
    vwlite("train", ratings, "-f", "m", "--quiet", "--dotproduct", "user,item", "-b", 10, "--hash", "all")
    lists = ("recommend", "-i", "m", "--of", "item", write("x", f"{blocks(1)}\n{blocks(2)}\n"), "-n", 99)
    done = vwlite(*lists)
    assert done.stderr == "vwlite: note: m holds no names, and slots stand for them: train with --names to see names\n"
    assert vwlite(*lists, "--quiet").stderr == ""
    rows = table(done)
    space = hash_name(b"item", 0, True)
    assert {name for _, _, name in rows} == {str(hash_name(b"i%d" % i, space, True) % 1024) for i in range(ITEMS)}


def test_equal_scores_are_sorted_by_name(vwlite, write):
    write("d", "".join(f"1 |u u |i {name}\n" for name in ("b", "c", "a")) + "1 |u u |i a b c\n")
    vwlite("train", "d", "-f", "m", "--quiet", "--names", "--dotproduct", "ui", "-l", "0", "--dot-init", "1e-30")
    rows = table(vwlite("recommend", "-i", "m", "--of", "i", "-", "--top", 2, stdin="|other z\n"))
    whole = table(vwlite("recommend", "-i", "m", "--of", "i", "-", "--top", 3, stdin="|other z\n"))
    assert rows == whole[:2] and [name for _, _, name in whole] == ["a", "b", "c"]


def test_malformed_lines_are_reported_and_have_no_list(model, vwlite, write, tmp_path):
    write("odd", f"{blocks(1)}\n|user u1:nan\n{blocks(2)}\n")
    done = vwlite("recommend", "-i", model, "--of", "item", "odd", "-n", 1, status=65)
    assert [who for who, _, _ in table(done)] == ["odd:1", "odd:3"] and "odd:2:" in done.stderr
    options = ["--max-bad-ratio", "1", "--bad-lines", "kept", "--quiet", "--threads", "1", "--examples", "3"]
    assert vwlite("recommend", "-i", model, "--of", "item", "odd", "-n", 1, *options).stdout == done.stdout
    assert (tmp_path / "kept").read_text() == "|user u1:nan\n"
    assert "odd:2:" in vwlite("recommend", "-i", model, "--of", "item", "odd", "--strict", status=65).stderr
    refused = vwlite("recommend", "-i", model, "--of", "item", "-", "--exclude", "odd", stdin="|user u1\n", status=65)
    assert "odd:2:" in refused.stderr and refused.stdout == ""


@pytest.mark.parametrize(
    ("options", "asked", "message"),
    [
        ("", "--of item", "the model has no latent vectors: train with --dotproduct"),
        ("--lrq ui3", "--of item", "the model has no latent vectors"),
        ("--dotproduct user,item", "--of i", "no pair has a namespace 'i'; the model's pairs are user,item"),
        ("--dotproduct time,item --rank 0", "--of item", "recommend needs latent vectors"),
        ("--dotproduct user,item -q it", "--of item", "interactions (-q) of the namespace 'item'"),
        ("--dotproduct user,item -q ::", "--of item", "interactions (-q) of the namespace 'item'"),
        ("--dotproduct user,item --interactions item,user", "--of item", "interactions (-q) of the namespace 'item'"),
        ("--dotproduct item,item", "--of item", "--dotproduct item,item for the namespace 'item'"),
        ("--dotproduct user,item --dotproduct ti", "--of item", "--dotproduct ti for the namespace 'item'"),
        ("--dotproduct user,item", "--of item --top 0", "--top takes 1 or more, not 0"),
        ("--dotproduct user,item", "", "--of"),
        ("--dotproduct user,item", "--of item --relevant 2", "--relevant does nothing without --test"),
        ("--dotproduct time,item --rank 0", "--near item=i1", "--near needs latent vectors"),
        ("--dotproduct user,item", "--near i=i1", "no pair has a namespace 'i'"),
        ("--dotproduct user,item", "--near item=i99", "--near item=i99: the model has learned no vector of this"),
        ("--dotproduct user,item", "--near item=i1 --of item", "--of does nothing with --near"),
        ("--dotproduct user,item", "--near item=i1 --threads 2", "--threads does nothing with --near"),
        ("--dotproduct user,item", "--near item=i1 --for user=u1", "--for and --near both name the persons"),
        (
            "--dotproduct user,item",
            "--of item --for user=u1 --for-file x",
            "--for and --for-file both name the persons",
        ),
        ("--dotproduct user,item", "--near item=i1 --for-file x", "--for-file and --near both name the persons"),
        ("--dotproduct user,item", "--of item --for user=u1 x", "files and --for both name the persons"),
        ("--dotproduct user,item", "--of item --for user=u1 --test x", "--for and --test both name the persons"),
    ],
)
def test_impossible_options_are_refused(options, asked, message, ratings, vwlite):
    vwlite("train", ratings, "-f", "m", "--quiet", "--max-bad-ratio", 1, *options.split())
    done = vwlite("recommend", "-i", "m", *asked.split(), status=2)
    assert message in done.stderr and done.stdout == ""


def test_models_of_named_labels_and_missing_files_are_refused(model, vwlite, write):
    vwlite("l1", write("named", "one |a x\ntwo |a y\n" * 5), "--model", "multinomial", "-f", "named.m", "--quiet")
    stderr = vwlite("recommend", "-i", "named.m", "--of", "a", "named", status=2).stderr
    assert "recommend does not go with a model of named labels" in stderr
    for words in (["none"], ["--test", "none"], ["--exclude", "none", "--for", "user=u1"], ["--for", "none"]):
        vwlite("recommend", "-i", model, "--of", "item", *words, status=66)
    vwlite("recommend", "-i", "none", "--of", "item", "none", status=66)
    assert (
        "more than --max-memory"
        in vwlite("recommend", "-i", model, "--of", "item", "--max-memory", "0.0001", status=2).stderr
    )
