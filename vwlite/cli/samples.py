"""``vwlite samples``: the small data files that the pages use, the same lines every time."""

import bz2
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import click

from vwlite.cli.root import SETTINGS
from vwlite.errors import OutputError
from vwlite.storage.atomic_file import atomic_output, output_error

CITIES, TOPICS = ("london", "paris", "rome", "oslo"), ("sport", "music", "books")
ANIMALS = {"cat": ("purr", "whiskers"), "dog": ("bark", "leash"), "bird": ("wings", "beak")}
SUBJECTS = {
    "space": ("orbit", "rocket", "moon", "launch"),
    "cars": ("engine", "brakes", "road", "wheel"),
    "food": ("bread", "salt", "oven", "spoon"),
}
COMMON = ("the", "of", "and", "today", "small", "new", "again")
SENTENCES = (
    ("the/DT/B-NP dog/NN/I-NP barks/VB/B-VP", "a/DT/B-NP small/JJ/I-NP cat/NN/I-NP sleeps/VB/B-VP"),
    ("in/IN/B-PP the/DT/B-NP garden/NN/I-NP", "on/IN/B-PP a/DT/B-NP chair/NN/I-NP", "today/NN/B-NP"),
)


def pick(draw: Random, values: Sequence[Any]) -> Any:
    """Draw one of ``values``; Random.random() alone is the same in every Python."""
    return values[int(draw.random() * len(values))]


def clicks(draw: Random, n: int) -> Iterator[str]:
    """Clicks: users of a city like one topic; the age matters a little."""
    for i in range(n):
        city, topic, age = pick(draw, CITIES), pick(draw, TOPICS), int(18 + 60 * draw.random())
        likes = CITIES.index(city) % len(TOPICS) == TOPICS.index(topic)
        label = 1 if draw.random() < (0.7 if likes else 0.15) + (age - 48) / 300 else -1
        yield f"{label} 'view-{i} |user {city} age:{age / 100:.2f} |ad {topic}"


def houses(draw: Random, n: int, wrong: float = 0.0) -> Iterator[str]:
    """Prices by size and distance, of which the share ``wrong`` is far off."""
    for _ in range(n):
        size, far = 0.3 + 1.7 * draw.random(), 2 * draw.random()
        price = 1 + 1.5 * size - 0.4 * far + 0.3 * (draw.random() - 0.5)
        if draw.random() < wrong:
            price *= 20
        yield f"{price:.2f} |house size:{size:.3f} distance:{far:.3f}"


def words(draw: Random, own: Sequence[str], n: int = 3) -> str:
    return " ".join([*(pick(draw, own) for _ in range(n)), *(pick(draw, COMMON) for _ in range(n))])


def pets(draw: Random, n: int) -> Iterator[str]:
    for _ in range(n):
        label = pick(draw, tuple(ANIMALS))
        yield f"{label} |words {words(draw, ANIMALS[label], 1)}"


def costs(draw: Random, n: int) -> Iterator[str]:
    """Labels of four classes with costs: the best one costs nothing."""
    for _ in range(n):
        best = 1 + int(4 * draw.random())
        yield " ".join(f"{k}:{abs(k - best)}" for k in range(1, 5)) + f" |words {words(draw, (f'w{best}',), 1)}"


def tags(draw: Random, n: int) -> Iterator[str]:
    """Sets of labels: each of five tags has a word."""
    for _ in range(n):
        held = [k for k in range(5) if draw.random() < 0.4]
        yield ",".join(map(str, held)) + " |words " + " ".join([*(f"w{k}" for k in held), pick(draw, COMMON)])


def choices(draw: Random, n: int) -> Iterator[str]:
    """Groups of lines: what a person takes at a time of day costs 0, the other 1."""
    for _ in range(n):
        time = pick(draw, ("morning", "evening"))
        coffee = int((time == "morning") == (draw.random() < 0.1))
        yield f"shared |user {time}\n1:{coffee} |item coffee price:0.2\n2:{1 - coffee} |item tea price:0.15\n"


def ratings(draw: Random, n: int) -> Iterator[str]:
    """Ratings 1 to 5: 20 users and 15 items have two tastes each, and agree or not."""
    first = Random(0)  # tastes are the same in every file
    tastes = [[first.random() - 0.5 for _ in range(2)] for _ in range(35)]
    for _ in range(n):
        u, i = int(20 * draw.random()), 20 + int(15 * draw.random())
        score = 3 + 6 * sum(a * b for a, b in zip(tastes[u], tastes[i], strict=True)) + draw.random() - 0.5
        yield f"{min(max(round(score), 1), 5)} |user u{u} |item i{i - 20}"


