"""The two examples about ratings: the converter reads what GroupLens publishes, the table shows what it promises."""

import gzip
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FIGURES = {"model", "k", "quantile_loss", "mae", "rmse", "seconds"}
ML1M = "1::1193::5::978300760\n2::661::3::978302109\n"
PLAIN = "5 |u 1 |i 1193\n3 |u 2 |i 661\n"


@pytest.fixture
def convert(tmp_path):
    """Runs movielens_to_vw.py in ``tmp_path``."""

    def run(*arguments, stdin=b"", status=0):
        command = [sys.executable, EXAMPLES / "movielens_to_vw.py", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, cwd=tmp_path)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def table(tmp_path, cli_env, commands):
    """Runs movielens.sh in ``tmp_path``."""

    def run(*arguments, status=0, **environment):
        command = ["sh", EXAMPLES / "movielens.sh", *map(str, arguments)]
        settings = {**cli_env, "PYTHON": str(commands / "python"), **environment}
        done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=settings, text=True)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.mark.parametrize(
    "text",
    [
        ML1M,
        "1::1193::5\n2::661::3\n",
        "1\t1193\t5\t978300760\n2\t661\t3\t978302109\n",
        "userId,movieId,rating,timestamp\n1,1193,5,978300760\r\n2,661,3,978302109\n",
        "\ufeffuserId,movieId,rating\n1,1193,5\n2,661,3",
        '"User-ID";"ISBN";"Book-Rating"\n"1";"1193";"5"\n"2";"661";"3"\n',
        "1 1193 5\n\n2 661 3\n",
    ],
    ids=["ml-1m", "no times", "ml-100k", "ml-20m", "byte order mark", "quotes", "blanks"],
)
def test_every_format_gives_the_same_lines(convert, text):
    assert convert("-", stdin=text.encode()).stdout == PLAIN


def test_columns_and_separator_can_be_given(convert):
    assert convert("-", "--separator", "/", "--columns", "3,1,2", stdin=b"1193/5/1\n661/3/2\n").stdout == PLAIN


@pytest.mark.parametrize("packed", [False, True])
def test_files_are_read_gzipped_or_not_and_keep_their_order(convert, tmp_path, packed):
    content = ML1M.encode()
    (tmp_path / "ratings.dat").write_bytes(gzip.compress(content) if packed else content)
    convert("ratings.dat", "out.vw")
    assert (tmp_path / "out.vw").read_text() == PLAIN


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("2::661::three::9", "'three'"),
        ("2::661::nan::9", "'nan'"),
        ("2::661::3", "3 fields where the first line has 4"),
        ("2::661", "2 fields"),
        ("2:x::661::3::9", "'2:x'"),
        ("::661::3::9", "''"),
        ("2::6 61::3::9", "'6 61'"),
    ],
)
def test_malformed_lines_are_refused_with_their_place(convert, tmp_path, second, said):
    (tmp_path / "ratings.dat").write_text(f"1::1193::5::9\n{second}\n")
    done = convert("ratings.dat", "out.vw", status=1)
    assert done.stderr.startswith("movielens_to_vw.py: ratings.dat:2: ")
    assert said in done.stderr
    assert not (tmp_path / "out.vw").exists()


def test_a_first_line_that_is_no_header_is_refused_too(convert):
    assert "standard input:1: the rating is 'x'" in convert("-", stdin=b"1::2::x\n", status=1).stderr


def test_truncated_gzip_is_one_sentence(convert, tmp_path):
    (tmp_path / "ratings.dat.gz").write_bytes(gzip.compress(ML1M.encode() * 99)[:-20])
    assert convert("ratings.dat.gz", "out.vw", status=1).stderr.startswith("movielens_to_vw.py: ")
    assert not (tmp_path / "out.vw").exists()


def test_split_goes_by_the_number_of_the_rating(convert, tmp_path):
    (tmp_path / "ratings").write_text("".join(f"1::{number}::3\n" for number in range(1, 2001)))
    convert("ratings", "train.vw", "test.vw", "--split", "10")
    held_out = [number for number in range(1, 2001) if number * 2654435761 % 2**32 < 0.1 * 2**32]
    assert (tmp_path / "test.vw").read_text() == "".join(f"3 |u 1 |i {number}\n" for number in held_out)
    learned = [int(line.rpartition(" ")[2]) for line in (tmp_path / "train.vw").read_text().splitlines()]
    assert learned != sorted(learned)
    assert sorted(learned + held_out) == list(range(1, 2001))


def test_seed_decides_the_order(convert):
    text = "".join(f"1::{number}::3\n" for number in range(50)).encode()
    one, again, two, none = (
        convert("-", *options, stdin=text).stdout.splitlines()
        for options in (("--seed", 1), ("--seed", 1), ("--seed", 2), ("--seed", 1, "--no-shuffle"))
    )
    assert one == again != two != none
    assert sorted(one) == sorted(two) == sorted(none)


