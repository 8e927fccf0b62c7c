"""``vwlite train --trace X`` with ``--outputs`` or ``--multiclass``: a matrix of few directions, as commands."""

import json

import pytest

FIVE = ("--outputs", "5", "--trace", "0.01", "--rank", "3")


def rows(count=300):
    for n in range(count):
        a, b = n * 7 % 5, n * 11 % 7
        yield ",".join(f"{(j + 1) * a - (j % 3) * b}" for j in range(5)), f"'r{n} |w a:{a} |v b:{b} noise{n % 3}"


TEXT = "".join(f"{label} {rest}\n" for label, rest in rows())


NAMES = ("ant", "bee", "cow", "dog", "eel")
CLASSES = "".join(
    f"{NAMES[(a + 2 * b + (n % 9 == 0)) % 5]} 'r{n} |w a{a} |v b{b} noise{n % 3}\n"
    for n, a, b in ((n, n * 7 % 5, n * 11 % 3) for n in range(300))
)
FIVE_CLASSES = ("--multiclass", "5", "--named_labels", ",".join(NAMES), "--trace", "0.01", "--rank", "3")
KINDS = {"outputs": (TEXT, FIVE), "classes": (CLASSES, FIVE_CLASSES)}
either = pytest.mark.parametrize(("text", "kind"), KINDS.values(), ids=KINDS)


def inspected(vwlite, model):
    return json.loads(vwlite("inspect", model, "--top", "0", "--json", "-").stdout)


def test_outputs_lie_in_few_directions(vwlite, write):
    write("d", TEXT)
    rates = ("-l", "2", "--decay_learning_rate", "0.9")
    done = vwlite("train", "d", "-f", "m", *FIVE, "--passes", "30", "-c", "--holdout_off", *rates)
    assert "rank = 3\n" in done.stderr
    inspection = inspected(vwlite, "m")
    values = inspection["singular_values"]
    assert inspection["learner"] == "factored" and len(values) == 3 and values[2] < 0.15 * values[1]
    assert inspection["norms"]["trace"] == pytest.approx(sum(values))
    assert inspection["norms"]["2,1"] >= inspection["norms"]["frobenius"]
    assert "singular_values" in vwlite("inspect", "m").stdout
    report = json.loads(vwlite("evaluate", "-i", "m", "d", "--json", "-").stdout)
    assert report["r2"] > 0.98
    first = vwlite("predict", "-i", "m", "d").lines[1].split()
    assert len(first) == 6 and first[5] == "r1"


@pytest.mark.parametrize("loss", ["multinomial", "logistic"])
def test_classes_lie_in_few_directions(loss, vwlite, write):
    write("d", CLASSES)
    options = ("--loss_function", loss, "--passes", "20", "-c", "--holdout_off", "-q", "wv")
    done = vwlite("train", "d", "-f", "m", *FIVE_CLASSES, *options)
    assert "rank = 3\n" in done.stderr and f"average {loss} loss = " in done.stderr
    assert f"Enabled learners: factored, {loss}\n" in done.stderr
    inspection = inspected(vwlite, "m")
    assert inspection["learner"] == "factored_classes" and len(inspection["singular_values"]) == 3
    assert inspection["norms"]["trace"] == pytest.approx(sum(inspection["singular_values"]))
    assert json.loads(vwlite("evaluate", "-i", "m", "d", "--json", "-").stdout)["accuracy"] > 0.8
    assert vwlite("predict", "-i", "m", "d").lines[1].split()[1] == "r1"
    pairs = vwlite("predict", "-i", "m", "d", "--scores").lines[0].split()[:5]
    assert [pair.split(":")[0] for pair in pairs] == [*NAMES]


def test_probabilities_shares_and_smoothing(vwlite, write):
    write("d", CLASSES)
    vwlite("train", "d", "-f", "m", *FIVE_CLASSES, "--probabilities", "--smoothing", "0.1", "--quiet")
    pairs = vwlite("predict", "-i", "m", "d").lines[0].split()[:5]
    assert sum(float(pair.split(":")[1]) for pair in pairs) == pytest.approx(1, abs=1e-5)
    write("s", "ant:0.7 bee:0.3 |w a\ncow |w b\n" * 20)
    vwlite("train", "s", "-f", "m", *FIVE_CLASSES, "--label_shares", "--quiet")
    assert vwlite("predict", "-i", "m", "s").lines[:2] == ["ant", "cow"]


def test_each_output_has_its_own_quantile(vwlite, write):
    write("d", "".join(f"{n % 10},{n % 10},{n % 10} |w x\n" for n in range(500)))
    quantiles = ("--loss_function", "quantile", "--quantile_tau", "0.1,0.5,0.9", "--monotone")
    rates = ("-l", "1", "--decay_learning_rate", "0.8", "--holdout_off", "-c", "--passes", "20", "--quiet")
    vwlite("train", "d", "-f", "m", "--outputs", "3", "--trace", "1e-6", *quantiles, *rates)
    low, middle, high = map(float, vwlite("predict", "-i", "m", "d").lines[0].split())
    assert 0 <= low <= 2 < 3 <= middle <= 6 < 7 <= high <= 9


@either
def test_a_larger_price_leaves_shorter_weights(text, kind, vwlite, write):
    write("d", text)
    actual = []
    for price in ("0.001", "1", "30"):
        vwlite("train", "d", "-f", "m", *kind, "--trace", price, "--rank", "5", "--passes", "10", "-c", "--quiet")
        actual.append(inspected(vwlite, "m")["norms"]["trace"])
    assert actual == sorted(actual, reverse=True) and actual[2] < 0.5 * actual[0]


