"""``vwlite vw``: what it shares with ``vw`` and with no other command."""

import re
from pathlib import Path

import pytest

from vwlite.training.counters import Counters
from vwlite.version import __version__

DATA = "1 'one |user ann |item tea:2\n-1 'two |user bob |item tea\n1 |user ann |item cup\n"
ODD = "x 'tag |a b\n1 |a c b:nan\n1 |a:z c\n\n-1 -2 |a b\n"
LOG = [
    "[warning] 'x' is not a good float, replacing with 0",
    '[warning] Invalid feature value:"nan" read as NaN. Replacing with 0.in Example #1: "|a c b:nan"',
    '[warning] malformed example! \'|\',space, or EOL expected after : "|a:"in Example #2: "|a:z c"',
    '[warning] malformed example! \'|\' or EOL expected after : "|a:"in Example #2: "|a:z c"',
    "[warning] Example has an invalid importance weight (-2); importance weights must be non-negative. "
    "Use 0 to hold an example out of training.",
]


@pytest.fixture(autouse=True)
def data(write):
    write("odd.vw", ODD)
    return write("data.vw", DATA)


def summary(done):
    return dict(re.findall(r"^([\w' ]+) = (.*)$", done.stderr, re.M))


def test_header_table_and_summary_on_stderr(vwlite):
    done = vwlite("vw", "-d", "data.vw", "-f", "model", "-q", "ui", "--decay-learning-rate", "0.9")
    assert done.stdout == ""
    assert done.stderr.splitlines()[:12] == [
        "creating quadratic features for pairs: ui",
        "final_regressor = model",
        "using no cache",
        "Reading datafile = data.vw",
        "num sources = 1",
        "Num weight bits = 18",
        "learning rate = 0.5",
        "initial_t = 0",
        "power_t = 0.5",
        "Enabled learners: gd, scorer-identity, count_label",
        "Input label = SIMPLE",
        "Output pred = SCALAR",
    ]
    assert "\n1.000000 1.000000            1            1.0         1.0000         0.0000        4\n" in done.stderr
    assert summary(done)["number of examples"] == "3"
    assert summary(done)["total feature number"] == "12"


@pytest.mark.parametrize("place", [("data.vw",), ("-d", "data.vw"), ("--data", "data.vw")])
def test_data_by_position_and_by_option(place, vwlite):
    assert summary(vwlite("vw", *place))["number of examples"] == "3"


def test_odd_input_is_logged_on_stdout_and_learned_from(vwlite):
    done = vwlite("vw", "odd.vw")
    assert done.lines == LOG
    assert summary(done)["number of examples"] == "4"  # not the blank line


def test_options_of_the_log_are_obeyed(vwlite):
    assert vwlite("vw", "odd.vw", "--log_output", "stderr").stdout == ""
    assert LOG[0] in vwlite("vw", "odd.vw", "--log_output", "stderr").stderr
    assert vwlite("vw", "odd.vw", "--log_output", "stdout").lines == LOG
    assert vwlite("vw", "odd.vw", "--limit_output", "2").lines == LOG[:2]
    assert vwlite("vw", "odd.vw", "--log_level", "warn").lines == LOG
    assert vwlite("vw", "odd.vw", "--log_level", "error").stdout == ""
    assert vwlite("vw", "odd.vw", "--log_level", "off").stdout == ""
    assert vwlite("vw", "odd.vw", "--quiet") == vwlite("vw", "data.vw", "--quiet")


def test_options_of_the_driver_output_are_obeyed(vwlite):
    plain = vwlite("vw", "data.vw").stderr
    assert vwlite("vw", "data.vw", "--driver_output", "stdout").stdout == plain
    assert vwlite("vw", "data.vw", "--driver_output", "stderr").stderr == plain
    done = vwlite("vw", "odd.vw", "--driver_output_off")
    assert (done.stderr, done.lines) == ("", LOG)


def test_best_constant_can_be_left_out(vwlite):
    assert "best constant" in summary(vwlite("vw", "data.vw"))
    done = vwlite("vw", "data.vw", "--dont_output_best_constant")
    assert "best constant" not in summary(done) and "count_label" not in done.stderr


