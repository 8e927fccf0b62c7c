"""vwlite train --centred: features less their running means."""

import json
import random

import numpy as np
import pytest


def rows(count, seed, far=1.0):
    """Label, and features far from 0; of a third of the rows one is 0, which text leaves out."""
    draw, result = random.Random(seed), []
    for number in range(count):
        year, kelvin, rain = draw.uniform(1950, 2020), draw.gauss(290, 10), draw.choice((0, 3.5, 4))
        label = (year - 1985) / 20 + (kelvin - 290) / 20 + rain / 10 + draw.gauss(0, 0.3)
        result.append((label, far * (year - 1985) + 1985, kelvin, rain, number % 4))
    return result


def as_text(found):
    return "".join(
        f"{label:.5f} |f year:{year:.4f} kelvin:{kelvin:.4f}{f' rain:{rain}' if rain else ''} |c s{kind}\n"
        for label, year, kelvin, rain, kind in found
    )


@pytest.fixture(autouse=True)
def files(write):
    write("d.vw", as_text(rows(400, 1)))
    write("t.vw", as_text(rows(200, 2)))
    lines = as_text(rows(400, 1)).splitlines(keepends=True)
    write("d1.vw", "".join(lines[:150]))
    write("d2.vw", "".join(lines[150:]))


def rmse(vwlite, model, data="t.vw"):
    return json.loads(vwlite("evaluate", "-i", model, data, "--metric", "rmse", "--json", "-").stdout)["rmse"]


def test_offsets_do_not_matter_to_centred_features(vwlite):
    vwlite("train", "d.vw", "-f", "plain", "--quiet")
    vwlite("train", "d.vw", "-f", "m", "--centred", "f", "--quiet")
    assert rmse(vwlite, "m") < 0.4 < 1 < rmse(vwlite, "plain")


def test_centred_features_are_learned_as_values_less_their_mean(vwlite, write, tmp_path):
    """The centred values are written as text: less the mean of the rows so far, and nothing where that leaves 0."""
    actual, sums, lines = rows(400, 1), np.zeros(3), []
    texts = as_text(actual).splitlines()
    for number, text in enumerate(texts, 1):
        parts = dict(entry.split(":") for entry in text.split("|")[1].split()[1:])
        values = np.array([np.float32(parts.get(name, 0)) for name in ("year", "kelvin", "rain")], float)
        sums += values
        centred = np.float32(values - sums / number)
        message = " ".join(f"{n}:{float(v)!r}" for n, v in zip(("year", "kelvin", "rain"), centred, strict=True) if v)
        label, _, kind = text.split("|")
        lines.append(f"{label}|{kind} |f {message}\n")
    write("by-hand.vw", "".join(lines))
    vwlite("train", "d.vw", "--centred", "f", "-p", "one", "--quiet")
    vwlite("train", "by-hand.vw", "-p", "other", "--quiet")
    one, other = (np.loadtxt(tmp_path / name) for name in ("one", "other"))
    assert one == pytest.approx(other, abs=1e-3)


@pytest.mark.parametrize(
    "options", ["", "--loss_function logistic -q ff", "--average", "--oaa auto -q ::", "--nn 2", "--sgd -l 1e-4"]
)
def test_blocks_threads_caches_and_two_runs_give_the_bytes_of_one_run(options, vwlite, write, tmp_path):
    for name in ("d", "d1", "d2"):
        lines = (tmp_path / f"{name}.vw").read_text()
        if "logistic" in options or "auto" in options:
            parts = (line.partition("|f") for line in lines.splitlines())
            lines = "".join(f"{'-1' if label.startswith('-') else '1'} |f{rest}\n" for label, _, rest in parts)
        write(f"{name}.vw", lines)
    learn = ("--centred", "f", *options.split(), "--quiet", "-f")
    vwlite("train", "d.vw", *learn, "m", "-p", "p")
    for more in (("--block-size", "900", "--threads", "1"), ("--cache_file", "c"), ("--cache_file", "c")):
        vwlite("train", "d.vw", *learn, "other", "-p", "q", *more)
        assert (tmp_path / "other").read_bytes() == (tmp_path / "m").read_bytes()
        assert (tmp_path / "p").read_text() == (tmp_path / "q").read_text()
    vwlite("train", "d1.vw", *learn, "n")
    vwlite("train", "d2.vw", "-i", "n", "-f", "n", "--quiet")
    answers = vwlite("predict", "-i", "m", "d.vw", "d1.vw").lines
    assert vwlite("predict", "-i", "n", "d.vw", "d1.vw", "--block-size", "700").lines == answers
    assert answers[:150] == answers[400:]
    vwlite("train", "d.vw", *learn, "two", "--passes", "2", "--holdout_period", "5")
    vwlite("train", "d.vw", *learn, "again", "--passes", "2", "--holdout_period", "5", "--block-size", "500")
    assert (tmp_path / "two").read_bytes() == (tmp_path / "again").read_bytes()


