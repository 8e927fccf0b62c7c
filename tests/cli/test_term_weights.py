"""Values of terms: against their plain twin, and through training, caches, models and Python."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.term_weights import merged, weighted

import vwlite
from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.features.term_weights import terms_of
from vwlite.storage import model_file
from vwlite.training.model_loader import plan_of

ROWS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 7.5])), max_size=6),
    min_size=1,
    max_size=8,
)
LINES = "1 |w a a b\n-1 |w b c:3\n1 |w a d:0.5\n-1 |w c c c d\n"


def batch_of(rows):
    texts = (" ".join(f"{name}:{value}" for name, value in row) for row in rows)
    lines = [f"{(-1) ** number} |w {text}" for number, text in enumerate(texts)]
    return parse_text("\n".join(lines).encode(), text_format(FeatureConfig(), skip_malformed=True))


def pairs_of(terms, row):
    return zip(terms.indices[terms.row(row)].tolist(), terms.values[terms.row(row)].tolist(), strict=True)


@st.composite
def configs(draw):
    weight = draw(st.sampled_from(["none", "idf", "degree"]))
    return FeatureConfig(
        bits=draw(st.sampled_from([2, 18])),
        value=draw(st.sampled_from(["raw", "log", "binary"])),
        weight=weight,
        unit=weight != "degree" and draw(st.booleans()),
        min_df=draw(st.integers(1, 3)),
        quadratic=draw(st.sampled_from([(), ("ww",)])),
        noconstant=True,
    )


@given(configs(), ROWS, ROWS)
@settings(deadline=None)
def test_values_are_those_of_the_twin(config, learned, rows):
    plan = plan_of(config)
    if plan.weights is None:
        return
    batches = [batch_of(learned), batch_of(rows)]
    plain = [
        [merged(pairs_of(terms, row), config.value) for row in range(len(terms))]
        for terms in (terms_of(batch, Plan(config)) for batch in batches)
    ]
    if plan.weights.waiting:
        plan.weights.count(batches[0])
        plan.weights.settle()
    terms, degree = plan.weights.terms(batches[1])
    wanted, degrees = weighted(plain[1], plain[0], config)
    for number, row in enumerate(wanted):
        actual = dict(pairs_of(terms, number))
        assert actual == pytest.approx(row, rel=1e-5, abs=1e-7)
    if config.weight == "degree":
        assert degree.tolist() == pytest.approx(degrees, rel=1e-5)


@given(ROWS)
@settings(deadline=None)
def test_counts_do_not_depend_on_how_rows_are_batched(rows):
    config = FeatureConfig(weight="idf", min_df=1)
    whole, parts = plan_of(config), plan_of(config)
    whole.weights.count(batch_of(rows))
    for row in rows:
        parts.weights.count(batch_of([row]))
    for learner in (whole, parts):
        learner.weights.settle()
    assert whole.weights.examples == parts.weights.examples == len(rows)
    assert (whole.weights.factor == parts.weights.factor).all()


@pytest.fixture
def data(tmp_path):
    (tmp_path / "t.vw").write_text(LINES)
    return tmp_path


def test_a_model_applies_its_weights_to_new_text(data, run_here):
    """A row in whose words all training rows are alike is of length 0, whatever the weights."""
    (data / "all.vw").write_text("1 |w a b\n-1 |w a c\n")
    run_here("train", "all.vw", "-f", "m", "--weight", "idf", "--min_df", "1", "--noconstant", "--quiet")
    assert run_here("predict", "-i", "m", stdin="|w a:100\n|w b\n").stdout.split()[0] == "0"
    counts = model_file.load(data / "m").arrays
    assert counts["term_count"].tolist().count(2) == 1
    assert counts["term_examples"].tolist() == [2]
    before = counts["term_count"]
    run_here("train", "t.vw", "-i", "m", "-f", "m2", "--quiet")
    assert (model_file.load(data / "m2").arrays["term_count"] == before).all()


def test_degree_is_the_row_sum_of_the_kernel(data):
    config = FeatureConfig(weight="degree", noconstant=True)
    plan, batch = plan_of(config), parse_text(LINES.encode(), text_format(FeatureConfig(), skip_malformed=True))
    plan.weights.count(batch)
    plan.weights.settle()
    terms, degree = plan.weights.terms(batch)
    x = np.array([[2, 1, 0, 0], [0, 1, 3, 0], [1, 0, 0, 0.5], [0, 0, 3, 1]])
    assert degree.tolist() == pytest.approx((x @ x.T).sum(axis=1).tolist())
    weighted_batch, flat = plan.weights.apply(batch)
    assert weighted_batch.importance.tolist() == pytest.approx(degree.tolist())
    assert flat.flat
    assert len(terms) == 4


def test_python_makes_the_bytes_of_the_command(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--quiet", "--value", "log", "--weight", "idf", "--min_df", "1", "--unit")
    model = vwlite.Model(value="log", weight="idf", min_df=1, unit=True)
    model.learn(LINES)
    assert model.dumps() == (data / "m").read_bytes()


@pytest.mark.parametrize("weighing", ["--weight degree", "--weight idf --min_df 1", "--value log", "--unit"])
def test_combined_regression_and_ranking(weighing, data, run_here):
    options = (*weighing.split(), "--steps", "2000", "--loss_function", "logistic", "--quiet")
    run_here("crr", "t.vw", "-f", "m", *options)
    run_here("crr", "-f", "pipe", *options, stdin=LINES)
    assert (data / "m").read_bytes() == (data / "pipe").read_bytes()
    report = json.loads(run_here("evaluate", "-i", "m", "t.vw", "--metric", "auc", "--json", "-").stdout)
    assert report["auc"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--weight", "degree", "--unit"], "--unit undoes --weight degree"),
        (["--min_df", "2"], "--min_df does nothing without --weight"),
        (["--weight", "idf", "--lrq", "ab3"], "needs the namespaces"),
        (["--unit", "--dotproduct", "ab"], "do not go with --dotproduct"),
        (["--value", "logs"], "did you mean log?"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, said, data, run_here):
    done = run_here("train", "t.vw", *options, status=2)
    assert said in done.stderr


def test_negative_values_have_no_degree(data, run_here):
    done = run_here("train", "-f", "m", "--weight", "degree", stdin="1 |w a\n1 |w b:-1\n", status=65)
    assert "<stdin>:2: --weight degree needs values of 0 or more" in done.stderr
    assert not (data / "m").exists()


def test_explanations_add_up_to_the_predictions(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--unit", "--quiet")
    model = vwlite.load(data / "m")
    sums = [sum(term.product for term in terms) for terms in model.explain(LINES)]
    assert sums == pytest.approx(model.predict(LINES, raw=True).tolist(), rel=1e-5)


def test_damaged_counts_are_refused(data, run_here):
    run_here("train", "t.vw", "-f", "m", "--weight", "idf", "--quiet")
    model = model_file.load(data / "m")
    for name, value in (("term_slot", model.arrays["term_slot"][::-1]), ("term_count", -model.arrays["term_count"])):
        model_file.save(data / "bad", model.header, {**model.arrays, name: value})
        assert "counts of its terms" in run_here("predict", "-i", "bad", "t.vw", status=76).stderr


def test_shards_do_not_know_the_weights_of_all(data, run_here):
    done = run_here("train", "t.vw", "-f", "m", "--weight", "idf", "--shard", "1/2", status=2)
    assert "--weight is of all examples together" in done.stderr
    run_here("train", "t.vw", "-f", "m", "--weight", "idf", "--quiet")
    run_here("train", "t.vw", "-f", "m2", "--weight", "idf", "--quiet")
    assert "--weight is of all examples together" in run_here("merge", "m", "m2", "-f", "both", status=2).stderr


COUNTED = [["--weight", weight, "--min_df", "1"] for weight in ("idf", "degree")]


@pytest.mark.parametrize("options", [["--unit"], ["--value", "log"], *COUNTED], ids=" ".join)
def test_vw_weighs_the_terms_of_such_a_model(options, run_here, tmp_path):
    (tmp_path / "t.vw").write_text(LINES * 3)
    run_here("train", "t.vw", "-f", "m", "--label-units", "raw", *options)
    expected = run_here("predict", "-i", "m", "t.vw").stdout
    run_here("vw", "-t", "-i", "m", "-d", "t.vw", "-p", "p", "--quiet")
    assert (tmp_path / "p").read_text() == expected and len(set(expected.split())) > 2
    run_here("vw", "-i", "m", "-d", "t.vw", "-f", "m2", "--quiet")
    assert run_here("predict", "-i", "m2", "t.vw").stdout != expected
