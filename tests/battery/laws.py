"""The laws that an estimator keeps, each a function of a ``Case`` that raises where it is broken.

``@law`` says which estimators a law is for. What is alike for all estimators of a command is asked of one of them
(``of_command``), what is for all that make models of one kind, of one of these (``of_kind``), all else of all.
"""

import copy
import gzip
import json
import pickle
import re
import signal
from pathlib import Path

from battery.case import assert_answers, load_parts
from battery.estimators import COMMANDS, GIVEN, KINDS, OF_WHOLE_PASSES
from commands import command
from in_process import bars_on_a_terminal
from json_schema import complaints

import vwlite
from vwlite.cli.manual import make_pages
from vwlite.storage.output_checks import CHECKPOINT, LEDGER

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "run-1.schema.json").read_text())
DOCS = "\n".join(path.read_text() for path in (Path(__file__).parents[2] / "docs").glob("*.md"))
MAN = {page.name.removeprefix("vwlite ") for page in make_pages()}
LAWS = {}


def law(of=lambda one: True):
    """Registers a law for the estimators that ``of`` holds for."""

    def register(function):
        LAWS[function.__name__] = of, function
        return function

    return register


def has(*options):
    return lambda one: all(option in one.typed for option in options)


def of_command(*options):
    """One estimator of each command that has all these options."""
    return lambda one: COMMANDS[one.command] == one and has(*options)(one)


def of_kind(*options):
    """One estimator of each kind of models, if its command has all these options."""
    return lambda one: KINDS[one.command, one.kind] == one and one.name in GIVEN and has(*options)(one)


def laws_of(one):
    return [name for name, (of, _) in LAWS.items() if of(one)]


# However the text comes.


@law()
def a_pipe_gives_the_same_bytes(case):
    """Of packed text whose lines end in another way, in blocks of one line."""
    packed = gzip.compress(case.text.replace("\n", "\r\n").rstrip("\r\n").encode())
    with case.blocks_of(1) as options:
        case.same(*options, data="" if case.one.command != "vw" else "-", stdin=packed)


@law(lambda one: {"threads", "cache_file"} & {*one.typed})
def threads_and_caches_give_the_same_bytes(case):
    with case.blocks_of(300) as options:
        options = (*options, *(("--threads", 3) if "threads" in case.one.typed else ()))
        if "cache_file" in case.one.typed:
            done = case.run(*case.one.words("--cache_file", "c", *options), status=None)
            if done.status == 0:
                assert case.outputs() == case.files  # cold
                case.same("--cache_file", "c")  # cached
                if of_kind()(case.one):
                    case.same("--cache_file", "c", "--kill_cache", *options)
                return
            assert done.status == 2 and "cache" in done.stderr  # with --names, for example
        case.same(*options)


@law(of_command())
def a_byte_order_mark_means_nothing(case):
    case.write("other.vw", "\ufeff" + case.text)
    assert case.learn(data="other.vw") == case.whole


@law(has("max_bad_ratio"))
def a_malformed_line_is_left_out_and_kept(case):
    line = case.malformed
    case.write("other.vw", f"{case.text}{line}\n")
    assert case.learn("--max-bad-ratio", 0.5, "--bad-lines", "bad", data="other.vw") == case.whole
    assert (case.folder / "bad").read_text() == f"{line}\n"
    if of_kind()(case.one):
        (case.folder / "model").unlink()
        done = case.run(*case.one.words("--strict", data="other.vw"), status=65)
        assert re.search(r"other.vw:\d+(:\d+)?: ", done.stderr) and "model" not in case.left()


@law(of_kind())
def empty_input_is_refused(case):
    case.write(case.one.data, "")
    done = case.run(*case.one.words(), status=None)
    if case.one.command == "vw":  # as vw has it
        assert done.status == 0
        return
    assert done.status == 65 and done.stderr.splitlines()[-1].startswith("vwlite: ")
    assert case.left() == {}


@law(of_kind())
def one_line_is_learned_or_refused(case):
    case.write(case.one.data, case.text.splitlines(True)[0])
    done = case.run(*case.one.words(), status=None)
    assert done.status == 0 or (done.status in (2, 65) and done.stderr.startswith("vwlite: "))
    assert ("model" in case.left()) == (done.status == 0)


# What it leaves.


@law(of_kind())
def quiet_runs_say_nothing(case):
    done = case.run(*case.one.words("--quiet"))
    assert (done.stdout, done.stderr) == ("", "")


@law(of_kind("json_path"))
def the_report_is_json_on_standard_output(case):
    done = case.run(*case.one.words("--json", "-"))
    report = json.loads(done.stdout)
    assert [*complaints(report, SCHEMA)] == [] and "result" in report
    assert report["command"] == ["vwlite", *case.one.words("--json", "-")]
    assert all(report[name] == value for name, value in report["result"].items() if name not in ("history", "seconds"))
    assert case.made() == case.whole


