"""Audits read as Vowpal Wabbit's; the expected lines are its own output."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from vwlite._native.format_terms import format_terms

from vwlite.data.batch import BLANK, SAVE
from vwlite.data.text_format import parse_text
from vwlite.features.config import FeatureConfig
from vwlite.features.feature_plan import Plan, text_format
from vwlite.learners.configs.gd import GdConfig
from vwlite.learners.gd import Gd
from vwlite.learners.losses import LossConfig
from vwlite.learners.row_results import Results
from vwlite.training.audit import Audit, audit_line, audit_text


def audit(text, features=None, config=None, learner=None, cached=False, learning=True):
    """The audit of a run over ``text``, as one string."""
    features = features or FeatureConfig()
    learner = learner or Gd(config or GdConfig(), features.bits, learning=learning, vw_compat=True)
    batch = parse_text(text, text_format(features, skip_malformed=False, names=not cached))
    plan, results, lines = Plan(features), Results(), []
    results.reserve(len(batch))
    plan.see(batch.namespace_char.tolist())
    for row in range(len(batch)):
        line_now = partial(audit_line, batch, plan, learner, row)
        items = {0: line_now()}
        learner.run(batch, plan, results, row, row + 1)
        if not batch.flags[row] & (BLANK | SAVE):
            lines.append(audit_text(batch, learner, results, row, items, line_now).decode())
    return "".join(lines)


ONE = b"1 |apple re:2 foo |b x:y z |\n1 t|apple re:2 :3 foo |b x:y z | anon q:v :5 |s\n"


@pytest.mark.parametrize(
    ("config", "features", "expected"),
    [
        (
            GdConfig(),
            FeatureConfig(),
            "0\n"
            "\tapple^re:101919:2:0@0\tapple^foo:45814:1:0@0\tb^x^y:32899:1:0@0"
            "\tb^z:124687:1:0@0\tConstant:116060:1:0@0\n"
            "0.673078 t\n"
            "\tapple^re:101919:2:0.0673078@16\tapple^foo:45814:1:0.134616@4"
            "\tb^x^y:32899:1:0.134616@4\tb^z:124687:1:0.134616@4\tConstant:116060:1:0.134616@4"
            "\tapple^:190608:3:0@0\tanon:145737:1:0@0\tq^v:223118:1:0@0\t:0:5:0@0\n",
        ),
        (
            GdConfig(sgd=True),
            FeatureConfig(quadratic=("ab",), ignore_linear=("b",)),
            "0\n"
            "\tapple^re:101919:2:0\tapple^foo:45814:1:0\tb^x^y:32899:1:0\tb^z:124687:1:0"
            "\tConstant:116060:1:0\tapple^re*b^x^y:145998:2:0\tapple^re*b^z:220610:2:0"
            "\tapple^foo*b^x^y:80321:1:0\tapple^foo*b^z:24141:1:0\n"
            "1 t\n"
            "\tapple^re:101919:2:28.2843\tapple^re*b^x^y:145998:2:28.2843"
            "\tapple^re*b^z:220610:2:28.2843\tapple^foo:45814:1:14.1421"
            "\tConstant:116060:1:14.1421\tapple^foo*b^x^y:80321:1:14.1421"
            "\tapple^foo*b^z:24141:1:14.1421\tapple^:190608:3:0\tb^x^y:32899:1:0\tb^z:124687:1:0"
            "\tanon:145737:1:0\tq^v:223118:1:0\t:0:5:0\tapple^*b^x^y:39475:3:0"
            "\tapple^*b^z:130495:3:0\n",
        ),
        (
            GdConfig(normalized=True),
            FeatureConfig(ignore=("b",)),
            "0\n\tapple^re:101919:2:0\tapple^foo:45814:1:0\tConstant:116060:1:0\n"
            "1 t\n\tapple^re:101919:2:3.33333\tapple^foo:45814:1:6.66667"
            "\tConstant:116060:1:6.66667\tapple^:190608:3:0\tanon:145737:1:0\tq^v:223118:1:0"
            "\t:0:5:0\n",
        ),
    ],
)
def test_audits_of_two_examples_are_those_of_vw(config, features, expected):
    assert audit(ONE, features, config) == expected


def test_weights_are_shown_after_the_shrinkage_they_are_due():
    config = GdConfig(sgd=True, learning_rate=0.05, l1=0.02, l2=0.01)
    expected = (
        "0\n\ta^x:55432:2:0\ta^y:42847:1:0\tConstant:116060:1:0\n"
        "0.140008\n\ta^y:42847:1:0.0700038\tConstant:116060:1:0.0700038\n"
    )
    assert audit(b"1 |a x:2 y\n0 |a y\n", config=config) == expected


def test_link_is_not_applied():
    config = GdConfig(loss=LossConfig("logistic"), link="logistic", initial_weight=0.3)
    assert audit(b"1 |a x\n", config=config).startswith("0.600000\n")


def test_prediction_is_clipped():
    config = GdConfig(min_prediction=-1, max_prediction=0.1, initial_weight=0.25)
    assert audit(b"1 |a x\n", config=config).startswith("0.100000\n")
    config = replace(config, min_prediction=2, max_prediction=3)
    assert audit(b"1 'tag |a x\n", config=config).startswith("2 tag\n")


def test_numbers_have_six_digits_and_the_largest_effect_comes_first():
    text = b"1 |a x |b y:1e-10 z:123456789 w:0.1 inf:1e30 v:-0.5\n"
    items = audit(text, config=GdConfig(initial_weight=0.3)).split("\n")[1]
    assert items == (
        "\tb^inf:141457:1e+30:0.3@0\tb^z:124687:1.23457e+08:0.3@0\ta^x:55432:1:0.3@0"
        "\tConstant:116060:1:0.3@0\tb^v:13125:-0.5:0.3@0\tb^w:114093:0.1:0.3@0"
        "\tb^y:152274:1e-10:0.3@0"
    )


def test_blank_lines_and_commands_are_passed_over():
    assert audit(b"\n1 |a x\n\n'save\n").count("\n") == 2


def test_testing_shows_no_squares():
    assert audit(b"|a x\n", learning=False) == "0\n\ta^x:55432:1:0\tConstant:116060:1:0\n"


def fields(line):
    """Items by name and slot, with their numbers."""
    items = (re.fullmatch(r"(.*:\d+):([^:@]*):([^:@]*)@?(.*)", item) for item in line.split("\t"))
    return {item[1]: [float(number or 0) for number in item.groups()[1:]] for item in items}


def test_agrees_with_the_recorded_run_over_a_cache(conformance_dir):
    text = (conformance_dir / "data/train-sets/cache_interaction_audit.txt").read_bytes()
    recorded = conformance_dir / "ref/train-sets/ref/cache_interaction_audit.stdout"
    expected = recorded.read_text().splitlines()
    features = FeatureConfig(quadratic=("st",))
    learner = Gd(GdConfig(), 18, vw_compat=True)
    first = audit(text, features, learner=learner)
    lines = (first + audit(text, features, learner=learner, cached=True)).splitlines()
    assert len(lines) == len(expected) == 16
    for line, wanted in zip(lines, expected, strict=True):
        if not wanted.startswith("\t"):
            assert float(line) == pytest.approx(float(wanted), abs=1e-4, rel=1e-3)
            continue
        ours, theirs = fields(line[1:]), fields(wanted[1:])
        assert ours.keys() == theirs.keys()
        for name, numbers in theirs.items():
            assert ours[name] == pytest.approx(numbers, abs=1e-4, rel=1e-3)


def test_ftrl_shows_no_squares_either():
    assert "@" not in audit(b"1 |a x\n1 |a x\n", config=GdConfig(ftrl=True))


@pytest.mark.parametrize("more", [{}, {"quadratic": ("ab",), "ignore_linear": ("b",)}])
def test_rows_at_once_have_the_lines_of_rows_one_by_one(more, monkeypatch):
    """Namespaces of one character stand together; terms of the same effect keep their order."""
    features = FeatureConfig(bits=10, **more)
    learner = Gd(GdConfig(label_units="spread"), 10)
    plan, results, form = Plan(features), Results(), text_format(features, skip_malformed=False, names=True)
    learned = parse_text(b"1 |a x y:2\n5 |b z |a y\n3 |c x:.5\n", form)
    results.reserve(8)
    learner.run(learned, plan, results, 0, len(learned))
    numbered = b" ".join(b"f%d:%d" % (i, i % 7 + 1) for i in range(100))
    odd = b"\n 'tag |\xff\xfe Constant:1e-9 |\xc3\xa4 y:-3 |b x\n'save\n"
    batch = parse_text(b"|ab x |b z:.3 |a y w |ab u\n" + odd + b"'second |a " + numbered, form)
    learner.learning, shown = False, []
    audit = Audit(learner, plan, shown.append)
    assert not audit.row_by_row
    learner.run(batch, plan, results, 0, len(batch))
    audit.before(batch, 0, len(batch))
    audit.batch(batch, results, 0, len(batch))
    together = b"".join(shown)
    shown.clear()
    monkeypatch.setattr("vwlite.training.audit.has_plain_terms", lambda batch, plan: False)
    audit.before(batch, 0, len(batch))
    audit.batch(batch, results, 0, len(batch))
    assert b"".join(shown) == together
    assert together.count(b"\n") == 6
    assert together.count(b"\t") == 6 + 4 + 101 + 4 * bool(more)


def test_numbers_are_those_of_percent_g():
    random = np.random.default_rng(5)
    values = np.concatenate(
        [
            np.exp(random.uniform(-40, 62, 20000)),
            np.arange(-200003, -199000) * 0.5,  # in the middle between two numbers of six digits
            2.0 ** np.arange(-60, 90),
            np.nextafter(np.float32(10.0) ** np.arange(-20, 30), np.float32(0)),
            [0.0, -0.0, np.inf, -np.inf],
        ]
    ).astype(np.float32)
    values = np.concatenate([values, random.integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)])
    values = values[~np.isnan(values)]
    none, edges = np.zeros(len(values), np.float32), np.array([0, len(values)])
    shown = format_terms(b"", np.zeros(len(values), np.int64), edges, none.astype(np.uint32), values, none, None, none)
    assert [item.split(b":")[2].decode() for item in shown.split(b"\t")[1:]] == [f"{x:g}" for x in values.tolist()]