def test_test_mode_leaves_the_model_alone(vwlite, tmp_path, weights):
    vwlite("vw", "data.vw", "-f", "model")
    done = vwlite("vw", "-t", "-i", "model", "data.vw", "-p", "p", "-f", "again")
    assert "only testing\n" in done.stderr
    assert [line.split()[1:] for line in (tmp_path / "p").read_text().splitlines()] == [["one"], ["two"], []]
    assert weights("again") == weights("model")
    same = vwlite("vw", "--testonly", "--initial_regressor", "model", "data.vw", "--predictions", "stdout", "--quiet")
    assert same.stdout == (tmp_path / "p").read_text()


def test_margins_by_default(vwlite):
    vwlite("vw", "data.vw", "-f", "model", "--loss_function", "logistic", "--quiet")
    margins = vwlite("vw", "-t", "-i", "model", "data.vw", "-p", "-", "--quiet", "--loss_function", "logistic").lines
    assert min(float(line.split()[0]) for line in margins) < 0
    raw = vwlite("vw", "-t", "-i", "model", "data.vw", "-r", "/dev/stdout", "--quiet").lines
    assert [line.split()[0] for line in raw] == [line.split()[0] for line in margins]


@pytest.mark.parametrize("option", ["-a", "--audit"])
def test_audit_of_one_example(option, vwlite, write):
    done = vwlite("vw", write("one.vw", "1 2 t|a b:2 c |d e\n"), option, "--quiet")
    terms = ["a^b:144016:2:0@0", "a^c:120964:1:0@0", "d^e:93150:1:0@0", "Constant:116060:1:0@0"]
    assert done.stdout == "0 t\n" + "".join(f"\t{term}" for term in terms) + "\n"


def test_audit_puts_the_strongest_first(vwlite, write):
    vwlite("vw", write("one.vw", "1 |a b:2 c\n" * 3), "-f", "model", "--quiet", "-q", "aa")
    line = vwlite("vw", "-t", "-i", "model", write("two.vw", "t|a b c\n"), "--audit", "--quiet").lines[1]
    terms = [term.rsplit(":", 2) for term in line.strip("\t").split("\t")]
    effects = [abs(float(value) * float(weight)) for _, value, weight in terms]
    assert effects == sorted(effects, reverse=True)
    assert {term[0].rpartition(":")[0] for term in terms} == {"a^b", "a^c", "a^b*a^b", "a^b*a^c", "a^c*a^c", "Constant"}


def test_audits_of_rows_stand_before_their_rows_of_the_table(vwlite, write):
    vwlite("vw", write("some.vw", "1 |a b:2 c\n2 |a c\n3 |a d\n"), "-f", "model", "--quiet")
    done = vwlite("vw", "-t", "-i", "model", "some.vw", "--audit", "--driver_output", "stdout", "-P", "2")
    lines = done.stdout[done.stdout.index("predict features\n") :].splitlines()[1:8]
    assert ["audit" if "^" in line else len(line.split()) for line in lines] == [1, "audit", 1, "audit", 7, 1, "audit"]


def test_passes_need_a_cache(vwlite):
    done = vwlite("vw", "data.vw", "--passes", "2", status=1)
    message = "need a cache file for multiple passes : try using  --cache or --cache_file <name>"
    assert (done.stdout, done.stderr) == (f"[critical] vw: {message}\n", "")
    assert summary(vwlite("vw", "data.vw", "--passes", "2", "-k", "-c"))["passes used"] == "2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("-d absent", "no such file: absent (- is standard input)"),
        ("data.vw -f nofolder/m", "cannot write nofolder/m: there is no folder {folder}/nofolder; create it first"),
        ("data.vw -i absent", "cannot open the model absent: No such file or directory"),
        ("data.vw -i data.vw", "data.vw is not a vwlite model: give one that vwlite wrote"),
        ("data.vw -q u", "-q takes 2 namespaces, not 1: 'u'"),
        ("data.vw -b 60", "-b takes 1 to 32 bits, not 60"),
    ],
)
def test_failures_are_critical_and_return_1(arguments, said, vwlite, tmp_path):
    done = vwlite("vw", *arguments.split(), "--quiet", status=1)
    assert (done.stdout, done.stderr) == (f"[critical] vw: {said.format(folder=tmp_path)}\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("data.vw --nonsense", "unrecognised option '--nonsense'"),
        ("data.vw -b x", "-b: 'x' is not a valid integer"),
        ("data.vw -l nan", "-l: 'nan' is not a finite number"),
        ("data.vw --hash md5", "--hash: 'md5' is not one of strings, all"),
        ("data.vw -b 9 -b 10", "-b is given twice: give one value"),
    ],
)
def test_usage_errors_are_critical_and_return_1(arguments, said, vwlite):
    done = vwlite("vw", *arguments.split(), status=1)
    assert (done.stdout, done.stderr) == (f"[critical] vw: {said}\n", "")