@law(of_command("json_path"))
def the_report_has_a_history(case):
    assert json.loads(case.run(*case.one.words("--json", "-")).stdout)["history"]


@law(of_kind())
def stopped_or_killed_it_leaves_the_old_model_whole(case):
    old = case.learn(data=case.half(0), output="old")
    case.write("model", old)
    status = case.interrupt(signal.SIGTERM, 0.7)
    others = {name for name in case.left() if not name.endswith((CHECKPOINT, LEDGER))}
    assert status in (0, 143) and case.made() in (old, case.whole), status
    assert {"old"} <= others <= {"old", "answers"}, others
    for share in (0.6, 0.96, 0.998):
        case.write("model", old)
        case.interrupt(signal.SIGKILL, share)
        assert case.made() in (old, case.whole)
    assert case.learn() == case.whole


@law(lambda one: one.makes_model and one.command != "vw")
def stopped_and_resumed_it_gives_the_same_bytes(case):
    assert "resume" in case.one.typed
    if OF_WHOLE_PASSES & {*case.one.options}:
        refused(case, 2, *case.one.words("--resume"), said="a stopped run of it begins anew")
        return
    long = {"data": case.write("long.vw", case.text * 6)}  # so that most of a run is learning
    shares = (0.3, 0.15, 0.5, 0.65, 0.8, 0.9)  # what comes before and after learning depends on the estimator
    for share in shares if case.one.name in GIVEN else shares[:1]:
        with case.blocks_of(350) as options:
            whole = case.uninterrupted(*options, **long)
            status = case.interrupt(signal.SIGTERM, share, *options, **long)
            kept = f"model{CHECKPOINT}" in case.left()
            assert status in (0, 143), (share, status, case.said())
            assert case.left().get("model", whole["model"]) == whole["model"], (share, status, case.said())
            case.learn(*options, "--resume", **long)
        assert case.outputs() == whole
        if kept:
            break
        case.clear()
    assert kept or case.one.name not in GIVEN  # others may read all of the text first


@law(lambda one: of_command("model")(one) and one.command != "vw")
def one_writer_at_a_time(case):
    with case.locked():
        wait = ("--lock-wait", "0.01") if "lock_wait" in case.one.typed else ()
        stderr = case.run(*case.one.words(*wait), status=75).stderr
        assert "locked by another training" in stderr and (not wait or "after 0.01 seconds" in stderr)
    assert case.learn() == case.whole


@law(lambda one: of_command("initial")(one) and one.command != "vw")
def what_was_learned_is_known(case):
    case.learn()
    again = case.one.going_on("-f", "model", "--skip-seen")
    assert "skipped" in case.run(*again).stderr and case.made() == case.whole


@law(of_command("names"))
def names_are_kept_where_they_are_wanted(case):
    case.learn("--names")
    assert re.search(r"\b(u\^u|i\^[iw])\d", case.run("inspect", "model").stdout)


@law(lambda one: of_command("quiet")(one) and one.command != "vw")
def a_bar_shows_how_far_it_is(case):
    with bars_on_a_terminal() as drawn:
        case.learn()
    assert drawn and all(bar.closed and 0 < bar.n <= (bar.total or bar.n) for bar in drawn)
    with bars_on_a_terminal() as drawn:
        case.learn("--quiet")
    assert not drawn


# Going on with -i.


@law(lambda one: one.is_online)
def halves_give_the_whole(case):
    case.run(*case.one.online.words())
    whole = load_parts(case.folder / "model")
    case.run(*case.one.online.words(data=case.half(0)))
    case.run(*case.one.command.split(), case.half(1), "-i", "model", "-f", "model", "--quiet")
    assert load_parts(case.folder / "model") == whole


@law(lambda one: one.is_online or one.command == "lm train")
def two_runs_are_two_passes(case):
    once = case.one.online
    case.run(*once.words("--passes", 2, *(("--holdout_off", "--no-shuffle") if once.is_online else ())))
    two = load_parts(case.folder / "model")
    case.run(*once.words())
    case.run(*case.one.going_on("-f", "model"))
    assert load_parts(case.folder / "model") == two


NO_MORE = {  # what cannot go on, by an option, and what it says
    "--als": "would need all examples that it was fitted to",
    "--dual": "would need all examples that it was fitted to",
    "margin": "learns with label sequences of all examples, which models do not keep",
    "viterbi": "do not store where training stopped",
}