def test_rows_that_are_not_learned_move_no_mean(vwlite, write):
    """Rows of no importance, and those held out; unlabelled ones do."""
    text = as_text(rows(60, 3)).splitlines(keepends=True)
    others = [f"1 0 {line[line.index('|') :]}".replace("year:1", "year:9") for line in text]
    write("a.vw", "".join(text))
    write("b.vw", "".join(map("".join, zip(text, others, strict=True))))
    for name in "ab":
        vwlite("train", f"{name}.vw", "--centred", "f", "-f", name, "--quiet")
    assert vwlite("predict", "-i", "a", "t.vw").lines == vwlite("predict", "-i", "b", "t.vw").lines


def test_tables_explanations_and_python_centre_alike(vwlite, write, tmp_path):
    from vwlite import Model

    header = "label,year,kelvin,rain\n"
    cells = (",".join(map(str, row[:4])) for row in rows(400, 1))
    write("d.csv", header + "".join(f"{row}\n" for row in cells))
    vwlite("train", "d.csv", "--columns", "label=label", "--centred", "_", "-f", "m", "--quiet", "--names")
    assert rmse(vwlite, "m", "d.csv") < 0.4
    stdout = vwlite("explain", "-i", "m", "d.csv", "--json", "-").stdout
    assert "kelvin" in stdout
    for example in json.loads(stdout)["examples"][:5]:
        total = sum(term["product"] for term in example["sums"][0]["terms"]) if "sums" in example else None
        assert total is None or total == pytest.approx(example["sums"][0]["value"], abs=1e-4)
    lines = (tmp_path / "d.vw").read_text().splitlines(keepends=True)
    model = Model(centred=("f",))
    for begin in range(0, 400, 7):
        model.learn(lines[begin : begin + 7])
    vwlite("train", "d.vw", "--centred", "f", "-f", "n", "--quiet")
    assert model.predict(lines[:9]).tolist() == Model.load(tmp_path / "n").predict(lines[:9]).tolist()
    assert Model.loads(model.dumps()).predict(lines[:9]).tolist() == model.predict(lines[:9]).tolist()


def test_several_outputs_learn_what_each_alone_does(vwlite, write, tmp_path):
    pairs = as_text(rows(400, 1)), as_text(rows(400, 3, far=2.0))
    labels = [[line.partition(" ")[0] for line in text.splitlines()] for text in pairs]
    lines = [line.partition(" ")[2] for line in pairs[0].splitlines()]
    learn = ("--centred", "f", "--quiet")
    write("two", "".join(f"{a},{b} {line}\n" for a, b, line in zip(*labels, lines, strict=True)))
    vwlite("train", "two", "-f", "m", "-b", "12", "--outputs", "2", "--no-shared_rates", *learn)
    both = [line.split() for line in vwlite("predict", "-i", "m", "two").lines]
    for output in range(2):
        write("one", "".join(f"{label} {line}\n" for label, line in zip(labels[output], lines, strict=True)))
        vwlite("train", "one", "-f", "n", "-b", "11", *learn)
        assert vwlite("predict", "-i", "n", "one").lines == [line[output] for line in both]