def test_the_version_is_printed(vwlite):
    done = vwlite("vw", "--version")
    assert (done.stdout, done.stderr) == (f"vwlite {__version__}\n", "")


def test_strict_parse_fails_at_the_first_malformed_line(vwlite, names_in):
    done = vwlite("vw", "odd.vw", "--strict_parse", "-f", "model", status=1)
    assert done.lines[:2] == LOG[:2]
    assert done.lines[2].startswith("[critical] vw: ") and "malformed example!" in done.lines[2]
    assert "model" not in names_in()


def test_no_stdin_reads_nothing(vwlite):
    assert summary(vwlite("vw", stdin=DATA))["number of examples"] == "3"
    done = vwlite("vw", "--no_stdin", stdin=DATA)
    assert "Reading datafile = none\n" in done.stderr
    assert summary(done)["number of examples"] == "0"


def test_preserve_performance_counters(vwlite, tmp_path):
    vwlite("vw", "data.vw", "-f", "model", "--quiet")
    assert summary(vwlite("vw", "data.vw", "-i", "model"))["number of examples"] == "3"
    done = vwlite("vw", "data.vw", "-i", "model", "--preserve_performance_counters", "--readable_model", "r")
    assert summary(done)["number of examples per pass"] == "3"
    assert summary(done)["passes used"] == "2"
    assert "\nexample_number 6\n" in (tmp_path / "r").read_text()


def test_states_of_the_penalties(vwlite, tmp_path, weights):
    vwlite("vw", "data.vw", "-f", "plain", "--quiet")
    options = ("--l1_state", "0.01", "--l2_state", "0.5", "--l1", "0.001", "--l2", "0.001")
    vwlite("vw", "data.vw", "-f", "model", "--quiet", *options, "--readable_model", "r")
    state = dict(re.findall(r"^(l[12]_state) (.*)$", (tmp_path / "r").read_text(), re.M))
    assert float(state["l1_state"]) > 0.01 and float(state["l2_state"]) < 0.5
    assert weights("model") != weights("plain")


def test_negative_penalties_are_warned_of(vwlite, weights):
    done = vwlite("vw", "data.vw", "-f", "model", "--l1", "-1", "--l2", "-0.5")
    assert done.lines == [
        "[warning] l1_lambda should be nonnegative: resetting from -1 to 0",
        "[warning] l2_lambda should be nonnegative: resetting from -0.5 to 0",
    ]
    vwlite("vw", "data.vw", "-f", "plain", "--quiet")
    assert weights("model") == weights("plain")


def test_a_feature_mask_limits_what_is_learned(vwlite, write, weights):
    write("mask.vw", "1 |user ann\n")
    vwlite("vw", "mask.vw", "-f", "mask", "--quiet")
    vwlite("vw", "data.vw", "-f", "model", "--feature_mask", "mask", "--quiet")
    assert set(weights("model")) == set(weights("mask"))
    vwlite("vw", "data.vw", "-f", "small", "--feature_mask", "mask", "-b", "9", "--quiet")
    assert set(weights("small")) == set(weights("mask"))  # the mask's -b counts, as in vw


@pytest.mark.parametrize(
    "option",
    ["--sparse_weights", "--no_daemon", "--per_model_save_load", "--ring_size 9", "--example_queue_limit 9"],
)
def test_options_without_effect(vwlite, weights, option):
    vwlite("vw", "data.vw", "-f", "plain", "--quiet")
    vwlite("vw", "data.vw", "-f", "model", "--quiet", *option.split())
    assert weights("model") == weights("plain") != {}