def queries(draw: Random, n: int) -> Iterator[str]:
    """Lines of SVMlight's format: ten documents a query, fewer relevant to some queries than to others."""
    for i in range(n):
        if i % 10 == 0:
            hard = draw.random()
        match, fresh, noise = draw.random(), draw.random(), draw.random()
        grade = int(match + 0.3 * fresh + 0.2 * noise > 0.5 + 0.6 * hard)
        yield f"{grade} qid:{i // 10 + 1} 1:{match:.3f} 2:{fresh:.3f} 3:{draw.random():.3f} 4:{hard:.3f}"


def articles(draw: Random, n: int, labelled: bool = True) -> Iterator[str]:
    """Texts of a subject, whose words are many: moon0 to moon9, orbit0 to orbit9, ..."""
    for _ in range(n):
        subject = pick(draw, tuple(SUBJECTS))
        own = [f"{pick(draw, SUBJECTS[subject])}{int(10 * draw.random())}" for _ in range(6)]
        yield (subject if labelled else "") + f" |words {' '.join(own)} {words(draw, COMMON)}"


def friends(draw: Random, n: int) -> Iterator[str]:
    """People who know each other, and how well: three of the own club, one of any."""
    for i in range(n):
        club = [i % 3 + 3 * int(n / 3 * draw.random()) for _ in range(3)]
        known = " ".join(f"p{other}:{0.5 + draw.random():.2f}" for other in [*club, int(n * draw.random())])
        yield f"p{i} |knows {known}"


def columns(draw: Random, n: int) -> Iterator[str]:
    """CoNLL columns: word, part of speech, chunk; an empty line ends a sentence."""
    for _ in range(n):
        yield "\n".join(pick(draw, part) for part in SENTENCES).replace(" ", "\n").replace("/", " ") + "\n"


def click_rows(n: int, seed: int) -> Iterator[dict[str, str]]:
    """The clicks of that seed, by column."""
    for line in clicks(Random(seed), n):
        label, tag, _, city, age, _, topic = line.split(" ")
        yield {"click": label, "view": tag[1:], "city": city, "age": age.partition(":")[2], "topic": topic}


def click_table(n: int, seed: int) -> Iterator[str]:
    yield "click,view,city,age,topic"
    yield from (",".join(row.values()) for row in click_rows(n, seed))


def click_objects(n: int, seed: int) -> Iterator[str]:
    for row in click_rows(n, seed):
        user = {"city": row["city"], "age": float(row["age"])}
        yield json.dumps({"click": int(row["click"]), "view": row["view"], "user": user, "ad": [row["topic"]]})


INPUTS = ("sun", "warmth", "rain", "price", "rival", *(f"event{number}" for number in range(9)))


def shops(draw: Random, n: int) -> Iterator[str]:
    """Sales of 40 shops: what weather and prices do differs by shop, in two ways."""
    for _ in range(n):
        shop = draw.randrange(40)
        own = Random(shop)
        sun, price, level = own.gauss(0, 1), own.gauss(0, 1), own.gauss(5, 1)
        x = {name: round(draw.gauss(0, 1), 2) for name in INPUTS}
        sales = level + sun * (x["sun"] + x["warmth"] - x["rain"]) + price * (x["rival"] - x["price"])
        yield f"{sales + draw.gauss(0, 0.3):.2f} |shop s{shop} |x {' '.join(f'{name}:{v:g}' for name, v in x.items())}"


DAYTIMES, DRINKS = ("morning", "noon", "evening"), ("coffee", "tea", "juice")
CHANCES = (0.5, 0.25, 0.25)  # of the actions, the favourite first


def draw_offer(draw: Random) -> tuple[str, int, str]:
    """A daytime, the drink that was offered then, and cost and probability: one drink of each daytime sells well."""
    time = pick(draw, DAYTIMES)
    favourite, place = int(3 * draw.random()), int(4 * draw.random()) // 2 * (1 + int(2 * draw.random()))
    drink = (favourite + place) % 3
    cost = int(draw.random() > (0.8 if drink == DAYTIMES.index(time) else 0.2))
    return time, drink, f"{cost}:{CHANCES[place]}"