@pytest.mark.parametrize(
    ("users", "items"),
    [
        ("1::F::1::10::48067\n2::M::36::16::70072\n", "1193::Caf\xe9: One (1975)::Drama|Film-Noir\n"),
        ("1|13|F|10|85711\n2|44|M|16|94043\n", "1193|One, Two|1975||url" + "|0" * 8 + "|1|0|1" + "|0" * 8 + "\n"),
        ("1::F::1::10::48067\n2::M::36::16::70072\n", 'movieId,title,genres\n1193,"One, Two",Drama|Film-Noir\n'),
    ],
    ids=["ml-1m", "ml-100k", "ml-20m"],
)
def test_side_information_becomes_features(convert, tmp_path, users, items):
    (tmp_path / "users").write_text(users)
    (tmp_path / "items").write_text(items, encoding="latin-1")
    done = convert("-", "--users", "users", "--items", "items", stdin=ML1M.encode())
    assert done.stdout == (
        "5 |u 1 age=1 sex=F occupation=10 |i 1193 genre=Drama genre=Film-Noir\n"
        "3 |u 2 age=35 sex=M occupation=16 |i 661\n"
    )


def test_side_information_of_something_else_is_refused(convert, tmp_path):
    (tmp_path / "users").write_text("1::F::1::10::48067\n2,what\n")
    (tmp_path / "others").write_text("7::F::1::10::48067\n")
    assert "users:2: " in convert("-", "--users", "users", stdin=ML1M.encode(), status=1).stderr
    assert "others: knows nothing" in convert("-", "--users", "others", stdin=ML1M.encode(), status=1).stderr


@pytest.mark.parametrize(
    "arguments",
    [("a", "b", "c"), ("a", "b", "--split", "10"), ("a", "b", "c", "--split", "0"), ("a", "a"), ("-", "b", "b")],
)
def test_arguments_that_do_not_fit_are_refused(convert, tmp_path, arguments):
    (tmp_path / "a").write_text(ML1M)
    assert "usage: " in convert(*arguments, status=2).stderr
    assert (tmp_path / "a").read_text() == ML1M


def rank_two_ratings(count):
    """Lines of ratings by users and items with two hidden traits each, rounded to quarters."""
    draw = random.Random(7)
    users, items = ([(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(60)] for _ in range(2))
    for _ in range(count):
        user, item = draw.randrange(60), draw.randrange(60)
        rating = 3 + sum(a * b for a, b in zip(users[user], items[item], strict=True)) + draw.gauss(0, 0.1)
        yield f"{round(4 * rating) / 4} |u {user} |i {item}\n"


@pytest.fixture
def hidden(tmp_path):
    """train.vw and test.vw of ``rank_two_ratings``."""
    lines = list(rank_two_ratings(5000))
    (tmp_path / "train.vw").write_text("".join(lines[:4000]))
    (tmp_path / "test.vw").write_text("".join(lines[4000:]))
    return tmp_path


def test_table_finds_hidden_traits(table, hidden):
    done = table("train.vw", "test.vw", "--json", "out.json", 2, 1)
    rows = json.loads((hidden / "out.json").read_text())["rows"]
    assert [(row["model"], row["k"]) for row in rows] == [
        ("constant", None),
        ("linear", None),
        ("dyadic", 2),
        ("dyadic", 1),
    ]
    assert all(set(row) == FIGURES for row in rows)
    assert [row["quantile_loss"] for row in rows] == pytest.approx([row["mae"] / 2 for row in rows])
    assert all(row["mae"] < row["rmse"] < 5 and row["seconds"] > 0 for row in rows)
    constant, linear, two, one = (row["quantile_loss"] for row in rows)
    assert two < 0.6 * one and one < 0.9 * linear and linear < 1.1 * constant
    words = [line.split() for line in done.stdout.splitlines()]
    assert words[0] == ["model", "k", "quantile", "loss", "MAE", "RMSE", "seconds"]
    assert [line[0] for line in words[1:]] == ["constant", "linear", "dyadic", "dyadic"]
    assert float(words[3][2]) == pytest.approx(two, abs=5e-5)
    assert len(re.findall(r"^\$ vwlite train .*--dotproduct u,i --rank \d", done.stderr, re.M)) == 2
    assert {path.name for path in hidden.iterdir()} == {"train.vw", "test.vw", "out.json"}


def test_table_takes_the_weighted_median_as_the_constant(table, tmp_path):
    (tmp_path / "train.vw").write_text("1 |u 1 |i 1\n2 |u 1 |i 2\n4 3.0 'tag|u 2 |i 2\n'unlabelled |u 1 |i 1\n")
    (tmp_path / "test.vw").write_text("1 3 |u 1 |i 1\n4 |u 1 |i 2\n")
    done = table("train.vw", "test.vw", 1, "--json", "-", "--passes", 2)
    constant = json.loads(done.stdout)["rows"][0]
    assert (constant["mae"], constant["quantile_loss"]) == (9 / 4, 9 / 8)
    assert constant["rmse"] == pytest.approx((27 / 4) ** 0.5)


def test_table_of_levels(table, tmp_path):
    lines = list(rank_two_ratings(4000))
    whole = [re.sub(r"^\S+", lambda found: str(min(max(round(float(found[0])), 1), 5)), line) for line in lines]
    (tmp_path / "train.vw").write_text("".join(whole[:3000]))
    (tmp_path / "test.vw").write_text("".join(whole[3000:]))
    done = table("train.vw", "test.vw", 2, "--levels", "--json", "out.json", "--passes", 10)
    constant, linear, dyadic, flat, labels = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["model"] for row in (constant, linear, dyadic, flat, labels)] == [
        "constant", "linear", "dyadic", "labels", "labels",
    ]
    assert dyadic["levels_loss"] < linear["levels_loss"] and labels["error"] < flat["error"] < 1
    assert labels["log_loss"] < flat["log_loss"] and labels["mae"] == 2 * labels["levels_loss"]
    assert len(labels["reliability"]) == 50 and {row["class"] for row in labels["reliability"]} == {*"12345"}
    words = done.stdout.splitlines()
    assert words[0].split()[-6:] == ["on", "levels", "error", "log", "loss", "ECE"]
    assert float(words[5].split()[-1]) == pytest.approx(labels["ece"], abs=5e-5)
    (tmp_path / "train.vw").write_text("".join(lines[:3000]))
    assert "whole numbers as ratings" in table("train.vw", "test.vw", "--levels", status=1).stderr
    assert "--libmf needs --levels" in table("train.vw", "test.vw", "--libmf", "python3", status=2).stderr