def test_networks_of_classes_learn_what_is_far_from_0(vwlite, write):
    write(
        "c",
        "".join(f"{1 + (line[0] != '-')} {line.partition(' ')[2]}\n" for line in as_text(rows(400, 1)).splitlines()),
    )
    actual = []
    for centred in ((), ("--centred", "f")):
        vwlite("train", "c", "-f", "m", "--multiclass", "2", "--nn", "4", "--passes", "5", "--quiet", *centred)
        report = vwlite("evaluate", "-i", "m", "c", "--metric", "accuracy", "--json", "-").stdout
        actual.append(json.loads(report)["accuracy"])
    assert actual[0] < 0.7 and actual[1] > 0.85


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--centred f --bfgs --passes 5", "--centred does not go with --bfgs"),
        ("--centred f --outputs 2 --trace 0.1", "--centred does not go with --outputs"),
        ("--centred f --dotproduct fc", "--centred does not go with --dotproduct"),
        ("--centred f --unit", "--centred does not go with --value, --weight and --unit"),
        ("--centred f --ngram 2", "--centred does not go with --ngram"),
        ("--centred f --workers 2", "--centred does not go with shards"),
    ],
)
def test_options_that_do_not_go_with_it_are_refused(options, message, vwlite):
    assert message in vwlite("train", "d.vw", "-f", "m", *options.split(), status=2).stderr


def test_it_is_settled_with_the_model(vwlite):
    vwlite("train", "d.vw", "-f", "m", "--centred", "f", "--quiet")
    assert "contradicts m" in vwlite("train", "d.vw", "-i", "m", "-f", "m", "--centred", "c", status=2).stderr
    vwlite("train", "d.vw", "-i", "m", "-f", "m", "--centred", "f", "--quiet")


def test_it_is_for_columns_of_numbers(vwlite, write):
    write("many.vw", "".join(f"1 |w a{n}\n" for n in range(5000)))
    stderr = vwlite("train", "many.vw", "--centred", "w", status=65).stderr
    assert "its namespaces have more than 4096 features: give words and names a namespace of their own" in stderr


def test_words_among_the_numbers_are_told_before_the_run_is_over(vwlite, write):
    cells = [(f"{n % 7}.5", f"c{n % 90}", f"j{n % 9}") for n in range(400)]
    write("w.vw", "".join(f"{n % 3} | age:{age} {city} {job}\n" for n, (age, city, job) in enumerate(cells)))
    write("w.csv", "y,age,my city,job\n" + "".join(f"{n % 3},{','.join(row)}\n" for n, row in enumerate(cells)))
    note = "note: --centred _: examples have 3 of 100 features, and each gets all of them, which takes long: "
    note += "give words and names a namespace of their own"
    done = vwlite("train", "w.csv", "--columns", "label=y", "--centred", "_", "-f", "m")
    assert done.stderr.count(f'{note}, as --columns text="my city",job does\n') == 1
    assert done.stderr.index(note) < done.stderr.index("finished run")
    apart = vwlite("train", "w.csv", "--columns", 'label=y text="my city",job', "--centred", "_", "-f", "m").stderr
    assert "takes long" not in apart
    assert f"{note}\n" in vwlite("train", "w.vw", "--centred", "_", "--passes", 2, "-f", "m").stderr
    assert "takes long" not in vwlite("train", "w.vw", "--centred", "_", "--quiet", "-f", "m").stderr


def test_columns_alone_are_learned_in_any_blocks(vwlite, write, tmp_path):
    """Rows that have all features, which are centred in place, and a few that lack one."""
    suns = [number % 7 + 1 if number % 40 else 0 for number in range(300)]
    lines = [
        f"{label:.5f} {1 + sun % 2} |f year:{year:.3f} kelvin:{kelvin:.3f} sun:{sun}\n"
        for sun, (label, year, kelvin, _, _) in zip(suns, rows(300, 1), strict=True)
    ]
    write("d.vw", "".join(lines))
    learn = ("train", "d.vw", "--centred", "f", "--quiet", "--passes", "3", "--holdout_period", "4", "--shuffle", "-f")
    vwlite(*learn, "m")
    for size in ("60", "700", "5000"):
        vwlite(*learn, "other", "--block-size", size)
        assert (tmp_path / "other").read_bytes() == (tmp_path / "m").read_bytes()
        answers = vwlite("predict", "-i", "m", "d.vw").lines
        assert vwlite("predict", "-i", "m", "d.vw", "--block-size", size).lines == answers