@law(lambda one: has("initial")(one) and one.command != "vw")
def it_goes_on_into_the_same_file(case):
    """Whose options need not be typed again, and whose bytes are those of another output."""
    case.write("model", case.whole)
    why = next((said for option, said in NO_MORE.items() if option in case.one.options), None)
    if case.one.command == "aso learn" and "--keep-weights" not in case.one.options:
        why = "has no weights to continue with"
    if why:
        refused(case, 2, *case.one.going_on("-f", "other"), said=why)
        return
    for output in ("other", "model"):
        case.run(*case.one.going_on("-f", output))
    assert (case.folder / "other").read_bytes() == case.made()


@law(of_command("initial"))
def another_shape_than_the_model_s_is_refused(case):
    whole = case.learn()
    other = {"bits": ("-b", 20), "dim": ("--dim", 7)}
    typed = next((typed for name, typed in other.items() if name in case.one.typed), ("--idf",))
    done = case.run(*case.one.going_on("-f", "model", *typed), status=1 if case.one.command == "vw" else 2)
    assert str(typed[0]) in done.stderr + done.stdout and case.made() == whole


# Misuse.


def refused(case, status, *words, said=""):
    """What is no way to call the command ends in one sentence, and leaves nothing."""
    before = case.left()
    done = case.run(*words, status=status)
    assert "Traceback" not in done.stderr and case.left() == before
    if case.one.command != "vw":
        assert said in done.stderr and done.stderr.splitlines()[-1].startswith("vwlite: ")


@law(of_command())
def misuse_is_refused(case):
    one, status = case.one, (lambda usual: 1 if case.one.command == "vw" else usual)
    refused(case, status(2), *one.words("--nonsense"), said="--nonsense")
    number = next(one.typed[name] for name in ("max_bad_ratio", "memory") if name in one.typed)
    refused(case, status(2), *one.words(number, "x"), said="x")
    refused(case, status(66), *one.words(data="missing"), said="missing")
    refused(case, status(73), *one.words(output="no/such/folder"), said="no/such")
    refused(case, status(2), *one.words(output=one.data), said="overwritten")
    if "initial" in one.typed:
        refused(case, status(66), *one.going_on("-f", "other", initial="missing"), said="missing")
        refused(case, status(76), *one.going_on("-f", "other", initial=one.data), said=one.data)


@law(of_command("memory"))
def memory_has_a_limit(case):
    refused(case, 1 if case.one.command == "vw" else 2, *case.one.words("--max-memory", "1e-9"), said="--max-memory")


# What else there is of it.


@law(of_kind("model"))
def there_is_a_golden_model(case):
    assert case.one.golden and case.one.golden.exists()


@law(of_command())
def help_pages_and_man_page_are_there(case):
    name = case.one.command
    assert f"vwlite {name} " in case.run(*name.split(), "--help").stdout
    assert name in MAN and f"vwlite {name} " in DOCS and command(name).short_help


@law(lambda one: one.config)
def the_pages_name_what_asks_for_it(case):
    config = case.one.config
    names = (*config.selected_by, *config.selected_together)
    assert case.one.command == "vw" or all(f"--{name}" in DOCS for name in names)


@law(lambda one: one.command == "train")
def python_gives_the_bytes_of_the_command(case):
    options = " ".join(case.one.options)
    case.write("model", case.whole)
    lines = case.run("predict", "-i", "model", case.one.data, "--quiet").lines
    with case.here():
        model = vwlite.Model(options)
        assert model.learn(case.text).examples > 0 and model.dumps() == case.whole
        assert_answers(model.predict(case.text), lines)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), vwlite.load("model")):
            assert other.dumps() == case.whole
        vwlite.train(case.one.data, options, final_regressor="model")
        assert case.made() == case.whole


@law(lambda one: one.makes_model and one.command not in ("aso learn", "lm train"))
def predictions_do_not_depend_on_how_text_comes(case):
    case.write("model", case.whole)
    predict = [*case.one.applied, "-i", "model", "-p", "p", "--quiet"]

    def predicted(*words, **more):
        case.run(*predict, *words, **more)
        return (case.folder / "p").read_bytes()

    plain = predicted(case.one.data)
    packed = gzip.compress(case.text.replace("\n", "\r\n").encode())
    assert plain and predicted("-", "--block-size", 1, stdin=packed) == plain
    assert predicted(case.one.data, "--threads", 3, "--block-size", 300) == plain


# Models that are damaged.


@law(of_command("model"))
def damaged_models_are_refused(case):
    """Half of one, and one with a bit that is another, by every command that opens such models."""
    whole = case.whole
    place = len(whole) * 2 // 3
    flipped = whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :]
    assert case.openers
    for damaged in (whole[: len(whole) // 2], flipped):
        case.write("m", damaged)
        for words in case.openers:
            done = case.run(*words, status=None)
            assert done.status == (1 if words[0] == "vw" else 76), (words, done)
            assert "Traceback" not in done.stderr and "out" not in case.left()