@pytest.mark.parametrize(
    ("names", "options"),
    [("reader book", ()), ("reader book", ("--pair", "rb")), ("x u i", ("--pair", "x,i")), ("x u i", ())],
)
def test_table_works_on_other_namespaces(table, tmp_path, names, options):
    line = "3" + "".join(f" |{name} 1" for name in names.split()) + "\n"
    for file in ("train.vw", "test.vw"):
        (tmp_path / file).write_text(line * 20)
    done = table("train.vw", "test.vw", 1, *options)
    pair = options[-1] if options else {"reader book": "reader,book", "x u i": "u,i"}[names]
    assert f"--dotproduct {pair} --rank 1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("train.vw",), 2, "expected two files"),
        (("train.vw", "nosuch.vw"), 2, "nosuch.vw is not a file"),
        (("train.vw", "test.vw", "--json", "nosuch/out.json"), 2, "its folder does not exist"),
        (("train.vw", "test.vw", "--json", "test.vw"), 2, "would be overwritten"),
        (("train.vw", "test.vw", "--pair", "u,film"), 1, "train.vw has no namespaces u,film"),
        (("empty.vw", "test.vw", "--pair", "u,i"), 1, "empty.vw has no namespaces u,i"),
        (("unlabelled.vw", "test.vw"), 1, "no labelled line"),
    ],
)
def test_table_says_what_is_missing(table, hidden, arguments, status, said):
    (hidden / "empty.vw").touch()
    (hidden / "unlabelled.vw").write_text("|u 1 |i 1\n")
    before = (hidden / "test.vw").read_bytes()
    assert said in " ".join(table(*arguments, status=status).stderr.split())
    assert (hidden / "test.vw").read_bytes() == before


def test_table_of_movielens_100k(convert, table, data_dir, tmp_path):
    folder = data_dir / "ml-100k"
    side = ("--users", folder / "u.user", "--items", folder / "u.item")
    for part, name in (("base", "train"), ("test", "test")):
        convert(folder / f"u1.{part}.gz", f"{name}.vw", *side)
    table("train.vw", "test.vw", 5, "--json", "out.json")
    constant, linear, dyadic = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert constant["quantile_loss"] == pytest.approx(0.4549, abs=1e-4)
    assert linear["quantile_loss"] < 0.375
    assert dyadic["quantile_loss"] < 0.362
    assert dyadic["rmse"] < 0.94


@pytest.mark.skipif(not shutil.which("dash"), reason="no dash here to check the syntax with")
def test_table_is_plain_posix_shell():
    done = subprocess.run(["dash", "-n", EXAMPLES / "movielens.sh"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