def test_dry_run_learns_nothing(vwlite, names_in):
    vwlite("vw", "data.vw", "-f", "model", "--dry_run")
    assert "model" not in names_in()


def test_hexadecimal_weights_are_exact(vwlite, write, tmp_path):
    write("one.vw", "1 |a x\n")
    vwlite("vw", "one.vw", "--readable_model", "m.txt", "--hexfloat_weights", "--quiet", "--predict_only_model")
    weight = (tmp_path / "m.txt").read_text().splitlines()[-1].split(":")[1]
    assert weight.startswith("0x") and 0 < float.fromhex(weight) < 1


def test_full_name_interactions(vwlite, weights):
    vwlite("vw", "data.vw", "-f", "typed", "--interactions", "user,item", "--quiet")
    vwlite("vw", "data.vw", "-f", "model", "--experimental_full_name_interactions", "user|item", "--quiet")
    assert weights("model") == weights("typed")


def test_initial_pass_length(vwlite):
    options = ("data.vw", "--cache_file", "c", "-k", "--passes", "2", "--holdout_off")
    short = summary(vwlite("vw", *options, "--initial_pass_length", "2"))["number of examples per pass"]
    assert int(short) < int(summary(vwlite("vw", *options))["number of examples per pass"])


def test_sort_features_drops_repeated_ones(vwlite, write):
    write("twice.vw", "1 |a x x y\n")
    assert summary(vwlite("vw", "twice.vw"))["total feature number"] == "4"
    assert summary(vwlite("vw", "twice.vw", "--sort_features"))["total feature number"] == "3"
    done = vwlite("vw", "twice.vw", "--sort_features", "--ngram", "2", status=1)
    assert done.stdout == "[critical] vw: --ngram goes by the order of features: drop --sort_features\n"


def test_progress_is_warned_of(vwlite):
    assert vwlite("vw", "data.vw", "-P", "0").lines == ["[warning] -P 0: a step below 1 is taken as 1"]


@pytest.mark.parametrize(
    "option",
    ["--id name", "--onethread", "--save_resume", "--compressed", "--no_bias_regularization"],
)
def test_options_that_leave_the_model_alone(option, vwlite, tmp_path):
    vwlite("vw", "data.vw", "-f", "plain", "--quiet")
    vwlite("vw", "data.vw", "-f", "model", "--quiet", *option.split())
    assert (tmp_path / "model").read_bytes() == (tmp_path / "plain").read_bytes()


@pytest.mark.parametrize(("more", "rows"), [  # as vw 9.11.9 has them
    ("", ["0.66667   \t4.18444", "0.14525   \t0.12228   \t7.33659", "0.11442   \t0.09573   \t5.74401"]),
    ("--loss_function logistic", ["0.69315   \t0.26153", "0.41276   \t0.01712   \t1.02727",
                                  "0.38124   \t0.00812   \t0.48739"]),
])
def test_batches_may_leave_the_constant_out_of_the_penalty(more, rows, vwlite, write):
    write("d.vw", "1 | a:1 b:0.5\n0 | a:0.3 c:1\n1 2 | b:1 c:0.2\n0 | d:1 a:0.1\n1 | d:0.5 b:2\n")
    command = f"vw d.vw --bfgs --l2 0.1 --no_bias_regularization --passes 5 -c -k --holdout_off {more}"
    shown = [line[3:] for line in vwlite(*command.split()).stderr.splitlines() if line[:1] == " "]
    assert [line[: len(row)] for line, row in zip(shown, rows, strict=False)] == rows
    for model, options in (("m", ""), ("b", "--bfgs -c -k --passes 2")):  # it is taken with any learner and model
        vwlite(*f"vw d.vw -f {model} {options} --no_bias_regularization --quiet".split())
        vwlite(*f"vw d.vw -i {model} -t --no_bias_regularization --quiet".split())
    assert "no such option" in vwlite("train", "d.vw", "--bfgs", "--no_bias_regularization", status=2).stderr


def test_interactions_of_a_model_are_replaced_and_that_is_said(vwlite):
    vwlite("vw", "data.vw", "-f", "model", "-q", "ui", "--quiet")
    assert summary(vwlite("vw", "data.vw", "-i", "model"))["total feature number"] == "12"
    done = vwlite("vw", "data.vw", "-i", "model", "-q", "uu")
    assert done.lines == ["[warning] the interactions typed replace those of the model"]