def test_names_missing_labels_interactions_and_losses(vwlite, write):
    write("d", TEXT.replace("0,0,", "0,,", 20))
    named = ("--named_outputs", "p,q,r,s,t", "-q", "wv", "--loss_function", "quantile", "--quiet", "-f", "m")
    vwlite("train", "d", *FIVE, *named)
    answer = json.loads(vwlite("predict", "-i", "m", "d", "--jsonl").lines[0])
    assert [*answer["prediction"]] == [*"pqrst"]


@either
@pytest.mark.parametrize("more", ["", "--decay_learning_rate 0.8 --random_seed 3", "-q wv"])
def test_going_on_is_exact_and_what_predicts_alone_predicts_the_same(text, kind, more, vwlite, write, tmp_path):
    lines = text.splitlines(keepends=True)
    write("whole", text)
    write("one", "".join(lines[:111]))
    write("two", "".join(lines[111:]))
    options = (*kind, *more.split(), "--quiet")
    vwlite("train", "whole", "-f", "m", *options)
    vwlite("train", "whole", "-f", "p", "--predict_only_model", *options)
    if "decay" not in more:
        vwlite("train", "one", "-f", "n", *options)
        vwlite("train", "two", "-i", "n", "-f", "n", "--quiet")
        assert vwlite("predict", "-i", "m", "whole").stdout == vwlite("predict", "-i", "n", "whole").stdout
        assert inspected(vwlite, "m")["singular_values"] == inspected(vwlite, "n")["singular_values"]
    assert vwlite("predict", "-i", "m", "whole").stdout == vwlite("predict", "-i", "p", "whole").stdout
    assert (tmp_path / "p").stat().st_size < (tmp_path / "m").stat().st_size


@either
def test_the_seed_says_where_outputs_begin(text, kind, vwlite, write, tmp_path):
    write("d", text)
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        vwlite("train", "d", "-f", name, *kind, "--random_seed", seed, "--quiet")
    first, same, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == same != other


@pytest.mark.parametrize("name", KINDS)
def test_a_rank_above_the_number_of_outputs_is_that_and_said(name, vwlite, write):
    text, kind = KINDS[name]
    write("d", text)
    done = vwlite("train", "d", "-f", "m", *kind, "--rank", "40")
    assert f"rank = 5, the number of {name}\n" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--trace 1", "--trace needs --outputs or --multiclass\n"),
        ("--oaa 5 --trace 1", "--trace needs --outputs or --multiclass\n"),
        ("--outputs 1 --trace 1", "it needs --outputs 2 or more"),
        ("--outputs 5 --trace -1", "--trace takes a number above 0, not -1"),
        ("--outputs 5 --trace 1 --rank 0", "--rank takes"),
        ("--outputs 5 --trace 1 --l2 0.1", "--l2 does not go with --trace"),
        ("--outputs 5 --trace 1 --shared_rates", "--shared_rates does not go with --trace"),
        ("--outputs 5 --trace 1 --group_l1 1", "--group_l1 needs --multiclass"),
        ("--outputs 5 --trace 1 --dotproduct wv", "do not go together"),
        ("--multiclass 5 --outputs 5 --trace 1", "do not go together"),
        ("--multiclass 1 --trace 1", "it needs --multiclass 2 or more"),
        ("--multiclass 5 --trace 1 --loss_function crammer_singer", "takes --loss_function multinomial or logistic"),
        ("--multiclass 5 --trace 1 --l2 0.1", "--l2 does not go with --multiclass"),
        ("--multiclass 5 --trace 1 --average", "--average do not go together"),
        ("--multiclass 5 --trace 1 --group_l1 1", "--group_l1 does not go with --trace"),
        ("--multiclass 5 --trace 1 --nn 4", "do not go together"),
        ("--multiclass 5 --trace 1 --bfgs --passes 2", "do not go together"),
        ("--multiclass 5 --trace 1 --dotproduct wv", "do not go together"),
        ("--multiclass 5 --trace 1 --readable_model t", "are not written"),
        ("--multiclass 5 --trace 1 --audit", "--audit"),
        ("--multiclass 5 --trace 1 --workers 2", "latent vectors from different starts do not average"),
        ("--multiclass 3 --trace 1 -b 2", "need more than the 4 slots"),
        ("--outputs 5 --trace 1 --average", "--average"),
        ("--outputs 5 --trace 1 --bfgs", "--"),
        ("--outputs 5 --trace 1 --readable_model t", "are not written"),
        ("--outputs 5 --trace 1 -b 2", "need more than the 4 slots"),
    ],
)
def test_wrong_options_are_refused(options, message, vwlite, write):
    write("d", TEXT)
    assert message in vwlite("train", "d", "-f", "m", *options.split(), status=2).stderr


@either
def test_price_and_rank_are_kept(text, kind, vwlite, write):
    write("d", text)
    vwlite("train", "d", "-f", "m", *kind, "--quiet")
    stderr = vwlite("train", "d", "-i", "m", "-f", "n", "--trace", "2", status=2).stderr
    assert "--trace 2 contradicts m" in stderr
    assert "--rank 2 contradicts m" in vwlite("train", "d", "-i", "m", "-f", "n", "--rank", "2", status=2).stderr