def decisions(draw: Random, n: int) -> Iterator[str]:
    """Write which of three drinks was offered, whether nobody bought it (its cost), and how likely the offer was."""
    for _ in range(n):
        time, drink, seen = draw_offer(draw)
        yield f"{drink + 1}:{seen} |user {time} age:{draw.random():.1f}"


def offers(draw: Random, n: int) -> Iterator[str]:
    """The same, a line for every drink."""
    for _ in range(n):
        time, drink, seen = draw_offer(draw)
        yield f"shared |user {time}"
        for place, name in enumerate(DRINKS):
            label = f"{place}:{seen} " if place == drink else ""
            yield f"{label}|item {name} price:{0.1 * (1 + int(3 * draw.random())):.1f}"
        yield ""


FILES: dict[str, tuple[Callable[[Random, int], Iterator[str]], int]] = {
    **{"clicks.vw": (clicks, 2000), "clicks-test.vw": (clicks, 500)},
    **{f"days/{day}": (clicks, 500) for day in ("monday.vw.gz", "tuesday.vw.bz2", "wednesday.vw")},
    **{"houses.vw": (lambda draw, n: houses(draw, n, 0.05), 2000), "houses-test.vw": (houses, 500)},
    **{"pets.vw": (pets, 300), "costs.vw": (costs, 400), "tags.vw": (tags, 400), "choices.vw": (choices, 300)},
    **{"ratings.vw": (ratings, 3000), "ratings-test.vw": (ratings, 500)},
    **{"queries.txt": (queries, 1000), "queries-test.txt": (queries, 300)},
    **{"labeled.vw": (articles, 12), "articles-test.vw": (articles, 200)},
    "unlabeled.vw": (lambda draw, n: articles(draw, n, False), 2000),
    **{"chunks.txt": (columns, 200), "chunks-test.txt": (columns, 50)},
    "clicks.csv": (lambda draw, n: click_table(n, 0), 2000),
    "clicks-test.csv": (lambda draw, n: click_table(n, 1), 500),
    "clicks.jsonl": (lambda draw, n: click_objects(n, 0), 2000),
    "clicks-test.jsonl": (lambda draw, n: click_objects(n, 1), 500),
    "friends.vw": (friends, 300),
    **{"tasks.vw": (shops, 600), "tasks-test.vw": (shops, 200)},
    **{"decisions.vw": (decisions, 1000), "decisions-test.vw": (decisions, 1000), "offers.vw": (offers, 500)},
}
OF_SYSTEM = 9  # the byte of gzip's header that names the system, which versions of Python fill in differently
UNKNOWN = 255


def gzip_text(text: bytes) -> bytes:
    data = bytearray(gzip.compress(text, mtime=0))
    data[OF_SYSTEM] = UNKNOWN
    return bytes(data)


COMPRESSED = {".gz": gzip_text, ".bz2": bz2.compress}


def make_files() -> Iterator[tuple[str, bytes]]:
    """Names and bytes of all files; X.vw and X-test.vw are drawn from the same distribution."""
    for i, (name, (lines, n)) in enumerate(FILES.items()):
        text = "".join(f"{line}\n" for line in lines(Random(i), n)).encode()
        yield name, COMPRESSED.get(Path(name).suffix, bytes)(text)


def write(folder: str) -> None:
    """Write the files that are not there yet.

    Raises OutputError, before it writes anything, where one of their names is taken by another file.
    """
    files = {Path(folder, name): content for name, content in make_files()}
    missing = [path for path, content in files.items() if not is_there(path, content)]
    for path in missing:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise output_error(str(path.parent), error) from None
        with atomic_output(str(path)) as file:
            file.write(files[path])


def is_there(path: Path, content: bytes) -> bool:
    """Whether the file is there already. Raises OutputError for another one of its name."""
    try:
        if path.read_bytes() == content:
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise output_error(str(path), error) from None
    raise OutputError(f"{path} exists and is not a sample file: name another folder ('vwlite samples FOLDER')")


@click.command("samples", context_settings=SETTINGS, short_help="Write the data files of the manual's pages.")
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def command(folder: str) -> None:
    """Write the small data files that the manual's pages use into a folder, the current one if none is named.

    \b
    vwlite samples
    vwlite samples try

    They are made up: clicks, prices of houses, ratings, queries, texts with and without labels, sentences. The lines
    are the same every time. A file that has one of their names, but holds something else, is never overwritten.
    """
    write(folder)
    click.echo(f"vwlite: the data files of the pages are in {folder}", err=True)