def test_regularisation_and_weights_as_text(vwlite, write, tmp_path):
    write("data.vw", "1 |w a\n-1 |w b\n" * 9)
    command = "vw data.vw -c --passes 4 --bfgs --l2 0.5 -b 4 --noconstant --output_feature_regularizer_text out"
    vwlite(*command.split(), "--readable_model", "model")
    lines = [line.split(":") for line in (tmp_path / "out").read_text().partition("\n:1\n")[2].split()]
    weights = [line.split(":") for line in (tmp_path / "model").read_text().partition("l2_state 1\n")[2].split()]
    assert [value for slot, value in lines if int(slot) % 2 == 0] == ["1"] * 16
    actual = {int(slot) // 2: value for slot, value in lines if int(slot) % 2}
    assert actual == {int(slot): value for slot, value in weights} != {}


def test_weights_with_the_names_that_the_data_have(vwlite, write, tmp_path):
    write("data.vw", "1 |w a b\n-1 |w b c\n1 |w a\n")
    vwlite("vw", "data.vw", "-f", "m", "--quiet")
    write("some.vw", "|w b x\n|w a b\n")
    done = vwlite("vw", "some.vw", "-i", "m", "--audit_regressor", "out")
    lines = (tmp_path / "out").read_text().splitlines()
    assert [line.split(":")[0] for line in lines] == ["w^b", "Constant", "w^a"]
    assert "Regressor contains 4 values" in done.stderr
    vwlite("vw", "data.vw", "-i", "m", "-t", "--quiet", "--invert_hash", "inverted", "--predict_only_model")
    inverted = (tmp_path / "inverted").read_text().splitlines()
    assert set(lines) <= set(inverted)


@pytest.mark.parametrize("option", ["--random_weights", "--normal_weights", "--truncated_normal_weights"])
def test_random_weights_are_reproducible(option, vwlite, write, weights):
    write("data.vw", "1 |w a\n")
    for name, seed in (("m", "3"), ("n", "3")):
        vwlite("vw", "data.vw", "-f", name, "--quiet", "-b", "12", option, "--random_seed", seed)
    values = list(weights("m").values())
    assert weights("m") == weights("n") and len(values) > 4000
    mean, size = sum(values) / len(values), max(map(abs, values))
    assert abs(mean) < 0.05 and size <= {"--random_weights": 0.5, "--truncated_normal_weights": 2.1}.get(option, 6)


@pytest.mark.parametrize("options", [(), ("-P", "2"), ("-t",)])
def test_quiet_rows_are_counted_a_batch_at_a_time(vwlite, write, monkeypatch, options):
    """And the distance to the next line of the table, which models keep, is that of a table never begun."""
    calls, tally = [], Counters.tally
    monkeypatch.setattr(Counters, "tally", lambda *given: calls.append(given) or tally(*given))
    path = write("data.vw", "1 |a b\n-1 |a c\n" * 500)
    vwlite("vw", path, *options, "--quiet", "--save_resume", "-f", "m", "--readable_model", "text")
    assert len(calls) == 1
    assert f"\ndump_interval {2 if '-P' in options else 1}\n" in Path("text").read_text()


def test_where_nothing_is_held_out_gradient_descent_keeps_its_first_pass_and_l_bfgs_its_last(vwlite, write, weights):
    write("few.vw", "1 |f f1 f2:0.5\n2 |f f1 f2:1\n3 |f f2:1.5\n2.5 |f f1 f2:1.1\n")
    command = ("vw", "few.vw", "-c", "-k", "-f", "m")
    assert summary(vwlite(*command, "--passes", "20"))["passes used"] == "4"
    assert list(weights("m").values()) == pytest.approx([0.487914, 0.677673, 0.510732], abs=1e-6)  # vw's
    batch = (*command, "--passes", "20", "--bfgs", "--l2", "1")
    assert summary(vwlite(*batch))["average loss"] == "undefined (no holdout)"
    learned = weights("m")
    vwlite(*batch, "--holdout_off")
    assert learned == weights("m") and len(learned) == 3
